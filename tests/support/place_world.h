/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random clusters and random takes and gives, for the property tests of placement.
 */
#ifndef DLS_TESTS_PLACE_WORLD_H
#define DLS_TESTS_PLACE_WORLD_H

#include "base/rng.h"
#include "cluster/index.h"
#include "support/sim_case.h"
#include "support/test.h"

#define MAX_HELD 64

/* A gang that was placed: its grant and the masks that were taken. */
typedef struct gang {
    dls_request r;
    size_t n;
    int32_t node[64], gpus[64];
    uint64_t mask[64];
} gang;

typedef struct world {
    dls_cluster_spec spec;
    dls_place_index *x;
    gang held[MAX_HELD];
    int n_held;
    dls_rng rng;
} world;

static inline int32_t below(world *w, uint64_t n)
{
    return (int32_t)dls_rng_below(&w->rng, n);
}

static inline void make_world(world *w, uint64_t seed)
{
    static const int32_t sizes[] = {1, 2, 3, 4, 4, 8, 8, 16};
    memset(w, 0, sizeof *w);
    w->rng = dls_rng_stream(seed, DLS_RNG_TEST, 5);
    dls_cluster_spec *s = &w->spec;
    const bool side = below(w, 3) == 0;
    s->rack_uplink_bps = below(w, 2) * 1e9;
    s->n_types = 1 + below(w, 2);
    s->n_groups = s->n_types + below(w, 2);
    s->groups = calloc((size_t)s->n_groups, sizeof *s->groups);
    for (int32_t t = 0; t < s->n_types; t++) {
        snprintf(s->types[t].name, sizeof s->types[t].name, "type%d", t);
        s->types[t].mem_gib = 16;
    }
    for (int32_t g = 0; g < s->n_groups; g++) {
        dls_node_group *p = &s->groups[g];
        snprintf(p->name, sizeof p->name, "group%d", g);
        p->nodes = 1 + below(w, 7);
        p->gpus_per_node = sizes[below(w, sizeof sizes / sizeof *sizes)];
        p->nodes_per_rack = below(w, 4);
        p->type = g < s->n_types ? g : below(w, (uint64_t)s->n_types);
        p->cpus_per_node = side ? 4 + below(w, 30) : 0;
        p->mem_gib_per_node = side ? 8 + below(w, 60) : 0;
        p->nic_bps = below(w, 3) * 1e9;
    }
    dls_error err;
    if (dls_cluster_spec_check(s, &err) != DLS_OK ||
        dls_place_index_create(s, &w->x, &err) != DLS_OK) {
        case_fail(&err);
    }
}

static inline dls_request draw_request(world *w, bool side)
{
    const int32_t type = below(w, (uint64_t)w->spec.n_types);
    const int32_t most = w->x->type[type].max_gpus;
    dls_request r = {.job = below(w, 1000),
                     .type = type,
                     .attempt = below(w, 3),
                     .seed = (uint64_t)below(w, 50)};
    switch (below(w, 4)) {
    case 0:
        r.gpus = 1 + below(w, (uint64_t)most);
        break;
    case 1:
        r.gpus = most * (1 + below(w, 3));
        break;
    default:
        r.gpus = 1 + below(w, (uint64_t)w->x->type[type].total_gpus);
    }
    if (side && w->x->accounts_cpu && below(w, 2)) {
        r.cpu_milli_per_gpu = 1 + below(w, 6000);
    }
    if (side && w->x->accounts_mem && below(w, 2)) {
        r.mem_mib_per_gpu = 1 + below(w, 9000);
    }
    return r;
}

/* GPUs of the node that the request may use, for want of type, CPU or memory fewer than are free.
 */
static inline int32_t usable(const world *w, const dls_request *r, int32_t node)
{
    const dls_node *p = &w->x->node[node];
    int32_t n = 0;
    if (p->type != r->type) {
        return 0;
    }
    while (n < p->free && (n + 1) * r->cpu_milli_per_gpu <= p->free_cpu_milli &&
           (n + 1) * r->mem_mib_per_gpu <= p->free_mem_mib) {
        n++;
    }
    return n;
}

typedef struct answer {
    bool placed;
    size_t n;
    int32_t node[64], gpus[64];
} answer;

/* state: of the policy, NULL if it has none. */
static inline answer ask(const world *w, const char *policy, void *state, const dls_request *r)
{
    dls_grant grant = {0};
    answer a = {0};
    a.placed = case_placement(policy)->place(state, w->x, r, &grant);
    assert_false(grant.failed);
    if (a.placed) {
        assert_true(grant.n <= 64);
        a.n = grant.n;
        for (size_t i = 0; i < grant.n; i++) {
            a.node[i] = grant.part[i].node;
            a.gpus[i] = grant.part[i].gpus;
        }
    }
    dls_grant_fini(&grant);
    return a;
}

/* Exactly the GPUs asked for, of the type, from nodes that have them with CPU and memory. */
static inline void check_legal(const world *w, const dls_request *r, const answer *a)
{
    int64_t sum = 0;
    for (size_t i = 0; i < a->n; i++) {
        assert_in_range(a->node[i], 0, w->x->n_nodes - 1);
        assert_in_range(a->gpus[i], 1, 64);
        assert_true(a->gpus[i] <= usable(w, r, a->node[i]));
        for (size_t k = 0; k < i; k++) {
            assert_int_not_equal(a->node[i], a->node[k]);
        }
        sum += a->gpus[i];
    }
    assert_int_equal(sum, r->gpus);
}

static inline void take(world *w, const dls_request *r, const answer *a)
{
    gang *g = &w->held[w->n_held++];
    *g = (gang){.r = *r, .n = a->n};
    for (size_t i = 0; i < a->n; i++) {
        const uint64_t free_mask = w->x->node[a->node[i]].free_mask;
        g->node[i] = a->node[i];
        g->gpus[i] = a->gpus[i];
        g->mask[i] = dls_place_take(w->x, a->node[i], a->gpus[i], r->cpu_milli_per_gpu * a->gpus[i],
                                    r->mem_mib_per_gpu * a->gpus[i]);
        assert_int_equal(__builtin_popcountll(g->mask[i]), a->gpus[i]);
        assert_true((g->mask[i] & ~free_mask) == 0);
        /* The lowest ones. */
        assert_true((free_mask & ~g->mask[i]) == 0 ||
                    (g->mask[i] & -g->mask[i]) <= (free_mask & -free_mask));
        /* What is taken cannot be taken again. */
        assert_false(dls_place_retake(w->x, a->node[i], g->mask[i], 0, 0));
    }
}

static inline void give(world *w, int k)
{
    gang *g = &w->held[k];
    for (size_t i = 0; i < g->n; i++) {
        const int64_t cpu = g->r.cpu_milli_per_gpu * g->gpus[i],
                      mem = g->r.mem_mib_per_gpu * g->gpus[i];
        dls_place_give(w->x, g->node[i], g->mask[i], cpu, mem);
        /* Taken back exactly, and given again. */
        if (below(w, 4) == 0) {
            assert_true(dls_place_retake(w->x, g->node[i], g->mask[i], cpu, mem));
            dls_place_give(w->x, g->node[i], g->mask[i], cpu, mem);
        }
    }
    *g = w->held[--w->n_held];
}

#endif
