/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured times in HDF5: one column per field, one checksum over all (docs/operator.md).
 */
#include "base/alloc.h"
#include "base/h5.h"
#include "workload/operator/op_times.h"

#include <stdio.h>
#include <string.h>

#define FORMAT "dlsim-operators"
#define FORMAT_VERSION 1
#define NUMERIC_WIDTH 16

/* The rows as columns. */
typedef struct columns {
    char *gpu, *method, *numeric; /* [n][DLS_OP_TIME_NAME], the last [n][NUMERIC_WIDTH] */
    int64_t *count, *m, *n, *k, *bytes;
    double *seconds;
    size_t rows;
} columns;

static void columns_fini(columns *c)
{
    dls_free(c->gpu);
    dls_free(c->method);
    dls_free(c->numeric);
    dls_free(c->count);
    dls_free(c->m);
    dls_free(c->n);
    dls_free(c->k);
    dls_free(c->bytes);
    dls_free(c->seconds);
}

static dls_status columns_alloc(columns *c, size_t rows, dls_error *err)
{
    c->rows = rows;
    c->gpu = dls_alloc_zero(rows + 1, DLS_OP_TIME_NAME);
    c->method = dls_alloc_zero(rows + 1, DLS_OP_TIME_NAME);
    c->numeric = dls_alloc_zero(rows + 1, NUMERIC_WIDTH);
    int64_t **const whole[] = {&c->count, &c->m, &c->n, &c->k, &c->bytes};
    bool ok = c->gpu && c->method && c->numeric;
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        *whole[i] = dls_alloc_zero(rows + 1, sizeof **whole[i]);
        ok = ok && *whole[i];
    }
    c->seconds = dls_alloc_zero(rows + 1, sizeof *c->seconds);
    return ok && c->seconds ? DLS_OK : dls_nomem(err, "operators", rows * sizeof *c->seconds);
}

static void checksum(const columns *c, char hex[DLS_SHA256_HEX])
{
    dls_sha256 sha;
    const int64_t *const whole[] = {c->count, c->m, c->n, c->k, c->bytes};
    dls_sha256_init(&sha);
    dls_sha256_update(&sha, c->gpu, c->rows * DLS_OP_TIME_NAME);
    dls_sha256_update(&sha, c->method, c->rows * DLS_OP_TIME_NAME);
    dls_sha256_update(&sha, c->numeric, c->rows * NUMERIC_WIDTH);
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        dls_h5_hash(&sha, whole[i], c->rows, sizeof *whole[i]);
    }
    dls_h5_hash(&sha, c->seconds, c->rows, sizeof *c->seconds);
    dls_sha256_final(&sha, hex);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void fill_columns(const dls_op_times *times, columns *c)
{
    for (size_t i = 0; i < times->n; i++) {
        const dls_op_time *row = &times->row[i];
        snprintf(c->gpu + i * DLS_OP_TIME_NAME, DLS_OP_TIME_NAME, "%s", row->gpu);
        snprintf(c->method + i * DLS_OP_TIME_NAME, DLS_OP_TIME_NAME, "%s", row->method);
        snprintf(c->numeric + i * NUMERIC_WIDTH, NUMERIC_WIDTH, "%s",
                 dls_numeric_name((int)row->numeric));
        c->count[i] = row->work.count;
        c->m[i] = row->work.m;
        c->n[i] = row->work.n;
        c->k[i] = row->work.k;
        c->bytes[i] = row->work.bytes;
        c->seconds[i] = row->seconds;
    }
}

static dls_status put_columns(hid_t file, const columns *c, dls_error *err)
{
    const struct {
        const char *name;
        const int64_t *x;
    } whole[] = {{"count", c->count}, {"m", c->m}, {"n", c->n}, {"k", c->k}, {"bytes", c->bytes}};
    char hex[DLS_SHA256_HEX];
    checksum(c, hex);
    DLS_TRY(dls_h5_put_text(file, "format", FORMAT, err));
    DLS_TRY(dls_h5_put_i32(file, "format_version", FORMAT_VERSION, err));
    DLS_TRY(dls_h5_put_text(file, "checksum", hex, err));
    DLS_TRY(dls_h5_put_strings(file, "gpu", c->gpu, c->rows, DLS_OP_TIME_NAME, err));
    DLS_TRY(dls_h5_put_strings(file, "method", c->method, c->rows, DLS_OP_TIME_NAME, err));
    DLS_TRY(dls_h5_put_strings(file, "precision", c->numeric, c->rows, NUMERIC_WIDTH, err));
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        DLS_TRY(dls_h5_put_data(file, whole[i].name, H5T_STD_I64LE, H5T_NATIVE_INT64, whole[i].x,
                                 c->rows, 0, err));
    }
    return dls_h5_put_data(file, "seconds", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, c->seconds, c->rows,
                            0, err);
}

static dls_status put_times(hid_t file, const void *what, dls_error *err)
{
    const dls_op_times *times = what;
    columns c = {0};
    dls_status status = columns_alloc(&c, times->n, err);
    if (status == DLS_OK) {
        fill_columns(times, &c);
        status = put_columns(file, &c, err);
    }
    columns_fini(&c);
    return status;
}

dls_status dls_op_times_save(const dls_op_times *times, const char *path, dls_error *err)
{
    return dls_h5_save(path, put_times, times, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static dls_status get_columns(hid_t file, columns *c, dls_error *err)
{
    const struct {
        const char *name;
        int64_t *x;
    } whole[] = {{"count", c->count}, {"m", c->m}, {"n", c->n}, {"k", c->k}, {"bytes", c->bytes}};
    char stored[DLS_SHA256_HEX];
    char hex[DLS_SHA256_HEX];
    DLS_TRY(dls_h5_get_text(file, "checksum", stored, sizeof stored, err));
    DLS_TRY(dls_h5_get_strings(file, "gpu", c->gpu, c->rows, DLS_OP_TIME_NAME, err));
    DLS_TRY(dls_h5_get_strings(file, "method", c->method, c->rows, DLS_OP_TIME_NAME, err));
    DLS_TRY(dls_h5_get_strings(file, "precision", c->numeric, c->rows, NUMERIC_WIDTH, err));
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        DLS_TRY(
            dls_h5_get_data(file, whole[i].name, H5T_NATIVE_INT64, whole[i].x, c->rows, 0, err));
    }
    DLS_TRY(dls_h5_get_data(file, "seconds", H5T_NATIVE_DOUBLE, c->seconds, c->rows, 0, err));
    checksum(c, hex);
    return strcmp(stored, hex) == 0
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, NULL, "checksum %s stored, %s computed: damaged", stored,
                          hex);
}

static dls_status take_rows(const columns *c, dls_op_times *times, dls_error *err)
{
    for (size_t i = 0; i < c->rows; i++) {
        dls_op_time row = {.work = {c->count[i], c->m[i], c->n[i], c->k[i], c->bytes[i]},
                           .seconds = c->seconds[i]};
        memcpy(row.gpu, c->gpu + i * DLS_OP_TIME_NAME, DLS_OP_TIME_NAME);
        memcpy(row.method, c->method + i * DLS_OP_TIME_NAME, DLS_OP_TIME_NAME);
        if (!dls_numeric_find(c->numeric + i * NUMERIC_WIDTH, &row.numeric)) {
            return dls_fail(err, DLS_EINPUT, NULL, "row %zu: precision \"%s\" is unknown", i,
                            c->numeric + i * NUMERIC_WIDTH);
        }
        DLS_TRY(dls_op_times_put(times, &row, err));
        if (times->n != i + 1) {
            return dls_fail(err, DLS_EINPUT, NULL, "row %zu stands there twice", i);
        }
    }
    return DLS_OK;
}

static dls_status get_times(hid_t file, dls_op_times *times, dls_error *err)
{
    size_t rows = 0;
    columns c = {0};
    DLS_TRY(dls_h5_check_format(file, FORMAT, FORMAT_VERSION, err));
    DLS_TRY(dls_h5_length(file, "seconds", &rows, err));
    dls_status status = columns_alloc(&c, rows, err);
    status = status == DLS_OK ? get_columns(file, &c, err) : status;
    status = status == DLS_OK ? take_rows(&c, times, err) : status;
    columns_fini(&c);
    return status;
}

dls_status dls_op_times_load(const char *path, dls_op_times *times, dls_error *err)
{
    hid_t file;
    *times = (dls_op_times){0};
    DLS_TRY(dls_h5_open(path, &file, err));
    const dls_status status = get_times(file, times, err);
    H5Fclose(file);
    if (status != DLS_OK) {
        if (err) {
            snprintf(err->where, sizeof err->where, "%s", path);
        }
        dls_op_times_fini(times);
    }
    return status;
}
