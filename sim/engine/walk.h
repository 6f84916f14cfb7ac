/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What programs and rounds need and orders do not: walks over jobs, and what is done to them by name.
 */
#ifndef DLS_ENGINE_WALK_H
#define DLS_ENGINE_WALK_H

#include "base/bitmap.h"
#include "base/order.h"
#include "dlsim/policy.h"

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
    int32_t *most;           /* [classes][types] GPUs that the empty cluster gives a job together; NULL: no job is resized */
    int32_t *refused;        /* [classes][types] fewest that the placement refused while nobody ran; 0: none since GPUs came back */
    int64_t *service_us;     /* [n][types] GPUs x time running, of the stretches that are over */
} dls_walk;

#define DLS_WALK_ARRAYS(XX)                                                                        \
    XX(walk.size, e->n, e->walk.on)                                                                \
    XX(walk.held_gpus, e->n, e->walk.on)                                                           \
    XX(walk.batch, e->n, e->walk.on)                                                               \
    XX(walk.speed, e->n, e->walk.on && e->params->elastic)                                         \
    XX(walk.most, (size_t)e->select.n_classes * (size_t)e->params->cluster->n_types,               \
       e->walk.on && e->params->elastic && !e->params->sched->rigid)                               \
    XX(walk.refused, (size_t)e->select.n_classes * (size_t)e->params->cluster->n_types, e->walk.most)   \
    XX(walk.service_us, (size_t)e->n * (size_t)e->params->cluster->n_types, e->walk.on)

/* What a program does in a pass. */
struct dls_actions {
    dls_engine *e;
    uint64_t n;          /* so far */
    dls_status status;   /* of the first action that was refused */
    dls_error *err;
};

typedef struct dls_decision {
    dls_actions actions; /* of the present pass */
    dls_error refused;   /* why an action from outside was refused */
    bool open;           /* the pass of this instant is the caller's and not yet over */
} dls_decision;

/* ---- walk.c ------------------------------------------------------------------------------------ */

dls_status dls_walk_prepare(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* A program's pass in halves: what it does, or the caller in its place, lies between them. err gets
 * what becomes of actions. */
void dls_program_begin(dls_engine *e, dls_error *err);
dls_status dls_program_end(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* An error of the policy about a job: EPOLICY, with its name, the job and the time. */
dls_status dls_illegal(const dls_engine *e, int32_t job, dls_error *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Is this an allocation that the job could use on an empty cluster? EPOLICY. */
dls_status dls_want_check(const dls_engine *e, int32_t job, const dls_want *want,
                          dls_error *err) DLS_MUST_CHECK;
/* Does a running job have what is wanted already? O(nodes it holds). */
bool dls_want_is_held(const dls_engine *e, int32_t job, const dls_want *want);
/* As dls_act_allocate; *done false: refused. */
/* A running job goes on with a part of the GPUs that it has, the list `parts` of so many. */
dls_status dls_shrink(dls_engine *e, int32_t job, int32_t gpus, int32_t parts,
                      dls_error *err) DLS_MUST_CHECK;
dls_status dls_allocate(dls_engine *e, int32_t job, const dls_want *want, bool *done,
                        dls_error *err) DLS_MUST_CHECK;
/* What the selection counts of a job with these parts against the type of the first goes to the types that
 * they are of (sign 1), or comes back (-1). */
void dls_count_mixed(dls_engine *e, int32_t job, int32_t parts, int32_t sign);
dls_status dls_preempt(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
dls_status dls_join(dls_engine *e, int32_t job, int32_t host, bool *joined,
                    dls_error *err) DLS_MUST_CHECK;
dls_status dls_decline(dls_engine *e, int32_t job, dls_error *err) DLS_MUST_CHECK;
void dls_walk_started(dls_engine *e, int32_t job);
void dls_walk_stopped(dls_engine *e, int32_t job);
/* GPUs have come back: what was refused without them may be had. */
void dls_walk_forget_refusals(dls_engine *e);
/* progress_us of running on these parts since the last start are over. */
void dls_walk_account(dls_engine *e, int32_t job, int32_t parts, int64_t progress_us);

#endif
