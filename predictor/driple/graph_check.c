/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Validates a graph before prediction: sizes, neighbour lists, finite features. A branch-free test
 * passes good graphs quickly; only a graph that fails it is searched for the words of the error.
 */
#include "predictor/driple/backend.h"

#include <math.h>
#include <stdint.h>

/* 0 if all are finite, for 0 x is NaN where x is not. Four sums, so that they overlap. */
static double finite_sum(const double *x, size_t n)
{
    double sum[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (size_t k = 0; k < 4; k++) {
            sum[k] += 0 * x[i + k];
        }
    }
    for (; i < n; i++) {
        sum[0] += 0 * x[i];
    }
    return sum[0] + sum[1] + sum[2] + sum[3];
}

/* Is there nothing to say? Loops without branches, because every graph of a large batch passes here
 * before anything else can start; the checks below then find the words. n_nodes, n_features and
 * row_start are right. */
static bool plainly_good(const dls_graph *g)
{
    const int32_t n = g->n_nodes;
    const int64_t edges = g->row_start[n];
    if (edges > INT32_MAX || finite_sum(g->x, (size_t)n * (size_t)g->n_features) != 0) {
        return false;
    }
    /* Columns ascend in every row if they fall back only where one begins. */
    int32_t outside = 0;
    int32_t falls = 0;
    for (int64_t e = 0; e < edges; e++) {
        outside |= (g->col[e] < 0) | (g->col[e] >= n);
    }
    for (int64_t e = 1; e < edges; e++) {
        falls += g->col[e] <= g->col[e - 1];
    }
    for (int32_t i = 1; i < n; i++) {
        const int64_t e = g->row_start[i];
        falls -= e > 0 && e < g->row_start[i + 1] && g->col[e] <= g->col[e - 1];
    }
    int32_t negative = 0;
    for (int64_t e = 0; g->weight && e < edges; e++) {
        negative |= g->weight[e] < 0;
    }
    return !outside && falls == 0 && !negative &&
           (!g->weight || finite_sum(g->weight, (size_t)edges) == 0);
}

dls_status dls_graph_check(const dls_graph *g, int32_t n_features, const char *where,
                           dls_error *err)
{
    if (g->n_nodes < 1) {
        return dls_fail(err, DLS_EINPUT, where, "the graph has no nodes");
    }
    if (g->n_features != n_features) {
        return dls_fail(err, DLS_EINPUT, where, "%d features per node where the inspector wants %d",
                        (int)g->n_features, (int)n_features);
    }
    const size_t n = (size_t)g->n_nodes;
    const size_t f = (size_t)n_features;
    if (g->row_start[0] != 0) {
        return dls_fail(err, DLS_EINPUT, where, "the adjacency does not start at 0");
    }
    for (size_t i = 0; i < n; i++) {
        if (g->row_start[i + 1] < g->row_start[i]) {
            return dls_fail(err, DLS_EINPUT, where, "node %zu: the adjacency runs backwards", i);
        }
    }
    if (plainly_good(g)) {
        return DLS_OK;
    }
    for (size_t i = 0; i < n * f; i++) {
        if (!isfinite(g->x[i])) {
            return dls_fail(err, DLS_EINPUT, where, "node %zu: feature %zu is %s", i / f, i % f,
                            isnan(g->x[i]) ? "NaN" : "infinite");
        }
    }
    for (size_t i = 0; i < n; i++) {
        int32_t before = -1;
        for (int64_t e = g->row_start[i]; e < g->row_start[i + 1]; e++) {
            const int32_t j = g->col[e];
            if (j <= before || j >= g->n_nodes) {
                return dls_fail(err, DLS_EINPUT, where,
                                "node %zu: neighbour %d is out of range or out of order", i,
                                (int)j);
            }
            before = j;
            if (g->weight && !(isfinite(g->weight[e]) && g->weight[e] >= 0)) {
                return dls_fail(err, DLS_EINPUT, where,
                                "edge (%zu, %d): weight %g, expected a finite number >= 0", i,
                                (int)j, g->weight[e]);
            }
        }
    }
    return DLS_OK;
}

void dls_graph_extent(const dls_graph *g, int64_t *edges, int32_t *degree)
{
    *edges = g->row_start[g->n_nodes] > *edges ? g->row_start[g->n_nodes] : *edges;
    for (int32_t k = 0; k < g->n_nodes; k++) {
        const int32_t d = (int32_t)(g->row_start[k + 1] - g->row_start[k]);
        *degree = d > *degree ? d : *degree;
    }
}
