/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/baselines/habitat.h"

#include <math.h>

static double rate_of(const dls_hw_gpu *gpu, dls_numeric numeric, double *element_bytes)
{
    *element_bytes = 4;
    if (numeric == DLS_NUMERIC_TF32 && gpu->tf32_flops > 0) {
        return gpu->tf32_flops;
    }
    if ((numeric == DLS_NUMERIC_FP16 || numeric == DLS_NUMERIC_BF16) && gpu->fp16_flops > 0) {
        *element_bytes = 2;
        return gpu->fp16_flops;
    }
    return gpu->fp32_flops;
}

double dls_habitat_step_s(const dls_workload *w, const dls_hw_gpu *from, const dls_hw_gpu *to,
                          dls_numeric numeric, double batch, double measured_s)
{
    double from_element = 0, to_element = 0, before = 0, after = 0;
    const double from_rate = rate_of(from, numeric, &from_element);
    const double to_rate = rate_of(to, numeric, &to_element);
    for (size_t i = 0; i < w->n_kernels; i++) {
        const dls_kernel *k = &w->kernel[i];
        const double elements = k->repeats * (batch * k->moved + k->moved_once);
        const double flops = k->repeats * batch * k->flops;
        const double there = fmax(flops / from_rate, from_element * elements / from->mem_bps);
        if (!(there > 0)) {
            continue; /* no work, and no intensity either */
        }
        const double intensity = flops / (to_element * elements), ridge = to_rate / to->mem_bps;
        const double g = intensity <= ridge ? 1 - 0.5 * intensity / ridge : 0.5 * ridge / intensity;
        before += there;
        after += there * pow(from->mem_bps / to->mem_bps, g) * pow(from_rate / to_rate, 1 - g);
    }
    return before > 0 ? measured_s * after / before : measured_s;
}
