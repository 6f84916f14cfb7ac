/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rounds: when a plan is asked for, and what is done to get from what there is to what is planned.
 *
 *      plan ──> who stops, who changes ──> their GPUs back ──> largest first: place, start
 *           ──> joins, declines
 *
 * A job that keeps what it has is looked at once, to see that. So a round costs O(running +
 * planned), and what changes costs what a start costs.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/engine.h"

#include <stdlib.h>

struct dls_plan {
    dls_engine *e;
    dls_status status; /* of the first call that was wrong */
    dls_error *err;
};

dls_status dls_rounds_init(dls_engine *e, dls_error *err)
{
    dls_rounds *r = &e->rounds;
    const dls_sched_ops *ops = e->params->sched;
    r->on = ops->round != NULL;
    if (!r->on) {
        return DLS_OK;
    }
    ops->timing(e->ask.sched_state, &r->timing);
    if (r->timing.interval_us <= 0) {
        return dls_fail(err, DLS_EPOLICY, ops->name, "has rounds that are %lld microseconds apart",
                        (long long)r->timing.interval_us);
    }
    r->origin_us = e->n > 0 ? e->col->submit_us[0] : 0;
    return DLS_OK;
}

/* ---- when -------------------------------------------------------------------------------------- */

/* The first round at or after a time; DLS_NEVER: beyond all times, for an interval may be as long. */
static int64_t round_from(const dls_rounds *r, int64_t at_us)
{
    DLS_DEBUG_ASSERT(r->timing.interval_us > 0 && at_us >= r->origin_us);
    const int64_t interval_us = r->timing.interval_us;
    const int64_t since_us = at_us - r->origin_us;
    int64_t us = since_us / interval_us + (since_us % interval_us > 0);
    return __builtin_mul_overflow(us, interval_us, &us) || __builtin_add_overflow(us, r->origin_us, &us) ? DLS_NEVER : us;
}

static dls_status set_round(dls_engine *e, int64_t at_us, dls_error *err)
{
    const uint32_t slot = DLS_SLOT_PROGRAM(e);
    if (at_us == DLS_NEVER) {
        return DLS_OK;
    }
    if (dls_evq_has(&e->clock.events, slot) && dls_evq_time(&e->clock.events, slot) <= at_us) {
        return DLS_OK;
    }
    return dls_evq_set(&e->clock.events, slot, at_us, DLS_EV_TICK, err);
}

dls_status dls_round_wanted(dls_engine *e, bool arrival, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->rounds.on);
    const dls_rounds *r = &e->rounds;
    if (arrival ? r->timing.on_arrival : r->timing.on_end) {
        return set_round(e, e->clock.now_us, err);
    }
    return arrival ? set_round(e, round_from(r, e->clock.now_us), err) : DLS_OK;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static dls_planned *add(dls_plan *plan, int32_t job)
{
    dls_engine *e = plan->e;
    dls_rounds *r = &e->rounds;
    if (plan->status != DLS_OK) {
        return NULL;
    }
    if (job < 0 || job >= e->n || r->named[job] == r->number) {
        plan->status =
            dls_illegal(e, job, plan->err,
                        job < 0 || job >= e->n ? "there is no such job" : "is planned twice");
        return NULL;
    }
    plan->status = dls_grow(&r->plan, &r->cap, r->n + 1, sizeof *r->plan, plan->err);
    if (plan->status != DLS_OK) {
        return NULL;
    }
    r->named[job] = r->number;
    r->plan[r->n] = (dls_planned){.job = job, .host = DLS_NONE};
    return &r->plan[r->n++];
}

void dls_plan_set(dls_plan *plan, int32_t job, const dls_want *want)
{
    dls_engine *e = plan->e;
    dls_rounds *r = &e->rounds;
    if (plan->status == DLS_OK) {
        plan->status = dls_want_check(e, job, want, plan->err);
    }
    dls_planned *p = add(plan, job);
    if (!p) {
        return;
    }
    p->keep = dls_want_is_held(e, job, want);
    p->want = *want;
    p->want.gpus = want->gpus ? want->gpus : e->col->gpus[job];
    p->first_node = (int32_t)r->n_nodes;
    if (want->nodes) {
        plan->status = dls_grow(&r->nodes, &r->nodes_cap, r->n_nodes + (size_t)want->n_nodes,
                                sizeof *r->nodes, plan->err);
        for (int32_t i = 0; plan->status == DLS_OK && i < want->n_nodes; i++) {
            r->nodes[r->n_nodes++] = want->nodes[i];
        }
    }
}

void dls_plan_keep(dls_plan *plan, int32_t job)
{
    dls_planned *p = add(plan, job);
    if (p && plan->e->rec->state[job] != DLS_JOB_RUNNING) {
        plan->status =
            dls_illegal(plan->e, job, plan->err, "is to stay as it is, but does not run");
    } else if (p) {
        p->keep = true;
    }
}

void dls_plan_keep_all(dls_plan *plan)
{
    plan->e->rounds.keep_all = true;
}

void dls_plan_join(dls_plan *plan, int32_t job, int32_t host)
{
    dls_planned *p = add(plan, job);
    if (p && (host < 0 || host >= plan->e->n || host == job)) {
        plan->status = dls_illegal(plan->e, job, plan->err, "is to join job %d", host);
    } else if (p) {
        p->host = host;
        p->keep = plan->e->guests.job && plan->e->guests.job[job].host == host;
    }
}

void dls_plan_decline(dls_plan *plan, int32_t job)
{
    dls_planned *p = add(plan, job);
    if (p) {
        p->decline = true;
    }
}

/* ---- the difference -------------------------------------------------------------------------- */

/* Largest first, so that gangs of whole nodes fit wherever they fitted; then as planned. */
DLS_BY(by_size, dls_planned, DLS_DOWN(want.gpus), DLS_UP(first_node)); /* see number_plan */

/* What sorts equal sizes: where it stood in the plan. Named nodes are resolved at the same time. */
static void number_plan(dls_rounds *r)
{
    for (size_t i = 0; i < r->n; i++) {
        if (r->plan[i].want.nodes) {
            r->plan[i].want.nodes = r->nodes + r->plan[i].first_node;
        }
        r->plan[i].first_node = (int32_t)i;
    }
}

static bool is_change(const dls_planned *p)
{
    return !p->keep && !p->decline && p->host == DLS_NONE;
}

/* Preempt whom the plan does not name, guests before hosts; they are listed first, as walks are
 * over what changes. */
static dls_status stop_unnamed(dls_engine *e, dls_error *err)
{
    dls_rounds *r = &e->rounds;
    size_t n = 0;
    for (int32_t j = dls_view_first_running(&e->view); j >= 0 && !r->keep_all;
         j = dls_view_next_running(&e->view, j)) {
        if (r->named[j] != r->number) {
            DLS_TRY(dls_grow(&r->moving, &r->moving_cap, n + 1, sizeof *r->moving, err));
            r->moving[n++] = j;
        }
    }
    for (int32_t guests = 1; guests >= 0; guests--) {
        for (size_t i = 0; i < n; i++) {
            const int32_t job = r->moving[i];
            if (e->jobs.running[job] && dls_is_guest(e, job) == (guests == 1)) {
                DLS_TRY(dls_preempt(e, job, err));
            }
        }
    }
    return DLS_OK;
}

/* The running jobs that change give back what they have before anybody gets anything. */
static dls_status free_changing(dls_engine *e, dls_error *err)
{
    const dls_rounds *r = &e->rounds;
    for (int32_t guests = 1; guests >= 0; guests--) {
        for (size_t i = 0; i < r->n; i++) {
            const dls_planned *p = &r->plan[i];
            if (e->jobs.running[p->job] && !p->keep && dls_is_guest(e, p->job) == (guests == 1)) {
                DLS_TRY(dls_preempt(e, p->job, err));
            }
        }
    }
    return DLS_OK;
}

static dls_status apply(dls_engine *e, dls_error *err)
{
    dls_rounds *r = &e->rounds;
    number_plan(r);
    DLS_TRY(stop_unnamed(e, err));
    DLS_TRY(free_changing(e, err));
    if (r->n > 1) {
        qsort(r->plan, r->n, sizeof *r->plan, by_size);
    }
    for (size_t i = 0; i < r->n; i++) {
        const dls_planned *p = &r->plan[i];
        bool done;
        if (is_change(p)) {
            DLS_TRY(dls_allocate(e, p->job, &p->want, &done, err));
        }
    }
    for (size_t i = 0; i < r->n; i++) {
        const dls_planned *p = &r->plan[i];
        bool done;
        /* A guest that was to stay, but whose host has moved, follows it. */
        if (p->host != DLS_NONE && !(p->keep && e->jobs.running[p->job])) {
            if (!e->jobs.running[p->host] && r->named[p->host] == r->number) {
                continue; /* the placement has refused it, or it is declined */
            }
            DLS_TRY(dls_join(e, p->job, p->host, &done, err));
        } else if (p->decline) {
            DLS_TRY(dls_decline(e, p->job, err));
        }
    }
    return DLS_OK;
}

dls_status dls_round_pass(dls_engine *e, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->rounds.on && e->rounds.due);
    dls_rounds *r = &e->rounds;
    const dls_sched_ops *ops = e->params->sched;
    dls_plan plan = {.e = e, .status = DLS_OK, .err = err};
    r->due = false;
    r->number++;
    r->n = r->n_nodes = 0;
    r->keep_all = false;
    dls_program_begin(e, err);
    err->msg[0] = '\0';
    const dls_status status = ops->round(e->ask.sched_state, &e->view, &plan, err);
    DLS_TRY(plan.status);
    DLS_TRY(dls_policy_returned(e, ops->name, "round", DLS_NONE, status, err));
    DLS_TRY(dls_seal_check(e, err));
    DLS_TRY(apply(e, err));
    dls_view_update(e);
    dls_seal(e);
    DLS_TRY(dls_program_end(e, err));
    return e->view.waiting_jobs + e->view.running_jobs > 0
               ? set_round(e, round_from(r, e->clock.now_us + 1), err)
               : DLS_OK;
}
