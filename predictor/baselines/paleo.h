/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Paleo's model (Qi, Sparks, Talwalkar, ICLR 2017): a layer computes and moves its data one after
 * the other, both at a fraction of the data sheet, the "platform percent of peak": step = (sum of
 * flops / peak + sum of bytes / bandwidth) / fraction
 */
#ifndef DLS_BASELINES_PALEO_H
#define DLS_BASELINES_PALEO_H

#include "workload/operator/pointset.h"

typedef struct dls_paleo {
    double fraction[DLS_OPMODEL_NUMERICS];
} dls_paleo;

/* The fraction per precision that centres the calibrating one-GPU points of tuned benchmarks
 * (geometric mean; not K80, as for the operator model). EINPUT: a precision without points. */
dls_status dls_paleo_calibrate(const dls_pointset *set, dls_paleo *paleo,
                               dls_error *err) DLS_MUST_CHECK;
/* EINPUT: a precision of no calibrating point, bf16. */
dls_status dls_paleo_knows(dls_numeric numeric, dls_error *err) DLS_MUST_CHECK;
/* One GPU, seconds. A GPU without units for the precision computes in fp32. */
double dls_paleo_step_s(const dls_paleo *paleo, const dls_workload *w, const dls_hw_gpu *gpu,
                        dls_numeric numeric, double batch);

#endif
