/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim elasticflow: what the published simulator of ElasticFlow says of a trace, job by job.
 */
#include "base/csv.h"
#include "cli/replay.h"
#include "dlsim/trace.h"
#include "elasticflow/replay.h"

#include <string.h>

typedef struct request {
    dls_elasticflow_params params;
    const char *schedule, *throughputs;
    dls_table_options out;
} request;

static const char *const schedules[] = {"ef-accessctrl", "edf", NULL};

typedef struct outcome {
    const dls_trace *trace;
    const dls_record *rec;
} outcome;

static dls_status put(FILE *to, void *what, dls_error *err)
{
    (void)err;
    const outcome *o = what;
    fputs("job_id,status,start,end,jct\n", to);
    for (size_t j = 0; j < o->rec->n_jobs; j++) {
        const bool done = o->rec->state[j] == DLS_JOB_FINISHED;
        dls_csv_put(to, dls_trace_id(o->trace, j));
        if (done) {
            fprintf(to, ",done,%.6f,%.6f,%.6f\n", (double)o->rec->start_us[j] / 1e6,
                    (double)o->rec->end_us[j] / 1e6,
                    (double)(o->rec->end_us[j] - dls_trace_cols(o->trace)->submit_us[j]) / 1e6);
        } else {
            fputs(",declined,,,\n", to);
        }
    }
    return DLS_OK;
}

static dls_status simulate(request *r, const dls_trace *trace, dls_record *rec, dls_error *err)
{
    outcome o = {trace, rec};
    size_t late, done = 0;
    DLS_TRY(dls_elasticflow_replay(&r->params, trace, rec, &late, err));
    DLS_TRY(dls_table_put(&r->out, put, &o, err));
    for (size_t j = 0; j < rec->n_jobs; j++) {
        done += rec->state[j] == DLS_JOB_FINISHED;
    }
    if (!r->out.quiet) {
        fprintf(stderr, "jobs           %zu\ndeclined       %zu\ndeadlines met  %zu\n", rec->n_jobs,
                rec->n_jobs - done, done - late);
    }
    return DLS_OK;
}

static dls_status replay(request *r, const dls_trace *trace, dls_error *err)
{
    dls_cluster_spec cluster = {.n_types = 1};
    dls_elastic_jobs *speeds;
    dls_record *rec = NULL;
    snprintf(cluster.types[0].name, sizeof cluster.types[0].name, "%s", r->params.gpu);
    DLS_TRY(dls_elastic_create(r->throughputs, trace, &cluster, &speeds, err));
    r->params.speeds = speeds;
    dls_status status = dls_record_create(dls_trace_cols(trace)->n, &rec, err);
    DLS_THEN(status, simulate(r, trace, rec, err));
    dls_record_destroy(rec);
    dls_elastic_destroy(speeds);
    return status;
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    request *r = user;
    dls_trace *trace;
    r->params.edf = strcmp(r->schedule, "edf") == 0;
    if (!r->params.edf && strcmp(r->schedule, schedules[0]) != 0) {
        return dls_fail(err, DLS_EUSAGE, NULL, "there is no schedule \"%s\"", r->schedule);
    }
    DLS_TRY(dls_table_check(&r->out, err));
    DLS_TRY(dls_trace_load(call->word[0], "elasticflow", &(dls_trace_options){0}, &trace, err));
    const dls_status status = replay(r, trace, err);
    dls_trace_destroy(trace);
    return status;
}

static const char *schedule_at(size_t i, const char **summary)
{
    *summary = NULL;
    return schedules[i];
}

static const dls_arg args[] = {
    DLS_NAME(request, schedule, "schedule", 0, schedule_at,
             "ef-accessctrl, or edf: earliest deadline first, nobody turned away"),
    DLS_TEXT(request, throughputs, "throughputs", 0, "FOLDER",
             "iterations per second: throughputs_<GPU>/<model>.csv"),
    DLS_TEXT(request, params.gpu, "gpu-type", 0, "A100|T4", "GPU of the cluster"),
    DLS_INT(request, params.nodes, "nodes", 0, 1, 16384, "nodes"),
    DLS_INT(request, params.gpus_per_node, "gpus", 0, 1, 64, "GPUs per node"),
    DLS_INT(request, params.slot_s, "slot", 0, 1, 86400, "seconds of a slot"),
    DLS_INCLUDE(request, out, dls_table_args),
    DLS_ARGS_END};

const dls_command dls_command_elasticflow = {
    .name = "elasticflow",
    .summary = "what the published simulator of ElasticFlow says",
    .usage = "--throughputs=FOLDER TRACE.csv [OPTION]...",
    .about = "Replay a trace of ElasticFlow's simulator with its results, job by job, defects "
             "included: rows of job_id,status,start,end,jct in the order of the trace.",
    .args = args,
    .words = "one trace",
    .needs = "throughputs",
    .size = sizeof(request),
    .initial =
        &(const request){.params = {.nodes = 4, .gpus_per_node = 8, .slot_s = 60, .gpu = "A100"},
                         .schedule = "ef-accessctrl"},
    .run = run,
};
