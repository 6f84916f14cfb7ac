/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What rounds for elastic jobs share: the numbers of GPUs to choose between, and what is left to
 * give.
 */
#ifndef DLS_SCHED_ELASTIC_LEVELS_H
#define DLS_SCHED_ELASTIC_LEVELS_H

#include "dlsim/policy.h"

#define DLS_LEVELS_MAX 32

typedef struct dls_levels {
    int32_t n;                    /* >= 1 */
    int32_t gpus[DLS_LEVELS_MAX]; /* ascending */
    double speed[DLS_LEVELS_MAX]; /* over the gang of the trace, ascending */
} dls_levels;

/* The powers of two that the job can use, the ends of its range and its gang, up to where it stops
 * growing faster, on as few nodes of the type as there need be. O(levels log rows). */
void dls_levels_of(const dls_view *view, int32_t job, int32_t type, dls_levels *out);
/* The greatest level that is at most that; 0: there is none. */
int32_t dls_level_within(const dls_levels *l, int64_t gpus);

/* `admit` of policies that start gangs as the trace asks for them: an elastic job may have room for
 * its least size alone, and would wait for ever. */
bool dls_admit_gang(void *state, const dls_view *view, int32_t job);

/* What a round has not given away yet. */
typedef struct dls_ledger {
    int64_t left[DLS_TYPES_MAX];
    int64_t *used; /* [pools][types]; owned */
    size_t cap;
} dls_ledger;

/* Everything is free, what running jobs hold included. */
dls_status dls_ledger_begin(dls_ledger *l, const dls_view *view, dls_error *err) DLS_MUST_CHECK;
/* GPUs of the type that a job may get; 0 if it may not use the type. */
int64_t dls_ledger_room(const dls_ledger *l, const dls_view *view, int32_t job, int32_t type);
void dls_ledger_take(dls_ledger *l, const dls_view *view, int32_t job, int32_t type, int64_t gpus);
/* Of the types with room for a job's gang the one on which it is predicted to be fastest, without a
 * predictor that with most room; -1: none has room. */
int32_t dls_ledger_type(const dls_ledger *l, const dls_view *view, int32_t job);

#endif
