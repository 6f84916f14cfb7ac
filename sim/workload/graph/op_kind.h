/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The operations a computational graph is made of. A kind is one TensorFlow operation; its text is
 * TensorFlow's name, which is also the key of Driple's frequency table. A family says which part of
 * a time model applies to it. An operation that is not in the table has kind DLS_OP_OTHER and keeps
 * its own name in the graph.
 */
#ifndef DLS_GRAPH_OP_KIND_H
#define DLS_GRAPH_OP_KIND_H

#include <stddef.h>
#include <stdint.h>

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

/* XX(kind, TensorFlow's name, family) */
#define DLS_OP_KIND_MAP(XX)                                                                        \
    XX(CONV2D, "Conv2D", CONV)                                                                     \
    XX(CONV2D_GRAD_INPUT, "Conv2DBackpropInput", CONV)                                             \
    XX(CONV2D_GRAD_FILTER, "Conv2DBackpropFilter", CONV)                                           \
    XX(DEPTHWISE_CONV, "DepthwiseConv2dNative", CONV)                                              \
    XX(DEPTHWISE_CONV_GRAD_INPUT, "DepthwiseConv2dNativeBackpropInput", CONV)                      \
    XX(DEPTHWISE_CONV_GRAD_FILTER, "DepthwiseConv2dNativeBackpropFilter", CONV)                    \
    XX(MATMUL, "MatMul", MATMUL)                                                                   \
    XX(BATCH_MATMUL, "BatchMatMul", MATMUL)                                                        \
    XX(BIAS_ADD, "BiasAdd", ELEMENTWISE)                                                           \
    XX(BIAS_ADD_GRAD, "BiasAddGrad", REDUCE)                                                       \
    XX(ADD, "Add", ELEMENTWISE)                                                                    \
    XX(ADD_N, "AddN", ELEMENTWISE)                                                                 \
    XX(SUB, "Sub", ELEMENTWISE)                                                                    \
    XX(MUL, "Mul", ELEMENTWISE)                                                                    \
    XX(REAL_DIV, "RealDiv", ELEMENTWISE)                                                           \
    XX(MAXIMUM, "Maximum", ELEMENTWISE)                                                            \
    XX(MINIMUM, "Minimum", ELEMENTWISE)                                                            \
    XX(NEG, "Neg", ELEMENTWISE)                                                                    \
    XX(POW, "Pow", ELEMENTWISE)                                                                    \
    XX(EXP, "Exp", ELEMENTWISE)                                                                    \
    XX(SQRT, "Sqrt", ELEMENTWISE)                                                                  \
    XX(RSQRT, "Rsqrt", ELEMENTWISE)                                                                \
    XX(RSQRT_GRAD, "RsqrtGrad", ELEMENTWISE)                                                       \
    XX(SQUARE, "Square", ELEMENTWISE)                                                              \
    XX(SQUARED_DIFFERENCE, "SquaredDifference", ELEMENTWISE)                                       \
    XX(FLOOR, "Floor", ELEMENTWISE)                                                                \
    XX(CAST, "Cast", ELEMENTWISE)                                                                  \
    XX(SELECT, "Select", ELEMENTWISE)                                                              \
    XX(GREATER_EQUAL, "GreaterEqual", ELEMENTWISE)                                                 \
    XX(LESS, "Less", ELEMENTWISE)                                                                  \
    XX(EQUAL, "Equal", ELEMENTWISE)                                                                \
    XX(RELU, "Relu", ELEMENTWISE)                                                                  \
    XX(RELU_GRAD, "ReluGrad", ELEMENTWISE)                                                         \
    XX(RELU6, "Relu6", ELEMENTWISE)                                                                \
    XX(RELU6_GRAD, "Relu6Grad", ELEMENTWISE)                                                       \
    XX(SIGMOID, "Sigmoid", ELEMENTWISE)                                                            \
    XX(SIGMOID_GRAD, "SigmoidGrad", ELEMENTWISE)                                                   \
    XX(TANH, "Tanh", ELEMENTWISE)                                                                  \
    XX(TANH_GRAD, "TanhGrad", ELEMENTWISE)                                                         \
    XX(GELU, "Gelu", ELEMENTWISE)                                                                  \
    XX(GELU_GRAD, "GeluGrad", ELEMENTWISE)                                                         \
    XX(SWISH, "Swish", ELEMENTWISE)                                                                \
    XX(SWISH_GRAD, "SwishGrad", ELEMENTWISE)                                                       \
    XX(ROTARY, "RotaryEmbedding", ELEMENTWISE)                                                     \
    XX(ROTARY_GRAD, "RotaryEmbeddingGrad", ELEMENTWISE)                                            \
    XX(BATCH_NORM, "FusedBatchNorm", NORM)                                                         \
    XX(BATCH_NORM_GRAD, "FusedBatchNormGrad", NORM)                                                \
    XX(LAYER_NORM, "LayerNorm", NORM)                                                              \
    XX(LAYER_NORM_GRAD, "LayerNormGrad", NORM)                                                     \
    XX(RMS_NORM, "RMSNorm", NORM)                                                                  \
    XX(RMS_NORM_GRAD, "RMSNormGrad", NORM)                                                         \
    XX(LRN, "LRN", NORM)                                                                           \
    XX(LRN_GRAD, "LRNGrad", NORM)                                                                  \
    XX(MAX_POOL, "MaxPool", POOL)                                                                  \
    XX(MAX_POOL_GRAD, "MaxPoolGrad", POOL)                                                         \
    XX(AVG_POOL, "AvgPool", POOL)                                                                  \
    XX(AVG_POOL_GRAD, "AvgPoolGrad", POOL)                                                         \
    XX(SOFTMAX, "Softmax", SOFTMAX)                                                                \
    XX(SOFTMAX_GRAD, "SoftmaxGrad", SOFTMAX)                                                       \
    XX(LOG_SOFTMAX, "LogSoftmax", SOFTMAX)                                                         \
    XX(CROSS_ENTROPY, "SparseSoftmaxCrossEntropyWithLogits", LOSS)                                 \
    XX(CROSS_ENTROPY_DENSE, "SoftmaxCrossEntropyWithLogits", LOSS)                                 \
    XX(L2_LOSS, "L2Loss", LOSS)                                                                    \
    XX(GATHER, "Gather", EMBEDDING)                                                                \
    XX(SEGMENT_SUM, "UnsortedSegmentSum", EMBEDDING) /* its gradient */                            \
    XX(ONE_HOT, "OneHot", EMBEDDING)                                                               \
    XX(LSTM_CELL, "LSTMBlockCell", RNN)                                                            \
    XX(LSTM_CELL_GRAD, "LSTMBlockCellGrad", RNN)                                                   \
    XX(GRU_CELL, "GRUBlockCell", RNN)                                                              \
    XX(GRU_CELL_GRAD, "GRUBlockCellGrad", RNN)                                                     \
    XX(SUM, "Sum", REDUCE)                                                                         \
    XX(MEAN, "Mean", REDUCE)                                                                       \
    XX(MAX, "Max", REDUCE)                                                                         \
    XX(MIN, "Min", REDUCE)                                                                         \
    XX(PROD, "Prod", REDUCE)                                                                       \
    XX(ALL, "All", REDUCE)                                                                         \
    XX(ARG_MAX, "ArgMax", REDUCE)                                                                  \
    XX(CONCAT, "ConcatV2", DATA)                                                                   \
    XX(SPLIT, "Split", DATA)                                                                       \
    XX(SLICE, "Slice", DATA)                                                                       \
    XX(STRIDED_SLICE, "StridedSlice", DATA)                                                        \
    XX(STRIDED_SLICE_GRAD, "StridedSliceGrad", DATA)                                               \
    XX(PAD, "Pad", DATA)                                                                           \
    XX(PACK, "Pack", DATA)                                                                         \
    XX(TILE, "Tile", DATA)                                                                         \
    XX(TRANSPOSE, "Transpose", DATA)                                                               \
    XX(REVERSE_SEQUENCE, "ReverseSequence", DATA)                                                  \
    XX(TENSOR_ARRAY_READ, "TensorArrayReadV3", DATA)                                               \
    XX(TENSOR_ARRAY_WRITE, "TensorArrayWriteV3", DATA)                                             \
    XX(TENSOR_ARRAY_GATHER, "TensorArrayGatherV3", DATA)                                           \
    XX(TENSOR_ARRAY_SCATTER, "TensorArrayScatterV3", DATA)                                         \
    XX(FILL, "Fill", DATA)                                                                         \
    XX(ZEROS_LIKE, "ZerosLike", DATA)                                                              \
    XX(STACK_PUSH, "StackPushV2", DATA)                                                            \
    XX(STACK_POP, "StackPopV2", DATA)                                                              \
    XX(RESHAPE, "Reshape", SHAPE)                                                                  \
    XX(SQUEEZE, "Squeeze", SHAPE)                                                                  \
    XX(EXPAND_DIMS, "ExpandDims", SHAPE)                                                           \
    XX(SHAPE, "Shape", SHAPE)                                                                      \
    XX(SHAPE_N, "ShapeN", SHAPE)                                                                   \
    XX(SIZE, "Size", SHAPE)                                                                        \
    XX(RANK, "Rank", SHAPE)                                                                        \
    XX(RANGE, "Range", SHAPE)                                                                      \
    XX(CONCAT_OFFSET, "ConcatOffset", SHAPE)                                                       \
    XX(INVERT_PERMUTATION, "InvertPermutation", SHAPE)                                             \
    XX(FLOOR_DIV, "FloorDiv", SHAPE)                                                               \
    XX(FLOOR_MOD, "FloorMod", SHAPE)                                                               \
    XX(BROADCAST_GRAD_ARGS, "BroadcastGradientArgs", SHAPE)                                        \
    XX(STOP_GRADIENT, "StopGradient", SHAPE)                                                       \
    XX(PREVENT_GRADIENT, "PreventGradient", SHAPE)                                                 \
    XX(TENSOR_ARRAY, "TensorArrayV3", SHAPE)                                                       \
    XX(TENSOR_ARRAY_GRAD, "TensorArrayGradV3", SHAPE)                                              \
    XX(TENSOR_ARRAY_SIZE, "TensorArraySizeV3", SHAPE)                                              \
    XX(STACK, "StackV2", SHAPE)                                                                    \
    XX(RANDOM_UNIFORM, "RandomUniform", RANDOM)                                                    \
    XX(TRUNCATED_NORMAL, "TruncatedNormal", RANDOM)                                                \
    XX(APPLY_SGD, "ApplyGradientDescent", OPTIMISER)                                               \
    XX(APPLY_MOMENTUM, "ApplyMomentum", OPTIMISER)                                                 \
    XX(APPLY_ADAM, "ApplyAdam", OPTIMISER)                                                         \
    XX(APPLY_RMSPROP, "ApplyRMSProp", OPTIMISER)                                                   \
    XX(SCATTER_SUB, "ScatterSub", OPTIMISER)                                                       \
    XX(SCATTER_ADD, "ScatterAdd", OPTIMISER)                                                       \
    XX(SCATTER_UPDATE, "ScatterUpdate", OPTIMISER)                                                 \
    XX(ASSIGN_SUB, "AssignSub", OPTIMISER)                                                         \
    XX(ASSIGN_ADD, "AssignAdd", OPTIMISER)                                                         \
    XX(VARIABLE, "VariableV2", VARIABLE)                                                           \
    XX(IDENTITY, "Identity", READ)                                                                 \
    XX(CONST, "Const", CONST)                                                                      \
    XX(PLACEHOLDER, "Placeholder", INPUT)                                                          \
    XX(ITERATOR_NEXT, "IteratorGetNext", INPUT)                                                    \
    XX(ASSIGN, "Assign", STATE)                                                                    \
    XX(IS_INITIALIZED, "IsVariableInitialized", STATE)                                             \
    XX(SAVE, "SaveV2", STATE)                                                                      \
    XX(RESTORE, "RestoreV2", STATE)                                                                \
    XX(NO_OP, "NoOp", CONTROL)                                                                     \
    XX(CONTROL_TRIGGER, "ControlTrigger", CONTROL)                                                 \
    XX(ENTER, "Enter", CONTROL)                                                                    \
    XX(EXIT, "Exit", CONTROL)                                                                      \
    XX(MERGE, "Merge", CONTROL)                                                                    \
    XX(SWITCH, "Switch", CONTROL)                                                                  \
    XX(NEXT_ITERATION, "NextIteration", CONTROL)                                                   \
    XX(LOOP_COND, "LoopCond", CONTROL)                                                             \
    XX(LOGICAL_AND, "LogicalAnd", CONTROL)                                                         \
    XX(ASSERT, "Assert", CONTROL)                                                                  \
    XX(OTHER, "Other", OTHER)

typedef enum dls_op_kind {
#define XX(id, text, family) DLS_OP_##id,
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
