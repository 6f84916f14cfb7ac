/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The replayer `tiresias`: takes the place of the Tiresias simulator's run_sim.py, its flags and
 * its files.
 */
#include "dlsim/replayer.h"

#include "base/alloc.h"
#include "base/owners.h"
#include "tiresias/tiresias.h"

#include <string.h>
#include <time.h>

enum {
    TRACE,
    CLUSTER,
    SWITCHES,
    NODES,
    GPUS,
    CPUS,
    MEMORY,
    SCHEDULE,
    SCHEME,
    LOG,
    SAMPLES,
    ARITHMETIC,
    PRINT,
    FLUSH
};

static const dls_option options[] = {
    {"trace_file", DLS_OPT_PATH, 0, 0, "tf_job.csv", "FILE", "jobs, CSV or blank-separated .txt",
     NULL},
    {"cluster_spec", DLS_OPT_PATH, 0, 0, "", "FILE",
     "the cluster, CSV; wins over the five flags below", NULL},
    {"num_switch", DLS_OPT_I64, 1, INT32_MAX, "1", "", "switches", NULL},
    {"num_node_p_switch", DLS_OPT_I64, 1, INT32_MAX, "32", "", "nodes per switch", NULL},
    {"num_gpu_p_node", DLS_OPT_I64, 1, INT32_MAX, "8", "", "GPUs per node", NULL},
    {"num_cpu_p_node", DLS_OPT_I64, 0, INT32_MAX, "64", "", "CPUs per node", NULL},
    {"mem_p_node", DLS_OPT_I64, 0, INT32_MAX, "256", "", "GB of memory per node", NULL},
    {"schedule", DLS_OPT_STR, 0, 0, "fifo", "NAME", "see below", NULL},
    {"scheme", DLS_OPT_STR, 0, 0, "yarn", "NAME", "count, yarn or gandiva", NULL},
    {"log_path", DLS_OPT_PATH, 0, 0, "", "DIR",
     "made if missing; result-<date and time> if left out", NULL},
    {"samples", DLS_OPT_PATH, 0, 0, "yarn-gput1000.csv", "FILE",
     "GPU-time samples of dlas-gpu-gittins and shortest-expected", NULL},
    {"arithmetic", DLS_OPT_STR, 0, 0, "python2", "", "how divisions and halves are rounded",
     "python2|python3"},
    {"print", DLS_OPT_BOOL, 0, 0, "false", "BOOL", "print a summary", NULL},
    {"flush_stdout", DLS_OPT_BOOL, 0, 0, "false", "BOOL",
     "hand every row of the logs to the system at once", NULL},
    {0}};

static dls_status simulate(dls_tiresias_params *params, const char *log_path, bool flush,
                           const dls_trace *trace, dls_record *rec, dls_error *err)
{
    DLS_HOLD(dls_tiresias_log_destroy) dls_tiresias_log *log = NULL;
    DLS_TRY(dls_tiresias_log_create(log_path, params, flush, &log, err));
    params->on_event = dls_tiresias_log_event;
    params->user = log;
    DLS_TRY(dls_tiresias_run(params, trace, rec, err));
    DLS_TRY(dls_tiresias_log_finish(log, trace, rec, params->completed, err));
    return rec->complete ? DLS_OK
                         : dls_fail(err, DLS_EINTERRUPTED, NULL,
                                    "interrupted at %lld s: the logs end there",
                                    (long long)(rec->end_us_of_run / DLS_US_PER_S));
}

typedef struct counts {
    size_t ended, never_ran, unfinished, too_large, cut_short;
    double jct_s, pending_s;
    int64_t preempts;
} counts;

static counts count(const dls_tiresias_params *p, const dls_trace *trace, const dls_record *rec)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    /* dlas* ignore the scheme; placement inside one switch bounds the others under yarn. */
    const bool in_switch = strcmp(p->scheme, "yarn") == 0 && strncmp(p->schedule, "dlas", 4) != 0;
    const dls_tiresias_cluster *k = &p->cluster;
    const int64_t most =
        (int64_t)k->nodes_per_switch * k->gpus_per_node * (in_switch ? 1 : k->switches);
    counts n = {0};
    for (size_t j = 0; j < rec->n_jobs; j++) {
        n.preempts += rec->preempts[j];
        if (rec->state[j] == DLS_JOB_FINISHED) {
            n.ended++;
            n.jct_s += (double)(rec->end_us[j] - c->submit_us[j]) / 1e6;
            n.pending_s += (double)rec->pending_us[j] / 1e6;
            n.cut_short += rec->executed_us[j] < c->duration_us[j];
        } else if (rec->start_us[j] < 0) {
            n.never_ran++;
            n.too_large += c->gpus[j] > most;
        } else {
            n.unfinished++;
        }
    }
    return n;
}

static void summarise(FILE *to, const counts *n, const dls_record *rec)
{
    const double ended = n->ended ? (double)n->ended : 1;
    fprintf(to,
            "jobs ended        %zu of %zu\n"
            "average JCT       %.3f s\n"
            "average pending   %.3f s\n"
            "last event        %lld s\n"
            "preemptions       %lld\n",
            n->ended, rec->n_jobs, n->jct_s / ended, n->pending_s / ended,
            (long long)(rec->end_us_of_run / DLS_US_PER_S), (long long)n->preempts);
}

/* What job.csv does not say. */
static void warn_of_missing(FILE *to, const counts *n, size_t n_jobs)
{
    if (n->never_ran > 0) {
        fprintf(to, "dlsim: %zu of %zu jobs never ran and are not in job.csv", n->never_ran,
                n_jobs);
        if (n->too_large > 0) {
            fprintf(to, " (%zu ask for more GPUs than the cluster can give to one job)",
                    n->too_large);
        }
        fputc('\n', to);
    }
    if (n->unfinished > 0) {
        fprintf(to, "dlsim: %zu jobs ran and never ended, as in the original\n", n->unfinished);
    }
    if (n->cut_short > 0) {
        fprintf(
            to,
            "dlsim: %zu jobs are ended before they have run their duration, as in the original\n",
            n->cut_short);
    }
}

static dls_status replay(const dls_replayer_call *call, dls_tiresias_params *params,
                         const dls_trace *trace, dls_record *rec, dls_error *err)
{
    const dls_option_value *v = call->value;
    char log_path[64];
    const time_t now = time(NULL);
    struct tm local;
    strftime(log_path, sizeof log_path, "result-%Y%m%d-%H-%M-%S", localtime_r(&now, &local));
    DLS_TRY(simulate(params, *v[LOG].s ? v[LOG].s : log_path, v[FLUSH].b, trace, rec, err));
    const counts n = count(params, trace, rec);
    if (v[PRINT].b) {
        summarise(call->to->rows, &n, rec);
    }
    if (call->to->report) {
        warn_of_missing(call->to->report, &n, rec->n_jobs);
    }
    return n.never_ran < rec->n_jobs ? DLS_OK : dls_fail(err, DLS_ERUN, NULL, "nothing could run");
}

static dls_status run(const dls_replayer_call *call, dls_error *err)
{
    const dls_option_value *v = call->value;
    const dls_trace_options reading = {.keep_zero_duration = true, .allow_duplicate_ids = true};
    dls_tiresias_params params = {.cluster = {(int32_t)v[SWITCHES].i, (int32_t)v[NODES].i,
                                              (int32_t)v[GPUS].i, (int32_t)v[CPUS].i,
                                              (int32_t)v[MEMORY].i},
                                  .schedule = v[SCHEDULE].s,
                                  .scheme = v[SCHEME].s,
                                  .python3 = v[ARITHMETIC].i == 1,
                                  .samples_path = v[SAMPLES].s,
                                  .interrupted = call->to->interrupted,
                                  .asked = call->to->user};
    DLS_HOLD(dls_trace_destroy) dls_trace *trace = NULL;
    DLS_HOLD(dls_record_destroy) dls_record *rec = NULL;
    DLS_FREED int32_t *completed = NULL;
    if (*v[CLUSTER].s) {
        DLS_TRY(dls_tiresias_load_cluster(v[CLUSTER].s, &params.cluster, err));
    }
    DLS_TRY(dls_tiresias_check(&params, err));
    DLS_TRY(dls_trace_load(v[TRACE].s, "tiresias", &reading, &trace, err));
    DLS_TRY(dls_record_create(dls_trace_cols(trace)->n, &rec, err));
    DLS_TRY(dls_alloc_array(&completed, dls_trace_cols(trace)->n + 1, sizeof *completed,
                            "order of ending", err));
    params.completed = completed;
    return replay(call, &params, trace, rec, err);
}

static const char *schedule_at(size_t i, const char **summary)
{
    size_t n;
    const dls_tiresias_schedule *s = dls_tiresias_schedules(&n);
    *summary = i < n ? s[i].summary : NULL;
    return i < n ? s[i].name : NULL;
}

const dls_replayer dls_replayer_tiresias = {
    .name = "tiresias",
    .summary = "in place of the Tiresias simulator: its flags and files",
    .about = "Replay a Tiresias trace with the results of the Tiresias simulator, to the second: "
             "job.csv, cluster.csv and, unless the scheme is count, cpu.csv, gpu.csv, network.csv "
             "and memory.csv in DIR. Flags may be cut short while they stay unambiguous.",
    .options = options,
    .chosen = "schedule",
    .choice = schedule_at,
    .run = run,
};
