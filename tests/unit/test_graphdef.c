/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GraphDef files: shapes and work computed by hand, the two forms of a file, loops, devices,
 * weights of frozen graphs; what is wrong with a file; failing allocations; the zoo there and back.
 */
#include "base/alloc.h"
#include "graphdef.pb-c.h"
#include "support/must.h"
#include "support/refuse.h"
#include "workload/graph/features.h"
#include "workload/graph/graphdef.h"
#include "workload/graph/import_impl.h"
#include "workload/graph/zoo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An image of 8 x 8 x 3 through a convolution, flattened by computed shapes, times a matrix. */
static const char small_net[] =
    "# a comment\n"
    "node { name: \"x\" op: \"Placeholder\"\n"
    "  attr { key: \"dtype\" value { type: DT_FLOAT } }\n"
    "  attr { key: \"shape\" value { shape { dim { size: -1 } dim { size: 8 } dim { size: 8 }\n"
    "                                      dim { size: 3 } } } } }\n"
    "node { name: \"conv/w\" op: \"VariableV2\" device: \"/device:GPU:0\"\n"
    "  attr { key: \"dtype\" value { type: DT_FLOAT } }\n"
    "  attr { key: \"shape\" value { shape { dim { size: 3 } dim { size: 3 } dim { size: 3 }\n"
    "                                      dim { size: 16 } } } } }\n"
    "node { name: \"conv/w/read\" op: \"Identity\" input: \"conv/w\" device: \"/device:GPU:0\" }\n"
    "node { name: \"conv/Conv2D\" op: \"Conv2D\" input: [\"x:0\", \"conv/w/read\"]\n"
    "  device: \"/job:worker/task:0/\" \"device:GPU:0\"\n"
    "  attr { key: \"strides\" value { list { i: [1, 2, 2, 1] } } }\n"
    "  attr { key: \"padding\" value { s: \"SA\\115E\" } } }\n"
    "node { name: \"relu\" op: \"Relu\" input: \"conv/Conv2D\" device: \"/device:GPU:0\" }\n"
    "node < name: 'shape' op: 'Shape' input: 'relu' >\n"
    "node { name: \"zero\" op: \"Const\" attr { key: \"dtype\" value { type: DT_INT32 } }\n"
    "  attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } }\n"
    "                                       int_val: 0 } } } }\n"
    "node { name: \"one\" op: \"Const\" attr { key: \"dtype\" value { type: DT_INT32 } }\n"
    "  attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } }\n"
    "                                       tensor_content: \"\\001\\000\\000\\000\" } } } }\n"
    "node { name: \"batch\" op: \"StridedSlice\" input: \"shape\" input: \"zero\" input: \"one\"\n"
    "  input: \"one\" attr { key: \"shrink_axis_mask\" value { i: 1 } } }\n"
    "node { name: \"rest\" op: \"Const\"\n"
    "  attr { key: \"value\" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: -1 } } } }\n"
    "node { name: \"to\" op: \"Pack\" input: \"batch\" input: \"rest\" }\n"
    "node { name: \"flat\" op: \"Reshape\" input: \"relu\" input: \"to\" device: \"GPU\" }\n"
    "node { name: \"fc/w\" op: \"VariableV2\" device: \"GPU\"\n"
    "  attr { key: \"dtype\" value { type: DT_FLOAT } }\n"
    "  attr { key: \"shape\" value { shape { dim { size: 10 } dim { size: 256 } } } } }\n"
    "node { name: \"fc/MatMul\" op: \"MatMul\" input: \"flat\" input: \"fc/w\" device: \"GPU\"\n"
    "  attr { key: \"transpose_b\" value { b: true } } }\n"
    "node { name: \"odd\" op: \"FooBar\" input: \"fc/MatMul\" device: \"GPU\"\n"
    "  attr { key: \"unheard\" value { func { name: \"f\" } } } }\n"
    "node { name: \"gradients/fc/MatMul_grad/MatMul_1\" op: \"MatMul\" input: \"fc/MatMul\"\n"
    "  input: \"flat\" device: \"GPU\" attr { key: \"transpose_a\" value { b: true } } }\n"
    "node { name: \"rate\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: DT_FLOAT\n"
    "  tensor_shape {} float_val: 1e-2 } } } }\n"
    "node { name: \"update\" op: \"ApplyGradientDescent\" input: \"fc/w\" input: \"rate\"\n"
    "  input: \"gradients/fc/MatMul_grad/MatMul_1\" device: \"GPU\" }\n"
    "node { name: \"done\" op: \"NoOp\" input: \"^update\" }\n"
    "versions { producer: 1087 }\n"
    "library { }\n";

static dls_opgraph *read_text(const char *text, const dls_import_options *options,
                              dls_import_report *report)
{
    dls_opgraph *g = NULL;
    dls_error err;
    if (dls_graphdef_parse("dir/test.pbtxt", text, strlen(text), options, &g, report, &err) !=
        DLS_OK) {
        fail_msg("%s: %s", err.where, err.msg);
    }
    return g;
}

static const dls_op_node *at(const dls_opgraph *g, const char *name)
{
    const int32_t i = dls_strdict_find(&g->names, name, strlen(name));
    assert_true(i >= 0);
    return &g->nodes[i];
}

TEST(by_hand)
{
    const dls_import_options options = {.batch = 4};
    dls_import_report report;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = read_text(small_net, &options, &report);
    assert_string_equal(g->info.model, "test");
    assert_int_equal(g->info.batch, 4);
    assert_int_equal(g->info.optimiser, DLS_OPTIMISER_SGD);
    assert_int_equal(g->n_nodes, 19);
    assert_true(report.placed && report.trains && !report.added_training);
    assert_int_equal(report.n_unknown, 1);
    assert_string_equal(report.unknown, "FooBar (1)");
    assert_int_equal(report.n_shapeless, 0);

    const dls_op_node *conv = at(g, "conv/Conv2D");
    assert_int_equal(conv->tensor_size, 4 * 4 * 4 * 16);
    assert_int_equal(conv->read_bytes, 4 * (4 * 8 * 8 * 3 + 3 * 3 * 3 * 16));
    assert_int_equal(conv->write_bytes, 4 * 1024);
    assert_true(conv->flops == 2.0 * 1024 * 27);
    assert_int_equal(conv->dims.m, 64);
    assert_int_equal(conv->dims.n, 16);
    assert_int_equal(conv->dims.k, 27);
    assert_int_equal(conv->dims.stride_w, 2);
    assert_int_equal(conv->phase, DLS_PHASE_FORWARD);
    assert_string_equal(dls_opgraph_layer_name(g, conv->layer), "conv");
    assert_true(conv->on_gpu);
    assert_false(at(g, "x")->on_gpu);

    assert_int_equal(at(g, "flat")->tensor_size, 4 * 256);
    assert_true(at(g, "flat")->read_bytes == 0 && at(g, "batch")->read_bytes == 0);
    const dls_op_node *mm = at(g, "fc/MatMul");
    assert_int_equal(mm->tensor_size, 40);
    assert_true(mm->flops == 2.0 * 4 * 256 * 10);
    const dls_op_node *grad = at(g, "gradients/fc/MatMul_grad/MatMul_1");
    assert_int_equal(grad->phase, DLS_PHASE_BACKWARD);
    assert_int_equal(grad->tensor_size, 2560);
    assert_string_equal(dls_opgraph_layer_name(g, grad->layer), "fc");
    const dls_op_node *update = at(g, "update");
    assert_int_equal(update->phase, DLS_PHASE_UPDATE);
    assert_int_equal(update->param_bytes, 4 * 2560);
    assert_int_equal(update->read_bytes, 2 * 4 * 2560);
    assert_true(update->flops == 2.0 * 2560);
    assert_int_equal(at(g, "rate")->phase, DLS_PHASE_UPDATE);
    assert_int_equal(at(g, "done")->phase, DLS_PHASE_UPDATE);
    /* What no update changes is not trained. */
    assert_int_equal(at(g, "fc/w")->param_bytes, 4 * 2560);
    assert_int_equal(at(g, "conv/w")->param_bytes, 0);
    assert_int_equal(at(g, "odd")->kind, DLS_OP_OTHER);
    assert_true(at(g, "odd")->flops == 0);
    dls_opgraph_destroy(g);

    /* Driple's rule without a batch: the unknown dimension starts the product anew. */
    g = read_text(small_net, NULL, NULL);
    assert_int_equal(g->info.batch, 0);
    assert_int_equal(at(g, "conv/Conv2D")->tensor_size, 4 * 4 * 16);
    assert_true(at(g, "conv/Conv2D")->flops == 2.0 * 256 * 27);
}

/* As TensorFlow 2.21 has these shapes. */
TEST(rare_shapes)
{
    static const char text[] =
        "node { name: 'x' op: 'Placeholder' attr { key: 'shape' value { shape { dim { size: 4 }\n"
        "  dim { size: 6 } } } } }\n"
        "node { name: 'ids' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } }\n"
        "  attr { key: 'shape' value { shape { dim { size: 6 } dim { size: 2 } } } } }\n"
        "node { name: 'sizes' op: 'Const' attr { key: 'value' value { tensor { dtype: DT_INT32\n"
        "  tensor_shape { dim { size: 3 } } int_val: [1, -1, 2] } } } }\n"
        "node { name: 'one' op: 'Const' attr { key: 'value' value { tensor { dtype: DT_INT32\n"
        "  tensor_shape {} int_val: 1 } } } }\n"
        "node { name: 'nine' op: 'Const' attr { key: 'value' value { tensor { dtype: DT_INT32\n"
        "  tensor_shape {} int_val: 9 } } } }\n"
        "node { name: 'parts' op: 'SplitV' input: ['x', 'sizes', 'one'] attr { key: 'num_split'\n"
        "  value { i: 3 } } }\n"
        "node { name: 'middle' op: 'Identity' input: 'parts:1' }\n"
        "node { name: 'hot' op: 'OneHot' input: ['ids', 'nine', 'one', 'one'] attr { key: 'axis'\n"
        "  value { i: 1 } } attr { key: 'T' value { type: DT_INT64 } } }\n"
        "node { name: 'most' op: 'ArgMax' input: ['x', 'one'] attr { key: 'output_type'\n"
        "  value { type: DT_INT32 } } }\n";
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = read_text(text, NULL, NULL);
    assert_int_equal(at(g, "middle")->tensor_size, 4 * 3);
    assert_int_equal(at(g, "hot")->out_bytes, 8 * 6 * 9 * 2);
    assert_int_equal(at(g, "most")->out_bytes, 4 * 4);
}

TEST(devices)
{
    static const char unplaced[] =
        "node { name: 'a' op: 'Placeholder' } node { name: 'b' op: 'Relu' input: 'a' }";
    dls_import_report report;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = read_text(unplaced, NULL, &report);
    assert_false(report.placed);
    assert_true(at(g, "b")->on_gpu && !at(g, "a")->on_gpu);
    assert_int_equal(report.n_shapeless, 1);
    dls_opgraph_destroy(g);
    g = read_text(unplaced, &(dls_import_options){.device = DLS_IMPORT_DEVICE_FILE}, NULL);
    assert_false(at(g, "b")->on_gpu);
    dls_opgraph_destroy(g);
    g = read_text(small_net, &(dls_import_options){.device = DLS_IMPORT_DEVICE_GPU}, NULL);
    assert_true(at(g, "shape")->on_gpu && !at(g, "x")->on_gpu);
}

/* The counter's limit says how often the body runs; what TensorFlow says of a shape is taken. */
TEST(loop)
{
    static const char text[] =
        "node { name: 'x' op: 'Placeholder' attr { key: 'shape' value { shape { dim { size: 2 }\n"
        "  dim { size: 6 } } } } attr { key: 'dtype' value { type: DT_HALF } } }\n"
        "node { name: '0' op: 'Const' attr { key: 'value' value { tensor { dtype: DT_INT32 } } } "
        "}\n"
        "node { name: '20' op: 'Const' attr { key: 'value' value { tensor { dtype: DT_INT32\n"
        "  tensor_shape { } int_val: 20 } } } }\n"
        "node { name: 'i' op: 'Enter' input: '0' attr { key: 'frame_name' value { s: 'f' } } }\n"
        "node { name: 'v' op: 'Enter' input: 'x' attr { key: 'frame_name' value { s: 'f' } } }\n"
        "node { name: 'n' op: 'Enter' input: '20' attr { key: 'frame_name' value { s: 'f' } } }\n"
        "node { name: 'mi' op: 'Merge' input: 'i' input: 'ni' }\n"
        "node { name: 'mv' op: 'Merge' input: 'v' input: 'nv' }\n"
        "node { name: 'less' op: 'Less' input: 'mi' input: 'n' }\n"
        "node { name: 'go' op: 'LoopCond' input: 'less' }\n"
        "node { name: 'si' op: 'Switch' input: 'mi' input: 'go' }\n"
        "node { name: 'sv' op: 'Switch' input: 'mv' input: 'go' }\n"
        "node { name: 'tanh' op: 'Tanh' input: 'sv:1' }\n"
        "node { name: 'ni' op: 'NextIteration' input: 'si:1' }\n"
        "node { name: 'nv' op: 'NextIteration' input: 'tanh' }\n"
        "node { name: 'out' op: 'Exit' input: 'sv' }\n"
        "node { name: 'end' op: 'Unheard' input: 'out'\n"
        "  attr { key: '_output_shapes' value { list { shape { dim { size: 7 } } } } } }\n";
    dls_import_report report;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = read_text(text, NULL, &report);
    assert_int_equal(at(g, "tanh")->repeat, 20);
    assert_int_equal(at(g, "tanh")->tensor_size, 12);
    assert_int_equal(at(g, "tanh")->out_bytes, 24);
    assert_int_equal(at(g, "mv")->repeat, 20);
    assert_int_equal(at(g, "end")->repeat, 1);
    assert_int_equal(at(g, "end")->tensor_size, 7);
}

/* Without an optimiser the constants that kernels take are the parameters. */
TEST(frozen)
{
    static const char text[] =
        "node { name: 'x' op: 'Placeholder' attr { key: 'shape' value { shape { dim { size: 2 }\n"
        "  dim { size: 6 } } } } attr { key: 'dtype' value { type: DT_FLOAT } } }\n"
        "node { name: 'w' op: 'Const' attr { key: 'value' value { tensor { dtype: DT_FLOAT\n"
        "  tensor_shape { dim { size: 6 } dim { size: 5 } } } } } }\n"
        "node { name: 'y' op: 'MatMul' input: 'x' input: 'w' }\n";
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = read_text(text, NULL, NULL);
    dls_opgraph_totals totals;
    dls_opgraph_sum(g, &totals);
    assert_int_equal(totals.n_params, 30);
    assert_true(at(g, "y")->flops == 120);
}

/* ---- what is wrong with a file --------------------------------------------------------------- */

TEST(malformed)
{
    static const struct {
        const char *text, *where, *what;
    } cases[] = {
        {"", "t", "a graph without nodes"},
        {"node {", "t:1:7", "truncated"},
        {"node { name: 'a' op: 'Relu'", "t:1:28", "truncated"},
        {"node { name: 'a'\n op }", "t:2:5", "':' is expected"},
        {"node { name: 'a }", "t:1:18", "a string has no end"},
        {"node { name: a op: 'b' }", "t:1:14", "a string is expected"},
        {"node: 3", "t:1:7", "'{' is expected"},
        {"node { op: 'Relu' }", "t", "node 0 (\"\") has no name"},
        {"node { name: 'a' }", "t", "node 0 (\"a\") has no op"},
        {"node { name: ['a', 'b'] }", "t:1:15", "one value"},
        {"node { input: ['a', 'b' }", "t:1:25", "']' is expected"},
        {"node { name: 'a' op: 'Relu' input: 'b' }", "t", "node \"a\": its input \"b\" is no node"},
        {"node { name: 'a' op: 'Relu' input: 'a' }", "t", "node \"a\" is its own input"},
        {"node { name: 'a' op: 'X' } node { name: 'a' op: 'X' }", "t", "two nodes are named \"a\""},
        {"node { name: 'a' op: 'Add' input: 'b' } node { name: 'b' op: 'Relu' input: 'a' }", "",
         "on a cycle"},
        {"node { attr { value { i: 99999999999999999999 } } }", "t:1:46", "too large"},
        {"node { attr { value { i: 1x } } }", "t:1:28", "not an integer"},
        {"node { attr { value { f: abc } } }", "t:1:29", "not a number"},
        {"node { attr { value { b: 2 } } }", "t:1:27", "neither true nor false"},
        {"\x0a\x7fnonsense\x01", "t", "not a GraphDef"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dls_opgraph *g = NULL;
        dls_error err = {0};
        assert_int_equal(
            dls_graphdef_parse("t", cases[i].text, strlen(cases[i].text), NULL, &g, NULL, &err),
            DLS_EINPUT);
        assert_null(g);
        if (!strstr(err.msg, cases[i].what) ||
            (*cases[i].where && strcmp(err.where, cases[i].where) != 0)) {
            fail_msg("case %zu: \"%s: %s\"", i, err.where, err.msg);
        }
    }
}

TEST(too_deep)
{
    char text[4096] = "";
    for (int i = 0; i < 400; i++) {
        strcat(text, "unheard {");
    }
    dls_opgraph *g = NULL;
    dls_error err;
    assert_int_equal(dls_graphdef_parse("t", text, strlen(text), NULL, &g, NULL, &err), DLS_EINPUT);
    assert_non_null(strstr(err.msg, "nested too deeply"));
}

TEST(no_memory)
{
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    dls_import_report report;
    EACH_REFUSED_THEN(
        21, dls_graphdef_parse("t", small_net, strlen(small_net), NULL, &g, &report, NULL),
        assert_null(g));
}

TEST(tables)
{
    /* Kinds by their own names, and others that work like them. */
    static const char *const names[] = {"Abs",
                                        "Add",
                                        "AddV2",
                                        "Conv2D",
                                        "MatMul",
                                        "ZerosLike",
                                        "FusedBatchNormV3",
                                        "ResourceApplyAdam",
                                        "Xlogy"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_non_null(dls_imp_tf_op(names[i]));
    }
    assert_null(dls_imp_tf_op("Conv2d"));
    for (int kind = 0; kind < DLS_OP_OTHER; kind++) { /* all that the zoo uses and TensorFlow has */
        const imp_op *op = dls_imp_tf_op(dls_op_name(kind));
        if (op) {
            assert_int_equal(op->kind, kind);
        }
    }
}

/* ---- the zoo there and back ------------------------------------------------------------------ */

static char *copy(const char *text)
{
    char *p = strdup(text);
    assert_non_null(p);
    return p;
}

/* A GraphDef with the shape of every output 0 as one dimension, which is all that the zoo keeps. */
static Dls__Tf__GraphDef *graphdef_of(const dls_opgraph *g)
{
    Dls__Tf__GraphDef *to = calloc(1, sizeof *to);
    assert_non_null(to);
    dls__tf__graph_def__init(to);
    to->n_node = (size_t)g->n_nodes;
    to->node = calloc(to->n_node, sizeof *to->node);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *x = &g->nodes[i];
        Dls__Tf__NodeDef *n = to->node[i] = calloc(1, sizeof *n);
        Dls__Tf__AttrEntry *entry = calloc(1, sizeof *entry);
        Dls__Tf__AttrValue *value = calloc(1, sizeof *value);
        Dls__Tf__AttrList *list = calloc(1, sizeof *list);
        Dls__Tf__TensorShape *shape = calloc(1, sizeof *shape);
        dls__tf__node_def__init(n);
        dls__tf__attr_entry__init(entry);
        dls__tf__attr_value__init(value);
        dls__tf__attr_list__init(list);
        dls__tf__tensor_shape__init(shape);
        n->name = copy(dls_opgraph_name(g, i));
        n->op = copy(dls_opgraph_op(g, i));
        n->device = copy(x->on_gpu ? "/job:worker/task:0/device:GPU:0" : "/device:CPU:0");
        entry->key = copy("_output_shapes");
        entry->value = value;
        value->list = list;
        list->n_shape = 1;
        list->shape = calloc(1, sizeof *list->shape);
        list->shape[0] = shape;
        if (x->tensor_size > 0) {
            shape->n_dim = 1;
            shape->dim = calloc(1, sizeof *shape->dim);
            shape->dim[0] = calloc(1, sizeof **shape->dim);
            dls__tf__tensor_shape_dim__init(shape->dim[0]);
            shape->dim[0]->has_size = 1;
            shape->dim[0]->size = x->tensor_size;
        }
        n->n_attr = 1;
        n->attr = calloc(1, sizeof *n->attr);
        n->attr[0] = entry;
        n->input = calloc((size_t)g->n_edges + 1, sizeof *n->input);
    }
    for (int32_t e = 0; e < g->n_edges; e++) {
        Dls__Tf__NodeDef *n = to->node[g->edges[e].to];
        char text[400];
        snprintf(text, sizeof text, "%s%s", g->edges[e].control ? "^" : "",
                 dls_opgraph_name(g, g->edges[e].from));
        n->input[n->n_input++] = copy(text);
    }
    return to;
}

static char *text_of(const Dls__Tf__GraphDef *from)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    for (size_t i = 0; i < from->n_node; i++) {
        const Dls__Tf__NodeDef *n = from->node[i];
        const Dls__Tf__TensorShape *s = n->attr[0]->value->list->shape[0];
        fprintf(f, "node {\n  name: \"%s\"\n  op: \"%s\"\n", n->name, n->op);
        for (size_t k = 0; k < n->n_input; k++) {
            fprintf(f, "  input: \"%s\"\n", n->input[k]);
        }
        fprintf(f,
                "  device: \"%s\"\n  attr {\n    key: \"_output_shapes\"\n    value {\n"
                "      list {\n        shape {\n",
                n->device);
        if (s->n_dim) {
            fprintf(f, "          dim {\n            size: %lld\n          }\n",
                    (long long)s->dim[0]->size);
        }
        fputs("        }\n      }\n    }\n  }\n}\n", f);
    }
    fclose(f);
    return text;
}

static void same_groups(const dls_opgraph *a, const dls_opgraph *b)
{
    dls_grouping of[2];
    double *x[2];
    const dls_opgraph *graph[2] = {a, b};
    DLS_HOLD(dls_feature_spec_destroy) dls_feature_spec *spec = NULL;
    assert_int_equal(dls_feature_spec_create(DLS_FEATURES_DRIPLE, &spec, NULL), DLS_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dls_grouping_create(graph[i], DLS_GROUPING_UNIFORM, DLS_GROUPS_DEFAULT,
                                             DLS_GROUPING_SEED, &of[i], NULL),
                         DLS_OK);
        if (i == 0) {
            const dls_grouped corpus = {a, &of[0]};
            assert_int_equal(dls_feature_spec_fit(spec, &corpus, 1, NULL), DLS_OK);
        }
        x[i] = calloc((size_t)of[i].n_groups * 3, sizeof(double));
        int64_t n_unknown = -1;
        assert_int_equal(dls_features(spec, graph[i], &of[i], x[i], &n_unknown, NULL), DLS_OK);
        assert_int_equal(n_unknown, 0);
    }
    assert_int_equal(of[0].n_groups, of[1].n_groups);
    const int32_t n = of[0].n_groups;
    assert_memory_equal(of[0].row_start, of[1].row_start, (size_t)(n + 1) * sizeof(int64_t));
    assert_memory_equal(of[0].col, of[1].col, (size_t)of[0].row_start[n] * sizeof(int32_t));
    assert_memory_equal(x[0], x[1], (size_t)n * 3 * sizeof(double));
    for (int i = 0; i < 2; i++) {
        dls_grouping_fini(&of[i]);
        free(x[i]);
    }
}

static void check_back(const dls_opgraph *g, const void *data, size_t size)
{
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *back = NULL;
    MUST(dls_graphdef_parse("zoo", data, size, NULL, &back, NULL, &e));
    assert_int_equal(back->n_nodes, g->n_nodes);
    assert_int_equal(back->info.optimiser, g->info.optimiser);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        assert_int_equal(back->nodes[i].tensor_size, g->nodes[i].tensor_size);
        assert_int_equal(back->nodes[i].on_gpu, g->nodes[i].on_gpu);
    }
    same_groups(g, back);
}

TEST(zoo_and_back)
{
    static const char *const models[] = {"lenet", "resnet20", "seq2seq_small", "ncf"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const dls_zoo_model *m = dls_zoo_find(models[i]);
        if (!m) {
            fail_msg("no model %s", models[i]);
        }
        const dls_zoo_options options = dls_zoo_defaults(m);
        dls_opgraph *g = NULL;
        assert_int_equal(dls_zoo_build(m, &options, &g, NULL), DLS_OK);
        Dls__Tf__GraphDef *def = graphdef_of(g);
        const size_t size = dls__tf__graph_def__get_packed_size(def);
        uint8_t *packed = malloc(size);
        char *text = text_of(def);
        assert_int_equal(dls__tf__graph_def__pack(def, packed), size);
        check_back(g, packed, size);
        check_back(g, text, strlen(text));
        dls_opgraph *none = NULL;
        assert_int_equal(dls_graphdef_parse("zoo", packed, size - 3, NULL, &none, NULL, NULL),
                         DLS_EINPUT);
        dls__tf__graph_def__free_unpacked(def, NULL);
        dls_opgraph_destroy(g);
        free(packed);
        free(text);
    }
}
