/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Least squares with a penalty on the slopes (Hoerl and Kennard, Technometrics 12(1), 1970), by the
 * Cholesky factors of the normal equations.
 */
#ifndef DLS_TRAINING_RIDGE_H
#define DLS_TRAINING_RIDGE_H

#include "dlsim/error.h"

#include <stddef.h>

/* y ~ slope[0] + sum of slope[1 + k] x[k] over n rows of x [n][width], minimising the squared
 * errors plus penalty times the squared slopes but the first; penalty > 0, n > 0. slope is [1 +
 * width]. Errors: ENOMEM. O(width^2 (n + width)). */
dls_status dls_ridge(const double *x, const double *y, size_t n, size_t width, double penalty,
                     double *slope, dls_error *err) DLS_MUST_CHECK;

#endif
