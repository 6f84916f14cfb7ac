/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Levenberg-Marquardt with a robust loss and normal priors: finite-difference Jacobian, normal
 * equations solved by Cholesky.
 */
#include "workload/operator/fit.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

#define ROUNDS 200
#define STEP 1e-5
#define DAMPING_MOST 1e12
#define GAIN_LEAST 1e-12

static double cost_of(const dls_fit *fit, const double *x, double *residual)
{
    double cost = 0;
    fit->residuals(fit->user, x, residual);
    for (size_t i = 0; i < fit->n_residuals; i++) {
        cost += 2 * (sqrt(1 + residual[i] * residual[i]) - 1);
    }
    for (size_t k = 0; k < fit->n; k++) {
        const double z = (x[k] - fit->mean[k]) / fit->sigma[k];
        cost += z * z;
    }
    return cost;
}

/* Solve a x = b in place by Cholesky; a symmetric and positive definite, its lower half is read. */
static void solve(double a[DLS_FIT_MAX][DLS_FIT_MAX], double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            for (size_t k = 0; k < j; k++) {
                a[i][j] -= a[i][k] * a[j][k];
            }
            a[i][j] = i == j ? sqrt(a[i][i]) : a[i][j] / a[j][j];
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) {
            b[i] -= a[i][k] * b[k];
        }
        b[i] /= a[i][i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) {
            b[i] -= a[k][i] * b[k];
        }
        b[i] /= a[i][i];
    }
}

/* Normal equations of the residuals, each weighted by the slope of the robust loss, and priors. */
static void normal_equations(const dls_fit *fit, const double *x, const double *residual,
                             double *shifted, double *jacobian, double a[DLS_FIT_MAX][DLS_FIT_MAX],
                             double *b)
{
    const size_t n = fit->n, m = fit->n_residuals;
    double moved[DLS_FIT_MAX];
    memcpy(moved, x, n * sizeof *x);
    for (size_t k = 0; k < n; k++) {
        moved[k] = x[k] + STEP;
        fit->residuals(fit->user, moved, shifted);
        moved[k] = x[k];
        for (size_t i = 0; i < m; i++) {
            jacobian[i * n + k] = (shifted[i] - residual[i]) / STEP;
        }
    }
    memset(a, 0, sizeof(double) * DLS_FIT_MAX * DLS_FIT_MAX);
    for (size_t k = 0; k < n; k++) {
        const double precision = 1 / (fit->sigma[k] * fit->sigma[k]);
        a[k][k] = precision;
        b[k] = -(x[k] - fit->mean[k]) * precision;
    }
    for (size_t i = 0; i < m; i++) {
        const double weight = 1 / sqrt(1 + residual[i] * residual[i]);
        const double *row = jacobian + i * n;
        for (size_t k = 0; k < n; k++) {
            b[k] -= weight * row[k] * residual[i];
            for (size_t l = 0; l <= k; l++) {
                a[k][l] += weight * row[k] * row[l];
            }
        }
    }
}

static void descend(const dls_fit *fit, double *x, double *residual, double *shifted,
                    double *jacobian)
{
    double cost = cost_of(fit, x, residual), damping = 1e-3;
    for (int round = 0; round < ROUNDS && damping < DAMPING_MOST; round++) {
        double a[DLS_FIT_MAX][DLS_FIT_MAX], damped[DLS_FIT_MAX][DLS_FIT_MAX], b[DLS_FIT_MAX];
        double gain = 0;
        normal_equations(fit, x, residual, shifted, jacobian, a, b);
        for (; damping < DAMPING_MOST; damping *= 4) {
            double next[DLS_FIT_MAX], step[DLS_FIT_MAX];
            memcpy(damped, a, sizeof damped);
            memcpy(step, b, sizeof step);
            for (size_t k = 0; k < fit->n; k++) {
                damped[k][k] *= 1 + damping;
            }
            solve(damped, step, fit->n);
            for (size_t k = 0; k < fit->n; k++) {
                next[k] = x[k] + step[k];
            }
            const double there = cost_of(fit, next, shifted);
            if (there < cost) { /* false for a NaN, too */
                gain = cost - there;
                cost = there;
                memcpy(x, next, fit->n * sizeof *x);
                memcpy(residual, shifted, fit->n_residuals * sizeof *residual);
                damping /= 8;
                break;
            }
        }
        if (gain <= GAIN_LEAST * cost) {
            break;
        }
    }
}

dls_status dls_fit_run(const dls_fit *fit, double *x, dls_error *err)
{
    const size_t m = fit->n_residuals;
    if (fit->n == 0 || fit->n > DLS_FIT_MAX) {
        return dls_fail(err, DLS_EINPUT, NULL, "%zu parameters to fit", fit->n);
    }
    const size_t bytes = m * (fit->n + 2) * sizeof(double);
    double *work = dls_alloc(bytes ? bytes : 1);
    if (!work) {
        return dls_nomem(err, "fit", bytes);
    }
    memcpy(x, fit->mean, fit->n * sizeof *x);
    if (!isfinite(cost_of(fit, x, work))) {
        dls_free(work);
        return dls_fail(err, DLS_EINPUT, NULL, "a residual is not finite at the starting point");
    }
    descend(fit, x, work, work + m, work + 2 * m);
    dls_free(work);
    return DLS_OK;
}
