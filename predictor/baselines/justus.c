/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The predictor of Justus et al. (IEEE Big Data 2018): a step is the sum of network-predicted times
 * of its kernels and of the update.
 */
#include "predictor/baselines/justus.h"

#include "base/alloc.h"
#include "base/own.h"

static dls_status check(const dls_kernel_nets *nets, const dls_workload *w, dls_error *err)
{
    for (size_t i = 0; i < w->n_kernels; i++) {
        const dls_kernel_net net = dls_kernel_net_of(&w->kernel[i]);
        if (nets->net[net].n_values == 0) {
            return dls_fail(err, DLS_EINPUT, w->name, "no network for kernels of the kind %s",
                            dls_kernel_net_names[net]);
        }
    }
    return DLS_OK;
}

dls_status dls_justus_step_s(const dls_kernel_nets *nets, const dls_workload *w,
                             const dls_hw_gpu *gpu, dls_numeric numeric, double batch,
                             double *step_s, dls_error *err)
{
    DLS_TRY(check(nets, w, err));
    DLS_FREED double *seconds = NULL;
    DLS_TRY(dls_alloc_array(&seconds, w->n_kernels + 1, sizeof *seconds, "kernels", err));
    DLS_TRY(dls_kernel_nets_times(nets, w, gpu, numeric, batch, seconds, step_s, err));
    for (size_t i = 0; i < w->n_kernels; i++) {
        *step_s += seconds[i];
    }
    return DLS_OK;
}
