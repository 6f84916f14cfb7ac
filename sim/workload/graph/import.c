/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What all readers end with: shapes in the order of the graph, phases, work, and the report.
 */
#include "workload/graph/import.h"

#include "base/file.h"
#include "base/own.h"
#include "workload/graph/graphdef.h"
#include "workload/graph/import_impl.h"
#include "workload/graph/onnx.h"

#include <stdio.h>
#include <string.h>

dls_status dls_imp_add_edge(imp_graph *g, int32_t from, int32_t to, bool control, dls_error *err)
{
    if (g->n_edges == INT32_MAX) {
        return dls_fail(err, DLS_EINPUT, g->file, "too many edges");
    }
    DLS_TRY(dls_grow(&g->edges, &g->edge_cap, g->n_edges + 1, sizeof *g->edges, err));
    g->edges[g->n_edges++] = (imp_edge){from, to, control};
    return DLS_OK;
}

void dls_imp_fini(imp_graph *g)
{
    dls_strdict_fini(&g->op_names);
    DLS_FREE_ALL(g->edges, g->ops);
    dls_arena_fini(&g->arena);
}

dls_status dls_imp_op_of(imp_graph *g, const char *name, const imp_op *(*find)(const char *),
                         const imp_op **op, dls_error *err)
{
    const size_t n = g->op_names.n;
    int32_t code;
    DLS_TRY(dls_strdict_put(&g->op_names, name, strlen(name), &code, err));
    if (g->op_names.n > n) {
        DLS_TRY(dls_grow(&g->ops, &g->op_cap, n + 1, sizeof *g->ops, err));
        g->ops[n] = find(name);
    }
    *op = g->ops[code];
    return DLS_OK;
}

dls_status dls_graph_import(const char *path, const dls_import_options *options, dls_opgraph **out,
                            dls_import_report *report, dls_error *err)
{
    DLS_FREED char *data = NULL;
    size_t size;
    *out = NULL;
    DLS_TRY(dls_file_read(path, DLS_FILE_GRAPH, &data, &size, err));
    /* An ONNX model begins with its version, field 1 as a number; field 1 of a GraphDef is a node.
     */
    const bool onnx = size > 0 && data[0] == 1 << 3;
    return (onnx ? dls_onnx_parse : dls_graphdef_parse)(path, data, size, options, out, report,
                                                        err);
}

/* ---- the graph ------------------------------------------------------------------------------- */

static void name_model(const imp_graph *g, dls_opgraph_info *info)
{
    const char *slash = strrchr(g->file, '/');
    const char *base = g->options->model ? g->options->model : slash ? slash + 1 : g->file;
    const char *dot = g->options->model ? NULL : strrchr(base, '.');
    const int n = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
    snprintf(info->model, sizeof info->model, "%.*s", n < 63 ? n : 63, base);
    snprintf(info->dataset, sizeof info->dataset, "%.63s",
             g->options->dataset ? g->options->dataset : "");
}

static dls_optimiser optimiser_of(const imp_graph *g)
{
    for (int32_t i = 0; i < g->n_nodes; i++) {
        switch (g->nodes[i].kind) {
        case DLS_OP_APPLY_SGD:
            return DLS_OPTIMISER_SGD;
        case DLS_OP_APPLY_MOMENTUM:
            return DLS_OPTIMISER_MOMENTUM;
        case DLS_OP_APPLY_RMSPROP:
            return DLS_OPTIMISER_RMSPROP;
        case DLS_OP_APPLY_ADAM:
            return DLS_OPTIMISER_ADAM;
        default:
            break;
        }
    }
    return g->options->optimiser;
}

/* "conv1" of "conv1/Conv2D" and of "gradients/conv1/Conv2D_grad/Conv2DBackpropInput". */
static dls_status layer_of(dls_opgraph *to, const char *name, int32_t *layer, dls_error *err)
{
    char text[256];
    const char *slash = strrchr(name, '/');
    const char *begin = strncmp(name, "gradients/", 10) == 0 ? name + 10 : name;
    size_t n = slash && slash > begin ? (size_t)(slash - begin) : 0;
    if (n > 5 && strncmp(begin + n - 5, "_grad", 5) == 0) {
        while (n > 0 && begin[n - 1] != '/') {
            n--;
        }
        n -= n > 0;
    }
    n = n < sizeof text ? n : sizeof text - 1;
    memcpy(text, begin, n);
    text[n] = '\0';
    return dls_opgraph_layer(to, text, layer, err);
}

/* Nodes and edges that the graph does not have yet. */
static dls_status add_all(const imp_graph *g, dls_opgraph *to, dls_error *err)
{
    for (int32_t i = to->n_nodes; i < g->n_nodes; i++) {
        const imp_node *x = &g->nodes[i];
        dls_op_node node = {.kind = x->kind};
        int32_t idx;
        DLS_TRY(layer_of(to, x->name, &node.layer, err));
        DLS_TRY(dls_opgraph_add_node(to, x->name, x->op, &node, &idx, err));
    }
    for (size_t e = (size_t)to->n_edges; e < g->n_edges; e++) {
        DLS_TRY(
            dls_opgraph_add_edge(to, g->edges[e].from, g->edges[e].to, g->edges[e].control, err));
    }
    return DLS_OK;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* What the file says was found by a program that knows more than the rules here; where it leaves
 * something open, a rule may know it. */
static void shapes_of(imp_graph *g, imp_node *x)
{
    if (x->rule) {
        x->rule(g, x);
    }
    if (x->n_given > x->n_out || !x->rule) { /* outputs that no rule knows of */
        const imp_node known = *x;
        imp_out *out = dls_imp_outs(g, x, x->n_given > 0 ? x->n_given : 1);
        for (int32_t i = 0; out && i < known.n_out; i++) {
            out[i] = known.out[i];
        }
    }
    for (int32_t i = 0; i < x->n_out && i < x->n_given; i++) {
        x->out[i].shape = dls_imp_merge(&x->given[i], &x->out[i].shape);
    }
}

static dls_status batch_of(const imp_graph *g, int32_t *batch, dls_error *err)
{
    const int32_t asked = g->options->batch;
    *batch = asked;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const imp_node *x = &g->nodes[i];
        for (int32_t k = 0; k < x->n_out && dls_op_family_of(x->kind) == DLS_FAMILY_INPUT; k++) {
            const imp_shape *s = &x->out[k].shape;
            if (s->rank < 1 || s->dim[0] < 1 || s->dim[0] > INT32_MAX) {
                continue;
            }
            if (asked > 0 && !g->batch_open && s->dim[0] != asked) {
                return dls_fail(err, DLS_EINPUT, g->file,
                                "a batch of %d was asked for, but input \"%s\" has %d: export the "
                                "graph with an open first dimension",
                                (int)asked, x->name, (int)s->dim[0]);
            }
            *batch = asked > 0 ? asked : (int32_t)s->dim[0];
            return DLS_OK;
        }
    }
    return DLS_OK;
}

/* Of the products: 16 bits mean mixed precision. */
static dls_numeric numeric_of(const imp_graph *g)
{
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const imp_node *x = &g->nodes[i];
        const dls_op_family family = dls_op_family_of(x->kind);
        if ((family == DLS_FAMILY_CONV || family == DLS_FAMILY_MATMUL) && x->n_out > 0 &&
            x->out[0].bytes == 2) {
            return DLS_NUMERIC_FP16;
        }
    }
    return DLS_NUMERIC_FP32;
}

static dls_status count_unknown(const imp_graph *g, dls_import_report *report, dls_error *err)
{
    DLS_OWN(dls_strdict_fini) dls_strdict ops = {0};
    DLS_FREED int32_t *count = NULL;
    size_t cap = 0, n = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const imp_node *x = &g->nodes[i];
        if (x->rule) {
            const imp_out *out = x->n_out > 0 && x->on_gpu ? &x->out[0] : NULL;
            report->n_shapeless += out && out->bytes > 0 && out->shape.rank < 0;
            continue;
        }
        int32_t code;
        const size_t before = ops.n;
        DLS_TRY(dls_strdict_put(&ops, x->op, strlen(x->op), &code, err));
        DLS_TRY(dls_grow(&count, &cap, ops.n, sizeof *count, err));
        count[code] = (size_t)code == before ? 1 : count[code] + 1;
        report->n_unknown++;
    }
    report->n_unknown_ops = (int32_t)ops.n;
    for (size_t i = 0; i < ops.n; i++) {
        char *to = report->unknown + n;
        const size_t room = sizeof report->unknown - n;
        const int len = snprintf(to, room, "%s%s (%d)", i ? ", " : "",
                                 dls_strdict_get(&ops, (int32_t)i), (int)count[i]);
        if (len < 0 || (size_t)len + 8 > room) {
            snprintf(to, room, ", ...");
            break;
        }
        n += (size_t)len;
    }
    return DLS_OK;
}

static dls_status infer(imp_graph *g, dls_opgraph *to, dls_import_report *report, int32_t *order,
                        dls_error *err)
{
    DLS_TRY(dls_opgraph_order(to, order, err));
    for (int32_t i = 0; i < g->n_nodes; i++) {
        shapes_of(g, &g->nodes[order[i]]);
    }
    if (g->nomem) {
        return dls_nomem(err, "shapes of a graph", (size_t)g->n_nodes * sizeof(imp_out));
    }
    DLS_TRY(dls_imp_loops(g, order, err));
    DLS_TRY(dls_imp_classify(g, order, report, err));
    DLS_TRY(batch_of(g, &to->info.batch, err));
    to->info.numeric = numeric_of(g);
    if (g->options->training && !report->trains) {
        DLS_TRY(dls_imp_train(g, order, &report->added_training, err));
        DLS_TRY(add_all(g, to, err));
    }
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const imp_node *x = &g->nodes[i];
        dls_op_node *node = &to->nodes[i];
        node->kind = x->kind;
        node->phase = x->phase;
        node->repeat = x->repeat;
        node->on_gpu = x->on_gpu;
        dls_imp_work(g, x, to->info.optimiser, node);
    }
    return count_unknown(g, report, err);
}

dls_status dls_imp_finish(imp_graph *g, dls_opgraph **out, dls_import_report *report,
                          dls_error *err)
{
    dls_import_report unused;
    report = report ? report : &unused;
    *report = (dls_import_report){0};
    *out = NULL;
    if (g->nomem) {
        return dls_nomem(err, "graph file", (size_t)g->n_nodes * sizeof *g->nodes);
    }
    dls_opgraph_info info = {.sequence = g->options->sequence, .optimiser = optimiser_of(g)};
    name_model(g, &info);
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *to = NULL;
    DLS_FREED int32_t *order = NULL;
    DLS_TRY(dls_opgraph_create(&info, &to, err));
    DLS_TRY(dls_alloc_array(&order, (size_t)g->n_nodes + 1, sizeof *order, "graph", err));
    DLS_TRY(add_all(g, to, err));
    DLS_TRY(infer(g, to, report, order, err));
    DLS_TRY(dls_opgraph_validate(to, err));
    *out = dls_take(&to);
    return DLS_OK;
}
