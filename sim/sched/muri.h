/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What Muri-S and Muri-L share (Zhao et al., SIGCOMM 2022): rounds in which up to four jobs of one
 * gang size get the same GPUs, because one prepares data while another computes and a third
 * exchanges. They differ in the order of jobs only.
 *
 *      jobs by key -> candidates, four for a gang that fits
 *                  -> merged in pairs, those first that use the resources best, until they need no more GPUs than
 *                     there are
 *                  -> groups by key -> who fits runs
 *
 * How fast a group really is the world says (perf.stages); the policy goes by profiles of its own.
 */
#ifndef DLS_SCHED_MURI_H
#define DLS_SCHED_MURI_H

#include "dlsim/policy.h"
#include "sched/group_memo.h"
#include "sched/matching.h"
#include "sched/stages.h"

enum { DLS_MURI_UNASKED = -2, DLS_MURI_UNKNOWN = -1 };
enum { DLS_MURI_OPT_STAGES, DLS_MURI_OPT_INTERVAL, DLS_MURI_OPT_MOST, DLS_MURI_N_OPTIONS };

extern const dls_option dls_muri_options[DLS_MURI_N_OPTIONS + 1];

/* A row of the table. */
typedef struct dls_muri_profile {
    char model[64];
    int32_t gpus;
} dls_muri_profile;

typedef struct dls_muri_set {
    int32_t job[DLS_STAGES_JOBS], n;
    dls_group_id id; /* 0: one job, of which nothing is known */
    double key;      /* least of the members */
} dls_muri_set;

/* A gang size with the GPU types that it may have, of one quota. */
typedef struct dls_muri_class {
    int32_t gpus, pool;
    uint32_t types;
    int32_t rank;             /* by its first job */
    int32_t first, n, marked; /* its jobs in the list by class */
    int32_t groups, n_groups; /* in the list of groups */
    int32_t live;             /* of them, not yet part of another */
} dls_muri_class;

typedef struct dls_muri_pair {
    int32_t a, b; /* groups */
    dls_muri_class *of;
    double weight;
} dls_muri_pair;

typedef struct dls_muri_state {
    bool by_attained;
    int64_t interval_us;
    int32_t most;          /* jobs in a group */
    int32_t planned;       /* jobs that the last round gave GPUs */
    dls_muri_profile *row; /* [n_rows] of the table: the first profiles */
    dls_stages *profile;   /* [n_profiles] */
    size_t n_rows, rows_room, n_profiles, profiles_room;
    dls_group_memo memo;
    dls_matching *matching;
    /* Of a round. */
    int32_t *heap;                    /* [jobs] by key */
    int32_t *by_class, *mate, *order; /* [jobs] */
    double *key;                      /* [jobs] */
    int32_t *profile_of;              /* [jobs] DLS_MURI_UNASKED, DLS_MURI_UNKNOWN or which */
    dls_muri_class *class;
    size_t n_classes, classes_room;
    dls_muri_set *group; /* [jobs] */
    dls_muri_pair *pair; /* [jobs] */
    int64_t *taken;      /* [pools * DLS_TYPES_MAX] GPUs given out of each quota */
    size_t n_taken, taken_room;
    double *weight;
    size_t weights_room;
} dls_muri_state;

/* Of a job, in the engine's care: how much slower its group was believed to make it when it last
 * ran. */
typedef struct dls_muri_seen {
    double slowdown; /* 0: has not run yet */
} dls_muri_seen;

/* The table of option `stages`. Errors: EINPUT (file:line), ENOMEM. */
dls_status dls_muri_read_profiles(dls_muri_state *s, const char *path,
                                  dls_error *err) DLS_MUST_CHECK;
/* The profile of a job; DLS_MURI_UNKNOWN: it runs alone. Worked out once. Errors: ENOMEM. */
dls_status dls_muri_profile_of(dls_muri_state *s, const dls_view *view, int32_t job, int32_t *out,
                               dls_error *err) DLS_MUST_CHECK;

dls_status dls_muri_init(dls_muri_state *s, const dls_view *view, const dls_option_value *values,
                         bool by_attained, dls_error *err) DLS_MUST_CHECK;
void dls_muri_fini(void *state);
void dls_muri_timing(const void *state, dls_round_timing *out);
dls_status dls_muri_round(void *state, const dls_view *view, dls_plan *plan,
                          dls_error *err) DLS_MUST_CHECK;
dls_status dls_muri_clone(void *state, const void *from, const dls_view *view,
                          dls_error *err) DLS_MUST_CHECK;

#endif
