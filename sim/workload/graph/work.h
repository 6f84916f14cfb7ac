/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What an operation costs, as far as the model zoo and the readers of other programs' graphs have
 * it in common. Conventions: docs/graphs.md.
 */
#ifndef DLS_GRAPH_WORK_H
#define DLS_GRAPH_WORK_H

#include "workload/graph/graph.h"

/* FLOPs per element. */
#define DLS_WORK_NORM 5.0
#define DLS_WORK_NORM_GRAD 8.0
#define DLS_WORK_SOFTMAX 5.0
#define DLS_WORK_LOSS 5.0
/* Products that attention in one kernel makes of all scores, there and back, where scores are made again. */
#define DLS_WORK_ATTENTION 2.0
#define DLS_WORK_ATTENTION_GRAD 5.0

/* Of one update, per parameter. */
double dls_work_update(dls_optimiser optimiser);
/* Of a convolution (groups > 0) or a batch of matrix products: a multiply-add counts 2. All three
 * kernels of a convolution do the same work. */
double dls_work_product(const dls_op_dims *dims);

#endif
