/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a change costs the world: one JSON object a line. A job stops, starts again on the same
 * seats, and both times the rates are settled.
 *
 *      apart    pairs of jobs, each pair on four nodes of its own: 2 jobs are connected, the rest is not
 *      chain    jobs on two nodes each, the second of one is the first of the next: all are connected
 *
 * --smoke: small ones only; fails if a change among 100 times as many unconnected jobs looks at
 * more jobs or solves more links.
 */
#include "base/rng.h"
#include "support/bench.h"
#include "support/trace_of.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dls_trace *make_trace(int32_t n_jobs, int32_t gpus)
{
    static const char *const models[] = {"vgg16", "alexnet", "resnet50", "bert"};
    dls_trace *trace;
    EACH_JOB(job, n_jobs, &trace) {
        job.rec.submit_us = job.i;
        job.rec.duration_us = 1;
        job.rec.gpus_milli = 1000 * (int64_t)gpus;
        job.rec.model = models[job.i % 4];
        job.rec.batch = 32 * gpus;
    }
    return trace;
}

typedef struct scene {
    dls_node_group group;
    dls_cluster_spec cluster;
    dls_trace *trace;
    dls_world *w;
    bool chain;
    int32_t n_jobs, gpus;
    char hardware[1024];
} scene;

static void open_scene(scene *s, bool chain, int32_t n_jobs)
{
    dls_world_params p;
    dls_error err;
    *s = (scene){.chain = chain, .n_jobs = n_jobs, .gpus = chain ? 2 : 4};
    s->group = (dls_node_group){
        .nodes = chain ? n_jobs + 1 : 2 * n_jobs, .gpus_per_node = 4, .nic_bps = 1.25e9};
    s->cluster = (dls_cluster_spec){.groups = &s->group, .n_groups = 1, .n_types = 1};
    s->cluster.types[0] = *dls_gpu_find("V100");
    s->trace = make_trace(n_jobs, s->gpus);
    snprintf(s->hardware, sizeof s->hardware, "%s/configs/hardware",
             getenv("DLSIM_SOURCE") ? getenv("DLSIM_SOURCE") : ".");
    dls_world_params_init(&p);
    p.cluster = &s->cluster;
    p.trace = s->trace;
    p.model = "operator";
    p.hardware_dir = s->hardware;
    must(dls_world_create(&p, &s->w, &err), &err);
}

static void close_scene(scene *s)
{
    dls_world_destroy(s->w);
    dls_trace_destroy(s->trace);
}

static void start(scene *s, int32_t job)
{
    dls_seat seat[4];
    dls_error err;
    const int32_t first = s->chain ? job : job / 2 * 4;
    for (int32_t i = 0; i < s->gpus; i++) {
        /* Neighbours never share a GPU. */
        seat[i] = (dls_seat){UINT64_C(1) << (s->chain ? 1 - i : job % 2), first + i};
    }
    must(dls_world_start(s->w, job, 0, seat, (size_t)s->gpus, &err), &err);
}

static size_t settle(scene *s)
{
    const dls_rate_change *changed;
    size_t n;
    dls_error err;
    must(dls_world_settle(s->w, &changed, &n, &err), &err);
    return n;
}

/* Jobs looked at for each settling. */
static double run(bool chain, int32_t n_jobs, int32_t changes)
{
    scene s;
    size_t moved = 0;
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, 0);
    open_scene(&s, chain, n_jobs);
    for (int32_t j = 0; j < n_jobs; j++) {
        start(&s, j);
    }
    settle(&s);
    const dls_world_cost before = dls_world_cost_so_far(s.w);
    const double from = cpu_s() * 1e9;
    for (int32_t i = 0; i < changes; i++) {
        const int32_t job = (int32_t)dls_rng_below(&rng, (uint64_t)n_jobs);
        dls_world_stop(s.w, job);
        moved += settle(&s);
        start(&s, job);
        moved += settle(&s);
    }
    const double ns = (cpu_s() * 1e9 - from) / changes;
    const dls_world_cost after = dls_world_cost_so_far(s.w);
    const double settles = (double)(after.settles - before.settles);
    const double jobs = (double)(after.jobs - before.jobs) / settles;
    const double links = (double)(after.links - before.links) / settles;
    printf("{\"bench\": \"world\", \"shape\": \"%s\", \"running\": %d, \"ns_per_change\": %.0f, "
           "\"jobs_per_settle\": %.2f, \"links_per_settle\": %.2f, \"moved_per_settle\": %.2f}\n",
           chain ? "chain" : "apart", (int)n_jobs, ns, jobs, links, (double)moved / settles);
    fflush(stdout);
    close_scene(&s);
    return jobs + links;
}

int main(int argc, char **argv)
{
    const bool smoke = argc > 1 && strcmp(argv[1], "--smoke") == 0;
    const double few = run(false, 10, smoke ? 100 : 200000);
    const double many = run(false, 1000, smoke ? 100 : 200000);
    if (!smoke) {
        run(false, 10000, 200000);
        run(false, 100000, 200000);
    }
    for (int32_t n = 2; n <= (smoke ? 32 : 2048); n *= 4) {
        run(true, n, smoke ? 10 : 200000 / n);
    }
    if (many > 1.01 * few) {
        fprintf(stderr, "the cost of a change grows with jobs that share nothing with it\n");
        return 1;
    }
    return 0;
}
