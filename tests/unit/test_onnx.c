/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * ONNX files: shapes and work computed by hand of models that the tests pack, what is wrong with a
 * file, failing allocations.
 */
#include "base/alloc.h"
#include "support/onnx_model.h"
#include "support/refuse.h"
#include "workload/graph/import_impl.h"
#include "workload/operator/from_graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- shapes and work ------------------------------------------------------------------------- */

static Dls__Onnx__ModelProto *image_net(void)
{
    Dls__Onnx__ModelProto *m = new_model();
    INPUT(m, "x", 0, 3, 32, 32);
    WEIGHT(m, "w1", 16, 3, 3, 3);
    WEIGHT(m, "b1", 16);
    Dls__Onnx__NodeProto *n = op(m, "Conv", "x w1 b1", "c1");
    INTS(n, "strides", 2, 2);
    INTS(n, "pads", 1, 1, 1, 1);
    WEIGHT(m, "g", 16);
    WEIGHT(m, "h", 16);
    WEIGHT(m, "mean", 16);
    WEIGHT(m, "var", 16);
    op(m, "BatchNormalization", "c1 g h mean var", "bn");
    WEIGHT(m, "w2", 16, 1, 3, 3);
    n = op(m, "Conv", "bn w2", "c2");
    INTS(n, "group", 16);
    INTS(n, "pads", 0, 0, 1, 1);
    op(m, "Relu", "c2", "r");
    n = op(m, "MaxPool", "r", "p");
    INTS(n, "kernel_shape", 3, 3);
    INTS(n, "strides", 2, 2);
    INTS(n, "ceil_mode", 1);
    op(m, "GlobalAveragePool", "p", "gap");
    op(m, "Flatten", "gap", "flat");
    WEIGHT(m, "w3", 10, 16);
    WEIGHT(m, "b3", 10);
    n = op(m, "Gemm", "flat w3 b3", "y");
    INTS(n, "transB", 1);
    return m;
}

TEST(images)
{
    dls_import_report report;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = graph(image_net(), &(dls_import_options){.batch = 8}, &report);
    assert_string_equal(g->info.model, "model");
    assert_int_equal(g->info.batch, 8);
    assert_int_equal(report.n_unknown, 0);
    assert_int_equal(report.n_shapeless, 0);
    assert_false(report.trains);

    const dls_op_node *c1 = at(g, "c1", "Conv2D");
    assert_int_equal(c1->tensor_size, 8 * 16 * 16 * 16);
    assert_true(c1->flops == 2.0 * 8 * 16 * 16 * 16 * 27);
    assert_int_equal(c1->read_bytes, 4 * (8 * 3 * 32 * 32 + 16 * 27 + 16));
    assert_int_equal(c1->dims.in_c, 3);
    const dls_op_node *c2 = at(g, "c2", "DepthwiseConv2dNative");
    assert_int_equal(c2->tensor_size, 8 * 16 * 15 * 15);
    assert_int_equal(c2->dims.groups, 16);
    assert_true(c2->flops == 2.0 * 8 * 15 * 15 * 16 * 9);
    const dls_op_node *p = at(g, "p", "MaxPool"); /* (15 - 3) / 2 + 1 = 7, no window sticks out */
    assert_int_equal(p->tensor_size, 8 * 16 * 7 * 7);
    assert_true(p->flops == 8 * 16 * 49 * 9);
    assert_int_equal(at(g, "gap", "Mean")->tensor_size, 8 * 16);
    const dls_op_node *y = at(g, "y", "MatMul");
    assert_int_equal(y->tensor_size, 80);
    assert_true(y->flops == 2.0 * 8 * 16 * 10);
    assert_int_equal(at(g, "bn", "FusedBatchNorm")->phase, DLS_PHASE_FORWARD);

    dls_opgraph_totals t;
    dls_opgraph_sum(g, &t);
    /* Moments are kept, not trained. */
    assert_int_equal(t.n_params, 432 + 16 + 32 + 144 + 160 + 10);
}

/* Shapes that a model computes, and everything that moves. */
TEST(moves)
{
    Dls__Onnx__ModelProto *m = new_model();
    INPUT(m, "x", 0, 6, 20);
    INPUT(m, "ids", 0, 6);
    op(m, "Shape", "x", "s");
    VALUES(m, "zero", 0);
    op(m, "Gather", "s zero", "b");
    VALUES(m, "tail", 2, 3, -1);
    Dls__Onnx__NodeProto *n = op(m, "Concat", "b tail", "to");
    INTS(n, "axis", 0);
    op(m, "Reshape", "x to", "r"); /* [5][2][3][20] */
    n = op(m, "Transpose", "r", "t");
    INTS(n, "perm", 0, 2, 1, 3);
    n = op(m, "Split", "t", "sp sp1 sp2");
    INTS(n, "axis", 3);
    INTS(n, "split", 4, 6, 10);
    VALUES(m, "from", -3);
    VALUES(m, "end", 9223372036854775807);
    VALUES(m, "axes", 3);
    VALUES(m, "steps", 2);
    op(m, "Slice", "sp2 from end axes steps", "sl"); /* 2 of the last 3 */
    VALUES(m, "pads", 0, 0, 0, 1, 0, 0, 0, 2);
    op(m, "Pad", "sl pads", "pd");
    VALUES(m, "ax1", 1);
    op(m, "Unsqueeze", "pd ax1", "un");
    op(m, "Squeeze", "un ax1", "sq");
    VALUES(m, "keep", 0, 0, -1);
    op(m, "Reshape", "sq keep", "rr"); /* 0 keeps a dimension */
    WEIGHT(m, "table", 100, 64);
    op(m, "Gather", "table ids", "emb");
    n = op(m, "ReduceMean", "emb", "rm");
    INTS(n, "axes", -1);
    op(m, "Sub", "emb rm", "cent");
    n = op(m, "Transpose", "cent", "kt");
    INTS(n, "perm", 0, 2, 1);
    op(m, "MatMul", "cent kt", "att");
    WEIGHT(m, "proj", 64, 32);
    op(m, "MatMul", "cent proj", "pr");
    WEIGHT(m, "lw", 1, 4 * 16, 64);
    WEIGHT(m, "lr", 1, 4 * 16, 16);
    op(m, "LSTM", "emb lw lr", "ly lh lc");
    op(m, "Mystery", "pr", "q");
    dls_import_report report;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = graph(m, &(dls_import_options){.batch = 5}, &report);
    assert_int_equal(at(g, "r", "Reshape")->tensor_size, 5 * 2 * 3 * 20);
    assert_int_equal(at(g, "sp", "Split")->tensor_size, 5 * 3 * 2 * 4);
    assert_int_equal(at(g, "sp", "Split")->out_bytes, 4 * 600);
    assert_int_equal(at(g, "sl", "StridedSlice")->tensor_size, 30 * 2);
    assert_int_equal(at(g, "pd", "Pad")->tensor_size, 30 * 5);
    assert_int_equal(at(g, "un", "ExpandDims")->tensor_size, 150);
    assert_int_equal(at(g, "sq", "Squeeze")->tensor_size, 150);
    assert_int_equal(at(g, "rr", "Reshape")->tensor_size, 150);
    assert_int_equal(at(g, "emb", "GatherV2")->tensor_size, 5 * 6 * 64);
    assert_int_equal(at(g, "rm", "Mean")->tensor_size, 30);
    const dls_op_node *att = at(g, "att", "BatchMatMulV2");
    assert_int_equal(att->dims.batch, 5);
    assert_true(att->flops == 2.0 * 5 * 6 * 64 * 6);
    const dls_op_node *pr = at(g, "pr", "MatMul"); /* one weight for all: a taller product */
    assert_int_equal(pr->dims.m, 30);
    assert_true(pr->flops == 2.0 * 30 * 64 * 32);
    const dls_op_node *lstm = at(g, "ly", "LSTMBlockCell");
    assert_int_equal(lstm->tensor_size, 5 * 6 * 16);
    assert_true(lstm->flops == 2.0 * 30 * 64 * (64 + 16));
    assert_int_equal(at(g, "q", "Mystery")->kind, DLS_OP_OTHER);
    assert_string_equal(report.unknown, "Mystery (1)");
}

/* What is legal and rare; shapes are those of onnx.shape_inference. */
TEST(rare_shapes)
{
    Dls__Onnx__ModelProto *m = new_model();
    INPUT(m, "x", 2, 3, 17, 19);
    INPUT(m, "y", 6, 10);
    INPUT(m, "rows", 4, 7, 6);
    INPUT(m, "small", 2, 6, 7, 9);
    VALUES(m, "last", -1);
    VALUES(m, "first", INT64_MIN);
    VALUES(m, "two", 2);
    VALUES(m, "back", -2);
    op(m, "Slice", "x last first two back", "flip");
    VALUES(m, "pads", 1, 2, 3, 4);
    VALUES(m, "axes", -1, 2);
    op(m, "Pad", "x pads - axes", "pad");
    Dls__Onnx__NodeProto *n = op(m, "Split", "y", "u0 u1 u2 u3");
    INTS(n, "axis", 1);
    INTS(n, "num_outputs", 4);
    op(m, "Identity", "u3", "rest");
    tensor(m, "none", INT64, 1, (int64_t[]){0}, NULL, 0);
    op(m, "ReduceSum", "x none", "all");
    n = op(m, "ReduceSum", "x", "same");
    INTS(n, "noop_with_empty_axes", 1);
    n = op(m, "Shape", "x", "s");
    INTS(n, "start", -9);
    INTS(n, "end", 2);
    n = op(m, "Shape", "x", "s0");
    INTS(n, "start", 3);
    INTS(n, "end", 1);
    tensor(m, "ten", INT64, 0, (int64_t[]){0}, (int64_t[]){10}, 1);
    tensor(m, "minus", INT64, 0, (int64_t[]){0}, (int64_t[]){-3}, 1);
    op(m, "Range", "ten minus minus", "down"); /* 10 7 4 1 -2 */
    op(m, "CumSum", "x ten", "run");
    WEIGHT(m, "w", 2, 20, 6);
    WEIGHT(m, "r", 2, 20, 5);
    n = op(m, "LSTM", "rows w r", "ly lh lc");
    INTS(n, "layout", 1);
    n = op(m, "ReduceMax", "lh", "top"); /* [batch][directions][h] */
    INTS(n, "axes", 1);
    WEIGHT(m, "gw", 1, 15, 6);
    WEIGHT(m, "gr", 1, 15, 5);
    op(m, "GRU", "rows gw gr", "gy gh");
    WEIGHT(m, "filter", 6, 5, 3, 4);
    n = op(m, "ConvTranspose", "small filter", "wide");
    INTS(n, "strides", 2, 3);
    INTS(n, "output_shape", 15, 30);
    tensor(m, "matrix", INT64, 2, (int64_t[]){2, 3}, (int64_t[]){0, 1, 2, 3, 4, 5}, 6);
    op(m, "Add", "matrix ten", "more");
    VALUES(m, "list", 5, 6, 7, 8, 9, 10);
    op(m, "Gather", "list matrix", "picked");
    INPUT(m, "cube", 4, 2, 3);
    op(m, "Sum", "cube more picked", "rows3"); /* matrices keep their shape */
    VALUES(m, "open", -1, 7, -1); /* what PyTorch makes of expand() */
    VALUES(m, "ones", 1, 1, 1);
    VALUES(m, "none_of", -1);
    op(m, "Equal", "open none_of", "is");
    op(m, "Where", "is ones open", "to");
    INPUT(m, "thin", 4, 1, 5);
    op(m, "Expand", "thin to", "thick");
    op(m, "Where", "is ones", "torn"); /* an operand is missing: not that of the one before */
    op(m, "Expand", "thin torn", "unsure");
    op(m, "Shape", "thin", "ts");
    n = op(m, "Cast", "ts", "real");
    INTS(n, "to", FLOAT);
    n = op(m, "Cast", "real", "whole");
    INTS(n, "to", INT64);
    op(m, "Reshape", "thick whole", "thin2");
    op(m, "Erf", "x", "erf");
    INPUT(m, "part", 2, 3, 4, 19);
    INPUT(m, "where", 2, 3, 4, 19);
    op(m, "ScatterElements", "x where part", "put"); /* all of x is copied */
    op(m, "Size", "x", "size");
    n = op(m, "MaxPool", "x", "mp mi");
    INTS(n, "kernel_shape", 2, 2);
    op(m, "Abs", "mi", "places");
    op(m, "Dropout", "x", "drop mask");
    op(m, "Not", "mask", "gone");
    INPUT(m, "scale", 19);
    op(m, "LayerNormalization", "x scale", "ln mean deviation");
    op(m, "Abs", "deviation", "ln2");
    INPUT(m, "moment", 3);
    op(m, "BatchNormalization", "x moment moment moment moment", "bn bn_mean bn_var");
    VALUES(m, "sizes", 2, 3, 34, 20);
    op(m, "Resize", "x - - sizes", "wider");
    tensor(m, "factors", FLOAT, 1, (int64_t[]){4}, NULL, 0);
    Dls__Onnx__TensorProto *factors = m->graph->initializer[m->graph->n_initializer - 1];
    factors->n_float_data = 4;
    factors->float_data = malloc(4 * sizeof(float));
    memcpy(factors->float_data, (float[]){1, 1, 2, 3}, 4 * sizeof(float));
    op(m, "Resize", "x - factors", "twice");
    op(m, "Upsample", "x factors", "twice_too");
    INPUT(m, "deep", 2, 12, 5, 7);
    n = op(m, "DepthToSpace", "deep", "flat");
    INTS(n, "blocksize", 2);
    n = op(m, "SpaceToDepth", "flat", "deep2");
    INTS(n, "blocksize", 2);
    op(m, "Abs", "deep2", "deep3");
    n = op(m, "TopK", "y two", "best which");
    INTS(n, "axis", 0);
    op(m, "GatherElements", "y which", "them"); /* [2][10] */
    VALUES(m, "spots", 0, 1, 1, 2);
    VALUES(m, "pairs_of", 2, 2);
    op(m, "Reshape", "spots pairs_of", "spots2");
    op(m, "GatherND", "x spots2", "lines"); /* [2][17][19] */
    INPUT(m, "volume", 2, 4, 9, 16, 12);
    WEIGHT(m, "filter3", 8, 4, 3, 3, 5);
    n = op(m, "Conv", "volume filter3", "conv3");
    INTS(n, "strides", 2, 1, 3);
    INTS(n, "pads", 1, 1, 2, 0, 1, 2); /* [2][8][4][16][4] */
    n = op(m, "MaxPool", "conv3", "pool3");
    INTS(n, "kernel_shape", 2, 4, 1);
    INTS(n, "strides", 2, 4, 1); /* [2][8][2][4][4] */
    WEIGHT(m, "back3", 8, 4, 2, 4, 1);
    n = op(m, "ConvTranspose", "pool3 back3", "up3");
    INTS(n, "strides", 2, 4, 1); /* [2][4][4][16][4] */
    op(m, "GlobalAveragePool", "up3", "gap3");
    op(m, "ReduceLogSumExp", "y rows1", "lse");
    VALUES(m, "rows1", 1);
    WEIGHT(m, "vw", 1, 5, 6);
    WEIGHT(m, "vr", 1, 5, 5);
    op(m, "RNN", "rows vw vr", "vy vh");
    op(m, "Elu", "x", "elu");
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = graph(m, NULL, NULL);
    assert_int_equal(at(g, "flip", "StridedSlice")->tensor_size, 2 * 3 * 9 * 19);
    assert_int_equal(at(g, "pad", "Pad")->tensor_size, 2 * 3 * (17 + 2 + 4) * (19 + 1 + 3));
    assert_int_equal(at(g, "u0", "Split")->tensor_size, 6 * 3);
    assert_int_equal(at(g, "rest", "Identity")->tensor_size, 6);
    assert_int_equal(at(g, "all", "Sum")->out_bytes, 4);
    assert_int_equal(at(g, "same", "Sum")->tensor_size, 2 * 3 * 17 * 19);
    assert_int_equal(at(g, "s", "Shape")->out_bytes, 2 * 8);
    assert_int_equal(at(g, "s0", "Shape")->out_bytes, 0);
    assert_int_equal(at(g, "down", "Range")->tensor_size, 5);
    const dls_op_node *run = at(g, "run", "Cumsum"); /* moves all, other than a sum over no axis */
    assert_int_equal(run->read_bytes, 4 * 2 * 3 * 17 * 19);
    assert_int_equal(run->write_bytes, 4 * 2 * 3 * 17 * 19);
    assert_int_equal(at(g, "ly", "LSTMBlockCell")->out_bytes, 4 * (4 * 7 * 2 * 5 + 2 * 4 * 2 * 5));
    assert_int_equal(at(g, "top", "Max")->tensor_size, 4 * 5);
    assert_int_equal(at(g, "gy", "GRUBlockCell")->out_bytes, 4 * (4 * 7 * 5 + 7 * 5));
    assert_int_equal(at(g, "wide", "Conv2DBackpropInput")->tensor_size, 2 * 5 * 15 * 30);
    assert_int_equal(at(g, "rows3", "AddN")->tensor_size, 4 * 2 * 3);
    assert_int_equal(at(g, "thick", "Tile")->tensor_size, 4 * 7 * 5);
    assert_int_not_equal(at(g, "unsure", "Tile")->tensor_size, 4 * 7 * 5);
    assert_int_equal(at(g, "thin2", "Reshape")->tensor_size, 4 * 1 * 5);
    const dls_op_node *put = at(g, "put", "TensorScatterUpdate");
    assert_int_equal(put->read_bytes, 4 * (2 * 3 * 17 * 19 + 2 * 2 * 3 * 4 * 19));
    assert_int_equal(put->write_bytes, 4 * 2 * 3 * 17 * 19);
    assert_int_equal(at(g, "size", "Size")->out_bytes, 8);
    assert_int_equal(at(g, "mp", "MaxPool")->out_bytes, (4 + 8) * 2 * 3 * 16 * 18);
    assert_int_equal(at(g, "places", "Abs")->tensor_size, 2 * 3 * 16 * 18);
    assert_int_equal(at(g, "drop", "Identity")->out_bytes, (4 + 1) * 2 * 3 * 17 * 19);
    assert_int_equal(at(g, "gone", "LogicalNot")->out_bytes, 2 * 3 * 17 * 19);
    assert_int_equal(at(g, "ln2", "Abs")->out_bytes, 4 * 2 * 3 * 17);
    assert_int_equal(at(g, "bn", "FusedBatchNorm")->out_bytes, 4 * (2 * 3 * 17 * 19 + 3 + 3));
    assert_int_equal(at(g, "wider", "ResizeNearestNeighbor")->tensor_size, 2 * 3 * 34 * 20);
    assert_int_equal(at(g, "twice", "ResizeNearestNeighbor")->tensor_size, 2 * 3 * 34 * 57);
    assert_int_equal(at(g, "twice_too", "ResizeNearestNeighbor")->write_bytes, 4 * 2 * 3 * 34 * 57);
    assert_int_equal(at(g, "flat", "DepthToSpace")->tensor_size, 2 * 3 * 10 * 14);
    assert_int_equal(at(g, "deep3", "Abs")->tensor_size, 2 * 12 * 5 * 7);
    assert_int_equal(at(g, "best", "TopKV2")->out_bytes, (4 + 8) * 2 * 10);
    assert_int_equal(at(g, "them", "GatherNd")->out_bytes, 4 * 2 * 10);
    assert_int_equal(at(g, "lines", "GatherNd")->tensor_size, 2 * 17 * 19);
    const dls_op_node *conv3 = at(g, "conv3", "Conv2D");
    assert_int_equal(conv3->tensor_size, 2 * 8 * 4 * 16 * 4);
    assert_true(conv3->flops == 2.0 * 2 * 8 * 4 * 16 * 4 * (4 * 3 * 3 * 5));
    assert_int_equal(conv3->dims.m, 2 * 4 * 16 * 4);
    assert_int_equal(conv3->dims.k, 4 * 3 * 3 * 5);
    const dls_op_node *pool3 = at(g, "pool3", "MaxPool");
    assert_int_equal(pool3->tensor_size, 2 * 8 * 2 * 4 * 4);
    assert_true(pool3->flops == 2 * 8 * 2 * 4 * 4 * (2 * 4));
    const dls_op_node *up3 = at(g, "up3", "Conv2DBackpropInput");
    assert_int_equal(up3->tensor_size, 2 * 4 * 4 * 16 * 4);
    assert_true(up3->flops == 2.0 * (2 * 8 * 2 * 4 * 4) * (4 * 2 * 4));
    assert_int_equal(at(g, "gap3", "Mean")->tensor_size, 2 * 4);
    assert_int_equal(at(g, "lse", "Sum")->tensor_size, 6);
    assert_true(at(g, "vy", "RNN")->flops == 2.0 * 4 * 7 * 5 * (6 + 5));
    assert_int_equal(at(g, "erf", "Erf")->kind, DLS_OP_EXP); /* TensorFlow's name, and what it is like */
    assert_int_equal(at(g, "elu", "Elu")->kind, DLS_OP_SIGMOID);
}

/* Weights as PyTorch exports them without folding: turned, given dimensions of 1, cut and joined. What only looks
 * like them is none: a table of which an elementwise kernel gets a part. */
TEST(rearranged_weights)
{
    Dls__Onnx__ModelProto *m = new_model();
    INPUT(m, "x", 0, 6, 16);
    WEIGHT(m, "w", 10, 16);
    Dls__Onnx__NodeProto *n = op(m, "Transpose", "w", "wt");
    INTS(n, "perm", 1, 0);
    op(m, "MatMul", "x wt", "y"); /* [b][6][10] */
    WEIGHT(m, "scale", 10);
    VALUES(m, "front", 0, 1);
    op(m, "Unsqueeze", "scale front", "scales");
    op(m, "Mul", "y scales", "z");
    WEIGHT(m, "table", 1, 9, 10);
    VALUES(m, "from", 0);
    VALUES(m, "to", 6);
    VALUES(m, "axis", 1);
    op(m, "Slice", "table from to axis", "places");
    op(m, "Mul", "z places", "turned");
    WEIGHT(m, "gates", 4 * 8, 10);
    VALUES(m, "half", 16);
    VALUES(m, "end", 32);
    VALUES(m, "rows", 0);
    op(m, "Slice", "gates from half rows", "low");
    op(m, "Slice", "gates half end rows", "high");
    n = op(m, "Concat", "high low", "joined");
    INTS(n, "axis", 0);
    op(m, "Unsqueeze", "joined rows", "lw");
    WEIGHT(m, "lr", 1, 32, 8);
    op(m, "LSTM", "turned lw lr", "ly lh lc");
    dls_opgraph_totals t;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g =
        graph(m, &(dls_import_options){.batch = 5, .training = true}, NULL);
    dls_opgraph_sum(g, &t);
    assert_int_equal(t.n_params, 160 + 10 + 320 + 256);
    assert_int_equal(at(g, "w", "VariableV2")->param_bytes, 640);
    assert_int_equal(at(g, "table", "VariableV2")->param_bytes, 0);
}

/* ---- a training step from a forward pass ----------------------------------------------------- */

TEST(training)
{
    const dls_import_options options = {
        .batch = 8, .training = true, .optimiser = DLS_OPTIMISER_MOMENTUM};
    dls_import_report report;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *forward = graph(image_net(), &(dls_import_options){.batch = 8}, &report);
    assert_false(report.added_training);
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = graph(image_net(), &options, &report);
    assert_true(report.added_training && !report.trains);
    assert_int_equal(g->info.optimiser, DLS_OPTIMISER_MOMENTUM);
    for (int32_t i = 0; i < forward->n_nodes; i++) { /* what was there stays as it was */
        assert_string_equal(dls_opgraph_name(g, i), dls_opgraph_name(forward, i));
        assert_true(g->nodes[i].flops == forward->nodes[i].flops);
    }
    const double c1 = at(g, "c1", "Conv2D")->flops;
    const double c2 = at(g, "c2", "DepthwiseConv2dNative")->flops;
    const double y = at(g, "y", "MatMul")->flops;
    int n_kind[DLS_OP_COUNT] = {0};
    double products = 0;
    int64_t updated = 0;
    for (int32_t i = forward->n_nodes; i < g->n_nodes; i++) {
        const dls_op_node *x = &g->nodes[i];
        const dls_op_family family = dls_op_family_of(x->kind);
        n_kind[x->kind]++;
        products += family == DLS_FAMILY_CONV || family == DLS_FAMILY_MATMUL ? x->flops : 0;
        updated += x->phase == DLS_PHASE_UPDATE ? x->param_bytes / 4 : 0;
        assert_true(x->on_gpu);
    }
    assert_true(products == c1 + 2 * c2 + 2 * y); /* nobody asks for the image's gradient */
    assert_int_equal(updated, 432 + 16 + 32 + 144 + 160 + 10);
    const struct {
        dls_op_kind kind;
        int n;
    } want[] = {{DLS_OP_CROSS_ENTROPY, 1},
                {DLS_OP_CONV2D_GRAD_FILTER, 1},
                {DLS_OP_CONV2D_GRAD_INPUT, 0},
                {DLS_OP_DEPTHWISE_CONV_GRAD_FILTER, 1},
                {DLS_OP_DEPTHWISE_CONV_GRAD_INPUT, 1},
                {DLS_OP_BATCH_NORM_GRAD, 1},
                {DLS_OP_RELU_GRAD, 1},
                {DLS_OP_MAX_POOL_GRAD, 1},
                {DLS_OP_TILE, 1},
                {DLS_OP_REAL_DIV, 1},
                {DLS_OP_RESHAPE, 1},
                {DLS_OP_MATMUL, 2},
                {DLS_OP_BIAS_ADD_GRAD, 2},
                {DLS_OP_APPLY_MOMENTUM, 7},
                {DLS_OP_VARIABLE, 7}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        if (n_kind[want[i].kind] != want[i].n) {
            fail_msg("%d of %s, not %d", n_kind[want[i].kind], dls_op_name(want[i].kind),
                     want[i].n);
        }
    }
    DLS_OWN(dls_workload_fini) dls_workload w = {0};
    assert_int_equal(dls_workload_from_graph(g, &w, NULL), DLS_OK);
    assert_true(w.params == (double)updated);
}

/* ---- what is wrong with a file --------------------------------------------------------------- */

static void refused(Dls__Onnx__ModelProto *m, const dls_import_options *options, const char *why)
{
    dls_opgraph *g = NULL;
    dls_error err = {0};
    assert_int_equal(parse(m, options, &g, NULL, &err), DLS_EINPUT);
    assert_null(g);
    if (!strstr(err.msg, why)) {
        fail_msg("\"%s\" instead of \"%s\"", err.msg, why);
    }
}

TEST(malformed)
{
    Dls__Onnx__ModelProto *m = new_model();
    refused(m, NULL, "a graph without nodes");
    m = new_model();
    op(m, "Relu", "x", "y");
    refused(m, NULL, "node \"y\": nobody gives its input \"x\"");
    m = new_model();
    INPUT(m, "x", 1);
    op(m, "Relu", "x", "y");
    op(m, "Relu", "x", "y");
    refused(m, NULL, "two nodes give the value \"y\"");
    m = new_model();
    op(m, "Relu", "b", "a");
    op(m, "Relu", "a", "b");
    refused(m, NULL, "on a cycle");
    m = new_model();
    op(m, "Relu", "a", "a");
    refused(m, NULL, "is its own input");
    m = new_model();
    op(m, "", "", "a");
    refused(m, NULL, "node \"a\" has no op_type");
    m = new_model();
    WEIGHT(m, "w", 2);
    WEIGHT(m, "w", 2);
    op(m, "Relu", "w", "a");
    refused(m, NULL, "initializer 1 has no name of its own");
    m = new_model();
    INPUT(m, "x", 4, 4);
    op(m, "Relu", "x", "a");
    refused(m, &(dls_import_options){.batch = 8}, "input \"x\" has 4");
    m = new_model();
    dls__onnx__graph_proto__free_unpacked(m->graph, NULL);
    m->graph = NULL;
    refused(m, NULL, "without a graph");
    dls_opgraph *g = NULL;
    dls_error err;
    assert_int_equal(dls_onnx_parse("t", "\x08\xff", 2, NULL, &g, NULL, &err), DLS_EINPUT);
    assert_int_equal(dls_graph_import("no such file", NULL, &g, NULL, &err), DLS_EINPUT);
}

TEST(no_memory)
{
    const dls_import_options options = {.training = true};
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    EACH_REFUSED_THEN(21, parse(image_net(), &options, &g, NULL, NULL), assert_null(g));
}

TEST(tables)
{
    static const char *const names[] = {"Abs", "Add", "Conv", "Gemm", "Where", "Unsqueeze", "LSTM"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_non_null(dls_imp_onnx_op(names[i]));
    }
    assert_null(dls_imp_onnx_op("conv"));
}
