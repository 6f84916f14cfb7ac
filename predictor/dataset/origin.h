/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The kernels of a dataset's graph, whose file keeps grouped features and where they come from:
 * built again from the model zoo, or as the random model that it is.
 */
#ifndef DLS_DATASET_ORIGIN_H
#define DLS_DATASET_ORIGIN_H

#include "predictor/dataset/dataset.h"
#include "workload/operator/workload.h"

/* seed: of the dataset, which names its random models. The caller ends *w. An optimiser "" is the
 * model's usual one. Errors: EINPUT (a model, precision or optimiser that is not known), ENOMEM.
 */
dls_status dls_dataset_workload(const dls_dataset_origin *o, uint64_t seed, dls_workload *w,
                                dls_numeric *numeric, dls_error *err) DLS_MUST_CHECK;

#endif
