/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bursts of two jobs that were shifted against each other (after CASSINI, NSDI 2024): how much of the
 * one meets the other.
 */
#ifndef DLS_WORLD_INTERLEAVE_H
#define DLS_WORLD_INTERLEAVE_H

/* One burst in every period, from shift_s on; NAN: at any time, not coordinated. */
typedef struct dls_burst {
    double period_s, burst_s, shift_s;
} dls_burst;

/* While `mine` bursts, how much the other does, over what it does on average: 0 they never meet, 1 as
 * if by chance. Never more: a coordinator that can do no better leaves it to chance. 1, too, unless one
 * period is a small multiple (1 to 8, within 5 %) of the other: bursts of other periods drift through
 * each other. The longer period counts as the exact multiple. O(1). */
double dls_interleave(const dls_burst *mine, const dls_burst *other);

#endif
