/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sia (Jayaram Subramanya et al., SOSP 2023) in the world of its authors'
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
        DLS_FREE_ALL(s->order, s->count, s);
    }
}

static dls_status sia_open(dls_pollux *p, dls_error *err)
{
    const size_t n = p->trace->n + 1;
    int32_t nodes[DLS_POLLUX_TYPES];
    sia *s = p->state = dls_alloc_zero(1, sizeof *s);
    if (!s) {
        return dls_nomem(err, "rows", sizeof *s);
    }
    for (int32_t k = 0; k < p->types; k++) {
        const int32_t there = p->first[k + 1] - p->first[k];
        nodes[k] = there < p->most_nodes[k] ? there : p->most_nodes[k];
    }
    s->n_configs = dls_sia_configs(p->types, p->per_node, nodes, s->config);
    return DLS_ALLOC_ALL("rows", err, DLS_ARRAY(s->order, n), DLS_ARRAY(s->count, n));
}

/* Twice what it has run on; a job of fixed batch up to what it asks for, from the start. */
static int32_t most_gpus(const dls_pollux_run_job *j)
{
    int32_t fits = 0;
    int32_t most = j->job->kind == DLS_POLLUX_SCALES ? j->job->gpus
                   : j->most_seen > 0                ? 2 * j->most_seen
                                                     : 1;
    for (int32_t k = 0; k < DLS_POLLUX_TYPES; k++) {
        const dls_pollux_app *a = j->on[k].app;
        const int32_t here = a ? dls_pollux_most_batch(a) / a->local_min : 0;
        fits = here > fits ? here : fits;
    }
    most = most < DLS_SIA_GPUS ? most : DLS_SIA_GPUS;
    return most < fits ? most : fits;
}

/* Goodput on a configuration of a type that `of` models, which may be another type than that. */
static double goodput(const dls_pollux_run_job *j, const dls_pollux_on *of, int32_t nodes,
                      int32_t gpus)
{
    dls_goodput_job g = dls_pollux_goodput_job(j, of->app);
    g.most = j->job->batch; /* as published, even where the running job goes beyond it */
    g.fixed = j->batch > 0;
    return dls_goodput_best(&of->model, &g, nodes, gpus, NULL, NULL);
}

/* A type that the job has not been on is taken for the first one that it has, by the ratio of
 * speeds of one GPU. */
void dls_pollux_sia_row(const dls_pollux_run_job *j, const dls_sia_config *config, int32_t n,
                        double *value)
{
    const int32_t most = most_gpus(j);
    const dls_pollux_on *known = NULL;
    for (int32_t k = DLS_POLLUX_TYPES - 1; k >= 0; k--) {
        known = j->on[k].model.fitted ? &j->on[k] : known;
    }
    for (int32_t i = 0; i < n; i++) {
        const dls_pollux_on *on = &j->on[config[i].type];
        const int32_t gpus = config[i].gpus;
        if (gpus > most || !on->app) {
            value[i] = 0;
        } else if (!known) {
            value[i] = gpus == 1;
        } else if (on->model.fitted) {
            value[i] = goodput(j, on, config[i].nodes, gpus);
        } else {
            const int32_t nodes = (gpus + known->gpus_per_node - 1) / known->gpus_per_node;
            const double alone = dls_pollux_alone(known->app);
            value[i] =
                alone > 0 ? goodput(j, known, nodes, gpus) * dls_pollux_alone(on->app) / alone : 0;
        }
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

static int32_t config_of(const dls_sia_config *config, int32_t n, int32_t type, int32_t gpus)
{
    for (int32_t i = 0; i < n; i++) {
        if (config[i].type == type && config[i].gpus == gpus) {
            return i;
        }
    }
    return -1;
}

/* Samples per second of a gang on as few nodes as it fits; 0: that was not measured. */
static double gang_speed(const dls_pollux *p, const dls_pollux_run_job *j, int32_t type)
{
    const int32_t gpus = j->job->gpus, per_node = p->per_node[type];
    const int32_t nodes = (gpus + per_node - 1) / per_node;
    int32_t run[DLS_POLLUX_REPLICAS];
    dls_pollux_run_job there = *j;
    dls_pollux_where where;
    dls_pollux_times t;
    there.app = j->on[type].app;
    there.type = type;
    if (!there.app || nodes > p->first[type + 1] - p->first[type] || nodes > p->most_nodes[type]) {
        return 0;
    }
    for (int32_t i = 0; i < nodes; i++) {
        run[i] = i + 1 < nodes ? per_node : gpus - i * per_node;
    }
    dls_pollux_find(there.app, run, nodes, &where);
    dls_pollux_choose(&there, &where, false, &there.local, &there.accum);
    return dls_pollux_step(there.app, &where, there.local, &t)
               ? gpus * there.local * (there.accum + 1) / (t.step + (t.step - t.sync) * there.accum)
               : 0;
}

/* One column a type; the slowest is worth the gang. */
static void rigid_row(const dls_pollux *p, const dls_pollux_run_job *j, dls_sia_config *config,
                      double *value)
{
    for (int32_t k = 0; k < p->types; k++) {
        config[k] = (dls_sia_config){k, 0, j->job->gpus};
        value[k] = p->types > 1 ? gang_speed(p, j, k) : 1;
    }
    dls_sia_scale(value, p->types);
    for (int32_t k = 0; k < p->types; k++) {
        value[k] *= value[k] > DLS_SIA_NONE ? j->job->gpus : 1;
    }
}

/* A job that restores keeps what it has. */
static dls_status add_job(dls_pollux *p, sia *s, const dls_pollux_run_job *j, dls_error *err)
{
    dls_sia_config gang[DLS_POLLUX_TYPES];
    const bool rigid = j->job->kind == DLS_POLLUX_RIGID;
    const dls_sia_config *config = rigid ? gang : s->config;
    const int32_t n = rigid ? p->types : s->n_configs;
    double value[DLS_SIA_CONFIGS];
    if (rigid) {
        rigid_row(p, j, gang, value);
    } else {
        dls_pollux_sia_row(j, config, n, value);
    }
    return dls_sia_add(&s->choice, &terms, config, value, n,
                       config_of(config, n, j->type, j->now.n), j->now.n > 0 && j->restore_s > 0,
                       dls_pollux_sia_factor(j, p->now), err);
}

/* Whole nodes that are free, from where the last job's ended; then what is left, wherever it is.
 * at: of the type, from its first node. */
static void place(const dls_pollux *p, dls_pollux_run_job *j, int32_t gpus, int32_t *at)
{
    const int32_t first = p->first[j->next_type], per_node = p->per_node[j->next_type];
    const int32_t nodes = p->first[j->next_type + 1] - first;
    int32_t *free = p->free + first, whole = gpus / per_node;
    for (int32_t step = 0; step < nodes && whole > 0; step++, *at = (*at + 1) % nodes) {
        for (; free[*at] == per_node && whole > 0; whole--) {
            for (int32_t k = 0; k < per_node; k++) {
                j->next.of[j->next.n++] = first + *at;
            }
            free[*at] = 0;
        }
    }
    while (j->next.n < gpus) {
        for (; free[*at] > 0 && j->next.n < gpus; free[*at]--) {
            j->next.of[j->next.n++] = first + *at;
        }
        *at = free[*at] > 0 ? *at : (*at + 1) % nodes;
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
    int64_t capacity[DLS_POLLUX_TYPES];
    int32_t at[DLS_POLLUX_TYPES] = {0};
    for (int32_t k = 0; k < p->types; k++) {
        capacity[k] = (int64_t)(p->first[k + 1] - p->first[k]) * p->per_node[k];
        for (int32_t i = p->first[k]; i < p->first[k + 1]; i++) {
            p->free[i] = p->per_node[k];
        }
    }
    dls_choice_begin(&s->choice, p->types, capacity);
    for (int32_t i = 0; i < p->n_active; i++) {
        DLS_TRY(add_job(p, s, &p->job[p->active[i]], err));
    }
    DLS_TRY(dls_choice_solve(&s->choice, 0, err));
    for (int32_t i = 0; i < p->n_active; i++) {
        const int32_t job = p->active[i];
        int32_t k = i;
        s->count[job] = s->choice.option[s->choice.pick[i]].gpus;
        p->job[job].next_type = s->choice.option[s->choice.pick[i]].type;
        for (; k > 0 && is_before(p, s, job, s->order[k - 1]); k--) {
            s->order[k] = s->order[k - 1];
        }
        s->order[k] = job;
    }
    for (int32_t i = 0; i < p->n_active; i++) {
        dls_pollux_run_job *j = &p->job[s->order[i]];
        place(p, j, s->count[s->order[i]], &at[j->next_type]);
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
