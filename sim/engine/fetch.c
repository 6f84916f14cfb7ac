/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What will be touched soon. At a million jobs each column of a job is a miss, and so is what it leads to. The
 * queues know who is due next: the columns of a job are fetched some events before its own, what they lead
 * to a few events later, when they have come. The selection knows who is the next to start or to stop.
 * Only what will be touched is asked for: a column that is not in the caches costs a translation of its address
 * besides, and the processor makes few of these at a time.
 *
 * The helpers are inline because gcc drops calls of a function that does nothing but ask the caches.
 */
#include "engine/engine.h"

enum { FEW = 1 << 14 }; /* jobs whose columns a second-level cache holds */

/* What every event of a job touches: where it stands and how it runs. */
static inline void fetch_account(const dls_engine *e, int32_t job)
{
    __builtin_prefetch(&e->job[job]);
    __builtin_prefetch(&e->jobs.state_since_us[job]);
    __builtin_prefetch(&e->jobs.running[job]);
    __builtin_prefetch(&e->rec->state[job]);
}

/* What holding GPUs adds to, and no longer holding them ends. */
static inline void fetch_stop(const dls_engine *e, int32_t job)
{
    __builtin_prefetch(&e->hold.type[job]);
    __builtin_prefetch(&e->rec->executed_us[job]);
    if (e->select.preempts) { /* else no job restores but after a failure */
        __builtin_prefetch(&e->rec->overhead_us[job]);
        __builtin_prefetch(&e->select.piles.at[job]);
    }
}

/* What a new rank is made of, and where it goes. */
static inline void fetch_rank(const dls_engine *e, int32_t job)
{
    const size_t bytes = e->params->sched->job_state_bytes;
    __builtin_prefetch(&e->select.order.member[job]);
    __builtin_prefetch(&e->col->gpus[job]);
    if (!e->select.backfills) {
        __builtin_prefetch(&e->select.piles.at[job]);
    }
    if (bytes > 0) {
        __builtin_prefetch(e->jobs.policy_bytes + (size_t)job * bytes);
    }
}

void dls_fetch_job(void *engine, int32_t job)
{
    const dls_engine *e = engine;
    if (e->n < FEW) {
        return;
    }
    fetch_account(e, job);
    fetch_rank(e, job);
    fetch_stop(e, job);
    __builtin_prefetch(&e->jobs.progress_from_us[job]);
    __builtin_prefetch(&e->rec->start_us[job]);
    __builtin_prefetch(&e->rec->pending_us[job]);
    __builtin_prefetch(&e->rec->resumes[job]);
    __builtin_prefetch(&e->clock.events.due[DLS_SLOT_FINISH(e, job)]);
    if (e->select.preempts) {
        __builtin_prefetch(&e->rec->preempts[job]);
    }
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
    if (e->n < FEW) {
        return;
    }
    const int32_t later = soon(e, q, slots, DLS_EVQ_SOON - 1),
                  then = soon(e, q, slots, DLS_EVQ_SOON / 2 - 1), next = soon(e, q, slots, 0);
    if (later >= 0) {
        fetch_account(e, later);
        if (dls_event_class_of(*dls_evq_soon(q, DLS_EVQ_SOON - 1)) == DLS_EV_FINISH) {
            fetch_stop(e, later);
            __builtin_prefetch(&e->rec->end_us[later]);
        } else {
            fetch_rank(e, later);
        }
    }
    if (then >= 0) {
        if (e->job[then].parts >= 0) {
            __builtin_prefetch(&e->hold.part[e->job[then].parts]);
        }
        dls_select_fetch(&e->select, then);
    }
    const int32_t parts = next >= 0 ? e->job[next].parts : -1;
    if (parts >= 0 && e->hold.part[parts].node >= 0) {
        const dls_held *held = &e->hold.part[parts];
        __builtin_prefetch(&e->index->node[held->node]);
        if (held->next >= 0) {
            __builtin_prefetch(&e->hold.part[held->next]);
        }
    }
}
