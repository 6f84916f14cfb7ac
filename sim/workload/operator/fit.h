/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A small non-linear least-squares fit with normal priors: minimises
 *      sum_i 2 (sqrt(1 + r_i^2) - 1)  +  sum_k ((x_k - mean_k) / sigma_k)^2
 * over x by Levenberg-Marquardt, differences in place of derivatives. The first term is quadratic
 * for small residuals and linear for large ones, so that an outlier does not own the fit. The
 * parameters here are logarithms of positive constants, residuals log(predicted / measured) / 0.1.
 */
#ifndef DLS_OPERATOR_FIT_H
#define DLS_OPERATOR_FIT_H

#include "dlsim/error.h"

#include <stddef.h>

#define DLS_FIT_MAX 32 /* parameters */

typedef struct dls_fit {
    /* Residuals of all n_residuals points for the n parameters x. Must be smooth near x. */
    void (*residuals)(void *user, const double *x, double *residual);
    void *user;
    size_t n, n_residuals;
    double mean[DLS_FIT_MAX], sigma[DLS_FIT_MAX];
} dls_fit;

/* From the means to the minimum, in x[fit->n]. Stops when a step no longer helps; deterministic.
 * Cost: about 50 (n + 1) evaluations. Errors: EINPUT (a residual not finite), ENOMEM. */
dls_status dls_fit_run(const dls_fit *fit, double *x, dls_error *err) DLS_MUST_CHECK;

#endif
