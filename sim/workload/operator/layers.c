/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Builds workloads of networks layer by layer: kernels of convolutions, dense layers, matrix
 * products and element-wise operations by the counting rules of workload.h.
 */
#include "workload/operator/layers.h"

#include "base/alloc.h"

void dls_layers_begin(dls_layers *b, dls_workload *w, dls_error *err)
{
    *b = (dls_layers){.w = w, .first = true, .status = DLS_OK, .err = err};
}

static void kernel(dls_layers *b, dls_kernel k)
{
    dls_workload *w = b->w;
    if (b->status == DLS_OK) {
        b->status =
            dls_grow(&w->kernel, &w->kernel_cap, w->n_kernels + 1, sizeof *w->kernel, b->err);
    }
    if (b->status == DLS_OK) {
        k.layer = w->n_layers;
        k.op_family = DLS_FAMILY_OTHER;
        k.repeats = k.repeats ? k.repeats : 1;
        w->kernel[w->n_kernels++] = k;
    }
}

static int32_t tensor(dls_layers *b, double elements)
{
    dls_workload *w = b->w;
    if (b->status == DLS_OK) {
        b->status =
            dls_grow(&w->tensor, &w->tensor_cap, w->n_tensors + 1, sizeof *w->tensor, b->err);
    }
    if (b->status != DLS_OK) {
        return -1;
    }
    w->tensor[w->n_tensors] = elements;
    w->params += elements;
    return (int32_t)w->n_tensors++;
}

static void layer_done(dls_layers *b, int32_t ops)
{
    b->w->n_layers++;
    b->w->n_ops += ops;
    b->first = false;
}

static double size_of(dls_shape s)
{
    return (double)s.h * s.w * s.c;
}

static void passes(dls_layers *b, double forward, double backward, double kept, dls_pass_kind pass)
{
    dls_kernel k = {
        .family = DLS_KERNEL_MEMORY, .tensor = -1, .moved = forward, .pass = (uint8_t)pass};
    kernel(b, k);
    k.backward = 1;
    k.moved = backward;
    kernel(b, k);
    b->w->activations += kept;
    layer_done(b, 1);
}

void dls_layers_elementwise(dls_layers *b, double forward, double backward, double kept)
{
    passes(b, forward, backward, kept, DLS_PASS_ANY);
}

void dls_layers_parameters(dls_layers *b, int n, double elements)
{
    for (int i = 0; i < n; i++) {
        tensor(b, elements);
    }
}

static dls_kernel_family family_of(int32_t kh, int32_t kw, int32_t stride)
{
    if (kh != kw) {
        return kh == 1 || kw == 1 ? DLS_KERNEL_CONV_LINE : DLS_KERNEL_CONV_OTHER;
    }
    if (kh == 1) {
        return DLS_KERNEL_CONV1;
    }
    if (stride == 1 && kh == 3) {
        return DLS_KERNEL_CONV3;
    }
    return stride == 1 && kh == 5 ? DLS_KERNEL_CONV5 : DLS_KERNEL_CONV_OTHER;
}

static int32_t shrink(int32_t n, int32_t k, int32_t stride, int padding)
{
    return padding == DLS_SAME ? (n + stride - 1) / stride : (n - k) / stride + 1;
}

/* Forward, data gradient, weight gradient: equal work; `rows` a sample times in x out weights. */
static void weighted(dls_layers *b, dls_kernel k, double rows, double in, double out)
{
    k.tensor = -1;
    k.moved_once = in * out;
    k.product = (dls_product){1, rows, in, out, 1, DLS_GROWS_ROWS};
    kernel(b, k);
    k.backward = 1;
    if (!b->first) {
        k.part = DLS_PART_DATA;
        k.product = (dls_product){1, rows, out, in, 1, DLS_GROWS_ROWS};
        kernel(b, k);
    }
    k.part = DLS_PART_WEIGHT;
    k.product = (dls_product){1, in, rows, out, 1, DLS_GROWS_DEPTH};
    k.tensor = tensor(b, in * out);
    kernel(b, k);
}

/* Work of output tiles of 2 x 2 over the work of the output itself. */
static double tiled(int32_t n)
{
    return (double)((n + 1) / 2 * 2) / n;
}

void dls_layers_conv(dls_layers *b, int32_t kh, int32_t kw, int32_t stride, int32_t c, int padding,
                     int then)
{
    const dls_shape in = b->at;
    const dls_shape out = {shrink(in.h, kh, stride, padding), shrink(in.w, kw, stride, padding), c};
    const double weights = (double)kh * kw * in.c * c, n = size_of(out);
    const double macs = (double)out.h * out.w * weights;
    dls_kernel k = {.family = (uint8_t)family_of(kh, kw, stride),
                    .flops = 2 * macs,
                    .moved = size_of(in) + n,
                    .window = {in.h, in.c, c, kh, kw, stride, out.h}};
    if (k.family == DLS_KERNEL_CONV3) {
        k.flops *= tiled(out.h) * tiled(out.w);
    }
    weighted(b, k, (double)out.h * out.w, (double)kh * kw * in.c, c);
    b->w->forward_macs += macs;
    b->w->activations += n;
    b->at = out;
    layer_done(b, 1);
    if (then & DLS_BIAS) {
        dls_layers_parameters(b, 1, c);
        dls_layers_elementwise(b, 2 * n, n, 0);
    }
    if (then & DLS_NORM) {
        dls_layers_parameters(b, 2, c);
        passes(b, 3 * n, 5 * n, n, DLS_PASS_BATCH_NORM);
    }
    if (then & DLS_RELU) {
        dls_layers_relu(b);
    }
}

void dls_layers_relu(dls_layers *b)
{
    const double n = size_of(b->at);
    dls_layers_elementwise(b, 2 * n, 3 * n, 0); /* in place */
}

void dls_layers_pool(dls_layers *b, int32_t k, int32_t stride, int padding)
{
    const double before = size_of(b->at);
    b->at.h = shrink(b->at.h, k, stride, padding);
    b->at.w = shrink(b->at.w, k, stride, padding);
    const double after = size_of(b->at);
    dls_layers_elementwise(b, before + after, 2 * (before + after), after);
}

void dls_layers_pool_global(dls_layers *b)
{
    const double before = size_of(b->at);
    b->at.h = b->at.w = 1;
    const double after = size_of(b->at);
    dls_layers_elementwise(b, before + after, 2 * (before + after), after);
}

void dls_layers_residual_add(dls_layers *b)
{
    const double n = size_of(b->at);
    dls_layers_elementwise(b, 3 * n, 3 * n, n);
}

void dls_layers_concat(dls_layers *b, int32_t c)
{
    b->at.c = c;
    const double n = size_of(b->at);
    dls_layers_elementwise(b, 2 * n, 2 * n, n);
}

void dls_layers_linear(dls_layers *b, double rows, double in, double out, bool bias)
{
    weighted(b,
             (dls_kernel){.family = DLS_KERNEL_MATMUL,
                          .flops = 2 * rows * in * out,
                          .moved = rows * (in + out)},
             rows, in, out);
    if (bias) {
        tensor(b, out);
    }
    b->w->forward_macs += rows * in * out;
    b->w->activations += rows * out;
    layer_done(b, 1);
}

void dls_layers_dense(dls_layers *b, int32_t out)
{
    dls_layers_linear(b, 1, size_of(b->at), out, true);
    b->at = (dls_shape){1, 1, out};
}

void dls_layers_matmul(dls_layers *b, double count, double m, double k, double n)
{
    dls_kernel one = {.family = DLS_KERNEL_MATMUL,
                      .tensor = -1,
                      .flops = 2 * count * m * k * n,
                      .moved = count * (m * k + k * n + m * n)};
    one.product = (dls_product){count, m, k, n, 1, DLS_GROWS_COUNT};
    kernel(b, one);
    one.backward = 1;
    one.product = (dls_product){count, m, n, k, 1, DLS_GROWS_COUNT};
    kernel(b, one);
    one.product = (dls_product){count, k, m, n, 1, DLS_GROWS_COUNT};
    kernel(b, one);
    b->w->forward_macs += count * m * k * n;
    b->w->activations += count * m * n;
    layer_done(b, 1);
}

void dls_layers_embedding(dls_layers *b, double rows, double d, double entries)
{
    kernel(b, (dls_kernel){.family = DLS_KERNEL_MEMORY, .tensor = -1, .moved = 2 * rows * d});
    kernel(b, (dls_kernel){.family = DLS_KERNEL_MEMORY,
                           .backward = 1,
                           .tensor = tensor(b, entries * d),
                           .moved = 3 * rows * d,
                           .moved_once = entries * d});
    b->w->activations += rows * d;
    layer_done(b, 1);
}

void dls_layers_loss(dls_layers *b, double n)
{
    dls_layers_elementwise(b, 4 * n, 3 * n, n);
    b->w->n_ops--; /* the floor per operation is fitted without it */
}
