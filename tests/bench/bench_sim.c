/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a simulation costs: one JSON object a line, one line a run.
 *
 *   bench_sim              Philly on its real cluster and on half of it, and generated traces of
 *                          10,000 and 100,000 jobs that queue, under every scheduler
 *   bench_sim --large      ... and of 1,000,000 jobs
 *   bench_sim --jobs=N     only a generated trace of N jobs on N / 10 GPUs
 *   bench_sim --smoke      a generated trace of 2,000 jobs only, and under qssf with estimates
 *   bench_sim --sizes      4,096 jobs, no two of which want as many GPUs
 *   bench_sim --scheduler=NAME, --placement=NAME, --philly, --generated   only these
 *   bench_sim --estimates=exact|history|history-trees
 *                          what policies believe of run times; generated jobs then come over
 *                          days, at a load of 0.9, as trees are fitted once a day
 *
 * gandiva runs on traces of at most 10,000 jobs unless it is named, policies of rounds only if they
 * are.
 *
 * Every run is a process of its own, so peak memory is its own: that of the trace included. wall_s
 * is the simulation, of whose processor time sys_s is the system's, write_s the results file.
 */
#include "base/alloc.h"
#include "base/options.h"
#include "base/rng.h"
#include "dlsim/traces.h"
#include "engine/sim.h"
#include "results/summary.h"
#include "results/write.h"
#include "support/bench.h"
#include "support/sim_case.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench {
    const char *name;
    const dls_trace *trace;
    const dls_cluster_spec *cluster;
    const char *scheduler, *placement, *estimates;
};

/* Processor time that the system has used for this process. */
static double system_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static int run_one(const struct bench *b)
{
    dls_sim_params p;
    dls_error err;
    dls_summary sum;
    dls_record *rec = NULL;
    dls_sim_params_init(&p);
    p.cluster = b->cluster;
    p.trace = b->trace;
    p.sched = case_sched(b->scheduler);
    p.placement = case_placement(b->placement);
    dls_option_value *values = case_defaults(p.sched->options);
    dls_option_value *place_values = case_defaults(p.placement->options);
    p.sched_values = values;
    p.placement_values = place_values;
    p.restore_us = 62 * DLS_US_PER_S;

    char path[64];
    snprintf(path, sizeof path, "/tmp/dlsim-bench-%d.h5", (int)getpid());
    dls_engine *engine;
    dls_sim_stop stop;
    const double wall0 = clock_s(CLOCK_MONOTONIC), cpu0 = clock_s(CLOCK_PROCESS_CPUTIME_ID),
                 sys0 = system_s();
    dls_history *history = NULL;
    p.estimates_predicted = strcmp(b->estimates, "exact") != 0;
    p.estimates_exact = !p.estimates_predicted;
    if (p.estimates_predicted) {
        const bool trees = strcmp(b->estimates, "history-trees") == 0;
        must(dls_history_create(b->trace, NULL, trees, &history, &err), &err);
        p.history = history;
    }
    if (dls_sim_create(&p, &engine, &err) != DLS_OK ||
        dls_sim_stream(engine, path, &err) != DLS_OK ||
        dls_sim_advance(engine, DLS_NEVER, &stop, &err) != DLS_OK ||
        dls_sim_close(engine, &rec, &err) != DLS_OK) {
        case_fail(&err);
    }
    dls_sim_destroy(engine);
    dls_history_destroy(history);
    const double wall_s = clock_s(CLOCK_MONOTONIC) - wall0;
    const double cpu_s = clock_s(CLOCK_PROCESS_CPUTIME_ID) - cpu0, sys_s = system_s() - sys0;
    if (dls_summary_make(b->trace, rec, 0, 0, wall_s, &sum, &err) != DLS_OK) {
        case_fail(&err);
    }
    dls_results_meta meta = {.run_id = "bench",
                             .scheduler = b->scheduler,
                             .placement = b->placement,
                             .cluster = b->cluster};
    const double write0 = clock_s(CLOCK_MONOTONIC);
    if (dls_results_write(path, &meta, b->trace, rec, &sum, &err) != DLS_OK) {
        case_fail(&err);
    }
    const double write_s = clock_s(CLOCK_MONOTONIC) - write0;
    unlink(path);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"trace\": \"%s\", \"jobs\": %zu, \"gpus\": %lld, \"scheduler\": \"%s\", "
           "\"placement\": \"%s\", \"estimates\": \"%s\", \"wall_s\": %.4f, \"cpu_s\": %.4f, "
           "\"sys_s\": %.4f, \"write_s\": %.4f, "
           "\"peak_mib\": %.0f, \"events\": %llu, \"events_per_s\": %.0f, "
           "\"positions_per_event\": %.2f, \"preemptions\": %llu, \"flips\": %llu, "
           "\"refusals\": %llu, \"waiting_mean\": %.1f, \"waiting_peak\": %lld, "
           "\"tenth_waiting_frac\": %.3f, \"completed\": %llu, \"jct_mean_s\": %.1f, "
           "\"utilisation\": %.3f, \"digest\": \"%016llx\"}\n",
           b->name, rec->n_jobs, (long long)sum.total_gpus, b->scheduler, b->placement,
           b->estimates, wall_s, cpu_s, sys_s, write_s, (double)usage.ru_maxrss / 1024,
           (unsigned long long)sum.events, (double)sum.events / wall_s, sum.positions_per_event,
           (unsigned long long)sum.part[0].preemptions, (unsigned long long)sum.flips,
           (unsigned long long)sum.refusals, sum.waiting_mean, (long long)sum.waiting_peak,
           sum.tenth_waiting_frac, (unsigned long long)sum.part[0].completed,
           sum.part[0].jct.mean_s, sum.utilisation, (unsigned long long)sum.digest);
    dls_record_destroy(rec);
    dls_free(place_values);
    dls_free(values);
    return 0;
}

/* In a child, so that memory is counted afresh. */
static void fork_one(const struct bench *b)
{
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        const int rc = run_one(b);
        fflush(stdout);
        _exit(rc);
    }
    int status = 1;
    waitpid(pid, &status, 0);
    if (status != 0) {
        fprintf(stderr, "bench: %s under %s failed\n", b->name, b->scheduler);
        exit(1);
    }
}

struct choice {
    const char *scheduler, *placement, *estimates;
    bool smoke, sizes, large, philly, generated;
    int64_t jobs; /* of the only generated trace; 0 */
};

static void all_schedulers(struct bench *b, const struct choice *c)
{
    for (const dls_sched_ops *const *s = dls_scheds(); *s; s++) {
        b->scheduler = (*s)->name;
        b->placement = c->placement;
        b->estimates = c->estimates ? c->estimates : "exact";
        /* Time slicing gives every job a turn a minute while others wait, rounds plan all of them
         * every so often (bench_rounds): only when asked for. */
        const bool slicing = strcmp(b->scheduler, "gandiva") == 0;
        if (c->scheduler ? strcmp(c->scheduler, b->scheduler) == 0
                         : !(*s)->round && (!slicing || dls_trace_cols(b->trace)->n <= 10000)) {
            fork_one(b);
        }
    }
}

static void generated(int64_t jobs, int gpus, const struct choice *c)
{
    dls_synth_params params;
    dls_error err;
    dls_trace *trace = NULL;
    char name[64];
    dls_synth_params_init(&params);
    params.n_jobs = jobs;
    params.cluster_gpus = gpus;
    params.stamp_us = 1;
    params.load = c->estimates ? 0.9 : 0;
    if ((!c->estimates && dls_synth_parse_queueing("heavy", &params, &err) != DLS_OK) ||
        dls_synth_generate(&params, &trace, NULL, &err) != DLS_OK) {
        case_fail(&err);
    }
    dls_cluster_spec cluster = case_cluster(gpus / 8, 8, 32);
    snprintf(name, sizeof name, "generated-%lld", (long long)jobs);
    struct bench b = {.name = name, .trace = trace, .cluster = &cluster};
    all_schedulers(&b, c);
    dls_trace_destroy(trace);
    free(cluster.groups);
}

/* Gangs of 1 to 4,096 GPUs, shuffled, on 8,192. */
static void many_sizes(const struct choice *c)
{
    enum { SIZES = 4096 };
    static case_job jobs[SIZES];
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, 0);
    for (int j = 0; j < SIZES; j++) {
        const int k = (int)dls_rng_below(&rng, (uint64_t)j + 1);
        jobs[j].gpus = jobs[k].gpus;
        jobs[k].gpus = j + 1;
        jobs[j].submit_s = 30.0 * j;
        jobs[j].duration_s = 60 + (double)dls_rng_below(&rng, 20000);
    }
    dls_trace *trace = case_trace(jobs, SIZES);
    dls_cluster_spec cluster = case_cluster(1024, 8, 32);
    struct bench b = {.name = "sizes-4096", .trace = trace, .cluster = &cluster};
    all_schedulers(&b, c);
    dls_trace_destroy(trace);
    free(cluster.groups);
}

/* The machines of the Philly trace: 321 nodes of 2 GPUs and 231 of 8, or every second of them. */
static void philly(int share, const struct choice *c)
{
    const char *shared = getenv("DLSIM_SHARED");
    char path[512];
    dls_trace *trace;
    dls_error err;
    snprintf(path, sizeof path, "%s/data/philly_msr_2017/philly_trace.csv", shared ? shared : "");
    if (access(path, R_OK) != 0) {
        fprintf(stderr, "bench: no Philly trace under DLSIM_SHARED, left out\n");
        return;
    }
    if (dls_trace_load(path, NULL, NULL, &trace, &err) != DLS_OK) {
        case_fail(&err);
    }
    dls_cluster_spec cluster = case_cluster(321 / share, 2, 32);
    cluster.groups = realloc(cluster.groups, 2 * sizeof *cluster.groups);
    cluster.groups[1] = cluster.groups[0];
    snprintf(cluster.groups[1].name, sizeof cluster.groups[1].name, "nodes8");
    cluster.groups[1].nodes = 231 / share;
    cluster.groups[1].gpus_per_node = 8;
    cluster.n_groups = 2;
    struct bench b = {
        .name = share == 1 ? "philly" : "philly-half", .trace = trace, .cluster = &cluster};
    all_schedulers(&b, c);
    dls_trace_destroy(trace);
    free(cluster.groups);
}

int main(int argc, char **argv)
{
    struct choice c = {.placement = "consolidated"};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--smoke") == 0) {
            c.smoke = true;
        } else if (strcmp(argv[i], "--sizes") == 0) {
            c.sizes = true;
        } else if (strcmp(argv[i], "--large") == 0) {
            c.large = true;
        } else if (strcmp(argv[i], "--philly") == 0) {
            c.philly = true;
        } else if (strcmp(argv[i], "--generated") == 0) {
            c.generated = true;
        } else if (strncmp(argv[i], "--jobs=", 7) == 0) {
            c.jobs = atoll(argv[i] + 7);
        } else if (strncmp(argv[i], "--scheduler=", 12) == 0) {
            c.scheduler = argv[i] + 12;
        } else if (strncmp(argv[i], "--placement=", 12) == 0) {
            c.placement = argv[i] + 12;
        } else if (strcmp(argv[i], "--estimates=exact") == 0 ||
                   strcmp(argv[i], "--estimates=history") == 0 ||
                   strcmp(argv[i], "--estimates=history-trees") == 0) {
            c.estimates = argv[i] + 12;
        } else {
            fprintf(stderr, "usage: bench_sim [--smoke] [--sizes] [--large] [--jobs=N] [--philly] "
                            "[--generated] "
                            "[--scheduler=NAME] [--placement=NAME] "
                            "[--estimates=exact|history|history-trees]\n");
            return 2;
        }
    }
    if (c.sizes) {
        many_sizes(&c);
        return 0;
    }
    if (c.jobs > 0) {
        generated(c.jobs, (int)(c.jobs / 10), &c);
        return 0;
    }
    const bool both = c.philly == c.generated;
    if (c.smoke) {
        generated(2000, 200, &c);
        c.scheduler = "qssf";
        c.estimates = "history";
        generated(2000, 200, &c);
        c.estimates = "history-trees";
        generated(2000, 200, &c);
        return 0;
    }
    if (both || c.philly) {
        philly(1, &c);
        philly(2, &c);
    }
    if (both || c.generated) {
        generated(10000, 1000, &c);
        generated(100000, 10000, &c);
        if (c.large) {
            generated(1000000, 100000, &c);
        }
    }
    return 0;
}
