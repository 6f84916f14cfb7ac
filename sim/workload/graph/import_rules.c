/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rules that need nothing but the inputs: the same for TensorFlow and ONNX. Small tensors of
 * integers are followed by value, because shapes are computed with them.
 */
#include "workload/graph/import_impl.h"

#include <string.h>

void dls_imp_rule_same(imp_graph *g, imp_node *x)
{
    imp_out *out = dls_imp_outs(g, x, 1);
    if (out) {
        *out = *dls_imp_in(g, x, 0);
    }
}

void dls_imp_rule_unary(imp_graph *g, imp_node *x)
{
    dls_imp_out1(g, x, &dls_imp_in(g, x, 0)->shape);
}

void dls_imp_rule_same1(imp_graph *g, imp_node *x)
{
    imp_out *out = dls_imp_outs(g, x, 1);
    if (out) {
        *out = *dls_imp_in(g, x, 1);
    }
}

void dls_imp_rule_either(imp_graph *g, imp_node *x)
{
    const imp_shape s = dls_imp_merge(&dls_imp_in(g, x, 0)->shape, &dls_imp_in(g, x, 1)->shape);
    dls_imp_out1(g, x, &s);
}

void dls_imp_rule_none(imp_graph *g, imp_node *x)
{
    (void)dls_imp_outs(g, x, 0);
}

void dls_imp_rule_scalar(imp_graph *g, imp_node *x)
{
    dls_imp_out1(g, x, &dls_imp_scalar);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static int64_t floor_div(int64_t a, int64_t b)
{
    const int64_t q = a / b;
    return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

static int64_t fold2(int32_t kind, int64_t a, int64_t b)
{
    int64_t c = IMP_UNKNOWN;
    if (a == IMP_UNKNOWN || b == IMP_UNKNOWN) {
        return IMP_UNKNOWN;
    }
    switch (kind) {
    case DLS_OP_ADD:
        return __builtin_add_overflow(a, b, &c) ? IMP_UNKNOWN : c;
    case DLS_OP_SUB:
        return __builtin_sub_overflow(a, b, &c) ? IMP_UNKNOWN : c;
    case DLS_OP_MUL:
        return __builtin_mul_overflow(a, b, &c) ? IMP_UNKNOWN : c;
    case DLS_OP_FLOOR_DIV:
    case DLS_OP_REAL_DIV: /* of integers in ONNX: dimensions, which are not negative */
        return b == 0 || b == -1 ? (b ? -a : IMP_UNKNOWN) : floor_div(a, b);
    case DLS_OP_FLOOR_MOD:
        return b == 0 || b == -1 ? (b ? 0 : IMP_UNKNOWN) : a - b * floor_div(a, b);
    case DLS_OP_MAXIMUM:
        return a > b ? a : b;
    case DLS_OP_MINIMUM:
        return a < b ? a : b;
    case DLS_OP_EQUAL:
        return a == b;
    default:
        return IMP_UNKNOWN;
    }
}

static int64_t element(const imp_out *t, int32_t i)
{
    return t->value[t->n_value == 1 ? 0 : i];
}

void dls_imp_fold(imp_graph *g, imp_node *x)
{
    const imp_out *in[3];
    const int32_t operands = x->kind == DLS_OP_SELECT ? 3 : 2;
    int32_t n = 0;
    bool sure = x->n_in >= operands && x->n_out == 1 && !x->out->real &&
                x->out->shape.rank <= 1; /* matrices keep their shape */
    for (int32_t k = 0; k < operands && sure; k++) {
        in[k] = dls_imp_in(g, x, k);
        n = in[k]->n_value > n ? in[k]->n_value : n;
        sure = in[k]->value;
    }
    for (int32_t k = 0; k < operands && sure; k++) {
        sure = in[k]->n_value == n || in[k]->n_value == 1;
    }
    if (!sure || n < 1) {
        return;
    }
    int64_t value[IMP_VALUES_MAX];
    for (int32_t i = 0; i < n; i++) {
        const int64_t first = element(in[0], i);
        const bool second = x->kind == DLS_OP_SELECT && first == 0;
        value[i] = x->kind != DLS_OP_SELECT ? fold2(x->kind, first, element(in[1], i))
                   : first == IMP_UNKNOWN   ? IMP_UNKNOWN
                                            : element(in[second ? 2 : 1], i);
    }
    dls_imp_set_values(g, x, value, n, x->out->shape.rank == 0);
}

void dls_imp_rule_broadcast(imp_graph *g, imp_node *x)
{
    imp_shape s = dls_imp_in(g, x, 0)->shape;
    for (int32_t i = 1; i < x->n_in; i++) {
        s = dls_imp_broadcast(&s, &dls_imp_in(g, x, i)->shape);
    }
    dls_imp_out1(g, x, &s);
    if (x->n_in == 2) {
        dls_imp_fold(g, x);
    }
}

void dls_imp_rule_compare(imp_graph *g, imp_node *x)
{
    const imp_shape s = dls_imp_broadcast(&dls_imp_in(g, x, 0)->shape, &dls_imp_in(g, x, 1)->shape);
    dls_imp_out1(g, x, &s);
    dls_imp_set_type(x, 1 << 1);
    if (strcmp(x->op, "Equal") == 0) { /* others of its kind and of Less are their contrary */
        dls_imp_fold(g, x);
    }
}

/* ---- about tensors --------------------------------------------------------------------------- */

static void shape_values(imp_graph *g, imp_node *x, imp_out *out, const imp_shape *s)
{
    out->bytes = dls_imp_attr_i(x, "out_type", 4 << 1) >> 1 == 8 ? 8 : 4;
    out->real = false;
    out->shape = (imp_shape){.rank = 1, .dim = {s->rank}};
    if (s->rank < 0) {
        return;
    }
    int64_t *value = dls_imp_alloc(g, (size_t)s->rank * sizeof *value);
    for (int32_t i = 0; value && i < s->rank; i++) {
        value[i] = s->dim[i] >= 0 ? s->dim[i] : IMP_UNKNOWN;
    }
    out->value = value;
    out->n_value = value ? s->rank : 0;
}

void dls_imp_rule_tile(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *times = dls_imp_values(g, x, 1, &n);
    imp_shape s = dls_imp_in(g, x, 0)->shape;
    for (int32_t i = 0; i < s.rank; i++) {
        const bool sure = times && n == s.rank && times[i] >= 0 && s.dim[i] >= 0;
        s.dim[i] = sure ? dls_imp_mul(s.dim[i], times[i]) : -1;
    }
    s = dls_imp_shape_of(s.rank, s.dim);
    dls_imp_out1(g, x, &s);
}

/* Shape and ShapeN */
void dls_imp_rule_shape(imp_graph *g, imp_node *x)
{
    const int32_t n = x->n_in > 0 ? x->n_in : 1;
    imp_out *out = dls_imp_outs(g, x, n);
    for (int32_t i = 0; out && i < n; i++) {
        const imp_out *in = dls_imp_in(g, x, i);
        shape_values(g, x, &out[i], in->inner ? in->inner : &in->shape);
    }
}

/* Size and Rank */
void dls_imp_rule_size(imp_graph *g, imp_node *x)
{
    const imp_shape s = dls_imp_in(g, x, 0)->shape;
    const bool rank = x->kind == DLS_OP_RANK;
    dls_imp_out1(g, x, &dls_imp_scalar);
    dls_imp_set_type(x, 4 << 1);
    if (rank ? s.rank >= 0 : dls_imp_known(&s)) {
        const int64_t value = rank ? s.rank : dls_imp_elements(&s);
        dls_imp_set_values(g, x, &value, 1, true);
    }
}

/* ---- where tensors come from ----------------------------------------------------------------- */

void dls_imp_rule_const(imp_graph *g, imp_node *x)
{
    const imp_attr *value = dls_imp_attr_find(x, "value");
    imp_out *out = dls_imp_outs(g, x, 1);
    if (out && value && value->tensor) {
        *out = *value->tensor;
    }
}

/* The first dimension is the batch, others that are unknown are the sequence. */
static void fill_input(imp_graph *g, imp_shape *s)
{
    g->batch_open |= s->rank > 0 && s->dim[0] < 0;
    for (int32_t i = 0; i < s->rank; i++) {
        const int32_t known = i == 0 ? g->options->batch : g->options->sequence;
        if (s->dim[i] < 0 && known > 0) {
            s->dim[i] = known;
        }
    }
}

/* Placeholder: "shape" and "dtype". Iterators: "output_shapes" and "output_types". */
void dls_imp_rule_input(imp_graph *g, imp_node *x)
{
    const imp_attr *shape = dls_imp_attr_find(x, "shape");
    const imp_attr *shapes = dls_imp_attr_find(x, "output_shapes");
    const imp_attr *types = dls_imp_attr_find(x, "output_types");
    if (!types) {
        types = dls_imp_attr_find(x, "component_types");
    }
    shapes = shapes ? shapes : shape;
    const int32_t n = types && types->n_types > 0 ? types->n_types : 1;
    imp_out *out = dls_imp_outs(g, x, n);
    for (int32_t i = 0; out && i < n; i++) {
        const int64_t type =
            types && types->n_types > 0 ? types->types[i] : dls_imp_attr_i(x, "dtype", 4 << 1 | 1);
        out[i].bytes = (int32_t)(type >> 1);
        out[i].real = type & 1;
        if (shapes && i < shapes->n_shapes) {
            out[i].shape = shapes->shapes[i];
            fill_input(g, &out[i].shape);
        }
    }
}

/* A variable, or the handle of one. */
void dls_imp_rule_variable(imp_graph *g, imp_node *x)
{
    const imp_attr *shape = dls_imp_attr_find(x, "shape");
    const imp_shape *s = shape && shape->n_shapes == 1 ? &shape->shapes[0] : &dls_imp_no_shape;
    const int64_t type = dls_imp_attr_i(x, "dtype", 4 << 1 | 1);
    if (strcmp(x->op, "VarHandleOp") != 0) {
        dls_imp_out1(g, x, s);
        dls_imp_set_type(x, type);
        return;
    }
    imp_shape *inner = dls_imp_alloc(g, sizeof *inner);
    dls_imp_out1(g, x, &dls_imp_scalar);
    if (x->n_out == 1 && inner) {
        *inner = *s;
        x->out->bytes = 0;
        x->out->real = type & 1;
        x->out->inner = inner;
    }
}
