/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ordered sets of small integers (job indices) with weights: treaps that share one node table.
 *
 * A member is ranked by a dls_rank, smallest first; ranks of one set are distinct (tie or id see to
 * that). Every member carries a weight (its GPUs) and an auxiliary number; each subtree
 * knows the sum of the weights and the least auxiliary number. One member is in at most one set of
 * a table at a time, so a table for n members serves any number of sets (a set is only its root).
 *
 *      set A: root --> 7            all in one node table [n]: rank, left, right, parent,
 *                     / \           weight, sum, aux, min_aux
 *                    2   9
 *
 * Treap priorities are a hash of the member, so the shape and the cost are the same in every run.
 * Expected O(log size) per operation; no allocation after creation.
 */
#ifndef DLS_BASE_ORDER_H
#define DLS_BASE_ORDER_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stdint.h>

#define DLS_NONE INT32_C(-1)

/* Compared field by field: level, key, tie, id. */
typedef struct dls_rank {
    int64_t key;
    int64_t tie;
    int32_t level;
    int32_t id;
} dls_rank;

static inline int dls_rank_cmp(const dls_rank *a, const dls_rank *b)
{
    if (a->level != b->level) {
        return a->level < b->level ? -1 : 1;
    }
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if (a->tie != b->tie) {
        return a->tie < b->tie ? -1 : 1;
    }
    return a->id < b->id ? -1 : a->id > b->id;
}

#define DLS_IN_NO_SET INT32_C(-2) /* as a parent */

/* 64 bytes: one cache line. */
typedef struct dls_order_node {
    dls_rank rank;
    int64_t sum;     /* of the weights in this subtree */
    int64_t aux, min_aux;
    int32_t left, right, parent;
    int32_t weight;
} dls_order_node;

typedef struct dls_order {
    dls_order_node *node; /* [n] */
    int32_t n;
    uint64_t steps;       /* nodes touched, for the cost figures */
} dls_order;

typedef struct dls_order_set {
    int32_t root;
} dls_order_set;

#define DLS_ORDER_SET_EMPTY {DLS_NONE}

dls_status dls_order_init(dls_order *t, int32_t n, dls_error *err) DLS_MUST_CHECK;
void dls_order_fini(dls_order *t);
/* *t becomes a table with the same members in the same sets; all zero after a failure. */
dls_status dls_order_copy(dls_order *t, const dls_order *from, dls_error *err) DLS_MUST_CHECK;

/* x must be in no set. */
void dls_order_insert(dls_order *t, dls_order_set *s, int32_t x, dls_rank rank, int32_t weight,
                      int64_t aux);
/* x must be in s. */
void dls_order_remove(dls_order *t, dls_order_set *s, int32_t x);

static inline bool dls_order_has(const dls_order *t, int32_t x)
{
    return t->node[x].parent != DLS_IN_NO_SET;
}
static inline int64_t dls_order_sum(const dls_order *t, dls_order_set s)
{
    return s.root == DLS_NONE ? 0 : t->node[s.root].sum;
}

/* DLS_NONE if there is none. */
int32_t dls_order_first(const dls_order *t, dls_order_set s);
int32_t dls_order_last(const dls_order *t, dls_order_set s);
int32_t dls_order_next(const dls_order *t, int32_t x);
int32_t dls_order_prev(const dls_order *t, int32_t x);

/* Sum of the weights of the members ranked strictly before `rank`. */
int64_t dls_order_sum_before(dls_order *t, dls_order_set s, const dls_rank *rank);
/* The first member for which (sum of the weights up to and including it) > limit. */
int32_t dls_order_first_over(dls_order *t, dls_order_set s, int64_t limit);
/* The first member with aux <= limit ranked after member `after` (DLS_NONE: from the start). */
int32_t dls_order_first_aux(dls_order *t, dls_order_set s, int32_t after, int64_t limit);

#endif
