/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predicts the fabric of an unmeasured cluster from its links: the slowest link that a message
 * passes, and gradients in 25 MB buckets.
 */
#include "workload/operator/topology.h"

#include <math.h>

#define BUCKET_BYTES 25e6

const char *const *dls_allreduce_names(void)
{
    static const char *const names[] = {"ring", "tree", "hierarchical", NULL};
    return names;
}

/* What a message between any two GPUs has to pass. */
static const dls_hw_link *slowest(const dls_topology *t)
{
    return t->nodes > 1 && t->outer->goodput_bps < t->inner->goodput_bps ? t->outer : t->inner;
}

static double bucket_s(const dls_topology *t, double bytes)
{
    const int n = t->nodes * t->per_node;
    const double latency_s = t->nodes > 1 ? t->outer->latency_s : t->inner->latency_s;
    const double bps = slowest(t)->goodput_bps;
    switch (t->algorithm) {
    case DLS_ALLREDUCE_RING:
        return dls_ring_s(n, bytes, bps, latency_s);
    case DLS_ALLREDUCE_TREE:
        return dls_tree_s(n, bytes, bps, latency_s);
    case DLS_ALLREDUCE_HIERARCHICAL:
        break;
    }
    return dls_hierarchical_s(t->nodes, t->per_node, bytes, t->inner->goodput_bps,
                              t->inner->latency_s, t->nodes > 1 ? t->outer->goodput_bps : 1,
                              latency_s);
}

double dls_topology_allreduce_s(const dls_topology *t, double bytes)
{
    const double buckets = fmax(1, ceil(bytes / BUCKET_BYTES));
    return buckets * bucket_s(t, bytes / buckets);
}

dls_fabric dls_topology_fabric(const dls_topology *t, double bytes, bool servers,
                               const dls_fabric *like)
{
    const int n = t->nodes * t->per_node;
    dls_fabric f = {
        .bps = slowest(t)->goodput_bps, .gamma = like->gamma, .straggle = like->straggle};
    if (servers) {
        f.server_bps = f.bps;
    } else if (n > 1) {
        f.bps = 2.0 * (n - 1) / n * bytes / dls_topology_allreduce_s(t, bytes);
    }
    return f;
}
