/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a trace looks like: the figures that `dlsim trace stats` prints.
 *
 * Quantiles interpolate linearly between order statistics, position (n - 1) p (Hyndman and Fan's
 * type 7, the default of numpy and gsl_stats_quantile). The coefficient of variation uses the
 * population standard deviation. GPU requests count as the file has them, fractions included.
 */
#ifndef DLS_TRACES_STATS_H
#define DLS_TRACES_STATS_H

#include "dlsim/error.h"
#include "dlsim/trace.h"

#include <stddef.h>
#include <stdint.h>

/* 1, 5, 25, 50, 75, 90, 95, 99 % and the maximum */
#define DLS_STATS_QUANTILES 9
extern const double dls_stats_probability[DLS_STATS_QUANTILES];

typedef struct dls_stats_dist {
    uint64_t n;
    double q[DLS_STATS_QUANTILES]; /* NAN if n is 0, like mean and cv */
    double mean;
    double cv; /* standard deviation / mean */
} dls_stats_dist;

/* One size of job, or one virtual cluster (code in the trace's dictionary, -1: none named). */
typedef struct dls_stats_size {
    int64_t gpus_milli;
    uint64_t jobs;
    double gpu_h;
} dls_stats_size;

typedef struct dls_stats_vc {
    int32_t code;
    uint64_t jobs;
    double gpu_h, median_s;
    int64_t max_gpus_milli;
} dls_stats_vc;

typedef struct dls_trace_stats {
    uint64_t jobs, zero_duration, no_duration;
    double span_s; /* last submission - first */
    double mean_gpus;
    int64_t max_gpus_milli;
    dls_stats_dist duration_s; /* of the jobs that have one */
    dls_stats_dist gap_s;      /* between consecutive submissions */
    double gpu_h;              /* GPUs x duration */
    double busy_gpus;          /* gpu_h / span: busy on average over the submit span */
    double peak_gpus;          /* most GPUs in use at once if no job waited */
    dls_stats_size *sizes;     /* ascending in GPUs */
    size_t n_sizes;
    dls_stats_vc *vcs; /* most jobs first; empty if the trace names none */
    size_t n_vcs;
    uint64_t outcomes[DLS_OUTCOME_COUNT];
    uint64_t flags[DLS_JOB_FLAG_COUNT];
} dls_trace_stats;

/* O(n log n) time, about 50 bytes per job of scratch. ENOMEM only. */
dls_status dls_trace_stats_compute(const dls_trace *trace, dls_trace_stats *out,
                                   dls_error *err) DLS_MUST_CHECK;
void dls_trace_stats_fini(dls_trace_stats *stats); /* of {0}, too */

#endif
