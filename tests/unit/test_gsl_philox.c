/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GSL distributions on dlsim's streams: the published Philox block, equality with the stream, means
 * within four standard errors.
 */

#include "support/test.h"
#include "traces/gsl_philox.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#define DRAWS 200000

/* The zero-key, zero-counter block that Random123 publishes. */
TEST(published_answer)
{
    static const unsigned long answer[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    dls_gsl_rng rng;
    dls_gsl_rng_init(&rng, 1, DLS_RNG_TEST, 0);
    memset(&rng.stream, 0, sizeof rng.stream);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(gsl_rng_get(&rng.gsl), answer[i]);
    }
}

TEST(equals_the_stream)
{
    dls_gsl_rng rng;
    dls_gsl_rng_init(&rng, 42, DLS_RNG_ARRIVALS, 7);
    dls_rng plain = dls_rng_stream(42, DLS_RNG_ARRIVALS, 7);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(gsl_rng_get(&rng.gsl), dls_rng_u32(&plain));
        assert_true(gsl_rng_uniform(&rng.gsl) == dls_rng_unit(&plain));
    }
}

/* GSL's own way to a generator: allocated, seeded with all 64 bits, cloned. */
TEST(allocated)
{
    gsl_rng *a = gsl_rng_alloc(dls_gsl_rng_philox);
    assert_non_null(a);
    dls_rng plain = dls_rng_stream(7, DLS_RNG_TEST, 0);
    gsl_rng_set(a, 7);
    assert_int_equal(gsl_rng_get(a), dls_rng_u32(&plain));
    gsl_rng *b = gsl_rng_clone(a);
    assert_int_equal(gsl_rng_get(a), gsl_rng_get(b));
    gsl_rng_set(a, 7 + (UINT64_C(1) << 32));
    gsl_rng_set(b, 7);
    assert_int_not_equal(gsl_rng_get(a), gsl_rng_get(b));
    assert_int_equal(gsl_rng_min(a), 0);
    assert_int_equal(gsl_rng_max(a), UINT32_MAX);
    gsl_rng_free(a);
    gsl_rng_free(b);
}

/* Means within four standard errors. */
TEST(distributions)
{
    for (uint64_t seed = 0; seed < 6; seed++) {
        dls_gsl_rng rng;
        double exponential = 0, normal = 0, square = 0;
        dls_gsl_rng_init(&rng, seed, DLS_RNG_TEST, 0);
        for (int i = 0; i < DRAWS; i++) {
            const double x = gsl_ran_gaussian(&rng.gsl, 1);
            exponential += gsl_ran_exponential(&rng.gsl, 1);
            normal += x;
            square += x * x;
        }
        const double error = 4 / sqrt(DRAWS);
        assert_true(fabs(exponential / DRAWS - 1) < error);
        assert_true(fabs(normal / DRAWS) < error);
        assert_true(fabs(square / DRAWS - 1) < error * sqrt(2));
    }
}
