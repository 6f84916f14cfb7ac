/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * AntMan in Muri's simulator: guaranteed jobs collect GPUs of their own and keep them while they
 * wait for the rest; opportunistic ones run beside them, in what their stages leave. Nobody is
 * preempted.
 */
#include "muri/core.h"

#include "base/own.h"

#include <math.h>

typedef struct antman {
    double *booked;       /* [GPUs] utilisation */
    int32_t *guaranteed;  /* [GPUs] job, -1 */
    int32_t *guest;       /* [GPUs] opportunistic job, -1 */
    int32_t *held, *node; /* [jobs] GPUs taken so far; the only node that may give more, -1 */
    int32_t *order;       /* [GPUs] room */
    int32_t n_gpus, per_node;
} antman;

static dls_status open_antman(dls_muri *m, dls_error *err)
{
    antman *a = dls_alloc_zero(1, sizeof *a);
    m->state = a;
    if (!a) {
        return dls_nomem(err, "GPUs", sizeof *a);
    }
    a->per_node = m->cluster.gpus_per_node;
    a->n_gpus = m->n_nodes * a->per_node;
    const size_t gpus = (size_t)a->n_gpus, n = (size_t)m->n + 1;
    DLS_TRY(dls_alloc_array(&a->booked, gpus, sizeof *a->booked, "GPUs", err));
    DLS_TRY(dls_alloc_array(&a->guaranteed, 3 * gpus + 2 * n, sizeof *a->guaranteed, "GPUs", err));
    a->guest = a->guaranteed + gpus;
    a->order = a->guest + gpus;
    a->held = a->order + gpus;
    a->node = a->held + n;
    for (int32_t g = 0; g < a->n_gpus; g++) {
        a->guaranteed[g] = a->guest[g] = -1;
    }
    for (int32_t j = 0; j < m->n; j++) {
        a->node[j] = -1;
    }
    return DLS_OK;
}

static void close_antman(dls_muri *m)
{
    antman *a = m->state;
    DLS_FREE_ALL(a->booked, a->guaranteed);
}

static int32_t unclaimed(const antman *a, int32_t node)
{
    int32_t n = 0;
    for (int32_t g = node * a->per_node; g < (node + 1) * a->per_node; g++) {
        n += a->guaranteed[g] < 0;
    }
    return n;
}

static void claim_gpus(antman *a, int32_t job, int32_t node, int32_t gpus)
{
    for (int32_t g = node * a->per_node; gpus > 0 && g < (node + 1) * a->per_node; g++) {
        if (a->guaranteed[g] < 0) {
            a->guaranteed[g] = job;
            a->booked[g] += .1 - .01; /* not .09 to the last bit, which parts equals */
            a->held[job]++;
            gpus--;
        }
    }
}

/* What is missing, less than or just a node's GPUs, comes from one node. */
static void take_part(dls_muri *m, int32_t job, int32_t want)
{
    antman *a = m->state;
    int32_t best = a->node[job];
    for (int32_t n = 0; a->node[job] < 0 && n < m->n_nodes; n++) {
        const int32_t free = unclaimed(a, n);
        if (free >= want) {
            best = n;
            break;
        }
        best = best < 0 || free > unclaimed(a, best) ? n : best;
    }
    const int32_t free = unclaimed(a, best);
    if (free > 0) {
        a->node[job] = best;
        claim_gpus(a, job, best, free < want ? free : want);
    }
}

static void guarantee(dls_muri *m, int32_t job)
{
    antman *a = m->state;
    const int32_t gpus = m->job[job].gpus;
    if (gpus > a->per_node) {
        for (int32_t n = 0; n < m->n_nodes && gpus - a->held[job] >= a->per_node; n++) {
            if (unclaimed(a, n) == a->per_node) {
                claim_gpus(a, job, n, a->per_node);
            }
        }
    }
    const int32_t missing = gpus - a->held[job];
    if (missing > 0 && (gpus <= a->per_node || missing < a->per_node)) {
        take_part(m, job, missing);
    }
    if (a->held[job] == gpus) {
        for (int32_t g = 0; g < a->n_gpus; g++) {
            if (a->guaranteed[g] == job) {
                a->booked[g] += .01;
            }
        }
        dls_muri_start(m, job);
    }
}

static void squeeze_in(dls_muri *m, int32_t job)
{
    antman *a = m->state;
    const int32_t gpus = m->job[job].gpus;
    int32_t n = 0;
    for (int32_t g = 0; g < a->n_gpus; g++) { /* by booked utilisation, equal ones by number */
        if (a->booked[g] < .8) {
            int32_t at = n++;
            for (; at > 0 && a->booked[a->order[at - 1]] > a->booked[g]; at--) {
                a->order[at] = a->order[at - 1];
            }
            a->order[at] = g;
        }
    }
    if (n < gpus) {
        return;
    }
    for (int32_t i = 0; i < gpus; i++) {
        a->booked[a->order[i]] += .9;
        a->guest[a->order[i]] = job;
    }
    dls_muri_start(m, job);
}

/* How often x holds d, and what is left, each rounded by itself. */
static double divide(double x, double d, double *rest)
{
    *rest = fmod(x, d);
    return floor(x / d);
}

/* Iterations of `o` in which one of `own` fits into what they leave. */
static double iterations_beside(const dls_stages *own, const dls_stages *o)
{
    double compute = own->compute, exchange = own->exchange, rest;
    double k = divide(own->data, o->compute + o->exchange, &rest);
    if (rest > 0) {
        k++;
        compute -= fmin(fmin(compute, o->exchange), o->compute + o->exchange - rest);
    }
    k += divide(compute, o->data + o->exchange, &rest);
    if (rest > 0) {
        k++;
        if (rest < o->data) {
            exchange -= fmin(exchange, o->data + o->compute - rest);
        }
    }
    k += divide(exchange, o->data + o->compute, &rest);
    if (rest > o->data) {
        k++;
    }
    return k;
}

static void find_speeds(dls_muri *m)
{
    const antman *a = m->state;
    for (int32_t i = 0; i < m->n_list; i++) {
        m->run[m->list[i]].iteration = m->job[m->list[i]].stages.iteration;
    }
    for (int32_t g = 0; g < a->n_gpus; g++) {
        const int32_t guest = a->guest[g], host = a->guaranteed[g];
        if (guest >= 0 && host >= 0 && m->run[host].running) {
            const dls_stages *o = &m->job[host].stages;
            const double beside = iterations_beside(&m->job[guest].stages, o) * o->iteration;
            m->run[guest].iteration = fmax(m->run[guest].iteration, beside);
        }
    }
}

static void ended(dls_muri *m, int32_t job)
{
    antman *a = m->state;
    for (int32_t g = 0; g < a->n_gpus; g++) {
        if (a->guaranteed[g] == job) {
            a->guaranteed[g] = -1;
            a->booked[g] -= .1;
        }
        if (a->guest[g] == job) {
            a->guest[g] = -1;
            a->booked[g] -= .9;
        }
    }
}

/* Guaranteed jobs first, then as they came. */
static dls_status decide(dls_muri *m, dls_error *err)
{
    DLS_FREED double *key = NULL;
    DLS_TRY(dls_alloc_array(&key, (size_t)(m->n_list + 1), sizeof *key, "order", err));
    for (int32_t i = 0; i < m->n_list; i++) {
        key[i] = m->job[m->list[i]].priority + 0.5 * m->list[i] / m->n;
    }
    DLS_TRY(dls_muri_sort(m->list, m->n_list, key, err));
    for (int32_t i = 0; i < m->n_list; i++) {
        const int32_t job = m->list[i];
        if (m->run[job].running) {
            continue;
        }
        if (m->job[job].priority == 0) {
            guarantee(m, job);
        } else {
            squeeze_in(m, job);
        }
    }
    find_speeds(m);
    return DLS_OK;
}

const dls_muri_policy dls_muri_antman = {
    .schedule = {"antman", "antman", "guaranteed jobs, and opportunistic ones beside them"},
    .open = open_antman,
    .close = close_antman,
    .ended = ended,
    .decide = decide,
};
