/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gradients: the tape is played back, and every record leaves the operations that TensorFlow's
 * gradient functions would.
 */
#include "workload/graph/net_grad.h"

/* Inside a loop the gradients of all steps are added up. */
static void give_var(const ctx *c, int i, int32_t node)
{
    dls_net *net = c->net;
    net_var *var = &net->vars[c->rec->var[i]];
    if (c->rec->repeat > 1) {
        const int64_t b = bytes_of(net, &var->shape);
        node = emit(net, DLS_OP_ADD, &var->shape, 2 * b, (double)dls_shape_size(&var->shape), &node,
                    1);
    }
    if (var->half && c->rec->op <= TAPE_BIAS) { /* back to 32 bits */
        node = dls_net_of_bytes(net, &var->shape, node, 4);
    }
    if (var->standardised) {
        node = dls_net_norm_of_weights(net, c->rec->var[i], DLS_OP_BATCH_NORM_GRAD, node);
    }
    dls_net_add_grad(net, &var->grads, node);
}

int32_t dls_net_sum(dls_net *net, int32_t list, const dls_shape *shape)
{
    if (net->status != DLS_OK || list < 0) {
        return -1;
    }
    const int32_t first = net->grads[list].node;
    if (net->grads[list].next < 0) {
        return first;
    }
    int64_t n = 0;
    for (int32_t i = list; i >= 0; i = net->grads[i].next) {
        n++;
    }
    if (net->runner != DLS_RUN_GRAPH) { /* one after the other, as they come */
        int32_t total = first;
        for (int32_t i = net->grads[list].next; i >= 0; i = net->grads[i].next) {
            total = pointwise(net, DLS_OP_ADD, shape, 2 * bytes_of(net, shape),
                              (int32_t[]){total, net->grads[i].node}, 2);
        }
        return total;
    }
    const int32_t node = emit(net, DLS_OP_ADD_N, shape, n * bytes_of(net, shape),
                              (double)((n - 1) * dls_shape_size(shape)), &first, 1);
    for (int32_t i = net->grads[list].next; i >= 0; i = net->grads[i].next) {
        dls_net_edge(net, net->grads[i].node, node, false);
    }
    return node;
}

/* ---- convolutions and matrix products -------------------------------------------------------- */

static void grad_conv(const ctx *c)
{
    dls_net *net = c->net;
    const tape_rec *r = c->rec;
    const net_tensor *x = input(c, 0);
    const bool given = r->n_in > 1;
    const dls_shape filter = given ? input(c, 1)->shape : net->vars[r->var[0]].shape;
    const int32_t read = given ? input(c, 1)->node : net->vars[r->var[0]].read;
    const dls_shape *out = &net->tensors[r->out].shape;
    dls_op_dims d = r->dims;
    const double flops = dls_work_product(&d);
    const bool depthwise = r->kind == DLS_OP_DEPTHWISE_CONV;
    d.m = r->dims.n;
    d.n = r->dims.k;
    d.k = r->dims.m;
    net_work work = {.shape = filter,
                     .element_bytes = net->element_bytes,
                     .read_bytes = bytes_of(net, &x->shape) + bytes_of(net, out),
                     .write_bytes = bytes_of(net, &filter),
                     .flops = flops,
                     .dims = &d};
    if (!given || input(c, 1)->needs_grad) {
        const int32_t sizes = dls_net_const(net, 4);
        const int32_t grad = dls_net_emit(
            net, depthwise ? DLS_OP_DEPTHWISE_CONV_GRAD_FILTER : DLS_OP_CONV2D_GRAD_FILTER, &work,
            (int32_t[]){x->node, sizes, c->dy}, 3);
        if (given) {
            give(c, 1, grad);
        } else {
            give_var(c, 0, grad);
        }
    }
    if (!input(c, 0)->needs_grad) {
        return;
    }
    d.m = d.batch * d.in_h * d.in_w;
    d.n = d.in_c / d.groups;
    d.k = (int64_t)(d.out_c / d.groups) * d.kernel_h * d.kernel_w;
    const dls_shape in = input(c, 0)->shape;
    work.read_bytes = work.write_bytes + bytes_of(net, &net->tensors[r->out].shape);
    work.shape = in;
    work.write_bytes = bytes_of(net, &in);
    const int32_t in_sizes = dls_net_const(net, 4);
    give(c, 0,
         dls_net_emit(net, depthwise ? DLS_OP_DEPTHWISE_CONV_GRAD_INPUT : DLS_OP_CONV2D_GRAD_INPUT,
                      &work, (int32_t[]){in_sizes, read, c->dy}, 3));
}

static int32_t product(dls_net *net, dls_op_kind kind, const dls_shape *shape, dls_op_dims d,
                       int32_t a, int32_t b)
{
    const net_work work = {.shape = *shape,
                           .element_bytes = net->element_bytes,
                           .read_bytes = d.batch * (d.m * d.k + d.k * d.n) * net->element_bytes,
                           .write_bytes = bytes_of(net, shape),
                           .flops = dls_work_product(&d),
                           .dims = &d};
    return dls_net_emit(net, kind, &work, (int32_t[]){a, b}, 2);
}

static void grad_matmul(const ctx *c)
{
    dls_net *net = c->net;
    const dls_op_dims d = c->rec->dims;
    const int32_t read = net->vars[c->rec->var[0]].read;
    const dls_shape in = input(c, 0)->shape;
    const dls_shape weight = net->vars[c->rec->var[0]].shape;
    const bool swap = c->rec->flag; /* the variable was transposed: so is its gradient */
    if (input(c, 0)->needs_grad) {
        const dls_op_dims dx = {.batch = 1, .m = d.m, .n = d.k, .k = d.n};
        give(c, 0, product(net, DLS_OP_MATMUL, &in, dx, c->dy, read));
    }
    const dls_op_dims dw = {.batch = 1, .m = swap ? d.n : d.k, .n = swap ? d.k : d.n, .k = d.m};
    give_var(c, 0, product(net, DLS_OP_MATMUL, &weight, dw, input(c, 0)->node, c->dy));
}

static void grad_batch_matmul(const ctx *c)
{
    dls_net *net = c->net;
    const dls_op_dims d = c->rec->dims;
    const dls_shape x = input(c, 0)->shape;
    const dls_shape y = input(c, 1)->shape;
    const int32_t node_x = input(c, 0)->node;
    const int32_t node_y = input(c, 1)->node;
    const bool swap = c->rec->flag;
    const dls_op_dims dx = {.batch = d.batch, .m = d.m, .n = d.k, .k = d.n};
    const dls_op_dims dy = {
        .batch = d.batch, .m = swap ? d.n : d.k, .n = swap ? d.k : d.n, .k = d.m};
    give(c, 0, product(net, DLS_OP_BATCH_MATMUL, &x, dx, c->dy, node_y));
    give(c, 1,
         product(net, DLS_OP_BATCH_MATMUL, &y, dy, swap ? c->dy : node_x, swap ? node_x : c->dy));
}

static void grad_attention(const ctx *c)
{
    dls_net *net = c->net;
    const dls_op_dims d = c->rec->dims;
    const dls_shape q = input(c, 0)->shape, k = input(c, 1)->shape;
    const int64_t written = bytes_of(net, &q) + 2 * bytes_of(net, &k);
    const net_work work = {.shape = q,
                           .element_bytes = net->element_bytes,
                           .extra_out_bytes = 2 * bytes_of(net, &k),
                           .read_bytes = written + 2 * bytes_of(net, &q) + 4 * d.batch * d.m,
                           .write_bytes = written,
                           .flops = (c->rec->flag ? 0.5 : 1) * DLS_WORK_ATTENTION_GRAD * dls_work_product(&d),
                           .dims = &d};
    const int32_t in[] = {c->dy, input(c, 0)->node, input(c, 1)->node, input(c, 2)->node, c->rec->node};
    const int32_t node = dls_net_emit(net, DLS_OP_ATTENTION_GRAD, &work, in, 5);
    for (int i = 0; i < 3; i++) {
        give(c, i, node);
    }
}

/* ---- pointwise and normalisation ------------------------------------------------------------- */

static void grad_bias(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape in = input(c, 0)->shape;
    const dls_shape width = net->vars[c->rec->var[0]].shape;
    give(c, 0, c->dy);
    give_var(c, 0,
             emit(net, DLS_OP_BIAS_ADD_GRAD, &width, bytes_of(net, &in),
                  (double)dls_shape_size(&in), &c->dy, 1));
}

/* Reads input and gradient twice: once for the sums, which for a layer norm in PyTorch are a kernel
 * of their own. */
static void grad_norm(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape in = input(c, 0)->shape;
    const bool apart = net->runner != DLS_RUN_GRAPH && c->rec->kind == DLS_OP_LAYER_NORM;
    const int64_t b = bytes_of(net, &in);
    if (apart) {
        const dls_shape width = net->vars[c->rec->var[0]].shape;
        emit(net, DLS_OP_SUM, &width, 2 * b, (double)dls_shape_size(&in), &c->dy, 1);
    }
    const int32_t node =
        emit(net, (dls_op_kind)(c->rec->kind + 1), &in, (apart ? 2 : 4) * b,
             DLS_WORK_NORM_GRAD * (double)dls_shape_size(&in),
             (int32_t[]){c->dy, input(c, 0)->node, net->vars[c->rec->var[0]].read}, 3);
    sees(net, node, &c->rec->dims);
    give(c, 0, node);
    give_var(c, 0, node);
    if (c->rec->var[1] >= 0) {
        give_var(c, 1, node);
    }
}

static void grad_unary(const ctx *c)
{
    const dls_shape in = input(c, 0)->shape;
    give(c, 0,
         emit(c->net, (dls_op_kind)(c->rec->kind + 1), &in, 2 * bytes_of(c->net, &in),
              (double)dls_shape_size(&in), (int32_t[]){c->dy, c->rec->node}, 2));
}

/* What TensorFlow adds in case the operands had been broadcast; a sum over no axis moves nothing.
 */
static int32_t unbroadcast(const ctx *c, int32_t args, int32_t grad, const dls_shape *from,
                           const dls_shape *to)
{
    dls_net *net = c->net;
    /* Numbers that all samples share are added up even if there is one sample. */
    const bool reduced = from->n != to->n || dls_shape_size(from) != dls_shape_size(to);
    const int32_t in[2] = {grad, args};
    const int32_t node = reduced ? emit(net, DLS_OP_SUM, to, bytes_of(net, from),
                                        (double)dls_shape_size(from), in, 2)
                                 : view(net, DLS_OP_SUM, to, in, 2);
    const int32_t dims = dls_net_const(net, to->n);
    return view(net, DLS_OP_RESHAPE, to, (int32_t[]){node, dims}, 2);
}

static void grad_binary(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape shape[2] = {input(c, 0)->shape, input(c, 1)->shape};
    const int32_t node[2] = {input(c, 0)->node, input(c, 1)->node};
    const dls_shape dims = {.dim = {shape[0].n}, .n = 1};
    const int32_t a = dls_net_const(net, shape[0].n);
    const int32_t b = dls_net_const(net, shape[1].n);
    const int32_t args = view(net, DLS_OP_BROADCAST_GRAD_ARGS, &dims, (int32_t[]){a, b}, 2);
    for (int i = 0; i < 2; i++) {
        if (!input(c, i)->needs_grad) {
            continue;
        }
        int32_t grad = c->dy;
        if (c->rec->op == TAPE_MUL) {
            grad = pointwise(net, DLS_OP_MUL, &shape[0],
                             bytes_of(net, &shape[0]) + read_of(net, c->x[1 - i]),
                             (int32_t[]){c->dy, node[1 - i]}, 2);
        }
        give(c, i, unbroadcast(c, args, grad, &shape[0], &shape[i]));
    }
}

static void grad_scale(const ctx *c)
{
    const dls_shape in = input(c, 0)->shape;
    const int32_t factor = dls_net_const(c->net, 0);
    give(c, 0,
         pointwise(c->net, DLS_OP_MUL, &in, bytes_of(c->net, &in), (int32_t[]){c->dy, factor}, 2));
}

static void grad_dropout(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape in = input(c, 0)->shape;
    const int64_t b = bytes_of(net, &in);
    const double n = (double)dls_shape_size(&in);
    if (net->runner != DLS_RUN_GRAPH) {
        give(c, 0,
             pointwise(net, DLS_OP_MUL, &in, b + dls_shape_size(&in),
                       (int32_t[]){c->dy, c->rec->aux}, 2));
        return;
    }
    const int32_t keep = dls_net_const(net, 0);
    const int32_t mul = emit(net, DLS_OP_MUL, &in, 2 * b, n, (int32_t[]){c->dy, c->rec->aux}, 2);
    give(c, 0, emit(net, DLS_OP_REAL_DIV, &in, b, n, (int32_t[]){mul, keep}, 2));
}

/* Back to what the operand was: half as much is read or written. */
static void grad_cast(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape in = input(c, 0)->shape;
    const int64_t here = bytes_of(net, &in);
    net->wide = input(c, 0)->wide;
    give(c, 0, c->rec->flag ? c->dy : pointwise(net, DLS_OP_CAST, &in, here, &c->dy, 1));
}

/* A kernel for each two times that numbers are read or written, the last for what is left. */
static void grad_pass(const ctx *c)
{
    const dls_shape in = input(c, 0)->shape;
    int32_t grad = c->dy, left = c->rec->aux;
    while (left > 0) {
        const int32_t now = left < 4 ? left : 2;
        grad = pointwise(c->net, DLS_OP_MUL, &in, (now - 1) * bytes_of(c->net, &in), &grad, 1);
        if (c->rec->flag) {
            scattered(c->net, grad, &in);
        }
        left -= now;
    }
    give(c, 0, grad);
}

/* y (dy - sum(y dy)); in PyTorch y dy is one kernel and the rest another */
static void grad_softmax(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape in = input(c, 0)->shape;
    dls_shape rows = in;
    rows.dim[rows.n - 1] = 1;
    const int64_t b = bytes_of(net, &in);
    const double n = (double)dls_shape_size(&in);
    const int32_t y = c->rec->node;
    if (net->runner != DLS_RUN_GRAPH) {
        const int32_t both = pointwise(net, DLS_OP_MUL, &in, 2 * b, (int32_t[]){c->dy, y}, 2);
        give(c, 0, emit(net, DLS_OP_SOFTMAX_GRAD, &in, 2 * b, n, (int32_t[]){both, y}, 2));
        return;
    }
    const int32_t axis = dls_net_const(net, 1);
    const int32_t mul = emit(net, DLS_OP_MUL, &in, 2 * b, n, (int32_t[]){c->dy, y}, 2);
    const int32_t total = emit(net, DLS_OP_SUM, &rows, b, n, (int32_t[]){mul, axis}, 2);
    const int32_t sub =
        emit(net, DLS_OP_SUB, &in, b + bytes_of(net, &rows), n, (int32_t[]){c->dy, total}, 2);
    give(c, 0, emit(net, DLS_OP_MUL, &in, 2 * b, n, (int32_t[]){sub, y}, 2));
}

/* ---- tables, loops, loss --------------------------------------------------------------------- */

/* Rows that were looked up several times are added; the result is dense unless the optimiser can
 * scatter it. PyTorch's are dense where sequences are looked up (nn.Embedding's default) and sparse
 * for one row a sample (EmbeddingBag as DLRM has it). */
static void grad_lookup(const ctx *c)
{
    dls_net *net = c->net;
    net_var *var = &net->vars[c->rec->var[0]];
    const dls_shape looked = net->tensors[c->rec->out].shape;
    dls_shape rows = looked;
    rows.dim[0] = c->rec->flag ? dls_shape_size(&input(c, 0)->shape) : rows.dim[0]; /* of a sum each has its own */
    if (net->g->info.optimiser != DLS_OPTIMISER_SGD ||
        (dls_net_trains_eagerly(net) && rows.n > 2)) {
        var->sparse_rows = 0;
    }
    const dls_shape shape = var->sparse_rows > 0 ? rows : var->shape;
    give_var(c, 0,
             emit(net, DLS_OP_SEGMENT_SUM, &shape, bytes_of(net, &looked),
                  (double)dls_shape_size(&rows), (int32_t[]){c->dy, input(c, 0)->node}, 2));
}

static void grad_add_rows(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape in = input(c, 0)->shape;
    const dls_shape rows = {.dim = {in.dim[1], in.dim[2]}, .n = 2};
    const dls_shape table = net->vars[c->rec->var[0]].shape;
    const int32_t axis = dls_net_const(net, 1);
    give(c, 0, c->dy);
    const int32_t reduced = emit(net, DLS_OP_SUM, &rows, bytes_of(net, &in),
                                 (double)dls_shape_size(&in), (int32_t[]){c->dy, axis}, 2);
    give_var(c, 0, emit(net, DLS_OP_PAD, &table, bytes_of(net, &rows), 0, &reduced, 1));
}

static void grad_numbers(const ctx *c)
{
    give_var(c, 0, c->dy);
}

static void grad_loop_read(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape all = input(c, 0)->shape;
    const dls_shape row = net->tensors[c->rec->out].shape;
    const int32_t write =
        emit(net, DLS_OP_TENSOR_ARRAY_WRITE, &row, bytes_of(net, &row), 0, &c->dy, 1);
    net->repeat = 1;
    const int32_t done = view(net, DLS_OP_EXIT, &row, &write, 1);
    give(c, 0, emit(net, DLS_OP_TENSOR_ARRAY_GATHER, &all, bytes_of(net, &all), 0, &done, 1));
}

static void grad_loop_end(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape all = net->tensors[c->rec->out].shape;
    const dls_shape row = input(c, 0)->shape;
    const int32_t scatter =
        emit(net, DLS_OP_TENSOR_ARRAY_SCATTER, &all, bytes_of(net, &all), 0, &c->dy, 1);
    net->repeat = c->rec->aux;
    give(c, 0, emit(net, DLS_OP_TENSOR_ARRAY_READ, &row, bytes_of(net, &row), 0, &scatter, 1));
}

/* The gradient that comes back from the next step; grad_loop_state closes the circle. */
static void grad_loop_next(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape shape = input(c, 0)->shape;
    const int32_t dims = dls_net_const(net, 2);
    const int32_t repeat = net->repeat;
    net->repeat = 1;
    const int32_t zeros = emit(net, DLS_OP_FILL, &shape, 0, 0, &dims, 1);
    net->repeat = repeat;
    const int32_t enter = view(net, DLS_OP_ENTER, &shape, &zeros, 1);
    const int32_t merge = view(net, DLS_OP_MERGE, &shape, &enter, 1);
    for (size_t i = 0; i < net->n_tape; i++) {
        if (net->tape[i].op == TAPE_LOOP_STATE && net->tape[i].out == c->rec->out) {
            net->tape[i].aux = merge;
        }
    }
    give(c, 0, merge);
}

static void grad_loop_state(const ctx *c)
{
    const dls_shape shape = c->net->tensors[c->rec->out].shape;
    const int32_t next = view(c->net, DLS_OP_NEXT_ITERATION, &shape, &c->dy, 1);
    dls_net_edge(c->net, next, c->rec->aux, false);
}

/* Step by step the cell and its state; then the weights and biases of all steps. */
static void grad_recurrence(const ctx *c)
{
    dls_net *net = c->net;
    const tape_rec *r = c->rec;
    const dls_op_dims d = r->dims;
    const dls_shape all = input(c, 0)->shape, weight = net->vars[r->var[0]].shape;
    const dls_shape told = {.dim = {d.m, d.n}, .n = 2}, state = {.dim = {d.m, d.k}, .n = 2};
    const int32_t read = net->vars[r->var[0]].read;
    const int64_t steps = all.dim[1];
    net->repeat = (int32_t)steps;
    const int32_t cell =
        emit(net, DLS_OP_TANH_GRAD, &told, 2 * bytes_of(net, &told) + 2 * bytes_of(net, &state),
             (double)dls_shape_size(&told), (int32_t[]){c->dy, r->node}, 2);
    const dls_op_dims dx = {.batch = 1, .m = d.m, .n = d.k, .k = d.n};
    (void)product(net, DLS_OP_MATMUL, &state, dx, cell, read);
    net->repeat = 1;
    const dls_op_dims dw = {.batch = 1, .m = d.k, .n = d.n, .k = d.m * steps};
    give_var(c, 0, product(net, DLS_OP_MATMUL, &weight, dw, r->node, cell));
    give_var(c, 1,
             emit(net, DLS_OP_BIAS_ADD_GRAD, &net->vars[r->var[1]].shape, bytes_of(net, &all),
                  (double)dls_shape_size(&all), &cell, 1));
    give(c, 0, cell);
}

static void grad_loss(const ctx *c)
{
    dls_net *net = c->net;
    const dls_shape in = input(c, 0)->shape;
    dls_shape per = in;
    per.n = in.n > 1 ? in.n - 1 : 1;
    const double n = (double)dls_shape_size(&per);
    if (net->runner != DLS_RUN_GRAPH) { /* zeros for those that are not the label, then softmax's */
        const int32_t zeros = emit(net, DLS_OP_FILL, &in, 0, 0, &c->dy, 1);
        give(c, 0,
             emit(net, DLS_OP_SOFTMAX_GRAD, &in, 3 * bytes_of(net, &in),
                  (double)dls_shape_size(&in), (int32_t[]){zeros, c->rec->aux}, 2));
        return;
    }
    const int32_t dims = dls_net_const(net, per.n);
    const int32_t count = dls_net_const(net, 0);
    const int32_t tile = emit(net, DLS_OP_TILE, &per, 0, 0, (int32_t[]){c->dy, dims}, 2);
    const int32_t div =
        emit(net, DLS_OP_REAL_DIV, &per, bytes_of(net, &per), n, (int32_t[]){tile, count}, 2);
    const int32_t wide = view(net, DLS_OP_EXPAND_DIMS, &per, &div, 1);
    give(c, 0,
         emit(net, DLS_OP_MUL, &in, bytes_of(net, &in) + bytes_of(net, &per),
              (double)dls_shape_size(&in), (int32_t[]){c->rec->aux, wide}, 2));
}

static dls_net_grad *const grads[] = {
    [TAPE_CONV] = grad_conv,
    [TAPE_MATMUL] = grad_matmul,
    [TAPE_BATCH_MATMUL] = grad_batch_matmul,
    [TAPE_ATTENTION] = grad_attention,
    [TAPE_BIAS] = grad_bias,
    [TAPE_NORM] = grad_norm,
    [TAPE_LOOKUP] = grad_lookup,
    [TAPE_ADD_ROWS] = grad_add_rows,
    [TAPE_NUMBERS] = grad_numbers,
    [TAPE_UNARY] = grad_unary,
    [TAPE_ADD] = grad_binary,
    [TAPE_MUL] = grad_binary,
    [TAPE_SCALE] = grad_scale,
    [TAPE_CONCAT] = dls_net_grad_concat,
    [TAPE_SPLIT] = dls_net_grad_split,
    [TAPE_FIRST] = dls_net_grad_first,
    [TAPE_POOL] = dls_net_grad_pool,
    [TAPE_MEAN] = dls_net_grad_mean,
    [TAPE_DROPOUT] = grad_dropout,
    [TAPE_SOFTMAX] = grad_softmax,
    [TAPE_PASS] = grad_pass,
    [TAPE_CAST] = grad_cast,
    [TAPE_RESHAPE] = dls_net_grad_reshape,
    [TAPE_TRANSPOSE] = dls_net_grad_transpose,
    [TAPE_LOSS] = grad_loss,
    [TAPE_LOOP_READ] = grad_loop_read,
    [TAPE_LOOP_END] = grad_loop_end,
    [TAPE_LOOP_STATE] = grad_loop_state,
    [TAPE_LOOP_NEXT] = grad_loop_next,
    [TAPE_RECURRENCE] = grad_recurrence,
};

/* Losses start from a one; a split and the end of a state have no gradient of their own output. */
static int32_t seed(dls_net *net, const tape_rec *rec)
{
    if (rec->op == TAPE_LOSS) {
        const int32_t one = dls_net_const(net, 0);
        return view(net, DLS_OP_FILL, &(dls_shape){.n = 0}, (int32_t[]){one, rec->node}, 2);
    }
    if (rec->op == TAPE_SPLIT) {
        for (int i = 0; i < rec->n_out; i++) {
            if (net->tensors[rec->out + i].grads >= 0) {
                return rec->node;
            }
        }
        return -1;
    }
    if (rec->op == TAPE_LOOP_NEXT) {
        return rec->node;
    }
    const dls_shape shape = net->tensors[rec->out].shape;
    return dls_net_sum(net, net->tensors[rec->out].grads, &shape);
}

void dls_net_backward(dls_net *net)
{
    net->phase = DLS_PHASE_BACKWARD;
    for (size_t i = net->n_tape; i-- > 0 && net->status == DLS_OK;) {
        const tape_rec rec = net->tape[i];
        net->layer = rec.layer;
        net->repeat = rec.repeat;
        net->wide = net->tensors[rec.op == TAPE_LOSS ? net->inputs[rec.in] : rec.out].wide;
        const int32_t dy = seed(net, &rec);
        if (dy >= 0 && net->status == DLS_OK) {
            const ctx c = {net, &rec, dy, net->inputs + rec.in};
            grads[rec.op](&c);
        }
    }
    net->repeat = 1;
    net->wide = false;
}
