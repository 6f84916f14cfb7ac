/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A kernel on a GPU as its data sheet has it: at the peak rate or at the full bandwidth, whichever
 * takes longer (Williams, Waterman, Patterson, CACM 2009). What baselines share a measured step by.
 */
#ifndef DLS_BASELINES_ROOFLINE_H
#define DLS_BASELINES_ROOFLINE_H

#include "workload/operator/hardware.h"
#include "workload/operator/workload.h"

/* What a GPU does in a precision, its vector units' rate if it has no matrix units for it. */
typedef struct dls_roofline {
    double flops; /* per second */
    double mem_bps;
    double element_bytes;
} dls_roofline;
dls_roofline dls_roofline_of(const dls_hw_gpu *gpu, dls_numeric numeric);

/* All runs of a kernel in a step, seconds. */
double dls_roofline_compute_s(const dls_roofline *r, const dls_kernel *k, double batch);
double dls_roofline_memory_s(const dls_roofline *r, const dls_kernel *k, double batch);

#endif
