/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Habitat's wave scaling (USENIX ATC 2021): kernel times measured on one GPU, scaled to another by
 * the ratios of bandwidth and compute rate, weighted by arithmetic intensity.
 */
#include "predictor/baselines/habitat.h"

#include <math.h>

double dls_habitat_kernel_s(const dls_kernel *k, const dls_roofline *from, double batch)
{
    return fmax(dls_roofline_compute_s(from, k, batch), dls_roofline_memory_s(from, k, batch));
}

double dls_habitat_ratio(const dls_kernel *k, const dls_roofline *from, const dls_roofline *to,
                         double batch)
{
    const double intensity =
        batch * k->flops / (to->element_bytes * (batch * k->moved + k->moved_once));
    const double ridge = to->flops / to->mem_bps;
    const double g = intensity <= ridge ? 1 - 0.5 * intensity / ridge : 0.5 * ridge / intensity;
    return pow(from->mem_bps / to->mem_bps, g) * pow(from->flops / to->flops, 1 - g);
}

double dls_habitat_step_s(const dls_workload *w, const dls_hw_gpu *from, const dls_hw_gpu *to,
                          dls_numeric numeric, double batch, double measured_s)
{
    const dls_roofline before = dls_roofline_of(from, numeric),
                       after = dls_roofline_of(to, numeric);
    double before_s = 0, after_s = 0;
    double lately[DLS_KERNELS_BACK]; /* ratios of kernels before, by number modulo that: most are alike */
    for (size_t i = 0; i < w->n_kernels; i++) {
        const dls_kernel *k = &w->kernel[i];
        const double s = dls_habitat_kernel_s(k, &before, batch);
        if (s > 0) { /* else no work, and no intensity either */
            const double ratio = k->back ? lately[(i - k->back) % DLS_KERNELS_BACK]
                                         : dls_habitat_ratio(k, &before, &after, batch);
            lately[i % DLS_KERNELS_BACK] = ratio;
            before_s += s;
            after_s += s * ratio;
        }
    }
    return before_s > 0 ? measured_s * after_s / before_s : measured_s;
}
