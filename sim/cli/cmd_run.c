/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "api/write_results.h"
#include "cli/cli.h"
#include "cli/replay.h"
#include "cli/signals.h"

#include <string.h>

static const char *const help_text =
    "Usage: dlsim [run] --config=FILE --trace=FILE [OPTION]...\n"
    "\n"
    "Replay a trace on a cluster, print a summary, write the results.\n"
    "\n"
    "  -c, --config=FILE        configuration ('dlsim config --defaults' shows all keys)\n"
    "      --trace=FILE         jobs, plain or gzip, '-' standard input; sets trace.path\n"
    "      --trace-format=NAME  one of 'dlsim list formats'; recognised if left out\n"
    "      --scheduler=NAME     one of 'dlsim list schedulers'; sets scheduler.name\n"
    "      --placement=NAME     one of 'dlsim list placements'; sets placement.name\n"
    "      --predictor=NAME     one of 'dlsim list predictors'; sets predictor.source\n"
    "      --predictions=HOW    record:FILE or replay:FILE; sets predictor.predictions\n"
    "      --seed=N             sets run.seed\n"
    "      --until=TIME         stop at this simulated time, e.g. 7d; sets run.until\n"
    "      --set KEY=VALUE      set any key of the configuration; may be repeated\n"
    "      --plugin=FILE.so     load policies of a plug-in; may be repeated\n"
    "  -o, --output=FILE.h5     write the results there; sets results.path\n"
    "      --force              replace the results file if it is there\n"
    "      --json               summary as JSON\n"
    "  -q, --quiet              no reports on stderr, no summary unless --json\n"
    "      --progress=WHEN      auto (on a terminal), always, never\n"
    "      --color=WHEN         auto, always, never\n"
    "  -h, --help               this text\n"
    "\n"
    "Without -o and results.path nothing is written. Ctrl-C ends the run after the current event;\n"
    "the results are written, marked incomplete, and the exit code is 130.\n";

static const struct option longs[] = {DLS_REPLAY_LONGS,
                                      {"scheduler", required_argument, NULL, 'A'},
                                      {"placement", required_argument, NULL, 'L'},
                                      {"predictor", required_argument, NULL, 'O'},
                                      {"predictions", required_argument, NULL, 'N'},
                                      {NULL, 0, NULL, 0}};

/* Options that set a key. */
typedef struct named {
    int letter;
    const char *key, *option;
} named;

static const named *find_named(int letter)
{
    static const named all[] = {{'o', "results.path", "--output"},
                                {'A', "scheduler.name", "--scheduler"},
                                {'L', "placement.name", "--placement"},
                                {'O', "predictor.source", "--predictor"},
                                {'N', "predictor.predictions", "--predictions"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].letter == letter) {
            return &all[i];
        }
    }
    return NULL;
}

/* -1: go on; else the exit code. */
static int parse(dls_replay_options *o, int argc, char **argv)
{
    dls_error err;
    for (;;) {
        const int c = dls_ui_getopt(argc, argv, DLS_REPLAY_SHORTS, longs, "run");
        if (c == -1) {
            break;
        }
        if (c == '?') {
            return dls_status_exit_code(DLS_EUSAGE);
        }
        if (c == 'h') {
            fputs(help_text, stdout);
            return 0;
        }
        int code = -1;
        const named *sets = find_named(c);
        if (sets) {
            code = dls_replay_set(o, sets->key, optarg, sets->option, &err) == DLS_OK
                       ? -1
                       : dls_ui_fail(&err);
        } else {
            code = dls_replay_option(o, c, optarg);
        }
        if (code >= 0) {
            return code;
        }
    }
    if (optind < argc) {
        return dls_ui_usage("run", "unexpected word '%s'", argv[optind]);
    }
    if (!o->config_path) {
        return dls_ui_usage("run", "no configuration: give --config=FILE");
    }
    return -1;
}

enum { WRITE_THREADS = 2 };

static dls_status finish(const dls_replay_options *o, const dls_config *config,
                         const dls_trace *trace, const dls_record *rec, double wall_s,
                         dls_error *err)
{
    dls_summary summary;
    DLS_TRY(dls_summary_make(trace, rec, config->warmup_us, config->cooldown_us, wall_s, &summary,
                             err));
    if (*config->results_path) {
        const dls_written_by by = {.command = o->cmdline, .threads = WRITE_THREADS};
        DLS_TRY(dls_config_write_results(config, config->results_path, &by, trace, rec, &summary,
                                         err));
        if (!o->quiet) {
            fprintf(stderr, "results: %s%s\n", config->results_path,
                    rec->complete ? "" : " (incomplete)");
        }
    }
    if (o->json) {
        DLS_TRY(dls_summary_json(stdout, &summary, err));
        fputs("\n", stdout);
    } else if (!o->quiet) {
        dls_summary_print(stdout, &summary, false);
    }
    return dls_signals_noted()
               ? dls_fail(err, DLS_EINTERRUPTED, NULL, "interrupted: the results are incomplete")
               : DLS_OK;
}

static int run(dls_replay_options *o)
{
    dls_config *config = NULL;
    dls_trace *trace = NULL;
    dls_record *rec = NULL;
    dls_error err;
    double wall_s;
    int code = dls_replay_config(o, &config);
    if (code < 0 && *config->results_path &&
        dls_replay_check_output(config->results_path, o->force, &err) != DLS_OK) {
        code = dls_ui_fail(&err);
    }
    if (code < 0) {
        code = dls_replay_trace(o, config, &trace);
    }
    if (code < 0) {
        dls_signals_catch();
        dls_status status = dls_replay_run(o, config, trace, &rec, &wall_s, &err);
        dls_signals_release();
        if (status == DLS_OK) {
            status = finish(o, config, trace, rec, wall_s, &err);
        }
        code = status == DLS_OK ? 0 : dls_ui_fail(&err);
    }
    dls_record_destroy(rec);
    dls_trace_destroy(trace);
    dls_config_destroy(config);
    return code;
}

int dls_cmd_run(int argc, char **argv)
{
    dls_replay_options o;
    dls_error err;
    int code = -1;
    if (dls_replay_init(&o, "run", argc, argv, &err) != DLS_OK) {
        code = dls_ui_fail(&err);
    }
    if (code < 0) {
        code = parse(&o, argc, argv);
    }
    if (code < 0) {
        code = run(&o);
    }
    dls_replay_fini(&o);
    return code;
}
