/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recordings as files (docs/perf.md).
 */
#include "base/alloc.h"
#include "base/h5.h"
#include "base/own.h"
#include "predictor/measure/recording.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FORMAT "dlsim-perf"
#define FORMAT_VERSION 1

/* Columns of the columns: what kind, which capacity. */
typedef struct tables {
    int32_t *kind;
    double *capacity;
} tables;

static dls_status tables_init(tables *t, size_t n, dls_error *err)
{
    t->kind = dls_alloc_zero(n + 1, sizeof *t->kind);
    t->capacity = dls_alloc_zero(n + 1, sizeof *t->capacity);
    return t->kind && t->capacity ? DLS_OK : dls_nomem(err, "recording", n * sizeof *t->capacity);
}

static void tables_fini(tables *t)
{
    dls_free(t->kind);
    dls_free(t->capacity);
}

static dls_status put_columns(hid_t file, const dls_recording *r, tables *t, dls_strdict *names,
                              dls_error *err)
{
    for (size_t i = 0; i < r->n_columns; i++) {
        int32_t code;
        DLS_TRY(dls_strdict_put(names, r->columns[i].name, strlen(r->columns[i].name), &code, err));
        t->kind[i] = (int32_t)r->columns[i].kind;
        t->capacity[i] = r->columns[i].capacity;
    }
    DLS_TRY(dls_h5_put_dict(file, "columns", names, err));
    DLS_TRY(dls_h5_put_data(file, "kind", H5T_STD_I32LE, H5T_NATIVE_INT32, t->kind, r->n_columns, 0,
                            err));
    return dls_h5_put_data(file, "capacity", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, t->capacity,
                           r->n_columns, 0, err);
}

static dls_status put_all(hid_t file, const void *what, dls_error *err)
{
    const dls_recording *r = what;
    char interval[32];
    snprintf(interval, sizeof interval, "%.17g", r->interval_s);
    DLS_TRY(dls_h5_put_text(file, "format", FORMAT, err));
    DLS_TRY(dls_h5_put_i32(file, "format_version", FORMAT_VERSION, err));
    DLS_TRY(dls_h5_put_text(file, "command", r->command, err));
    DLS_TRY(dls_h5_put_text(file, "notes", r->notes, err));
    DLS_TRY(dls_h5_put_text(file, "interval_s", interval, err));
    snprintf(interval, sizeof interval, "%lld", (long long)r->began_ns);
    DLS_TRY(dls_h5_put_text(file, "began_ns", interval, err));
    DLS_TRY(dls_h5_put_i32(file, "exit_code", r->exit_code, err));
    DLS_OWN(tables_fini) tables t = {NULL, NULL};
    DLS_OWN(dls_strdict_fini) dls_strdict names = {0};
    DLS_TRY(tables_init(&t, r->n_columns, err));
    DLS_TRY(put_columns(file, r, &t, &names, err));
    DLS_TRY(dls_h5_put_data(file, "time_ns", H5T_STD_I64LE, H5T_NATIVE_INT64, r->time_ns, r->n, 0,
                            err));
    return dls_h5_put_data(file, "value", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, r->value, r->n,
                           r->n_columns, err);
}

dls_status dls_recording_save(const dls_recording *r, const char *path, dls_error *err)
{
    return dls_h5_save(path, put_all, r, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static dls_status get_columns(hid_t file, dls_recording *r, tables *t, const dls_strdict *names,
                              dls_error *err)
{
    if (names->n == 0) {
        return dls_h5_damaged(err, "columns");
    }
    DLS_TRY(dls_h5_get_data(file, "kind", H5T_NATIVE_INT32, t->kind, names->n, 0, err));
    DLS_TRY(dls_h5_get_data(file, "capacity", H5T_NATIVE_DOUBLE, t->capacity, names->n, 0, err));
    DLS_TRY(dls_grow(&r->columns, &r->column_cap, names->n + 1, sizeof *r->columns, err));
    for (size_t i = 0; i < names->n; i++) {
        if ((t->kind[i] != DLS_COLUMN_LEVEL && t->kind[i] != DLS_COLUMN_COUNTER) ||
            !(t->capacity[i] >= 0)) {
            return dls_h5_damaged(err, "kind or capacity");
        }
        r->columns[i] =
            (dls_column){.kind = (dls_column_kind)t->kind[i], .capacity = t->capacity[i]};
        snprintf(r->columns[i].name, sizeof r->columns[i].name, "%s",
                 dls_strdict_get(names, (int32_t)i));
    }
    r->n_columns = names->n;
    return DLS_OK;
}

static dls_status get_readings(hid_t file, dls_recording *r, dls_error *err)
{
    DLS_TRY(dls_h5_length(file, "time_ns", &r->n, err));
    DLS_TRY(dls_grow(&r->time_ns, &r->time_cap, r->n + 1, sizeof *r->time_ns, err));
    DLS_TRY(dls_grow(&r->value, &r->value_cap, r->n * r->n_columns + 1, sizeof *r->value, err));
    DLS_TRY(dls_h5_get_data(file, "time_ns", H5T_NATIVE_INT64, r->time_ns, r->n, 0, err));
    DLS_TRY(dls_h5_get_data(file, "value", H5T_NATIVE_DOUBLE, r->value, r->n, r->n_columns, err));
    for (size_t i = 0; i < r->n; i++) {
        if (r->time_ns[i] < (i ? r->time_ns[i - 1] : 0)) {
            return dls_h5_damaged(err, "time_ns");
        }
    }
    for (size_t i = 0; i < r->n * r->n_columns; i++) {
        if (!isfinite(r->value[i])) {
            return dls_h5_damaged(err, "value");
        }
    }
    return DLS_OK;
}

static dls_status get_all(hid_t file, dls_recording *r, dls_error *err)
{
    char text[64];
    int32_t version = 0;
    DLS_TRY(dls_h5_get_text(file, "format", text, sizeof text, err));
    DLS_TRY(dls_h5_get_i32(file, "format_version", &version, err));
    if (strcmp(text, FORMAT) != 0 || version != FORMAT_VERSION) {
        return dls_fail(err, DLS_EINPUT, NULL, "not a recording of version %d", FORMAT_VERSION);
    }
    DLS_TRY(dls_h5_get_text(file, "command", r->command, sizeof r->command, err));
    DLS_TRY(dls_h5_get_text(file, "notes", r->notes, sizeof r->notes, err));
    DLS_TRY(dls_h5_get_text(file, "interval_s", text, sizeof text, err));
    DLS_TRY(dls_h5_get_i32(file, "exit_code", &r->exit_code, err));
    if (sscanf(text, "%lf", &r->interval_s) != 1 || !(r->interval_s > 0 && r->interval_s < 1e6)) {
        return dls_h5_damaged(err, "interval_s");
    }
    if (H5Aexists(file, "began_ns") > 0) { /* not in older files */
        long long began_ns = 0;
        DLS_TRY(dls_h5_get_text(file, "began_ns", text, sizeof text, err));
        if (sscanf(text, "%lld", &began_ns) != 1 || began_ns < 0) {
            return dls_h5_damaged(err, "began_ns");
        }
        r->began_ns = began_ns;
    }
    DLS_OWN(tables_fini) tables t = {NULL, NULL};
    DLS_OWN(dls_strdict_fini) dls_strdict names = {0};
    DLS_TRY(dls_h5_get_dict(file, "columns", &names, err));
    DLS_TRY(tables_init(&t, names.n, err));
    DLS_TRY(get_columns(file, r, &t, &names, err));
    return get_readings(file, r, err);
}

dls_status dls_recording_load(const char *path, dls_recording *out, dls_error *err)
{
    DLS_H5_OWNED hid_t file = H5I_INVALID_HID;
    *out = (dls_recording){0};
    DLS_TRY(dls_h5_open(path, &file, err));
    const dls_status status = get_all(file, out, err);
    if (status != DLS_OK) {
        dls_recording_fini(out);
    }
    return dls_h5_where(status, err, path);
}
