/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Boosted trees of targets that are known: a step by hand, a product that takes all three levels,
 * and rows in another order.
 */
#include "support/test.h"

#include "workload/trees.h"

#include <math.h>
#include <string.h>

enum { ROWS = 1600, FEATURES = 4 };
static uint8_t x[FEATURES][ROWS];
static int64_t left[ROWS];
static uint16_t at[ROWS];

static double value_of(const dls_trees *t, const uint8_t *of)
{
    return (double)dls_trees_of(t, of) / DLS_TREES_ONE;
}

/* 200 rows a side, -1 and 1: each tree takes 200 / (10 x 201) of what is left. */
TEST(test_step)
{
    static dls_trees t;
    memset(x, 7, sizeof x);
    for (size_t i = 0; i < 400; i++) {
        x[2][i] = i < 200 ? 5 : 6;
        left[i] = i < 200 ? -DLS_TREES_ONE : DLS_TREES_ONE;
    }
    dls_trees_fit(&t, x[0], FEATURES, ROWS, 400, left, at);
    const double expected = 1 - pow(1 - 200 / 2010.0, DLS_TREES_MAX);
    assert_int_equal(t.n, DLS_TREES_MAX);
    assert_int_equal(t.tree[0].feature[1], 2);
    assert_int_equal(t.tree[0].at_most[1], 5);
    assert_true(fabs(value_of(&t, (uint8_t[]){7, 7, 5, 7}) + expected) < 1e-3);
    assert_true(fabs(value_of(&t, (uint8_t[]){0, 63, 63, 0}) - expected) < 1e-3);
    assert_true(fabs((double)left[0] / DLS_TREES_ONE + (1 - expected)) < 1e-3);
    /* No leaf of fewer than 100 rows, so no tree of fewer than 200. */
    dls_trees_fit(&t, x[0], FEATURES, ROWS, 199, left, at);
    assert_int_equal(t.n, 0);
    assert_int_equal(dls_trees_of(&t, x[0]), 0);
}

/* 1 where all three are high, else 0; the fourth is noise. The other order gives the same trees. */
TEST(test_three_levels)
{
    static dls_trees t, again;
    for (size_t turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < ROWS; i++) {
            const size_t of = turn == 0 ? i : (i * 7 + 3) % ROWS;
            for (size_t f = 0; f < 3; f++) {
                x[f][i] = of >> f & 1 ? 40 : 20;
            }
            x[3][i] = (uint8_t)(of / 8 * 5 % 64);
            left[i] = (of & 7) == 7 ? DLS_TREES_ONE : 0;
        }
        dls_trees_fit(turn == 0 ? &t : &again, x[0], FEATURES, ROWS, ROWS, left, at);
    }
    assert_memory_equal(&t, &again, sizeof t);
    assert_true(value_of(&t, (uint8_t[]){40, 40, 40, 9}) > 0.85);
    assert_true(fabs(value_of(&t, (uint8_t[]){40, 40, 20, 9})) < 0.02);
    assert_true(fabs(value_of(&t, (uint8_t[]){20, 40, 40, 63})) < 0.02);
}
