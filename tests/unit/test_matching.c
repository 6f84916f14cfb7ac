/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Maximum weight matching against all matchings of small graphs, and group times worked by hand.
 */
#include "base/rng.h"
#include "sched/matching.h"
#include "sched/stages.h"
#include "support/test.h"

#include <math.h>

enum { N_MAX = 10 };

/* The best matching of the vertices in `left`, all ways tried. */
static double best(int n, const double *w, unsigned left)
{
    if (!left) {
        return 0;
    }
    const int u = __builtin_ctz(left);
    left &= left - 1;
    double most = best(n, w, left);
    for (int v = u + 1; v < n; v++) {
        if (left >> v & 1 && w[u * n + v] > 0) {
            most = fmax(most, w[u * n + v] + best(n, w, left & ~(1u << v)));
        }
    }
    return most;
}

static double weight_of(int n, const double *w, const int32_t *mate)
{
    double sum = 0;
    for (int u = 0; u < n; u++) {
        if (mate[u] >= 0) {
            assert_in_range(mate[u], 0, n - 1);
            assert_int_equal(u, mate[mate[u]]);
            assert_true(w[u * n + mate[u]] > 0);
            sum += mate[u] > u ? w[u * n + mate[u]] : 0;
        }
    }
    return sum;
}

TEST(against_all)
{
    dls_matching *m;
    dls_error err;
    dls_rng rng = dls_rng_stream(7, DLS_RNG_TEST, 0);
    assert_int_equal(DLS_OK, dls_matching_create(&m, &err));
    for (int trial = 0; trial < 20000; trial++) {
        const int n = trial % (N_MAX + 1), dense = 1 + trial / 7 % 4, levels = trial % 3 ? 6 : 1000;
        double w[N_MAX * N_MAX] = {0};
        int32_t mate[N_MAX];
        for (int u = 0; u < n; u++) {
            for (int v = 0; v < u; v++) {
                if (dls_rng_below(&rng, 4) < (uint64_t)dense) {
                    w[u * n + v] = w[v * n + u] = 1 + (double)dls_rng_below(&rng, (uint64_t)levels);
                }
            }
        }
        assert_int_equal(DLS_OK, dls_matching_find(m, n, w, mate, &err));
        const double got = weight_of(n, w, mate), want = best(n, w, (1u << n) - 1);
        if (fabs(got - want) > 1e-9) {
            fail_msg("trial %d: %d vertices, weight %g, best %g", trial, n, got, want);
        }
    }
    dls_matching_destroy(m);
}

TEST(known)
{
    dls_matching *m;
    dls_error err;
    int32_t mate[3];
    assert_int_equal(DLS_OK, dls_matching_create(&m, &err));
    /* Of several that are as good the published program takes these pairs: a blossom that is shrunk
     * while the edges of the others are gone through does not have its turn among them. */
    static const double ties[36] = {0, 0, 3, 0, 2, 0, 0, 0, 2, 3, 3, 3, 3, 2, 0, 1, 2, 3,
                                    0, 3, 1, 0, 2, 0, 2, 3, 2, 2, 0, 1, 0, 3, 3, 0, 1, 0};
    static const int32_t taken[6] = {2, 5, 0, 4, 3, 1};
    int32_t six[6];
    assert_int_equal(DLS_OK, dls_matching_find(m, 6, ties, six, &err));
    assert_memory_equal(taken, six, sizeof taken);
    /* The heaviest edge of a path of 3 edges blocks the two others, which weigh more together. */
    const double path[16] = {0, 4, 0, 0, 4, 0, 5, 0, 0, 5, 0, 4, 0, 0, 4, 0};
    int32_t four[4];
    assert_int_equal(DLS_OK, dls_matching_find(m, 4, path, four, &err));
    assert_int_equal(1, four[0]);
    assert_int_equal(3, four[2]);
    const double none[9] = {0};
    assert_int_equal(DLS_OK, dls_matching_find(m, 3, none, mate, &err));
    assert_true(mate[0] == -1 && mate[1] == -1 && mate[2] == -1);
    const double triangle[9] = {0, 1, 2, 1, 0, 3, 2, 3, 0};
    assert_int_equal(DLS_OK, dls_matching_find(m, 3, triangle, mate, &err));
    assert_true(mate[0] == -1 && mate[1] == 2 && mate[2] == 1);
    dls_matching_destroy(m);
}

static const double plain[DLS_STAGES_JOBS + 1] = {1, 1, 1, 1, 1};

TEST(group_times)
{
    const dls_stages reader = {8, 1, 1, 11}, counter = {1, 8, 1, 11}, sender = {1, 1, 8, 11};
    const dls_stages *alone[] = {&reader}, *pair[] = {&reader, &counter};
    const dls_stages *back[] = {&counter, &reader}, *three[] = {&reader, &counter, &sender};
    assert_true(dls_stages_group_time(alone, 1, plain, true, false) == 11);
    /* counter, reader: send 1; (read 1); count 8 beside read 8 - 1 .. ; a cycle takes 10 */
    assert_true(dls_stages_group_time(pair, 2, plain, false, false) == 10);
    assert_true(dls_stages_group_time(back, 2, plain, false, false) == 10);
    assert_true(dls_stages_group_time(pair, 2, plain, true, false) >= 10);
    /* No group is faster than its most wanted resource or its longest member. */
    assert_true(dls_stages_group_time(three, 3, plain, true, false) >= 10);
    /* Two of a kind wait for each other: 8 + 8 at the same resource. */
    const dls_stages *same[] = {&counter, &counter};
    assert_true(dls_stages_group_time(same, 2, plain, true, false) >= 16);
    assert_true(dls_stages_group_time(pair, 2, dls_stages_overhead, false, false) == 10 * (1.33 / 1.015));
}
