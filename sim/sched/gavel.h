/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The round mechanism of Gavel (Narayanan et al., OSDI 2020, section 5): an objective says which
 * share of the time of which GPU type each job is to have (sched/timeshares.h), and in every round
 * those go first that have received least of theirs.
 *
 *      priority of (job, type) = share / (time received there / time given out there)
 *
 * Times count from the last reset, with half a round of credit for everybody. Shares are found anew
 * in the first round after a job has come or gone, or GPUs have. GPUs that no share claims go to
 * jobs in order of attained service. A policy gives the objective and is else this.
 */
#ifndef DLS_SCHED_GAVEL_H
#define DLS_SCHED_GAVEL_H

#include "sched/gangs.h"
#include "sched/timeshares.h"

#define DLS_GAVEL_FAILED 8

typedef struct dls_gavel_entry {
    int32_t job;
    uint64_t round; /* in which it was last there */
    bool asked;     /* speeds are known */
    bool chosen;
    double speed[DLS_TYPES_MAX]; /* work per second; 0: not there */
    double share[DLS_TYPES_MAX];
    int64_t reset_us[DLS_TYPES_MAX]; /* attained service at the last reset */
    double left;                     /* work, at the last allocation */
    /* Packing. */
    int32_t partner;      /* job that it shares GPUs with, -1 */
    uint64_t joined;      /* round in which the two were last to run together */
    bool apart;           /* has been refused a place beside another */
    double use;           /* of its GPUs, mean; NAN: not known */
    double alone[DLS_TYPES_MAX]; /* greatest rate that it has shown alone; 0: none yet */
    double beside;               /* rate that it has shown beside its partner, over alone; 0: none yet */
    int32_t failed[DLS_GAVEL_FAILED]; /* jobs that it was parted from, the last of n_failed */
    uint32_t n_failed;
    /* Finish-time fairness. */
    double isolated_s, last_left, last_isolated; /* the last two: 0 before the first allocation */
} dls_gavel_entry;

/* Jobs of equal gangs share GPUs in pairs while more GPUs are asked for than there are
 * (gavel_pack.c). */
typedef struct dls_gavel_packing {
    bool on, at_random; /* pairs that use their GPUs least, by the predictor; or any of those that have
                           run alone, judged by what they have shown */
    double knee,
        slope; /* of two that use u and v: speed 1 - slope max(0, u + v - knee), at least 1 / 2 */
    dls_rng rng;
    struct dls_gavel_single *single; /* scratch [cap] */
    size_t cap;
} dls_gavel_packing;

typedef struct dls_gavel dls_gavel;
struct dls_gavel {
    int64_t round_us, reset_us;
    bool same_types;        /* all types are taken for equally fast */
    bool prices;            /* of types differ */
    bool relaxed;           /* the last objective could not keep all that it asks for */
    bool merged;            /* the last allocation knew one type, that of all GPUs */
    dls_gavel_entry *entry; /* [n] jobs that are not over; owned */
    size_t n, cap;
    uint64_t round;
    int64_t last_reset_us;
    int64_t there[DLS_TYPES_MAX]; /* GPUs at the last allocation */
    bool allocated;
    double price[DLS_TYPES_MAX]; /* of a GPU-second, by type */
    dls_gavel_packing packing;
    /* Scratch. */
    dls_timeshares shares;
    dls_ledger ledger;
    int32_t type[DLS_TYPES_MAX], n_types;  /* those that there are GPUs of */
    struct dls_gavel_candidate *candidate; /* owned */
    size_t candidate_cap;
};

/* The jobs of `shares` carry entry indices as ids, and types are those of `type`. */
typedef dls_status (*dls_gavel_objective)(dls_gavel *g, dls_interior_outcome *outcome,
                                          dls_error *err);
/* The same share of every type for all (gavel-isolated). */
dls_status dls_gavel_isolated(dls_gavel *g, dls_interior_outcome *outcome, dls_error *err);

enum { DLS_GAVEL_OPT_ROUND, DLS_GAVEL_OPT_RESET, DLS_GAVEL_OPT_TYPES, DLS_GAVEL_OPTIONS_N };
#define DLS_GAVEL_OPTIONS                                                                          \
    [DLS_GAVEL_OPT_ROUND] =                                                                        \
        {"round", DLS_OPT_TIME, 1, 1e7, "6 min", "", "length of a round", NULL},                   \
    [DLS_GAVEL_OPT_RESET] = {"reset",                                                              \
                             DLS_OPT_TIME,                                                         \
                             1,                                                                    \
                             1e8,                                                                  \
                             "32 min",                                                             \
                             "",                                                                   \
                             "what was received longer ago does not count",                        \
                             NULL},                                                                \
    [DLS_GAVEL_OPT_TYPES] = {                                                                      \
        "types", DLS_OPT_BOOL, 0, 0, "true", "", "know how fast a job is on which type of GPU",    \
        NULL}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Look at what jobs have shown, part pairs that were refused or that did badly; true: one was, or a job may
 * have a partner from now on. O(jobs). */
bool dls_gavel_part(dls_gavel *g, const dls_view *view);
/* Make pairs until all that is asked for fits. O(jobs log jobs). */
dls_status dls_gavel_pair(dls_gavel *g, const dls_view *view, dls_error *err) DLS_MUST_CHECK;
/* The other of a pair, NULL; whether an entry stands for its pair, as every single job does. */
dls_gavel_entry *dls_gavel_partner(const dls_gavel *g, const dls_view *view,
                                   const dls_gavel_entry *e);
bool dls_gavel_leads(const dls_gavel *g, const dls_view *view, const dls_gavel_entry *e);
/* How fast a job of a pair is beside the other, over alone. */
double dls_gavel_beside(const dls_gavel *g, const dls_gavel_entry *a, const dls_gavel_entry *b);

/* The members of a policy's table; its state is or begins with a dls_gavel. */
dls_status dls_gavel_init(void *state, const dls_view *view, const dls_option_value *values,
                          dls_error *err);
void dls_gavel_fini(void *state);
dls_status dls_gavel_clone(void *state, const void *from, const dls_view *view, dls_error *err);
void dls_gavel_timing(const void *state, dls_round_timing *out);
/* A round with an objective. O(jobs x types x log) and the objective where it is asked. */
dls_status dls_gavel_round(dls_gavel *g, const dls_view *view, dls_plan *plan,
                           dls_gavel_objective objective, dls_error *err) DLS_MUST_CHECK;

/* A round with this objective, as a policy's table wants it, and what the tables have in common. */
#define DLS_GAVEL_ROUND(called, objective)                                                         \
    static dls_status called(void *state, const dls_view *view, dls_plan *plan, dls_error *err)    \
    {                                                                                              \
        return dls_gavel_round(state, view, plan, objective, err);                                 \
    }
#define DLS_GAVEL_MEMBERS(table, rounds)                                                           \
    .abi = DLS_POLICY_ABI, .options = table, .state_bytes = sizeof(dls_gavel),                     \
    .job_state_bytes = sizeof(size_t), .fini = dls_gavel_fini, .clone = dls_gavel_clone,           \
    .round = rounds, .timing = dls_gavel_timing, .rigid = true
/* Of policies that pack; the options of pairs stand behind the others. */
extern const dls_option dls_gavel_packed_options[];
dls_status dls_gavel_init_packed(void *state, const dls_view *view, const dls_option_value *values,
                                 dls_error *err);
#define DLS_GAVEL_PACKED(rounds)                                                                   \
    DLS_GAVEL_MEMBERS(dls_gavel_packed_options, rounds), .init = dls_gavel_init_packed, .joins = true

#endif
