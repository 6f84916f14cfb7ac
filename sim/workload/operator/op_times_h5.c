/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured times in HDF5: one column per field, one checksum over all (docs/operator.md).
 */
#include "base/h5.h"
#include "base/own.h"
#include "workload/operator/op_times.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FORMAT "dlsim-operators"
#define FORMAT_VERSION 1

/* As the file has it. */
typedef struct row {
    char gpu[DLS_OP_TIME_NAME], method[DLS_OP_TIME_NAME], precision[16];
    dls_op_work work;
    double seconds;
} row;

#define TEXT(field)                                                                                \
    {                                                                                              \
#field, DLS_H5_TEXT, offsetof(row, field), sizeof((row *)0)->field                         \
    }
#define WORK(field)                                                                                \
    {                                                                                              \
#field, DLS_H5_I64, offsetof(row, work.field), 0                                           \
    }
static const dls_h5_column columns[] = {
    TEXT(gpu),   TEXT(method), TEXT(precision),
    WORK(count), WORK(m),      WORK(n),
    WORK(k),     WORK(bytes),  {"seconds", DLS_H5_F64, offsetof(row, seconds), 0}};
static const dls_h5_table table = {"", columns, sizeof columns / sizeof *columns, sizeof(row)};

static void checksum(const row *rows, size_t n, char hex[DLS_SHA256_HEX])
{
    dls_sha256 sha;
    dls_sha256_init(&sha);
    dls_h5_hash_rows(&sha, &table, rows, n, false);
    dls_sha256_final(&sha, hex);
}

static dls_status put_times(hid_t file, const void *what, dls_error *err)
{
    const dls_op_times *times = what;
    DLS_FREED row *rows = NULL;
    char hex[DLS_SHA256_HEX];
    DLS_TRY(dls_alloc_array(&rows, times->n + 1, sizeof *rows, "operators", err));
    for (size_t i = 0; i < times->n; i++) {
        const dls_op_time *from = &times->row[i];
        rows[i] = (row){.work = from->work, .seconds = from->seconds};
        snprintf(rows[i].gpu, sizeof rows[i].gpu, "%s", from->gpu);
        snprintf(rows[i].method, sizeof rows[i].method, "%s", from->method);
        snprintf(rows[i].precision, sizeof rows[i].precision, "%s",
                 dls_numeric_name((int)from->numeric));
    }
    checksum(rows, times->n, hex);
    DLS_TRY(dls_h5_put_text(file, "format", FORMAT, err));
    DLS_TRY(dls_h5_put_i32(file, "format_version", FORMAT_VERSION, err));
    DLS_TRY(dls_h5_put_text(file, "checksum", hex, err));
    return dls_h5_put_rows(file, &table, rows, times->n, err);
}

dls_status dls_op_times_save(const dls_op_times *times, const char *path, dls_error *err)
{
    return dls_h5_save(path, put_times, times, err);
}

static dls_status take_rows(const row *rows, size_t n, dls_op_times *times, dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        dls_op_time time = {.work = rows[i].work, .seconds = rows[i].seconds};
        memcpy(time.gpu, rows[i].gpu, sizeof time.gpu);
        memcpy(time.method, rows[i].method, sizeof time.method);
        if (!dls_numeric_find(rows[i].precision, &time.numeric)) {
            return dls_fail(err, DLS_EINPUT, NULL, "row %zu: precision \"%s\" is unknown", i,
                            rows[i].precision);
        }
        DLS_TRY(dls_op_times_put(times, &time, err));
        if (times->n != i + 1) {
            return dls_fail(err, DLS_EINPUT, NULL, "row %zu stands there twice", i);
        }
    }
    return DLS_OK;
}

static dls_status get_times(hid_t file, dls_op_times *times, dls_error *err)
{
    char stored[DLS_SHA256_HEX], hex[DLS_SHA256_HEX];
    DLS_FREED row *rows = NULL;
    size_t n = 0;
    DLS_TRY(dls_h5_check_format(file, FORMAT, FORMAT_VERSION, err));
    DLS_TRY(dls_h5_length(file, "seconds", &n, err));
    DLS_TRY(dls_alloc_array(&rows, n + 1, sizeof *rows, "operators", err));
    DLS_TRY(dls_h5_get_text(file, "checksum", stored, sizeof stored, err));
    DLS_TRY(dls_h5_get_rows(file, &table, rows, n, err));
    checksum(rows, n, hex);
    return strcmp(stored, hex) == 0
               ? take_rows(rows, n, times, err)
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
        dls_op_times_fini(times);
    }
    return dls_h5_where(status, err, path);
}
