/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies see and may do.
 */
#include "engine/engine.h"

static inline bool is_job(const dls_view *view, const char *query, int32_t job)
{
    return dls_fault_check(view->engine->index->fault, query, job, view->engine->n);
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
    return is_job(view, __func__, job) ? dls_job_saved_us(view->engine, job) : view->engine->now_us;
}

void *dls_view_job_state(const dls_view *view, int32_t job)
{
    const dls_engine *e = view->engine;
    /* Behind the last job's there is room for that of one which does not exist. */
    const size_t at = is_job(view, __func__, job) ? (size_t)job : (size_t)e->n;
    return e->job_state + at * e->params->sched->job_state_bytes;
}

/* ---- programs ---------------------------------------------------------------------------------- */

/* The waiting jobs lie in one set per class, ranked by submission: merge their successors. */
static int32_t waiting_after(const dls_engine *e, int32_t after)
{
    const dls_select *s = &e->select;
    int32_t best = DLS_NONE;
    for (int32_t c = 0; c < s->n_classes; c++) {
        int32_t x = s->cls[c].waiting.root, found = DLS_NONE;
        while (x != DLS_NONE) {
            if (x > after) {
                found = x;
                x = s->order.node[x].left;
            } else {
                x = s->order.node[x].right;
            }
        }
        best = found != DLS_NONE && (best == DLS_NONE || found < best) ? found : best;
    }
    return best;
}

int32_t dls_view_first_waiting(const dls_view *view)
{
    return waiting_after(view->engine, -1);
}

int32_t dls_view_next_waiting(const dls_view *view, int32_t job)
{
    return is_job(view, __func__, job) ? waiting_after(view->engine, job) : DLS_NONE;
}

int32_t dls_view_first_running(const dls_view *view)
{
    return dls_order_first(&view->engine->program_order, view->engine->program_running);
}

/* By rank, which the node of a job keeps when the job is preempted in the midst of a walk. */
int32_t dls_view_next_running(const dls_view *view, int32_t job)
{
    const dls_order_node *node = view->engine->program_order.node;
    const bool there = is_job(view, __func__, job);
    int32_t x = there ? view->engine->program_running.root : DLS_NONE, found = DLS_NONE;
    while (x != DLS_NONE) {
        if (dls_rank_cmp(&node[x].rank, &node[job].rank) > 0) {
            found = x;
            x = node[x].left;
        } else {
            x = node[x].right;
        }
    }
    return found;
}

/* Whether a program may go on to act. */
static bool act(dls_actions *out)
{
    dls_engine *e = out->e;
    if (out->status == DLS_OK) {
        out->status = dls_seal_check(e, out->err);
    }
    if (out->status == DLS_OK && out->n++ > e->params->patience + 4 * (uint64_t)e->n &&
        e->params->patience > 0) {
        out->status = dls_fail(out->err, DLS_EPOLICY, e->params->sched->name,
                               "does not come to an end: %llu actions in one pass",
                               (unsigned long long)out->n);
    }
    return out->status == DLS_OK;
}

static bool legal(dls_actions *out, int32_t job, bool running)
{
    dls_engine *e = out->e;
    if (!act(out)) {
        return false;
    }
    if (job < 0 || job >= e->n || e->rec->state[job] != (running ? DLS_JOB_RUNNING : DLS_JOB_PENDING)) {
        out->status = dls_fail(out->err, DLS_EPOLICY, e->params->sched->name,
                               "wants to %s job %d, which is not %s", running ? "preempt" : "start",
                               job, running ? "running" : "waiting");
        return false;
    }
    return true;
}

static bool start(dls_actions *out, int32_t job)
{
    dls_engine *e = out->e;
    const dls_class *c = &e->select.cls[e->select.class_of[job]];
    dls_pool *pool = &e->select.pool[c->pool];
    uint32_t types = 0;
    for (int32_t t = 0; t < e->select.n_types; t++) {
        if (c->types >> t & 1 && pool->cap[t] - pool->used[t] >= c->gpus) {
            types |= UINT32_C(1) << t;
        }
    }
    if (!types) {
        out->status = dls_fail(out->err, DLS_EPOLICY, e->params->sched->name,
                               "wants to start job %d, whose %d GPUs are not free", job, c->gpus);
    }
    while (types) {
        const int32_t t = e->select.choose ? e->select.choose(e, job, types) : __builtin_ctz(types);
        if (t < 0) {
            return false;
        }
        bool placed;
        int32_t parts;
        out->status = dls_place_job(e, job, t, &parts, &placed, out->err);
        if (out->status != DLS_OK) {
            return false;
        }
        if (placed) {
            dls_select_remove_waiting(&e->select, job);
            dls_select_add_running(&e->select, job, t, (dls_rank){.id = job}, e->now_us);
            e->held[job] = parts;
            e->held_type[job] = (int8_t)t;
            out->status = dls_job_start(e, job, out->err);
            dls_view_update(e);
            return out->status == DLS_OK;
        }
        types &= ~(UINT32_C(1) << t);
    }
    return false;
}

bool dls_act_start(dls_actions *out, int32_t job)
{
    const bool started = legal(out, job, false) && start(out, job);
    dls_seal(out->e);
    return started;
}

static void preempt(dls_actions *out, int32_t job)
{
    dls_engine *e = out->e;
    if (dls_is_guest(e, job)) {
        out->status = dls_guest_preempt(e, job, out->err);
        dls_view_update(e);
        return;
    }
    const int32_t parts = e->held[job];
    out->status = dls_guest_evict(e, job, out->err);
    if (out->status != DLS_OK) {
        return;
    }
    dls_select_remove_running(&e->select, job);
    dls_select_add_waiting(&e->select, job, (dls_rank){.id = job}, e->estimate_us[job]);
    dls_give_back(e, job, parts);
    e->held[job] = -1;
    e->held_type[job] = -1;
    out->status = dls_job_preempt(e, job, parts, out->err);
    dls_free_parts(e, parts);
    dls_view_update(e);
}

void dls_act_preempt(dls_actions *out, int32_t job)
{
    if (legal(out, job, true)) {
        preempt(out, job);
    }
    dls_seal(out->e);
}

void dls_act_wake(dls_actions *out, int64_t at_us)
{
    dls_engine *e = out->e;
    if (!act(out)) {
        return;
    }
    if (at_us <= e->now_us) {
        out->status = dls_fail(out->err, DLS_EPOLICY, e->params->sched->name,
                               "wants to be woken at a time that is not in the future");
        return;
    }
    const uint32_t slot = DLS_SLOT_PROGRAM(e);
    if (!dls_evq_has(&e->events, slot) || dls_evq_time(&e->events, slot) > at_us) {
        out->status = dls_evq_set(&e->events, slot, at_us, DLS_EV_TICK, out->err);
    }
}

void dls_program_begin(dls_engine *e, dls_error *err)
{
    e->actions = (dls_actions){.e = e, .status = DLS_OK, .err = err};
    e->select.pass++;
    e->rec->passes++;
    dls_view_update(e);
    dls_seal(e);
}

dls_status dls_program_end(dls_engine *e, dls_error *err)
{
    DLS_TRY(e->actions.status);
    DLS_TRY(dls_seal_check(e, err));
    DLS_TRY(dls_policy_check(e, e->params->sched->name, DLS_NONE, err));
    DLS_TRY(dls_set_retries(e, err));
    return e->guests.news ? dls_guest_pass(e, err) : DLS_OK;
}

/* ---- groups ------------------------------------------------------------------------------------ */

dls_status dls_share_pass(dls_engine *e, dls_error *err)
{
    dls_select *s = &e->select;
    dls_groups g = {.n = s->n_pools,
                    .gpus = e->group_gpus,
                    .demand = e->group_demand,
                    .used = e->group_used,
                    .reserved = e->group_reserved,
                    .total_gpus = e->index->total_gpus,
                    .next_us = DLS_NEVER};
    int64_t sum = 0;
    for (int32_t k = 0; k < s->n_pools; k++) {
        e->group_used[k] = s->pool[k].used[0];
        e->group_demand[k] = s->pool[k].used[0] + s->pool[k].waiting_gpus;
        e->group_reserved[k] = s->pool[k].cap[0];
    }
    dls_view_update(e);
    dls_seal(e);
    e->params->sched->share(e->sched_state, &e->view, &g);
    DLS_TRY(dls_seal_check(e, err));
    DLS_TRY(dls_policy_check(e, e->params->sched->name, DLS_NONE, err));
    for (int32_t k = 0; k < s->n_pools; k++) {
        if (e->group_reserved[k] < e->group_used[k]) {
            return dls_fail(err, DLS_EPOLICY, e->params->sched->name,
                            "reserves less for gangs of %d than they hold", e->group_gpus[k]);
        }
        if (e->group_reserved[k] > e->index->total_gpus - sum) {
            return dls_fail(err, DLS_EPOLICY, e->params->sched->name,
                            "reserves more than the %lld GPUs of the cluster",
                            (long long)e->index->total_gpus);
        }
        sum += e->group_reserved[k];
        s->pool[k].dirty = s->pool[k].dirty || s->pool[k].cap[0] != e->group_reserved[k];
        s->pool[k].cap[0] = e->group_reserved[k];
    }
    if (g.next_us <= e->now_us) {
        return dls_fail(err, DLS_EPOLICY, e->params->sched->name,
                        "wants to divide the cluster again at a time that is not in the future");
    }
    if (g.next_us != DLS_NEVER) {
        return dls_evq_set(&e->events, DLS_SLOT_SHARE(e), g.next_us, DLS_EV_TICK, err);
    }
    return DLS_OK;
}
