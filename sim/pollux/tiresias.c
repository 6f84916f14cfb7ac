/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tiresias as the simulator of Pollux has it: two queues of gangs, no promotion. A job that is
 * demoted stands behind all others from then on; what does not fit is passed over.
 */
#include "base/alloc.h"
#include "pollux/core.h"

#include <string.h>

#define THRESHOLD_GPU_S 57600

typedef struct seen {
    bool known, running, demoted;
    int64_t executed_s, checked_s;
} seen;

typedef struct tiresias {
    seen *job;       /* [jobs] */
    int32_t *queue;  /* [n] the first queue, then the second */
    int32_t *second; /* scratch */
    int32_t *count;  /* [jobs] GPUs given */
    int32_t n;
} tiresias;

static void tiresias_close(dls_pollux *p)
{
    tiresias *s = p->state;
    if (s) {
        DLS_FREE_ALL(s->job, s->queue, s->second, s->count, s);
    }
}

static dls_status tiresias_open(dls_pollux *p, dls_error *err)
{
    const size_t n = p->trace->n + 1;
    tiresias *s = p->state = dls_alloc_zero(1, sizeof *s);
    return s ? DLS_ALLOC_ALL("queues", err, DLS_ARRAY(s->job, n), DLS_ARRAY(s->queue, n),
                             DLS_ARRAY(s->second, n), DLS_ARRAY(s->count, n))
             : dls_nomem(err, "queues", sizeof *s);
}

/* Newcomers to the end of the first queue, in the order of the trace, then those that are demoted
 * to the end of the second one. */
static void queue(dls_pollux *p, tiresias *s)
{
    int32_t n = 0, n_second = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const int32_t job = s->queue[i];
        if (p->job[job].done) {
            continue;
        }
        if (s->job[job].demoted) {
            s->second[n_second++] = job;
        } else {
            s->queue[n++] = job;
        }
    }
    for (int32_t i = 0; i < p->n_active; i++) {
        const int32_t job = p->active[i];
        if (!s->job[job].known) {
            s->job[job].known = true;
            s->queue[n++] = job;
        }
    }
    for (int32_t i = 0; i < p->n_active; i++) {
        const int32_t job = p->active[i];
        seen *j = &s->job[job];
        j->executed_s += j->running ? p->now - j->checked_s : 0;
        j->checked_s = p->now;
        if (j->running && !j->demoted && j->executed_s * p->job[job].job->gpus >= THRESHOLD_GPU_S) {
            j->demoted = true;
            s->second[n_second++] = job;
        }
    }
    s->n = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!s->job[s->queue[i]].demoted) {
            s->queue[s->n++] = s->queue[i];
        }
    }
    memcpy(s->queue + s->n, s->second, (size_t)n_second * sizeof *s->queue);
    s->n += n_second;
}

static dls_status tiresias_decide(dls_pollux *p, dls_error *err)
{
    tiresias *s = p->state;
    int32_t left = p->gpus;
    queue(p, s);
    for (int32_t i = 0; i < s->n; i++) {
        dls_pollux_run_job *j = &p->job[s->queue[i]];
        seen *of = &s->job[s->queue[i]];
        of->running = j->job->gpus <= left;
        s->count[s->queue[i]] = of->running ? j->job->gpus : 0;
        left -= s->count[s->queue[i]];
        if (of->running) {
            memcpy(&j->next, &j->now, sizeof j->next);
        }
    }
    dls_pollux_place(p, s->queue, s->n, s->count);
    return DLS_OK;
}

const dls_pollux_policy dls_pollux_tiresias = {
    .schedule = {"tiresias", "gangs in two queues by attained service"},
    .rigid = true,
    .open = tiresias_open,
    .close = tiresias_close,
    .decide = tiresias_decide,
};
