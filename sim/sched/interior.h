/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Linear programs that divide GPU types among jobs, by an interior-point method that costs
 * O(jobs x types^2) a step whatever the number of jobs:
 *
 *      maximise   level_value * t + sum value[j][w] x[j][w]
 *      subject to sum over w of gain[j][w] x[j][w] >= level[j] * t + need[j]     for jobs that need
 *                 sum over w of x[j][w] <= 1,   x >= 0                           for every job
 *                 sum over j of gpus[j] x[j][w] <= gpus[w]                       for every type
 *
 * Mehrotra's predictor-corrector ("On the implementation of a primal-dual interior point method",
 * SIAM J. Optim. 1992). A job touches others only through the types and t, so that the Newton
 * equations are one diagonal block a job, two rows of its own and types + 1 equations in common.
 * Where several points are optimal the answer is inside their face, near its analytic centre, and
 * strictly complementary: a job whose need has a dual clearly above 0 is a bottleneck.
 */
#ifndef DLS_SCHED_INTERIOR_H
#define DLS_SCHED_INTERIOR_H

#include "dlsim/error.h"
#include "dlsim/policy.h" /* DLS_TYPES_MAX */

typedef struct dls_interior_job {
    double gpus;
    bool needs;
    double level, need;         /* read if `needs` */
    double gain[DLS_TYPES_MAX]; /* [n_types] */
    double value[DLS_TYPES_MAX];
    double x[DLS_TYPES_MAX]; /* the answer: shares of the time */
    double dual;             /* of the need, >= 0; in units of the objective per unit of `need` */
} dls_interior_job;

typedef enum dls_interior_outcome {
    DLS_INTERIOR_OPTIMAL,
    DLS_INTERIOR_INFEASIBLE, /* or too badly scaled to tell */
} dls_interior_outcome;

typedef struct dls_interior {
    int32_t n_types;
    double gpus[DLS_TYPES_MAX]; /* > 0 */
    double level_value;         /* 0: there is no t */
    dls_interior_job *job;      /* [n], owned */
    size_t n, cap;
    double level; /* the answer: t */
    double gap;   /* by which the objective may be off */
    int32_t steps;
    double *scratch; /* owned */
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
/* The analytic centre of what is feasible (without t): the x for which the product of all slacks
 * is largest. There must be a point with positive slacks. */
dls_status dls_interior_centre(dls_interior *p, dls_interior_outcome *outcome,
                               dls_error *err) DLS_MUST_CHECK;

#endif
