/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shapes of TensorFlow's operations that compute: attributes and inputs as TensorFlow documents
 * them (https://www.tensorflow.org/api_docs/python/tf/raw_ops).
 */
#include "workload/graph/tf_rules.h"

#include <string.h>

static bool channels_first(const imp_node *x)
{
    return strcmp(dls_imp_attr_s(x, "data_format", "NHWC"), "NCHW") == 0;
}

static void pair(const imp_node *x, const char *name, bool first, int64_t to[2])
{
    const imp_attr *a = dls_imp_attr_find(x, name);
    const int32_t at = first ? 2 : 1;
    for (int32_t i = 0; i < 2; i++) {
        to[i] = a && a->n_ints == 4 ? dls_imp_bounded(a->ints[at + i]) : 1;
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
        w.pad[i / 2][i % 2] = dls_imp_bounded(pads->ints[(w.channels_first ? 4 : 2) + i]);
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

/* Groups of a convolution: a depthwise one has as many as the image has channels. */
static int64_t groups_of(const imp_node *x, const imp_window *w, const imp_shape *image,
                         const imp_shape *filter)
{
    const int64_t channels = dls_imp_channels(w, image);
    if (x->kind == DLS_OP_DEPTHWISE_CONV || x->kind == DLS_OP_DEPTHWISE_CONV_GRAD_INPUT ||
        x->kind == DLS_OP_DEPTHWISE_CONV_GRAD_FILTER) {
        return channels > 0 ? channels : 1;
    }
    return channels > 0 && filter->rank == 4 && filter->dim[2] > 0 ? channels / filter->dim[2] : 1;
}

static void tf_rule_conv(imp_graph *g, imp_node *x)
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
static void tf_rule_conv_grad_filter(imp_graph *g, imp_node *x)
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
static void tf_rule_conv_grad_input(imp_graph *g, imp_node *x)
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
    dls_imp_set_type_as(x, dls_imp_in(g, x, 2));
}

static void tf_rule_pool(imp_graph *g, imp_node *x)
{
    const imp_shape image = dls_imp_in(g, x, 0)->shape;
    const imp_window w = window_of(x);
    const imp_shape s = dls_imp_pooled(x, &image, &w);
    dls_imp_out1(g, x, &s);
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

static void tf_rule_avg_pool_grad(imp_graph *g, imp_node *x)
{
    from_values(g, x, 0, 1);
}

static void tf_rule_fill(imp_graph *g, imp_node *x)
{
    from_values(g, x, 0, 1);
}

static void tf_rule_random(imp_graph *g, imp_node *x)
{
    from_values(g, x, 0, -1);
}

/* A key and a counter. */
static void tf_rule_random_key(imp_graph *g, imp_node *x)
{
    imp_out *out = dls_imp_outs(g, x, 2);
    for (int32_t i = 0; out && i < 2; i++) {
        out[i] = (imp_out){.shape = {.rank = 1, .dim = {i + 1}}, .bytes = 8};
    }
}

static void tf_rule_slice_grad(imp_graph *g, imp_node *x)
{
    from_values(g, x, 0, 4);
}

static void tf_rule_broadcast_to(imp_graph *g, imp_node *x)
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

static void tf_rule_batch_norm(imp_graph *g, imp_node *x)
{
    norm_outputs(g, x, &dls_imp_in(g, x, 0)->shape, strcmp(x->op, "FusedBatchNormV3") == 0 ? 6 : 5);
}

/* (gradient, x, scale, ...): gradients of x, scale, offset, and two that nobody reads */
static void tf_rule_batch_norm_grad(imp_graph *g, imp_node *x)
{
    const imp_shape s = dls_imp_merge(&dls_imp_in(g, x, 1)->shape, &dls_imp_in(g, x, 0)->shape);
    norm_outputs(g, x, &s, 5);
}

static void tf_rule_bias_grad(imp_graph *g, imp_node *x)
{
    const imp_shape s = per_channel(x, &dls_imp_in(g, x, 0)->shape);
    dls_imp_out1(g, x, &s);
}

void dls_tf_rule_matmul(imp_graph *g, imp_node *x)
{
    static const char *const turned[2][3] = {{"transpose_a", "adj_x", "transA"},
                                             {"transpose_b", "adj_y", "transB"}};
    bool turn[2] = {false, false};
    for (int32_t i = 0; i < 6; i++) {
        turn[i / 3] |= dls_imp_attr_i(x, turned[i / 3][i % 3], 0) != 0;
    }
    const imp_shape s = dls_imp_matmul(x, &dls_imp_in(g, x, 0)->shape, &dls_imp_in(g, x, 1)->shape,
                                       turn[0], turn[1]);
    dls_imp_out1(g, x, &s);
}

static void tf_rule_reduce(imp_graph *g, imp_node *x)
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

static void tf_rule_arg_max(imp_graph *g, imp_node *x)
{
    const int64_t axis = dls_imp_scalar_value(g, x, 1, IMP_UNKNOWN);
    const imp_shape s = dls_imp_reduced(&dls_imp_in(g, x, 0)->shape, &axis, 1, false);
    dls_imp_out1(g, x, &s);
    dls_imp_set_type(x, dls_imp_attr_i(x, "output_type", 8 << 1));
}

/* Loss per row, and its gradient. */
static void tf_rule_cross_entropy(imp_graph *g, imp_node *x)
{
    const imp_shape in = dls_imp_in(g, x, 0)->shape;
    imp_out *out = dls_imp_outs(g, x, 2);
    if (out && in.rank == 2) {
        out[0].shape = (imp_shape){.rank = 1, .dim = {in.dim[0]}};
        out[1].shape = in;
    }
}

static void tf_rule_cast(imp_graph *g, imp_node *x)
{
    const imp_out *in = dls_imp_in(g, x, 0);
    dls_imp_cast(g, x, dls_imp_attr_i(x, "DstT", in->bytes << 1 | in->real));
}

void dls_tf_rule_select(imp_graph *g, imp_node *x)
{
    const imp_shape ab =
        dls_imp_broadcast(&dls_imp_in(g, x, 1)->shape, &dls_imp_in(g, x, 2)->shape);
    const imp_shape s =
        strcmp(x->op, "SelectV2") == 0 ? dls_imp_broadcast(&ab, &dls_imp_in(g, x, 0)->shape) : ab;
    dls_imp_out1(g, x, &s);
    dls_imp_set_type_as(x, dls_imp_in(g, x, 1));
    dls_imp_fold(g, x);
}

/* ---- the operations -------------------------------------------------------------------------- */

#define dls_imp_rule_unknown NULL
#define ROW(names, id, rule)                                                                       \
    {                                                                                              \
        names, NULL, DLS_OP_##id, rule                                                             \
    }
static const imp_op kinds[] = {
#define XX(id, text, family, rule) ROW(text, id, rule),
    DLS_OP_KIND_MAP(XX)
#undef XX
};

/* Others, and the kind that they work like. */
static const imp_op alike[] = {
    ROW("Abs Sign", NEG, dls_imp_rule_unary),
    ROW("AddV2", ADD, dls_imp_rule_broadcast),
    ROW("Any", ALL, tf_rule_reduce),
    ROW("ApplyAdagrad", APPLY_MOMENTUM, dls_imp_rule_unary),
    ROW("ArgMin", ARG_MAX, tf_rule_arg_max),
    ROW("AssignAddVariableOp", ASSIGN_ADD, dls_imp_rule_none),
    ROW("AssignSubVariableOp", ASSIGN_SUB, dls_imp_rule_none),
    ROW("AssignVariableOp", ASSIGN, dls_imp_rule_none),
    ROW("Atan2 Div DivNoNan Xdivy", REAL_DIV, dls_imp_rule_broadcast),
    ROW("BatchMatMulV2 BatchMatMulV3", BATCH_MATMUL, dls_tf_rule_matmul),
    ROW("BiasAddV1", BIAS_ADD, dls_imp_rule_unary),
    ROW("BitwiseAnd", LOGICAL_AND, dls_imp_rule_broadcast),
    ROW("BroadcastTo", TILE, tf_rule_broadcast_to),
    ROW("Ceil Rint Round", FLOOR, dls_imp_rule_unary),
    ROW("CheckNumerics RefIdentity Snapshot", IDENTITY, dls_imp_rule_same),
    ROW("ClipByValue", MINIMUM, dls_imp_rule_unary),
    ROW("Concat", CONCAT, dls_tf_rule_concat),
    ROW("Cos Erf Erfc Expm1 Log Log1p Sin", EXP, dls_imp_rule_unary),
    ROW("Cumsum", ADD, dls_imp_rule_unary),
    ROW("Elu Selu Softplus Softsign", SIGMOID, dls_imp_rule_unary),
    ROW("EluGrad SeluGrad SoftplusGrad", SIGMOID_GRAD, dls_imp_rule_either),
    ROW("FIFOQueueV2 Iterator IteratorV2 OneShotIterator QueueDequeueManyV2 QueueDequeueV2",
        ITERATOR_NEXT, dls_imp_rule_input),
    ROW("FusedBatchNormGradV2 FusedBatchNormGradV3", BATCH_NORM_GRAD, tf_rule_batch_norm_grad),
    ROW("FusedBatchNormV2 FusedBatchNormV3", BATCH_NORM, tf_rule_batch_norm),
    ROW("GatherV2 ResourceGather", GATHER, dls_tf_rule_gather),
    ROW("Greater", GREATER_EQUAL, dls_imp_rule_compare),
    ROW("Inv Reciprocal", REAL_DIV, dls_imp_rule_unary),
    ROW("InvGrad ReciprocalGrad SqrtGrad", RSQRT_GRAD, dls_imp_rule_either),
    ROW("LeakyRelu", RELU, dls_imp_rule_unary),
    ROW("LeakyReluGrad", RELU_GRAD, dls_imp_rule_either),
    ROW("LessEqual", LESS, dls_imp_rule_compare),
    ROW("LogicalNot", LOGICAL_AND, dls_imp_rule_unary),
    ROW("LogicalOr", LOGICAL_AND, dls_imp_rule_compare),
    ROW("MakeIterator QueueEnqueueManyV2 QueueEnqueueV2", ITERATOR_NEXT, dls_imp_rule_none),
    ROW("MatrixBandPart", SELECT, dls_imp_rule_unary),
    ROW("MergeV2Checkpoints Save", SAVE, dls_imp_rule_none),
    ROW("MirrorPad PadV2", PAD, dls_tf_rule_pad),
    ROW("Mod TruncateMod", FLOOR_MOD, dls_imp_rule_broadcast),
    ROW("NotEqual", EQUAL, dls_imp_rule_compare),
    ROW("OnesLike", ZEROS_LIKE, dls_imp_rule_unary),
    ROW("PlaceholderWithDefault", PLACEHOLDER, dls_imp_rule_input),
    ROW("RandomStandardNormal StatelessRandomNormalV2 StatelessTruncatedNormalV2", TRUNCATED_NORMAL,
        tf_rule_random),
    ROW("RandomUniformInt StatelessRandomUniform StatelessRandomUniformV2", RANDOM_UNIFORM,
        tf_rule_random),
    ROW("ReadVariableOp", IDENTITY, dls_tf_rule_read),
    ROW("RefEnter", ENTER, dls_imp_rule_same),
    ROW("RefExit", EXIT, dls_imp_rule_same),
    ROW("RefMerge", MERGE, dls_tf_rule_merge),
    ROW("RefNextIteration", NEXT_ITERATION, dls_imp_rule_same),
    ROW("RefSwitch", SWITCH, dls_tf_rule_switch),
    ROW("ResourceApplyAdagrad ResourceApplyKerasMomentum ResourceApplyMomentum", APPLY_MOMENTUM,
        dls_imp_rule_none),
    ROW("ResourceApplyAdam", APPLY_ADAM, dls_imp_rule_none),
    ROW("ResourceApplyGradientDescent", APPLY_SGD, dls_imp_rule_none),
    ROW("ResourceApplyRMSProp", APPLY_RMSPROP, dls_imp_rule_none),
    ROW("ResourceScatterAdd", SCATTER_ADD, dls_imp_rule_none),
    ROW("ResourceScatterSub ResourceSparseApplyAdagrad ResourceSparseApplyMomentum", SCATTER_SUB,
        dls_imp_rule_none),
    ROW("ResourceScatterUpdate", SCATTER_UPDATE, dls_imp_rule_none),
    ROW("Restore", RESTORE, dls_imp_rule_input),
    ROW("Reverse ReverseV2", REVERSE_SEQUENCE, dls_imp_rule_unary),
    ROW("SelectV2", SELECT, dls_tf_rule_select),
    ROW("SparseApplyAdagrad SparseApplyMomentum", SCATTER_SUB, dls_imp_rule_unary),
    ROW("SplitV", SPLIT, dls_tf_rule_split_v),
    ROW("StatelessRandomGetKeyCounter", RANDOM_UNIFORM, tf_rule_random_key),
    ROW("TruncateDiv", FLOOR_DIV, dls_imp_rule_broadcast),
    ROW("Unique", ONE_HOT, dls_tf_rule_unique),
    ROW("Unpack", SPLIT, dls_tf_rule_unpack),
    ROW("VarHandleOp Variable", VARIABLE, dls_imp_rule_variable),
    ROW("VarIsInitializedOp", IS_INITIALIZED, dls_tf_rule_truth),
    ROW("VariableShape", SHAPE, dls_imp_rule_shape),
    ROW("Xlogy", MUL, dls_imp_rule_broadcast),
};

const imp_op *dls_imp_tf_op(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].rule && strcmp(kinds[i].names, name) == 0) {
            return &kinds[i];
        }
    }
    return dls_imp_op_find(alike, sizeof alike / sizeof *alike, name);
}
