/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shockwave's program against all numbers of rounds that up to three jobs can have: the best where all want one GPU, within a
 * hundredth where gangs do not fill the GPUs.
 */
#include "base/rng.h"
#include "sched/market.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#define MOST 3
#define WINDOW DLS_MARKET_WINDOW
static const double round_s = 120;

static dls_error err;

static void draw(dls_market *m, dls_rng *rng, double gpus, bool gangs, int64_t round)
{
    for (int i = 0; i < m->n; i++) {
        const double all_s = 100 + 6000 * dls_rng_unit(rng), done = 0.9 * dls_rng_unit(rng);
        const double gang = gangs ? 1 + floor(gpus * dls_rng_unit(rng)) : 1;
        dls_bidder *b = &m->bid[i];
        *b = (dls_bidder){.job = i, .gpus = gang, .left_s = all_s * (1 - done)};
        b->goal_s = (double)round * round_s + 200 + 3 * all_s * dls_rng_unit(rng);
        for (int c = 0; c <= WINDOW; c++) {
            b->progress[c] = dls_market_worth(fmin(1, done + c * round_s / all_s));
            b->remaining[c] = fmax(0, b->left_s - c * round_s);
        }
    }
}

/* Every job's fair end asks for so many rounds; if that cannot be, none, and those that are late weigh more. */
static void bounds(const dls_market *m, double gpus, int64_t round, int *least, double *weight)
{
    const double share = fmin(1, gpus / m->n);
    double asked = 0;
    bool fair = true;
    for (int i = 0; i < m->n; i++) {
        const dls_bidder *b = &m->bid[i];
        for (least[i] = 0; least[i] <= WINDOW && round_s * (double)(round + WINDOW) + b->remaining[least[i]] / share > b->goal_s;) {
            least[i]++;
        }
        fair &= least[i] <= WINDOW;
        asked += least[i] * b->gpus;
        weight[i] = 1;
    }
    for (int i = 0; i < m->n && !(fair && asked <= gpus * WINDOW); i++) {
        const dls_bidder *b = &m->bid[i];
        const double ratio = (round_s * (double)round + b->left_s / share) / b->goal_s;
        least[i] = 0;
        weight[i] = ratio > 1 ? pow(ratio, b->left_s < round_s ? 100.0 : 12.0) : 1;
    }
}

static double value_of(const dls_market *m, const int *rounds, const double *weight)
{
    double value = 0, last = 0;
    for (int i = 0; i < m->n; i++) {
        value += weight[i] * m->bid[i].progress[rounds[i]];
        last = fmax(last, m->bid[i].remaining[rounds[i]]);
    }
    return value / (m->n * (double)WINDOW) - 1e-3 * last;
}

/* The best from job `at` on, with what is left of the window's GPUs. */
static double best_of(const dls_market *m, int at, double left, const int *least, const double *weight, int *rounds)
{
    double best = -(double)INFINITY;
    if (at == m->n) {
        return value_of(m, rounds, weight);
    }
    for (rounds[at] = least[at]; rounds[at] <= WINDOW && rounds[at] * m->bid[at].gpus <= left; rounds[at]++) {
        best = fmax(best, best_of(m, at + 1, left - rounds[at] * m->bid[at].gpus, least, weight, rounds));
    }
    return best;
}

static void compare(uint64_t seed, bool gangs)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 12);
    DLS_OWN(dls_market_fini) dls_market m = {0};
    const double gpus = 1 + floor(4 * dls_rng_unit(&rng));
    const int64_t round = (int64_t)(50 * dls_rng_unit(&rng));
    int least[MOST], rounds[MOST];
    double weight[MOST], used = 0;
    assert_int_equal(dls_market_begin(&m, 1 + (int32_t)(MOST * dls_rng_unit(&rng)), &err), DLS_OK);
    draw(&m, &rng, gpus, gangs, round);
    bounds(&m, gpus, round, least, weight);
    const double best = best_of(&m, 0, gpus * WINDOW, least, weight, rounds);
    dls_market_plan(&m, gpus, round_s, round);
    for (int i = 0; i < m.n; i++) {
        rounds[i] = m.bid[i].given;
        used += rounds[i] * m.bid[i].gpus;
        assert_true(rounds[i] >= least[i]);
    }
    const double mine = value_of(&m, rounds, weight), within = (gangs ? 1e-2 : 1e-9) * (1 + fabs(best));
    assert_true(used <= gpus * WINDOW);
    if (mine < best - within) {
        fail_msg("seed %llu: %.6f, the best is %.6f", (unsigned long long)seed, mine, best);
    }
}

TEST(of_one_gpu)
{
    for (uint64_t seed = 0; seed < FEWER(600); seed++) {
        compare(seed, false);
    }
}

TEST(of_gangs)
{
    for (uint64_t seed = 0; seed < FEWER(600); seed++) {
        compare(seed, true);
    }
}
