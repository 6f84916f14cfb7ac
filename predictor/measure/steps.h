/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where each step of a job begins in its sampled series: a step that is late moves those behind it,
 * which an autocorrelation, the most common distance, does not tell.
 *
 *      DLS_TRY(dls_cycle_find(x, 3, n, &cycle, err));
 *      DLS_TRY(dls_steps_follow(x, 3, n, cycle.period_samples, &steps, err));
 *      const double step = steps.n ? steps.mean_samples : cycle.period_samples;
 */
#ifndef DLS_MEASURE_STEPS_H
#define DLS_MEASURE_STEPS_H

#include "dlsim/error.h"

#include <stddef.h>

typedef struct dls_steps {
    size_t n;                         /* steps between two beginnings; 0: not followed */
    double mean_samples;              /* of their lengths */
    double low_samples, high_samples; /* 10 and 90 % of the steps are no longer */
    double likeness; /* mean correlation of a step with the mean of the others, at most 1 */
} dls_steps;

/* Series x[m] of n samples each that repeat about every `period` samples (dls_cycle_find); constant
 * ones count for nothing. Steps begin where a window of one period looks like the mean of all such
 * windows (correlation), and are 0.55 to 1.8 periods apart; of all sequences of beginnings that one
 * is taken that has the greatest sum of correlations less 4 log(length / period)^2, by dynamic
 * programming, as beats of music are followed (D. Ellis, Beat Tracking by Dynamic Programming,
 * Journal of New Music Research 36(1), 2007), and the mean window is made anew, three times. Half
 * the period is tried, too, and taken if its steps are as alike. Not followed: a period below 3
 * samples or above a third of the series, or 2^32 products or more. O(m n period). Errors: ENOMEM.
 */
dls_status dls_steps_follow(const double *const *x, size_t m, size_t n, double period,
                            dls_steps *out, dls_error *err) DLS_MUST_CHECK;

#endif
