/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The iteration time of a job against the bandwidth that it gets, as a table: what the solver of
 * shares evaluates all the time, without a power function.
 *
 * The time is kept as a function of z = line / bandwidth, how many times slower than alone the network
 * is: convex and rising (dls_solo), linear between knots that stand at eight points an octave from
 * 1/16 to 4096. It is exact at the knots, so at z = 1, at most 0.6 % too long between them, and never less
 * than the exchange itself.
 *
 * A job whose GPUs run at `speed` computes longer by 1 / speed:
 *
 *      time(x, speed) = time(z = speed * line / x) / speed
 */
#ifndef DLS_WORLD_CURVE_H
#define DLS_WORLD_CURVE_H

#include "world/world.h"

#include <string.h>

#define DLS_CURVE_LOG2_MIN (-4)
#define DLS_CURVE_LOG2_MAX 12
#define DLS_CURVE_STEPS 8 /* of an octave: a power of two */
#define DLS_CURVE_SEGMENTS (DLS_CURVE_STEPS * (DLS_CURVE_LOG2_MAX - DLS_CURVE_LOG2_MIN) + 2)

typedef struct dls_curve {
    double bytes; /* per iteration over each node's link */
    double line;  /* bytes per second; > 0 */
    double time[DLS_CURVE_SEGMENTS + 1]; /* at the knots; the first is at 0, behind the last there is none */
    double slope[DLS_CURVE_SEGMENTS];
} dls_curve;

/* Of a job with a network: solo->link_bytes and line_bps > 0. */
void dls_curve_make(dls_curve *curve, const dls_solo *solo);

/* Never falls as z rises, not even by a rounding. */
static inline double dls_curve_time(const dls_curve *c, double z)
{
    uint64_t bits;
    memcpy(&bits, &z, sizeof bits);
    /* Exponent and leading bits of the mantissa number the steps. */
    const int64_t step = (int64_t)(bits >> 52) * DLS_CURVE_STEPS +
                         (int64_t)(bits >> 49 & (DLS_CURVE_STEPS - 1)) -
                         DLS_CURVE_STEPS * (1023 + DLS_CURVE_LOG2_MIN) + 1;
    const int64_t i = step < 0                     ? 0
                      : step >= DLS_CURVE_SEGMENTS ? DLS_CURVE_SEGMENTS - 1
                                                   : step;
    /* The knot before z has the same exponent and leading bits. */
    double knot;
    bits &= ~UINT64_C(0) << 49;
    memcpy(&knot, &bits, sizeof knot);
    knot = i == 0 ? 0 : i == DLS_CURVE_SEGMENTS - 1 ? 1 << DLS_CURVE_LOG2_MAX : knot;
    const double time = c->time[i] + c->slope[i] * (z - knot);
    return time < c->time[i + 1] ? time : c->time[i + 1];
}

/* Seconds of an iteration at a bandwidth x > 0 and a speed of the GPUs. */
static inline double dls_curve_iteration_s(const dls_curve *c, double x, double speed)
{
    return dls_curve_time(c, speed * c->line / x) / speed;
}

/* Bytes per second that the job then moves on average: <= x, rising with x, never faster than x. */
static inline double dls_curve_used(const dls_curve *c, double x, double speed)
{
    return speed * c->bytes / dls_curve_time(c, speed * c->line / x);
}

#endif
