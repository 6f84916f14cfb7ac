/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ordered sets against sorted arrays: random insertions, removals and moves between three sets that
 * share a table; after each, every query for every member and limit that matters, and the sums,
 * counts and minima of every subtree recounted. Ranks come from few values and so tie often.
 */
#include "base/order.h"
#include "base/rng.h"
#include "support/test.h"
#include <stdlib.h>

#define N 40
#define SETS 3

typedef struct member {
    dls_rank rank;
    int32_t weight;
    int64_t aux;
    int set; /* -1: in none */
} member;

static member all[N];

static int by_rank(const void *a, const void *b)
{
    return dls_rank_cmp(&all[*(const int32_t *)a].rank, &all[*(const int32_t *)b].rank);
}

static int sorted_members(int set, int32_t *out)
{
    int n = 0;
    for (int32_t x = 0; x < N; x++) {
        if (all[x].set == set) {
            out[n++] = x;
        }
    }
    qsort(out, (size_t)n, sizeof *out, by_rank);
    return n;
}

/* Recount a subtree; figures and order must agree, and no node but the root be poor. */
static int32_t recount(const dls_order *t, int32_t at, int32_t height, bool root, int64_t *sum,
                       int64_t *least)
{
    const dls_order_node *p = &t->node[at];
    int32_t n = 0;
    *sum = 0;
    *least = INT64_MAX;
    assert_in_range(p->n, root ? 1 + (height > 0) : DLS_ORDER_LEAST, DLS_ORDER_WIDTH);
    for (int32_t i = 0; i < p->n; i++) {
        int64_t below, aux;
        if (height > 0) {
            n += recount(t, p->entry[i].at, height - 1, false, &below, &aux);
            assert_int_equal(p->lead[i], t->node[p->entry[i].at].lead[0]);
            assert_int_equal(p->entry[i].first, t->node[p->entry[i].at].entry[0].first);
        } else {
            const dls_member *m = &t->member[p->entry[i].at];
            assert_true(m->in_set && p->entry[i].first == p->entry[i].at);
            below = m->weight;
            aux = t->aux[p->entry[i].at];
            n++;
        }
        assert_true(i == 0 || p->lead[i - 1] <= p->lead[i]);
        assert_int_equal(p->entry[i].sum, below);
        assert_int_equal(p->entry[i].aux, aux);
        *sum += below;
        *least = aux < *least ? aux : *least;
    }
    return n;
}

static int32_t recount_set(const dls_order *t, dls_order_set s, int64_t *sum)
{
    int64_t least;
    *sum = 0;
    return s.root == DLS_NONE ? 0 : recount(t, s.root, s.height, true, sum, &least);
}

static void check_set(dls_order *t, dls_order_set s, int set)
{
    int32_t in[N];
    const int n = sorted_members(set, in);
    int64_t sum;
    assert_int_equal(recount_set(t, s, &sum), n);
    assert_int_equal(dls_order_sum(t, s), sum);
    assert_int_equal(dls_order_first(t, s), n ? in[0] : DLS_NONE);
    assert_int_equal(dls_order_last(t, s), n ? in[n - 1] : DLS_NONE);
    for (int i = 0; i < n; i++) {
        assert_int_equal(dls_order_next(t, s, in[i]), i + 1 < n ? in[i + 1] : DLS_NONE);
        assert_int_equal(dls_order_prev(t, s, in[i]), i > 0 ? in[i - 1] : DLS_NONE);
    }
    /* The rank of anything, member or not. */
    for (int32_t x = 0; x < N; x++) {
        int64_t before = 0;
        for (int i = 0; i < n; i++) {
            before += dls_rank_cmp(&all[in[i]].rank, &all[x].rank) < 0 ? all[in[i]].weight : 0;
        }
        assert_int_equal(dls_order_sum_before(t, s, &all[x].rank), before);
    }
    for (int64_t limit = -1; limit <= sum + 1; limit++) {
        int64_t up_to = 0;
        int32_t want = DLS_NONE;
        for (int i = 0; i < n && want == DLS_NONE; i++) {
            up_to += all[in[i]].weight;
            want = up_to > limit ? in[i] : DLS_NONE;
        }
        assert_int_equal(dls_order_first_over(t, s, limit), want);
    }
    for (int64_t limit = -1; limit <= 10; limit++) {
        for (int after = -1; after < n; after++) {
            int32_t want = DLS_NONE;
            for (int i = after + 1; i < n && want == DLS_NONE; i++) {
                want = all[in[i]].aux <= limit ? in[i] : DLS_NONE;
            }
            assert_int_equal(dls_order_first_aux(t, s, after < 0 ? DLS_NONE : in[after], limit),
                             want);
        }
    }
}

static void random_case(uint64_t seed)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 3);
    dls_order_set set[SETS] = {DLS_ORDER_SET_EMPTY, DLS_ORDER_SET_EMPTY, DLS_ORDER_SET_EMPTY};
    DLS_OWN(dls_order_fini) dls_order t = {0};
    assert_int_equal(dls_order_init(&t, N, SETS, NULL), DLS_OK);
    for (int32_t x = 0; x < N; x++) {
        all[x] = (member){.rank.id = x, .set = -1};
    }
    for (int step = 0; step < 300; step++) {
        const int32_t x = (int32_t)dls_rng_below(&rng, N);
        assert_int_equal(dls_order_has(&t, x), all[x].set >= 0);
        if (all[x].set >= 0) {
            dls_order_remove(&t, &set[all[x].set], x);
            all[x].set = -1;
        }
        if (dls_rng_below(&rng, 3) > 0) {
            all[x] = (member){.rank = {.key = (int64_t)dls_rng_below(&rng, 4) - 2,
                                       .tie = (int64_t)dls_rng_below(&rng, 2),
                                       .level = (int32_t)dls_rng_below(&rng, 2),
                                       .id = x},
                              .weight = (int32_t)dls_rng_below(&rng, 4),
                              .aux = (int64_t)dls_rng_below(&rng, 10),
                              .set = (int)dls_rng_below(&rng, SETS)};
            dls_order_insert(&t, &set[all[x].set], x, all[x].rank, all[x].weight, all[x].aux);
        }
        if (step % 8 == 0) {
            for (int k = 0; k < SETS; k++) {
                check_set(&t, set[k], k);
            }
        }
    }
}

TEST(test_random)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        random_case(seed);
    }
}

/* The keys of a large set: near each other, the largest there are, and levels that nodes do not
 * tell apart. */
static dls_rank any_rank(dls_rng *rng, int kind, int32_t x)
{
    const int64_t key = (int64_t)dls_rng_below(rng, kind == 0 ? 100 : UINT64_C(1) << 40);
    return (dls_rank){.key = kind == 1 ? key * (INT64_C(1) << 22) - (INT64_C(1) << 61) : key,
                      .level = kind == 2 ? (int32_t)dls_rng_below(rng, 60) - 30 : 0,
                      .id = x};
}

/* Sets of several levels that grow, shrink to nothing and grow again, against their sums and
 * neighbours. */
TEST(test_large)
{
    enum { MANY = 3000 };
    dls_rng rng = dls_rng_stream(5, DLS_RNG_TEST, 4);
    for (int kind = 0; kind < 3; kind++) {
        dls_order_set s = DLS_ORDER_SET_EMPTY;
        dls_order t;
        int64_t sum;
        int32_t n = 0;
        assert_int_equal(dls_order_init(&t, MANY, 1, NULL), DLS_OK);
        for (int step = 0; step < 12 * MANY; step++) {
            const int32_t x = (int32_t)dls_rng_below(&rng, MANY);
            const bool grows = step / (3 * MANY) % 2 == 0;
            if (dls_order_has(&t, x) && (!grows || dls_rng_below(&rng, 8) == 0)) {
                dls_order_remove(&t, &s, x);
                n--;
            } else if (!dls_order_has(&t, x) && (grows || dls_rng_below(&rng, 8) == 0)) {
                dls_order_insert(&t, &s, x, any_rank(&rng, kind, x), x % 7, x % 11);
                n++;
            }
            if (step % 1000 != 999) {
                continue;
            }
            assert_int_equal(recount_set(&t, s, &sum), n);
            int64_t before = 0;
            int32_t last = DLS_NONE;
            for (int32_t y = dls_order_first(&t, s); y != DLS_NONE; y = dls_order_next(&t, s, y)) {
                assert_true(last == DLS_NONE ||
                            dls_rank_cmp(&t.member[last].rank, &t.member[y].rank) < 0);
                assert_int_equal(dls_order_prev(&t, s, y), last);
                assert_int_equal(dls_order_sum_before(&t, s, &t.member[y].rank), before);
                before += y % 7;
                last = y;
                n--;
            }
            assert_int_equal(n, 0);
            assert_int_equal(before, sum);
            assert_int_equal(dls_order_last(&t, s), last);
            assert_int_equal(dls_order_sum(&t, s), sum);
            for (int32_t y = 0; y < MANY; y++) {
                n += dls_order_has(&t, y);
            }
        }
        for (int32_t x = 0; x < MANY; x++) {
            if (dls_order_has(&t, x)) {
                dls_order_remove(&t, &s, x);
            }
        }
        assert_int_equal(s.root, DLS_NONE);
        assert_int_equal(dls_order_first(&t, s), DLS_NONE);
        dls_order_fini(&t);
    }
}

/* A walk over one set while members move between sets: behind x is the least of those beyond the rank that x has, wherever
 * x is by then. */
TEST(test_walk_while_members_move)
{
    enum { MEMBERS = 3 * N };
    dls_rng rng = dls_rng_stream(5, DLS_RNG_TEST, 6);
    dls_order_set s[SETS] = {DLS_ORDER_SET_EMPTY, DLS_ORDER_SET_EMPTY, DLS_ORDER_SET_EMPTY};
    int in[MEMBERS] = {0};
    DLS_OWN(dls_order_fini) dls_order t = {0};
    assert_int_equal(dls_order_init(&t, MEMBERS, SETS, NULL), DLS_OK);
    for (int32_t step = 0, x = 0; step < 30000; step++) {
        for (int moves = (int)dls_rng_below(&rng, 32); moves > 0; moves--) {
            const int32_t y = dls_rng_below(&rng, 9) == 0 ? x : (int32_t)dls_rng_below(&rng, MEMBERS);
            const int to = (int)dls_rng_below(&rng, SETS);
            if (dls_order_has(&t, y)) {
                dls_order_remove(&t, &s[in[y]], y);
            }
            const int64_t key = dls_rng_below(&rng, 2) == 0 ? t.member[y].rank.key : step;
            dls_order_insert(&t, &s[to], y, (dls_rank){.key = key, .id = y}, 1, 0);
            in[y] = to;
        }
        int32_t next = DLS_NONE;
        for (int32_t z = 0; z < MEMBERS; z++) {
            if (dls_order_has(&t, z) && in[z] == 0 && dls_rank_cmp(&t.member[z].rank, &t.member[x].rank) > 0 &&
                (next == DLS_NONE || dls_rank_cmp(&t.member[z].rank, &t.member[next].rank) < 0)) {
                next = z;
            }
        }
        assert_int_equal(dls_order_next(&t, s[0], x), next);
        x = next != DLS_NONE ? next : (int32_t)dls_rng_below(&rng, MEMBERS);
    }
}

/* Sorted insertion is what a queue does; the tree must stay shallow all the same. */
TEST(test_depth)
{
    const int32_t n = 100000;
    dls_order_set s = DLS_ORDER_SET_EMPTY;
    DLS_OWN(dls_order_fini) dls_order t = {0};
    assert_int_equal(dls_order_init(&t, n, 1, NULL), DLS_OK);
    for (int32_t x = 0; x < n; x++) {
        dls_order_insert(&t, &s, x, (dls_rank){.key = x, .id = x}, 1, 0);
    }
    t.steps = 0;
    for (int32_t x = 0; x < n; x++) {
        assert_int_equal(dls_order_sum_before(&t, s, &t.member[x].rank), x);
    }
    /* Nodes that are two thirds full: 10^5 members lie five deep. */
    assert_true(t.steps / (uint64_t)n <= 5);
}
