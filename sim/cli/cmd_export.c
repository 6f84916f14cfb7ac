/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim export: a run in the format of another program.
 */
#include "base/atomicfile.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/replay.h"
#include "results/perfetto.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct request {
    const char *output, *run_id;
    double from_s, until_s;
    bool perfetto, force, quiet;
} request;

typedef struct job {
    const request *r;
    const dls_run *run;
    dls_perfetto_counts counts;
} job;

static dls_status put(FILE *to, void *what, dls_error *err)
{
    job *e = what;
    const dls_perfetto_options span = {dls_units_us(e->r->from_s), dls_units_us(e->r->until_s)};
    return dls_perfetto_write(to, e->run, &span, &e->counts, err);
}

static dls_status write_to(job *e, dls_error *err)
{
    const char *output = e->r->output;
    if (!output || strcmp(output, "-") == 0) {
        return put(stdout, e, err);
    }
    DLS_TRY(dls_replay_check_output(output, e->r->force, err));
    DLS_TRY(dls_atomicfile_write(output, put, e, err));
    if (!e->r->quiet) {
        fprintf(stderr, "%s: %" PRIu64 " slices, %" PRIu64 " counter values\n", output,
                e->counts.slices, e->counts.counters);
    }
    return DLS_OK;
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    const request *r = user;
    dls_results *file;
    dls_run *one;
    if (!r->perfetto) {
        return dls_fail(err, DLS_EUSAGE, NULL, "say in which format: --perfetto");
    }
    DLS_TRY(dls_results_open(call->word[0], &file, err));
    dls_status status = dls_run_open(file, r->run_id, &one, err);
    if (status == DLS_OK) {
        status = write_to(&(job){.r = r, .run = one}, err);
        dls_run_close(one);
    }
    dls_results_close(file);
    return status;
}

static const dls_arg args[] = {
    DLS_SWITCH(request, perfetto, "perfetto", 0, "the format: Trace Event JSON; there is one"),
    DLS_TEXT(request, output, "output", 'o', "FILE.json",
             "write there; standard output if left out"),
    DLS_TEXT(request, run_id, "run", 0, "ID", "which run, if the file holds several"),
    DLS_TIME(request, from_s, "from", 0, 0, (double)INFINITY, "only from this simulated time on, e.g. 2d"),
    DLS_TIME(request, until_s, "until", 0, 0, (double)INFINITY, "only until this simulated time"),
    DLS_SWITCH(request, force, "force", 0, "replace the file if it is there"),
    DLS_SWITCH(request, quiet, "quiet", 'q', "no report on stderr"),
    DLS_ARGS_END};

const dls_command dls_command_export = {
    .name = "export",
    .summary = "a run for a trace viewer",
    .usage = "--perfetto RUN.h5 [OPTION]...",
    .about = "Write a run for a trace viewer: open the file in ui.perfetto.dev or "
             "chrome://tracing. Jobs are slices on the GPUs that they hold, the cluster's state "
             "over time is counters.",
    .args = args,
    .words = "one results file",
    .min_words = 1,
    .max_words = 1,
    .size = sizeof(request),
    .initial = &(const request){.until_s = (double)INFINITY},
    .run = run,
};
