/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Mean and maximum of link loads: an exact integer sum, and counts of links by step of 1/1024.
 */
#include "world/load_gauge.h"

static int step_of(int64_t load)
{
    const int64_t step = (load * DLS_LOAD_STEPS + DLS_LOAD_ONE / 2) / DLS_LOAD_ONE;
    return step > DLS_LOAD_STEPS ? DLS_LOAD_STEPS : (int)step;
}

static void add_at(dls_load_gauge *g, int step, int32_t n)
{
    g->count[step] += n;
    const uint64_t bit = UINT64_C(1) << (step % 64);
    if (g->count[step] > 0) {
        g->some[step / 64] |= bit;
    } else {
        g->some[step / 64] &= ~bit;
    }
}

void dls_load_gauge_enter(dls_load_gauge *g)
{
    g->links++;
    add_at(g, 0, 1);
}

void dls_load_gauge_leave(dls_load_gauge *g)
{
    g->links--;
    add_at(g, 0, -1);
}

void dls_load_gauge_move(dls_load_gauge *g, int64_t from, int64_t to)
{
    g->sum += to - from;
    if (step_of(from) != step_of(to)) {
        add_at(g, step_of(from), -1);
        add_at(g, step_of(to), 1);
    }
}

float dls_load_gauge_mean(const dls_load_gauge *g)
{
    return g->links ? (float)((double)g->sum / DLS_LOAD_ONE / g->links) : 0.0F;
}

float dls_load_gauge_max(const dls_load_gauge *g)
{
    for (int i = DLS_LOAD_STEPS / 64; i >= 0; i--) {
        if (g->some[i]) {
            const int top = 63 - __builtin_clzll(g->some[i]);
            return (float)(64 * i + top) / DLS_LOAD_STEPS;
        }
    }
    return 0.0F;
}
