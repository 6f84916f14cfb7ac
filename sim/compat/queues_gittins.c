/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The order of dlas-gpu-gittins. The original sorts each queue at every event by (index of attained
 * service, submit time), stably. The index is constant between two samples and only running jobs
 * move on, so it is enough to look at running jobs that have crossed a sample.
 *
 * Stability decides among jobs of one queue, index and submit time: their order in the list of the
 * previous event, which is running before waiting, then by the previous index. A job that joins
 * from a better index stood before the running ones it joins, one from a worse index behind them.
 */
#include "compat/queues.h"

dls_status dls_tir_queues_watch(dls_tir_queues *q, int32_t j, dls_error *err)
{
    const dls_tir *s = q->s;
    const dls_tir_job *job = &s->job[j];
    const int64_t origin_s = job->anchor_s - job->executed_s;
    const int64_t attained = (s->now_s - origin_s) * job->gpus;
    int32_t i = q->passed[j];
    while (i < q->samples.n && q->samples.value[i] <= attained) {
        i++;
    }
    q->passed[j] = i;
    if (i == q->samples.n) {
        dls_evq_cancel(&q->crossings, (uint32_t)j);
        return DLS_OK;
    }
    const int64_t due_s = origin_s + (q->samples.value[i] + job->gpus - 1) / job->gpus;
    return dls_evq_set(&q->crossings, (uint32_t)j, due_s, DLS_EV_TICK, err);
}

dls_status dls_tir_queues_cross(dls_tir_queues *q, bool *changed, dls_error *err)
{
    dls_tir *s = q->s;
    const int32_t *order = q->samples.order;
    q->n_joins = 0;
    while (!dls_evq_empty(&q->crossings) && dls_evq_top(&q->crossings).time_us <= s->now_s) {
        const int32_t j = (int32_t)dls_event_slot(dls_evq_top(&q->crossings));
        DLS_TRY(dls_tir_queues_watch(q, j, err));
        if (q->moved[j]) {
            q->standing[j] = order[q->passed[j]]; /* goes to a tail anyway */
        } else if (q->standing[j] != order[q->passed[j]]) {
            q->joins[q->n_joins++] = j;
        }
    }
    dls_tir_queues_sort(q, q->joins, q->n_joins);
    for (int32_t i = q->n_joins - 1; i >= 0; i--) {
        const int32_t j = q->joins[i];
        if (q->standing[j] < order[q->passed[j]]) {
            q->tie[j] = q->run_front-- - DLS_TIR_WAIT_TIE;
        }
    }
    for (int32_t i = 0; i < q->n_joins; i++) {
        const int32_t j = q->joins[i], standing = order[q->passed[j]];
        if (q->standing[j] > standing) {
            q->tie[j] = q->run_back++ - DLS_TIR_WAIT_TIE;
        }
        q->standing[j] = standing;
        dls_tir_select_rerank(&q->sel, s, j, dls_tir_queues_rank(q, j));
    }
    *changed = q->n_joins > 0;
    return DLS_OK;
}
