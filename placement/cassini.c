/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Compatibility score of jobs whose network bursts share links (CASSINI, NSDI 2024): every burst
 * becomes a pulse over time slices, the loads of a link are added slice by slice, and each time
 * shift of the new job is scored by the excess over the link's capacity.
 */
#include "placement/cassini.h"

#include <math.h>
#include <stdbool.h>

#define UNIT 0x1p30 /* the capacity of a link: rates are whole numbers, so sums of them are exact */

/* A pulse in slices: `full` of them at the whole rate, then one in which the burst ends. */
typedef struct sliced {
    int32_t period, shift, full;
    int64_t rate, end_rate;
} sliced;

static sliced slice_pulse(const dls_pulse *p, double slice_s, double capacity_bps)
{
    const double period = fmin(DLS_CASSINI_TICKS, fmax(1, nearbyint(p->period_s / slice_s)));
    const double scaled_s = p->period_s / period; /* the slice that divides this period */
    double shift = fmod(p->shift_s, p->period_s);
    shift += shift < 0 ? p->period_s : 0;
    const double burst = fmin(p->burst_s, p->period_s) / scaled_s;
    const double rate = fmin(p->bps / capacity_bps, 1024) * UNIT, full = floor(burst);
    return (sliced){.period = (int32_t)period,
                    .shift = (int32_t)(shift / scaled_s) % (int32_t)period,
                    .full = (int32_t)full,
                    .rate = llround(rate),
                    .end_rate = llround(rate * (burst - full))};
}

static int32_t gcd(int32_t a, int32_t b)
{
    while (b > 0) {
        const int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int32_t common(int32_t a, int32_t b)
{
    const int32_t lcm = a / gcd(a, b) * b;
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

static int32_t within(int32_t t, int32_t ticks)
{
    return t < 0 ? 0 : t < ticks ? t : ticks;
}

/* Adds the pulse to the load of every slice. */
static void add_pulse(const sliced *p, int64_t load[DLS_CASSINI_TICKS], int32_t ticks)
{
    for (int32_t start = p->shift - p->period; start < ticks; start += p->period) {
        const int32_t end = start + p->full;
        for (int32_t t = within(start, ticks); t < within(end, ticks); t++) {
            load[t] += p->rate;
        }
        if (end >= 0 && end < ticks) {
            load[end] += p->end_rate;
        }
    }
}

static int64_t positive(int64_t x)
{
    return x > 0 ? x : 0;
}

/* What others exceed the capacity by in a slice, and how much more of it there is if mine sends, or
 * ends its burst, in that slice. */
typedef struct slices {
    int64_t others;                        /* sum over all slices */
    int64_t sending[DLS_CASSINI_TICKS + 1]; /* sum over the slices before */
    int64_t ending[DLS_CASSINI_TICKS];
} slices;

static void fill_slices(const int64_t load[DLS_CASSINI_TICKS], int32_t ticks, const sliced *mine,
                        slices *out)
{
    out->others = out->sending[0] = 0;
    for (int32_t t = 0; t < ticks; t++) {
        const int64_t over = load[t] - (int64_t)UNIT, alone = positive(over);
        out->others += alone;
        out->sending[t + 1] = out->sending[t] + positive(over + mine->rate) - alone;
        out->ending[t] = positive(over + mine->end_rate) - alone;
    }
}

/* Sum of the excess when mine is shifted by so many slices. */
static int64_t excess_at(const slices *s, int32_t ticks, const sliced *mine, int32_t shift)
{
    int64_t excess = s->others;
    for (int32_t start = shift - mine->period; start < ticks; start += mine->period) {
        const int32_t end = start + mine->full;
        excess += s->sending[within(end, ticks)] - s->sending[within(start, ticks)];
        if (end >= 0 && end < ticks) {
            excess += s->ending[end];
        }
    }
    return excess;
}

/* score[s] of one link for every shift of mine by s of n_shifts parts, if lower than what is there.
 * Returns the greatest that is left. */
static double score_link(const dls_cassini_link *link, const dls_pulse *pulse, double slice_s,
                         double *score, int32_t n_shifts)
{
    int64_t load[DLS_CASSINI_TICKS] = {0};
    sliced other[DLS_CASSINI_JOBS];
    slices s;
    const sliced mine = slice_pulse(pulse, slice_s, link->capacity_bps);
    int32_t ticks = mine.period;
    double most = -(double)INFINITY;
    for (int32_t j = 0; j < link->n; j++) {
        other[j] = slice_pulse(&link->pulse[j], slice_s, link->capacity_bps);
        ticks = common(ticks, other[j].period);
    }
    for (int32_t j = 0; j < link->n; j++) {
        add_pulse(&other[j], load, ticks);
    }
    fill_slices(load, ticks, &mine, &s);
    for (int32_t k = 0; k < n_shifts; k++) {
        const int64_t excess = excess_at(&s, ticks, &mine, k * mine.period / n_shifts);
        const double here = 1 - (double)excess / ticks / UNIT;
        score[k] = here < score[k] ? here : score[k];
        most = score[k] > most ? score[k] : most;
    }
    return most;
}

double dls_cassini_score(const dls_cassini_link *links, size_t n_links, const dls_pulse *mine,
                         double above, double *shift_s)
{
    double score[DLS_CASSINI_SLICES], shortest_s = mine->period_s, most = 1;
    for (size_t i = 0; i < n_links; i++) {
        for (int32_t j = 0; j < links[i].n; j++) {
            shortest_s = fmin(shortest_s, links[i].pulse[j].period_s);
        }
    }
    const double slice_s = shortest_s / DLS_CASSINI_SLICES;
    const int32_t period = slice_pulse(mine, slice_s, 1).period;
    const int32_t n_shifts = period < DLS_CASSINI_SLICES ? period : DLS_CASSINI_SLICES;
    for (int32_t k = 0; k < n_shifts; k++) {
        score[k] = 1;
    }
    for (size_t i = 0; i < n_links && most > above; i++) {
        if (!always_enough(&links[i], mine)) {
            most = score_link(&links[i], mine, slice_s, score, n_shifts);
        }
    }
    int32_t best = 0;
    for (int32_t k = 1; k < n_shifts; k++) {
        best = score[k] > score[best] ? k : best;
    }
    *shift_s = mine->period_s * (double)(best * period / n_shifts) / (double)period;
    return score[best];
}
