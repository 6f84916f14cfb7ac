/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config/prepare.h"

#include <string.h>

static dls_status make_world(const dls_config *config, const dls_trace *trace, dls_prepared *p,
                             dls_error *err)
{
    const bool plain = strcmp(config->world.model, "trace") == 0;
    if (!plain || config->foresight.source) {
        dls_world_params params = config->world;
        params.trace = trace;
        DLS_TRY(dls_world_create(&params, &p->world, err));
    }
    if (p->world) {
        p->params.kinds = dls_world_kinds(p->world);
    } else {
        DLS_TRY(dls_kinds_of_trace(trace, &p->kinds, err));
        p->params.kinds = &p->kinds;
    }
    if (!plain) {
        p->pace = dls_pace_of(p->world);
        p->params.pace = &p->pace;
    }
    return DLS_OK;
}

dls_status dls_prepare(const dls_config *config, const dls_trace *trace, dls_prepared *out,
                       dls_error *err)
{
    memset(out, 0, sizeof *out);
    dls_sim_params *p = &out->params;
    dls_sim_params_init(p);
    p->cluster = &config->cluster;
    p->trace = trace;
    p->sched = config->sched;
    p->sched_values = config->sched_values;
    p->placement = config->place;
    p->placement_values = config->placement_values;
    p->discipline = config->discipline;
    p->seed = config->seed;
    p->restore_us = config->restore_us;
    p->until_us = config->until_us;
    p->estimates_exact = config->estimates_exact;
    p->estimates_advised = config->estimates_advised;
    p->audit = config->audit;
    p->want_allocs = config->want_allocs;
    p->want_series = config->want_series;
    dls_status status = make_world(config, trace, out, err);
    if (status != DLS_OK) {
        dls_prepared_fini(out);
    }
    return status;
}

void dls_prepared_fini(dls_prepared *p)
{
    dls_world_destroy(p->world);
    dls_kinds_fini(&p->kinds);
}

void dls_prepared_facts(const dls_prepared *p, dls_run_facts *facts)
{
    if (p->params.pace) {
        const dls_world_notes n = dls_world_about(p->world);
        facts->unknown_model_jobs = n.unknown_model_jobs;
        facts->stand_in_jobs = n.stand_in_jobs;
        facts->unmeasured_shapes = n.unmeasured_shapes;
        facts->extrapolated_shapes = n.extrapolated_shapes;
        facts->split_batch_shapes = n.split_batch_shapes;
    }
}
