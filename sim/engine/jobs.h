/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The state of every job: its times, its work, its rate. life.c changes it when something happens to
 * a job, progress.c as the job runs.
 *
 * Accounts are lazy: a job's columns are brought up to date when its state changes, never per event.
 */
#ifndef DLS_ENGINE_JOBS_H
#define DLS_ENGINE_JOBS_H

#include "engine/sim.h"

/* Every job's estimate is its true duration. */
static inline bool dls_estimates_exact(const dls_sim_params *p, const dls_trace_columns *col)
{
    return p->estimates_exact && !p->estimates_predicted && !p->history && !col->estimate_us;
}

/* What an event touches of a job and policies do not see as a column: a cache line. Each part of the engine
 * has its own of it. */
typedef struct dls_job {
    dls_work work;           /* left at rate_from_us; while waiting: left */
    int64_t rate;            /* now, or when it last ran; DLS_RATE_ONE before the first start */
    int64_t rate_from_us;    /* while running: the present rate counts from here, >= progress_from_us */
    int64_t recorded_to_us;  /* while running: recorded up to here */
    int32_t parts;           /* the GPUs it holds: list of dls_held, -1 */
    int32_t touched;         /* in a pass that touched it: where in the selection's list */
    int32_t cls;             /* class that it is selected in, -1: infeasible */
    int8_t type;             /* that it is selected on, -1: not selected */
    int64_t progress_from_us; /* while running: progress counts from here */
} dls_job;

_Static_assert(sizeof(dls_job) == 64, "a cache line");

typedef struct dls_jobs {
    /* [n] */
    int64_t *state_since_us;    /* last change of state */
    int64_t *progress_from_us;  /* that of dls_job as policies see it */
    const int64_t *estimate_us; /* where they are exact the durations, else .. */
    int64_t *believed_us;       /* .. these */
    const int64_t *duration_us; /* run time at the reference rate: of the trace, or .. */
    int64_t *work_us;           /* .. what the world says; NULL without one */
    dls_work *work_at_start;    /* left at the last start; NULL if not needed */
    uint8_t *running;
    char *policy_bytes;         /* [n + 1][job_state_bytes] the scheduler's own; the last for no job */
    int64_t *save_us;           /* time that a periodic checkpoint takes; NULL: none are taken */
    dls_work *saved;            /* left at the last checkpoint; NULL: nothing is lost */
    int64_t *undone_us;         /* time that it has run in vain; NULL: nothing is lost */
    size_t *start_row;          /* row of a running job in the starts; NULL: none are kept */
    dls_learned past;           /* of the history; without one all are NULL */

    size_t done;                /* finished, infeasible or declined */
    dls_infeasible infeasible;
    size_t declined;            /* turned away by the scheduler */
} dls_jobs;

/* XX(member of the engine, elements, condition under which there is one) */
#define DLS_JOBS_ARRAYS(XX)                                                                        \
    XX(job, e->n, true)                                                                            \
    XX(jobs.state_since_us, e->n, true)                                                            \
    XX(jobs.progress_from_us, e->n, true)                                                          \
    XX(jobs.believed_us, e->n, !dls_estimates_exact(e->params, e->col))                            \
    XX(jobs.work_us, e->n, e->params->pace)                                                        \
    XX(jobs.work_at_start, e->n, e->params->placement->stopped || e->rec->want_world)              \
    XX(jobs.running, e->n, true)                                                                   \
    XX(jobs.policy_bytes, (size_t)(e->n + 1) * e->params->sched->job_state_bytes, true)            \
    XX(jobs.save_us, e->n, e->params->checkpoint_period_us > 0)                                    \
    XX(jobs.saved, e->n, e->failures.undo)                                                         \
    XX(jobs.undone_us, e->n, e->failures.undo)                                                     \
    XX(jobs.start_row, e->n, e->rec->want_world && e->params->want_allocs)                         \
    XX(jobs.past.runs, dls_history_groups(e->params->history), e->params->history)                  \
    XX(jobs.past.lessons, 1, dls_history_trees(e->params->history))                                \
    XX(jobs.past.asked, e->n, dls_history_trees(e->params->history))

/* ---- life.c ------------------------------------------------------------------------------------ */

dls_status dls_job_arrive(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* It gets these GPUs, which are taken from the index, and is selected for them. */
dls_status dls_job_start(dls_engine *e, int32_t job, int32_t type, int32_t parts,
                         dls_error *err) DLS_MUST_CHECK;
/* It loses its GPUs, which are back in the index, with its guests; if they have failed, also the
 * work since the last checkpoint. */
dls_status dls_job_lose(dls_engine *e, int32_t job, bool failed, dls_error *err) DLS_MUST_CHECK;
dls_status dls_job_finish(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* Ask the policy where the job stands and file it there. */
dls_status dls_job_rank(dls_engine *e, int32_t job, dls_job_event why, dls_error *err) DLS_MUST_CHECK;
/* Close the accounts of jobs still waiting or running when the run stops. */
dls_status dls_jobs_close(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

/* What is left of a job's estimated run time when so much of its work is. */
int64_t dls_estimate_left_us(const dls_engine *e, int32_t job, dls_work left);

/* ---- progress.c -------------------------------------------------------------------------------- */

int64_t dls_job_executed_us(const dls_engine *e, int32_t job);
dls_work dls_job_work_left(const dls_engine *e, int32_t job);
/* Run time left as policies are to believe it. Known: at the job's present rate; waiting: at its last
 * one. Predicted: what it has not yet executed of the prediction, at least 1. */
int64_t dls_job_remaining_us(const dls_engine *e, int32_t job);
/* Remaining service, and what a key of it is raised by as time passes, must fit in a key, and so must a GPU time
 * that is recorded, if the job is to go on until end_us. */
dls_status dls_service_check(const dls_engine *e, int32_t job, int64_t end_us,
                             dls_error *err) DLS_MUST_CHECK;
/* Time that a job progresses in the first held_us after it is restored: checkpoints stop it. */
int64_t dls_job_progress_in(const dls_engine *e, int32_t job, int64_t held_us);
/* When the checkpoint that a running job is taking will be written; now if it is taking none. */
int64_t dls_job_saved_us(const dls_engine *e, int32_t job);
/* Progress of a running job since it started that its periodic checkpoints have saved. */
int64_t dls_job_checkpointed_us(const dls_engine *e, int32_t job);
/* Work left at the last checkpoint of a running job. */
dls_work dls_job_saved(const dls_engine *e, int32_t job);
/* Time that the job has held its GPUs since its last start without progressing. */
int64_t dls_job_stalled_us(const dls_engine *e, int32_t job);
/* The job progresses at this rate from now on: its finish moves, and its place in the order. */
dls_status dls_job_set_rate(dls_engine *e, int32_t job, int64_t rate, dls_error *err) DLS_MUST_CHECK;
/* A new stretch begins now, at the same rate. */
dls_status dls_job_split(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* What a running job on those parts has shown since the stretch of its present rate began; false: nothing yet. */
bool dls_job_observe(const dls_engine *e, int32_t job, int32_t parts, dls_observation *out);
/* Tell a policy that learns what the stretch that ends now has shown. */
void dls_tell_seen(dls_engine *e, int32_t job, int32_t parts);
/* Ask the world which rates what happened at this instant has changed. */
dls_status dls_rates_settle(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* Count the pull-backs until now, at which nothing has yet happened. */
void dls_pull_backs_account(dls_engine *e);
/* Bring the columns of a running job up to now and record where it has run. */
dls_status dls_job_account(dls_engine *e, int32_t job, int32_t parts, dls_error *err) DLS_MUST_CHECK;

/* ---- starts.c ---------------------------------------------------------------------------------- */

/* A job has got its GPUs; a running job has been brought up to now for the last time before it loses
 * them or the run ends. */
dls_status dls_starts_open(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
void dls_starts_close(dls_engine *e, int32_t job);
/* Run time of a job alone on the fewest nodes of the type that suits it best, for the record. */
dls_status dls_find_fastest(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;

#endif
