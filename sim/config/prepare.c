/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The jobs that a configuration names, and what one simulation of them needs: the world,
 * predictions, elastic jobs, failures; also copies of these for a clone.
 */
#include "config/prepare.h"

#include "base/alloc.h"
#include "base/owners.h"
#include "config/load.h"
#include "traces/assign.h"

#include <string.h>

/* ---- jobs ------------------------------------------------------------------------------------ */

dls_status dls_config_load_trace(const dls_config *config, dls_trace **out, dls_error *err)
{
    if (*config->trace_path == '\0') {
        return dls_fail(err, DLS_ECONFIG, "trace.path", "no trace is named");
    }
    return dls_trace_load(config->trace_path, config->trace_format, &config->trace_options, out,
                          err);
}

dls_status dls_config_assign_models(const dls_config *config, const dls_trace *trace,
                                    dls_trace **out, dls_error *err)
{
    const char *name = config->trace_assign;
    const char *text = dls_assign_builtin_text(name);
    DLS_FREED char *file = NULL;
    DLS_OWN(dls_assign_table_fini) dls_assign_table table = {0};
    if (!text) {
        size_t len;
        DLS_TRY(dls_config_read_text(name, &file, &len, err));
        text = file;
    }
    DLS_TRY(dls_assign_table_parse(text, name, &table, err));
    return dls_trace_assign(trace, &table, config->sim.seed, out, err);
}

dls_status dls_config_make_trace(const dls_config *config, const char *name, const char *text,
                                 size_t len, dls_trace **out, dls_error *err)
{
    const dls_trace_source source = {name, text, len, &config->trace_options};
    DLS_HOLD(dls_trace_destroy) dls_trace *read = NULL;
    DLS_TRY(text ? dls_trace_of_text(&source, "native", &read, err)
                 : dls_config_load_trace(config, &read, err));
    if (*config->trace_assign) {
        return dls_config_assign_models(config, read, out, err);
    }
    *out = dls_take(&read);
    return DLS_OK;
}

/* ---- the world, and what may be known of it -------------------------------------------------- */

static dls_status make_world(const dls_config *config, const dls_trace *trace, dls_prepared *p,
                             dls_error *err)
{
    if (strcmp(config->world.model, "trace") == 0 && !config->world.stages_path &&
        !config->world.variability_path) {
        return dls_kinds_of_trace(trace, config->world.stand_ins, config->memo, &p->kinds, err);
    }
    dls_world_params params = config->world;
    params.trace = trace;
    params.memo = config->memo;
    return dls_world_create(&params, &p->world, err);
}

static dls_status make_predictions(const dls_config *config, const dls_trace *trace,
                                   dls_prepared *p, dls_error *err)
{
    if (!config->predictions.source) {
        return DLS_OK;
    }
    dls_prediction_params params = config->predictions;
    params.trace = trace;
    params.memo = config->memo;
    params.world = p->world;
    return dls_predictions_create(&params, &p->predictions, err);
}

static double elastic_speed(void *user, int32_t job, const dls_shape *shape, int64_t batch)
{
    return dls_elastic_speed(user, job, shape, batch);
}

static int64_t elastic_restore_us(void *user, int32_t job, const dls_shape *shape)
{
    return dls_elastic_restore_us(user, job, shape);
}

static dls_status make_elastic(const dls_config *config, const dls_trace *trace, dls_prepared *p,
                               dls_error *err)
{
    DLS_TRY(dls_elastic_create(config->elastic_table, trace, &config->cluster, &p->elastic, err));
    if (p->elastic) {
        p->elastic_ops = (dls_elastic){.user = p->elastic,
                                       .min_gpus = dls_elastic_min_gpus(p->elastic),
                                       .max_gpus = dls_elastic_max_gpus(p->elastic),
                                       .speed = elastic_speed,
                                       .restore_us = elastic_restore_us};
        p->params.elastic = &p->elastic_ops;
    }
    return DLS_OK;
}

static dls_status make_failures(const dls_config *config, dls_prepared *p, dls_error *err)
{
    p->params.failures = &config->failures;
    p->params.services = &config->services;
    p->params.failure_trace = config->failure_trace ? &p->failures : NULL;
    return config->failure_trace ? dls_failure_trace_load(config->failure_trace,
                                                          (int32_t)dls_cluster_nodes(&config->cluster),
                                                          &p->failures, err)
                                 : DLS_OK;
}

static dls_status make_history(const dls_config *config, const dls_trace *trace, dls_prepared *p,
                               dls_error *err)
{
    DLS_HOLD(dls_trace_destroy) dls_trace *past = NULL;
    if (!config->estimates_learned) {
        return DLS_OK;
    }
    if (config->history_path) {
        DLS_TRY(dls_trace_load(config->history_path, NULL, &config->trace_options, &past, err));
    }
    return dls_history_create(trace, past, config->estimates_trees, &p->history, err);
}

/* What is there to the simulation. */
static void connect(dls_prepared *p)
{
    p->params.kinds = p->world ? dls_world_kinds(p->world) : &p->kinds;
    if (p->world) {
        p->pace = dls_pace_of(p->world);
        p->params.pace = &p->pace;
    }
    if (p->predictions) {
        p->prediction_ops = dls_prediction_ops_of(p->predictions);
        p->params.predictions = &p->prediction_ops;
    }
    p->params.history = p->history;
}

dls_status dls_prepare(const dls_config *config, const dls_trace *trace, dls_prepared *out,
                       dls_error *err)
{
    *out = (dls_prepared){.params = config->sim};
    out->params.trace = trace;
    DLS_TRY(make_world(config, trace, out, err));
    DLS_TRY(make_predictions(config, trace, out, err));
    DLS_TRY(make_elastic(config, trace, out, err));
    DLS_TRY(make_failures(config, out, err));
    DLS_TRY(make_history(config, trace, out, err));
    connect(out);
    return DLS_OK;
}

dls_status dls_prepared_copy(const dls_prepared *from, const dls_config *config, dls_prepared *out,
                             dls_error *err)
{
    const dls_trace *trace = from->params.trace;
    *out = (dls_prepared){.params = from->params};
    DLS_TRY(make_elastic(config, trace, out, err));
    DLS_TRY(from->history ? dls_history_copy(from->history, &out->history, err) : DLS_OK);
    DLS_TRY(from->world ? dls_world_copy(from->world, &out->world, err)
                        : dls_kinds_of_trace(trace, config->world.stand_ins, config->memo,
                                             &out->kinds, err));
    if (from->predictions) {
        DLS_TRY(dls_predictions_copy(from->predictions, out->world, &out->predictions, err));
    }
    if (from->params.failure_trace) {
        out->failures = from->failures;
        out->params.failure_trace = &out->failures;
        DLS_TRY(dls_duplicate(&out->failures.event, from->failures.event, from->failures.n,
                              from->failures.n, sizeof *out->failures.event, err));
    }
    connect(out);
    return DLS_OK;
}

void dls_prepared_fini(dls_prepared *p)
{
    dls_failure_trace_fini(&p->failures);
    dls_history_destroy(p->history);
    dls_elastic_destroy(p->elastic);
    dls_predictions_destroy(p->predictions);
    dls_world_destroy(p->world);
    dls_kinds_fini(&p->kinds);
    *p = (dls_prepared){0};
}

dls_status dls_prepared_finish(dls_prepared *p, dls_run_facts *facts, dls_error *unkept,
                               dls_error *err)
{
    *facts = (dls_run_facts){0};
    if (p->world) {
        facts->world = dls_world_about(p->world);
    }
    if (p->elastic) {
        dls_elastic_about(p->elastic, &facts->unprofiled_jobs, &facts->other_batch_jobs);
    }
    if (!p->predictions) {
        return DLS_OK;
    }
    facts->predictions = dls_predictions_about(p->predictions);
    return dls_predictions_finish(p->predictions, unkept, err);
}
