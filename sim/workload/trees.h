/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gradient-boosted regression trees: squared error, splits by histograms of features that are
 * bins already. All sums are of integers, so a fit does not depend on the order of its rows, nor on
 * the compiler.
 */
#ifndef DLS_WORKLOAD_TREES_H
#define DLS_WORKLOAD_TREES_H

#include <stddef.h>
#include <stdint.h>

#define DLS_TREES_BINS 64
#define DLS_TREES_ONE 65536 /* of a target, which is a multiple of its inverse */

enum { DLS_TREES_MAX = 20, DLS_TREE_DEPTH = 3, DLS_TREE_LEAVES = 1 << DLS_TREE_DEPTH };

/* Complete: node k, from 1, has the children 2 k, and 2 k + 1 for those above `at_most`. */
typedef struct dls_tree {
    uint8_t feature[DLS_TREE_LEAVES], at_most[DLS_TREE_LEAVES];
    int64_t leaf[DLS_TREE_LEAVES];
} dls_tree;

typedef struct dls_trees {
    int32_t n;
    dls_tree tree[DLS_TREES_MAX];
} dls_trees;

/* x [n_features][stride]: bins, of which the first n are rows; left [n]: the targets, at the end
 * what the trees leave of them; at [n]: scratch. A row's |target| is below 32 and n below 2^20.
 * O(n_features x n). */
void dls_trees_fit(dls_trees *t, const uint8_t *x, size_t n_features, size_t stride, size_t n,
                   int64_t *left, uint16_t *at);
/* x [n_features]. The sum of the trees, 0 without one, in parts of DLS_TREES_ONE. */
int64_t dls_trees_of(const dls_trees *t, const uint8_t *x);

#endif
