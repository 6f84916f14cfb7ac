/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The end of a training step: L2 terms, the optimiser with its state, checkpoints.
 */
#include "workload/graph/net_impl.h"

static const dls_shape scalar = {.n = 0};

static const dls_op_kind update_kinds[] = {
    [DLS_OPTIMISER_SGD] = DLS_OP_APPLY_SGD,
    [DLS_OPTIMISER_MOMENTUM] = DLS_OP_APPLY_MOMENTUM,
    [DLS_OPTIMISER_RMSPROP] = DLS_OP_APPLY_RMSPROP,
    [DLS_OPTIMISER_ADAM] = DLS_OP_APPLY_ADAM,
};

/* loss += factor * sum of the L2 norms */
static void l2_terms(dls_net *net)
{
    int32_t sum = -1;
    for (size_t i = 0; i < net->n_vars && net->decay; i++) {
        const net_var *var = &net->vars[i];
        if (!var->decay) {
            continue;
        }
        const int64_t n = dls_shape_size(&var->shape);
        const net_work work = {
            .shape = scalar, .element_bytes = 4, .read_bytes = 4 * n, .flops = 2.0 * (double)n};
        net->layer = var->layer;
        const int32_t node = var->node;
        const int32_t l2 = dls_net_emit(net, DLS_OP_L2_LOSS, &work, &node, 1);
        if (sum < 0) {
            const net_work add = {.shape = scalar, .element_bytes = 4};
            net->layer = 0;
            sum = dls_net_emit(net, DLS_OP_ADD_N, &add, &l2, 1);
        } else {
            dls_net_edge(net, l2, sum, false);
        }
    }
    if (sum >= 0) {
        const net_work work = {.shape = scalar, .element_bytes = 4, .flops = 1};
        net->layer = 0;
        const int32_t factor = dls_net_const(net, 0);
        const int32_t mul = dls_net_emit(net, DLS_OP_MUL, &work, (int32_t[]){sum, factor}, 2);
        net->loss = dls_net_emit(net, DLS_OP_ADD, &work, (int32_t[]){net->loss, mul}, 2);
    }
}

/* All gradients of a variable in 32 bits, the L2 term's included. */
static int32_t gradient(dls_net *net, const net_var *var, const dls_shape *shape)
{
    const int64_t n = dls_shape_size(shape);
    int32_t parts[DLS_NET_INPUTS];
    int n_parts = 0;
    for (int32_t i = var->grads; i >= 0; i = net->grads[i].next) {
        if (n_parts == DLS_NET_INPUTS - 1) {
            dls_net_fail(net, "a variable is used too often");
            return -1;
        }
        parts[n_parts++] = net->grads[i].node;
    }
    if (net->element_bytes < 4 && !dls_net_eager(net)) {
        for (int i = 0; i < n_parts; i++) {
            parts[i] = dls_net_of_bytes(net, shape, parts[i], 4);
        }
    }
    if (net->decay && var->decay) {
        const net_work mul = {.shape = *shape,
                              .element_bytes = 4,
                              .read_bytes = 4 * n,
                              .write_bytes = 4 * n,
                              .flops = (double)n};
        const int32_t factor = dls_net_const(net, 0);
        parts[n_parts++] = dls_net_emit(net, DLS_OP_MUL, &mul, (int32_t[]){var->node, factor}, 2);
    }
    if (n_parts == 1) {
        return parts[0];
    }
    const net_work add = {.shape = *shape,
                          .element_bytes = 4,
                          .read_bytes = 4 * n * n_parts,
                          .write_bytes = 4 * n,
                          .flops = (double)n * (n_parts - 1)};
    return dls_net_emit(net, DLS_OP_ADD_N, &add, parts, n_parts);
}

/* A state variable of the optimiser with its initialisation. */
static int32_t slot(dls_net *net, const dls_shape *shape)
{
    const net_work held = {.shape = *shape, .element_bytes = 4};
    net->phase = DLS_PHASE_OTHER;
    const int32_t var = dls_net_emit(net, DLS_OP_VARIABLE, &held, NULL, 0);
    const int32_t dims = dls_net_const(net, shape->n);
    const int32_t zeros = dls_net_emit(net, DLS_OP_FILL, &held, &dims, 1);
    dls_net_emit(net, DLS_OP_ASSIGN, &held, (int32_t[]){var, zeros}, 2);
    dls_net_emit(net, DLS_OP_IDENTITY, &held, &var, 1);
    net->phase = DLS_PHASE_UPDATE;
    return var;
}

/* Reads weight, gradient and state, writes weight and state. */
static int32_t apply(dls_net *net, const net_var *var, int32_t rate)
{
    const dls_optimiser kind = net->g->info.optimiser;
    const int32_t words = dls_optimiser_words(kind);
    const bool sparse = var->sparse_rows > 0;
    dls_shape shape = var->shape;
    if (sparse) {
        shape.dim[0] = var->sparse_rows;
    }
    const int64_t bytes = 4 * dls_shape_size(&shape);
    const net_work work = {.shape = var->shape,
                           .element_bytes = 4,
                           .read_bytes = (2 + words) * bytes,
                           .write_bytes = (1 + words) * bytes,
                           .param_bytes = bytes,
                           .flops = dls_work_update(kind) * (double)dls_shape_size(&shape)};
    int32_t in[5] = {var->node, gradient(net, var, &shape), rate};
    for (int32_t i = 0; i < words; i++) {
        in[3 + i] = slot(net, &var->shape);
    }
    return dls_net_emit(net, sparse ? DLS_OP_SCATTER_SUB : update_kinds[kind], &work, in,
                        3 + words);
}

/* A checkpoint reads every variable and can assign every variable; on the host. */
static void checkpoints(dls_net *net)
{
    const net_work host = {.shape = scalar, .element_bytes = 4, .on_cpu = true};
    net->phase = DLS_PHASE_OTHER;
    net->layer = 0;
    const int32_t save = dls_net_emit(net, DLS_OP_SAVE, &host, NULL, 0);
    const int32_t restore = dls_net_emit(net, DLS_OP_RESTORE, &host, NULL, 0);
    for (size_t i = 0; i < net->n_vars && net->status == DLS_OK; i++) {
        const net_work whole = {.shape = net->vars[i].shape, .element_bytes = 4, .on_cpu = true};
        dls_net_edge(net, net->vars[i].node, save, false);
        dls_net_emit(net, DLS_OP_ASSIGN, &whole, (int32_t[]){net->vars[i].node, restore}, 2);
    }
}

void dls_net_update(dls_net *net)
{
    net->phase = DLS_PHASE_FORWARD;
    l2_terms(net);
    net->phase = DLS_PHASE_UPDATE;
    net->layer = 0;
    const int32_t rate = dls_net_const(net, 0);
    const net_work nothing = {.shape = scalar, .element_bytes = 0};
    const int32_t done = dls_net_emit(net, DLS_OP_NO_OP, &nothing, NULL, 0);
    for (size_t i = 0; i < net->n_vars && net->status == DLS_OK; i++) {
        const net_var var = net->vars[i];
        net->layer = var.layer;
        if (var.grads < 0) {
            dls_net_fail(net, "a variable has no gradient");
            return;
        }
        const int32_t step = apply(net, &var, rate);
        dls_net_edge(net, step, done, true);
    }
    checkpoints(net);
}
