/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How far predictions are from labels, and what they are to be measured by: the noise of the
 * labels, the mean of the training split, the nearest training graph.
 */
#ifndef DLS_TRAINING_EVALUATE_H
#define DLS_TRAINING_EVALUATE_H

#include "base/own.h"
#include "predictor/dataset/dataset.h"

/* Errors of one column over n rows. A column whose labels are all equal has no range and is not
 * counted in averages. */
typedef struct dls_column_error {
    double rmse;
    double by_range, by_mean, by_max; /* rmse over the range, mean and greatest of the labels */
    double percent;                   /* mean of |prediction - label| / label over labels above 0 */
    bool counted;
} dls_column_error;

typedef struct dls_error_table {
    dls_column_error metric[DLS_METRICS];
    dls_column_error iteration; /* of one step: idle and active time of the GPU together */
    double by_range, by_mean, by_max, percent; /* averages over the counted metrics */
    size_t n;
} dls_error_table;

/* predicted, label [n] */
dls_column_error dls_column_errors(const double *predicted, const double *label, size_t n);
/* predicted and label [n][DLS_METRICS], iteration (may be NULL) [n] in seconds. Errors: ENOMEM. */
dls_status dls_error_table_fill(const double *predicted, const double *label,
                                const double *iteration_s, size_t n, dls_error_table *table,
                                dls_error *err) DLS_MUST_CHECK;

/* The rows of a setting's split, and what simple predictors say of them. All [n][DLS_METRICS]. */
typedef struct dls_yardsticks {
    size_t n;
    size_t *row;      /* of the setting */
    dls_graph *graph; /* [n], their arrays borrowed from the dataset */
    double *label;
    double *truth;   /* labels without noise; NULL if the dataset does not know */
    double *model;   /* and without the residual: as the operator model has them; NULL as above */
    double *mean;    /* of the training split */
    double *nearest; /* labels of the training graph with the least distance */
    double *iteration_s; /* [n] */
    dls_known *known;    /* [n] without a network; NULL if the dataset does not say */
} dls_yardsticks;

/* Distance of two graphs: Euclidean over sum, mean and maximum of every feature, nodes and edges,
 * each divided by its deviation over the training split. EINPUT: the split is empty. O(n * train).
 */
dls_status dls_yardsticks_create(const dls_dataset *set, size_t setting, dls_split split,
                                 dls_yardsticks **out, dls_error *err) DLS_MUST_CHECK;
void dls_yardsticks_destroy(dls_yardsticks *y); /* NULL-safe */
DLS_OWNER(dls_yardsticks, dls_yardsticks_destroy)

#endif
