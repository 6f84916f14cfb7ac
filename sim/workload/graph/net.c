/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Nodes, variables and the tape. The operations themselves are in net_ops.c and net_seq.c, their
 * gradients in net_grad.c.
 */
#include "base/alloc.h"
#include "base/own.h"
#include "workload/graph/grouping.h"
#include "workload/graph/net_impl.h"

#include <string.h>

dls_status dls_net_create(const dls_opgraph_info *info, bool decay, dls_net **out, dls_error *err)
{
    *out = NULL;
    if (info->batch < 1) {
        return dls_fail(err, DLS_EINPUT, info->model, "a batch of %d is not possible",
                        (int)info->batch);
    }
    DLS_FREED dls_net *net = NULL; /* nothing else of it is there yet */
    DLS_TRY(dls_alloc_array(&net, 1, sizeof *net, "model", err));
    DLS_TRY(dls_opgraph_create(info, &net->g, err));
    net->decay = decay;
    net->element_bytes = dls_numeric_bytes(info->numeric);
    net->repeat = 1;
    net->shards = 1;
    net->loss = -1;
    *out = dls_take(&net);
    return DLS_OK;
}

void dls_net_destroy(dls_net *net)
{
    if (!net) {
        return;
    }
    dls_opgraph_destroy(net->g);
    dls_strdict_fini(&net->bases);
    dls_free(net->base_count);
    dls_free(net->tensors);
    dls_free(net->vars);
    dls_free(net->grads);
    dls_free(net->tape);
    dls_free(net->inputs);
    dls_free(net);
}

dls_status dls_net_finish(dls_net *net, dls_opgraph **out, dls_error *err)
{
    *out = NULL;
    if (net->status == DLS_OK && net->loss < 0) {
        dls_net_fail(net, "the model has no loss");
    }
    if (net->status == DLS_OK) {
        dls_net_backward(net);
    }
    if (net->status == DLS_OK) {
        dls_net_update(net);
    }
    if (net->status == DLS_OK) {
        net->status = dls_opgraph_validate(net->g, &net->err);
    }
    if (net->status != DLS_OK) {
        if (err) {
            *err = net->err;
        }
        return net->status;
    }
    *out = net->g;
    net->g = NULL;
    return DLS_OK;
}

void dls_net_set_runner(dls_net *net, unsigned runner)
{
    net->runner = runner;
    net->decay = net->decay && runner == DLS_RUN_GRAPH; /* PyTorch's is in the update */
}

void dls_net_set_shards(dls_net *net, int32_t shards)
{
    net->shards = shards;
}

int64_t dls_net_part(const dls_net *net, int64_t width)
{
    return width / net->shards;
}

dls_tensor dls_net_shared(dls_net *net, dls_tensor x)
{
    if (net->shards > 1 && net->status == DLS_OK) {
        net->g->info.shared += 2 * (double)dls_shape_size(&net->tensors[x].shape);
    }
    return x;
}

bool dls_net_eager(const dls_net *net)
{
    return net->runner != DLS_RUN_GRAPH;
}

bool dls_net_trains_eagerly(const dls_net *net)
{
    return dls_net_eager(net) && !(net->runner & DLS_RUN_FORWARD);
}

bool dls_net_spells_out(const dls_net *net)
{
    return dls_net_eager(net) && !(net->runner & DLS_RUN_COMPILED);
}

bool dls_net_fuses_attention(const dls_net *net)
{
    return dls_net_eager(net) && net->runner & DLS_RUN_FUSED_ATTENTION;
}

int32_t dls_net_batch(const dls_net *net)
{
    return net->g->info.batch;
}

int32_t dls_net_sequence(const dls_net *net)
{
    return net->g->info.sequence;
}

int64_t dls_net_dim(const dls_net *net, dls_tensor t, int i)
{
    if (net->status != DLS_OK || t < 0) {
        return 1;
    }
    const dls_shape *s = &net->tensors[t].shape;
    const int at = i < 0 ? s->n + i : i;
    return at >= 0 && at < s->n ? s->dim[at] : 1;
}

void dls_net_fail(dls_net *net, const char *what)
{
    if (net->status == DLS_OK) {
        net->status =
            dls_fail(&net->err, DLS_EINPUT, net->g->info.model, "%s, layer \"%s\": %s",
                     net->g->info.model, dls_opgraph_layer_name(net->g, net->layer), what);
    }
}

/* Appends at `to` as much as there is room for; a graph has tens of thousands of names, and
 * snprintf took a third of the time that it took to make one. */
static char *append(char *to, const char *end, const char *text)
{
    while (to + 1 < end && *text) {
        *to++ = *text++;
    }
    *to = '\0';
    return to;
}

static void append_number(char *to, const char *end, int32_t number)
{
    char digits[16], *first = digits + sizeof digits - 1;
    *first = '\0';
    do {
        *--first = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    append(append(to, end, "_"), end, first);
}

/* Makes name text_1, text_2, ... if it was given out before; it ends at `to`, its room at `end`. */
static void unique(dls_net *net, const char *name, char *to, const char *end)
{
    const size_t before = net->bases.n;
    int32_t code = 0;
    if (net->status == DLS_OK) {
        net->status =
            dls_grow(&net->base_count, &net->base_cap, before + 1, sizeof(int32_t), &net->err);
    }
    if (net->status == DLS_OK) {
        net->status = dls_strdict_put(&net->bases, name, (size_t)(to - name), &code, &net->err);
    }
    if (net->status != DLS_OK) {
        return;
    }
    if ((size_t)code == before) {
        net->base_count[code] = 0;
    } else {
        append_number(to, end, ++net->base_count[code]);
    }
}

void dls_net_layer(dls_net *net, const char *name)
{
    char text[160] = "";
    unique(net, text, append(text, text + sizeof text - 16, name), text + sizeof text);
    if (net->status == DLS_OK) {
        net->status = dls_opgraph_layer(net->g, text, &net->layer, &net->err);
    }
}

void dls_net_edge(dls_net *net, int32_t from, int32_t to, bool control)
{
    if (net->status == DLS_OK) {
        net->status = dls_opgraph_add_edge(net->g, from, to, control, &net->err);
    }
}

int32_t dls_net_emit(dls_net *net, dls_op_kind kind, const net_work *work, const int32_t *in, int n)
{
    if (net->status != DLS_OK) {
        return -1;
    }
    char name[272];
    const char *layer = dls_opgraph_layer_name(net->g, net->layer);
    const char *end = name + sizeof name - 16;
    char *to = append(name, end, net->phase == DLS_PHASE_BACKWARD ? "gradients/"
                                 : net->phase == DLS_PHASE_UPDATE ? "train/"
                                                                  : "");
    to = append(append(to, end, layer), end, *layer ? "/" : "");
    to = append(to, end, dls_op_name(kind));
    unique(net, name, to, name + sizeof name);
    const int64_t size = dls_shape_size(&work->shape);
    dls_op_node node = {.kind = (int32_t)kind,
                        .phase = (int32_t)net->phase,
                        .layer = net->layer,
                        .repeat = net->repeat,
                        .on_gpu = !work->on_cpu,
                        .tensor_size = dls_driple_tensor_size(work->shape.dim, work->shape.n),
                        .out_bytes = size * work->element_bytes + work->extra_out_bytes,
                        .read_bytes = work->read_bytes,
                        .write_bytes = work->write_bytes,
                        .param_bytes = work->param_bytes,
                        .flops = work->flops};
    if (work->dims) {
        node.dims = *work->dims;
    }
    int32_t idx = -1;
    if (net->status == DLS_OK) {
        net->status = dls_opgraph_add_node(net->g, name, NULL, &node, &idx, &net->err);
    }
    for (int i = 0; i < n; i++) {
        dls_net_edge(net, in[i], idx, false);
    }
    return net->status == DLS_OK ? idx : -1;
}

int32_t dls_net_const(dls_net *net, int64_t n)
{
    const dls_phase phase = net->phase;
    const int32_t repeat = net->repeat;
    if (phase == DLS_PHASE_FORWARD) {
        net->phase = DLS_PHASE_OTHER;
    }
    net->repeat = 1;
    const net_work work = {.shape = {.dim = {n}, .n = n > 0}, .element_bytes = 4};
    const int32_t node = dls_net_emit(net, DLS_OP_CONST, &work, NULL, 0);
    net->phase = phase;
    net->repeat = repeat;
    return node;
}

dls_tensor dls_net_tensor(dls_net *net, const dls_shape *shape, int32_t node, bool needs_grad)
{
    if (net->status == DLS_OK) {
        net->status = dls_grow(&net->tensors, &net->tensor_cap, net->n_tensors + 1,
                               sizeof *net->tensors, &net->err);
    }
    if (net->status != DLS_OK) {
        return -1;
    }
    net->tensors[net->n_tensors] = (net_tensor){
        .shape = *shape, .node = node, .grads = -1, .needs_grad = needs_grad, .wide = net->wide,
        .planes = net->planes && shape->n > 2};
    return (dls_tensor)net->n_tensors++;
}

dls_tensor dls_net_at_width(dls_net *net, dls_tensor x, bool wide, net_cast how)
{
    const net_tensor from = *at(net, x);
    net->wide = wide && net->runner != DLS_RUN_GRAPH && net->element_bytes == 2;
    net->planes = from.planes;
    if (x < 0 || from.wide == net->wide) {
        return x;
    }
    const bool free = how != CAST_APART || net->runner & DLS_RUN_COMPILED;
    const int64_t half = free ? 0 : dls_shape_size(&from.shape) * net->element_bytes;
    const net_work work = {.shape = from.shape,
                           .element_bytes = net->element_bytes,
                           .read_bytes = from.wide ? 2 * half : half,
                           .write_bytes = net->wide ? 2 * half : half};
    const int32_t node = dls_net_emit(net, DLS_OP_CAST, &work, &from.node, 1);
    tape_rec *rec;
    const dls_tensor out = record1(net, TAPE_CAST, DLS_OP_CAST, x, &from.shape, node, &rec);
    if (rec) {
        rec->flag = how == CAST_INSIDE;
        net->tensors[out].narrow = how == CAST_READ && net->wide;
    }
    return out;
}

int32_t dls_net_trained(const dls_net *net)
{
    return (int32_t)net->n_vars;
}

void dls_net_share(dls_net *net, int32_t from)
{
    net->again = (size_t)from;
    net->again_end = net->n_vars;
}

int32_t dls_net_of_bytes(dls_net *net, const dls_shape *shape, int32_t node, int32_t bytes)
{
    const int32_t repeat = net->repeat;
    const int64_t n = dls_shape_size(shape), other = 4 + net->element_bytes - bytes;
    const net_work cast = {.shape = *shape,
                           .element_bytes = bytes,
                           .read_bytes = n * other,
                           .write_bytes = n * bytes};
    net->repeat = 1;
    node = dls_net_emit(net, DLS_OP_CAST, &cast, &node, 1);
    net->repeat = repeat;
    return node;
}

/* VariableV2 with its initial value, its first assignment and its read, as tf.get_variable makes
 * them; a read in half precision is followed by a cast. */
int32_t dls_net_var(dls_net *net, const dls_shape *shape, bool decay)
{
    if (net->again < net->again_end) {
        return (int32_t)net->again++;
    }
    const dls_phase phase = net->phase;
    const int32_t repeat = net->repeat;
    net->phase = DLS_PHASE_OTHER;
    net->repeat = 1;
    const net_work held = {
        .shape = *shape, .element_bytes = 4, .param_bytes = 4 * dls_shape_size(shape)};
    const net_work same = {.shape = *shape, .element_bytes = 4};
    const net_work flag = {.shape = {.n = 0}, .element_bytes = 1};
    const int32_t var = dls_net_emit(net, DLS_OP_VARIABLE, &held, NULL, 0);
    const int32_t dims = dls_net_const(net, shape->n);
    const int32_t init =
        dls_net_emit(net, decay ? DLS_OP_TRUNCATED_NORMAL : DLS_OP_FILL, &same, &dims, 1);
    dls_net_emit(net, DLS_OP_ASSIGN, &same, (int32_t[]){var, init}, 2);
    dls_net_emit(net, DLS_OP_IS_INITIALIZED, &flag, &var, 1);
    int32_t read = dls_net_emit(net, DLS_OP_IDENTITY, &same, &var, 1);
    if (net->element_bytes < 4 && !dls_net_eager(net)) {
        net->phase = DLS_PHASE_FORWARD;
        read = dls_net_of_bytes(net, shape, read, net->element_bytes);
    }
    net->phase = phase;
    net->repeat = repeat;
    if (net->status == DLS_OK) {
        net->status =
            dls_grow(&net->vars, &net->var_cap, net->n_vars + 1, sizeof *net->vars, &net->err);
    }
    if (net->status != DLS_OK) {
        return -1;
    }
    net->vars[net->n_vars] = (net_var){.shape = *shape,
                                       .node = var,
                                       .read = read,
                                       .layer = net->layer,
                                       .grads = -1,
                                       .decay = decay};
    return (int32_t)net->n_vars++;
}

/* Copied once a step, however often it is read. */
int32_t dls_net_weight(dls_net *net, int32_t var)
{
    net_var *v = &net->vars[var];
    if (dls_net_eager(net) && net->element_bytes < 4 && !v->half) {
        v->read = dls_net_of_bytes(net, &v->shape, v->read, net->element_bytes);
        v->half = true;
    }
    return v->read;
}

int32_t dls_net_norm_of_weights(dls_net *net, int32_t var, dls_op_kind kind, int32_t from)
{
    const net_var *v = &net->vars[var];
    const int64_t n = dls_shape_size(&v->shape);
    const dls_op_dims seen = {.in_c = (int32_t)v->shape.dim[v->shape.n - 1]};
    const net_work work = {.shape = v->shape,
                           .element_bytes = net->element_bytes,
                           .read_bytes = (kind == DLS_OP_BATCH_NORM ? 2 : 4) * 4 * n,
                           .write_bytes = 4 * n,
                           .flops = DLS_WORK_NORM * (double)n,
                           .dims = &seen};
    return dls_net_emit(net, kind, &work, &from, 1);
}

void dls_net_standardise(dls_net *net)
{
    net->standardise = true;
}

tape_rec *dls_net_record(dls_net *net, tape_op op, const dls_tensor *in, int n_in, dls_tensor out,
                         int n_out)
{
    if (net->status == DLS_OK) {
        net->status =
            dls_grow(&net->tape, &net->tape_cap, net->n_tape + 1, sizeof *net->tape, &net->err);
    }
    if (net->status == DLS_OK) {
        net->status = dls_grow(&net->inputs, &net->input_cap, net->n_inputs + (size_t)n_in,
                               sizeof *net->inputs, &net->err);
    }
    if (net->status != DLS_OK) {
        return NULL;
    }
    tape_rec *rec = &net->tape[net->n_tape++];
    *rec = (tape_rec){.op = op,
                      .layer = net->layer,
                      .repeat = net->repeat,
                      .node = out >= 0 ? net->tensors[out].node : -1,
                      .aux = -1,
                      .var = {-1, -1},
                      .in = (int32_t)net->n_inputs,
                      .n_in = n_in,
                      .out = out,
                      .n_out = n_out};
    for (int i = 0; i < n_in; i++) {
        net->inputs[net->n_inputs++] = in[i];
        net->tensors[in[i]].uses++;
    }
    return rec;
}

void dls_net_add_grad(dls_net *net, int32_t *list, int32_t node)
{
    if (net->status == DLS_OK) {
        net->status =
            dls_grow(&net->grads, &net->grad_cap, net->n_grads + 1, sizeof *net->grads, &net->err);
    }
    if (net->status == DLS_OK) {
        net->grads[net->n_grads] = (net_grad){node, *list};
        *list = (int32_t)net->n_grads++;
    }
}
