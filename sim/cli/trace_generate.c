/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `dlsim trace generate`: a synthetic trace by a published profile, with a report of its load and
 * queueing.
 */
#include "cli/command.h"

#include "dlsim/traces.h"

#include <inttypes.h>
#include <math.h>

typedef struct request {
    dls_synth_params params;
    const char *path;
    double duration_max_s;
    int32_t stamps; /* 0: seconds */
    bool quiet;
} request;

static void say_replay(const char *order, const dls_synth_queueing *q, int64_t waiting_jobs)
{
    fprintf(stderr,
            "dlsim: %s first: %" PRId64
            " or more jobs wait during %.1f %% of the replay and %.1f %% "
            "of the submit span; at most %" PRId64 " wait; all done after %.2f d\n",
            order, waiting_jobs, 100 * q->time_frac, 100 * q->span_frac, q->peak_jobs,
            (double)q->makespan_s / 86400);
}

static void say(const dls_synth_params *params, const dls_synth_report *report)
{
    fprintf(stderr,
            "dlsim: %" PRId64 " jobs over %.2f d, %.1f GPU-hours, load %.3f on %" PRId64 " GPUs\n",
            params->n_jobs, (double)report->span_s / 86400, report->gpu_s / 3600, report->load,
            report->cluster_gpus);
    if (report->duration_max_s > 0) {
        fprintf(stderr, "dlsim: durations limited to %" PRId64 " s\n", report->duration_max_s);
    }
    if (params->waiting_frac > 0) {
        say_replay("oldest", &report->oldest_first, report->waiting_jobs);
        say_replay("least GPU time", &report->least_first, report->waiting_jobs);
    }
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    request *r = user;
    dls_trace *trace;
    dls_synth_report report;
    (void)call;
    r->params.duration_max_s = (int64_t)r->duration_max_s;
    r->params.stamp_us = r->stamps ? 1 : DLS_US_PER_S;
    DLS_TRY(dls_synth_generate(&r->params, &trace, &report, err));
    const dls_status status = dls_trace_save_csv(trace, r->path, err);
    dls_trace_destroy(trace);
    if (status == DLS_OK && !r->quiet) {
        say(&r->params, &report);
    }
    return status;
}

static void defaults(void *user)
{
    request *r = user;
    dls_synth_params_init(&r->params);
    r->params.seed = 1;
}

static const char *profile_at(size_t i, const char **summary)
{
    *summary = dls_synth_profile_summary((int)i);
    return dls_synth_profile_name((int)i);
}

static dls_status take_queueing(void *member, const dls_arg *arg, const char *value, dls_error *err)
{
    dls_error why;
    return dls_synth_parse_queueing(value, member, &why) == DLS_OK
               ? DLS_OK
               : dls_fail(err, DLS_EUSAGE, NULL, "option '--%s': %s", arg->name, why.msg);
}

static const dls_arg args[] = {
    DLS_LISTED(request, params.profile, "profile", 0, profile_at, "Profiles"),
    DLS_INT(request, params.n_jobs, "jobs", 0, 2, DLS_SYNTH_JOBS_MAX, "number of jobs"),
    DLS_INT(request, params.cluster_gpus, "gpus", 0, 1, DLS_GPUS_MAX,
            "GPUs of the cluster: gangs are cut to it, load refers to it; the cluster that the "
            "profile was recorded on if left out"),
    DLS_REAL(request, params.load, "load", 0, DLS_ABOVE_0, (double)INFINITY,
             "GPU time asked for / GPU time there is over the submit span; the published arrival "
             "rate if left out"),
    DLS_CALL(request, params, "queueing", 0, "WHAT", take_queueing,
             "none, heavy, or SHARE:TIME: raise the load, and if that does not do limit durations, "
             "until at least SHARE of all jobs waits during TIME of the replay; heavy is a tenth "
             "for a third of the time"),
    DLS_TIME(request, duration_max_s, "max-duration", 0, 1, 3e9,
             "leave longer jobs out of the distribution (\"2 d\", seconds)"),
    DLS_CHOICE(request, stamps, "stamps", 0, "s|us", "times are whole seconds or microseconds"),
    DLS_INT(request, params.seed, "seed", 0, 0, INT64_MAX, "random seed"),
    DLS_TEXT(request, path, "output", 'o', "FILE", "where to write"),
    DLS_SWITCH(request, quiet, "quiet", 'q', "no report on stderr"),
    DLS_ARGS_END};

const dls_command dls_trace_generate = {
    .name = "trace generate",
    .summary = "a synthetic trace",
    .usage = "[OPTION]... -o FILE",
    .about = "Writes a synthetic trace, drawn from published distributions, in the native CSV "
             "format.",
    .args = args,
    .needs = "output",
    .size = sizeof(request),
    .defaults = defaults,
    .run = run,
};
