/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Burst and idle phases of a resource that was sampled at a fixed interval, as Driple's profiler
 * describes them (Yang et al., POMACS 6(2), 2022, section 3): samples are divided into two classes
 * (dls_two_means), runs of one class are phases, and a job's behaviour is how long its idle and its
 * burst phases last and how high its bursts are.
 *
 * Patterns: I, the resource is hardly used; B, it is used without a pause; BIB, bursts and pauses
 * in turn. The first and the last run are cut off by the recording, so they count for nothing,
 * unless there is no other run of their kind: then they are used and `cut` says so (a lower bound).
 */
#ifndef DLS_MEASURE_BURST_H
#define DLS_MEASURE_BURST_H

#include "dlsim/error.h"
#include "dlsim/predictor.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum dls_pattern { DLS_PATTERN_I, DLS_PATTERN_B, DLS_PATTERN_BIB } dls_pattern;
/* "I", "B", "BIB" */
const char *dls_pattern_name(dls_pattern pattern);

typedef struct dls_burst_options {
    double interval_s; /* between samples, > 0 */
    double capacity;   /* the value of a resource in full use, > 0, in the unit of the samples */
    bool no_cycle;     /* leave period_s, correlation and cycle_agrees at 0: two transforms less */
    double
        contrast_frac; /* classes closer than this part of the greatest sample are one; 0: 0.05 */
} dls_burst_options;

typedef struct dls_burst {
    dls_pattern pattern;
    double idle_s, burst_s;           /* mean length of a phase; I: burst_s 0, B: idle_s 0 */
    double idle_amount, burst_amount; /* mean of the samples in them; 0 without such a phase */
    size_t n_idle, n_burst;           /* phases counted */
    bool cut;                         /* some length is that of a cut-off phase */
    double threshold;
    double cycle_s;               /* BIB: idle_s + burst_s; else 0 */
    double period_s, correlation; /* by autocorrelation; 0 if the series does not repeat */
    bool cycle_agrees;            /* both within 10 % or one interval */
} dls_burst;

/* A single class is B if its mean is at least half the capacity, else I. O(n log n).
 * Errors: EINPUT (no sample, a sample not finite, a bad option), ENOMEM. */
dls_status dls_burst_analyze(const double *x, size_t n, const dls_burst_options *opts,
                             dls_burst *out, dls_error *err) DLS_MUST_CHECK;

/* The four resources in the order of the labels (dlsim/predictor.h). */
enum { DLS_RES_GPU_MEM, DLS_RES_GPU, DLS_RES_NET_RX, DLS_RES_NET_TX, DLS_RESOURCES };
const char *dls_resource_name(int resource);

/* The 12 metrics of four analysed series, and the GPU's cycle as iteration time. */
dls_profile dls_burst_profile(const dls_burst burst[DLS_RESOURCES]);

#endif
