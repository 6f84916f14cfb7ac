/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Fits what a host that runs PyTorch takes for each kernel that it launches and each parameter that
 * it trains (dls_host) to measured steps of which the time in which kernels run is known, too.
 */
#ifndef DLS_MEASURED_HOST_FIT_H
#define DLS_MEASURED_HOST_FIT_H

#include "predictor/measured/steps.h"
#include "workload/operator/model.h"

typedef struct dls_host_fit {
    const dls_opmodel *model;
    const dls_hardware *hw;
    struct dls_host_row {
        dls_step step; /* its gpu_s is measured */
        double step_s;
    } * row; /* [n] owned */
    size_t n, cap;
} dls_host_fit;

void dls_host_fit_fini(dls_host_fit *f);
/* Add the rows of a CSV file whose framework is `host`: whole steps on one GPU with step_ms and
 * busy_ms, but where fitted is 0. Mixed precision in fp16 is left out: its scaler waits for the GPU
 * in each step. Errors: those of reading. */
dls_status dls_host_fit_read(dls_host_fit *f, const char *path, const char *host,
                             dls_error *err) DLS_MUST_CHECK;
/* launch_s and tensor_s by least squares of the logarithm. Errors: EINPUT (no rows), ENOMEM. */
dls_status dls_host_fit_run(dls_host_fit *f, dls_host *host, dls_error *err) DLS_MUST_CHECK;

#endif
