/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim compare: runs of several results files side by side.
 */
#include "cli/cli.h"
#include "cli/comparing.h"
#include "cli/ui.h"

static const char help[] =
    "Usage: dlsim compare [OPTION]... FILE.h5...\n"
    "\n"
    "Show completion times, queueing, makespan, GPU use and preemptions of runs side by side, "
    "with\n"
    "ratios to the first run, over all jobs and per gang size. Takes every run of every file. "
    "Runs\n"
    "of a merged sweep that differ in their seed alone are averaged, with 95 % confidence "
    "intervals.\n"
    "\n"
    "      --run=ID         only the run ID of each file\n"
    "      --baseline=NAME  ratios to this run, or to the one that has NAME as a part of its "
    "label\n"
    "                       and shares the rest; may be repeated\n"
    "      --json           print JSON\n"
    "  -h, --help           show this and leave\n";

int dls_cmd_compare(int argc, char **argv)
{
    enum { OPT_RUN = 256, OPT_JSON, OPT_BASELINE };
    static const struct option longs[] = {{"run", required_argument, NULL, OPT_RUN},
                                          {"baseline", required_argument, NULL, OPT_BASELINE},
                                          {"json", no_argument, NULL, OPT_JSON},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    dls_comparing c = {0};
    const char *run_id = NULL;
    bool json = false;
    for (int opt; (opt = dls_ui_getopt(argc, argv, "h", longs, "compare")) != -1;) {
        switch (opt) {
        case OPT_RUN:
            run_id = optarg;
            break;
        case OPT_BASELINE:
            if (c.n_baselines == DLS_COMPARING_BASELINES) {
                return dls_ui_usage("compare", "option '--baseline' is given too often");
            }
            c.baseline[c.n_baselines++] = optarg;
            break;
        case OPT_JSON:
            json = true;
            break;
        case 'h':
            fputs(help, stdout);
            return 0;
        default:
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (optind == argc) {
        return dls_ui_usage("compare", "no results file given");
    }
    dls_error err;
    dls_status status = DLS_OK;
    for (int i = optind; i < argc && status == DLS_OK; i++) {
        status = dls_comparing_add(&c, argv[i], run_id, &err);
    }
    if (status == DLS_OK) {
        status = dls_comparing_show(&c, json, &err);
    }
    dls_comparing_fini(&c);
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}
