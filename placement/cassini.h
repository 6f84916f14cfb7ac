/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How well the network bursts of jobs that share links fit into each other's pauses: the
 * compatibility score of CASSINI (Rajasekaran, Ghobadi, Akella, NSDI 2024). A job sends for burst_s
 * of every period_s at a constant rate. On a link of capacity C
 *
 *      excess(t) = max(0, sum of the rates of those that send at t - C)
 *      score     = 1 - mean of excess over time / C        (1: no job ever waits)
 *
 * A job that comes can be held back once by a time shift; those that run keep theirs. The score of
 * a placement is that of its worst link, under the best shift. Time is cut into slices of a
 * DLS_CASSINI_SLICES-th of the shortest period, periods are rounded to slices, and the mean goes
 * over their common period or, if that is longer, its first DLS_CASSINI_TICKS slices. A period of
 * more slices than that counts as one of so many. Rates are rounded to 2^-30 of the capacity and added
 * as integers: equally good shifts are equal, whatever the order of the jobs.
 *
 * With A(t) what the others exceed the capacity by and B(t) what they do when the newcomer sends, the
 * sum over a burst is a difference of two prefix sums of B - A: a shift costs a step a burst, not one a
 * slice.
 */
#ifndef DLS_PLACEMENT_CASSINI_H
#define DLS_PLACEMENT_CASSINI_H

#include <stddef.h>
#include <stdint.h>

#define DLS_CASSINI_SLICES 24
#define DLS_CASSINI_TICKS 480
#define DLS_CASSINI_JOBS 16  /* on a link; of more the first count */
#define DLS_CASSINI_LINKS 12 /* of a placement; likewise */

typedef struct dls_pulse {
    double period_s, burst_s; /* > 0; burst_s <= period_s */
    double bps;               /* sent while the burst lasts, bytes per second */
    double shift_s;           /* the burst begins at this time, and again every period */
} dls_pulse;

typedef struct dls_cassini_link {
    double capacity_bps;               /* > 0 */
    dls_pulse pulse[DLS_CASSINI_JOBS]; /* of the jobs that run */
    int32_t n;
} dls_cassini_link;

/* Score of n_links links when `mine` sends over each, under its best shift, which *shift_s gets
 * (the least of equally good ones; 0 <= shift_s < period; mine->shift_s is not read). 1 without
 * links. If it is not above `above`, only that is known of what is returned: links that cannot change
 * it are not looked at. O(links x (ticks x jobs + shifts x bursts)); no allocation. */
double dls_cassini_score(const dls_cassini_link *links, size_t n_links, const dls_pulse *mine,
                         double above, double *shift_s);

#endif
