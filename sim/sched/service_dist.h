/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The distribution of the total service of jobs, from samples: what gittins and shortest-expected
 * know instead of each job's own run time.
 */
#ifndef DLS_SCHED_SERVICE_DIST_H
#define DLS_SCHED_SERVICE_DIST_H

#include "dlsim/policy.h"

typedef struct dls_service_dist {
    double *sample_s; /* [n] ascending, GPU-seconds */
    double *sum_s;    /* [n + 1] sums of the first i samples */
    int32_t n;
} dls_service_dist;

/* From a file with one number a line (a header line is skipped), or, with path "", from the jobs of
 * the trace: run time x GPUs. Errors: EINPUT. */
dls_status dls_service_dist_load(dls_service_dist *d, const dls_view *view, const char *path,
                                 dls_error *err) DLS_MUST_CHECK;
/* `fini` and `clone` of a policy whose state begins with a distribution. */
void dls_service_dist_fini(void *state);
dls_status dls_service_dist_clone(void *state, const void *from, const dls_view *view, dls_error *err);

#define DLS_SERVICE_SAMPLES                                                                        \
    {.name = "samples",                                                                            \
     .type = DLS_OPT_PATH,                                                                         \
     .def = "",                                                                                    \
     .unit = "",                                                                                   \
     .doc = "file of past jobs' GPU-seconds, one a line, relative to the "                         \
            "configuration's folder; empty: the jobs of the trace"}

/* Gittins index at attained service a, quantum delta (GPU-seconds), per GPU-second:
 * P(S - a <= delta | S > a) / E[min(S - a, delta) | S > a]; 0 when no sample exceeds a.
 * (Tiresias, NSDI 2019, section 3.2, in its residual form.) O(log n). */
double dls_service_gittins(const dls_service_dist *d, double a_s, double delta_s);
/* E[S - a | S > a]; a itself when no sample exceeds a: a job older than all that were seen is
 * expected to go on for as long as it has. O(log n). */
double dls_service_residual(const dls_service_dist *d, double a_s);
/* The sample at a quantile q in 0..1 (nearest rank below). */
double dls_service_quantile(const dls_service_dist *d, double q);

#endif
