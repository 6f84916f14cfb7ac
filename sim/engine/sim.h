/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One simulation: a trace, a cluster, a scheduling policy, a placement policy; out comes a record.
 * Deterministic: the same parameters give the same record, byte for byte. One run is one thread.
 */
#ifndef DLS_ENGINE_SIM_H
#define DLS_ENGINE_SIM_H

#include "dlsim/policy.h"
#include "dlsim/run.h"
#include "dlsim/trace.h"
#include "cluster/cluster.h"
#include "cluster/failures.h"
#include "cluster/services.h"
#include "record/record.h"
#include "workload/history.h"
#include "workload/kinds.h"
#include "engine/pace.h"

/* What keeps a job from ever running, on the GPU type on which it gets furthest. */
typedef enum dls_obstacle {
    DLS_NO_TYPE,       /* none that it allows is there */
    DLS_NO_GPU_MEMORY, /* for its model */
    DLS_NO_GPUS,       /* as many as it asks for */
    DLS_NO_QUOTA,      /* or what services and spare nodes leave of it */
    DLS_NO_CPU,        /* as many cores with each of its GPUs */
    DLS_NO_MEMORY,     /* as much with each of its GPUs */
    DLS_NO_PLACE,      /* the placement refuses it on the empty cluster */
    DLS_OBSTACLES
} dls_obstacle;

typedef struct dls_infeasible {
    size_t n;
    int32_t first;
    size_t by[DLS_OBSTACLES];            /* jobs with that obstacle .. */
    int32_t first_by[DLS_OBSTACLES];     /* .. and the first of them */
} dls_infeasible;

typedef struct dls_sim_params {
    const dls_cluster_spec *cluster;
    const dls_trace *trace;
    const dls_sched_ops *sched;
    const dls_option_value *sched_values; /* parallel to sched->options */
    const dls_placement_ops *placement;
    const dls_option_value *placement_values;
    const dls_pace *pace;         /* how fast jobs run; NULL: as long as the trace says, everywhere */
    const dls_prediction_ops *predictions;     /* what policies may know in advance; NULL: nothing */
    const dls_elastic *elastic;   /* NULL: every job runs as the gang that the trace asks for */
    const dls_kinds *kinds;       /* of the trace's jobs, for what placements may know of a model; NULL:
                                     unknown */
    int discipline; /* -1: the policy's own, else a dls_discipline */
    bool reserve_nodes; /* EASY backfilling reserves nodes, else numbers of GPUs */
    uint64_t seed;
    int64_t restore_us;   /* charged at every start but the first, GPUs held, no progress */
    double storage_bps;   /* at which a job's state is written and read back; 0: takes no time */
    int64_t checkpoint_period_us; /* run time between checkpoints; 0: only when preempted */
    bool preempt_loses;           /* who loses its GPUs loses its work since the last checkpoint, too */
    int64_t checkpoint_us;        /* to take a periodic one, GPUs held, beside writing it */
    const dls_failure_params *failures;     /* at random; NULL: none */
    const dls_failure_trace *failure_trace; /* as a file says; NULL: none */
    const dls_services *services;           /* that live beside the jobs; NULL: none */
    int64_t until_us;     /* stop before the first event after this time; DLS_NEVER */
    bool estimates_exact; /* estimate_us of jobs without one in the trace: true duration, else
                             the limit, else the mean duration of the trace */
    bool estimates_predicted; /* estimate_us of every job is what `history` says, or without one
                               `predictions`, and so is what policies that know run times know of them (dls_view) */
    const dls_history *history; /* NULL: none */
    bool outside;         /* the passes of the scheduler, a program, are the caller's (dls_sim_advance) */
    uint64_t patience;    /* instants without progress, or actions in a pass beyond four a job, after which
                             the scheduler is said to get nowhere; 0: never */
    bool audit;           /* check every invariant after every event (slow) */
    bool want_allocs, want_series;
    /* Polled now and then; true: finish the current event and return with record->complete false.
     */
    bool (*interrupted)(void *user);
    /* Told now and then: simulated time, jobs done, jobs in all. */
    void (*progress)(void *user, int64_t now_us, size_t done, size_t n_jobs);
    /* Optional, told before policies are set up and afterwards. */
    dls_policies_fn policies;
    void *policies_user;
    /* Told once, before the first event: which jobs can never run here. */
    void (*infeasible)(void *user, const dls_infeasible *who);
    void *user;
} dls_sim_params;

void dls_sim_params_init(dls_sim_params *p);

/* Run to the end. *out is owned by the caller, also when the run was interrupted (status OK and
 * complete == false). Errors: EINPUT (a job without duration), EPOLICY, ENOMEM. */
dls_status dls_sim_run(const dls_sim_params *p, dls_record **out, dls_error *err) DLS_MUST_CHECK;

/* ---- the same in steps: create, advance as often as wanted, close, destroy ---------------------- */

/* p is borrowed for the life of the engine. */
dls_status dls_sim_create(const dls_sim_params *p, dls_engine **out, dls_error *err) DLS_MUST_CHECK;
void dls_sim_destroy(dls_engine *e); /* NULL-safe */

/* Why dls_sim_advance came back. */
typedef enum dls_sim_stop {
    DLS_SIM_ENDED,      /* nothing more will happen, or until_us of the parameters is reached */
    DLS_SIM_REACHED,    /* everything up to and including the time asked for has happened */
    DLS_SIM_DECISION,   /* params.outside: a pass is the caller's, by the actions, until it advances */
    DLS_SIM_INTERRUPTED /* by the callback */
} dls_sim_stop;

/* Handle what happens until a time; the order of events does not depend on where it stops. An engine
 * whose advance has failed can only be destroyed. */
dls_status dls_sim_advance(dls_engine *e, int64_t until_us, dls_sim_stop *stop,
                           dls_error *err) DLS_MUST_CHECK;
/* As of now; borrowed for the life of the engine. */
const dls_view *dls_sim_view(const dls_engine *e);
const dls_place_index *dls_sim_index(const dls_engine *e);
/* Long tables of the record go to the disk of `path` (dls_record_stream). Once at most. */
dls_status dls_sim_stream(dls_engine *e, const char *path, dls_error *err) DLS_MUST_CHECK;
/* NULL once it is closed. */
const dls_record *dls_sim_record(const dls_engine *e);
/* Finished, infeasible or declined; of them, declined. */
size_t dls_sim_jobs_done(const dls_engine *e);
size_t dls_sim_jobs_declined(const dls_engine *e);
/* For dls_act_*; NULL unless the engine stands at a decision. */
dls_actions *dls_sim_actions(dls_engine *e);
/* *out: another engine in the same state, with parameters of its own, which say the same; its world and
 * predictor are copies of the first's as they are now. Both go on independently and equally. Errors:
 * EPOLICY (a policy whose memory cannot be copied), ENOMEM. O(jobs + GPUs). */
dls_status dls_sim_clone(const dls_engine *e, const dls_sim_params *p, dls_engine **out,
                         dls_error *err) DLS_MUST_CHECK;
/* Close the accounts of all jobs: *out is the caller's; the engine can only be looked at, while *out lives, and
 * destroyed. */
dls_status dls_sim_close(dls_engine *e, dls_record **out, dls_error *err) DLS_MUST_CHECK;

#endif
