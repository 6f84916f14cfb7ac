/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Above which skew of a model's tensors spreading costs speed, learned from what happened
 * (Tiresias, NSDI 2019, section 4.3: a linear classifier on skew, placement and performance).
 *
 * An observation is the mean rate of work of a job that ran on the fewest nodes, or on more. Those
 * of equal skew, GPU type and gang are compared: if the mean rate when spread is below 1 - loss of
 * the mean when consolidated, that skew suffers. With one feature a linear classifier is a
 * threshold: the one with the fewest spread runs on its wrong side.
 */
#ifndef DLS_PLACEMENT_SKEW_LIMIT_H
#define DLS_PLACEMENT_SKEW_LIMIT_H

#include "dlsim/policy.h"

/* All runs of one skew, type and gang size. */
typedef struct dls_skew_cell {
    double skew;
    int32_t type, gpus;
    int64_t runs[2]; /* consolidated, spread */
    double rates[2]; /* their sums */
} dls_skew_cell;

typedef struct dls_skew_limit {
    dls_skew_cell *cell; /* owned, by (skew, type, gpus) */
    size_t n, cap;
    double limit; /* a skew above it is consolidated */
    double loss;
} dls_skew_limit;

void dls_skew_limit_fini(dls_skew_limit *l);
/* Add a run and, if it was spread, recompute the limit. Out of memory: the run is ignored.
 * O(cells).
 */
void dls_skew_limit_observe(dls_skew_limit *l, double skew, int32_t type, int32_t gpus, bool spread,
                            double rate);

#endif
