/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replays jobs that only count GPUs, with one queue for each GPU count, to measure how many wait.
 */
#include "traces/synth_queue.h"

#include "base/evq.h"
#include "base/own.h"

#include <string.h>

/* The jobs of one GPU count that wait: events at their keys, ties to the lower job. */
typedef struct queue {
    int32_t gpus;
    dls_evq waiting;
    uint32_t *job; /* [n] by slot, as they arrived */
    size_t n;
} queue;

typedef struct replay {
    const dls_queue_jobs *jobs;
    dls_queue_order order;
    int64_t free_gpus, waiting;
    queue *queue;      /* [n_queues] ascending by GPUs */
    int32_t *queue_of; /* [largest count + 1] */
    int n_queues;
    uint32_t *storage; /* [n] shared by the queues */
    dls_evq running;   /* by end; slots are jobs */
} replay;

static dls_status replay_init(replay *r, dls_error *err)
{
    const dls_queue_jobs *jobs = r->jobs;
    int32_t largest = 0;
    for (size_t j = 0; j < jobs->n; j++) {
        largest = jobs->gpus[j] > largest ? jobs->gpus[j] : largest;
    }
    const size_t counts = (size_t)largest + 1;
    DLS_TRY(dls_alloc_array(&r->queue_of, counts, sizeof *r->queue_of, "queue replay", err));
    DLS_TRY(dls_alloc_array(&r->storage, jobs->n, sizeof *r->storage, "queue replay", err));
    for (size_t j = 0; j < jobs->n; j++) {
        r->n_queues += r->queue_of[jobs->gpus[j]]++ == 0;
    }
    DLS_TRY(dls_alloc_array(&r->queue, (size_t)r->n_queues, sizeof *r->queue, "queue replay", err));
    uint32_t *job = r->storage;
    for (size_t g = 0, q = 0; g < counts; g++) {
        const size_t room = (size_t)r->queue_of[g];
        if (room > 0) {
            r->queue[q].gpus = (int32_t)g;
            r->queue[q].job = job;
            job += room;
            r->queue_of[g] = (int32_t)q;
            DLS_TRY(dls_evq_init(&r->queue[q++].waiting, room, err));
        }
    }
    return dls_evq_init(&r->running, jobs->n, err);
}

static void replay_fini(replay *r)
{
    for (int q = 0; r->queue && q < r->n_queues; q++) {
        dls_evq_fini(&r->queue[q].waiting);
    }
    dls_evq_fini(&r->running);
    DLS_FREE_ALL(r->queue_of, r->storage, r->queue);
}

static dls_status arrive(replay *r, uint32_t job, dls_error *err)
{
    const int32_t gpus = r->jobs->gpus[job];
    queue *q = &r->queue[r->queue_of[gpus]];
    const int64_t key =
        r->order == DLS_QUEUE_OLDEST ? (int64_t)job : gpus * r->jobs->duration_us[job];
    q->job[q->n] = job;
    r->waiting++;
    return dls_evq_set(&q->waiting, (uint32_t)q->n++, key, DLS_EV_FINISH, err);
}

static uint32_t first_of(const queue *q)
{
    return q->job[dls_event_slot(dls_evq_top(&q->waiting))];
}

static bool queue_before(const queue *a, const queue *b)
{
    const int64_t x = dls_evq_top(&a->waiting).time_us, y = dls_evq_top(&b->waiting).time_us;
    return x != y ? x < y : first_of(a) < first_of(b);
}

static dls_status start_what_fits(replay *r, int64_t now_us, dls_error *err)
{
    for (;;) {
        queue *best = NULL;
        for (int i = 0; i < r->n_queues && r->queue[i].gpus <= r->free_gpus; i++) {
            queue *q = &r->queue[i];
            if (!dls_evq_empty(&q->waiting) && (!best || queue_before(q, best))) {
                best = q;
            }
        }
        if (!best) {
            return DLS_OK;
        }
        const uint32_t job = first_of(best);
        dls_evq_pop(&best->waiting);
        r->free_gpus -= best->gpus;
        r->waiting--;
        DLS_TRY(
            dls_evq_set(&r->running, job, now_us + r->jobs->duration_us[job], DLS_EV_FINISH, err));
    }
}

static dls_status replay_jobs(replay *r, int64_t waiting_jobs, dls_synth_queueing *out,
                              dls_error *err)
{
    const dls_queue_jobs *jobs = r->jobs;
    const int64_t first_us = jobs->submit_us[0], last_us = jobs->submit_us[jobs->n - 1];
    int64_t now_us = first_us, over_us = 0, over_span_us = 0;
    size_t next = 0;
    while (next < jobs->n || !dls_evq_empty(&r->running)) {
        int64_t then_us = dls_evq_empty(&r->running) ? INT64_MAX : dls_evq_top(&r->running).time_us;
        if (next < jobs->n && jobs->submit_us[next] < then_us) {
            then_us = jobs->submit_us[next];
        }
        if (r->waiting >= waiting_jobs) {
            over_us += then_us - now_us;
            if (now_us < last_us) {
                over_span_us += (then_us < last_us ? then_us : last_us) - now_us;
            }
        }
        now_us = then_us;
        while (!dls_evq_empty(&r->running) && dls_evq_top(&r->running).time_us <= now_us) {
            r->free_gpus += jobs->gpus[dls_event_slot(dls_evq_pop(&r->running))];
        }
        while (next < jobs->n && jobs->submit_us[next] <= now_us) {
            DLS_TRY(arrive(r, (uint32_t)next++, err));
        }
        DLS_TRY(start_what_fits(r, now_us, err));
        out->peak_jobs = r->waiting > out->peak_jobs ? r->waiting : out->peak_jobs;
    }
    out->makespan_s = (now_us - first_us) / DLS_US_PER_S;
    out->time_frac = now_us > first_us ? (double)over_us / (double)(now_us - first_us) : 0;
    out->span_frac = last_us > first_us ? (double)over_span_us / (double)(last_us - first_us) : 0;
    return DLS_OK;
}

dls_status dls_queue_replay(const dls_queue_jobs *jobs, int64_t cluster_gpus, dls_queue_order order,
                            int64_t waiting_jobs, dls_synth_queueing *out, dls_error *err)
{
    memset(out, 0, sizeof *out);
    if (jobs->n == 0) {
        return DLS_OK;
    }
    DLS_OWN(replay_fini) replay r = {.jobs = jobs, .order = order, .free_gpus = cluster_gpus};
    DLS_TRY(replay_init(&r, err));
    return replay_jobs(&r, waiting_jobs, out, err);
}
