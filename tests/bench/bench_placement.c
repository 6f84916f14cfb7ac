/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a placement costs as the cluster grows: one JSON object a line. Clusters of 128 to 100,000
 * nodes of 8 GPUs are filled to 90 % with a mix of gangs, then gangs leave and come at random.
 * --smoke: the two small clusters only.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "cluster/index.h"
#include "dlsim/predictor.h"
#include "engine/pace.h"
#include "support/bench.h"
#include "support/sim_case.h"

#define GANGS 4096 /* at most; half as many as nodes */

struct gang {
    dls_place_part part[64];
    uint64_t mask[64];
    size_t n;
    int32_t job;
};

static int32_t draw_size(dls_rng *rng)
{
    static const int32_t size[] = {1, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 32};
    return size[dls_rng_below(rng, sizeof size / sizeof *size)];
}

/* A predictor that costs next to nothing: the more nodes, the slower. */
static bool prediction(void *user, int32_t job, const dls_shape *shape, dls_prediction *out)
{
    *out = (dls_prediction){
        .iteration_s = 0.2 + 0.01 * (job % 5) * shape->n_nodes, .link_bps = 1e8, .mem_bytes = 1e9};
    out->remaining_s = 1e4 * out->iteration_s;
    out->metric[DLS_NET_TX_ACTIVE] = 0.1;
    return true;
}

static const dls_shape *candidates(void *user, int32_t job, int32_t gpus, size_t *n)
{
    static const dls_shape shape[2] = {{0, 8, 1, 1}, {0, 8, 2, 1}};
    *n = 2;
    return shape;
}

typedef struct policy {
    const dls_placement_ops *ops;
    void *state;
    dls_place_index *index;
    dls_grant grant;
    dls_place_predictor predictor;
} policy;

static bool place(policy *p, int32_t gpus, int32_t id, struct gang *g)
{
    int64_t retry_us = DLS_NEVER;
    int32_t node[64], count[64];
    const dls_request r = {.job = id,
                           .gpus = gpus,
                           .seed = 1,
                           .now_us = id * INT64_C(1000000),
                           .tensor_skew = 0.1 * (id % 10),
                           .predictor = &p->predictor,
                           .retry_us = &retry_us};
    dls_grant_reset(&p->grant);
    g->n = 0;
    g->job = r.job;
    if (p->index->free_gpus < gpus || !p->ops->place(p->state, p->index, &r, &p->grant) ||
        p->grant.n > 64) {
        return false;
    }
    for (size_t i = 0; i < p->grant.n; i++) {
        g->part[i] = p->grant.part[i];
        g->mask[i] = dls_place_take(p->index, g->part[i].node, g->part[i].gpus, 0, 0);
        node[i] = g->part[i].node;
        count[i] = g->part[i].gpus;
    }
    g->n = p->grant.n;
    if (p->ops->started) {
        p->ops->started(p->state, p->index, &r, node, count, g->n);
    }
    return true;
}

static void leave(policy *p, struct gang *g, int64_t now_us)
{
    for (size_t i = 0; i < g->n; i++) {
        dls_place_give(p->index, g->part[i].node, g->mask[i], 0, 0);
    }
    if (g->n > 0 && p->ops->stopped) {
        p->ops->stopped(p->state, p->index, g->job, now_us, 1000000);
    }
    g->n = 0;
}

static void measure(const dls_placement_ops *ops, int nodes, int rounds)
{
    static struct gang gang[GANGS];
    dls_cluster_spec spec = case_cluster(nodes, 8, 32);
    policy p = {.ops = ops, .predictor = {.prediction = prediction, .candidates = candidates}};
    dls_error err;
    spec.groups[0].nic_bps = 1e9;
    spec.rack_uplink_bps = 4e9;
    p.state = calloc(1, ops->state_bytes + 1);
    dls_option_value *values = case_defaults(ops->options);
    if (dls_place_index_create(&spec, &p.index, &err) != DLS_OK ||
        (ops->init && ops->init(p.state, p.index, values, &err) != DLS_OK)) {
        case_fail(&err);
    }
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, (uint64_t)nodes);
    /* Fill most of a large cluster for good, node by node with holes of every size. */
    for (int node = 0; node < nodes; node++) {
        if (dls_rng_below(&rng, 10) > 0) {
            dls_place_take(p.index, node, (int32_t)dls_rng_below(&rng, 9), 0, 0);
        }
    }
    const int n_gangs = nodes / 2 < GANGS ? nodes / 2 : GANGS;
    memset(gang, 0, sizeof gang);
    uint64_t placed = 0, gave = 0;
    const double start = cpu_s() * 1e9;
    for (int k = 0; k < rounds; k++) {
        struct gang *g = &gang[dls_rng_below(&rng, (uint64_t)n_gangs)];
        leave(&p, g, k * INT64_C(1000000));
        gave++;
        placed += place(&p, draw_size(&rng), k, g);
    }
    const double ns = (cpu_s() * 1e9 - start) / rounds;
    printf("{\"placement\": \"%s\", \"nodes\": %d, \"ns_per_place_and_give\": %.0f, "
           "\"placed_frac\": %.3f}\n",
           ops->name, nodes, ns, (double)placed / (double)gave);
    if (ops->fini) {
        ops->fini(p.state);
    }
    free(p.state);
    dls_free(values);
    dls_grant_fini(&p.grant);
    dls_place_index_destroy(p.index);
    free(spec.groups);
}

int main(int argc, char **argv)
{
    static const int nodes[] = {128, 1024, 10240, 102400};
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    for (const dls_placement_ops *const *p = dls_placements(); *p; p++) {
        for (int i = 0; i < (smoke ? 2 : 4); i++) {
            measure(*p, nodes[i], smoke ? 5000 : 200000);
        }
    }
    return 0;
}
