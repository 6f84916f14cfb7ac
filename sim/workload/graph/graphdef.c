/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From the messages of a GraphDef to operations: attributes, inputs in order, constants that shapes
 * are computed with.
 */
#include "workload/graph/graphdef.h"

#include "base/alloc.h"
#include "base/own.h"
#include "graphdef.pb-c.h"
#include "workload/graph/grouping.h"
#include "workload/graph/import_impl.h"
#include "workload/graph/pb.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes ------------------------------------------------------------------------------ */

/* bytes << 1 | floating point; handles and strings have no bytes. */
static int64_t type_code(int type)
{
    switch (type >= 100 ? type - 100 : type) {
    case DLS__TF__DATA_TYPE__DT_FLOAT:
        return 4 << 1 | 1;
    case DLS__TF__DATA_TYPE__DT_DOUBLE:
        return 8 << 1 | 1;
    case DLS__TF__DATA_TYPE__DT_HALF:
    case DLS__TF__DATA_TYPE__DT_BFLOAT16:
        return 2 << 1 | 1;
    case DLS__TF__DATA_TYPE__DT_FLOAT8_E5M2:
    case DLS__TF__DATA_TYPE__DT_FLOAT8_E4M3FN:
        return 1 << 1 | 1;
    case DLS__TF__DATA_TYPE__DT_COMPLEX64:
        return 8 << 1 | 1;
    case DLS__TF__DATA_TYPE__DT_COMPLEX128:
        return 16 << 1 | 1;
    case DLS__TF__DATA_TYPE__DT_INT64:
    case DLS__TF__DATA_TYPE__DT_UINT64:
        return 8 << 1;
    case DLS__TF__DATA_TYPE__DT_INT32:
    case DLS__TF__DATA_TYPE__DT_UINT32:
    case DLS__TF__DATA_TYPE__DT_QINT32:
        return 4 << 1;
    case DLS__TF__DATA_TYPE__DT_INT16:
    case DLS__TF__DATA_TYPE__DT_UINT16:
    case DLS__TF__DATA_TYPE__DT_QINT16:
    case DLS__TF__DATA_TYPE__DT_QUINT16:
        return 2 << 1;
    case DLS__TF__DATA_TYPE__DT_BOOL:
    case DLS__TF__DATA_TYPE__DT_INT8:
    case DLS__TF__DATA_TYPE__DT_UINT8:
    case DLS__TF__DATA_TYPE__DT_QINT8:
    case DLS__TF__DATA_TYPE__DT_QUINT8:
    case DLS__TF__DATA_TYPE__DT_INT4:
    case DLS__TF__DATA_TYPE__DT_UINT4:
        return 1 << 1;
    default:
        return 0;
    }
}

static imp_shape shape_from(const Dls__Tf__TensorShape *from)
{
    int64_t dim[IMP_RANK_MAX];
    if (!from || from->unknown_rank || from->n_dim > IMP_RANK_MAX) {
        return dls_imp_no_shape;
    }
    for (size_t i = 0; i < from->n_dim; i++) {
        dim[i] = from->dim[i]->size;
    }
    return dls_imp_shape_of((int32_t)from->n_dim, dim);
}

/* Values of a small tensor of integers: a list in which the last one stands for all that follow, or
 * the bytes as they lie in memory. */
static void follow(imp_graph *g, const Dls__Tf__Tensor *from, imp_out *to)
{
    const int64_t n = dls_imp_elements(&to->shape);
    const bool wide = to->bytes == 8;
    const size_t listed = wide ? from->n_int64_val : from->n_int_val;
    const ProtobufCBinaryData content = from->tensor_content;
    if (to->real || (to->bytes != 4 && !wide) || n > IMP_VALUES_MAX || !dls_imp_known(&to->shape) ||
        (n > 0 && listed == 0 && content.len != (size_t)(n * to->bytes))) {
        return;
    }
    int64_t *value = dls_imp_alloc(g, (size_t)n * sizeof *value);
    for (int64_t i = 0; value && i < n; i++) {
        const size_t at = (size_t)i < listed ? (size_t)i : listed - 1;
        if (listed > 0) {
            value[i] = wide ? from->int64_val[at] : from->int_val[at];
        } else if (wide) {
            memcpy(&value[i], content.data + 8 * i, 8);
        } else {
            int32_t narrow;
            memcpy(&narrow, content.data + 4 * i, 4);
            value[i] = narrow;
        }
    }
    to->value = value;
    to->n_value = value ? (int32_t)n : 0;
}

static const imp_out *tensor_from(imp_graph *g, const Dls__Tf__Tensor *from)
{
    imp_out *to = from ? dls_imp_alloc(g, sizeof *to) : NULL;
    if (to) {
        const int64_t type = type_code((int)from->dtype);
        *to =
            (imp_out){.shape = from->tensor_shape ? shape_from(from->tensor_shape) : dls_imp_scalar,
                      .bytes = (int32_t)(type >> 1),
                      .real = type & 1};
        follow(g, from, to);
    }
    return to;
}

static char *text_from(imp_graph *g, const ProtobufCBinaryData *from)
{
    char *text = dls_imp_alloc(g, from->len + 1);
    if (text && from->len) {
        memcpy(text, from->data, from->len);
    }
    return text;
}

static void list_from(imp_graph *g, const Dls__Tf__AttrList *from, imp_attr *to)
{
    to->ints = from->i;
    to->n_ints = from->n_i < IMP_VALUES_MAX ? (int32_t)from->n_i : IMP_VALUES_MAX;
    const size_t n_shapes = from->n_shape < IMP_VALUES_MAX ? from->n_shape : IMP_VALUES_MAX;
    const size_t n_types = from->n_type < IMP_VALUES_MAX ? from->n_type : IMP_VALUES_MAX;
    imp_shape *shapes = dls_imp_alloc(g, n_shapes * sizeof *shapes);
    int64_t *types = dls_imp_alloc(g, n_types * sizeof *types);
    for (size_t i = 0; shapes && i < n_shapes; i++) {
        shapes[i] = shape_from(from->shape[i]);
    }
    for (size_t i = 0; types && i < n_types; i++) {
        types[i] = type_code((int)from->type[i]);
    }
    to->shapes = shapes;
    to->n_shapes = shapes ? (int32_t)n_shapes : 0;
    to->types = types;
    to->n_types = types ? (int32_t)n_types : 0;
}

static void attr_from(imp_graph *g, const Dls__Tf__AttrEntry *from, imp_attr *to)
{
    const Dls__Tf__AttrValue *v = from->value;
    *to = (imp_attr){.name = from->key ? from->key : ""};
    if (!v) {
        return;
    }
    to->i = v->has_type ? type_code((int)v->type) : v->has_b ? v->b : v->i;
    to->f = v->f;
    to->s = v->has_s ? text_from(g, &v->s) : NULL;
    to->tensor = tensor_from(g, v->tensor);
    if (v->list) {
        list_from(g, v->list, to);
    }
    imp_shape *shape = v->shape ? dls_imp_alloc(g, sizeof *shape) : NULL;
    if (shape) {
        *shape = shape_from(v->shape);
        to->shapes = shape;
        to->n_shapes = 1;
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static dls_status node_from(imp_graph *g, const Dls__Tf__NodeDef *from, int32_t i, dls_error *err)
{
    imp_node *x = &g->nodes[i];
    if (!from->name || !*from->name || !from->op || !*from->op) {
        return dls_fail(err, DLS_EINPUT, g->file, "node %d (\"%s\") has no %s", (int)i,
                        from->name ? from->name : "", from->name && *from->name ? "op" : "name");
    }
    const imp_op *known;
    DLS_TRY(dls_imp_op_of(g, from->op, dls_imp_tf_op, &known, err));
    imp_attr *attrs = dls_imp_alloc(g, from->n_attr * sizeof *attrs);
    for (size_t k = 0; attrs && k < from->n_attr; k++) {
        attr_from(g, from->attr[k], &attrs[k]);
    }
    *x = (imp_node){.name = from->name,
                    .op = from->op,
                    .device = from->device ? from->device : "",
                    .attrs = attrs,
                    .n_attrs = attrs ? (int32_t)from->n_attr : 0,
                    .kind = known ? (int32_t)known->kind : DLS_OP_OTHER,
                    .rule = known ? known->rule : NULL,
                    .repeat = 1};
    const imp_attr *given = dls_imp_attr_find(x, "_output_shapes");
    if (given) {
        x->given = given->shapes;
        x->n_given = given->n_shapes;
    }
    return DLS_OK;
}

/* "name", "name:port", "^name" */
static dls_status input_from(imp_graph *g, const dls_strdict *names, imp_node *x, const char *text,
                             dls_error *err)
{
    const char *start;
    const size_t len = dls_driple_input_name(text, &start);
    const int32_t from = dls_strdict_find(names, start, len);
    const int32_t to = (int32_t)(x - g->nodes);
    if (from < 0) {
        return dls_fail(err, DLS_EINPUT, g->file, "node \"%s\": its input \"%s\" is no node",
                        x->name, text);
    }
    if (from == to) {
        return dls_fail(err, DLS_EINPUT, g->file, "node \"%s\" is its own input", x->name);
    }
    const bool control = *text == '^';
    if (!control) {
        const char *colon = strrchr(start, ':');
        const long port = colon ? strtol(colon + 1, NULL, 10) : 0;
        x->in[x->n_in++] =
            (imp_input){from, port < 0 || port > INT32_MAX ? INT32_MAX : (int32_t)port};
    }
    return dls_imp_add_edge(g, from, to, control, err);
}

static dls_status fill(imp_graph *g, const Dls__Tf__GraphDef *from, dls_strdict *names,
                       dls_error *err)
{
    if (from->n_node == 0 || from->n_node > INT32_MAX / 2) {
        return dls_fail(err, DLS_EINPUT, g->file, "%s",
                        from->n_node ? "too many nodes" : "a graph without nodes");
    }
    g->nodes = dls_imp_alloc(g, from->n_node * sizeof *g->nodes);
    if (!g->nodes) {
        return dls_nomem(err, "graph file", from->n_node * sizeof *g->nodes);
    }
    g->n_nodes = (int32_t)from->n_node;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int32_t code;
        DLS_TRY(node_from(g, from->node[i], i, err));
        DLS_TRY(dls_strdict_put(names, g->nodes[i].name, strlen(g->nodes[i].name), &code, err));
        if (code != i) {
            return dls_fail(err, DLS_EINPUT, g->file, "two nodes are named \"%s\"",
                            g->nodes[i].name);
        }
    }
    for (int32_t i = 0; i < g->n_nodes; i++) {
        imp_node *x = &g->nodes[i];
        const size_t n = from->node[i]->n_input;
        x->in = dls_imp_alloc(g, n * sizeof *x->in);
        if (!x->in) {
            return dls_nomem(err, "graph file", n * sizeof *x->in);
        }
        for (size_t k = 0; k < n; k++) {
            DLS_TRY(input_from(g, names, x, from->node[i]->input[k], err));
        }
    }
    return DLS_OK;
}

/* Binary files hold tags, which text has not. */
static bool is_text(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size && i < 4096; i++) {
        if (data[i] < ' ' && (data[i] < '\t' || data[i] > '\r')) {
            return false;
        }
    }
    return true;
}

dls_status dls_graphdef_parse(const char *name, const void *data, size_t size,
                              const dls_import_options *options, dls_opgraph **out,
                              dls_import_report *report, dls_error *err)
{
    static const dls_import_options none = {0};
    DLS_OWN(dls_imp_fini) imp_graph g = {.file = name, .options = options ? options : &none};
    DLS_OWN(dls_strdict_fini) dls_strdict names = {0};
    ProtobufCMessage *m = NULL;
    *out = NULL;
    DLS_TRY(is_text(data, size)
                ? dls_pb_parse_text(name, data, size, &dls__tf__graph_def__descriptor, &g.arena,
                                    &m, err)
                : dls_pb_unpack(name, data, size, &dls__tf__graph_def__descriptor, &g.arena, &m,
                                err));
    DLS_TRY(fill(&g, (const Dls__Tf__GraphDef *)m, &names, err));
    return dls_imp_finish(&g, out, report, err);
}
