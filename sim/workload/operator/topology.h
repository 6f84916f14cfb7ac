/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A fabric for machines that nobody has measured: from its links' goodput and latency, gradients
 * fused into buckets of 25 MB (the default of PyTorch's DistributedDataParallel), each exchanged by
 * itself. No published point judges it: a measured fabric is better.
 */
#ifndef DLS_OPERATOR_TOPOLOGY_H
#define DLS_OPERATOR_TOPOLOGY_H

#include "workload/operator/comm.h"
#include "workload/operator/hardware.h"

typedef enum dls_allreduce {
    DLS_ALLREDUCE_RING,        /* over all GPUs; across nodes at the network's pace */
    DLS_ALLREDUCE_TREE,        /* 2 ceil(log2 n) (latency + bytes/B) */
    DLS_ALLREDUCE_HIERARCHICAL /* a ring in each node, one between nodes over each node's link */
} dls_allreduce;
/* "ring", "tree", "hierarchical", NULL behind the last */
const char *const *dls_allreduce_names(void);

typedef struct dls_topology {
    int nodes, per_node;      /* >= 1 GPUs in each */
    const dls_hw_link *inner; /* GPU to GPU in a node */
    const dls_hw_link *outer; /* node to node; may be NULL for one node */
    dls_allreduce algorithm;
} dls_topology;

/* An all-reduce as a network sees it that others use, too: seconds that it takes whatever the lines
 * between the nodes give, and the bytes that a node's line carries each way meanwhile. */
typedef struct dls_exchange {
    double fixed_s, line_bytes;
} dls_exchange;
/* Of `bytes` over a ring of all GPUs or, in the nodes and then between them, hierarchically; labels
 * and the truth use it. gpus >= nodes >= 1; line_bps: what a line gives alone, 0: more than any. */
dls_exchange dls_exchange_of(dls_allreduce algorithm, int gpus, int nodes, double bytes,
                             const dls_hw_link *inner, double line_bps, double line_latency_s);

/* Seconds to add up `bytes` over all GPUs. */
double dls_topology_allreduce_s(const dls_topology *t, double bytes);

/* The fabric whose exchange of `bytes` takes that long; servers: the one whose workers and servers
 * have the slowest link each to itself. Overlap and waiting are those of `like`. */
dls_fabric dls_topology_fabric(const dls_topology *t, double bytes, bool servers,
                               const dls_fabric *like);

#endif
