/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Turns a plan into jobs with clock times in order of submission, and computes the span for a given
 * load.
 */
#include "traces/synth_draw.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

#define YEAR_S 31557600.0

dls_status dls_synth_jobs_init(dls_synth_jobs *jobs, const dls_synth_plan *plan, size_t stride,
                               dls_error *err)
{
    const size_t n = (plan->n + stride - 1) / stride;
    jobs->n = n;
    jobs->submit_us = dls_alloc(n * sizeof *jobs->submit_us);
    jobs->duration_us = dls_alloc(n * sizeof *jobs->duration_us);
    jobs->clock_us = dls_alloc(n * sizeof *jobs->clock_us);
    jobs->gpus = dls_alloc(n * sizeof *jobs->gpus);
    jobs->job = dls_alloc(n * sizeof *jobs->job);
    jobs->keyed = dls_alloc(2 * n * sizeof *jobs->keyed);
    if (!jobs->submit_us || !jobs->duration_us || !jobs->clock_us || !jobs->gpus || !jobs->job ||
        !jobs->keyed) {
        dls_synth_jobs_fini(jobs);
        return dls_nomem(err, "synthetic jobs", n * sizeof *jobs->submit_us);
    }
    return DLS_OK;
}

void dls_synth_jobs_fini(dls_synth_jobs *jobs)
{
    DLS_FREE_ALL(jobs->submit_us, jobs->duration_us, jobs->clock_us, jobs->gpus, jobs->job,
                 jobs->keyed);
    memset(jobs, 0, sizeof *jobs);
}

double dls_synth_gpu_s(const dls_synth_plan *plan, size_t stride, int64_t cluster_gpus,
                       int64_t duration_max_s)
{
    double gpu_s = 0;
    for (size_t j = 0; j < plan->n; j += stride) {
        gpu_s += 1e-6 * (double)(dls_synth_gpus(plan, j, cluster_gpus) *
                                 dls_synth_duration_us(plan, j, duration_max_s));
    }
    return gpu_s;
}

dls_status dls_synth_span_s(double gpu_s, int64_t cluster_gpus, double load, int64_t *span_s,
                            dls_error *err)
{
    const double span = gpu_s / ((double)cluster_gpus * load);
    if (!(span <= 100 * YEAR_S)) {
        return dls_fail(err, DLS_EUSAGE, "load",
                        "load %g would spread the trace over %.3g years; at most 100", load,
                        span / YEAR_S);
    }
    *span_s = span < 1 ? 1 : (int64_t)floor(span + .5);
    return DLS_OK;
}

dls_status dls_synth_draw(const dls_synth_plan *plan, size_t stride, int64_t cluster_gpus,
                          int64_t duration_max_s, int64_t span_s, dls_synth_jobs *jobs,
                          dls_error *err)
{
    DLS_TRY(dls_synth_arrivals(plan, span_s, stride, jobs->clock_us, err));
    for (size_t i = 0; i < jobs->n; i++) {
        jobs->keyed[i] = (dls_keyed){(uint64_t)jobs->clock_us[i], (uint32_t)i};
    }
    const dls_keyed *by_clock = dls_radix_sort(jobs->keyed, jobs->keyed + jobs->n, jobs->n);
    for (size_t i = 0; i < jobs->n; i++) {
        const size_t job = by_clock[i].value * stride;
        jobs->submit_us[i] = (int64_t)by_clock[i].key;
        jobs->gpus[i] = dls_synth_gpus(plan, job, cluster_gpus);
        jobs->duration_us[i] = dls_synth_duration_us(plan, job, duration_max_s);
        jobs->job[i] = (uint32_t)job;
    }
    return DLS_OK;
}
