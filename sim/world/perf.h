/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Work and rates in integers.
 *
 * A rate is work seconds per second in fixed point (DLS_RATE_ONE = 1.0), so that work is kept
 * exactly: splitting a run at any instant changes nothing.
 */
#ifndef DLS_WORLD_PERF_H
#define DLS_WORLD_PERF_H

#include <stdint.h>

#define DLS_RATE_SHIFT 20
#define DLS_RATE_ONE (INT64_C(1) << DLS_RATE_SHIFT)

/* Work in units of 2^-20 microseconds at the reference rate. */
__extension__ typedef __int128 dls_work;

static inline dls_work dls_work_of_us(int64_t us)
{
    return (dls_work)us << DLS_RATE_SHIFT;
}

/* Whole microseconds of work, rounded up: what is left never looks finished before it is. */
static inline int64_t dls_work_to_us(dls_work work)
{
    return (int64_t)((work + DLS_RATE_ONE - 1) >> DLS_RATE_SHIFT);
}

/* Microseconds until `work` is done at `rate` > 0, rounded up. */
static inline int64_t dls_work_time_us(dls_work work, int64_t rate)
{
    if (rate == DLS_RATE_ONE) {
        return work <= 0 ? 0 : dls_work_to_us(work); /* the same without a division of 128 bits */
    }
    return work <= 0 ? 0 : (int64_t)((work + rate - 1) / rate);
}

#endif
