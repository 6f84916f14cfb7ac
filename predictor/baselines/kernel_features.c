/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Turns a kernel, or the parameter update of a step, together with its GPU's data sheet into the
 * input vector of the network for its kind; amounts are logarithms.
 */
#include "predictor/baselines/kernel_features.h"

#include "predictor/baselines/roofline.h"

#include <math.h>

#define GPU_FEATURES 5
#define CONV_FEATURES 11
#define PRODUCT_FEATURES 3
#define PRODUCTS_FEATURES 4
#define MEMORY_FEATURES (1 + DLS_FAMILY_COUNT)
#define UPDATE_FEATURES (2 + DLS_OPTIMISER_COUNT)

_Static_assert(GPU_FEATURES + MEMORY_FEATURES <= DLS_KERNEL_FEATURES_MAX, "room for a kernel");

const char *const dls_kernel_net_names[DLS_KERNEL_NETS + 1] = {"conv",   "product", "products",
                                                               "memory", "update",  NULL};

int32_t dls_kernel_features(dls_kernel_net net)
{
    static const int32_t own[DLS_KERNEL_NETS] = {CONV_FEATURES, PRODUCT_FEATURES, PRODUCTS_FEATURES,
                                                 MEMORY_FEATURES, UPDATE_FEATURES};
    return GPU_FEATURES + own[net];
}

dls_kernel_net dls_kernel_net_of(const dls_kernel *k)
{
    if (k->family == DLS_KERNEL_MEMORY) {
        return DLS_NET_MEMORY;
    }
    if (k->family == DLS_KERNEL_MATMUL) {
        return k->count > 1 ? DLS_NET_PRODUCTS : DLS_NET_PRODUCT;
    }
    return DLS_NET_CONV;
}

static double level(double x)
{
    return log2(fmax(1, x));
}

/* The first inputs of every network. */
static dls_status describe_gpu(const dls_hw_gpu *gpu, dls_numeric numeric, double *x,
                               dls_error *err)
{
    const dls_roofline r = dls_roofline_of(gpu, numeric);
    if (!(gpu->multiprocessors > 0)) {
        return dls_fail(err, DLS_EINPUT, gpu->name,
                        "the table of GPUs does not say how many multiprocessors a %s has",
                        gpu->name);
    }
    x[0] = level(gpu->mem_bytes);
    x[1] = level(gpu->mem_bps);
    x[2] = level(gpu->multiprocessors);
    x[3] = level(r.flops);
    x[4] = r.element_bytes;
    return DLS_OK;
}

static void describe_conv(const dls_kernel *k, double batch, double *x)
{
    const dls_window *v = &k->window;
    const double sizes[CONV_FEATURES] = {batch,        v->in_h,      v->in_c,     v->out_c,
                                         v->kernel_h,  v->kernel_w,  v->stride,   (double)k->count,
                                         (double)k->m, (double)k->n, (double)k->k};
    for (int i = 0; i < CONV_FEATURES; i++) {
        x[i] = level(sizes[i]);
    }
}

static void describe_memory(const dls_kernel *k, double batch, double *x)
{
    x[0] = level(batch * k->moved + k->moved_once);
    for (int f = 0; f < DLS_FAMILY_COUNT; f++) {
        x[1 + f] = k->op_family == f;
    }
}

dls_status dls_kernel_describe(const dls_kernel *k, const dls_hw_gpu *gpu, dls_numeric numeric,
                               double batch, double *x, dls_error *err)
{
    const dls_kernel_net net = dls_kernel_net_of(k);
    DLS_TRY(describe_gpu(gpu, numeric, x, err));
    x += GPU_FEATURES;
    if (net == DLS_NET_MEMORY) {
        describe_memory(k, batch, x);
        return DLS_OK;
    }
    if (k->m == 0 || k->at_batch != batch || (net == DLS_NET_CONV && k->window.in_c == 0)) {
        return dls_fail(err, DLS_EINPUT, "kernel",
                        "the sizes of a %s are not known at batch %g: a graph of that batch is "
                        "needed",
                        dls_kernel_net_names[net], batch);
    }
    if (net == DLS_NET_CONV) {
        describe_conv(k, batch, x);
        return DLS_OK;
    }
    if (net == DLS_NET_PRODUCTS) {
        *x++ = level((double)k->count);
    }
    x[0] = level((double)k->m);
    x[1] = level((double)k->n);
    x[2] = level((double)k->k);
    return DLS_OK;
}

dls_status dls_update_describe(const dls_workload *w, const dls_hw_gpu *gpu, dls_numeric numeric,
                               double *x, dls_error *err)
{
    DLS_TRY(describe_gpu(gpu, numeric, x, err));
    x += GPU_FEATURES;
    x[0] = level(w->params);
    x[1] = level((double)w->n_tensors);
    for (int o = 0; o < DLS_OPTIMISER_COUNT; o++) {
        x[2 + o] = (int)w->optimiser == o;
    }
    return DLS_OK;
}
