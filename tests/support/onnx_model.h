/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ONNX models that tests make node by node and pack:
 *
 *      Dls__Onnx__ModelProto *m = new_model();
 *      INPUT(m, "x", 0, 16);
 *      WEIGHT(m, "w", 16, 10);
 *      op(m, "MatMul", "x w", "y");
 *      dls_opgraph *g = graph(m, NULL, NULL); // frees the model
 *
 * A dimension of 0 is not known; "-" is an operand that is left out.
 */
#ifndef DLS_TESTS_ONNX_MODEL_H
#define DLS_TESTS_ONNX_MODEL_H

#include "onnx.pb-c.h"
#include "support/must.h"
#include "workload/graph/onnx.h"

#include <stdlib.h>
#include <string.h>

enum { FLOAT = 1, INT64 = 7 };

static Dls__Onnx__ModelProto *new_model(void)
{
    Dls__Onnx__ModelProto *m = calloc(1, sizeof *m);
    dls__onnx__model_proto__init(m);
    m->has_ir_version = 1;
    m->ir_version = 8;
    m->graph = calloc(1, sizeof *m->graph);
    dls__onnx__graph_proto__init(m->graph);
    return m;
}

static void *append(void *array, size_t *n, void *what)
{
    void **list = realloc(array, (*n + 1) * sizeof *list);
    assert_non_null(list);
    list[(*n)++] = what;
    return list;
}

static char *copy(const char *text, size_t n)
{
    char *p = calloc(n + 1, 1);
    assert_non_null(p);
    memcpy(p, text, n);
    return p;
}

static char *word(const char *text)
{
    return copy(text, strlen(text));
}

/* Names between blanks. "-" is left out. */
static char **words(const char *text, size_t *n)
{
    char **list = NULL;
    *n = 0;
    while (*text) {
        const size_t len = strcspn(text, " ");
        const int none = len == 1 && *text == '-';
        list = append(list, n, copy(text, none ? 0 : len));
        text += len + (text[len] == ' ');
    }
    return list;
}

static Dls__Onnx__NodeProto *op(Dls__Onnx__ModelProto *m, const char *type, const char *in,
                                const char *out)
{
    Dls__Onnx__NodeProto *n = calloc(1, sizeof *n);
    dls__onnx__node_proto__init(n);
    n->op_type = word(type);
    n->name = copy(out, strcspn(out, " "));
    n->input = words(in, &n->n_input);
    n->output = words(out, &n->n_output);
    m->graph->node = append(m->graph->node, &m->graph->n_node, n);
    return n;
}

static void ints(Dls__Onnx__NodeProto *node, const char *name, size_t n, const int64_t *value)
{
    Dls__Onnx__AttributeProto *a = calloc(1, sizeof *a);
    dls__onnx__attribute_proto__init(a);
    a->name = word(name);
    a->n_ints = n;
    a->ints = malloc(n * sizeof *value);
    memcpy(a->ints, value, n * sizeof *value);
    a->has_i = 1;
    a->i = n == 1 ? value[0] : 0;
    node->attribute = append(node->attribute, &node->n_attribute, a);
}

#define INTS(node, name, ...)                                                                      \
    ints(node, name, sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})

static void input(Dls__Onnx__ModelProto *m, const char *name, size_t rank, const int64_t *dims)
{
    Dls__Onnx__ValueInfoProto *v = calloc(1, sizeof *v);
    dls__onnx__value_info_proto__init(v);
    v->name = word(name);
    v->type = calloc(1, sizeof *v->type);
    dls__onnx__type_proto__init(v->type);
    Dls__Onnx__TensorTypeProto *t = v->type->tensor_type = calloc(1, sizeof *t);
    dls__onnx__tensor_type_proto__init(t);
    t->has_elem_type = 1;
    t->elem_type = FLOAT;
    t->shape = calloc(1, sizeof *t->shape);
    dls__onnx__tensor_shape_proto__init(t->shape);
    for (size_t i = 0; i < rank; i++) {
        Dls__Onnx__Dimension *d = calloc(1, sizeof *d);
        dls__onnx__dimension__init(d);
        d->has_dim_value = dims[i] > 0;
        d->dim_value = dims[i];
        t->shape->dim = append(t->shape->dim, &t->shape->n_dim, d);
    }
    m->graph->input = append(m->graph->input, &m->graph->n_input, v);
}

#define INPUT(m, name, ...)                                                                        \
    input(m, name, sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})

static void tensor(Dls__Onnx__ModelProto *m, const char *name, int type, size_t rank,
                   const int64_t *dims, const int64_t *value, size_t n)
{
    Dls__Onnx__TensorProto *t = calloc(1, sizeof *t);
    dls__onnx__tensor_proto__init(t);
    t->name = word(name);
    t->has_data_type = 1;
    t->data_type = type;
    t->n_dims = rank;
    t->dims = malloc((rank + 1) * sizeof *dims);
    memcpy(t->dims, dims, rank * sizeof *dims);
    t->n_int64_data = n;
    t->int64_data = malloc((n + 1) * sizeof *value);
    memcpy(t->int64_data, value ? value : dims, n * sizeof *value);
    m->graph->initializer = append(m->graph->initializer, &m->graph->n_initializer, t);
}

#define WEIGHT(m, name, ...)                                                                       \
    tensor(m, name, FLOAT, sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__}, NULL, 0)
#define VALUES(m, name, ...)                                                                       \
    tensor(m, name, INT64, 1, (int64_t[]){sizeof((int64_t[]){__VA_ARGS__}) / 8},                   \
           (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / 8)

/* Frees the model. */
static dls_status parse(Dls__Onnx__ModelProto *m, const dls_import_options *options,
                        dls_opgraph **g, dls_import_report *report, dls_error *err)
{
    const size_t size = dls__onnx__model_proto__get_packed_size(m);
    uint8_t *data = malloc(size);
    assert_int_equal(dls__onnx__model_proto__pack(m, data), size);
    dls__onnx__model_proto__free_unpacked(m, NULL);
    const dls_status status = dls_onnx_parse("model.onnx", data, size, options, g, report, err);
    free(data);
    return status;
}

static dls_opgraph *graph(Dls__Onnx__ModelProto *m, const dls_import_options *options,
                          dls_import_report *report)
{
    dls_opgraph *g = NULL;
    MUST(parse(m, options, &g, report, &e));
    return g;
}

static const dls_op_node *at(const dls_opgraph *g, const char *name, const char *is)
{
    const int32_t i = dls_strdict_find(&g->names, name, strlen(name));
    if (i < 0) {
        fail_msg("no node %s", name);
    }
    assert_string_equal(dls_opgraph_op(g, i), is);
    return &g->nodes[i];
}

#endif
