/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads lists of training settings from libconfig files, checks that their members agree, and turns
 * one into parameters of the operator model.
 */
#include "predictor/dataset/setting.h"

#include "base/alloc.h"
#include "base/own.h"
#include "workload/operator/cfgread.h"
#include "workload/operator/topology.h"

#include <stdio.h>
#include <string.h>

void dls_setting_list_fini(dls_setting_list *list)
{
    if (list) {
        dls_free(list->spec);
        *list = (dls_setting_list){0};
    }
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static bool with_servers(const dls_setting_spec *s)
{
    return is(s->exchange, "ps-sync") || is(s->exchange, "ps-async");
}

const char *dls_setting_link(const dls_setting_spec *s)
{
    return s->workers == 1 && s->servers == 0 ? "" : s->nodes > 1 ? s->network : s->link;
}

void dls_dataset_setting_describe(const dls_setting_spec *spec, dls_dataset_setting *s)
{
    snprintf(s->name, sizeof s->name, "%s", spec->name);
    snprintf(s->gpu_type, sizeof s->gpu_type, "%s", spec->gpu);
    snprintf(s->topology, sizeof s->topology, "%s", spec->exchange);
    snprintf(s->network, sizeof s->network, "%s", dls_setting_link(spec));
    s->n_ps = spec->servers;
    s->n_workers = spec->workers;
    s->n_nodes = spec->nodes;
}

static dls_status read_count(const config_setting_t *row, const char *path, const char *key,
                             double least, int32_t *out, dls_error *err)
{
    double value = 0;
    DLS_TRY(dls_cfg_number(row, path, key, least, &value, err));
    if (value > 4096 || value != (double)(int32_t)value) {
        return dls_cfg_fail(row, path, err, "\"%s\" is not a whole number up to 4096", key);
    }
    *out = (int32_t)value;
    return DLS_OK;
}

static dls_status read_switch(const config_setting_t *row, const char *path, const char *key,
                              bool *out, dls_error *err)
{
    const config_setting_t *member = config_setting_get_member(row, key);
    if (member && config_setting_type(member) != CONFIG_TYPE_BOOL) {
        return dls_cfg_fail(row, path, err, "\"%s\" is true or false", key);
    }
    *out = member && config_setting_get_bool(member);
    return DLS_OK;
}

/* What the members say of each other. */
static dls_status check(const config_setting_t *row, const char *path, const dls_setting_spec *s,
                        const dls_hardware *hw, dls_error *err)
{
    const dls_hw_gpu *gpu;
    const dls_hw_link *link;
    dls_error why = {0};
    if (strchr(s->name, '/') || is(s->name, ".")) {
        return dls_cfg_fail(row, path, err, "a name without \"/\" is needed");
    }
    if (dls_hardware_gpu(hw, s->gpu, &gpu, &why) != DLS_OK ||
        dls_hardware_link(hw, s->link, &link, &why) != DLS_OK ||
        (s->nodes > 1 && dls_hardware_link(hw, s->network, &link, &why) != DLS_OK)) {
        return dls_cfg_fail(row, path, err, "%s", why.msg);
    }
    if (!with_servers(s) && !is(s->exchange, "allreduce") && !is(s->exchange, "one")) {
        return dls_cfg_fail(row, path, err,
                            "exchange \"%s\" is not one, allreduce, ps-sync or ps-async",
                            s->exchange);
    }
    if (with_servers(s) != (s->servers > 0)) {
        return dls_cfg_fail(row, path, err, "servers go with ps-sync and ps-async");
    }
    if ((s->buckets && !is(s->exchange, "allreduce")) ||
        (s->apart && !is(s->exchange, "ps-sync"))) {
        return dls_cfg_fail(row, path, err, "buckets go with allreduce, apart with ps-sync");
    }
    if (is(s->exchange, "one") != (s->workers == 1 && s->servers == 0)) {
        return dls_cfg_fail(row, path, err, "exchange \"one\" goes with one worker");
    }
    if (s->workers % s->nodes != 0) {
        return dls_cfg_fail(row, path, err, "%d workers cannot share %d nodes alike", s->workers,
                            s->nodes);
    }
    return DLS_OK;
}

static dls_status read_row(const config_setting_t *row, const char *path, const dls_hardware *hw,
                           dls_setting_spec *s, dls_error *err)
{
    DLS_TRY(dls_cfg_name(row, path, "name", false, s->name, sizeof s->name, err));
    DLS_TRY(dls_cfg_name(row, path, "gpu", false, s->gpu, sizeof s->gpu, err));
    DLS_TRY(dls_cfg_name(row, path, "exchange", false, s->exchange, sizeof s->exchange, err));
    DLS_TRY(dls_cfg_name(row, path, "link", false, s->link, sizeof s->link, err));
    DLS_TRY(dls_cfg_name(row, path, "network", true, s->network, sizeof s->network, err));
    DLS_TRY(read_count(row, path, "workers", 1, &s->workers, err));
    DLS_TRY(read_count(row, path, "servers", 0, &s->servers, err));
    DLS_TRY(read_count(row, path, "nodes", 1, &s->nodes, err));
    DLS_TRY(read_switch(row, path, "buckets", &s->buckets, err));
    DLS_TRY(read_switch(row, path, "apart", &s->apart, err));
    return check(row, path, s, hw, err);
}

static dls_status read_rows(const config_t *cfg, const char *path, const dls_hardware *hw,
                            dls_setting_list *list, dls_error *err)
{
    const config_setting_t *rows;
    DLS_TRY(dls_cfg_list(cfg, path, "settings", &rows, err));
    const int n = config_setting_length(rows);
    for (int i = 0; i < n; i++) {
        const config_setting_t *row = config_setting_get_elem(rows, (unsigned)i);
        dls_setting_spec spec = {0};
        DLS_TRY(read_row(row, path, hw, &spec, err));
        for (size_t k = 0; k < list->n; k++) {
            if (is(list->spec[k].name, spec.name)) {
                return dls_cfg_fail(row, path, err, "two settings are called \"%s\"", spec.name);
            }
        }
        DLS_TRY(dls_grow(&list->spec, &list->cap, list->n + 1, sizeof *list->spec, err));
        list->spec[list->n++] = spec;
    }
    return DLS_OK;
}

dls_status dls_setting_list_load(const char *path, const dls_hardware *hw, dls_setting_list *list,
                                 dls_error *err)
{
    DLS_OWN(config_destroy) config_t cfg = {0};
    DLS_TRY(dls_cfg_read(path, &cfg, err));
    return read_rows(&cfg, path, hw, list, err);
}

dls_status dls_setting_work(const dls_setting_spec *spec, const dls_opmodel *model,
                            const dls_hardware *hw, const dls_workload *w, double batch,
                            dls_numeric numeric, dls_fabric *fabric, dls_work_setting *out,
                            dls_error *err)
{
    const char *like_name = with_servers(spec) ? "p100_servers" : "pcie";
    const dls_fabric *like = dls_opmodel_fabric(model, like_name);
    dls_topology t = {.nodes = spec->nodes,
                      .per_node = spec->workers / spec->nodes,
                      .algorithm = DLS_ALLREDUCE_RING};
    *out = (dls_work_setting){.numeric = numeric,
                              .batch = batch,
                              .n_workers = spec->workers,
                              .n_servers = spec->servers,
                              .async = is(spec->exchange, "ps-async"),
                              .buckets = spec->buckets,
                              .apart = spec->apart};
    DLS_TRY(dls_hardware_gpu(hw, spec->gpu, &out->gpu, err));
    if (spec->workers == 1 && spec->servers == 0) {
        return DLS_OK;
    }
    if (!like) {
        return dls_fail(err, DLS_ECONFIG, "fabrics", "no \"%s\", whose overlap is taken",
                        like_name);
    }
    DLS_TRY(dls_hardware_link(hw, spec->link, &t.inner, err));
    if (spec->nodes > 1) {
        DLS_TRY(dls_hardware_link(hw, spec->network, &t.outer, err));
    }
    *fabric = dls_topology_fabric(&t, 4 * w->params, with_servers(spec), like);
    out->fabric = fabric;
    return DLS_OK;
}
