/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Kendall's tau-b against counting every pair.
 */
#include "base/alloc.h"
#include "base/kendall.h"
#include "base/rng.h"
#include "support/refuse.h"

#include <math.h>

static double by_pairs(const double *x, const double *y, size_t n)
{
    double score = 0, x_differs = 0, y_differs = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            const int a = (x[i] > x[j]) - (x[i] < x[j]), b = (y[i] > y[j]) - (y[i] < y[j]);
            score += a * b;
            x_differs += a != 0;
            y_differs += b != 0;
        }
    }
    return score / sqrt(x_differs * y_differs);
}

TEST(against_pairs)
{
    dls_rng rng = dls_rng_stream(3, DLS_RNG_TEST, 1);
    for (int round = 0; round < 200; round++) {
        double x[60], y[60], tau;
        const size_t n = 2 + dls_rng_below(&rng, 58);
        for (size_t i = 0; i < n; i++) {
            x[i] =
                (double)dls_rng_below(&rng, round % 2 ? 10 : 1000000); /* many ties; hardly any */
            y[i] =
                round % 3 ? x[i] + (double)dls_rng_below(&rng, 5) : (double)dls_rng_below(&rng, 8);
        }
        assert_int_equal(dls_kendall_tau(x, y, n, &tau, NULL), DLS_OK);
        const double want = by_pairs(x, y, n);
        assert_true(isfinite(want) ? fabs(tau - want) < 1e-12 : isnan(tau));
    }
}

TEST(by_hand)
{
    const double up[] = {1, 2, 3, 4}, down[] = {9, 7, 5, 3}, one[] = {1, 1, 1, 1};
    double tau;
    assert_int_equal(dls_kendall_tau(up, up, 4, &tau, NULL), DLS_OK);
    assert_true(fabs(tau - 1) < 1e-12);
    assert_int_equal(dls_kendall_tau(up, down, 4, &tau, NULL), DLS_OK);
    assert_true(fabs(tau + 1) < 1e-12);
    assert_int_equal(dls_kendall_tau(up, one, 4, &tau, NULL), DLS_OK);
    assert_true(isnan(tau));
    assert_int_equal(dls_kendall_tau(up, up, 1, &tau, NULL), DLS_OK);
    assert_true(isnan(tau));
}

TEST(no_memory)
{
    const double x[] = {1, 2};
    double tau;
    EACH_REFUSED(1, dls_kendall_tau(x, x, 2, &tau, NULL));
}
