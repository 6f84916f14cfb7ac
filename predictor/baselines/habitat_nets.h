/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Habitat with its networks (Yu, Gao, Golikov, Pekhimenko, USENIX ATC 2021, section 4.3): kernels
 * whose implementation changes from GPU to GPU, convolutions and matrix products, are not scaled as
 * waves (habitat.h) but by the ratio of what a network predicts on both GPUs. The published
 * networks have 8 hidden layers of 1024 and learn from kernels measured on six GPUs; those here are
 * what `dlsim train --baseline=habitat` was told, and learn from kernel_data.h.
 */
#ifndef DLS_BASELINES_HABITAT_NETS_H
#define DLS_BASELINES_HABITAT_NETS_H

#include "predictor/baselines/kernel_nets.h"

/* A step on `to`, given measured_s of the same workload, batch and precision on `from`; without
 * networks for a kind its kernels are scaled as waves. Errors: of dls_kernel_nets_times. */
dls_status dls_habitat_nets_step_s(const dls_kernel_nets *nets, const dls_workload *w,
                                   const dls_hw_gpu *from, const dls_hw_gpu *to,
                                   dls_numeric numeric, double batch, double measured_s,
                                   double *step_s, dls_error *err) DLS_MUST_CHECK;

#endif
