/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Forward operations on images and matrices, and input. Traffic is that of an unfused kernel: every
 * input is read once and every output written once, unless a comment says otherwise.
 */
#include "workload/graph/net_impl.h"

#include <stdio.h>

#define HALF_BYTES 2
#define COPY 2 /* passes over memory: read here, written there */

/* ---- input ----------------------------------------------------------------------------------- */

static dls_tensor input(dls_net *net, const dls_shape *shape, bool integers)
{
    const net_work work = {.shape = *shape, .element_bytes = 4, .on_cpu = true};
    net->phase = DLS_PHASE_OTHER;
    const int32_t next = dls_net_emit(net, DLS_OP_ITERATOR_NEXT, &work, NULL, 0);
    net->phase = DLS_PHASE_FORWARD;
    const net_work copy = {.shape = *shape,
                           .element_bytes = integers ? 4 : net->element_bytes,
                           .read_bytes = 4 * dls_shape_size(shape),
                           .write_bytes = 4 * dls_shape_size(shape)};
    const int32_t node =
        dls_net_emit(net, integers ? DLS_OP_IDENTITY : DLS_OP_CAST, &copy, &next, 1);
    return dls_net_tensor(net, shape, node, false);
}

dls_tensor dls_net_image(dls_net *net, int32_t h, int32_t w, int32_t c)
{
    const int32_t asked = net->g->info.image;
    net->planes = by_channel(net);
    dls_net_layer(net, "input");
    return input(
        net,
        &(dls_shape){.dim = {dls_net_batch(net), asked ? asked : h, asked ? asked : w, c}, .n = 4},
        false);
}

dls_tensor dls_net_latents(dls_net *net, int32_t edge, int32_t by, int32_t of, int32_t c)
{
    edge = net->g->info.image ? net->g->info.image : edge;
    net->planes = by_channel(net);
    dls_net_layer(net, "input");
    if (edge % of != 0) {
        char what[64];
        snprintf(what, sizeof what, "an image's edge must be a multiple of %d pixels", (int)of);
        dls_net_fail(net, what);
    }
    return input(net, &(dls_shape){.dim = {dls_net_batch(net), edge / by, edge / by, c}, .n = 4}, false);
}

dls_tensor dls_net_indices(dls_net *net, int32_t n)
{
    dls_net_layer(net, "input");
    return input(net, &(dls_shape){.dim = {dls_net_batch(net), n}, .n = n > 0 ? 2 : 1}, true);
}

dls_tensor dls_net_dense_input(dls_net *net, int32_t n)
{
    dls_net_layer(net, "input");
    if (dls_net_eager(net) && net->status == DLS_OK) {
        net->g->info.made += (double)dls_net_batch(net) * n;
    }
    return input(net, &(dls_shape){.dim = {dls_net_batch(net), n}, .n = 2}, false);
}

/* ---- convolutions and matrix products -------------------------------------------------------- */

/* A copy by channel (planes) or by pixel; `back` passes over memory for its gradient. */
static dls_tensor laid_out(dls_net *net, dls_tensor x, bool planes, int back)
{
    x = dls_net_pass(net, x, DLS_OP_TRANSPOSE, back);
    if (net->status == DLS_OK) {
        net->tensors[x].planes = net->planes = planes;
        scattered(net, at(net, x)->node, &at(net, x)->shape);
        net->tape[net->n_tape - 1].flag = true;
    }
    return x;
}

/* `joined`: the product in front adds it. */
static dls_tensor add_bias(dls_net *net, dls_tensor x, bool joined)
{
    on(net, x);
    const dls_shape shape = at(net, x)->shape;
    const dls_shape width = {.dim = {dls_net_dim(net, x, -1)}, .n = 1};
    const int32_t var = dls_net_var(net, &width, false);
    if (var < 0) {
        return -1;
    }
    const int32_t read = dls_net_weight(net, var);
    const int32_t node =
        joined ? at(net, x)->node
               : emit(net, DLS_OP_BIAS_ADD, &shape, bytes_of(net, &shape),
                      (double)dls_shape_size(&shape), (int32_t[]){at(net, x)->node, read}, 2);
    tape_rec *rec;
    const dls_tensor out = record1(net, TAPE_BIAS, DLS_OP_BIAS_ADD, x, &shape, node, &rec);
    if (rec) {
        rec->var[0] = var;
        net->tensors[out].needs_grad = true;
    }
    return out;
}

/* Of what lies by channel, or turned, PyTorch's kernels that read whole rows make a copy. */
static dls_tensor side_by_side(dls_net *net, dls_tensor x)
{
    return at(net, x)->planes ? laid_out(net, x, false, COPY) : x;
}

dls_tensor dls_net_together(dls_net *net, dls_tensor x, int back)
{
    return at(net, x)->within ? dls_net_pass(net, x, DLS_OP_SLICE, back) : x;
}

/* As a convolution reads images, of which the gradient of its weights needs the same copies once more. */
static dls_tensor for_conv(dls_net *net, dls_tensor x)
{
    x = dls_net_together(net, dls_net_at_width(net, x, false, CAST_APART), COPY);
    return at(net, x)->planes && !by_channel(net) /* back: its gradient for the norm, too */
               ? laid_out(net, x, false, 2 * COPY)
               : x;
}

static int32_t filter_var(dls_net *net, const dls_shape *filter)
{
    const int32_t var = dls_net_var(net, filter, true);
    if (var >= 0 && net->standardise && dls_net_eager(net)) {
        net->vars[var].standardised = true;
        net->vars[var].read =
            dls_net_norm_of_weights(net, var, DLS_OP_BATCH_NORM, net->vars[var].read);
    }
    return var;
}

dls_tensor dls_net_conv(dls_net *net, dls_tensor x, dls_conv c)
{
    x = for_conv(net, x);
    dls_net_layer(net, "conv");
    const dls_shape in = at(net, x)->shape;
    const int32_t in_c = (int32_t)in.dim[3];
    const int32_t out_c = c.depthwise ? in_c : c.out;
    const int32_t stride_w = c.stride_w > 0 ? c.stride_w : c.stride;
    dls_op_dims d = {.batch = in.dim[0],
                     .in_h = (int32_t)in.dim[1],
                     .in_w = (int32_t)in.dim[2],
                     .in_c = in_c,
                     .out_h = extent(in.dim[1], c.kernel_h, c.stride, c.pad),
                     .out_w = extent(in.dim[2], c.kernel_w, stride_w, c.pad),
                     .out_c = out_c,
                     .kernel_h = c.kernel_h,
                     .kernel_w = c.kernel_w,
                     .stride_h = c.stride,
                     .stride_w = stride_w,
                     .groups = c.depthwise    ? in_c
                               : c.groups > 1 ? c.groups
                                              : 1};
    d.m = d.batch * d.out_h * d.out_w;
    d.n = d.out_c / d.groups;
    d.k = (int64_t)(d.in_c / d.groups) * d.kernel_h * d.kernel_w;
    if (in.n != 4 || d.out_h < 1 || d.out_w < 1) {
        dls_net_fail(net, "the kernel does not fit in the image");
    }
    if (in_c % d.groups != 0 || out_c % d.groups != 0) {
        dls_net_fail(net, "the channels cannot be divided into these groups");
    }
    const bool grouped = c.groups > 1 && !c.depthwise;
    const dls_shape filter = {
        .dim = {c.kernel_h, c.kernel_w, grouped ? in_c / d.groups : in_c, c.depthwise ? 1 : out_c},
        .n = 4};
    const int32_t var = c.weights ? -1 : filter_var(net, &filter);
    if (net->status != DLS_OK || (var < 0 && !c.weights)) {
        return -1;
    }
    const int32_t weights = c.weights ? at(net, *c.weights)->node : dls_net_weight(net, var);
    const dls_shape shape = {.dim = {d.batch, d.out_h, d.out_w, out_c}, .n = 4};
    const dls_op_kind kind = c.depthwise ? DLS_OP_DEPTHWISE_CONV : DLS_OP_CONV2D;
    const net_work work = {.shape = shape,
                           .element_bytes = net->element_bytes,
                           .read_bytes = bytes_of(net, &in) + bytes_of(net, &filter),
                           .write_bytes = bytes_of(net, &shape),
                           .flops = dls_work_product(&d),
                           .dims = &d};
    const int32_t node = dls_net_emit(net, kind, &work, (int32_t[]){at(net, x)->node, weights}, 2);
    const bool learns = !c.weights || at(net, *c.weights)->needs_grad;
    const dls_tensor out = dls_net_tensor(net, &shape, node, learns || at(net, x)->needs_grad);
    tape_rec *rec = dls_net_record(net, TAPE_CONV, (dls_tensor[]){x, c.weights ? *c.weights : -1},
                                   c.weights ? 2 : 1, out, 1);
    if (rec) {
        rec->kind = kind;
        rec->node = node;
        rec->var[0] = var;
        rec->dims = d;
    }
    return c.bias ? add_bias(net, out, false) : out;
}

/* x [m][k] times a variable [k][n], or [n][k] transposed. */
static dls_tensor matmul(dls_net *net, dls_tensor x, int32_t var, int64_t n, bool transposed)
{
    x = dls_net_at_width(net, x, false, CAST_APART);
    x = side_by_side(net, x);
    dls_shape shape = at(net, x)->shape;
    const int64_t k = dls_net_dim(net, x, -1);
    if (var < 0) {
        return -1;
    }
    const dls_op_dims d = {.batch = 1, .m = dls_shape_size(&shape) / k, .n = n, .k = k};
    const int64_t read = (d.m * k + k * n) * net->element_bytes;
    shape.dim[shape.n - 1] = n;
    const net_work work = {.shape = shape,
                           .element_bytes = net->element_bytes,
                           .read_bytes = read,
                           .write_bytes = bytes_of(net, &shape),
                           .flops = dls_work_product(&d),
                           .dims = &d};
    const int32_t node = dls_net_emit(net, DLS_OP_MATMUL, &work,
                                      (int32_t[]){at(net, x)->node, dls_net_weight(net, var)}, 2);
    tape_rec *rec;
    const dls_tensor out = record1(net, TAPE_MATMUL, DLS_OP_MATMUL, x, &shape, node, &rec);
    if (rec) {
        rec->var[0] = var;
        rec->dims = d;
        rec->flag = transposed;
        net->tensors[out].needs_grad = true;
    }
    return out;
}

dls_tensor dls_net_dense(dls_net *net, dls_tensor x, int64_t out, bool bias)
{
    dls_net_layer(net, "dense");
    const dls_shape weight = {.dim = {dls_net_dim(net, x, -1), out}, .n = 2};
    const bool joined = dls_net_eager(net) && !at(net, x)->planes;
    const dls_tensor y = matmul(net, x, dls_net_var(net, &weight, true), out, false);
    return bias ? add_bias(net, y, joined) : y;
}

dls_tensor dls_net_offset(dls_net *net, dls_tensor x)
{
    return add_bias(net, x, dls_net_eager(net));
}

dls_tensor dls_net_tied(dls_net *net, dls_tensor x, dls_embedding table, bool bias)
{
    dls_net_layer(net, "output");
    if (net->status != DLS_OK) {
        return -1;
    }
    net->vars[table].sparse_rows = 0; /* its gradient is dense now */
    const dls_tensor y = matmul(net, x, table, net->vars[table].shape.dim[0], true);
    return bias ? add_bias(net, y, net->runner != DLS_RUN_GRAPH) : y;
}

dls_tensor dls_net_batch_matmul(dls_net *net, dls_tensor x, dls_tensor y, bool transpose_y)
{
    x = dls_net_at_width(net, x, false, CAST_APART);
    y = dls_net_at_width(net, y, false, CAST_APART);
    x = at(net, x)->shape.n > 3 ? side_by_side(net, x) : x; /* else one that lies turned is read turned */
    y = at(net, y)->shape.n > 3 ? side_by_side(net, y) : y;
    net->planes = false;
    dls_shape shape = at(net, x)->shape;
    const int64_t k = dls_net_dim(net, x, -1);
    const int64_t n = dls_net_dim(net, y, transpose_y ? -2 : -1);
    const int64_t m = dls_net_dim(net, x, -2);
    if (dls_net_dim(net, y, transpose_y ? -1 : -2) != k) {
        dls_net_fail(net, "the factors of a batched matrix product do not fit");
    }
    const dls_op_dims d = {.batch = dls_shape_size(&shape) / (m * k), .m = m, .n = n, .k = k};
    shape.dim[shape.n - 1] = n;
    const net_work work = {.shape = shape,
                           .element_bytes = net->element_bytes,
                           .read_bytes = d.batch * (m * k + k * n) * net->element_bytes,
                           .write_bytes = bytes_of(net, &shape),
                           .flops = dls_work_product(&d),
                           .dims = &d};
    const int32_t node = dls_net_emit(net, DLS_OP_BATCH_MATMUL, &work,
                                      (int32_t[]){at(net, x)->node, at(net, y)->node}, 2);
    const dls_tensor out = dls_net_tensor(net, &shape, node, true);
    tape_rec *rec = dls_net_record(net, TAPE_BATCH_MATMUL, (dls_tensor[]){x, y}, 2, out, 1);
    if (rec) {
        rec->dims = d;
        rec->flag = transpose_y;
    }
    return out;
}

/* Of a row the sum of its scores' exponentials is kept, in 32 bits. */
dls_tensor dls_net_attention(dls_net *net, dls_tensor q, dls_tensor k, dls_tensor v, bool causal)
{
    dls_tensor in[3] = {q, k, v};
    int64_t read = 0;
    for (int i = 0; i < 3; i++) {
        in[i] = dls_net_at_width(net, in[i], false, CAST_APART);
        read += read_of(net, in[i]);
    }
    const dls_shape shape = at(net, in[0])->shape;
    const int64_t keys = dls_net_dim(net, k, 2), rows = shape.dim[0] * shape.dim[1];
    const dls_op_dims d = {.batch = rows, .m = shape.dim[2], .n = keys, .k = shape.dim[3]};
    const net_work work = {.shape = shape,
                           .element_bytes = net->element_bytes,
                           .extra_out_bytes = 4 * rows * d.m,
                           .read_bytes = read,
                           .write_bytes = bytes_of(net, &shape) + 4 * rows * d.m,
                           .flops = (causal ? 0.5 : 1) * DLS_WORK_ATTENTION * dls_work_product(&d),
                           .dims = &d};
    const int32_t node = dls_net_emit(
        net, DLS_OP_ATTENTION, &work,
        (int32_t[]){at(net, in[0])->node, at(net, in[1])->node, at(net, in[2])->node}, 3);
    const dls_tensor out = dls_net_tensor(net, &shape, node, true);
    tape_rec *rec = dls_net_record(net, TAPE_ATTENTION, in, 3, out, 1);
    if (rec) {
        rec->node = node;
        rec->dims = d;
        rec->flag = causal;
    }
    return out;
}

/* ---- normalisation --------------------------------------------------------------------------- */

/* Moving mean and variance: two more variables that no gradient changes, and their update. */
static void moving_averages(dls_net *net, int32_t node, int64_t width)
{
    const dls_shape shape = {.dim = {width}, .n = 1};
    for (int i = 0; i < 2; i++) {
        const net_work held = {.shape = shape, .element_bytes = 4};
        const net_work step = {.shape = shape,
                               .element_bytes = 4,
                               .read_bytes = 8 * width,
                               .write_bytes = 4 * width,
                               .flops = (double)width};
        net->phase = DLS_PHASE_OTHER;
        const int32_t var = dls_net_emit(net, DLS_OP_VARIABLE, &held, NULL, 0);
        const int32_t init = dls_net_const(net, width);
        dls_net_emit(net, DLS_OP_ASSIGN, &held, (int32_t[]){var, init}, 2);
        const int32_t read = dls_net_emit(net, DLS_OP_IDENTITY, &held, &var, 1);
        const int32_t decay = dls_net_const(net, 0);
        net->phase = DLS_PHASE_FORWARD;
        const int32_t sub = dls_net_emit(net, DLS_OP_SUB, &step, (int32_t[]){read, node}, 2);
        const int32_t mul = dls_net_emit(net, DLS_OP_MUL, &step, (int32_t[]){sub, decay}, 2);
        dls_net_emit(net, DLS_OP_ASSIGN_SUB, &step, (int32_t[]){var, mul}, 2);
    }
}

/* PyTorch's kernels keep the averages. Beside them one counts the batches, and those that are not
 * cuDNN's, which has none for bf16, finish their sums in one and clear counters in two, there and
 * back. */
static void beside_batch_norm(dls_net *net, int32_t node, int64_t width)
{
    const int more = net->g->info.numeric == DLS_NUMERIC_BF16 ? 3 : 0;
    const dls_shape shape = {.dim = {width}, .n = 1}, count = {.n = 0};
    for (int i = 0; i < 1 + more && !(net->runner & DLS_RUN_FORWARD); i++) {
        emit(net, DLS_OP_ADD, i == 0 ? &count : &shape, 0, 1, &node, 1);
    }
}

/* Reads its input twice: once for the moments, which a forward pass alone does not make. PyTorch's
 * kernel of a layer norm finds a row in the cache the second time. */
static dls_tensor norm(dls_net *net, dls_tensor x, dls_op_kind kind, bool bias, bool groups)
{
    x = dls_net_at_width(net, x, kind != DLS_OP_BATCH_NORM || at(net, x)->wide, CAST_APART);
    x = kind == DLS_OP_LAYER_NORM && !groups ? side_by_side(net, x) : x;
    const dls_shape shape = at(net, x)->shape;
    const dls_shape width = {.dim = {dls_net_dim(net, x, -1)}, .n = 1};
    const int32_t gamma = dls_net_var(net, &width, false);
    const int32_t beta = bias ? dls_net_var(net, &width, false) : -1;
    if (net->status != DLS_OK) {
        return -1;
    }
    const int32_t in[3] = {at(net, x)->node, net->vars[gamma].read,
                           bias ? net->vars[beta].read : -1};
    const bool batch = kind == DLS_OP_BATCH_NORM, eager = dls_net_eager(net);
    const bool known = batch && net->runner & DLS_RUN_FORWARD;
    const int reads = known || (eager && kind == DLS_OP_LAYER_NORM && !groups) ? 1 : 2;
    const int32_t node = emit(net, kind, &shape, reads * bytes_of(net, &shape),
                              DLS_WORK_NORM * (double)dls_shape_size(&shape), in, bias ? 3 : 2);
    const dls_op_dims seen = {.in_c = batch ? (int32_t)width.dim[0] : 0};
    tape_rec *rec;
    const dls_tensor out = record1(net, TAPE_NORM, kind, x, &shape, node, &rec);
    sees(net, node, &seen);
    if (rec) {
        rec->dims = seen;
        rec->var[0] = gamma;
        rec->var[1] = beta;
        net->tensors[out].needs_grad = true;
    }
    if (batch) {
        (eager ? beside_batch_norm : moving_averages)(net, node, width.dim[0]);
    }
    return out;
}

dls_tensor dls_net_batch_norm(dls_net *net, dls_tensor x)
{
    return norm(net, x, DLS_OP_BATCH_NORM, true, false);
}

dls_tensor dls_net_layer_norm(dls_net *net, dls_tensor x)
{
    dls_net_layer(net, "layer_norm");
    return norm(net, x, DLS_OP_LAYER_NORM, true, false);
}

dls_tensor dls_net_group_norm(dls_net *net, dls_tensor x)
{
    const bool last = net->runner != DLS_RUN_GRAPH && !(net->runner & DLS_RUN_CHANNELS_FIRST) &&
                      net->element_bytes <= HALF_BYTES;
    dls_net_layer(net, "layer_norm");
    if (net->standardise) {
        net->g->info.by_channel = true;
    } else if (last && !at(net, x)->planes) { /* back: what the convolution before it gets */
        x = laid_out(net, dls_net_at_width(net, x, true, CAST_APART), true, COPY);
    }
    return norm(net, x, DLS_OP_LAYER_NORM, true, true);
}

/* x^2's derivative: the power, two products. */
#define BACK_SQUARE 7

/* In 32 bits, and what comes of it back to what x was, as Hugging Face's. */
static dls_tensor rms_norm_spelled_out(dls_net *net, dls_tensor x)
{
    const bool wide = at(net, x)->wide;
    x = dls_net_at_width(net, x, true, CAST_APART);
    dls_tensor length = dls_net_row_mean(net, dls_net_pass(net, x, DLS_OP_POW, BACK_SQUARE));
    length = dls_net_unary(net, length, DLS_OP_RSQRT);
    x = dls_net_at_width(net, dls_net_mul(net, x, length), wide, CAST_APART);
    return dls_net_mul(net, x, dls_net_numbers(net, dls_net_dim(net, x, -1)));
}

dls_tensor dls_net_rms_norm(dls_net *net, dls_tensor x)
{
    dls_net_layer(net, "rms_norm");
    return dls_net_spells_out(net) ? rms_norm_spelled_out(net, x)
                                   : norm(net, x, DLS_OP_RMS_NORM, false, false);
}

/* ---- pointwise ------------------------------------------------------------------------------- */

dls_tensor dls_net_unary(dls_net *net, dls_tensor x, dls_op_kind kind)
{
    on(net, x);
    const dls_shape shape = at(net, x)->shape;
    const int32_t node = emit(net, kind, &shape, bytes_of(net, &shape),
                              (double)dls_shape_size(&shape), &at(net, x)->node, 1);
    return record1(net, TAPE_UNARY, kind, x, &shape, node, NULL);
}

dls_tensor dls_net_in_place(dls_net *net, dls_tensor x, dls_op_kind kind)
{
    const bool needed = kind == DLS_OP_SWISH || kind == DLS_OP_RELU6;
    const bool copied = needed && dls_net_spells_out(net) && dls_net_trains_eagerly(net);
    return dls_net_unary(net, copied ? dls_net_pass(net, x, DLS_OP_TILE, 0) : x, kind);
}

void dls_net_swish_for_relu(dls_net *net)
{
    net->swish = true;
}

dls_tensor dls_net_relu(dls_net *net, dls_tensor x)
{
    return dls_net_in_place(net, x, net->swish ? DLS_OP_SWISH : DLS_OP_RELU);
}

/* Of the halves of a row that change places: one changes its sign; back each fills up zeros, and they are added. */
#define BACK_HALVES 8

/* Cosines and sines have 32 bits. */
dls_tensor dls_net_rotary(dls_net *net, dls_tensor x)
{
    if (!dls_net_spells_out(net)) {
        return dls_net_unary(net, x, DLS_OP_ROTARY);
    }
    const dls_tensor turned = dls_net_pass(net, x, DLS_OP_CONCAT, BACK_HALVES);
    return dls_net_add(net, dls_net_pass_wide(net, x, DLS_OP_MUL, COPY),
                       dls_net_pass_wide(net, turned, DLS_OP_MUL, COPY));
}

static dls_tensor binary(dls_net *net, dls_tensor x, dls_tensor y, tape_op op, dls_op_kind kind)
{
    const bool wide = at(net, x)->wide || at(net, y)->wide;
    x = dls_net_at_width(net, x, wide, CAST_READ);
    y = dls_net_at_width(net, y, wide, CAST_READ);
    on(net, x); /* the first says how results lie */
    const dls_shape shape = at(net, x)->shape;
    const int32_t node =
        pointwise(net, kind, &shape, read_of(net, x) + read_of(net, y),
                  (int32_t[]){at(net, x)->node, at(net, y)->node}, 2);
    if (at(net, x)->planes != at(net, y)->planes && dls_shape_size(&shape) == dls_shape_size(&at(net, y)->shape)) {
        scattered(net, node, &shape);
    }
    const bool needs = at(net, x)->needs_grad || at(net, y)->needs_grad;
    const dls_tensor out = dls_net_tensor(net, &shape, node, needs);
    dls_net_record(net, op, (dls_tensor[]){x, y}, 2, out, 1);
    return out;
}

dls_tensor dls_net_add(dls_net *net, dls_tensor x, dls_tensor y)
{
    return binary(net, x, y, TAPE_ADD, DLS_OP_ADD);
}

dls_tensor dls_net_mul(dls_net *net, dls_tensor x, dls_tensor y)
{
    return binary(net, x, y, TAPE_MUL, DLS_OP_MUL);
}

dls_tensor dls_net_scale(dls_net *net, dls_tensor x)
{
    on(net, x);
    const dls_shape shape = at(net, x)->shape;
    const int32_t factor = dls_net_const(net, 0);
    const int32_t node = pointwise(net, DLS_OP_MUL, &shape, bytes_of(net, &shape),
                                   (int32_t[]){at(net, x)->node, factor}, 2);
    return record1(net, TAPE_SCALE, DLS_OP_MUL, x, &shape, node, NULL);
}

/* PyTorch's: one kernel, whose mask has a byte for each number. */
static dls_tensor dropout_in_one(dls_net *net, dls_tensor x)
{
    on(net, x);
    const dls_shape shape = at(net, x)->shape;
    const int64_t mask = dls_shape_size(&shape);
    const int64_t b = net->runner & DLS_RUN_COMPILED ? 0 : bytes_of(net, &shape);
    const net_work work = {.shape = shape,
                           .element_bytes = net->element_bytes,
                           .read_bytes = b,
                           .write_bytes = b + mask,
                           .flops = (double)dls_shape_size(&shape)};
    const net_work kept = {.shape = shape, .element_bytes = 1};
    const int32_t node = dls_net_emit(net, DLS_OP_MUL, &work, &at(net, x)->node, 1);
    const int32_t dropped = dls_net_emit(net, DLS_OP_FLOOR, &kept, &node, 1);
    tape_rec *rec;
    const dls_tensor out = record1(net, TAPE_DROPOUT, DLS_OP_MUL, x, &shape, node, &rec);
    if (rec) {
        rec->aux = dropped;
    }
    return out;
}

/* As tf.nn.dropout: uniform numbers, keep probability added, floor, divide, multiply. */
dls_tensor dls_net_dropout(dls_net *net, dls_tensor x)
{
    if (net->runner & DLS_RUN_FORWARD) {
        return x;
    }
    dls_net_layer(net, "dropout");
    if (net->runner != DLS_RUN_GRAPH) {
        return dropout_in_one(net, x);
    }
    const dls_shape shape = at(net, x)->shape;
    const int64_t b = bytes_of(net, &shape);
    const double n = (double)dls_shape_size(&shape);
    const int32_t in = at(net, x)->node;
    const int32_t keep = dls_net_const(net, 0);
    const int32_t dims = dls_net_const(net, shape.n);
    const int32_t random = emit(net, DLS_OP_RANDOM_UNIFORM, &shape, 0, n, &dims, 1);
    const int32_t sum = emit(net, DLS_OP_ADD, &shape, b, n, (int32_t[]){random, keep}, 2);
    const int32_t mask = emit(net, DLS_OP_FLOOR, &shape, b, n, &sum, 1);
    const int32_t div = emit(net, DLS_OP_REAL_DIV, &shape, b, n, (int32_t[]){in, keep}, 2);
    const int32_t node = emit(net, DLS_OP_MUL, &shape, 2 * b, n, (int32_t[]){div, mask}, 2);
    tape_rec *rec;
    const dls_tensor out = record1(net, TAPE_DROPOUT, DLS_OP_MUL, x, &shape, node, &rec);
    if (rec) {
        rec->aux = mask;
    }
    return out;
}

/* Of fp16 PyTorch's kernel makes 32 bits itself, of bf16 a copy is made (SoftMax.cpp). */
dls_tensor dls_net_softmax(dls_net *net, dls_tensor x)
{
    const bool copied = net->g->info.numeric == DLS_NUMERIC_BF16;
    x = side_by_side(net, copied ? dls_net_at_width(net, x, true, CAST_APART) : x);
    const int64_t narrow = read_of(net, x);
    x = dls_net_at_width(net, x, true, CAST_INSIDE);
    const int64_t read = copied ? read_of(net, x) : narrow;
    const dls_shape shape = at(net, x)->shape;
    const int32_t node =
        emit(net, DLS_OP_SOFTMAX, &shape, read, DLS_WORK_SOFTMAX * (double)dls_shape_size(&shape),
             &at(net, x)->node, 1);
    return record1(net, TAPE_SOFTMAX, DLS_OP_SOFTMAX, x, &shape, node, NULL);
}
