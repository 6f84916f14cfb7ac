/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Traces that make policies work: `at-once`, all submitted at the same time; `alike`, which differ in nothing;
 * `different`, no two of which ask for the same; `one-node`, on a single node; `vcs`, as many virtual clusters
 * as jobs, to which these belong at random, 4,096 of them with a quota of a GPU. All have more work
 * than the cluster can do in time, so that queues grow with the jobs.
 */
#ifndef DLS_TESTS_HOSTILE_H
#define DLS_TESTS_HOSTILE_H

#include "dlsim/run.h"
#include "support/bench.h"
#include "support/trace_of.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef HOSTILE_SMALL /* in a cluster that few jobs fill, with virtual clusters or without */
enum { NODES = 8, VC_NODES = 16, MORE_VC_NODES = 0, GPUS = 8, QUOTAS = 64 };
#else
enum { NODES = 128, VC_NODES = 1024, MORE_VC_NODES = 1, GPUS = 8, QUOTAS = 4096 };
#endif

static const char *const hostile[] = {"at-once", "alike", "different", "one-node", "vcs"};
enum { AT_ONCE, ALIKE, DIFFERENT, ONE_NODE, VCS, TRACES, LONG };

static inline uint32_t hostile_below(uint64_t *x, uint32_t n)
{
    *x = *x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*x >> 33) % n);
}

/* Job j of n. The mean of GPUs x time between two submissions is a tenth above the cluster's. */
static inline void hostile_job(int kind, size_t j, size_t n, uint64_t *x, dls_job_rec *rec, char name[32])
{
    static const char *const models[] = {"resnet50", "vgg16", "alexnet", "inception3", "googlenet"};
    const int gpus = kind == ALIKE || kind == VCS ? 1
                     : kind == DIFFERENT          ? 1 + (int)(j % 64)
                                                  : 1 << hostile_below(x, 4);
    const double mean_gpus = kind == ALIKE || kind == VCS ? 1 : kind == DIFFERENT ? 32.5 : 3.75;
    const int cluster = kind == ONE_NODE ? GPUS
                        : kind == LONG   ? 1000
                        : kind == VCS    ? VC_NODES * GPUS
                                         : NODES * GPUS;
    const uint32_t mean_s = kind == LONG ? 18000 : 1000;
    const double gap_s = kind == LONG  ? 76
                         : kind == VCS ? 0.01
                                       : mean_gpus * mean_s / cluster / 1.1;
    rec->submit_us = kind == AT_ONCE ? 0 : (int64_t)(1e6 * gap_s * (double)j);
    rec->duration_us = INT64_C(1000000) * (kind == ALIKE ? mean_s : 1 + hostile_below(x, 2 * mean_s - 1));
    rec->gpus_milli = 1000 * gpus;
    rec->model = models[kind == ALIKE ? 0 : j % 5];
    rec->batch = 32 * gpus;
    if (kind == DIFFERENT) { /* in what classes of jobs are told by, too */
        rec->duration_us += (int64_t)j;
        rec->cpu_milli = 1000 + (int64_t)(j / 64);
        rec->priority = (int64_t)(j * 7919 % n);
        snprintf(name, 32, "u%zu", j);
        rec->user = name;
    }
    if (kind == VCS) {
        snprintf(name, 32, "v%u", (unsigned)hostile_below(x, (uint32_t)n));
        rec->vc = name;
    }
}

static inline dls_trace *hostile_trace(int kind, size_t n)
{
    dls_trace *trace;
    uint64_t x = 1;
    char name[32];
    EACH_JOB(job, n, &trace) {
        hostile_job(kind, job.i, n, &x, &job.rec, name);
    }
    return trace;
}

/* What policies want to know is the operator model's; `plain`: jobs run as the trace says. */
static inline dls_setup *hostile_setup(int kind, size_t n, const char *sched, const char *place, bool plain)
{
    dls_error err;
    const size_t quotas = kind != VCS ? 0 : n < QUOTAS ? n : QUOTAS, room = 1000 + 48 * quotas;
    char *text = malloc(room), *at = text;
    dls_setup *setup;
    const size_t nodes = kind == ONE_NODE ? 1
                         : kind == LONG   ? 125
                         : kind == VCS    ? (MORE_VC_NODES ? n / GPUS + 1 : VC_NODES)
                                          : NODES;
    at += snprintf(
        at, room,
        "schema_version = 1; cluster: { nodes = ({ count = %zu; gpus = %d; cpus = 64; gpu_type = "
        "\"V100-32GB\"; });",
        nodes, GPUS);
    for (size_t v = 0; v < quotas; v++) {
        at +=
            sprintf(at, "%s{ name = \"v%zu\"; gpus = 1; }", v ? ", " : " virtual_clusters = (", v);
    }
    sprintf(at, "%s }; scheduler: { name = \"%s\"; }; placement: { name = \"%s\"; };%s",
            kind == VCS ? ");" : "", sched, place,
            plain ? ""
                  : "perf: { model = \"operator\"; reference_gpu = \"V100-32GB\"; };"
                    "predictor: { source = \"oracle\"; };");
    must(dls_setup_create(&setup, &err), &err);
    must(dls_setup_text(setup, text, &err), &err);
    free(text);
    return setup;
}

#endif
