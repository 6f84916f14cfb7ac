/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Roofline times of one kernel on one GPU, from the peak rate and the memory bandwidth of its data
 * sheet.
 */
#include "predictor/baselines/roofline.h"

#include "workload/operator/model.h"

#define WORD_BYTES 4.0
#define HALF_BYTES 2.0

dls_roofline dls_roofline_of(const dls_hw_gpu *gpu, dls_numeric numeric)
{
    dls_roofline r = {gpu->fp32_flops, gpu->mem_bps, WORD_BYTES};
    const dls_numeric as = dls_gpu_multiplies_in(gpu, numeric);
    if (as == DLS_NUMERIC_TF32) {
        r.flops = gpu->tf32_flops;
    } else if (as == DLS_NUMERIC_FP16) {
        r.flops = gpu->fp16_flops;
        r.element_bytes = HALF_BYTES;
    }
    return r;
}

double dls_roofline_compute_s(const dls_roofline *r, const dls_kernel *k, double batch)
{
    return k->repeats * batch * k->flops / r->flops;
}

double dls_roofline_memory_s(const dls_roofline *r, const dls_kernel *k, double batch)
{
    return k->repeats * r->element_bytes * (batch * k->moved + k->moved_once) / r->mem_bps;
}
