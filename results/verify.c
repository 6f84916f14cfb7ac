/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whether a run's tables are what was written: all of them are read once, those that have a digest as
 * columns, the others in blocks.
 */
#include "base/own.h"
#include "results/read.h"

#include <string.h>

enum { BLOCK_BYTES = 1 << 20, SETS_MAX = 1024 };

/* Rows to read at once: whole chunks, so that each is read once. */
static hsize_t block_rows(hid_t set, hsize_t n, size_t width)
{
    const hid_t dcpl = H5Dget_create_plist(set);
    hsize_t chunk = 1;
    if (H5Pget_layout(dcpl) == H5D_CHUNKED) {
        H5Pget_chunk(dcpl, 1, &chunk);
    }
    H5Pclose(dcpl);
    const hsize_t fit = BLOCK_BYTES / width / chunk;
    const hsize_t rows = chunk * (fit > 0 ? fit : 1);
    return rows < n ? rows : n;
}

static dls_status read_through(hid_t set, hsize_t n, const char *name, dls_error *err)
{
    DLS_H5_OWNED const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    const size_t width = H5Tget_size(type);
    const hsize_t rows = n > 0 ? block_rows(set, n, width) : 0;
    DLS_FREED void *block = dls_alloc((size_t)rows * width + 1);
    DLS_TRY(block ? DLS_OK : dls_nomem(err, name, (size_t)rows * width));
    for (hsize_t first = 0; first < n; first += rows) {
        const hsize_t count = n - first < rows ? n - first : rows;
        DLS_H5_OWNED const hid_t part = H5Screate_simple(1, &count, NULL);
        if (H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL) < 0 ||
            H5Dread(set, type, part, space, H5P_DEFAULT, block) < 0) {
            return dls_h5_fail(err, DLS_EINPUT, "\"%s\" is damaged", name);
        }
    }
    return DLS_OK;
}

static dls_status verify_set(hid_t run, const char *group, const char *name, dls_error *err)
{
    char shown[256];
    DLS_H5_OWNED hid_t set = H5I_INVALID_HID;
    hsize_t n;
    snprintf(shown, sizeof shown, "%s/%s", group, name);
    DLS_TRY(dls_h5_open_data(run, shown, &set, &n, err));
    return read_through(set, n, shown, err);
}

/* read_table reads it: any, or none that is optional. */
static bool is_read(const dls_record_table *table, const char *column, bool all)
{
    for (size_t i = 0; table && i < table->n; i++) {
        if (strcmp(table->columns[i].name, column) == 0) {
            return all || !table->columns[i].optional;
        }
    }
    return false;
}

/* What a group holds beside the columns that are read of its table, if it has one. */
static dls_status verify_group(hid_t run, const char *name, const dls_record_table *table, bool all,
                               dls_error *err)
{
    DLS_OWN(dls_strdict_fini) dls_strdict names = {0};
    DLS_H5_OWNED hid_t group = H5I_INVALID_HID;
    if (!dls_h5_has(run, name)) {
        return DLS_OK;
    }
    DLS_TRY(dls_h5_get_group(run, name, &group, err));
    DLS_TRY(dls_h5_names(group, &names, err));
    if (names.n > SETS_MAX) {
        return dls_fail(err, DLS_EINPUT, NULL, "\"%s\" holds more than %d columns", name, SETS_MAX);
    }
    for (size_t i = 0; i < names.n; i++) {
        const char *column = dls_strdict_get(&names, (int32_t)i);
        DLS_TRY(is_read(table, column, all) ? DLS_OK : verify_set(run, name, column, err));
    }
    return DLS_OK;
}

static dls_status verify_groups(const dls_run *run, bool all, dls_error *err)
{
    static const char *const others[] = {"dicts", "cluster"};
    for (size_t i = 0; i < DLS_ROWS_TABLES + 2; i++) {
        const dls_record_table *table = i < DLS_ROWS_TABLES ? &dls_record_tables[i] : NULL;
        const char *group = table ? table->group : others[i - DLS_ROWS_TABLES];
        DLS_TRY(dls_h5_where(verify_group(run->group, group, table, all, err), err, run->file->path));
    }
    return DLS_OK;
}

static dls_status read_table(const dls_run *run, dls_rows_of which, bool all, dls_record *rec,
                             dls_error *err)
{
    const dls_record_table *table = &dls_record_tables[which];
    size_t *n = dls_record_rows(rec, which);
    if (which == DLS_ROWS_JOBS) {
        *n = run->n_jobs;
    } else {
        DLS_TRY(dls_run_count_rows(run, table->group, table->columns[0].name, n, err));
    }
    return *n > 0 ? dls_run_read_table(run, table, *n, all, n, err) : DLS_OK;
}

/* Jobs, allocations and series are what was written, and of jobs that are there. */
static dls_status check_rows(const dls_run *run, const dls_record *rec, dls_error *err)
{
    const dls_alloc_rows *rows = &rec->allocs;
    if (dls_record_digest(rec) != run->summary.digest) {
        return dls_fail(err, DLS_EINPUT, run->file->path,
                        "the jobs of run '%s' do not have the digest that the file gives", run->id);
    }
    for (size_t i = 0; i < rows->n; i++) {
        if (rows->job[i] < 0 || (size_t)rows->job[i] >= run->n_jobs) {
            return dls_fail(err, DLS_EINPUT, run->file->path,
                            "row %zu of 'allocations/job' names job %d of %zu", i, rows->job[i],
                            run->n_jobs);
        }
    }
    return dls_record_history_digest(rec) == run->summary.history_digest
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, run->file->path,
                          "allocations and series of run '%s' do not have the digest that the file "
                          "gives",
                          run->id);
}

dls_status dls_run_read_record(const dls_run *run, bool all, dls_record *rec, dls_error *err)
{
    DLS_TRY(verify_groups(run, all, err));
    for (dls_rows_of t = 0; t < DLS_ROWS_TABLES; t++) {
        DLS_TRY(read_table(run, t, all, rec, err));
    }
    return check_rows(run, rec, err);
}

void dls_run_free_record(dls_record *rec)
{
    for (dls_rows_of t = 0; t < DLS_ROWS_TABLES; t++) {
        dls_table_free(&dls_record_tables[t], dls_record_rows(rec, t));
    }
}

dls_status dls_run_verify(const dls_run *run, dls_error *err)
{
    dls_record rec = {0};
    const dls_status status = dls_run_read_record(run, false, &rec, err);
    dls_run_free_record(&rec);
    return status;
}
