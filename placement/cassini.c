/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "placement/cassini.h"

#include <math.h>
#include <stdbool.h>

/* A pulse in slices. */
typedef struct sliced {
    int64_t period, shift;
    double burst; /* slices */
    double bps;
} sliced;

static sliced slice_pulse(const dls_pulse *p, double slice_s)
{
    const double period = fmin(DLS_CASSINI_TICKS, fmax(1, nearbyint(p->period_s / slice_s)));
    const double scaled_s = p->period_s / period; /* the slice that divides this period */
    double shift = fmod(p->shift_s, p->period_s);
    shift += shift < 0 ? p->period_s : 0;
    return (sliced){.period = (int64_t)period,
                    .shift = (int64_t)(shift / scaled_s) % (int64_t)period,
                    .burst = fmin(p->burst_s, p->period_s) / scaled_s,
                    .bps = p->bps};
}

/* Rate in slice t: the part of the slice that the burst covers. */
static double rate_at(const sliced *p, int64_t t)
{
    int64_t at = (t - p->shift) % p->period;
    at += at < 0 ? p->period : 0;
    return p->bps * fmin(1, fmax(0, p->burst - (double)at));
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b > 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int64_t common(int64_t a, int64_t b)
{
    const int64_t lcm = a / gcd(a, b) * b;
    return lcm < DLS_CASSINI_TICKS ? lcm : DLS_CASSINI_TICKS;
}

/* A link that could carry everybody at once never has to be looked at. */
static bool always_enough(const dls_cassini_link *link, const dls_pulse *mine)
{
    double sum = mine->bps;
    for (int32_t j = 0; j < link->n; j++) {
        sum += link->pulse[j].bps;
    }
    return sum <= link->capacity_bps;
}

/* score[s] of one link for every shift of mine by s slices, if lower than what is there. */
static void score_link(const dls_cassini_link *link, sliced mine, double slice_s, double *score,
                       int64_t n_shifts)
{
    double sum[DLS_CASSINI_TICKS] = {0}, own[DLS_CASSINI_TICKS];
    int64_t ticks = common(mine.period, 1);
    for (int32_t j = 0; j < link->n; j++) {
        ticks = common(ticks, slice_pulse(&link->pulse[j], slice_s).period);
    }
    for (int32_t j = 0; j < link->n; j++) {
        const sliced p = slice_pulse(&link->pulse[j], slice_s);
        for (int64_t t = 0; t < ticks; t++) {
            sum[t] += rate_at(&p, t);
        }
    }
    for (int64_t t = 0; t < DLS_CASSINI_TICKS; t++) {
        own[t] = rate_at(&mine, t) - link->capacity_bps;
    }
    for (int64_t s = 0; s < n_shifts; s++) {
        const int64_t shift = s * mine.period / n_shifts;
        double excess = 0;
        for (int64_t t = 0, at = shift > 0 ? mine.period - shift : 0; t < ticks; t++) {
            excess += fmax(0, sum[t] + own[at]);
            at = at + 1 < mine.period ? at + 1 : 0;
        }
        score[s] = fmin(score[s], 1 - excess / (double)ticks / link->capacity_bps);
    }
}

double dls_cassini_score(const dls_cassini_link *links, size_t n_links, const dls_pulse *mine,
                         double *shift_s)
{
    double score[DLS_CASSINI_SLICES] = {1}, shortest_s = mine->period_s;
    *shift_s = 0;
    for (size_t i = 0; i < n_links; i++) {
        for (int32_t j = 0; j < links[i].n; j++) {
            shortest_s = fmin(shortest_s, links[i].pulse[j].period_s);
        }
    }
    const double slice_s = shortest_s / DLS_CASSINI_SLICES;
    const sliced me = slice_pulse(mine, slice_s);
    const int64_t most = (int64_t)(sizeof score / sizeof score[0]);
    const int64_t n_shifts = me.period < most ? me.period : most;
    int64_t best = 0;
    for (int64_t s = 0; s < n_shifts; s++) {
        score[s] = 1;
    }
    for (size_t i = 0; i < n_links; i++) {
        if (!always_enough(&links[i], mine)) {
            score_link(&links[i], me, slice_s, score, n_shifts);
        }
    }
    for (int64_t s = 1; s < n_shifts; s++) {
        best = score[s] > score[best] ? s : best;
    }
    *shift_s = mine->period_s * (double)(best * me.period / n_shifts) / (double)me.period;
    return score[best];
}
