/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random graphs for the tests and benchmarks of the inspector.
 */
#ifndef DLS_TESTS_INSPECTOR_GRAPHS_H
#define DLS_TESTS_INSPECTOR_GRAPHS_H

#include "base/rng.h"
#include "dlsim/predictor.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct graph_kind {
    double density; /* chance of an edge; 1: complete */
    bool asymmetric;
    bool weighted; /* weights in (0, 2) */
} graph_kind;

static inline void random_graph_free(dls_graph *g)
{
    free((void *)(uintptr_t)g->x);
    free((void *)(uintptr_t)g->row_start);
    free((void *)(uintptr_t)g->col);
    free((void *)(uintptr_t)g->weight);
    *g = (dls_graph){0};
}

/* Exits the test program when memory is out: *g is complete on return. */
static inline void random_graph(dls_graph *g, int32_t n_nodes, int32_t n_features, uint64_t seed,
                                graph_kind kind)
{
    const size_t n = (size_t)n_nodes;
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 0);
    unsigned char *adj = calloc(n * n, 1);
    double *x = malloc(n * (size_t)n_features * sizeof *x);
    int64_t *row_start = calloc(n + 1, sizeof *row_start);
    int32_t *col = malloc((n * n + 1) * sizeof *col);
    double *weight = malloc((n * n + 1) * sizeof *weight);
    if (!adj || !x || !row_start || !col || !weight) {
        abort();
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (kind.asymmetric ? i != j : j < i) {
                adj[i * n + j] = dls_rng_unit(&rng) < kind.density;
            }
        }
    }
    int64_t edges = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (adj[i * n + j] || (!kind.asymmetric && adj[j * n + i])) {
                col[edges] = (int32_t)j;
                weight[edges++] = 2 * dls_rng_unit(&rng) + 1e-3;
            }
        }
        row_start[i + 1] = edges;
    }
    for (size_t i = 0; i < n * (size_t)n_features; i++) {
        x[i] = dls_rng_unit(&rng);
    }
    free(adj);
    if (!kind.weighted) {
        free(weight);
        weight = NULL;
    }
    *g = (dls_graph){n_nodes, n_features, x, row_start, col, weight};
}

#endif
