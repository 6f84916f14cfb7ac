/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Piles: ordered sets of small integers (job indices) with weights, of which only the near end is asked
 * for. They are ordered as far as somebody asks.
 *
 *      near                                  far
 *      part: [ 3 9 4 ]   part: 8 1 5 .. 7    part: 2 6 0 .. ..      parts in order,
 *      sorted            any order           any order              each a list of chunks
 *
 * Who comes is appended to the part in whose range the rank lies; who leaves is replaced by another of the part.
 * When the near end is asked for, its part is split by samples, and again, until what is left fits a chunk, which is
 * sorted. So a member that leaves before its turn costs a few steps whatever the size of the pile, and
 * misses no cache but for its own place; one whose turn comes has been moved O(log size) times, in passes over
 * chunks. Where parts get too many, neighbours are made one.
 *
 * Ranks lie in a table that several piles, and ordered sets (base/order.h), share; a member is in one pile or set at a
 * time. No allocation after creation.
 */
#ifndef DLS_BASE_PILE_H
#define DLS_BASE_PILE_H

#include "base/order.h"

#include <stddef.h>

enum {
    DLS_PILE_CHUNK = 31, /* entries */
    DLS_PILE_PARTS = 32  /* of a pile at most */
};

typedef struct dls_pile_entry {
    int64_t lead; /* of the rank, as it is compared in the pile */
    int32_t member, weight;
} dls_pile_entry;

/* 512 bytes. All chunks of a part but its first are full. */
typedef struct dls_pile_chunk {
    int32_t n, next, part, unused;
    dls_pile_entry entry[DLS_PILE_CHUNK];
} dls_pile_chunk;

/* Its members are not before its bound, which is not asked of the nearest, but before that of the next. */
typedef struct dls_pile_part {
    int64_t lead, sum;
    dls_rank bound;
    int32_t n, chunk, next;
    int32_t sorted; /* the first of its first chunk, if that is all it has: farthest first; 0 */
} dls_pile_part;

typedef struct dls_piles {
    dls_member *member; /* [n] borrowed */
    int32_t *at;        /* [n] chunk * 32 + entry, where a member was put; within the chunk it may have moved */
    dls_pile_chunk *chunk;
    dls_pile_part *part;
    int32_t n, chunks, parts;           /* room */
    int32_t n_chunks, n_parts;          /* used so far, of which .. */
    int32_t free_chunk, free_part;      /* .. these are free: lists by `next`, DLS_NONE ends them */
} dls_piles;

typedef struct dls_pile {
    int32_t near;   /* part, DLS_NONE */
    int32_t parts;
    bool back;      /* the last in rank order is the nearest */
} dls_pile;

#define DLS_PILE_EMPTY(from_back)                                                                  \
    {                                                                                              \
        DLS_NONE, 0, from_back                                                                     \
    }

/* For the n members of a table of ordered sets, in at most so many piles. */
dls_status dls_piles_init(dls_piles *t, dls_order *ranks, int64_t piles, dls_error *err) DLS_MUST_CHECK;
void dls_piles_fini(dls_piles *t);
/* *t becomes a table with the same members in the same piles, and ranks in a copy of theirs; all zero after a
 * failure. */
dls_status dls_piles_copy(dls_piles *t, const dls_piles *from, dls_order *ranks,
                          dls_error *err) DLS_MUST_CHECK;

/* x must be in no pile or set. O(parts). */
void dls_pile_insert(dls_piles *t, dls_pile *p, int32_t x, dls_rank rank, int32_t weight);
/* x must be in p. */
void dls_pile_remove(dls_piles *t, dls_pile *p, int32_t x);
/* Ask the caches for the place of a member: it is about to be removed. */
static inline void dls_pile_fetch(const dls_piles *t, int32_t x)
{
    const dls_pile_chunk *c = &t->chunk[t->at[x] / 32];
    __builtin_prefetch(c);
    __builtin_prefetch(&c->entry[t->at[x] % 32]);
}

/* The nearest member; DLS_NONE. */
int32_t dls_pile_first(dls_piles *t, dls_pile *p);
/* The k-th behind the nearest, if that is known without ordering anything; DLS_NONE. */
static inline int32_t dls_pile_soon(const dls_piles *t, const dls_pile *p, int32_t k)
{
    const dls_pile_part *q = p->near != DLS_NONE ? &t->part[p->near] : NULL;
    return q && q->sorted > k ? t->chunk[q->chunk].entry[q->sorted - 1 - k].member : DLS_NONE;
}
/* The one behind member x, seen from the near end. */
int32_t dls_pile_next(dls_piles *t, dls_pile *p, int32_t x);
/* Sum of the weights of the members nearer than a rank; or a part of it that is at least `enough`, if there is
 * one. */
int64_t dls_pile_sum_to(dls_piles *t, dls_pile *p, const dls_rank *rank, int64_t enough);
/* The nearest member that, with those nearer, weighs at least so much; if there is none, the farthest. */
int32_t dls_pile_reach(dls_piles *t, dls_pile *p, int64_t weight);

#endif
