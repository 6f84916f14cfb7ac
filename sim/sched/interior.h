/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Convex programs that divide GPU types among jobs, by an interior-point method that costs
 * O(jobs x types^3) a step whatever the number of jobs:
 *
 *      minimise   cost * t - sum value[j][w] x[j][w]
 *      subject to sum over w of gain[j][w] x[j][w] + level[j] * t >= need[j]     for DLS_NEEDS
 *                 weight[j] / (sum over w of gain[j][w] x[j][w]) + offset[j] <= t for DLS_RATIO
 *                 sum over w of x[j][w] <= 1,   x >= 0                           for every job
 *                 sum over j of gpus[j] x[j][w] <= gpus[w]                       for every type
 *
 * The method is that of ECOS (Domahidi, Chu, Boyd: "ECOS: an SOCP solver for embedded systems", ECC
 * 2013): homogeneous self-dual embedding, Nesterov-Todd scaling, Mehrotra's predictor and
 * corrector, Ruiz's equilibration, with its constants. Where several points are optimal the answer
 * is inside their face, near its analytic centre, and near where ECOS ends; it is strictly
 * complementary: a job whose need has a dual clearly above 0 is a bottleneck.
 */
#ifndef DLS_SCHED_INTERIOR_H
#define DLS_SCHED_INTERIOR_H

#include "dlsim/error.h"
#include "dlsim/policy.h" /* DLS_TYPES_MAX */

typedef enum dls_interior_row { DLS_NO_ROW, DLS_NEEDS, DLS_RATIO } dls_interior_row;

typedef struct dls_interior_job {
    double gpus;
    dls_interior_row row;
    double level, need;         /* of DLS_NEEDS */
    double weight, offset;      /* of DLS_RATIO */
    double gain[DLS_TYPES_MAX]; /* [n_types] */
    double value[DLS_TYPES_MAX];
    double x[DLS_TYPES_MAX]; /* the answer: shares of the time */
    double dual;             /* of the need or ratio, >= 0 */
} dls_interior_job;

typedef enum dls_interior_outcome {
    DLS_INTERIOR_OPTIMAL,
    DLS_INTERIOR_INFEASIBLE, /* or too badly scaled to tell */
} dls_interior_outcome;

typedef struct dls_interior {
    int32_t n_types;
    double gpus[DLS_TYPES_MAX]; /* > 0 */
    double cost;                /* of t; 0: there is no t */
    dls_interior_job *job;      /* [n], owned */
    size_t n, cap;
    double t; /* the answer */
    int32_t steps;
    void *scratch; /* owned */
    size_t scratch_cap;
} dls_interior;

/* Empty the list of jobs and the objective; memory is kept. Zeroed memory is an empty problem. */
void dls_interior_reset(dls_interior *p, int32_t n_types, const double *gpus);
/* A job that needs nothing and adds nothing to the objective; valid until the next is added; NULL:
 * out of memory. */
dls_interior_job *dls_interior_add(dls_interior *p, double gpus);
void dls_interior_fini(dls_interior *p);

/* Errors: ENOMEM. */
dls_status dls_interior_solve(dls_interior *p, dls_interior_outcome *outcome,
                              dls_error *err) DLS_MUST_CHECK;

#endif
