/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From a plan to jobs in order of submission, and the choice of the span. Private to
 * traces/synth*.c.
 */
#ifndef DLS_TRACES_SYNTH_DRAW_H
#define DLS_TRACES_SYNTH_DRAW_H

#include "dlsim/memory.h"
#include "dlsim/traces.h"
#include "traces/synth_plan.h"

/* Jobs by (submission, index in the plan). */
typedef struct dls_synth_jobs {
    size_t n;
    int64_t *submit_us, *duration_us;
    int32_t *gpus;
    uint32_t *job;     /* index in the plan */
    int64_t *clock_us; /* [n] scratch */
    dls_keyed *keyed;  /* [2 n] scratch of the sort */
} dls_synth_jobs;

/* Room for jobs 0, stride, 2 stride, ... of the plan. */
dls_status dls_synth_jobs_init(dls_synth_jobs *jobs, const dls_synth_plan *plan, size_t stride,
                               dls_error *err) DLS_MUST_CHECK;
void dls_synth_jobs_fini(dls_synth_jobs *jobs);

/* GPU time of those jobs, seconds. */
double dls_synth_gpu_s(const dls_synth_plan *plan, size_t stride, int64_t cluster_gpus,
                       int64_t duration_max_s);

/* Span that makes gpu_s this load; EUSAGE beyond 100 years. At least 1. */
dls_status dls_synth_span_s(double gpu_s, int64_t cluster_gpus, double load, int64_t *span_s,
                            dls_error *err) DLS_MUST_CHECK;

/* Fill jobs. */
dls_status dls_synth_draw(const dls_synth_plan *plan, size_t stride, int64_t cluster_gpus,
                          int64_t duration_max_s, int64_t span_s, dls_synth_jobs *jobs,
                          dls_error *err) DLS_MUST_CHECK;

/* Least load, and failing that longest durations, with which both replays reach the queueing that
 * params ask for; jobs then holds that trace and the report its figures. The search replays a
 * sample on a cluster as much smaller, the last steps the whole. */
dls_status dls_synth_calibrate(const dls_synth_plan *plan, const dls_synth_params *params,
                               dls_synth_jobs *jobs, dls_synth_report *report,
                               dls_error *err) DLS_MUST_CHECK;

#endif
