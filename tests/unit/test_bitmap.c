/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bitmaps of every number of levels against an array of flags, with sizes around the word and the
 * level boundaries.
 */
#include "base/rng.h"
#include "base/bitmap.h"
#include "support/test.h"
#include <stdlib.h>

static void toggle(dls_bitmap *b, char *in, int32_t i)
{
    if (in[i]) {
        dls_bitmap_clear(b, i);
    } else {
        dls_bitmap_set(b, i);
    }
    in[i] = !in[i];
}

/* Every answer of next, by one walk backwards. */
static void check_all(const dls_bitmap *b, const char *in)
{
    int32_t next = -1, count = 0;
    assert_int_equal(dls_bitmap_next(b, b->n), -1);
    for (int32_t i = b->n - 1; i >= 0; i--) {
        next = in[i] ? i : next;
        count += in[i];
        if (dls_bitmap_next(b, i) != next) {
            fail_msg("size %d, from %d: %d and not %d", b->n, i, dls_bitmap_next(b, i), next);
        }
    }
    assert_int_equal(dls_bitmap_next(b, -5), next);
    assert_int_equal(b->count, count);
}

static void one_size(int32_t n, int32_t levels)
{
    dls_rng rng = dls_rng_stream((uint64_t)n, DLS_RNG_TEST, 4);
    dls_bitmap b;
    char *in = calloc((size_t)n, 1);
    assert_non_null(in);
    assert_int_equal(dls_bitmap_init(&b, n, NULL), DLS_OK);
    assert_int_equal(b.n_levels, levels);
    check_all(&b, in);
    /* Alone at the edges. */
    const int32_t edges[] = {0, n - 1, n / 2, 62, 63, 64, 4095, 4096, 262143, 262144};
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) {
        if (edges[k] < n) {
            toggle(&b, in, edges[k]);
            check_all(&b, in);
            toggle(&b, in, edges[k]);
        }
    }
    /* Sparse, then dense, then sparse again. */
    for (int round = 0; round < 3; round++) {
        const int64_t flips = round == 1 ? 2 * (int64_t)n : n / 50 + 10;
        for (int64_t k = 0; k < flips; k++) {
            const int32_t i = (int32_t)dls_rng_below(&rng, (uint64_t)n);
            if (round != 1 || !in[i]) {
                toggle(&b, in, i);
            }
        }
        check_all(&b, in);
    }
    for (int32_t i = 0; i < n; i++) {
        if (!in[i]) {
            toggle(&b, in, i);
        }
    }
    check_all(&b, in);
    for (int32_t i = 0; i < n; i++) {
        toggle(&b, in, i);
    }
    check_all(&b, in);
    dls_bitmap_fini(&b);
    free(in);
}

TEST(test_sizes)
{
    one_size(1, 1);
    one_size(63, 1);
    one_size(64, 1);
    one_size(65, 2);
    one_size(4096, 2);
    one_size(4097, 3);
    one_size(300000, 4);
}
