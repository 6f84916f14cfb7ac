/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ordered sets of small integers (job indices) with weights: B+-trees that share one table.
 *
 * A member is ranked by a dls_rank, smallest first; ranks of one set are distinct (tie or id see to
 * that). Every member carries a weight (its GPUs) and an auxiliary number; each subtree
 * knows the sum of the weights and the least auxiliary number. One member is in at most one set of
 * a table at a time, so a table for n members serves many sets (a set is only its root).
 *
 *      set A: root --> node 4: [ 7 | 2 ]          inner: a node, its first member, sum, least aux
 *                            /       \
 *              node 1: [ 7 3 1 ]   node 6: [ 2 9 8 ]          leaves: members
 *
 * Beside the entries a node keeps the leading part of the rank of each entry's first member.
 * Nodes are wide because a set of 100,000 does not fit the caches: a step down is a miss, and what
 * is looked at in a node lies together. Expected and worst case O(log size) per operation; no
 * allocation after creation.
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

/* The leading part of a rank: ranks whose leading parts differ are in their order. Levels up to 15 and keys
 * below 2^58 differ in it if they differ at all; what lies beyond is to be compared. */
static inline int64_t dls_rank_lead(const dls_rank *r)
{
    const int64_t most = INT64_C(1) << 58;
    if (r->level < -15 || r->level > 15) {
        return r->level < 0 ? INT64_MIN : INT64_MAX;
    }
    const int64_t key = r->key < -most ? -most : r->key >= most ? most - 1 : r->key;
    return r->level * 2 * most + key;
}

/* As it is in its set, or was in its last one. */
typedef struct dls_member {
    dls_rank rank;
    int32_t weight;
    bool in_set;
} dls_member;

_Static_assert(sizeof(dls_member) == 32, "two to a cache line");

enum {
    DLS_ORDER_WIDTH = 14, /* entries of a node */
    DLS_ORDER_LEAST = 5   /* of all nodes but a root */
};

typedef struct dls_order_entry {
    int64_t sum;   /* of the weights there */
    int64_t aux;   /* the least there */
    int32_t at;    /* leaf: member; else node */
    int32_t first; /* member */
} dls_order_entry;

/* 512 bytes. A search reads the first two cache lines, and one entry. */
typedef struct dls_order_node {
    int64_t n;
    /* leading parts of the ranks of the first members; INT64_MAX behind them */
    int64_t lead[DLS_ORDER_WIDTH + 1];
    dls_order_entry entry[DLS_ORDER_WIDTH];
    int32_t leaf, leaf_entry; /* of a root: where dls_order_next() was last; DLS_NONE: one has gone since */
    int64_t unused[5];
} dls_order_node;

typedef struct dls_order {
    dls_member *member;   /* [n] */
    int64_t *aux;         /* [n] not touched by piles, which share the members */
    dls_order_node *node; /* [room] */
    int32_t n, room;
    int32_t n_nodes; /* used so far, of which .. */
    int32_t free;    /* .. these are free: first of a list linked by entry[0].at, DLS_NONE */
    uint64_t steps;  /* nodes touched, for the cost figures */
} dls_order;

typedef struct dls_order_set {
    int32_t root;
    int32_t height; /* of the root above the leaves */
} dls_order_set;

#define DLS_ORDER_SET_EMPTY                                                                        \
    {                                                                                              \
        DLS_NONE, 0                                                                                \
    }

/* For n members in at most so many sets at a time that are not empty. */
dls_status dls_order_init(dls_order *t, int32_t n, int64_t sets, dls_error *err) DLS_MUST_CHECK;
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
    return t->member[x].in_set;
}
int64_t dls_order_sum(const dls_order *t, dls_order_set s);

/* DLS_NONE if there is none. */
int32_t dls_order_first(const dls_order *t, dls_order_set s);
int32_t dls_order_last(const dls_order *t, dls_order_set s);
/* The neighbours of x, which need not be in s: it has the rank that it last had. Where next() goes on from what it found
 * last, and none has gone from s since, it takes constant time but at the end of a leaf. */
int32_t dls_order_next(const dls_order *t, dls_order_set s, int32_t x);
int32_t dls_order_prev(const dls_order *t, dls_order_set s, int32_t x);

/* Sum of the weights of the members ranked strictly before `rank`. */
int64_t dls_order_sum_before(dls_order *t, dls_order_set s, const dls_rank *rank);
/* The first member for which (sum of the weights up to and including it) > limit. */
int32_t dls_order_first_over(dls_order *t, dls_order_set s, int64_t limit);
/* The first member with aux <= limit ranked after member `after` (DLS_NONE: from the start). */
int32_t dls_order_first_aux(dls_order *t, dls_order_set s, int32_t after, int64_t limit);

#endif
