/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim reproduce: figures of published papers, from simulations that are run anew.
 */
#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/script.h"
#include "cli/ui.h"

static const char help[] =
    "Usage: dlsim reproduce [OPTION]... NAME...\n"
    "       dlsim reproduce --all [OPTION]...\n"
    "       dlsim reproduce --list\n"
    "\n"
    "Run what a figure needs, and draw it as PDF, SVG and PNG. Prints the figure's numbers beside "
    "those\n"
    "published. What is finished is not run again. Needs a Python with h5py, numpy, pandas and\n"
    "matplotlib.\n"
    "\n"
    "      --list            names of the figures, and what they show\n"
    "      --all             every figure\n"
    "      --small           a quick form of the same, to try it\n"
    "      --formats=LIST    only these kinds of pictures (pdf,svg,png)\n"
    "  -o, --output=FOLDER   where pictures and, below data/, results go (figures)\n"
    "  -j, --jobs=N          processes at a time (one per core)\n"
    "  -h, --help            show this and leave\n";

enum { O_LIST = 256, O_ALL, O_SMALL, O_FORMATS };
static const struct option longs[] = {{"list", no_argument, NULL, O_LIST},
                                      {"all", no_argument, NULL, O_ALL},
                                      {"small", no_argument, NULL, O_SMALL},
                                      {"formats", required_argument, NULL, O_FORMATS},
                                      {"output", required_argument, NULL, 'o'},
                                      {"jobs", required_argument, NULL, 'j'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

int dls_cmd_reproduce(int argc, char **argv)
{
    static char usual[] = "figures", flag_list[] = "--list", flag_small[] = "--small",
                flag_formats[] = "--formats", flag_output[] = "-o", flag_jobs[] = "-j";
    char *output = usual, *jobs = NULL, *formats = NULL;
    bool list = false, all = false, small = false;
    int64_t n_jobs = 0;
    for (int opt; (opt = dls_ui_getopt(argc, argv, "o:j:h", longs, "reproduce")) != -1;) {
        switch (opt) {
        case O_LIST:
            list = true;
            break;
        case O_ALL:
            all = true;
            break;
        case O_SMALL:
            small = true;
            break;
        case O_FORMATS:
            formats = optarg;
            break;
        case 'o':
            output = optarg;
            break;
        case 'j':
            if (!dls_ui_i64("reproduce", "--jobs", optarg, 1, 4096, &n_jobs)) {
                return dls_status_exit_code(DLS_EUSAGE);
            }
            jobs = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return 0;
        default:
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (!list && all == (optind < argc)) {
        return dls_ui_usage("reproduce", all ? "--all and a figure's name" : "no figure is named");
    }
    dls_error err;
    const size_t room = (size_t)argc + 10;
    char **words = dls_alloc_zero(room, sizeof *words);
    if (!words) {
        (void)dls_nomem(&err, "words", room * sizeof *words);
        return dls_ui_fail(&err);
    }
    size_t n = 0;
    words[n++] = flag_output;
    words[n++] = output;
    if (list) {
        words[n++] = flag_list;
    }
    if (small) {
        words[n++] = flag_small;
    }
    if (formats) {
        words[n++] = flag_formats;
        words[n++] = formats;
    }
    if (jobs) {
        words[n++] = flag_jobs;
        words[n++] = jobs;
    }
    for (int i = optind; i < argc; i++) {
        words[n++] = argv[i];
    }
    const dls_status status = dls_script_exec("dlsim reproduce", "reproduce.sh", words, &err);
    dls_free(words);
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}
