/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The shapes that are worth a question: for each GPU type that a gang of g may use, with G GPUs in
 * its largest nodes and R of them in its largest rack,
 *
 *      fewest   as few nodes as hold it; one if g <= G
 *      double   twice as many nodes, in one rack if that holds them
 *      rack     one GPU a node in one rack, or as many nodes as the rack has
 *      any      one GPU a node over racks, or as many nodes as there are
 *
 * without repeats. If that is more than may be asked for, the first of each type count, then the
 * second, ...
 */
#ifndef DLS_SOURCES_CANDIDATES_H
#define DLS_SOURCES_CANDIDATES_H

#include "cluster/cluster.h"
#include "dlsim/policy.h"

#define DLS_SPREADS 4

typedef struct dls_candidate_type {
    int64_t gpus;
    int32_t size[DLS_GPUS_PER_NODE_MAX + 1]; /* nodes by number of GPUs */
    int32_t nodes, racks, rack_nodes;        /* rack_nodes: of its largest rack */
    double nic_bps;                          /* slowest network link of its nodes; 0: unknown */
    int32_t rails; /* links that one of its nodes has; 0: one for all GPUs */
    int32_t domain_gpus; /* most that are one NVLink domain in a node */
    double domain_bps;   /* slowest link between such domains; 0: nodes are one */
} dls_candidate_type;

typedef struct dls_candidates {
    dls_candidate_type type[DLS_TYPES_MAX];
    int32_t n_types;
    double uplink_bps, domain_bps; /* as in the cluster's spec */
} dls_candidates;

void dls_candidates_init(dls_candidates *c, const dls_cluster_spec *cluster);

/* Shapes for a gang on the types of the mask; returns how many, at most `most`. */
int32_t dls_candidates_list(const dls_candidates *c, int32_t gpus, uint32_t types, int32_t most,
                            dls_shape shape[DLS_TYPES_MAX * DLS_SPREADS]);

/* What the slowest link on its way has for a gang on a shape of several nodes, bytes per second; 0:
 * unknown. */
double dls_candidates_link_bps(const dls_candidates *c, const dls_shape *shape);

/* The link between NVLink domains of a node that the gang needs at best; 0: none. */
double dls_candidates_inner_bps(const dls_candidates *c, const dls_shape *shape);

/* How far apart two shapes of one gang are: |log2| of the ratio of their node counts, 1/2 more if
 * one is in one rack and the other is not; INFINITY between GPU types. */
static inline bool dls_shape_is(const dls_shape *a, const dls_shape *b) /* at distance 0 */
{
    return a->type == b->type && a->n_nodes == b->n_nodes && (a->n_racks > 1) == (b->n_racks > 1);
}
double dls_shape_distance(const dls_shape *a, const dls_shape *b);

#endif
