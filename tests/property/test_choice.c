/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The multiple-choice knapsack of Sia's and Pollux's allocations against all picks of small
 * instances, and its bound on large ones.
 */
#include "base/rng.h"
#include "sched/choice.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>

static dls_error err;

/* The cheapest pick of groups g.. within what is left; infinite: none. */
static double cheapest(const dls_choice *c, int32_t g, int64_t *left)
{
    double best = g == c->groups ? 0 : (double)INFINITY;
    for (int32_t o = c->first[g]; g < c->groups && o < c->first[g + 1]; o++) {
        const dls_choice_option *x = &c->option[o];
        if (x->gpus <= left[x->type]) {
            left[x->type] -= x->gpus;
            best = fmin(best, x->cost + cheapest(c, g + 1, left));
            left[x->type] += x->gpus;
        }
    }
    return best;
}

static void make(dls_choice *c, dls_rng *rng, int32_t groups, int32_t options, int32_t types,
                 int32_t most, bool nothing)
{
    int64_t capacity[DLS_TYPES_MAX];
    for (int32_t t = 0; t < types; t++) {
        capacity[t] = (int64_t)dls_rng_below(rng, (uint64_t)most * (uint64_t)groups / 2 + 1);
    }
    dls_choice_begin(c, types, capacity);
    for (int32_t g = 0; g < groups; g++) {
        assert_int_equal(DLS_OK, dls_choice_group(c, &err));
        if (nothing) {
            assert_int_equal(DLS_OK, dls_choice_add(c, 1.1, 0, 0, &err));
        }
        const int32_t n = 1 + (int32_t)dls_rng_below(rng, (uint64_t)options);
        for (int32_t o = 0; o < n; o++) { /* hundredths, so that there are many equal ones */
            const double cost = (double)dls_rng_below(rng, 160) / 100 - 0.3;
            assert_int_equal(DLS_OK,
                             dls_choice_add(c, cost, (int32_t)dls_rng_below(rng, (uint64_t)types),
                                            (int32_t)dls_rng_below(rng, (uint64_t)most) + 1, &err));
        }
    }
}

static void check(const dls_choice *c)
{
    int64_t left[DLS_TYPES_MAX];
    double cost = 0;
    for (int32_t t = 0; t < c->types; t++) {
        left[t] = c->capacity[t];
    }
    for (int32_t g = 0; g < c->groups; g++) {
        assert_in_range(c->pick[g], c->first[g], c->first[g + 1] - 1);
        cost += c->option[c->pick[g]].cost;
        left[c->option[c->pick[g]].type] -= c->option[c->pick[g]].gpus;
    }
    for (int32_t t = 0; t < c->types; t++) {
        assert_true(left[t] >= 0);
    }
    assert_true(fabs(cost - c->cost) <= 1e-9 * (1 + fabs(cost)));
    assert_true(c->bound <= c->cost + 1e-9);
}

/* Against all picks; false: there is none. */
static bool compare(dls_choice *c, uint64_t seed)
{
    assert_int_equal(DLS_OK, dls_choice_solve(c, 0, &err));
    const double best = cheapest(c, 0, c->capacity);
    assert_int_equal(isfinite(best) != 0, c->solved);
    if (!c->solved) {
        return false;
    }
    check(c);
    if (fabs(c->cost - best) > 1e-9) {
        fail_msg("seed %d: %.6f, best %.6f, bound %.6f", (int)seed, c->cost, best, c->bound);
    }
    return true;
}

TEST(small)
{
    DLS_OWN(dls_choice_fini) dls_choice c = {0};
    size_t none = 0;
    for (uint64_t seed = 0; seed < FEWER(3000); seed++) {
        dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 7);
        const bool nothing = dls_rng_below(&rng, 2) == 0; /* in the same order from every compiler */
        const int32_t types = 1 + (int32_t)dls_rng_below(&rng, 3), groups = (int32_t)dls_rng_below(&rng, 7);
        make(&c, &rng, groups, 5, types, 8, nothing);
        none += !compare(&c, seed);
    }
    printf("%zu of 3000 have no pick\n", none);
    assert_in_range(none, 10, 2000);
}

/* Numbers of GPUs that fit one number together, but not in whole bits each; and some that just do. */
TEST(many_types)
{
    DLS_OWN(dls_choice_fini) dls_choice c = {0};
    size_t some = 0;
    for (uint64_t seed = 0; seed < FEWER(200); seed++) {
        dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 9);
        make(&c, &rng, 7, 5, 8, 150, dls_rng_below(&rng, 2) == 0);
        for (int32_t t = 0; t < 8; t++) {
            c.capacity[t] = seed % 2 ? 200 : t == 0 ? 127 : 200;
        }
        some += compare(&c, seed);
    }
    assert_true(some > 10);
}

/* Hundreds of groups: nothing to compare with but the bound. */
TEST(large)
{
    DLS_OWN(dls_choice_fini) dls_choice c = {0};
    for (int32_t types = 1; types <= 3; types++) {
        dls_rng rng = dls_rng_stream((uint64_t)types, DLS_RNG_TEST, 8);
        make(&c, &rng, 400, 20, types, 32, true);
        assert_int_equal(DLS_OK, dls_choice_solve(&c, 1e-4, &err));
        assert_true(c.solved);
        check(&c);
        printf("%d types: cost %.4f, bound %.4f\n", types, c.cost, c.bound);
        assert_true(c.cost - c.bound <= 1e-3 * fabs(c.cost));
    }
}

/* What the cheapest options use at a price, and the bound. */
static int64_t used_at(const dls_choice *c, double price, double *bound)
{
    int64_t used = 0;
    *bound = 0;
    for (int32_t g = 0; g < c->groups; g++) {
        const dls_choice_option *best = NULL;
        double least = (double)INFINITY;
        for (int32_t o = c->first[g]; o < c->first[g + 1]; o++) {
            const double cost = c->option[o].cost + price * c->option[o].gpus;
            best = cost < least ? &c->option[o] : best;
            least = cost < least ? cost : least;
        }
        used += best->gpus;
        *bound += least;
    }
    *bound -= price * (double)c->capacity[0];
    return used;
}

/* The price of one type is, to the bit, where halving finds that what is used crosses the capacity. */
TEST(price)
{
    DLS_OWN(dls_choice_fini) dls_choice c = {0};
    size_t some = 0;
    for (uint64_t seed = 0; seed < FEWER(400); seed++) {
        double low = 0, least = (double)INFINITY, most = -(double)INFINITY, at_0, at_high;
        dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 10);
        make(&c, &rng, 1 + (int32_t)dls_rng_below(&rng, 300), seed % 2 ? 3 : 12, 1, 16, true);
        assert_int_equal(DLS_OK, dls_choice_solve(&c, 1e-4, &err));
        for (size_t o = 0; o < c.n_options; o++) {
            least = fmin(least, c.option[o].cost);
            most = fmax(most, c.option[o].cost);
        }
        double high = used_at(&c, 0, &at_0) > c.capacity[0] ? most - least + 1 : 0;
        for (int i = 0; i < 50 && high - low > 1e-9 * high; i++) {
            const double middle = (low + high) / 2;
            *(used_at(&c, middle, &at_high) > c.capacity[0] ? &low : &high) = middle;
        }
        used_at(&c, high, &at_high);
        if (c.price[0] != (at_high > at_0 ? high : 0)) {
            fail_msg("seed %d: price %.17g, by halving %.17g", (int)seed, c.price[0], high);
        }
        some += c.price[0] > 0;
    }
    assert_true(some > FEWER(200));
}

/* Thousands of jobs of a few kinds: at the best prices all jobs of a kind change their option
 * together. */
TEST(alike)
{
    DLS_OWN(dls_choice_fini) dls_choice c = {0};
    for (int32_t groups = 1000; groups <= 4000; groups *= 2) {
        const int64_t capacity[] = {1024, 512, 512};
        dls_choice_begin(&c, 3, capacity);
        for (int32_t g = 0; g < groups; g++) {
            assert_int_equal(DLS_OK, dls_choice_group(&c, &err));
            assert_int_equal(DLS_OK, dls_choice_add(&c, 1.1, 0, 0, &err));
            for (int32_t o = 0; o < 21; o++) {
                const int32_t kind = g % 5, type = o % 3, gpus = 1 << o / 3;
                const double speed = (1 + 0.3 * type * (kind + 1)) * pow(gpus, 0.3 + 0.1 * kind);
                assert_int_equal(DLS_OK, dls_choice_add(&c, -speed, type, gpus, &err));
            }
        }
        assert_int_equal(DLS_OK, dls_choice_solve(&c, 1e-4, &err));
        assert_true(c.solved);
        check(&c);
        printf("%d jobs of five kinds: cost %.4f, bound %.4f\n", groups, c.cost, c.bound);
        assert_true(c.cost - c.bound <= 3e-3 * fabs(c.cost));
    }
}
