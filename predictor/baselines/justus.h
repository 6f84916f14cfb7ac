/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Justus, Brennan, Bonner, McGough ("Predicting the computational cost of deep learning models",
 * IEEE Big Data 2018): a network predicts how long each layer takes on a GPU from the layer's sizes
 * and the GPU's data sheet; a step is the sum over its layers. Nothing of the job is measured.
 * Layers are kernels here, forward, data gradient and weight gradient each on its own, and the
 * update one more.
 */
#ifndef DLS_BASELINES_JUSTUS_H
#define DLS_BASELINES_JUSTUS_H

#include "predictor/baselines/kernel_nets.h"

/* A step on one GPU. Errors: of dls_kernel_nets_times; EINPUT (a kernel of a kind that the file has
 * no network for). */
dls_status dls_justus_step_s(const dls_kernel_nets *nets, const dls_workload *w,
                             const dls_hw_gpu *gpu, dls_numeric numeric, double batch,
                             double *step_s, dls_error *err) DLS_MUST_CHECK;

#endif
