/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From a trace and a cluster to an engine that is ready to run.
 */
#include "base/alloc.h"
#include "engine/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what can never run ------------------------------------------------------------------------ */

/* Leave each class only the types on which the empty cluster would take it. */
static dls_status find_infeasible(dls_engine *e, dls_error *err)
{
    dls_select *s = &e->select;
    for (int32_t j = 0; j < e->n; j++) {
        dls_class *c = &s->cls[s->class_of[j]];
        if (c->refused_pass != UINT64_MAX) {
            continue; /* class already tried */
        }
        c->refused_pass = 0;
        for (int32_t t = 0; t < s->n_types; t++) {
            const int64_t limit =
                e->params->sched->share ? e->index->type[t].total_gpus : s->pool[c->pool].cap[t];
            bool fits = c->types >> t & 1 && c->gpus <= limit;
            if (fits) {
                int32_t parts = -1;
                DLS_TRY(dls_place_job(e, j, t, &parts, &fits, err));
                /* What is only refused for a while fits. */
                const uint32_t slot = (uint32_t)s->class_of[j];
                fits = fits || dls_evq_has(&e->retries, slot);
                dls_evq_cancel(&e->retries, slot);
                dls_give_back(e, j, parts);
                dls_free_parts(e, parts);
            }
            if (!fits) {
                c->types &= ~(UINT32_C(1) << t);
            }
        }
    }
    for (int32_t c = 0; c < s->n_classes; c++) {
        s->cls[c].refused_pass = s->cls[c].refused_releases = UINT64_MAX;
    }
    s->releases = 0;
    e->rec->refusals = 0;
    for (int32_t j = 0; j < e->n; j++) {
        if (!s->cls[s->class_of[j]].types) {
            s->class_of[j] = -1;
            e->rec->state[j] = DLS_JOB_INFEASIBLE;
            e->done++;
            e->infeasible++;
        }
    }
    return DLS_OK;
}

/* ---- jobs -------------------------------------------------------------------------------------- */

static double mean(const int64_t *values, int32_t n)
{
    double sum = 0;
    for (int32_t j = 0; j < n; j++) {
        sum += (double)values[j];
    }
    return n ? sum / n : 0;
}

/* Run times at the reference: what the trace says, or what the world makes of it. */
static dls_status find_durations(dls_engine *e, dls_error *err)
{
    const dls_pace *pace = e->params->pace;
    e->duration_us = e->col->duration_us;
    if (pace) {
        e->work_us = dls_alloc_zero((size_t)e->n, sizeof *e->work_us);
        if (!e->work_us) {
            return dls_nomem(err, "work", (size_t)e->n * sizeof *e->work_us);
        }
        e->duration_us = e->work_us;
    }
    for (int32_t j = 0; j < e->n; j++) {
        if (pace) {
            e->work_us[j] = pace->work_us(pace->user, j);
        }
        if (e->duration_us[j] < 0) {
            return dls_trace_no_duration(e->params->trace, (size_t)j, err);
        }
    }
    return DLS_OK;
}

static dls_status init_jobs(dls_engine *e, dls_error *err)
{
    const dls_trace_columns *col = e->col;
    DLS_TRY(find_durations(e, err));
    const int64_t mean_us = (int64_t)mean(e->duration_us, e->n);
    for (int32_t j = 0; j < e->n; j++) {
        const int64_t own = dls_trace_i64(col->estimate_us, (size_t)j);
        const int64_t limit = dls_trace_i64(col->limit_us, (size_t)j);
        e->work[j] = dls_work_of_us(e->duration_us[j]);
        e->rate[j] = DLS_RATE_ONE;
        e->estimate_us[j] = own >= 0                        ? own
                            : e->params->estimates_exact    ? e->duration_us[j]
                            : limit >= 0                    ? limit
                                                            : mean_us;
        e->held_type[j] = e->select.type[j] = -1;
        e->held[j] = e->placed_parts[j] = -1;
    }
    return DLS_OK;
}

static dls_status allocate(dls_engine *e, dls_error *err)
{
    const size_t n = (size_t)e->n;
    e->state_since_us = dls_alloc_zero(n, sizeof *e->state_since_us);
    e->progress_from_us = dls_alloc_zero(n, sizeof *e->progress_from_us);
    e->estimate_us = dls_alloc_zero(n, sizeof *e->estimate_us);
    e->work = dls_alloc_zero(n, sizeof *e->work);
    e->rate_from_us = dls_alloc_zero(n, sizeof *e->rate_from_us);
    e->recorded_to_us = dls_alloc_zero(n, sizeof *e->recorded_to_us);
    e->rate = dls_alloc_zero(n, sizeof *e->rate);
    const dls_failure_params *fail = e->params->failures;
    if (e->params->placement->stopped || e->params->placement->share || e->params->pace ||
        e->params->predictions || fail || e->params->failure_trace) {
        e->work_at_start = dls_alloc_zero(n, sizeof *e->work_at_start);
        if (!e->work_at_start) {
            return dls_nomem(err, "jobs", n * sizeof *e->work_at_start);
        }
    }
    if (e->params->pace && e->params->pace->set_shift) {
        e->shift_s = dls_alloc(n * sizeof *e->shift_s + 1);
        if (!e->shift_s) {
            return dls_nomem(err, "jobs", n * sizeof *e->shift_s);
        }
        for (size_t i = 0; i < n; i++) {
            e->shift_s[i] = (double)NAN;
        }
    }
    e->running = dls_alloc_zero(n, sizeof *e->running);
    e->held_type = dls_alloc_zero(n, sizeof *e->held_type);
    e->held = dls_alloc_zero(n, sizeof *e->held);
    e->dropped = dls_alloc_zero(n, sizeof *e->dropped);
    e->placed_parts = dls_alloc_zero(n, sizeof *e->placed_parts);
    e->job_state = dls_alloc_zero(n + 1, e->params->sched->job_state_bytes);
    e->select.class_of = dls_alloc_zero(n, sizeof *e->select.class_of);
    e->select.type = dls_alloc_zero(n, sizeof *e->select.type);
    e->sched_state = dls_alloc_zero(1, e->params->sched->state_bytes);
    e->placement_state = dls_alloc_zero(1, e->params->placement->state_bytes);
    if (!e->state_since_us || !e->progress_from_us || !e->rate_from_us || !e->recorded_to_us ||
        !e->estimate_us || !e->work || !e->rate || !e->running ||
        !e->held_type || !e->held || !e->dropped || !e->placed_parts ||
        !e->job_state || !e->select.class_of || !e->select.type || !e->sched_state ||
        !e->placement_state) {
        return dls_nomem(err, "jobs", n * 80);
    }
    DLS_TRY(dls_order_init(&e->select.order, e->n, err));
    DLS_TRY(dls_evq_init(&e->events, 2 * n + 2, err));
    DLS_TRY(dls_evq_init(&e->stale, n, err));
    DLS_TRY(dls_evq_init(&e->turns, n, err));
    if (e->walk.on) {
        DLS_TRY(dls_walk_create(e, err));
    }
    return dls_record_create(n, &e->rec, err);
}

static dls_status make_groups(dls_engine *e, dls_error *err)
{
    const size_t n = (size_t)e->select.n_pools + 1;
    e->group_gpus = dls_alloc_zero(n, sizeof *e->group_gpus);
    e->group_demand = dls_alloc_zero(n, sizeof *e->group_demand);
    e->group_used = dls_alloc_zero(n, sizeof *e->group_used);
    e->group_reserved = dls_alloc_zero(n, sizeof *e->group_reserved);
    if (!e->group_gpus || !e->group_demand || !e->group_used || !e->group_reserved) {
        return dls_nomem(err, "groups", n * sizeof *e->group_used);
    }
    for (int32_t k = 0; k < e->select.n_pools; k++) {
        e->group_gpus[k] = e->select.pool[k].id;
    }
    return DLS_OK;
}

static dls_status check_policy(const dls_sim_params *p, dls_error *err)
{
    const dls_sched_ops *s = p->sched;
    if (s->abi != DLS_POLICY_ABI || p->placement->abi != DLS_POLICY_ABI) {
        return dls_fail(err, DLS_EPOLICY, s->name, "built for another version of the interface");
    }
    if (p->placement->needs_prediction && !p->predictions) {
        return dls_fail(err, DLS_ECONFIG, p->placement->name,
                        "places jobs by what a predictor says: set 'predictor.source'");
    }
    if (p->estimates_predicted && !p->predictions) {
        return dls_fail(err, DLS_ECONFIG, NULL,
                        "run times are to come from a predictor: set 'predictor.source'");
    }
    if (!!s->priority + !!s->pass + !!s->round != 1 || !s->round != !s->timing) {
        return dls_fail(err, DLS_EPOLICY, s->name,
                        "must have exactly one of `priority`, `pass`, and `round` with `timing`");
    }
    if (!s->priority && (s->share || p->discipline >= 0)) {
        return dls_fail(err, DLS_ECONFIG, s->name,
                        "a scheduler that is no order has no discipline and no groups");
    }
    if (s->joins && (s->priority || p->placement->share)) {
        return dls_fail(err, DLS_ECONFIG, s->name,
                        "shares GPUs, and so must not be an order, nor used with placement '%s', which "
                        "shares them too", p->placement->name);
    }
    if (s->share && (p->cluster->n_vcs > 0 || p->cluster->n_types > 1)) {
        return dls_fail(err, DLS_ECONFIG, s->name,
                        "divides the cluster among gang sizes and so cannot respect virtual "
                        "clusters or several GPU types");
    }
    return DLS_OK;
}

/* What is recorded only where placement matters. */
static dls_status want_world(dls_engine *e, dls_error *err)
{
    const dls_sim_params *p = e->params;
    for (int32_t r = 0; r < e->index->n_racks; r++) {
        const dls_rack *rack = &e->index->rack[r];
        int32_t *most = &e->rack_nodes[e->index->node[rack->first].type];
        *most = rack->end - rack->first > *most ? rack->end - rack->first : *most;
    }
    if (p->elastic && e->walk.on) {
        DLS_TRY(dls_record_want_elastic(e->rec, err));
    }
    if (p->pace && p->pace->solo) {
        DLS_TRY(dls_record_want_fastest(e->rec, err));
    }
    e->rec->want_world = p->pace || p->predictions || p->placement->share || e->failures.on;
    if (e->rec->want_world && p->want_allocs) {
        e->start_row = dls_alloc_zero((size_t)e->n, sizeof *e->start_row);
        if (!e->start_row) {
            return dls_nomem(err, "starts", (size_t)e->n * sizeof *e->start_row);
        }
    }
    return DLS_OK;
}

void dls_view_bind(dls_engine *e)
{
    const dls_elastic *elastic = e->params->elastic;
    dls_view *v = &e->view;
    v->n_jobs = e->n;
    v->gpus = e->col->gpus;
    v->min_gpus = elastic ? elastic->min_gpus : e->col->gpus;
    v->max_gpus = elastic ? elastic->max_gpus : e->col->gpus;
    v->held_gpus = e->walk.held_gpus;
    v->held_type = e->held_type;
    v->user = e->col->user;
    v->vc = e->col->vc;
    v->model = e->col->model;
    v->job_class = e->col->job_class;
    v->batch = e->col->batch;
    v->priority = e->col->priority;
    v->deadline_us = e->col->deadline_us;
    v->limit_us = e->col->limit_us;
    v->starts = e->rec->resumes;
    v->n_types = e->select.n_types;
    v->submit_us = e->col->submit_us;
    v->duration_us = e->params->estimates_predicted ? e->estimate_us : e->duration_us;
    v->estimate_us = e->estimate_us;
    v->first_start_us = e->rec->start_us;
    v->since_us = e->state_since_us;
    v->progress_us = e->progress_from_us;
    v->running = e->running;
    v->total_gpus = e->index->total_gpus;
    v->free_gpus = e->index->free_gpus;
    v->seed = e->params->seed;
    v->failures = e->rec->failures;
    v->engine = e;
}

/* What the selection keeps of placements that refuse by job, or say what a start costs. */
static dls_status prepare_refusals(dls_engine *e, dls_error *err)
{
    const dls_sim_params *p = e->params;
    if (p->placement->by_job && !e->walk.on &&
        (e->discipline == DLS_FIT || e->discipline == DLS_PREEMPT)) {
        e->select.refusal = dls_alloc_zero((size_t)e->n, sizeof *e->select.refusal);
        if (!e->select.refusal) {
            return dls_nomem(err, "refusals", (size_t)e->n * sizeof *e->select.refusal);
        }
        for (int32_t j = 0; j < e->n; j++) {
            e->select.refusal[j].pass = e->select.refusal[j].releases = UINT64_MAX;
        }
    }
    if (p->placement->cost) {
        e->retry_us = dls_alloc(((size_t)e->select.n_classes + 1) * sizeof *e->retry_us);
        if (!e->retry_us) {
            return dls_nomem(err, "classes", (size_t)e->select.n_classes * sizeof *e->retry_us);
        }
        for (int32_t c = 0; c < e->select.n_classes; c++) {
            e->retry_us[c] = DLS_NEVER;
        }
        e->select.choose = dls_cheapest_type;
        e->select.user = e;
    }
    return DLS_OK;
}

/* The placement first; the scheduler sees the true durations here and nowhere else. */
static dls_status init_policies(dls_engine *e, dls_error *err)
{
    const dls_sim_params *p = e->params;
    if (p->placement->init) {
        err->msg[0] = '\0';
        const dls_status status =
            p->placement->init(e->placement_state, e->index, p->placement_values, err);
        DLS_TRY(dls_policy_returned(e, p->placement->name, "init", DLS_NONE, status, err));
    }
    dls_view_bind(e);
    e->view.duration_us = e->duration_us;
    if (p->sched->init) {
        dls_seal(e);
        err->msg[0] = '\0';
        const dls_status status = p->sched->init(e->sched_state, &e->view, p->sched_values, err);
        DLS_TRY(dls_policy_returned(e, p->sched->name, "init", DLS_NONE, status, err));
        DLS_TRY(dls_seal_check(e, err));
    }
    return DLS_OK;
}

/* The time up to which no key that ages overflows. */
static int64_t last_rankable_us(const dls_engine *e)
{
    int64_t steepest = 1;
    for (int32_t c = 0; c < e->select.n_classes; c++) {
        const int64_t slope = dls_select_slope(&e->select, e->select.cls[c].gpus);
        steepest = slope > steepest && e->select.cls[c].types ? slope : steepest;
    }
    return INT64_MAX / 2 / steepest;
}

static dls_status build(dls_engine *e, dls_error *err)
{
    const dls_sim_params *p = e->params;
    DLS_TRY(check_policy(p, err));
    DLS_TRY(dls_cluster_spec_check(p->cluster, err));
    if (e->col->n > INT32_MAX / 2 - 2) {
        return dls_fail(err, DLS_EINPUT, NULL, "%zu jobs are too many", e->col->n);
    }
    e->n = (int32_t)e->col->n;
    e->walk.on = p->sched->priority == NULL;
    e->select.size = e->col->gpus;
    e->discipline = p->discipline >= 0 ? (dls_discipline)p->discipline : p->sched->discipline;
    e->select.ageing = e->discipline == DLS_PREEMPT && !e->walk.on ? p->sched->ageing : DLS_AGE_NONE;
    e->select.ranked = !e->walk.on && (e->discipline == DLS_PREEMPT || e->discipline == DLS_EASY);
    e->select.by_type = e->discipline == DLS_FIT || e->discipline == DLS_PREEMPT;
    e->select.preempts = !e->walk.on && e->discipline == DLS_PREEMPT;
    e->restore_us = p->restore_us;
    e->free_part = -1;
    DLS_TRY(allocate(e, err));
    e->rec->want_allocs = p->want_allocs;
    e->rec->want_series = p->want_series;
    DLS_TRY(init_jobs(e, err));
    DLS_TRY(dls_place_index_create(p->cluster, &e->index, err));
    e->rec->total_gpus = e->index->total_gpus;
    e->rack_seen = dls_alloc_zero((size_t)e->index->n_racks, sizeof *e->rack_seen);
    if (!e->rack_seen) {
        return dls_nomem(err, "racks", (size_t)e->index->n_racks * sizeof *e->rack_seen);
    }
    DLS_TRY(dls_classes_make(e, err));
    DLS_TRY(dls_pools_make(e, err));
    DLS_TRY(make_groups(e, err));
    DLS_TRY(dls_evq_init(&e->retries, (size_t)e->select.n_classes, err));
    dls_predictor_init(e);
    DLS_TRY(prepare_refusals(e, err));
    if (p->placement->share || p->sched->joins) {
        DLS_TRY(dls_guest_create(e, err));
        DLS_TRY(dls_record_want_guests(e->rec, err));
    }
    DLS_TRY(init_policies(e, err));
    if (p->sched->round) {
        DLS_TRY(dls_rounds_create(e, err));
    }
    dls_view_bind(e); /* from here on the view shows only what may be known, not the true durations */
    DLS_TRY(find_infeasible(e, err));
    e->last_us = last_rankable_us(e);
    DLS_TRY(dls_failures_create(e, err));
    e->view.failures = e->rec->failures;
    if (p->checkpoint_period_us > 0) {
        e->save_us = dls_alloc_zero((size_t)e->n, sizeof *e->save_us);
        if (!e->save_us) {
            return dls_nomem(err, "checkpoints", (size_t)e->n * sizeof *e->save_us);
        }
    }
    DLS_TRY(want_world(e, err));
    return p->audit ? dls_audit_create(e, err) : DLS_OK;
}

dls_status dls_engine_create(const dls_sim_params *p, dls_engine **out, dls_error *err)
{
    dls_engine *e = dls_alloc_zero(1, sizeof *e);
    if (!e) {
        return dls_nomem(err, "simulation", sizeof *e);
    }
    e->params = p;
    e->col = dls_trace_cols(p->trace);
    const dls_status status = build(e, err);
    if (status != DLS_OK) {
        dls_engine_destroy(e);
        return status;
    }
    *out = e;
    return DLS_OK;
}

void dls_engine_destroy(dls_engine *e)
{
    if (!e) {
        return;
    }
    if (e->sched_state && e->params->sched->fini) {
        e->params->sched->fini(e->sched_state);
    }
    if (e->placement_state && e->params->placement->fini) {
        e->params->placement->fini(e->placement_state);
    }
    dls_free(e->sched_state);
    dls_free(e->placement_state);
#define XX(member, used, room) dls_free(e->member);
    DLS_ENGINE_ARRAYS(XX)
#undef XX
    dls_grant_fini(&e->grant);
    dls_guest_destroy(e);
    dls_failures_destroy(e);
    dls_select_fini(&e->select);
    dls_walk_destroy(e);
    dls_rounds_destroy(e);
    dls_evq_fini(&e->events);
    dls_evq_fini(&e->stale);
    dls_evq_fini(&e->turns);
    dls_evq_fini(&e->retries);
    dls_place_index_destroy(e->index);
    dls_record_destroy(e->rec);
    dls_free(e);
}
