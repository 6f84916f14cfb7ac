/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim trace: statistics of a trace, conversion, generation.
 */
#include "base/json.h"
#include "base/printable.h"
#include "cli/replay.h"
#include "dlsim/traces.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const quantile_names[DLS_STATS_QUANTILES] = {"p1",  "p5",  "p25", "p50", "p75",
                                                                "p90", "p95", "p99", "max"};
static const char *const outcome_names[] = {
#define XX(name, text) text,
    DLS_OUTCOME_MAP(XX)
#undef XX
};
static const char *const flag_names[] = {
#define XX(name, bit, text) #name,
    DLS_JOB_FLAG_MAP(XX)
#undef XX
};

static double share(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

/* ---- statistics as text ---------------------------------------------------------------------- */

static void put_dist(FILE *to, const char *name, const dls_stats_dist *dist)
{
    if (dist->n == 0) {
        return;
    }
    fprintf(to, "%-22s", name);
    for (int i = 0; i < DLS_STATS_QUANTILES; i++) {
        fprintf(to, " %10.5g", dist->q[i]);
    }
    if (dist->mean > 0) {
        fprintf(to, " %10.2f %8.2f\n", dist->mean, dist->cv);
    } else {
        fprintf(to, " %10.2f %8s\n", dist->mean, "-"); /* all are 0 */
    }
}

static void put_sizes(FILE *to, const dls_trace_stats *stats)
{
    fprintf(to, "\n%-10s %10s %8s %14s %10s\n", "GPUs", "jobs", "jobs %", "GPU-hours",
            "GPU-time %");
    for (size_t i = 0; i < stats->n_sizes; i++) {
        const dls_stats_size *size = &stats->sizes[i];
        fprintf(to, "%-10g %10" PRIu64 " %8.2f %14.1f %10.2f\n", (double)size->gpus_milli * 1e-3,
                size->jobs, share((double)size->jobs, (double)stats->jobs), size->gpu_h,
                share(size->gpu_h, stats->gpu_h));
    }
}

static void put_vcs(FILE *to, const dls_trace *trace, const dls_trace_stats *stats)
{
    if (stats->n_vcs == 0) {
        return;
    }
    int width = 22;
    for (size_t i = 0; i < stats->n_vcs; i++) {
        const int32_t code = stats->vcs[i].code;
        width = code < 0 ? width : dls_printable_width(dls_trace_vc(trace, code), width);
    }
    fprintf(to, "\n%-*s %10s %14s %10s %8s\n", width, "virtual cluster", "jobs", "GPU-hours", "median s",
            "max GPUs");
    for (size_t i = 0; i < stats->n_vcs; i++) {
        const dls_stats_vc *vc = &stats->vcs[i];
        char median[24] = "-"; /* none of its jobs has a duration */
        if (!isnan(vc->median_s)) {
            snprintf(median, sizeof median, "%.1f", vc->median_s);
        }
        dls_printable_cell(to, vc->code < 0 ? "(none)" : dls_trace_vc(trace, vc->code), width);
        fprintf(to, " %10" PRIu64 " %14.1f %10s %8g\n", vc->jobs, vc->gpu_h, median, (double)vc->max_gpus_milli * 1e-3);
    }
}

static void print_text(FILE *to, const dls_trace *trace, const dls_trace_stats *stats)
{
    const dls_trace_info *info = dls_trace_about(trace);
    fprintf(to, "%s (%s)\n", info->path, info->format);
    if (*info->epoch) {
        fprintf(to, "time 0           %s\n", info->epoch);
    }
    fprintf(to,
            "jobs             %" PRIu64 "\n"
            "zero durations   %" PRIu64 "\n"
            "no duration      %" PRIu64 "\n"
            "submit span      %.2f d\n"
            "GPUs per job     mean %.2f, max %g\n"
            "GPU time         %.1f GPU-hours",
            stats->jobs, stats->zero_duration, stats->no_duration, stats->span_s / 86400,
            stats->mean_gpus, (double)stats->max_gpus_milli * 1e-3, stats->gpu_h);
    if (stats->span_s > 0) {
        fprintf(to, ", %.1f GPUs busy on average over the submit span", stats->busy_gpus);
    }
    fprintf(to, "\npeak demand      %g GPUs if nothing queues\n", stats->peak_gpus);
    fprintf(to, "\n%-22s", "seconds");
    for (int i = 0; i < DLS_STATS_QUANTILES; i++) {
        fprintf(to, " %10s", quantile_names[i]);
    }
    fprintf(to, " %10s %8s\n", "mean", "CV");
    put_dist(to, "duration", &stats->duration_s);
    put_dist(to, "between submissions", &stats->gap_s);
    put_sizes(to, stats);
    put_vcs(to, trace, stats);
    fputs("\noutcome         ", to);
    for (int i = 0; i < DLS_OUTCOME_COUNT; i++) {
        if (stats->outcomes[i] > 0) {
            fprintf(to, " %s %" PRIu64, outcome_names[i], stats->outcomes[i]);
        }
    }
    fputc('\n', to);
}

/* ---- and as JSON ----------------------------------------------------------------------------- */

static void json_dist(json_object *to, const char *name, const dls_stats_dist *dist)
{
    json_object *obj = dls_json_object(to, name);
    for (int i = 0; i < DLS_STATS_QUANTILES; i++) {
        dls_json_real(obj, quantile_names[i], dist->q[i]);
    }
    DLS_JSON(obj, "mean", dist->mean, "cv", dist->cv);
}

/* "name": {"key": count, ...} of the counts above 0. */
static void json_counts(json_object *to, const char *name, const char *const *keys,
                        const uint64_t *counts, int n)
{
    json_object *obj = dls_json_object(to, name);
    for (int i = 0; i < n; i++) {
        if (counts[i] > 0) {
            dls_json_int(obj, keys[i], (int64_t)counts[i]);
        }
    }
}

static void json_vcs(json_object *to, const dls_trace *trace, const dls_trace_stats *stats)
{
    json_object *list = dls_json_list(to, "vcs");
    for (size_t i = 0; i < stats->n_vcs; i++) {
        const dls_stats_vc *vc = &stats->vcs[i];
        DLS_JSON(dls_json_next(list), "vc", vc->code < 0 ? "" : dls_trace_vc(trace, vc->code),
                 "jobs", vc->jobs, "gpu_h", vc->gpu_h, "median_s", vc->median_s, "max_gpus",
                 (double)vc->max_gpus_milli * 1e-3);
    }
}

static dls_status print_json(FILE *to, const dls_trace *trace, const dls_trace_stats *stats,
                             dls_error *err)
{
    const dls_trace_info *info = dls_trace_about(trace);
    json_object *top = json_object_new_object();
    DLS_JSON(top, "path", info->path, "format", info->format, "sha256", info->sha256, "jobs",
             stats->jobs, "zero_duration", stats->zero_duration, "no_duration", stats->no_duration,
             "rows_read", info->rows_read, "rows_skipped", info->rows_skipped, "span_s",
             stats->span_s, "mean_gpus", stats->mean_gpus);
    DLS_JSON(top, "max_gpus", (double)stats->max_gpus_milli * 1e-3, "gpu_h", stats->gpu_h,
             "busy_gpus", stats->busy_gpus, "peak_gpus", stats->peak_gpus);
    json_dist(top, "duration_s", &stats->duration_s);
    json_dist(top, "gap_s", &stats->gap_s);
    json_object *sizes = dls_json_list(top, "sizes");
    for (size_t i = 0; i < stats->n_sizes; i++) {
        DLS_JSON(dls_json_next(sizes), "gpus", (double)stats->sizes[i].gpus_milli * 1e-3, "jobs",
                 stats->sizes[i].jobs, "gpu_h", stats->sizes[i].gpu_h);
    }
    json_vcs(top, trace, stats);
    json_counts(top, "outcomes", outcome_names, stats->outcomes, DLS_OUTCOME_COUNT);
    json_counts(top, "flags", flag_names, stats->flags, DLS_JOB_FLAG_COUNT);
    return dls_json_print(to, top, err);
}

/* What becomes of jobs that took no time, in the order of the option's words. */
typedef enum zero { ZERO_KEEP, ZERO_RAISE, ZERO_DROP } zero;

typedef struct request {
    const char *format, *table, *output;
    int32_t zero; /* a zero */
    int64_t seed;
    bool json;
    dls_trace_options reading; /* but for what `zero` says */
} request;

static dls_status load(const request *r, const dls_call *call, dls_trace **trace, dls_error *err)
{
    dls_trace_options opts = r->reading;
    opts.keep_zero_duration = r->zero == ZERO_KEEP;
    opts.drop_zero_duration = r->zero == ZERO_DROP;
    DLS_TRY(dls_trace_load(call->word[0], r->format, &opts, trace, err));
    dls_trace_print_notes(stderr, *trace, false);
    return DLS_OK;
}

#define INPUT_ARGS                                                                                 \
    DLS_NAME(request, format, "format", 0, dls_names_format,                                       \
             "format of FILE; recognised if left out"),                                            \
        DLS_CHOICE(request, zero, "zero-duration", 0, "keep|raise|drop",                           \
                   "keep, raise (to 1 s) or drop jobs that took no time"),                         \
        DLS_SWITCH(request, reading.allow_duplicate_ids, "allow-duplicate-ids", 0,                 \
                   "accept ids that repeat"),                                                      \
        DLS_INT(request, reading.max_jobs, "max-jobs", 0, 0, INT64_MAX,                            \
                "read at most so many jobs; all if left out"),                                          \
        DLS_SWITCH(request, reading.philly_span, "philly-span", 0,                                 \
                   "Philly's own log: durations from the first start to the last end"),            \
        DLS_SWITCH(request, reading.swf_processor_is_gpu, "swf-processor-is-gpu", 0,               \
                   "SWF logs: take a processor for a GPU")

/* ---- stats ----------------------------------------------------------------------------------- */

static dls_status stats(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_OWN(dls_trace_stats_fini) dls_trace_stats s = {0};
    DLS_TRY(load(r, call, &trace, err));
    DLS_TRY(dls_trace_stats_compute(trace, &s, err));
    if (r->json) {
        return print_json(stdout, trace, &s, err);
    }
    print_text(stdout, trace, &s);
    return DLS_OK;
}

static const dls_arg stats_args[] = {
    INPUT_ARGS, DLS_SWITCH(request, json, "json", 0, "one JSON object"), DLS_ARGS_END};

static const dls_command trace_stats = {
    .name = "trace stats",
    .summary = "what a trace looks like",
    .usage = "[OPTION]... FILE",
    .about = "Prints what a trace looks like: sizes, durations, arrivals, load.",
    .args = stats_args,
    .words = "a trace",
    .size = sizeof(request),
    .run = stats,
};

/* ---- convert --------------------------------------------------------------------------------- */

static dls_status convert(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_TRY(load(r, call, &trace, err));
    DLS_HOLD(dls_trace_destroy) dls_trace *assigned = NULL;
    if (r->table) {
        DLS_TRY(dls_trace_assign_builtin(trace, r->table, (uint64_t)r->seed, &assigned, err));
    }
    return dls_trace_save_csv(assigned ? assigned : trace, r->output, err);
}

static const dls_arg convert_args[] = {
    INPUT_ARGS,
    DLS_TEXT(request, table, "assign", 0, "TABLE",
             "give jobs without a model one from a built-in table ('dlsim list assignments')"),
    DLS_INT(request, seed, "seed", 0, 0, INT64_MAX, "seed of --assign"),
    DLS_OUTPUT(request, output, "output", 'o', "OUT.csv", "where to write; - is standard output",
               .streams = true),
    DLS_ARGS_END};

static const dls_command trace_convert = {
    .name = "trace convert",
    .summary = "any readable trace in the native CSV format",
    .usage = "[OPTION]... FILE -o OUT.csv",
    .about = "Writes any readable trace in the native CSV format.",
    .args = convert_args,
    .words = "a trace",
    .needs = "output",
    .size = sizeof(request),
    .initial = &(const request){.zero = ZERO_RAISE, .seed = 1},
    .run = convert,
};

/* ---- generate ------------------------------------------------------------------------------ */

typedef struct synthesis {
    dls_synth_params params;
    const char *path;
    double duration_max_s;
    int32_t stamps; /* 0: seconds */
    bool quiet;
} synthesis;

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

static dls_status generate(dls_call *call, dls_error *err)
{
    synthesis *r = call->request;
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    dls_synth_report report;
    r->params.duration_max_s = (int64_t)r->duration_max_s;
    r->params.stamp_us = r->stamps ? 1 : DLS_US_PER_S;
    DLS_TRY(dls_synth_generate(&r->params, &trace, &report, err));
    DLS_TRY(dls_trace_save_csv(trace, r->path, err));
    if (!r->quiet) {
        say(&r->params, &report);
    }
    return DLS_OK;
}

static void generate_defaults(void *user)
{
    synthesis *r = user;
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

static const dls_arg generate_args[] = {
    DLS_LISTED(synthesis, params.profile, "profile", 0, profile_at, "Profiles"),
    DLS_INT(synthesis, params.n_jobs, "jobs", 0, 2, DLS_SYNTH_JOBS_MAX, "number of jobs"),
    DLS_INT(synthesis, params.cluster_gpus, "gpus", 0, 1, DLS_GPUS_MAX,
            "GPUs of the cluster: gangs are cut to it, load refers to it; the cluster that the "
            "profile was recorded on if left out"),
    DLS_REAL(synthesis, params.multi_frac, "multi", 0, DLS_ABOVE_0, 1,
             "share of the jobs that have several GPUs; the profile's if left out"),
    DLS_REAL(synthesis, params.load, "load", 0, DLS_ABOVE_0, DLS_SYNTH_LOAD_MAX,
             "GPU time asked for / GPU time there is over the submit span; the published arrival "
             "rate if left out"),
    DLS_CALL(synthesis, params, "queueing", 0, "WHAT", take_queueing,
             "none, heavy, or SHARE:TIME: raise the load, and if that does not do limit durations, "
             "until at least SHARE of all jobs waits during TIME of the replay; heavy is a tenth "
             "for a third of the time"),
    DLS_TIME(synthesis, duration_max_s, "max-duration", 0, 1, 3e9,
             "leave longer jobs out of the distribution (\"2 d\", seconds)"),
    DLS_CHOICE(synthesis, stamps, "stamps", 0, "s|us", "times are whole seconds or microseconds"),
    DLS_INT(synthesis, params.seed, "seed", 0, 0, INT64_MAX, "random seed"),
    DLS_OUTPUT(synthesis, path, "output", 'o', "FILE", "where to write; - is standard output", .streams = true),
    DLS_SWITCH(synthesis, quiet, "quiet", 'q', "no report on stderr"),
    DLS_ARGS_END};

static const dls_command trace_generate = {
    .name = "trace generate",
    .summary = "a synthetic trace",
    .usage = "[OPTION]... -o FILE",
    .about = "Writes a synthetic trace, drawn from published distributions, in the native CSV "
             "format.",
    .args = generate_args,
    .needs = "output",
    .size = sizeof(synthesis),
    .defaults = generate_defaults,
    .run = generate,
};

/* ---- the command ----------------------------------------------------------------------------- */

static const dls_command *const parts[] = {&trace_stats, &trace_convert, &trace_generate, NULL};

const dls_command dls_command_trace = {
    .name = "trace",
    .summary = "statistics of a trace, conversion, generation",
    .part = parts,
};
