/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A training step from a forward pass: loss, gradients and updates as TensorFlow's gradient
 * functions would add them, by the same rules as the model zoo's (net_grad.c). Outputs that nobody
 * reads are taken for logits. What several consumers send back to an operation is added up.
 */
#include "base/own.h"
#include "workload/graph/import_impl.h"

#include <stdio.h>
#include <string.h>

typedef struct sent { /* a gradient of an operation's result */
    imp_input from;
    int32_t next;
} sent;

typedef struct trainer {
    imp_graph *g;
    int32_t n_forward;
    int32_t cap;    /* of g->nodes */
    bool *needs;    /* [n_forward] a gradient: a weight is among what it is computed from */
    int32_t *first; /* [n_forward] list of gradients, -1 */
    sent *list;
    size_t n_list, list_cap;
    int32_t at; /* the operation whose gradient is being written */
    dls_status status;
    dls_error *err;
} trainer;

static void trainer_fini(const trainer *t)
{
    DLS_FREE_ALL(t->needs, t->first, t->list);
}

static const imp_input nothing = {-1, 0};

/* ---- writing nodes --------------------------------------------------------------------------- */

static void check(trainer *t, dls_status status)
{
    t->status = t->status == DLS_OK ? status : t->status;
}

/* Room for one more node; the arena keeps the old array. */
static bool reserve(trainer *t)
{
    imp_graph *g = t->g;
    if (g->n_nodes == t->cap) {
        const int32_t cap = 2 * g->n_nodes + 64;
        imp_node *nodes = dls_imp_alloc(g, (size_t)cap * sizeof *nodes);
        if (!nodes || cap < 0) {
            check(t, dls_nomem(t->err, "gradients", (size_t)g->n_nodes * sizeof *nodes));
            return false;
        }
        memcpy(nodes, g->nodes, (size_t)g->n_nodes * sizeof *nodes);
        g->nodes = nodes;
        t->cap = cap;
    }
    return true;
}

/* An operation with a result like that of `like`; -1 after an error. */
static int32_t emit(trainer *t, dls_op_kind kind, int32_t phase, const imp_out *like,
                    const imp_input *in, int32_t n_in)
{
    imp_graph *g = t->g;
    if (t->status != DLS_OK || !reserve(t)) {
        return -1;
    }
    const char *of = g->nodes[t->at].name;
    const size_t size = strlen(of) + 96;
    char *name = dls_imp_alloc(g, size);
    imp_input *inputs = dls_imp_alloc(g, (size_t)n_in * sizeof *inputs);
    imp_out *out = dls_imp_alloc(g, 2 * sizeof *out);
    if (!name || !inputs || !out) {
        check(t, dls_nomem(t->err, "gradients", size));
        return -1;
    }
    const int32_t idx = g->n_nodes++;
    if (phase == DLS_PHASE_BACKWARD) {
        snprintf(name, size, "gradients/%s_grad/%s_%d", of, dls_op_name(kind), (int)idx);
    } else {
        snprintf(name, size, "train/%s/%s_%d", of, dls_op_name(kind), (int)idx);
    }
    out[0] = (imp_out){.shape = like->shape, .bytes = like->bytes, .real = true};
    g->nodes[idx] = (imp_node){.name = name,
                               .op = dls_op_name(kind),
                               .device = "",
                               .kind = (int32_t)kind,
                               .rule = dls_imp_rule_none,
                               .in = inputs,
                               .n_in = n_in,
                               .out = out,
                               .n_out = 1,
                               .repeat = g->nodes[t->at].repeat,
                               .phase = phase,
                               .on_gpu = true};
    for (int32_t i = 0; i < n_in; i++) {
        inputs[i] = in[i];
        if (in[i].node >= 0) {
            check(t, dls_imp_add_edge(g, in[i].node, idx, false, t->err));
        }
    }
    return idx;
}

static imp_input back(trainer *t, dls_op_kind kind, const imp_out *like, const imp_input *in,
                      int32_t n_in)
{
    return (imp_input){emit(t, kind, DLS_PHASE_BACKWARD, like, in, n_in), 0};
}

/* Input i of the operation gets a gradient. */
static void give(trainer *t, int32_t i, imp_input gradient)
{
    const imp_node *x = &t->g->nodes[t->at];
    const int32_t to = i < x->n_in ? x->in[i].node : -1;
    if (to < 0 || !t->needs[to] || gradient.node < 0 || t->status != DLS_OK) {
        return;
    }
    check(t, dls_grow(&t->list, &t->list_cap, t->n_list + 1, sizeof *t->list, t->err));
    if (t->status == DLS_OK) {
        t->list[t->n_list] = (sent){gradient, t->first[to]};
        t->first[to] = (int32_t)t->n_list++;
    }
}

static bool wanted(const trainer *t, int32_t i)
{
    const imp_node *x = &t->g->nodes[t->at];
    return i < x->n_in && x->in[i].node >= 0 && t->needs[x->in[i].node];
}

/* All gradients of a node: their sum, or for the parts of a split the parts side by side. */
static imp_input collect(trainer *t, int32_t node, const imp_out *like, dls_op_kind joined)
{
    int32_t n = 0;
    for (int32_t i = t->first[node]; i >= 0; i = t->list[i].next) {
        n++;
    }
    if (n == 1 && joined == DLS_OP_ADD_N) {
        return t->list[t->first[node]].from;
    }
    imp_input *in = dls_imp_alloc(t->g, (size_t)n * sizeof *in);
    if (!in) {
        check(t, dls_nomem(t->err, "gradients", (size_t)n * sizeof *in));
        return nothing;
    }
    n = 0;
    for (int32_t i = t->first[node]; i >= 0; i = t->list[i].next) {
        in[n++] = t->list[i].from;
    }
    return back(t, joined, like, in, n);
}

/* ---- gradients of families ------------------------------------------------------------------- */

static const imp_out *input(const trainer *t, int32_t i)
{
    return dls_imp_in(t->g, &t->g->nodes[t->at], i);
}

static void set_dims(trainer *t, imp_input node, dls_op_dims dims)
{
    if (node.node >= 0) {
        t->g->nodes[node.node].dims = dims;
    }
}

static void grad_bias(trainer *t, imp_input dy, int32_t i)
{
    if (wanted(t, i)) {
        give(t, i, back(t, DLS_OP_BIAS_ADD_GRAD, input(t, i), &dy, 1));
    }
}

static void grad_conv(trainer *t, const imp_node *x, imp_input dy)
{
    const bool depthwise = x->kind == DLS_OP_DEPTHWISE_CONV;
    const dls_op_dims d = x->dims;
    if (wanted(t, 1)) {
        const imp_input w =
            back(t, depthwise ? DLS_OP_DEPTHWISE_CONV_GRAD_FILTER : DLS_OP_CONV2D_GRAD_FILTER,
                 input(t, 1), (imp_input[]){x->in[0], dy}, 2);
        dls_op_dims dims = d;
        dims.m = d.n;
        dims.n = d.k;
        dims.k = d.m;
        set_dims(t, w, dims);
        give(t, 1, w);
    }
    if (wanted(t, 0)) {
        const imp_input image =
            back(t, depthwise ? DLS_OP_DEPTHWISE_CONV_GRAD_INPUT : DLS_OP_CONV2D_GRAD_INPUT,
                 input(t, 0), (imp_input[]){x->in[1], dy}, 2);
        dls_op_dims dims = d;
        const int32_t groups = d.groups > 0 ? d.groups : 1;
        dims.m = dls_imp_mul(d.batch, dls_imp_mul(d.in_h, d.in_w));
        dims.n = d.in_c / groups;
        dims.k = dls_imp_mul(d.out_c / groups, dls_imp_mul(d.kernel_h, d.kernel_w));
        set_dims(t, image, dims);
        give(t, 0, image);
    }
    grad_bias(t, dy, 2);
}

static void grad_matmul(trainer *t, const imp_node *x, imp_input dy)
{
    const dls_op_dims d = x->dims;
    const dls_op_dims dims[2] = {{.batch = d.batch, .m = d.m, .n = d.k, .k = d.n},
                                 {.batch = d.batch, .m = d.k, .n = d.n, .k = d.m}};
    for (int32_t i = 0; i < 2; i++) {
        if (wanted(t, i)) {
            const imp_input in[2] = {dy, x->in[1 - i]};
            const imp_input product = back(t, (dls_op_kind)x->kind, input(t, i), in, 2);
            set_dims(t, product, dims[i]);
            give(t, i, product);
        }
    }
    grad_bias(t, dy, 2);
}

/* One kernel for the gradients of all inputs. */
static void grad_fused(trainer *t, const imp_node *x, imp_input dy, int32_t n_inputs)
{
    const imp_input in[3] = {dy, x->in[0], x->n_in > 1 ? x->in[1] : nothing};
    const imp_input grad = back(t, (dls_op_kind)(x->kind + 1), input(t, 0), in, 3);
    dls_op_dims dims = x->dims;
    dims.k = dls_imp_mul(2, dims.k); /* twice the products of the forward pass */
    set_dims(t, grad, dims);
    for (int32_t i = 0; i < n_inputs && i < x->n_in; i++) {
        give(t, i, grad);
    }
}

/* Back to the shape of an operand that was broadcast. */
static imp_input unbroadcast(trainer *t, int32_t i, imp_input dy)
{
    const imp_node *x = &t->g->nodes[t->at];
    const imp_out *to = input(t, i);
    if (dls_imp_elements(&to->shape) == dls_imp_elements(&x->out[0].shape)) {
        return dy;
    }
    return back(t, DLS_OP_SUM, to, &dy, 1);
}

static bool has_own_gradient(int32_t kind)
{
    switch (kind) {
    case DLS_OP_RELU:
    case DLS_OP_RELU6:
    case DLS_OP_SIGMOID:
    case DLS_OP_TANH:
    case DLS_OP_GELU:
    case DLS_OP_SWISH:
    case DLS_OP_ROTARY:
    case DLS_OP_RSQRT:
        return true;
    default:
        return false;
    }
}

static void grad_elementwise(trainer *t, const imp_node *x, imp_input dy)
{
    const imp_input self = {t->at, 0};
    if (x->kind == DLS_OP_BIAS_ADD) {
        give(t, 0, dy);
        grad_bias(t, dy, 1);
        return;
    }
    if (x->kind == DLS_OP_CAST) {
        give(t, 0, back(t, DLS_OP_CAST, input(t, 0), &dy, 1));
        return;
    }
    const bool sum = x->kind == DLS_OP_ADD || x->kind == DLS_OP_SUB || x->kind == DLS_OP_ADD_N;
    for (int32_t i = 0; i < x->n_in; i++) {
        if (!wanted(t, i)) {
            continue;
        }
        imp_input grad = dy;
        if (has_own_gradient(x->kind)) {
            grad = back(t, (dls_op_kind)(x->kind + 1), input(t, 0), (imp_input[]){dy, self}, 2);
        } else if (!sum) {
            const imp_input other = x->n_in == 2 ? x->in[1 - i] : self;
            grad = back(t, DLS_OP_MUL, &x->out[0], (imp_input[]){dy, other}, 2);
        }
        give(t, i, unbroadcast(t, i, grad));
    }
}

static void grad_reduce(trainer *t, const imp_node *x, imp_input dy)
{
    imp_input grad = back(t, DLS_OP_TILE, input(t, 0), &dy, 1);
    if (x->kind == DLS_OP_MEAN) {
        grad = back(t, DLS_OP_REAL_DIV, input(t, 0), &grad, 1);
    } else if (x->kind != DLS_OP_SUM) { /* the greatest: where it stood */
        grad = back(t, DLS_OP_MUL, input(t, 0), (imp_input[]){grad, x->in[0]}, 2);
    }
    give(t, 0, grad);
}

static void grad_data(trainer *t, const imp_node *x, imp_input dy)
{
    switch (x->kind) {
    case DLS_OP_SPLIT: /* dy is what collect joined */
        give(t, 0, dy);
        return;
    case DLS_OP_TILE:
        give(t, 0, back(t, DLS_OP_SUM, input(t, 0), &dy, 1));
        return;
    case DLS_OP_SLICE:
    case DLS_OP_STRIDED_SLICE: {
        const imp_input in[5] = {nothing, nothing, nothing, nothing, dy};
        give(t, 0, back(t, DLS_OP_STRIDED_SLICE_GRAD, input(t, 0), in, 5));
        return;
    }
    case DLS_OP_TRANSPOSE:
        give(t, 0, back(t, DLS_OP_TRANSPOSE, input(t, 0), &dy, 1));
        return;
    default: /* joined or padded: each input's part */
        for (int32_t i = 0; i < x->n_in; i++) {
            if (wanted(t, i)) {
                give(t, i, back(t, DLS_OP_SLICE, input(t, i), &dy, 1));
            }
        }
    }
}

static void gradient(trainer *t, imp_input dy)
{
    const imp_node copy = t->g->nodes[t->at]; /* the array moves while nodes are added */
    const imp_node *x = &copy;
    const imp_input self = {t->at, 0};
    switch (dls_op_family_of(x->kind)) {
    case DLS_FAMILY_CONV:
        grad_conv(t, x, dy);
        break;
    case DLS_FAMILY_MATMUL:
        grad_matmul(t, x, dy);
        break;
    case DLS_FAMILY_RNN:
        grad_fused(t, x, dy, x->n_in);
        break;
    case DLS_FAMILY_NORM:
        grad_fused(t, x, dy, 3);
        break;
    case DLS_FAMILY_ELEMENTWISE:
        grad_elementwise(t, x, dy);
        break;
    case DLS_FAMILY_POOL:
        give(t, 0,
             back(t, (dls_op_kind)(x->kind + 1), input(t, 0),
                  (imp_input[]){x->kind == DLS_OP_MAX_POOL ? x->in[0] : nothing, dy, self},
                  x->kind == DLS_OP_MAX_POOL ? 3 : 2));
        break;
    case DLS_FAMILY_SOFTMAX:
        give(t, 0, back(t, DLS_OP_SOFTMAX_GRAD, input(t, 0), (imp_input[]){dy, self}, 2));
        break;
    case DLS_FAMILY_REDUCE:
        grad_reduce(t, x, dy);
        break;
    case DLS_FAMILY_EMBEDDING:
        give(t, 0,
             back(t, DLS_OP_SEGMENT_SUM, input(t, 0),
                  (imp_input[]){dy, x->n_in > 1 ? x->in[1] : nothing}, 2));
        break;
    case DLS_FAMILY_DATA:
        grad_data(t, x, dy);
        break;
    case DLS_FAMILY_SHAPE:
        give(t, 0, back(t, DLS_OP_RESHAPE, input(t, 0), &dy, 1));
        break;
    default: /* passed on: reads, control, what is not known */
        for (int32_t i = 0; i < x->n_in; i++) {
            give(t, i, dy);
        }
    }
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void find_needs(trainer *t, const int32_t *order)
{
    const imp_graph *g = t->g;
    for (int32_t i = 0; i < t->n_forward; i++) {
        const imp_node *x = &g->nodes[order[i]];
        bool needs = x->kind == DLS_OP_VARIABLE && x->param_elements > 0;
        for (int32_t k = 0; k < x->n_in; k++) {
            needs |= x->in[k].node >= 0 && t->needs[x->in[k].node];
        }
        t->needs[order[i]] = needs && (!x->rule || (x->n_out > 0 && x->out[0].real));
        t->first[order[i]] = -1;
    }
}

/* Softmax cross entropy over the last dimension of every result that nobody reads. */
static void losses(trainer *t, const bool *read)
{
    for (int32_t i = 0; i < t->n_forward && t->status == DLS_OK; i++) {
        if (!t->needs[i] || read[i] || t->g->nodes[i].kind == DLS_OP_VARIABLE) {
            continue;
        }
        t->at = i;
        const imp_out logits = t->g->nodes[i].n_out > 0 ? t->g->nodes[i].out[0] : (imp_out){0};
        imp_out rows = logits;
        rows.shape.rank -= rows.shape.rank > 0;
        const int32_t loss =
            emit(t, DLS_OP_CROSS_ENTROPY, DLS_PHASE_FORWARD, &rows, &(imp_input){i, 0}, 1);
        if (loss < 0) {
            return;
        }
        t->g->nodes[loss].out[1] = logits;
        t->g->nodes[loss].n_out = 2;
        check(t, dls_grow(&t->list, &t->list_cap, t->n_list + 1, sizeof *t->list, t->err));
        if (t->status == DLS_OK) {
            t->list[t->n_list] = (sent){{loss, 1}, -1};
            t->first[i] = (int32_t)t->n_list++;
        }
    }
}

static void update(trainer *t, int32_t variable, imp_input grad)
{
    static const dls_op_kind kinds[] = {
        [DLS_OPTIMISER_SGD] = DLS_OP_APPLY_SGD,
        [DLS_OPTIMISER_MOMENTUM] = DLS_OP_APPLY_MOMENTUM,
        [DLS_OPTIMISER_RMSPROP] = DLS_OP_APPLY_RMSPROP,
        [DLS_OPTIMISER_ADAM] = DLS_OP_APPLY_ADAM,
    };
    const dls_optimiser optimiser = t->g->options->optimiser;
    const int64_t elements = t->g->nodes[variable].param_elements;
    const imp_out like = t->g->nodes[variable].out[0];
    imp_input in[4] = {{variable, 0}, grad, nothing, nothing};
    int32_t n = 2;
    for (int32_t i = 0; i < dls_optimiser_words(optimiser) && n < 4; i++) {
        in[n++] = (imp_input){emit(t, DLS_OP_VARIABLE, DLS_PHASE_OTHER, &like, NULL, 0), 0};
    }
    const int32_t apply = emit(t, kinds[optimiser], DLS_PHASE_UPDATE, &like, in, n);
    if (apply >= 0) {
        t->g->nodes[apply].param_elements = elements;
    }
}

static void step(trainer *t, const int32_t *order)
{
    for (int32_t i = t->n_forward; i-- > 0 && t->status == DLS_OK;) {
        const int32_t node = order[i];
        const imp_node *x = &t->g->nodes[node];
        if (t->first[node] < 0) {
            continue;
        }
        t->at = node;
        const bool split = x->kind == DLS_OP_SPLIT;
        const imp_out like = split          ? *dls_imp_in(t->g, x, 0)
                             : x->n_out > 0 ? x->out[0]
                                            : (imp_out){0};
        const imp_input dy = collect(t, node, &like, split ? DLS_OP_CONCAT : DLS_OP_ADD_N);
        if (dy.node < 0) {
            return;
        }
        if (t->g->nodes[node].kind == DLS_OP_VARIABLE) {
            update(t, node, dy);
        } else {
            gradient(t, dy);
        }
    }
}

dls_status dls_imp_train(imp_graph *g, const int32_t *order, bool *added, dls_error *err)
{
    const size_t n = (size_t)g->n_nodes + 1;
    DLS_OWN(trainer_fini)
    trainer t = {.g = g, .n_forward = g->n_nodes, .cap = g->n_nodes, .err = err};
    DLS_FREED bool *read = NULL;
    DLS_TRY(dls_alloc_array(&read, n, sizeof *read, "gradients", err));
    DLS_TRY(dls_alloc_array(&t.needs, n, sizeof *t.needs, "gradients", err));
    DLS_TRY(dls_alloc_array(&t.first, n, sizeof *t.first, "gradients", err));
    find_needs(&t, order);
    for (size_t e = 0; e < g->n_edges; e++) {
        read[g->edges[e].from] |= !g->edges[e].control;
    }
    losses(&t, read);
    step(&t, order);
    *added = g->n_nodes > t.n_forward;
    return t.status;
}
