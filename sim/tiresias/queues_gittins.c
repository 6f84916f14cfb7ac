/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order of dlas-gpu-gittins. The original sorts each queue at every event by (index of attained
 * service, submit time), stably. The index is constant between two samples and only running jobs
 * move on, so it is enough to look at running jobs that have crossed a sample.
 *
 * Stability decides among jobs of one queue, index and submit time: their order in the list of the
 * previous event, which is running before waiting, then by the previous index. A job that joins
 * from a better index stood before the running ones it joins, one from a worse index behind them.
 *
 * A job that nobody shares its submit time with has no such history: its rank is a function of what
 * it has attained, and may be brought up to date late. The order inside a queue decides nothing
 * while all jobs of that queue and those above fit into the cluster together; until then the
 * crossings of its jobs lie in the queue's own heap.
 */
#include "tiresias/queues.h"

#define EAGER 3 /* the heap of jobs that share their submit time */

static bool shares_submit_time(const dls_tir *s, int32_t j)
{
    return (j > 0 && s->job[j - 1].submit_s == s->job[j].submit_s) ||
           (j + 1 < s->n && s->job[j + 1].submit_s == s->job[j].submit_s);
}

static dls_evq *heap_of(dls_tir_queues *q, int32_t j)
{
    return &q->crossings[shares_submit_time(q->s, j) ? EAGER : q->queue[j]];
}

void dls_tir_queues_unwatch(dls_tir_queues *q, int32_t j)
{
    dls_evq_cancel(heap_of(q, j), (uint32_t)j);
}

dls_status dls_tir_queues_watch(dls_tir_queues *q, int32_t j, dls_error *err)
{
    const dls_tir *s = q->s;
    const dls_tir_job *job = &s->job[j];
    const int64_t origin_s = job->anchor_s - job->executed_s;
    const int64_t attained = (s->now_s - origin_s) * job->gpus;
    int32_t i = q->passed[j];
    while (i < q->s->samples.n && q->s->samples.value[i] <= attained) {
        i++;
    }
    q->passed[j] = i;
    if (i == q->s->samples.n) {
        dls_tir_queues_unwatch(q, j);
        return DLS_OK;
    }
    const int64_t due_s = origin_s + (q->s->samples.value[i] + job->gpus - 1) / job->gpus;
    return dls_evq_set(heap_of(q, j), (uint32_t)j, due_s, DLS_EV_TICK, err);
}

/* Advance the jobs of a heap that have crossed; joins gets those whose standing is another now. */
static dls_status collect(dls_tir_queues *q, const dls_evq *heap, dls_error *err)
{
    while (!dls_evq_empty(heap) && dls_evq_top(heap).time_us <= q->s->now_s) {
        const int32_t j = (int32_t)dls_event_slot(dls_evq_top(heap));
        DLS_TRY(dls_tir_queues_watch(q, j, err));
        if (q->standing[j] != q->s->samples.order[q->passed[j]]) {
            q->joins[q->n_joins++] = j;
        }
    }
    return DLS_OK;
}

/* Ties of jobs that join others, from the places they had. */
static void join_in_order(dls_tir_queues *q)
{
    const int32_t *order = q->s->samples.order;
    dls_tir_select_sort(&q->sel, q->joins, q->n_joins);
    for (int32_t i = q->n_joins - 1; i >= 0; i--) {
        const int32_t j = q->joins[i];
        if (q->standing[j] < order[q->passed[j]]) {
            q->tie[j] = q->run_front-- - DLS_TIR_WAIT_TIE;
        }
    }
    for (int32_t i = 0; i < q->n_joins; i++) {
        const int32_t j = q->joins[i];
        if (q->standing[j] > order[q->passed[j]]) {
            q->tie[j] = q->run_back++ - DLS_TIR_WAIT_TIE;
        }
    }
}

dls_status dls_tir_queues_cross(dls_tir_queues *q, bool *changed, dls_error *err)
{
    int64_t asked_gpus = 0;
    q->n_joins = 0;
    DLS_TRY(collect(q, &q->crossings[EAGER], err));
    join_in_order(q);
    for (int32_t level = 0; level <= q->n_limits; level++) {
        asked_gpus += q->queue_gpus[level];
        if (asked_gpus > q->s->total_gpus) {
            DLS_TRY(collect(q, &q->crossings[level], err));
        }
    }
    for (int32_t i = 0; i < q->n_joins; i++) {
        const int32_t j = q->joins[i];
        q->standing[j] = q->s->samples.order[q->passed[j]];
        dls_tir_select_rerank(&q->sel, q->s, j, dls_tir_queues_rank(q, j));
    }
    *changed = q->n_joins > 0;
    return DLS_OK;
}
