/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the long tables of a run (jobs, allocations, series) back into columns, and checks their
 * types and lengths.
 */
#include "results/read.h"

#include "base/alloc.h"

#include <string.h>

dls_status dls_run_count_rows(const dls_run *run, const char *table, const char *column, size_t *n,
                              dls_error *err)
{
    char name[128];
    *n = 0;
    snprintf(name, sizeof name, "%s/%s", table, column);
    return dls_h5_has(run->group, table)
               ? dls_h5_where(dls_h5_length(run->group, name, n, err), err, run->file->path)
               : DLS_OK;
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

static dls_status read_column(const dls_run *run, const char *name, dls_field_type want, size_t n,
                              void *out, size_t *width, dls_error *err)
{
    if (!dls_h5_has(run->group, name)) {
        return dls_fail(err, DLS_EINPUT, NULL, "no column '%s'", name);
    }
    DLS_H5_OWNED hid_t set = H5I_INVALID_HID;
    hsize_t rows;
    DLS_TRY(dls_h5_open_data(run->group, name, &set, &rows, err));
    DLS_H5_OWNED const hid_t stored = H5Dget_type(set);
    const size_t bytes = want == DLS_FIELD_TEXT ? H5Tget_size(stored) + 1 : dls_field_width(want);
    DLS_FREED void *data = NULL;
    if (!suits(H5Tget_class(stored), want)) {
        return dls_fail(err, DLS_EINPUT, NULL, "column '%s' has an unexpected type", name);
    }
    if (rows != n) {
        return dls_fail(err, DLS_EINPUT, NULL, "column '%s' does not have %zu rows", name, n);
    }
    DLS_TRY(dls_alloc_array(&data, n, bytes, name, err));
    DLS_H5_OWNED const hid_t memory = dls_field_h5_type(want, bytes, false);
    DLS_H5_OWNED const hid_t converting = dls_h5_converting(n, stored, memory);
    if (n > 0 && H5Dread(set, memory, H5S_ALL, H5S_ALL, converting, data) < 0) {
        return dls_h5_fail(err, DLS_EINPUT, "\"%s\" is damaged", name);
    }
    if (want == DLS_FIELD_TEXT) {
        for (size_t i = 0; i < n; i++) {
            ((char *)data)[(i + 1) * bytes - 1] = '\0';
        }
    }
    *width = bytes;
    void *const read = dls_take(&data);
    memcpy(out, &read, sizeof read);
    return DLS_OK;
}

dls_status dls_run_read_column(const dls_run *run, const char *name, dls_field_type want, size_t n,
                               void *out, size_t *width, dls_error *err)
{
    return dls_h5_where(read_column(run, name, want, n, out, width, err), err, run->file->path);
}

dls_status dls_run_read_table(const dls_run *run, const dls_record_table *table, size_t n, bool all,
                              void *rows, dls_error *err)
{
    for (size_t i = 0; i < table->n; i++) {
        const dls_record_column *c = &table->columns[i];
        char name[128];
        void *cells = NULL;
        size_t width;
        snprintf(name, sizeof name, "%s/%s", table->group, c->name);
        if (c->optional && (!all || !dls_h5_has(run->group, name))) {
            continue;
        }
        DLS_TRY(dls_run_read_column(run, name, c->type, n, &cells, &width, err));
        dls_column_set(c, rows, cells);
    }
    return DLS_OK;
}
