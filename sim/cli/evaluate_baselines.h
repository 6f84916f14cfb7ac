/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The step time of other predictors on the test graphs of a dataset: what dlsim evaluate
 * --baselines puts beside an inspector's. Graphs are built again from the model zoo, by model,
 * batch, precision and optimiser.
 */
#ifndef DLS_CLI_EVALUATE_BASELINES_H
#define DLS_CLI_EVALUATE_BASELINES_H

#include "predictor/baselines/paleo.h"
#include "predictor/dataset/setting.h"
#include "predictor/training/evaluate.h"

typedef struct dls_baselines {
    dls_hardware hw;
    dls_opmodel model;
    dls_setting_list settings;
    dls_paleo paleo;
    const dls_dataset *set; /* borrowed */
    int32_t v100;           /* the setting whose steps Habitat is given; -1: not in the dataset */
} dls_baselines;

/* hardware: folder, NULL for the usual one. Paleo is calibrated as in dlsim operators. */
dls_status dls_baselines_open(const dls_dataset *set, const char *hardware, dls_baselines *b,
                              dls_error *err) DLS_MUST_CHECK;
void dls_baselines_close(dls_baselines *b); /* NULL-safe; of zeros: nothing */

/* Errors of the step time over a split: Paleo's step and the exchange after it; Habitat's scaling
 * of the step on one V100 in the dataset, and the exchange, over the graphs that fit a V100 (n of
 * them; without that setting 0). Exchanges are the operator model's. */
typedef struct dls_baseline_errors {
    dls_column_error paleo, habitat;
    size_t n_habitat;
} dls_baseline_errors;
dls_status dls_baselines_judge(const dls_baselines *b, size_t setting, dls_split split,
                               dls_baseline_errors *out, dls_error *err) DLS_MUST_CHECK;

#endif
