/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What happens to a job, and its accounts.
 */
#include "base/alloc.h"
#include "run/engine.h"

/* ---- progress ---------------------------------------------------------------------------------- */

/* Time that a running job has progressed since its anchor: none while it restores. */
static int64_t progressed_us(const dls_engine *e, int32_t job)
{
    return e->running[job] && e->now_us > e->anchor_us[job] ? e->now_us - e->anchor_us[job] : 0;
}

int64_t dls_job_executed_us(const dls_engine *e, int32_t job)
{
    return e->rec->executed_us[job] + progressed_us(e, job);
}

dls_work dls_job_work_left(const dls_engine *e, int32_t job)
{
    const dls_work left = e->work[job] - (dls_work)progressed_us(e, job) * e->rate[job];
    return left > 0 ? left : 0;
}

/* Rows for the stretch that ends now: restoring, then running. */
static dls_status record_stretch(dls_engine *e, int32_t job, int32_t parts, dls_error *err)
{
    if (!e->rec->want_allocs) {
        return DLS_OK;
    }
    const int64_t from = e->since_us[job], to = e->now_us;
    const int64_t middle = e->anchor_us[job] < to ? e->anchor_us[job] : to;
    const float rate = (float)((double)e->rate[job] / (double)DLS_RATE_ONE);
    for (int32_t p = parts; p >= 0; p = e->part[p].next) {
        const int32_t gpus = __builtin_popcountll(e->part[p].mask);
        size_t row;
        if (middle > from) {
            DLS_TRY(dls_record_alloc_row(e->rec, job, e->part[p].node, from, e->part[p].mask, gpus,
                                         0, &row, err));
            e->rec->allocs.end_us[row] = middle;
        }
        if (to > middle || middle == from) {
            DLS_TRY(dls_record_alloc_row(e->rec, job, e->part[p].node, middle, e->part[p].mask,
                                         gpus, rate, &row, err));
            e->rec->allocs.end_us[row] = to;
        }
    }
    return DLS_OK;
}

/* Bring the columns of a running job up to now. */
static void settle(dls_engine *e, int32_t job)
{
    const int64_t restoring =
        (e->anchor_us[job] < e->now_us ? e->anchor_us[job] : e->now_us) - e->since_us[job];
    e->rec->executed_us[job] = dls_job_executed_us(e, job);
    e->rec->overhead_us[job] += restoring;
    e->work[job] = dls_job_work_left(e, job);
}

/* ---- order ------------------------------------------------------------------------------------- */

static dls_status set_alarm(dls_evq *q, uint32_t slot, int64_t at_us, dls_error *err)
{
    if (at_us != DLS_NEVER) {
        return dls_evq_set(q, slot, at_us, DLS_EV_TICK, err);
    }
    dls_evq_cancel(q, slot);
    return DLS_OK;
}

dls_status dls_job_rank(dls_engine *e, int32_t job, dls_job_event why, dls_error *err)
{
    const dls_sched_ops *ops = e->params->sched;
    dls_select *s = &e->select;
    dls_priority p = {.wake_us = DLS_NEVER, .stale_us = DLS_NEVER, .turn_us = DLS_NEVER};
    /* Keys of remaining service, and what they are raised by as time passes, must fit. */
    if (s->ageing == DLS_AGE_SERVICE &&
        e->now_us + e->col->duration_us[job] > INT64_MAX / 4 / e->col->gpus[job]) {
        return dls_fail(err, DLS_ERUN, ops->name, "GPU-time of job %d beyond 2^61 microseconds",
                        job);
    }
    if (e->discipline == DLS_EASY && s->type[job] >= 0) {
        /* Running jobs are ranked by expected end: what a reservation asks for. */
        p.key = e->anchor_us[job] + e->estimate_us[job];
    } else if (!e->program) {
        dls_view_update(e);
        ops->priority(e->sched_state, &e->view, job, why, &p);
    }
    if (p.wake_us <= e->now_us || p.stale_us <= e->now_us || p.turn_us <= e->now_us) {
        return dls_fail(err, DLS_EPOLICY, ops->name,
                        "wants to be asked again about job %d at a time that is not in the future",
                        job);
    }
    const dls_rank rank = {.level = p.level, .key = p.key, .tie = p.tie, .id = job};
    e->rec->promotes[job] += p.promoted;
    if (why == DLS_EVENT_SUBMITTED) {
        dls_select_add_waiting(s, job, rank, e->estimate_us[job]);
    } else {
        dls_select_refile(s, job, rank, e->now_us);
    }
    if (p.settle) {
        DLS_TRY(dls_grow(&e->settle, &e->settle_cap, e->n_settle + 1, sizeof *e->settle, err));
        e->settle[e->n_settle++] = job;
    }
    DLS_TRY(set_alarm(&e->events, DLS_SLOT_WAKE(e, job), p.wake_us, err));
    DLS_TRY(set_alarm(&e->stale, (uint32_t)job, p.stale_us, err));
    return set_alarm(&e->turns, (uint32_t)job, p.turn_us, err);
}

/* ---- life -------------------------------------------------------------------------------------- */

dls_status dls_job_arrive(dls_engine *e, int32_t job, dls_error *err)
{
    if (e->rec->state[job] == DLS_JOB_INFEASIBLE) {
        return DLS_OK;
    }
    e->rec->state[job] = DLS_JOB_PENDING;
    e->since_us[job] = e->now_us;
    e->view.waiting_jobs++;
    dls_mark_dirty(e, e->select.cls[e->select.class_of[job]].pool);
    return dls_job_rank(e, job, DLS_EVENT_SUBMITTED, err);
}

dls_status dls_job_start(dls_engine *e, int32_t job, dls_error *err)
{
    dls_record *rec = e->rec;
    const bool again = rec->resumes[job] > 0;
    int32_t n_nodes = 0;
    for (int32_t p = e->held[job]; p >= 0; p = e->part[p].next) {
        n_nodes++;
    }
    rec->pending_us[job] += e->now_us - e->since_us[job];
    rec->resumes[job]++;
    rec->flips++;
    if (!again) {
        rec->start_us[job] = e->now_us;
    }
    rec->state[job] = DLS_JOB_RUNNING;
    e->running[job] = 1;
    e->since_us[job] = e->now_us;
    e->anchor_us[job] = e->now_us + (again ? e->restore_us : 0);
    e->rate[job] = dls_perf_trace.rate(job, e->col->gpus[job], e->held_type[job], n_nodes);
    e->view.waiting_jobs--;
    e->view.running_jobs++;
    if (e->program) {
        dls_order_insert(&e->program_order, &e->program_running, job,
                         (dls_rank){.key = e->next_seq++}, 1, 0);
    }
    const int64_t end_us = e->anchor_us[job] + dls_work_time_us(e->work[job], e->rate[job]);
    DLS_TRY(dls_evq_set(&e->events, DLS_SLOT_FINISH(e, job), end_us, DLS_EV_FINISH, err));
    return dls_job_rank(e, job, DLS_EVENT_STARTED, err);
}

/* What losing the GPUs and finishing have in common. */
static dls_status leave(dls_engine *e, int32_t job, int32_t parts, dls_error *err)
{
    settle(e, job);
    DLS_TRY(record_stretch(e, job, parts, err));
    e->running[job] = 0;
    e->view.running_jobs--;
    if (e->program) {
        dls_order_remove(&e->program_order, &e->program_running, job);
    }
    return DLS_OK;
}

dls_status dls_job_preempt(dls_engine *e, int32_t job, int32_t parts, dls_error *err)
{
    DLS_TRY(leave(e, job, parts, err));
    dls_evq_cancel(&e->events, DLS_SLOT_FINISH(e, job));
    e->rec->state[job] = DLS_JOB_PENDING;
    e->rec->preempts[job]++;
    e->rec->flips++;
    e->since_us[job] = e->now_us;
    e->view.waiting_jobs++;
    return dls_job_rank(e, job, DLS_EVENT_PREEMPTED, err);
}

dls_status dls_job_finish(dls_engine *e, int32_t job, dls_error *err)
{
    DLS_TRY(leave(e, job, e->held[job], err));
    dls_evq_cancel(&e->events, DLS_SLOT_WAKE(e, job));
    dls_evq_cancel(&e->stale, (uint32_t)job);
    dls_evq_cancel(&e->turns, (uint32_t)job);
    e->rec->state[job] = DLS_JOB_FINISHED;
    e->rec->end_us[job] = e->now_us;
    e->done++;
    dls_select_remove_running(&e->select, job);
    dls_give_back(e, job, e->held[job]);
    dls_free_parts(e, e->held[job]);
    e->held[job] = -1;
    e->held_type[job] = -1;
    dls_mark_dirty(e, e->select.cls[e->select.class_of[job]].pool);
    return DLS_OK;
}

dls_status dls_jobs_close(dls_engine *e, dls_error *err)
{
    for (int32_t j = 0; j < e->n; j++) {
        if (e->rec->state[j] == DLS_JOB_PENDING) {
            e->rec->pending_us[j] += e->now_us - e->since_us[j];
        } else if (e->rec->state[j] == DLS_JOB_RUNNING) {
            settle(e, j);
            DLS_TRY(record_stretch(e, j, e->held[j], err));
        }
    }
    return DLS_OK;
}
