/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim compare: runs of several results files side by side.
 */
#include "cli/replay.h"
#include "cli/script.h"

typedef struct request {
    dls_words baseline;
    const char *run_id, *output;
    bool json;
} request;

static dls_status run(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    DLS_HOLD(dls_comparison_destroy) dls_comparison *c = NULL;
    DLS_TRY(r->output ? dls_script_check_report(r->output, err) : DLS_OK);
    DLS_TRY(dls_comparison_create(&c, err));
    for (size_t i = 0; i < call->n_words; i++) {
        DLS_TRY(dls_comparison_add(c, call->word[i], r->run_id, err));
    }
    DLS_TRY(dls_replay_compare(c, &r->baseline, r->json, err));
    if (!r->output) {
        return DLS_OK;
    }
    const dls_words runs = {.at = (const char *[]){r->run_id}, .n = r->run_id != NULL};
    return dls_script_report("dlsim compare", &runs, r->output, call, err);
}

static const dls_arg args[] = {
    DLS_TEXT(request, run_id, "run", 0, "ID", "only the run ID of each file"),
    DLS_REPEAT(request, baseline, "baseline", 0, "NAME",
               "ratios to this run, or to the one that has NAME as a part of its label and shares "
               "the rest; may be repeated"),
    DLS_OUTPUT(request, output, "output", 'o', "FILE",
             "draw them, too: a page, or a picture if FILE ends in .png or .svg (dlsim report)"),
    DLS_SWITCH(request, json, "json", 0, "print JSON"),
    DLS_ARGS_END};

const dls_command dls_command_compare = {
    .name = "compare",
    .summary = "compare results files",
    .usage = "[OPTION]... FILE.h5...",
    .about = "Show completion times, queueing, makespan, GPU use and preemptions of runs side by "
             "side, with ratios to the first run, over all jobs and per gang size. Takes every run "
             "of every file. Runs of a merged sweep that differ in their seed alone are averaged, "
             "with 95 % confidence intervals.",
    .args = args,
    .words = "a results file",
    .min_words = 1,
    .max_words = DLS_ANY_NUMBER,
    .size = sizeof(request),
    .run = run,
};
