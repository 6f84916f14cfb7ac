/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shapes of TensorFlow's operations that compute: attributes and inputs as TensorFlow documents
 * them (https://www.tensorflow.org/api_docs/python/tf/raw_ops).
 */
#include "workload/graph/tf_rules.h"

#include <string.h>

static int64_t bounded(int64_t v)
{
    return v < 0 ? 0 : v > IMP_DIM_MAX ? IMP_DIM_MAX : v;
}

static bool channels_first(const imp_node *x)
{
    return strcmp(dls_imp_attr_s(x, "data_format", "NHWC"), "NCHW") == 0;
}

static void pair(const imp_node *x, const char *name, bool first, int64_t to[2])
{
    const imp_attr *a = dls_imp_attr_find(x, name);
    const int32_t at = first ? 2 : 1;
    for (int32_t i = 0; i < 2; i++) {
        to[i] = a && a->n_ints == 4 ? bounded(a->ints[at + i]) : 1;
    }
}

static imp_window window_of(const imp_node *x)
{
    imp_window w = {.channels_first = channels_first(x)};
    const char *padding = dls_imp_attr_s(x, "padding", "VALID");
    const imp_attr *pads = dls_imp_attr_find(x, "explicit_paddings");
    pair(x, "strides", w.channels_first, w.stride);
    pair(x, "dilations", w.channels_first, w.dilation);
    pair(x, "ksize", w.channels_first, w.kernel);
    w.same = strcmp(padding, "SAME") == 0;
    for (int32_t i = 0; i < 4 && strcmp(padding, "EXPLICIT") == 0 && pads && pads->n_ints == 8;
         i++) {
        w.pad[i / 2][i % 2] = bounded(pads->ints[(w.channels_first ? 4 : 2) + i]);
    }
    return w;
}

/* The filter [h][w][in][out or multiplier]; its shape or its values say so. */
static imp_shape filter_of(const imp_graph *g, const imp_node *x, int32_t input, bool by_value)
{
    int32_t n = 0;
    const int64_t *value = dls_imp_values(g, x, input, &n);
    if (by_value) {
        return value && n == 4 ? dls_imp_shape_of(4, value) : dls_imp_no_shape;
    }
    return dls_imp_in(g, x, input)->shape;
}

static int64_t image_channels(const imp_window *w, const imp_shape *image)
{
    return image->rank == 4 ? image->dim[w->channels_first ? 1 : 3] : -1;
}

/* Groups of a convolution: a depthwise one has as many as the image has channels. */
static int64_t groups_of(const imp_node *x, const imp_window *w, const imp_shape *image,
                         const imp_shape *filter)
{
    const int64_t channels = image_channels(w, image);
    if (x->kind == DLS_OP_DEPTHWISE_CONV || x->kind == DLS_OP_DEPTHWISE_CONV_GRAD_INPUT ||
        x->kind == DLS_OP_DEPTHWISE_CONV_GRAD_FILTER) {
        return channels > 0 ? channels : 1;
    }
    return channels > 0 && filter->rank == 4 && filter->dim[2] > 0 ? channels / filter->dim[2] : 1;
}

void dls_tf_rule_conv(imp_graph *g, imp_node *x)
{
    const imp_shape image = dls_imp_in(g, x, 0)->shape;
    const imp_shape filter = filter_of(g, x, 1, false);
    imp_window w = window_of(x);
    imp_shape s = dls_imp_no_shape;
    if (filter.rank == 4) {
        const bool depthwise = x->kind == DLS_OP_DEPTHWISE_CONV;
        w.kernel[0] = filter.dim[0];
        w.kernel[1] = filter.dim[1];
        const int64_t channels = !depthwise ? filter.dim[3]
                                 : filter.dim[2] < 0 || filter.dim[3] < 0
                                     ? -1
                                     : dls_imp_mul(filter.dim[2], filter.dim[3]);
        s = dls_imp_windowed(&image, &w, channels);
        dls_imp_conv_dims(x, &image, &s, &w, groups_of(x, &w, &image, &filter));
    }
    dls_imp_out1(g, x, &s);
}

static void rotate(dls_op_dims *d, int64_t m, int64_t n, int64_t k)
{
    d->m = m;
    d->n = n;
    d->k = k;
}

/* (image, filter_sizes, gradient) */
void dls_tf_rule_conv_grad_filter(imp_graph *g, imp_node *x)
{
    const imp_shape image = dls_imp_in(g, x, 0)->shape;
    const imp_shape filter = filter_of(g, x, 1, true);
    imp_window w = window_of(x);
    if (filter.rank == 4) {
        w.kernel[0] = filter.dim[0];
        w.kernel[1] = filter.dim[1];
        dls_imp_conv_dims(x, &image, &dls_imp_in(g, x, 2)->shape, &w,
                          groups_of(x, &w, &image, &filter));
        rotate(&x->dims, x->dims.n, x->dims.k, x->dims.m);
    }
    dls_imp_out1(g, x, &filter);
}

/* (input_sizes, filter, gradient) */
void dls_tf_rule_conv_grad_input(imp_graph *g, imp_node *x)
{
    const imp_shape filter = filter_of(g, x, 1, false);
    const imp_shape image = filter_of(g, x, 0, true);
    imp_window w = window_of(x);
    if (filter.rank == 4) {
        w.kernel[0] = filter.dim[0];
        w.kernel[1] = filter.dim[1];
        dls_imp_conv_dims(x, &image, &dls_imp_in(g, x, 2)->shape, &w,
                          groups_of(x, &w, &image, &filter));
        const dls_op_dims d = x->dims;
        const int64_t groups = d.groups > 0 ? d.groups : 1;
        rotate(&x->dims, dls_imp_mul(d.batch, dls_imp_mul(d.in_h, d.in_w)), d.in_c / groups,
               dls_imp_mul(d.out_c / groups, dls_imp_mul(d.kernel_h, d.kernel_w)));
    }
    dls_imp_out1(g, x, &image);
    if (x->n_out == 1) {
        x->out->bytes = dls_imp_in(g, x, 2)->bytes;
        x->out->real = dls_imp_in(g, x, 2)->real;
    }
}

void dls_tf_rule_pool(imp_graph *g, imp_node *x)
{
    const imp_shape image = dls_imp_in(g, x, 0)->shape;
    const imp_window w = window_of(x);
    const imp_shape s = dls_imp_windowed(&image, &w, image_channels(&w, &image));
    dls_imp_out1(g, x, &s);
    x->dims.kernel_h = (int32_t)(w.kernel[0] < INT32_MAX ? w.kernel[0] : INT32_MAX);
    x->dims.kernel_w = (int32_t)(w.kernel[1] < INT32_MAX ? w.kernel[1] : INT32_MAX);
}

/* The shape is what an input's values say: AvgPoolGrad, Fill, StridedSliceGrad, random numbers. */
static void from_values(imp_graph *g, imp_node *x, int32_t of, int32_t like)
{
    int32_t n = 0;
    const int64_t *value = dls_imp_values(g, x, of, &n);
    const imp_shape given = dls_imp_in(g, x, of)->shape;
    imp_shape s = dls_imp_no_shape;
    if (value) {
        s = dls_imp_shape_of(n, value);
    } else if (given.rank == 1 && given.dim[0] >= 0 && given.dim[0] <= IMP_RANK_MAX) {
        s.rank = (int32_t)given.dim[0];
        for (int32_t i = 0; i < s.rank; i++) {
            s.dim[i] = -1;
        }
    }
    dls_imp_out1(g, x, &s);
    if (x->n_out == 1) {
        x->out->bytes = like >= 0 ? dls_imp_in(g, x, like)->bytes : 4;
        x->out->real = like >= 0 ? dls_imp_in(g, x, like)->real : true;
    }
}

void dls_tf_rule_avg_pool_grad(imp_graph *g, imp_node *x)
{
    from_values(g, x, 0, 1);
}

void dls_tf_rule_fill(imp_graph *g, imp_node *x)
{
    from_values(g, x, 0, 1);
}

void dls_tf_rule_random(imp_graph *g, imp_node *x)
{
    from_values(g, x, 0, -1);
}

/* A key and a counter. */
void dls_tf_rule_random_key(imp_graph *g, imp_node *x)
{
    imp_out *out = dls_imp_outs(g, x, 2);
    for (int32_t i = 0; out && i < 2; i++) {
        out[i] = (imp_out){.shape = {.rank = 1, .dim = {i + 1}}, .bytes = 8};
    }
}

void dls_tf_rule_slice_grad(imp_graph *g, imp_node *x)
{
    from_values(g, x, 0, 4);
}

void dls_tf_rule_broadcast_to(imp_graph *g, imp_node *x)
{
    from_values(g, x, 1, 0);
}

static imp_shape per_channel(const imp_node *x, const imp_shape *s)
{
    const int32_t at = channels_first(x) ? 1 : s->rank - 1;
    return s->rank >= 2 ? (imp_shape){.rank = 1, .dim = {s->dim[at]}} : dls_imp_no_shape;
}

static void norm_outputs(imp_graph *g, imp_node *x, const imp_shape *s, int32_t n)
{
    imp_out *out = dls_imp_outs(g, x, n);
    for (int32_t i = 0; out && i < n; i++) {
        out[i].shape = i == 0 ? *s : i < 5 ? per_channel(x, s) : dls_imp_no_shape;
        out[i].bytes = i == 0 ? out[i].bytes : 4;
    }
}

void dls_tf_rule_batch_norm(imp_graph *g, imp_node *x)
{
    norm_outputs(g, x, &dls_imp_in(g, x, 0)->shape, strcmp(x->op, "FusedBatchNormV3") == 0 ? 6 : 5);
}

/* (gradient, x, scale, ...): gradients of x, scale, offset, and two that nobody reads */
void dls_tf_rule_batch_norm_grad(imp_graph *g, imp_node *x)
{
    const imp_shape s = dls_imp_merge(&dls_imp_in(g, x, 1)->shape, &dls_imp_in(g, x, 0)->shape);
    norm_outputs(g, x, &s, 5);
}

void dls_tf_rule_bias_grad(imp_graph *g, imp_node *x)
{
    const imp_shape s = per_channel(x, &dls_imp_in(g, x, 0)->shape);
    dls_imp_out1(g, x, &s);
}

void dls_tf_rule_matmul(imp_graph *g, imp_node *x)
{
    const bool ta = dls_imp_attr_i(x, "transpose_a", 0) || dls_imp_attr_i(x, "adj_x", 0);
    const bool tb = dls_imp_attr_i(x, "transpose_b", 0) || dls_imp_attr_i(x, "adj_y", 0);
    const imp_shape s =
        dls_imp_matmul(x, &dls_imp_in(g, x, 0)->shape, &dls_imp_in(g, x, 1)->shape, ta, tb);
    dls_imp_out1(g, x, &s);
}

void dls_tf_rule_reduce(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *axes = dls_imp_values(g, x, 1, &n);
    const imp_out in = *dls_imp_in(g, x, 0);
    const bool keep = dls_imp_attr_i(x, "keep_dims", 0) || dls_imp_attr_i(x, "keepdims", 0);
    imp_shape s = dls_imp_no_shape;
    if (axes) {
        s = dls_imp_reduced(&in.shape, axes, n, keep);
    } else if (keep && in.shape.rank >= 0) {
        s.rank = in.shape.rank;
        for (int32_t i = 0; i < s.rank; i++) {
            s.dim[i] = -1;
        }
    } else if (x->n_in < 2) {
        s = dls_imp_scalar;
    }
    dls_imp_out1(g, x, &s);
    if (x->kind == DLS_OP_PROD && in.value && s.rank == 0 && !in.real) {
        int64_t product = 1;
        for (int32_t i = 0; i < in.n_value; i++) {
            if (product != IMP_UNKNOWN &&
                (in.value[i] == IMP_UNKNOWN ||
                 __builtin_mul_overflow(product, in.value[i], &product))) {
                product = IMP_UNKNOWN;
            }
        }
        dls_imp_set_values(g, x, &product, 1, true);
    }
}

void dls_tf_rule_arg_max(imp_graph *g, imp_node *x)
{
    const int64_t axis = dls_imp_scalar_value(g, x, 1, IMP_UNKNOWN);
    const imp_shape s = dls_imp_reduced(&dls_imp_in(g, x, 0)->shape, &axis, 1, false);
    dls_imp_out1(g, x, &s);
    if (x->n_out == 1) {
        x->out->bytes = 8;
        x->out->real = false;
    }
}

/* Loss per row, and its gradient. */
void dls_tf_rule_cross_entropy(imp_graph *g, imp_node *x)
{
    const imp_shape in = dls_imp_in(g, x, 0)->shape;
    imp_out *out = dls_imp_outs(g, x, 2);
    if (out && in.rank == 2) {
        out[0].shape = (imp_shape){.rank = 1, .dim = {in.dim[0]}};
        out[1].shape = in;
    }
}

void dls_tf_rule_cast(imp_graph *g, imp_node *x)
{
    const imp_out in = *dls_imp_in(g, x, 0);
    const int64_t type = dls_imp_attr_i(x, "DstT", in.bytes << 1 | in.real);
    dls_imp_out1(g, x, &in.shape);
    if (x->n_out == 1) {
        x->out->bytes = (int32_t)(type >> 1);
        x->out->real = type & 1;
        x->out->value = in.real || (type & 1) ? NULL : in.value;
        x->out->n_value = x->out->value ? in.n_value : 0;
    }
}

void dls_tf_rule_select(imp_graph *g, imp_node *x)
{
    const imp_shape ab =
        dls_imp_broadcast(&dls_imp_in(g, x, 1)->shape, &dls_imp_in(g, x, 2)->shape);
    const imp_shape s =
        strcmp(x->op, "SelectV2") == 0 ? dls_imp_broadcast(&ab, &dls_imp_in(g, x, 0)->shape) : ab;
    dls_imp_out1(g, x, &s);
    if (x->n_out == 1) {
        x->out->bytes = dls_imp_in(g, x, 1)->bytes;
        x->out->real = dls_imp_in(g, x, 1)->real;
    }
}
