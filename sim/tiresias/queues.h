/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The dlas family: queues by attained service, lists inside a queue.
 *
 * After each event a queue is (running part)(waiting part); what arrives or moves at an event
 * stands behind both until the event's selection:
 *
 *      rank:  level = queue (and Gittins standing), key = submit time (Gittins), tie:
 *
 *      [ r1 r2 r3 ][ w1 w2 w3 w4 ][ arrived, demoted, promoted ]
 *        run ties     wait ties ---------------------------->
 *
 * started jobs, and demoted ones that run on, append to the running part in order of rank;
 * suspended ones go to the front of the waiting part. Both parts therefore grow at both ends: ties
 * are double-ended counters, the waiting part's shifted far above the running part's.
 *
 * A running job's executed time at t is t - origin with a constant origin, so within one (queue,
 * GPU count) class the job with the least origin is the first to be demoted and the one that the
 * next jump aims at.
 */
#ifndef DLS_TIRESIAS_QUEUES_H
#define DLS_TIRESIAS_QUEUES_H

#include "tiresias/select.h"

#define DLS_TIR_WAIT_TIE (INT64_C(1) << 61)

typedef struct dls_tir_queues {
    dls_tir *s;
    dls_tir_select sel;
    int64_t limit_s[2]; /* attained service that ends queue 0 and queue 1 */
    int32_t n_limits;   /* queues - 1 */
    bool by_gpu;        /* attained service is GPU time */
    bool per_size;      /* multi-dlas-gpu */

    uint8_t *queue;        /* [n] */
    bool *listed;          /* [n] scratch of the repartition */
    int64_t *tie;          /* [n] */
    int32_t *standing;     /* [n] Gittins standing, else 0 */
    int32_t *passed;       /* [n] samples that the job's attained service has passed (Gittins) */
    int64_t queue_gpus[3]; /* asked for by the jobs of each queue, running or not */
    int64_t run_front, run_back, wait_front, wait_back; /* the next ties at each end */

    dls_evq promotions;      /* waiting jobs that will have starved */
    dls_evq crossings[4];    /* Gittins: running jobs that will cross a sample, see there */
    dls_order origins;       /* running jobs that can be demoted, by origin */
    dls_order_set *class_of; /* [n_limits * n_sizes] */
    int64_t *first_origin_s; /* [n_limits * n_sizes] least origin of a class, NEVER if empty */
    int64_t *stay_s;         /* [n_limits * n_sizes] running time that ends the stay in a queue */

    int32_t *ending; /* [n] the list that waits in the next arrival event */
    int32_t n_ending;
    int32_t *overdue; /* [n] starved already when suspended: promoted at the next event */
    int32_t n_overdue;
    int32_t *moves, *joins; /* [n] scratch */
    int32_t n_moves, n_joins;
    int64_t jump_s, tick_s;
} dls_tir_queues;

static inline dls_rank dls_tir_queues_rank(const dls_tir_queues *q, int32_t j)
{
    return (dls_rank){.level = q->queue[j] * (q->s->samples.n + 2) + q->standing[j],
                      .key = q->s->samples.order ? q->s->job[j].submit_s : 0,
                      .tie = q->tie[j]};
}

/* Gittins: follow the samples that running jobs have crossed, as far as it can matter now; true if
 * the order changed. */
dls_status dls_tir_queues_cross(dls_tir_queues *q, bool *changed, dls_error *err) DLS_MUST_CHECK;
/* Advance `passed` of a running job to now and set its next crossing. Amortised O(1) per sample. */
dls_status dls_tir_queues_watch(dls_tir_queues *q, int32_t j, dls_error *err) DLS_MUST_CHECK;
/* It is not running any more, or about to change its queue. */
void dls_tir_queues_unwatch(dls_tir_queues *q, int32_t j);

/* multi-dlas-gpu: reserve GPUs for each job size by its demand. */
void dls_tir_queues_share(dls_tir_queues *q);

#endif
