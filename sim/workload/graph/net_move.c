/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Forward operations that pool, cut, join and reorder. Traffic as in net_ops.c.
 */
#include "workload/graph/net_impl.h"

#include <string.h>

/* ---- pooling and moving ---------------------------------------------------------------------- */

/* With each of the greatest PyTorch writes down, in 64 bits, where it stood. */
int64_t dls_net_places(const dls_net *net, int32_t kind, const dls_shape *pooled)
{
    return dls_net_eager(net) && kind == DLS_OP_MAX_POOL ? 8 * dls_shape_size(pooled) : 0;
}

dls_tensor dls_net_pool(dls_net *net, dls_tensor x, dls_op_kind kind, int32_t kernel,
                        int32_t stride, int32_t pad)
{
    on(net, x);
    dls_net_layer(net, "pool");
    x = dls_net_together(net, x, kind == DLS_OP_MAX_POOL ? 2 : 0);
    const dls_shape in = at(net, x)->shape;
    const dls_shape shape = {.dim = {in.dim[0], extent(in.dim[1], kernel, stride, pad),
                                     extent(in.dim[2], kernel, stride, pad), in.dim[3]},
                             .n = 4};
    if (shape.dim[1] < 1 || shape.dim[2] < 1) {
        dls_net_fail(net, "the pooling window does not fit in the image");
    }
    const int32_t node =
        emit(net, kind, &shape, bytes_of(net, &in) + dls_net_places(net, kind, &shape),
             (double)dls_shape_size(&shape) * kernel * kernel, &at(net, x)->node, 1);
    const dls_op_dims seen = {.in_h = (int32_t)in.dim[1],
                              .in_w = (int32_t)in.dim[2],
                              .in_c = (int32_t)in.dim[3],
                              .out_h = (int32_t)shape.dim[1],
                              .out_w = (int32_t)shape.dim[2],
                              .kernel_h = kernel,
                              .kernel_w = kernel,
                              .stride_h = stride,
                              .stride_w = stride};
    tape_rec *rec;
    const dls_tensor out = record1(net, TAPE_POOL, kind, x, &shape, node, &rec);
    sees(net, node, &seen);
    if (rec) {
        rec->dims = seen;
    }
    return out;
}

static dls_tensor mean(dls_net *net, dls_tensor x, const dls_shape *shape)
{
    on(net, x);
    const dls_shape in = at(net, x)->shape;
    const int32_t axes = dls_net_const(net, in.n - shape->n);
    const int32_t node = emit(net, DLS_OP_MEAN, shape, bytes_of(net, &in),
                              (double)dls_shape_size(&in), (int32_t[]){at(net, x)->node, axes}, 2);
    return record1(net, TAPE_MEAN, DLS_OP_MEAN, x, shape, node, NULL);
}

dls_tensor dls_net_global_mean(dls_net *net, dls_tensor x)
{
    dls_net_layer(net, "mean");
    const dls_shape in = at(net, x)->shape;
    return mean(net, x, &(dls_shape){.dim = {in.dim[0], in.dim[3]}, .n = 2});
}

dls_tensor dls_net_row_mean(dls_net *net, dls_tensor x)
{
    dls_shape shape = at(net, x)->shape;
    shape.dim[shape.n - 1] = 1;
    return mean(net, x, &shape);
}

dls_tensor dls_net_parts_sum(dls_net *net, dls_tensor x, int n)
{
    x = dls_net_at_width(net, x, true, CAST_READ);
    dls_shape shape = at(net, x)->shape;
    shape.dim[shape.n - 1] /= n;
    const int32_t node = emit(net, DLS_OP_SUM, &shape, read_of(net, x),
                              (double)dls_shape_size(&at(net, x)->shape), &at(net, x)->node, 1);
    return record1(net, TAPE_MEAN, DLS_OP_SUM, x, &shape, node, NULL);
}

dls_tensor dls_net_concat(dls_net *net, const dls_tensor *x, int n)
{
    on(net, x[0]);
    int32_t in[DLS_NET_INPUTS];
    if (n < 1 || n >= DLS_NET_INPUTS) {
        dls_net_fail(net, "too many parts to concatenate");
        return -1;
    }
    dls_shape shape = at(net, x[0])->shape;
    int64_t width = 0;
    bool needs = false;
    for (int i = 0; i < n; i++) {
        width += dls_net_dim(net, x[i], -1);
        in[i] = at(net, x[i])->node;
        needs |= at(net, x[i])->needs_grad;
    }
    shape.dim[shape.n - 1] = width;
    net->planes = net->planes && shape.n == DLS_NET_DIMS;
    in[n] = dls_net_const(net, 0);
    const int32_t node = emit(net, DLS_OP_CONCAT, &shape, bytes_of(net, &shape), 0, in, n + 1);
    const dls_tensor out = dls_net_tensor(net, &shape, node, needs);
    dls_net_record(net, TAPE_CONCAT, x, n, out, 1);
    return out;
}

dls_tensor dls_net_stack(dls_net *net, const dls_tensor *x, int n)
{
    const dls_tensor out = dls_net_concat(net, x, n);
    if (net->status == DLS_OK && dls_net_eager(net)) {
        net->tensors[out].planes = true;
    }
    return out;
}

/* Views of images: their channels lie among others. */
static void lie_within(dls_net *net, dls_tensor x)
{
    if (net->status == DLS_OK && dls_net_eager(net)) {
        net->tensors[x].within = net->tensors[x].shape.n == 4;
    }
}

void dls_net_split(dls_net *net, dls_tensor x, int n, dls_tensor *part)
{
    on(net, x);
    dls_shape shape = at(net, x)->shape;
    const int64_t whole = bytes_of(net, &shape);
    const int64_t copied = net->runner == DLS_RUN_GRAPH ? whole : 0; /* else views */
    const bool needs = at(net, x)->needs_grad;
    const int32_t axis = dls_net_const(net, 0);
    shape.dim[shape.n - 1] /= n;
    const net_work work = {.shape = shape,
                           .element_bytes = net->element_bytes,
                           .extra_out_bytes = whole - whole / n,
                           .read_bytes = copied,
                           .write_bytes = copied};
    const int32_t node =
        dls_net_emit(net, DLS_OP_SPLIT, &work, (int32_t[]){axis, at(net, x)->node}, 2);
    for (int i = 0; i < n; i++) {
        part[i] = dls_net_tensor(net, &shape, node, needs);
        lie_within(net, part[i]);
    }
    dls_net_record(net, TAPE_SPLIT, &x, 1, part[0], n);
}

void dls_net_index(dls_net *net, dls_tensor x, int n, dls_tensor *part)
{
    dls_net_split(net, x, n, part);
    if (net->status == DLS_OK) {
        net->tape[net->n_tape - 1].flag = true;
    }
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Entries of x, which a constant of so many numbers names; summed up where they are `fewer`. */
static dls_tensor cut_or_sum(dls_net *net, dls_tensor x, dls_shape shape, int64_t numbers,
                             bool fewer)
{
    on(net, x);
    net->planes = net->planes && !fewer;
    const int64_t read = larger(bytes_of(net, &shape), fewer ? read_of(net, x) : 0);
    const int32_t begin = dls_net_const(net, numbers);
    const int32_t node =
        emit(net, DLS_OP_STRIDED_SLICE, &shape, read, 0, (int32_t[]){at(net, x)->node, begin}, 2);
    return record1(net, TAPE_FIRST, DLS_OP_STRIDED_SLICE, x, &shape, node, NULL);
}

static dls_tensor cut(dls_net *net, dls_tensor x, dls_shape shape, int64_t numbers)
{
    return cut_or_sum(net, x, shape, numbers, false);
}

dls_tensor dls_net_windows(dls_net *net, dls_tensor x, int n_dims, const int64_t *dims)
{
    dls_shape shape = {.n = n_dims};
    memcpy(shape.dim, dims, (size_t)n_dims * sizeof *dims);
    return cut_or_sum(net, x, shape, n_dims, true);
}

dls_tensor dls_net_first_token(dls_net *net, dls_tensor x)
{
    const dls_shape in = at(net, x)->shape;
    return cut(net, x, (dls_shape){.dim = {in.dim[0], in.dim[2]}, .n = 2}, in.n);
}

dls_tensor dls_net_tokens(dls_net *net, dls_tensor x, int64_t n)
{
    const dls_shape in = at(net, x)->shape;
    return cut(net, x, (dls_shape){.dim = {in.dim[0], n, in.dim[2]}, .n = 3}, n);
}

dls_tensor dls_net_channels(dls_net *net, dls_tensor x, int64_t n)
{
    dls_shape shape = at(net, x)->shape;
    shape.dim[shape.n - 1] = n;
    if (!dls_net_eager(net)) {
        return cut(net, x, shape, shape.n);
    }
    on(net, x);
    const net_work view = {.shape = shape, .element_bytes = net->element_bytes};
    const int32_t node = dls_net_emit(net, DLS_OP_STRIDED_SLICE, &view, &at(net, x)->node, 1);
    const dls_tensor out = record1(net, TAPE_FIRST, DLS_OP_STRIDED_SLICE, x, &shape, node, NULL);
    lie_within(net, out);
    return out;
}

dls_tensor dls_net_pairs(dls_net *net, dls_tensor x)
{
    const dls_shape in = at(net, x)->shape;
    const int64_t n = in.dim[1] * (in.dim[1] - 1) / 2;
    return cut(net, x, (dls_shape){.dim = {in.dim[0], n}, .n = 2}, 2 * n);
}

dls_tensor dls_net_reshape(dls_net *net, dls_tensor x, int n_dims, const int64_t *dims)
{
    on(net, x);
    dls_shape shape = {.n = n_dims};
    memcpy(shape.dim, dims, (size_t)n_dims * sizeof *dims);
    if (net->status == DLS_OK && dls_shape_size(&shape) != dls_shape_size(&at(net, x)->shape)) {
        dls_net_fail(net, "a reshape changes the number of elements");
    }
    const int32_t to = dls_net_const(net, n_dims);
    const net_work work = {.shape = shape, .element_bytes = net->element_bytes};
    const int32_t node =
        dls_net_emit(net, DLS_OP_RESHAPE, &work, (int32_t[]){at(net, x)->node, to}, 2);
    return record1(net, TAPE_RESHAPE, DLS_OP_RESHAPE, x, &shape, node, NULL);
}

dls_tensor dls_net_turned(dls_net *net, dls_tensor x)
{
    if (!dls_net_eager(net)) {
        return dls_net_pass(net, x, DLS_OP_TRANSPOSE, 2);
    }
    x = dls_net_reshape(net, x, at(net, x)->shape.n, at(net, x)->shape.dim);
    if (net->status == DLS_OK) {
        net->tensors[x].planes = true;
    }
    return x;
}

dls_tensor dls_net_flatten(dls_net *net, dls_tensor x)
{
    const int64_t size = dls_shape_size(&at(net, x)->shape);
    const int64_t b = dls_net_dim(net, x, 0);
    return dls_net_reshape(net, x, 2, (int64_t[]){b, size / b});
}

dls_tensor dls_net_transpose(dls_net *net, dls_tensor x)
{
    on(net, x);
    dls_shape shape = at(net, x)->shape;
    const int64_t t = shape.dim[1];
    shape.dim[1] = shape.dim[2];
    shape.dim[2] = t;
    if (net->planes && shape.n == 3) { /* lies so already */
        x = dls_net_reshape(net, x, shape.n, shape.dim);
        if (net->status == DLS_OK) {
            net->tensors[x].planes = false;
        }
        return x;
    }
    net->planes = false;
    const int32_t perm = dls_net_const(net, shape.n);
    const int32_t node = emit(net, DLS_OP_TRANSPOSE, &shape, bytes_of(net, &shape), 0,
                              (int32_t[]){at(net, x)->node, perm}, 2);
    if (shape.n == 3) { /* of more, rows stay together */
        scattered(net, node, &shape);
    }
    return record1(net, TAPE_TRANSPOSE, DLS_OP_TRANSPOSE, x, &shape, node, NULL);
}

dls_tensor dls_net_shuffle(dls_net *net, dls_tensor x)
{
    const bool planes = at(net, x)->planes;
    x = dls_net_pass(net, x, DLS_OP_TRANSPOSE, 2);
    if (net->status == DLS_OK) {
        net->tensors[x].planes = planes;
    }
    return x;
}

dls_tensor dls_net_split_heads(dls_net *net, dls_tensor x, int64_t heads)
{
    const dls_shape s = at(net, x)->shape;
    if (heads < 1 || s.dim[2] % heads != 0) {
        dls_net_fail(net, "its heads do not divide over so many GPUs");
        heads = 1;
    }
    return dls_net_transpose(
        net, dls_net_reshape(net, x, 4, (int64_t[]){s.dim[0], s.dim[1], heads, s.dim[2] / heads}));
}

dls_tensor dls_net_merge_heads(dls_net *net, dls_tensor x)
{
    const dls_tensor y = dls_net_transpose(net, x);
    const dls_shape s = at(net, y)->shape;
    return dls_net_reshape(net, y, 3, (int64_t[]){s.dim[0], s.dim[1], s.dim[2] * s.dim[3]});
}

dls_tensor dls_net_wide(dls_net *net, dls_tensor x)
{
    return dls_net_at_width(net, x, true, CAST_APART);
}

dls_tensor dls_net_narrow(dls_net *net, dls_tensor x)
{
    return dls_net_at_width(net, x, false, CAST_APART);
}

static dls_tensor pass(dls_net *net, dls_tensor x, dls_op_kind kind, int64_t read, int back)
{
    const dls_shape shape = at(net, x)->shape;
    tape_rec *rec;
    const int32_t node = pointwise(net, kind, &shape, read, &at(net, x)->node, 1);
    const dls_tensor out = record1(net, TAPE_PASS, kind, x, &shape, node, &rec);
    if (rec) {
        rec->aux = back;
    }
    return out;
}

dls_tensor dls_net_pass(dls_net *net, dls_tensor x, dls_op_kind kind, int back)
{
    x = dls_net_at_width(net, x, kind == DLS_OP_POW || at(net, x)->wide, CAST_APART);
    net->planes = net->planes && kind != DLS_OP_TRANSPOSE;
    return pass(net, x, kind, read_of(net, x), back);
}

dls_tensor dls_net_pass_wide(dls_net *net, dls_tensor x, dls_op_kind kind, int back)
{
    x = dls_net_at_width(net, x, true, CAST_READ);
    return pass(net, x, kind, read_of(net, x), back);
}
