/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim tiresias: takes the place of the Tiresias simulator's run_sim.py, its flags and its files.
 */
#include "base/alloc.h"
#include "cli/command.h"
#include "cli/signals.h"
#include "tiresias/tiresias.h"

#include <string.h>
#include <time.h>

typedef struct options {
    dls_tiresias_params params;
    const char *trace_path, *cluster_path, *log_path;
    bool print, flush;
    char default_log[64];
} options;

static bool interrupted(void *user)
{
    (void)user;
    return dls_signals_noted();
}

static dls_status simulate(options *o, const dls_trace *trace, dls_record *rec, dls_error *err)
{
    dls_tiresias_log *log = NULL;
    DLS_TRY(dls_tiresias_log_create(o->log_path, &o->params, o->flush, &log, err));
    o->params.on_event = dls_tiresias_log_event;
    o->params.user = log;
    o->params.interrupted = interrupted;
    dls_signals_catch();
    dls_status status = dls_tiresias_run(&o->params, trace, rec, err);
    dls_signals_release();
    DLS_THEN(status, dls_tiresias_log_finish(log, trace, rec, o->params.completed, err));
    dls_tiresias_log_destroy(log);
    if (status == DLS_OK && !rec->complete) {
        status = dls_fail(err, DLS_EINTERRUPTED, NULL, "interrupted at %lld s: the logs end there",
                          (long long)(rec->end_us_of_run / DLS_US_PER_S));
    }
    return status;
}

typedef struct counts {
    size_t ended, never_ran, unfinished, too_large, cut_short;
    double jct_s, pending_s;
    int64_t preempts;
} counts;

static counts count(const options *o, const dls_trace *trace, const dls_record *rec)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    /* dlas* ignore the scheme; placement inside one switch bounds the others under yarn. */
    const bool in_switch =
        strcmp(o->params.scheme, "yarn") == 0 && strncmp(o->params.schedule, "dlas", 4) != 0;
    const dls_tiresias_cluster *k = &o->params.cluster;
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

/* What job.csv does not say, on stderr. */
static dls_status report(const options *o, const dls_trace *trace, const dls_record *rec,
                         dls_error *err)
{
    const counts n = count(o, trace, rec);
    if (o->print) {
        const double ended = n.ended ? (double)n.ended : 1;
        printf("jobs ended        %zu of %zu\n"
               "average JCT       %.3f s\n"
               "average pending   %.3f s\n"
               "last event        %lld s\n"
               "preemptions       %lld\n",
               n.ended, rec->n_jobs, n.jct_s / ended, n.pending_s / ended,
               (long long)(rec->end_us_of_run / DLS_US_PER_S), (long long)n.preempts);
    }
    if (n.never_ran > 0) {
        fprintf(stderr, "dlsim: %zu of %zu jobs never ran and are not in job.csv", n.never_ran,
                rec->n_jobs);
        if (n.too_large > 0) {
            fprintf(stderr, " (%zu ask for more GPUs than the cluster can give to one job)",
                    n.too_large);
        }
        fputc('\n', stderr);
    }
    if (n.unfinished > 0) {
        fprintf(stderr, "dlsim: %zu jobs ran and never ended, as in the original\n", n.unfinished);
    }
    if (n.cut_short > 0) {
        fprintf(
            stderr,
            "dlsim: %zu jobs are ended before they have run their duration, as in the original\n",
            n.cut_short);
    }
    return n.never_ran < rec->n_jobs ? DLS_OK : dls_fail(err, DLS_ERUN, NULL, "nothing could run");
}

static dls_status prepare(options *o, dls_trace **trace, dls_record **rec, dls_error *err)
{
    const dls_trace_options reading = {.keep_zero_duration = true, .allow_duplicate_ids = true};
    if (!*o->log_path) {
        return dls_fail(err, DLS_EUSAGE, NULL, "option '--log_path' is empty");
    }
    if (o->cluster_path) {
        DLS_TRY(dls_tiresias_load_cluster(o->cluster_path, &o->params.cluster, err));
    }
    DLS_TRY(dls_tiresias_check(&o->params, err));
    DLS_TRY(dls_trace_load(o->trace_path, "tiresias", &reading, trace, err));
    DLS_TRY(dls_record_create(dls_trace_cols(*trace)->n, rec, err));
    o->params.completed = dls_alloc_zero((*rec)->n_jobs, sizeof *o->params.completed);
    return o->params.completed ? DLS_OK : dls_nomem(err, "order of ending", (*rec)->n_jobs * 4);
}

static dls_status run(void *user, dls_call *call, dls_error *err)
{
    options *o = user;
    dls_trace *trace = NULL;
    dls_record *rec = NULL;
    (void)call;
    dls_status status = prepare(o, &trace, &rec, err);
    DLS_THEN(status, simulate(o, trace, rec, err));
    DLS_THEN(status, report(o, trace, rec, err));
    dls_free(o->params.completed);
    dls_record_destroy(rec);
    dls_trace_destroy(trace);
    return status;
}

static void defaults(void *user)
{
    options *o = user;
    const time_t now = time(NULL);
    struct tm local;
    dls_tiresias_params_init(&o->params);
    strftime(o->default_log, sizeof o->default_log, "result-%Y%m%d-%H-%M-%S",
             localtime_r(&now, &local));
}

static dls_status init(void *user, dls_call *call, dls_error *err)
{
    options *o = user;
    (void)call;
    (void)err;
    o->log_path = o->default_log;
    return DLS_OK;
}

static const char *schedule_at(size_t i, const char **summary)
{
    size_t n;
    const dls_tiresias_schedule *s = dls_tiresias_schedules(&n);
    *summary = NULL;
    return i < n ? s[i].name : NULL;
}

static void list_schedules(FILE *to)
{
    size_t n;
    const dls_tiresias_schedule *s = dls_tiresias_schedules(&n);
    fputs("\nSchedules:\n", to);
    for (size_t i = 0; i < n; i++) {
        fprintf(to, "  %-20s %-12s %s\n", s[i].name, s[i].schemes, s[i].summary);
    }
}

/* A switch of the original: bare, or with =true, =false, =1, =0. */
#define OLD_SWITCH(m, word, text)                                                                  \
    {                                                                                              \
        DLS_ROW(DLS_ARG_SWITCH, 1, options, m, word, 0, "BOOL", text), .optional = true            \
    }

static const dls_arg args[] = {
    DLS_TEXT(options, trace_path, "trace_file", 0, "FILE", "jobs, CSV or blank-separated .txt"),
    DLS_TEXT(options, cluster_path, "cluster_spec", 0, "FILE",
             "the cluster, CSV; wins over the five flags below"),
    DLS_INT(options, params.cluster.switches, "num_switch", 0, 1, INT32_MAX, "switches"),
    DLS_INT(options, params.cluster.nodes_per_switch, "num_node_p_switch", 0, 1, INT32_MAX,
            "nodes per switch"),
    DLS_INT(options, params.cluster.gpus_per_node, "num_gpu_p_node", 0, 1, INT32_MAX,
            "GPUs per node"),
    DLS_INT(options, params.cluster.cpus_per_node, "num_cpu_p_node", 0, 0, INT32_MAX,
            "CPUs per node"),
    DLS_INT(options, params.cluster.mem_gb_per_node, "mem_p_node", 0, 0, INT32_MAX,
            "GB of memory per node"),
    DLS_NAME(options, params.schedule, "schedule", 0, schedule_at, "see below"),
    DLS_TEXT(options, params.scheme, "scheme", 0, "NAME", "count, yarn or gandiva"),
    DLS_TEXT(options, log_path, "log_path", 0, "DIR",
             "made if missing; result-<date and time> if left out"),
    DLS_TEXT(options, params.samples_path, "samples", 0, "FILE",
             "GPU-time samples of dlas-gpu-gittins and shortest-expected"),
    DLS_CHOICE(options, params.python3, "arithmetic", 0, "python2|python3",
               "how divisions and halves are rounded"),
    OLD_SWITCH(print, "print", "print a summary"),
    OLD_SWITCH(flush, "flush_stdout", "hand every row of the logs to the system at once"),
    DLS_ARGS_END};

const dls_command dls_command_tiresias = {
    .name = "tiresias",
    .summary = "in place of the Tiresias simulator: its flags and files",
    .usage = "--trace_file=FILE --cluster_spec=FILE --schedule=NAME --scheme=NAME --log_path=DIR "
             "[OPTION]...",
    .about = "Replay a Tiresias trace with the results of the Tiresias simulator, to the second: "
             "job.csv, cluster.csv and, unless the scheme is count, cpu.csv, gpu.csv, network.csv "
             "and memory.csv in DIR. Flags may be cut short while they stay unambiguous.",
    .more = list_schedules,
    .args = args,
    .size = sizeof(options),
    .initial = &(const options){.trace_path = "tf_job.csv"},
    .defaults = defaults,
    .init = init,
    .run = run,
};
