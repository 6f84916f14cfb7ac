/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim report: a page about one run or several.
 */
#include "cli/replay.h"
#include "cli/script.h"
#include "dlsim/memory.h"

#include <string.h>

typedef struct request {
    const char *output;
    dls_words runs;
} request;

enum { MOST_RUNS = 16 }; /* of a file: the script refuses more */

static bool is_wanted(const dls_words *runs, const char *id)
{
    bool wanted = runs->n == 0;
    for (size_t i = 0; i < runs->n && !wanted; i++) {
        wanted = strcmp(runs->at[i], id) == 0;
    }
    return wanted;
}

/* The runs are what was written: the script, which draws them, takes their tables as they stand. */
static dls_status check_file(const char *path, const dls_words *runs, dls_error *err)
{
    DLS_HOLD(dls_saved_close) dls_saved *saved = NULL;
    const char *id;
    DLS_TRY(dls_saved_open(path, NULL, &saved, err));
    for (size_t i = 1; (id = dls_saved_run(saved, i)) && (runs->n > 0 || i < MOST_RUNS); i++) {
        DLS_TRY(is_wanted(runs, id) ? dls_saved_turn(saved, id, err) : DLS_OK);
    }
    return DLS_OK;
}

static dls_status run(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    DLS_TRY(dls_script_check_report(r->output, err));
    for (size_t i = 0; i < call->n_words; i++) {
        DLS_TRY(check_file(call->word[i], &r->runs, err));
    }
    return dls_script_report("dlsim report", &r->runs, r->output, call, err);
}

static const dls_arg args[] = {
    DLS_OUTPUT(request, output, "output", 'o', "FILE",
             "where to write; .png or .svg: only a picture of every job on every GPU"),
    DLS_REPEAT(request, runs, "run", 0, "NAME",
               "only this run of files that hold many; may be repeated"),
    DLS_ARGS_END};

const dls_command dls_command_report = {
    .name = "report",
    .summary = "a page about runs: curves, jobs over GPUs, tables",
    .usage = "[-o FILE] [OPTION]... RUN.h5...",
    .about = "A page about one run, or about several to compare them: distributions of completion "
             "and waiting time, the cluster over time, jobs over GPUs with zoom and hover, tables "
             "beside. One HTML file that needs no network. Needs a Python with h5py, numpy and "
             "plotly, or matplotlib for a picture.",
    .args = args,
    .words = "a results file",
    .min_words = 1,
    .max_words = DLS_ANY_NUMBER,
    .size = sizeof(request),
    .initial = &(const request){.output = "report.html"},
    .run = run,
};
