/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The work of a job and its accounts.
 *
 *      since            anchor             rated             now
 *        |-- restoring ---|---- old rates ---|-- this rate --|
 *
 * Work is exact: a stretch of one rate is time x rate in fixed point, and a change of rate settles
 * the stretch before it. So asking, or changing a rate to the same one, at any instant changes
 * nothing. The columns of the record are brought up to date when the job stops.
 */
#include "run/engine.h"

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
    if (!e->running[job] || e->now_us <= e->rated_us[job]) {
        return e->work[job];
    }
    const dls_work left = e->work[job] - (dls_work)(e->now_us - e->rated_us[job]) * e->rate[job];
    return left > 0 ? left : 0;
}

int64_t dls_job_remaining_us(const dls_engine *e, int32_t job)
{
    return dls_work_time_us(dls_job_work_left(e, job), e->rate[job]);
}

int64_t dls_job_stalled_us(const dls_engine *e, int32_t job)
{
    return e->running[job] ? e->now_us - e->since_us[job] - progressed_us(e, job) : 0;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static dls_status record_rows(dls_engine *e, int32_t job, int32_t parts, int64_t from, int64_t to,
                              float rate, dls_error *err)
{
    for (int32_t p = parts; p >= 0; p = e->part[p].next) {
        const int32_t gpus = __builtin_popcountll(e->part[p].mask);
        size_t row;
        DLS_TRY(dls_record_alloc_row(e->rec, job, e->part[p].node, from, e->part[p].mask, gpus, rate,
                                     &row, err));
        e->rec->allocs.end_us[row] = to;
        e->rec->allocs.guest[row] = dls_is_guest(e, job);
    }
    return DLS_OK;
}

/* Rows for what is not yet recorded of the stretch of one rate that ends now: restoring, then running. */
static dls_status record_stretch(dls_engine *e, int32_t job, int32_t parts, dls_error *err)
{
    if (!e->rec->want_allocs) {
        return DLS_OK;
    }
    const int64_t from = e->row_us[job], to = e->now_us;
    int64_t middle = e->rated_us[job] > from ? e->rated_us[job] : from;
    middle = middle < to ? middle : to;
    e->row_us[job] = to;
    if (middle > from) {
        DLS_TRY(record_rows(e, job, parts, from, middle, 0, err));
    }
    if (to > middle || to == e->since_us[job]) {
        const float rate = (float)((double)e->rate[job] / (double)DLS_RATE_ONE);
        DLS_TRY(record_rows(e, job, parts, middle, to, rate, err));
    }
    return DLS_OK;
}

dls_status dls_job_account(dls_engine *e, int32_t job, int32_t parts, dls_error *err)
{
    const dls_work left = dls_job_work_left(e, job);
    e->rec->overhead_us[job] += dls_job_stalled_us(e, job);
    e->rec->executed_us[job] = dls_job_executed_us(e, job);
    e->work[job] = left;
    if (dls_is_guest(e, job)) {
        e->rec->guest_us[job] += e->now_us - e->since_us[job];
    }
    return record_stretch(e, job, parts, err);
}

dls_status dls_job_split(dls_engine *e, int32_t job, dls_error *err)
{
    DLS_TRY(record_stretch(e, job, e->held[job], err));
    if (e->now_us > e->rated_us[job]) {
        e->work[job] = dls_job_work_left(e, job);
        e->rated_us[job] = e->now_us;
    }
    return DLS_OK;
}

/* ---- rates ------------------------------------------------------------------------------------- */

dls_status dls_job_set_rate(dls_engine *e, int32_t job, int64_t rate, dls_error *err)
{
    const bool changed = rate != e->rate[job];
    const bool begun = dls_evq_has(&e->events, DLS_SLOT_FINISH(e, job));
    if (begun && !changed) {
        return DLS_OK;
    }
    if (rate <= 0 || dls_job_work_left(e, job) / rate > INT64_MAX / 4) {
        return dls_fail(err, DLS_ERUN, NULL, "job %d runs at a rate of %lld / 2^20: it would not end",
                        job, (long long)rate);
    }
    if (e->now_us > e->rated_us[job]) {
        DLS_TRY(dls_job_split(e, job, err));
    }
    e->rate[job] = rate;
    const int64_t end_us = e->rated_us[job] + dls_work_time_us(e->work[job], rate);
    DLS_TRY(dls_evq_set(&e->events, DLS_SLOT_FINISH(e, job), end_us, DLS_EV_FINISH, err));
    if (changed && e->select.ageing != DLS_AGE_NONE) {
        dls_mark_dirty(e, e->select.cls[e->select.class_of[job]].pool);
        return dls_job_rank(e, job, DLS_EVENT_RATE, err);
    }
    return DLS_OK;
}

dls_status dls_rates_settle(dls_engine *e, dls_error *err)
{
    const dls_pace *pace = e->params->pace;
    const dls_rate_change *change;
    size_t n;
    DLS_TRY(pace->settle(pace->user, &change, &n, err));
    for (size_t i = 0; i < n; i++) {
        const int32_t job = change[i].job;
        if (job < 0 || job >= e->n || !e->running[job]) {
            return dls_fail(err, DLS_ERUN, NULL, "the world gives a rate to job %d, which does not run",
                            job);
        }
        DLS_TRY(dls_job_set_rate(e, job, change[i].rate, err));
    }
    return DLS_OK;
}
