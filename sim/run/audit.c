/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every invariant of a run, recounted from scratch: for tests and --set run.audit=true. O(jobs +
 * nodes) per call.
 */
#include "run/engine.h"

static dls_status audit_jobs(dls_engine *e, int64_t *held_gpus, dls_error *err)
{
    for (int32_t j = 0; j < e->n; j++) {
        const dls_record *r = e->rec;
        const bool running = r->state[j] == DLS_JOB_RUNNING;
        int32_t gpus = 0;
        for (int32_t p = e->held[j]; p >= 0; p = e->part[p].next) {
            gpus += __builtin_popcountll(e->part[p].mask);
        }
        if (running != (e->running[j] != 0) || gpus != (running ? e->col->gpus[j] : 0) ||
            (running && e->select.type[j] != e->held_type[j])) {
            return dls_fail(err, DLS_ERUN, NULL, "job %d holds %d GPUs in state %d", j, gpus,
                            r->state[j]);
        }
        if (running != dls_evq_has(&e->events, DLS_SLOT_FINISH(e, j))) {
            return dls_fail(err, DLS_ERUN, NULL, "job %d: finish event and state differ", j);
        }
        /* Conservation of work and of time, rates being 1 (sim/perf/trace.c). */
        const int64_t done = dls_job_executed_us(e, j);
        if (r->state[j] == DLS_JOB_FINISHED &&
            (r->executed_us[j] != e->col->duration_us[j] ||
             r->end_us[j] - e->col->submit_us[j] !=
                 r->pending_us[j] + r->executed_us[j] + r->overhead_us[j])) {
            return dls_fail(err, DLS_ERUN, NULL, "job %d finished with wrong accounts", j);
        }
        if (running && done + dls_work_to_us(dls_job_work_left(e, j)) != e->col->duration_us[j]) {
            return dls_fail(err, DLS_ERUN, NULL, "job %d lost or gained work", j);
        }
        *held_gpus += gpus;
    }
    return DLS_OK;
}

dls_status dls_engine_audit(dls_engine *e, dls_error *err)
{
    int64_t held = 0, used = 0;
    DLS_TRY(dls_place_index_check(e->index, err));
    DLS_TRY(audit_jobs(e, &held, err));
    for (int32_t k = 0; k < e->select.n_pools; k++) {
        const dls_pool *pool = &e->select.pool[k];
        for (int32_t t = 0; t < e->select.n_types; t++) {
            used += pool->used[t];
            if (pool->used[t] > pool->cap[t]) {
                return dls_fail(err, DLS_ERUN, NULL, "pool %d holds more than its share", k);
            }
        }
    }
    if (held != used || held != e->index->total_gpus - e->index->free_gpus) {
        return dls_fail(err, DLS_ERUN, NULL, "GPUs held, selected and taken differ: %lld %lld %lld",
                        (long long)held, (long long)used,
                        (long long)(e->index->total_gpus - e->index->free_gpus));
    }
    return DLS_OK;
}
