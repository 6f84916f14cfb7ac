/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/ui.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

typedef struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} command;

static const command commands[] = {
    {"run", dls_cmd_run, "replay a trace on a cluster (also without the word 'run')"},
    {"study", dls_cmd_study, "replay a trace under several policies and compare them"},
    {"sweep", dls_cmd_sweep, "many simulations that differ in a few keys, resumable"},
    {"compare", dls_cmd_compare, "compare results files"},
    {"inspect", dls_cmd_inspect, "show what a results file holds"},
    {"export", dls_cmd_export, "a run for a trace viewer"},
    {"report", dls_cmd_report, "a page about runs: tables, curves, jobs over GPUs"},
    {"reproduce", dls_cmd_reproduce, "published figures, from simulations run anew"},
    {"trace", dls_cmd_trace, "statistics of a trace, conversion, generation"},
    {"config", dls_cmd_config, "defaults, checks and explanations of configurations"},
    {"list", dls_cmd_list, "schedulers, placements, trace formats, GPUs, tables of models"},
    {"tiresias", dls_cmd_tiresias, "in place of the Tiresias simulator: its flags and files"},
    {"predict", dls_cmd_predict, "ask the inspector how a job would behave"},
    {"model", dls_cmd_model, "weights of the inspector"},
    {"graph", dls_cmd_graph, "training graphs of known models, grouped for the inspector"},
    {"operators", dls_cmd_operators, "operator-level model of training time, and its accuracy"},
    {"dataset", dls_cmd_dataset, "what inspectors are trained on"},
    {"perf", dls_cmd_perf, "sample a real job; its bursts and pauses"},
    {"train", dls_cmd_train, "inspectors from datasets, and from other inspectors"},
    {"evaluate", dls_cmd_evaluate, "how good an inspector is on a dataset"},
    {"version", dls_cmd_version, "version, build and libraries"},
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static void help(FILE *out)
{
    fputs("dlsim - discrete-event simulator of GPU clusters that train deep-learning models\n"
          "\n"
          "Usage: dlsim --config=FILE --trace=FILE [OPTION]...\n"
          "       dlsim COMMAND [OPTION]...\n"
          "\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n'dlsim COMMAND --help' tells more. Exit codes: 0 good, 1 run failed, 2 usage,\n"
          "3 configuration, 4 input, 5 output, 6 predictor or device, 130 interrupted.\n",
          out);
}

static int dispatch(int argc, char **argv)
{
    const char *names[N_COMMANDS + 2];
    if (argc < 2) {
        help(stderr);
        return dls_status_exit_code(DLS_EUSAGE);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        (strcmp(argv[1], "help") == 0 && argc == 2)) {
        help(stdout);
        return 0;
    }
    if (strcmp(argv[1], "help") == 0) {
        static char flag[] = "--help";
        argv[1] = argv[2];
        argv[2] = flag;
        argc = 3;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        return dls_cmd_version(argc - 1, argv + 1);
    }
    if (*argv[1] == '-') {
        return dls_cmd_run(argc, argv);
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
        names[i] = commands[i].name;
    }
    names[N_COMMANDS] = "help";
    names[N_COMMANDS + 1] = NULL;
    const char *near = dls_suggest(argv[1], names);
    return dls_ui_usage("", "unknown command '%s'%s%s%s", argv[1], near ? " (did you mean '" : "",
                        near ? near : "", near ? "'?)" : "");
}

int main(int argc, char **argv)
{
    /* A closed pipe or a full disk is an error that is reported, not a death. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int code = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("dlsim: standard output could not be written\n", stderr);
        code = code ? code : dls_status_exit_code(DLS_EOUTPUT);
    }
    return code;
}
