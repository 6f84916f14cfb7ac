/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/trace_generate.h"
#include "cli/trace_print.h"
#include "cli/ui.h"
#include "traces/assign.h"

#include <errno.h>
#include <string.h>

enum { FORMAT = 256, JSON, ZERO, ASSIGN, SEED };

#define MAX_TABLES 15

/* What stats and convert share. */
typedef struct input {
    const char *path, *format;
    dls_trace_options opts;
} input;

#define INPUT_HELP                                                                                 \
    "      --format=NAME      format of FILE (default: recognised; see 'dlsim list formats')\n"    \
    "      --zero-duration=W  keep, raise (to 1 s) or drop jobs that took no time\n"

static bool parse_zero(const char *command, const char *text, dls_trace_options *opts)
{
    const bool keep = strcmp(text, "keep") == 0, drop = strcmp(text, "drop") == 0;
    if (!keep && !drop && strcmp(text, "raise") != 0) {
        dls_ui_usage(command, "option '--zero-duration' is \"%s\": expected keep, raise or drop",
                     text);
        return false;
    }
    opts->keep_zero_duration = keep;
    opts->drop_zero_duration = drop;
    return true;
}

/* The one word that is left must be the file. */
static bool take_path(const char *command, int argc, char **argv, input *in)
{
    if (optind + 1 == argc) {
        in->path = argv[optind];
        return true;
    }
    if (optind < argc) {
        dls_ui_usage(command, "one trace at a time: \"%s\" is one too many", argv[optind + 1]);
    } else {
        dls_ui_usage(command, "which trace? the file is missing");
    }
    return false;
}

static int load(const input *in, dls_trace **trace)
{
    dls_error err;
    if (dls_trace_load(in->path, in->format, &in->opts, trace, &err) != DLS_OK) {
        return dls_ui_fail(&err);
    }
    dls_trace_print_notes(stderr, *trace);
    return 0;
}

/* ---- stats ----------------------------------------------------------------------------------- */

static int print_stats(const input *in, bool json)
{
    dls_trace *trace;
    dls_trace_stats stats;
    dls_error err;
    const int rc = load(in, &trace);
    if (rc != 0) {
        return rc;
    }
    dls_status status = dls_trace_stats_compute(trace, &stats, &err);
    if (status == DLS_OK) {
        (json ? dls_trace_print_json : dls_trace_print_text)(stdout, trace, &stats);
        dls_trace_stats_fini(&stats);
        if (fflush(stdout) != 0) {
            status = dls_fail(&err, DLS_EOUTPUT, "standard output", "%s", strerror(errno));
        }
    }
    dls_trace_destroy(trace);
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}

static int cmd_stats(int argc, char **argv)
{
    static const struct option longs[] = {{"format", required_argument, NULL, FORMAT},
                                          {"zero-duration", required_argument, NULL, ZERO},
                                          {"json", no_argument, NULL, JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    static const char command[] = "trace stats";
    input in = {.opts.keep_zero_duration = true};
    bool json = false;
    for (int c; (c = dls_ui_getopt(argc, argv, "h", longs, command)) != -1;) {
        switch (c) {
        case 'h':
            fputs("Usage: dlsim trace stats [OPTION]... FILE\n"
                  "Prints what a trace looks like: sizes, durations, arrivals, load.\n\n" INPUT_HELP
                  "                         (default: keep)\n"
                  "      --json             one JSON object\n"
                  "  -h, --help             this text\n",
                  stdout);
            return 0;
        case FORMAT:
            in.format = optarg;
            break;
        case JSON:
            json = true;
            break;
        case ZERO:
            if (parse_zero(command, optarg, &in.opts)) {
                break;
            }
            return dls_status_exit_code(DLS_EUSAGE);
        default:
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    return take_path(command, argc, argv, &in) ? print_stats(&in, json)
                                               : dls_status_exit_code(DLS_EUSAGE);
}

/* ---- convert --------------------------------------------------------------------------------- */

/* Replace *trace by one with models of the built-in table `name`. */
static dls_status assign(const char *name, uint64_t seed, dls_trace **trace, dls_error *err)
{
    const char *text = dls_assign_builtin_text(name);
    if (!text) {
        const char *names[MAX_TABLES + 1] = {NULL};
        for (int i = 0; i < MAX_TABLES && dls_assign_builtin_name(i); i++) {
            names[i] = dls_assign_builtin_name(i);
        }
        const char *near = dls_suggest(name, names);
        return dls_fail(err, DLS_EUSAGE, "--assign", "no workload table \"%s\"%s%s%s", name,
                        near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
    }
    dls_assign_table table;
    dls_trace *assigned;
    DLS_TRY(dls_assign_table_parse(text, name, &table, err));
    const dls_status status = dls_trace_assign(*trace, &table, seed, &assigned, err);
    dls_assign_table_fini(&table);
    if (status == DLS_OK) {
        dls_trace_destroy(*trace);
        *trace = assigned;
    }
    return status;
}

static int convert(const input *in, const char *output, const char *table, uint64_t seed)
{
    dls_trace *trace;
    dls_error err;
    const int rc = load(in, &trace);
    if (rc != 0) {
        return rc;
    }
    dls_status status = table ? assign(table, seed, &trace, &err) : DLS_OK;
    if (status == DLS_OK) {
        status = dls_trace_save_csv(trace, output, &err);
    }
    dls_trace_destroy(trace);
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}

static int cmd_convert(int argc, char **argv)
{
    static const struct option longs[] = {{"format", required_argument, NULL, FORMAT},
                                          {"zero-duration", required_argument, NULL, ZERO},
                                          {"assign", required_argument, NULL, ASSIGN},
                                          {"seed", required_argument, NULL, SEED},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    static const char command[] = "trace convert";
    input in = {0};
    const char *output = NULL, *table = NULL;
    int64_t seed = 1;
    for (int c; (c = dls_ui_getopt(argc, argv, "o:h", longs, command)) != -1;) {
        bool good = true;
        switch (c) {
        case 'h':
            fputs("Usage: dlsim trace convert [OPTION]... FILE -o OUT.csv\n"
                  "Writes any readable trace in the native CSV format.\n\n" INPUT_HELP
                  "                         (default: raise)\n"
                  "      --assign=TABLE     give jobs without a model one from the built-in table\n"
                  "                         tiresias, muri or sia\n"
                  "      --seed=N           seed of --assign (default 1)\n"
                  "  -o, --output=OUT.csv   where to write\n"
                  "  -h, --help             this text\n",
                  stdout);
            return 0;
        case FORMAT:
            in.format = optarg;
            break;
        case ASSIGN:
            table = optarg;
            break;
        case 'o':
            output = optarg;
            break;
        case SEED:
            good = dls_ui_i64(command, "--seed", optarg, 0, INT64_MAX, &seed);
            break;
        case ZERO:
            good = parse_zero(command, optarg, &in.opts);
            break;
        default:
            good = false;
        }
        if (!good) {
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (!take_path(command, argc, argv, &in)) {
        return dls_status_exit_code(DLS_EUSAGE);
    }
    return output ? convert(&in, output, table, (uint64_t)seed)
                  : dls_ui_usage(command, "where to? -o OUT.csv is missing");
}

/* ---- the command ----------------------------------------------------------------------------- */

static void help(FILE *to)
{
    fputs("Usage: dlsim trace stats FILE [--format=NAME] [--json]\n"
          "       dlsim trace convert FILE -o OUT.csv [--format=NAME]\n"
          "       dlsim trace generate --profile=NAME --jobs=N --gpus=N --load=X --seed=N -o "
          "OUT.csv\n"
          "\n'dlsim trace COMMAND --help' tells more.\n",
          to);
}

int dls_cmd_trace(int argc, char **argv)
{
    static const char *const names[] = {"stats", "convert", "generate", NULL};
    static int (*const commands[])(int, char **) = {cmd_stats, cmd_convert, dls_cmd_trace_generate};
    if (argc < 2) {
        help(stderr);
        return dls_status_exit_code(DLS_EUSAGE);
    }
    if (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) {
        help(stdout);
        return 0;
    }
    for (int i = 0; names[i]; i++) {
        if (strcmp(argv[1], names[i]) == 0) {
            return commands[i](argc - 1, argv + 1);
        }
    }
    const char *near = dls_suggest(argv[1], names);
    return dls_ui_usage("trace", "unknown command \"%s\"%s%s%s", argv[1],
                        near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
}
