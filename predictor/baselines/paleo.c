/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Paleo's step time (ICLR 2017): compute time plus memory time at peak rates, over one fraction of
 * peak that is calibrated on the measured points.
 */
#include "predictor/baselines/paleo.h"

#include <math.h>
#include <string.h>

#define TRAINING_PASSES                                                                            \
    3 /* forward, data gradient, weight gradient: 2 flops each per multiply-add */
#define WORD_BYTES 4.0

/* At a fraction of one. */
static double peak_s(const dls_workload *w, const dls_hw_gpu *gpu, dls_numeric numeric,
                     double batch)
{
    double peak = gpu->fp32_flops, element = WORD_BYTES;
    if (numeric == DLS_NUMERIC_TF32 && gpu->tf32_flops > 0) {
        peak = gpu->tf32_flops;
    } else if (numeric == DLS_NUMERIC_FP16 && gpu->fp16_flops > 0) {
        peak = gpu->fp16_flops;
        element = 2;
    }
    double moved = 0;
    for (size_t i = 0; i < w->n_kernels; i++) {
        const dls_kernel *k = &w->kernel[i];
        moved += k->repeats * element * (batch * k->moved + k->moved_once);
    }
    moved += WORD_BYTES * dls_optimiser_moved(w->optimiser) * w->params;
    return 2 * TRAINING_PASSES * batch * w->forward_macs / peak + moved / gpu->mem_bps;
}

double dls_paleo_step_s(const dls_paleo *paleo, const dls_workload *w, const dls_hw_gpu *gpu,
                        dls_numeric numeric, double batch)
{
    const dls_numeric as = numeric == DLS_NUMERIC_BF16 ? DLS_NUMERIC_FP16 : numeric;
    return peak_s(w, gpu, as, batch) / paleo->fraction[as];
}

dls_status dls_paleo_calibrate(const dls_pointset *set, dls_paleo *paleo, dls_error *err)
{
    for (int numeric = 0; numeric < DLS_OPMODEL_NUMERICS; numeric++) {
        double sum = 0;
        size_t n = 0;
        for (size_t i = 0; i < set->n; i++) {
            const dls_point *p = &set->point[i];
            if (p->role == DLS_POINT_CALIBRATE && p->n_gpus == 1 && dls_point_tuned(p) &&
                strcmp(p->gpu, "K80") != 0 && (int)p->numeric == numeric) {
                sum +=
                    log(peak_s(set->of[i], set->gpu[i], p->numeric, p->batch) / (p->step_ms / 1e3));
                n++;
            }
        }
        if (n == 0) {
            return dls_fail(err, DLS_EINPUT, dls_numeric_name(numeric), "no point to calibrate");
        }
        paleo->fraction[numeric] = exp(sum / (double)n);
    }
    return DLS_OK;
}
