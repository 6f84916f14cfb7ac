/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The event loop.
 */
#include "engine/sim.h"

#include "base/assert.h"
#include "base/guard.h"

#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

enum { LOOK_EVERY = 1024 }; /* instants between looks at who interrupts and what gets nowhere */

void dls_sim_params_init(dls_sim_params *p)
{
    memset(p, 0, sizeof *p);
    p->discipline = -1;
    p->until_us = DLS_NEVER;
    p->patience = 1000000;
    p->estimates_exact = true;
    p->want_allocs = p->want_series = true;
}

static int64_t next_time(const dls_engine *e)
{
    const int64_t arrival =
        e->clock.next_arrival < e->col->n ? e->col->submit_us[e->clock.next_arrival] : DLS_NEVER;
    const int64_t event =
        dls_evq_empty(&e->clock.events) ? DLS_NEVER : dls_evq_top(&e->clock.events).time_us;
    int64_t next = arrival < event ? arrival : event;
    if (e->view.waiting_jobs > 0) {
        /* A turn that was over before anyone waited ends now. */
        const dls_evq *const waits[] = {&e->clock.turns, &e->clock.retries};
        for (size_t i = 0; i < 2; i++) {
            const int64_t due = dls_evq_empty(waits[i]) ? DLS_NEVER : dls_evq_top(waits[i]).time_us;
            const int64_t when = due > e->clock.now_us ? due : e->clock.now_us;
            next = when < next ? when : next;
        }
    }
    /* Random failures go on for ever: they count only if something else is due, or if a repair
     * could let a waiting job run. */
    if (e->failures.on && !dls_evq_empty(&e->failures.events) &&
        (next != DLS_NEVER || dls_failures_any_down(e))) {
        const int64_t when = dls_evq_top(&e->failures.events).time_us;
        next = when < next ? when : next;
    }
    return next;
}

/* A job is due to be ranked again: a pass is needed only if its rank has changed. */
static dls_status ask_again(dls_engine *e, int32_t job, dls_error *err)
{
    const dls_rank was = dls_select_rank(&e->select, job, e->clock.now_us);
    DLS_TRY(dls_job_rank(e, job, DLS_EVENT_DUE, err));
    const dls_rank is = dls_select_rank(&e->select, job, e->clock.now_us);
    if (dls_rank_cmp(&was, &is) != 0) {
        dls_mark_dirty(e, job);
    }
    return DLS_OK;
}

static dls_status handle(dls_engine *e, dls_event event, dls_error *err)
{
    const uint32_t slot = dls_event_slot(event);
    if (slot < DLS_SLOT_SHARE(e)) {
        const int32_t job = (int32_t)(slot / 2);
        return slot == DLS_SLOT_FINISH(e, job) ? dls_job_finish(e, job, err)
                                               : ask_again(e, job, err);
    }
    if (slot == DLS_SLOT_PROGRAM(e)) {
        e->rounds.due = e->rounds.on;
        return DLS_OK;
    }
    return dls_share_pass(e, err);
}

static dls_status arrive_all(dls_engine *e, dls_error *err)
{
    size_t end = e->clock.next_arrival;
    while (end < e->col->n && e->col->submit_us[end] == e->clock.now_us) {
        end++;
    }
    if (e->params->predictions && end > e->clock.next_arrival) {
        DLS_TRY(dls_predict_arrivals(e, e->clock.next_arrival, end, err));
    }
    while (e->clock.next_arrival < end) {
        e->rec->events++;
        DLS_TRY(dls_job_arrive(e, (int32_t)e->clock.next_arrival++, err));
    }
    return DLS_OK;
}

static bool is_due(const dls_engine *e, const dls_evq *q)
{
    return !dls_evq_empty(q) && dls_evq_top(q).time_us <= e->clock.now_us;
}

/* Everything that happens now, in the documented order: finishes, failures, repairs, arrivals,
 * ticks.
 */
static dls_status handle_all(dls_engine *e, dls_error *err)
{
    dls_pull_backs_account(e);
    if (e->serving.on) {
        dls_services_account(e);
    }
    for (int32_t part = 0; part < 2; part++) {
        const dls_event_class last = part == 0 ? DLS_EV_REPAIR : DLS_EV_TICK;
        while (!dls_evq_empty(&e->clock.events) &&
               dls_evq_top(&e->clock.events).time_us == e->clock.now_us &&
               dls_event_class_of(dls_evq_top(&e->clock.events)) <= last) {
            e->rec->events++;
            const dls_event event = dls_evq_pop(&e->clock.events);
            dls_fetch_soon(e, &e->clock.events, 2);
            DLS_TRY(handle(e, event, err));
        }
        if (part == 0) {
            if (e->failures.on) {
                DLS_TRY(dls_failures_now(e, err));
            }
            DLS_TRY(arrive_all(e, err));
        }
    }
    if (e->view.waiting_jobs == 0) {
        return DLS_OK;
    }
    while (is_due(e, &e->clock.turns)) {
        e->rec->events++;
        const dls_event event = dls_evq_pop(&e->clock.turns);
        dls_fetch_soon(e, &e->clock.turns, 1);
        DLS_TRY(ask_again(e, (int32_t)dls_event_slot(event), err));
    }
    while (is_due(e, &e->clock.retries)) {
        e->rec->events++;
        dls_select_clear_refusal(&e->select,
                                 (int32_t)dls_event_slot(dls_evq_pop(&e->clock.retries)));
    }
    return DLS_OK;
}

static dls_status sample(dls_engine *e, dls_error *err)
{
    if (e->view.waiting_jobs > e->rec->peak_pending) {
        e->rec->peak_pending = e->view.waiting_jobs;
    }
    if (!e->rec->want_series) {
        return DLS_OK;
    }
    int64_t failed = dls_drains_kept(e);
    for (int32_t t = 0; e->failures.on && t < e->select.n_types; t++) {
        failed += e->failures.down_gpus[t];
    }
    int32_t busy_nodes = e->index->busy_nodes, full_nodes = e->index->full_nodes;
    if (e->failures.on) {
        dls_failures_nodes(e, &busy_nodes, &full_nodes);
    }
    const dls_series_point p = {
        .t_us = e->clock.now_us,
        .busy_gpus = (int32_t)(e->index->total_gpus - e->index->free_gpus - failed -
                               e->serving.alone),
        .running_jobs = e->view.running_jobs,
        .pending_jobs = e->view.waiting_jobs,
        .finished_jobs = (int32_t)(e->jobs.done - e->jobs.infeasible.n),
        .busy_nodes = busy_nodes,
        .full_nodes = full_nodes,
    };
    DLS_TRY(dls_record_series(e->rec, &p, err));
    if (!e->rec->want_world) {
        return DLS_OK;
    }
    const dls_pace *pace = e->params->pace;
    const dls_link_load load =
        pace && pace->link_load ? pace->link_load(pace->world) : (dls_link_load){0};
    const dls_world_point w = {.t_us = e->clock.now_us,
                               .failed_gpus = (int32_t)(failed - e->serving.in_use),
                               .guests = e->guests.n,
                               .nic_mean = load.nic_mean,
                               .nic_max = load.nic_max,
                               .uplink_mean = load.uplink_mean,
                               .uplink_max = load.uplink_max};
    return dls_record_world(e->rec, &w, err);
}

/* What follows the pass of an instant. */
static dls_status after_pass(dls_engine *e, dls_error *err)
{
    DLS_TRY(dls_drains_wake(e, err));
    if (e->params->pace) {
        DLS_TRY(dls_rates_settle(e, err));
    }
    if (e->serving.on) {
        dls_services_count(e);
    }
    DLS_TRY(sample(e, err));
    DLS_TRY(
        dls_policy_check(e, e->params->placement->name, DLS_NONE, err)); /* its void callbacks */
    return e->params->audit ? dls_engine_audit(e, err) : DLS_OK;
}

/* Tell how far the run is; true: it is to stop. */
static bool is_interrupted(const dls_engine *e)
{
    const dls_sim_params *p = e->params;
    if (p->progress) {
        p->progress(p->user, e->clock.now_us, e->jobs.done, e->col->n);
    }
    return p->interrupted && p->interrupted(p->user);
}

static dls_status end_decision(dls_engine *e, dls_error *err)
{
    e->decision.open = false;
    const dls_status status = dls_program_end(e, err);
    if (e->decision.actions.status != DLS_OK && err) {
        *err = e->decision.refused;
    }
    return status == DLS_OK ? after_pass(e, err) : status;
}

dls_status dls_sim_create(const dls_sim_params *p, dls_engine **out, dls_error *err)
{
    DLS_ASSERT(p->cluster && p->trace && p->sched && p->placement);
    dls_engine *e;
    dls_error unwanted;
    err = err ? err : &unwanted;
    DLS_TRY(dls_engine_create(p, &e, err));
    if (p->infeasible && e->jobs.infeasible.n > 0) {
        p->infeasible(p->user, &e->jobs.infeasible);
    }
    if (p->sched->share && e->n > 0) {
        const dls_status status = dls_evq_set(&e->clock.events, DLS_SLOT_SHARE(e),
                                              e->col->submit_us[0], DLS_EV_TICK, err);
        if (status != DLS_OK) {
            dls_engine_destroy(e);
            return status;
        }
    }
    *out = e;
    return DLS_OK;
}

static dls_status advance(dls_engine *e, int64_t until_us, dls_sim_stop *stop, dls_error *err)
{
    const int64_t end_us = e->params->until_us;
    const int64_t last_us = until_us < end_us ? until_us : end_us;
    if (e->decision.open) {
        DLS_TRY(end_decision(e, err));
    }
    for (;;) {
        const int64_t t = next_time(e);
        /* Ticks of a policy recur for ever: the run is over when every job is done or can never
         * run. */
        if (t == DLS_NEVER || (e->jobs.done == e->col->n && e->n > 0)) {
            e->rec->complete = true;
            *stop = DLS_SIM_ENDED;
            break;
        }
        if (t > last_us) {
            e->clock.now_us = last_us > e->clock.now_us ? last_us : e->clock.now_us;
            *stop = last_us < end_us ? DLS_SIM_REACHED : DLS_SIM_ENDED;
            break;
        }
        if (t > e->clock.last_us) {
            return dls_fail(err, DLS_ERUN, e->params->sched->name,
                            "GPU-time of the largest gang beyond 2^62 microseconds");
        }
        e->clock.now_us = t;
        DLS_TRY(handle_all(e, err));
        if (e->params->outside) {
            dls_program_begin(e, &e->decision.refused);
            e->decision.open = true;
            *stop = DLS_SIM_DECISION;
            return DLS_OK;
        }
        DLS_TRY(dls_pass(e, err));
        DLS_TRY(after_pass(e, err));
        if (e->clock.instants++ % LOOK_EVERY == 0) {
            DLS_TRY(dls_stall_check(e, LOOK_EVERY, err));
            if (is_interrupted(e)) {
                *stop = DLS_SIM_INTERRUPTED;
                break;
            }
        }
    }
    dls_view_update(e);
    return DLS_OK;
}

dls_status dls_sim_advance(dls_engine *e, int64_t until_us, dls_sim_stop *stop, dls_error *err)
{
    DLS_ASSERT(!e->closed);
    dls_error unwanted;
    err = err ? err : &unwanted;
    const dls_status status = advance(e, until_us, stop, err);
    if (status == DLS_EPOLICY) {
        DLS_IN_C_LOCALE;
        const size_t n = strlen(err->msg);
        snprintf(err->msg + n, sizeof err->msg - n, " (at %.6f s)", (double)e->clock.now_us / 1e6);
    }
    return status;
}

const dls_view *dls_sim_view(const dls_engine *e)
{
    return &e->view;
}

const dls_place_index *dls_sim_index(const dls_engine *e)
{
    return e->index;
}

dls_status dls_sim_stream(dls_engine *e, const char *path, dls_error *err)
{
    return dls_record_stream(e->rec, path, err);
}

const dls_record *dls_sim_record(const dls_engine *e)
{
    return e->rec;
}

size_t dls_sim_jobs_done(const dls_engine *e)
{
    return e->jobs.done;
}

size_t dls_sim_jobs_declined(const dls_engine *e)
{
    return e->jobs.declined;
}

dls_actions *dls_sim_actions(dls_engine *e)
{
    return e->decision.open ? &e->decision.actions : NULL;
}

dls_status dls_sim_close(dls_engine *e, dls_record **out, dls_error *err)
{
    DLS_ASSERT(!e->closed);
    *out = NULL;
    if (e->decision.open) {
        DLS_TRY(end_decision(e, err));
    }
    dls_pull_backs_account(e);
    DLS_TRY(dls_jobs_close(e, err));
    if (e->serving.on) {
        dls_services_account(e);
    }
    e->rec->end_us_of_run = e->clock.now_us;
    e->rec->positions = e->select.heads_examined;
    e->rec->peak_queue = e->clock.events.peak;
    /* Tables that only the loop needs make room for those of the statistics. */
    dls_piles_fini(&e->select.piles);
    dls_order_fini(&e->select.order);
    dls_evq_fini(&e->clock.events);
    e->closed = true;
    *out = e->rec;
    return DLS_OK;
}

void dls_sim_destroy(dls_engine *e)
{
    dls_engine_destroy(e);
}

dls_status dls_sim_run(const dls_sim_params *p, dls_record **out, dls_error *err)
{
    dls_engine *e;
    dls_sim_stop stop;
    *out = NULL;
    DLS_TRY(dls_sim_create(p, &e, err));
    dls_status status = dls_sim_advance(e, DLS_NEVER, &stop, err);
    DLS_THEN(status, dls_sim_close(e, out, err));
    dls_sim_destroy(e);
    return status;
}
