/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Small simulations for tests: jobs and a cluster from C, a policy by its table, default options.
 */
#ifndef DLS_TESTS_SIM_CASE_H
#define DLS_TESTS_SIM_CASE_H

#include "base/alloc.h"
#include "base/options.h"
#include "engine/sim.h"
#include "support/trace_of.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct case_job {
    double submit_s, duration_s;
    int gpus;
    const char *vc, *types;
} case_job;

static inline void case_fail(const dls_error *err)
{
    fprintf(stderr, "%s: %s: %s\n", dls_status_name(err->status), err->where, err->msg);
    exit(1);
}

static inline dls_trace *case_trace(const case_job *jobs, size_t n)
{
    dls_trace *trace;
    EACH_JOB(job, n, &trace) {
        job.rec.submit_us = llround(jobs[job.i].submit_s * 1e6);
        job.rec.duration_us = llround(jobs[job.i].duration_s * 1e6);
        job.rec.gpus_milli = jobs[job.i].gpus * 1000;
        job.rec.vc = jobs[job.i].vc;
        job.rec.gpu_types = jobs[job.i].types;
    }
    return trace;
}

/* One group of equal nodes of one type. */
static inline dls_cluster_spec case_cluster(int nodes, int gpus_per_node, int nodes_per_rack)
{
    dls_cluster_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.n_types = 1;
    snprintf(spec.types[0].name, sizeof spec.types[0].name, "gpu");
    spec.groups = calloc(1, sizeof *spec.groups);
    spec.n_groups = 1;
    snprintf(spec.groups[0].name, sizeof spec.groups[0].name, "nodes");
    spec.groups[0].nodes = nodes;
    spec.groups[0].gpus_per_node = gpus_per_node;
    spec.groups[0].nodes_per_rack = nodes_per_rack;
    return spec;
}

static inline const dls_sched_ops *case_sched(const char *name)
{
    for (const dls_sched_ops *const *p = dls_scheds(); *p; p++) {
        if (strcmp((*p)->name, name) == 0) {
            return *p;
        }
    }
    fprintf(stderr, "no scheduler '%s'\n", name);
    exit(1);
}

static inline const dls_placement_ops *case_placement(const char *name)
{
    for (const dls_placement_ops *const *p = dls_placements(); *p; p++) {
        if (strcmp((*p)->name, name) == 0) {
            return *p;
        }
    }
    fprintf(stderr, "no placement '%s'\n", name);
    exit(1);
}

/* Default values of a table of options, freed by dls_free. */
static inline dls_option_value *case_defaults(const dls_option *options)
{
    dls_option_value *values;
    dls_error err;
    if (dls_options_defaults(options, &values, &err) != DLS_OK) {
        case_fail(&err);
    }
    return values;
}

/* Run and insist on success. */
static inline dls_record *case_run(const dls_sim_params *p)
{
    dls_record *rec;
    dls_error err;
    if (dls_sim_run(p, &rec, &err) != DLS_OK) {
        case_fail(&err);
    }
    return rec;
}

static inline double case_mean_jct_s(const dls_trace *trace, const dls_record *rec)
{
    double sum = 0;
    size_t n = 0;
    for (size_t j = 0; j < rec->n_jobs; j++) {
        if (rec->end_us[j] >= 0) {
            sum += (double)(rec->end_us[j] - dls_trace_cols(trace)->submit_us[j]) / 1e6;
            n++;
        }
    }
    return n ? sum / (double)n : (double)NAN;
}

#endif
