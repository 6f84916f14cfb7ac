/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One option for each group within capacities, at least cost: the multiple-choice knapsack with a
 * capacity for each GPU type that Sia's and Pollux's allocations are.
 *
 *      minimise sum of costs of the picked options
 *      one option of each group is picked, the GPUs of each type's picked options fit its capacity
 *
 * Lagrange multipliers, one for each type, give a bound; a greedy descent from their solution gives
 * a first pick; what options the two do not rule out is settled by a dynamic programme over the
 * GPUs that are used, whose states are pruned by the same bound. Deterministic.
 * Groups with the same options are looked at once where prices are searched for (choice_prices.c).
 */
#ifndef DLS_SCHED_CHOICE_H
#define DLS_SCHED_CHOICE_H

#include "dlsim/policy.h"

typedef struct dls_choice_option {
    double cost;
    int32_t type, gpus; /* gpus >= 0 */
} dls_choice_option;

typedef struct dls_choice {
    dls_choice_option *option; /* of all groups, one group behind the other */
    size_t n_options, cap_options;
    int32_t *first; /* [groups + 1] of a group's options, of which there is at least one */
    int32_t groups;
    size_t cap_first;
    int32_t types;
    int64_t capacity[DLS_TYPES_MAX];
    /* What it says. */
    int32_t *pick; /* [groups] index into `option`; -1: see `solved` */
    size_t cap_pick;
    double price[DLS_TYPES_MAX]; /* the multipliers */
    bool solved;                 /* there is a pick within the capacities */
    double cost, bound;          /* of the pick; no pick costs less than `bound` */
    /* Scratch. */
    struct dls_choice_state *state[4];
    struct dls_choice_node *node, *kept;
    double *reduced;
    struct dls_choice_key *order;
    struct dls_choice_rest *rest;
    struct dls_choice_move *move;
    struct dls_keyed *keyed;
    struct dls_choice_kind *kind;
    struct dls_choice_open *open;
    int32_t *kind_of, kinds;
    int32_t *before;
    size_t n_nodes, cap_state[4], cap_node, cap_kept, cap_reduced, cap_order, cap_rest, cap_move,
        cap_keyed, cap_kind, cap_open, cap_kind_of, cap_before;
} dls_choice;

/* Begin a problem: no groups. */
void dls_choice_begin(dls_choice *c, int32_t types, const int64_t *capacity);
/* A new group; its options follow. */
dls_status dls_choice_group(dls_choice *c, dls_error *err) DLS_MUST_CHECK;
dls_status dls_choice_add(dls_choice *c, double cost, int32_t type, int32_t gpus,
                          dls_error *err) DLS_MUST_CHECK;
/* Pick. What is at most `gap` (relative) above the least cost will do; with 0 it is the least but
 * for rounding, unless there are more states than memory is given (then `bound` says how far off
 * it may be). Errors: ENOMEM. O(groups x options + groups x states). */
dls_status dls_choice_solve(dls_choice *c, double gap, dls_error *err) DLS_MUST_CHECK;
void dls_choice_fini(dls_choice *c);

/* Inside: which groups have the same options, and room for dls_choice_find_prices. */
dls_status dls_choice_find_kinds(dls_choice *c, dls_error *err) DLS_MUST_CHECK;
/* Inside: price[] and bound become the greatest bound that is found; `above`: what some pick costs.
 */
void dls_choice_find_prices(dls_choice *c, double above, bool thorough);

#endif
