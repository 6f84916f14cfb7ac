/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kernels of a training graph (sim/workload/graph): its GPU operations with their own FLOPs and
 * memory traffic, in an order that respects its edges.
 */
#ifndef DLS_OPERATOR_FROM_GRAPH_H
#define DLS_OPERATOR_FROM_GRAPH_H

#include "workload/operator/workload.h"

/* Forward and backward operations on the GPU that compute or touch memory become kernels; views,
 * constants, variables and control cost nothing, updates are the optimiser's share of the step. A
 * gradient belongs to the tensor that its operation's result updates. The counts are of the graph's
 * own batch, with all traffic taken as proportional to it: *w is meant for that batch. The caller
 * ends *w. Errors: EINPUT (batch unknown, a cycle, nothing to train), ENOMEM.
 * O((nodes + edges) log nodes). */
dls_status dls_workload_from_graph(const dls_opgraph *g, dls_workload *w,
                                   dls_error *err) DLS_MUST_CHECK;

#endif
