/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured times in HDF5: one column per field, one checksum over all (docs/operator.md).
 */
#include "base/alloc.h"
#include "base/h5.h"
#include "base/own.h"
#include "workload/operator/op_times.h"

#include <stdio.h>
#include <string.h>

#define FORMAT "dlsim-operators"
#define FORMAT_VERSION 1

enum { GPU, METHOD, PRECISION, TEXTS };
static const struct {
    const char *name;
    size_t width;
} texts[TEXTS] = {{"gpu", DLS_OP_TIME_NAME}, {"method", DLS_OP_TIME_NAME}, {"precision", 16}};

/* The fields of dls_op_work. */
static const char *const whole[] = {"count", "m", "n", "k", "bytes"};
enum { WHOLE = sizeof whole / sizeof *whole };
_Static_assert(sizeof(dls_op_work) == WHOLE * sizeof(int64_t), "a column for each field");

/* The rows as columns. */
typedef struct columns {
    char *text[TEXTS];
    int64_t *whole[WHOLE];
    double *seconds;
    size_t rows;
} columns;

static void columns_fini(const columns *c)
{
    for (int i = 0; i < TEXTS; i++) {
        dls_free(c->text[i]);
    }
    for (int i = 0; i < WHOLE; i++) {
        dls_free(c->whole[i]);
    }
    dls_free(c->seconds);
}

static dls_status columns_alloc(columns *c, size_t rows, dls_error *err)
{
    c->rows = rows;
    for (int i = 0; i < TEXTS; i++) {
        DLS_TRY(dls_alloc_array(&c->text[i], rows + 1, texts[i].width, "operators", err));
    }
    for (int i = 0; i < WHOLE; i++) {
        DLS_TRY(dls_alloc_array(&c->whole[i], rows + 1, sizeof **c->whole, "operators", err));
    }
    return dls_alloc_array(&c->seconds, rows + 1, sizeof *c->seconds, "operators", err);
}

static void checksum(const columns *c, char hex[DLS_SHA256_HEX])
{
    dls_sha256 sha;
    dls_sha256_init(&sha);
    for (int i = 0; i < TEXTS; i++) {
        dls_sha256_update(&sha, c->text[i], c->rows * texts[i].width);
    }
    for (int i = 0; i < WHOLE; i++) {
        dls_h5_hash(&sha, c->whole[i], c->rows, sizeof **c->whole);
    }
    dls_h5_hash(&sha, c->seconds, c->rows, sizeof *c->seconds);
    dls_sha256_final(&sha, hex);
}

/* ---- writing --------------------------------------------------------------------------------- */

static dls_status put_times(hid_t file, const void *what, dls_error *err)
{
    const dls_op_times *times = what;
    DLS_OWN(columns_fini) columns c = {0};
    char hex[DLS_SHA256_HEX];
    DLS_TRY(columns_alloc(&c, times->n, err));
    for (size_t i = 0; i < times->n; i++) {
        const dls_op_time *row = &times->row[i];
        const char *const text[] = {row->gpu, row->method, dls_numeric_name((int)row->numeric)};
        int64_t work[WHOLE];
        memcpy(work, &row->work, sizeof work);
        for (int k = 0; k < TEXTS; k++) {
            snprintf(c.text[k] + i * texts[k].width, texts[k].width, "%s", text[k]);
        }
        for (int k = 0; k < WHOLE; k++) {
            c.whole[k][i] = work[k];
        }
        c.seconds[i] = row->seconds;
    }
    checksum(&c, hex);
    DLS_TRY(dls_h5_put_text(file, "format", FORMAT, err));
    DLS_TRY(dls_h5_put_i32(file, "format_version", FORMAT_VERSION, err));
    DLS_TRY(dls_h5_put_text(file, "checksum", hex, err));
    for (int k = 0; k < TEXTS; k++) {
        DLS_TRY(dls_h5_put_strings(file, texts[k].name, c.text[k], c.rows, texts[k].width, err));
    }
    for (int k = 0; k < WHOLE; k++) {
        DLS_TRY(dls_h5_put_data(file, whole[k], H5T_STD_I64LE, H5T_NATIVE_INT64, c.whole[k], c.rows,
                                0, err));
    }
    return dls_h5_put_data(file, "seconds", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, c.seconds, c.rows, 0,
                           err);
}

dls_status dls_op_times_save(const dls_op_times *times, const char *path, dls_error *err)
{
    return dls_h5_save(path, put_times, times, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static dls_status take_rows(const columns *c, dls_op_times *times, dls_error *err)
{
    for (size_t i = 0; i < c->rows; i++) {
        const char *numeric = c->text[PRECISION] + i * texts[PRECISION].width;
        dls_op_time row = {.seconds = c->seconds[i]};
        int64_t work[WHOLE];
        for (int k = 0; k < WHOLE; k++) {
            work[k] = c->whole[k][i];
        }
        memcpy(&row.work, work, sizeof work);
        memcpy(row.gpu, c->text[GPU] + i * DLS_OP_TIME_NAME, DLS_OP_TIME_NAME);
        memcpy(row.method, c->text[METHOD] + i * DLS_OP_TIME_NAME, DLS_OP_TIME_NAME);
        if (!dls_numeric_find(numeric, &row.numeric)) {
            return dls_fail(err, DLS_EINPUT, NULL, "row %zu: precision \"%s\" is unknown", i,
                            numeric);
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
    char stored[DLS_SHA256_HEX], hex[DLS_SHA256_HEX];
    DLS_OWN(columns_fini) columns c = {0};
    size_t rows = 0;
    DLS_TRY(dls_h5_check_format(file, FORMAT, FORMAT_VERSION, err));
    DLS_TRY(dls_h5_length(file, "seconds", &rows, err));
    DLS_TRY(columns_alloc(&c, rows, err));
    DLS_TRY(dls_h5_get_text(file, "checksum", stored, sizeof stored, err));
    for (int k = 0; k < TEXTS; k++) {
        DLS_TRY(dls_h5_get_strings(file, texts[k].name, c.text[k], rows, texts[k].width, err));
    }
    for (int k = 0; k < WHOLE; k++) {
        DLS_TRY(dls_h5_get_data(file, whole[k], H5T_NATIVE_INT64, c.whole[k], rows, 0, err));
    }
    DLS_TRY(dls_h5_get_data(file, "seconds", H5T_NATIVE_DOUBLE, c.seconds, rows, 0, err));
    checksum(&c, hex);
    return strcmp(stored, hex) == 0
               ? take_rows(&c, times, err)
               : dls_fail(err, DLS_EINPUT, NULL, "checksum %s stored, %s computed: damaged", stored,
                          hex);
}

dls_status dls_op_times_load(const char *path, dls_op_times *times, dls_error *err)
{
    DLS_H5_OWNED hid_t file = H5I_INVALID_HID;
    *times = (dls_op_times){0};
    DLS_TRY(dls_h5_open(path, &file, err));
    const dls_status status = get_times(file, times, err);
    if (status != DLS_OK) {
        if (err) {
            snprintf(err->where, sizeof err->where, "%s", path);
        }
        dls_op_times_fini(times);
    }
    return status;
}
