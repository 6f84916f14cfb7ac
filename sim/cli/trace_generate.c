/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/trace_generate.h"

#include "base/units.h"
#include "cli/ui.h"
#include "traces/synth.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define COMMAND "trace generate"
enum { PROFILE = 256, JOBS, GPUS, LOAD, SEED, QUEUEING, MAX_DURATION, STAMPS };

static const struct option longs[] = {{"profile", required_argument, NULL, PROFILE},
                                      {"jobs", required_argument, NULL, JOBS},
                                      {"gpus", required_argument, NULL, GPUS},
                                      {"load", required_argument, NULL, LOAD},
                                      {"seed", required_argument, NULL, SEED},
                                      {"queueing", required_argument, NULL, QUEUEING},
                                      {"max-duration", required_argument, NULL, MAX_DURATION},
                                      {"stamps", required_argument, NULL, STAMPS},
                                      {"output", required_argument, NULL, 'o'},
                                      {"quiet", no_argument, NULL, 'q'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

static void help(void)
{
    fputs(
        "Usage: dlsim trace generate [OPTION]... -o FILE\n"
        "Writes a synthetic trace, drawn from published distributions, in the native CSV format.\n"
        "\n"
        "  --profile=NAME      what to imitate (default philly):\n",
        stdout);
    for (int i = 0; dls_synth_profile_name(i); i++) {
        printf("                        %-9s %s\n", dls_synth_profile_name(i),
               dls_synth_profile_summary(i));
    }
    fputs(
        "  --jobs=N            number of jobs (default 5000)\n"
        "  --gpus=N            GPUs of the cluster: gangs are cut to it, load refers to it\n"
        "                      (default: the cluster that the profile was recorded on)\n"
        "  --load=X            GPU time asked for / GPU time there is over the submit span\n"
        "                      (default: the published arrival rate)\n"
        "  --queueing=WHAT     none, heavy, or SHARE:TIME: raise the load, and if that does not\n"
        "                      do limit durations, until at least SHARE of all jobs waits during\n"
        "                      TIME of the replay; heavy is a tenth for a third of the time\n"
        "  --max-duration=T    leave longer jobs out of the distribution (\"2 d\", seconds)\n"
        "  --stamps=s|us       times are whole seconds (default) or microseconds\n"
        "  --seed=N            random seed (default 1)\n"
        "  -o, --output=FILE   where to write\n"
        "  -q, --quiet         no report on stderr\n"
        "  -h, --help          this text\n",
        stdout);
}

/* A positive number, or a usage error. */
static bool parse_load(const char *text, double *load)
{
    if (dls_units_f64(text, load) && *load > 0) {
        return true;
    }
    dls_ui_usage(COMMAND, "option '--load' is \"%s\": expected a positive number", text);
    return false;
}

static bool parse_max_duration(const char *text, int64_t *max_s)
{
    double seconds;
    dls_error err;
    if (dls_units_parse(text, DLS_QUANTITY_TIME, &seconds, &err) == DLS_OK && seconds >= 1 &&
        seconds <= 3e9) {
        *max_s = (int64_t)seconds;
        return true;
    }
    dls_ui_usage(COMMAND, "option '--max-duration' is \"%s\": expected a time of at least 1 s",
                 text);
    return false;
}

static bool parse_stamps(const char *text, int64_t *stamp_us)
{
    if (strcmp(text, "s") == 0 || strcmp(text, "us") == 0) {
        *stamp_us = text[0] == 's' ? DLS_US_PER_S : 1;
        return true;
    }
    dls_ui_usage(COMMAND, "option '--stamps' is \"%s\": expected s or us", text);
    return false;
}

static bool parse_queueing(const char *text, dls_synth_params *params)
{
    dls_error err;
    if (dls_synth_parse_queueing(text, params, &err) == DLS_OK) {
        return true;
    }
    dls_ui_usage(COMMAND, "option '--queueing': %s", err.msg);
    return false;
}

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

static int write_trace(const dls_synth_params *params, const char *path, bool quiet)
{
    dls_error err;
    dls_trace *trace;
    dls_synth_report report;
    if (dls_synth_generate(params, &trace, &report, &err) != DLS_OK) {
        return dls_ui_fail(&err);
    }
    const dls_status status = dls_trace_save_csv(trace, path, &err);
    dls_trace_destroy(trace);
    if (status != DLS_OK) {
        return dls_ui_fail(&err);
    }
    if (!quiet) {
        say(params, &report);
    }
    return 0;
}

int dls_cmd_trace_generate(int argc, char **argv)
{
    dls_synth_params params;
    dls_synth_params_init(&params);
    const char *path = NULL;
    bool quiet = false, good = true;
    int64_t seed = 1;
    for (int c; good && (c = dls_ui_getopt(argc, argv, "o:qh", longs, COMMAND)) != -1;) {
        switch (c) {
        case 'h':
            help();
            return 0;
        case 'o':
            path = optarg;
            break;
        case 'q':
            quiet = true;
            break;
        case PROFILE:
            params.profile = optarg;
            break;
        case JOBS:
            good = dls_ui_i64(COMMAND, "--jobs", optarg, 2, DLS_SYNTH_JOBS_MAX, &params.n_jobs);
            break;
        case GPUS:
            good = dls_ui_i64(COMMAND, "--gpus", optarg, 1, DLS_GPUS_MAX, &params.cluster_gpus);
            break;
        case SEED:
            good = dls_ui_i64(COMMAND, "--seed", optarg, 0, INT64_MAX, &seed);
            break;
        case LOAD:
            good = parse_load(optarg, &params.load);
            break;
        case QUEUEING:
            good = parse_queueing(optarg, &params);
            break;
        case MAX_DURATION:
            good = parse_max_duration(optarg, &params.duration_max_s);
            break;
        case STAMPS:
            good = parse_stamps(optarg, &params.stamp_us);
            break;
        default:
            good = false;
        }
    }
    if (!good) {
        return dls_status_exit_code(DLS_EUSAGE);
    }
    if (optind < argc) {
        return dls_ui_usage(COMMAND, "unexpected word \"%s\"", argv[optind]);
    }
    if (!path) {
        return dls_ui_usage(COMMAND, "where to? -o FILE is missing");
    }
    params.seed = (uint64_t)seed;
    return write_trace(&params, path, quiet);
}
