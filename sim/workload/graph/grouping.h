/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From the operations of a training step to the few nodes that the inspector reads: Driple's rules
 * (docs/graphs.md). Operations on a GPU are kept, undirected edges follow each node's inputs in
 * order, isolated nodes go, the largest connected part stays; then nodes are grouped.
 *
 *      operations  --keep-->  connected part  --group-->  k groups, symmetric, no self loops
 */
#ifndef DLS_GRAPH_GROUPING_H
#define DLS_GRAPH_GROUPING_H

#include "workload/graph/fluid.h"
#include "workload/graph/graph.h"

/* XX(id, text) */
#define DLS_GROUPING_MAP(XX)                                                                       \
    XX(NONE, "none")       /* every kept operation is a group */                                   \
    XX(UNIFORM, "uniform") /* the same number of groups for every graph: fluid communities */      \
    XX(PROPORTIONAL, "proportional") /* as many groups as dls_grouping_proportional says */

typedef enum dls_grouping_kind {
#define XX(id, text) DLS_GROUPING_##id,
    DLS_GROUPING_MAP(XX)
#undef XX
        DLS_GROUPING_COUNT
} dls_grouping_kind;

bool dls_grouping_find(const char *name, dls_grouping_kind *out);

#define DLS_GROUPS_DEFAULT 100
#define DLS_GROUPING_SEED 42

/* The operations that count, and who is next to whom. */
typedef struct dls_kept {
    int32_t *node; /* [adjacency.n] index in the graph, ascending */
    dls_adjacency adjacency;
    int32_t n_gpu; /* operations on a GPU before isolates and smaller parts went */
} dls_kept;

/* EINPUT: nothing on a GPU is connected to anything. O(nodes + edges). */
dls_status dls_kept_create(const dls_opgraph *g, dls_kept *out, dls_error *err) DLS_MUST_CHECK;
void dls_kept_fini(dls_kept *kept);

typedef struct dls_grouping {
    int32_t n_groups;
    int32_t n_nodes;    /* of the graph */
    int32_t *group;     /* [n_nodes], -1: not kept */
    int64_t *row_start; /* [n_groups + 1] */
    int32_t *col;       /* neighbouring groups, ascending */
} dls_grouping;

/* Fluid communities with n_groups (uniform, proportional), or one group per operation (none,
 * n_groups is ignored). EINPUT: more groups than kept nodes. */
dls_status dls_grouping_create(const dls_opgraph *g, dls_grouping_kind kind, int32_t n_groups,
                               uint64_t seed, dls_grouping *out, dls_error *err) DLS_MUST_CHECK;
/* The same from labels of the kept nodes, 0..n_groups-1, each used: label[kept->adjacency.n]. */
dls_status dls_grouping_from_labels(const dls_opgraph *g, const dls_kept *kept,
                                    const int32_t *label, int32_t n_groups, dls_grouping *out,
                                    dls_error *err) DLS_MUST_CHECK;
void dls_grouping_fini(dls_grouping *grouping);

/* Groups per graph under proportional grouping: graphs are sorted by kept operations and cut into
 * batches of batch_size; the graphs of a batch share round(v / log10(v)) groups, v being the mean
 * of their kept operations, at most the least of them. n_kept[n_graphs] >= 1 each. ENOMEM. */
dls_status dls_grouping_proportional(const int32_t *n_kept, size_t n_graphs, size_t batch_size,
                                     int32_t *n_groups, dls_error *err) DLS_MUST_CHECK;

/* How several graphs are grouped. */
typedef struct dls_grouping_how {
    dls_grouping_kind kind;
    int32_t n_groups; /* uniform: of each */
    bool at_most;     /* uniform: graphs that keep fewer operations have as many groups as those */
    size_t batch;     /* proportional */
    uint64_t seed;
} dls_grouping_how;
/* out[n] are zeros at first, and to be ended in any case. Errors: those of dls_grouping_create. */
dls_status dls_groupings_create(dls_opgraph *const *graph, size_t n, const dls_grouping_how *how,
                                dls_grouping *out, dls_error *err) DLS_MUST_CHECK;

/* Driple's size of a tensor from its static shape: the product of the dimensions, started anew
 * after an unknown (-1) or zero one; a scalar and an unknown rank (n_dims <= 0) give 0. */
int64_t dls_driple_tensor_size(const int64_t *dims, int n_dims);
/* The producer that an input of a GraphDef node names: what stands before the first ':', or, if
 * there is none, the text without its first character if it holds a '^'. Returns its length;
 * *start points into input. */
size_t dls_driple_input_name(const char *input, const char **start);

#endif
