/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * operator.cfg: the constants of the model, written by a calibration and read back.
 */
#include "workload/operator/model.h"

#include "base/atomicfile.h"
#include "base/own.h"
#include "workload/operator/cfgread.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const family_key[DLS_KERNEL_FAMILIES] = {
#define XX(name, key, text) #key,
    DLS_KERNEL_FAMILY_MAP(XX)
#undef XX
};
#define LEAST 1e-12 /* rates and factors are positive */

/* ---- what stands in it ----------------------------------------------------------------------- */

typedef struct number {
    const char *key;
    size_t at; /* in a row */
    double least;
} number;

/* A list of rows that begin with their name. What is behind the first n_always numbers is there
 * where the next of them is above 0. */
typedef struct section {
    const char *list, *comment, *name;
    size_t rows, row_size, count; /* in the model */
    bool by_numeric;
    const number *number;
    int n_always, n;
} section;

#define NUMBER(type, key, member, least)                                                           \
    {                                                                                              \
        key, offsetof(type, member), least                                                         \
    }
static const number factor[] = {NUMBER(dls_gpu_factor, "compute", compute, LEAST),
                                NUMBER(dls_gpu_factor, "memory", memory, LEAST)};
static const number derate[] = {NUMBER(dls_gpu_derate, "factor", factor, LEAST)};
static const number rate[] = {NUMBER(dls_op_rates, "run_s", run_s, 0),
#define XX(id, text)                                                                               \
    NUMBER(dls_op_rates, text "_flop_s", flop_s[DLS_FAMILY_##id], 0),                              \
        NUMBER(dls_op_rates, text "_byte_s", byte_s[DLS_FAMILY_##id], 0),
                              DLS_OP_FAMILY_MAP(XX)
#undef XX
};
static const number host[] = {
    NUMBER(dls_host, "slowdown", slowdown, LEAST), NUMBER(dls_host, "floor_s", floor_s, 0),
    NUMBER(dls_host, "floor_per_op_s", floor_per_op_s, 0),
    NUMBER(dls_host, "launch_s", launch_s, 0), NUMBER(dls_host, "tensor_s", tensor_s, 0)};
static const number fabric[] = {
    NUMBER(dls_fabric_row, "bytes_per_s", fabric.bps, LEAST),
    NUMBER(dls_fabric_row, "per_tensor_s", fabric.per_tensor_s, 0),
    NUMBER(dls_fabric_row, "per_doubling_s", fabric.per_doubling_s, 0),
    NUMBER(dls_fabric_row, "gamma", fabric.gamma, 1),
    NUMBER(dls_fabric_row, "straggle", fabric.straggle, 0),
    NUMBER(dls_fabric_row, "server_bytes_per_s", fabric.server_bps, 0),
    NUMBER(dls_fabric_row, "message_s", fabric.message_s, 0), /* where processors compute */
    NUMBER(dls_fabric_row, "byte_s", fabric.byte_s, 0),
    NUMBER(dls_fabric_row, "beside", fabric.beside, 0),
    NUMBER(dls_fabric_row, "shared", fabric.shared, 0)};

#define COUNT(array) (int)(sizeof(array) / sizeof *(array))
#define SECTION(list, comment, name, member, count, by_numeric, numbers, n_always)                 \
    {                                                                                              \
        list, comment, name, offsetof(dls_opmodel, member), sizeof((dls_opmodel *)0)->member[0],   \
            offsetof(dls_opmodel, count), by_numeric, numbers, n_always, COUNT(numbers)            \
    }
static const section sections[] = {
    SECTION("factors", "Two factors a GPU: clock and software generation.", "gpu", factor,
            n_factors, true, factor, COUNT(factor)),
    SECTION("derates", "GPUs that cannot hold their clock: times are longer.", "gpu", derate,
            n_derates, false, derate, COUNT(derate)),
    SECTION("rates", "What operations of a processor cost, fitted to whole steps.", "gpu", rates,
            n_rates, false, rate, COUNT(rate)),
    SECTION("hosts", "Framework and input pipeline of the clusters measured.", "name", host,
            n_hosts, false, host, 3),
    SECTION("fabrics", "What a step's exchange of gradients costs on them.", "name", fabric,
            n_fabrics, false, fabric, 6)};

static double *number_in(void *row, const number *n)
{
    return (double *)(void *)((char *)row + n->at);
}

static dls_numeric *numeric_in(void *row)
{
    return &((dls_gpu_factor *)row)->numeric;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Rows of a list that fit the model; the list may be missing where it may be empty. */
static dls_status rows_of(const config_t *cfg, const char *path, const char *name,
                          const config_setting_t **list, size_t *n, dls_error *err)
{
    *n = 0;
    if (!config_lookup(cfg, name)) {
        return DLS_OK;
    }
    DLS_TRY(dls_cfg_list(cfg, path, name, list, err));
    *n = (size_t)config_setting_length(*list);
    if (*n > DLS_OPMODEL_ROWS) {
        return dls_cfg_fail(*list, path, err, "%s: at most %d rows", name, DLS_OPMODEL_ROWS);
    }
    return DLS_OK;
}

static dls_status numeric_of(const config_setting_t *at, const char *path, dls_numeric *out,
                             dls_error *err)
{
    char text[16] = "";
    DLS_TRY(dls_cfg_name(at, path, "numeric", false, text, sizeof text, err));
    if (!dls_numeric_find(text, out) || *out >= DLS_OPMODEL_NUMERICS) {
        return dls_cfg_fail(at, path, err, "numeric = \"%s\": fp32, tf32 or fp16", text);
    }
    return DLS_OK;
}

static dls_status read_kernels(const config_t *cfg, const char *path, dls_opmodel *m,
                               dls_error *err)
{
    const config_setting_t *list = NULL;
    bool seen[DLS_OPMODEL_NUMERICS] = {false};
    DLS_TRY(dls_cfg_list(cfg, path, "kernels", &list, err));
    for (int i = 0; i < config_setting_length(list); i++) {
        const config_setting_t *at = config_setting_get_elem(list, (unsigned)i);
        dls_numeric numeric = DLS_NUMERIC_FP32;
        double launch_us = 0;
        DLS_TRY(numeric_of(at, path, &numeric, err));
        for (int f = 0; f < DLS_KERNEL_FAMILIES; f++) {
            DLS_TRY(dls_cfg_number(at, path, family_key[f], LEAST, &m->eta[numeric][f], err));
        }
        DLS_TRY(dls_cfg_number(at, path, "launch_us", 0, &launch_us, err));
        m->launch_s[numeric] = launch_us / 1e6;
        seen[numeric] = true;
    }
    for (int k = 0; k < DLS_OPMODEL_NUMERICS; k++) {
        if (!seen[k]) {
            return dls_cfg_fail(list, path, err, "no kernels for %s", dls_numeric_name(k));
        }
    }
    return DLS_OK;
}

static dls_status read_row(const config_setting_t *at, const char *path, const section *t,
                           char *row, dls_error *err)
{
    const bool all =
        t->n_always < t->n && config_setting_get_member(at, t->number[t->n_always].key);
    DLS_TRY(dls_cfg_name(at, path, t->name, false, row, DLS_HW_NAME, err));
    if (t->by_numeric) {
        DLS_TRY(numeric_of(at, path, numeric_in(row), err));
    }
    for (int k = 0; k < (all ? t->n : t->n_always); k++) {
        const number *n = &t->number[k];
        DLS_TRY(dls_cfg_number(at, path, n->key, n->least, number_in(row, n), err));
    }
    return DLS_OK;
}

static dls_status read_sections(const config_t *cfg, const char *path, dls_opmodel *m,
                                dls_error *err)
{
    for (int k = 0; k < COUNT(sections); k++) {
        const section *t = &sections[k];
        const config_setting_t *list = NULL;
        size_t *n = (size_t *)(void *)((char *)m + t->count);
        DLS_TRY(rows_of(cfg, path, t->list, &list, n, err));
        for (size_t i = 0; i < *n; i++) {
            DLS_TRY(read_row(config_setting_get_elem(list, (unsigned)i), path, t,
                             (char *)m + t->rows + i * t->row_size, err));
        }
    }
    return DLS_OK;
}

dls_status dls_opmodel_load(const char *path, dls_opmodel *model, dls_error *err)
{
    DLS_OWN(config_destroy) config_t cfg = {0};
    *model = (dls_opmodel){0};
    DLS_TRY(dls_cfg_read(path, &cfg, err));
    DLS_TRY(read_kernels(&cfg, path, model, err));
    return read_sections(&cfg, path, model, err);
}

dls_status dls_opmodel_of(const char *folder, dls_sized_table *table, dls_opmodel *model,
                          dls_error *err)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/operator%s.cfg", folder, table ? "-sized" : "");
    DLS_TRY(dls_opmodel_load(path, model, err));
    if (!table) {
        return DLS_OK;
    }
    snprintf(path, sizeof path, "%s/grouped.cfg", folder);
    DLS_TRY(dls_groupconv_load(path, &model->groupconv, err));
    snprintf(path, sizeof path, "%s/kernels.cfg", folder);
    DLS_TRY(dls_sized_table_load(path, table, err));
    model->sized = table;
    return DLS_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* libconfig reads a number without a point as an integer. */
static void put_number(FILE *to, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", value);
    fprintf(to, "%s = %s%s; ", key, text, strpbrk(text, ".e") ? "" : ".0");
}

static void write_kernels(FILE *to, const dls_opmodel *m)
{
    fputs("kernels = (\n", to);
    for (int k = 0; k < DLS_OPMODEL_NUMERICS; k++) {
        fprintf(to, "  { numeric = \"%s\"; ", dls_numeric_name(k));
        for (int f = 0; f < DLS_KERNEL_FAMILIES; f++) {
            put_number(to, family_key[f], m->eta[k][f]);
        }
        put_number(to, "launch_us", 1e6 * m->launch_s[k]);
        fputs(k + 1 < DLS_OPMODEL_NUMERICS ? "},\n" : "}\n);\n", to);
    }
}

static void write_row(FILE *to, const section *t, char *row)
{
    const bool all = t->n_always<t->n && * number_in(row, &t->number[t->n_always])> 0;
    fprintf(to, "  { %s = \"%s\"; ", t->name, row);
    if (t->by_numeric) {
        fprintf(to, "numeric = \"%s\"; ", dls_numeric_name((int)*numeric_in(row)));
    }
    for (int k = 0; k < (all ? t->n : t->n_always); k++) {
        put_number(to, t->number[k].key, *number_in(row, &t->number[k]));
    }
}

static void write_section(FILE *to, const section *t, dls_opmodel *m)
{
    const size_t n = *(const size_t *)(const void *)((const char *)m + t->count);
    if (n == 0 && t->rows == offsetof(dls_opmodel, rates)) {
        return;
    }
    fprintf(to, "\n# %s\n%s = (\n", t->comment, t->list);
    for (size_t i = 0; i < n; i++) {
        write_row(to, t, (char *)m + t->rows + i * t->row_size);
        fputs(i + 1 < n ? "},\n" : "}\n", to);
    }
    fputs(");\n", to);
}

static dls_status put_model(FILE *to, void *what, dls_error *err)
{
    dls_opmodel *model = what;
    fputs("# Constants of the operator model, written by: dlsim operators calibrate\n\n", to);
    write_kernels(to, model);
    for (int k = 0; k < COUNT(sections); k++) {
        write_section(to, &sections[k], model);
    }
    return DLS_OK;
}

dls_status dls_opmodel_save(const dls_opmodel *model, const char *path, dls_error *err)
{
    dls_opmodel copy = *model;
    return dls_atomicfile_write(path, put_model, &copy, err);
}
