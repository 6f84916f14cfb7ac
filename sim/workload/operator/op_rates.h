/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What operations of a processor cost (dls_op_rates), fitted to the steps of whole jobs: a processor
 * whose library nobody has measured operation by operation.
 */
#ifndef DLS_OPERATOR_OP_RATES_H
#define DLS_OPERATOR_OP_RATES_H

#include "workload/operator/model.h"

/* A job of one worker as it ran. */
typedef struct dls_op_job {
    const dls_workload *w;
    double batch, step_s;
} dls_op_job;

/* Least squares of log step (fit.h) over the costs that any job has, from those of the formula on;
 * the others stay the formula's. out->gpu is the caller's. Errors: EINPUT (no job, a step of 0),
 * ENOMEM. */
dls_status dls_op_rates_fit(const dls_op_job *job, size_t n, const dls_rates *formula,
                            dls_op_rates *out, dls_error *err) DLS_MUST_CHECK;

#endif
