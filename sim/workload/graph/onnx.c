/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From the messages of an ONNX model to operations: weights become variables, values get the nodes
 * that give them. Nodes stay in the file's order, each behind the weights that it is the first to
 * use.
 */
#include "workload/graph/onnx.h"

#include "base/alloc.h"
#include "base/own.h"
#include "onnx.pb-c.h"
#include "workload/graph/import_impl.h"
#include "workload/graph/pb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct reader {
    imp_graph g;
    const Dls__Onnx__GraphProto *from;
    dls_strdict values;                /* names of values */
    imp_input *giver;                  /* [values.n] who gives it; node -1: nobody yet */
    int32_t *weight;                   /* [values.n] index of its initializer, -1 */
    const Dls__Onnx__TypeProto **type; /* [values.n] what the file says of it, or NULL */
    dls_strdict names;                 /* of nodes */
} reader;

/* ---- values ---------------------------------------------------------------------------------- */

static int32_t find(const reader *r, const char *name)
{
    return name && *name ? dls_strdict_find(&r->values, name, strlen(name)) : -1;
}

static dls_status put(reader *r, const char *name, int32_t *code, dls_error *err)
{
    return dls_strdict_put(&r->values, name ? name : "", strlen(name ? name : ""), code, err);
}

static imp_shape shape_of(const Dls__Onnx__TypeProto *type)
{
    const Dls__Onnx__TensorTypeProto *t = type ? type->tensor_type : NULL;
    const Dls__Onnx__TensorShapeProto *s = t ? t->shape : NULL;
    int64_t dim[IMP_RANK_MAX];
    if (!s || s->n_dim > IMP_RANK_MAX) {
        return dls_imp_no_shape;
    }
    for (size_t i = 0; i < s->n_dim; i++) { /* a batch of 0 is how some write an open one */
        dim[i] = s->dim[i]->has_dim_value && s->dim[i]->dim_value > 0 ? s->dim[i]->dim_value : -1;
    }
    return dls_imp_shape_of((int32_t)s->n_dim, dim);
}

/* Real numbers that are whole, as the factors of a Resize. */
static void whole_numbers(reader *r, const Dls__Onnx__TensorProto *from, int64_t n, imp_out *to)
{
    float number[IMP_RANK_MAX];
    int64_t *value = n > 0 && n <= IMP_RANK_MAX ? dls_imp_alloc(&r->g, (size_t)n * sizeof *value) : NULL;
    const void *data = from->n_float_data == (size_t)n ? (const void *)from->float_data : from->raw_data.data;
    if (!value || to->bytes != 4 || (data == from->raw_data.data && from->raw_data.len != 4 * (size_t)n)) {
        return;
    }
    memcpy(number, data, (size_t)n * 4);
    for (int64_t i = 0; i < n; i++) {
        if (!(fabsf(number[i]) < 1e9f) || truncf(number[i]) != number[i]) {
            return;
        }
        value[i] = (int64_t)number[i];
    }
    to->value = value;
    to->n_value = (int32_t)n;
}

static const imp_out *tensor_of(reader *r, const Dls__Onnx__TensorProto *from)
{
    imp_out *to = from ? dls_imp_alloc(&r->g, sizeof *to) : NULL;
    if (!to) {
        return NULL;
    }
    const int64_t type = dls_onnx_type(from->data_type);
    *to = (imp_out){.shape = from->n_dims <= IMP_RANK_MAX
                                 ? dls_imp_shape_of((int32_t)from->n_dims, from->dims)
                                 : dls_imp_no_shape,
                    .bytes = (int32_t)(type >> 1),
                    .real = type & 1};
    const int64_t n = dls_imp_elements(&to->shape);
    const bool wide = to->bytes == 8;
    const size_t listed = wide ? from->n_int64_data : from->n_int32_data;
    const bool raw = from->raw_data.len == (size_t)(n * to->bytes);
    if (to->real && dls_imp_known(&to->shape)) {
        whole_numbers(r, from, n, to);
    }
    if (to->real || (!wide && to->bytes != 4) || !dls_imp_known(&to->shape) || n > IMP_VALUES_MAX ||
        (listed != (size_t)n && !raw)) {
        return to;
    }
    int64_t *value = dls_imp_alloc(&r->g, (size_t)n * sizeof *value);
    for (int64_t i = 0; value && i < n; i++) {
        if (listed == (size_t)n) {
            value[i] = wide ? from->int64_data[i] : from->int32_data[i];
        } else if (wide) {
            memcpy(&value[i], from->raw_data.data + 8 * i, 8);
        } else {
            int32_t narrow;
            memcpy(&narrow, from->raw_data.data + 4 * i, 4);
            value[i] = narrow;
        }
        if (value[i] == IMP_UNKNOWN) { /* "to the front" of a slice that goes back */
            value[i] = IMP_UNKNOWN + 1;
        }
    }
    to->value = value;
    to->n_value = value ? (int32_t)n : 0;
    return to;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The name, or the name with a number if it stands already or is empty. */
static dls_status name_node(reader *r, imp_node *x, const char *name, const char *op,
                            dls_error *err)
{
    const size_t base = strlen(name && *name ? name : op);
    char *text = dls_imp_alloc(&r->g, base + 16);
    int32_t code = -1;
    if (!text) {
        return dls_nomem(err, "graph file", base);
    }
    snprintf(text, base + 16, "%s", name && *name ? name : op);
    for (unsigned i = (unsigned)r->g.n_nodes; dls_strdict_find(&r->names, text, strlen(text)) >= 0;
         i++) {
        snprintf(text + base, 16, "_%u", i);
    }
    x->name = text;
    return dls_strdict_put(&r->names, text, strlen(text), &code, err);
}

static void set_op(imp_node *x, const char *op, dls_op_kind kind, imp_rule *rule)
{
    x->op = op;
    x->kind = (int32_t)kind;
    x->rule = rule;
    x->device = "";
    x->repeat = 1;
}

static imp_node *new_node(reader *r)
{
    return &r->g.nodes[r->g.n_nodes];
}

static dls_status give(reader *r, const char *value, int32_t port, dls_error *err)
{
    int32_t code;
    if (!value || !*value) {
        return DLS_OK;
    }
    DLS_TRY(put(r, value, &code, err));
    if (r->giver[code].node >= 0) {
        return dls_fail(err, DLS_EINPUT, r->g.file, "two nodes give the value \"%s\"", value);
    }
    r->giver[code] = (imp_input){r->g.n_nodes, port};
    return DLS_OK;
}

static dls_status add_input(reader *r, const Dls__Onnx__ValueInfoProto *from, dls_error *err)
{
    const int32_t code = find(r, from->name);
    if (code < 0 || r->weight[code] >= 0) { /* old files name their weights among the inputs */
        return DLS_OK;
    }
    imp_node *x = new_node(r);
    set_op(x, "Placeholder", DLS_OP_PLACEHOLDER, dls_imp_rule_input);
    DLS_TRY(name_node(r, x, from->name, "input", err));
    imp_attr *attrs = dls_imp_alloc(&r->g, 2 * sizeof *attrs);
    imp_shape *shape = dls_imp_alloc(&r->g, sizeof *shape);
    if (attrs && shape) {
        const Dls__Onnx__TensorTypeProto *t = from->type ? from->type->tensor_type : NULL;
        *shape = shape_of(from->type);
        attrs[0] = (imp_attr){.name = "shape", .shapes = shape, .n_shapes = 1};
        attrs[1] = (imp_attr){.name = "dtype", .i = dls_onnx_type(t ? t->elem_type : 1)};
        x->attrs = attrs;
        x->n_attrs = 2;
    }
    DLS_TRY(give(r, from->name, 0, err));
    r->g.n_nodes++;
    return DLS_OK;
}

/* Numbers with a dimension are weights, the rest are constants. */
static dls_status add_weight(reader *r, int32_t code, dls_error *err)
{
    const Dls__Onnx__TensorProto *from = r->from->initializer[r->weight[code]];
    const imp_out *tensor = tensor_of(r, from);
    imp_node *x = new_node(r);
    const bool trained = tensor && tensor->real && tensor->shape.rank > 0;
    set_op(x, trained ? "VariableV2" : "Const", trained ? DLS_OP_VARIABLE : DLS_OP_CONST,
           dls_imp_rule_const);
    DLS_TRY(name_node(r, x, from->name, "weight", err));
    imp_attr *attr = dls_imp_alloc(&r->g, sizeof *attr);
    if (attr) {
        *attr = (imp_attr){.name = "value", .tensor = tensor};
        x->attrs = attr;
        x->n_attrs = 1;
    }
    DLS_TRY(give(r, from->name, 0, err));
    r->g.n_nodes++;
    return DLS_OK;
}

static void attributes(reader *r, imp_node *x, const Dls__Onnx__NodeProto *from)
{
    imp_attr *attrs = dls_imp_alloc(&r->g, from->n_attribute * sizeof *attrs);
    for (size_t i = 0; attrs && i < from->n_attribute; i++) {
        const Dls__Onnx__AttributeProto *a = from->attribute[i];
        char *text = a->has_s ? dls_imp_alloc(&r->g, a->s.len + 1) : NULL;
        if (text && a->s.len) {
            memcpy(text, a->s.data, a->s.len);
        }
        attrs[i] =
            (imp_attr){.name = a->name ? a->name : "",
                       .i = a->i,
                       .f = a->f,
                       .s = text,
                       .ints = a->ints,
                       .n_ints = a->n_ints < IMP_VALUES_MAX ? (int32_t)a->n_ints : IMP_VALUES_MAX,
                       .tensor = tensor_of(r, a->t)};
    }
    x->attrs = attrs;
    x->n_attrs = attrs ? (int32_t)from->n_attribute : 0;
}

/* Shapes that the file names, where it names one. */
static void given(reader *r, imp_node *x, const Dls__Onnx__NodeProto *from)
{
    imp_shape *shapes = dls_imp_alloc(&r->g, from->n_output * sizeof *shapes);
    for (size_t i = 0; shapes && i < from->n_output; i++) {
        const int32_t code = find(r, from->output[i]);
        shapes[i] = shape_of(code >= 0 ? r->type[code] : NULL);
    }
    x->given = shapes;
    x->n_given = shapes ? (int32_t)from->n_output : 0;
    x->n_wanted = (int32_t)from->n_output;
}

static const imp_shape *weight_shape(const reader *r, const imp_node *x, int32_t i)
{
    const int32_t node = i < x->n_in ? x->in[i].node : -1;
    const imp_node *from = node >= 0 ? &r->g.nodes[node] : NULL;
    return from && from->n_attrs == 1 && from->rule == dls_imp_rule_const && from->attrs[0].tensor
               ? &from->attrs[0].tensor->shape
               : &dls_imp_no_shape;
}

/* Names that depend on the weight: TensorFlow has an operation of its own for a depthwise
 * convolution, and for products of matrices without a batch. */
static void specialise(const reader *r, imp_node *x)
{
    const imp_shape *w = weight_shape(r, x, 1);
    if (x->kind == DLS_OP_CONV2D && w->rank >= 3 && w->dim[1] == 1 && w->dim[0] > 1 &&
        dls_imp_attr_i(x, "group", 1) > 1) {
        x->op = "DepthwiseConv2dNative";
        x->kind = DLS_OP_DEPTHWISE_CONV;
    } else if (x->kind == DLS_OP_BATCH_MATMUL && w->rank == 2) {
        x->op = "MatMul";
        x->kind = DLS_OP_MATMUL;
    }
}

static dls_status add_node(reader *r, const Dls__Onnx__NodeProto *from, dls_error *err)
{
    if (!from->op_type || !*from->op_type) {
        return dls_fail(err, DLS_EINPUT, r->g.file, "node \"%s\" has no op_type",
                        from->name ? from->name : "");
    }
    for (size_t i = 0; i < from->n_input; i++) {
        const int32_t code = find(r, from->input[i]);
        if (code >= 0 && r->giver[code].node < 0 && r->weight[code] >= 0) {
            DLS_TRY(add_weight(r, code, err));
        }
    }
    imp_node *x = new_node(r);
    const imp_op *op;
    DLS_TRY(dls_imp_op_of(&r->g, from->op_type, dls_imp_onnx_op, &op, err));
    set_op(x, op && op->as ? op->as : from->op_type, op ? op->kind : DLS_OP_OTHER, op ? op->rule : NULL);
    DLS_TRY(name_node(r, x, from->name, from->op_type, err));
    attributes(r, x, from);
    given(r, x, from);
    for (size_t i = 0; i < from->n_output; i++) {
        DLS_TRY(give(r, from->output[i], (int32_t)i, err));
    }
    r->g.n_nodes++;
    return DLS_OK;
}

/* Behind all nodes, so that an input from a later node is a cycle and not an unknown name. */
static dls_status connect(reader *r, imp_node *x, const Dls__Onnx__NodeProto *from, dls_error *err)
{
    const int32_t to = (int32_t)(x - r->g.nodes);
    x->in = dls_imp_alloc(&r->g, from->n_input * sizeof *x->in);
    if (!x->in) {
        return dls_nomem(err, "graph file", from->n_input * sizeof *x->in);
    }
    for (size_t i = 0; i < from->n_input; i++) {
        const char *name = from->input[i];
        const int32_t code = find(r, name);
        const imp_input giver = code >= 0 ? r->giver[code] : (imp_input){-1, 0};
        x->in[x->n_in++] = giver;
        if (giver.node < 0) {
            if (*name) {
                return dls_fail(err, DLS_EINPUT, r->g.file,
                                "node \"%s\": nobody gives its input \"%s\"", x->name, name);
            }
            continue; /* an optional input that is left out */
        }
        if (giver.node == to) {
            return dls_fail(err, DLS_EINPUT, r->g.file, "node \"%s\" is its own input", x->name);
        }
        DLS_TRY(dls_imp_add_edge(&r->g, giver.node, to, false, err));
    }
    specialise(r, x);
    return DLS_OK;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Every name of a value, before anything is asked for one. */
static dls_status list_values(reader *r, dls_error *err)
{
    const Dls__Onnx__GraphProto *from = r->from;
    int32_t code;
    for (size_t i = 0; i < from->n_input; i++) {
        DLS_TRY(put(r, from->input[i]->name, &code, err));
    }
    for (size_t i = 0; i < from->n_initializer; i++) {
        DLS_TRY(put(r, from->initializer[i]->name, &code, err));
    }
    for (size_t i = 0; i < from->n_node; i++) {
        for (size_t k = 0; k < from->node[i]->n_output; k++) {
            DLS_TRY(put(r, from->node[i]->output[k], &code, err));
        }
    }
    const size_t n = r->values.n;
    r->giver = dls_imp_alloc(&r->g, n * sizeof *r->giver);
    r->weight = dls_imp_alloc(&r->g, n * sizeof *r->weight);
    r->type = dls_imp_alloc(&r->g, n * sizeof *r->type);
    if (!r->giver || !r->weight || !r->type) {
        return dls_nomem(err, "graph file", n * sizeof *r->giver);
    }
    for (size_t i = 0; i < n; i++) {
        r->giver[i].node = r->weight[i] = -1;
    }
    for (size_t i = 0; i < from->n_initializer; i++) {
        const int32_t at = find(r, from->initializer[i]->name);
        if (at < 0 || r->weight[at] >= 0) {
            return dls_fail(err, DLS_EINPUT, r->g.file, "initializer %zu has no name of its own",
                            i);
        }
        r->weight[at] = (int32_t)i;
    }
    for (size_t list = 0; list < 2; list++) {
        const size_t n_infos = list ? from->n_output : from->n_value_info;
        for (size_t i = 0; i < n_infos; i++) {
            const Dls__Onnx__ValueInfoProto *info = list ? from->output[i] : from->value_info[i];
            const int32_t at = find(r, info->name);
            if (at >= 0) {
                r->type[at] = info->type;
            }
        }
    }
    return DLS_OK;
}

static dls_status read(reader *r, dls_error *err)
{
    const Dls__Onnx__GraphProto *from = r->from;
    const size_t most = from->n_node + from->n_initializer + from->n_input;
    if (from->n_node == 0 || most > INT32_MAX / 2) {
        return dls_fail(err, DLS_EINPUT, r->g.file, "%s",
                        from->n_node ? "too many nodes" : "a graph without nodes");
    }
    DLS_TRY(list_values(r, err));
    r->g.nodes = dls_imp_alloc(&r->g, most * sizeof *r->g.nodes);
    int32_t *at = dls_imp_alloc(&r->g, from->n_node * sizeof *at);
    if (!r->g.nodes || !at) {
        return dls_nomem(err, "graph file", most * sizeof *r->g.nodes);
    }
    for (size_t i = 0; i < from->n_input; i++) {
        DLS_TRY(add_input(r, from->input[i], err));
    }
    for (size_t i = 0; i < from->n_node; i++) {
        DLS_TRY(add_node(r, from->node[i], err));
        at[i] = r->g.n_nodes - 1;
    }
    for (size_t i = 0; i < from->n_node; i++) {
        DLS_TRY(connect(r, &r->g.nodes[at[i]], from->node[i], err));
    }
    return DLS_OK;
}

static void reader_fini(reader *r)
{
    dls_strdict_fini(&r->values);
    dls_strdict_fini(&r->names);
    dls_imp_fini(&r->g);
}

dls_status dls_onnx_parse(const char *name, const void *data, size_t size,
                          const dls_import_options *options, dls_opgraph **out,
                          dls_import_report *report, dls_error *err)
{
    static const dls_import_options none = {0};
    DLS_OWN(reader_fini) reader r = {.g = {.file = name, .options = options ? options : &none}};
    ProtobufCMessage *m = NULL;
    *out = NULL;
    DLS_TRY(dls_pb_unpack(name, data, size, &dls__onnx__model_proto__descriptor, &r.g.arena, &m,
                          err));
    r.from = ((const Dls__Onnx__ModelProto *)m)->graph;
    DLS_TRY(r.from ? read(&r, err)
                   : dls_fail(err, DLS_EINPUT, name, "an ONNX model without a graph"));
    return dls_imp_finish(&r.g, out, report, err);
}
