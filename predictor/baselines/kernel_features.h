/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a learned baseline sees of a kernel and of the GPU that runs it. There is a network for each
 * kind of kernel, as in Justus et al. (IEEE Big Data 2018) and in Habitat (USENIX ATC 2021),
 * because kinds differ in what describes them:
 *
 *      conv      batch, image, channels in and out, window, stride, groups; as products m, n, k
 *      product   m, n, k
 *      products  how many, m, n, k                       (Habitat: bmm)
 *      memory    elements read and written, kind of operation
 *      update    parameters, tensors, optimiser          (once a step)
 *      GPU       memory, bandwidth, multiprocessors, peak rate in the kernel's precision, element
 *
 * Numbers spread over decades, so networks see their logarithms to base 2, of 1 in place of less.
 */
#ifndef DLS_BASELINES_KERNEL_FEATURES_H
#define DLS_BASELINES_KERNEL_FEATURES_H

#include "workload/operator/hardware.h"
#include "workload/operator/workload.h"

typedef enum dls_kernel_net {
    DLS_NET_CONV,
    DLS_NET_PRODUCT,
    DLS_NET_PRODUCTS,
    DLS_NET_MEMORY,
    DLS_NET_UPDATE,
    DLS_KERNEL_NETS
} dls_kernel_net;
/* "conv", "product", "products", "memory", "update"; NULL-ended. */
extern const char *const dls_kernel_net_names[DLS_KERNEL_NETS + 1];

/* Most inputs of any. */
#define DLS_KERNEL_FEATURES_MAX 32

/* Inputs of a kind's network. */
int32_t dls_kernel_features(dls_kernel_net net);
/* Which network a kernel belongs to; never DLS_NET_UPDATE. */
dls_kernel_net dls_kernel_net_of(const dls_kernel *k);

/* One run of a kernel, x[dls_kernel_features(dls_kernel_net_of(k))]. Errors: EINPUT (a GPU whose
 * multiprocessors are not known, a kernel whose sizes are not known at this batch). */
dls_status dls_kernel_describe(const dls_kernel *k, const dls_hw_gpu *gpu, dls_numeric numeric,
                               double batch, double *x, dls_error *err) DLS_MUST_CHECK;
/* The optimiser's part of a step, x[dls_kernel_features(DLS_NET_UPDATE)]. EINPUT: as above. */
dls_status dls_update_describe(const dls_workload *w, const dls_hw_gpu *gpu, dls_numeric numeric,
                               double *x, dls_error *err) DLS_MUST_CHECK;

#endif
