/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a Slurm site has beside its jobs with GPUs: jobs without, those that ran on nodes with GPUs;
 * and what a replay leaves out of account: nodes that jobs ran on and that are not there any more,
 * nodes in several partitions, nodes that were down. A second reading of the accounting, for its
 * NodeList.
 */
#ifndef DLS_SITE_SLURM_HELD_H
#define DLS_SITE_SLURM_HELD_H

#include "base/strdict.h"
#include "dlsim/trace.h"
#include "site/nodes.h"
#include "site/slurm_partitions.h"

#include <stdbool.h>

/* Jobs that something is true of. */
typedef struct dls_site_count {
    size_t n, line; /* line: of the first */
} dls_site_count;

/* A job without GPUs that ran on nodes with GPUs alone. */
typedef struct dls_site_cpu_job {
    double submit_s, duration_s, limit_s; /* submit: of the trace; limit 0: none */
    double cpus, mem_mib;                 /* of each node */
    int32_t nodes;
    int32_t id, user, account, partition; /* codes in people */
    size_t line;
} dls_site_cpu_job;

typedef struct dls_site_held {
    dls_strdict names; /* of nodes */
    struct {
        int64_t cpus;
        int32_t gpus, at; /* at: its number among the nodes with GPUs */
        bool used;        /* by a job of the accounting */
    } * node;      /* [names.n] */
    size_t cap;
    int32_t again, down,
        overlapping; /* nodes: named twice, not in service, in several partitions */
    dls_site_count cpu_only, on_gpus, unplaced; /* jobs without GPUs; those on nodes with GPUs;
                                                   those without a list of nodes */
    dls_site_count gone;                        /* jobs on nodes that are not there */
    double cpu_only_h, all_h;                   /* of nodes with GPUs, by processors */
    dls_site_cpu_job *job;                      /* [n_jobs] */
    size_t n_jobs, jobs_cap;
    dls_site_partitions partitions;
    dls_strdict people; /* and jobs and partitions */
    double zero_s;
    bool unlisted; /* no NodeList */
} dls_site_held;

void dls_site_held_fini(dls_site_held *held);
/* *again: it was there already. Errors: ENOMEM. */
dls_status dls_site_held_node(dls_site_held *held, const dls_site_group *node, const char *state,
                              const char *partitions, bool *again, dls_error *err) DLS_MUST_CHECK;
/* Behind all nodes. Rows that make no sense are passed over: the trace's reader counts them.
 * zero_s: of the trace, as dates are read. O(bytes + nodes of all jobs). */
dls_status dls_site_held_read(dls_site_held *held, const dls_trace_source *sacct, double zero_s,
                              dls_error *err) DLS_MUST_CHECK;
void dls_site_held_put(const dls_site_held *held, FILE *to);
/* The jobs as the table of the option cpu_jobs of the scheduler `slurm`. */
void dls_site_held_put_jobs(dls_site_held *held, FILE *out);

#endif
