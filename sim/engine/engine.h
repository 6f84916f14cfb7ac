/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The inside of one simulation: the state that the files of sim/engine share.
 *
 *   sim.c      set up, the event loop, tear down
 *   setup.c    an engine that is ready to run; what is infeasible
 *   clone.c    a second engine in the same state
 *   classes.c  jobs into classes and pools
 *   life.c     what happens to a job: arrive, start, lose its GPUs, finish
 *   progress.c its work and its accounts: rates, checkpoints, stretches
 *   pass.c     one scheduling pass: selection, placement, refusals
 *   hold.c     the GPUs that jobs hold
 *   ask.c      requests to the placement and what it may know
 *   select.c   the queues; backfill.c EASY backfilling, park.c jobs set aside after a refusal
 *   guests.c   jobs that share the GPUs of another
 *   starts.c   what was predicted at every start, and what came of it
 *   failures.c nodes, GPUs and links that fail and are repaired
 *   view.c     what policies see
 *   walk.c     what programs and rounds do to jobs: allocate, preempt, join, decline
 *   round.c    plans: when they are asked for, and the difference to what there is
 *   blame.c    policies that fail, ask for what does not exist, or get nowhere
 *   audit.c    every invariant, recounted
 *
 * Accounts are lazy: a job's columns are brought up to date when its state changes, never per event.
 */
#ifndef DLS_ENGINE_ENGINE_H
#define DLS_ENGINE_ENGINE_H

#include "base/bitmap.h"
#include "base/evq.h"
#include "cluster/index.h"
#include "engine/select.h"
#include "engine/sim.h"

/* GPUs that a job holds on one node: a list per job in one table with a free list. */
typedef struct dls_held {
    uint64_t mask;
    int32_t node, next;
} dls_held;

/* Sharing of GPUs (guests.c). */
typedef struct dls_guest {
    int32_t host;          /* whose GPUs it shares, DLS_NONE */
    int32_t guest;         /* the first that shares its GPUs, in order of joining; DLS_NONE */
    int32_t next;          /* of the guests of one host */
    int32_t older, newer;  /* in a list of hosts */
    uint64_t offer;        /* number of its last offer to be a host */
    uint64_t seen;         /* while waiting: it has been asked about with the hosts up to this offer */
    bool offered;
} dls_guest;

typedef struct dls_guests {
    dls_guest *job;        /* [n]; NULL: without sharing of GPUs */
    bool asks;             /* the placement says who shares, else the scheduler does */
    int32_t *newest;       /* [class][type] lists of hosts without a guest */
    uint64_t offers;
    int32_t n;             /* guests now */
    bool news;             /* a new host, or a job newly waiting, since the last pass; never without sharing */
    bool evicted;          /* a guest has lost its host in this pass */
} dls_guests;

/* Failures (failures.c). */
typedef struct dls_link_on {
    int32_t job, next, prev; /* of the parts on the same node */
} dls_link_on;

typedef struct dls_failure_state {
    bool on;
    dls_evq events;        /* slots: nodes, GPUs, the file */
    size_t cursor;         /* next event of the file */
    int64_t origin_us;     /* time 0 of the file: the first submission */
    int32_t *first_gpu;    /* [nodes + 1] number of a node's first GPU, over all nodes */
    uint32_t *draws;       /* [nodes + GPUs] failures and repairs so far */
    uint8_t *node_down;    /* [nodes] bits: at random, by the file */
    uint64_t *gpu_down;    /* [nodes] */
    uint64_t *withheld;    /* [nodes] GPUs that are taken from the index for that */
    int32_t *on_node;      /* [nodes] list of the parts there, DLS_NONE */
    dls_link_on *link;     /* [parts] */
    size_t link_cap;
    int32_t *victims;      /* scratch */
    size_t victims_cap;
    int64_t down_gpus[DLS_TYPES_MAX];
    int32_t down_nodes;    /* whole nodes */
} dls_failure_state;

/* What programs and rounds need and orders do not (walk.c). */
typedef struct dls_walk {
    bool on;
    dls_order order;         /* running jobs .. */
    dls_order_set running;   /* .. in order of their last start */
    int64_t next_seq;        /* starts so far */
    dls_bitmap waiting;
    int32_t *size;           /* [n] GPUs held; while waiting: of the last allocation tried */
    int32_t *held_gpus;      /* [n] GPUs held, 0 while waiting */
    int64_t *batch;          /* [n] global batch, as the last allocation said */
    double *speed;           /* [n] on what the job holds, over its gang; NULL: no job is elastic */
    int64_t *service_us;     /* [n][types] GPUs x time running, of the stretches that are over */
} dls_walk;

typedef struct dls_planned {
    dls_want want;
    int32_t job, host;       /* host: to join, else DLS_NONE */
    bool keep, decline;
    int32_t first_node;      /* of want.nodes, in the plan's own copy */
} dls_planned;

/* When the next round is, and the plan that it fills (round.c). */
typedef struct dls_rounds {
    bool on, due;
    dls_round_timing timing;
    int64_t origin_us;       /* the first submission */
    uint64_t number;         /* rounds so far */
    uint64_t *named;         /* [n] number of the round that last named the job */
    dls_planned *plan;
    size_t n, cap;
    dls_place_part *nodes;
    size_t n_nodes, nodes_cap;
    int32_t *moving;         /* scratch: running jobs that change or stop */
    size_t moving_cap;
    bool keep_all;
} dls_rounds;

/* What the audit counts on its own. */
typedef struct dls_audited {
    dls_work left, saved;
    int64_t rate, progress_from_us;
    int32_t failures;
    bool running;
} dls_audited;

/* What a program does in a pass. */
struct dls_actions {
    dls_engine *e;
    uint64_t n;          /* so far */
    dls_status status;   /* of the first action that was refused */
    dls_error *err;
};

#define DLS_SEALED 23 /* the view and its columns */

struct dls_engine {
    const dls_sim_params *params;
    const dls_trace_columns *col;
    int32_t n;
    dls_view view;
    dls_record *rec;
    dls_evq events;        /* slots: n finishes, n wakes, the share's tick, the program's wake */
    dls_evq stale;         /* slots: n jobs whose priority is to be asked for at the next pass */
    dls_evq turns;         /* slots: n jobs whose turn is over once others wait */
    dls_evq retries;       /* slots: classes that the placement wants to be asked for again */
    int64_t *retry_us;     /* [classes] when to ask the placement again, from its `cost` in this pass; DLS_NEVER */
    bool any_retry;        /* any of retry_us is set */
    dls_select select;
    dls_place_index *index;
    dls_grant grant;
    dls_discipline discipline;
    dls_walk walk;
    dls_rounds rounds;
    dls_actions actions;   /* of the present pass */
    dls_error refused;     /* why an action from outside was refused */
    bool deciding;         /* the pass of this instant is the caller's and not yet over */
    uint64_t instants;     /* handled so far */
    struct {
        uint64_t stints;   /* that were no shorter than a second of progress */
        uint64_t seen;     /* everything that is progress, at the last look */
        uint64_t instants; /* since it last grew */
        int64_t since_us;
    } stall;

    /* [n] */
    int64_t *state_since_us;   /* last change of state */
    int64_t *progress_from_us; /* while running: progress counts from here */
    int64_t *rate_from_us;     /* while running: the present rate counts from here, >= progress_from_us */
    int64_t *recorded_to_us;   /* while running: recorded up to here */
    int64_t *estimate_us;
    const int64_t *duration_us; /* run time at the reference rate: of the trace, or .. */
    int64_t *work_us;      /* .. what the world says; NULL without one */
    dls_work *work;        /* left at rate_from_us; while waiting: left */
    dls_work *work_at_start;   /* left at the last start; NULL if not needed */
    double *shift_s;       /* of the bursts, from the last grant, else NAN; NULL if not needed */
    int64_t *rate;         /* now, or when it last ran; DLS_RATE_ONE before the first start */
    uint8_t *running;
    int8_t *held_type;     /* type of the GPUs held, -1 */
    int32_t *held;         /* list of dls_held, -1 */
    char *job_state;       /* the policy's bytes */

    /* in a pass: jobs that lost their selection but may still get the same GPUs back */
    bool *dropped;         /* [n] lost its selection in this pass; its GPUs are back in the index */
    int32_t *placed_parts;     /* [n] GPUs placed in this pass, not yet started */

    dls_held *part;
    size_t n_parts, parts_cap;
    int32_t free_part;

    int32_t *settle;       /* jobs to be asked for after the pass */
    size_t n_settle, settle_cap;

    dls_error predicting;  /* what went wrong when a policy asked; raised when it has returned */
    dls_place_predictor predictor; /* the predictor, as the placement sees it */
    dls_seat *seat;        /* scratch: GPUs of one job by node, as nodes and as counts */
    int32_t *seat_node, *seat_gpus;
    size_t n_seats, seat_cap, seat_node_cap, seat_gpus_cap;
    uint64_t *rack_seen;   /* [racks] scratch: when a rack was last counted */
    uint64_t rack_count;
    int32_t *arrivals;     /* scratch: jobs submitted now */
    size_t arrivals_cap;

    void *sched_state, *placement_state;
    int64_t now_us;
    int64_t last_us;       /* no key can be raised beyond this time */
    size_t cursor;         /* next arrival */
    size_t done;           /* finished, infeasible or declined */
    size_t infeasible;
    size_t declined;       /* turned away by the scheduler */
    int64_t restore_us;

    size_t *start_row;     /* [n] row of a running job in the starts; NULL: none are kept */
    int32_t rack_nodes[DLS_TYPES_MAX]; /* most nodes of the type in a rack */
    dls_guests guests;
    dls_failure_state failures;
    int64_t *save_us;      /* [n] time that a periodic checkpoint takes; NULL: none are taken */
    dls_work *saved;       /* [n] left at the last checkpoint; NULL: nothing fails */

    struct {
        dls_audited *job; /* [n], NULL without audit */
        int64_t now_us;   /* of the last one */
        uint64_t seal[DLS_SEALED]; /* of what the policy may only read, before it was called */
        uint64_t calls;
        bool sealed;               /* at the last of the calls */
    } audit;

    /* group sharing */
    int32_t *group_gpus;
    int64_t *group_demand, *group_used, *group_reserved;
};

#define DLS_SLOT_FINISH(e, job) ((uint32_t)(job))
#define DLS_SLOT_WAKE(e, job) ((uint32_t)((e)->n + (job)))
#define DLS_SLOT_SHARE(e) ((uint32_t)(2 * (e)->n))
#define DLS_SLOT_PROGRAM(e) ((uint32_t)(2 * (e)->n + 1))

/* Every array of the engine's own: XX(member, elements in use, elements that there is room for). What
 * is freed, and what is copied into a clone. */
#define DLS_ENGINE_ARRAYS(XX)                                                                      \
    XX(state_since_us, e->n, e->n)                                                                 \
    XX(progress_from_us, e->n, e->n)                                                               \
    XX(rate_from_us, e->n, e->n)                                                                   \
    XX(recorded_to_us, e->n, e->n)                                                                 \
    XX(estimate_us, e->n, e->n)                                                                    \
    XX(work_us, e->n, e->n)                                                                        \
    XX(work, e->n, e->n)                                                                           \
    XX(work_at_start, e->n, e->n)                                                                  \
    XX(shift_s, e->n, e->n)                                                                        \
    XX(rate, e->n, e->n)                                                                           \
    XX(running, e->n, e->n)                                                                        \
    XX(held_type, e->n, e->n)                                                                      \
    XX(held, e->n, e->n)                                                                           \
    XX(job_state, (size_t)(e->n + 1) * e->params->sched->job_state_bytes,                          \
       (size_t)(e->n + 1) * e->params->sched->job_state_bytes)                                     \
    XX(dropped, e->n, e->n)                                                                        \
    XX(placed_parts, e->n, e->n)                                                                   \
    XX(part, e->n_parts, e->parts_cap)                                                             \
    XX(settle, e->n_settle, e->settle_cap)                                                         \
    XX(seat, 0, e->seat_cap)                                                                       \
    XX(seat_node, 0, e->seat_node_cap)                                                             \
    XX(seat_gpus, 0, e->seat_gpus_cap)                                                             \
    XX(rack_seen, e->index->n_racks, e->index->n_racks)                                            \
    XX(arrivals, 0, e->arrivals_cap)                                                               \
    XX(retry_us, e->select.n_classes, e->select.n_classes + 1)                                     \
    XX(start_row, e->n, e->n)                                                                      \
    XX(save_us, e->n, e->n)                                                                        \
    XX(saved, e->n, e->n)                                                                          \
    XX(audit.job, e->n, e->n)                                                                      \
    XX(group_gpus, e->select.n_pools + 1, e->select.n_pools + 1)                                   \
    XX(group_demand, e->select.n_pools + 1, e->select.n_pools + 1)                                 \
    XX(group_used, e->select.n_pools + 1, e->select.n_pools + 1)                                   \
    XX(group_reserved, e->select.n_pools + 1, e->select.n_pools + 1)

/* setup.c */
dls_status dls_engine_create(const dls_sim_params *p, dls_engine **out, dls_error *err) DLS_MUST_CHECK;
void dls_engine_destroy(dls_engine *e);
/* Let the view show the engine's columns. */
void dls_view_bind(dls_engine *e);


/* classes.c: for set-up, the index being there */
dls_status dls_classes_make(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
dls_status dls_pools_make(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* Shares of the pools when so many GPUs of the type are down: they are missing first in what the quotas
 * leave, then in the quotas in their order. */
void dls_pools_divide(dls_engine *e, int32_t type, int64_t down);

/* life.c */
dls_status dls_job_arrive(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* The GPUs are already taken (held, held_type); the job is selected. */
dls_status dls_job_start(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* The GPUs are already given back to the index; `parts` says which they were. */
dls_status dls_job_preempt(dls_engine *e, int32_t job, int32_t parts, dls_error *err) DLS_MUST_CHECK;
/* The same when the GPUs have failed: the work since the last checkpoint is lost. */
dls_status dls_job_fail(dls_engine *e, int32_t job, int32_t parts, dls_error *err) DLS_MUST_CHECK;
dls_status dls_job_finish(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* Ask the policy where the job stands and file it there. */
dls_status dls_job_rank(dls_engine *e, int32_t job, dls_job_event why, dls_error *err) DLS_MUST_CHECK;
/* Close the accounts of jobs still waiting or running when the run stops. */
dls_status dls_jobs_close(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

/* What is left of a job's estimated run time when so much of its work is. */
int64_t dls_estimate_left_us(const dls_engine *e, int32_t job, dls_work left);

/* progress.c */
int64_t dls_job_executed_us(const dls_engine *e, int32_t job);
dls_work dls_job_work_left(const dls_engine *e, int32_t job);
/* Run time left as policies are to believe it. Known: at the job's present rate; waiting: at its last
 * one. Predicted: what it has not yet executed of the prediction, at least 1. */
int64_t dls_job_remaining_us(const dls_engine *e, int32_t job);
/* Remaining service, and what a key of it is raised by as time passes, must fit in a key, if the job is to
 * go on until end_us. */
dls_status dls_service_check(const dls_engine *e, int32_t job, int64_t end_us,
                             dls_error *err) DLS_MUST_CHECK;
/* Time that a job progresses in the first held_us after it is restored: checkpoints stop it. */
int64_t dls_job_progress_in(const dls_engine *e, int32_t job, int64_t held_us);
/* When the checkpoint that a running job is taking will be written; now if it is taking none. */
int64_t dls_job_saved_us(const dls_engine *e, int32_t job);
/* Work left at the last checkpoint of a running job. */
dls_work dls_job_saved(const dls_engine *e, int32_t job);
/* Time that the job has held its GPUs since its last start without progressing. */
int64_t dls_job_stalled_us(const dls_engine *e, int32_t job);
/* The job progresses at this rate from now on: its finish moves, and its place in the order. */
dls_status dls_job_set_rate(dls_engine *e, int32_t job, int64_t rate, dls_error *err) DLS_MUST_CHECK;
/* A new stretch begins now, at the same rate. */
dls_status dls_job_split(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* Tell a policy that learns what the stretch that ends now has shown. */
void dls_tell_seen(dls_engine *e, int32_t job, int32_t parts);
/* Ask the world which rates what happened at this instant has changed. */
dls_status dls_rates_settle(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* Bring the columns of a running job up to now and record where it has run. */
dls_status dls_job_account(dls_engine *e, int32_t job, int32_t parts, dls_error *err) DLS_MUST_CHECK;

/* pass.c */
dls_status dls_pass(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* Something has changed for the jobs of a pool: its next pass must not be left out. */
void dls_mark_dirty(dls_engine *e, int32_t pool);

/* hold.c */
/* CPU and memory that go with some GPUs of a job. */
static inline void dls_side_resources(const dls_engine *e, int32_t job, int32_t gpus,
                                      int64_t *cpu_milli, int64_t *mem_mib)
{
    const dls_class *c = &e->select.cls[e->select.class_of[job]];
    *cpu_milli = c->cpu_milli * gpus;
    *mem_mib = c->mem_mib * gpus;
}
/* *out: a part in front of the list `next`. */
dls_status dls_new_part(dls_engine *e, int32_t node, uint64_t mask, int32_t next, int32_t *out,
                        dls_error *err) DLS_MUST_CHECK;
void dls_free_parts(dls_engine *e, int32_t parts);
/* Give a list of parts back to the index; the list itself stays. */
void dls_give_back(dls_engine *e, int32_t job, int32_t parts);
/* Take the GPUs that a job holds from the index again, all or none. */
bool dls_retake(dls_engine *e, int32_t job);

/* The shape of a list of parts, not empty; of what a job holds. O(nodes). */
dls_shape dls_shape_of_parts(dls_engine *e, int32_t parts);
dls_shape dls_shape_of(dls_engine *e, int32_t job);

/* ask.c */
/* Place a job on GPUs of a type; *parts gets the list. false: refused. */
dls_status dls_place_job(dls_engine *e, int32_t job, int32_t type, int32_t *parts, bool *placed,
                         dls_error *err) DLS_MUST_CHECK;
/* The same on nodes that the scheduler names. */
dls_status dls_place_on(dls_engine *e, int32_t job, const dls_place_part *nodes, int32_t n, int32_t *parts,
                        dls_error *err) DLS_MUST_CHECK;
/* Tell the world and the placement that a job has got or lost its GPUs. */
dls_status dls_tell_started(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
void dls_tell_stopped(dls_engine *e, int32_t job);
/* Have the host's GPUs memory for a waiting job beside those that run there? O(GPUs). */
dls_status dls_shares_memory(dls_engine *e, int32_t job, int32_t host, bool *fits,
                             dls_error *err) DLS_MUST_CHECK;
/* How good it would be for a waiting job to be the guest of a host; <= 0: it may not. */
dls_status dls_ask_share(dls_engine *e, int32_t job, int32_t host, double *value,
                         dls_error *err) DLS_MUST_CHECK;
/* The type of `types` (bits, not 0) that the placement finds cheapest to start the job on now; -1: it
 * would rather wait. */
int32_t dls_cheapest_type(void *engine, int32_t job, uint32_t types);
/* After a pass: the times at which those that would rather wait want to be asked again. */
dls_status dls_set_retries(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
void dls_predictor_init(dls_engine *e);
/* Jobs submitted now: what is to be known of them is asked for in one batch. */
dls_status dls_predict_arrivals(dls_engine *e, size_t first, size_t end, dls_error *err) DLS_MUST_CHECK;
/* guests.c; without sharing these do nothing */
dls_status dls_guest_create(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
void dls_guest_destroy(dls_engine *e);
/* Copies for a clone, to be destroyed also after a failure. */
dls_status dls_guest_copy(dls_engine *e, const dls_engine *from, dls_error *err) DLS_MUST_CHECK;
static inline bool dls_is_guest(const dls_engine *e, int32_t job)
{
    return e->select.guest && e->select.guest[job];
}
/* A job has started: unless it is a guest it can be a host. */
void dls_guest_offer(dls_engine *e, int32_t job);
/* A job has come to wait. */
void dls_guest_wanted(dls_engine *e, int32_t job);
/* A guest has finished. */
void dls_guest_finished(dls_engine *e, int32_t guest);
/* A guest loses its share and waits. */
dls_status dls_guest_preempt(dls_engine *e, int32_t guest, dls_error *err) DLS_MUST_CHECK;
/* A host has finished and its GPUs are free: they are its guest's. */
dls_status dls_guest_inherit(dls_engine *e, int32_t host, dls_error *err) DLS_MUST_CHECK;
/* A guest's GPUs have failed. */
dls_status dls_guest_fail(dls_engine *e, int32_t guest, dls_error *err) DLS_MUST_CHECK;
/* A host is about to lose its GPUs: so does its guest. */
dls_status dls_guest_evict(dls_engine *e, int32_t host, dls_error *err) DLS_MUST_CHECK;
/* A waiting job joins a host, as the scheduler wants; the memory of the GPUs is for the caller to ask. */
dls_status dls_guest_join(dls_engine *e, int32_t guest, int32_t host, dls_error *err) DLS_MUST_CHECK;
/* If there is news: find hosts for waiting jobs that the pass has left without GPUs. */
dls_status dls_guest_pass(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

/* starts.c */
/* A job has got its GPUs; a running job has been brought up to now for the last time before it loses
 * them or the run ends. */
dls_status dls_starts_open(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
void dls_starts_close(dls_engine *e, int32_t job);
/* Run time of a job alone on the fewest nodes of the type that suits it best, for the record. */
dls_status dls_find_fastest(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;

/* failures.c */
dls_status dls_failures_create(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
void dls_failures_destroy(dls_engine *e);
dls_status dls_failures_copy(dls_engine *e, const dls_engine *from, dls_error *err) DLS_MUST_CHECK;
/* Everything that fails or is repaired now. */
dls_status dls_failures_now(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* A job has got its parts, or is about to lose them. */
dls_status dls_failures_hold(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
void dls_failures_leave(dls_engine *e, int32_t parts);
/* Some GPU is down and may yet be repaired. */
bool dls_failures_any_down(const dls_engine *e);

/* walk.c */
/* Whether a program may go on to act: it has not failed, written to what it may only read, or gone on for ever. */
bool dls_may_act(dls_actions *out);
dls_status dls_walk_create(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
void dls_walk_destroy(dls_engine *e);
/* Copies for a clone, to be destroyed also after a failure. */
dls_status dls_walk_copy(dls_engine *e, const dls_engine *from, dls_error *err) DLS_MUST_CHECK;
/* An error of the policy about a job: EPOLICY, with its name, the job and the time. */
dls_status dls_illegal(const dls_engine *e, int32_t job, dls_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Is this an allocation that the job could use on an empty cluster? EPOLICY. */
dls_status dls_want_check(const dls_engine *e, int32_t job, const dls_want *want,
                          dls_error *err) DLS_MUST_CHECK;
/* Does a running job have what is wanted already? O(nodes it holds). */
bool dls_want_is_held(const dls_engine *e, int32_t job, const dls_want *want);
/* As dls_act_allocate; *done false: refused. */
dls_status dls_allocate(dls_engine *e, int32_t job, const dls_want *want, bool *done,
                        dls_error *err) DLS_MUST_CHECK;
dls_status dls_preempt(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
dls_status dls_join(dls_engine *e, int32_t job, int32_t host, bool *joined,
                    dls_error *err) DLS_MUST_CHECK;
dls_status dls_decline(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
/* Speed of an elastic job on what it holds; 1 for all others. */
static inline int64_t dls_scaled_rate(const dls_engine *e, int32_t job, int64_t rate)
{
    return e->walk.speed && e->walk.speed[job] != 1 ? (int64_t)((double)rate * e->walk.speed[job] + 0.5)
                                                    : rate;
}
void dls_walk_started(dls_engine *e, int32_t job);
void dls_walk_stopped(dls_engine *e, int32_t job);
/* progress_us of running on these parts since the last start are over. */
void dls_walk_account(dls_engine *e, int32_t job, int32_t parts, int64_t progress_us);

/* round.c */
dls_status dls_rounds_create(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
void dls_rounds_destroy(dls_engine *e);
dls_status dls_rounds_copy(dls_engine *e, const dls_engine *from, dls_error *err) DLS_MUST_CHECK;
/* Jobs have come, or have lost their GPUs or finished. */
dls_status dls_round_wanted(dls_engine *e, bool arrival, dls_error *err) DLS_MUST_CHECK;
dls_status dls_round_pass(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

/* view.c */
static inline void dls_view_update(dls_engine *e)
{
    e->view.now_us = e->now_us;
    e->view.free_gpus = e->index->free_gpus;
    e->view.pass = e->select.pass;
}
/* A program's pass in halves: what it does, or the caller in its place, lies between them. err gets
 * what becomes of actions. */
void dls_program_begin(dls_engine *e, dls_error *err);
dls_status dls_program_end(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
dls_status dls_share_pass(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

/* blame.c */
/* A callback `what` of the policy `who` has returned: an error must say why, and it must have asked for
 * nothing that does not exist. job: that it was about, DLS_NONE. */
dls_status dls_policy_returned(const dls_engine *e, const char *who, const char *what, int32_t job,
                               dls_status status, dls_error *err) DLS_MUST_CHECK;
dls_status dls_policy_asked_wrong(const dls_engine *e, const char *who, int32_t job,
                                  dls_error *err) DLS_MUST_CHECK;
/* The same for callbacks that return no status. */
static inline dls_status dls_policy_check(const dls_engine *e, const char *who, int32_t job,
                                          dls_error *err)
{
    return e->index->first_fault.query || e->predicting.status != DLS_OK
               ? dls_policy_asked_wrong(e, who, job, err)
               : DLS_OK;
}
/* Now and then: is the policy getting anywhere? */
dls_status dls_stall_check(dls_engine *e, uint64_t instants, dls_error *err) DLS_MUST_CHECK;
/* Before and after a callback of the scheduler: what it may only read is as it was. For audits, which
 * look at one of so many calls that the columns cost no more than the call. */
void dls_seal_set(dls_engine *e);
dls_status dls_seal_compare(const dls_engine *e, dls_error *err) DLS_MUST_CHECK;
static inline void dls_seal(dls_engine *e)
{
    if (e->params->audit) {
        dls_seal_set(e);
    }
}
static inline dls_status dls_seal_check(const dls_engine *e, dls_error *err)
{
    return e->audit.sealed ? dls_seal_compare(e, err) : DLS_OK;
}

/* audit.c */
dls_status dls_audit_create(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
dls_status dls_engine_audit(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

#endif
