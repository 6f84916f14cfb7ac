/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the sources operator, paleo, habitat and justus share: a cluster's GPUs looked up in the
 * hardware tables, kernels of each kind of job, and the exchange of gradients by the operator
 * model.
 */
#include "predictor/sources/baseline.h"

#include "predictor/sources/from_solo.h"
#include "predictor/sources/shadow.h"
#include "world/truth.h"

#include <math.h>
#include <stdio.h>

static dls_hw_gpu row_of(const dls_hardware *hw, const dls_gpu_type *type)
{
    const dls_hw_gpu *known = dls_hardware_gpu_variant(hw, type->name);
    dls_hw_gpu row = {
        .fp32_flops = type->fp32_flops, .fp16_flops = type->tensor_flops, .mem_bps = type->mem_bps};
    snprintf(row.name, sizeof row.name, "%s", type->name);
    return known ? *known : row;
}

dls_status dls_baseline_init(dls_baseline *b, const dls_prediction_params *p, const dls_kinds *kinds,
                             dls_error *err)
{
    *b = (dls_baseline){.p = p, .kinds = kinds, .kind = -1};
    (void)dls_numeric_find(p->numeric, &b->numeric); /* checked before sources are opened */
    DLS_TRY(dls_shadow_create(p, kinds, &b->shadow, err));
    DLS_TRY(dls_hardware_load(p->hardware_dir, &b->hw, err));
    for (int32_t t = 0; t < p->cluster->n_types; t++) {
        b->gpu[t] = row_of(&b->hw, &p->cluster->types[t]);
    }
    return DLS_OK;
}

void dls_baseline_fini(dls_baseline *b)
{
    dls_world_destroy(b->shadow);
    dls_hardware_fini(&b->hw);
    dls_workload_fini(&b->work);
}

dls_status dls_baseline_work(dls_baseline *b, int32_t kind, const dls_workload **out,
                             dls_error *err)
{
    const dls_kind *k = &b->kinds->kind[kind];
    if (b->kind != kind) {
        dls_workload_fini(&b->work);
        b->kind = -1;
        DLS_TRY(dls_model_workload(&k->names, b->numeric, &b->work, err));
        b->kind = kind;
    }
    *out = &b->work;
    return DLS_OK;
}

dls_status dls_baseline_solo(dls_baseline *b, int32_t kind, const dls_shape *shape, dls_solo *out,
                             dls_error *err)
{
    return dls_world_solo(b->shadow, b->kinds->kind[kind].first_job, shape, out, err);
}

dls_status dls_baseline_prediction(dls_baseline *b, const dls_predictions_ask *ask, double one_s,
                                 bool hides, dls_prediction *out, dls_error *err)
{
    const dls_shape alone = {ask->shape.type, 1, 1, 1};
    dls_solo solo, one;
    DLS_TRY(dls_baseline_solo(b, ask->kind, &alone, &one, err));
    DLS_TRY(dls_baseline_solo(b, ask->kind, &ask->shape, &solo, err));
    const double ratio = one_s / one.iteration_s;
    const double busy_s = solo.gpu_util * solo.iteration_s * ratio;
    const double memory_s = solo.mem_util * solo.iteration_s * ratio;
    solo.compute_s = hides ? ratio * solo.compute_s : one_s;
    solo.overlap_s = hides ? ratio * solo.overlap_s : 0;
    solo.iteration_s = dls_solo_time(&solo, solo.line_bps);
    solo.gpu_util = fmin(1, busy_s / solo.iteration_s);
    solo.mem_util = fmin(1, memory_s / solo.iteration_s);
    dls_prediction_of_solo(&solo, out);
    return DLS_OK;
}
