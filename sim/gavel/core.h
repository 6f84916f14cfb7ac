/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the parts of Gavel's replay share: jobs, combinations (one job or a pair), the accounts that
 * rank them, speeds.
 */
#ifndef DLS_GAVEL_CORE_H
#define DLS_GAVEL_CORE_H

#include "base/strdict.h"
#include "gavel/gavel.h"
#include "sched/timeshares.h"
#include "workload/graph/pyrandom.h"

#define DLS_GV_TYPES DLS_GAVEL_TYPES
#define DLS_GV_ALONE (-1)

/* ---- speeds, steps per second ---------------------------------------------------------------- */

typedef struct dls_gv_speeds {
    dls_strdict key; /* "('Model (batch size N)', GPUs)" */
    double *alone;   /* [types * keys]; -1: not in the table */
    double *pair;    /* [types * keys * keys * 2] own, the other's; -1 */
} dls_gv_speeds;

dls_status dls_gv_speeds_load(const char *path, dls_gv_speeds *out, dls_error *err) DLS_MUST_CHECK;
/* Multiply by the factors of a table. Errors: EINPUT. */
dls_status dls_gv_speeds_scale(dls_gv_speeds *s, const char *path, dls_error *err) DLS_MUST_CHECK;
void dls_gv_speeds_fini(dls_gv_speeds *s);
/* -1: not in the table. */
int32_t dls_gv_key(const dls_gv_speeds *s, const char *model, int64_t batch, int32_t gpus);

/* ---- jobs ------------------------------------------------------------------------------------ */

typedef struct dls_gv_profile dls_gv_profile; /* batch sizes that change; gavel/batches.h */

typedef struct dls_gv_job {
    int32_t gpus, key;
    double weight, arrival_s;
    int64_t total, done; /* steps */
    bool active;
    int32_t failures;                 /* in a row */
    size_t combo;                     /* its own, while active */
    int64_t last_round, round_before; /* in which it ran; far below 0: none */
    size_t last_run;                  /* of the last round, where */
    /* Of policies. */
    int32_t home;    /* fifo: type + 1 */
    int32_t partner; /* gandiva: job, DLS_GV_ALONE; below that: not dealt with */
    double isolated_s, last_left, last_isolated; /* finish-time fairness */
    bool seen;
    /* Shockwave. */
    dls_gv_profile *profile;
    double run_s; /* times GPUs */
} dls_gv_job;

/* ---- combinations ---------------------------------------------------------------------------- */

typedef struct dls_gv_combo {
    int32_t a, b; /* a < b, or b = DLS_GV_ALONE */
    int32_t last; /* index of what ran in the last round, -1 */
    bool known;   /* to the last call of the policy */
    double attained[DLS_GV_TYPES], deficit[DLS_GV_TYPES], priority[DLS_GV_TYPES];
    double share[DLS_GV_TYPES]; /* by the policy: of the time on the type */
} dls_gv_combo;

typedef struct dls_gv_run {
    double finish_s;
    int32_t a, b, type, gpus;
    int64_t steps[2];
    size_t gpu_at; /* in the list of GPUs of its round */
} dls_gv_run;

typedef struct dls_gv_round {
    dls_gv_run *run; /* [n] */
    size_t n, cap;
    int32_t *gpu;
    size_t n_gpus, gpu_cap;
} dls_gv_round;

typedef struct dls_gv dls_gv;

/* The speeds that a policy believes in: the real ones, 1 everywhere, or those of v100 everywhere. */
typedef enum dls_gv_belief { DLS_GV_REAL, DLS_GV_ONE, DLS_GV_V100 } dls_gv_belief;

/* Fills `share` of all combinations. */
typedef dls_status dls_gv_allocate(dls_gv *g, dls_error *err);

typedef struct dls_gv_policy {
    dls_gavel_policy_name is;
    dls_gv_belief believes;
    bool packs;    /* pairs are candidates */
    bool shuffles; /* the order of the types, anew in every round */
    bool fifo;     /* nothing without a share runs */
    bool market;   /* gavel/market.h says who runs */
    dls_gv_allocate *allocate;
} dls_gv_policy;

struct dls_gv {
    const dls_gavel_params *p;
    const dls_gv_policy *policy;
    dls_gv_speeds speeds;
    dls_gv_job *job; /* [n] by arrival */
    dls_gavel_job *result;
    int32_t n, queued; /* the first that has not arrived */
    int32_t *active;   /* [n_active] ascending */
    int32_t n_active, left;
    dls_gv_combo *combo; /* [n_combos] in order of creation */
    size_t n_combos, combo_cap;
    int32_t n_types, type[DLS_GV_TYPES]; /* those that there are, ascending */
    int32_t gpus[DLS_GV_TYPES], first_gpu[DLS_GV_TYPES];
    double total[DLS_GV_TYPES]; /* service */
    double now_s, round_start_s, round_end_s, last_reset_s;
    bool dirty, stale; /* jobs have come or gone: since the last allocation; since the last reset */
    int64_t round;
    size_t allocations;
    dls_gv_round now, before;
    dls_pyrandom random, shuffle;
    struct dls_gv_candidate *candidate; /* scratch [n_combos] */
    size_t candidate_cap;
    uint8_t *taken; /* scratch: [n] of jobs, [gpus] of GPUs */
    uint8_t *gpu_taken;
    int32_t *list;  /* scratch [n] of a policy while it is asked: jobs, or one number a job */
    int32_t idle_rounds;  /* in a row without a run */
    int32_t still_rounds; /* in a row in which no job took a step */
    size_t unsolved;
    struct dls_gv_market *market; /* NULL: none */
    dls_timeshares shares;        /* scratch of the policies that optimise */
};

static inline double dls_gv_alone(const dls_gv *g, int32_t job, int32_t type)
{
    return g->speeds.alone[(size_t)type * g->speeds.key.n + (size_t)g->job[job].key];
}
/* of[2]: of a and of b where they share GPUs. */
static inline const double *dls_gv_pair(const dls_gv *g, int32_t a, int32_t b, int32_t type)
{
    const size_t n = g->speeds.key.n;
    return &g->speeds
                .pair[(((size_t)type * n + (size_t)g->job[a].key) * n + (size_t)g->job[b].key) * 2];
}
/* The smallest speed of a member; 0 if there is none. */
static inline double dls_gv_least(const dls_gv *g, const dls_gv_combo *c, int32_t type)
{
    if (c->b < 0) {
        return dls_gv_alone(g, c->a, type);
    }
    const double *v = dls_gv_pair(g, c->a, c->b, type);
    return v[0] < v[1] ? v[0] : v[1];
}
static inline double dls_gv_left(const dls_gv *g, int32_t job)
{
    return (double)(g->job[job].total - g->job[job].done);
}
static inline dls_gv_combo *dls_gv_single(dls_gv *g, int32_t job)
{
    return &g->combo[g->job[job].combo];
}
/* The pair of two active jobs of equal size, under policies that pack. O(active). */
dls_gv_combo *dls_gv_find(dls_gv *g, int32_t a, int32_t b);

/* The policies; ended by one without a name. */
extern const dls_gv_policy dls_gv_policies[];
/* Their functions, one file a family. */
dls_gv_allocate dls_gv_isolated, dls_gv_gandiva_fair, dls_gv_fifo, dls_gv_fifo_perf, dls_gv_gandiva,
    dls_gv_allox, dls_gv_max_min, dls_gv_max_min_packed, dls_gv_water, dls_gv_throughput,
    dls_gv_finish_time, dls_gv_duration;

/* Rounds, one after another. */
dls_status dls_gv_loop(dls_gv *g, dls_error *err) DLS_MUST_CHECK;
/* What is to run in the coming round, into g->now. */
dls_status dls_gv_select(dls_gv *g, dls_error *err) DLS_MUST_CHECK;

#endif
