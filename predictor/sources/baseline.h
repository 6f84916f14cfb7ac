/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What predictors of a step on one GPU have in common when they are to predict a job: the kernels
 * of a kind, the cluster's GPUs in the tables of hardware, and the exchange of gradients, which is
 * not theirs to predict and comes from the operator model.
 */
#ifndef DLS_SOURCES_BASELINE_H
#define DLS_SOURCES_BASELINE_H

#include "predictor/sources/predictions.h"
#include "workload/operator/hardware.h"

typedef struct dls_baseline {
    const dls_prediction_params *p;
    const dls_kinds *kinds;
    dls_world *shadow;
    dls_hardware hw;
    dls_hw_gpu gpu[DLS_TYPES_MAX]; /* by type of the cluster */
    dls_numeric numeric;
    dls_workload work; /* of the kind `kind` */
    int32_t kind;      /* -1: none */
} dls_baseline;

/* *b needs dls_baseline_fini whatever is returned. */
dls_status dls_baseline_init(dls_baseline *b, const dls_prediction_params *p, const dls_kinds *kinds,
                             dls_error *err) DLS_MUST_CHECK;
void dls_baseline_fini(dls_baseline *b);
/* The kernels of a kind; borrowed until another kind is asked for. */
dls_status dls_baseline_work(dls_baseline *b, int32_t kind, const dls_workload **out,
                             dls_error *err) DLS_MUST_CHECK;
/* The operator model on a shape. */
dls_status dls_baseline_solo(dls_baseline *b, int32_t kind, const dls_shape *shape, dls_solo *out,
                             dls_error *err) DLS_MUST_CHECK;
/* The prediction for a shape when a step on one GPU takes one_s instead of what the operator model
 * says, hides: and the exchange hides behind its backward pass as there, else behind nothing. */
dls_status dls_baseline_prediction(dls_baseline *b, const dls_predictions_ask *ask, double one_s,
                                 bool hides, dls_prediction *out, dls_error *err) DLS_MUST_CHECK;

#endif
