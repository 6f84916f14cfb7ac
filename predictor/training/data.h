/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Settings of a dataset as a trainer takes them: each split's graphs with their labels as outputs
 * of a network, a row for every setting that a graph has labels in. Published: divided by the
 * greatest of the training split, column by column. Times spread over three decades, most of them
 * in the lowest hundredth of that range, so by default they become logarithms (dls_labels) and only
 * peaks stay shares.
 */
#ifndef DLS_TRAINING_DATA_H
#define DLS_TRAINING_DATA_H

#include "base/own.h"
#include "predictor/dataset/dataset.h"
#include "predictor/driple/model.h"

#include <stddef.h>

typedef struct dls_train_split {
    const dls_graph **graph; /* [n] borrowed from the dataset */
    size_t *first;           /* [n + 1] first row of a graph; rows of all */
    size_t n;
    int32_t *setting;  /* [rows] as asked for, from 0 */
    size_t *row;       /* [rows] of the setting */
    double *target;    /* [rows][DLS_METRICS] scaled */
    double *condition; /* [rows][numbers] standardised; NULL */
} dls_train_split;
static inline size_t dls_train_rows(const dls_train_split *s)
{
    return s->first[s->n];
}

typedef struct dls_train_data {
    dls_train_split split[DLS_SPLITS];
    dls_labels labels; /* of the first setting */
} dls_train_data;

typedef struct dls_data_options {
    double share;     /* of the training graphs, 0..1] */
    double log_floor; /* floor of the times' logarithms over their scale; 0: no logarithms */
    uint64_t seed;    /* which graphs the share is */
    bool relative;    /* outputs are relative to what the dataset knows without a network */
} dls_data_options;

/* The floor of a metric's labels, given their scale: 0 for peaks. */
double dls_train_floor(const dls_data_options *o, int metric, double scale);

/* Which settings, and what a network is told of each. */
typedef struct dls_train_settings {
    const size_t *setting;    /* [n] of the dataset */
    const double *condition;  /* [n][width] standardised; NULL */
    const dls_labels *labels; /* [n]; NULL: found, for one setting */
    size_t n, width;
} dls_train_settings;

/* A share of the training split is the first graphs of a seeded order (the rest is left out, and
 * does not count for the scale). A column that is 0 throughout the training split gets scale 1 and
 * stays: jobs of one GPU send nothing. EINPUT: a label that is not finite or below 0, an empty
 * training or validation split. O(rows + settings * graphs). */
dls_status dls_train_data_create(const dls_dataset *set, const dls_train_settings *which,
                                 const dls_data_options *o, dls_train_data **out,
                                 dls_error *err) DLS_MUST_CHECK;
void dls_train_data_destroy(dls_train_data *data); /* NULL-safe */
DLS_OWNER(dls_train_data, dls_train_data_destroy)

#endif
