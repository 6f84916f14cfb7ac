/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What asking the inspector costs a run: one JSON object a line.
 *
 *   inspector   the network alone: microseconds a (graph, setting) in batches of 512 graphs
 *   cold        all candidates of many distinct workloads in one pass, 14 settings each; ratio: over workloads x
 *               settings x the inspector's time
 *   warm        the same with the answers on disk
 *   get         one question of a policy
 *   round       64 questions of every workload, in the order in which an elastic policy asks them
 *
 * Weights are random, as large as those that come with dlsim; 50,000 workloads, --smoke: 150, the network once.
 * --jobs=N workloads, --backend=cpu|cuda, --threads=N (default 1).
 */
#include <stdio.h>
#include <stdlib.h>

#define fail_msg(...) (fprintf(stderr, __VA_ARGS__), exit(1))

#include "support/tiny_inspector.h"

#include "cluster/cluster.h"
#include "predictor/sources/inspector.h"
#include "predictor/sources/predictions.h"
#include "support/bench.h"
#include "support/trace_of.h"

#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#define N_SETTINGS 14
#define GRAPHS 512
static int turns = 3; /* of the network, of which the best counts */

/* Processor time, which other programs leave alone; with a device, time. */
static bool on_device;
static double now_s(void)
{
    return on_device ? wall_s() : cpu_s();
}

static long rss_mib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss / 1024;
}

/* Five GPU types; a gang of 8 has three shapes on each, 14 of them are asked for. */
static const char *const gpus[5] = {"V100", "A100", "TITAN-RTX", "RTX2080TI", "P100"};
static const int32_t spread[3] = {2, 4, 8};

static void make_cluster(dls_cluster_spec *c)
{
    *c = (dls_cluster_spec){.n_types = 5, .n_groups = 5, .groups = calloc(5, sizeof *c->groups)};
    for (int32_t i = 0; i < 5; i++) {
        c->types[i] = *dls_gpu_find(gpus[i]);
        c->groups[i] = (dls_node_group){
            .nodes = 8, .gpus_per_node = 4, .nodes_per_rack = 4, .type = i, .nic_bps = 1.25e9};
    }
}

/* n jobs, each of a model and a batch that no other has. */
static dls_trace *make_trace(int32_t n)
{
    dls_trace *trace;
    EACH_JOB(job, n, &trace) {
        job.rec.submit_us = job.i;
        job.rec.gpus_milli = 8000;
        job.rec.duration_us = 1000000;
        job.rec.model = dls_zoo_at((size_t)job.i % dls_zoo_drawn())->name;
        job.rec.batch = 8 * (1 + job.i / (int64_t)dls_zoo_drawn());
    }
    return trace;
}

/* The settings and the map that gives each shape one of its own. */
static void make_weights(const char *path, char *map, size_t size)
{
    static char names[N_SETTINGS][32];
    tiny_setting setting[N_SETTINGS];
    size_t used = 0;
    for (int i = 0; i < N_SETTINGS; i++) {
        snprintf(names[i], sizeof names[i], "%s-n%d", gpus[i % 5], (int)spread[i / 5]);
        setting[i] =
            (tiny_setting){names[i], gpus[i % 5], "allreduce", "eth10", 0, 8, spread[i / 5]};
        used += (size_t)snprintf(map + used, size - used, "%s:8/%d=%s;", gpus[i % 5],
                                 (int)spread[i / 5], names[i]);
    }
    tiny_inspector(path, setting, N_SETTINGS, "hidden=64 n_features=15", NULL, 24);
}

static double inspector_us(const char *weights, const char *hardware, const char *backend,
                           int32_t threads)
{
    static dls_inspector_session a;
    const dls_inspector_session_params p = {
        .weights = weights, .backend = backend, .hardware_dir = hardware, .threads = threads};
    static dls_graph graph[GRAPHS];
    static dls_query query[GRAPHS * N_SETTINGS];
    static dls_profile profile[GRAPHS * N_SETTINGS];
    double *x[GRAPHS];
    TINY(dls_inspector_session_init(&a, &p, err));
    for (int32_t i = 0; i < GRAPHS; i++) {
        const dls_zoo_input *input;
        TINY(dls_zoo_input_sized(&a.inputs, dls_zoo_at((size_t)i % dls_zoo_drawn()),
                                 &(dls_zoo_options){0}, &input, err));
        x[i] = malloc((size_t)input->graph.n_nodes * (size_t)input->graph.n_features * sizeof **x);
        graph[i] = dls_zoo_input_at(&a.inputs, input, 1 + i, x[i]);
        for (int32_t s = 0; s < N_SETTINGS; s++) {
            query[i * N_SETTINGS + s] = (dls_query){i, s};
        }
    }
    double best_s = 1e9;
    for (int round = 0; round < turns; round++) {
        const double start = now_s();
        TINY(dls_predict(a.predictor, graph, GRAPHS, query, GRAPHS * N_SETTINGS, profile, err));
        best_s = now_s() - start < best_s ? now_s() - start : best_s;
    }
    const double us = 1e6 * best_s / (GRAPHS * N_SETTINGS);
    printf("{\"what\": \"inspector\", \"backend\": \"%s\", \"us_per_graph_and_setting\": %.2f}\n",
           dls_predictor_backend(a.predictor), us);
    for (int32_t i = 0; i < GRAPHS; i++) {
        free(x[i]);
    }
    dls_inspector_session_fini(&a);
    return us;
}

static dls_predictions *pass(const dls_prediction_params *p, int32_t n, const char *what, double us)
{
    dls_predictions *f;
    int32_t *job = malloc((size_t)n * sizeof *job);
    for (int32_t i = 0; i < n; i++) {
        job[i] = i;
    }
    const double start = now_s();
    TINY(dls_predictions_create(p, &f, err));
    const double opened = now_s();
    TINY(dls_predictions_prepare(f, job, (size_t)n, err));
    const double done = now_s();
    TINY(dls_predictions_finish(f, NULL, err));
    const dls_predictions_stats s = dls_predictions_about(f);
    printf("{\"what\": \"%s\", \"workloads\": %llu, \"questions\": %llu, \"answers\": %llu, "
           "\"open_s\": %.3f, \"prepare_s\": %.3f, \"finish_s\": %.3f, \"rss_mib\": %ld",
           what, (unsigned long long)s.kinds, (unsigned long long)s.questions,
           (unsigned long long)s.answers, opened - start, done - opened, now_s() - done, rss_mib());
    if (s.answers > 0) {
        printf(", \"ratio\": %.3f", (done - opened) / (us / 1e6 * (double)s.answers));
    }
    puts("}");
    free(job);
    return f;
}

static void ask(const dls_predictions *f, int32_t n)
{
    double sum = 0;
    const int32_t rounds = 2000000;
    const double start = now_s();
    for (int32_t i = 0; i < rounds; i++) {
        const dls_shape shape = {i % 5, 8, spread[i % 3], 1 + (i % 3) / 2};
        dls_prediction out;
        dls_predictions_get(f, (int32_t)((int64_t)i * 7919 % n), &shape, 1000, &out);
        sum += out.iteration_s;
    }
    printf("{\"what\": \"get\", \"ns\": %.0f, \"sum\": %.3g}\n", 1e9 * (now_s() - start) / rounds,
           sum);
}

/* What an elastic policy asks in a round: 64 candidates (types, counts of nodes, batches) a job. */
static void round_of(const dls_predictions *f, int32_t n)
{
    double sum = 0, best_s = 1e9;
    for (int turn = 0; turn < 3; turn++) {
        const double start = now_s();
        for (int32_t j = 0; j < n; j++) {
            for (int32_t c = 0; c < 64; c++) {
                const dls_shape shape = {c % 5, 8, spread[c / 5 % 3], 1 + (c / 5 % 3) / 2};
                dls_prediction out;
                dls_predictions_get(f, j, &shape, 1000, &out);
                sum += out.iteration_s;
            }
        }
        best_s = fmin(best_s, now_s() - start);
    }
    printf("{\"what\": \"round\", \"jobs\": %d, \"candidates\": 64, \"ms\": %.1f, \"sum\": %.3g}\n",
           (int)n, 1e3 * best_s, sum);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/dlsim-bench-XXXXXX", weights[64], cache[64], map[2048];
    char hardware[1024];
    dls_cluster_spec cluster;
    int32_t n = 50000, threads = 1;
    const char *backend = "cpu", *source = getenv("DLSIM_SOURCE");
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--smoke") == 0) {
            n = 150;
            turns = 1;
        }
        n = strncmp(argv[i], "--jobs=", 7) == 0 ? atoi(argv[i] + 7) : n;
        backend = strncmp(argv[i], "--backend=", 10) == 0 ? argv[i] + 10 : backend;
        threads = strncmp(argv[i], "--threads=", 10) == 0 ? atoi(argv[i] + 10) : threads;
    }
    on_device = strcmp(backend, "cuda") == 0;
    if (!mkdtemp(folder)) {
        return 1;
    }
    snprintf(weights, sizeof weights, "%s/weights.h5", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(hardware, sizeof hardware, "%s/configs/hardware", source ? source : ".");
    make_weights(weights, map, sizeof map);
    make_cluster(&cluster);
    dls_trace *trace = make_trace(n);
    const dls_prediction_params p = {.source = "driple",
                                     .seed = 1,
                                     .sized = true,
                                     .cluster = &cluster,
                                     .trace = trace,
                                     .weights = weights,
                                     .backend = backend,
                                     .threads = threads,
                                     .max_candidates = N_SETTINGS,
                                     .settings_map = map,
                                     .hardware_dir = hardware,
                                     .cache_path = cache,
                                     .exchange = "allreduce",
                                     .allreduce = "hierarchical",
                                     .numeric = "fp32"};
    const double us = inspector_us(weights, hardware, backend, threads);
    dls_predictions_destroy(pass(&p, n, "cold", us));
    dls_predictions *f = pass(&p, n, "warm", us);
    ask(f, n);
    round_of(f, n);
    dls_predictions_destroy(f);
    dls_trace_destroy(trace);
    free(cluster.groups);
    unlink(cache);
    unlink(weights);
    return rmdir(folder);
}
