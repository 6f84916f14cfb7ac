/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fraction of one job's bursts that meets the other's, when one period is a small multiple of the
 * other and both have a time shift.
 */
#include "world/interleave.h"

#include <math.h>
#include <stdbool.h>

#define MULTIPLE_MAX 8
#define TOLERANCE 0.05

/* Time that bursts of length b, every p from 0 on, take up to t >= 0. */
static double bursts_until(double t, double p, double b)
{
    const double periods = floor(t / p);
    return periods * b + fmin(t - periods * p, b);
}

double dls_interleave(const dls_burst *mine, const dls_burst *other)
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
    return chance > 0 ? fmin(1, met / chance) : 1;
}
