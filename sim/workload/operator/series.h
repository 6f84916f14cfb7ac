/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Samples of a job's resources, as a profiler would have taken them: steps of slightly different
 * length one after the other, a mean over each interval, intervals that are not quite equal, values
 * that are not quite right. All noise comes from one stream, so equal options give equal samples.
 */
#ifndef DLS_OPERATOR_SERIES_H
#define DLS_OPERATOR_SERIES_H

#include "workload/operator/timeline.h"

typedef struct dls_series_options {
    double interval_s;     /* > 0 */
    size_t n_samples;      /* > 0 */
    double step_spread;    /* standard deviation of log step length, e.g. 0.02 */
    double jitter_frac;    /* the end of an interval is off by up to this part of it, < 0.5 */
    double noise_frac;     /* standard deviation of a value's factor */
    double packet_bytes;   /* what a link counts at once while it sends; 0: any amount */
    uint64_t seed, entity; /* of the stream */
} dls_series_options;

/* x[track][sample]: DLS_TRACKS arrays of n_samples, the caller's. Network bytes of a step stay the
 * same when it takes longer, so rates fall. Starts at a random moment of a step. Errors: EINPUT (an
 * option out of its range). O(samples log pieces + steps). */
dls_status dls_series_sample(const dls_timeline *timeline, const dls_series_options *opts,
                             double *const x[DLS_TRACKS], dls_error *err) DLS_MUST_CHECK;

#endif
