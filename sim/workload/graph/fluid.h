/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Undirected graphs with neighbours in a fixed order, and fluid communities on them (Pares et al.:
 * "Fluid communities: a competitive, scalable and diverse community detection algorithm",
 * Complex Networks 2017), step for step and draw for draw as the function asyn_fluidc of networkx
 * 2.8 that Driple groups with.
 */
#ifndef DLS_GRAPH_FLUID_H
#define DLS_GRAPH_FLUID_H

#include "dlsim/error.h"

#include <stdint.h>

/* Neighbours of v: nbr[start[v]] .. nbr[start[v + 1] - 1], in the order in which edges brought
 * them, each once. */
typedef struct dls_adjacency {
    int32_t n;
    int64_t *start; /* [n + 1] */
    int32_t *nbr;
} dls_adjacency;

/* Edges in order of insertion; parallel ones count once, a self loop makes a node its own
 * neighbour. O(n + n_edges). ENOMEM; EINPUT on an end out of range. */
dls_status dls_adjacency_create(int32_t n, const int32_t (*edges)[2], int64_t n_edges,
                                dls_adjacency *out, dls_error *err) DLS_MUST_CHECK;
void dls_adjacency_fini(dls_adjacency *a);

/* The part of a spanned by order[0..n-1] (old numbers, none twice), renumbered in that order.
 * Neighbours are inserted anew by scanning the nodes in their new order, as copying a subgraph
 * does. */
dls_status dls_adjacency_restrict(const dls_adjacency *a, const int32_t *order, int32_t n,
                                  dls_adjacency *out, dls_error *err) DLS_MUST_CHECK;

/* Component of each node, numbered by their least node: component[n]. Returns how many.
 * scratch[n]. */
int32_t dls_adjacency_components(const dls_adjacency *a, int32_t *component, int32_t *scratch);

#define DLS_FLUID_MAX_ITER 100

/* Community of each node: label[n] in 0..k-1, numbered as networkx returns them (by the first node
 * that was ever given one of the final members' labels). Stops after a pass without change, or
 * after max_iter + 1 passes; nodes that no community has reached by then, where the published
 * function fails, join that of the nearest labelled node (breadth first, ties by number).
 * EINPUT: k < 1, k > n, or a graph that is not connected. O(passes * (nodes + edges)). */
dls_status dls_fluid(const dls_adjacency *a, int32_t k, uint64_t seed, int32_t max_iter,
                     int32_t *label, dls_error *err) DLS_MUST_CHECK;

#endif
