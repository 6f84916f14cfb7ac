/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A world for a test: cluster and trace from C, tables of the source tree. Include cmocka first.
 */
#ifndef DLS_TESTS_WORLD_SETUP_H
#define DLS_TESTS_WORLD_SETUP_H

#include "support/must.h"
#include "support/trace_of.h"
#include "world/truth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct world_job {
    const char *model;
    int32_t gpus;
    int64_t batch_per_gpu; /* 0: none */
    double duration_s;     /* 0: none */
    int64_t iterations;    /* 0: none */
} world_job;

typedef struct world_group {
    const char *gpu;
    int32_t nodes, gpus_per_node, nodes_per_rack;
    double nic_gbps; /* gigabits per second */
} world_group;

typedef struct world_setup {
    dls_cluster_spec cluster;
    dls_trace *trace;
    dls_world_params p;
    dls_world *w;
    char hardware[1024];
} world_setup;

static inline dls_trace *world_trace(const world_job *jobs, size_t n)
{
    dls_trace *trace;
    EACH_JOB(job, n, &trace) {
        job.rec.submit_us = job.i;
        job.rec.gpus_milli = 1000 * (int64_t)jobs[job.i].gpus;
        job.rec.model = jobs[job.i].model;
        job.rec.duration_us = jobs[job.i].duration_s > 0 ? (int64_t)(1e6 * jobs[job.i].duration_s) : DLS_ABSENT;
        job.rec.iterations = jobs[job.i].iterations ? jobs[job.i].iterations : DLS_ABSENT;
        job.rec.batch = jobs[job.i].batch_per_gpu ? jobs[job.i].batch_per_gpu * jobs[job.i].gpus : DLS_ABSENT;
    }
    return trace;
}

static inline void world_cluster(dls_cluster_spec *c, const world_group *groups, int32_t n)
{
    *c = (dls_cluster_spec){.groups = calloc((size_t)n, sizeof *c->groups), .n_groups = n};
    for (int32_t g = 0; g < n; g++) {
        int32_t type = 0;
        while (type < c->n_types && strcmp(c->types[type].name, groups[g].gpu) != 0) {
            type++;
        }
        if (type == c->n_types) {
            const dls_gpu_type *gpu = dls_gpu_find(groups[g].gpu);
            assert_non_null(gpu);
            c->types[c->n_types++] = *gpu;
        }
        c->groups[g] = (dls_node_group){.nodes = groups[g].nodes,
                                        .gpus_per_node = groups[g].gpus_per_node,
                                        .nodes_per_rack = groups[g].nodes_per_rack,
                                        .type = type,
                                        .nic_bps = groups[g].nic_gbps * 1e9 / 8};
    }
}

/* s must not move. Parameters may be changed before world_open. */
static inline void world_init(world_setup *s, const char *model, const world_group *groups,
                              int32_t n_groups, const world_job *jobs, size_t n_jobs)
{
    memset(s, 0, sizeof *s);
    world_cluster(&s->cluster, groups, n_groups);
    s->trace = world_trace(jobs, n_jobs);
    snprintf(s->hardware, sizeof s->hardware, "%s/configs/hardware",
             getenv("DLSIM_SOURCE") ? getenv("DLSIM_SOURCE") : ".");
    dls_world_params_init(&s->p);
    s->p.cluster = &s->cluster;
    s->p.trace = s->trace;
    s->p.model = model;
    s->p.hardware_dir = s->hardware;
    s->p.residual_sigma = s->p.network_residual_sigma = 0;
}

static inline void world_open(world_setup *s)
{
    MUST(dls_world_create(&s->p, &s->w, &e));
}

static inline void world_fini(world_setup *s)
{
    dls_world_destroy(s->w);
    dls_trace_destroy(s->trace);
    free(s->cluster.groups);
}

static inline dls_solo world_solo(world_setup *s, int32_t job, int32_t type, int32_t gpus,
                                  int32_t nodes, int32_t racks)
{
    const dls_shape shape = {.type = type, .gpus = gpus, .n_nodes = nodes, .n_racks = racks};
    dls_solo solo;
    MUST(dls_world_solo(s->w, job, &shape, &solo, &e));
    return solo;
}

/* Start on the lowest `each` GPUs of nodes first, first + 1, ... above bit `from`. */
static inline void world_start(world_setup *s, int32_t job, int32_t type, int32_t first,
                               int32_t nodes, int32_t each, int32_t from)
{
    dls_seat seat[64];
    for (int32_t i = 0; i < nodes; i++) {
        seat[i] = (dls_seat){((UINT64_C(1) << each) - 1) << from, first + i};
    }
    MUST(dls_world_start(s->w, job, type, seat, (size_t)nodes, &e));
}

static inline size_t world_settle(world_setup *s, const dls_rate_change **changed)
{
    size_t n;
    assert_int_equal(dls_world_settle(s->w, changed, &n, NULL), DLS_OK);
    return n;
}

/* Of an iteration of a job whose rate has changed. */
static inline double world_seconds(const world_setup *s, const dls_rate_change *c)
{
    return dls_world_reference_s(s->w, c->job) * DLS_RATE_ONE / (double)c->rate;
}

#endif
