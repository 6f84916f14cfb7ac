/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Philly jobs with their scheduling attempts, as both JSON forms of the trace list them.
 */
#ifndef DLS_TRACES_PHILLY_JOBS_H
#define DLS_TRACES_PHILLY_JOBS_H

#include "dlsim/trace.h"

/* An array of jobs. Keys: id or jobid, submitted_time, attempts (start_time, end_time, detail), and
 * if there num_gpus, status, vc, user. GPUs are num_gpus, else those of the first attempt. The
 * duration is the sum of the attempts that have both times, or with options.philly_span from the
 * first start to the last end. Left out, with the reason: jobs without attempt, submission, start,
 * end or GPU. A last attempt without end: running when the log was taken, flagged CENSORED. */
dls_status dls_philly_read_jobs(const dls_trace_source *src, dls_trace_builder *b,
                                dls_error *err) DLS_MUST_CHECK;
/* Does the text start as an array of objects with "attempts" and this key (quotes included)? */
int dls_philly_sniff(const dls_trace_source *src, const char *quoted_key);

#endif
