/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Constants of the sized model from measured kernels: for each GPU and family a non-linear least
 * squares fit (fit.h) of log(predicted / measured), to the rows that do not judge.
 */
#ifndef DLS_OPERATOR_SIZED_FIT_H
#define DLS_OPERATOR_SIZED_FIT_H

#include "workload/operator/kernel_rows.h"

/* Fit every GPU and family that has at least 20 rows which fit; left_out (a GPU; NULL: none) has
 * none. GPUs with many rows first: one with few (below 1,000) starts from the GPU that it is like.
 * At most 2,000 rows a fit, evenly out of all; deterministic. *table may hold rows already: those
 * of the same GPU and family are replaced. Errors: EINPUT (no row fits anything), ENOMEM. */
dls_status dls_sized_fit(const dls_kernel_rows *rows, const dls_hardware *hw,
                         const dls_hw_gpu *left_out, dls_sized_table *table,
                         dls_error *err) DLS_MUST_CHECK;

/* What the table says of a row; 0: nothing. */
double dls_sized_row_s(const dls_kernel_row *row, const dls_hardware *hw,
                       const dls_sized_table *table);

#endif
