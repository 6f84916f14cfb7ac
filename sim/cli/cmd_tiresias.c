/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim tiresias: takes the place of the Tiresias simulator's run_sim.py, its flags and its files.
 */
#include "base/alloc.h"
#include "cli/cli.h"
#include "cli/signals.h"
#include "cli/ui.h"
#include "tiresias/tiresias.h"

#include <string.h>
#include <time.h>

static const char help[] =
    "Usage: dlsim tiresias --trace_file=FILE --cluster_spec=FILE --schedule=NAME --scheme=NAME\n"
    "                      --log_path=DIR [OPTION]...\n"
    "\n"
    "Replay a Tiresias trace with the results of the Tiresias simulator, to the second: job.csv,\n"
    "cluster.csv and, unless the scheme is count, cpu.csv, gpu.csv, network.csv and memory.csv in "
    "DIR.\n"
    "Flags may be cut short while they stay unambiguous.\n"
    "\n"
    "  --trace_file=FILE       jobs, CSV or blank-separated .txt (default tf_job.csv)\n"
    "  --cluster_spec=FILE     the cluster, CSV; wins over the five flags below\n"
    "  --num_switch=N          switches (1)\n"
    "  --num_node_p_switch=N   nodes per switch (32)\n"
    "  --num_gpu_p_node=N      GPUs per node (8)\n"
    "  --num_cpu_p_node=N      CPUs per node (64)\n"
    "  --mem_p_node=N          GB of memory per node (256)\n"
    "  --schedule=NAME         see below (fifo)\n"
    "  --scheme=NAME           count, yarn or gandiva (yarn)\n"
    "  --log_path=DIR          made if missing (result-<date and time>)\n"
    "  --samples=FILE          GPU-time samples of dlas-gpu-gittins and shortest-expected\n"
    "                          (yarn-gput1000.csv)\n"
    "  --arithmetic=NAME       python2 or python3: how divisions and halves are rounded (python2)\n"
    "  --print                 print a summary\n"
    "  --flush_stdout          hand every row of the logs to the system at once\n"
    "  -h, --help              show this and leave\n"
    "\n"
    "Schedules:\n";

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

static void print_help(void)
{
    size_t n;
    const dls_tiresias_schedule *s = dls_tiresias_schedules(&n);
    fputs(help, stdout);
    for (size_t i = 0; i < n; i++) {
        printf("  %-20s %-12s %s\n", s[i].name, s[i].schemes, s[i].summary);
    }
}

/* A switch of the original: bare, or with =true, =false, =1, =0. */
static bool parse_switch(const char *name, const char *text, bool *out)
{
    static const char *const words[] = {"false", "0", "no", "true", "1", "yes"};
    if (!text) {
        *out = true;
        return true;
    }
    for (int i = 0; i < 6; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out = i >= 3;
            return true;
        }
    }
    dls_ui_usage("tiresias", "option '--%s' is \"%s\": expected true or false", name, text);
    return false;
}

static bool parse_size(const char *name, const char *text, int64_t min, int32_t *out)
{
    int64_t value;
    if (!dls_ui_i64("tiresias", name, text, min, INT32_MAX, &value)) {
        return false;
    }
    *out = (int32_t)value;
    return true;
}

/* One option; false after a report. */
static bool take(options *o, int letter, const char *value)
{
    dls_tiresias_cluster *k = &o->params.cluster;
    switch (letter) {
    case 't':
        o->trace_path = value;
        return true;
    case 'c':
        o->cluster_path = value;
        return true;
    case 's':
        o->params.schedule = value;
        return true;
    case 'p':
        o->params.scheme = value;
        return true;
    case 'l':
        o->log_path = value;
        return true;
    case 'g':
        o->params.samples_path = value;
        return true;
    case 'a':
        o->params.python3 = strcmp(value, "python3") == 0;
        if (!o->params.python3 && strcmp(value, "python2") != 0) {
            dls_ui_usage("tiresias", "option '--arithmetic' is \"%s\": expected python2 or python3",
                         value);
            return false;
        }
        return true;
    case 'P':
        return parse_switch("print", value, &o->print);
    case 'F':
        return parse_switch("flush_stdout", value, &o->flush);
    case '1':
        return parse_size("--num_switch", value, 1, &k->switches);
    case '2':
        return parse_size("--num_node_p_switch", value, 1, &k->nodes_per_switch);
    case '4':
        return parse_size("--num_gpu_p_node", value, 1, &k->gpus_per_node);
    case '5':
        return parse_size("--num_cpu_p_node", value, 0, &k->cpus_per_node);
    case '6':
        return parse_size("--mem_p_node", value, 0, &k->mem_gb_per_node);
    default:
        return false;
    }
}

/* -1: go on, else the exit code. */
static int parse(int argc, char **argv, options *o)
{
    static const struct option longs[] = {
        {"trace_file", required_argument, NULL, 't'},
        {"cluster_spec", required_argument, NULL, 'c'},
        {"schedule", required_argument, NULL, 's'},
        {"scheme", required_argument, NULL, 'p'},
        {"log_path", required_argument, NULL, 'l'},
        {"samples", required_argument, NULL, 'g'},
        {"arithmetic", required_argument, NULL, 'a'},
        {"print", optional_argument, NULL, 'P'},
        {"flush_stdout", optional_argument, NULL, 'F'},
        {"num_switch", required_argument, NULL, '1'},
        {"num_node_p_switch", required_argument, NULL, '2'},
        {"num_gpu_p_node", required_argument, NULL, '4'},
        {"num_cpu_p_node", required_argument, NULL, '5'},
        {"mem_p_node", required_argument, NULL, '6'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int letter;
    const time_t now = time(NULL);
    struct tm local;
    memset(o, 0, sizeof *o);
    dls_tiresias_params_init(&o->params);
    o->trace_path = "tf_job.csv";
    o->log_path = o->default_log;
    strftime(o->default_log, sizeof o->default_log, "result-%Y%m%d-%H-%M-%S",
             localtime_r(&now, &local));
    while ((letter = dls_ui_getopt(argc, argv, "h", longs, "tiresias")) != -1) {
        if (letter == 'h') {
            print_help();
            return 0;
        }
        if (letter == '?' || !take(o, letter, optarg)) {
            return dls_status_exit_code(DLS_EUSAGE);
        }
    }
    if (optind < argc) {
        return dls_ui_usage("tiresias", "unexpected argument '%s'", argv[optind]);
    }
    if (!*o->log_path) {
        return dls_ui_usage("tiresias", "option '--log_path' is empty");
    }
    return -1;
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
    if (status == DLS_OK) {
        status = dls_tiresias_log_finish(log, trace, rec, o->params.completed, err);
    }
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

/* What job.csv does not say, on stderr; the exit code. */
static int report(const options *o, const dls_trace *trace, const dls_record *rec)
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
    if (n.never_ran == rec->n_jobs) {
        fputs("dlsim: nothing could run\n", stderr);
        return dls_status_exit_code(DLS_ERUN);
    }
    return 0;
}

int dls_cmd_tiresias(int argc, char **argv)
{
    options o;
    dls_error err = {0};
    dls_trace *trace = NULL;
    dls_record *rec = NULL;
    const dls_trace_options reading = {.keep_zero_duration = true, .allow_duplicate_ids = true};
    int code = parse(argc, argv, &o);
    if (code >= 0) {
        return code;
    }
    dls_status status = DLS_OK;
    if (o.cluster_path) {
        status = dls_tiresias_load_cluster(o.cluster_path, &o.params.cluster, &err);
    }
    if (status == DLS_OK) {
        status = dls_tiresias_check(&o.params, &err);
    }
    if (status == DLS_OK) {
        status = dls_trace_load(o.trace_path, "tiresias", &reading, &trace, &err);
    }
    if (status == DLS_OK) {
        status = dls_record_create(dls_trace_cols(trace)->n, &rec, &err);
    }
    if (status == DLS_OK) {
        rec->want_allocs = rec->want_series = false;
        o.params.completed = dls_alloc_zero(rec->n_jobs, sizeof *o.params.completed);
        status = o.params.completed ? simulate(&o, trace, rec, &err)
                                    : dls_nomem(&err, "order of ending", rec->n_jobs * 4);
    }
    code = status == DLS_OK ? report(&o, trace, rec) : dls_ui_fail(&err);
    dls_free(o.params.completed);
    dls_record_destroy(rec);
    dls_trace_destroy(trace);
    return code;
}
