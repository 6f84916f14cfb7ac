/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recordings as files (docs/perf.md).
 */
#include "base/alloc.h"
#include "base/h5.h"
#include "base/own.h"
#include "predictor/measure/recording.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FORMAT "dlsim-perf"
#define FORMAT_VERSION 1

/* Of the columns: what kind, which capacity. */
static const dls_h5_column cells[] = {
    {.name = "kind", .cell = DLS_H5_I32, .offset = offsetof(dls_column, kind)},
    {.name = "capacity", .cell = DLS_H5_F64, .offset = offsetof(dls_column, capacity)}};
static const dls_h5_table table = {"", cells, sizeof cells / sizeof *cells, sizeof(dls_column)};

static dls_status put_columns(hid_t file, const dls_recording *r, dls_error *err)
{
    DLS_OWN(dls_strdict_fini) dls_strdict names = {0};
    for (size_t i = 0; i < r->n_columns; i++) {
        const char *name = r->columns[i].name;
        int32_t code;
        DLS_TRY(dls_strdict_put(&names, name, strlen(name), &code, err));
    }
    DLS_TRY(dls_h5_put_dict(file, "columns", &names, err));
    return dls_h5_put_rows(file, &table, r->columns, r->n_columns, err);
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
    DLS_TRY(put_columns(file, r, err));
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

static dls_status get_columns(hid_t file, dls_recording *r, dls_error *err)
{
    DLS_OWN(dls_strdict_fini) dls_strdict names = {0};
    DLS_TRY(dls_h5_get_dict(file, "columns", &names, err));
    if (names.n == 0) {
        return dls_h5_damaged(err, "columns");
    }
    DLS_TRY(dls_grow(&r->columns, &r->column_cap, names.n + 1, sizeof *r->columns, err));
    DLS_TRY(dls_h5_get_rows(file, &table, r->columns, names.n, err));
    for (size_t i = 0; i < names.n; i++) {
        dls_column *c = &r->columns[i];
        if ((c->kind != DLS_COLUMN_LEVEL && c->kind != DLS_COLUMN_COUNTER) || !(c->capacity >= 0)) {
            return dls_h5_damaged(err, "kind or capacity");
        }
        snprintf(c->name, sizeof c->name, "%s", dls_strdict_get(&names, (int32_t)i));
    }
    r->n_columns = names.n;
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
    DLS_TRY(dls_h5_check_format(file, FORMAT, FORMAT_VERSION, err));
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
    DLS_TRY(get_columns(file, r, err));
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
