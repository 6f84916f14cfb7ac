/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Piles against ordered sets of the same members: random insertions, removals and moves between two
 * piles, from either end, that share a table; the near end, all members in turn, and sums to any rank. Ranks come
 * from few values, from many, in the order of their coming and against it, and from beyond what leading parts tell
 * apart.
 */
#include "base/pile.h"
#include "base/rng.h"
#include "support/test.h"

#include <string.h>

enum { MANY = 5000, PILES = 2, KINDS = 6 };

static struct {
    dls_order sets, ranks;
    dls_order_set set[PILES];
    dls_piles piles;
    dls_pile pile[PILES];
    int8_t of[MANY];
} w;

static dls_rank any_rank(dls_rng *rng, int kind, int step, int32_t x)
{
    const int64_t key = kind == 0   ? (int64_t)dls_rng_below(rng, 8) - 4
                        : kind == 1 ? step
                        : kind == 2 ? -step
                                    : (int64_t)dls_rng_below(rng, UINT64_C(1) << 40);
    return (dls_rank){.key = kind == 3 ? key * (INT64_C(1) << 22) - (INT64_C(1) << 61) : key,
                      .level = kind == 4 ? (int32_t)dls_rng_below(rng, 60) - 30 : 0,
                      .tie = (int64_t)dls_rng_below(rng, 2),
                      .id = x};
}

static void put(int k, int32_t x, dls_rank rank)
{
    w.of[x] = (int8_t)k;
    dls_order_insert(&w.sets, &w.set[k], x, rank, x % 7, 0);
    dls_pile_insert(&w.piles, &w.pile[k], x, rank, x % 7);
}

static void take(int32_t x)
{
    const int k = w.of[x];
    w.of[x] = -1;
    dls_order_remove(&w.sets, &w.set[k], x);
    dls_pile_remove(&w.piles, &w.pile[k], x);
}

/* The nearest member by the set, and the one behind x. */
static int32_t nearest(int k)
{
    return w.pile[k].back ? dls_order_last(&w.sets, w.set[k]) : dls_order_first(&w.sets, w.set[k]);
}

static int32_t behind(int k, int32_t x)
{
    return w.pile[k].back ? dls_order_prev(&w.sets, w.set[k], x)
                          : dls_order_next(&w.sets, w.set[k], x);
}

static void check_sums(int k, dls_rng *rng)
{
    const int32_t x = (int32_t)dls_rng_below(rng, MANY); /* member of the pile or not */
    const dls_rank *rank = &w.sets.member[x].rank;
    const int64_t all = dls_order_sum(&w.sets, w.set[k]);
    const int64_t before = dls_order_sum_before(&w.sets, w.set[k], rank);
    const int64_t own = w.of[x] == k ? x % 7 : 0, want = w.pile[k].back ? all - before - own : before;
    const int64_t enough = (int64_t)dls_rng_below(rng, 40);
    const int64_t part = dls_pile_sum_to(&w.piles, &w.pile[k], rank, enough);
    assert_true(part == want || (part >= enough && part <= want));
    assert_int_equal(dls_pile_sum_to(&w.piles, &w.pile[k], rank, INT64_MAX), want);
}

/* `members` of the pile from the near end. */
static void walk(int k, int members, int64_t reach)
{
    int64_t sum = 0;
    int32_t x = dls_pile_first(&w.piles, &w.pile[k]), found = DLS_NONE;
    assert_int_equal(x, nearest(k));
    const int32_t soon = dls_pile_soon(&w.piles, &w.pile[k], 2);
    assert_true(soon == DLS_NONE || soon == behind(k, behind(k, x)));
    for (; x != DLS_NONE && members > 0; members--) {
        const int32_t next = dls_pile_next(&w.piles, &w.pile[k], x);
        assert_int_equal(next, behind(k, x));
        found = sum < reach ? x : found;
        sum += x % 7;
        x = next;
    }
    if (x == DLS_NONE || sum >= reach) {
        assert_int_equal(dls_pile_reach(&w.piles, &w.pile[k], reach), found);
    }
}

static void random_case(uint64_t seed, int kind)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 6);
    assert_int_equal(dls_order_init(&w.sets, MANY, PILES, NULL), DLS_OK);
    assert_int_equal(dls_order_init(&w.ranks, MANY, PILES, NULL), DLS_OK);
    assert_int_equal(dls_piles_init(&w.piles, &w.ranks, PILES, NULL), DLS_OK);
    for (int k = 0; k < PILES; k++) {
        w.set[k] = (dls_order_set)DLS_ORDER_SET_EMPTY;
        w.pile[k] = (dls_pile)DLS_PILE_EMPTY(k == 1);
    }
    memset(w.of, -1, sizeof w.of);
    for (int step = 0; step < 10 * MANY; step++) {
        const int k = (int)dls_rng_below(&rng, PILES);
        const bool grows = step / (2 * MANY) % 2 == 0;
        const int32_t head = nearest(k), x = (int32_t)dls_rng_below(&rng, MANY);
        if (w.of[x] < 0) {
            put(k, x, any_rank(&rng, kind == 5 ? (int)(seed + (uint64_t)step / 500) % 5 : kind, step, x));
        } else if (dls_rng_below(&rng, 4) == 0) {
            take(x);
        }
        if (head != DLS_NONE && dls_rng_below(&rng, grows ? 8 : 2) == 0) {
            assert_int_equal(dls_pile_first(&w.piles, &w.pile[k]), nearest(k));
            take(nearest(k));
        }
        if (step % 16 == 0) {
            check_sums(k, &rng);
            walk(k, (int)dls_rng_below(&rng, 60), (int64_t)dls_rng_below(&rng, 100));
        }
    }
    for (int k = 0; k < PILES; k++) {
        assert_in_range(w.pile[k].parts, 0, DLS_PILE_PARTS);
        walk(k, MANY, 0);
        while (nearest(k) != DLS_NONE) {
            assert_int_equal(dls_pile_first(&w.piles, &w.pile[k]), nearest(k));
            take(nearest(k));
        }
        assert_int_equal(dls_pile_first(&w.piles, &w.pile[k]), DLS_NONE);
        assert_int_equal(w.pile[k].parts, 0);
    }
    dls_piles_fini(&w.piles);
    dls_order_fini(&w.ranks);
    dls_order_fini(&w.sets);
}

TEST(test_random)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        for (int kind = 0; kind < KINDS; kind++) {
            random_case(seed, kind);
        }
    }
}

/* Who comes is always the nearest, so that parts pile up and are made one; a copy goes on alone. */
TEST(test_many_parts)
{
    DLS_OWN(dls_order_fini) dls_order ranks = {0}, other = {0};
    dls_piles t, copy;
    dls_pile p = DLS_PILE_EMPTY(false);
    assert_int_equal(dls_order_init(&ranks, MANY, 1, NULL), DLS_OK);
    assert_int_equal(dls_piles_init(&t, &ranks, 1, NULL), DLS_OK);
    for (int32_t x = 0; x < MANY; x++) {
        dls_pile_insert(&t, &p, x, (dls_rank){.key = -x, .id = x}, 1);
        assert_int_equal(dls_pile_first(&t, &p), x);
        assert_in_range(p.parts, 1, DLS_PILE_PARTS);
    }
    assert_int_equal(dls_order_copy(&other, &ranks, NULL), DLS_OK);
    assert_int_equal(dls_piles_copy(&copy, &t, &other, NULL), DLS_OK);
    dls_pile q = p;
    for (int32_t x = MANY - 1; x >= 0; x--) {
        assert_int_equal(dls_pile_first(&copy, &q), x);
        dls_pile_remove(&copy, &q, x);
    }
    assert_int_equal(dls_pile_sum_to(&t, &p, &(dls_rank){.key = 1}, INT64_MAX), MANY);
    dls_piles_fini(&copy);
    dls_piles_fini(&t);
}
