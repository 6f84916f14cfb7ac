/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Formulas for the cost of operations that the zoo and the graph readers share: FLOPs of products,
 * memory traffic of optimiser updates.
 */
#include "workload/graph/work.h"

double dls_work_update(dls_optimiser optimiser)
{
    static const double flops[] = {
        [DLS_OPTIMISER_SGD] = 2,
        [DLS_OPTIMISER_MOMENTUM] = 4,
        [DLS_OPTIMISER_RMSPROP] = 8,
        [DLS_OPTIMISER_ADAM] = 12,
    };
    return flops[optimiser];
}

double dls_work_product(const dls_op_dims *d)
{
    if (d->groups > 0) { /* a strided convolution's gradients skip the zeros that m, n, k count */
        const double filter = (double)(d->in_c / d->groups) * d->kernel_h * d->kernel_w * d->out_c;
        return 2.0 * (double)d->batch * d->out_h * d->out_w * filter;
    }
    return 2.0 * (double)d->batch * (double)d->m * (double)d->n * (double)d->k;
}
