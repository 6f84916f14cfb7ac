/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rules of Crux on cases worked by hand, and its levels against all that there are.
 */
#include "base/rng.h"
#include "placement/crux_rule.h"
#include "support/test.h"

#include <math.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-12)

TEST(test_intensity)
{
    const dls_crux_flow f = {
        .work = 100, .period_s = 10, .bytes = 50, .line_bps = 10, .exposed_s = 5};
    NEAR(dls_crux_intensity(&f), 20); /* 100 operations, 5 s on the link */
}

TEST(test_loss)
{
    dls_crux_flow f = {.work = 1, .period_s = 10, .bytes = 20, .line_bps = 10, .exposed_s = 2};
    NEAR(dls_crux_loss(&f, 0), 0);
    NEAR(dls_crux_loss(&f, 5), 1.0 / 6); /* 4 s instead of 2: 12 s instead of 10 */
    f.exposed_s = 0;
    NEAR(dls_crux_loss(&f, 5), 0);   /* hidden, as before */
    NEAR(dls_crux_loss(&f, 9), 0.5); /* 20 s cannot hide behind 10 */
    assert_true(dls_crux_loss(&f, 1e9) < 1);
}

TEST(test_priorities)
{
    double p[3];
    /* Equal but for the operations: priority goes with the intensity. */
    dls_crux_flow f[3] = {{8, 10, 20, 10, 2}, {2, 10, 20, 10, 2}, {4, 10, 20, 10, 2}};
    dls_crux_priorities(f, 3, p);
    NEAR(p[0] / p[1], 4);
    NEAR(p[2] / p[1], 2);
    /* One whose exchange is hidden loses nothing by being the last. */
    f[0].exposed_s = 0;
    dls_crux_priorities(f, 3, p);
    assert_true(p[0] == 0 && p[2] > p[1] && p[1] > 0);
    /* Half the computing for each byte, and half as much to lose. */
    const dls_crux_flow g[2] = {{4, 10, 40, 10, 4}, {4, 10, 20, 10, 2}};
    dls_crux_priorities(g, 2, p);
    NEAR(p[0], 0.4 * dls_crux_loss(&g[0], 2));
    NEAR(p[1], 0.4 * dls_crux_loss(&g[1], 4));
    dls_crux_priorities(g, 1, p);
    NEAR(p[0], 1);
}

TEST(test_path)
{
    const double load[3 * 3] = {5, 1, 2, /* */ 0, 4, 2, /* */ 0, 0, 0};
    const int32_t racks[2] = {0, 1}, far[2] = {1, 2};
    assert_int_equal(dls_crux_path(load, 3, racks, 2), 2); /* 5, 4, 2 */
    assert_int_equal(dls_crux_path(load, 3, far, 2), 0);   /* 0, 4, 2 */
    assert_int_equal(dls_crux_path(load, 3, racks + 1, 0), 0);
}

/* What is left within levels, if nobody comes behind one that shares a link and is of less
 * priority; INFINITY if somebody does. */
static double harm_of(const double *harm, int32_t n, const int32_t *level)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = i + 1; j < n; j++) {
            if (harm[i * n + j] > 0 && level[i] > level[j]) {
                return (double)INFINITY;
            }
            sum += level[i] == level[j] ? harm[i * n + j] : 0;
        }
    }
    return sum;
}

TEST(test_levels)
{
    enum { N = 6 };
    double scratch[256];
    int32_t level[N];
    /* A chain of three: two levels do, and with one all is lost. */
    const double chain[9] = {0, 3, 0, 0, 0, 1, 0, 0, 0};
    dls_rng rng = dls_rng_stream(1, DLS_RNG_TEST, 0);
    assert_true(dls_crux_scratch(N, 3) <= sizeof scratch / sizeof *scratch);
    dls_crux_levels(chain, 3, 2, 1, &rng, scratch, level);
    assert_true(level[0] == 0 && level[1] == 1 && level[2] == 1);
    dls_crux_levels(chain, 3, 8, 1, &rng, scratch, level);
    assert_true(level[0] == 0 && level[1] == 1 && level[2] == 2);
    dls_crux_levels(chain, 3, 1, 1, &rng, scratch, level);
    assert_true(level[0] == 0 && level[1] == 0 && level[2] == 0);
    /* Random graphs: with many orders, the best of all levels that there are. */
    int32_t equal = 0, tried = 0;
    for (int32_t round = 0; round < 60; round++) {
        double harm[N * N] = {0};
        const int32_t levels = 2 + (int32_t)dls_rng_below(&rng, 2);
        for (int32_t i = 0; i < N; i++) {
            for (int32_t j = i + 1; j < N; j++) {
                harm[i * N + j] = dls_rng_below(&rng, 2) ? 0.1 + dls_rng_unit(&rng) : 0;
            }
        }
        double least = (double)INFINITY;
        int32_t all = 1, trial[N];
        for (int32_t k = 0; k < N; k++) {
            all *= levels;
        }
        for (int32_t code = 0; code < all; code++) {
            for (int32_t k = 0, left = code; k < N; k++, left /= levels) {
                trial[k] = left % levels;
            }
            least = fmin(least, harm_of(harm, N, trial));
        }
        dls_crux_levels(harm, N, levels, 1, &rng, scratch, level);
        const double one = harm_of(harm, N, level);
        dls_crux_levels(harm, N, levels, 200, &rng, scratch, level);
        const double many = harm_of(harm, N, level);
        assert_true(isfinite(one) && isfinite(many) && one >= many - 1e-12);
        assert_true(many >= least - 1e-12 && many <= least + 1e-12);
        equal += one <= least + 1e-12;
        tried++;
    }
    assert_true(equal < tried); /* one order is not always enough */
}
