/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The replayer `muri`: what the published simulator of Muri says of a trace, job by job.
 */
#include "dlsim/replayer.h"

#include "base/own.h"
#include "muri/muri.h"

#include <math.h>

enum { SCHEDULE, GROUP_MAX, TOGETHER, TESTBED, SWITCHES, NODES, GPUS };

static const dls_option options[] = {
    {"schedule", DLS_OPT_STR, 0, 0, "muri-s", "NAME", "see below", NULL},
    {"group_max", DLS_OPT_I64, 1, DLS_STAGES_JOBS, "4", "", "muri: jobs in a group", NULL},
    {"together", DLS_OPT_BOOL, 0, 0, "false", "",
     "muri: groups slower than one after the other are not taken apart, as in the paper", NULL},
    {"testbed", DLS_OPT_BOOL, 0, 0, "false", "",
     "the testbed of the paper instead of the simulator: rounds of 6 minutes, measured costs",
     NULL},
    {"switches", DLS_OPT_I64, 1, 1024, "1", "", "switches; a job stays inside one", NULL},
    {"nodes", DLS_OPT_I64, 1, 16384, "8", "", "nodes per switch", NULL},
    {"gpus", DLS_OPT_I64, 1, 64, "8", "", "GPUs per node", NULL},
    {0}};

static void write_jobs(const dls_replayer_output *to, bool testbed, const dls_muri_trace *trace,
                       const int32_t *completed, size_t n)
{
    double jct = 0, last = 0;
    fprintf(to->rows, "job_id,num_gpu,submit,start,end,executed,pending%s\n",
            testbed ? ",starts" : "");
    for (size_t i = 0; i < n; i++) {
        const dls_muri_job *j = &trace->job[completed[i]];
        jct += j->end_s - j->submit_s;
        last = fmax(last, j->end_s);
        fprintf(to->rows, "%s,%d,%.6f,%.6f,%.6f,%.6f,%.6f", j->id, (int)j->gpus, j->submit_s,
                j->start_s, j->end_s, j->executed_s, j->pending_s);
        if (testbed) {
            fprintf(to->rows, ",%d", (int)j->starts);
        }
        fputc('\n', to->rows);
    }
    if (to->report) {
        fprintf(to->report, "jobs ended   %zu of %zu\naverage JCT  %.3f s\nlast end     %.3f s\n",
                n, trace->n, n ? jct / (double)n : 0, last);
    }
}

static dls_status run(const dls_replayer_call *call, dls_error *err)
{
    const dls_option_value *v = call->value;
    const dls_muri_cluster cluster = {(int32_t)v[SWITCHES].i, (int32_t)v[NODES].i,
                                      (int32_t)v[GPUS].i};
    const dls_muri_setting setting = {v[SCHEDULE].s, (int32_t)v[GROUP_MAX].i, v[TOGETHER].b,
                                      v[TESTBED].b};
    DLS_OWN(dls_muri_trace_fini) dls_muri_trace trace = {0};
    DLS_FREED int32_t *completed = NULL;
    size_t n = 0;
    DLS_TRY(dls_muri_load(call->input, &trace, err));
    DLS_TRY(dls_alloc_array(&completed, trace.n + 1, sizeof *completed, "order of ending", err));
    DLS_TRY(dls_muri_run(&cluster, &setting, &trace, completed, &n, err));
    write_jobs(call->to, v[TESTBED].b, &trace, completed, n);
    return DLS_OK;
}

const dls_replayer dls_replayer_muri = {
    .name = "muri",
    .summary = "what the published simulator of Muri says",
    .about = "Replay a trace of Muri's simulator with its results, job by job, defects included: "
             "rows of job_id,num_gpu,submit,start,end,executed,pending in order of completion.",
    .input = "TRACE.csv",
    .options = options,
    .chosen = "schedule",
    .choice = dls_muri_schedule_at,
    .run = run,
};
