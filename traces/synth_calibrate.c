/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Searches for the load and the limit on durations that make jobs wait as long as asked, with
 * replays of a sample.
 */
#include "base/own.h"
#include "traces/synth_draw.h"
#include "traces/synth_queue.h"

#include <math.h>

/* The search asks for a little more than the user did: real policies and the whole trace differ
 * from the sample. */
#define MARGIN 1.08
#define LOAD_MIN 0.5
#define LOAD_MAX 16.0
#define LOAD_STEP 1.2
/* Sample of the search: enough jobs, and GPUs enough for large gangs. */
#define SAMPLE_JOBS 10000
#define SAMPLE_GPUS 1000

/* Limits on durations, tried in this order: none, 7 d, 1 d, 12 h, ... 10 min. */
static const int64_t limit_s[] = {0, 604800, 86400, 43200, 21600, 10800, 3600, 1800, 600};
#define N_LIMITS (int)(sizeof limit_s / sizeof limit_s[0])

typedef struct trial {
    const dls_synth_plan *plan;
    size_t stride;
    int64_t cluster_gpus, duration_max_s;
    double waiting_frac;
    dls_synth_jobs *jobs;
    dls_synth_queueing oldest, least;
} trial;

static int64_t threshold(double waiting_frac, size_t n)
{
    return (int64_t)ceil(waiting_frac * (double)n);
}

/* Draw and replay at a load. *time_frac: the least of three shares, see dls_synth_generate. The
 * second replay is left out when the first is below the goal. */
static dls_status try_load(trial *t, double load, double goal, double *time_frac, dls_error *err)
{
    const double gpu_s = dls_synth_gpu_s(t->plan, t->stride, t->cluster_gpus, t->duration_max_s);
    int64_t span_s;
    DLS_TRY(dls_synth_span_s(gpu_s, t->cluster_gpus, load, &span_s, err));
    DLS_TRY(dls_synth_draw(t->plan, t->stride, t->cluster_gpus, t->duration_max_s, span_s, t->jobs,
                           err));
    const dls_queue_jobs view = {t->jobs->n, t->jobs->submit_us, t->jobs->duration_us,
                                 t->jobs->gpus};
    const int64_t waiting_jobs = threshold(t->waiting_frac, t->jobs->n);
    DLS_TRY(
        dls_queue_replay(&view, t->cluster_gpus, DLS_QUEUE_OLDEST, waiting_jobs, &t->oldest, err));
    *time_frac = t->oldest.time_frac;
    if (*time_frac < goal) {
        return DLS_OK;
    }
    DLS_TRY(
        dls_queue_replay(&view, t->cluster_gpus, DLS_QUEUE_LEAST, waiting_jobs, &t->least, err));
    *time_frac = fmin(fmin(t->oldest.time_frac, t->least.span_frac),
                      (t->oldest.time_frac + t->least.time_frac) / 2);
    return DLS_OK;
}

/* Least load of a geometric series that meets the goal at one limit on durations; 0 if none does. A
 * scan and no bisection: a higher load shortens the arrivals but not the longest jobs, so the share
 * of time does not only grow with it. */
static dls_status search_load(trial *t, double goal, double *load, dls_error *err)
{
    double reached;
    *load = 0;
    for (double next = LOAD_MIN; next <= LOAD_MAX; next *= LOAD_STEP) {
        DLS_TRY(try_load(t, next, goal, &reached, err));
        if (reached >= goal) {
            *load = next;
            break;
        }
    }
    return DLS_OK;
}

/* The sample's answer: a limit on durations and a load, or load 0. */
static dls_status search(const dls_synth_plan *plan, const dls_synth_params *params, int first,
                         int *limit, double *load, int64_t *duration_max_s, dls_error *err)
{
    size_t stride = plan->n / SAMPLE_JOBS;
    const size_t most = (size_t)(params->cluster_gpus / SAMPLE_GPUS);
    stride = stride < most ? stride : most;
    stride = stride > 1 ? stride : 1;
    DLS_OWN(dls_synth_jobs_fini) dls_synth_jobs sample = {0};
    DLS_TRY(dls_synth_jobs_init(&sample, plan, stride, err));
    trial t = {.plan = plan,
               .stride = stride,
               .waiting_frac = params->waiting_frac,
               .cluster_gpus = params->cluster_gpus / (int64_t)stride,
               .jobs = &sample};
    *load = 0;
    for (*limit = first; *limit < N_LIMITS; ++*limit) {
        const int64_t user_s = params->duration_max_s, step_s = limit_s[*limit];
        if (step_s > 0 && user_s > 0 && step_s >= user_s) {
            continue;
        }
        *duration_max_s = t.duration_max_s = step_s > 0 ? step_s : user_s;
        DLS_TRY(search_load(&t, fmin(params->time_frac * MARGIN, 1), load, err));
        if (*load > 0) {
            break;
        }
    }
    return DLS_OK;
}

dls_status dls_synth_calibrate(const dls_synth_plan *plan, const dls_synth_params *params,
                               dls_synth_jobs *jobs, dls_synth_report *report, dls_error *err)
{
    trial t = {.plan = plan,
               .stride = 1,
               .cluster_gpus = params->cluster_gpus,
               .jobs = jobs,
               .waiting_frac = params->waiting_frac};
    report->waiting_jobs = threshold(params->waiting_frac, plan->n);
    for (int limit = 0; limit < N_LIMITS; limit++) {
        double load, reached = 0;
        DLS_TRY(search(plan, params, limit, &limit, &load, &t.duration_max_s, err));
        for (; load > 0 && load <= 2 * LOAD_MAX && reached < params->time_frac; load *= 1.15) {
            DLS_TRY(try_load(&t, load, params->time_frac, &reached, err));
        }
        if (reached >= params->time_frac) {
            report->duration_max_s = t.duration_max_s;
            report->oldest_first = t.oldest;
            report->least_first = t.least;
            return DLS_OK;
        }
    }
    return dls_fail(err, DLS_ERUN, "queueing",
                    "%g of the jobs waiting for %g of the time cannot be reached with profile "
                    "\"%s\" on %lld GPUs: too many GPUs for so few jobs",
                    params->waiting_frac, params->time_frac, plan->profile->name,
                    (long long)params->cluster_gpus);
}
