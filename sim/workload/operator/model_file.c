/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * operator.cfg: the constants of the model, written by a calibration and read back.
 */
#include "workload/operator/model.h"

#include "base/atomicfile.h"
#include "workload/operator/cfgread.h"

#include <stdio.h>
#include <string.h>

static const char *const family_key[DLS_KERNEL_FAMILIES] = {
#define XX(name, key, text) #key,
    DLS_KERNEL_FAMILY_MAP(XX)
#undef XX
};
#define LEAST 1e-12 /* rates and factors are positive */

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

static dls_status read_gpus(const config_t *cfg, const char *path, dls_opmodel *m, dls_error *err)
{
    const config_setting_t *list = NULL;
    DLS_TRY(rows_of(cfg, path, "factors", &list, &m->n_factors, err));
    for (size_t i = 0; i < m->n_factors; i++) {
        const config_setting_t *at = config_setting_get_elem(list, (unsigned)i);
        dls_gpu_factor *f = &m->factor[i];
        DLS_TRY(dls_cfg_name(at, path, "gpu", false, f->gpu, sizeof f->gpu, err));
        DLS_TRY(numeric_of(at, path, &f->numeric, err));
        DLS_TRY(dls_cfg_number(at, path, "compute", LEAST, &f->compute, err));
        DLS_TRY(dls_cfg_number(at, path, "memory", LEAST, &f->memory, err));
    }
    DLS_TRY(rows_of(cfg, path, "derates", &list, &m->n_derates, err));
    for (size_t i = 0; i < m->n_derates; i++) {
        const config_setting_t *at = config_setting_get_elem(list, (unsigned)i);
        dls_gpu_derate *d = &m->derate[i];
        DLS_TRY(dls_cfg_name(at, path, "gpu", false, d->gpu, sizeof d->gpu, err));
        DLS_TRY(dls_cfg_number(at, path, "factor", LEAST, &d->factor, err));
    }
    return DLS_OK;
}

static const char *rate_key(const char *family, const char *per, char key[64])
{
    snprintf(key, 64, "%s_%s_s", family, per);
    return key;
}

static dls_status read_rates(const config_t *cfg, const char *path, dls_opmodel *m, dls_error *err)
{
    const config_setting_t *list = NULL;
    char key[64];
    DLS_TRY(rows_of(cfg, path, "rates", &list, &m->n_rates, err));
    for (size_t i = 0; i < m->n_rates; i++) {
        const config_setting_t *at = config_setting_get_elem(list, (unsigned)i);
        dls_op_rates *r = &m->rates[i];
        DLS_TRY(dls_cfg_name(at, path, "gpu", false, r->gpu, sizeof r->gpu, err));
        DLS_TRY(dls_cfg_number(at, path, "run_s", 0, &r->run_s, err));
        for (int f = 0; f < DLS_FAMILY_COUNT; f++) {
            const char *name = dls_op_family_name(f);
            DLS_TRY(dls_cfg_number(at, path, rate_key(name, "flop", key), 0, &r->flop_s[f], err));
            DLS_TRY(dls_cfg_number(at, path, rate_key(name, "byte", key), 0, &r->byte_s[f], err));
        }
    }
    return DLS_OK;
}

static dls_status read_cluster(const config_t *cfg, const char *path, dls_opmodel *m,
                               dls_error *err)
{
    const config_setting_t *list = NULL;
    DLS_TRY(rows_of(cfg, path, "hosts", &list, &m->n_hosts, err));
    for (size_t i = 0; i < m->n_hosts; i++) {
        const config_setting_t *at = config_setting_get_elem(list, (unsigned)i);
        dls_host *h = &m->host[i];
        DLS_TRY(dls_cfg_name(at, path, "name", false, h->name, sizeof h->name, err));
        DLS_TRY(dls_cfg_number(at, path, "slowdown", LEAST, &h->slowdown, err));
        DLS_TRY(dls_cfg_number(at, path, "floor_s", 0, &h->floor_s, err));
        DLS_TRY(dls_cfg_number(at, path, "floor_per_op_s", 0, &h->floor_per_op_s, err));
        if (config_setting_get_member(at, "launch_s")) {
            DLS_TRY(dls_cfg_number(at, path, "launch_s", 0, &h->launch_s, err));
        }
    }
    DLS_TRY(rows_of(cfg, path, "fabrics", &list, &m->n_fabrics, err));
    for (size_t i = 0; i < m->n_fabrics; i++) {
        const config_setting_t *at = config_setting_get_elem(list, (unsigned)i);
        dls_fabric_row *row = &m->fabric[i];
        dls_fabric *f = &row->fabric;
        DLS_TRY(dls_cfg_name(at, path, "name", false, row->name, sizeof row->name, err));
        DLS_TRY(dls_cfg_number(at, path, "bytes_per_s", LEAST, &f->bps, err));
        DLS_TRY(dls_cfg_number(at, path, "per_tensor_s", 0, &f->per_tensor_s, err));
        DLS_TRY(dls_cfg_number(at, path, "per_doubling_s", 0, &f->per_doubling_s, err));
        DLS_TRY(dls_cfg_number(at, path, "gamma", 1, &f->gamma, err));
        DLS_TRY(dls_cfg_number(at, path, "straggle", 0, &f->straggle, err));
        DLS_TRY(dls_cfg_number(at, path, "server_bytes_per_s", 0, &f->server_bps, err));
        if (config_setting_get_member(at, "message_s")) {
            DLS_TRY(dls_cfg_number(at, path, "message_s", 0, &f->message_s, err));
            DLS_TRY(dls_cfg_number(at, path, "byte_s", 0, &f->byte_s, err));
            DLS_TRY(dls_cfg_number(at, path, "beside", 0, &f->beside, err));
            DLS_TRY(dls_cfg_number(at, path, "shared", 0, &f->shared, err));
        }
    }
    return DLS_OK;
}

dls_status dls_opmodel_load(const char *path, dls_opmodel *model, dls_error *err)
{
    config_t cfg;
    *model = (dls_opmodel){0};
    dls_status status = dls_cfg_read(path, &cfg, err);
    if (status == DLS_OK) {
        status = read_kernels(&cfg, path, model, err);
    }
    if (status == DLS_OK) {
        status = read_gpus(&cfg, path, model, err);
    }
    DLS_THEN(status, read_rates(&cfg, path, model, err));
    if (status == DLS_OK) {
        status = read_cluster(&cfg, path, model, err);
    }
    config_destroy(&cfg);
    return status;
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
static void number(FILE *to, const char *key, double value)
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
            number(to, family_key[f], m->eta[k][f]);
        }
        number(to, "launch_us", 1e6 * m->launch_s[k]);
        fputs(k + 1 < DLS_OPMODEL_NUMERICS ? "},\n" : "}\n);\n", to);
    }
}

static void write_gpus(FILE *to, const dls_opmodel *m)
{
    fputs("\n# Two factors a GPU: clock and software generation.\nfactors = (\n", to);
    for (size_t i = 0; i < m->n_factors; i++) {
        const dls_gpu_factor *f = &m->factor[i];
        fprintf(to, "  { gpu = \"%s\"; numeric = \"%s\"; ", f->gpu,
                dls_numeric_name((int)f->numeric));
        number(to, "compute", f->compute);
        number(to, "memory", f->memory);
        fputs(i + 1 < m->n_factors ? "},\n" : "}\n", to);
    }
    fputs(");\n\n# GPUs that cannot hold their clock: times are longer.\nderates = (\n", to);
    for (size_t i = 0; i < m->n_derates; i++) {
        fprintf(to, "  { gpu = \"%s\"; ", m->derate[i].gpu);
        number(to, "factor", m->derate[i].factor);
        fputs(i + 1 < m->n_derates ? "},\n" : "}\n", to);
    }
    fputs(");\n", to);
}

static void write_cluster(FILE *to, const dls_opmodel *m)
{
    fputs("\n# Framework and input pipeline of the clusters measured.\nhosts = (\n", to);
    for (size_t i = 0; i < m->n_hosts; i++) {
        const dls_host *h = &m->host[i];
        fprintf(to, "  { name = \"%s\"; ", h->name);
        number(to, "slowdown", h->slowdown);
        number(to, "floor_s", h->floor_s);
        number(to, "floor_per_op_s", h->floor_per_op_s);
        if (h->launch_s > 0) {
            number(to, "launch_s", h->launch_s);
        }
        fputs(i + 1 < m->n_hosts ? "},\n" : "}\n", to);
    }
    fputs(");\n\n# What a step's exchange of gradients costs on them.\nfabrics = (\n", to);
    for (size_t i = 0; i < m->n_fabrics; i++) {
        const dls_fabric *f = &m->fabric[i].fabric;
        fprintf(to, "  { name = \"%s\"; ", m->fabric[i].name);
        number(to, "bytes_per_s", f->bps);
        number(to, "per_tensor_s", f->per_tensor_s);
        number(to, "per_doubling_s", f->per_doubling_s);
        number(to, "gamma", f->gamma);
        number(to, "straggle", f->straggle);
        number(to, "server_bytes_per_s", f->server_bps);
        if (f->message_s > 0) { /* where processors compute */
            number(to, "message_s", f->message_s);
            number(to, "byte_s", f->byte_s);
            number(to, "beside", f->beside);
            number(to, "shared", f->shared);
        }
        fputs(i + 1 < m->n_fabrics ? "},\n" : "}\n", to);
    }
    fputs(");\n", to);
}

static void write_rates(FILE *to, const dls_opmodel *m)
{
    char key[64];
    if (m->n_rates == 0) {
        return;
    }
    fputs("\n# What operations of a processor cost, fitted to whole steps.\nrates = (\n", to);
    for (size_t i = 0; i < m->n_rates; i++) {
        const dls_op_rates *r = &m->rates[i];
        fprintf(to, "  { gpu = \"%s\"; ", r->gpu);
        number(to, "run_s", r->run_s);
        for (int f = 0; f < DLS_FAMILY_COUNT; f++) {
            number(to, rate_key(dls_op_family_name(f), "flop", key), r->flop_s[f]);
            number(to, rate_key(dls_op_family_name(f), "byte", key), r->byte_s[f]);
        }
        fputs(i + 1 < m->n_rates ? "},\n" : "}\n", to);
    }
    fputs(");\n", to);
}

static dls_status put_model(FILE *to, void *what, dls_error *err)
{
    const dls_opmodel *model = *(const dls_opmodel **)what;
    fputs("# Constants of the operator model, written by: dlsim operators calibrate\n\n", to);
    write_kernels(to, model);
    write_gpus(to, model);
    write_rates(to, model);
    write_cluster(to, model);
    return DLS_OK;
}

dls_status dls_opmodel_save(const dls_opmodel *model, const char *path, dls_error *err)
{
    return dls_atomicfile_write(path, put_model, &model, err);
}
