/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shapes of which something may be unknown, and access to nodes.
 */
#include "workload/graph/import_impl.h"
#include "workload/graph/zoo_impl.h"

#include <string.h>

/* Sums over millions of operations stay far from overflow; no tensor is that large. */
#define LIMIT ((int64_t)1 << 42)

const imp_shape dls_imp_no_shape = {.rank = -1};
const imp_shape dls_imp_scalar = {.rank = 0};

imp_shape dls_imp_shape_of(int32_t rank, const int64_t *dim)
{
    imp_shape s = {.rank = rank >= 0 && rank <= IMP_RANK_MAX ? rank : -1};
    for (int32_t i = 0; i < s.rank; i++) {
        s.dim[i] = dim[i] >= 0 && dim[i] <= IMP_DIM_MAX ? dim[i] : -1;
    }
    return s;
}

int64_t dls_imp_mul(int64_t a, int64_t b)
{
    int64_t c;
    return __builtin_mul_overflow(a, b, &c) || c > LIMIT ? LIMIT : c;
}

int64_t dls_imp_add(int64_t a, int64_t b)
{
    return a > LIMIT - b ? LIMIT : a + b;
}

int64_t dls_imp_elements(const imp_shape *s)
{
    int64_t n = s->rank >= 0;
    for (int32_t i = 0; i < s->rank; i++) {
        n = dls_imp_mul(n, s->dim[i] >= 0 ? s->dim[i] : 1);
    }
    return n;
}

bool dls_imp_known(const imp_shape *s)
{
    bool known = s->rank >= 0;
    for (int32_t i = 0; i < s->rank; i++) {
        known &= s->dim[i] >= 0;
    }
    return known;
}

imp_shape dls_imp_broadcast(const imp_shape *a, const imp_shape *b)
{
    if (a->rank < 0 || b->rank < 0) {
        return dls_imp_no_shape;
    }
    const imp_shape *longer = a->rank >= b->rank ? a : b;
    const imp_shape *shorter = a->rank >= b->rank ? b : a;
    imp_shape s = *longer;
    const int32_t skip = longer->rank - shorter->rank;
    for (int32_t i = 0; i < shorter->rank; i++) {
        const int64_t x = longer->dim[skip + i];
        const int64_t y = shorter->dim[i];
        if (x == y || y == 1) {
            continue;
        }
        if (x == 1 || (x < 0 && y > 1)) {
            s.dim[skip + i] = y;
        } else if (x > 1 && y > 1) {
            return dls_imp_no_shape;
        }
    }
    return s;
}

imp_shape dls_imp_merge(const imp_shape *a, const imp_shape *b)
{
    if (a->rank < 0) {
        return *b;
    }
    imp_shape s = *a;
    for (int32_t i = 0; i < s.rank && b->rank == s.rank; i++) {
        s.dim[i] = s.dim[i] >= 0 ? s.dim[i] : b->dim[i];
    }
    return s;
}

int32_t dls_imp_axis(int64_t axis, int32_t rank)
{
    if (axis == IMP_UNKNOWN || rank < 0) {
        return -1;
    }
    const int64_t at = axis < 0 ? axis + rank : axis;
    return at >= 0 && at < rank ? (int32_t)at : -1;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

const imp_attr *dls_imp_attr_find(const imp_node *x, const char *name)
{
    for (int32_t i = 0; i < x->n_attrs; i++) {
        if (strcmp(x->attrs[i].name, name) == 0) {
            return &x->attrs[i];
        }
    }
    return NULL;
}

int64_t dls_imp_attr_i(const imp_node *x, const char *name, int64_t otherwise)
{
    const imp_attr *a = dls_imp_attr_find(x, name);
    return a ? a->i : otherwise;
}

const char *dls_imp_attr_s(const imp_node *x, const char *name, const char *otherwise)
{
    const imp_attr *a = dls_imp_attr_find(x, name);
    return a && a->s ? a->s : otherwise;
}

const imp_out *dls_imp_in(const imp_graph *g, const imp_node *x, int32_t i)
{
    static const imp_out none = {.shape = {.rank = -1}};
    if (i < 0 || i >= x->n_in || x->in[i].node < 0) {
        return &none;
    }
    const imp_node *from = &g->nodes[x->in[i].node];
    return x->in[i].port < from->n_out ? &from->out[x->in[i].port] : &none;
}

const int64_t *dls_imp_values(const imp_graph *g, const imp_node *x, int32_t i, int32_t *n)
{
    const imp_out *in = dls_imp_in(g, x, i);
    *n = in->value ? in->n_value : 0;
    return in->value;
}

int64_t dls_imp_scalar_value(const imp_graph *g, const imp_node *x, int32_t i, int64_t otherwise)
{
    const imp_out *in = dls_imp_in(g, x, i);
    return in->value && in->n_value == 1 ? in->value[0] : otherwise;
}

void *dls_imp_alloc(imp_graph *g, size_t bytes)
{
    void *p = dls_arena_alloc(&g->arena, bytes ? bytes : 1);
    g->nomem |= !p;
    return p;
}

imp_out *dls_imp_outs(imp_graph *g, imp_node *x, int32_t n)
{
    x->n_out = 0;
    x->out = dls_imp_alloc(g, (size_t)n * sizeof *x->out);
    if (!x->out) {
        return NULL;
    }
    const imp_out *first = dls_imp_in(g, x, 0);
    x->n_out = n;
    for (int32_t i = 0; i < n; i++) {
        x->out[i] =
            (imp_out){.shape = dls_imp_no_shape, .bytes = first->bytes, .real = first->real};
    }
    return x->out;
}

void dls_imp_out1(imp_graph *g, imp_node *x, const imp_shape *shape)
{
    imp_out *out = dls_imp_outs(g, x, 1);
    if (out) {
        out->shape = *shape;
    }
}

void dls_imp_set_values(imp_graph *g, imp_node *x, const int64_t *value, int32_t n, bool scalar)
{
    if (x->n_out < 1 || n > IMP_VALUES_MAX) {
        return;
    }
    int64_t *copy = dls_imp_alloc(g, (size_t)n * sizeof *copy);
    if (copy) {
        memcpy(copy, value, (size_t)n * sizeof *copy);
        x->out[0].value = copy;
        x->out[0].n_value = n;
        x->out[0].shape = scalar ? dls_imp_scalar : (imp_shape){.rank = 1, .dim = {n}};
    }
}

void dls_imp_set_type(imp_node *x, int64_t type)
{
    if (x->n_out > 0) {
        x->out[0].bytes = (int32_t)(type >> 1);
        x->out[0].real = type & 1;
    }
}

void dls_imp_set_type_as(imp_node *x, const imp_out *like)
{
    dls_imp_set_type(x, like->bytes << 1 | like->real);
}

void dls_imp_pass_values(imp_node *x, const imp_out *from)
{
    if (from->value && x->n_out == 1) {
        x->out->value = from->value;
        x->out->n_value = from->n_value;
    }
}

const imp_op *dls_imp_op_find(const imp_op *table, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (dls_spec_has(table[i].names, name)) {
            return &table[i];
        }
    }
    return NULL;
}
