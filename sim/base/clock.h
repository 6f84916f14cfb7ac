/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How long something takes in the real world. Nothing of a simulation asks for it.
 */
#ifndef DLS_BASE_CLOCK_H
#define DLS_BASE_CLOCK_H

#include <time.h>

/* Seconds of the monotonic clock: only differences mean something. */
static inline double dls_clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
