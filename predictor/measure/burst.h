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

/* Whether idle and burst together are the step of a job is another question: a real step has
 * several bursts (dls_cycle_find tells how long it is, dls_burst_per_step how many they are). */
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
    double
        explained;  /* part of the samples' variance that the two classes take away; I, B: as BIB */
    double cycle_s; /* BIB: idle_s + burst_s; else 0 */
    double period_s, correlation; /* dls_cycle_find of this series; 0 if it does not repeat */
    bool cycle_agrees;            /* both within 10 % or one interval */
} dls_burst;

/* A single class is B if its mean is at least half the capacity, else I. O(n log n).
 * Errors: EINPUT (no sample, a sample not finite, a bad option), ENOMEM. */
dls_status dls_burst_analyze(const double *x, size_t n, const dls_burst_options *opts,
                             dls_burst *out, dls_error *err) DLS_MUST_CHECK;

/* What a phase is told: its kind, its first sample, how many there are and their sum. */
typedef void dls_phase_fn(void *user, bool high, size_t first, size_t length, double sum);
/* Every run of samples above or not above the threshold, in order; the first and the last are cut
 * off by the series' ends. O(n). */
void dls_burst_phases(const double *x, size_t n, double threshold, dls_phase_fn *fn, void *user);

/* Bursts in a step of that length: a step with k bursts holds k pauses, too. 0 unless the pattern
 * is BIB with whole phases of both kinds and the step is known. */
double dls_burst_per_step(const dls_burst *b, double step_s);

/* The four resources in the order of the labels (dlsim/predictor.h). */
enum { DLS_RES_GPU_MEM, DLS_RES_GPU, DLS_RES_NET_RX, DLS_RES_NET_TX, DLS_RESOURCES };
const char *dls_resource_name(int resource);

/* The 12 metrics of four analysed series; iteration_s is the step of the job, which they do not
 * tell (0: not known). */
dls_profile dls_burst_profile(const dls_burst burst[DLS_RESOURCES], double step_s);

#endif
