/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ridge regression: builds the normal equations and solves them by Cholesky factors; the constant
 * is not penalised.
 */
#include "predictor/training/ridge.h"

#include "base/alloc.h"
#include "base/own.h"

#include <math.h>

/* Column k of row i with the constant in front. */
static double cell(const double *x, size_t width, size_t i, size_t k)
{
    return k == 0 ? 1 : x[i * width + k - 1];
}

/* a [m][m], symmetric and positive, becomes its lower factor; b [m] the solution. */
static void solve(double *a, size_t m, double *b)
{
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * m + j];
            for (size_t k = 0; k < j; k++) {
                sum -= a[i * m + k] * a[j * m + k];
            }
            a[i * m + j] = i == j ? sqrt(sum) : sum / a[j * m + j];
        }
    }
    for (size_t i = 0; i < m; i++) {
        for (size_t k = 0; k < i; k++) {
            b[i] -= a[i * m + k] * b[k];
        }
        b[i] /= a[i * m + i];
    }
    for (size_t i = m; i-- > 0;) {
        for (size_t k = i + 1; k < m; k++) {
            b[i] -= a[k * m + i] * b[k];
        }
        b[i] /= a[i * m + i];
    }
}

dls_status dls_ridge(const double *x, const double *y, size_t n, size_t width, double penalty,
                     double *slope, dls_error *err)
{
    const size_t m = width + 1;
    DLS_FREED double *a = NULL;
    DLS_TRY(dls_alloc_array(&a, m * m, sizeof *a, "normal equations", err));
    for (size_t k = 0; k < m; k++) {
        slope[k] = 0;
        a[k * m + k] = k > 0 ? penalty : 0;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < m; k++) {
            for (size_t q = 0; q <= k; q++) {
                a[k * m + q] += cell(x, width, i, k) * cell(x, width, i, q);
            }
            slope[k] += cell(x, width, i, k) * y[i];
        }
    }
    solve(a, m, slope);
    return DLS_OK;
}
