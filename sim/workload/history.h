/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How long a job will run, as a scheduler could know it when the job comes: from the jobs like it
 * that have ended. Jobs are grouped from all of them to those of one user, model and number of
 * GPUs, and each group moves the estimate of the one before:
 *
 *      e = e' + sum(r - e') / (n + 1)      r: logarithm of a run time in seconds, n of them
 *
 * as in predictor/sources/calibration.h; at first e' is an hour's, or that of the job's limit,
 * which no estimate exceeds. The history of a trace is made once and only read; what a run has seen
 * is an array of the run's.
 */
#ifndef DLS_WORKLOAD_HISTORY_H
#define DLS_WORKLOAD_HISTORY_H

#include "dlsim/trace.h"

typedef struct dls_history dls_history;

/* Of the jobs of one group that have ended. */
typedef struct dls_past_runs {
    int64_t n;
    double sum_log_s;
} dls_past_runs;

/* trace is borrowed for the life of *out. past: another trace, whose jobs have all ended before the
 * first of this one comes, each after its recorded run time (those without are left out); NULL:
 * nothing is known at first. Users, models and virtual clusters are the same if they are called the
 * same. Errors: ENOMEM. O(jobs of both). */
dls_status dls_history_create(const dls_trace *trace, const dls_trace *past, dls_history **out,
                              dls_error *err) DLS_MUST_CHECK;
/* Of the same trace. O(jobs). */
dls_status dls_history_copy(const dls_history *from, dls_history **out,
                            dls_error *err) DLS_MUST_CHECK;
void dls_history_destroy(dls_history *h); /* NULL-safe */

/* Groups of jobs, 0 without a history; what is known of each before the first job comes. */
size_t dls_history_groups(const dls_history *h);
const dls_past_runs *dls_history_past(const dls_history *h);

/* A job has ended after running so long. O(1). */
void dls_history_see(const dls_history *h, dls_past_runs *seen, int32_t job, int64_t run_us);
/* > 0. O(1). */
int64_t dls_history_estimate_us(const dls_history *h, const dls_past_runs *seen, int32_t job);

#endif
