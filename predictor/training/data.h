/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One setting of a dataset as a trainer takes it: each split's graphs with their labels divided by
 * the greatest of the training split, column by column, as published.
 */
#ifndef DLS_TRAINING_DATA_H
#define DLS_TRAINING_DATA_H

#include "predictor/dataset/dataset.h"

#include <stddef.h>

typedef struct dls_train_split {
    const dls_graph **graph; /* [n] borrowed from the dataset */
    double *target;          /* [n][DLS_METRICS] scaled */
    size_t *row;             /* [n] of the setting */
    size_t n;
} dls_train_split;

typedef struct dls_train_data {
    dls_train_split split[DLS_SPLITS];
    double scale[DLS_METRICS]; /* a label is target times this */
} dls_train_data;

/* share (0..1] of the training split, the first of a seeded order (the rest is left out, and does
 * not count for the scale). A column that is 0 throughout the training split gets scale 1 and stays:
 * jobs of one GPU send nothing. EINPUT: a label that is not finite or below 0, an empty training or
 * validation split. */
dls_status dls_train_data_create(const dls_dataset *set, size_t setting, double share,
                                 uint64_t seed, dls_train_data **out,
                                 dls_error *err) DLS_MUST_CHECK;
void dls_train_data_destroy(dls_train_data *data); /* NULL-safe */

#endif
