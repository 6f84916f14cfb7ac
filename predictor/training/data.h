/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One setting of a dataset as a trainer takes it: each split's graphs with their labels as outputs
 * of a network. Published: divided by the greatest of the training split, column by column. Times
 * spread over three decades, most of them in the lowest hundredth of that range, so by default they
 * become logarithms (dls_labels) and only peaks stay shares.
 */
#ifndef DLS_TRAINING_DATA_H
#define DLS_TRAINING_DATA_H

#include "predictor/dataset/dataset.h"
#include "predictor/driple/model.h"

#include <stddef.h>

typedef struct dls_train_split {
    const dls_graph **graph; /* [n] borrowed from the dataset */
    double *target;          /* [n][DLS_METRICS] scaled */
    size_t *row;             /* [n] of the setting */
    size_t n;
} dls_train_split;

typedef struct dls_train_data {
    dls_train_split split[DLS_SPLITS];
    dls_labels labels;
} dls_train_data;

typedef struct dls_data_options {
    double share;     /* of the training graphs, 0..1] */
    double log_floor; /* floor of the times' logarithms over their scale; 0: no logarithms */
    uint64_t seed;    /* which graphs the share is */
} dls_data_options;

/* A share of the training split is the first of a seeded order (the rest is left out, and does
 * not count for the scale). A column that is 0 throughout the training split gets scale 1 and
 * stays: jobs of one GPU send nothing. EINPUT: a label that is not finite or below 0, an empty
 * training or validation split. */
dls_status dls_train_data_create(const dls_dataset *set, size_t setting, const dls_data_options *o,
                                 dls_train_data **out, dls_error *err) DLS_MUST_CHECK;
void dls_train_data_destroy(dls_train_data *data); /* NULL-safe */

#endif
