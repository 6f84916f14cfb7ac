/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The published simulator of Gavel (Narayanan et al., OSDI 2020; commit c4fa400) and its fork in
 * Shockwave (Zheng et al., NSDI 2023; commit 8a44f4a), reproduced per job, defects included.
 *
 * It is not the engine, because what has to be reproduced is the loop: a round lasts as long as its
 * slowest member, an idle gap counts as service, and a job whose last steps are fewer than its GPUs
 * fails until it is dropped (docs/schedulers-rounds.md). The policies of sim/sched that are named
 * after Gavel's are theirs without these defects.
 */
#ifndef DLS_GAVEL_GAVEL_H
#define DLS_GAVEL_GAVEL_H

#include "dlsim/error.h"
#include "dlsim/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DLS_GAVEL_TYPES 3 /* in the order of their names, as everywhere in that program */
extern const char *const dls_gavel_type_name[DLS_GAVEL_TYPES]; /* k80, p100, v100 */

typedef struct dls_gavel_policy_name {
    const char *name;    /* as on the original's command line */
    const char *summary; /* with how near it comes, where it is not equal */
} dls_gavel_policy_name;
/* The i-th, NULL past the last. */
const char *dls_gavel_policy_at(size_t i, const char **summary);

/* Some combination, one job or a pair, in one round. */
typedef struct dls_gavel_run {
    int32_t a, b; /* jobs; b = -1: a alone */
    int32_t type, gpus;
    const int32_t *gpu; /* [gpus] numbers, consecutive over the types */
} dls_gavel_run;

typedef struct dls_gavel_params {
    const char *policy;
    bool shockwave;                /* the fork: restart losses, batch sizes that change */
    int32_t gpus[DLS_GAVEL_TYPES]; /* rounded down to whole servers */
    int32_t gpus_per_server;
    double round_s;
    /* What the live system does and the simulator leaves out; all 0: as the simulator. */
    bool immediate; /* shares are found anew as soon as a job has come or gone */
    double
        growth_s; /* a round takes so much longer times the share of its jobs that start or move */
    double pause_s;            /* and so much in any case */
    const char *speed_factors; /* speeds times these (gpu,model,batch,gpus,factor); NULL */
    uint64_t seed;
    /* Optional: what runs in a round. */
    dls_status (*on_round)(void *user, size_t round, double now_s, const dls_gavel_run *run,
                           size_t n, dls_error *err);
    void *user;
} dls_gavel_params;

/* What the replay says of a job. */
typedef struct dls_gavel_job {
    double start_s, end_s; /* -1: never; a job that was dropped has no end */
    int64_t rounds, rounds_on[DLS_GAVEL_TYPES], rounds_packed;
    int64_t preempted, migrated;
} dls_gavel_job;

typedef struct dls_gavel_result {
    dls_gavel_job *job; /* [n_jobs of the trace], owned */
    double makespan_s;
    size_t rounds, allocations;
    size_t unsolved; /* allocations for which no optimum was found: equal shares instead */
} dls_gavel_result;

/* Replay a trace of Gavel's format with a table of its throughputs (JSON). Errors: EINPUT (the
 * table; a job without steps, or that the table or the cluster has no place for), EUSAGE (unknown
 * policy, one that this cluster cannot have), ERUN (the published program fails here too), ENOMEM.
 */
dls_status dls_gavel_replay(const dls_gavel_params *params, const char *throughputs,
                            const dls_trace *trace, dls_gavel_result *out,
                            dls_error *err) DLS_MUST_CHECK;
void dls_gavel_result_fini(dls_gavel_result *result);

#endif
