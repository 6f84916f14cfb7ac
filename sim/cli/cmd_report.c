/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim report: a page about one run or several.
 */
#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/script.h"
#include "cli/ui.h"

#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: dlsim report [-o FILE] [OPTION]... RUN.h5...\n"
    "\n"
    "A page about one run, or about several to compare them: tables, distributions of completion "
    "and\n"
    "waiting time, the cluster over time, jobs over GPUs with zoom and hover. One HTML file that "
    "needs\n"
    "no network. Needs a Python with h5py, numpy, pandas and plotly.\n"
    "\n"
    "  -o, --output=FILE   where to write (report.html)\n"
    "      --run=NAME      only this run of files that hold many; may be repeated\n"
    "      --force         replace what is there\n"
    "  -h, --help          show this and leave\n";

enum { O_RUN = 256, O_FORCE };
static const struct option longs[] = {{"output", required_argument, NULL, 'o'},
                                      {"run", required_argument, NULL, O_RUN},
                                      {"force", no_argument, NULL, O_FORCE},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

/* The script's words: what was not understood here, unchanged, and the output. */
static int draw(int argc, char **argv, char **words, char *output, bool force)
{
    static char flag[] = "--output", end[] = "--";
    size_t n = 0;
    while (words[n]) {
        n++;
    }
    words[n++] = flag;
    words[n++] = output;
    words[n++] = end;
    for (int i = optind; i < argc; i++) {
        words[n++] = argv[i];
    }
    dls_error err;
    const dls_status status =
        !force && access(output, F_OK) == 0
            ? dls_fail(&err, DLS_EOUTPUT, output, "is there already (--force replaces it)")
            : dls_script_exec("dlsim report", "report.sh", words, &err);
    return status == DLS_OK ? 0 : dls_ui_fail(&err);
}

int dls_cmd_report(int argc, char **argv)
{
    static char usual[] = "report.html", run[] = "--run";
    char *output = usual;
    bool force = false;
    /* Each option becomes two words at most; three more and the end. */
    const size_t room = 2 * (size_t)argc + 4;
    char **words = dls_alloc_zero(room, sizeof *words);
    if (!words) {
        dls_error err;
        (void)dls_nomem(&err, "words", room * sizeof *words);
        return dls_ui_fail(&err);
    }
    int code = -1;
    size_t n = 0;
    for (int opt; code < 0 && (opt = dls_ui_getopt(argc, argv, "o:h", longs, "report")) != -1;) {
        switch (opt) {
        case 'o':
            output = optarg;
            break;
        case O_RUN:
            words[n++] = run;
            words[n++] = optarg;
            break;
        case O_FORCE:
            force = true;
            break;
        case 'h':
            fputs(help, stdout);
            code = 0;
            break;
        default:
            code = dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (code < 0) {
        code = optind < argc ? draw(argc, argv, words, output, force)
                             : dls_ui_usage("report", "no results file is named");
    }
    dls_free(words);
    return code;
}
