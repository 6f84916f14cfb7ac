/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim report: a page about one run or several.
 */
#include "cli/command.h"
#include "cli/script.h"

#include <unistd.h>

typedef struct request {
    const char *output;
    dls_words runs;
    bool force;
} request;

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    const request *r = user;
    dls_words words = {0};
    if (!r->force && access(r->output, F_OK) == 0) {
        return dls_fail(err, DLS_EOUTPUT, r->output, "is there already (--force replaces it)");
    }
    dls_status status = DLS_OK;
    for (size_t i = 0; i < r->runs.n && status == DLS_OK; i++) {
        status = dls_words_add(&words, "--run", r->runs.at[i], err);
    }
    DLS_THEN(status, dls_words_add(&words, "--output", r->output, err));
    DLS_THEN(status, dls_words_add(&words, "--", NULL, err));
    return dls_script_exec("dlsim report", "report.sh", &words, call, status, err);
}

static const dls_arg args[] = {DLS_TEXT(request, output, "output", 'o', "FILE", "where to write"),
                               DLS_REPEAT(request, runs, "run", 0, "NAME",
                                          "only this run of files that hold many; may be repeated"),
                               DLS_SWITCH(request, force, "force", 0, "replace what is there"),
                               DLS_ARGS_END};

const dls_command dls_command_report = {
    .name = "report",
    .summary = "a page about runs: tables, curves, jobs over GPUs",
    .usage = "[-o FILE] [OPTION]... RUN.h5...",
    .about = "A page about one run, or about several to compare them: tables, distributions of "
             "completion and waiting time, the cluster over time, jobs over GPUs with zoom and "
             "hover. One HTML file that needs no network. Needs a Python with h5py, numpy, pandas "
             "and plotly.",
    .args = args,
    .words = "a results file",
    .min_words = 1,
    .max_words = DLS_ANY_NUMBER,
    .size = sizeof(request),
    .initial = &(const request){.output = "report.html"},
    .run = run,
};
