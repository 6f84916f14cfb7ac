/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The work of a job and its accounts.
 *
 *      state_since   progress_from       rate_from           now
 *        |-- restoring ---|---- old rates ---|-- this rate --|
 *
 * Work is exact: a stretch of one rate is time x rate in fixed point, and a change of rate settles
 * the stretch before it. So asking, or changing a rate to the same one, at any instant changes
 * nothing. The columns of the record are brought up to date when the job stops.
 */
#include "engine/engine.h"

#include "base/assert.h"

#include <math.h>

int64_t dls_job_progress_in(const dls_engine *e, int32_t job, int64_t held_us)
{
    if (!e->jobs.save_us || held_us <= 0) {
        return held_us > 0 ? held_us : 0;
    }
    const int64_t run_us = e->params->checkpoint_period_us,
                  cycle_us = run_us + e->jobs.save_us[job];
    const int64_t rest_us = held_us % cycle_us;
    return held_us / cycle_us * run_us + (rest_us < run_us ? rest_us : run_us);
}

/* Time after progress_from_us at which a job has progressed for progress_us: before a checkpoint that would
 * be taken just then. */
static dls_work held_for(const dls_engine *e, int32_t job, dls_work progress_us)
{
    if (!e->jobs.save_us || progress_us <= 0) {
        return progress_us;
    }
    return progress_us + (progress_us - 1) / e->params->checkpoint_period_us * e->jobs.save_us[job];
}

/* Time that a running job has progressed since progress_from_us: none while it restores. */
static int64_t progressed_us(const dls_engine *e, int32_t job)
{
    return e->jobs.running[job]
               ? dls_job_progress_in(e, job, e->clock.now_us - e->job[job].progress_from_us)
               : 0;
}

/* As dls_work_time_us, for work that may take longer than a number of microseconds can say. */
static dls_work work_time(dls_work work, int64_t rate)
{
    return rate == DLS_RATE_ONE ? dls_work_to_us(work) : (work + rate - 1) / rate;
}

/* Of it, the part before the present rate. */
static int64_t progressed_before_us(const dls_engine *e, int32_t job)
{
    return dls_job_progress_in(e, job, e->job[job].rate_from_us - e->job[job].progress_from_us);
}

int64_t dls_job_executed_us(const dls_engine *e, int32_t job)
{
    return e->rec->executed_us[job] + progressed_us(e, job);
}

dls_work dls_job_work_left(const dls_engine *e, int32_t job)
{
    if (!e->jobs.running[job] || e->clock.now_us <= e->job[job].rate_from_us) {
        return e->job[job].work;
    }
    const int64_t progress_us = progressed_us(e, job) - progressed_before_us(e, job);
    const dls_work left = e->job[job].work - (dls_work)progress_us * e->job[job].rate;
    return left > 0 ? left : 0;
}

int64_t dls_job_checkpointed_us(const dls_engine *e, int32_t job)
{
    const int64_t held_us = e->clock.now_us - e->job[job].progress_from_us;
    if (!e->jobs.save_us || held_us <= 0) {
        return 0;
    }
    const int64_t period_us = e->params->checkpoint_period_us;
    return held_us / (period_us + e->jobs.save_us[job]) * period_us;
}

dls_work dls_job_saved(const dls_engine *e, int32_t job)
{
    DLS_DEBUG_ASSERT(e->jobs.running[job] && e->jobs.saved);
    const int64_t at_us = dls_job_checkpointed_us(e, job);
    if (at_us == 0) {
        return e->jobs.saved[job];
    }
    const int64_t before_us = progressed_before_us(e, job);
    if (at_us < before_us) {
        return e->jobs.saved[job]; /* as settled with the last rate */
    }
    return e->job[job].work - (dls_work)(at_us - before_us) * e->job[job].rate;
}

/* What is left of a predicted run time. What a failure has undone is to be done again. A job that outlives its
 * prediction is taken to be almost done: at least 1 while it waits, negative and falling while it runs, so that
 * it keeps moving forward in the order. */
static int64_t predicted_left_us(const dls_engine *e, int32_t job)
{
    const int64_t done_us = dls_job_executed_us(e, job) - (e->jobs.undone_us ? e->jobs.undone_us[job] : 0);
    const int64_t left_us = e->jobs.estimate_us[job] - (done_us > 0 ? done_us : 0);
    return left_us > 1 || e->jobs.running[job] ? left_us : 1;
}

int64_t dls_job_remaining_us(const dls_engine *e, int32_t job)
{
    if (e->params->estimates_predicted) {
        return predicted_left_us(e, job);
    }
    const dls_work left_us = work_time(dls_job_work_left(e, job), e->job[job].rate);
    return left_us < INT64_MAX / 4 ? (int64_t)left_us : INT64_MAX / 4;
}

dls_status dls_service_check(const dls_engine *e, int32_t job, int64_t end_us, dls_error *err)
{
    const int32_t asked = e->col->gpus[job], held = e->rec->gpu_us ? e->select.size[job] : 0;
    const bool counted = e->select.ageing == DLS_AGE_SERVICE || e->rec->gpu_us;
    if (counted && end_us > INT64_MAX / 4 / (held > asked ? held : asked)) {
        return dls_fail(err, DLS_ERUN, e->params->sched->name,
                        "GPU-time of job %d beyond 2^61 microseconds", job);
    }
    return DLS_OK;
}

int64_t dls_job_stalled_us(const dls_engine *e, int32_t job)
{
    return e->jobs.running[job]
               ? e->clock.now_us - e->jobs.state_since_us[job] - progressed_us(e, job)
               : 0;
}

int64_t dls_job_saved_us(const dls_engine *e, int32_t job)
{
    const int64_t held_us = e->clock.now_us - e->job[job].progress_from_us;
    if (!e->jobs.save_us || held_us < 0) {
        return e->clock.now_us;
    }
    const int64_t period_us = e->params->checkpoint_period_us;
    const int64_t cycle_us = period_us + e->jobs.save_us[job], rest_us = held_us % cycle_us;
    return rest_us < period_us ? e->clock.now_us : e->clock.now_us + cycle_us - rest_us;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static dls_status record_rows(dls_engine *e, int32_t job, int32_t parts, int64_t from, int64_t to,
                              float rate, dls_error *err)
{
    const bool guest = dls_is_guest(e, job);
    e->rec->allocs.has_guests = e->rec->allocs.has_guests || guest;
    for (int32_t p = parts; p >= 0; p = e->hold.part[p].next) {
        const int32_t gpus = dls_gpus_of(e->hold.part[p].mask);
        size_t row;
        DLS_TRY(dls_record_alloc_row(e->rec, job, e->hold.part[p].node, from, e->hold.part[p].mask,
                                     gpus, rate, &row, err));
        e->rec->allocs.end_us[row] = to;
        e->rec->allocs.guest[row] = guest;
    }
    return DLS_OK;
}

/* Rows for what is not yet recorded of the stretch of one rate that ends now: restoring, then running. */
static dls_status record_stretch(dls_engine *e, int32_t job, int32_t parts, dls_error *err)
{
    if (!e->rec->want_allocs) {
        return DLS_OK;
    }
    const int64_t from = e->job[job].recorded_to_us, to = e->clock.now_us;
    int64_t middle = e->job[job].rate_from_us > from ? e->job[job].rate_from_us : from;
    middle = middle < to ? middle : to;
    e->job[job].recorded_to_us = to;
    if (middle > from) {
        DLS_TRY(record_rows(e, job, parts, from, middle, 0, err));
    }
    if (to > middle || to == e->jobs.state_since_us[job]) {
        const float rate = (float)((double)e->job[job].rate / (double)DLS_RATE_ONE);
        DLS_TRY(record_rows(e, job, parts, middle, to, rate, err));
    }
    return DLS_OK;
}

dls_status dls_job_account(dls_engine *e, int32_t job, int32_t parts, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->jobs.running[job] && parts >= 0);
    const int64_t progress_us = progressed_us(e, job);
    dls_tell_seen(e, job, parts);
    e->job[job].work = dls_job_work_left(e, job);
    const int64_t stalled_us = e->clock.now_us - e->jobs.state_since_us[job] - progress_us;
    if (stalled_us != 0) { /* else the column is not touched */
        e->rec->overhead_us[job] += stalled_us;
    }
    e->rec->executed_us[job] += progress_us;
    if (e->walk.on) {
        dls_walk_account(e, job, parts, progress_us);
    }
    if (e->rec->gpu_us && !dls_is_guest(e, job)) {
        const int64_t held_us = e->clock.now_us - e->jobs.state_since_us[job];
        e->rec->gpu_us[job] += dls_gpu_time_us(e, job, held_us);
        e->rec->gpu_restore_us[job] += dls_gpu_time_us(e, job, held_us - progress_us);
    }
    if (dls_is_guest(e, job)) {
        dls_guest_account(e, job);
    }
    dls_starts_close(e, job);
    return record_stretch(e, job, parts, err);
}

dls_status dls_job_split(dls_engine *e, int32_t job, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->jobs.running[job]);
    DLS_TRY(record_stretch(e, job, e->job[job].parts, err));
    if (e->clock.now_us > e->job[job].rate_from_us) {
        dls_tell_seen(e, job, e->job[job].parts);
        const dls_work left = dls_job_work_left(e, job);
        if (e->jobs.saved) {
            e->jobs.saved[job] = dls_job_saved(e, job);
        }
        e->job[job].work = left;
        e->job[job].rate_from_us = e->clock.now_us;
    }
    return DLS_OK;
}

/* ---- rates ------------------------------------------------------------------------------------- */

dls_status dls_job_set_rate(dls_engine *e, int32_t job, int64_t rate, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->jobs.running[job] && rate >= 0);
    const bool changed = rate != e->job[job].rate;
    const bool begun = dls_evq_has(&e->clock.events, DLS_SLOT_FINISH(e, job));
    if (begun && !changed) {
        return DLS_OK;
    }
    if (rate > 0 && e->clock.now_us > e->job[job].rate_from_us) {
        DLS_TRY(dls_job_split(e, job, err));
    }
    const dls_work progress_us =
        rate > 0 ? progressed_before_us(e, job) + work_time(e->job[job].work, rate) : 0;
    const dls_work end_us = e->job[job].progress_from_us + held_for(e, job, progress_us);
    if (rate <= 0 || end_us > INT64_MAX / 4) {
        return dls_fail(err, DLS_ERUN, NULL, "job %d runs at a rate of %lld / 2^20: it would not end",
                        job, (long long)rate);
    }
    DLS_TRY(dls_service_check(e, job, (int64_t)end_us, err));
    e->job[job].rate = rate;
    /* Work may just be done. */
    const int64_t finish_us = end_us > e->clock.now_us ? (int64_t)end_us : e->clock.now_us;
    DLS_TRY(dls_evq_set(&e->clock.events, DLS_SLOT_FINISH(e, job), finish_us, DLS_EV_FINISH, err));
    /* A predicted remaining time does not follow the rate. The new order counts when something happens
     * in the pool: a pass for this alone could go on changing rates for ever, and an instant at which
     * nothing happens must not make a difference. */
    if (changed && e->select.ageing != DLS_AGE_NONE && !e->params->estimates_predicted) {
        return dls_job_rank(e, job, DLS_EVENT_RATE, err);
    }
    return DLS_OK;
}

bool dls_job_observe(const dls_engine *e, int32_t job, int32_t parts, dls_observation *out)
{
    const int64_t executed_us = progressed_us(e, job) - progressed_before_us(e, job);
    if (executed_us <= 0) {
        return false;
    }
    const dls_pace *pace = e->params->pace;
    const dls_shape shape = dls_shape_of_parts(e, parts);
    const double rate = (double)e->job[job].rate / (double)DLS_RATE_ONE;
    const double speed = e->walk.speed ? e->walk.speed[job] : 1;
    *out = (dls_observation){
        .job = job,
        .type = shape.type,
        .gpus = shape.gpus,
        .n_nodes = shape.n_nodes,
        .n_racks = shape.n_racks,
        .batch = dls_view_batch(&e->view, job),
        .executed_us = executed_us,
        .iteration_s = pace && pace->reference_s ? pace->reference_s(pace->world, job) * speed / rate
                                                 : (double)NAN,
        .rate = rate,
    };
    return true;
}

void dls_tell_seen(dls_engine *e, int32_t job, int32_t parts)
{
    const dls_prediction_ops *predictions = e->params->predictions;
    const bool learns = predictions && predictions->seen;
    dls_observation seen;
    if ((!e->params->sched->seen && !learns) || !dls_job_observe(e, job, parts, &seen)) {
        return;
    }
    if (learns) {
        const dls_shape shape = {.type = seen.type, .gpus = seen.gpus, .n_nodes = seen.n_nodes, .n_racks = seen.n_racks};
        predictions->seen(predictions->from, job, &shape, seen.iteration_s, seen.executed_us);
    }
    if (e->params->sched->seen) {
        dls_view_update(e);
        e->params->sched->seen(e->ask.sched_state, &e->view, &seen);
    }
}

dls_status dls_rates_settle(dls_engine *e, dls_error *err)
{
    const dls_pace *pace = e->params->pace;
    const dls_rate_change *change;
    size_t n;
    DLS_TRY(pace->settle(pace->world, &change, &n, err));
    for (size_t i = 0; i < n; i++) {
        const int32_t job = change[i].job;
        if (job < 0 || job >= e->n || !e->jobs.running[job]) {
            return dls_fail(err, DLS_ERUN, NULL, "the world gives a rate to job %d, which does not run",
                            job);
        }
        DLS_TRY(dls_job_set_rate(e, job, dls_scaled_rate(e, job, change[i].rate), err));
    }
    return DLS_OK;
}

void dls_pull_backs_account(dls_engine *e)
{
    const dls_pace *pace = e->params->pace;
    if (!pace || !pace->pull_backs) {
        return;
    }
    const dls_pull_backs now = pace->pull_backs(pace->world);
    const double s = (double)(e->clock.now_us - e->clock.pulled_us) / (double)DLS_US_PER_S;
    e->clock.pulled_us = e->clock.now_us;
    e->rec->pull_backs += now.per_s * s;
    e->rec->pull_back_gpu_s += now.gpus * s;
}
