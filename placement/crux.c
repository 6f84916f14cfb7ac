/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * crux: gangs as `consolidated`; whenever a job that sends over links starts, all that do get their
 * path between racks and their priority on links anew (crux_rule.h). What they send and how long
 * they compute is the predictor's.
 */
#include "dlsim/memory.h"
#include "dlsim/predictor.h"
#include "placement/crux_rule.h"
#include "placement/fit.h"
#include "placement/traffic.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_MAX 128 /* that levels are chosen for; those of less priority have the last */

enum { LEVELS, ORDERS };

static const dls_option options[] = {
    {"levels", DLS_OPT_I64, 1, DLS_LINK_LEVELS, "8", "", "priorities that switches have", NULL},
    {"orders", DLS_OPT_I64, 1, 100, "4", "", "orders of the jobs that are cut into levels", NULL},
    {0}};

/* A job that sends, by its slot among the runners. */
typedef struct sender {
    dls_crux_flow flow;
    int32_t path, level, was_path, was_level; /* -1: none yet */
} sender;

typedef struct ranked {
    double by;
    int32_t slot;
} ranked;

typedef struct crux {
    dls_traffic traffic; /* first: dls_traffic_stopped */
    sender *sender; /* by slot */
    /* Scratch, without meaning between two starts: */
    ranked *rank;        /* [n_rank] all that send */
    dls_crux_flow *flow; /* [n_rank], as */
    double *priority;
    int32_t *place_of; /* by slot: number in `rank`, below n_ranked, or -1 */
    size_t cap[5], n_rank;
    int32_t n_ranked;
    double *load;           /* [racks][paths] */
    double *harm, *scratch; /* for JOBS_MAX */
    int32_t levels, orders;
} crux;

static dls_status allot(crux *c, const dls_place_index *index, dls_error *err)
{
    const size_t links = (size_t)dls_place_racks(index) * (size_t)dls_place_paths(index);
    return DLS_ALLOC_ALL("placement", err, DLS_ARRAY(c->load, links), DLS_ARRAY(c->harm, JOBS_MAX * JOBS_MAX),
                         DLS_ARRAY(c->scratch, dls_crux_scratch(JOBS_MAX, c->levels)));
}

static dls_status init(void *state, const dls_place_index *index, const dls_option_value *values,
                       dls_error *err)
{
    crux *c = state;
    c->levels = (int32_t)values[LEVELS].i;
    c->orders = (int32_t)values[ORDERS].i;
    DLS_TRY(allot(c, index, err));
    return dls_traffic_init(&c->traffic, index, err);
}

static void fini(void *state)
{
    crux *c = state;
    dls_traffic_fini(&c->traffic);
    DLS_FREE_ALL(c->sender, c->rank, c->flow, c->priority, c->place_of, c->load, c->harm,
                 c->scratch);
}

static dls_status clone(void *state, const void *from, const dls_place_index *index, dls_error *err)
{
    crux *c = state;
    const crux *of = from;
    c->sender = NULL;
    c->rank = NULL;
    c->flow = NULL;
    c->priority = NULL;
    c->place_of = NULL;
    memset(c->cap, 0, sizeof c->cap);
    c->load = c->harm = c->scratch = NULL;
    DLS_TRY(dls_traffic_clone(&c->traffic, &of->traffic, index, err));
    DLS_TRY(allot(c, index, err));
    c->cap[0] = of->cap[0];
    return dls_duplicate(&c->sender, of->sender, of->cap[0], of->cap[0], sizeof *c->sender, err);
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    return dls_fit_consolidated(index, r, grant);
}

/* ---- who sends ------------------------------------------------------------------------------- */

static bool sends(const dls_runner *r)
{
    return r->n > 1 && r->pulse.period_s > 0;
}

/* Of one of the paths, or of the node. */
static double capacity_of(const crux *c, const dls_place_index *index, int32_t link)
{
    const double bps = dls_traffic_capacity(&c->traffic, index, link);
    return link < c->traffic.n_nodes ? bps : bps / dls_place_paths(index);
}

/* The slowest link; INFINITY: none limits. */
static double line_of(const crux *c, const dls_place_index *index, const dls_runner *r)
{
    double line = (double)INFINITY;
    int32_t link;
    for (size_t k = 0;
         (link = dls_traffic_link_of(&c->traffic, index, r->part, r->n, r->uplinks, k)) >= 0; k++) {
        const double bps = capacity_of(c, index, link);
        line = bps > 0 ? fmin(line, bps) : line;
    }
    return line;
}

static bool describe(const crux *c, const dls_place_index *index, const dls_request *r,
                     const dls_runner *runner, dls_crux_flow *out)
{
    const dls_shape shape = dls_place_shape(index, runner->part, runner->n);
    const double line = line_of(c, index, runner);
    dls_prediction f;
    if (!sends(runner) || !isfinite(line) || !dls_place_predict(r, r->job, &shape, &f)) {
        return false;
    }
    const double flops = dls_place_gpu_flops(index, r->type);
    const double busy_s = f.metric[DLS_GPU_ACTIVE] * f.metric[DLS_GPU_PEAK];
    *out = (dls_crux_flow){.work = busy_s * r->gpus * (flops > 0 ? flops : 1),
                           .period_s = f.iteration_s,
                           .bytes = runner->pulse.bps * runner->pulse.burst_s,
                           .line_bps = line,
                           .exposed_s = f.iteration_s - f.metric[DLS_GPU_ACTIVE]};
    return out->work > 0 && out->bytes > 0;
}

/* ---- paths and levels ------------------------------------------------------------------------ */

DLS_BY(falling, ranked, DLS_DOWN(by), DLS_UP(slot));

enum { RACKS_MAX = 256 };

/* The racks of a runner, each once. */
static int32_t racks_of(const dls_place_index *index, const dls_runner *r, int32_t rack[RACKS_MAX])
{
    int32_t n = 0;
    for (size_t i = 0; i < r->n && n < RACKS_MAX; i++) {
        const int32_t at = dls_place_rack(index, r->part[i].node);
        int32_t k = n;
        while (k > 0 && rack[k - 1] != at) {
            k--;
        }
        if (k == 0) {
            rack[n++] = at;
        }
    }
    return n;
}

static void choose_paths(crux *c, const dls_place_index *index)
{
    const int32_t paths = dls_place_paths(index);
    int32_t rack[RACKS_MAX];
    memset(c->load, 0, (size_t)dls_place_racks(index) * (size_t)paths * sizeof *c->load);
    for (size_t i = 0; i < c->n_rank; i++) {
        c->rank[i].by = dls_crux_intensity(&c->sender[c->rank[i].slot].flow);
    }
    qsort(c->rank, c->n_rank, sizeof *c->rank, falling);
    for (size_t i = 0; i < c->n_rank; i++) {
        sender *s = &c->sender[c->rank[i].slot];
        const dls_runner *r = &c->traffic.runner[c->rank[i].slot];
        if (r->uplinks) {
            const int32_t n = racks_of(index, r, rack);
            s->path = dls_crux_path(c->load, paths, rack, n);
            for (int32_t k = 0; k < n; k++) {
                c->load[rack[k] * paths + s->path] += s->flow.bytes / s->flow.period_s;
            }
        }
    }
}

/* Harm between those who send over a link, and over the same path, that all together could overrun
 * it. */
static void meet_on(crux *c, const dls_place_index *index, int32_t link)
{
    const dls_traffic *t = &c->traffic;
    const double capacity = capacity_of(c, index, link);
    for (int32_t a = t->link[link]; a >= 0 && capacity > 0; a = t->entry[a].next) {
        const int32_t i = t->entry[a].runner, p = c->place_of[i];
        const int32_t path = link < t->n_nodes ? -1 : c->sender[i].path;
        double sum = 0;
        for (int32_t b = t->link[link]; b >= 0; b = t->entry[b].next) {
            const int32_t j = t->entry[b].runner;
            sum += path < 0 || c->sender[j].path == path ? t->runner[j].pulse.bps : 0;
        }
        for (int32_t b = t->link[link]; b >= 0 && p >= 0 && sum > capacity; b = t->entry[b].next) {
            const int32_t j = t->entry[b].runner, q = c->place_of[j];
            if (q > p && (path < 0 || c->sender[j].path == path)) {
                c->harm[p * c->n_ranked + q] = c->rank[p].by - c->rank[q].by + DBL_MIN;
            }
        }
    }
}

static void choose_levels(crux *c, const dls_place_index *index, const dls_request *r)
{
    int32_t level[JOBS_MAX];
    const int32_t links = c->traffic.n_nodes + c->traffic.n_racks;
    for (size_t i = 0; i < c->n_rank; i++) {
        c->flow[i] = c->sender[c->rank[i].slot].flow;
    }
    dls_crux_priorities(c->flow, (int32_t)c->n_rank, c->priority);
    for (size_t i = 0; i < c->n_rank; i++) {
        c->rank[i].by = c->priority[i];
    }
    qsort(c->rank, c->n_rank, sizeof *c->rank, falling);
    c->n_ranked = c->n_rank < JOBS_MAX ? (int32_t)c->n_rank : JOBS_MAX;
    memset(c->place_of, 0xff, c->traffic.n_runners * sizeof *c->place_of);
    for (int32_t i = 0; i < c->n_ranked; i++) {
        c->place_of[c->rank[i].slot] = i;
    }
    memset(c->harm, 0, (size_t)c->n_ranked * (size_t)c->n_ranked * sizeof *c->harm);
    for (int32_t link = 0; link < links; link++) {
        meet_on(c, index, link);
    }
    dls_rng rng = dls_place_random(r);
    dls_crux_levels(c->harm, c->n_ranked, c->levels, c->orders, &rng, c->scratch, level);
    for (size_t i = 0; i < c->n_rank; i++) {
        c->sender[c->rank[i].slot].level = i < (size_t)c->n_ranked ? level[i] : c->levels - 1;
    }
}

/* ---- comings and goings ---------------------------------------------------------------------- */

/* Room for every runner; false: there is no memory, and all keep what they have. */
static bool make_room(crux *c)
{
    const size_t n = c->traffic.n_runners;
    return dls_grow(&c->sender, &c->cap[0], n, sizeof *c->sender, NULL) == DLS_OK &&
           dls_grow(&c->rank, &c->cap[1], n, sizeof *c->rank, NULL) == DLS_OK &&
           dls_grow(&c->flow, &c->cap[2], n, sizeof *c->flow, NULL) == DLS_OK &&
           dls_grow(&c->priority, &c->cap[3], n, sizeof *c->priority, NULL) == DLS_OK &&
           dls_grow(&c->place_of, &c->cap[4], n, sizeof *c->place_of, NULL) == DLS_OK;
}

static void started(void *state, const dls_place_index *index, const dls_request *r,
                    const int32_t *nodes, const int32_t *gpus, size_t n)
{
    crux *c = state;
    dls_traffic_started(&c->traffic, index, r, nodes, gpus, n);
    const int32_t slot = (size_t)r->job < c->traffic.n_jobs ? c->traffic.of[r->job].slot - 1 : -1;
    if (slot < 0 || !make_room(c)) {
        return;
    }
    sender *mine = &c->sender[slot];
    *mine = (sender){.level = -1, .path = -1};
    if (!describe(c, index, r, &c->traffic.runner[slot], &mine->flow)) {
        mine->flow.work = 0;
        return;
    }
    c->n_rank = 0;
    for (size_t i = 0; i < c->traffic.n_runners; i++) {
        const dls_runner *o = &c->traffic.runner[i];
        if ((size_t)o->job < c->traffic.n_jobs && c->traffic.of[o->job].slot == (int32_t)i + 1 &&
            c->sender[i].flow.work > 0) {
            c->sender[i].was_path = c->sender[i].path;
            c->sender[i].was_level = c->sender[i].level;
            c->sender[i].path = 0;
            c->rank[c->n_rank++].slot = (int32_t)i;
        }
    }
    choose_paths(c, index);
    choose_levels(c, index, r);
    for (size_t i = 0; i < c->n_rank; i++) {
        const sender *s = &c->sender[c->rank[i].slot];
        if (s->path != s->was_path || s->level != s->was_level) {
            dls_place_route(r, c->traffic.runner[c->rank[i].slot].job, s->path, s->level);
        }
    }
}

const dls_placement_ops dls_placement_ops_crux = {
    .abi = DLS_POLICY_ABI,
    .name = "crux",
    .summary = "consolidated; jobs that compute most per byte first on links, on emptiest paths",
    .options = options,
    .needs_prediction = true,
    .state_bytes = sizeof(crux),
    .init = init,
    .fini = fini,
    .clone = clone,
    .place = place,
    .started = started,
    .stopped = dls_traffic_stopped,
};
