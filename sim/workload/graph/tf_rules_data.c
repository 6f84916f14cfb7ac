/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shapes of TensorFlow's operations that move data, compute with shapes, or steer.
 */
#include "workload/graph/tf_rules.h"

#include <string.h>

/* ---- joining and cutting --------------------------------------------------------------------- */

void dls_tf_rule_concat(imp_graph *g, imp_node *x)
{
    dls_imp_concat(g, x, 1, x->n_in - 1, dls_imp_scalar_value(g, x, 0, IMP_UNKNOWN));
}

void dls_tf_rule_concat_v2(imp_graph *g, imp_node *x)
{
    dls_imp_concat(g, x, 0, x->n_in - 1, dls_imp_scalar_value(g, x, x->n_in - 1, IMP_UNKNOWN));
}

/* Outputs of a split: what a file asks for is bounded, since they are allocated. */
static int32_t parts(int64_t n)
{
    return n < 1 ? 1 : n > 1 << 16 ? 1 << 16 : (int32_t)n;
}

void dls_tf_rule_split(imp_graph *g, imp_node *x)
{
    dls_imp_split(g, x, 1, dls_imp_scalar_value(g, x, 0, IMP_UNKNOWN), NULL,
                  parts(dls_imp_attr_i(x, "num_split", 1)));
}

void dls_tf_rule_split_v(imp_graph *g, imp_node *x)
{
    int32_t n_sizes = 0;
    const int64_t *sizes = dls_imp_values(g, x, 1, &n_sizes);
    const int32_t n = parts(dls_imp_attr_i(x, "num_split", 1));
    const imp_shape in = dls_imp_in(g, x, 0)->shape;
    const int64_t axis = dls_imp_scalar_value(g, x, 2, IMP_UNKNOWN);
    const int32_t at = dls_imp_axis(axis, in.rank);
    int64_t left = at >= 0 ? in.dim[at] : -1; /* for the one of size -1 */
    int32_t rest = -1;
    int64_t size[IMP_VALUES_MAX];
    for (int32_t i = 0; i < n && i < IMP_VALUES_MAX; i++) {
        size[i] = sizes && i < n_sizes ? sizes[i] : IMP_UNKNOWN;
        rest = size[i] == -1 ? i : rest;
        left = size[i] >= 0 && size[i] <= left ? left - size[i] : size[i] == -1 ? left : -1;
    }
    if (rest >= 0) {
        size[rest] = left;
    }
    dls_imp_split(g, x, 0, axis, size, n < IMP_VALUES_MAX ? n : IMP_VALUES_MAX);
}

void dls_tf_rule_pack(imp_graph *g, imp_node *x)
{
    imp_shape in = dls_imp_in(g, x, 0)->shape;
    int64_t value[IMP_VALUES_MAX];
    bool whole = x->n_in <= IMP_VALUES_MAX;
    bool any = false;
    for (int32_t i = 0; i < x->n_in; i++) {
        const imp_out *part = dls_imp_in(g, x, i);
        in = dls_imp_merge(&in, &part->shape);
        if (whole) {
            value[i] = part->value && part->n_value == 1 ? part->value[0] : IMP_UNKNOWN;
            any |= value[i] != IMP_UNKNOWN;
        }
    }
    const int32_t axis = dls_imp_axis(dls_imp_attr_i(x, "axis", 0), in.rank + 1);
    imp_shape s = dls_imp_no_shape;
    if (in.rank >= 0 && in.rank < IMP_RANK_MAX && axis >= 0) {
        s.rank = in.rank + 1;
        for (int32_t i = 0, from = 0; i < s.rank; i++) {
            s.dim[i] = i == axis ? x->n_in : in.dim[from++];
        }
    }
    dls_imp_out1(g, x, &s);
    if (whole && any && in.rank == 0 && x->n_out == 1 && !x->out->real) {
        dls_imp_set_values(g, x, value, x->n_in, false);
    }
}

void dls_tf_rule_unpack(imp_graph *g, imp_node *x)
{
    const int64_t axis = dls_imp_attr_i(x, "axis", 0);
    const imp_shape s = dls_imp_reduced(&dls_imp_in(g, x, 0)->shape, &axis, 1, false);
    const int32_t n = parts(dls_imp_attr_i(x, "num", 1));
    imp_out *out = dls_imp_outs(g, x, n);
    for (int32_t i = 0; out && i < n; i++) {
        out[i].shape = s;
    }
}

void dls_tf_rule_slice(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    int32_t n_begin = 0;
    const int64_t *size = dls_imp_values(g, x, 2, &n);
    const int64_t *begin = dls_imp_values(g, x, 1, &n_begin);
    const imp_shape in = dls_imp_in(g, x, 0)->shape;
    imp_shape s = in;
    if (s.rank < 0 && dls_imp_in(g, x, 2)->shape.rank == 1) {
        const int64_t rank = dls_imp_in(g, x, 2)->shape.dim[0];
        s.rank = rank >= 0 && rank <= IMP_RANK_MAX ? (int32_t)rank : -1;
    }
    for (int32_t i = 0; i < s.rank; i++) {
        const int64_t want = size && n == s.rank ? size[i] : IMP_UNKNOWN;
        const bool rest = want == -1 && begin && n_begin == s.rank && i < in.rank &&
                          in.dim[i] >= 0 && begin[i] >= 0 && begin[i] <= in.dim[i];
        s.dim[i] = want >= 0 && want <= IMP_DIM_MAX ? want : rest ? in.dim[i] - begin[i] : -1;
    }
    dls_imp_out1(g, x, &s);
}

static bool bit(const imp_node *x, const char *mask, int32_t i)
{
    return i < 63 && (dls_imp_attr_i(x, mask, 0) >> i & 1);
}

/* One axis after the other; an ellipsis stands for those that are not named. One function: the five
 * masks act on the same axis, as TensorFlow's own shape function has them. */
void dls_tf_rule_strided_slice(imp_graph *g, imp_node *x)
{
    const imp_out in = *dls_imp_in(g, x, 0);
    int32_t n[3] = {0, 0, 0};
    const int64_t *v[3];
    for (int32_t i = 0; i < 3; i++) {
        v[i] = dls_imp_values(g, x, 1 + i, &n[i]);
    }
    const imp_shape spec = dls_imp_in(g, x, 1)->shape;
    const int32_t n_spec = spec.rank == 1 && spec.dim[0] >= 0 && spec.dim[0] <= 2 * IMP_RANK_MAX
                               ? (int32_t)spec.dim[0]
                               : -1;
    if (in.shape.rank < 0 || n_spec < 0) {
        dls_imp_out1(g, x, &dls_imp_no_shape);
        return;
    }
    int32_t n_named = 0;
    for (int32_t i = 0; i < n_spec; i++) {
        n_named += !bit(x, "new_axis_mask", i) && !bit(x, "ellipsis_mask", i);
    }
    imp_shape s = {.rank = 0};
    int32_t axis = 0;
    bool sound = n_named <= in.shape.rank;
    for (int32_t i = 0; i < n_spec && sound; i++) {
        if (bit(x, "ellipsis_mask", i)) {
            for (int32_t k = in.shape.rank - n_named; k > 0 && s.rank < IMP_RANK_MAX; k--) {
                s.dim[s.rank++] = in.shape.dim[axis++];
            }
            continue;
        }
        if (s.rank == IMP_RANK_MAX) {
            sound = false;
        } else if (bit(x, "new_axis_mask", i)) {
            s.dim[s.rank++] = 1;
        } else if (bit(x, "shrink_axis_mask", i)) {
            axis++;
        } else {
            const int64_t step = v[2] && i < n[2] ? v[2][i] : IMP_UNKNOWN;
            const bool back = step != IMP_UNKNOWN && step < 0;
            const int64_t dim = in.shape.dim[axis];
            const int64_t begin = bit(x, "begin_mask", i) ? (back ? dim - 1 : 0)
                                  : v[0] && i < n[0]      ? v[0][i]
                                                          : IMP_UNKNOWN;
            const int64_t end = bit(x, "end_mask", i) ? (back ? -dim - 1 : dim)
                                : v[1] && i < n[1]    ? v[1][i]
                                                      : IMP_UNKNOWN;
            dls_imp_slice(g, x, axis, begin, end, step);
            s.dim[s.rank++] =
                x->n_out == 1 && axis < x->out->shape.rank ? x->out->shape.dim[axis] : -1;
            if (x->n_out == 1 && x->out->shape.rank == 1 && x->out->value) {
                s.dim[s.rank - 1] = x->out->n_value;
            }
            axis++;
        }
    }
    for (; axis < in.shape.rank && s.rank < IMP_RANK_MAX; axis++) {
        s.dim[s.rank++] = in.shape.dim[axis];
    }
    const bool followed = sound && n_spec == 1 && in.value && in.shape.rank == 1;
    const imp_out sliced = followed && x->n_out == 1 ? *x->out : (imp_out){.value = NULL};
    dls_imp_out1(g, x, sound ? &s : &dls_imp_no_shape);
    if (!followed || x->n_out != 1) {
        return;
    }
    if (bit(x, "shrink_axis_mask", 0) && v[0] && n[0] == 1) {
        const int32_t at = dls_imp_axis(v[0][0], in.n_value);
        const int64_t value = at >= 0 ? in.value[at] : IMP_UNKNOWN;
        dls_imp_set_values(g, x, &value, 1, true);
    } else if (sliced.value) {
        dls_imp_set_values(g, x, sliced.value, sliced.n_value, false);
    }
}

void dls_tf_rule_pad(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *pad = dls_imp_values(g, x, 1, &n);
    imp_shape s = dls_imp_in(g, x, 0)->shape;
    for (int32_t i = 0; i < s.rank; i++) {
        const bool sure =
            pad && n == 2 * s.rank && s.dim[i] >= 0 && pad[2 * i] >= 0 && pad[2 * i + 1] >= 0;
        s.dim[i] = sure ? dls_imp_add(s.dim[i], dls_imp_add(pad[2 * i], pad[2 * i + 1])) : -1;
    }
    s = dls_imp_shape_of(s.rank, s.dim);
    dls_imp_out1(g, x, &s);
}

/* ---- other views ----------------------------------------------------------------------------- */

void dls_tf_rule_reshape(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *to = dls_imp_values(g, x, 1, &n);
    dls_imp_reshape(g, x, to, n, false);
}

void dls_tf_rule_transpose(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *perm = dls_imp_values(g, x, 1, &n);
    dls_imp_transpose(g, x, perm, n);
}

void dls_tf_rule_expand_dims(imp_graph *g, imp_node *x)
{
    const int64_t axis = dls_imp_scalar_value(g, x, 1, IMP_UNKNOWN);
    dls_imp_unsqueeze(g, x, &axis, 1);
}

void dls_tf_rule_squeeze(imp_graph *g, imp_node *x)
{
    const imp_attr *axes = dls_imp_attr_find(x, "squeeze_dims");
    const int32_t n = axes ? axes->n_ints : 0;
    dls_imp_squeeze(g, x, n ? axes->ints : NULL, n, n == 0);
}

void dls_tf_rule_range(imp_graph *g, imp_node *x)
{
    int64_t v[3];
    for (int32_t i = 0; i < 3; i++) {
        v[i] = dls_imp_scalar_value(g, x, i, IMP_UNKNOWN);
    }
    dls_imp_out1(g, x, &(imp_shape){.rank = 1, .dim = {-1}});
    int64_t way;
    if (v[0] == IMP_UNKNOWN || v[1] == IMP_UNKNOWN || v[2] == IMP_UNKNOWN || v[2] == 0 ||
        __builtin_sub_overflow(v[1], v[0], &way) || way == INT64_MIN) {
        return;
    }
    const bool ahead = (way > 0) == (v[2] > 0) && way != 0;
    const int64_t n = ahead ? way / v[2] + (way % v[2] != 0) : 0;
    int64_t value[IMP_VALUES_MAX];
    for (int64_t i = 0; i < n && n <= IMP_VALUES_MAX; i++) {
        value[i] = v[0] + i * v[2];
    }
    if (x->n_out == 1) {
        x->out->shape.dim[0] = n <= IMP_DIM_MAX ? n : -1;
    }
    if (n <= IMP_VALUES_MAX) {
        dls_imp_set_values(g, x, value, (int32_t)n, false);
    }
}

void dls_tf_rule_one_hot(imp_graph *g, imp_node *x)
{
    const imp_shape ids = dls_imp_in(g, x, 0)->shape;
    const int64_t depth = dls_imp_scalar_value(g, x, 1, -1);
    const int32_t at = dls_imp_axis(dls_imp_attr_i(x, "axis", -1), ids.rank + 1);
    imp_shape s = dls_imp_no_shape;
    if (ids.rank >= 0 && ids.rank < IMP_RANK_MAX && at >= 0) {
        s.rank = ids.rank + 1;
        for (int32_t i = 0, from = 0; i < s.rank; i++) {
            s.dim[i] = i != at                              ? ids.dim[from++]
                       : depth >= 0 && depth <= IMP_DIM_MAX ? depth
                                                            : -1;
        }
    }
    dls_imp_out1(g, x, &s);
    dls_imp_set_type(x, dls_imp_attr_i(x, "T", 4 << 1 | 1));
}

void dls_tf_rule_gather(imp_graph *g, imp_node *x)
{
    const int64_t axis =
        strcmp(x->op, "GatherV2") == 0 ? dls_imp_scalar_value(g, x, 2, IMP_UNKNOWN) : 0;
    dls_imp_gather(g, x, axis, dls_imp_attr_i(x, "batch_dims", 0));
}

/* (data, segment_ids, num_segments) */
void dls_tf_rule_segment_sum(imp_graph *g, imp_node *x)
{
    const imp_shape data = dls_imp_in(g, x, 0)->shape;
    const imp_shape ids = dls_imp_in(g, x, 1)->shape;
    const int64_t n = dls_imp_scalar_value(g, x, 2, -1);
    imp_shape s = dls_imp_no_shape;
    if (data.rank >= 1 && ids.rank >= 1 && ids.rank <= data.rank) {
        s = (imp_shape){.rank = 1, .dim = {n >= 0 && n <= IMP_DIM_MAX ? n : -1}};
        for (int32_t i = ids.rank; i < data.rank; i++) {
            s.dim[s.rank++] = data.dim[i];
        }
    }
    dls_imp_out1(g, x, &s);
}

/* ---- shape arithmetic ------------------------------------------------------------------------ */

void dls_tf_rule_concat_offset(imp_graph *g, imp_node *x)
{
    const int32_t n = x->n_in > 1 ? x->n_in - 1 : 1;
    imp_out *out = dls_imp_outs(g, x, n);
    for (int32_t i = 0; out && i < n; i++) {
        out[i].shape = dls_imp_in(g, x, 1 + i)->shape;
        out[i].bytes = 4;
        out[i].real = false;
    }
}

/* The axes along which each of two shapes is broadcast to the other. */
void dls_tf_rule_broadcast_args(imp_graph *g, imp_node *x)
{
    int32_t n[2] = {0, 0};
    const int64_t *s[2] = {dls_imp_values(g, x, 0, &n[0]), dls_imp_values(g, x, 1, &n[1])};
    imp_out *out = dls_imp_outs(g, x, 2);
    const int32_t rank = n[0] > n[1] ? n[0] : n[1];
    bool sure = out && s[0] && s[1];
    for (int32_t i = 0; out && i < 2; i++) {
        out[i].shape = (imp_shape){.rank = 1, .dim = {-1}};
    }
    for (int32_t i = 0; i < rank && sure; i++) {
        for (int32_t k = 0; k < 2; k++) {
            const int32_t at = i - (rank - n[k]);
            sure &= at < 0 || s[k][at] != IMP_UNKNOWN;
        }
    }
    for (int32_t k = 0; k < 2 && sure; k++) {
        int64_t axes[IMP_VALUES_MAX];
        int32_t n_axes = 0;
        for (int32_t i = 0; i < rank; i++) {
            const int32_t a = i - (rank - n[k]);
            const int32_t b = i - (rank - n[1 - k]);
            const int64_t mine = a >= 0 ? s[k][a] : 1;
            const int64_t other = b >= 0 ? s[1 - k][b] : 1;
            if (mine == 1 && (a < 0 || other != 1 || b < 0)) {
                axes[n_axes++] = i;
            }
        }
        int64_t *copy = dls_imp_alloc(g, (size_t)n_axes * sizeof *copy);
        if (copy) {
            memcpy(copy, axes, (size_t)n_axes * sizeof *copy);
            out[k].value = copy;
            out[k].n_value = n_axes;
            out[k].shape.dim[0] = n_axes;
        }
    }
}

void dls_tf_rule_invert(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *perm = dls_imp_values(g, x, 0, &n);
    dls_imp_out1(g, x, &dls_imp_in(g, x, 0)->shape);
    if (perm) {
        int64_t inverse[IMP_VALUES_MAX];
        for (int32_t i = 0; i < n; i++) {
            inverse[i] = IMP_UNKNOWN;
        }
        for (int32_t i = 0; i < n; i++) {
            if (perm[i] >= 0 && perm[i] < n) {
                inverse[perm[i]] = i;
            }
        }
        dls_imp_set_values(g, x, inverse, n, false);
    }
}

/* ---- control flow, arrays -------------------------------------------------------------------- */

void dls_tf_rule_switch(imp_graph *g, imp_node *x)
{
    imp_out *out = dls_imp_outs(g, x, 2);
    for (int32_t i = 0; out && i < 2; i++) {
        out[i] = *dls_imp_in(g, x, 0);
        out[i].value = NULL;
    }
}

/* A loop's value before the first step: the other input comes from behind. */
void dls_tf_rule_merge(imp_graph *g, imp_node *x)
{
    imp_out *out = dls_imp_outs(g, x, 2);
    for (int32_t i = 0; out && i < x->n_in; i++) {
        const imp_out *in = dls_imp_in(g, x, i);
        if (in->shape.rank >= 0 || in->inner) {
            out[0] = *in;
            out[0].value = NULL;
            break;
        }
    }
    if (out) {
        out[1] = (imp_out){.shape = dls_imp_scalar, .bytes = 4};
    }
}

void dls_tf_rule_read(imp_graph *g, imp_node *x)
{
    const imp_out handle = *dls_imp_in(g, x, 0);
    dls_imp_out1(g, x, handle.inner ? handle.inner : &dls_imp_no_shape);
    dls_imp_set_type(x, dls_imp_attr_i(x, "dtype", 4 << 1 | 1));
}

void dls_tf_rule_truth(imp_graph *g, imp_node *x)
{
    dls_imp_out1(g, x, &dls_imp_scalar);
    dls_imp_set_type(x, 1 << 1);
}

static void handle(imp_graph *g, imp_node *x, imp_shape *inner, int64_t type)
{
    imp_out *out = dls_imp_outs(g, x, 2);
    if (out && inner) {
        out[0] = (imp_out){.shape = {.rank = 1, .dim = {2}},
                           .bytes = (int32_t)(type >> 1),
                           .real = type & 1,
                           .inner = inner};
        out[1] = (imp_out){.shape = dls_imp_scalar, .bytes = 4, .real = true};
    }
}

void dls_tf_rule_array(imp_graph *g, imp_node *x)
{
    const imp_attr *element = dls_imp_attr_find(x, "element_shape");
    const int64_t type = dls_imp_attr_i(x, "dtype", dls_imp_attr_i(x, "elem_type", 4 << 1 | 1));
    imp_shape *inner = dls_imp_alloc(g, sizeof *inner);
    if (inner) {
        *inner = element && element->n_shapes == 1 ? element->shapes[0] : dls_imp_no_shape;
    }
    handle(g, x, inner, type);
}

void dls_tf_rule_array_grad(imp_graph *g, imp_node *x)
{
    const imp_out *of = dls_imp_in(g, x, 0);
    imp_shape *inner = of->inner ? of->inner : dls_imp_alloc(g, sizeof *inner);
    if (inner && !of->inner) {
        *inner = dls_imp_no_shape;
    }
    handle(g, x, inner, of->bytes << 1 | of->real);
}

/* What is put in is what comes out. */
static void hold(const imp_graph *g, const imp_node *x, const imp_shape *element)
{
    imp_shape *inner = dls_imp_in(g, x, 0)->inner;
    if (inner) {
        *inner = dls_imp_merge(inner, element);
    }
}

void dls_tf_rule_push(imp_graph *g, imp_node *x)
{
    hold(g, x, &dls_imp_in(g, x, 1)->shape);
    dls_imp_rule_same1(g, x);
}

/* (handle, index, value, flow) */
void dls_tf_rule_array_write(imp_graph *g, imp_node *x)
{
    hold(g, x, &dls_imp_in(g, x, 2)->shape);
    dls_imp_out1(g, x, &dls_imp_scalar);
}

void dls_tf_rule_array_scatter(imp_graph *g, imp_node *x)
{
    const imp_shape all = dls_imp_in(g, x, 2)->shape;
    const int64_t first = 0;
    const imp_shape one = dls_imp_reduced(&all, &first, 1, false);
    hold(g, x, &one);
    dls_imp_out1(g, x, &dls_imp_scalar);
}

void dls_tf_rule_array_read(imp_graph *g, imp_node *x)
{
    const imp_shape *inner = dls_imp_in(g, x, 0)->inner;
    dls_imp_out1(g, x, inner ? inner : &dls_imp_no_shape);
}

/* [n] + element, n being the length of the indices */
void dls_tf_rule_array_gather(imp_graph *g, imp_node *x)
{
    const imp_attr *element = dls_imp_attr_find(x, "element_shape");
    const imp_shape *inner = dls_imp_in(g, x, 0)->inner;
    const imp_shape given =
        element && element->n_shapes == 1 ? element->shapes[0] : dls_imp_no_shape;
    const imp_shape one = dls_imp_merge(&given, inner ? inner : &dls_imp_no_shape);
    const imp_shape indices = dls_imp_in(g, x, 1)->shape;
    imp_shape s = dls_imp_no_shape;
    if (one.rank >= 0 && one.rank < IMP_RANK_MAX) {
        s = (imp_shape){.rank = 1, .dim = {indices.rank == 1 ? indices.dim[0] : -1}};
        for (int32_t i = 0; i < one.rank; i++) {
            s.dim[s.rank++] = one.dim[i];
        }
    }
    dls_imp_out1(g, x, &s);
}

void dls_tf_rule_array_size(imp_graph *g, imp_node *x)
{
    dls_imp_out1(g, x, &dls_imp_scalar);
    dls_imp_set_type(x, 4 << 1);
}

void dls_tf_rule_unique(imp_graph *g, imp_node *x)
{
    const imp_out in = *dls_imp_in(g, x, 0);
    imp_out *out = dls_imp_outs(g, x, 2);
    if (out) {
        out[0].shape = (imp_shape){.rank = 1, .dim = {-1}};
        out[1] = (imp_out){.shape = in.shape, .bytes = 4};
    }
}
