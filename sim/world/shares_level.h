/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where one link is full: inside of shares.h.
 */
#ifndef DLS_WORLD_SHARES_LEVEL_H
#define DLS_WORLD_SHARES_LEVEL_H

#include "world/shares.h"

#include <math.h>

#define DLS_LEVEL_SHIFT (52 - DLS_LEVEL_BITS)

/* Levels are the leading bits of a number > 0, which rise with it. */
static inline double dls_level_value(int32_t level)
{
    const uint64_t bits = (uint64_t)level << DLS_LEVEL_SHIFT;
    double value;
    memcpy(&value, &bits, sizeof value);
    return level == DLS_LEVEL_NONE ? (double)INFINITY : value;
}

/* The highest level that is not above a value > 0. */
static inline int32_t dls_level_below(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int32_t)(bits >> DLS_LEVEL_SHIFT);
}

/* Whole bytes per second that a job moves on average when it gets x, at most that. */
static inline int64_t dls_level_moves(const dls_curve *curve, double speed, int64_t x)
{
    const int64_t used = (int64_t)dls_curve_used(curve, (double)x, speed);
    return used < x ? used : x;
}

/* The first level at which n jobs overfill the capacity; DLS_LEVEL_NONE: they never do. guess: where it
 * may be, which decides the time but not the answer. O(n) evaluations a step, few steps. */
int32_t dls_level_find(dls_taker *taker, int32_t n, double capacity, int32_t guess);

#endif
