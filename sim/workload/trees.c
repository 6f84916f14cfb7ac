/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Boosted trees, grown level by level: for each feature one histogram of all nodes of a level.
 */
#include "workload/trees.h"

#include "base/assert.h"

#include <string.h>

/* Chosen on Helios' Venus before September 2020 (docs/predictors.md). */
#define ROWS_OF_LEAF 100 /* no split leaves fewer */
#define SHRINK 10        /* a leaf has this part of the mean of its rows .. */
#define PRIOR_ROWS 1     /* .. and of so many that are 0 */

/* A sum of targets and their number in one integer: one addition a row. */
#define COUNT_BITS 20
#define NUMBER_OF(cell) ((cell) & ((INT64_C(1) << COUNT_BITS) - 1))
#define SUM_OF(cell) (((cell)-NUMBER_OF(cell)) / (INT64_C(1) << COUNT_BITS))
#define CELL_OF(target) ((target) * (INT64_C(1) << COUNT_BITS) + 1)

/* ---- splits ---------------------------------------------------------------------------------- */

/* What the squared error falls by when so many rows of this sum get one value. */
static double worth(int64_t sum, int64_t rows)
{
    return (double)sum * (double)sum / (double)(rows + PRIOR_ROWS);
}

/* The best split of a node by this feature, if better than *best. */
static void try_splits(const int64_t *cell, uint8_t feature, double *best, uint8_t *of,
                       uint8_t *at_most)
{
    int64_t all = 0, low = 0;
    for (int b = 0; b < DLS_TREES_BINS; b++) {
        all += cell[b];
    }
    for (int b = 0; b < DLS_TREES_BINS - 1; b++) {
        low += cell[b];
        if (cell[b] == 0 || NUMBER_OF(low) < ROWS_OF_LEAF) {
            continue;
        }
        if (NUMBER_OF(all - low) < ROWS_OF_LEAF) {
            return;
        }
        const double gain = worth(SUM_OF(low), NUMBER_OF(low)) +
                            worth(SUM_OF(all - low), NUMBER_OF(all - low)) -
                            worth(SUM_OF(all), NUMBER_OF(all));
        if (gain > *best) {
            *best = gain;
            *of = feature;
            *at_most = (uint8_t)b;
        }
    }
}

/* Those that are not the same in all rows. */
static size_t find_features(const uint8_t *x, size_t n_features, size_t stride, size_t n,
                            uint8_t *feature)
{
    size_t varying = 0;
    for (size_t f = 0; f < n_features; f++) {
        const uint8_t *of = x + f * stride;
        size_t same = 1;
        while (same < n && of[same] == of[0]) {
            same++;
        }
        if (same < n) {
            feature[varying++] = (uint8_t)f;
        }
    }
    return varying;
}

/* at: of each row its node, from 1. */
static void grow(dls_tree *tree, const uint8_t *x, const uint8_t *feature, size_t n_features,
                 size_t stride, size_t n, const int64_t *left, uint16_t *at)
{
    int64_t cell[DLS_TREE_LEAVES / 2][DLS_TREES_BINS];
    for (size_t nodes = 1; nodes < DLS_TREE_LEAVES; nodes *= 2) {
        double best[DLS_TREE_LEAVES] = {0};
        memset(tree->at_most + nodes, DLS_TREES_BINS, nodes); /* not split: all are below */
        for (size_t f = 0; f < n_features; f++) {
            const uint8_t *of = x + feature[f] * stride;
            memset(cell, 0, nodes * sizeof *cell);
            for (size_t i = 0; i < n; i++) {
                cell[at[i] - nodes][of[i]] += CELL_OF(left[i]);
            }
            for (size_t k = 0; k < nodes; k++) {
                try_splits(cell[k], feature[f], &best[k], &tree->feature[nodes + k],
                           &tree->at_most[nodes + k]);
            }
        }
        for (size_t i = 0; i < n; i++) {
            const uint8_t bin = x[tree->feature[at[i]] * stride + i];
            at[i] = (uint16_t)(2 * at[i] + (bin > tree->at_most[at[i]]));
        }
    }
}

/* ---- trees ----------------------------------------------------------------------------------- */

void dls_trees_fit(dls_trees *t, const uint8_t *x, size_t n_features, size_t stride, size_t n,
                   int64_t *left, uint16_t *at)
{
    DLS_ASSERT(n_features <= UINT8_MAX && n <= stride && n < (size_t)1 << COUNT_BITS);
    uint8_t feature[UINT8_MAX];
    const size_t varying = find_features(x, n_features, stride, n, feature);
    memset(t, 0, sizeof *t);
    for (; t->n < DLS_TREES_MAX && n >= 2 * ROWS_OF_LEAF; t->n++) {
        dls_tree *tree = &t->tree[t->n];
        int64_t cell[DLS_TREE_LEAVES] = {0};
        for (size_t i = 0; i < n; i++) {
            at[i] = 1;
        }
        grow(tree, x, feature, varying, stride, n, left, at);
        for (size_t i = 0; i < n; i++) {
            cell[at[i] - DLS_TREE_LEAVES] += CELL_OF(left[i]);
        }
        for (size_t k = 0; k < DLS_TREE_LEAVES; k++) {
            tree->leaf[k] = SUM_OF(cell[k]) / (SHRINK * (NUMBER_OF(cell[k]) + PRIOR_ROWS));
        }
        for (size_t i = 0; i < n; i++) {
            left[i] -= tree->leaf[at[i] - DLS_TREE_LEAVES];
        }
    }
}

int64_t dls_trees_of(const dls_trees *t, const uint8_t *x)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < t->n; k++) {
        const dls_tree *tree = &t->tree[k];
        size_t at = 1;
        while (at < DLS_TREE_LEAVES) {
            at = 2 * at + (x[tree->feature[at]] > tree->at_most[at]);
        }
        sum += tree->leaf[at - DLS_TREE_LEAVES];
    }
    return sum;
}
