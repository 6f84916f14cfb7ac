/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pods onto nodes, one after the other. The score of a node for a kind of pod is remembered until
 * the node changes, so a pod costs the nodes that changed since its kind was last seen, and one look
 * at the best of each block of nodes.
 */
#include "base/alloc.h"
#include "base/own.h"
#include "base/rng.h"
#include "fgd/fgd.h"

#include <math.h>

enum { BLOCK = 32 };

/* What a kind remembers of the nodes. */
typedef struct scores {
    double *value;        /* [nodes] -HUGE_VAL: it does not fit */
    int32_t *gpu;         /* [nodes] */
    double *least, *most; /* [blocks] of those that fit */
    size_t seen;          /* changes of nodes that it knows of */
} scores;

typedef struct state {
    const dls_fgd_scheme *scheme;
    dls_fgd_world world;
    dls_fgd_left *left; /* [nodes] */
    dls_fgd_held *held; /* [nodes] */
    size_t *last;       /* [nodes] its last change, + 1 */
    int32_t *changed;   /* [changes] which node */
    size_t n_changes;
    scores *known; /* [kinds] empty until asked for */
    dls_fgd_typical *typical;
    size_t n_nodes, n_kinds;
    dls_rng rng;
} state;

static void close_state(state *s)
{
    for (size_t k = 0; s->known && k < s->n_kinds; k++) {
        DLS_FREE_ALL(s->known[k].value, s->known[k].gpu, s->known[k].least, s->known[k].most);
    }
    DLS_FREE_ALL(s->known, s->left, s->held, s->last, s->changed, s->typical);
}

static dls_status open_state(state *s, const dls_fgd_input *in, size_t n_pods, dls_error *err)
{
    s->n_nodes = in->n_nodes;
    s->n_kinds = in->n_kinds;
    DLS_TRY(DLS_ALLOC_ALL("nodes", err, DLS_ARRAY(s->left, in->n_nodes + 1),
                          DLS_ARRAY(s->held, in->n_nodes + 1),
                          DLS_ARRAY(s->last, in->n_nodes + 1), DLS_ARRAY(s->changed, n_pods + 1),
                          DLS_ARRAY(s->known, in->n_kinds + 1)));
    DLS_TRY(dls_fgd_find_typical(in, &s->typical, &s->world.n_typical, err));
    s->world.typical = s->typical;
    for (size_t i = 0; i < in->n_nodes; i++) {
        const dls_fgd_node *n = &in->node[i];
        s->left[i] = (dls_fgd_left){
            .cpu_milli = n->cpu_milli, .mem_mib = n->mem_mib, .gpus = n->gpus, .model = n->model};
        for (int32_t g = 0; g < n->gpus; g++) {
            s->left[i].milli[g] = DLS_FGD_MILLI;
        }
        s->held[i].fragmentation =
            dls_fgd_fragmentation(&s->left[i], s->typical, s->world.n_typical);
    }
    return DLS_OK;
}

static void score(const state *s, const dls_fgd_request *r, scores *m, size_t node)
{
    dls_fgd_score of = {-HUGE_VAL, -1};
    if (dls_fgd_fits(&s->left[node], r)) {
        of = s->scheme->drawn ? (dls_fgd_score){0, -1}
                              : s->scheme->score(&s->world, &s->left[node], &s->held[node], r);
    }
    m->value[node] = of.value;
    m->gpu[node] = of.gpu;
}

static void sum_up(const state *s, scores *m, size_t block)
{
    double least = HUGE_VAL, most = -HUGE_VAL;
    const size_t end = (block + 1) * BLOCK < s->n_nodes ? (block + 1) * BLOCK : s->n_nodes;
    for (size_t i = block * BLOCK; i < end; i++) {
        most = m->value[i] > most ? m->value[i] : most;
    }
    for (size_t i = block * BLOCK; i < end && s->scheme->stretched; i++) {
        least = m->value[i] > -HUGE_VAL && m->value[i] < least ? m->value[i] : least;
    }
    m->least[block] = least;
    m->most[block] = most;
}

/* What the kind's pods are worth everywhere, as it is now. */
static dls_status bring_up(state *s, const dls_fgd_input *in, int32_t kind, scores **out,
                           dls_error *err)
{
    scores *m = *out = &s->known[kind];
    const dls_fgd_request *r = &in->kind[kind];
    const size_t blocks = s->n_nodes / BLOCK + 1;
    if (!m->value) {
        DLS_TRY(DLS_ALLOC_ALL("scores", err, DLS_ARRAY(m->value, s->n_nodes + 1),
                              DLS_ARRAY(m->gpu, s->n_nodes + 1), DLS_ARRAY(m->least, blocks),
                              DLS_ARRAY(m->most, blocks)));
        for (size_t i = 0; i < s->n_nodes; i++) {
            score(s, r, m, i);
        }
        for (size_t b = 0; b < blocks; b++) {
            sum_up(s, m, b);
        }
        m->seen = s->n_changes;
    }
    while (m->seen < s->n_changes) {
        const size_t node = (size_t)s->changed[m->seen++];
        if (s->last[node] == m->seen) {
            const double was = m->value[node];
            double *least = &m->least[node / BLOCK], *most = &m->most[node / BLOCK];
            score(s, r, m, node);
            const double now = m->value[node];
            if ((was == *most && now < was) || (was == *least && s->scheme->stretched)) {
                sum_up(s, m, node / BLOCK);
            } else if (now > -HUGE_VAL) {
                *least = now < *least ? now : *least;
                *most = now > *most ? now : *most;
            }
        }
    }
    return DLS_OK;
}

static int32_t draw_node(state *s, const scores *m)
{
    uint64_t fit = 0;
    for (size_t i = 0; i < s->n_nodes; i++) {
        fit += m->value[i] > -HUGE_VAL;
    }
    uint64_t k = fit > 0 ? dls_rng_below(&s->rng, fit) : 0;
    for (size_t i = 0; i < s->n_nodes && fit > 0; i++) {
        if (m->value[i] > -HUGE_VAL && k-- == 0) {
            return (int32_t)i;
        }
    }
    return -1;
}

/* One that has the part; -1: whole GPUs are wanted, or none. */
static int32_t draw_gpu(state *s, const dls_fgd_left *left, const dls_fgd_request *r)
{
    int32_t fit[DLS_FGD_GPUS], n = 0;
    for (int32_t g = 0; g < left->gpus; g++) {
        if (left->milli[g] >= r->gpu_milli) {
            fit[n++] = g;
        }
    }
    const bool part = r->gpus == 1 && r->gpu_milli < DLS_FGD_MILLI;
    return part ? fit[dls_rng_below(&s->rng, (uint64_t)n)] : -1;
}

/* Scores as they are compared: some schemes stretch them to whole numbers from 0 to 100. */
static double compared(const state *s, double value, double least, double most)
{
    return !s->scheme->stretched ? value : most > least ? floor((value - least) * 100 / (most - least)) : 0;
}

/* The greatest score, first of equals. */
static int32_t best_node(const state *s, const scores *m)
{
    double least = HUGE_VAL, most = -HUGE_VAL;
    const size_t blocks = s->n_nodes / BLOCK + 1;
    for (size_t b = 0; b < blocks; b++) {
        least = m->least[b] < least ? m->least[b] : least;
        most = m->most[b] > most ? m->most[b] : most;
    }
    if (!(most > -HUGE_VAL)) {
        return -1;
    }
    const double best = compared(s, most, least, most);
    size_t i = 0;
    while (m->most[i / BLOCK] == -HUGE_VAL || compared(s, m->most[i / BLOCK], least, most) < best) {
        i += BLOCK;
    }
    while (m->value[i] == -HUGE_VAL || compared(s, m->value[i], least, most) < best) {
        i++;
    }
    return (int32_t)i;
}

static void take_gpus(state *s, int32_t node, const dls_fgd_request *r, int32_t gpu,
                      dls_fgd_place *out)
{
    dls_fgd_left *left = &s->left[node];
    dls_fgd_held *held = &s->held[node];
    out->node = node;
    out->gpus = gpu >= 0 ? UINT32_C(1) << gpu : dls_fgd_choose_gpus(left, r);
    dls_fgd_take(left, r, out->gpus);
    if (r->gpu_milli == DLS_FGD_MILLI) {
        held->gangs[r->gpus]++;
    } else if (r->gpus > 0) {
        held->shares++;
    }
    if (s->scheme->fragmentation) {
        held->fragmentation = dls_fgd_fragmentation(left, s->typical, s->world.n_typical);
    }
    s->changed[s->n_changes++] = node;
    s->last[node] = s->n_changes;
}

dls_status dls_fgd_run(const dls_fgd_input *in, const char *policy, bool exact, uint64_t seed,
                       const int32_t *kind, size_t n, dls_fgd_place *out,
                       void (*watch)(void *user, size_t pod), void *user, dls_error *err)
{
    DLS_OWN(close_state)
    state s = {.scheme = dls_fgd_find_scheme(policy), .world = {.exact = exact}};
    if (!s.scheme) {
        return dls_fail(err, DLS_EINPUT, NULL, "there is no policy '%s'", policy);
    }
    s.rng = dls_rng_stream(seed, DLS_RNG_PLACEMENT, 0);
    DLS_TRY(open_state(&s, in, n, err));
    for (size_t i = 0; i < n; i++) {
        scores *m = NULL;
        DLS_TRY(bring_up(&s, in, kind[i], &m, err));
        const int32_t node = s.scheme->drawn ? draw_node(&s, m) : best_node(&s, m);
        out[i] = (dls_fgd_place){.node = -1};
        if (node >= 0) {
            const dls_fgd_request *r = &in->kind[kind[i]];
            const int32_t gpu = s.scheme->drawn ? draw_gpu(&s, &s.left[node], r) : m->gpu[node];
            take_gpus(&s, node, r, gpu, &out[i]);
        }
        if (watch) {
            watch(user, i);
        }
    }
    return DLS_OK;
}

/* ---- the published experiment ---------------------------------------------------------------- */

typedef struct watching {
    const dls_fgd_input *in;
    const int32_t *kind;
    const dls_fgd_place *place;
    int64_t total, arrived, allocated; /* milli */
    double *percent;
    int32_t next;
} watching;

static void watch_pod(void *user, size_t pod)
{
    watching *w = user;
    const dls_fgd_request *r = &w->in->kind[w->kind[pod]];
    const int64_t milli = (int64_t)r->gpus * r->gpu_milli;
    w->arrived += milli;
    w->allocated += w->place[pod].node >= 0 ? milli : 0;
    while (w->next < DLS_FGD_PERCENT && w->arrived * 100 >= w->total * w->next) {
        w->percent[w->next++] = 100 * (double)w->allocated / (double)w->total;
    }
}

/* All pods in random order, then more drawn from them. Returns how many. */
static size_t draw_pods(const dls_fgd_input *in, uint64_t seed, double most, int32_t *kind,
                        size_t room)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_ARRIVALS, 0);
    double arrived = 0;
    size_t n = in->n_pods;
    for (size_t i = 0; i < n; i++) {
        const size_t at = (size_t)dls_rng_below(&rng, i + 1);
        kind[i] = kind[at];
        kind[at] = in->pod_kind[i];
    }
    for (size_t i = 0; i < n; i++) {
        arrived += (double)in->kind[kind[i]].gpus * in->kind[kind[i]].gpu_milli;
    }
    while (n < room && in->n_pods > 0) {
        const int32_t k = in->pod_kind[dls_rng_below(&rng, in->n_pods)];
        const dls_fgd_request *r = &in->kind[k];
        if (arrived + r->gpu_milli > most) {
            break;
        }
        arrived += (double)r->gpus * r->gpu_milli;
        kind[n++] = k;
    }
    return n;
}

dls_status dls_fgd_experiment(const dls_fgd_input *in, const char *policy, bool exact,
                              uint64_t seed, double load, double allocated[DLS_FGD_PERCENT],
                              dls_error *err)
{
    DLS_FREED int32_t *kind = NULL;
    DLS_FREED dls_fgd_place *place = NULL;
    DLS_FREED dls_fgd_node *node = NULL;
    dls_fgd_input shuffled = *in;
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_PLACEMENT, 1);
    int64_t total = 0;
    for (size_t i = 0; i < in->n_nodes; i++) {
        total += (int64_t)in->node[i].gpus * DLS_FGD_MILLI;
    }
    const size_t room = 2 * in->n_pods + 1000000;
    DLS_TRY(DLS_ALLOC_ALL("pods", err, DLS_ARRAY(kind, room), DLS_ARRAY(place, room),
                          DLS_ARRAY(node, in->n_nodes + 1)));
    shuffled.node = node;
    for (int32_t p = 0; p < DLS_FGD_PERCENT; p++) {
        allocated[p] = (double)NAN;
    }
    for (size_t i = 0; i < in->n_nodes; i++) {
        const size_t at = (size_t)dls_rng_below(&rng, i + 1);
        node[i] = node[at];
        node[at] = in->node[i];
    }
    watching w = {in, kind, place, total, 0, 0, allocated, 0};
    const size_t n = draw_pods(in, seed, load * (double)total, kind, room);
    DLS_TRY(dls_fgd_run(&shuffled, policy, exact, seed, kind, n, place, watch_pod, &w, err));
    if (w.next == DLS_FGD_PERCENT - 1 && load >= 1.3) { /* the last pods did not pass it */
        allocated[w.next] = 100 * (double)w.allocated / (double)total;
    }
    return DLS_OK;
}
