/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/synth_queue.h"

#include "base/alloc.h"

#include <string.h>

/* Binary heaps of (key, job), smallest first, ties to the lower job. */
typedef struct entry {
    int64_t key;
    uint32_t job;
} entry;

typedef struct heap {
    entry *at;
    size_t n;
} heap;

static bool before(const entry *a, const entry *b)
{
    return a->key != b->key ? a->key < b->key : a->job < b->job;
}

static void push(heap *h, entry e)
{
    size_t i = h->n++;
    while (i > 0 && before(&e, &h->at[(i - 1) / 2])) {
        h->at[i] = h->at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h->at[i] = e;
}

static entry pop(heap *h)
{
    const entry top = h->at[0], last = h->at[--h->n];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
        child += child + 1 < h->n && before(&h->at[child + 1], &h->at[child]);
        if (!before(&h->at[child], &last)) {
            break;
        }
        h->at[i] = h->at[child];
    }
    h->at[i] = last;
    return top;
}

/* One queue per distinct GPU count, ascending, each with room for all jobs of its count. */
typedef struct replay {
    const dls_queue_jobs *jobs;
    dls_queue_order order;
    int64_t free_gpus, waiting;
    int32_t *gpus;     /* [n_queues] */
    heap *queue;       /* [n_queues] */
    int32_t *queue_of; /* [largest count + 1] */
    int n_queues;
    entry *storage; /* [n] shared by the queues */
    heap running;   /* by end */
} replay;

static dls_status replay_init(replay *r, dls_error *err)
{
    const dls_queue_jobs *jobs = r->jobs;
    int32_t largest = 0;
    for (size_t j = 0; j < jobs->n; j++) {
        largest = jobs->gpus[j] > largest ? jobs->gpus[j] : largest;
    }
    const size_t counts = (size_t)largest + 1;
    r->queue_of = dls_alloc_zero(counts, sizeof *r->queue_of);
    r->storage = dls_alloc(jobs->n * sizeof *r->storage);
    r->running.at = dls_alloc(jobs->n * sizeof *r->running.at);
    if (!r->queue_of || !r->storage || !r->running.at) {
        return dls_nomem(err, "queue replay", jobs->n * sizeof *r->storage);
    }
    for (size_t j = 0; j < jobs->n; j++) {
        r->queue_of[jobs->gpus[j]]++;
    }
    for (size_t g = 0; g < counts; g++) {
        r->n_queues += r->queue_of[g] > 0;
    }
    r->gpus = dls_alloc_zero((size_t)r->n_queues, sizeof *r->gpus);
    r->queue = dls_alloc_zero((size_t)r->n_queues, sizeof *r->queue);
    if (!r->gpus || !r->queue) {
        return dls_nomem(err, "queue replay", (size_t)r->n_queues * sizeof *r->queue);
    }
    size_t used = 0;
    for (size_t g = 0, q = 0; g < counts; g++) {
        const size_t room = (size_t)r->queue_of[g];
        if (room > 0) {
            r->gpus[q] = (int32_t)g;
            r->queue[q].at = r->storage + used;
            used += room;
            r->queue_of[g] = (int32_t)q++;
        }
    }
    return DLS_OK;
}

static void replay_fini(replay *r)
{
    dls_free(r->queue_of);
    dls_free(r->storage);
    dls_free(r->running.at);
    dls_free(r->gpus);
    dls_free(r->queue);
}

static void arrive(replay *r, uint32_t job)
{
    const int32_t gpus = r->jobs->gpus[job];
    const int64_t key =
        r->order == DLS_QUEUE_OLDEST ? (int64_t)job : gpus * r->jobs->duration_us[job];
    push(&r->queue[r->queue_of[gpus]], (entry){key, job});
    r->waiting++;
}

static void start_what_fits(replay *r, int64_t now_us)
{
    for (;;) {
        heap *best = NULL;
        for (int q = 0; q < r->n_queues && r->gpus[q] <= r->free_gpus; q++) {
            heap *h = &r->queue[q];
            if (h->n > 0 && (!best || before(&h->at[0], &best->at[0]))) {
                best = h;
            }
        }
        if (!best) {
            return;
        }
        const uint32_t job = pop(best).job;
        r->free_gpus -= r->jobs->gpus[job];
        r->waiting--;
        push(&r->running, (entry){now_us + r->jobs->duration_us[job], job});
    }
}

static void run(replay *r, int64_t waiting_jobs, dls_synth_queueing *out)
{
    const dls_queue_jobs *jobs = r->jobs;
    const int64_t first_us = jobs->submit_us[0], last_us = jobs->submit_us[jobs->n - 1];
    int64_t now_us = first_us, over_us = 0, over_span_us = 0;
    size_t next = 0;
    while (next < jobs->n || r->running.n > 0) {
        int64_t then_us = r->running.n > 0 ? r->running.at[0].key : INT64_MAX;
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
        while (r->running.n > 0 && r->running.at[0].key <= now_us) {
            r->free_gpus += jobs->gpus[pop(&r->running).job];
        }
        while (next < jobs->n && jobs->submit_us[next] <= now_us) {
            arrive(r, (uint32_t)next++);
        }
        start_what_fits(r, now_us);
        out->peak_jobs = r->waiting > out->peak_jobs ? r->waiting : out->peak_jobs;
    }
    out->makespan_s = (now_us - first_us) / DLS_US_PER_S;
    out->time_frac = now_us > first_us ? (double)over_us / (double)(now_us - first_us) : 0;
    out->span_frac = last_us > first_us ? (double)over_span_us / (double)(last_us - first_us) : 0;
}

dls_status dls_queue_replay(const dls_queue_jobs *jobs, int64_t cluster_gpus, dls_queue_order order,
                            int64_t waiting_jobs, dls_synth_queueing *out, dls_error *err)
{
    memset(out, 0, sizeof *out);
    if (jobs->n == 0) {
        return DLS_OK;
    }
    replay r = {.jobs = jobs, .order = order, .free_gpus = cluster_gpus};
    const dls_status status = replay_init(&r, err);
    if (status == DLS_OK) {
        run(&r, waiting_jobs, out);
    }
    replay_fini(&r);
    return status;
}
