/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/replay.h"

#include <stdlib.h>
#include <string.h>

static const char *const help_text =
    "Usage: dlsim config --defaults | --check FILE... | --explain KEY | --resolve FILE | "
    "--markdown\n"
    "\n"
    "      --defaults         a configuration with every key and what it means\n"
    "      --check FILE...    list everything that is wrong with configurations\n"
    "      --explain KEY      what one key means, e.g. scheduler.restore_cost\n"
    "      --resolve FILE     the configuration as a run takes it: defaults filled in, --set "
    "applied\n"
    "      --markdown         all keys as a page of the manual\n"
    "      --set KEY=VALUE    with --check and --resolve; may be repeated\n"
    "      --plugin=FILE.so   load policies of a plug-in; may be repeated\n"
    "  -h, --help             this text\n";

static const struct option longs[] = {{"defaults", no_argument, NULL, 'd'},
                                      {"check", no_argument, NULL, 'k'},
                                      {"explain", required_argument, NULL, 'e'},
                                      {"resolve", required_argument, NULL, 'r'},
                                      {"markdown", no_argument, NULL, 'm'},
                                      {"set", required_argument, NULL, 's'},
                                      {"plugin", required_argument, NULL, 'P'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

/* Check one file; -1 good, else the exit code. With show the resolved text goes to stdout. */
static int check(dls_replay_options *o, const char *path, bool show)
{
    dls_config *config = NULL;
    o->config_path = path;
    const int code = dls_replay_config(o, &config);
    if (code < 0) {
        if (show) {
            fputs(config->text, stdout);
        } else {
            printf("%s: good\n", path);
        }
    }
    dls_config_destroy(config);
    return code;
}

static int check_all(dls_replay_options *o, int argc, char **argv)
{
    int worst = 0;
    if (optind == argc) {
        return dls_ui_usage("config", "--check needs a file");
    }
    for (int i = optind; i < argc; i++) {
        const int code = check(o, argv[i], false);
        worst = code > worst ? code : worst;
    }
    return worst;
}

static int run(dls_replay_options *o, int argc, char **argv)
{
    int action = 0;
    const char *subject = NULL;
    dls_error err;
    for (;;) {
        const int c = dls_ui_getopt(argc, argv, "h", longs, "config");
        if (c == -1) {
            break;
        }
        if (c == 'h') {
            fputs(help_text, stdout);
            return 0;
        }
        if (c == '?') {
            return dls_status_exit_code(DLS_EUSAGE);
        }
        if (c == 's' || c == 'P') {
            const int code = dls_replay_option(o, c, optarg);
            if (code >= 0) {
                return code;
            }
            continue;
        }
        if (action && action != c) {
            return dls_ui_usage("config", "one of --defaults, --check, --explain, --resolve, "
                                          "--markdown at a time");
        }
        action = c;
        subject = optarg;
    }
    if (action == 'k') {
        return check_all(o, argc, argv);
    }
    if (optind < argc) {
        return dls_ui_usage("config", "unexpected word '%s'", argv[optind]);
    }
    switch (action) {
    case 'd':
        dls_config_print_defaults(stdout, o->registry);
        return 0;
    case 'm':
        dls_config_print_markdown(stdout, o->registry);
        return 0;
    case 'r': {
        const int code = check(o, subject, true);
        return code < 0 ? 0 : code;
    }
    case 'e':
        return dls_config_explain(stdout, o->registry, subject, &err) == DLS_OK ? 0
                                                                                : dls_ui_fail(&err);
    default:
        return dls_ui_usage("config", "name one of --defaults, --check, --explain, --resolve, "
                                      "--markdown");
    }
}

int dls_cmd_config(int argc, char **argv)
{
    dls_replay_options o;
    dls_error err;
    int code = -1;
    if (dls_replay_init(&o, "config", argc, argv, &err) != DLS_OK) {
        code = dls_ui_fail(&err);
    }
    if (code < 0) {
        code = run(&o, argc, argv);
    }
    dls_replay_fini(&o);
    return code;
}
