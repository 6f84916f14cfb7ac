/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every invariant of a run, recounted from scratch: for tests and --set run.audit=true. O(jobs +
 * nodes) per call.
 *
 * The work of every job is counted a second time, step by step from one call to the next, where the
 * engine only settles it when something happens to the job.
 */
#include "engine/engine.h"

void dls_audit_init(dls_engine *e)
{
    for (int32_t j = 0; e->audit.job && j < e->n; j++) {
        e->audit.job[j].left = e->job[j].work;
    }
}

/* Work: what was left at the last call, less what was done at the rate of then. */
static dls_status audit_work(dls_engine *e, dls_error *err)
{
    for (int32_t j = 0; j < e->n; j++) {
        dls_audited *a = &e->audit.job[j];
        const int64_t from = a->progress_from_us > e->audit.now_us ? a->progress_from_us : e->audit.now_us;
        if (a->running && e->clock.now_us > from) {
            const int64_t done_us =
                dls_job_progress_in(e, j, e->clock.now_us - a->progress_from_us) -
                dls_job_progress_in(e, j, from - a->progress_from_us);
            a->left -= (dls_work)done_us * a->rate;
        }
        /* What a failure or a preemption has undone since: never more than was done. */
        const int32_t undone = e->params->preempt_loses ? e->rec->preempts[j]
                               : e->rec->failures       ? e->rec->failures[j]
                                                        : 0;
        if (a->undone != undone) {
            if (dls_job_work_left(e, j) < a->left || dls_job_work_left(e, j) > a->saved) {
                return dls_fail(err, DLS_ERUN, NULL, "job %d lost work that it had not done", j);
            }
            a->left = dls_job_work_left(e, j);
            a->undone = undone;
        }
        const bool finished = e->rec->state[j] == DLS_JOB_FINISHED;
        /* A finish is at the first whole microsecond at which no work is left. */
        const bool good = finished ? a->left <= 0 && a->left > -(dls_work)a->rate - (a->rate == 0)
                                   : a->left >= 0 && a->left == dls_job_work_left(e, j);
        if (!good) {
            return dls_fail(err, DLS_ERUN, NULL, "job %d lost or gained work", j);
        }
        a->left = finished ? 0 : a->left;
        a->running = e->jobs.running[j] != 0;
        a->rate = e->job[j].rate;
        a->progress_from_us = e->job[j].progress_from_us;
        a->saved = finished ? 0 : e->jobs.saved ? (a->running ? dls_job_saved(e, j) : a->left) : 0;
    }
    e->audit.now_us = e->clock.now_us;
    return DLS_OK;
}

/* No job is faster than it would be alone. */
static dls_status audit_rate(dls_engine *e, int32_t job, dls_error *err)
{
    const dls_pace *pace = e->params->pace;
    if (!pace || !pace->alone) {
        return DLS_OK;
    }
    const int64_t rate = dls_scaled_rate(e, job, pace->alone(pace->world, job));
    if (e->job[job].rate > rate + (rate >> 30) + 1) {
        return dls_fail(err, DLS_ERUN, NULL, "job %d runs at a rate of %lld / 2^20, alone at %lld",
                        job, (long long)e->job[job].rate, (long long)rate);
    }
    return DLS_OK;
}

/* A guest holds exactly what its host holds, and is the only one. */
static dls_status audit_guest(dls_engine *e, int32_t guest, dls_error *err)
{
    const int32_t host = e->guests.job[guest].host;
    int32_t found_guest = host != DLS_NONE ? e->guests.job[host].guest : DLS_NONE;
    while (found_guest != DLS_NONE && found_guest != guest) {
        found_guest = e->guests.job[found_guest].next;
    }
    bool same = found_guest == guest && e->jobs.running[host] && !dls_is_guest(e, host) &&
                e->hold.type[host] == e->hold.type[guest];
    for (int32_t p = e->job[guest].parts; p >= 0 && same; p = e->hold.part[p].next) {
        bool found = false;
        for (int32_t q = e->job[host].parts; q >= 0; q = e->hold.part[q].next) {
            found = found || (e->hold.part[q].node == e->hold.part[p].node &&
                              e->hold.part[q].mask == e->hold.part[p].mask);
        }
        same = found;
    }
    return same ? DLS_OK
                : dls_fail(err, DLS_ERUN, NULL, "job %d is marked as a guest but has no host with its GPUs", guest);
}

static dls_status audit_jobs(dls_engine *e, int64_t *held_gpus, dls_error *err)
{
    for (int32_t j = 0; j < e->n; j++) {
        const dls_record *r = e->rec;
        const bool running = r->state[j] == DLS_JOB_RUNNING;
        int32_t gpus = 0;
        for (int32_t p = e->job[j].parts; p >= 0; p = e->hold.part[p].next) {
            gpus += __builtin_popcountll(e->hold.part[p].mask);
        }
        const bool guest = dls_is_guest(e, j);
        if (running != (e->jobs.running[j] != 0) || gpus != (running ? e->select.size[j] : 0) ||
            (running && e->job[j].type != (guest ? -1 : e->hold.type[j])) ||
            (guest && !running)) {
            return dls_fail(err, DLS_ERUN, NULL, "job %d holds %d GPUs in state %d", j, gpus,
                            r->state[j]);
        }
        if (guest) {
            DLS_TRY(audit_guest(e, j, err)); /* they are the host's */
        }
        if (running != dls_evq_has(&e->clock.events, DLS_SLOT_FINISH(e, j))) {
            return dls_fail(err, DLS_ERUN, NULL, "job %d: finish event and state differ", j);
        }
        if (r->state[j] == DLS_JOB_FINISHED &&
            ((!e->params->pace && !e->walk.speed &&
              r->executed_us[j] != e->jobs.duration_us[j] + (r->lost_us ? r->lost_us[j] : 0)) ||
             r->end_us[j] - e->col->submit_us[j] !=
                 r->pending_us[j] + r->executed_us[j] + r->overhead_us[j])) {
            return dls_fail(err, DLS_ERUN, NULL, "job %d finished with wrong accounts", j);
        }
        if (running) {
            DLS_TRY(audit_rate(e, j, err));
        }
        *held_gpus += guest     ? 0
                      : running ? dls_select_weight(&e->select, dls_class_of(e, j), j)
                                : 0;
    }
    return DLS_OK;
}

/* No job holds a GPU that has failed. */
static dls_status audit_failed(dls_engine *e, int64_t *failed, dls_error *err)
{
    *failed = dls_drains_kept(e);
    for (int32_t k = 0; e->failures.on && k < e->index->n_nodes; k++) {
        const uint64_t mask = e->failures.withheld[k];
        *failed += __builtin_popcountll(mask);
        for (int32_t p = e->failures.on_node[k]; p != DLS_NONE; p = e->failures.link[p].next) {
            if (e->hold.part[p].mask & mask || e->hold.part[p].node != k) {
                return dls_fail(err, DLS_ERUN, NULL, "job %d holds GPUs of node %d that have failed",
                                e->failures.link[p].job, k);
            }
        }
    }
    return DLS_OK;
}

/* No pool holds more than its share. Where jobs are never preempted, one whose share has shrunk keeps what it has, and
 * gets no more. */
static dls_status audit_pools(dls_engine *e, int64_t *used_gpus, dls_error *err)
{
    for (int32_t k = 0; k < e->select.n_pools; k++) {
        const dls_pool *pool = &e->select.pool[k];
        for (int32_t t = 0; t < e->select.n_types; t++) {
            int64_t *before = &e->audit.used[k * e->select.n_types + t];
            const int64_t used = pool->used[t];
            if (used > pool->cap[t] && (e->select.preempts || used > *before)) {
                return dls_fail(err, DLS_ERUN, NULL, "pool %d holds more than its share", k);
            }
            *before = used;
            *used_gpus += used;
        }
    }
    return DLS_OK;
}

dls_status dls_engine_audit(dls_engine *e, dls_error *err)
{
    int64_t held = 0, used = 0, failed;
    DLS_TRY(dls_place_index_check(e->index, err));
    DLS_TRY(dls_select_check(&e->select, err));
    DLS_TRY(audit_jobs(e, &held, err));
    DLS_TRY(audit_work(e, err));
    DLS_TRY(audit_pools(e, &used, err));
    DLS_TRY(audit_failed(e, &failed, err));
    const dls_gpu_parts *parts = e->index->parts;
    const int64_t whole = e->index->total_gpus - e->index->free_gpus - failed -
                          (parts ? parts->gpus : 0),
                  taken = whole * e->select.unit +
                          (parts ? parts->taken_milli - e->serving.part_milli : 0);
    if (held != used || held != taken) {
        return dls_fail(err, DLS_ERUN, NULL, "GPUs held, selected and taken differ: %lld %lld %lld",
                        (long long)held, (long long)used, (long long)taken);
    }
    return DLS_OK;
}
