/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The period of a job: the step that its sampled series repeat, from their mean autocorrelation.
 * One series may have a shorter pattern of its own (layers that are alike), or none that coarse
 * samples resolve; what all resources of a job repeat together is its step.
 *
 *      const double *x[] = {gpu, received, sent};
 *      DLS_TRY(dls_cycle_find(x, 3, n, &cycle, err));
 *      if (cycle.period_samples > 0) ... DLS_TRY(dls_cycle_chance(x, 3, n, seed, &chance, err));
 */
#ifndef DLS_MEASURE_CYCLE_H
#define DLS_MEASURE_CYCLE_H

#include "dlsim/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct dls_cycle {
    double period_samples; /* 0: the series do not repeat */
    double correlation;    /* mean autocorrelation at that lag, 1 at lag 0 */
} dls_cycle;

/* Series x[m] of n samples each; constant ones count for nothing. The mean of the autocorrelations,
 * each divided by n at every lag so that a period wins over its multiples, is smoothed over three
 * lags, since a period of 95.6 ms in samples of 10 ms alternates between two. The highest peak
 * behind the first zero, at most n / 2, is taken; then a peak at a fraction of it (1/2 .. 1/5)
 * that is 0.7 times as high; then the peaks at its multiples as far as they follow make it more
 * precise than a sample. O(m n log n) by fast Fourier transform. Errors: ENOMEM. */
dls_status dls_cycle_find(const double *const *x, size_t m, size_t n, dls_cycle *out,
                          dls_error *err) DLS_MUST_CHECK;

/* How likely a correlation this high is without a period: the part of 99 rearrangements of the
 * series whose highest peak is as high, in 0.01 .. 1. They are cut into blocks as long as
 * neighbours correlate (all series at the same places), and the blocks are shuffled. Looks at the
 * first 8,192 samples. O(m n log n). Errors: ENOMEM. */
dls_status dls_cycle_chance(const double *const *x, size_t m, size_t n, uint64_t seed,
                            double *chance, dls_error *err) DLS_MUST_CHECK;

#endif
