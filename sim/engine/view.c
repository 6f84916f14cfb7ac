/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies see.
 */
#include "engine/engine.h"

#include <math.h>
#include <stddef.h>

/* What plug-ins of this ABI were compiled against: a change here wants another DLS_POLICY_ABI. */
_Static_assert(sizeof(void *) != 8 ||
                   (DLS_POLICY_ABI == 3 && offsetof(dls_view, limit_us) == 112 &&
                    offsetof(dls_view, engine) == 248 && sizeof(dls_priority) == 56 &&
                    sizeof(dls_want) == 32 && sizeof(dls_sched_ops) == 144 &&
                    sizeof(dls_placement_ops) == 112 && offsetof(dls_request, pace) == 80 &&
                    sizeof(dls_prediction) == 136),
               "the layout of policies has changed");

static inline bool is_job(const dls_view *view, const char *query, int32_t job)
{
    return dls_fault_check(view->engine->index->fault, query, job, view->engine->n);
}

static inline bool is_type(const dls_view *view, const char *query, int32_t type)
{
    return dls_fault_check(view->engine->index->fault, query, type, view->n_types);
}

int64_t dls_view_executed_us(const dls_view *view, int32_t job)
{
    return is_job(view, __func__, job) ? dls_job_executed_us(view->engine, job) : 0;
}

int64_t dls_view_remaining_us(const dls_view *view, int32_t job)
{
    return is_job(view, __func__, job) ? dls_job_remaining_us(view->engine, job) : 0;
}

int64_t dls_view_saved_us(const dls_view *view, int32_t job)
{
    return is_job(view, __func__, job) ? dls_job_saved_us(view->engine, job)
                                       : view->engine->clock.now_us;
}

void *dls_view_job_state(const dls_view *view, int32_t job)
{
    const dls_engine *e = view->engine;
    /* Behind the last job's there is room for that of one which does not exist. */
    const size_t at = is_job(view, __func__, job) ? (size_t)job : (size_t)e->n;
    return e->jobs.policy_bytes + at * e->params->sched->job_state_bytes;
}

/* ---- jobs and cluster ------------------------------------------------------------------------ */

const char *dls_view_name(const dls_view *view, dls_name what, int32_t code)
{
    const dls_trace *trace = view->engine->params->trace;
    switch (what) {
    case DLS_NAME_USER:
        return dls_trace_user(trace, code);
    case DLS_NAME_VC:
        return dls_trace_vc(trace, code);
    case DLS_NAME_MODEL:
        return dls_trace_model(trace, code);
    case DLS_NAME_CLASS:
        return dls_trace_class(trace, code);
    case DLS_NAME_ID:
        return code >= 0 && code < view->n_jobs ? dls_trace_id(trace, (size_t)code) : "";
    case DLS_NAME_ORIGIN:
        return code >= 0 && code < view->n_jobs ? dls_trace_origin(trace, (size_t)code) : "";
    }
    return "";
}

const char *dls_view_type_name(const dls_view *view, int32_t type)
{
    return is_type(view, __func__, type) ? view->engine->params->cluster->types[type].name : "";
}

int64_t dls_view_free_gpus(const dls_view *view, int32_t type)
{
    return is_type(view, __func__, type) ? view->engine->index->type[type].free_gpus : 0;
}

int64_t dls_view_total_gpus(const dls_view *view, int32_t type)
{
    return is_type(view, __func__, type) ? view->engine->index->type[type].total_gpus : 0;
}

static const dls_class *class_of(const dls_view *view, const char *query, int32_t job)
{
    const dls_select *s = &view->engine->select;
    return is_job(view, query, job) && s->job[job].cls >= 0 ? &s->cls[s->job[job].cls] : NULL;
}

int64_t dls_view_quota_gpus(const dls_view *view, int32_t job, int32_t type)
{
    const dls_class *c = class_of(view, __func__, job);
    if (!c || !is_type(view, __func__, type)) {
        return 0;
    }
    const dls_pool *pool = &view->engine->select.pool[c->pool];
    const dls_select *s = &view->engine->select;
    const int64_t left = pool->cap[type] - pool->used[type], free = dls_view_free_gpus(view, type);
    if (free == 0 && c->weight < s->unit && left >= c->weight) {
        return dls_parts_tightest(view->engine->index, type, c->weight, -1) >= 0;
    }
    return left / s->unit < free ? left / s->unit : free;
}

int64_t dls_view_room(const dls_view *view, int32_t job)
{
    const uint32_t types = dls_view_types(view, job);
    int64_t most = 0;
    for (int32_t t = 0; t < view->n_types; t++) {
        const int64_t gpus = types >> t & 1 ? dls_view_quota_gpus(view, job, t) : 0;
        most = gpus > most ? gpus : most;
    }
    return most;
}

int32_t dls_view_pool(const dls_view *view, int32_t job, int32_t type, int64_t *gpus)
{
    const dls_class *c = class_of(view, __func__, job);
    const bool there = c && is_type(view, __func__, type);
    const int64_t total = dls_view_total_gpus(view, type);
    const dls_select *s = &view->engine->select;
    const int64_t cap = there ? s->pool[c->pool].cap[type] / s->unit : 0;
    *gpus = cap < total ? cap : total;
    return there ? c->pool : 0;
}

int64_t dls_view_most_gpus(const dls_view *view, int32_t job, int32_t type)
{
    const dls_engine *e = view->engine;
    const dls_class *c = class_of(view, __func__, job);
    if (!c || !is_type(view, __func__, type) || !(c->types >> type & 1)) {
        return 0;
    }
    const int64_t quota = e->select.pool[c->pool].most[type] / e->select.unit, most = dls_most_gpus(e, job, type);
    return quota < most ? quota : most;
}

uint32_t dls_view_types(const dls_view *view, int32_t job)
{
    const dls_class *c = class_of(view, __func__, job);
    return c ? c->types : 0;
}

int64_t dls_view_cpu_per_gpu(const dls_view *view, int32_t job)
{
    const dls_class *c = class_of(view, __func__, job);
    return c ? c->cpu_milli : 0;
}

int64_t dls_view_mem_per_gpu(const dls_view *view, int32_t job)
{
    const dls_class *c = class_of(view, __func__, job);
    return c ? c->mem_mib : 0;
}

size_t dls_view_nodes(const dls_view *view, int32_t job, dls_place_part *out, size_t most)
{
    const dls_engine *e = view->engine;
    size_t n = 0;
    for (int32_t p = is_job(view, __func__, job) ? e->job[job].parts : DLS_NONE; p >= 0;
         p = e->hold.part[p].next, n++) {
        if (n < most) {
            out[n] =
                (dls_place_part){e->hold.part[p].node, __builtin_popcountll(e->hold.part[p].mask)};
        }
    }
    return n;
}

int32_t dls_view_part(const dls_view *view, int32_t job)
{
    const dls_engine *e = view->engine;
    const int32_t milli = is_job(view, __func__, job) && e->job[job].cls >= 0 ? dls_part_of(e, job) : 0;
    return milli > 0 ? milli : DLS_GPU_MILLI;
}

int32_t dls_view_host(const dls_view *view, int32_t job)
{
    return is_job(view, __func__, job) && view->engine->guests.job
               ? view->engine->guests.job[job].host
               : DLS_NONE;
}

int64_t dls_view_batch(const dls_view *view, int32_t job)
{
    const dls_engine *e = view->engine;
    if (!is_job(view, __func__, job)) {
        return DLS_ABSENT;
    }
    return e->walk.on ? e->walk.batch[job] : dls_trace_i64(e->col->batch, (size_t)job);
}

int64_t dls_view_service_us(const dls_view *view, int32_t job, int32_t type)
{
    const dls_engine *e = view->engine;
    if (!is_job(view, __func__, job) || (type >= 0 && !is_type(view, __func__, type))) {
        return 0;
    }
    const int64_t executed_us = dls_job_executed_us(e, job);
    if (!e->walk.on) {
        return type < 0 ? dls_service_us(executed_us, e->col->gpus[job]) : DLS_ABSENT;
    }
    const int64_t *us = &e->walk.service_us[(size_t)job * (size_t)e->select.n_types];
    const bool here = e->jobs.running[job] && (type < 0 || e->hold.type[job] == type);
    int64_t sum = here ? (executed_us - e->rec->executed_us[job]) * e->walk.held_gpus[job] : 0;
    for (int32_t t = 0; t < e->select.n_types; t++) {
        sum += type < 0 || t == type ? us[t] : 0;
    }
    return sum;
}

void dls_policy_fallback(const dls_view *view)
{
    view->engine->rec->policy_fallbacks++;
}

const dls_place_index *dls_view_index(const dls_view *view)
{
    return view->engine->index;
}

bool dls_view_predict(const dls_view *view, int32_t job, const dls_shape *shape,
                      dls_prediction *out)
{
    const dls_engine *e = view->engine;
    const dls_request r = {.job = job,
                           .predictor = e->params->predictions ? &e->ask.predictor : NULL};
    return dls_place_predict(&r, job, shape, out);
}

bool dls_view_observed(const dls_view *view, int32_t job, dls_observation *out)
{
    return is_job(view, __func__, job) && view->running[job] &&
           dls_job_observe(view->engine, job, view->engine->job[job].parts, out);
}

double dls_view_speed(const dls_view *view, int32_t job, const dls_shape *shape, int64_t batch)
{
    const dls_elastic *elastic = view->engine->params->elastic;
    if (!is_job(view, __func__, job) || !is_type(view, __func__, shape->type) ||
        shape->gpus < view->min_gpus[job] || shape->gpus > view->max_gpus[job] ||
        shape->gpus > dls_most_gpus_now(view->engine, job, shape->type)) {
        return (double)NAN;
    }
    return elastic ? elastic->speed(elastic->user, job, shape, batch) : 1;
}

/* ---- programs -------------------------------------------------------------------------------- */

/* Under an order, which keeps no lists for walks: the first of that state from a job on. */
static int32_t find(const dls_engine *e, dls_job_state state, int32_t job)
{
    while (job < e->n && e->rec->state[job] != state) {
        job++;
    }
    return job < e->n ? job : DLS_NONE;
}

static int32_t waiting_from(const dls_engine *e, int32_t job)
{
    return e->walk.on ? dls_bitmap_next(&e->walk.waiting, job) : find(e, DLS_JOB_PENDING, job);
}

int32_t dls_view_first_waiting(const dls_view *view)
{
    return waiting_from(view->engine, 0);
}

int32_t dls_view_next_waiting(const dls_view *view, int32_t job)
{
    return is_job(view, __func__, job) ? waiting_from(view->engine, job + 1) : DLS_NONE;
}

int32_t dls_view_first_running(const dls_view *view)
{
    const dls_engine *e = view->engine;
    return e->walk.on ? dls_order_first(&e->walk.order, e->walk.running) : find(e, DLS_JOB_RUNNING, 0);
}

/* By rank, which a job keeps when the job is preempted in the midst of a walk. */
int32_t dls_view_next_running(const dls_view *view, int32_t job)
{
    const dls_engine *e = view->engine;
    if (!is_job(view, __func__, job)) {
        return DLS_NONE;
    }
    return e->walk.on ? dls_order_next(&e->walk.order, e->walk.running, job) : find(e, DLS_JOB_RUNNING, job + 1);
}
