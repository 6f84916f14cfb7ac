/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Burst/idle analysis against series worked out by hand and against brute force.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "predictor/measure/burst.h"
#include "predictor/measure/cycle.h"
#include "predictor/measure/spread.h"
#include "predictor/measure/steps.h"
#include "predictor/measure/two_means.h"
#include "support/refuse.h"

#include <math.h>
#include <stdlib.h>

#define NEAR(a, b) assert_true(near((a), (b)))
#define N(array) (sizeof(array) / sizeof(array)[0])

static int near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

TEST(two_means_by_hand)
{
    const double x[] = {9, 1, 2, 10, 3, 11};
    dls_two_means t;
    assert_int_equal(dls_two_means_find(x, N(x), &t, NULL), DLS_OK);
    NEAR(t.low, 2);
    NEAR(t.high, 10);
    NEAR(t.threshold, 6);
    NEAR(t.within, 4);
    assert_int_equal(t.n_low, 3);
    assert_int_equal(t.n_high, 3);

    const double same[] = {4, 4, 4};
    assert_int_equal(dls_two_means_find(same, N(same), &t, NULL), DLS_OK);
    assert_int_equal(t.n_high, 0);
    NEAR(t.low, 4);

    /* No double lies between: the threshold must still divide. */
    const double close[] = {1, nextafter(1, 2)};
    assert_int_equal(dls_two_means_find(close, N(close), &t, NULL), DLS_OK);
    if (t.n_high) {
        assert_false(close[0] > t.threshold);
        assert_true(close[1] > t.threshold);
    }
}

/* Sum of squares when the subset `mask` is one class and the rest the other. */
static double cost_of(const double *x, size_t n, unsigned mask)
{
    double sum[2] = {0, 0}, count[2] = {0, 0}, cost = 0;
    for (size_t i = 0; i < n; i++) {
        sum[mask >> i & 1] += x[i];
        count[mask >> i & 1]++;
    }
    for (size_t i = 0; i < n; i++) {
        const unsigned k = mask >> i & 1;
        cost += (x[i] - sum[k] / count[k]) * (x[i] - sum[k] / count[k]);
    }
    return cost;
}

TEST(two_means_against_all_subsets)
{
    dls_rng rng = dls_rng_stream(7, DLS_RNG_TEST, 1);
    for (int round = 0; round < 300; round++) {
        double x[10];
        const size_t n = 2 + dls_rng_below(&rng, 9);
        for (size_t i = 0; i < n; i++) {
            x[i] = round % 2 ? dls_rng_unit(&rng) * 100 : (double)dls_rng_below(&rng, 5);
        }
        double best = HUGE_VAL;
        for (unsigned mask = 1; mask + 1 < 1U << n; mask++) {
            best = fmin(best, cost_of(x, n, mask));
        }
        dls_two_means t;
        assert_int_equal(dls_two_means_find(x, n, &t, NULL), DLS_OK);
        assert_true(fabs(t.within - best) < 1e-7);
        size_t above = 0;
        for (size_t i = 0; i < n; i++) {
            above += x[i] > t.threshold;
        }
        assert_int_equal(above, t.n_high);
    }
}

TEST(bursts_by_hand)
{
    /* idle 1 (cut), burst 2, idle 3, burst 4, idle 1, burst 1 (cut) */
    const double x[] = {0, 90, 94, 10, 12, 14, 80, 84, 88, 92, 2, 90};
    const dls_burst_options opts = {.interval_s = 0.5, .capacity = 100};
    dls_burst b;
    assert_int_equal(dls_burst_analyze(x, N(x), &opts, &b, NULL), DLS_OK);
    assert_int_equal(b.pattern, DLS_PATTERN_BIB);
    assert_int_equal(b.n_idle, 2);
    assert_int_equal(b.n_burst, 2);
    NEAR(b.idle_s, 1.0);
    NEAR(b.burst_s, 1.5);
    NEAR(b.idle_amount, (10 + 12 + 14 + 2) / 4.0);
    NEAR(b.burst_amount, (90 + 94 + 80 + 84 + 88 + 92) / 6.0);
    NEAR(b.cycle_s, 2.5);
    assert_false(b.cut);
}

TEST(one_burst_is_a_bound)
{
    const double x[] = {0, 0, 5, 5, 5, 0};
    const dls_burst_options opts = {.interval_s = 1, .capacity = 10};
    dls_burst b;
    assert_int_equal(dls_burst_analyze(x, N(x), &opts, &b, NULL), DLS_OK);
    assert_int_equal(b.pattern, DLS_PATTERN_BIB);
    assert_true(b.cut);
    NEAR(b.burst_s, 3);
    NEAR(b.idle_s, 1.5); /* two cut pauses of 2 and 1 */
    assert_int_equal(b.n_idle, 2);
}

TEST(constant_series)
{
    const double busy[] = {96, 97, 98, 97}, quiet[] = {3, 3, 3, 3};
    const dls_burst_options opts = {.interval_s = 0.25, .capacity = 100};
    dls_burst b;
    assert_int_equal(dls_burst_analyze(busy, N(busy), &opts, &b, NULL), DLS_OK);
    assert_int_equal(b.pattern, DLS_PATTERN_B);
    NEAR(b.burst_s, 1);
    NEAR(b.burst_amount, 97);
    NEAR(b.idle_s, 0);
    assert_int_equal(dls_burst_analyze(quiet, N(quiet), &opts, &b, NULL), DLS_OK);
    assert_int_equal(b.pattern, DLS_PATTERN_I);
    NEAR(b.idle_s, 1);
    NEAR(b.burst_s, 0);
    NEAR(b.burst_amount, 0);
    assert_string_equal(dls_pattern_name(b.pattern), "I");
}

/* Bursts of `burst` samples every `period`. */
static void square(double *x, size_t n, size_t period, size_t burst, double noise, dls_rng *rng)
{
    for (size_t i = 0; i < n; i++) {
        x[i] = (i % period < burst ? 80 : 10) + noise * (dls_rng_unit(rng) - 0.5);
    }
}

static dls_status find(const double *x, size_t n, dls_cycle *c, dls_error *err)
{
    return dls_cycle_find(&x, 1, n, c, err);
}

static double correlation_at(const double *x, size_t n, size_t lag)
{
    double mean = 0, power = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        mean += x[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        power += (x[i] - mean) * (x[i] - mean);
        if (i + lag < n) {
            sum += (x[i] - mean) * (x[i + lag] - mean);
        }
    }
    return sum / power;
}

TEST(cycle_of_square_waves)
{
    static double x[1000];
    dls_rng rng = dls_rng_stream(7, DLS_RNG_TEST, 2);
    for (size_t period = 5; period < 60; period += 9) {
        square(x, N(x), period, period / 3 + 1, 8, &rng);
        dls_cycle c;
        dls_burst b;
        const dls_burst_options opts = {.interval_s = 0.01, .capacity = 100};
        assert_int_equal(find(x, N(x), &c, NULL), DLS_OK);
        assert_true(fabs(c.period_samples - (double)period) < 0.5);
        assert_true(fabs(c.correlation - correlation_at(x, N(x), period)) < 1e-9);
        assert_int_equal(dls_burst_analyze(x, N(x), &opts, &b, NULL), DLS_OK);
        NEAR(b.burst_s, (double)(period / 3 + 1) * 0.01);
        NEAR(b.cycle_s, (double)period * 0.01);
        assert_true(b.cycle_agrees);
    }
}

TEST(cycle_that_is_not_one)
{
    static double x[512];
    dls_rng rng = dls_rng_stream(7, DLS_RNG_TEST, 3);
    dls_cycle c;
    for (size_t i = 0; i < N(x); i++) {
        x[i] = dls_rng_unit(&rng);
    }
    assert_int_equal(find(x, N(x), &c, NULL), DLS_OK);
    assert_true(c.correlation < 0.2);
    for (size_t i = 0; i < N(x); i++) {
        x[i] = 3;
    }
    assert_int_equal(find(x, N(x), &c, NULL), DLS_OK);
    NEAR(c.period_samples, 0);
    /* Phases of lengths without order: counted means, and a period that agrees by chance only. */
    const dls_burst_options opts = {.interval_s = 1, .capacity = 1};
    int agree = 0;
    for (int series = 0; series < 40; series++) {
        size_t i = 0;
        for (int high = 0; i < N(x); high = !high) {
            const size_t length = 1 + dls_rng_below(&rng, high ? 4 : 60);
            for (size_t k = 0; k < length && i < N(x); k++) {
                x[i++] = high ? 1 : 0;
            }
        }
        dls_burst b;
        assert_int_equal(dls_burst_analyze(x, N(x), &opts, &b, NULL), DLS_OK);
        agree += b.cycle_agrees;
    }
    assert_true(agree <= 10);
}

/* Steps of 95.6 ms in samples of 10 ms, as a kernel-level recording of a real one showed them: the
 * highest peak of the autocorrelation is at two steps, 191 ms, and the first has two lags. */
TEST(step_between_samples)
{
    static double x[100];
    const double step = 9.56;
    for (size_t i = 0; i < N(x); i++) {
        x[i] = 0; /* the first 1.2 samples of each step are busy */
        for (int part = 0; part < 100; part++) {
            x[i] += fmod((double)i + part / 100.0, step) < 1.2 ? 0.01 : 0;
        }
    }
    dls_cycle c;
    assert_int_equal(find(x, N(x), &c, NULL), DLS_OK);
    assert_true(fabs(c.period_samples / step - 1) < 0.01);
}

/* x[i] = 1 for the first third of each step, steps of length[0..], whose number it returns. */
static size_t steps_of(double *x, size_t n, const size_t *length, size_t n_lengths, dls_rng *rng)
{
    size_t step = 0;
    for (size_t i = 0, begin = 0; i < n; i++) {
        if (i - begin == length[step % n_lengths]) {
            begin = i;
            step++;
        }
        x[i] = (3 * (i - begin) < length[0]) + 0.2 * (dls_rng_unit(rng) - 0.5);
    }
    return step;
}

/* Three of ten steps are late: an autocorrelation has the common length, 40, their mean is 46. */
TEST(steps_that_are_late)
{
    static double x[2000];
    static const size_t length[] = {40, 40, 60, 40, 40, 60, 40, 40, 60, 40};
    const double *one = x;
    dls_rng rng = dls_rng_stream(7, DLS_RNG_TEST, 6);
    const size_t n = steps_of(x, N(x), length, N(length), &rng);
    dls_steps s;
    assert_int_equal(dls_steps_follow(&one, 1, N(x), 40, &s, NULL), DLS_OK);
    assert_true(s.n + 2 >= n && s.n <= n);
    assert_true(fabs(s.mean_samples / 46 - 1) < 0.01);
    assert_true(fabs(s.low_samples - 40) < 1 && fabs(s.high_samples - 60) < 1);
    /* A period that is a little off does no harm, a second series of nothing does not count. */
    static double flat[N(x)];
    const double *both[] = {flat, x};
    dls_steps other;
    assert_int_equal(dls_steps_follow(both, 2, N(x), 43, &other, NULL), DLS_OK);
    assert_true(fabs(other.mean_samples / 46 - 1) < 0.01);
}

/* Of steps that differ in length, two are less alike than one: twice the step was found, and half of
 * that is followed. */
TEST(steps_of_half_a_period)
{
    static double x[2000];
    static const size_t length[] = {36, 44, 40, 37, 45, 38, 42, 39, 44, 35, 40};
    const double *one = x;
    dls_rng rng = dls_rng_stream(7, DLS_RNG_TEST, 8);
    dls_steps s;
    steps_of(x, N(x), length, N(length), &rng);
    assert_int_equal(dls_steps_follow(&one, 1, N(x), 80, &s, NULL), DLS_OK);
    assert_true(fabs(s.mean_samples / 40 - 1) < 0.01);
    assert_true(s.likeness > 0.5 && s.likeness <= 1);
}

TEST(steps_that_cannot_be_followed)
{
    static double x[100];
    const double *one = x;
    dls_steps s;
    assert_int_equal(dls_steps_follow(&one, 1, N(x), 10, &s, NULL), DLS_OK); /* constant */
    assert_int_equal(s.n, 0);
    for (size_t i = 0; i < N(x); i++) {
        x[i] = i % 40 < 20;
    }
    assert_int_equal(dls_steps_follow(&one, 1, N(x), 40, &s, NULL), DLS_OK); /* too few */
    assert_int_equal(s.n, 0);
    assert_int_equal(dls_steps_follow(&one, 1, N(x), 0, &s, NULL), DLS_OK);
    assert_int_equal(s.n, 0);
    dls_error err;
    EACH_REFUSED(1, dls_steps_follow(&one, 1, N(x), 20, &s, &err));
}

/* Layers that are alike repeat within a step; the exchange at its end tells the step. */
TEST(step_of_several_resources)
{
    static double gpu[1400], net[1400];
    dls_rng rng = dls_rng_stream(7, DLS_RNG_TEST, 4);
    for (size_t i = 0, begin = 0, end = 70; i < N(gpu); i++) {
        if (i == end) { /* steps of 68 to 72, the exchange takes the rest of each */
            begin = end;
            end += 68 + dls_rng_below(&rng, 5);
        }
        gpu[i] = i - begin < 60 && (i - begin) % 6 < 3;
        net[i] = i - begin >= 60;
    }
    dls_cycle c;
    double chance;
    const double *both[] = {gpu, net};
    assert_int_equal(find(gpu, N(gpu), &c, NULL), DLS_OK);
    assert_true(c.period_samples < 10);
    assert_int_equal(dls_cycle_find(both, 2, N(gpu), &c, NULL), DLS_OK);
    assert_true(fabs(c.period_samples - 70) < 3);
    assert_int_equal(dls_cycle_chance(both, 2, N(gpu), 1, &chance, NULL), DLS_OK);
    NEAR(chance, 0.01);

    const dls_burst_options opts = {.interval_s = 0.001, .capacity = 1};
    dls_burst b;
    assert_int_equal(dls_burst_analyze(gpu, N(gpu), &opts, &b, NULL), DLS_OK);
    assert_true(fabs(dls_burst_per_step(&b, 0.070) - 10) < 0.2);
    NEAR(b.explained, 1);
}

/* Phases that end at any sample as likely as at any other (no memory, so no period): of twenty such
 * series few seem to have one. */
TEST(chance_of_no_period)
{
    static double x[600];
    dls_rng rng = dls_rng_stream(7, DLS_RNG_TEST, 5);
    int taken = 0;
    const double *one = x;
    for (int series = 0; series < 20; series++) {
        for (size_t i = 0, high = 0; i < N(x); i++) {
            high = dls_rng_below(&rng, high ? 5 : 15) == 0 ? !high : high;
            x[i] = (double)high;
        }
        double chance;
        assert_int_equal(dls_cycle_chance(&one, 1, N(x), 1, &chance, NULL), DLS_OK);
        taken += chance <= 0.05;
    }
    assert_true(taken <= 4);
}

/* Bursts of 2 and 4 in turn have mean 3; what a bootstrap over steps of both must find is that this
 * is sure, and over steps of either that it is not. */
TEST(spread_over_steps)
{
    static double x[1000];
    for (size_t i = 0; i < N(x); i++) {
        x[i] = i % 20 == 5 || i % 20 == 6 || (i % 20 >= 12 && i % 20 < 16) ? 80 : 0;
    }
    const dls_burst_options opts = {.interval_s = 1, .capacity = 100};
    dls_burst b;
    dls_burst_spread s;
    assert_int_equal(dls_burst_analyze(x, N(x), &opts, &b, NULL), DLS_OK);
    NEAR(b.burst_s, 3);
    assert_int_equal(dls_burst_spread_find(x, N(x), 1, &b, 20, 1, &s, NULL), DLS_OK);
    assert_int_equal(s.n_steps, 50);
    NEAR(s.burst_s.low, 3);
    NEAR(s.burst_s.high, 3);
    NEAR(s.burst_amount.low, 80);
    assert_int_equal(dls_burst_spread_find(x, N(x), 1, &b, 0, 1, &s, NULL), DLS_OK);
    assert_true(s.burst_s.low > 2.6 && s.burst_s.low < 2.9); /* 3 -+ 1.96 / sqrt(100) */
    assert_true(s.burst_s.high < 3.4 && s.burst_s.high > 3.1);
    assert_int_equal(dls_burst_spread_find(x, 40, 1, &b, 20, 1, &s, NULL), DLS_OK);
    assert_true(isnan(s.burst_s.low)); /* two steps say nothing */
}

TEST(twelve_metrics)
{
    dls_burst b[DLS_RESOURCES] = {{0}};
    for (int r = 0; r < DLS_RESOURCES; r++) {
        b[r].idle_s = r + 0.1;
        b[r].burst_s = r + 0.2;
        b[r].burst_amount = r + 0.3;
        b[r].idle_amount = 99;
    }
    const dls_profile p = dls_burst_profile(b, 7.5);
    NEAR(p.metric[DLS_GPU_MEM_IDLE], 0.1);
    NEAR(p.metric[DLS_GPU_ACTIVE], 1.2);
    NEAR(p.metric[DLS_NET_RX_PEAK], 2.3);
    NEAR(p.metric[DLS_NET_TX_IDLE], 3.1);
    NEAR(p.iteration_s, 7.5); /* a step may have several bursts */
    assert_string_equal(dls_resource_name(DLS_RES_NET_TX), "net_tx");
    assert_null(dls_resource_name(DLS_RESOURCES));
}

TEST(mistakes)
{
    const double x[] = {1, HUGE_VAL, 3}, good[] = {1, 2, 3};
    dls_burst_options opts = {.interval_s = 1, .capacity = 1};
    dls_burst b;
    dls_two_means t;
    dls_cycle c;
    dls_error err;
    assert_int_equal(dls_burst_analyze(x, 3, &opts, &b, &err), DLS_EINPUT);
    assert_int_equal(dls_burst_analyze(good, 0, &opts, &b, &err), DLS_EINPUT);
    opts.interval_s = 0;
    assert_int_equal(dls_burst_analyze(good, 3, &opts, &b, &err), DLS_EINPUT);
    opts = (dls_burst_options){.interval_s = 1, .capacity = -1};
    assert_int_equal(dls_burst_analyze(good, 3, &opts, &b, &err), DLS_EINPUT);
    opts = (dls_burst_options){.interval_s = 1, .capacity = 1, .contrast_frac = 1};
    assert_int_equal(dls_burst_analyze(good, 3, &opts, &b, &err), DLS_EINPUT);
    const double four[] = {1, 2, 1, 2};
    EACH_REFUSED(1, dls_two_means_find(four, 4, &t, &err));
    EACH_REFUSED(1, find(four, 4, &c, &err));
}
