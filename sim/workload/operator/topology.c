/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predicts the fabric of an unmeasured cluster from its links: the slowest link that a message
 * passes, and gradients in 25 MB buckets.
 */
#include "workload/operator/topology.h"

#include <math.h>
#include <stdbool.h>

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

static dls_exchange hierarchical(int gpus, int nodes, double bytes, double buckets,
                                 const dls_hw_link *inner, double latency_s)
{
    const int per_node = (gpus + nodes - 1) / nodes;
    dls_exchange x = {.fixed_s = buckets * dls_ring_s(per_node, bytes / buckets, inner->goodput_bps,
                                                      inner->latency_s)};
    if (nodes > 1) {
        x.fixed_s += buckets * 2 * (nodes - 1) * latency_s;
        x.line_bytes = 2.0 * (nodes - 1) / nodes * bytes;
    }
    return x;
}

dls_exchange dls_exchange_of(dls_allreduce algorithm, int gpus, int nodes, double bytes,
                             const dls_hw_link *inner, double line_bps, double line_latency_s)
{
    const double buckets = fmax(1, ceil(bytes / BUCKET_BYTES));
    const double latency_s = nodes > 1 ? line_latency_s : inner->latency_s;
    if (algorithm == DLS_ALLREDUCE_HIERARCHICAL || gpus < 2) {
        return hierarchical(gpus, nodes, bytes, buckets, inner, latency_s);
    }
    const bool ring = algorithm == DLS_ALLREDUCE_RING;
    const double rounds = ring ? gpus - 1 : ceil(log2(gpus));
    const double moved = 2 * rounds * bytes / (ring ? gpus : 1);
    /* All links are passed at a time: what the line does not take is what a slower one in the
     * nodes takes longer. */
    const double line = nodes > 1 && line_bps > 0 ? 1 / line_bps : 0;
    return (dls_exchange){.fixed_s = buckets * 2 * rounds * latency_s +
                                     moved * fmax(0, 1 / inner->goodput_bps - line),
                          .line_bytes = nodes > 1 ? moved : 0};
}

double dls_topology_allreduce_s(const dls_topology *t, double bytes)
{
    const dls_hw_link none = {.goodput_bps = 1}, *outer = t->nodes > 1 ? t->outer : &none;
    const dls_exchange x = dls_exchange_of(t->algorithm, t->nodes * t->per_node, t->nodes, bytes,
                                           t->inner, outer->goodput_bps, outer->latency_s);
    return x.fixed_s + x.line_bytes / outer->goodput_bps;
}

dls_fabric dls_topology_fabric(const dls_topology *t, double bytes, bool servers,
                               const dls_fabric *like)
{
    const int n = t->nodes * t->per_node;
    dls_fabric f = {.bps = slowest(t)->goodput_bps,
                    .gamma = like->gamma,
                    .straggle = like->straggle,
                    .message_s = like->message_s,
                    .byte_s = like->byte_s,
                    .beside = like->beside,
                    .shared = like->shared};
    if (servers) {
        f.server_bps = f.bps;
    } else if (n > 1) {
        f.bps = 2.0 * (n - 1) / n * bytes / dls_topology_allreduce_s(t, bytes);
    }
    return f;
}
