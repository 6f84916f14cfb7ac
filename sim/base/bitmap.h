/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A set of small integers as a bitmap with summary levels: set, clear and find-next in O(levels),
 * where a level divides by 64.
 */
#ifndef DLS_BASE_BITMAP_H
#define DLS_BASE_BITMAP_H

#include "base/assert.h"
#include "dlsim/error.h"

#include <stdbool.h>
#include <stdint.h>

#define DLS_BITMAP_LEVELS 4

typedef struct dls_bitmap {
    uint64_t *level[DLS_BITMAP_LEVELS]; /* [0]: members; [k]: which words of [k-1] are not zero */
    int32_t n_levels;
    int32_t n;     /* members are 0..n-1 */
    int32_t count; /* members in the set */
} dls_bitmap;

/* n < 2^24. The set is empty. */
dls_status dls_bitmap_init(dls_bitmap *b, int32_t n, dls_error *err) DLS_MUST_CHECK;
void dls_bitmap_fini(dls_bitmap *b);
/* The members of b become those of a bitmap for as many. */
void dls_bitmap_assign(dls_bitmap *b, const dls_bitmap *from);
static inline bool dls_bitmap_has(const dls_bitmap *b, int32_t i)
{
    return b->level[0][i >> 6] >> (i & 63) & 1;
}
/* i must not be in. */
static inline void dls_bitmap_set(dls_bitmap *b, int32_t i)
{
    DLS_DEBUG_ASSERT(i >= 0 && i < b->n && !dls_bitmap_has(b, i));
    b->count++;
    for (int32_t k = 0; k < b->n_levels; k++) {
        uint64_t *word = &b->level[k][i >> 6];
        const uint64_t old = *word;
        *word = old | UINT64_C(1) << (i & 63);
        if (old) {
            break;
        }
        i >>= 6;
    }
}

/* i must be in. */
static inline void dls_bitmap_clear(dls_bitmap *b, int32_t i)
{
    DLS_DEBUG_ASSERT(i >= 0 && i < b->n && dls_bitmap_has(b, i));
    b->count--;
    for (int32_t k = 0; k < b->n_levels; k++) {
        uint64_t *word = &b->level[k][i >> 6];
        *word &= ~(UINT64_C(1) << (i & 63));
        if (*word) {
            break;
        }
        i >>= 6;
    }
}
/* The least member >= from, or -1. */
int32_t dls_bitmap_next(const dls_bitmap *b, int32_t from);

#endif
