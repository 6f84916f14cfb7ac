/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What policies that start gangs share: what a round has left to give, and how much a gang uses its
 * GPUs, by which those that share GPUs choose.
 */
#ifndef DLS_SCHED_GANGS_H
#define DLS_SCHED_GANGS_H

#include "dlsim/policy.h"

/* Whether some type has room for its gang now, by number. */
bool dls_has_room(const dls_view *view, int32_t job);
/* Start a job if there is room for it; false: it does not run. */
bool dls_start_gang(const dls_view *view, dls_actions *out, int32_t job);

/* ---- memory of a round ----------------------------------------------------------------------- */

/* Arrays that a policy needs while it is asked and not longer: a clone begins with none. A state that begins
 * with a dls_scratch, or with a dls_ledger, and owns nothing else has these two in its table. */
#define DLS_SCRATCH_ARRAYS 16
typedef struct dls_scratch {
    struct {
        void *at;
        size_t cap;
    } array[DLS_SCRATCH_ARRAYS];
} dls_scratch;

void dls_scratch_fini(void *state);
dls_status dls_scratch_clone(void *state, const void *from, const dls_view *view, dls_error *err);
/* *(void **)p becomes array `which`, with room for n elements; what was in it stays. */
dls_status dls_scratch_array(dls_scratch *s, int which, void *p, size_t n, size_t size,
                             dls_error *err) DLS_MUST_CHECK;

/* ---- what is left ---------------------------------------------------------------------------- */

/* What a round has not given away yet. */
typedef struct dls_ledger {
    dls_scratch scratch; /* array 0 is the ledger's */
    int64_t interval_us; /* between rounds; */
    bool on_events;      /* one, too, whenever jobs come or end */
    int64_t left[DLS_TYPES_MAX];
    int64_t *used; /* [pools][types] */
    int32_t pools; /* 0: not counted yet */
} dls_ledger;

/* `timing` of policies whose state begins with a ledger. */
void dls_ledger_timing(const void *state, dls_round_timing *out);
/* Everything is free, what running jobs hold included. */
dls_status dls_ledger_begin(dls_ledger *l, const dls_view *view, dls_error *err) DLS_MUST_CHECK;
/* GPUs of the type that a job may get; 0 if it may not use the type. */
int64_t dls_ledger_room(const dls_ledger *l, const dls_view *view, int32_t job, int32_t type);
/* Whether any GPU is left. */
bool dls_ledger_any(const dls_ledger *l, const dls_view *view);
void dls_ledger_take(dls_ledger *l, const dls_view *view, int32_t job, int32_t type, int64_t gpus);
/* A running job keeps what it has; a guest has nothing that is not its host's. */
void dls_ledger_keep(dls_ledger *l, const dls_view *view, int32_t job);
/* Whom the placement has put on another job's GPUs stays there, with that job, and is not the policy's to plan; false: the job
 * is no such guest. For policies that put nobody there themselves. */
bool dls_plan_guest(dls_plan *plan, const dls_view *view, int32_t job);
/* Of the types with room for a job's gang the one on which it is predicted to be fastest, without a
 * predictor that with most room; -1: none has room. */
int32_t dls_ledger_type(const dls_ledger *l, const dls_view *view, int32_t job);

/* ---- sharing --------------------------------------------------------------------------------- */

/* Predicted mean use of a job's GPUs, 0..1, on as few nodes as there need be; NAN: not known. */
double dls_gang_use(const dls_view *view, int32_t job);
/* The same, asked once a job, of policies that keep it as their bytes for a job. */
typedef struct dls_use {
    double use;
    bool asked;
} dls_use;
double dls_job_use(const dls_view *view, int32_t job);
bool dls_has_guest(const dls_view *view, int32_t host);

/* Of policies that judge pairs by the use of both. */
#define DLS_PAIR_OPTIONS                                                                           \
    {"knee", DLS_OPT_F64, 0, 2, "0.8", "", "joint GPU use from which jobs slow each other down",   \
     NULL},                                                                                        \
    {                                                                                              \
        "slope", DLS_OPT_F64, 0, 1, "0.31", "",                                                    \
            "speed lost per unit of joint GPU use above the knee", NULL                            \
    }

#endif
