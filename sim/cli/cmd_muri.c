/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim muri: what the published simulator of Muri says of a trace, job by job.
 */
#include "base/alloc.h"
#include "cli/command.h"
#include "cli/replay.h"
#include "muri/muri.h"

#include <math.h>

typedef struct request {
    dls_muri_cluster cluster;
    const char *schedule, *output;
    bool testbed, force, quiet;
} request;

typedef struct outcome {
    bool testbed;
    const dls_muri_trace *trace;
    const int32_t *completed;
    size_t n;
} outcome;

static dls_status put(FILE *to, void *what, dls_error *err)
{
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
    return ferror(to) ? dls_fail(err, DLS_EOUTPUT, NULL, "cannot write the jobs") : DLS_OK;
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
    DLS_TRY(dls_replay_check_table(r->output, r->force, err));
    DLS_TRY(dls_muri_load(call->word[0], &trace, err));
    int32_t *completed = dls_alloc((trace.n + 1) * sizeof *completed);
    o.completed = completed;
    dls_status status =
        completed ? dls_muri_run(&r->cluster, r->schedule, r->testbed, &trace, completed, &o.n, err)
                  : dls_nomem(err, "order of ending", trace.n * sizeof *completed);
    DLS_THEN(status, dls_replay_put_table(r->output, put, &o, err));
    if (status == DLS_OK && !r->quiet) {
        report(&o);
    }
    dls_free(completed);
    dls_muri_trace_fini(&trace);
    return status;
}

static const char *schedule_at(size_t i)
{
    return dls_muri_schedules()[i].name;
}

static void list_schedules(FILE *to)
{
    fputs("\nSchedules:\n", to);
    for (const dls_muri_schedule *s = dls_muri_schedules(); s->name; s++) {
        fprintf(to, "  %-9s %s (%s)\n", s->name, s->summary, s->original);
    }
}

static const dls_arg args[] = {
    DLS_NAME(request, schedule, "schedule", 0, schedule_at, "see below"),
    DLS_SWITCH(
        request, testbed, "testbed", 0,
        "the testbed of the paper instead of the simulator: rounds of 6 minutes, measured costs"),
    DLS_INT(request, cluster.switches, "switches", 0, 1, 1024, "switches; a job stays inside one"),
    DLS_INT(request, cluster.nodes_per_switch, "nodes", 0, 1, 16384, "nodes per switch"),
    DLS_INT(request, cluster.gpus_per_node, "gpus", 0, 1, 64, "GPUs per node"),
    DLS_TEXT(request, output, "output", 'o', "FILE.csv",
             "write there; standard output if left out"),
    DLS_SWITCH(request, force, "force", 0, "replace the file if it is there"),
    DLS_SWITCH(request, quiet, "quiet", 'q', "no report on stderr"),
    DLS_ARGS_END};

const dls_command dls_command_muri = {
    .name = "muri",
    .summary = "what the published simulator of Muri says",
    .usage = "--schedule=NAME TRACE.csv [OPTION]...",
    .about = "Replay a trace of Muri's simulator with its results, job by job, defects included: "
             "rows of job_id,num_gpu,submit,start,end,executed,pending in order of completion.",
    .more = list_schedules,
    .args = args,
    .words = "one trace",
    .min_words = 1,
    .max_words = 1,
    .size = sizeof(request),
    .initial = &(const request){.cluster = {1, 8, 8}, .schedule = "muri-s"},
    .run = run,
};
