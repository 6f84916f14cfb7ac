/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What will be touched soon. At a million jobs each column of a job is a miss, and so is what it leads to. The
 * queues know who is due next: the columns of a job are fetched some events before its own, what they lead
 * to a few events later, when they have come. The selection knows who is the next to start or to stop.
 */
#include "engine/engine.h"

static void fetch_columns(const dls_engine *e, int32_t job)
{
    const void *const at[] = {&e->job[job],
                              &e->select.order.member[job],
                              (const char *)(&e->select.order.member[job] + 1) - 1,
                              &e->hold.type[job],
                              &e->jobs.progress_from_us[job],
                              &e->jobs.state_since_us[job],
                              &e->jobs.running[job],
                              &e->rec->state[job],
                              &e->rec->executed_us[job],
                              &e->rec->overhead_us[job],
                              &e->rec->end_us[job],
                              &e->rec->promotes[job],
                              &e->view.duration_us[job],
                              &e->col->gpus[job],
                              e->jobs.policy_bytes + (size_t)job * e->params->sched->job_state_bytes};
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        __builtin_prefetch(at[i]);
    }
    if (!e->select.backfills) {
        __builtin_prefetch(&e->select.piles.at[job]);
    }
}

void dls_fetch_job(void *engine, int32_t job)
{
    const dls_engine *e = engine;
    fetch_columns(e, job);
    __builtin_prefetch(&e->rec->start_us[job]);
    __builtin_prefetch(&e->rec->pending_us[job]);
    __builtin_prefetch(&e->rec->preempts[job]);
    __builtin_prefetch(&e->rec->resumes[job]);
    __builtin_prefetch(&e->clock.events.due[DLS_SLOT_FINISH(e, job)]);
}

/* The job of the event that comes after k others, if it is one of a job; -1. */
static int32_t soon(const dls_engine *e, const dls_evq *q, uint32_t slots, size_t k)
{
    const dls_event *next = dls_evq_soon(q, k);
    const uint32_t job = next ? dls_event_slot(*next) / slots : UINT32_MAX;
    return job < (uint32_t)e->n ? (int32_t)job : -1;
}

void dls_fetch_soon(dls_engine *e, const dls_evq *q, uint32_t slots)
{
    const int32_t later = soon(e, q, slots, DLS_EVQ_SOON - 1),
                  then = soon(e, q, slots, DLS_EVQ_SOON / 2 - 1), next = soon(e, q, slots, 0);
    if (later >= 0) {
        fetch_columns(e, later);
    }
    if (then >= 0) {
        if (e->job[then].parts >= 0) {
            __builtin_prefetch(&e->hold.part[e->job[then].parts]);
        }
        dls_select_fetch(&e->select, then);
    }
    const int32_t parts = next >= 0 ? e->job[next].parts : -1;
    if (parts >= 0 && e->hold.part[parts].node >= 0) {
        __builtin_prefetch(&e->index->node[e->hold.part[parts].node]);
    }
}
