/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The replayer `elasticflow`: what the published simulator of ElasticFlow says of a trace, job by
 * job.
 */
#include "dlsim/replayer.h"

#include "base/csv.h"
#include "base/owners.h"
#include "dlsim/trace.h"
#include "elasticflow/replay.h"

#include <string.h>

static const char *const schedules[][2] = {
    {"ef-accessctrl", "ElasticFlow: jobs whose deadline cannot be met are turned away"},
    {"edf", "earliest deadline first, nobody turned away"},
    {NULL, NULL}};

static const char *schedule_at(size_t i, const char **summary)
{
    *summary = schedules[i][1];
    return schedules[i][0];
}

enum { SCHEDULE, THROUGHPUTS, GPU_TYPE, NODES, GPUS, SLOT };

static const dls_option options[] = {
    {"schedule", DLS_OPT_STR, 0, 0, "ef-accessctrl", "NAME", "see below", NULL},
    {"throughputs", DLS_OPT_PATH, 0, 0, "", "FOLDER",
     "iterations per second: throughputs_<GPU>/<model>.csv", NULL},
    {"gpu-type", DLS_OPT_STR, 0, 0, "A100", "", "GPU of the cluster", "A100|T4"},
    {"nodes", DLS_OPT_I64, 1, 16384, "4", "", "nodes", NULL},
    {"gpus", DLS_OPT_I64, 1, 64, "8", "", "GPUs per node", NULL},
    {"slot", DLS_OPT_I64, 1, 86400, "60", "", "seconds of a slot", NULL},
    {0}};

static void write_jobs(FILE *to, const dls_trace *trace, const dls_record *rec)
{
    fputs("job_id,status,start,end,jct\n", to);
    for (size_t j = 0; j < rec->n_jobs; j++) {
        dls_csv_put(to, dls_trace_id(trace, j));
        if (rec->state[j] == DLS_JOB_FINISHED) {
            fprintf(to, ",done,%.6f,%.6f,%.6f\n", (double)rec->start_us[j] / 1e6,
                    (double)rec->end_us[j] / 1e6,
                    (double)(rec->end_us[j] - dls_trace_cols(trace)->submit_us[j]) / 1e6);
        } else {
            fputs(",declined,,,\n", to);
        }
    }
}

static dls_status simulate(const dls_replayer_output *to, const dls_elasticflow_params *params,
                           const dls_trace *trace, dls_record *rec, dls_error *err)
{
    size_t late, done = 0;
    DLS_TRY(dls_elasticflow_replay(params, trace, rec, &late, err));
    write_jobs(to->rows, trace, rec);
    for (size_t j = 0; j < rec->n_jobs; j++) {
        done += rec->state[j] == DLS_JOB_FINISHED;
    }
    if (to->report) {
        fprintf(to->report, "jobs           %zu\ndeclined       %zu\ndeadlines met  %zu\n",
                rec->n_jobs, rec->n_jobs - done, done - late);
    }
    return DLS_OK;
}

static dls_status run(const dls_replayer_call *call, dls_error *err)
{
    const dls_option_value *v = call->value;
    const char *schedule = v[SCHEDULE].s;
    dls_cluster_spec cluster = {.n_types = 1};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_HOLD(dls_elastic_destroy) dls_elastic_jobs *speeds = NULL;
    DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
    DLS_TRY(dls_trace_load(call->input, "elasticflow", NULL, &trace, err));
    snprintf(cluster.types[0].name, sizeof cluster.types[0].name, "%s", v[GPU_TYPE].s);
    DLS_TRY(dls_elastic_create(v[THROUGHPUTS].s, trace, &cluster, &speeds, err));
    const dls_elasticflow_params params = {.nodes = (int32_t)v[NODES].i,
                                           .gpus_per_node = (int32_t)v[GPUS].i,
                                           .slot_s = (int32_t)v[SLOT].i,
                                           .edf = strcmp(schedule, "edf") == 0,
                                           .speeds = speeds,
                                           .gpu = v[GPU_TYPE].s};
    DLS_TRY(dls_record_create(dls_trace_cols(trace)->n, &rec, err));
    return simulate(call->to, &params, trace, rec, err);
}

const dls_replayer dls_replayer_elasticflow = {
    .name = "elasticflow",
    .summary = "what the published simulator of ElasticFlow says",
    .about = "Replay a trace of ElasticFlow's simulator with its results, job by job, defects "
             "included: rows of job_id,status,start,end,jct in the order of the trace.",
    .input = "TRACE.csv",
    .needs = "throughputs",
    .options = options,
    .chosen = "schedule",
    .choice = schedule_at,
    .run = run,
};
