/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shapes of outputs from shapes of inputs, as far as TensorFlow and ONNX agree. Whatever does not
 * fit together gives an unknown shape: a reader of shapes has no business to refuse a graph.
 */
#include "workload/graph/import_impl.h"

#include <string.h>

/* ---- windows --------------------------------------------------------------------------------- */

static int64_t windowed(int64_t in, const imp_window *w, int i)
{
    const int64_t stride = w->stride[i] > 0 ? w->stride[i] : 1;
    if (in < 0 || w->kernel[i] < 1 || w->kernel[i] > IMP_DIM_MAX || w->dilation[i] < 1 ||
        w->dilation[i] > IMP_DIM_MAX) {
        return -1;
    }
    if (w->same) {
        return in / stride + (in % stride != 0);
    }
    const int64_t reach = dls_imp_add(dls_imp_mul(w->kernel[i] - 1, w->dilation[i]), 1);
    const int64_t padded = in + w->pad[i][0] + w->pad[i][1];
    if (padded < reach) {
        return -1;
    }
    const int64_t room = padded - reach;
    int64_t out = room / stride + 1;
    /* A window that sticks out starts inside of the image or its left padding. */
    out += w->ceil && room % stride != 0 && out * stride < in + w->pad[i][0];
    return out;
}

imp_shape dls_imp_windowed(const imp_shape *in, const imp_window *w, int64_t channels)
{
    if (in->rank != 4) {
        return dls_imp_no_shape;
    }
    const int32_t at = w->channels_first ? 2 : 1;
    imp_shape s = {.rank = 4};
    s.dim[0] = in->dim[0];
    s.dim[at] = windowed(in->dim[at], w, 0);
    s.dim[at + 1] = windowed(in->dim[at + 1], w, 1);
    s.dim[w->channels_first ? 1 : 3] = channels;
    return s;
}

int64_t dls_imp_channels(const imp_window *w, const imp_shape *image)
{
    return image->rank == 4 ? image->dim[w->channels_first ? 1 : 3] : -1;
}

imp_shape dls_imp_pooled(imp_node *x, const imp_shape *in, const imp_window *w)
{
    x->dims.kernel_h = (int32_t)(w->kernel[0] < INT32_MAX ? w->kernel[0] : INT32_MAX);
    x->dims.kernel_w = (int32_t)(w->kernel[1] < INT32_MAX ? w->kernel[1] : INT32_MAX);
    return dls_imp_windowed(in, w, dls_imp_channels(w, in));
}

static int64_t known(int64_t dim)
{
    return dim > 0 ? dim : 1;
}

static int32_t narrow(int64_t dim)
{
    return dim < 1 ? 1 : dim > INT32_MAX ? INT32_MAX : (int32_t)dim;
}

void dls_imp_conv_dims(imp_node *x, const imp_shape *in, const imp_shape *out, const imp_window *w,
                       int64_t groups)
{
    if (in->rank != 4 || out->rank != 4) {
        return;
    }
    const int32_t at = w->channels_first ? 2 : 1;
    const int32_t c = w->channels_first ? 1 : 3;
    dls_op_dims *d = &x->dims;
    *d = (dls_op_dims){.batch = known(in->dim[0]),
                       .in_h = narrow(in->dim[at]),
                       .in_w = narrow(in->dim[at + 1]),
                       .in_c = narrow(in->dim[c]),
                       .out_h = narrow(out->dim[at]),
                       .out_w = narrow(out->dim[at + 1]),
                       .out_c = narrow(out->dim[c]),
                       .kernel_h = narrow(w->kernel[0]),
                       .kernel_w = narrow(w->kernel[1]),
                       .stride_h = narrow(w->stride[0]),
                       .stride_w = narrow(w->stride[1]),
                       .groups = narrow(groups)};
    d->m = dls_imp_mul(d->batch, dls_imp_mul(d->out_h, d->out_w));
    d->n = known(d->out_c / d->groups);
    d->k = dls_imp_mul(known(d->in_c / d->groups), dls_imp_mul(d->kernel_h, d->kernel_w));
}

/* ---- products and sums ----------------------------------------------------------------------- */

imp_shape dls_imp_matmul(imp_node *x, const imp_shape *a, const imp_shape *b, bool ta, bool tb)
{
    if (a->rank < 1 || b->rank < 1) {
        return dls_imp_no_shape;
    }
    /* A vector is a row on the left and a column on the right, and goes again. */
    imp_shape p = *a;
    imp_shape q = *b;
    if (a->rank == 1) {
        p = (imp_shape){.rank = 2, .dim = {1, a->dim[0]}};
    }
    if (b->rank == 1) {
        q = (imp_shape){.rank = 2, .dim = {b->dim[0], 1}};
    }
    const int64_t m = p.dim[p.rank - (ta ? 1 : 2)];
    const int64_t k = p.dim[p.rank - (ta ? 2 : 1)];
    const int64_t n = q.dim[q.rank - (tb ? 2 : 1)];
    const int64_t k_too = q.dim[q.rank - (tb ? 1 : 2)];
    if (k >= 0 && k_too >= 0 && k != k_too) {
        return dls_imp_no_shape;
    }
    p.rank -= 2;
    q.rank -= 2;
    imp_shape s = dls_imp_broadcast(&p, &q);
    if (s.rank < 0) {
        return dls_imp_no_shape;
    }
    const int64_t batch = dls_imp_elements(&s);
    const bool shared =
        dls_imp_elements(&q) == 1; /* one matrix for all: a single, taller product */
    const int64_t rows = known(m);
    x->dims = (dls_op_dims){.batch = shared ? 1 : known(batch),
                            .m = shared ? dls_imp_mul(rows, known(batch)) : rows,
                            .n = known(n),
                            .k = known(k >= 0 ? k : k_too)};
    if (a->rank > 1) {
        s.dim[s.rank++] = m;
    }
    if (b->rank > 1) {
        s.dim[s.rank++] = n;
    }
    return s;
}

imp_shape dls_imp_reduced(const imp_shape *in, const int64_t *axes, int32_t n_axes, bool keep)
{
    bool gone[IMP_RANK_MAX] = {false};
    for (int32_t i = 0; i < n_axes; i++) {
        const int32_t axis = dls_imp_axis(axes[i], in->rank);
        if (axis < 0) {
            return dls_imp_no_shape;
        }
        gone[axis] = true;
    }
    imp_shape s = {.rank = in->rank < 0 ? -1 : 0};
    for (int32_t i = 0; i < in->rank; i++) {
        if (!gone[i] || keep) {
            s.dim[s.rank++] = gone[i] ? 1 : in->dim[i];
        }
    }
    return s;
}

/* ---- moving ---------------------------------------------------------------------------------- */

void dls_imp_concat(imp_graph *g, imp_node *x, int32_t first, int32_t n, int64_t axis)
{
    imp_shape s = dls_imp_in(g, x, first)->shape;
    const int32_t at = dls_imp_axis(axis, s.rank);
    int64_t values[IMP_VALUES_MAX];
    int32_t n_values = 0;
    for (int32_t i = 0; i < n; i++) {
        const imp_out *part = dls_imp_in(g, x, first + i);
        if (at < 0 || part->shape.rank != s.rank) {
            dls_imp_out1(g, x, &dls_imp_no_shape);
            return;
        }
        const int64_t a = s.dim[at];
        const int64_t b = part->shape.dim[at];
        s = dls_imp_merge(&s, &part->shape);
        s.dim[at] = i == 0 ? b : a < 0 || b < 0 ? -1 : dls_imp_add(a, b);
        if (n_values >= 0 && part->value && n_values + part->n_value <= IMP_VALUES_MAX) {
            memcpy(values + n_values, part->value, (size_t)part->n_value * sizeof *values);
            n_values += part->n_value;
        } else {
            n_values = -1;
        }
    }
    dls_imp_out1(g, x, &s);
    dls_imp_set_type_as(
        x, dls_imp_in(g, x, first)); /* the type of a part, not that of an axis in front */
    if (n_values > 0 && s.rank == 1) {
        dls_imp_set_values(g, x, values, n_values, false);
    }
}

void dls_imp_split(imp_graph *g, imp_node *x, int32_t of, int64_t axis, const int64_t *sizes,
                   int32_t n)
{
    const imp_out *in = dls_imp_in(g, x, of);
    imp_shape s = in->shape;
    const int32_t at = dls_imp_axis(axis, s.rank);
    imp_out *out = dls_imp_outs(g, x, n);
    for (int32_t i = 0; out && i < n; i++) {
        out[i].bytes = in->bytes;
        out[i].real = in->real;
        if (at >= 0) {
            const int64_t whole = in->shape.dim[at];
            const int64_t part = whole / n + (whole % n != 0); /* the last ones get what is left */
            const int64_t left = whole > i * part ? whole - i * part : 0;
            s.dim[at] = sizes ? sizes[i] : whole < 0 ? -1 : left < part ? left : part;
            out[i].shape = dls_imp_shape_of(s.rank, s.dim);
        }
    }
}

void dls_imp_reshape(imp_graph *g, imp_node *x, const int64_t *to, int32_t n, bool zero_copies)
{
    const imp_out *in = dls_imp_in(g, x, 0);
    const imp_shape given = dls_imp_in(g, x, 1)->shape;
    n = to ? n : given.rank == 1 && given.dim[0] <= IMP_RANK_MAX ? (int32_t)given.dim[0] : -1;
    if (n < 0 || n > IMP_RANK_MAX) {
        dls_imp_out1(g, x, &dls_imp_no_shape);
        return;
    }
    imp_shape s = {.rank = n};
    int32_t infer = -1;
    int32_t n_open = 0;
    int64_t product = 1;
    for (int32_t i = 0; i < n; i++) {
        int64_t dim = to ? to[i] : IMP_UNKNOWN;
        if (dim == 0 && zero_copies) {
            dim = i < in->shape.rank && in->shape.dim[i] >= 0 ? in->shape.dim[i] : IMP_UNKNOWN;
        }
        if (dim == -1) {
            infer = i;
        }
        n_open += dim < 0;
        s.dim[i] = dim >= 0 && dim <= IMP_DIM_MAX ? dim : -1;
        product = dim >= 0 ? dls_imp_mul(product, dim) : product;
    }
    if (n_open == 1 && infer < 0) { /* one that is not known can be told as well as a -1 */
        for (int32_t i = 0; i < n; i++) {
            infer = s.dim[i] < 0 ? i : infer;
        }
    }
    if (infer >= 0 && n_open == 1 && product > 0 && dls_imp_known(&in->shape)) {
        s.dim[infer] = dls_imp_elements(&in->shape) / product;
    }
    dls_imp_out1(g, x, &s);
    dls_imp_pass_values(x, in);
}

void dls_imp_cast(imp_graph *g, imp_node *x, int64_t type)
{
    const imp_out *in = dls_imp_in(g, x, 0);
    dls_imp_out1(g, x, &in->shape);
    dls_imp_set_type(x, type);
    dls_imp_pass_values(x, in); /* only integers are followed: floating point keeps them */
}

void dls_imp_transpose(imp_graph *g, imp_node *x, const int64_t *perm, int32_t n)
{
    const imp_shape in = dls_imp_in(g, x, 0)->shape;
    imp_shape s = in;
    for (int32_t i = 0; i < in.rank; i++) {
        const int32_t from = !perm ? -1 : n == in.rank ? dls_imp_axis(perm[i], in.rank) : -1;
        s.dim[i] = from >= 0 ? in.dim[from] : -1;
    }
    dls_imp_out1(g, x, &s);
}

void dls_imp_gather(imp_graph *g, imp_node *x, int64_t axis, int64_t batch_dims)
{
    const imp_out *table = dls_imp_in(g, x, 0);
    const imp_shape from = table->inner ? *table->inner : table->shape;
    const imp_shape ids = dls_imp_in(g, x, 1)->shape;
    const int32_t at = dls_imp_axis(axis, from.rank);
    const int32_t skip = (int32_t)(batch_dims > 0 && batch_dims <= ids.rank ? batch_dims : 0);
    imp_shape s = dls_imp_no_shape;
    if (at >= 0 && ids.rank >= 0 && from.rank - 1 + ids.rank - skip <= IMP_RANK_MAX) {
        s.rank = 0;
        for (int32_t i = 0; i < at; i++) {
            s.dim[s.rank++] = from.dim[i];
        }
        for (int32_t i = skip; i < ids.rank; i++) {
            s.dim[s.rank++] = ids.dim[i];
        }
        for (int32_t i = at + 1; i < from.rank; i++) {
            s.dim[s.rank++] = from.dim[i];
        }
    }
    int32_t n = 0;
    int32_t n_ids = 0;
    const int64_t *values = dls_imp_values(g, x, 0, &n);
    const int64_t *which = dls_imp_values(g, x, 1, &n_ids);
    dls_imp_out1(g, x, &s);
    if (table->inner && x->n_out == 1) {
        x->out->bytes = 4;
        x->out->real = true;
    }
    if (values && which && from.rank == 1 && ids.rank <= 1 && n_ids <= IMP_VALUES_MAX) {
        int64_t picked[IMP_VALUES_MAX];
        for (int32_t i = 0; i < n_ids; i++) {
            const int32_t k = dls_imp_axis(which[i], n);
            picked[i] = k >= 0 ? values[k] : IMP_UNKNOWN;
        }
        dls_imp_set_values(g, x, picked, n_ids, ids.rank == 0);
    }
}

void dls_imp_squeeze(imp_graph *g, imp_node *x, const int64_t *axes, int32_t n, bool all)
{
    const imp_out *in = dls_imp_in(g, x, 0);
    bool gone[IMP_RANK_MAX] = {false};
    bool sound = in->shape.rank >= 0;
    for (int32_t i = 0; i < in->shape.rank; i++) {
        gone[i] = all && in->shape.dim[i] == 1;
        sound &= !all || in->shape.dim[i] >= 0;
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t axis = dls_imp_axis(axes[i], in->shape.rank);
        sound &= axis >= 0;
        gone[axis < 0 ? 0 : axis] = true;
    }
    imp_shape s = {.rank = 0};
    for (int32_t i = 0; i < in->shape.rank; i++) {
        if (!gone[i]) {
            s.dim[s.rank++] = in->shape.dim[i];
        }
    }
    dls_imp_out1(g, x, sound ? &s : &dls_imp_no_shape);
    dls_imp_pass_values(x, in);
}

void dls_imp_unsqueeze(imp_graph *g, imp_node *x, const int64_t *axes, int32_t n)
{
    const imp_out *in = dls_imp_in(g, x, 0);
    const int32_t rank = in->shape.rank + n;
    bool added[IMP_RANK_MAX] = {false};
    bool sound = in->shape.rank >= 0 && n >= 0 && rank <= IMP_RANK_MAX;
    for (int32_t i = 0; i < n && sound; i++) {
        const int32_t axis = dls_imp_axis(axes[i], rank);
        sound = axis >= 0 && !added[axis];
        added[axis < 0 ? 0 : axis] = true;
    }
    imp_shape s = {.rank = sound ? rank : -1};
    for (int32_t i = 0, from = 0; i < s.rank; i++) {
        s.dim[i] = added[i] ? 1 : in->shape.dim[from++];
    }
    dls_imp_out1(g, x, &s);
    dls_imp_pass_values(x, in);
}

/* From begin to end by step along one axis, as a slice of Python: ends beyond the axis are cut. */
static int64_t slice_length(int64_t dim, int64_t begin, int64_t end, int64_t step)
{
    if (dim < 0 || step == 0 || step == INT64_MIN) {
        return -1;
    }
    begin = begin < 0 ? begin + dim : begin;
    end = end < 0 ? end + dim : end;
    const int64_t low = step > 0 ? 0 : -1;
    const int64_t high = step > 0 ? dim : dim - 1;
    begin = begin < low ? low : begin > high ? high : begin;
    end = end < low ? low : end > high ? high : end;
    const int64_t length = step > 0 ? end - begin : begin - end;
    const int64_t pace = step > 0 ? step : -step;
    return length > 0 ? (length - 1) / pace + 1 : 0;
}

void dls_imp_slice(imp_graph *g, imp_node *x, int32_t axis, int64_t begin, int64_t end,
                   int64_t step)
{
    const imp_out *in = dls_imp_in(g, x, 0);
    imp_shape s = in->shape;
    const bool sure = begin != IMP_UNKNOWN && end != IMP_UNKNOWN && step != IMP_UNKNOWN;
    s.dim[axis] = sure ? slice_length(in->shape.dim[axis], begin, end, step) : -1;
    dls_imp_out1(g, x, &s);
    if (in->value && sure && in->shape.rank == 1 && s.dim[0] >= 0 && s.dim[0] <= in->n_value) {
        int64_t picked[IMP_VALUES_MAX];
        int64_t first = begin < 0 ? begin + in->n_value : begin;
        first = first < 0 ? 0 : first >= in->n_value ? in->n_value - 1 : first;
        for (int64_t i = 0; i < s.dim[0]; i++) {
            const int64_t at = first + i * step;
            picked[i] = at >= 0 && at < in->n_value ? in->value[at] : IMP_UNKNOWN;
        }
        dls_imp_set_values(g, x, picked, (int32_t)s.dim[0], false);
    }
}
