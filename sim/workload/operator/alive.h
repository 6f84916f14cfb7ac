/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The most bytes of results that a training step holds at once: each operation's result from when
 * it runs until the last that reads it has run, forward operations in their order and then backward
 * ones, as PyTorch's automatic differentiation does it. Weights and their gradients are not
 * counted.
 */
#ifndef DLS_OPERATOR_ALIVE_H
#define DLS_OPERATOR_ALIVE_H

#include "workload/graph/graph.h"

/* order: of dls_opgraph_order; gradient[node] >= 0: its result is a weight's gradient. What the
 * loss reads is held until the end: it is what the training loop's call of the model returned.
 * O(nodes + edges). Errors: ENOMEM. */
dls_status dls_graph_alive(const dls_opgraph *g, const int32_t *order, const int32_t *gradient,
                           double *bytes, dls_error *err) DLS_MUST_CHECK;

#endif
