/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Times of single kernels that learned baselines are trained on: every kernel of every graph of a
 * dataset, on every GPU of its settings on which the graph fits, as the operator model has it,
 * times the frozen residual of (model, GPU) that the dataset's labels of one worker carry, too. So
 * these times are simulated, except where the operator model is given measured ones; what noise a
 * step's measurement has is left out, as a kernel would be timed many times.
 */
#ifndef DLS_BASELINES_KERNEL_DATA_H
#define DLS_BASELINES_KERNEL_DATA_H

#include "base/rng.h"
#include "predictor/baselines/kernel_features.h"
#include "predictor/dataset/dataset.h"
#include "workload/operator/model.h"

/* Rows of one network in one split: a seeded sample of all that there are. */
typedef struct dls_kernel_rows {
    double *x; /* [n][features] owned */
    double *y; /* [n] owned: log of the seconds of one run */
    size_t n, cap, cap_y;
    uint64_t seen; /* of which n were kept */
} dls_kernel_rows;

/* Adds a row x[features of net] of so many seconds, or replaces an earlier one once there are
 * `most`: every row is kept with the same chance (Vitter's algorithm R). ENOMEM. */
dls_status dls_kernel_rows_keep(dls_kernel_rows *r, dls_kernel_net net, const double *x,
                                double seconds, size_t most, dls_rng *rng,
                                dls_error *err) DLS_MUST_CHECK;

typedef struct dls_kernel_data {
    dls_kernel_rows rows[DLS_KERNEL_NETS][DLS_SPLITS];
    char gpus[512]; /* their names, with commas */
} dls_kernel_data;

typedef struct dls_kernel_data_options {
    const dls_opmodel *model; /* borrowed */
    const dls_hardware *hw;   /* borrowed */
    const char *without_gpu;  /* this one stays out of train and val; NULL: none does */
    double sigma;             /* of the residual */
    size_t most;              /* rows of a network in train; a quarter of it in val and test */
    uint64_t seed;            /* of the sample */
} dls_kernel_data_options;

/* Graphs are divided as in the dataset. *data is to be released in any case. Errors: EINPUT (a GPU
 * or a model that is not known, a graph in two splits), ENOMEM. O(graphs * GPUs * kernels). */
dls_status dls_kernel_data_collect(const dls_dataset *set, const dls_kernel_data_options *o,
                                   dls_kernel_data *data, dls_error *err) DLS_MUST_CHECK;
void dls_kernel_data_fini(dls_kernel_data *data);

#endif
