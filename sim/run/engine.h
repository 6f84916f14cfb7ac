/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The inside of one simulation: the state that the files of sim/run share.
 *
 *   sim.c      set up, the event loop, tear down
 *   setup.c    jobs into classes and pools, what is infeasible
 *   life.c     what happens to a job: arrive, start, lose its GPUs, finish; its accounts
 *   pass.c     one scheduling pass: selection, placement, refusals
 *   select.c   the queues
 *   view.c     what policies see and may do
 *   audit.c    every invariant, recounted
 *
 * Accounts are lazy: a job's columns are brought up to date when its state changes, never per event.
 */
#ifndef DLS_RUN_ENGINE_H
#define DLS_RUN_ENGINE_H

#include "engine/evq.h"
#include "perf/perf.h"
#include "placement/index.h"
#include "run/select.h"
#include "run/sim.h"

/* GPUs that a job holds on one node: a list per job in one table with a free list. */
typedef struct dls_held {
    uint64_t mask;
    int32_t node, next;
} dls_held;

struct dls_engine {
    const dls_sim_params *params;
    const dls_trace_columns *col;
    int32_t n;
    dls_view view;
    dls_record *rec;
    dls_evq events;        /* slots: n finishes, n wakes, the share's tick, the program's wake */
    dls_evq stale;         /* slots: n jobs whose priority is to be asked for at the next pass */
    dls_evq turns;         /* slots: n jobs whose turn is over once others wait */
    dls_select select;
    dls_place_index *index;
    dls_grant grant;
    dls_discipline discipline;
    bool program;          /* the policy is a program and not an order */

    /* [n] */
    int64_t *since_us;     /* last change of state */
    int64_t *anchor_us;    /* while running: progress counts from here */
    int64_t *estimate_us;
    dls_work *work;        /* left at the anchor */
    int64_t *rate;         /* while running */
    uint8_t *running;
    int8_t *held_type;     /* type of the GPUs held, -1 */
    int32_t *held;         /* list of dls_held, -1 */
    char *job_state;       /* the policy's bytes */
    int32_t *attempt;      /* starts so far */

    /* in a pass: jobs that lost their selection but whose GPUs are not yet given up for good */
    int8_t *tentative;     /* [n] 1: dropped, GPUs back in the index; 2: placed anew meanwhile */
    int32_t *new_held;     /* [n] GPUs placed in this pass, not yet started */

    dls_held *part;
    size_t n_parts, parts_cap;
    int32_t free_part;

    int32_t *settle;       /* jobs to be asked for after the pass */
    size_t n_settle, settle_cap;

    void *sched_state, *placement_state;
    int64_t now_us;
    size_t cursor;         /* next arrival */
    size_t done;           /* finished or infeasible */
    size_t infeasible;
    int64_t restore_us;
    int64_t next_seq;      /* starts, for the order of running jobs that a program sees */
    dls_order program_order;
    dls_order_set program_running;

    /* group sharing */
    int32_t *group_gpus;
    int64_t *group_demand, *group_used, *group_reserved;

};

#define DLS_SLOT_FINISH(e, job) ((uint32_t)(job))
#define DLS_SLOT_WAKE(e, job) ((uint32_t)((e)->n + (job)))
#define DLS_SLOT_SHARE(e) ((uint32_t)(2 * (e)->n))
#define DLS_SLOT_PROGRAM(e) ((uint32_t)(2 * (e)->n + 1))

/* setup.c */
dls_status dls_engine_create(const dls_sim_params *p, dls_engine **out, dls_error *err) DLS_MUST_CHECK;
void dls_engine_destroy(dls_engine *e);

/* life.c */
dls_status dls_job_arrive(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* The GPUs are already taken (held, held_type); the job is selected. */
dls_status dls_job_start(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* The GPUs are already given back to the index; `parts` says which they were. */
dls_status dls_job_preempt(dls_engine *e, int32_t job, int32_t parts, dls_error *err) DLS_MUST_CHECK;
dls_status dls_job_finish(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* Ask the policy where the job stands and file it there. */
dls_status dls_job_rank(dls_engine *e, int32_t job, dls_job_event why, dls_error *err) DLS_MUST_CHECK;
/* Close the accounts of jobs still waiting or running when the run stops. */
dls_status dls_jobs_close(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
int64_t dls_job_executed_us(const dls_engine *e, int32_t job);
dls_work dls_job_work_left(const dls_engine *e, int32_t job);

/* pass.c */
dls_status dls_pass(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* Place a job on GPUs of a type; *parts gets the list. false: refused. */
dls_status dls_place_job(dls_engine *e, int32_t job, int32_t type, int32_t *parts, bool *placed,
                         dls_error *err) DLS_MUST_CHECK;
/* Give a list of parts back to the index; the list itself stays. */
void dls_give_back(dls_engine *e, int32_t job, int32_t parts);
void dls_free_parts(dls_engine *e, int32_t parts);
/* Mark every pool whose waiting jobs GPUs given back may help. */
void dls_mark_dirty(dls_engine *e, int32_t pool);

/* view.c */
void dls_view_update(dls_engine *e);
dls_status dls_program_pass(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
dls_status dls_share_pass(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

/* audit.c */
dls_status dls_engine_audit(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

#endif
