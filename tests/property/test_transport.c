/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Transportation problems against all ways to send a few units, one after the other.
 */
#include "base/rng.h"
#include "sched/transport.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

#define MOST 4

typedef struct problem {
    size_t rows, columns;
    double cost[MOST][MOST];
    int64_t supply[MOST], room[MOST];
} problem;

static dls_error err;

/* Least cost of what rows from `row` on send, all of it; INFINITY: there is no way. */
static double cheapest(problem *p, size_t row)
{
    double best = (double)INFINITY;
    while (row < p->rows && p->supply[row] == 0) {
        row++;
    }
    if (row == p->rows) {
        return 0;
    }
    p->supply[row]--;
    for (size_t c = 0; c < p->columns; c++) {
        if (p->room[c] > 0 && isfinite(p->cost[row][c])) {
            p->room[c]--;
            best = fmin(best, p->cost[row][c] + cheapest(p, row));
            p->room[c]++;
        }
    }
    p->supply[row]++;
    return best;
}

static problem draw(dls_rng *rng)
{
    problem p = {.rows = 1 + dls_rng_below(rng, 3), .columns = 1 + dls_rng_below(rng, MOST)};
    for (size_t r = 0; r < p.rows; r++) {
        p.supply[r] = 1 + (int64_t)dls_rng_below(rng, 2);
        for (size_t c = 0; c < p.columns; c++) {
            const bool closed = dls_rng_below(rng, 6) == 0;
            p.cost[r][c] = closed ? (double)INFINITY : (double)dls_rng_below(rng, 20);
        }
    }
    for (size_t c = 0; c < p.columns; c++) {
        p.room[c] = (int64_t)dls_rng_below(rng, 4);
    }
    return p;
}

TEST(against_all_ways)
{
    dls_transport t = {0};
    DLS_OWN(dls_scratch_fini) dls_scratch memory = {0};
    size_t possible = 0;
    for (uint64_t seed = 0; seed < FEWER(4000); seed++) {
        dls_rng rng = dls_rng_stream(seed, DLS_RNG_TEST, 11);
        problem p = draw(&rng);
        double cost = 0;
        int64_t unsent = 0;
        assert_int_equal(DLS_OK, dls_transport_begin(&t, &memory, 0, p.rows, p.columns, &err));
        for (size_t r = 0; r < p.rows; r++) {
            t.supply[r] = p.supply[r];
            memcpy(t.cost + r * p.columns, p.cost[r], p.columns * sizeof *t.cost);
        }
        memcpy(t.room, p.room, p.columns * sizeof *t.room);
        dls_transport_solve(&t);
        for (size_t r = 0; r < p.rows; r++) {
            int64_t sent = 0;
            unsent += t.supply[r];
            for (size_t c = 0; c < p.columns; c++) {
                const int64_t n = t.sent[c * p.rows + r];
                assert_true(n >= 0 && (n == 0 || isfinite(p.cost[r][c])));
                sent += n;
                p.room[c] -= n;
                cost += n > 0 ? (double)n * p.cost[r][c] : 0;
            }
            assert_int_equal(sent + t.supply[r], p.supply[r]);
        }
        for (size_t c = 0; c < p.columns; c++) {
            assert_true(p.room[c] >= 0);
            assert_int_equal(p.room[c], t.room[c]);
            for (size_t r = 0; r < p.rows; r++) {
                p.room[c] += t.sent[c * p.rows + r];
            }
        }
        const double best = cheapest(&p, 0);
        assert_true(isfinite(best) == (unsent == 0));
        if (isfinite(best)) {
            possible++;
            assert_true(fabs(cost - best) < 1e-9);
        }
    }
    assert_in_range(possible, 500, 3500);
}
