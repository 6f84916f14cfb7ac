/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fraction of one job's bursts that meets the other's, when one period is a small multiple of the
 * other and both have a time shift: integrated where phases stand still, by the Fourier series of the one
 * seen through the other where they drift.
 */
#include "world/interleave.h"

#include <math.h>
#include <stdbool.h>

#define MULTIPLE_MAX 8
#define TOLERANCE 0.05
#define OVERSHOOT 0.583
#define TERMS 100
#define PI 3.14159265358979323846

dls_drift dls_drift_of(double jitter, double pull_back)
{
    const double b = pull_back / jitter;
    const bool never = !(jitter > 0) || pull_back > 0.5;
    return (dls_drift){jitter, never ? (double)INFINITY
                                     : fmax(1, (b + OVERSHOOT) * (b + OVERSHOOT) + 0.25)};
}

/* Time that bursts of length b, every p from 0 on, take up to t >= 0. */
static double bursts_until(double t, double p, double b)
{
    const double periods = floor(t / p);
    return periods * b + fmin(t - periods * p, b);
}

/* Two phases that spread at the rates until each has reached its most, for so long. */
typedef struct spread {
    double rate[2], most[2], life_s; /* s^2 per second, s^2 */
} spread;

/* What is left of a wave exp(i w phase) on average: of exp(-w^2 variance / 2) over the life. */
static double left_of(const spread *s, double w)
{
    const double half = w * w / 2;
    double t = 0, sum = 0;
    while (t < s->life_s) {
        double rate = 0, variance = 0, until = s->life_s;
        for (int j = 0; j < 2; j++) {
            const double end = s->most[j] / s->rate[j];
            const bool rises = t < end;
            rate += rises ? s->rate[j] : 0;
            variance += rises ? s->rate[j] * t : s->most[j];
            until = rises ? fmin(until, end) : until;
        }
        const double fall = half * rate * (until - t);
        sum += (until - t) * exp(-half * variance) * (fall > 0 ? -expm1(-fall) / fall : 1);
        t = until;
    }
    return s->life_s > 0 ? sum / s->life_s : 1;
}

/* As dls_interleave, of bursts of those lengths, one of them every period, `from` apart; sharp: that
 * without drift. Where little drifts only what that changes is summed. */
static double blurred(double sharp, double period, double a, double b, double from, const spread *s)
{
    const double least = left_of(s, 2 * PI * TERMS / period);
    double sum = least > 0.5 ? sharp : 1;
    for (int k = 1; k <= TERMS; k++) {
        const double w = 2 * PI * k / period;
        const double left = left_of(s, w);
        if (left < 1e-7) {
            break;
        }
        sum += (least > 0.5 ? left - 1 : left) * 8 * sin(w * a / 2) * sin(w * b / 2) *
               cos(w * (from + (a - b) / 2)) / (w * w * a * b);
    }
    return fmax(0, sum);
}

double dls_interleave(const dls_burst *mine, const dls_burst *other, const dls_drift *drift)
{
    const bool longer = mine->period_s >= other->period_s;
    const dls_burst *l = longer ? mine : other, *s = longer ? other : mine;
    const double n = round(l->period_s / s->period_s);
    if (isnan(mine->shift_s) || isnan(other->shift_s) || n > MULTIPLE_MAX ||
        fabs(l->period_s / (n * s->period_s) - 1) > TOLERANCE) {
        return 1;
    }
    const double period = l->period_s / n;
    const double burst = fmin(s->burst_s, period), long_burst = fmin(l->burst_s, l->period_s);
    double from = fmod(l->shift_s - s->shift_s, period);
    from += from < 0 ? period : 0;
    const double met =
        bursts_until(from + long_burst, period, burst) - bursts_until(from, period, burst);
    /* Met by chance: the part of all time in which the other bursts. */
    const double chance = long_burst * n * burst / l->period_s;
    if (!(chance > 0)) {
        return 1;
    }
    double part = met / chance;
    if (drift->jitter > 0) {
        const double step = drift->jitter * drift->jitter,
                     most = step * fmax(0, drift->iterations - 2) / 6;
        const spread both = {{step * l->period_s, step * s->period_s},
                             {most * l->period_s * l->period_s, most * s->period_s * s->period_s},
                             fmin(l->life_s, s->life_s)};
        part = blurred(part, period, long_burst, burst, from, &both);
    }
    return fmin(1, part);
}
