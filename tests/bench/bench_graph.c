/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Graphs: time to build, group and describe; fluid communities on 100 000 nodes. Prints JSON;
 * --smoke: a tenth of the size.
 */
#include "predictor/graph/features.h"
#include "predictor/graph/zoo.h"

#include "base/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(dls_status status, const dls_error *err)
{
    if (status != DLS_OK) {
        fprintf(stderr, "%s: %s\n", err->where, err->msg);
        exit(1);
    }
}

/* A chain with shortcuts of up to 200 nodes, as training graphs have them. */
static void bench_fluid(int32_t n, int32_t k, const char *end)
{
    dls_error err;
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, 0);
    int32_t(*edges)[2] = malloc(2 * (size_t)n * sizeof *edges);
    int32_t *label = malloc((size_t)n * sizeof *label);
    if (!edges || !label) {
        exit(1);
    }
    int32_t n_edges = 0;
    for (int32_t v = 1; v < n; v++) {
        const int32_t far = (int32_t)dls_rng_below(&rng, (uint64_t)(v < 200 ? v : 200)) + 1;
        edges[n_edges][0] = v - 1;
        edges[n_edges++][1] = v;
        edges[n_edges][0] = v - far;
        edges[n_edges++][1] = v;
    }
    dls_adjacency a;
    check(dls_adjacency_create(n, (const int32_t(*)[2])edges, n_edges, &a, &err), &err);
    const double begin = now_s();
    check(dls_fluid(&a, k, 42, DLS_FLUID_MAX_ITER, label, &err), &err);
    printf("    {\"nodes\": %d, \"edges\": %d, \"groups\": %d, \"fluid_s\": %.4f}%s\n", (int)n,
           (int)n_edges, (int)k, now_s() - begin, end);
    dls_adjacency_fini(&a);
    free(edges);
    free(label);
}

static void bench_zoo(void)
{
    dls_error err;
    double build_s = 0;
    double group_s = 0;
    int64_t nodes = 0;
    for (size_t i = 0; i < dls_zoo_size(); i++) {
        const dls_zoo_model *m = dls_zoo_at(i);
        const dls_zoo_options o = dls_zoo_defaults(m);
        dls_opgraph *g;
        dls_grouping grouping;
        const double begin = now_s();
        check(dls_zoo_build(m, &o, &g, &err), &err);
        const double built = now_s();
        check(dls_grouping_create(g, DLS_GROUPING_UNIFORM, DLS_GROUPS_DEFAULT, DLS_GROUPING_SEED,
                                  &grouping, &err),
              &err);
        group_s += now_s() - built;
        build_s += built - begin;
        nodes += g->n_nodes;
        dls_grouping_fini(&grouping);
        dls_opgraph_destroy(g);
    }
    printf("  \"zoo\": {\"models\": %zu, \"nodes\": %lld, \"build_s\": %.4f, \"group_s\": %.4f},\n",
           dls_zoo_size(), (long long)nodes, build_s, group_s);
}

int main(int argc, char **argv)
{
    const int32_t n = argc > 1 && strcmp(argv[1], "--smoke") == 0 ? 10000 : 100000;
    puts("{");
    bench_zoo();
    puts("  \"fluid\": [");
    bench_fluid(n, 10, ",");
    bench_fluid(n, 100, ",");
    bench_fluid(n, 1000, "");
    puts("  ]\n}");
    return 0;
}
