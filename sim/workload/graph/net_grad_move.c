/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gradients of operations that pool, cut, join and reorder.
 */
#include "workload/graph/net_grad.h"

/* PyTorch hands out views, which what goes number by number or joins them again reads as they are;
 * others copy them. */
static bool takes_views(const dls_net *net, dls_tensor t)
{
    size_t i = 0;
    while (i + 1 < net->n_tape &&
           (t < net->tape[i].out || t >= net->tape[i].out + net->tape[i].n_out)) {
        i++;
    }
    const tape_op op = net->tape[i].op;
    return dls_net_eager(net) && (net->tensors[t].uses > 1 || op == TAPE_UNARY ||
                                  op == TAPE_MUL || op == TAPE_SPLIT || op == TAPE_FIRST ||
                                  op == TAPE_TRANSPOSE);
}

void dls_net_grad_concat(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape dims = {.dim = {input(c, 0)->shape.n}, .n = 1};
    const int32_t axis = dls_net_const(net, 0);
    const int32_t offset = view(net, DLS_OP_CONCAT_OFFSET, &dims, &axis, 1);
    for (int i = 0; i < c->rec->n_in; i++) {
        if (input(c, i)->needs_grad) {
            const dls_shape part = input(c, i)->shape;
            const int32_t in[] = {c->dy, offset};
            give(c, i,
                 takes_views(net, c->x[i])
                     ? view(net, DLS_OP_SLICE, &part, in, 2)
                     : emit(net, DLS_OP_SLICE, &part, bytes_of(net, &part), 0, in, 2));
        }
    }
}

/* The parts' gradients side by side; zeros for a part that nobody used. */
void dls_net_grad_split(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape in = input(c, 0)->shape;
    int32_t grads[DLS_NET_INPUTS];
    for (int i = 0; i < c->rec->n_out && c->rec->flag && dls_net_eager(net); i++) {
        const net_tensor *part = &net->tensors[c->rec->out + i];
        const dls_shape shape = part->shape;
        const int32_t grad = dls_net_sum(net, part->grads, &shape);
        give(c, 0, emit(net, DLS_OP_STRIDED_SLICE_GRAD, &in, bytes_of(net, &shape), 0, &grad, 1));
    }
    if (c->rec->flag && dls_net_eager(net)) {
        return;
    }
    for (int i = 0; i < c->rec->n_out; i++) {
        const net_tensor *part = &net->tensors[c->rec->out + i];
        const dls_shape shape = part->shape;
        grads[i] = part->grads >= 0 ? dls_net_sum(net, part->grads, &shape)
                                    : emit(net, DLS_OP_ZEROS_LIKE, &shape, 0, 0, &c->rec->node, 1);
    }
    grads[c->rec->n_out] = dls_net_const(net, 0);
    give(c, 0, emit(net, DLS_OP_CONCAT, &in, bytes_of(net, &in), 0, grads, c->rec->n_out + 1));
}

void dls_net_grad_first(const ctx *c)
{
    const dls_shape in = input(c, 0)->shape;
    const dls_shape out = c->net->tensors[c->rec->out].shape;
    const int64_t part = bytes_of(c->net, &out), whole = bytes_of(c->net, &in);
    const bool eager = dls_net_eager(c->net);
    const bool apart = eager && part < whole; /* zeros, then what there is in their place */
    /* Of a slice of all, which is changed in place, the gradient is copied three times. */
    const int64_t copies = eager && part == whole && c->net->tensors[c->rec->out].within ? 3 : 1;
    const net_work work = {.shape = in,
                           .element_bytes = c->net->element_bytes,
                           .read_bytes = copies * part,
                           .write_bytes = copies * whole + (apart ? part : 0)};
    const int32_t begin = dls_net_const(c->net, in.n);
    give(c, 0, dls_net_emit(c->net, DLS_OP_STRIDED_SLICE_GRAD, &work, (int32_t[]){c->dy, begin}, 2));
}

/* Of the greatest TensorFlow reads input, output and gradient; PyTorch writes zeros first, and then
 * reads the gradient and its place. */
void dls_net_grad_pool(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape in = input(c, 0)->shape, pooled = net->tensors[c->rec->out].shape;
    const int64_t out = bytes_of(net, &pooled), b = bytes_of(net, &in);
    const double n = (double)dls_shape_size(&in);
    int32_t node;
    if (c->rec->kind == DLS_OP_MAX_POOL) {
        const int64_t read =
            dls_net_eager(net) ? out + dls_net_places(net, c->rec->kind, &pooled) : 2 * out;
        node = emit(net, DLS_OP_MAX_POOL_GRAD, &in, b + read, n,
                    (int32_t[]){input(c, 0)->node, c->rec->node, c->dy}, 3);
    } else {
        const int32_t dims = dls_net_const(net, in.n);
        node = emit(net, DLS_OP_AVG_POOL_GRAD, &in, out, n, (int32_t[]){dims, c->dy}, 2);
    }
    sees(net, node, &c->rec->dims);
    give(c, 0, node);
}

/* TensorFlow's makes copies and divides them; PyTorch's divides a view. */
void dls_net_grad_mean(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape in = input(c, 0)->shape;
    const int64_t b = bytes_of(net, &in), out = bytes_of(net, &net->tensors[c->rec->out].shape);
    const double n = (double)dls_shape_size(&in);
    if (c->rec->kind == DLS_OP_SUM) {
        give(c, 0, view(net, DLS_OP_TILE, &in, &c->dy, 1));
        return;
    }
    if (dls_net_eager(net)) {
        give(c, 0, emit(net, DLS_OP_REAL_DIV, &in, out, n, &c->dy, 1));
        return;
    }
    const int32_t multiples = dls_net_const(net, in.n);
    const int32_t count = dls_net_const(net, 0);
    const int32_t tile = emit(net, DLS_OP_TILE, &in, out, 0, (int32_t[]){c->dy, multiples}, 2);
    give(c, 0, emit(net, DLS_OP_REAL_DIV, &in, b, n, (int32_t[]){tile, count}, 2));
}

void dls_net_grad_reshape(const ctx *c)
{
    const dls_shape in = input(c, 0)->shape;
    const int32_t dims = dls_net_const(c->net, in.n);
    give(c, 0, view(c->net, DLS_OP_RESHAPE, &in, (int32_t[]){c->dy, dims}, 2));
}

void dls_net_grad_transpose(const ctx *c)
{
    const dls_shape in = input(c, 0)->shape;
    const dls_shape dims = {.dim = {in.n}, .n = 1};
    const int32_t perm = dls_net_const(c->net, in.n);
    const int32_t inverse = view(c->net, DLS_OP_INVERT_PERMUTATION, &dims, &perm, 1);
    const int32_t node = emit(c->net, DLS_OP_TRANSPOSE, &in, bytes_of(c->net, &in), 0,
                              (int32_t[]){c->dy, inverse}, 2);
    if (in.n == 3) {
        scattered(c->net, node, &in);
    }
    give(c, 0, node);
}
