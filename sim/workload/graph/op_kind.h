/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The operations a computational graph is made of. A kind is one TensorFlow operation; its text is
 * TensorFlow's name, which is also the key of Driple's frequency table. A family says which part of
 * a time model applies to it. An operation that is not in the table has kind DLS_OP_OTHER and keeps
 * its own name in the graph.
 */
#ifndef DLS_GRAPH_OP_KIND_H
#define DLS_GRAPH_OP_KIND_H

/* XX(family, text) */
#define DLS_OP_FAMILY_MAP(XX)                                                                      \
    XX(CONV, "conv")               /* convolutions and their gradients */                          \
    XX(MATMUL, "matmul")           /* matrix products, batched or not */                           \
    XX(ELEMENTWISE, "elementwise") /* activations, arithmetic, bias */                             \
    XX(NORM, "norm")               /* batch, layer, root-mean-square, local response */            \
    XX(POOL, "pool")                                                                               \
    XX(SOFTMAX, "softmax")                                                                         \
    XX(LOSS, "loss")                                                                               \
    XX(EMBEDDING, "embedding") /* table look-up and its gradient */                                \
    XX(RNN, "rnn")             /* fused recurrent cells */                                         \
    XX(REDUCE, "reduce")                                                                           \
    XX(DATA, "data")   /* moves without computing: concatenate, slice, pad, transpose */           \
    XX(SHAPE, "shape") /* views and shape arithmetic: no data is touched */                        \
    XX(RANDOM, "random")                                                                           \
    XX(OPTIMISER, "optimiser") /* updates variables */                                             \
    XX(VARIABLE, "variable")                                                                       \
    XX(READ, "read") /* of a variable */                                                           \
    XX(CONST, "const")                                                                             \
    XX(INPUT, "input") /* placeholders, iterators, queues */                                       \
    XX(STATE, "state") /* initialisation and checkpoints: not part of a training step */           \
    XX(CONTROL, "control")                                                                         \
    XX(OTHER, "other")

typedef enum dls_op_family {
#define XX(id, text) DLS_FAMILY_##id,
    DLS_OP_FAMILY_MAP(XX)
#undef XX
        DLS_FAMILY_COUNT
} dls_op_family;

/* XX(kind, TensorFlow's name, family, how a reader of files finds its shapes: tf_rules.c) */
#define DLS_OP_KIND_MAP(XX)                                                                        \
    XX(CONV2D, "Conv2D", CONV, tf_rule_conv)                                                       \
    XX(CONV2D_GRAD_INPUT, "Conv2DBackpropInput", CONV, tf_rule_conv_grad_input)                    \
    XX(CONV2D_GRAD_FILTER, "Conv2DBackpropFilter", CONV, tf_rule_conv_grad_filter)                 \
    XX(DEPTHWISE_CONV, "DepthwiseConv2dNative", CONV, tf_rule_conv)                                \
    XX(DEPTHWISE_CONV_GRAD_INPUT, "DepthwiseConv2dNativeBackpropInput", CONV,                      \
       tf_rule_conv_grad_input)                                                                    \
    XX(DEPTHWISE_CONV_GRAD_FILTER, "DepthwiseConv2dNativeBackpropFilter", CONV,                    \
       tf_rule_conv_grad_filter)                                                                   \
    XX(MATMUL, "MatMul", MATMUL, dls_tf_rule_matmul)                                               \
    XX(BATCH_MATMUL, "BatchMatMul", MATMUL, dls_tf_rule_matmul)                                    \
    XX(BIAS_ADD, "BiasAdd", ELEMENTWISE, dls_imp_rule_unary)                                       \
    XX(BIAS_ADD_GRAD, "BiasAddGrad", REDUCE, tf_rule_bias_grad)                                    \
    XX(ADD, "Add", ELEMENTWISE, dls_imp_rule_broadcast)                                            \
    XX(ADD_N, "AddN", ELEMENTWISE, dls_imp_rule_broadcast)                                         \
    XX(SUB, "Sub", ELEMENTWISE, dls_imp_rule_broadcast)                                            \
    XX(MUL, "Mul", ELEMENTWISE, dls_imp_rule_broadcast)                                            \
    XX(REAL_DIV, "RealDiv", ELEMENTWISE, dls_imp_rule_broadcast)                                   \
    XX(MAXIMUM, "Maximum", ELEMENTWISE, dls_imp_rule_broadcast)                                    \
    XX(MINIMUM, "Minimum", ELEMENTWISE, dls_imp_rule_broadcast)                                    \
    XX(NEG, "Neg", ELEMENTWISE, dls_imp_rule_unary)                                                \
    XX(POW, "Pow", ELEMENTWISE, dls_imp_rule_broadcast)                                            \
    XX(EXP, "Exp", ELEMENTWISE, dls_imp_rule_unary)                                                \
    XX(SQRT, "Sqrt", ELEMENTWISE, dls_imp_rule_unary)                                              \
    XX(RSQRT, "Rsqrt", ELEMENTWISE, dls_imp_rule_unary)                                            \
    XX(RSQRT_GRAD, "RsqrtGrad", ELEMENTWISE, dls_imp_rule_either)                                  \
    XX(SQUARE, "Square", ELEMENTWISE, dls_imp_rule_unary)                                          \
    XX(SQUARED_DIFFERENCE, "SquaredDifference", ELEMENTWISE, dls_imp_rule_broadcast)               \
    XX(FLOOR, "Floor", ELEMENTWISE, dls_imp_rule_unary)                                            \
    XX(CAST, "Cast", ELEMENTWISE, tf_rule_cast)                                                    \
    XX(SELECT, "Select", ELEMENTWISE, dls_tf_rule_select)                                          \
    XX(GREATER_EQUAL, "GreaterEqual", ELEMENTWISE, dls_imp_rule_compare)                           \
    XX(LESS, "Less", ELEMENTWISE, dls_imp_rule_compare)                                            \
    XX(EQUAL, "Equal", ELEMENTWISE, dls_imp_rule_compare)                                          \
    XX(RELU, "Relu", ELEMENTWISE, dls_imp_rule_unary)                                              \
    XX(RELU_GRAD, "ReluGrad", ELEMENTWISE, dls_imp_rule_either)                                    \
    XX(RELU6, "Relu6", ELEMENTWISE, dls_imp_rule_unary)                                            \
    XX(RELU6_GRAD, "Relu6Grad", ELEMENTWISE, dls_imp_rule_either)                                  \
    XX(SIGMOID, "Sigmoid", ELEMENTWISE, dls_imp_rule_unary)                                        \
    XX(SIGMOID_GRAD, "SigmoidGrad", ELEMENTWISE, dls_imp_rule_either)                              \
    XX(TANH, "Tanh", ELEMENTWISE, dls_imp_rule_unary)                                              \
    XX(TANH_GRAD, "TanhGrad", ELEMENTWISE, dls_imp_rule_either)                                    \
    XX(GELU, "Gelu", ELEMENTWISE, dls_imp_rule_unary)                                              \
    XX(GELU_GRAD, "GeluGrad", ELEMENTWISE, dls_imp_rule_either)                                    \
    XX(SWISH, "Swish", ELEMENTWISE, dls_imp_rule_unary)                                            \
    XX(SWISH_GRAD, "SwishGrad", ELEMENTWISE, dls_imp_rule_either)                                  \
    XX(ROTARY, "RotaryEmbedding", ELEMENTWISE, dls_imp_rule_unary)                                 \
    XX(ROTARY_GRAD, "RotaryEmbeddingGrad", ELEMENTWISE, dls_imp_rule_either)                       \
    XX(BATCH_NORM, "FusedBatchNorm", NORM, tf_rule_batch_norm)                                     \
    XX(BATCH_NORM_GRAD, "FusedBatchNormGrad", NORM, tf_rule_batch_norm_grad)                       \
    XX(LAYER_NORM, "LayerNorm", NORM, dls_imp_rule_unary)                                          \
    XX(LAYER_NORM_GRAD, "LayerNormGrad", NORM, dls_imp_rule_either)                                \
    XX(RMS_NORM, "RMSNorm", NORM, dls_imp_rule_unary)                                              \
    XX(RMS_NORM_GRAD, "RMSNormGrad", NORM, dls_imp_rule_either)                                    \
    XX(LRN, "LRN", NORM, dls_imp_rule_unary)                                                       \
    XX(LRN_GRAD, "LRNGrad", NORM, dls_imp_rule_either)                                             \
    XX(MAX_POOL, "MaxPool", POOL, tf_rule_pool)                                                    \
    XX(MAX_POOL_GRAD, "MaxPoolGrad", POOL, dls_imp_rule_unary)                                     \
    XX(AVG_POOL, "AvgPool", POOL, tf_rule_pool)                                                    \
    XX(AVG_POOL_GRAD, "AvgPoolGrad", POOL, tf_rule_avg_pool_grad)                                  \
    XX(SOFTMAX, "Softmax", SOFTMAX, dls_imp_rule_unary)                                            \
    XX(SOFTMAX_GRAD, "SoftmaxGrad", SOFTMAX, dls_imp_rule_either)                                  \
    XX(LOG_SOFTMAX, "LogSoftmax", SOFTMAX, dls_imp_rule_unary)                                     \
    XX(CROSS_ENTROPY, "SparseSoftmaxCrossEntropyWithLogits", LOSS, tf_rule_cross_entropy)          \
    XX(CROSS_ENTROPY_DENSE, "SoftmaxCrossEntropyWithLogits", LOSS, tf_rule_cross_entropy)          \
    XX(L2_LOSS, "L2Loss", LOSS, dls_imp_rule_scalar)                                               \
    XX(GATHER, "Gather", EMBEDDING, dls_tf_rule_gather)                                            \
    XX(SEGMENT_SUM, "UnsortedSegmentSum", EMBEDDING, dls_tf_rule_segment_sum) /* its gradient */   \
    XX(ONE_HOT, "OneHot", EMBEDDING, dls_tf_rule_one_hot)                                          \
    XX(LSTM_CELL, "LSTMBlockCell", RNN, dls_imp_rule_unknown)                                      \
    XX(LSTM_CELL_GRAD, "LSTMBlockCellGrad", RNN, dls_imp_rule_unknown)                             \
    XX(GRU_CELL, "GRUBlockCell", RNN, dls_imp_rule_unknown)                                        \
    XX(GRU_CELL_GRAD, "GRUBlockCellGrad", RNN, dls_imp_rule_unknown)                               \
    XX(SUM, "Sum", REDUCE, tf_rule_reduce)                                                         \
    XX(MEAN, "Mean", REDUCE, tf_rule_reduce)                                                       \
    XX(MAX, "Max", REDUCE, tf_rule_reduce)                                                         \
    XX(MIN, "Min", REDUCE, tf_rule_reduce)                                                         \
    XX(PROD, "Prod", REDUCE, tf_rule_reduce)                                                       \
    XX(ALL, "All", REDUCE, tf_rule_reduce)                                                         \
    XX(ARG_MAX, "ArgMax", REDUCE, tf_rule_arg_max)                                                 \
    XX(CONCAT, "ConcatV2", DATA, dls_tf_rule_concat_v2)                                            \
    XX(SPLIT, "Split", DATA, dls_tf_rule_split)                                                    \
    XX(SLICE, "Slice", DATA, dls_tf_rule_slice)                                                    \
    XX(STRIDED_SLICE, "StridedSlice", DATA, dls_tf_rule_strided_slice)                             \
    XX(STRIDED_SLICE_GRAD, "StridedSliceGrad", DATA, tf_rule_slice_grad)                           \
    XX(PAD, "Pad", DATA, dls_tf_rule_pad)                                                          \
    XX(PACK, "Pack", DATA, dls_tf_rule_pack)                                                       \
    XX(TILE, "Tile", DATA, dls_imp_rule_tile)                                                      \
    XX(TRANSPOSE, "Transpose", DATA, dls_tf_rule_transpose)                                        \
    XX(REVERSE_SEQUENCE, "ReverseSequence", DATA, dls_imp_rule_unary)                              \
    XX(TENSOR_ARRAY_READ, "TensorArrayReadV3", DATA, dls_tf_rule_array_read)                       \
    XX(TENSOR_ARRAY_WRITE, "TensorArrayWriteV3", DATA, dls_tf_rule_array_write)                    \
    XX(TENSOR_ARRAY_GATHER, "TensorArrayGatherV3", DATA, dls_tf_rule_array_gather)                 \
    XX(TENSOR_ARRAY_SCATTER, "TensorArrayScatterV3", DATA, dls_tf_rule_array_scatter)              \
    XX(FILL, "Fill", DATA, tf_rule_fill)                                                           \
    XX(ZEROS_LIKE, "ZerosLike", DATA, dls_imp_rule_unary)                                          \
    XX(STACK_PUSH, "StackPushV2", DATA, dls_tf_rule_push)                                          \
    XX(STACK_POP, "StackPopV2", DATA, dls_tf_rule_array_read)                                      \
    XX(RESHAPE, "Reshape", SHAPE, dls_tf_rule_reshape)                                             \
    XX(SQUEEZE, "Squeeze", SHAPE, dls_tf_rule_squeeze)                                             \
    XX(EXPAND_DIMS, "ExpandDims", SHAPE, dls_tf_rule_expand_dims)                                  \
    XX(SHAPE, "Shape", SHAPE, dls_imp_rule_shape)                                                  \
    XX(SHAPE_N, "ShapeN", SHAPE, dls_imp_rule_shape)                                               \
    XX(SIZE, "Size", SHAPE, dls_imp_rule_size)                                                     \
    XX(RANK, "Rank", SHAPE, dls_imp_rule_size)                                                     \
    XX(RANGE, "Range", SHAPE, dls_tf_rule_range)                                                   \
    XX(CONCAT_OFFSET, "ConcatOffset", SHAPE, dls_tf_rule_concat_offset)                            \
    XX(INVERT_PERMUTATION, "InvertPermutation", SHAPE, dls_tf_rule_invert)                         \
    XX(FLOOR_DIV, "FloorDiv", SHAPE, dls_imp_rule_broadcast)                                       \
    XX(FLOOR_MOD, "FloorMod", SHAPE, dls_imp_rule_broadcast)                                       \
    XX(BROADCAST_GRAD_ARGS, "BroadcastGradientArgs", SHAPE, dls_tf_rule_broadcast_args)            \
    XX(STOP_GRADIENT, "StopGradient", SHAPE, dls_imp_rule_same)                                    \
    XX(PREVENT_GRADIENT, "PreventGradient", SHAPE, dls_imp_rule_same)                              \
    XX(TENSOR_ARRAY, "TensorArrayV3", SHAPE, dls_tf_rule_array)                                    \
    XX(TENSOR_ARRAY_GRAD, "TensorArrayGradV3", SHAPE, dls_tf_rule_array_grad)                      \
    XX(TENSOR_ARRAY_SIZE, "TensorArraySizeV3", SHAPE, dls_tf_rule_array_size)                      \
    XX(STACK, "StackV2", SHAPE, dls_tf_rule_array)                                                 \
    XX(RANDOM_UNIFORM, "RandomUniform", RANDOM, tf_rule_random)                                    \
    XX(TRUNCATED_NORMAL, "TruncatedNormal", RANDOM, tf_rule_random)                                \
    XX(APPLY_SGD, "ApplyGradientDescent", OPTIMISER, dls_imp_rule_unary)                           \
    XX(APPLY_MOMENTUM, "ApplyMomentum", OPTIMISER, dls_imp_rule_unary)                             \
    XX(APPLY_ADAM, "ApplyAdam", OPTIMISER, dls_imp_rule_unary)                                     \
    XX(APPLY_RMSPROP, "ApplyRMSProp", OPTIMISER, dls_imp_rule_unary)                               \
    XX(SCATTER_SUB, "ScatterSub", OPTIMISER, dls_imp_rule_unary)                                   \
    XX(SCATTER_ADD, "ScatterAdd", OPTIMISER, dls_imp_rule_unary)                                   \
    XX(SCATTER_UPDATE, "ScatterUpdate", OPTIMISER, dls_imp_rule_unary)                             \
    XX(ASSIGN_SUB, "AssignSub", OPTIMISER, dls_imp_rule_unary)                                     \
    XX(ASSIGN_ADD, "AssignAdd", OPTIMISER, dls_imp_rule_unary)                                     \
    XX(VARIABLE, "VariableV2", VARIABLE, dls_imp_rule_variable)                                    \
    XX(IDENTITY, "Identity", READ, dls_imp_rule_same)                                              \
    XX(CONST, "Const", CONST, dls_imp_rule_const)                                                  \
    XX(PLACEHOLDER, "Placeholder", INPUT, dls_imp_rule_input)                                      \
    XX(ITERATOR_NEXT, "IteratorGetNext", INPUT, dls_imp_rule_input)                                \
    XX(ASSIGN, "Assign", STATE, dls_imp_rule_either)                                               \
    XX(IS_INITIALIZED, "IsVariableInitialized", STATE, dls_tf_rule_truth)                          \
    XX(SAVE, "SaveV2", STATE, dls_imp_rule_none)                                                   \
    XX(RESTORE, "RestoreV2", STATE, dls_imp_rule_input)                                            \
    XX(NO_OP, "NoOp", CONTROL, dls_imp_rule_none)                                                  \
    XX(CONTROL_TRIGGER, "ControlTrigger", CONTROL, dls_imp_rule_none)                              \
    XX(ENTER, "Enter", CONTROL, dls_imp_rule_same)                                                 \
    XX(EXIT, "Exit", CONTROL, dls_imp_rule_same)                                                   \
    XX(MERGE, "Merge", CONTROL, dls_tf_rule_merge)                                                 \
    XX(SWITCH, "Switch", CONTROL, dls_tf_rule_switch)                                              \
    XX(NEXT_ITERATION, "NextIteration", CONTROL, dls_imp_rule_same)                                \
    XX(LOOP_COND, "LoopCond", CONTROL, dls_imp_rule_scalar)                                        \
    XX(LOGICAL_AND, "LogicalAnd", CONTROL, dls_imp_rule_compare)                                   \
    XX(ASSERT, "Assert", CONTROL, dls_imp_rule_none)                                               \
    XX(OTHER, "Other", OTHER, dls_imp_rule_unknown)                                                \
    XX(ATTENTION, "FusedAttention", MATMUL, dls_imp_rule_unknown)                                  \
    XX(ATTENTION_GRAD, "FusedAttentionGrad", MATMUL, dls_imp_rule_unknown)                         \
    XX(TENSOR_SCATTER, "TensorScatterUpdate", DATA, dls_imp_rule_unary)

typedef enum dls_op_kind {
#define XX(id, text, family, rule) DLS_OP_##id,
    DLS_OP_KIND_MAP(XX)
#undef XX
        DLS_OP_COUNT
} dls_op_kind;

/* TensorFlow's name; "Other" out of range. */
const char *dls_op_name(int kind);
dls_op_family dls_op_family_of(int kind);
/* "conv", ...; "other" out of range. */
const char *dls_op_family_name(int family);

#endif
