/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Do two lists of numbers put things in the same order? Kendall's tau-b, in O(n log n) (Knight, "A
 * computer method for calculating Kendall's tau with ungrouped data", JASA 61, 1966).
 *
 *      double tau;
 *      DLS_TRY(dls_kendall_tau(recorded, replayed, n, &tau, err));
 */
#ifndef DLS_BASE_KENDALL_H
#define DLS_BASE_KENDALL_H

#include "dlsim/error.h"

#include <stddef.h>

typedef struct dls_kendall_pairs {
    double all, same_x, same_y;    /* pairs, those of equal x, those of equal y */
    double concordant, discordant; /* of those that differ in both */
} dls_kendall_pairs;

/* Errors: ENOMEM. */
dls_status dls_kendall_count(const double *x, const double *y, size_t n, dls_kendall_pairs *out,
                             dls_error *err) DLS_MUST_CHECK;

/* 1: the same order, -1: the reverse; NAN if all of x or all of y are equal. Errors: ENOMEM. */
dls_status dls_kendall_tau(const double *x, const double *y, size_t n, double *tau,
                           dls_error *err) DLS_MUST_CHECK;

#endif
