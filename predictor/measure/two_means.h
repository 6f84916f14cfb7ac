/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The best division of numbers into a lower and an upper class (k-means with k = 2 in one
 * dimension), exactly: an optimal class of sorted numbers is an interval, so every division is
 * tried. No starting point, no iteration, no local optimum.
 */
#ifndef DLS_MEASURE_TWO_MEANS_H
#define DLS_MEASURE_TWO_MEANS_H

#include "dlsim/error.h"

#include <stddef.h>

typedef struct dls_two_means {
    double low, high;     /* means of the two classes; equal if all values are */
    double threshold;     /* values above it are the upper class; halfway between the classes */
    size_t n_low, n_high; /* n_high is 0 if all values are equal */
    double within;        /* sum of squared distances to the own mean */
} dls_two_means;

/* x: n >= 1 finite values in any order, borrowed. Equal values are never divided; of equally good
 * divisions the one with the smaller lower class. O(n log n) time, n doubles of working memory.
 * Errors: EINPUT (no value, a value that is not finite), ENOMEM. */
dls_status dls_two_means_find(const double *x, size_t n, dls_two_means *out,
                              dls_error *err) DLS_MUST_CHECK;

#endif
