/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tiresias-L in Muri's simulator: three queues by attained service, GPUs counted and not placed.
 */
#include "muri/core.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

enum { QUEUES = 3 };
static const double limit[QUEUES - 1] = {3250, 7200}; /* GPU-seconds */

typedef struct queues {
    int32_t *job[QUEUES], n[QUEUES]; /* [n] jobs of a queue, the head first */
    int32_t *level;                  /* of each job */
    int32_t *waiting;                /* room to sort */
} queues;

static dls_status open_queues(dls_muri *m, dls_error *err)
{
    const size_t n = (size_t)m->n + 1;
    queues *q;
    DLS_TRY(dls_alloc_array(&q, 1, sizeof *q + (QUEUES + 2) * n * sizeof(int32_t), "queues", err));
    q->level = (int32_t *)(q + 1);
    q->waiting = q->level + n;
    for (int i = 0; i < QUEUES; i++) {
        q->job[i] = q->waiting + (size_t)(i + 1) * n;
    }
    m->state = q;
    return DLS_OK;
}

static void enqueue(queues *q, int32_t level, int32_t job)
{
    q->level[job] = level;
    q->job[level][q->n[level]++] = job;
}

static void arrived(dls_muri *m, int32_t job)
{
    enqueue(m->state, 0, job);
}

static void leave(dls_muri *m, int32_t job)
{
    queues *q = m->state;
    const int32_t level = q->level[job];
    int32_t at = 0;
    while (q->job[level][at] != job) {
        at++;
    }
    q->n[level]--;
    memmove(&q->job[level][at], &q->job[level][at + 1],
            (size_t)(q->n[level] - at) * sizeof(int32_t));
}

/* Where a job belongs now: one queue lower at most, on the testbed as low as it takes. */
static int32_t next_level(const dls_muri *m, int32_t job)
{
    const queues *q = m->state;
    int32_t level = q->level[job];
    const double attained = m->run[job].executed * m->job[job].gpus;
    while (m->run[job].running && level < QUEUES - 1 && attained >= limit[level]) {
        level++;
        if (!m->testbed) {
            break;
        }
    }
    return level;
}

static bool restless(const dls_muri *m)
{
    const queues *q = m->state;
    for (int32_t i = 0; i < m->n_list; i++) {
        if (next_level(m, m->list[i]) > q->level[m->list[i]]) {
            return true;
        }
    }
    return false;
}

static void demote(dls_muri *m)
{
    queues *q = m->state;
    for (int32_t i = 0; i < m->n_list; i++) {
        const int32_t job = m->list[i];
        const int32_t level = next_level(m, job);
        if (level > q->level[job]) {
            leave(m, job);
            enqueue(q, level, job);
        }
    }
}

static dls_status decide(dls_muri *m, dls_error *err)
{
    queues *q = m->state;
    int64_t left = (int64_t)m->n_nodes * m->cluster.gpus_per_node;
    demote(m);
    dls_muri_empty(m);
    for (int level = 0; level < QUEUES; level++) {
        int32_t kept = 0, waiting = 0;
        for (int32_t i = 0; i < q->n[level]; i++) {
            const int32_t job = q->job[level][i];
            if (m->testbed ? dls_muri_place(m, m->job[job].gpus) : m->job[job].gpus <= left) {
                left -= m->job[job].gpus;
                dls_muri_start(m, job);
                q->job[level][kept++] = job;
            } else {
                m->run[job].running = false;
                q->waiting[waiting++] = job;
            }
        }
        memcpy(&q->job[level][kept], q->waiting, (size_t)waiting * sizeof(int32_t));
    }
    return DLS_OK;
}

static double jump(const dls_muri *m)
{
    const queues *q = m->state;
    double next = (double)INFINITY;
    for (int32_t i = 0; i < m->n_list; i++) {
        const int32_t job = m->list[i];
        if (m->run[job].running && q->level[job] < QUEUES - 1) {
            next = fmin(next, ceil(limit[q->level[job]] / m->job[job].gpus) - m->run[job].executed +
                                  m->now);
        }
    }
    return next;
}

const dls_muri_policy dls_muri_tiresias = {
    .schedule = {"tiresias", "dlas-gpu", "Tiresias-L: three queues by attained service"},
    .exact_ends = true,
    .open = open_queues,
    .arrived = arrived,
    .ended = leave,
    .decide = decide,
    .jump = jump,
    .restless = restless,
};
