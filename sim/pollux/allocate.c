/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pollux's own policy: speed-ups by fitted goodput models, searched by genetic.h.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "pollux/core.h"
#include "pollux/genetic.h"

#include <math.h>

#define RESTART_S 30. /* what the policy takes a restart to cost */

typedef struct pollux {
    dls_genetic *search;
    int32_t *order;   /* [jobs] active ones by service attained, then submission */
    int32_t *most;    /* [jobs] GPUs, in that order */
    double *factor;   /* the same */
    double *fair;     /* the same: goodput on a fair share; 0: no model yet */
    uint8_t *present; /* [jobs][nodes] */
    size_t cap;
    uint64_t round;
    int32_t fair_gpus;
    const dls_pollux *p;
} pollux;

static void pollux_close(dls_pollux *p)
{
    pollux *s = p->state;
    if (s) {
        dls_genetic_destroy(s->search);
        DLS_FREE_ALL(s->order, s->most, s->factor, s->fair, s->present, s);
    }
}

static dls_status pollux_open(dls_pollux *p, dls_error *err)
{
    const size_t n = p->trace->n + 1;
    pollux *s = p->state = dls_alloc_zero(1, sizeof *s);
    if (!s) {
        return dls_nomem(err, "speed-ups", sizeof *s);
    }
    s->p = p;
    DLS_TRY(dls_genetic_create(p->params->nodes, &s->search, err));
    return DLS_ALLOC_ALL("speed-ups", err, DLS_ARRAY(s->order, n), DLS_ARRAY(s->most, n),
                         DLS_ARRAY(s->factor, n), DLS_ARRAY(s->fair, n));
}

static double speedup(void *user, int32_t job, int32_t nodes, int32_t gpus)
{
    const pollux *s = user;
    const dls_pollux_run_job *j = &s->p->job[s->order[job]];
    const dls_goodput_job g = dls_pollux_goodput_job(j, j->app);
    if (!j->on->model.fitted) {
        return (double)gpus / s->fair_gpus;
    }
    return s->fair[job] > 0
               ? dls_goodput_best(&j->on->model, &g, nodes, gpus, NULL, NULL) / s->fair[job]
               : 0;
}

/* Twice what it has run on, so that no model is trusted far from what was seen. */
static int32_t most_gpus(const dls_pollux_run_job *j)
{
    const int32_t fits = dls_pollux_most_batch(j->app) / j->app->local_min;
    int32_t most = j->most_seen > 0 ? 2 * j->most_seen : 1;
    most = most < DLS_GENETIC_REPLICAS ? most : DLS_GENETIC_REPLICAS;
    return dls_pollux_is_fixed(j->app) ? 1 : most < fits ? most : fits;
}

static void sort(dls_pollux *p, pollux *s)
{
    for (int32_t i = 0; i < p->n_active; i++) {
        const dls_pollux_job *j = p->job[p->active[i]].job;
        int32_t k = i;
        for (; k > 0; k--) {
            const dls_pollux_job *o = p->job[s->order[k - 1]].job;
            if (o->gpu_s < j->gpu_s || (o->gpu_s == j->gpu_s && o->submit_s <= j->submit_s)) {
                break;
            }
            s->order[k] = s->order[k - 1];
        }
        s->order[k] = p->active[i];
    }
}

static dls_status pose(dls_pollux *p, pollux *s, dls_error *err)
{
    const size_t nodes = (size_t)p->params->nodes, genes = (size_t)p->n_active * nodes;
    DLS_TRY(dls_grow(&s->present, &s->cap, genes, 1, err));
    sort(p, s);
    s->fair_gpus = (p->gpus + p->n_active - 1) / p->n_active;
    for (size_t i = 0; i < genes; i++) {
        s->present[i] = 0;
    }
    for (int32_t i = 0; i < p->n_active; i++) {
        const dls_pollux_run_job *j = &p->job[s->order[i]];
        const dls_goodput_job g = dls_pollux_goodput_job(j, j->app);
        const double age = (double)(p->now - j->job->submit_s);
        s->most[i] = most_gpus(j);
        s->factor[i] = fmax(age - RESTART_S * j->job->restarts, 0) / (age + RESTART_S);
        s->fair[i] = j->on->model.fitted
                         ? dls_goodput_best(&j->on->model, &g, 1, s->fair_gpus, NULL, NULL)
                         : 0;
        for (int32_t k = 0; k < j->now.n; k++) {
            s->present[(size_t)i * nodes + (size_t)j->now.of[k]]++;
        }
    }
    return DLS_OK;
}

static dls_status pollux_decide(dls_pollux *p, dls_error *err)
{
    pollux *s = p->state;
    const uint64_t seed = dls_mix64(dls_mix64(p->params->seed) + s->round++);
    const uint8_t *best;
    double fitness;
    DLS_TRY(pose(p, s, err));
    const dls_genetic_problem problem = {.jobs = p->n_active,
                                         .nodes = p->params->nodes,
                                         .gpus_per_node = p->params->gpus_per_node,
                                         .id = s->order,
                                         .most = s->most,
                                         .present = s->present,
                                         .factor = s->factor,
                                         .speedup = speedup,
                                         .user = s};
    DLS_TRY(dls_genetic_search(s->search, &problem, seed, &best, &fitness, err));
    for (int32_t i = 0; i < p->n_active; i++) {
        dls_pollux_nodes *to = &p->job[s->order[i]].next;
        for (int32_t node = 0; node < p->params->nodes; node++, best++) {
            for (int32_t k = 0; k < *best; k++) {
                to->of[to->n++] = node;
            }
        }
    }
    return DLS_OK;
}

const dls_pollux_policy dls_pollux_pollux = {
    .schedule = {"pollux", "goodput of all jobs, searched at random; batches tuned"},
    .learns = true,
    .open = pollux_open,
    .close = pollux_close,
    .decide = pollux_decide,
};
