/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sia (Jayaram Subramanya et al., SOSP 2023) on one GPU type, in the world of its authors'
 * simulator (siasosp23/artifacts, sia-simulator): rows of goodputs, the integer programme, nodes
 * from scratch every round. What several optima leave open is decided by sched/sia_rows.h.
 */
#include "base/alloc.h"
#include "pollux/core.h"
#include "sched/sia_rows.h"

typedef struct sia {
    dls_sia_config config[DLS_SIA_CONFIGS];
    int32_t n_configs;
    dls_choice choice;
    int32_t *order; /* [active] jobs by GPUs given */
    int32_t *count; /* [jobs] GPUs given */
} sia;

static const dls_sia_terms terms = {.power = -0.5, .lambda = 1.1};

static void sia_close(dls_pollux *p)
{
    sia *s = p->state;
    if (s) {
        dls_choice_fini(&s->choice);
        dls_free(s->order);
        dls_free(s->count);
        dls_free(s);
    }
}

static dls_status sia_open(dls_pollux *p, dls_error *err)
{
    const size_t n = p->trace->n + 1;
    sia *s = p->state = dls_alloc_zero(1, sizeof *s);
    if (s) {
        s->order = dls_alloc_zero(n, sizeof *s->order);
        s->count = dls_alloc_zero(n, sizeof *s->count);
        s->n_configs = dls_sia_configs(1, &p->params->gpus_per_node, &p->params->nodes, s->config);
    }
    return s && s->order && s->count ? DLS_OK : dls_nomem(err, "rows", n * sizeof *s->order);
}

/* Twice what it has run on; a job of fixed batch up to what it asks for, from the start. */
static int32_t most_gpus(const dls_pollux_run_job *j)
{
    const int32_t fits = dls_pollux_most_batch(j->app) / j->app->local_min;
    int32_t most = j->job->kind == DLS_POLLUX_SCALES ? j->job->gpus
                   : j->most_seen > 0                ? 2 * j->most_seen
                                                     : 1;
    most = most < DLS_SIA_GPUS ? most : DLS_SIA_GPUS;
    return most < fits ? most : fits;
}

void dls_pollux_sia_row(const dls_pollux_run_job *j, const dls_sia_config *config, int32_t n,
                        double *value)
{
    const int32_t most = most_gpus(j);
    dls_goodput_job g = dls_pollux_goodput_job(j);
    g.most = j->job->batch; /* as published, even where the running job goes beyond it */
    g.fixed = j->batch > 0;
    for (int32_t i = 0; i < n; i++) {
        value[i] = config[i].gpus > most ? 0
                   : !j->model.fitted    ? config[i].gpus == 1
                                         : dls_goodput_best(&j->model, &g, config[i].nodes,
                                                            config[i].gpus, NULL, NULL);
    }
    dls_sia_scale(value, n);
}

double dls_pollux_sia_factor(const dls_pollux_run_job *j, int64_t now_s)
{
    const double cost_s = j->app->sia->believed_s;
    return j->job->kind == DLS_POLLUX_RIGID && (double)j->job->gpu_s < cost_s
               ? 1
               : dls_sia_factor((double)(now_s - j->job->submit_s), j->job->restarts, cost_s);
}

static int32_t config_of(const dls_sia_config *config, int32_t n, int32_t gpus)
{
    for (int32_t i = 0; i < n; i++) {
        if (config[i].gpus == gpus) {
            return i;
        }
    }
    return -1;
}

/* A job that restores keeps what it has. */
static dls_status add(dls_pollux *p, sia *s, const dls_pollux_run_job *j, dls_error *err)
{
    const dls_sia_config gang = {0, 0, j->job->gpus};
    const bool rigid = j->job->kind == DLS_POLLUX_RIGID;
    const dls_sia_config *config = rigid ? &gang : s->config;
    const int32_t n = rigid ? 1 : s->n_configs;
    double value[DLS_SIA_CONFIGS] = {1};
    if (!rigid) {
        dls_pollux_sia_row(j, config, n, value);
    } else {
        value[0] = j->job->gpus; /* the slowest type is worth the gang */
    }
    return dls_sia_add(&s->choice, &terms, config, value, n, config_of(config, n, j->now.n),
                       j->now.n > 0 && j->restore_s > 0, dls_pollux_sia_factor(j, p->now), err);
}

/* Whole nodes that are free, from where the last job's ended; then what is left, wherever it is. */
static void place(const dls_pollux *p, dls_pollux_run_job *j, int32_t gpus, int32_t *at)
{
    const int32_t nodes = p->params->nodes, per_node = p->params->gpus_per_node;
    int32_t whole = gpus / per_node;
    for (int32_t step = 0; step < nodes && whole > 0; step++, *at = (*at + 1) % nodes) {
        for (; p->free[*at] == per_node && whole > 0; whole--) {
            for (int32_t k = 0; k < per_node; k++) {
                j->next.of[j->next.n++] = *at;
            }
            p->free[*at] = 0;
        }
    }
    while (j->next.n < gpus) {
        for (; p->free[*at] > 0 && j->next.n < gpus; p->free[*at]--) {
            j->next.of[j->next.n++] = *at;
        }
        *at = p->free[*at] > 0 ? *at : (*at + 1) % nodes;
    }
}

/* Rigid jobs first, most GPUs first. */
static bool is_before(const dls_pollux *p, const sia *s, int32_t a, int32_t b)
{
    const bool a_rigid = p->job[a].job->kind == DLS_POLLUX_RIGID;
    const bool b_rigid = p->job[b].job->kind == DLS_POLLUX_RIGID;
    return s->count[a] != s->count[b] ? s->count[a] > s->count[b] : a_rigid && !b_rigid;
}

static dls_status sia_decide(dls_pollux *p, dls_error *err)
{
    sia *s = p->state;
    const int64_t capacity = p->gpus;
    int32_t at = 0;
    dls_choice_begin(&s->choice, 1, &capacity);
    for (int32_t i = 0; i < p->n_active; i++) {
        DLS_TRY(add(p, s, &p->job[p->active[i]], err));
    }
    DLS_TRY(dls_choice_solve(&s->choice, 0, err));
    for (int32_t i = 0; i < p->n_active; i++) {
        const int32_t job = p->active[i];
        int32_t k = i;
        s->count[job] = s->choice.option[s->choice.pick[i]].gpus;
        for (; k > 0 && is_before(p, s, job, s->order[k - 1]); k--) {
            s->order[k] = s->order[k - 1];
        }
        s->order[k] = job;
    }
    for (int32_t i = 0; i < p->params->nodes; i++) {
        p->free[i] = p->params->gpus_per_node;
    }
    for (int32_t i = 0; i < p->n_active; i++) {
        place(p, &p->job[s->order[i]], s->count[s->order[i]], &at);
    }
    return DLS_OK;
}

const dls_pollux_policy dls_pollux_siasim = {
    .schedule = {"sia", "Sia's integer programme; adaptive, strong-scaling and rigid jobs"},
    .sia = true,
    .learns = true,
    .open = sia_open,
    .close = sia_close,
    .decide = sia_decide,
};
