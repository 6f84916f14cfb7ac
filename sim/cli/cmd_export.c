/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim export: a run in the format of another program.
 */
#include "base/atomicfile.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/replay.h"
#include "results/perfetto.h"

#include <inttypes.h>
#include <string.h>

static const char *const help_text =
    "Usage: dlsim export --perfetto RUN.h5 [OPTION]...\n"
    "\n"
    "Write a run for a trace viewer: open the file in ui.perfetto.dev or chrome://tracing. Jobs "
    "are\n"
    "slices on the GPUs that they hold, the cluster's state over time is counters.\n"
    "\n"
    "      --perfetto           the format: Trace Event JSON; there is one\n"
    "  -o, --output=FILE.json   write there; standard output if left out\n"
    "      --run=ID             which run, if the file holds several\n"
    "      --from=TIME, --until=TIME\n"
    "                           only this span of simulated time, e.g. 2d to 3d\n"
    "      --force              replace the file if it is there\n"
    "  -q, --quiet              no report on stderr\n"
    "  -h, --help               this text\n";

enum { OPT_PERFETTO = 256, OPT_RUN, OPT_FROM, OPT_UNTIL, OPT_FORCE };

static const struct option longs[] = {{"perfetto", no_argument, NULL, OPT_PERFETTO},
                                      {"output", required_argument, NULL, 'o'},
                                      {"run", required_argument, NULL, OPT_RUN},
                                      {"from", required_argument, NULL, OPT_FROM},
                                      {"until", required_argument, NULL, OPT_UNTIL},
                                      {"force", no_argument, NULL, OPT_FORCE},
                                      {"quiet", no_argument, NULL, 'q'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

typedef struct request {
    const char *path, *output, *run_id;
    dls_perfetto_options span;
    bool perfetto, force, quiet;
} request;

static bool parse_time(const char *option, const char *text, int64_t *us)
{
    double seconds;
    dls_error err;
    if (dls_units_parse(text, DLS_QUANTITY_TIME, &seconds, &err) != DLS_OK || seconds < 0) {
        dls_ui_usage("export", "option '%s' is \"%s\": expected a time, such as 7d", option, text);
        return false;
    }
    *us = dls_units_us(seconds);
    return true;
}

/* -1: go on; else the exit code. */
static int parse(request *r, int argc, char **argv)
{
    const int usage = dls_status_exit_code(DLS_EUSAGE);
    for (int c; (c = dls_ui_getopt(argc, argv, "o:qh", longs, "export")) != -1;) {
        switch (c) {
        case OPT_PERFETTO:
            r->perfetto = true;
            break;
        case 'o':
            r->output = strcmp(optarg, "-") == 0 ? NULL : optarg;
            break;
        case OPT_RUN:
            r->run_id = optarg;
            break;
        case OPT_FROM:
            if (!parse_time("--from", optarg, &r->span.from_us)) {
                return usage;
            }
            break;
        case OPT_UNTIL:
            if (!parse_time("--until", optarg, &r->span.until_us)) {
                return usage;
            }
            break;
        case OPT_FORCE:
            r->force = true;
            break;
        case 'q':
            r->quiet = true;
            break;
        case 'h':
            fputs(help_text, stdout);
            return 0;
        default:
            return usage;
        }
    }
    if (!r->perfetto) {
        return dls_ui_usage("export", "say in which format: --perfetto");
    }
    if (argc - optind != 1) {
        return dls_ui_usage("export", "expected one results file");
    }
    r->path = argv[optind];
    return -1;
}

typedef struct export
{
    const request *r;
    const dls_run *run;
    dls_perfetto_counts *counts;
}
export;

static dls_status put(FILE *to, void *what, dls_error *err)
{
    const export *e = what;
    return dls_perfetto_write(to, e->run, &e->r->span, e->counts, err);
}

static dls_status write_to(const request *r, const dls_run *run, dls_perfetto_counts *counts,
                           dls_error *err)
{
    export e = {r, run, counts};
    if (!r->output) {
        return put(stdout, &e, err);
    }
    DLS_TRY(dls_replay_check_output(r->output, r->force, err));
    return dls_atomicfile_write(r->output, put, &e, err);
}

int dls_cmd_export(int argc, char **argv)
{
    request r = {.span = {0, INT64_MAX}};
    dls_error err;
    dls_results *file;
    dls_run *run;
    dls_perfetto_counts counts = {0};
    const int code = parse(&r, argc, argv);
    if (code >= 0) {
        return code;
    }
    dls_status status = dls_results_open(r.path, &file, &err);
    if (status == DLS_OK) {
        status = dls_run_open(file, r.run_id, &run, &err);
        if (status == DLS_OK) {
            status = write_to(&r, run, &counts, &err);
            dls_run_close(run);
        }
        dls_results_close(file);
    }
    if (status != DLS_OK) {
        return dls_ui_fail(&err);
    }
    if (!r.quiet && r.output) {
        fprintf(stderr, "%s: %" PRIu64 " slices, %" PRIu64 " counter values\n", r.output,
                counts.slices, counts.counters);
    }
    return 0;
}
