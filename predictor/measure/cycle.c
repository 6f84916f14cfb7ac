/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds the period of a sampled series as the highest peak of its autocorrelation, computed with
 * two FFTs.
 */
#include "predictor/measure/cycle.h"

#include "base/alloc.h"

#include <gsl/gsl_fft_complex.h>

/* work: 2 * size doubles, real and imaginary parts in turn; becomes the autocorrelation, which is
 * the transform of the power spectrum (the even one needs no inverse). */
static void autocorrelate(const double *x, size_t n, double *work, size_t size)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++) {
        mean += x[i] / (double)n;
    }
    for (size_t i = 0; i < size; i++) {
        work[2 * i] = i < n ? x[i] - mean : 0;
        work[2 * i + 1] = 0;
    }
    gsl_fft_complex_radix2_forward(work, 1, size);
    for (size_t i = 0; i < size; i++) {
        work[2 * i] = work[2 * i] * work[2 * i] + work[2 * i + 1] * work[2 * i + 1];
        work[2 * i + 1] = 0;
    }
    gsl_fft_complex_radix2_forward(work, 1, size);
}

static dls_cycle highest(const double *work, size_t n)
{
    dls_cycle found = {0, 0};
    const double power = work[0];
    if (!(power > 0)) {
        return found;
    }
    size_t lag = 1, best = 0;
    while (lag <= n / 2 && work[2 * lag] > 0) {
        lag++;
    }
    for (; lag <= n / 2; lag++) {
        const double here = work[2 * lag];
        if (here > 0 && here > work[2 * lag - 2] && here >= work[2 * lag + 2] &&
            (best == 0 || here > work[2 * best])) {
            best = lag;
        }
    }
    if (best == 0) {
        return found;
    }
    const double left = work[2 * best - 2], top = work[2 * best], right = work[2 * best + 2];
    const double bend = left - 2 * top + right;
    found.period_samples = (double)best + (bend < 0 ? 0.5 * (left - right) / bend : 0);
    found.correlation = top / power;
    return found;
}

dls_status dls_cycle_find(const double *x, size_t n, dls_cycle *out, dls_error *err)
{
    *out = (dls_cycle){0, 0};
    if (n < 4) {
        return DLS_OK;
    }
    size_t size = 8; /* zeros behind the series, or its ends would meet */
    while (size < 2 * n) {
        size *= 2;
    }
    double *work = dls_alloc(2 * size * sizeof *work);
    if (!work) {
        return dls_nomem(err, "autocorrelation", 2 * size * sizeof *work);
    }
    autocorrelate(x, n, work, size);
    *out = highest(work, n);
    dls_free(work);
    return DLS_OK;
}
