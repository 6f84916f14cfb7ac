/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs that drift out of step: what is expected of them against jobs that are played iteration by
 * iteration, and what the world makes of it.
 */

#include "support/world_setup.h"

#include "base/rng.h"
#include "world/interleave.h"

#include <math.h>

#define NEAR(a, b, tolerance) assert_true(fabs((a) / (b)-1) < (tolerance))
#define BURSTS 40000

/* A job that begins each iteration with its burst. */
typedef struct played {
    double *at; /* bursts; owned */
    int32_t n, pulled;
    double end_s, paused_s;
} played;

/* For a time from its shift on. Before an iteration that would begin too far from the job's place in its
 * period it waits for that place. */
static played play(const dls_burst *b, double jitter, double pull_back, double life_s, dls_rng *rng)
{
    played p = {.at = malloc(BURSTS * sizeof *p.at)};
    double t = b->shift_s;
    assert_non_null(p.at);
    while (t < life_s) {
        const double turns = (t - b->shift_s) / b->period_s, off = turns - round(turns);
        if (fabs(off) > pull_back) {
            const double wait = (off < 0 ? -off : 1 - off) * b->period_s;
            p.paused_s += wait;
            p.pulled++;
            t += wait;
        }
        assert_true(p.n < BURSTS);
        p.at[p.n++] = t;
        t += b->period_s * (1 + jitter * dls_rng_normal(rng));
    }
    p.end_s = t;
    return p;
}

/* Time in which both burst. */
static double meet_s(const played *a, double a_s, const played *b, double b_s)
{
    double sum = 0;
    for (int32_t i = 0, from = 0; i < a->n; i++) {
        while (from < b->n && b->at[from] + b_s <= a->at[i]) {
            from++;
        }
        for (int32_t k = from; k < b->n && b->at[k] < a->at[i] + a_s; k++) {
            sum += fmax(0, fmin(a->at[i] + a_s, b->at[k] + b_s) - fmax(a->at[i], b->at[k]));
        }
    }
    return sum;
}

typedef struct sums {
    double met, chance, iterations, pulled, paused_s, life_s;
} sums;

static sums play_many(const dls_burst *a, const dls_burst *b, double jitter, double pull_back, int lives)
{
    sums s = {0};
    for (int i = 0; i < lives; i++) {
        dls_rng rng = dls_rng_stream((uint64_t)i, DLS_RNG_TEST, 0);
        const played p = play(a, jitter, pull_back, a->life_s, &rng);
        const played q = play(b, jitter, pull_back, b->life_s, &rng);
        s.met += meet_s(&p, a->burst_s, &q, b->burst_s);
        s.chance += p.n * a->burst_s * q.n * b->burst_s / q.end_s;
        s.iterations += p.n;
        s.pulled += p.pulled;
        s.paused_s += p.paused_s;
        s.life_s += p.end_s;
        free(p.at);
        free(q.at);
    }
    return s;
}

TEST(test_against_played_jobs)
{
    static const struct {
        double period, burst, shift, jitter, pull_back, life_s;
        int lives;
    } cases[] = {
        {1, 0.3, 0.33, 0.01, 0.05, 20000, 4}, /* hardly any room: a tenth meets */
        {1, 0.3, 0.45, 0.03, 0.20, 20000, 4},
        {1, 0.3, 0.50, 0.05, 0.05, 20000, 4}, /* as wild as the threshold */
        {1, 0.5, 0.50, 0.02, 0.10, 20000, 4}, /* no room at all */
        {0.5, 0.1, 0.32, 0.02, 0.10, 10000, 4}, /* two in a period of the other */
        {1, 0.3, 0.50, 0.02, 1, 2000, 1000},   /* nobody is pulled back */
        {1, 0.3, 0.50, 0.016, 1, 300, 4000}, /* ended before they are lost */
        {1, 0.3, 0.33, 0.002, 0.2, 100, 1000}, /* nor does anything happen to them */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const dls_burst a = {1, 0.3, 0, cases[i].life_s};
        const dls_burst b = {cases[i].period, cases[i].burst, cases[i].shift, cases[i].life_s};
        const dls_drift drift = dls_drift_of(cases[i].jitter, cases[i].pull_back);
        const sums s = play_many(&a, &b, cases[i].jitter, cases[i].pull_back, cases[i].lives);
        const double expected = dls_interleave(&a, &b, &drift), met = s.met / s.chance;
        if (fabs(expected - fmin(1, met)) > 0.02) {
            fail_msg("case %zu: %.4f of chance expected, %.4f played", i, expected, met);
        }
        assert_true(fabs(expected - dls_interleave(&b, &a, &drift)) < 1e-9);
        if (s.pulled < 100) {
            assert_true(s.iterations / drift.iterations < 100);
            continue;
        }
        NEAR(s.iterations / s.pulled, drift.iterations, 0.03);
        NEAR(s.paused_s / s.pulled, 0.5, 0.03); /* half an iteration */
        NEAR(s.life_s / s.iterations, 1 + 0.5 / drift.iterations, 0.005);
    }
}

/* Without drift what there was, and no step to it as the jitter falls to nothing; with ever more of it
 * nothing is left but chance. */
TEST(test_limits)
{
    const dls_burst a = {1, 0.3, 0.1, 1e5}, b = {1, 0.25, 0.52, 1e5};
    const dls_drift none = dls_drift_of(0, 0.05);
    const double still = dls_interleave(&a, &b, &none);
    double before = still;
    assert_true(isinf(none.iterations) && isinf(dls_drift_of(0.01, 0.51).iterations));
    assert_true(dls_drift_of(1, 0).iterations == 1);
    for (double jitter = 1e-6; jitter < 1; jitter *= 2) {
        const dls_drift kept = dls_drift_of(jitter, 0.05), left = dls_drift_of(jitter, 1);
        const double with = dls_interleave(&a, &b, &kept), without = dls_interleave(&a, &b, &left);
        assert_true(jitter > 2e-6 || (fabs(with - still) < 5e-3 && fabs(without - still) < 5e-3));
        assert_true(without >= before - 5e-3 && with <= without + 5e-3);
        before = without;
    }
    assert_true(before > 0.999);
}

static const world_group nodes[] = {{"V100", 4, 4, 4, 10}};

/* Two jobs on the same links, apart by half an iteration: seconds of an iteration of the first. */
static double pair(double jitter, double pull_back, dls_pull_backs *pulled, double *alone_s)
{
    const world_job jobs[] = {{"resnet50", 4, 32, 0, 100000}, {"resnet50", 4, 32, 0, 100000}};
    world_setup s;
    const dls_rate_change *changed;
    world_init(&s, "operator", nodes, 1, jobs, 2);
    s.p.jitter = jitter;
    s.p.pull_back = pull_back;
    world_open(&s);
    *alone_s = world_solo(&s, 0, 0, 4, 4, 1).iteration_s;
    for (int32_t j = 0; j < 2; j++) {
        world_start(&s, j, 0, 0, 4, 1, j);
        dls_world_set_shift(s.w, j, j * *alone_s / 2);
    }
    assert_int_equal(world_settle(&s, &changed), 2);
    const double iteration_s = world_seconds(&s, &changed[0]);
    *pulled = dls_world_pull_backs(s.w);
    /* Who is alone does not keep step with anybody, nor does one that is served after the other. */
    assert_int_equal(dls_world_set_route(s.w, 1, 0, 1, NULL), DLS_OK);
    world_settle(&s, &changed);
    assert_true(dls_world_pull_backs(s.w).per_s == 0 && dls_world_pull_backs(s.w).gpus == 0);
    assert_int_equal(dls_world_set_route(s.w, 1, 0, 0, NULL), DLS_OK);
    world_settle(&s, &changed);
    assert_true(dls_world_pull_backs(s.w).per_s == pulled->per_s);
    dls_world_stop(s.w, 1);
    world_settle(&s, &changed);
    assert_true(dls_world_pull_backs(s.w).per_s == 0 && dls_world_pull_backs(s.w).gpus == 0);
    world_fini(&s);
    return iteration_s;
}

TEST(test_world)
{
    dls_pull_backs pulled;
    double alone_s;
    const double still = pair(0, 0.05, &pulled, &alone_s);
    assert_true(pulled.per_s == 0 && pulled.gpus == 0);
    const double kept = pair(0.01, 0.05, &pulled, &alone_s);
    const double n = dls_drift_of(0.01, 0.05).iterations;
    NEAR(pulled.per_s, 2 / (n * kept), 1e-5);
    NEAR(pulled.gpus, 8 * 0.5 / (n + 0.5), 1e-5);
    const double left = pair(0.01, 1, &pulled, &alone_s);
    assert_true(pulled.per_s == 0 && pulled.gpus == 0);
    const double chance = pair(1, 1, &pulled, &alone_s);
    assert_true(still < kept && kept < left && left <= chance);
    NEAR(left, chance, 0.01);
    assert_true(kept >= still * (1 + 0.5 / n) * (1 - 1e-5));
}
