/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a setting's labels look like, and how well they could be predicted: errors of answers that
 * need no training, as normalised root mean square errors (error of a metric over its range),
 * averaged over the metrics that vary.
 */
#ifndef DLS_DATASET_SUMMARY_H
#define DLS_DATASET_SUMMARY_H

#include "predictor/dataset/dataset.h"

/* Of one resource: part of the labels that never burst, never pause, do both. */
typedef struct dls_pattern_share {
    double idle, burst, both;
} dls_pattern_share;

typedef struct dls_dataset_summary {
    size_t n_split[DLS_SPLITS];
    size_t n_left_out;                /* graphs of the set without a label here */
    double least_s, median_s, most_s; /* iteration */
    double least[DLS_METRICS], most[DLS_METRICS];
    dls_pattern_share pattern[DLS_METRICS / 3];
    double floor;          /* labels against truth, test; NAN: measured */
    double model_error;    /* mean |iteration / model_s - 1|, test; NAN: measured */
    double mean_test;      /* the train labels' mean for every test graph */
    double neighbour_test; /* the nearest train graph's label */
    double neighbour_any;  /* the nearest other graph's, whatever its split: a variant of the same
                              model, mostly */
} dls_dataset_summary;

/* Nearness: mean and deviation of each feature over a graph's nodes and the logarithm of their
 * number, each over its deviation in the setting. An error without a test graph or a train graph is
 * NAN. ENOMEM. O(n^2 features + features of the graphs). */
dls_status dls_dataset_summarise(const dls_dataset *set, size_t setting, dls_dataset_summary *out,
                                 dls_error *err) DLS_MUST_CHECK;

#endif
