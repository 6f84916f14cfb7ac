/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * CASSINI's compatibility score against its definition integrated on a fine grid over every shift,
 * and against cases with a known answer.
 */
#include "base/rng.h"
#include "placement/cassini.h"
#include "support/test.h"

#include <math.h>

static double rate(const dls_pulse *p, double t, double shift_s)
{
    double at = fmod(t - shift_s, p->period_s);
    at += at < 0 ? p->period_s : 0;
    return at < p->burst_s ? p->bps : 0;
}

/* 1 - mean of max(0, sum - C) / C over `span_s`, midpoints of a fine grid. */
static double score_at(const dls_cassini_link *l, const dls_pulse *mine, double shift_s,
                       double span_s, int steps)
{
    double excess = 0;
    for (int i = 0; i < steps; i++) {
        const double t = (i + 0.5) * span_s / steps;
        double sum = rate(mine, t, shift_s);
        for (int32_t j = 0; j < l->n; j++) {
            sum += rate(&l->pulse[j], t, l->pulse[j].shift_s);
        }
        excess += fmax(0, sum - l->capacity_bps);
    }
    return 1 - excess / steps / l->capacity_bps;
}

static dls_pulse pulse(double period_s, double burst_s, double bps, double shift_s)
{
    return (dls_pulse){period_s, burst_s, bps, shift_s};
}

TEST(test_known)
{
    double shift;
    const dls_pulse half = pulse(1, 0.5, 10, 0);
    dls_cassini_link l = {.capacity_bps = 10, .pulse = {half}, .n = 1};
    /* Two halves fit exactly, one after the other. */
    assert_float_equal(dls_cassini_score(&l, 1, &half, 0, &shift), 1, 1e-9);
    assert_float_equal(shift, 0.5, 1e-9);
    /* The other starts later: so does the pause. */
    l.pulse[0].shift_s = 0.75;
    assert_float_equal(dls_cassini_score(&l, 1, &half, 0, &shift), 1, 1e-9);
    assert_float_equal(shift, 0.25, 1e-9);
    /* Three halves on the link: somebody overlaps for half of the time, 10 over 10 too much. */
    l.pulse[0].shift_s = 0;
    l.pulse[1] = pulse(1, 0.5, 10, 0.5);
    l.n = 2;
    assert_float_equal(dls_cassini_score(&l, 1, &half, 0, &shift), 0.5, 1e-9);
    /* Twice the period: three eighths of each second period are free beside half in every one. */
    l.pulse[0] = pulse(0.5, 0.25, 10, 0);
    l.n = 1;
    const dls_pulse slow = pulse(1, 0.5, 10, 0);
    /* 0.5 s of sending into pauses of 0.25 s: overlaps for 0.25 of 1 s, whatever the shift. */
    assert_float_equal(dls_cassini_score(&l, 1, &slow, 0, &shift), 0.75, 1e-9);
    /* A link that holds both at once; no link at all. */
    l.capacity_bps = 20;
    assert_float_equal(dls_cassini_score(&l, 1, &half, 0, &shift), 1, 1e-9);
    assert_true(shift == 0);
    assert_float_equal(dls_cassini_score(NULL, 0, &half, 0, &shift), 1, 1e-9);
    /* Alone, but more than the link carries: half of the time 5 over 5 too much. */
    l = (dls_cassini_link){.capacity_bps = 5};
    assert_float_equal(dls_cassini_score(&l, 1, &half, 0, &shift), 0.5, 1e-9);
}

/* One shift for all links: what suits the first may not suit the second. */
TEST(test_two_links)
{
    double shift;
    const dls_pulse mine = pulse(1, 0.5, 10, 0);
    dls_cassini_link l[2] = {
        {.capacity_bps = 10, .pulse = {pulse(1, 0.5, 10, 0)}, .n = 1},
        {.capacity_bps = 10, .pulse = {pulse(1, 0.5, 10, 0.5)}, .n = 1},
    };
    /* Overlaps of x and 0.5 - x: the worse is least in the middle. */
    assert_float_equal(dls_cassini_score(l, 2, &mine, 0, &shift), 0.75, 1e-9);
    assert_float_equal(shift, 0.25, 1e-9);
    l[1].pulse[0].shift_s = 0;
    assert_float_equal(dls_cassini_score(l, 2, &mine, 0, &shift), 1, 1e-9);
}

static double draw(dls_rng *rng, double low, double high)
{
    return low + (high - low) * dls_rng_unit(rng);
}

/* Shifted by up to so many periods; the numbers come in the same order from every compiler. */
static dls_pulse draw_pulse(dls_rng *rng, double base, double shift)
{
    static const double multiple[] = {1, 1, 2, 3, 4, 1.5};
    const double period = base * multiple[dls_rng_below(rng, 6)];
    const double at = shift > 0 ? draw(rng, 0, shift) * period : 0;
    const double bps = draw(rng, 1, 10);
    return pulse(period, draw(rng, 0.05, 0.95) * period, bps, at);
}

/* Periods with a small common multiple: the score is the brute-force optimum but for the slices, which are worth
 * less than 0.02 in 99 of 100 such cases, and 0.05 at most in 20,000. */
TEST(test_brute_force)
{
    dls_rng rng = dls_rng_stream(4, DLS_RNG_TEST, 77);
    double least = 1;
    for (int trial = 0; trial < 200; trial++) {
        const double base = draw(&rng, 0.05, 2);
        dls_cassini_link l = {.capacity_bps = draw(&rng, 5, 15)};
        l.n = 1 + (int32_t)dls_rng_below(&rng, 3);
        for (int32_t j = 0; j < l.n; j++) {
            l.pulse[j] = draw_pulse(&rng, base, 2);
        }
        const dls_pulse mine = draw_pulse(&rng, base, 0);
        const double period = mine.period_s;
        double shift, best = -1e9;
        const double score = dls_cassini_score(&l, 1, &mine, 0, &shift);
        for (int s = 0; s < 96; s++) {
            best = fmax(best, score_at(&l, &mine, s * period / 96, 12 * base, 4000));
        }
        assert_true(shift >= 0 && shift < period);
        assert_true(fabs(score - best) < 0.02);
        /* And the shift that is named does what the score says. */
        assert_true(fabs(score_at(&l, &mine, shift, 12 * base, 4000) - score) < 0.02);
        least = fmin(least, score);
    }
    assert_true(least < 0.7);
}
