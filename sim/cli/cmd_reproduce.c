/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim reproduce: figures of published papers, from simulations that are run anew.
 */
#include "cli/command.h"
#include "cli/script.h"

typedef struct request {
    const char *output, *formats;
    bool list, all, small;
    int64_t jobs;
} request;

static dls_status put_options(const request *r, dls_words *words, char jobs[24], dls_error *err)
{
    DLS_TRY(dls_words_add(words, "-o", r->output, err));
    if (r->list) {
        DLS_TRY(dls_words_add(words, "--list", NULL, err));
    }
    if (r->small) {
        DLS_TRY(dls_words_add(words, "--small", NULL, err));
    }
    if (r->formats) {
        DLS_TRY(dls_words_add(words, "--formats", r->formats, err));
    }
    if (r->jobs) {
        snprintf(jobs, 24, "%lld", (long long)r->jobs);
        DLS_TRY(dls_words_add(words, "-j", jobs, err));
    }
    return DLS_OK;
}

static dls_status run(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    DLS_OWN(dls_words_fini) dls_words words = {0};
    char jobs[24];
    if (!r->list && r->all == (call->n_words > 0)) {
        return dls_fail(err, DLS_EUSAGE, NULL,
                        r->all ? "--all and a figure's name" : "no figure is named");
    }
    DLS_TRY(put_options(r, &words, jobs, err));
    return dls_script_plots("dlsim reproduce", "reproduce.sh", &words, call, err);
}

static const dls_arg args[] = {
    DLS_SWITCH(request, list, "list", 0, "names of the figures, and what they show"),
    DLS_SWITCH(request, all, "all", 0, "every figure"),
    DLS_SWITCH(request, small, "small", 0, "a quick form of the same, to try it"),
    DLS_TEXT(request, formats, "formats", 0, "LIST", "only these kinds of pictures (pdf,svg,png)"),
    DLS_TEXT(request, output, "output", 'o', "FOLDER",
             "where pictures and, below data/, results go"),
    DLS_INT(request, jobs, "jobs", 'j', 1, 4096, "processes at a time; one per core if left out"),
    DLS_ARGS_END};

const dls_command dls_command_reproduce = {
    .name = "reproduce",
    .summary = "published figures, from simulations run anew",
    .usage = "[OPTION]... NAME...\n--all [OPTION]...\n--list",
    .about =
        "Run what a figure needs, and draw it as PDF, SVG and PNG. Prints the figure's numbers "
        "beside those published. What is finished is not run again. Needs a Python with h5py, "
        "numpy, pandas and matplotlib.",
    .args = args,
    .max_words = DLS_ANY_NUMBER,
    .size = sizeof(request),
    .initial = &(const request){.output = "figures"},
    .run = run,
};
