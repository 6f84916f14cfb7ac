/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Habitat with networks: convolutions and matrix products are scaled by the ratio of two network
 * predictions, all other kernels by wave scaling (habitat.c).
 */
#include "predictor/baselines/habitat_nets.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/baselines/habitat.h"

dls_status dls_habitat_nets_step_s(const dls_kernel_nets *nets, const dls_workload *w,
                                   const dls_hw_gpu *from, const dls_hw_gpu *to,
                                   dls_numeric numeric, double batch, double measured_s,
                                   double *step_s, dls_error *err)
{
    const dls_roofline before = dls_roofline_of(from, numeric),
                       after = dls_roofline_of(to, numeric);
    DLS_FREED double *here = NULL;
    double update_s, before_s = 0, after_s = 0;
    DLS_TRY(dls_alloc_array(&here, 2 * w->n_kernels + 1, sizeof *here, "kernels", err));
    double *const there = here + w->n_kernels;
    DLS_TRY(dls_kernel_nets_times(nets, w, from, numeric, batch, here, &update_s, err));
    DLS_TRY(dls_kernel_nets_times(nets, w, to, numeric, batch, there, &update_s, err));
    for (size_t i = 0; i < w->n_kernels; i++) {
        const dls_kernel *k = &w->kernel[i];
        const double s = dls_habitat_kernel_s(k, &before, batch);
        if (s > 0) {
            before_s += s;
            after_s += s * (here[i] > 0 ? there[i] / here[i]
                                        : dls_habitat_ratio(k, &before, &after, batch));
        }
    }
    *step_s = before_s > 0 ? measured_s * after_s / before_s : measured_s;
    return DLS_OK;
}
