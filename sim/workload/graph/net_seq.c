/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Forward operations on tables and sequences, loops, and the loss.
 */
#include "workload/graph/net_impl.h"

#include <string.h>

static dls_shape shape_of(const dls_net *net, dls_tensor t)
{
    return net->status == DLS_OK && t >= 0 ? net->tensors[t].shape
                                           : (dls_shape){.dim = {1, 1, 1, 1}, .n = 4};
}

static int32_t node_of(const dls_net *net, dls_tensor t)
{
    return net->status == DLS_OK && t >= 0 ? net->tensors[t].node : -1;
}

/* Control flow: no data to speak of. */
static int32_t control(dls_net *net, dls_op_kind kind, const dls_shape *shape, const int32_t *in,
                       int n)
{
    const net_work work = {.shape = *shape, .element_bytes = net->element_bytes};
    return dls_net_emit(net, kind, &work, in, n);
}

/* ---- tables ---------------------------------------------------------------------------------- */

dls_embedding dls_net_table(dls_net *net, int64_t rows, int64_t width)
{
    dls_net_layer(net, "embedding");
    return dls_net_var(net, &(dls_shape){.dim = {rows, width}, .n = 2}, true);
}

/* summed: the rows of each sample, which are not written down. */
static dls_tensor look_up(dls_net *net, dls_embedding table, dls_tensor indices, bool summed)
{
    if (net->status != DLS_OK) {
        return -1;
    }
    net->wide = net->runner != DLS_RUN_GRAPH && net->element_bytes == 2; /* tables keep 32 bits */
    net->planes = false;
    net_var *var = &net->vars[table];
    dls_shape shape = shape_of(net, indices);
    var->sparse_rows += dls_shape_size(&shape);
    var->decay = false;
    shape.dim[shape.n++] = var->shape.dim[1];
    const int64_t read = bytes_of(net, &shape);
    const double added = summed ? (double)dls_shape_size(&shape) : 0;
    shape = summed ? (dls_shape){.dim = {shape.dim[0], var->shape.dim[1]}, .n = 2} : shape;
    const int32_t node = emit(net, DLS_OP_GATHER, &shape, read, added,
                              (int32_t[]){var->read, node_of(net, indices)}, 2);
    const dls_tensor out = dls_net_tensor(net, &shape, node, true);
    tape_rec *rec = dls_net_record(net, TAPE_LOOKUP, &indices, 1, out, 1);
    if (rec) {
        rec->var[0] = table;
        rec->flag = summed;
    }
    return out;
}

dls_tensor dls_net_lookup(dls_net *net, dls_embedding table, dls_tensor indices)
{
    return look_up(net, table, indices, false);
}

dls_tensor dls_net_bag(dls_net *net, dls_embedding table, dls_tensor indices)
{
    return look_up(net, table, indices, true);
}

dls_tensor dls_net_add_rows(dls_net *net, dls_tensor x, dls_embedding table)
{
    x = dls_net_at_width(net, x, true, CAST_READ);
    const dls_shape shape = shape_of(net, x);
    if (net->status != DLS_OK) {
        return -1;
    }
    net->vars[table].decay = false;
    const int32_t begin = dls_net_const(net, 2);
    const dls_shape rows = {.dim = {shape.dim[1], shape.dim[2]}, .n = 2};
    const int32_t slice = emit(net, DLS_OP_SLICE, &rows, bytes_of(net, &rows), 0,
                               (int32_t[]){net->vars[table].read, begin}, 2);
    const int32_t node =
        emit(net, DLS_OP_ADD, &shape, bytes_of(net, &shape) + bytes_of(net, &rows),
             (double)dls_shape_size(&shape), (int32_t[]){node_of(net, x), slice}, 2);
    const dls_tensor out = dls_net_tensor(net, &shape, node, true);
    tape_rec *rec = dls_net_record(net, TAPE_ADD_ROWS, &x, 1, out, 1);
    if (rec) {
        rec->var[0] = table;
    }
    return out;
}

dls_tensor dls_net_numbers(dls_net *net, int64_t n)
{
    const dls_shape shape = {.dim = {n}, .n = 1};
    const int32_t var = dls_net_var(net, &shape, false);
    if (var < 0) {
        return -1;
    }
    net->wide = net->runner != DLS_RUN_GRAPH && net->element_bytes == 2; /* as tables */
    net->planes = false;
    const dls_tensor out = dls_net_tensor(net, &shape, net->vars[var].read, true);
    tape_rec *rec = dls_net_record(net, TAPE_NUMBERS, NULL, 0, out, 1);
    if (rec) {
        rec->var[0] = var;
    }
    return out;
}

dls_tensor dls_net_frozen(dls_net *net, int n_dims, const int64_t *dims)
{
    dls_shape shape = {.n = n_dims};
    memcpy(shape.dim, dims, (size_t)n_dims * sizeof *dims);
    net->wide = net->planes = false;
    return dls_net_tensor(net, &shape, dls_net_const(net, dls_shape_size(&shape)), false);
}

/* ---- loops -------------------------------------------------------------------------------------
 *
 *      Const --> Enter --> Merge --> Less --> LoopCond     the counter; every carried value has
 *                  NextIteration --^  |                    Merge and Switch, too
 *                       ^--- Add <-- Switch --> Exit
 */

void dls_net_loop_begin(dls_net *net, int32_t steps)
{
    dls_net_layer(net, "loop");
    const dls_shape scalar = {.n = 0};
    const int32_t zero = dls_net_const(net, 0);
    const int32_t limit = dls_net_const(net, 0);
    const int32_t one = dls_net_const(net, 0);
    net->repeat = steps;
    net->loop_steps = steps;
    const int32_t enter = control(net, DLS_OP_ENTER, &scalar, &zero, 1);
    const int32_t merge = control(net, DLS_OP_MERGE, &scalar, &enter, 1);
    const int32_t less = control(net, DLS_OP_LESS, &scalar, (int32_t[]){merge, limit}, 2);
    net->loop_cond = control(net, DLS_OP_LOOP_COND, &scalar, &less, 1);
    const int32_t go = control(net, DLS_OP_SWITCH, &scalar, (int32_t[]){merge, net->loop_cond}, 2);
    const int32_t add = control(net, DLS_OP_ADD, &scalar, (int32_t[]){go, one}, 2);
    const int32_t next = control(net, DLS_OP_NEXT_ITERATION, &scalar, &add, 1);
    dls_net_edge(net, next, merge, false);
}

dls_tensor dls_net_loop_read(dls_net *net, dls_tensor x)
{
    const dls_shape all = shape_of(net, x);
    const dls_shape shape = {.dim = {all.dim[0], all.dim[2]}, .n = 2};
    net->repeat = 1;
    const net_work whole = {.shape = all,
                            .element_bytes = net->element_bytes,
                            .read_bytes = bytes_of(net, &all),
                            .write_bytes = bytes_of(net, &all)};
    const int32_t array = control(net, DLS_OP_TENSOR_ARRAY, &(dls_shape){.n = 0}, NULL, 0);
    const int32_t scatter = dls_net_emit(net, DLS_OP_TENSOR_ARRAY_SCATTER, &whole,
                                         (int32_t[]){array, node_of(net, x)}, 2);
    net->repeat = net->loop_steps;
    const int32_t node = emit(net, DLS_OP_TENSOR_ARRAY_READ, &shape, bytes_of(net, &shape), 0,
                              (int32_t[]){array, scatter, net->loop_cond}, 3);
    const dls_tensor out =
        dls_net_tensor(net, &shape, node, net->status == DLS_OK && net->tensors[x].needs_grad);
    dls_net_record(net, TAPE_LOOP_READ, &x, 1, out, 1);
    return out;
}

dls_tensor dls_net_loop_state(dls_net *net, int64_t width)
{
    const dls_shape shape = {.dim = {dls_net_batch(net), width}, .n = 2};
    const int32_t dims = dls_net_const(net, 2);
    net->repeat = 1;
    const int32_t zeros = emit(net, DLS_OP_FILL, &shape, 0, 0, &dims, 1);
    net->repeat = net->loop_steps;
    const int32_t enter = control(net, DLS_OP_ENTER, &shape, &zeros, 1);
    const int32_t merge = control(net, DLS_OP_MERGE, &shape, &enter, 1);
    const int32_t node = control(net, DLS_OP_SWITCH, &shape, (int32_t[]){merge, net->loop_cond}, 2);
    const dls_tensor out = dls_net_tensor(net, &shape, node, true);
    tape_rec *rec = dls_net_record(net, TAPE_LOOP_STATE, NULL, 0, out, 1);
    if (rec) {
        rec->aux = merge;
    }
    return out;
}

/* The Merge in front of a state's Switch. */
static tape_rec *state_record(dls_net *net, dls_tensor state)
{
    for (size_t i = net->n_tape; i-- > 0;) {
        if (net->tape[i].op == TAPE_LOOP_STATE && net->tape[i].out == state) {
            return &net->tape[i];
        }
    }
    dls_net_fail(net, "a value is carried that no loop has begun with");
    return NULL;
}

void dls_net_loop_next(dls_net *net, dls_tensor state, dls_tensor value)
{
    const tape_rec *of = net->status == DLS_OK ? state_record(net, state) : NULL;
    if (!of) {
        return;
    }
    const int32_t merge = of->aux;
    const dls_shape shape = shape_of(net, value);
    const int32_t from = node_of(net, value);
    const int32_t next = control(net, DLS_OP_NEXT_ITERATION, &shape, &from, 1);
    dls_net_edge(net, next, merge, false);
    tape_rec *rec = dls_net_record(net, TAPE_LOOP_NEXT, &value, 1, state, 1);
    if (rec) {
        rec->node = next;
    }
}

dls_tensor dls_net_loop_end(dls_net *net, dls_tensor value)
{
    const dls_shape one = shape_of(net, value);
    const dls_shape shape = {.dim = {one.dim[0], net->loop_steps, one.dim[1]}, .n = 3};
    const int32_t from = node_of(net, value);
    const int32_t write =
        emit(net, DLS_OP_TENSOR_ARRAY_WRITE, &one, bytes_of(net, &one), 0, &from, 1);
    net->repeat = 1;
    const int32_t exit_node = control(net, DLS_OP_EXIT, &one, &write, 1);
    const int32_t node =
        emit(net, DLS_OP_TENSOR_ARRAY_GATHER, &shape, bytes_of(net, &shape), 0, &exit_node, 1);
    const dls_tensor out = dls_net_tensor(net, &shape, node, true);
    tape_rec *rec = dls_net_record(net, TAPE_LOOP_END, &value, 1, out, 1);
    if (rec) {
        rec->aux = net->loop_steps;
    }
    return out;
}

/* ---- recurrent layers ------------------------------------------------------------------------ */

dls_tensor dls_net_recurrence(dls_net *net, dls_tensor x, int64_t width)
{
    dls_net_layer(net, "recurrent");
    x = dls_net_at_width(net, x, false, CAST_APART);
    const int64_t gates = dls_net_dim(net, x, -1);
    const int32_t weights = dls_net_var(net, &(dls_shape){.dim = {width, gates}, .n = 2}, false);
    const int32_t biases = dls_net_var(net, &(dls_shape){.dim = {gates}, .n = 1}, false);
    dls_shape shape = shape_of(net, x);
    if (biases < 0) {
        return -1;
    }
    const dls_op_dims d = {.batch = 1, .m = shape.dim[0], .n = gates, .k = width};
    const dls_shape told = {.dim = {d.m, gates}, .n = 2}, state = {.dim = {d.m, width}, .n = 2};
    const net_work work = {.shape = told,
                           .element_bytes = net->element_bytes,
                           .read_bytes = (d.m * d.k + d.k * d.n) * net->element_bytes,
                           .write_bytes = bytes_of(net, &told),
                           .flops = dls_work_product(&d),
                           .dims = &d};
    net->repeat = (int32_t)shape.dim[1];
    const int32_t sums = dls_net_emit(
        net, DLS_OP_MATMUL, &work,
        (int32_t[]){node_of(net, x), dls_net_weight(net, weights), dls_net_weight(net, biases)}, 3);
    const int32_t cell = emit(net, DLS_OP_TANH, &state, 2 * bytes_of(net, &told) + bytes_of(net, &state),
                              (double)dls_shape_size(&told), (int32_t[]){node_of(net, x), sums}, 2);
    net->repeat = 1;
    shape.dim[2] = width;
    const dls_tensor out = dls_net_tensor(net, &shape, cell, true);
    tape_rec *rec = dls_net_record(net, TAPE_RECURRENCE, &x, 1, out, 1);
    if (rec) {
        rec->var[0] = weights;
        rec->var[1] = biases;
        rec->node = cell;
        rec->dims = d;
    }
    return out;
}

/* ---- loss ------------------------------------------------------------------------------------ */

/* As PyTorch runs it: the logarithms of a softmax, read twice for their sum. Nothing in a forward
 * pass alone. */
static int32_t loss_in_one(dls_net *net, dls_tensor logits, int64_t read)
{
    const dls_shape shape = shape_of(net, logits);
    const int32_t from = node_of(net, logits);
    return net->runner & DLS_RUN_FORWARD
               ? control(net, DLS_OP_MEAN, &(dls_shape){.n = 0}, &from, 1)
               : emit(net, DLS_OP_LOG_SOFTMAX, &shape, read,
                      DLS_WORK_LOSS * (double)dls_shape_size(&shape), &from, 1);
}

void dls_net_loss(dls_net *net, dls_tensor logits)
{
    dls_net_layer(net, "loss");
    if (net->runner != DLS_RUN_GRAPH) {
        logits = dls_net_at_width(net, logits, true, CAST_APART);
        const int32_t node = loss_in_one(net, logits, 3 * read_of(net, logits));
        tape_rec *rec = dls_net_record(net, TAPE_LOSS, &logits, 1,
                                       dls_net_tensor(net, &(dls_shape){.n = 0}, node, true), 1);
        if (rec) {
            rec->aux = node;
        }
        net->loss = node;
        return;
    }
    const dls_shape shape = shape_of(net, logits);
    dls_shape per = shape;
    per.n = shape.n > 1 ? shape.n - 1 : 1;
    const net_work labels = {.shape = per, .element_bytes = 4, .on_cpu = true};
    const net_work copy = {.shape = per, .element_bytes = 4};
    net->phase = DLS_PHASE_OTHER;
    const int32_t next = dls_net_emit(net, DLS_OP_ITERATOR_NEXT, &labels, NULL, 0);
    net->phase = DLS_PHASE_FORWARD;
    const int32_t target = dls_net_emit(net, DLS_OP_IDENTITY, &copy, &next, 1);
    /* Output 1 is the gradient for the backward pass: read twice, written once. */
    const net_work work = {.shape = per,
                           .element_bytes = net->element_bytes,
                           .extra_out_bytes = bytes_of(net, &shape),
                           .read_bytes = 2 * bytes_of(net, &shape),
                           .write_bytes = bytes_of(net, &shape) + bytes_of(net, &per),
                           .flops = DLS_WORK_LOSS * (double)dls_shape_size(&shape)};
    const int32_t entropy = dls_net_emit(net, DLS_OP_CROSS_ENTROPY, &work,
                                         (int32_t[]){node_of(net, logits), target}, 2);
    const int32_t axis = dls_net_const(net, 1);
    const int32_t mean = emit(net, DLS_OP_MEAN, &(dls_shape){.n = 0}, bytes_of(net, &per),
                              (double)dls_shape_size(&per), (int32_t[]){entropy, axis}, 2);
    const dls_tensor out = dls_net_tensor(net, &(dls_shape){.n = 0}, mean, true);
    tape_rec *rec = dls_net_record(net, TAPE_LOSS, &logits, 1, out, 1);
    if (rec) {
        rec->aux = entropy;
    }
    net->loss = net->loss < 0 ? mean
                              : emit(net, DLS_OP_ADD, &(dls_shape){.n = 0}, 0, 1,
                                     (int32_t[]){net->loss, mean}, 2);
}
