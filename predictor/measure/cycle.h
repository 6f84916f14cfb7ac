/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The period of a sampled series, from its autocorrelation: an independent check of a cycle time
 * that was found by counting bursts.
 */
#ifndef DLS_MEASURE_CYCLE_H
#define DLS_MEASURE_CYCLE_H

#include "dlsim/error.h"

#include <stddef.h>

typedef struct dls_cycle {
    double period_samples; /* 0: the series does not repeat */
    double correlation;    /* autocorrelation at that lag, 1 at lag 0 */
} dls_cycle;

/* The lag of the highest autocorrelation behind its first zero, at most n / 2, refined between
 * samples by the parabola through three lags. The estimate divides by n at every lag, so the
 * period wins over its multiples. O(n log n) by fast Fourier transform. Errors: ENOMEM. */
dls_status dls_cycle_find(const double *x, size_t n, dls_cycle *out, dls_error *err) DLS_MUST_CHECK;

#endif
