/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a placement costs as the cluster grows: one JSON object a line. Clusters of 128 to 100,000
 * nodes of 8 GPUs are filled to 90 % with a mix of gangs, then gangs leave and come at random.
 * --smoke: the two small clusters only.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "placement/index.h"
#include "support/sim_case.h"

#include <time.h>

#define GANGS 4096 /* at most; half as many as nodes */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct gang {
    dls_part part[64];
    uint64_t mask[64];
    size_t n;
};

static int32_t draw_size(dls_rng *rng)
{
    static const int32_t size[] = {1, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 32};
    return size[dls_rng_below(rng, sizeof size / sizeof *size)];
}

static bool place(const dls_placement_ops *ops, dls_place_index *index, dls_grant *grant,
                  int32_t gpus, int32_t id, struct gang *g)
{
    const dls_request r = {.job = id, .gpus = gpus, .seed = 1};
    grant->n = 0;
    grant->gpus = 0;
    g->n = 0;
    if (index->free_gpus < gpus || !ops->place(NULL, index, &r, grant) || grant->n > 64) {
        return false;
    }
    for (size_t i = 0; i < grant->n; i++) {
        g->part[i] = grant->part[i];
        g->mask[i] = dls_place_take(index, g->part[i].node, g->part[i].gpus, 0, 0);
    }
    g->n = grant->n;
    return true;
}

static void leave(dls_place_index *index, struct gang *g)
{
    for (size_t i = 0; i < g->n; i++) {
        dls_place_give(index, g->part[i].node, g->mask[i], 0, 0);
    }
    g->n = 0;
}

static void measure(const dls_placement_ops *ops, int nodes, int rounds)
{
    static struct gang gang[GANGS];
    dls_cluster_spec spec = case_cluster(nodes, 8, 32);
    dls_place_index *index;
    dls_grant grant = {0};
    dls_error err;
    if (dls_place_index_create(&spec, &index, &err) != DLS_OK) {
        case_fail(&err);
    }
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, (uint64_t)nodes);
    /* Fill most of a large cluster for good, node by node with holes of every size. */
    for (int node = 0; node < nodes; node++) {
        if (dls_rng_below(&rng, 10) > 0) {
            dls_place_take(index, node, (int32_t)dls_rng_below(&rng, 9), 0, 0);
        }
    }
    const int n_gangs = nodes / 2 < GANGS ? nodes / 2 : GANGS;
    memset(gang, 0, sizeof gang);
    uint64_t placed = 0, gave = 0;
    const double start = now_ns();
    for (int k = 0; k < rounds; k++) {
        struct gang *g = &gang[dls_rng_below(&rng, (uint64_t)n_gangs)];
        leave(index, g);
        gave++;
        placed += place(ops, index, &grant, draw_size(&rng), k, g);
    }
    const double ns = (now_ns() - start) / rounds;
    printf("{\"placement\": \"%s\", \"nodes\": %d, \"ns_per_place_and_give\": %.0f, "
           "\"placed_frac\": %.3f}\n",
           ops->name, nodes, ns, (double)placed / (double)gave);
    dls_free(grant.part);
    dls_place_index_destroy(index);
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
