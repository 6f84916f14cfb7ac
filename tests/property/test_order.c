/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ordered sets against sorted arrays: random insertions, removals and moves between three sets that
 * share their nodes; after each, every query for every member and limit that matters, and the sums,
 * counts and minima of every subtree recounted. Ranks come from few values and so tie often.
 */
#include "base/order.h"
#include "base/rng.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

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

/* Recount a subtree; links, order of the heap and cached figures must agree. */
static int32_t recount(const dls_order *t, int32_t x, int32_t parent, int64_t *sum,
                       int64_t *min_aux)
{
    if (x == DLS_NONE) {
        *sum = 0;
        *min_aux = INT64_MAX;
        return 0;
    }
    const dls_order_node *p = &t->node[x];
    int64_t sum_l, sum_r, min_l, min_r;
    assert_int_equal(p->parent, parent);
    const int32_t count =
        1 + recount(t, p->left, x, &sum_l, &min_l) + recount(t, p->right, x, &sum_r, &min_r);
    *sum = p->weight + sum_l + sum_r;
    *min_aux = p->aux < min_l ? p->aux : min_l;
    *min_aux = min_r < *min_aux ? min_r : *min_aux;
    assert_int_equal(p->sum, *sum);
    assert_int_equal(p->min_aux, *min_aux);
    return count;
}

static void check_set(dls_order *t, dls_order_set s, int set)
{
    int32_t in[N];
    const int n = sorted_members(set, in);
    int64_t sum, min_aux;
    assert_int_equal(recount(t, s.root, DLS_NONE, &sum, &min_aux), n);
    assert_int_equal(dls_order_sum(t, s), sum);
    assert_int_equal(dls_order_first(t, s), n ? in[0] : DLS_NONE);
    assert_int_equal(dls_order_last(t, s), n ? in[n - 1] : DLS_NONE);
    for (int i = 0; i < n; i++) {
        assert_int_equal(dls_order_next(t, in[i]), i + 1 < n ? in[i + 1] : DLS_NONE);
        assert_int_equal(dls_order_prev(t, in[i]), i > 0 ? in[i - 1] : DLS_NONE);
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
    dls_order t;
    assert_int_equal(dls_order_init(&t, N, NULL), DLS_OK);
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
    dls_order_fini(&t);
}

static void test_random(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 40; seed++) {
        random_case(seed);
    }
}

/* Sorted insertion is what a queue does; the tree must stay shallow all the same. */
static void test_depth(void **unused)
{
    (void)unused;
    const int32_t n = 100000;
    dls_order_set s = DLS_ORDER_SET_EMPTY;
    dls_order t;
    assert_int_equal(dls_order_init(&t, n, NULL), DLS_OK);
    for (int32_t x = 0; x < n; x++) {
        dls_order_insert(&t, &s, x, (dls_rank){.key = x, .id = x}, 1, 0);
    }
    t.steps = 0;
    for (int32_t x = 0; x < n; x++) {
        assert_int_equal(dls_order_sum_before(&t, s, &t.node[x].rank), x);
    }
    /* A random tree of n nodes has depth 1.39 log2 n on average: 23 here. */
    assert_true(t.steps / (uint64_t)n < 30);
    dls_order_fini(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random), cmocka_unit_test(test_depth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
