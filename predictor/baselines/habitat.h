/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Habitat's scaling (Yu, Gao, Golikov, Pekhimenko, USENIX ATC 2021): a kernel's time measured on
 * one GPU becomes its time on another by the ratio of their bandwidths and of their compute rates,
 * mixed by how far the kernel is from the roof's ridge:
 *
 *      t_to = t_from (D_from / D_to)^g (P_from / P_to)^(1-g)
 *      g    = 1 - I/(2 R) for I <= R, R/(2 I) above
 *
 * I: flops per byte of the kernel, R: of the target. Clock times multiprocessors is the vector
 * units' rate, so P stands for both. A step is measured as a whole; its time is shared among its
 * kernels as the roofline says. Kernels of the kinds for which Habitat has networks may go by those
 * instead (habitat_nets.h).
 */
#ifndef DLS_BASELINES_HABITAT_H
#define DLS_BASELINES_HABITAT_H

#include "predictor/baselines/roofline.h"

/* A step on `to`, given measured_s of the same workload, batch and precision on `from`. */
double dls_habitat_step_s(const dls_workload *w, const dls_hw_gpu *from, const dls_hw_gpu *to,
                          dls_numeric numeric, double batch, double measured_s);

/* A kernel's share of a step on `from`, in seconds of the data sheet, all its runs; 0: no work. */
double dls_habitat_kernel_s(const dls_kernel *k, const dls_roofline *from, double batch);
/* t_to / t_from of a kernel with work. */
double dls_habitat_ratio(const dls_kernel *k, const dls_roofline *from, const dls_roofline *to,
                         double batch);

#endif
