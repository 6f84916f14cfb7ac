/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One scheduling pass: select, take GPUs away, place, until nothing changes.
 *
 * A preemptive pass first decides by number who runs. Jobs that lost their selection give their GPUs
 * back for the time being; the newly selected are placed in rank order. One that the placement refuses is
 * put back among the waiting, its class is left alone on that GPU type for the rest of the pass, and the
 * selection is repeated: a job that had lost its place to the refused one then gets the same GPUs
 * again and never notices. Only at the end do the changes become starts and preemptions.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/engine.h"

#include <stdlib.h>

/* ---- pools ------------------------------------------------------------------------------------- */

/* A release in one pool may let the placement accept a class of another that it has refused: these pools
 * are to be passed too. Only when some pool is dirty: an instant at which nothing happens changes nothing. */
static void mark_refused_pools(dls_engine *e)
{
    dls_select *s = &e->select;
    if (s->dirty.count > 0 && s->dirty.count < s->n_pools) {
        dls_select_mark_refused(s);
    }
}

/* ---- without preemption ------------------------------------------------------------------------ */

/* Place and start a waiting job on a type; *started false: refused, it waits on. `late`: beside what is reserved. */
static dls_status start_waiting(dls_engine *e, int32_t job, int32_t type, bool late, bool *started,
                                dls_error *err)
{
    DLS_DEBUG_ASSERT(!e->jobs.running[job] && e->job[job].type < 0);
    int32_t parts;
    const bool kept = late && dls_reserve_keep(e);
    const dls_status status = dls_place_job(e, job, type, &parts, started, err);
    if (late) {
        dls_reserve_return(e);
    }
    DLS_TRY(status);
    if (!*started && kept) {
        e->select.cls[e->job[job].cls].late_pass = e->select.pass;
        return DLS_OK;
    }
    if (!*started) {
        dls_select_refuse(&e->select, job, type, e->clock.now_us);
        return DLS_OK;
    }
    const dls_rank rank = e->select.order.member[job].rank;
    dls_select_remove_waiting(&e->select, job);
    dls_select_add_running(&e->select, job, type, rank, e->clock.now_us);
    return dls_job_start(e, job, type, parts, err);
}

static dls_status pass_in_order(dls_engine *e, int32_t pool, dls_error *err)
{
    const bool fit = e->discipline == DLS_FIT;
    for (;;) {
        int32_t type;
        bool started;
        const int32_t job = dls_select_next(&e->select, pool, fit, e->clock.now_us, &type);
        if (job == DLS_NONE || type < 0) {
            return DLS_OK;
        }
        DLS_TRY(start_waiting(e, job, type, false, &started, err));
    }
}

static dls_status pass_backfill(dls_engine *e, int32_t pool, dls_error *err)
{
    DLS_TRY(pass_in_order(e, pool, err)); /* strict: up to the first that must wait */
    int32_t type;
    uint32_t head_types;
    const int32_t head = dls_select_next(&e->select, pool, false, e->clock.now_us, &type);
    if (head == DLS_NONE) {
        return DLS_OK;
    }
    int64_t spare, shadow_us;
    if (e->reserve.on) {
        DLS_TRY(dls_reserve(e, head, &shadow_us, &head_types, &spare, err));
    } else {
        shadow_us = dls_select_shadow(&e->select, head, e->clock.now_us, &head_types, &spare);
    }
    for (;;) {
        bool started, uses_spare = false;
        const int32_t job = dls_select_backfill(&e->select, head, e->clock.now_us, shadow_us,
                                                head_types, spare, &type, &uses_spare);
        if (job == DLS_NONE) {
            return DLS_OK;
        }
        DLS_TRY(start_waiting(e, job, type, uses_spare && e->reserve.on, &started, err));
        if (started && uses_spare) {
            spare -= dls_class_of(e, job)->weight;
        }
    }
}

/* ---- with preemption --------------------------------------------------------------------------- */

DLS_BY(by_number, int32_t, DLS_ORDER(*x, *y));

/* What has changed, in the order of the list of what was touched. */
static void order_changed(dls_select *s)
{
    bool ascending = true;
    for (size_t i = 0; i < s->n_changed; i++) {
        s->touched[s->changed[i]].changed = false;
        ascending = ascending && (i == 0 || s->changed[i - 1] < s->changed[i]);
    }
    if (!ascending) {
        qsort(s->changed, s->n_changed, sizeof *s->changed, by_number);
    }
}

/* A job placed in this pass and then dropped, or moved to another type, by a repeated selection. */
static void undo_placed(dls_engine *e)
{
    dls_select *s = &e->select;
    for (size_t i = 0; i < s->n_changed; i++) {
        dls_touched *t = &s->touched[s->changed[i]];
        if (t->placed >= 0 &&
            s->job[t->job].type != e->index->node[e->hold.part[t->placed].node].type) {
            dls_give_back(e, t->job, t->placed);
            dls_free_parts(e, t->placed);
            t->placed = -1;
        }
    }
}

/* Give back, for now, the GPUs of jobs that are no longer selected for them. */
static void drop_unselected(dls_engine *e)
{
    dls_select *s = &e->select;
    for (size_t i = 0; i < s->n_changed; i++) {
        dls_touched *t = &s->touched[s->changed[i]];
        if (e->jobs.running[t->job] && !t->dropped && s->job[t->job].type != e->hold.type[t->job]) {
            t->dropped = true;
            dls_give_back(e, t->job, e->job[t->job].parts);
        }
    }
}

/* A job was refused on this type: jobs that were to move away to make room for it are selected again, and
 * may stay. Returns whether there are any. */
static bool unselect_moved(dls_engine *e, int32_t type)
{
    dls_select *s = &e->select;
    bool moved = false;
    for (size_t i = 0; s->n_types > 1 && i < s->n_touched; i++) {
        const int32_t job = s->touched[i].job;
        if (s->touched[i].dropped && e->hold.type[job] == type && s->job[job].type >= 0 &&
            s->job[job].type != type) {
            dls_select_deselect(s, job, e->clock.now_us, e->jobs.estimate_us[job]);
            moved = true;
        }
    }
    return moved;
}

/* Place what is selected and has no GPUs; *refused tells that something was put back. */
static dls_status place_selected(dls_engine *e, bool *refused, dls_error *err)
{
    dls_select *s = &e->select;
    bool moved = false;
    *refused = false;
    for (size_t i = 0; i < s->n_changed; i++) {
        dls_touched *t = &s->touched[s->changed[i]];
        const int32_t job = t->job;
        const int32_t type = s->job[job].type;
        const bool has = e->jobs.running[job] && !t->dropped;
        if (type < 0 || has || t->placed >= 0) {
            continue;
        }
        if (e->jobs.running[job] && type == e->hold.type[job] && dls_retake(e, job)) {
            t->dropped = false;
            continue;
        }
        bool placed;
        DLS_TRY(dls_place_job(e, job, type, &t->placed, &placed, err));
        if (!placed) {
            dls_select_deselect(s, job, e->clock.now_us, e->jobs.estimate_us[job]);
            dls_select_refuse(&e->select, job, type, e->clock.now_us);
            *refused = true;
            moved = unselect_moved(e, type) || moved;
        }
    }
    s->n_changed = 0;
    for (size_t i = 0; moved && i < s->n_touched; i++) { /* any of them may have GPUs to give back */
        s->touched[i].changed = true;
        s->changed[s->n_changed++] = (int32_t)i;
    }
    return DLS_OK;
}

/* A job that keeps its selection but not its GPUs stops here and starts elsewhere at once. */
static dls_status stop_to_move(dls_engine *e, int32_t job, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->jobs.running[job] && e->job[job].type >= 0);
    dls_select *s = &e->select;
    const int32_t type = s->job[job].type;
    dls_select_deselect(s, job, e->clock.now_us, e->jobs.estimate_us[job]);
    DLS_TRY(dls_job_lose(e, job, false, err));
    const dls_rank now = s->order.member[job].rank;
    dls_select_remove_waiting(s, job);
    dls_select_add_running(s, job, type, now, e->clock.now_us);
    return DLS_OK;
}

static dls_status make_real(dls_engine *e, dls_error *err)
{
    dls_select *s = &e->select;
    size_t n_stop = 0;
    DLS_TRY(dls_grow(&s->stopped, &s->stopped_cap, s->n_touched, sizeof *s->stopped, err));
    /* Those that stop go first, in the order in which they stood; then those that start. */
    for (size_t i = 0; i < s->n_touched; i++) {
        const int32_t job = s->touched[i].job;
        if (s->touched[i].dropped) {
            s->touched[i].dropped = false;
            if (s->job[job].type < 0) {
                s->stopped[n_stop++] = job;
            } else {
                DLS_TRY(stop_to_move(e, job, err));
            }
        }
    }
    if (n_stop > 1) {
        qsort_r(s->stopped, n_stop, sizeof *s->stopped, dls_select_by_rank, s);
    }
    for (size_t i = 0; i < n_stop; i++) {
        DLS_TRY(dls_job_lose(e, s->stopped[i], false, err));
    }
    for (size_t i = 0; i < s->n_touched; i++) {
        const int32_t job = s->touched[i].job, parts = s->touched[i].placed;
        if (parts >= 0) {
            s->touched[i].placed = -1;
            DLS_TRY(dls_job_start(e, job, s->job[job].type, parts, err));
        }
    }
    for (size_t i = 0; i < s->n_touched; i++) { /* none is left between two places */
        DLS_AUDIT_ASSERT(!s->touched[i].dropped && s->touched[i].placed < 0 &&
                         (dls_is_guest(e, s->touched[i].job) ||
                          e->job[s->touched[i].job].type == e->hold.type[s->touched[i].job]));
    }
    return DLS_OK;
}

static dls_status pass_preemptive(dls_engine *e, int32_t pool, dls_error *err)
{
    dls_select *s = &e->select;
    bool refused = true;
    s->n_touched = s->n_changed = 0;
    while (refused) {
        DLS_TRY(dls_select_preemptive(s, pool, e->clock.now_us, e->hold.type, err));
        order_changed(s);
        undo_placed(e);
        drop_unselected(e);
        DLS_TRY(place_selected(e, &refused, err));
    }
    return make_real(e, err);
}

/* ---- the pass ---------------------------------------------------------------------------------- */

static dls_status settle(dls_engine *e, dls_error *err)
{
    const size_t n = e->ask.n_again;
    for (size_t i = 0; i < n; i++) {
        const int32_t job = e->ask.again[i];
        const uint8_t state = e->rec->state[job];
        if (state == DLS_JOB_RUNNING || state == DLS_JOB_PENDING) {
            DLS_TRY(dls_job_rank(e, job, DLS_EVENT_PASSED, err));
        }
    }
    /* Jobs that asked again during this loop wait for the next pass. */
    for (size_t i = n; i < e->ask.n_again; i++) {
        e->ask.again[i - n] = e->ask.again[i];
    }
    e->ask.n_again -= n;
    return DLS_OK;
}

static dls_status pass_pools(dls_engine *e, dls_error *err)
{
    dls_select *s = &e->select;
    for (int32_t k = -1; (k = dls_bitmap_next(&s->dirty, k + 1)) >= 0;) {
        dls_bitmap_clear(&s->dirty, k);
        s->pass++;
        e->rec->passes++;
        if (s->refusal) {
            dls_select_unpark(s, k);
        }
        switch (e->discipline) {
        case DLS_STRICT:
        case DLS_FIT:
            DLS_TRY(pass_in_order(e, k, err));
            break;
        case DLS_EASY:
            DLS_TRY(pass_backfill(e, k, err));
            break;
        case DLS_PREEMPT:
            do { /* a guest that has lost its host may find room of its own */
                e->guests.evicted = false;
                DLS_TRY(pass_preemptive(e, k, err));
            } while (e->guests.evicted);
            break;
        }
    }
    return DLS_OK;
}

dls_status dls_pass(dls_engine *e, dls_error *err)
{
    dls_select *s = &e->select;
    while (!dls_evq_empty(&e->clock.stale) &&
           dls_evq_top(&e->clock.stale).time_us <= e->clock.now_us) {
        const int32_t job = (int32_t)dls_event_slot(dls_evq_pop(&e->clock.stale));
        dls_fetch_soon(e, &e->clock.stale, 1);
        DLS_TRY(dls_job_rank(e, job, DLS_EVENT_DUE, err)); /* such jobs cause no pass by themselves */
    }
    if (e->walk.on) {
        const dls_sched_ops *ops = e->params->sched;
        if (e->rounds.on) {
            return e->rounds.due ? dls_round_pass(e, err) : DLS_OK;
        }
        dls_program_begin(e, err);
        err->msg[0] = '\0';
        const dls_status status =
            ops->pass(e->ask.sched_state, &e->view, &e->decision.actions, err);
        DLS_TRY(e->decision.actions.status);
        DLS_TRY(dls_policy_returned(e, ops->name, "pass", DLS_NONE, status, err));
        return dls_program_end(e, err);
    }
    mark_refused_pools(e);
    const bool passes = s->dirty.count > 0;
    do {
        DLS_TRY(pass_pools(e, err));
        if (passes) {
            e->view.arrived = e->view.ended = 0;
        }
        e->guests.left = false;
        if (e->guests.news) {
            DLS_TRY(dls_guest_pass(e, err));
        }
    } while (e->guests.left); /* who stood behind a new guest may be first now */
    if (e->ask.any_retry) {
        DLS_TRY(dls_set_retries(e, err));
    }
    return settle(e, err);
}
