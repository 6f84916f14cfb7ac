/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The published simulator of Pollux (Qiao et al., OSDI 2021; petuum/adaptdl, branch
 * osdi21-artifact, simulator/) reproduced per job, defects included: rounds in which every job
 * steps through whole seconds, in doubles and in its order of operations. It is not the engine,
 * because what has to be reproduced is the step: epochs end on whole seconds, and batches change in
 * the middle of an epoch, because a round ends (docs/schedulers-elastic.md).
 */
#ifndef DLS_POLLUX_POLLUX_H
#define DLS_POLLUX_POLLUX_H

#include "pollux/app.h"

/* What may be changed of a job: GPUs and batch, only GPUs, neither (Sia's categories). */
typedef enum dls_pollux_kind {
    DLS_POLLUX_ADAPTIVE,
    DLS_POLLUX_SCALES,
    DLS_POLLUX_RIGID
} dls_pollux_kind;

typedef struct dls_pollux_job {
    char id[32];
    const dls_pollux_app *app;
    dls_pollux_kind kind;
    int32_t gpus, batch; /* as tuned by the user */
    int64_t submit_s;
    /* What the replay says. */
    int64_t first_s, end_s; /* -1: never */
    int32_t restarts;       /* without the first start */
    int64_t gpu_s;          /* GPUs x time held, restoring included */
    int32_t epochs;         /* that are over */
} dls_pollux_job;

typedef struct dls_pollux_trace {
    dls_pollux_job *job; /* [n] in the order of the file; owned */
    size_t n, cap;
    const dls_pollux_apps *apps; /* that the jobs point into */
} dls_pollux_trace;

/* Read a workload: name, time, application, num_replicas, batch_size and, if it is
 * there, category (adaptive, scale-gpus, rigid). Errors: EINPUT (an
 * application that `apps` does not have, a batch outside of what was validated), ENOMEM; *out is to be
 * released in any case. The jobs point into `apps`. */
dls_status dls_pollux_load(const char *path, const dls_pollux_apps *apps, dls_pollux_trace *out,
                           dls_error *err) DLS_MUST_CHECK;
void dls_pollux_trace_fini(dls_pollux_trace *trace);

#define DLS_POLLUX_TYPES 8 /* GPU types of a cluster */

/* Nodes of a further GPU type, and what applications do there; one that is not profiled there does
 * not run there. */
typedef struct dls_pollux_type {
    int32_t nodes, gpus_per_node;
    dls_pollux_apps apps;
} dls_pollux_type;

typedef struct dls_pollux_params {
    int32_t nodes, gpus_per_node, interval_s; /* the first type, with the trace's applications */
    const char *schedule;
    uint64_t seed;               /* of Pollux's search */
    const dls_pollux_type *more; /* [n_more] further types; Sia's only */
    int32_t n_more;              /* < DLS_POLLUX_TYPES */
} dls_pollux_params;

typedef struct dls_pollux_schedule {
    const char *name, *summary;
} dls_pollux_schedule;
/* The i-th, NULL past the last. */
const char *dls_pollux_schedule_at(size_t i, const char **summary);

/* Replay the trace; its results are written into the jobs. *rounds, if not NULL: of these there
 * were. Errors: EINPUT (unknown schedule, a job that can never run,
 * several types under one that knows none), ERUN (a placement or batch
 * that was not measured), ENOMEM. */
dls_status dls_pollux_run(const dls_pollux_params *params, dls_pollux_trace *trace, int64_t *rounds,
                          dls_error *err) DLS_MUST_CHECK;

#endif
