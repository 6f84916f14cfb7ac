/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tabulates a job's iteration time against its bandwidth at eight knots an octave.
 */
#include "world/curve.h"

#include "world/truth.h"

#include <math.h>

double dls_solo_time(const dls_solo *solo, double x_bps)
{
    double exchange = solo->fixed_s;
    if (solo->link_bytes > 0) {
        exchange += solo->link_bytes / x_bps;
    }
    const double longer = fmax(solo->overlap_s, exchange);
    if (!(longer > 0)) {
        return solo->compute_s;
    }
    const double both = longer * pow(pow(solo->overlap_s / longer, solo->gamma) +
                                         pow(exchange / longer, solo->gamma),
                                     1 / solo->gamma);
    return solo->compute_s - solo->overlap_s + both;
}

static double knot(int i)
{
    return ldexp(1 + (double)(i % DLS_CURVE_STEPS) / DLS_CURVE_STEPS,
                 i / DLS_CURVE_STEPS + DLS_CURVE_LOG2_MIN);
}

void dls_curve_make(dls_curve *c, const dls_solo *solo)
{
    const int last = DLS_CURVE_SEGMENTS - 1;
    double z = 0;
    c->bytes = solo->link_bytes;
    c->line = solo->line_bps;
    c->time[0] = dls_solo_time(solo, (double)INFINITY);
    for (int i = 0; i < last; i++) {
        const double next = knot(i);
        c->time[i + 1] = fmax(c->time[i], dls_solo_time(solo, solo->line_bps / next));
        c->slope[i] = (c->time[i + 1] - c->time[i]) / (next - z);
        z = next;
    }
    /* Beyond, the exchange is all that counts. */
    c->slope[last] = solo->link_bytes / solo->line_bps;
    c->time[last + 1] = (double)INFINITY;
}
