/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The groups perf, predictor, checkpoint and failures of a configuration.
 */
#include "base/alloc.h"
#include "base/suggest.h"
#include "base/units.h"
#include "config/build.h"

#include <stdio.h>
#include <string.h>

/* A text or a path that the parameters borrow; NULL for an empty one. */
static dls_status borrow(const dls_builder *b, int key, bool path, const char **out, dls_error *err)
{
    char *text;
    *out = NULL;
    if (!*b->s->value[key].s) {
        return DLS_OK;
    }
    DLS_TRY(path ? dls_build_path(b, key, &text, err) : dls_build_copy(b, key, &text, err));
    *out = dls_build_keep(b->config, text, err);
    return *out ? DLS_OK : DLS_ENOMEM;
}

dls_status dls_build_world(const dls_builder *b, dls_error *err)
{
    const dls_setting *v = b->s->value;
    dls_world_params *p = &b->config->world;
    *p = (dls_world_params){
        .cluster = &b->config->cluster,
        .seed = b->config->seed,
        .residual_sigma = v[DLS_CFG_PERF_RESIDUAL].f,
        .network_residual_sigma = v[DLS_CFG_PERF_NET_RESIDUAL].f,
        .contention = v[DLS_CFG_PERF_CONTENTION].b,
        .interference_knee = v[DLS_CFG_PERF_KNEE].f,
        .interference_slope = v[DLS_CFG_PERF_SLOPE].f,
    };
    DLS_TRY(borrow(b, DLS_CFG_PERF_MODEL, false, &p->model, err));
    DLS_TRY(borrow(b, DLS_CFG_PERF_TABLE, true, &p->table_path, err));
    DLS_TRY(borrow(b, DLS_CFG_PERF_ELASTIC, true, &b->config->elastic_table, err));
    DLS_TRY(borrow(b, DLS_CFG_PERF_HARDWARE, true, &p->hardware_dir, err));
    DLS_TRY(borrow(b, DLS_CFG_PERF_HOST, false, &p->host, err));
    DLS_TRY(borrow(b, DLS_CFG_PERF_FABRIC, false, &p->fabric, err));
    DLS_TRY(borrow(b, DLS_CFG_PERF_EXCHANGE, false, &p->exchange, err));
    DLS_TRY(borrow(b, DLS_CFG_PERF_NUMERIC, false, &p->numeric, err));
    DLS_TRY(borrow(b, DLS_CFG_PERF_REFERENCE, false, &p->reference_gpu, err));
    const bool table = strcmp(p->model, "table") == 0;
    if (table != (p->table_path != NULL)) {
        dls_problems_add(b->problems,
                         dls_build_where(b, table ? DLS_CFG_PERF_MODEL : DLS_CFG_PERF_TABLE),
                         table ? "perf.model = \"table\" needs 'perf.table'"
                               : "'perf.table' is only for perf.model = \"table\"");
    }
    return DLS_OK;
}

static bool known_source(const dls_builder *b, const char *name)
{
    const char *names[64];
    size_t n = 0;
    for (const dls_prediction_source *const *f = dls_prediction_sources(); *f && n < 63; f++) {
        if (strcmp((*f)->name, name) == 0) {
            return true;
        }
        names[n++] = (*f)->name;
    }
    names[n] = NULL;
    const char *near = dls_suggest(name, names);
    dls_problems_add(b->problems, dls_build_where(b, DLS_CFG_PRED_SOURCE),
                     "unknown predictor '%s'%s%s%s ('dlsim list predictors' shows all)", name,
                     near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    return false;
}

/* "record:FILE" or "replay:FILE". */
static dls_status split_predictions(const dls_builder *b, dls_error *err)
{
    enum { PREFIX = sizeof "replay:" - 1 };
    const dls_setting *value = &b->s->value[DLS_CFG_PRED_REPLAY];
    const bool record = strncmp(value->s, "record:", PREFIX) == 0;
    if (!*value->s) {
        return DLS_OK;
    }
    if ((!record && strncmp(value->s, "replay:", PREFIX) != 0) || !value->s[PREFIX]) {
        dls_problems_add(b->problems, dls_build_where(b, DLS_CFG_PRED_REPLAY),
                         "'predictor.predictions' is \"%.100s\": expected record:FILE or "
                         "replay:FILE",
                         value->s);
        return DLS_OK;
    }
    char *path;
    DLS_TRY(dls_build_resolve(value->s + PREFIX, value->where, &path, err));
    const size_t n = PREFIX + strlen(path) + 1;
    char *text = dls_alloc(n);
    if (text) {
        snprintf(text, n, "%.*s%s", (int)PREFIX, value->s, path);
    }
    dls_free(path);
    b->config->predictions_text = dls_build_keep(b->config, text, err);
    if (!b->config->predictions_text) {
        return DLS_ENOMEM;
    }
    dls_prediction_params *p = &b->config->predictions;
    *(record ? &p->record_path : &p->replay_path) = text + PREFIX;
    return DLS_OK;
}

dls_status dls_build_predictions(const dls_builder *b, dls_error *err)
{
    const dls_setting *v = b->s->value;
    const dls_world_params *world = &b->config->world;
    dls_prediction_params *p = &b->config->predictions;
    *p = (dls_prediction_params){
        .cluster = &b->config->cluster,
        .seed = b->config->seed,
        .sigma = v[DLS_CFG_PRED_SIGMA].f,
        .threads = (int32_t)v[DLS_CFG_PRED_THREADS].i,
        .max_candidates = (int32_t)v[DLS_CFG_PRED_CANDIDATES].i,
        .exchange = world->exchange,
        .numeric = world->numeric,
        .host = world->host,
        .fabric = world->fabric,
        .hardware_dir = world->hardware_dir,
    };
    DLS_TRY(borrow(b, DLS_CFG_PRED_WEIGHTS, true, &p->weights, err));
    DLS_TRY(borrow(b, DLS_CFG_PRED_BACKEND, false, &p->backend, err));
    DLS_TRY(borrow(b, DLS_CFG_PRED_CACHE, true, &p->cache_path, err));
    DLS_TRY(borrow(b, DLS_CFG_PRED_MAP, false, &p->settings_map, err));
    DLS_TRY(split_predictions(b, err));
    if (strcmp(v[DLS_CFG_PRED_SOURCE].s, "none") != 0 &&
        known_source(b, v[DLS_CFG_PRED_SOURCE].s)) {
        DLS_TRY(borrow(b, DLS_CFG_PRED_SOURCE, false, &p->source, err));
    }
    if (strcmp(v[DLS_CFG_PRED_SOURCE].s, "none") == 0 && b->config->estimates_predicted) {
        dls_problems_add(b->problems, dls_build_where(b, DLS_CFG_ESTIMATES),
                         "scheduler.estimates = \"predictor\" needs 'predictor.source'");
    }
    return DLS_OK;
}

dls_status dls_build_failures(const dls_builder *b, dls_error *err)
{
    const dls_setting *v = b->s->value;
    dls_config *c = b->config;
    c->checkpoint_period_us = dls_units_us(v[DLS_CFG_CKPT_PERIOD].f);
    c->checkpoint_us = dls_units_us(v[DLS_CFG_CKPT_COST].f);
    c->storage_bps = v[DLS_CFG_CKPT_STORAGE].f;
    c->failures = (dls_failure_params){
        .node_mtbf_s = v[DLS_CFG_FAIL_NODE].f,
        .gpu_mtbf_s = v[DLS_CFG_FAIL_GPU].f,
        .shape = v[DLS_CFG_FAIL_SHAPE].f,
        .repair_s = v[DLS_CFG_FAIL_REPAIR].f,
    };
    return borrow(b, DLS_CFG_FAIL_TRACE, true, &c->failure_trace, err);
}
