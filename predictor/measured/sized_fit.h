/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Constants of the sized model from measured kernels: for each GPU and family a non-linear least
 * squares fit (workload/operator/fit.h) of log(predicted / measured), to the rows that do not
 * judge.
 */
#ifndef DLS_MEASURED_SIZED_FIT_H
#define DLS_MEASURED_SIZED_FIT_H

#include "predictor/measured/kernels.h"

/* Fit every GPU and family that has at least 15 rows which fit; left_out (a GPU; NULL: none) has
 * none. GPUs with many rows first: one with few (below 1,000) starts from the GPU that it is like.
 * At most 2,000 rows a fit, evenly out of all; deterministic. *table may hold rows already: those
 * of the same GPU and family are replaced. Errors: EINPUT (no row fits anything), ENOMEM. */
dls_status dls_sized_fit(const dls_measured_kernels *rows, const dls_hardware *hw,
                         const dls_hw_gpu *left_out, dls_sized_table *table,
                         dls_error *err) DLS_MUST_CHECK;

#endif
