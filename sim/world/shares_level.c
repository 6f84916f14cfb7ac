/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds the level at which one link is full: brackets the level around a guess, then false position
 * (Illinois) on the grid of levels.
 */
#include "world/shares_level.h"

/* The fullest of a link's constraints when each of its jobs has min(level, the most it can get). In
 * whole bytes, so that it never falls as the bandwidth rises and does not depend on the jobs' order. */
static int64_t load(dls_taker *taker, int32_t n, double level)
{
    const int64_t bandwidth = level < 0x1p62 ? (int64_t)level : INT64_MAX;
    int64_t sum = 0, burst = 0; /* the most that one takes beside its average */
    bool by_chance = true;
    for (int32_t i = 0; i < n; i++) {
        dls_taker *t = &taker[i];
        t->x = t->limit_bps;
        t->used = t->used_bps;
        if (bandwidth < t->x) {
            t->x = bandwidth;
            t->used = dls_level_moves(t->curve, t->speed, t->x);
        }
        sum += t->used;
        burst = t->x - t->used > burst ? t->x - t->used : burst;
        by_chance = by_chance && t->overlap == 1;
    }
    if (by_chance) {
        return sum + burst;
    }
    int64_t most = sum;
    for (int32_t i = 0; i < n; i++) {
        const int64_t met = (int64_t)(taker[i].overlap * (double)(sum - taker[i].used));
        most = taker[i].x + met > most ? taker[i].x + met : most;
    }
    return most;
}

typedef struct bracket {
    int32_t low, high;          /* fits, does not */
    double room, excess;        /* there */
    bool low_known, high_known; /* room, excess */
} bracket;

/* Around a guess, each time four times as far away, until the level lies between. */
static void close_in(dls_taker *taker, int32_t n, double capacity, int32_t guess, bracket *b)
{
    int32_t at = guess;
    for (int32_t step = 1; at > b->low && at < b->high && !(b->low_known && b->high_known);
         step *= 4) {
        const double over = (double)load(taker, n, dls_level_value(at)) - capacity;
        if (over > 0) {
            b->high = at;
            b->excess = over;
            b->high_known = true;
            at -= step;
        } else {
            b->low = at;
            b->room = -over;
            b->low_known = true;
            at += step;
        }
    }
}

/* False position, halving the weight of the end that stays (Illinois). */
static int32_t narrow(dls_taker *taker, int32_t n, double capacity, bracket b)
{
    int side = 0;
    while (b.high - b.low > 1) {
        const double low = dls_level_value(b.low), high = dls_level_value(b.high);
        int32_t middle = dls_level_below(low + (high - low) * (b.room / (b.room + b.excess)));
        middle = middle <= b.low ? b.low + 1 : middle >= b.high ? b.high - 1 : middle;
        const double over = (double)load(taker, n, dls_level_value(middle)) - capacity;
        if (over > 0) {
            b.high = middle;
            b.excess = over;
            b.room *= side > 0 ? 0.5 : 1;
            side = 1;
        } else {
            b.low = middle;
            b.room = -over;
            b.excess *= side < 0 ? 0.5 : 1;
            side = -1;
        }
    }
    return b.high;
}

int32_t dls_level_find(dls_taker *taker, int32_t n, double capacity, int32_t guess)
{
    double top = 0;
    for (int32_t i = 0; i < n; i++) {
        top = (double)taker[i].limit_bps > top ? (double)taker[i].limit_bps : top;
    }
    /* An equal part for each always fits: nobody moves more than it has. */
    bracket b = {.low = dls_level_below(capacity / n < top ? capacity / n : top), .high = dls_level_below(top) + 1};
    close_in(taker, n, capacity, guess, &b);
    if (!b.high_known) {
        b.excess = (double)load(taker, n, top) - capacity;
        if (!(b.excess > 0)) {
            return DLS_LEVEL_NONE;
        }
    }
    if (!b.low_known && b.high - b.low > 1) {
        b.room = capacity - (double)load(taker, n, dls_level_value(b.low));
    }
    return narrow(taker, n, capacity, b);
}
