/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a round costs with many jobs: 2,048 GPUs of three types, jobs of 1 to 16 GPUs that can use 1
 * to 64, nine tenths there from the start, the others coming evenly over ten rounds, so that every
 * round has to decide anew. Speeds are the operator model's and known. One JSON object a line.
 *
 *   bench_policies           1,250 to 10,000 jobs
 *   bench_policies --smoke   100 jobs
 *   bench_policies NAME...   only these schedulers
 */
#include "dlsim/run.h"
#include "support/bench.h"
#include "support/trace_of.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 10 };

static const struct {
    const char *name;
    int interval_s;
} policies[] = {{"gavel-las", 360}, {"gavel-ftf", 360}, {"sia", 60},       {"pollux", 60},
                {"optimus", 600},   {"allox", 600},     {"shockwave", 120}};

static dls_error err;

static dls_trace *trace_of(int n, int interval_s)
{
    static const char *const models[] = {"resnet50", "vgg16", "alexnet", "inception3", "googlenet"};
    dls_trace *trace;
    EACH_JOB(job, n, &trace) {
        const int later = job.i - n * 9 / 10;
        job.rec.submit_us =
            later < 0 ? 0 : INT64_C(1000000) * interval_s * ROUNDS * later / (n / 10 + 1);
        job.rec.gpus_milli = 1000 << (job.i * 7 % 5);
        job.rec.min_gpus = 1;
        job.rec.max_gpus = 64;
        job.rec.duration_us = INT64_C(1000000) * (36000 + job.i * 131 % 36000);
        job.rec.model = models[job.i * 13 % 5];
        job.rec.batch = 32 * (job.rec.gpus_milli / 1000);
    }
    return trace;
}

/* Processor time of a round, seconds. */
static double round_s(const char *policy, int interval_s, int n)
{
    char text[1024];
    dls_setup *setup;
    dls_simulation *sim;
    snprintf(
        text, sizeof text,
        "schema_version = 1; cluster: { nodes = ({ count = 64; gpus = 8; gpu_type = \"A100\"; },"
        " { count = 96; gpus = 8; gpu_type = \"V100-32GB\"; }, { count = 96; gpus = 8; gpu_type = "
        "\"RTX2080TI\"; }); };"
        "scheduler: { name = \"%s\"; }; placement: { name = \"consolidated\"; };"
        "perf: { model = \"operator\"; reference_gpu = \"V100-32GB\"; };"
        "predictor: { source = \"oracle\"; }; run: { until = \"%d s\"; };",
        policy, interval_s * ROUNDS - 1);
    must(dls_setup_create(&setup, &err), &err);
    must(dls_setup_text(setup, text, &err), &err);
    dls_trace *trace = trace_of(n, interval_s);
    must(dls_simulation_create(setup, trace, &sim, &err), &err);
    const double from = cpu_s();
    must(dls_simulation_run(sim, &err), &err);
    const double took = cpu_s() - from;
    dls_simulation_destroy(sim);
    dls_trace_destroy(trace);
    dls_setup_destroy(setup);
    return took / ROUNDS;
}

int main(int argc, char **argv)
{
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++) {
        double before = 0;
        for (int n = smoke ? 100 : 1250; n <= (smoke ? 100 : 10000); n *= 2) {
            if (!is_wanted(policies[p].name, argc, argv)) {
                continue;
            }
            const double s = round_s(policies[p].name, policies[p].interval_s, n);
            printf("{\"scheduler\": \"%s\", \"jobs\": %d, \"ms_per_round\": %.2f, \"exponent\": "
                   "%.2f}\n",
                   policies[p].name, n, 1e3 * s, before > 0 ? log2(s / before) : 0);
            fflush(stdout);
            before = s;
        }
    }
    return 0;
}
