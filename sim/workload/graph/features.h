/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the inspector is told of a group of operations. A feature spec is everything that turns a
 * graph into a row per group: which columns (a version), how often each operation occurs in a
 * corpus, and the scale of each column. It is made from the training graphs and stored with them,
 * because a prediction means nothing under another scale.
 *
 *      version 1 (driple)  tensor_size, n_nodes, node_type: Driple's three, in its order
 *      version 2 (work)    and flops, traffic_bytes, param_bytes, n_backward, n_update
 *      version 3 (total)   and, the same in every row, the whole graph's flops, traffic_bytes,
 *                          bytes and number of updates (what workers exchange), output_bytes,
 *                          executions, and the bytes of a value.
 *                          A network sees logarithms of the groups and would have to learn to add
 *                          what they stand for
 *      version 4 (kernels) and, of the whole graph, FLOPs by what computes them (1 x 1 convolutions, 3 x 3
 *                          and 5 x 5 ones with stride 1, other ones, matrix products), the traffic of
 *                          everything else but updates, runs of convolutions and products, FLOPs of updates
 *                          (they tell optimisers apart), and the bytes of the largest update (it cannot be
 *                          shared out among servers)
 *      version 5 (own)     the columns of version 4, every group's own sums in place of the graph's
 *
 * Normalised value = f(raw) / scale, f being log(1 + x) for sizes and counts of work and x for the
 * number of nodes and node_type; scale is the greatest f(raw) of the corpus, 1 if that is 0. The
 * published code has no normalisation, and the scale of its data is unknown.
 */
#ifndef DLS_GRAPH_FEATURES_H
#define DLS_GRAPH_FEATURES_H

#include "base/own.h"
#include "dlsim/predictor.h"
#include "workload/graph/grouping.h"

#define DLS_FEATURES_MAX 23

/* XX(id, text, number of columns) */
#define DLS_FEATURES_MAP(XX)                                                                       \
    XX(DRIPLE, "driple", 3)                                                                        \
    XX(WORK, "work", 8)                                                                            \
    XX(TOTAL, "total", 15)                                                                         \
    XX(KERNELS, "kernels", 23)                                                                     \
    XX(OWN, "own", 23)

typedef enum dls_features_version {
    DLS_FEATURES_VERSION_NONE,
#define XX(id, text, n) DLS_FEATURES_##id,
    DLS_FEATURES_MAP(XX)
#undef XX
        DLS_FEATURES_VERSION_END
} dls_features_version;

/* "driple", "work"; NULL out of range */
const char *dls_features_version_name(int version);
/* "tensor_size", ...; NULL out of range */
const char *dls_feature_name(int32_t column);

typedef struct dls_feature_spec {
    dls_features_version version;
    int32_t n_features;
    dls_strdict ops;   /* operations of the corpus */
    double *frequency; /* [ops.n] share of all operations */
    size_t frequency_cap;
    double fallback;                /* of an operation that is not in the corpus */
    double scale[DLS_FEATURES_MAX]; /* 1 until dls_feature_spec_fit */
} dls_feature_spec;

dls_status dls_feature_spec_create(dls_features_version version, dls_feature_spec **out,
                                   dls_error *err) DLS_MUST_CHECK;
void dls_feature_spec_destroy(dls_feature_spec *spec); /* NULL-safe */
DLS_OWNER(dls_feature_spec, dls_feature_spec_destroy)
/* The frequency of one operation, 0..1; the fallback is the least one. EINPUT. */
dls_status dls_feature_spec_set(dls_feature_spec *spec, const char *op, double frequency,
                                dls_error *err) DLS_MUST_CHECK;

/* One graph of a corpus. Borrowed. */
typedef struct dls_grouped {
    const dls_opgraph *graph;
    const dls_grouping *grouping;
} dls_grouped;

/* Frequencies (all operations of the graphs, wherever they are placed) and scales from a corpus;
 * what the spec held is replaced. Every group counts once. */
dls_status dls_feature_spec_fit(dls_feature_spec *spec, const dls_grouped *corpus, size_t n,
                                dls_error *err) DLS_MUST_CHECK;

/* x[n_groups][n_features] as they are, and divided by the scale. *n_unknown (may be NULL): kept
 * operations that are not in the table and got the fallback. */
dls_status dls_features_raw(const dls_feature_spec *spec, const dls_opgraph *g,
                            const dls_grouping *grouping, double *x, int64_t *n_unknown,
                            dls_error *err) DLS_MUST_CHECK;
dls_status dls_features(const dls_feature_spec *spec, const dls_opgraph *g,
                        const dls_grouping *grouping, double *x, int64_t *n_unknown,
                        dls_error *err) DLS_MUST_CHECK;

/* Raw rows, in place, to what dls_features gives. */
void dls_features_normalise(const dls_feature_spec *spec, double *x, int32_t n_rows);

/* ---- files (docs/graphs.md) ------------------------------------------------------------------ */

/* A file that `dlsim predict` reads: group <name of the graph>/ with adj [N][N] and x [N][F] for
 * each, the normalised features, and the spec under /features. Names are the models', made unique
 * by a suffix. EOUTPUT. */
dls_status dls_grouped_save(const char *path, const dls_feature_spec *spec,
                            const dls_grouped *graphs, size_t n, dls_error *err) DLS_MUST_CHECK;

#endif
