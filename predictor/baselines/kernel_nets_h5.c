/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Learned baselines in HDF5: networks one behind the other, one checksum over all
 * (docs/predictors.md).
 */
#include "base/alloc.h"
#include "predictor/baselines/kernel_nets.h"
#include "predictor/driple/arch.h"
#include "base/h5.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FORMAT "dlsim-kernel-nets"
#define FORMAT_VERSION 1
#define SHAPE 3 /* inputs, width, depth */

/* The file's columns; a kind without a network has shape 0 and no numbers. */
typedef struct columns {
    int32_t shape[DLS_KERNEL_NETS][SHAPE];
    int64_t rows[DLS_KERNEL_NETS][2 * DLS_SPLITS]; /* kept, seen */
    double percent[DLS_KERNEL_NETS][DLS_SPLITS];
    double *value; /* owned: shift, scale and values of each */
    size_t n;
} columns;

static void columns_fini(columns *c)
{
    dls_free(c->value);
}

static size_t net_values(const int32_t shape[SHAPE])
{
    return shape[0] ? 2 * (size_t)shape[0] +
                          dls_mlp_values((dls_mlp_shape){shape[0], shape[1], shape[2]})
                    : 0;
}

static void checksum(const dls_kernel_nets *nets, const columns *c, char hex[DLS_SHA256_HEX])
{
    dls_sha256 sha;
    const char *const text[] = {dls_learned_names[nets->how], nets->command, nets->data_command,
                                nets->gpus};
    dls_sha256_init(&sha);
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        dls_sha256_update(&sha, text[i], strlen(text[i]) + 1);
    }
    dls_h5_hash(&sha, c->shape, DLS_KERNEL_NETS * SHAPE, sizeof(int32_t));
    dls_h5_hash(&sha, c->rows, DLS_KERNEL_NETS * 2 * DLS_SPLITS, sizeof(int64_t));
    dls_h5_hash(&sha, c->percent, DLS_KERNEL_NETS * DLS_SPLITS, sizeof(double));
    dls_h5_hash(&sha, c->value, c->n, sizeof *c->value);
    dls_sha256_final(&sha, hex);
}

/* Between the numbers of a file and those of its networks, in either direction. */
static void copy_values(dls_kernel_nets *nets, const columns *c, bool to_columns)
{
    double *at = c->value;
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        dls_mlp *m = &nets->net[k];
        const size_t n_in = (size_t)m->shape.n_in;
        double *const part[] = {m->shift, m->scale, m->value};
        const size_t len[] = {n_in, n_in, m->n_values};
        for (int p = 0; m->n_values && p < 3; p++) {
            memcpy(to_columns ? at : part[p], to_columns ? part[p] : at, len[p] * sizeof *at);
            at += len[p];
        }
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static dls_status put_columns(hid_t file, const dls_kernel_nets *nets, const columns *c,
                              dls_error *err)
{
    char hex[DLS_SHA256_HEX];
    checksum(nets, c, hex);
    DLS_TRY(dls_h5_put_text(file, "format", FORMAT, err));
    DLS_TRY(dls_h5_put_i32(file, "format_version", FORMAT_VERSION, err));
    DLS_TRY(dls_h5_put_text(file, "checksum", hex, err));
    DLS_TRY(dls_h5_put_text(file, "method", dls_learned_names[nets->how], err));
    DLS_TRY(dls_h5_put_text(file, "command", nets->command, err));
    DLS_TRY(dls_h5_put_text(file, "data_command", nets->data_command, err));
    DLS_TRY(dls_h5_put_text(file, "gpus", nets->gpus, err));
    DLS_TRY(dls_h5_put_data(file, "shape", H5T_STD_I32LE, H5T_NATIVE_INT32, c->shape,
                             DLS_KERNEL_NETS, SHAPE, err));
    DLS_TRY(dls_h5_put_data(file, "rows", H5T_STD_I64LE, H5T_NATIVE_INT64, c->rows,
                             DLS_KERNEL_NETS, 2 * DLS_SPLITS, err));
    DLS_TRY(dls_h5_put_data(file, "percent", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, c->percent,
                             DLS_KERNEL_NETS, DLS_SPLITS, err));
    return dls_h5_put_data(file, "value", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, c->value, c->n, 0,
                            err);
}

static dls_status put_nets(hid_t file, const void *what, dls_error *err)
{
    const dls_kernel_nets *nets = what;
    DLS_OWN(columns_fini) columns c = {0};
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        const dls_mlp_shape *s = &nets->net[k].shape;
        const int32_t shape[SHAPE] = {s->n_in, s->width, s->depth};
        memcpy(c.shape[k], shape, sizeof shape);
        for (int p = 0; p < DLS_SPLITS; p++) {
            c.rows[k][p] = nets->report[k].rows[p];
            c.rows[k][DLS_SPLITS + p] = (int64_t)nets->report[k].seen[p];
            c.percent[k][p] = nets->report[k].percent[p];
        }
        c.n += net_values(c.shape[k]);
    }
    DLS_TRY(dls_alloc_array(&c.value, c.n + 1, sizeof *c.value, "networks", err));
    dls_kernel_nets borrowed = *nets;
    copy_values(&borrowed, &c, true);
    return put_columns(file, nets, &c, err);
}

dls_status dls_kernel_nets_save(const dls_kernel_nets *nets, const char *path, dls_error *err)
{
    return dls_h5_save(path, put_nets, nets, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static dls_status get_texts(hid_t file, dls_kernel_nets *nets, char *stored, size_t size,
                            dls_error *err)
{
    char text[64];
    DLS_TRY(dls_h5_check_format(file, FORMAT, FORMAT_VERSION, err));
    DLS_TRY(dls_h5_get_text(file, "checksum", stored, size, err));
    DLS_TRY(dls_h5_get_text(file, "method", text, sizeof text, err));
    const int32_t how = dls_name_index(dls_learned_names, text, strlen(text));
    if (how < 0) {
        return dls_fail(err, DLS_EINPUT, NULL, "method \"%s\" is not justus or habitat", text);
    }
    nets->how = (dls_learned)how;
    DLS_TRY(dls_h5_get_text(file, "command", nets->command, sizeof nets->command, err));
    DLS_TRY(
        dls_h5_get_text(file, "data_command", nets->data_command, sizeof nets->data_command, err));
    return dls_h5_get_text(file, "gpus", nets->gpus, sizeof nets->gpus, err);
}

/* Networks of the shapes in the file, still empty. */
static dls_status get_shapes(hid_t file, dls_kernel_nets *nets, columns *c, dls_error *err)
{
    size_t n = 0;
    DLS_TRY(
        dls_h5_get_data(file, "shape", H5T_NATIVE_INT32, c->shape, DLS_KERNEL_NETS, SHAPE, err));
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        const int32_t *s = c->shape[k];
        if (s[0] == 0 && s[1] == 0 && s[2] == 0) {
            continue;
        }
        if (s[0] != dls_kernel_features((dls_kernel_net)k) ||
            !dls_learned_uses(nets->how, (dls_kernel_net)k)) {
            return dls_fail(err, DLS_EINPUT, NULL, "a network for %s with %d inputs",
                            dls_kernel_net_names[k], (int)s[0]);
        }
        DLS_TRY(dls_mlp_create((dls_mlp_shape){s[0], s[1], s[2]}, &nets->net[k], err));
        c->n += net_values(s);
    }
    DLS_TRY(dls_h5_length(file, "value", &n, err));
    return n == c->n ? DLS_OK
                     : dls_fail(err, DLS_EINPUT, NULL, "%zu numbers where %zu are needed", n, c->n);
}

static dls_status get_numbers(hid_t file, dls_kernel_nets *nets, columns *c, const char *stored,
                              dls_error *err)
{
    char hex[DLS_SHA256_HEX];
    DLS_TRY(dls_h5_get_data(file, "rows", H5T_NATIVE_INT64, c->rows, DLS_KERNEL_NETS,
                             2 * DLS_SPLITS, err));
    DLS_TRY(dls_h5_get_data(file, "percent", H5T_NATIVE_DOUBLE, c->percent, DLS_KERNEL_NETS,
                             DLS_SPLITS, err));
    DLS_TRY(dls_h5_get_data(file, "value", H5T_NATIVE_DOUBLE, c->value, c->n, 0, err));
    checksum(nets, c, hex);
    if (strcmp(stored, hex) != 0) {
        return dls_fail(err, DLS_EINPUT, NULL, "checksum %s stored, %s computed: damaged", stored,
                        hex);
    }
    for (size_t i = 0; i < c->n; i++) {
        if (!isfinite(c->value[i])) {
            return dls_fail(err, DLS_EINPUT, NULL, "number %zu is not finite", i);
        }
    }
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        for (int p = 0; p < DLS_SPLITS; p++) {
            nets->report[k].rows[p] = c->rows[k][p];
            nets->report[k].seen[p] = (uint64_t)c->rows[k][DLS_SPLITS + p];
            nets->report[k].percent[p] = c->percent[k][p];
        }
    }
    copy_values(nets, c, false);
    return DLS_OK;
}

static dls_status get_nets(hid_t file, dls_kernel_nets *nets, dls_error *err)
{
    char stored[DLS_SHA256_HEX];
    DLS_OWN(columns_fini) columns c = {0};
    DLS_TRY(get_texts(file, nets, stored, sizeof stored, err));
    DLS_TRY(get_shapes(file, nets, &c, err));
    DLS_TRY(dls_alloc_array(&c.value, c.n + 1, sizeof *c.value, "networks", err));
    return get_numbers(file, nets, &c, stored, err);
}

dls_status dls_kernel_nets_load(const char *path, dls_kernel_nets *nets, dls_error *err)
{
    DLS_H5_OWNED hid_t file = H5I_INVALID_HID;
    *nets = (dls_kernel_nets){0};
    DLS_TRY(dls_h5_open(path, &file, err));
    const dls_status status = get_nets(file, nets, err);
    if (status != DLS_OK) {
        if (err) {
            snprintf(err->where, sizeof err->where, "%s", path);
        }
        dls_kernel_nets_fini(nets);
    }
    return status;
}
