/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Paleo's step time (ICLR 2017): compute time plus memory time at peak rates, over one fraction of
 * peak that is calibrated on the measured points.
 */
#include "predictor/baselines/paleo.h"

#include "predictor/baselines/roofline.h"

#include <math.h>
#include <string.h>

#define TRAINING_PASSES                                                                            \
    3 /* forward, data gradient, weight gradient: 2 flops each per multiply-add */
#define WORD_BYTES 4.0

/* At a fraction of one. */
static double peak_s(const dls_workload *w, const dls_hw_gpu *gpu, dls_numeric numeric,
                     double batch)
{
    const dls_roofline r = dls_roofline_of(gpu, numeric);
    double moved = 0;
    for (size_t i = 0; i < w->n_kernels; i++) {
        const dls_kernel *k = &w->kernel[i];
        moved += k->repeats * r.element_bytes * (batch * k->moved + k->moved_once);
    }
    moved += WORD_BYTES * dls_optimiser_moved(w->optimiser) * w->params;
    return 2 * TRAINING_PASSES * batch * w->forward_macs / r.flops + moved / gpu->mem_bps;
}

double dls_paleo_step_s(const dls_paleo *paleo, const dls_workload *w, const dls_hw_gpu *gpu,
                        dls_numeric numeric, double batch)
{
    return peak_s(w, gpu, numeric, batch) / paleo->fraction[dls_gpu_multiplies_in(gpu, numeric)];
}

dls_status dls_paleo_knows(dls_numeric numeric, dls_error *err)
{
    return (int)numeric < DLS_OPMODEL_NUMERICS
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, "precision", "paleo was calibrated to no step in %s",
                          dls_numeric_name((int)numeric));
}

dls_status dls_paleo_calibrate(const dls_pointset *set, dls_paleo *paleo, dls_error *err)
{
    for (int numeric = 0; numeric < DLS_OPMODEL_NUMERICS; numeric++) {
        double sum = 0;
        size_t n = 0;
        for (size_t i = 0; i < set->n; i++) {
            const dls_point *p = &set->point[i];
            if (p->role == DLS_POINT_CALIBRATE && p->n_gpus == 1 &&
                dls_point_places[p->source].tuned && strcmp(p->gpu, "K80") != 0 &&
                (int)p->numeric == numeric) {
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
