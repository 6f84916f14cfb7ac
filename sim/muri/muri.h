/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The published simulator of Muri (Zhao et al., SIGCOMM 2022) reproduced per job, defects included:
 * its event loop in doubles, in its order of operations. It is not the engine, because what has to
 * be reproduced is the loop: every running job pays its start-up cost in every interval between two
 * events, unless the interval ends with its own end (docs/schedulers-sharing.md).
 */
#ifndef DLS_MURI_MURI_H
#define DLS_MURI_MURI_H

#include "dlsim/error.h"
#include "sched/stages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dls_muri_job {
    char id[32];
    int32_t gpus;
    double submit_s, duration_s; /* the latter is the first sort key of muri-s and nothing else */
    int64_t iterations;
    int32_t startup_s;          /* by model and GPUs */
    int32_t priority;           /* antman: 0 guaranteed, 1 opportunistic */
    int32_t profile;            /* jobs of one profile have equal stages */
    dls_stages stages;          /* seconds; iteration with the profiler's overhead */
    double measured, restart_s; /* testbed: iteration time over `stages`; lost at every start */
    /* What the replay says. */
    double start_s, end_s; /* -1: never */
    double executed_s, pending_s;
    int32_t starts; /* testbed */
} dls_muri_job;

typedef struct dls_muri_trace {
    dls_muri_job *job; /* [n] in order of submission, then of the file; owned */
    size_t n, cap;
    int32_t n_profiles;
} dls_muri_trace;

/* Read a trace of the simulator. Errors: EINPUT (columns, numbers out of range, a profile of no
 * length), ENOMEM; *out is to be released in any case. */
dls_status dls_muri_load(const char *path, dls_muri_trace *out, dls_error *err) DLS_MUST_CHECK;
void dls_muri_trace_fini(dls_muri_trace *trace);

typedef struct dls_muri_cluster {
    int32_t switches, nodes_per_switch, gpus_per_node;
} dls_muri_cluster;

/* What is replayed. */
typedef struct dls_muri_setting {
    const char *schedule;
    int32_t group_max; /* jobs in a group: 1 to 4, 0: 4 */
    bool together;     /* no group is taken apart, and none chosen by key: --autopack=False */
    bool testbed;      /* the testbed whose logs were published, not the simulator */
} dls_muri_setting;

typedef struct dls_muri_schedule {
    const char *name, *original; /* ours, the original's --schedule */
    const char *summary;
} dls_muri_schedule;
/* The i-th, NULL past the last. */
const char *dls_muri_schedule_at(size_t i, const char **summary);

/* Replay the trace; antman has no testbed. Results are written into the jobs. `completed`, if not
 * NULL, becomes the jobs in order of completion, [*n_completed] of [trace->n]. Jobs that do not fit
 * into the cluster never start, as there. Errors: EINPUT (unknown schedule), ENOMEM. */
dls_status dls_muri_run(const dls_muri_cluster *cluster, const dls_muri_setting *setting,
                        dls_muri_trace *trace, int32_t *completed, size_t *n_completed,
                        dls_error *err) DLS_MUST_CHECK;

#endif
