/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Converts a training graph to a workload: each GPU operation becomes a kernel, in topological
 * order, with the parameter tensor whose gradient it completes.
 */
#include "workload/operator/from_graph.h"

#include "base/alloc.h"
#include "base/own.h"
#include "workload/graph/work.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define WEIGHT_BYTES 4.0

/* Work of 3x3 output tiles of 2 x 2 over that of the output itself. */
static double tiled(int32_t n)
{
    return n > 0 ? (double)((n + 1) / 2 * 2) / n : 1;
}

static dls_kernel_family conv_family(const dls_op_dims *d)
{
    const bool unit = d->stride_h == 1 && d->stride_w == 1;
    if (d->groups > 1) {
        return DLS_KERNEL_CONV_OTHER;
    }
    if (d->kernel_h != d->kernel_w) {
        return d->kernel_h == 1 || d->kernel_w == 1 ? DLS_KERNEL_CONV_LINE : DLS_KERNEL_CONV_OTHER;
    }
    if (d->kernel_h == 1) {
        return DLS_KERNEL_CONV1;
    }
    if (unit && d->kernel_h == 3) {
        return DLS_KERNEL_CONV3;
    }
    return unit && d->kernel_h == 5 ? DLS_KERNEL_CONV5 : DLS_KERNEL_CONV_OTHER;
}

/* The edge of a square of as many pixels, which is what a window knows. */
static int32_t edge(int32_t h, int32_t w)
{
    return h == w ? h : (int32_t)lrint(sqrt((double)h * w));
}

static dls_kernel_part part_of(int32_t kind)
{
    switch (kind) {
    case DLS_OP_CONV2D_GRAD_INPUT:
    case DLS_OP_DEPTHWISE_CONV_GRAD_INPUT:
        return DLS_PART_DATA;
    case DLS_OP_CONV2D_GRAD_FILTER:
    case DLS_OP_DEPTHWISE_CONV_GRAD_FILTER:
        return DLS_PART_WEIGHT;
    default:
        return DLS_PART_FORWARD;
    }
}

/* cuDNN has no batch norms of bf16; results in 32 bits are told by what is written. */
static dls_pass_kind pass_of(const dls_opgraph *g, const dls_op_node *x)
{
    const int32_t kind = x->kind;
    const dls_op_family family = dls_op_family_of(kind);
    if (x->dims.in_c > 0 && family != DLS_FAMILY_CONV && family != DLS_FAMILY_POOL && family != DLS_FAMILY_NORM) {
        return DLS_PASS_SCATTERED;
    }
    switch (kind) {
    case DLS_OP_BATCH_NORM:
    case DLS_OP_BATCH_NORM_GRAD:
        return g->info.numeric == DLS_NUMERIC_BF16 && x->write_bytes < 2 * x->out_bytes
                   ? DLS_PASS_OWN_NORM
                   : DLS_PASS_BATCH_NORM;
    case DLS_OP_CAST:
    case DLS_OP_LAYER_NORM:
    case DLS_OP_LAYER_NORM_GRAD:
        return DLS_PASS_COPY;
    default:
        break;
    }
    switch (family) {
    case DLS_FAMILY_DATA:
        return DLS_PASS_COPY;
    case DLS_FAMILY_POOL:
        return DLS_PASS_POOL;
    default:
        return DLS_PASS_ANY;
    }
}

static bool runs(const dls_op_node *x)
{
    switch (dls_op_family_of(x->kind)) {
    case DLS_FAMILY_SHAPE:
    case DLS_FAMILY_VARIABLE:
    case DLS_FAMILY_READ:
    case DLS_FAMILY_CONST:
    case DLS_FAMILY_INPUT:
    case DLS_FAMILY_STATE:
    case DLS_FAMILY_CONTROL:
        return false;
    default:
        break;
    }
    return x->on_gpu && (x->phase == DLS_PHASE_FORWARD || x->phase == DLS_PHASE_BACKWARD) &&
           (x->flops > 0 || x->read_bytes + x->write_bytes > 0);
}

static dls_kernel kernel_of(const dls_opgraph *g, const dls_op_node *x)
{
    const double element = dls_numeric_bytes(g->info.numeric), batch = g->info.batch;
    dls_kernel k = {.family = DLS_KERNEL_MEMORY,
                    .backward = x->phase == DLS_PHASE_BACKWARD,
                    .op_family = (uint8_t)dls_op_family_of(x->kind),
                    .repeats = x->repeat,
                    .pass = (uint8_t)pass_of(g, x),
                    .tensor = -1,
                    .moved = (double)(x->read_bytes + x->write_bytes) / element / batch};
    const dls_op_family family = dls_op_family_of(x->kind);
    const dls_op_dims *d = &x->dims;
    if (family == DLS_FAMILY_CONV || family == DLS_FAMILY_POOL || family == DLS_FAMILY_NORM ||
        k.pass == DLS_PASS_SCATTERED) {
        k.window = (dls_window){
            edge(d->in_h, d->in_w),  d->in_c, d->out_c, d->kernel_h, d->kernel_w, d->stride_h,
            edge(d->out_h, d->out_w)};
    }
    if (family == DLS_FAMILY_CONV) {
        k.family = (uint8_t)conv_family(d);
        k.part = (uint8_t)part_of(x->kind);
    } else if (family == DLS_FAMILY_MATMUL || family == DLS_FAMILY_RNN) {
        k.family = DLS_KERNEL_MATMUL;
    }
    if (x->kind == DLS_OP_ATTENTION || x->kind == DLS_OP_ATTENTION_GRAD) {
        const double all = (k.backward ? DLS_WORK_ATTENTION_GRAD : DLS_WORK_ATTENTION) * dls_work_product(d);
        k.attention = 1;
        k.flops = x->flops / batch;
        k.product = (dls_product){(double)d->batch, (double)d->m, (double)d->k,
                                  (double)d->n * x->flops / all, batch, DLS_GROWS_COUNT};
    } else if (k.family != DLS_KERNEL_MEMORY) {
        k.flops = x->flops / batch;
        k.count = family == DLS_FAMILY_CONV ? x->dims.groups : x->dims.batch;
        k.m = x->dims.m;
        k.n = x->dims.n;
        k.k = x->dims.k;
        k.at_batch = batch;
        k.product = (dls_product){(double)k.count, (double)k.m, (double)k.k,
                                  (double)k.n,     batch,       DLS_GROWS_UNKNOWN};
    }
    if (k.family == DLS_KERNEL_CONV3) {
        k.flops *= tiled(x->dims.out_h) * tiled(x->dims.out_w);
    }
    return k;
}

static dls_status append(dls_workload *w, dls_kernel k, dls_error *err)
{
    DLS_TRY(dls_grow(&w->kernel, &w->kernel_cap, w->n_kernels + 1, sizeof *w->kernel, err));
    k.layer = w->n_layers++;
    w->kernel[w->n_kernels++] = k;
    return DLS_OK;
}

/* tensor_of[node]: the tensor that the node's result updates, or -1. */
static dls_status tensors(const dls_opgraph *g, dls_workload *w, int32_t *tensor_of,
                          int32_t *tensor_at, dls_error *err)
{
    double all = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *x = &g->nodes[i];
        all += dls_op_family_of(x->kind) == DLS_FAMILY_VARIABLE ? (double)x->param_bytes / WEIGHT_BYTES : 0;
        tensor_of[i] = tensor_at[i] = -1;
        if (x->phase == DLS_PHASE_UPDATE && x->param_bytes > 0) {
            DLS_TRY(dls_grow(&w->tensor, &w->tensor_cap, w->n_tensors + 1, sizeof *w->tensor, err));
            tensor_at[i] = (int32_t)w->n_tensors;
            w->tensor[w->n_tensors++] = (double)x->param_bytes / WEIGHT_BYTES;
            w->params += (double)x->param_bytes / WEIGHT_BYTES;
        }
    }
    w->held = fmax(0, all - w->params);
    for (int32_t e = 0; e < g->n_edges; e++) {
        const dls_op_edge *edge = &g->edges[e];
        if (!edge->control && tensor_at[edge->to] >= 0 && tensor_of[edge->from] < 0) {
            tensor_of[edge->from] = tensor_at[edge->to];
        }
    }
    return DLS_OK;
}

static dls_status convert(const dls_opgraph *g, dls_workload *w, int32_t *order, int32_t *tensor_of,
                          int32_t *tensor_at, dls_error *err)
{
    DLS_TRY(dls_opgraph_order(g, order, err));
    DLS_TRY(tensors(g, w, tensor_of, tensor_at, err));
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *x = &g->nodes[order[i]];
        if (x->phase == DLS_PHASE_FORWARD && runs(x)) {
            DLS_TRY(append(w, kernel_of(g, x), err));
            w->n_ops++;
        }
    }
    /* A workload's backward pass is run from its end: layers in reverse. */
    for (int32_t i = g->n_nodes; i-- > 0;) {
        const dls_op_node *x = &g->nodes[order[i]];
        if (x->phase == DLS_PHASE_BACKWARD && runs(x)) {
            dls_kernel k = kernel_of(g, x);
            k.tensor = tensor_of[order[i]];
            DLS_TRY(append(w, k, err));
        }
    }
    if (w->n_kernels == 0 || w->n_tensors == 0) {
        return dls_fail(err, DLS_EINPUT, g->info.model, "a graph that trains nothing");
    }
    return DLS_OK;
}

static void largest_results(const dls_opgraph *g, dls_workload *w)
{
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *x = &g->nodes[i];
        if (x->phase == DLS_PHASE_FORWARD && x->on_gpu) {
            w->largest = fmax(w->largest, (double)x->out_bytes);
            w->stream =
                dls_op_family_of(x->kind) == DLS_FAMILY_NORM ? (double)x->out_bytes : w->stream;
        }
    }
}

/* ---- what lives at once ---------------------------------------------------------------------- */

/* The most bytes of results that a training step holds at once: each operation's result from when it
 * runs until the last that reads it has run, forward operations in their order and then backward
 * ones, as PyTorch's automatic differentiation does it. Weights and their gradients are not counted.
 * Lives are intervals over the operations of a step; what is sought is the largest sum of those that
 * overlap. */
typedef struct lives {
    const dls_opgraph *g;
    int32_t *at;    /* when a node runs, from 0; -1: not in a step */
    int32_t *owner; /* whose result a node's is, a view being another's; -1: nobody's */
    int32_t *first; /* the first node that a node reads, of those that have a result; -1: none */
    int32_t *last;  /* when a node's result is read last */
    int32_t steps;
} lives;

static bool holds(const dls_op_node *x)
{
    switch (dls_op_family_of(x->kind)) {
    case DLS_FAMILY_VARIABLE:
    case DLS_FAMILY_READ:
    case DLS_FAMILY_CONST:
    case DLS_FAMILY_INPUT:
    case DLS_FAMILY_STATE:
        return false;
    default:
        return x->on_gpu && (x->phase == DLS_PHASE_FORWARD || x->phase == DLS_PHASE_BACKWARD);
    }
}

/* Numbers of 32 bits among those of 16 are told by what is written. */
static double result_bytes(const dls_op_node *x)
{
    return (double)(x->write_bytes >= 2 * x->out_bytes ? x->write_bytes : x->out_bytes);
}

static void run_in_order(lives *l, const int32_t *order)
{
    for (int phase = 0; phase < 2; phase++) {
        const int32_t now = phase ? DLS_PHASE_BACKWARD : DLS_PHASE_FORWARD;
        for (int32_t i = 0; i < l->g->n_nodes; i++) {
            const dls_op_node *x = &l->g->nodes[order[i]];
            if (x->phase == now && holds(x)) {
                l->at[order[i]] = l->steps++;
            }
        }
    }
}

static void find_owners(lives *l, const int32_t *order)
{
    const dls_op_node *node = l->g->nodes;
    for (int32_t e = 0; e < l->g->n_edges; e++) {
        const dls_op_edge *edge = &l->g->edges[e];
        if (!edge->control && l->at[edge->from] >= 0 && l->first[edge->to] < 0) {
            l->first[edge->to] = edge->from;
        }
    }
    for (int32_t i = 0; i < l->g->n_nodes; i++) {
        const int32_t o = order[i], from = l->first[o];
        const dls_op_node *x = &node[o];
        const bool view = x->read_bytes + x->write_bytes == 0 &&
                          (from < 0 || x->out_bytes == node[from].out_bytes);
        l->owner[o] = l->at[o] < 0 ? -1 : !view ? o : from < 0 ? -1 : l->owner[from];
    }
}

static void find_ends(lives *l)
{
    for (int32_t i = 0; i < l->g->n_nodes; i++) {
        l->last[i] = l->at[i];
    }
    for (int32_t e = 0; e < l->g->n_edges; e++) {
        const dls_op_edge *edge = &l->g->edges[e];
        const int32_t owner = l->owner[edge->from];
        if (edge->control || owner < 0 || l->at[edge->to] < 0) {
            continue;
        }
        const bool loss = l->g->nodes[edge->to].kind == DLS_OP_LOG_SOFTMAX;
        const int32_t when = loss ? l->steps - 1 : l->at[edge->to];
        l->last[owner] = when > l->last[owner] ? when : l->last[owner];
    }
}

/* A loop's results are all kept for its way back; there and without, one at a time. */
static double most(const lives *l, const int32_t *gradient, int32_t turn, double *change)
{
    double now = 0, peak = 0;
    for (int32_t i = 0; i < l->g->n_nodes; i++) {
        const dls_op_node *x = &l->g->nodes[i];
        if (l->owner[i] != i || gradient[i] >= 0) {
            continue;
        }
        const bool kept = x->phase == DLS_PHASE_FORWARD && l->last[i] >= turn;
        const double bytes = result_bytes(x) * (kept ? x->repeat : 1);
        change[l->at[i]] += bytes;
        change[l->last[i] + 1] -= bytes;
    }
    for (int32_t t = 0; t < l->steps; t++) {
        now += change[t];
        peak = now > peak ? now : peak;
    }
    return peak;
}

/* order: of dls_opgraph_order; gradient[node] >= 0: its result is a weight's gradient. What the
 * loss reads is held until the end: it is what the training loop's call of the model returned.
 * O(nodes + edges). */
static dls_status most_alive(const dls_opgraph *g, const int32_t *order, const int32_t *gradient,
                           double *bytes, dls_error *err)
{
    const size_t n = (size_t)g->n_nodes;
    DLS_FREED int32_t *table = NULL;
    DLS_FREED double *change = NULL;
    DLS_TRY(DLS_ALLOC_ALL("graph", err, DLS_ARRAY(table, 4 * n + 1), DLS_ARRAY(change, n + 2)));
    lives l = {g, table, table + n, table + 2 * n, table + 3 * n, 0};
    int32_t turn = 0;
    for (size_t i = 0; i < 4 * n; i++) {
        table[i] = -1;
    }
    run_in_order(&l, order);
    find_owners(&l, order);
    find_ends(&l);
    for (size_t i = 0; i < n; i++) {
        turn += l.at[i] >= 0 && g->nodes[i].phase == DLS_PHASE_FORWARD;
    }
    *bytes = most(&l, gradient, turn, change);
    return DLS_OK;
}

/* ---- the conversion -------------------------------------------------------------------------- */

dls_status dls_workload_from_graph(const dls_opgraph *g, dls_workload *w, dls_error *err)
{
    dls_opgraph_totals totals;
    *w = (dls_workload){.optimiser = g->info.optimiser};
    if (g->info.batch < 1) {
        return dls_fail(err, DLS_EINPUT, g->info.model, "a graph of unknown batch size");
    }
    snprintf(w->name, sizeof w->name, "%.*s", (int)sizeof w->name - 1, g->info.model);
    const size_t n = (size_t)g->n_nodes;
    int32_t *work;
    DLS_TRY(dls_alloc_array(&work, 3 * n + 1, sizeof *work, "graph", err));
    dls_status status = convert(g, w, work, work + n, work + 2 * n, err);
    DLS_THEN(status, most_alive(g, work, work + n, &w->kept, err));
    largest_results(g, w);
    dls_free(work);
    if (status != DLS_OK) {
        dls_workload_fini(w);
        return status;
    }
    dls_opgraph_sum(g, &totals);
    const double batch = g->info.batch, element = dls_numeric_bytes(g->info.numeric);
    w->activations = (double)totals.activation_bytes / element / batch;
    w->kept /= element * batch;
    w->largest /= element * batch;
    w->stream /= element * batch;
    w->shared = g->info.shared / batch;
    w->made = g->info.made / batch;
    w->by_channel = g->info.by_channel;
    for (size_t i = 0; i < w->n_kernels; i++) {
        w->attention |= w->kernel[i].attention;
    }
    w->forward_macs = totals.flops[DLS_PHASE_FORWARD] / 2 / batch;
    return DLS_OK;
}
