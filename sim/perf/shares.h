/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Max-min fair bandwidth of jobs that share links, solved together with their iteration times.
 *
 * A job moves its bytes in bursts. x is the bandwidth that it gets while it bursts, on each link of
 * its way; used(x) = bytes / time(x) what it moves on average. When job j bursts it finds the others at
 * their average, so a link of capacity C holds
 *
 *      x_j + overlap_j * (sum of used_k(x_k), k != j) <= C    for each of its jobs j
 *      sum of used_k(x_k)                             <= C
 *
 * with overlap_j = 1 unless the bursts were shifted against each other. Under these constraints, and
 * x_j <= line_j, the solver gives the one max-min fair vector x: nobody's bandwidth can grow without
 * a smaller or equal one shrinking. Progressive filling: a common level rises; where a link is full,
 * its jobs stay at the level. Every left side rises with every x, so a level at which a link is full
 * exists, is unique, and can only move up when jobs elsewhere are stopped earlier (docs/world.md).
 */
#ifndef DLS_PERF_SHARES_H
#define DLS_PERF_SHARES_H

#include "perf/curve.h"

typedef struct dls_flow {
    const dls_curve *curve;
    double speed;   /* of the job's GPUs, 0 < speed <= 1 */
    double overlap; /* 0..1 */
    double x;       /* in: the most that it can get, at most the line; out: its share */
} dls_flow;

/* Who crosses which link, both ways. Arrays belong to the caller; level, used, heap, stale and done are
 * scratch. */
typedef struct dls_net {
    int32_t n_flows, n_links;
    dls_flow *flow;                             /* [n_flows] */
    const double *capacity;                     /* [n_links] bytes per second */
    const int32_t *flow_first, *links_of;       /* [n_flows + 1], [crossings] */
    const int32_t *link_first, *flows_of;       /* [n_links + 1], [crossings] */
    double *first_level;                        /* [n_links] in/out: where the link alone would be full,
                                                   NAN: not yet known */
    double *level;                              /* [n_links] */
    double *used;                               /* [most flows of a link] */
    int32_t *heap;                              /* [n_links] */
    uint8_t *stale, *done;                      /* [n_links], [n_flows] */
    uint64_t solved;                            /* out: how often a level was computed */
} dls_net;

/* O(crossings log links) evaluations, none of which allocates. The result depends on the flows and
 * links alone, not on anything that was solved before. */
void dls_shares_solve(dls_net *net);

#endif
