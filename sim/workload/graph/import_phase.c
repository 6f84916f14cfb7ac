/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which part of a training step an operation is, which variables are trained, and what runs on a
 * GPU. Files do not say so; names, kinds and consumers do.
 */
#include "base/own.h"
#include "workload/graph/import_impl.h"

#include <string.h>

/* A folder of the name that tf.gradients or GradientTape makes: "gradients", "gradients_1",
 * "gradient_tape". */
static bool in_gradients(const char *name)
{
    for (const char *slash; (slash = strchr(name, '/')); name = slash + 1) {
        if (strncmp(name, "gradients/", 10) == 0 || strncmp(name, "gradients_", 10) == 0 ||
            strncmp(name, "gradient_tape/", 14) == 0) {
            return true;
        }
    }
    return false;
}

/* Where a value comes from when reads, casts and steering are seen through. */
static int32_t source(const imp_graph *g, int32_t node)
{
    for (int32_t steps = 0; steps < 16 && node >= 0; steps++) {
        const imp_node *x = &g->nodes[node];
        const dls_op_family family = dls_op_family_of(x->kind);
        if ((family != DLS_FAMILY_READ && x->kind != DLS_OP_CAST && x->kind != DLS_OP_ENTER &&
             x->kind != DLS_OP_SWITCH) ||
            x->n_in < 1) {
            return node;
        }
        node = x->in[0].node;
    }
    return node;
}

static int64_t held(const imp_node *x)
{
    const imp_out *out = x->n_out > 0 ? &x->out[0] : NULL;
    return out ? dls_imp_elements(out->inner ? out->inner : &out->shape) : 0;
}

/* Moving averages and counters are part of the forward pass: no gradient reaches them. */
static bool updates(const imp_node *x, bool gradient)
{
    switch (x->kind) {
    case DLS_OP_APPLY_SGD:
    case DLS_OP_APPLY_MOMENTUM:
    case DLS_OP_APPLY_ADAM:
    case DLS_OP_APPLY_RMSPROP:
        return true;
    case DLS_OP_SCATTER_SUB:
    case DLS_OP_ASSIGN_SUB:
        return gradient;
    default:
        return false;
    }
}

/* A sparse update touches the rows of its indices. */
static int64_t updated(const imp_graph *g, const imp_node *x, const imp_node *variable)
{
    return x->kind == DLS_OP_SCATTER_SUB && x->n_in > 2
               ? dls_imp_elements(&dls_imp_in(g, x, x->n_in - 1)->shape)
               : held(variable);
}

/* reached[node]: a gradient is among what it is computed from. A variable is read behind its update
 * by waiting for it. */
static bool find_updates(imp_graph *g, const int32_t *order, const int32_t *first_edge,
                         uint8_t *reached)
{
    bool any = false;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        imp_node *x = &g->nodes[order[i]];
        bool gradient = in_gradients(x->name);
        const bool waits = dls_op_family_of(x->kind) == DLS_FAMILY_READ;
        for (int32_t e = first_edge[order[i]]; e < first_edge[order[i] + 1]; e++) {
            gradient |= (waits || !g->edges[e].control) && reached[g->edges[e].from];
        }
        reached[order[i]] = gradient;
        const int32_t of = updates(x, gradient) && x->n_in > 0 ? source(g, x->in[0].node) : -1;
        if (of >= 0 && dls_op_family_of(g->nodes[of].kind) == DLS_FAMILY_VARIABLE) {
            x->phase = DLS_PHASE_UPDATE;
            x->param_elements = updated(g, x, &g->nodes[of]);
            g->nodes[of].param_elements = held(&g->nodes[of]);
            any = true;
        }
    }
    return any;
}

/* Are these a tensor's own numbers, all of them or a part? */
static bool rearranges(const imp_node *x, bool parts)
{
    switch (x->kind) {
    case DLS_OP_TRANSPOSE:
    case DLS_OP_RESHAPE:
    case DLS_OP_SQUEEZE:
    case DLS_OP_EXPAND_DIMS:
        return true;
    case DLS_OP_CONCAT:
    case DLS_OP_SLICE:
    case DLS_OP_SPLIT:
    case DLS_OP_STRIDED_SLICE:
        return parts;
    default:
        return false;
    }
}

/* Variables and constants that a kernel gets here, as they are or rearranged (parts: cut and joined, too: what
 * PyTorch exports of recurrent networks; elsewhere those are tables). Looks at no more than *left operations. */
static void find_weight(imp_graph *g, int32_t node, bool parts, int32_t *left)
{
    const int32_t of = source(g, node);
    imp_node *from = of >= 0 ? &g->nodes[of] : NULL;
    if (!from || (*left)-- <= 0 || from->n_out < 1 || !from->out[0].real) {
        return;
    }
    for (int32_t k = 0; k < from->n_in && rearranges(from, parts); k++) {
        find_weight(g, from->in[k].node, parts, left);
    }
    const imp_shape *s = from->out[0].inner ? from->out[0].inner : &from->out[0].shape;
    const bool variable = dls_op_family_of(from->kind) == DLS_FAMILY_VARIABLE;
    if (s->rank >= 1 && (variable || from->kind == DLS_OP_CONST)) {
        from->kind = DLS_OP_VARIABLE;
        from->param_elements = dls_imp_elements(s);
    }
}

/* A graph without optimiser: what kernels take besides their input is a parameter, whether it is
 * kept in a variable or, in a frozen graph, in a constant. */
static void find_weights(imp_graph *g)
{
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const imp_node *x = &g->nodes[i];
        const dls_op_family family = dls_op_family_of(x->kind);
        const bool table = x->kind == DLS_OP_GATHER;
        const bool parts = family == DLS_FAMILY_CONV || family == DLS_FAMILY_MATMUL || family == DLS_FAMILY_RNN;
        int32_t first = x->n_in;
        int32_t last = x->n_in;
        if (parts || x->kind == DLS_OP_BIAS_ADD || x->kind == DLS_OP_ADD || x->kind == DLS_OP_MUL) {
            first = 0;
        } else if (family == DLS_FAMILY_NORM) { /* scale and offset; not the moments */
            first = 1;
            last = x->n_in < 3 ? x->n_in : 3;
        } else if (table) {
            first = 0;
            last = x->n_in < 1 ? 0 : 1;
        }
        for (int32_t k = first; k < last; k++) {
            find_weight(g, x->in[k].node, parts, &(int32_t){64});
        }
    }
}

static bool follows_consumers(const imp_node *x)
{
    switch (dls_op_family_of(x->kind)) {
    case DLS_FAMILY_VARIABLE:
    case DLS_FAMILY_STATE:
    case DLS_FAMILY_INPUT:
        return false;
    default:
        return true;
    }
}

static int32_t own_phase(const imp_graph *g, const imp_node *x)
{
    if (x->phase == DLS_PHASE_UPDATE) {
        return DLS_PHASE_UPDATE;
    }
    switch (dls_op_family_of(x->kind)) {
    case DLS_FAMILY_VARIABLE:
    case DLS_FAMILY_STATE:
    case DLS_FAMILY_INPUT:
        return DLS_PHASE_OTHER;
    default:
        break;
    }
    if (in_gradients(x->name)) {
        return DLS_PHASE_BACKWARD;
    }
    if (x->kind == DLS_OP_CONST) {
        return DLS_PHASE_OTHER;
    }
    if (dls_op_family_of(x->kind) == DLS_FAMILY_READ && x->n_in > 0) {
        const int32_t of = source(g, x->in[0].node);
        if (of >= 0 && dls_op_family_of(g->nodes[of].kind) == DLS_FAMILY_VARIABLE) {
            return DLS_PHASE_OTHER;
        }
    }
    return DLS_PHASE_FORWARD;
}

/* What only the update or only initialisation needs belongs to it. seen[node]: bit of every phase
 * among the consumers. */
static void spread(imp_graph *g, const int32_t *order, uint8_t *seen, const int32_t *first_edge)
{
    for (int32_t i = g->n_nodes; i-- > 0;) {
        imp_node *x = &g->nodes[order[i]];
        x->phase = own_phase(g, x);
        if (follows_consumers(x) && x->phase != DLS_PHASE_BACKWARD) {
            if (seen[order[i]] == 1 << DLS_PHASE_UPDATE) {
                x->phase = DLS_PHASE_UPDATE;
            } else if (seen[order[i]] == 1 << DLS_PHASE_OTHER && x->phase == DLS_PHASE_FORWARD) {
                x->phase = DLS_PHASE_OTHER;
            }
        }
        for (int32_t e = first_edge[order[i]]; e < first_edge[order[i] + 1]; e++) {
            if (!g->edges[e].control) {
                seen[g->edges[e].from] |= (uint8_t)(1 << x->phase);
            }
        }
    }
    /* What waits for updates alone, such as the step's last NoOp, is one. */
    for (int32_t i = 0; i < g->n_nodes; i++) {
        imp_node *x = &g->nodes[order[i]];
        const int32_t begin = first_edge[order[i]];
        const int32_t end = first_edge[order[i] + 1];
        bool all = x->kind == DLS_OP_NO_OP && begin < end;
        for (int32_t e = begin; e < end; e++) {
            all &= g->nodes[g->edges[e].from].phase == DLS_PHASE_UPDATE;
        }
        x->phase = all ? DLS_PHASE_UPDATE : x->phase;
    }
}

static bool names_gpu(const imp_node *x)
{
    return strstr(x->device, "GPU") != NULL;
}

static bool device_of(const imp_node *x, dls_import_device rule)
{
    if (rule == DLS_IMPORT_DEVICE_FILE) {
        return names_gpu(x);
    }
    const dls_op_family family = dls_op_family_of(x->kind);
    const bool saves = x->kind == DLS_OP_SAVE || x->kind == DLS_OP_RESTORE;
    return family != DLS_FAMILY_INPUT && !saves && x->kind != DLS_OP_ASSERT;
}

dls_status dls_imp_classify(imp_graph *g, const int32_t *order, dls_import_report *report,
                            dls_error *err)
{
    const size_t n = (size_t)g->n_nodes;
    DLS_FREED uint8_t *seen = NULL;
    DLS_FREED int32_t *first_edge = NULL;
    DLS_TRY(dls_alloc_array(&seen, n + 1, 1, "graph", err));
    DLS_TRY(dls_alloc_array(&first_edge, n + 2, sizeof *first_edge, "graph", err));
    for (size_t e = 0; e < g->n_edges; e++) { /* edges lie consumer by consumer */
        first_edge[g->edges[e].to + 1]++;
    }
    for (size_t i = 0; i < n; i++) {
        first_edge[i + 1] += first_edge[i];
        report->placed |= names_gpu(&g->nodes[i]);
    }
    report->trains = find_updates(g, order, first_edge, seen);
    memset(seen, 0, n);
    if (!report->trains) {
        find_weights(g);
    }
    spread(g, order, seen, first_edge);
    dls_import_device rule = g->options->device;
    if (rule == DLS_IMPORT_DEVICE_AUTO) {
        rule = report->placed ? DLS_IMPORT_DEVICE_FILE : DLS_IMPORT_DEVICE_GPU;
    }
    for (size_t i = 0; i < n; i++) {
        g->nodes[i].on_gpu = device_of(&g->nodes[i], rule);
    }
    return DLS_OK;
}
