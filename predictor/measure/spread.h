/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How sure the mean phases of a sampled series are: intervals by resampling whole steps, since the
 * phases of one step are of one mould and those of the next repeat them.
 *
 *      DLS_TRY(dls_burst_analyze(x, n, &options, &burst, err));
 *      DLS_TRY(dls_burst_spread_find(x, n, interval_s, &burst, step_s, seed, &spread, err));
 */
#ifndef DLS_MEASURE_SPREAD_H
#define DLS_MEASURE_SPREAD_H

#include "predictor/measure/burst.h"

#include <stdint.h>

typedef struct dls_range {
    double low, high;
} dls_range;

typedef struct dls_burst_spread {
    dls_range idle_s, burst_s,
        burst_amount; /* 95 %; NaN where less than three steps say something */
    size_t n_steps;   /* that were drawn from */
} dls_burst_spread;

/* Percentile bootstrap (Efron, 1979) over steps: whole phases belong to the step in which they
 * begin; step_s 0: every pause with the burst behind it is a step of its own. O(n + draws steps),
 * 200 to 1,000 draws. Errors: ENOMEM. */
dls_status dls_burst_spread_find(const double *x, size_t n, double interval_s, const dls_burst *b,
                                 double step_s, uint64_t seed, dls_burst_spread *out,
                                 dls_error *err) DLS_MUST_CHECK;

#endif
