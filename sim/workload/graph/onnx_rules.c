/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Shapes of ONNX's operations, with attributes and inputs as https://onnx.ai/onnx/operators/ has
 * them; what later versions moved from an attribute to an input is looked for in both.
 */
#include "workload/graph/onnx_rules.h"
#include "workload/graph/tf_rules.h"
#include "workload/graph/zoo_impl.h"

#include <string.h>

/* An attribute with integers, or the values of an input. */
static const int64_t *integers(const imp_graph *g, const imp_node *x, const char *attr,
                               int32_t input, int32_t *n)
{
    const imp_attr *a = dls_imp_attr_find(x, attr);
    if (a && a->n_ints > 0) {
        *n = a->n_ints;
        return a->ints;
    }
    return dls_imp_values(g, x, input, n);
}

static void rule_global_pool(imp_graph *g, imp_node *x)
{
    imp_shape s = dls_imp_in(g, x, 0)->shape;
    for (int32_t i = 2; i < s.rank; i++) {
        s.dim[i] = 1;
    }
    dls_imp_out1(g, x, &s);
}

/* ---- products, sums, norms ------------------------------------------------------------------- */

static void rule_reduce(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *axes = integers(g, x, "axes", 1, &n);
    const imp_shape in = dls_imp_in(g, x, 0)->shape;
    int64_t all[IMP_RANK_MAX];
    for (int32_t i = 0; i < in.rank; i++) {
        all[i] = i;
    }
    const bool none = axes ? n == 0 : x->n_in < 2 || x->in[1].node < 0;
    const bool whole = none && dls_imp_attr_i(x, "noop_with_empty_axes", 0) == 0;
    imp_shape s = dls_imp_no_shape;
    if (axes || none) {
        s = dls_imp_reduced(&in, whole ? all : axes, whole ? in.rank : n,
                            dls_imp_attr_i(x, "keepdims", 1) != 0);
    }
    dls_imp_out1(g, x, &s);
}

static void rule_arg_max(imp_graph *g, imp_node *x)
{
    const int64_t axis = dls_imp_attr_i(x, "axis", 0);
    const imp_shape s = dls_imp_reduced(&dls_imp_in(g, x, 0)->shape, &axis, 1,
                                        dls_imp_attr_i(x, "keepdims", 1) != 0);
    dls_imp_out1(g, x, &s);
    dls_imp_set_type(x, 8 << 1);
}

static void rule_dropout(imp_graph *g, imp_node *x)
{
    dls_imp_rule_unary(g, x);
    dls_onnx_second_output(g, x, 1);
}

/* Y and what else the format allows, moments: of a layer norm for each row, of a batch norm as many as
 * scales. */
static void rule_norm(imp_graph *g, imp_node *x)
{
    const imp_shape s = dls_imp_in(g, x, 0)->shape;
    const int32_t n = x->n_wanted > 1 ? x->n_wanted : 1;
    imp_shape moments = dls_imp_in(g, x, 1)->shape;
    if (x->kind != DLS_OP_BATCH_NORM) {
        const int32_t first = dls_imp_axis(dls_imp_attr_i(x, "axis", -1), s.rank);
        moments = first < 0 ? dls_imp_no_shape : s;
        for (int32_t i = first; i < moments.rank; i++) {
            moments.dim[i] = 1;
        }
    }
    imp_out *out = dls_imp_outs(g, x, n);
    for (int32_t i = 0; out && i < n; i++) {
        out[i].shape = i ? moments : s;
    }
}

/* (X [steps][batch][in], W [directions][gates h][in], R [directions][gates h][h]): Y, Y_h and of an
 * LSTM Y_c; in layout 1 the batch comes first everywhere */
static void rule_rnn(imp_graph *g, imp_node *x)
{
    const imp_shape in = dls_imp_in(g, x, 0)->shape;
    const imp_shape w = dls_imp_in(g, x, 1)->shape;
    const imp_shape r = dls_imp_in(g, x, 2)->shape;
    const bool batch_first = dls_imp_attr_i(x, "layout", 0) != 0;
    const int32_t n_out = x->kind == DLS_OP_LSTM_CELL ? 3 : 2;
    imp_out *out = dls_imp_outs(g, x, n_out);
    if (!out || in.rank != 3 || w.rank != 3 || r.rank != 3) {
        return;
    }
    const int64_t steps = in.dim[batch_first];
    const int64_t batch = in.dim[!batch_first];
    const int64_t directions = w.dim[0];
    const int64_t h = r.dim[2];
    out[0].shape = batch_first ? (imp_shape){.rank = 4, .dim = {batch, steps, directions, h}}
                               : (imp_shape){.rank = 4, .dim = {steps, directions, batch, h}};
    for (int32_t i = 1; i < n_out; i++) {
        out[i].shape = batch_first ? (imp_shape){.rank = 3, .dim = {batch, directions, h}}
                                   : (imp_shape){.rank = 3, .dim = {directions, batch, h}};
    }
    const int64_t rows = dls_imp_mul(steps > 0 ? steps : 1, batch > 0 ? batch : 1);
    x->dims =
        (dls_op_dims){.batch = directions > 0 ? directions : 1,
                      .m = rows,
                      .n = w.dim[1] > 0 ? w.dim[1] : 1,
                      .k = dls_imp_add(w.dim[2] > 0 ? w.dim[2] : 1, r.dim[2] > 0 ? r.dim[2] : 1)};
}

/* ---- moving ---------------------------------------------------------------------------------- */

static void rule_concat(imp_graph *g, imp_node *x)
{
    dls_imp_concat(g, x, 0, x->n_in, dls_imp_attr_i(x, "axis", IMP_UNKNOWN));
}

static void rule_split(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *sizes = integers(g, x, "split", 1, &n);
    const int32_t n_parts = x->n_wanted > 0 ? x->n_wanted : 1;
    dls_imp_split(g, x, 0, dls_imp_attr_i(x, "axis", 0), n == n_parts ? sizes : NULL, n_parts);
}

static void rule_reshape(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *to = integers(g, x, "shape", 1, &n);
    dls_imp_reshape(g, x, to, n, dls_imp_attr_i(x, "allowzero", 0) == 0);
}

static void rule_flatten(imp_graph *g, imp_node *x)
{
    const imp_shape in = dls_imp_in(g, x, 0)->shape;
    const int64_t axis = dls_imp_attr_i(x, "axis", 1);
    const int64_t at = axis < 0 && in.rank >= 0 ? axis + in.rank : axis;
    imp_shape s = dls_imp_no_shape;
    if (in.rank >= 0 && at >= 0 && at <= in.rank) {
        s = (imp_shape){.rank = 2, .dim = {1, 1}};
        for (int32_t i = 0; i < in.rank; i++) {
            int64_t *to = &s.dim[i >= at];
            *to = *to < 0 || in.dim[i] < 0 ? -1 : dls_imp_mul(*to, in.dim[i]);
        }
    }
    dls_imp_out1(g, x, &s);
}

static void rule_transpose(imp_graph *g, imp_node *x)
{
    const imp_attr *perm = dls_imp_attr_find(x, "perm");
    const int32_t rank = dls_imp_in(g, x, 0)->shape.rank;
    int64_t reversed[IMP_RANK_MAX];
    for (int32_t i = 0; i < rank; i++) {
        reversed[i] = rank - 1 - i;
    }
    dls_imp_transpose(g, x, perm ? perm->ints : reversed, perm ? perm->n_ints : rank);
}

static void rule_squeeze(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *axes = integers(g, x, "axes", 1, &n);
    dls_imp_squeeze(g, x, axes, n, !axes && x->n_in < 2);
}

static void rule_unsqueeze(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *axes = integers(g, x, "axes", 1, &n);
    dls_imp_unsqueeze(g, x, axes, axes ? n : -1);
}

static void rule_slice(imp_graph *g, imp_node *x)
{
    const imp_out in = *dls_imp_in(g, x, 0);
    int32_t n[4] = {0, 0, 0, 0};
    const int64_t *begin = integers(g, x, "starts", 1, &n[0]);
    const int64_t *end = integers(g, x, "ends", 2, &n[1]);
    const int64_t *axes = integers(g, x, "axes", 3, &n[2]);
    const int64_t *steps = dls_imp_values(g, x, 4, &n[3]);
    imp_shape s = in.shape;
    if (!begin || !end || n[0] != n[1] || (axes && n[2] != n[0]) || (steps && n[3] != n[0])) {
        for (int32_t i = 0; i < s.rank; i++) {
            s.dim[i] = -1;
        }
        dls_imp_out1(g, x, &s);
        return;
    }
    imp_out sliced = {.value = NULL};
    for (int32_t i = 0; i < n[0]; i++) {
        const int32_t axis = dls_imp_axis(axes ? axes[i] : i, in.shape.rank);
        if (axis < 0) {
            s = dls_imp_no_shape;
            break;
        }
        dls_imp_slice(g, x, axis, begin[i], end[i], steps ? steps[i] : 1);
        if (x->n_out == 1) {
            sliced = x->out[0];
            s.dim[axis] = sliced.shape.dim[axis];
        }
    }
    dls_imp_out1(g, x, &s);
    if (sliced.value && s.rank == 1) {
        dls_imp_set_values(g, x, sliced.value, sliced.n_value, false);
    }
}

/* [before of every axis, behind of every axis], of all axes or of those that input 3 names; negative
 * ones cut */
static void rule_pad(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    int32_t n_axes = 0;
    const int64_t *pads = integers(g, x, "pads", 1, &n);
    const int64_t *axes = dls_imp_values(g, x, 3, &n_axes);
    imp_shape s = dls_imp_in(g, x, 0)->shape;
    const bool named = x->n_in > 3 && x->in[3].node >= 0;
    n_axes = named ? n_axes : s.rank;
    const bool told = pads && (axes || !named) && n == 2 * n_axes;
    for (int32_t i = 0; i < (told ? n_axes : s.rank); i++) {
        const int32_t at = dls_imp_axis(told && axes ? axes[i] : i, s.rank);
        const bool sure = told && at >= 0 && s.dim[at] >= 0 && pads[i] >= -IMP_DIM_MAX &&
                          pads[i] <= IMP_DIM_MAX && pads[i + n_axes] >= -IMP_DIM_MAX &&
                          pads[i + n_axes] <= IMP_DIM_MAX;
        s.dim[at < 0 ? 0 : at] = sure ? s.dim[at] + pads[i] + pads[i + n_axes] : -1;
    }
    s = dls_imp_shape_of(s.rank, s.dim);
    dls_imp_out1(g, x, &s);
}

static void rule_expand(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *to = dls_imp_values(g, x, 1, &n);
    const imp_shape wide = to ? dls_imp_shape_of(n, to) : dls_imp_no_shape;
    const imp_shape s = dls_imp_broadcast(&dls_imp_in(g, x, 0)->shape, &wide);
    dls_imp_out1(g, x, &s);
}

static void rule_gather(imp_graph *g, imp_node *x)
{
    dls_imp_gather(g, x, dls_imp_attr_i(x, "axis", 0), 0);
}

/* As many numbers of input 0 as input 1 has indices. */
static void rule_gather_elements(imp_graph *g, imp_node *x)
{
    dls_imp_out1(g, x, &dls_imp_in(g, x, 1)->shape);
}

/* The last dimension of the indices names places in the first dimensions of the tensor that are no batch's. */
static void rule_gather_nd(imp_graph *g, imp_node *x)
{
    const imp_shape in = dls_imp_in(g, x, 0)->shape;
    imp_shape s = dls_imp_in(g, x, 1)->shape;
    const int64_t named = s.rank > 0 ? s.dim[s.rank - 1] : -1;
    const int64_t first = named + dls_imp_bounded(dls_imp_attr_i(x, "batch_dims", 0));
    const bool sound = named >= 0 && first <= in.rank && s.rank - 1 + in.rank - first <= IMP_RANK_MAX;
    s.rank = sound ? s.rank - 1 : -1;
    for (int64_t i = first; sound && i < in.rank; i++) {
        s.dim[s.rank++] = in.dim[i];
    }
    dls_imp_out1(g, x, &s);
}

/* The k greatest along an axis, and where they stood. */
static void rule_top_k(imp_graph *g, imp_node *x)
{
    imp_shape s = dls_imp_in(g, x, 0)->shape;
    const int32_t at = dls_imp_axis(dls_imp_attr_i(x, "axis", -1), s.rank);
    const int64_t k = dls_imp_scalar_value(g, x, 1, dls_imp_attr_i(x, "k", -1));
    s.dim[at < 0 ? 0 : at] = k;
    s = at < 0 ? dls_imp_no_shape : dls_imp_shape_of(s.rank, s.dim);
    dls_imp_out1(g, x, &s);
    dls_onnx_second_output(g, x, 8);
}

/* Channels become squares of pixels, or squares of pixels channels. */
static void rule_squares(imp_graph *g, imp_node *x)
{
    imp_shape s = dls_imp_in(g, x, 0)->shape;
    const int64_t edge = dls_imp_bounded(dls_imp_attr_i(x, "blocksize", 1));
    const bool sound = s.rank == 4 && edge > 0;
    const bool apart = strcmp(x->op, "DepthToSpace") == 0;
    for (int32_t i = 1; sound && i < 4; i++) {
        const int64_t by = i == 1 ? dls_imp_mul(edge, edge) : edge;
        s.dim[i] = s.dim[i] < 0 ? -1 : (i == 1) == apart ? s.dim[i] / by : dls_imp_mul(s.dim[i], by);
    }
    dls_imp_out1(g, x, sound ? &s : &dls_imp_no_shape);
}

/* To the sizes that are named, or by whole factors; of those axes alone that "axes" names. */
static void rule_resize(imp_graph *g, imp_node *x)
{
    const bool old = x->n_in < 3; /* Upsample, and Resize of opset 10: (X, scales) */
    int32_t n = 0, n_times = 0;
    const int64_t *to = old ? NULL : dls_imp_values(g, x, 3, &n);
    const int64_t *times = dls_imp_values(g, x, old ? 1 : 2, &n_times);
    const imp_attr *axes = dls_imp_attr_find(x, "axes");
    imp_shape s = dls_imp_in(g, x, 0)->shape;
    const int64_t *by = to ? to : times;
    const int32_t n_axes = axes ? axes->n_ints : s.rank;
    n = to ? n : n_times;
    for (int32_t i = 0; i < n_axes; i++) {
        const int32_t at = dls_imp_axis(axes ? axes->ints[i] : i, s.rank);
        const bool sure = by && at >= 0 && n == n_axes && by[i] >= 0 && (to || s.dim[at] >= 0);
        s.dim[at < 0 ? 0 : at] = !sure ? -1 : to ? to[i] : dls_imp_mul(s.dim[at], times[i]);
    }
    s = dls_imp_shape_of(s.rank, s.dim);
    dls_imp_out1(g, x, &s);
}

/* ---- about tensors --------------------------------------------------------------------------- */

static int64_t within(int64_t at, int64_t n)
{
    at = at < 0 ? at + n : at;
    return at < 0 ? 0 : at > n ? n : at;
}

/* All dimensions, or those from "start" to "end". */
static void rule_shape(imp_graph *g, imp_node *x)
{
    dls_imp_rule_shape(g, x);
    if (x->n_out != 1 || !x->out[0].value) {
        return;
    }
    const imp_out all = x->out[0];
    const int64_t low = within(dls_imp_attr_i(x, "start", 0), all.n_value);
    const int64_t high = within(dls_imp_attr_i(x, "end", all.n_value), all.n_value);
    x->out[0].bytes = 8;
    dls_imp_set_values(g, x, all.value + low, high > low ? (int32_t)(high - low) : 0, false);
}

static void rule_size(imp_graph *g, imp_node *x)
{
    dls_imp_rule_size(g, x);
    dls_imp_set_type(x, 8 << 1);
}

static void rule_constant(imp_graph *g, imp_node *x)
{
    const imp_attr *one = dls_imp_attr_find(x, "value_int");
    const imp_attr *many = dls_imp_attr_find(x, "value_ints");
    dls_imp_rule_const(g, x);
    if (x->n_out == 1 && (one || many)) {
        dls_imp_set_type(x, 8 << 1);
        dls_imp_set_values(g, x, one ? &one->i : many->ints, one ? 1 : many->n_ints, one != NULL);
    } else if (x->n_out == 1 && dls_imp_attr_find(x, "value_float")) {
        x->out[0].shape = dls_imp_scalar;
        dls_imp_set_type(x, 4 << 1 | 1);
    }
}

/* The shape is what input 0 says, the type that of "value". */
static void rule_fill(imp_graph *g, imp_node *x)
{
    int32_t n = 0;
    const int64_t *to = dls_imp_values(g, x, 0, &n);
    const imp_attr *value = dls_imp_attr_find(x, "value");
    const imp_out *like = value ? value->tensor : NULL;
    const imp_shape s = to ? dls_imp_shape_of(n, to) : dls_imp_no_shape;
    dls_imp_out1(g, x, &s);
    dls_imp_set_type(x, like ? like->bytes << 1 | like->real : 4 << 1 | 1);
    if (like && like->value && like->n_value == 1 && s.rank == 1 && s.dim[0] >= 0 &&
        s.dim[0] <= IMP_VALUES_MAX) {
        int64_t values[IMP_VALUES_MAX];
        for (int64_t i = 0; i < s.dim[0]; i++) {
            values[i] = like->value[0];
        }
        dls_imp_set_values(g, x, values, (int32_t)s.dim[0], false);
    }
}

static void rule_cast(imp_graph *g, imp_node *x)
{
    dls_imp_cast(g, x, dls_onnx_type((int32_t)dls_imp_attr_i(x, "to", 1)));
}

int64_t dls_onnx_type(int32_t type)
{
    /* TensorProto.DataType: bytes << 1 | floating point */
    static const int8_t codes[] = {
        0,          4 << 1 | 1, 1 << 1,     1 << 1, 2 << 1, 2 << 1,     4 << 1,
        8 << 1,     0,          1 << 1,     5,      17,     4 << 1,     8 << 1,
        8 << 1 | 1, 33,         2 << 1 | 1, 3,      3,      1 << 1 | 1, 1 << 1 | 1,
    };
    return type >= 0 && type < (int32_t)(sizeof codes) ? codes[type] : 0;
}

/* ---- the operations -------------------------------------------------------------------------- */

/* Under TensorFlow's names, because features are looked up by them. */
static const imp_op table[] = {
    {"And", "LogicalAnd", DLS_OP_LOGICAL_AND, dls_imp_rule_compare},
    {"ArgMax", "ArgMax", DLS_OP_ARG_MAX, rule_arg_max},
    {"ArgMin", "ArgMin", DLS_OP_ARG_MAX, rule_arg_max},
    {"AveragePool LpPool", "AvgPool", DLS_OP_AVG_POOL, dls_onnx_rule_pool},
    {"BatchNormalization", "FusedBatchNorm", DLS_OP_BATCH_NORM, rule_norm},
    {"Cast", "Cast", DLS_OP_CAST, rule_cast},
    {"Celu", "Elu", DLS_OP_SIGMOID, dls_imp_rule_unary},
    {"Clip HardSigmoid", "Relu6", DLS_OP_RELU6, dls_imp_rule_unary},
    {"Concat", "ConcatV2", DLS_OP_CONCAT, rule_concat},
    {"Constant", "Const", DLS_OP_CONST, rule_constant},
    {"ConstantOfShape", "Fill", DLS_OP_FILL, rule_fill},
    {"Conv", "Conv2D", DLS_OP_CONV2D, dls_onnx_rule_conv},
    {"ConvTranspose", "Conv2DBackpropInput", DLS_OP_CONV2D_GRAD_INPUT, dls_onnx_rule_conv_transpose},
    {"CumSum", "Cumsum", DLS_OP_ADD, dls_imp_rule_unary},
    {"DepthToSpace", "DepthToSpace", DLS_OP_TRANSPOSE, rule_squares},
    {"Div", "RealDiv", DLS_OP_REAL_DIV, dls_imp_rule_broadcast},
    {"Dropout", "Identity", DLS_OP_IDENTITY, rule_dropout},
    {"Expand", "Tile", DLS_OP_TILE, rule_expand},
    {"Flatten", "Reshape", DLS_OP_RESHAPE, rule_flatten},
    {"GRU", "GRUBlockCell", DLS_OP_GRU_CELL, rule_rnn},
    {"Gather", "GatherV2", DLS_OP_GATHER, rule_gather},
    {"GatherElements", "GatherNd", DLS_OP_GATHER, rule_gather_elements},
    {"GatherND", "GatherNd", DLS_OP_GATHER, rule_gather_nd},
    {"Gemm", "MatMul", DLS_OP_MATMUL, dls_tf_rule_matmul},
    {"GlobalAveragePool GlobalLpPool", "Mean", DLS_OP_MEAN, rule_global_pool},
    {"GlobalMaxPool", "Max", DLS_OP_MAX, rule_global_pool},
    {"GreaterOrEqual", "GreaterEqual", DLS_OP_GREATER_EQUAL, dls_imp_rule_compare},
    {"GroupNormalization InstanceNormalization LayerNormalization", "LayerNorm", DLS_OP_LAYER_NORM,
     rule_norm},
    {"HardSwish Mish", "Swish", DLS_OP_SWISH, dls_imp_rule_unary},
    {"LSTM", "LSTMBlockCell", DLS_OP_LSTM_CELL, rule_rnn},
    {"LessOrEqual", "LessEqual", DLS_OP_LESS, dls_imp_rule_compare},
    {"LpNormalization MeanVarianceNormalization", "LayerNorm", DLS_OP_LAYER_NORM,
     dls_imp_rule_unary},
    {"MatMul", "BatchMatMulV2", DLS_OP_BATCH_MATMUL, dls_tf_rule_matmul},
    {"Max", "Maximum", DLS_OP_MAXIMUM, dls_imp_rule_broadcast},
    {"MaxPool", "MaxPool", DLS_OP_MAX_POOL, dls_onnx_rule_pool},
    {"Mean Sum", "AddN", DLS_OP_ADD_N, dls_imp_rule_broadcast},
    {"Min", "Minimum", DLS_OP_MINIMUM, dls_imp_rule_broadcast},
    {"Mod", "FloorMod", DLS_OP_FLOOR_MOD, dls_imp_rule_broadcast},
    {"Not", "LogicalNot", DLS_OP_LOGICAL_AND, dls_imp_rule_unary},
    {"OneHot", "OneHot", DLS_OP_ONE_HOT, dls_tf_rule_one_hot},
    {"Or", "LogicalOr", DLS_OP_LOGICAL_AND, dls_imp_rule_compare},
    {"PRelu", "LeakyRelu", DLS_OP_RELU, dls_imp_rule_unary},
    {"Pad", "Pad", DLS_OP_PAD, rule_pad},
    {"RMSNormalization SimplifiedLayerNormalization", "RMSNorm", DLS_OP_RMS_NORM, rule_norm},
    {"RNN", NULL, DLS_OP_GRU_CELL, rule_rnn},
    {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSum ReduceSumSquare", "Sum", DLS_OP_SUM, rule_reduce},
    {"ReduceMax", "Max", DLS_OP_MAX, rule_reduce},
    {"ReduceMean", "Mean", DLS_OP_MEAN, rule_reduce},
    {"ReduceMin", "Min", DLS_OP_MIN, rule_reduce},
    {"ReduceProd", "Prod", DLS_OP_PROD, rule_reduce},
    {"Reshape", "Reshape", DLS_OP_RESHAPE, rule_reshape},
    {"Resize Upsample", "ResizeNearestNeighbor", DLS_OP_TILE, rule_resize},
    {"Scatter ScatterElements ScatterND", "TensorScatterUpdate", DLS_OP_TENSOR_SCATTER,
     dls_imp_rule_unary},
    {"Shape", "Shape", DLS_OP_SHAPE, rule_shape},
    {"Size", "Size", DLS_OP_SIZE, rule_size},
    {"Slice", "StridedSlice", DLS_OP_STRIDED_SLICE, rule_slice},
    {"SpaceToDepth", "SpaceToDepth", DLS_OP_TRANSPOSE, rule_squares},
    {"Split", "Split", DLS_OP_SPLIT, rule_split},
    {"Squeeze", "Squeeze", DLS_OP_SQUEEZE, rule_squeeze},
    {"ThresholdedRelu", "Relu", DLS_OP_RELU, dls_imp_rule_unary},
    {"TopK", "TopKV2", DLS_OP_ARG_MAX, rule_top_k},
    {"Transpose", "Transpose", DLS_OP_TRANSPOSE, rule_transpose},
    {"Trilu", "MatrixBandPart", DLS_OP_SELECT, dls_imp_rule_unary},
    {"Unsqueeze", "ExpandDims", DLS_OP_EXPAND_DIMS, rule_unsqueeze},
    {"Where", "SelectV2", DLS_OP_SELECT, dls_tf_rule_select},
};
/* What TensorFlow has under the same name. */
static const char same[] =
    "Abs Add Ceil Cos Elu Equal Erf Exp Floor Gelu Greater Identity LRN LeakyRelu Less Log "
    "LogSoftmax Mul Neg Pow Range Reciprocal Relu ReverseSequence Round Selu Sigmoid Sign Sin "
    "Softmax Softplus Softsign Sqrt Sub Tanh Tile";

const imp_op *dls_imp_onnx_op(const char *name)
{
    return dls_spec_has(same, name) ? dls_imp_tf_op(name)
                                    : dls_imp_op_find(table, sizeof table / sizeof *table, name);
}
