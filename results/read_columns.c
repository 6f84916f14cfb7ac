/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the long tables of a run (jobs, allocations, series) back into columns, and checks their
 * types and lengths.
 */
#include "results/read_impl.h"

#include "base/alloc.h"

#include <string.h>

dls_status dls_run_count_rows(const dls_run *run, const char *table, const char *column, size_t *n,
                              dls_error *err)
{
    char name[128];
    *n = 0;
    snprintf(name, sizeof name, "%s/%s", table, column);
    return dls_h5_has(run->group, table) ? dls_h5_length(run->group, name, n, err) : DLS_OK;
}

static bool suits(H5T_class_t have, dls_field_type want)
{
    switch (want) {
    case DLS_FIELD_TEXT:
        return have == H5T_STRING;
    case DLS_FIELD_F32:
    case DLS_FIELD_F64:
        return have == H5T_FLOAT;
    case DLS_FIELD_STATE:
    case DLS_FIELD_OUTCOME:
    case DLS_FIELD_KIND:
        return have == H5T_ENUM;
    default:
        return have == H5T_INTEGER;
    }
}

static dls_status read_rows(const dls_run *run, const char *name, dls_field_type want, size_t n,
                            size_t first, size_t count, void *out, size_t *width, dls_error *err)
{
    if (!dls_h5_has(run->group, name)) {
        return dls_fail(err, DLS_EINPUT, NULL, "no column '%s'", name);
    }
    hid_t set;
    hsize_t rows;
    DLS_TRY(dls_h5_open_data(run->group, name, &set, &rows, err));
    const hid_t stored = H5Dget_type(set);
    const size_t bytes = want == DLS_FIELD_TEXT ? H5Tget_size(stored) + 1 : dls_field_width(want);
    void *data = NULL;
    dls_status status = DLS_OK;
    if (!suits(H5Tget_class(stored), want)) {
        status = dls_fail(err, DLS_EINPUT, NULL, "column '%s' has an unexpected type", name);
    } else if (rows != n) {
        status = dls_fail(err, DLS_EINPUT, NULL, "column '%s' does not have %zu rows", name, n);
    } else if (!(data = dls_alloc_zero(count, bytes))) {
        status = dls_nomem(err, name, count * bytes);
    } else if (count > 0) {
        const hsize_t at = first, wanted = count;
        const hid_t memory = dls_field_h5_type(want, bytes, false);
        const hid_t space = H5Dget_space(set), part = H5Screate_simple(1, &wanted, NULL);
        if (H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &wanted, NULL) < 0 ||
            H5Dread(set, memory, part, space, H5P_DEFAULT, data) < 0) {
            status = dls_h5_fail(err, DLS_EINPUT, "column '%s' cannot be read", name);
        }
        H5Sclose(part);
        H5Sclose(space);
        H5Tclose(memory);
    }
    H5Tclose(stored);
    H5Dclose(set);
    if (status != DLS_OK) {
        dls_free(data);
        return status;
    }
    if (want == DLS_FIELD_TEXT) {
        for (size_t i = 0; i < count; i++) {
            ((char *)data)[(i + 1) * bytes - 1] = '\0';
        }
    }
    *width = bytes;
    memcpy(out, &data, sizeof data);
    return DLS_OK;
}

dls_status dls_run_read_rows(const dls_run *run, const char *name, dls_field_type want, size_t n,
                             size_t first, size_t count, void *out, size_t *width, dls_error *err)
{
    const dls_status status = read_rows(run, name, want, n, first, count, out, width, err);
    if (status != DLS_OK) {
        dls_h5_where(err, run->file->path);
    }
    return status;
}

/* The columns of a group, into the pointers of *rows; what those held is freed. */
static dls_status read_table(const dls_run *run, const char *group, const dls_record_table *table,
                             void *rows, size_t n, dls_error *err)
{
    for (size_t i = 0; i < table->n; i++) {
        const dls_record_column *c = &table->columns[i];
        char name[128];
        snprintf(name, sizeof name, "%s/%s", group, c->name);
        if (c->optional && !dls_h5_has(run->group, name)) {
            continue;
        }
        void *cells = NULL, *old;
        size_t width;
        DLS_TRY(dls_run_read_rows(run, name, c->type, n, 0, n, &cells, &width, err));
        memcpy(&old, (const char *)rows + c->offset, sizeof old);
        dls_free(old);
        dls_column_set(c, rows, cells);
    }
    return DLS_OK;
}

static dls_status fill_record(const dls_run *run, bool allocs, bool series, dls_record *rec,
                              dls_error *err)
{
    DLS_TRY(read_table(run, "jobs", &dls_job_table, rec, run->n_jobs, err));
    if (dls_record_digest(rec) != run->summary.digest) {
        return dls_fail(err, DLS_EINPUT, run->file->path,
                        "the jobs of run '%s' do not have the digest that the file gives", run->id);
    }
    dls_alloc_rows *a = &rec->allocs;
    if (allocs && run->n_allocs > 0) {
        DLS_TRY(read_table(run, "allocations", &dls_alloc_table, a, run->n_allocs, err));
        a->n = a->cap = run->n_allocs;
        a->has_guests = a->guest;
        for (size_t i = 0; i < a->n; i++) {
            if (a->job[i] < 0 || (size_t)a->job[i] >= run->n_jobs) {
                return dls_fail(err, DLS_EINPUT, run->file->path,
                                "row %zu of 'allocations/job' names job %d of %zu", i, a->job[i],
                                run->n_jobs);
            }
        }
    }
    dls_series_rows *s = &rec->series;
    if (series && run->n_series > 0) {
        DLS_TRY(read_table(run, "series/cluster", &dls_series_table, s, run->n_series, err));
        s->n = s->cap = run->n_series;
    }
    if (allocs && series && dls_record_history_digest(rec) != run->summary.history_digest) {
        return dls_fail(err, DLS_EINPUT, run->file->path,
                        "allocations and series of run '%s' do not have the digest that the file "
                        "gives",
                        run->id);
    }
    return DLS_OK;
}

dls_status dls_run_read_record(const dls_run *run, bool allocs, bool series, dls_record **out,
                               dls_error *err)
{
    dls_record *rec = NULL;
    DLS_TRY(dls_record_create(run->n_jobs, &rec, err));
    const dls_status status = fill_record(run, allocs, series, rec, err);
    if (status != DLS_OK) {
        dls_record_destroy(rec);
        return status;
    }
    const dls_summary *s = &run->summary;
    rec->total_gpus = s->total_gpus;
    rec->complete = s->complete;
    rec->events = s->events;
    rec->passes = s->passes;
    rec->positions = s->positions;
    rec->flips = s->flips;
    rec->refusals = s->refusals;
    rec->peak_queue = s->peak_queue;
    rec->peak_pending = s->waiting_peak;
    *out = rec;
    return DLS_OK;
}
