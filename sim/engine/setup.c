/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From a trace and a cluster to an engine that is ready to run.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/own.h"
#include "engine/engine.h"

#include <math.h>
#include <string.h>

/* ---- what can never run ------------------------------------------------------------------------
 */

/* Would the empty cluster take the job on the type, with so many GPUs as it is selected for? */
static dls_status try_empty(dls_engine *e, int32_t job, int32_t type, bool *fits, dls_error *err)
{
    const uint32_t slot = (uint32_t)e->select.job[job].cls;
    int32_t parts = -1;
    DLS_TRY(dls_place_job(e, job, type, &parts, fits, err));
    /* What is only refused for a while fits. */
    *fits = *fits || dls_evq_has(&e->clock.retries, slot);
    dls_evq_cancel(&e->clock.retries, slot);
    dls_give_back(e, job, parts);
    dls_free_parts(e, parts);
    return DLS_OK;
}

/* What the empty cluster refuses a job, it refuses it of more GPUs, too: nodes have not the CPU or the memory. */
static dls_status find_most(dls_engine *e, int32_t job, int32_t type, int32_t *most, dls_error *err)
{
    const dls_class *c = dls_class_of(e, job);
    const int64_t cap = e->select.pool[c->pool].cap[type] / e->select.unit;
    int32_t *size = &e->walk.size[job], low = *size, high = e->view.max_gpus[job];
    high = high < cap ? high : (int32_t)cap;
    *most = INT32_MAX;
    for (int32_t g = high; low < high; g = low + (high - low) / 2) {
        bool fits;
        *size = g;
        DLS_TRY(try_empty(e, job, type, &fits, err));
        if (fits && g == high) {
            break; /* at once: as many as there are */
        }
        low = fits ? g : low;
        high = fits ? high : g;
        if (high - low <= 1) {
            *most = low;
            break;
        }
    }
    *size = dls_least_gpus(e, job);
    return DLS_OK;
}

/* Elastic jobs: so many GPUs can they be given together. */
static dls_status find_room(dls_engine *e, dls_error *err)
{
    const dls_select *s = &e->select;
    DLS_FREED int32_t *widest = NULL; /* [classes] the job that can use most */
    if (!e->walk.most) {
        return DLS_OK;
    }
    DLS_TRY(dls_alloc_array(&widest, (size_t)s->n_classes, sizeof *widest, "job classes", err));
    memset(widest, 0xff, (size_t)s->n_classes * sizeof *widest);
    for (int32_t j = 0; j < e->n; j++) {
        const int32_t c = s->job[j].cls;
        if (c >= 0 && (widest[c] < 0 || e->view.max_gpus[j] > e->view.max_gpus[widest[c]])) {
            widest[c] = j;
        }
    }
    for (int32_t c = 0; c < s->n_classes; c++) {
        for (int32_t t = 0; t < s->n_types; t++) {
            int32_t *most = &e->walk.most[c * s->n_types + t];
            *most = INT32_MAX;
            if (widest[c] >= 0 && s->cls[c].types >> t & 1) {
                DLS_TRY(find_most(e, widest[c], t, most, err));
            }
        }
    }
    return DLS_OK;
}

/* For so many of the job's GPUs have the free nodes of a type the CPU and memory. */
static int64_t side_room(const dls_engine *e, int32_t type, int64_t cpu_milli, int64_t mem_mib)
{
    const dls_request r = {.type = type, .cpu_milli_per_gpu = cpu_milli, .mem_mib_per_gpu = mem_mib};
    int64_t gpus = 0;
    for (int32_t n = 0; n < e->index->n_nodes; n++) {
        gpus += e->index->node[n].type == type ? dls_node_limit(&e->index->node[n], &r) : 0;
    }
    return gpus;
}

/* Why the type is not for the class of a job, of which the empty cluster's quotas leave it so many GPUs. */
static dls_obstacle obstacle_on(const dls_engine *e, int32_t job, int32_t type, int64_t limit)
{
    const dls_class *c = dls_class_of(e, job);
    const uint32_t allowed = dls_cluster_types(
        e->params->cluster, dls_trace_gpu_types(e->params->trace, e->col->gpu_types[job]));
    return !(allowed >> type & 1)                                                  ? DLS_NO_TYPE
           : !(c->types >> type & 1)                                               ? DLS_NO_GPU_MEMORY
           : c->weight > e->index->type[type].total_gpus * e->select.unit          ? DLS_NO_GPUS
           : c->weight > limit                                                     ? DLS_NO_QUOTA
           : side_room(e, type, c->cpu_milli, 0) < c->gpus                         ? DLS_NO_CPU
           : side_room(e, type, 0, c->mem_mib) < c->gpus                           ? DLS_NO_MEMORY
                                                                                   : DLS_NO_PLACE;
}

static void leave_out(dls_engine *e, int32_t job, dls_obstacle why)
{
    dls_infeasible *who = &e->jobs.infeasible;
    if (who->n++ == 0) {
        who->first = job;
    }
    if (who->by[why]++ == 0) {
        who->first_by[why] = job;
    }
    e->select.job[job].cls = -1;
    e->rec->state[job] = DLS_JOB_INFEASIBLE;
    e->jobs.done++;
}

/* Leave each class only the types on which the empty cluster would take it. */
static dls_status find_infeasible(dls_engine *e, dls_error *err)
{
    dls_select *s = &e->select;
    bool all_feasible = true;
    DLS_FREED dls_obstacle *why = NULL; /* [classes] the greatest */
    DLS_TRY(dls_alloc_array(&why, (size_t)s->n_classes + 1, sizeof *why, "job classes", err));
    for (int32_t j = 0, tried = 0; tried < s->n_classes; j++) {
        dls_class *c = &s->cls[s->job[j].cls];
        if (c->refused_pass != UINT64_MAX) {
            continue; /* class already tried */
        }
        c->refused_pass = 0;
        tried++;
        for (int32_t t = 0; t < s->n_types; t++) {
            const int64_t limit =
                e->params->sched->share ? e->index->type[t].total_gpus : s->pool[c->pool].cap[t];
            bool fits = c->types >> t & 1 && c->weight <= limit;
            if (fits) {
                DLS_TRY(try_empty(e, j, t, &fits, err));
            }
            if (!fits) {
                const dls_obstacle here = obstacle_on(e, j, t, limit);
                dls_obstacle *most = &why[s->job[j].cls];
                *most = here > *most ? here : *most;
                c->types &= ~(UINT32_C(1) << t);
            }
        }
        all_feasible = all_feasible && c->types;
    }
    for (int32_t c = 0; c < s->n_classes; c++) {
        s->cls[c].refused_pass = s->cls[c].refused_releases = UINT64_MAX;
    }
    for (int32_t j = 0; j < e->n && !all_feasible; j++) {
        if (!s->cls[s->job[j].cls].types) {
            leave_out(e, j, why[s->job[j].cls]);
        }
    }
    return DLS_OK;
}

/* ---- jobs --------------------------------------------------------------------------------------
 */

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
    e->jobs.duration_us = pace ? e->jobs.work_us : e->col->duration_us;
    for (int32_t j = 0; j < e->n; j++) {
        if (pace) {
            e->jobs.work_us[j] = pace->work_us(pace->world, j);
        }
        if (e->jobs.duration_us[j] < 0) {
            return dls_trace_no_duration(e->params->trace, (size_t)j, err);
        }
    }
    return DLS_OK;
}

static dls_status init_jobs(dls_engine *e, dls_error *err)
{
    const dls_trace_columns *col = e->col;
    DLS_TRY(find_durations(e, err));
    for (int32_t j = 0; j < e->n; j++) {
        e->job[j].work = dls_work_of_us(e->jobs.duration_us[j]);
        e->job[j].rate = DLS_RATE_ONE;
    }
    const int64_t mean_us = (int64_t)mean(e->jobs.duration_us, e->n);
    for (int32_t j = 0; j < e->n && e->jobs.believed_us; j++) {
        const int64_t own = dls_trace_i64(col->estimate_us, (size_t)j);
        const int64_t limit = dls_trace_i64(col->limit_us, (size_t)j);
        e->jobs.believed_us[j] = own >= 0                     ? own
                                 : e->params->estimates_exact ? e->jobs.duration_us[j]
                                 : limit >= 0                 ? limit
                                                              : mean_us;
    }
    e->jobs.estimate_us = e->jobs.believed_us ? e->jobs.believed_us : e->jobs.duration_us;
    if (e->params->history) {
        dls_history_begin(e->params->history, &e->jobs.past);
    }
    return DLS_OK;
}

/* ---- policies -------------------------------------------------------------------------------- */

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
    if (p->estimates_predicted && !p->predictions && !p->history) {
        return dls_fail(err, DLS_ECONFIG, NULL,
                        "run times are to come from a predictor: set 'predictor.source'");
    }
    if (!!s->priority + !!s->pass + !!s->round != 1 || !s->round != !s->timing) {
        return dls_fail(err, DLS_EPOLICY, s->name,
                        "must have exactly one of `priority`, `pass`, and `round` with `timing`");
    }
    if (s->priority && (s->joins || s->mixes)) {
        return dls_fail(err, DLS_EPOLICY, s->name, "is an order, for which `joins` and `mixes` are not");
    }
    if (!s->priority && (s->share || p->discipline >= 0)) {
        return dls_fail(err, DLS_ECONFIG, s->name,
                        "a scheduler that is no order has no discipline and no groups");
    }
    if (s->joins && p->placement->share) {
        return dls_fail(err, DLS_ECONFIG, s->name,
                        "shares GPUs, and so must not be used with placement '%s', which shares them too",
                        p->placement->name);
    }
    if (s->share && (p->cluster->n_vcs > 0 || p->cluster->n_types > 1)) {
        return dls_fail(err, DLS_ECONFIG, s->name,
                        "divides the cluster among gang sizes and so cannot respect virtual "
                        "clusters or several GPU types");
    }
    return DLS_OK;
}

void dls_view_bind(dls_engine *e)
{
    DLS_DEBUG_ASSERT(e->rec && e->index);
    const dls_elastic *elastic = e->params->elastic;
    dls_view *v = &e->view;
    v->n_jobs = e->n;
    v->gpus = e->col->gpus;
    v->min_gpus = elastic ? elastic->min_gpus : e->col->gpus;
    v->max_gpus = elastic ? elastic->max_gpus : e->col->gpus;
    v->held_gpus = e->walk.held_gpus;
    v->held_type = e->hold.type;
    v->user = e->col->user;
    v->vc = e->col->vc;
    v->model = e->col->model;
    v->job_class = e->col->job_class;
    v->batch = e->col->batch;
    v->priority = e->col->priority;
    v->deadline_us = e->col->deadline_us;
    v->nodes = e->col->nodes;
    v->gpus_milli = e->col->gpus_milli;
    v->limit_us = e->col->limit_us;
    v->starts = e->rec->resumes;
    v->n_types = e->select.n_types;
    v->submit_us = e->col->submit_us;
    v->duration_us = e->params->estimates_predicted ? e->jobs.estimate_us : e->jobs.duration_us;
    v->estimate_us = e->jobs.estimate_us;
    v->first_start_us = e->rec->start_us;
    v->since_us = e->jobs.state_since_us;
    v->progress_us = e->jobs.progress_from_us;
    v->running = e->jobs.running;
    v->total_gpus = e->index->total_gpus;
    v->free_gpus = e->index->free_gpus;
    v->seed = e->params->seed;
    v->failures = e->rec->failures;
    v->engine = e;
}

/* What the trace asks for, a row per class. */
static dls_status find_demand(const dls_engine *e, dls_demand **out, dls_error *err)
{
    const dls_select *s = &e->select;
    DLS_TRY(dls_alloc_array(out, (size_t)s->n_classes + 1, sizeof **out, "requests", err));
    for (int32_t c = 0; c < s->n_classes; c++) {
        const dls_class *of = &s->cls[c];
        (*out)[c].request = (dls_request){
            .cpu_milli_per_gpu = of->cpu_milli,
            .mem_mib_per_gpu = of->mem_mib,
            .gpus = of->gpus,
            .gpu_milli = of->weight < s->unit ? of->weight : DLS_GPU_MILLI,
            .types = of->types,
        };
    }
    for (int32_t j = 0; j < e->n; j++) {
        (*out)[s->job[j].cls].jobs++;
    }
    return DLS_OK;
}

static dls_status init_placement(dls_engine *e, dls_error *err)
{
    const dls_placement_ops *ops = e->params->placement;
    dls_demand *demand;
    if (!ops->init) {
        return DLS_OK;
    }
    DLS_TRY(find_demand(e, &demand, err));
    e->index->demand = demand;
    e->index->n_demand = (size_t)e->select.n_classes;
    err->msg[0] = '\0';
    const dls_status status =
        ops->init(e->ask.placement_state, e->index, e->params->placement_values, err);
    e->index->demand = NULL;
    e->index->n_demand = 0;
    dls_free(demand);
    return dls_policy_returned(e, ops->name, "init", DLS_NONE, status, err);
}

/* The placement first; the scheduler sees the true durations here and nowhere else. */
static dls_status init_policies(dls_engine *e, dls_error *err)
{
    const dls_sim_params *p = e->params;
    DLS_TRY(init_placement(e, err));
    dls_view_bind(e);
    e->view.duration_us = e->jobs.duration_us;
    if (p->sched->init) {
        dls_seal(e);
        err->msg[0] = '\0';
        const dls_status status =
            p->sched->init(e->ask.sched_state, &e->view, p->sched_values, err);
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

/* ---- the engine ------------------------------------------------------------------------------ */

/* What the parameters say of the parts: which there are, and how the selection works. */
static void choose_parts(dls_engine *e)
{
    const dls_sim_params *p = e->params;
    dls_select *s = &e->select;
    e->n = (int32_t)e->col->n;
    e->walk.on = p->sched->priority == NULL;
    e->guests.on = p->placement->share || p->sched->joins;
    e->serving.on = p->services && p->services->n > 0;
    e->failures.on = dls_failures_wanted(e);
    e->failures.undo = e->failures.on || p->preempt_loses;
    e->discipline = p->discipline >= 0 ? (dls_discipline)p->discipline : p->sched->discipline;
    s->n_types = p->cluster->n_types;
    s->by_type = e->discipline == DLS_FIT || e->discipline == DLS_PREEMPT;
    s->preempts = !e->walk.on && e->discipline == DLS_PREEMPT;
    s->ageing = s->preempts ? p->sched->ageing : DLS_AGE_NONE;
    s->backfills = !e->walk.on && e->discipline == DLS_EASY;
    s->ranked = s->preempts || s->backfills;
    e->reserve.on = s->backfills && p->reserve_nodes && !p->placement->gpus_only;
    s->resizes = e->walk.on;
}

static dls_status make_record(dls_engine *e, dls_error *err)
{
    const dls_sim_params *p = e->params;
    DLS_TRY(dls_record_create((size_t)e->n, &e->rec, err));
    dls_record *r = e->rec;
    r->total_gpus = e->index->total_gpus;
    r->want_allocs = p->want_allocs;
    r->want_series = p->want_series;
    r->want_world =
        p->pace || p->predictions || p->history || e->guests.on || e->failures.undo;
    if (e->guests.on) {
        DLS_TRY(dls_record_want(r, DLS_WANT_GUESTS, err));
    }
    if (e->failures.undo) {
        DLS_TRY(dls_record_want(r, DLS_WANT_FAILURES, err));
    }
    if (e->index->parts) {
        DLS_TRY(dls_record_want(r, DLS_WANT_PARTS, err));
    }
    if ((p->elastic && e->walk.on) || e->index->parts || e->guests.on) {
        DLS_TRY(dls_record_want(r, DLS_WANT_ELASTIC, err));
    }
    return p->pace && p->pace->solo ? dls_record_want(r, DLS_WANT_FASTEST, err) : DLS_OK;
}

static dls_status make_arrays(dls_engine *e, dls_error *err)
{
    /* A class has its waiting and its parked, and no more running sets than types. */
    dls_select *s = &e->select;
    const int64_t sets = (int64_t)s->n_classes * (2 + s->n_types);
    DLS_TRY(dls_order_init(&s->order, e->n, sets, err));
    DLS_TRY(s->backfills ? DLS_OK : dls_piles_init(&s->piles, &s->order, sets, err));
#define XX(member, slots) DLS_TRY(dls_evq_init(&e->member, (size_t)(slots), err));
    DLS_ENGINE_QUEUES(XX)
#undef XX
#define XX(member, count, condition)                                                               \
    if ((condition) && !e->member) {                                                               \
        DLS_TRY(dls_alloc_array(&e->member, (size_t)(count), sizeof *e->member, #member, err));    \
    }
    DLS_ENGINE_ARRAYS(XX)
#undef XX
    DLS_TRY(
        dls_alloc_array(&e->ask.sched_state, 1, e->params->sched->state_bytes, "scheduler", err));
    return dls_alloc_array(&e->ask.placement_state, 1, e->params->placement->state_bytes,
                           "placement", err);
}

/* Parts of GPUs, where a job or a service asks for one and gets it. A policy that divides the cluster among gang
 * sizes gives away whole GPUs. */
static dls_status make_parts(dls_engine *e, dls_error *err)
{
    const int32_t mode = e->params->cluster->gpu_parts;
    bool wanted = e->col->gpus_milli != NULL;
    for (int32_t k = 0; e->serving.on && k < e->params->services->n; k++) {
        wanted = wanted || e->params->services->service[k].milli < DLS_GPU_MILLI;
    }
    e->select.unit = 1;
    if (mode == DLS_PARTS_WHOLE || !wanted || e->params->sched->share) {
        return DLS_OK;
    }
    e->select.unit = DLS_GPU_MILLI;
    return dls_parts_create(e->index, mode == DLS_PARTS_MIG, err);
}

/* All that is asked of policies before the first event. */
static dls_status ask_policies(dls_engine *e, dls_error *err)
{
    DLS_TRY(init_policies(e, err));
    DLS_TRY(dls_rounds_init(e, err));
    dls_view_bind(e); /* from here on the view shows only what may be known, not the true durations */
    DLS_TRY(dls_failures_init(e, err)); /* spares stand by: what needs them can never run */
    DLS_TRY(find_infeasible(e, err));
    DLS_TRY(find_room(e, err));
    e->select.releases = 0; /* what trials have counted */
    e->rec->refusals = 0;
    return DLS_OK;
}

static void tell(const dls_sim_params *p, bool begins)
{
    if (p->policies) {
        p->policies(p->policies_user, p->sched->name, p->placement->name, begins);
    }
}

static dls_status build(dls_engine *e, dls_error *err)
{
    const dls_sim_params *p = e->params;
    DLS_TRY(check_policy(p, err));
    DLS_TRY(dls_cluster_spec_check(p->cluster, err));
    if (e->col->n > INT32_MAX / 2 - 2) {
        return dls_fail(err, DLS_EINPUT, NULL, "%zu jobs are too many", e->col->n);
    }
    choose_parts(e);
    DLS_TRY(dls_place_index_create(p->cluster, &e->index, err));
    DLS_TRY(make_parts(e, err));
    DLS_TRY(make_record(e, err));
    DLS_TRY(dls_classes_make(e, err));
    for (int32_t j = 0; e->rec->part_milli && j < e->n; j++) {
        const int32_t weight = dls_class_of(e, j)->weight;
        e->rec->part_milli[j] = weight < e->select.unit ? weight : e->select.unit;
    }
    DLS_TRY(dls_pools_make(e, err));
    DLS_TRY(make_arrays(e, err));
    DLS_TRY(init_jobs(e, err));
    dls_hold_init(e);
    dls_ask_init(e);
    DLS_TRY(dls_guests_init(e, err));
    DLS_TRY(dls_walk_prepare(e, err));
    tell(p, true);
    const dls_status status = ask_policies(e, err);
    tell(p, false);
    DLS_TRY(status);
    e->clock.last_us = last_rankable_us(e);
    dls_audit_init(e);
    return DLS_OK;
}

dls_status dls_engine_create(const dls_sim_params *p, dls_engine **out, dls_error *err)
{
    dls_engine *e;
    DLS_TRY(dls_alloc_array(&e, 1, sizeof *e, "simulation", err));
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
    if (e->ask.sched_state && e->params->sched->fini) {
        e->params->sched->fini(e->ask.sched_state);
    }
    if (e->ask.placement_state && e->params->placement->fini) {
        e->params->placement->fini(e->ask.placement_state);
    }
    DLS_FREE_ALL(e->ask.sched_state, e->ask.placement_state);
    dls_select_fini(&e->select);
#define XX(member, ...) dls_free(e->member);
    DLS_ENGINE_ARRAYS(XX)
    DLS_ENGINE_LISTS(XX)
#undef XX
#define XX(member, slots) dls_evq_fini(&e->member);
    DLS_ENGINE_QUEUES(XX)
#undef XX
    dls_order_fini(&e->walk.order);
    dls_bitmap_fini(&e->walk.waiting);
    dls_bitmap_fini(&e->guests.lists);
    dls_grant_fini(&e->ask.grant);
    dls_place_index_destroy(e->index);
    if (!e->closed) {
        dls_record_destroy(e->rec);
    }
    dls_free(e);
}
