/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How far predictions are from the published measurements: the operator model on points that fitted
 * nothing, and the baselines on the same points.
 */
#ifndef DLS_BASELINES_VALIDATE_H
#define DLS_BASELINES_VALIDATE_H

#include "workload/operator/pointset.h"

/* Mean and worst of |predicted / measured - 1| over some points. */
typedef struct dls_score {
    size_t n;
    double mean;
    double worst;     /* signed: above 0 is predicted too slow */
    size_t worst_idx; /* point; meaningless if n is 0 */
} dls_score;

typedef struct dls_score_row {
    const char *name;
    dls_score calibrated, judged;
    double target; /* of the judged mean; 0: none */
} dls_score_row;

#define DLS_SCORE_ROWS 24

/* One row per question that the points answer; *n of them. */
void dls_validate_rows(const dls_pointset *set, const dls_opmodel *model,
                       dls_score_row rows[DLS_SCORE_ROWS], size_t *n);

/* The fp32 one-GPU points of each calibrating GPU, by constants fitted without that GPU, its
 * factors 1. One row a GPU. Errors: of dls_calibrate. */
dls_status dls_validate_left_out(const dls_pointset *set, const dls_sized_table *sized,
                                 dls_score_row rows[DLS_SCORE_ROWS], size_t *n,
                                 dls_error *err) DLS_MUST_CHECK;

/* Predictors side by side. Paleo: the judged one-GPU points of tuned benchmarks (without K80, for
 * which the operator model has a factor of its own). Habitat: each of these
 * points once for every other GPU on which the same network and precision were measured, that time
 * taken per sample (benchmarks choose the batch by the GPU's memory). Daydream: the judged points
 * of one node for which the step of one GPU was measured, both being given it; and fp16 points with
 * an fp32 point of the same GPU, taken per sample, which Daydream is given. */
typedef struct dls_versus {
    const char *name, *baseline;
    dls_score model, other;
    double target_ratio; /* of the two means; 0: none */
} dls_versus;

/* Errors: of dls_paleo_calibrate, ENOMEM. */
dls_status dls_validate_versus(const dls_pointset *set, const dls_opmodel *model,
                               dls_versus rows[DLS_SCORE_ROWS], size_t *n,
                               dls_error *err) DLS_MUST_CHECK;

#endif
