/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What happens to a job, and where it then stands.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/engine.h"

/* ---- order ------------------------------------------------------------------------------------- */

static dls_status set_alarm(dls_evq *q, uint32_t slot, int64_t at_us, dls_error *err)
{
    if (at_us != DLS_NEVER) {
        return dls_evq_set(q, slot, at_us, DLS_EV_TICK, err);
    }
    dls_evq_cancel(q, slot);
    return DLS_OK;
}

int64_t dls_estimate_left_us(const dls_engine *e, int32_t job, dls_work left)
{
    const int64_t whole_us = e->jobs.duration_us[job], left_us = dls_work_to_us(left);
    return left_us == whole_us ? e->jobs.estimate_us[job]
                               : (int64_t)((dls_work)e->jobs.estimate_us[job] * left_us / whole_us);
}

dls_status dls_job_rank(dls_engine *e, int32_t job, dls_job_event why, dls_error *err)
{
    const dls_sched_ops *ops = e->params->sched;
    dls_select *s = &e->select;
    dls_priority p = {.valid_until_us = DLS_NEVER};
    if (s->ageing == DLS_AGE_SERVICE && !e->jobs.running[job]) {
        const int64_t left_us = dls_job_remaining_us(e, job), known_us = e->view.duration_us[job];
        DLS_TRY(dls_service_check(
            e, job, e->clock.now_us + (left_us > known_us ? left_us : known_us), err));
    }
    if (e->discipline == DLS_EASY && e->jobs.running[job]) {
        /* Running jobs are ranked by expected end: what a reservation asks for. */
        p.key = e->job[job].progress_from_us + dls_estimate_left_us(e, job, e->job[job].work);
    } else if (!e->walk.on) {
        dls_view_update(e);
        dls_seal(e);
        ops->priority(e->ask.sched_state, &e->view, job, why, &p);
        DLS_TRY(dls_seal_check(e, err));
        DLS_TRY(dls_policy_check(e, ops->name, job, err));
    }
    /* A number of its own: copied with its neighbour it would wait for what the policy has written just now. */
    int64_t key = p.key;
    if (s->ageing != DLS_AGE_NONE) {
        if (p.key > INT64_MAX / 2 || p.key < -INT64_MAX / 2) {
            return dls_fail(err, DLS_EPOLICY, ops->name,
                            "gives job %d the key %lld: keys that age are within 2^62", job,
                            (long long)p.key);
        }
        /* The key falls while the job holds GPUs, also when it does not progress. */
        key -= dls_select_slope(s, e->col->gpus[job]) * dls_job_stalled_us(e, job);
    }
    const int64_t reschedule_us = p.alarm == DLS_ALARM_RESCHEDULE ? p.alarm_us : DLS_NEVER;
    const int64_t yield_us = p.alarm == DLS_ALARM_YIELD ? p.alarm_us : DLS_NEVER;
    if (reschedule_us <= e->clock.now_us || yield_us <= e->clock.now_us ||
        p.valid_until_us <= e->clock.now_us) {
        return dls_fail(err, DLS_EPOLICY, ops->name,
                        "wants to be asked again about job %d at a time that is not in the future",
                        job);
    }
    const dls_rank rank = {.level = p.level, .key = key, .tie = p.tie, .id = job};
    if (p.promoted) { /* else the column is not touched */
        e->rec->promotes[job]++;
    }
    if (why == DLS_EVENT_SUBMITTED) {
        dls_select_add_waiting(s, job, rank, e->jobs.estimate_us[job]);
    } else {
        dls_select_refile(s, job, rank, e->clock.now_us);
    }
    if (p.ask_after_pass) {
        DLS_TRY(dls_grow(&e->ask.again, &e->ask.again_cap, e->ask.n_again + 1, sizeof *e->ask.again,
                         err));
        e->ask.again[e->ask.n_again++] = job;
    }
    DLS_TRY(set_alarm(&e->clock.events, DLS_SLOT_WAKE(e, job), reschedule_us, err));
    DLS_TRY(set_alarm(&e->clock.stale, (uint32_t)job, p.valid_until_us, err));
    return set_alarm(&e->clock.turns, (uint32_t)job, yield_us, err);
}

/* ---- life -------------------------------------------------------------------------------------- */

dls_status dls_job_arrive(dls_engine *e, int32_t job, dls_error *err)
{
    DLS_DEBUG_ASSERT(!e->jobs.running[job] && e->job[job].parts < 0);
    if (e->rec->state[job] == DLS_JOB_INFEASIBLE) {
        return DLS_OK;
    }
    const dls_sched_ops *ops = e->params->sched;
    bool admitted = true;
    if (e->params->history) {
        e->jobs.believed_us[job] =
            dls_history_ask_us(e->params->history, &e->jobs.past, job, e->clock.now_us);
    }
    if (ops->admit) {
        dls_view_update(e);
        dls_seal(e);
        admitted = ops->admit(e->ask.sched_state, &e->view, job);
        DLS_TRY(dls_seal_check(e, err));
        DLS_TRY(dls_policy_check(e, ops->name, job, err));
    }
    if (!admitted) {
        e->rec->state[job] = DLS_JOB_DECLINED;
        e->jobs.declined++;
        e->jobs.done++;
        return DLS_OK;
    }
    e->rec->state[job] = DLS_JOB_PENDING;
    e->jobs.state_since_us[job] = e->clock.now_us;
    e->view.waiting_jobs++;
    e->view.arrived++;
    if (e->walk.on) {
        dls_bitmap_set(&e->walk.waiting, job);
    }
    if (e->rounds.on) {
        DLS_TRY(dls_round_wanted(e, true, err));
    }
    if (e->rec->fastest_us) {
        DLS_TRY(dls_find_fastest(e, job, err));
    }
    dls_guest_wanted(e, job);
    dls_mark_dirty(e, job);
    return dls_job_rank(e, job, DLS_EVENT_SUBMITTED, err);
}

/* Time to write a job's state to the storage, and the same to read it back. */
static dls_status find_storage_time(dls_engine *e, int32_t job, int64_t *restore_us, dls_error *err)
{
    const dls_pace *pace = e->params->pace;
    dls_solo solo = {0};
    int64_t rate;
    if (pace && pace->solo) {
        const dls_shape shape = dls_shape_of(e, job);
        DLS_TRY(pace->solo(pace->world, job, &shape, &solo, &rate, err));
    }
    const double us = solo.checkpoint_bytes / e->params->storage_bps * 1e6;
    const int64_t storage_us = us > 0 && us < 1e15 ? (int64_t)us : 0;
    *restore_us += storage_us;
    if (e->jobs.save_us) {
        e->jobs.save_us[job] = e->params->checkpoint_us + storage_us;
    }
    return DLS_OK;
}

dls_status dls_job_start(dls_engine *e, int32_t job, int32_t type, int32_t parts, dls_error *err)
{
    DLS_DEBUG_ASSERT(!e->jobs.running[job] && parts >= 0 && type >= 0);
    e->job[job].parts = parts;
    e->hold.type[job] = (int8_t)type;
    DLS_DEBUG_ASSERT(dls_is_guest(e, job) || e->job[job].type == e->hold.type[job]);
    dls_record *rec = e->rec;
    const bool again = rec->resumes[job] > 0;
    if (e->clock.now_us > e->jobs.state_since_us[job]) { /* else the column is not touched */
        rec->pending_us[job] += e->clock.now_us - e->jobs.state_since_us[job];
    }
    rec->flips++;
    if (!again) {
        rec->start_us[job] = e->clock.now_us;
    }
    DLS_TRY(dls_tell_started(e, job, err));
    rec->resumes[job]++; /* only now: the placement has to see the same request as when it was asked */
    DLS_TRY(dls_starts_open(e, job, err));
    if (e->failures.on) {
        DLS_TRY(dls_failures_hold(e, job, err));
    }
    if (e->jobs.saved) {
        e->jobs.saved[job] = e->job[job].work;
    }
    int64_t restore_us = e->params->restore_us;
    if (e->params->elastic && e->params->elastic->restore_us) {
        const dls_shape shape = dls_shape_of(e, job);
        const int64_t own_us = e->params->elastic->restore_us(e->params->elastic->user, job, &shape);
        restore_us = own_us >= 0 ? own_us : restore_us;
    }
    if (e->params->storage_bps > 0) {
        DLS_TRY(find_storage_time(e, job, &restore_us, err));
    } else if (e->jobs.save_us) {
        e->jobs.save_us[job] = e->params->checkpoint_us;
    }
    rec->state[job] = DLS_JOB_RUNNING;
    e->jobs.running[job] = 1;
    e->jobs.state_since_us[job] = e->job[job].recorded_to_us = e->clock.now_us;
    e->jobs.progress_from_us[job] = e->job[job].progress_from_us = e->job[job].rate_from_us =
        e->clock.now_us + (again ? restore_us : 0);
    e->view.waiting_jobs--;
    e->view.running_jobs++;
    if (e->walk.on) {
        dls_walk_started(e, job);
    }
    if (!e->params->pace) {
        DLS_TRY(dls_job_set_rate(e, job, dls_scaled_rate(e, job, DLS_RATE_ONE), err));
    } /* else the world gives the rate when the pass is over */
    dls_guest_offer(e, job);
    return dls_job_rank(e, job, DLS_EVENT_STARTED, err);
}

/* What losing the GPUs and finishing have in common. undone: progress since the last checkpoint is lost. */
static dls_status leave(dls_engine *e, int32_t job, int32_t parts, bool undone, dls_error *err)
{
    const bool kept = (undone ? dls_job_checkpointed_us(e, job)
                              : dls_job_progress_in(e, job, e->clock.now_us - e->job[job].progress_from_us)) >= 1000000;
    e->stall.stints += kept;
    e->stall.vain += !kept;
    DLS_TRY(dls_job_account(e, job, parts, err));
    dls_tell_stopped(e, job);
    if (e->failures.on) {
        dls_failures_leave(e, job, parts);
    }
    e->jobs.running[job] = 0;
    e->view.running_jobs--;
    if (e->walk.on) {
        dls_walk_stopped(e, job);
    }
    return DLS_OK;
}

/* Back among the waiting. */
static dls_status wait_again(dls_engine *e, int32_t job, dls_error *err)
{
    dls_evq_cancel(&e->clock.events, DLS_SLOT_FINISH(e, job));
    e->rec->state[job] = DLS_JOB_PENDING;
    e->rec->preempts[job]++;
    e->rec->flips++;
    e->jobs.state_since_us[job] = e->clock.now_us;
    e->view.waiting_jobs++;
    if (e->walk.on) {
        dls_bitmap_set(&e->walk.waiting, job);
    }
    dls_guest_wanted(e, job);
    return dls_job_rank(e, job, DLS_EVENT_PREEMPTED, err);
}

/* What the job has done since its last checkpoint is lost. */
static dls_status undo(dls_engine *e, int32_t job, int32_t parts, dls_error *err)
{
    const dls_work saved = dls_job_saved(e, job);
    const int64_t run_us = dls_job_progress_in(e, job, e->clock.now_us - e->job[job].progress_from_us) -
                           dls_job_checkpointed_us(e, job);
    DLS_TRY(leave(e, job, parts, true, err));
    e->jobs.undone_us[job] += run_us;
    e->rec->lost_run_gpu_s += (double)run_us / (double)DLS_US_PER_S * e->col->gpus[job];
    e->rec->lost_us[job] += dls_work_to_us(saved - e->job[job].work);
    e->job[job].work = saved;
    return DLS_OK;
}

dls_status dls_job_lose(dls_engine *e, int32_t job, bool failed, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->jobs.running[job] && e->job[job].parts >= 0);
    const int32_t parts = e->job[job].parts;
    DLS_TRY(dls_guest_evict(e, job, err));
    const bool undone = failed || e->params->preempt_loses;
    DLS_TRY(undone ? undo(e, job, parts, err) : leave(e, job, parts, false, err));
    e->job[job].parts = e->hold.type[job] = -1; /* only now: `seen` is told where the job ran */
    if (failed) {
        e->rec->failures[job]++;
        DLS_TRY(e->rounds.on ? dls_round_wanted(e, false, err) : DLS_OK);
    }
    DLS_TRY(wait_again(e, job, err));
    dls_free_parts(e, parts);
    return DLS_OK;
}

dls_status dls_job_finish(dls_engine *e, int32_t job, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->jobs.running[job] && e->job[job].parts >= 0);
    DLS_TRY(leave(e, job, e->job[job].parts, false, err));
    dls_evq_cancel(&e->clock.events, DLS_SLOT_WAKE(e, job));
    dls_evq_cancel(&e->clock.stale, (uint32_t)job);
    dls_evq_cancel(&e->clock.turns, (uint32_t)job);
    e->rec->state[job] = DLS_JOB_FINISHED;
    e->rec->end_us[job] = e->clock.now_us;
    if (e->params->history) {
        dls_history_see(e->params->history, &e->jobs.past, job, e->rec->executed_us[job]);
    }
    e->jobs.done++;
    e->view.ended++;
    if (e->rounds.on) {
        DLS_TRY(dls_round_wanted(e, false, err));
    }
    if (dls_is_guest(e, job)) {
        dls_guest_finished(e, job);
    } else {
        dls_count_mixed(e, job, e->job[job].parts, -1);
        dls_select_remove_running(&e->select, job);
        dls_give_back(e, job, e->job[job].parts);
        DLS_TRY(dls_guest_inherit(e, job, err));
    }
    dls_free_parts(e, e->job[job].parts);
    e->job[job].parts = -1;
    e->hold.type[job] = -1;
    dls_mark_dirty(e, job);
    return DLS_OK;
}

dls_status dls_jobs_close(dls_engine *e, dls_error *err)
{
    for (int32_t j = 0; j < e->n; j++) {
        if (e->rec->state[j] == DLS_JOB_PENDING) {
            e->rec->pending_us[j] += e->clock.now_us - e->jobs.state_since_us[j];
        } else if (e->rec->state[j] == DLS_JOB_RUNNING) {
            DLS_TRY(dls_job_account(e, j, e->job[j].parts, err));
            e->job[j].progress_from_us = e->job[j].rate_from_us = e->clock.now_us; /* of which no more is seen */
        }
    }
    return DLS_OK;
}
