/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/driple/backend.h"

#include <math.h>

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
    for (size_t i = 0; i < n * f; i++) {
        if (!isfinite(g->x[i])) {
            return dls_fail(err, DLS_EINPUT, where, "node %zu: feature %zu is %s", i / f, i % f,
                            isnan(g->x[i]) ? "NaN" : "infinite");
        }
    }
    if (g->row_start[0] != 0) {
        return dls_fail(err, DLS_EINPUT, where, "the adjacency does not start at 0");
    }
    for (size_t i = 0; i < n; i++) {
        if (g->row_start[i + 1] < g->row_start[i]) {
            return dls_fail(err, DLS_EINPUT, where, "node %zu: the adjacency runs backwards", i);
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
