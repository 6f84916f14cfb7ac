/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim muri: what the published simulator of Muri says of a trace, job by job.
 */
#include "base/alloc.h"
#include "cli/replay.h"
#include "muri/muri.h"

#include <math.h>

typedef struct request {
    dls_muri_cluster cluster;
    const char *schedule;
    bool testbed;
    dls_table_options out;
} request;

typedef struct outcome {
    bool testbed;
    const dls_muri_trace *trace;
    const int32_t *completed;
    size_t n;
} outcome;

static dls_status put(FILE *to, void *what, dls_error *err)
{
    (void)err;
    const outcome *o = what;
    fprintf(to, "job_id,num_gpu,submit,start,end,executed,pending%s\n",
            o->testbed ? ",starts" : "");
    for (size_t i = 0; i < o->n; i++) {
        const dls_muri_job *j = &o->trace->job[o->completed[i]];
        fprintf(to, "%s,%d,%.6f,%.6f,%.6f,%.6f,%.6f", j->id, (int)j->gpus, j->submit_s, j->start_s,
                j->end_s, j->executed_s, j->pending_s);
        if (o->testbed) {
            fprintf(to, ",%d", (int)j->starts);
        }
        fputc('\n', to);
    }
    return DLS_OK;
}

static void report(const outcome *o)
{
    double jct = 0, last = 0;
    for (size_t i = 0; i < o->n; i++) {
        const dls_muri_job *j = &o->trace->job[o->completed[i]];
        jct += j->end_s - j->submit_s;
        last = fmax(last, j->end_s);
    }
    fprintf(stderr, "jobs ended   %zu of %zu\naverage JCT  %.3f s\nlast end     %.3f s\n", o->n,
            o->trace->n, o->n ? jct / (double)o->n : 0, last);
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    const request *r = user;
    dls_muri_trace trace;
    outcome o = {.testbed = r->testbed, .trace = &trace};
    DLS_TRY(dls_table_check(&r->out, err));
    DLS_TRY(dls_muri_load(call->word[0], &trace, err));
    int32_t *completed = dls_alloc((trace.n + 1) * sizeof *completed);
    o.completed = completed;
    dls_status status =
        completed ? dls_muri_run(&r->cluster, r->schedule, r->testbed, &trace, completed, &o.n, err)
                  : dls_nomem(err, "order of ending", trace.n * sizeof *completed);
    DLS_THEN(status, dls_table_put(&r->out, put, &o, err));
    if (status == DLS_OK && !r->out.quiet) {
        report(&o);
    }
    dls_free(completed);
    dls_muri_trace_fini(&trace);
    return status;
}

static const char *schedule_at(size_t i, const char **summary)
{
    *summary = dls_muri_schedules()[i].summary;
    return dls_muri_schedules()[i].name;
}

static const dls_arg args[] = {
    DLS_LISTED(request, schedule, "schedule", 0, schedule_at, "Schedules"),
    DLS_SWITCH(
        request, testbed, "testbed", 0,
        "the testbed of the paper instead of the simulator: rounds of 6 minutes, measured costs"),
    DLS_INT(request, cluster.switches, "switches", 0, 1, 1024, "switches; a job stays inside one"),
    DLS_INT(request, cluster.nodes_per_switch, "nodes", 0, 1, 16384, "nodes per switch"),
    DLS_INT(request, cluster.gpus_per_node, "gpus", 0, 1, 64, "GPUs per node"),
    DLS_INCLUDE(request, out, dls_table_args),
    DLS_ARGS_END};

const dls_command dls_command_muri = {
    .name = "muri",
    .summary = "what the published simulator of Muri says",
    .usage = "--schedule=NAME TRACE.csv [OPTION]...",
    .about = "Replay a trace of Muri's simulator with its results, job by job, defects included: "
             "rows of job_id,num_gpu,submit,start,end,executed,pending in order of completion.",
    .args = args,
    .words = "one trace",
    .size = sizeof(request),
    .initial = &(const request){.cluster = {1, 8, 8}, .schedule = "muri-s"},
    .run = run,
};
