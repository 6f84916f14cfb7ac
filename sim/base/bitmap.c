/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bitmap with summary levels: a bit of a higher level says whether a word of 64 bits below it is
 * not zero, so the next member is found in a few steps.
 */
#include "base/bitmap.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <stddef.h>
#include <string.h>

dls_status dls_bitmap_init(dls_bitmap *b, int32_t n, dls_error *err)
{
    DLS_ASSERT(n >= 0 && n < 1 << 24);
    size_t words[DLS_BITMAP_LEVELS], total = 0;
    size_t bits = n > 0 ? (size_t)n : 1;
    memset(b, 0, sizeof *b);
    do {
        words[b->n_levels] = (bits + 63) / 64;
        bits = words[b->n_levels];
        total += bits;
        b->n_levels++;
    } while (bits > 1);
    uint64_t *memory;
    DLS_TRY(dls_alloc_array(&memory, total, sizeof *memory, "bitmap", err));
    for (int32_t k = 0; k < b->n_levels; k++) {
        b->level[k] = memory;
        memory += words[k];
    }
    b->n = n;
    return DLS_OK;
}

void dls_bitmap_fini(dls_bitmap *b)
{
    dls_free(b->level[0]);
    memset(b, 0, sizeof *b);
}

void dls_bitmap_assign(dls_bitmap *b, const dls_bitmap *from)
{
    DLS_DEBUG_ASSERT(b->n == from->n);
    /* The levels lie side by side, the last is one word. */
    const size_t words = (size_t)(from->level[from->n_levels - 1] - from->level[0]) + 1;
    memcpy(b->level[0], from->level[0], words * sizeof *b->level[0]);
    b->count = from->count;
}

int32_t dls_bitmap_next(const dls_bitmap *b, int32_t from)
{
    int32_t k = 0, i = from < 0 ? 0 : from;
    if (b->count == 0 || i >= b->n) {
        return -1;
    }
    /* Climb until a word has a member at or after i, then descend to its least. */
    for (;;) {
        const uint64_t rest = b->level[k][i >> 6] >> (i & 63);
        if (rest) {
            i += __builtin_ctzll(rest);
            break;
        }
        i = (i >> 6) + 1;
        /* i may lie one past the last word of the level below: no summary bit stands for that. */
        if (++k == b->n_levels || i >= (b->n + (1 << (6 * k)) - 1) >> (6 * k)) {
            return -1;
        }
    }
    while (k > 0) {
        k--;
        i = i * 64 + __builtin_ctzll(b->level[k][i]);
    }
    return i;
}
