/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Kernels out of a training graph: a graph written by hand, and the zoo's graphs, operation by
 * operation, against the same networks written as layers.
 */
#include "support/test.h"
#include "workload/graph/blocks.h"
#include "workload/graph/zoo.h"
#include "workload/operator/from_graph.h"
#include "workload/operator/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int near(double a, double b, double part)
{
    return fabs(a - b) <= part * fmax(fabs(a), fabs(b));
}

static int32_t node(dls_opgraph *g, const char *name, dls_op_kind kind, dls_phase phase,
                    dls_op_node x)
{
    int32_t idx = -1;
    x.kind = (int32_t)kind;
    x.phase = (int32_t)phase;
    x.on_gpu = true;
    assert_int_equal(dls_opgraph_add_node(g, name, NULL, &x, &idx, NULL), DLS_OK);
    return idx;
}

static void edge(dls_opgraph *g, int32_t from, int32_t to)
{
    assert_int_equal(dls_opgraph_add_edge(g, from, to, false, NULL), DLS_OK);
}

/* Numbers of 4 bytes, a sample of 4: hidden 8, ReLU, 2 classes. What is held longest: the sample
 * (16), ReLU's result (32), the logits (8), and the gradients on both sides of ReLU (64). */
TEST(held_at_once)
{
    const dls_opgraph_info info = {
        .batch = 1, .numeric = DLS_NUMERIC_FP32, .optimiser = DLS_OPTIMISER_SGD, .model = "mlp"};
    dls_net *net;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    DLS_OWN(dls_workload_fini) dls_workload w = {0};
    assert_int_equal(dls_net_create(&info, false, &net, NULL), DLS_OK);
    dls_net_set_runner(net, DLS_RUN_EAGER);
    const dls_tensor hidden = dls_net_dense(net, dls_net_dense_input(net, 4), 8, false);
    dls_net_loss(net, dls_net_dense(net, dls_net_relu(net, hidden), 2, false));
    assert_int_equal(dls_net_finish(net, &g, NULL), DLS_OK);
    dls_net_destroy(net);
    assert_int_equal(dls_workload_from_graph(g, &w, NULL), DLS_OK);
    assert_int_equal((int)lrint(4 * w.kept), 120);
}

/* Nodes of a kind, and the bytes that they read and write. */
static int64_t bytes_of(const dls_opgraph *g, dls_op_kind kind, int *n)
{
    int64_t sum = 0;
    *n = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *x = &g->nodes[i];
        if (x->kind == (int32_t)kind && x->phase != DLS_PHASE_OTHER) {
            sum += x->read_bytes + x->write_bytes;
            ++*n;
        }
    }
    return sum;
}

/* In mixed precision convolutions take 16 bits, batch norms what they get; after a norm of groups
 * images lie by channel until a convolution has copied one. What a concatenation hands back to
 * parts that are joined again, and to ReLU, are views. */
TEST(widths_and_layouts)
{
    const dls_opgraph_info info = {
        .batch = 2, .numeric = DLS_NUMERIC_BF16, .optimiser = DLS_OPTIMISER_SGD, .model = "mixed"};
    const dls_conv one = {.out = 4, .kernel_h = 1, .kernel_w = 1, .stride = 1};
    dls_net *net;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    int n;
    assert_int_equal(dls_net_create(&info, false, &net, NULL), DLS_OK);
    dls_net_set_runner(net, DLS_RUN_EAGER);
    dls_tensor part[2], x = dls_net_conv(net, dls_net_image(net, 8, 8, 4), one);
    x = dls_net_relu(net, dls_net_group_norm(net, x));
    x = dls_net_conv(net, dls_net_conv(net, x, one), one);
    x = dls_net_batch_norm(net, dls_net_add(net, x, dls_net_numbers(net, 256)));
    dls_net_split(net, dls_net_conv(net, x, one), 2, part);
    part[1] = dls_net_relu(net, part[1]);
    dls_net_loss(
        net, dls_net_dense(net, dls_net_global_mean(net, dls_net_concat(net, part, 2)), 2, false));
    assert_int_equal(dls_net_finish(net, &g, NULL), DLS_OK);
    dls_net_destroy(net);
    const int64_t image = 2 * 8 * 8 * 4, weight = 16;
    assert_int_equal(bytes_of(g, DLS_OP_CONV2D, &n), 4 * 2 * (2 * image + weight));
    assert_int_equal(n, 4);
    /* The norm's input in 32 bits, the convolution's in 16. */
    assert_int_equal(bytes_of(g, DLS_OP_TRANSPOSE, &n), (2 * 4 + 2 * 2) * image);
    assert_int_equal(n, 2);
    assert_int_equal(bytes_of(g, DLS_OP_BATCH_NORM, &n), 3 * 4 * image);
    assert_int_equal(bytes_of(g, DLS_OP_SLICE, &n), 0);
    assert_int_equal(n, 2);
}

/* Pixels as tokens that lie by channel, as PyTorch's images do: a norm copies them, and what it read once more on the
 * way back; what is added to its result lies otherwise, and the sum as the tokens. A token in front puts them side by
 * side. */
TEST(tokens_by_channel)
{
    enum { FIRST, WITH_TOKEN, LAST, WAYS };
    const dls_conv one = {.out = 4, .kernel_h = 1, .kernel_w = 1, .stride = 1};
    for (int way = 0; way < WAYS; way++) {
        const dls_opgraph_info info = {.batch = 2,
                                       .numeric = way == LAST ? DLS_NUMERIC_FP16 : DLS_NUMERIC_FP32,
                                       .optimiser = DLS_OPTIMISER_SGD,
                                       .model = "tokens"};
        dls_net *net;
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
        DLS_OWN(dls_workload_fini) dls_workload w = {0};
        assert_int_equal(dls_net_create(&info, false, &net, NULL), DLS_OK);
        dls_net_set_runner(net, DLS_RUN_EAGER);
        dls_tensor x = dls_block_tokens(net, dls_net_conv(net, dls_net_image(net, 4, 4, 3), one));
        x = way == WITH_TOKEN ? dls_block_with_token(net, x, -1) : x;
        x = dls_net_add(net, x, dls_net_layer_norm(net, x));
        dls_net_loss(net, dls_net_dense(net, dls_net_first_token(net, x), 2, true));
        assert_int_equal(dls_net_finish(net, &g, NULL), DLS_OK);
        dls_net_destroy(net);
        assert_int_equal(dls_workload_from_graph(g, &w, NULL), DLS_OK);
        int scattered[2] = {0};
        for (size_t i = 0; i < w.n_kernels; i++) {
            const dls_kernel *k = &w.kernel[i];
            scattered[k->backward] += k->pass == DLS_PASS_SCATTERED;
            assert_true(k->pass != DLS_PASS_SCATTERED || k->window.in_c == 16 * 4);
        }
        assert_int_equal(scattered[0], way == FIRST ? 2 : 0);
        assert_int_equal(scattered[1], way == FIRST ? 1 : 0);
    }
}

/* Images that are no squares: a window sees squares of as many pixels, and its products are theirs.
 */
TEST(rectangles)
{
    const dls_opgraph_info info = {
        .batch = 2, .numeric = DLS_NUMERIC_FP32, .optimiser = DLS_OPTIMISER_SGD, .model = "strip"};
    dls_net *net;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    DLS_OWN(dls_workload_fini) dls_workload w = {0};
    assert_int_equal(dls_net_create(&info, false, &net, NULL), DLS_OK);
    const dls_tensor x = dls_net_conv(net, dls_net_image(net, 16, 64, 3),
                                      (dls_conv){.out = 8,
                                                 .kernel_h = 3,
                                                 .kernel_w = 3,
                                                 .stride = 4,
                                                 .stride_w = 1,
                                                 .pad = DLS_PAD_SAME});
    assert_int_equal(dls_net_dim(net, x, 1), 4);
    assert_int_equal(dls_net_dim(net, x, 2), 64);
    dls_net_loss(net, dls_net_global_mean(net, x));
    assert_int_equal(dls_net_finish(net, &g, NULL), DLS_OK);
    dls_net_destroy(net);
    assert_int_equal(dls_workload_from_graph(g, &w, NULL), DLS_OK);
    assert_int_equal(w.kernel[0].family, DLS_KERNEL_MEMORY); /* the image arrives */
    assert_int_equal(w.kernel[1].window.in_h, 32);
    assert_int_equal(w.kernel[1].window.out_h, 16);
    assert_true(w.kernel[1].flops == 2.0 * 27 * 8 * 4 * 64);
}

TEST(by_hand)
{
    dls_opgraph_info info = {
        .batch = 4, .numeric = DLS_NUMERIC_FP32, .optimiser = DLS_OPTIMISER_ADAM};
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    dls_workload w;
    snprintf(info.model, sizeof info.model, "two layers");
    assert_int_equal(dls_opgraph_create(&info, &g, NULL), DLS_OK);
    const dls_op_dims dims = {.kernel_h = 3,
                              .kernel_w = 3,
                              .stride_h = 1,
                              .stride_w = 1,
                              .groups = 1,
                              .out_h = 7,
                              .out_w = 8};
    /* The backward operation comes first in the file, its input later: order follows the edges. */
    const int32_t grad =
        node(g, "grad", DLS_OP_CONV2D_GRAD_FILTER, DLS_PHASE_BACKWARD,
             (dls_op_node){.flops = 4000, .read_bytes = 160, .write_bytes = 32, .dims = dims});
    const int32_t var =
        node(g, "var", DLS_OP_VARIABLE, DLS_PHASE_OTHER, (dls_op_node){.param_bytes = 400});
    const int32_t conv = node(g, "conv", DLS_OP_CONV2D, DLS_PHASE_FORWARD,
                              (dls_op_node){.flops = 4000,
                                            .read_bytes = 320,
                                            .write_bytes = 64,
                                            .dims = dims,
                                            .repeat = 2,
                                            .out_bytes = 64});
    const int32_t relu = node(g, "relu", DLS_OP_RELU, DLS_PHASE_FORWARD,
                              (dls_op_node){.flops = 99, .read_bytes = 64, .write_bytes = 64});
    const int32_t view =
        node(g, "view", DLS_OP_RESHAPE, DLS_PHASE_FORWARD, (dls_op_node){.read_bytes = 64});
    const int32_t apply = node(g, "apply", DLS_OP_APPLY_ADAM, DLS_PHASE_UPDATE,
                               (dls_op_node){.param_bytes = 400, .read_bytes = 1600});
    edge(g, var, conv);
    edge(g, conv, relu);
    edge(g, relu, view);
    edge(g, view, grad);
    edge(g, grad, apply);
    assert_int_equal(dls_workload_from_graph(g, &w, NULL), DLS_OK);
    assert_string_equal(w.name, "two layers");
    assert_int_equal(w.n_kernels, 3); /* no view, variable, update */
    assert_int_equal(w.n_ops, 2);
    assert_int_equal(w.n_tensors, 1);
    assert_true(w.params == 100);
    assert_true(w.optimiser == DLS_OPTIMISER_ADAM);
    assert_int_equal(w.kernel[0].family, DLS_KERNEL_CONV3);
    assert_int_equal(w.kernel[0].repeats, 2);
    assert_true(near(w.kernel[0].flops, 1000 * 8.0 / 7, 1e-12)); /* seven rows in tiles of two */
    assert_true(near(w.kernel[0].moved, 384 / 4.0 / 4, 1e-12));
    assert_int_equal(w.kernel[1].family, DLS_KERNEL_MEMORY);
    assert_true(w.kernel[1].flops == 0);
    assert_true(w.kernel[2].backward == 1 && w.kernel[2].tensor == 0);
    assert_true(near(w.activations, 128 / 4.0 / 4, 1e-12));
    dls_workload_fini(&w);

    dls_error err;
    edge(g, relu, conv);
    assert_int_equal(dls_workload_from_graph(g, &w, &err), DLS_EINPUT);
    dls_opgraph_destroy(g);
    assert_int_equal(dls_opgraph_create(&info, &g, NULL), DLS_OK);
    assert_int_equal(dls_workload_from_graph(g, &w, &err), DLS_EINPUT);
    g->info.batch = 0;
    assert_int_equal(dls_workload_from_graph(g, &w, &err), DLS_EINPUT);
}

TEST(the_zoo_against_layers)
{
    /* Same network, two descriptions: graphs hold every small operation, layers do not. */
    static const struct {
        const char *graph, *layers;
        double part;
    } same[] = {{"vgg11", "vgg11", 0.02},
                {"vgg16", "vgg16", 0.02},
                {"vgg19", "vgg19", 0.02},
                {"inception3", "inception3", 0.05},
                {"inception4", "inception4", 0.05},
                {"resnet50", "resnet50_v15", 0.10},
                {"resnet152", "resnet152_v15", 0.10}};
    static dls_opmodel m;
    char folder[4096], path[4200];
    const char *source = getenv("DLSIM_SOURCE");
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    const dls_hw_gpu *gpu = NULL;
    snprintf(folder, sizeof folder, "%s/configs/hardware", source ? source : ".");
    snprintf(path, sizeof path, "%s/operator.cfg", folder);
    assert_int_equal(dls_hardware_load(folder, &hw, NULL), DLS_OK);
    assert_int_equal(dls_opmodel_load(path, &m, NULL), DLS_OK);
    assert_int_equal(dls_hardware_gpu(&hw, "V100", &gpu, NULL), DLS_OK);
    const dls_rates rates = dls_opmodel_rates(&m, gpu, DLS_NUMERIC_FP32);
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        const dls_zoo_model *z = dls_zoo_find(same[i].graph);
        assert_non_null(z);
        dls_zoo_options options = dls_zoo_defaults(z);
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
        DLS_OWN(dls_workload_fini) dls_workload from_graph = {0}, layers = {0};
        options.batch = 32;
        options.optimiser = DLS_OPTIMISER_MOMENTUM;
        options.numeric = DLS_NUMERIC_FP32;
        assert_int_equal(dls_zoo_build(z, &options, &g, NULL), DLS_OK);
        assert_int_equal(dls_workload_from_graph(g, &from_graph, NULL), DLS_OK);
        assert_int_equal(dls_workload_build(same[i].layers, &layers, NULL), DLS_OK);
        const double a = dls_step_time(&from_graph, &rates, 32).gpu_s;
        const double b = dls_step_time(&layers, &rates, 32).gpu_s;
        assert_true(near(a, b, same[i].part));
        assert_true(near(from_graph.params, layers.params, 0.003));
    }
}

/* Bytes that kernels other than products move, forward and backward, of a layer with a bias,
 * dropout, softmax and a loss on 8 rows of 32 as `runner` has them. */
static void traffic(unsigned runner, dls_numeric numeric, double moved[2])
{
    dls_opgraph_info info = {.batch = 8, .numeric = numeric, .optimiser = DLS_OPTIMISER_ADAM};
    dls_net *net = NULL;
    dls_opgraph *g = NULL;
    snprintf(info.model, sizeof info.model, "a layer");
    assert_int_equal(dls_net_create(&info, false, &net, NULL), DLS_OK);
    dls_net_set_runner(net, runner);
    dls_tensor x = dls_net_dense(net, dls_net_dense_input(net, 16), 32, true);
    dls_net_loss(net, dls_net_softmax(net, dls_net_dropout(net, x)));
    assert_int_equal(dls_net_finish(net, &g, NULL), DLS_OK);
    moved[0] = moved[1] = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *n = &g->nodes[i];
        if ((n->phase == DLS_PHASE_FORWARD || n->phase == DLS_PHASE_BACKWARD) && n->on_gpu &&
            n->kind != DLS_OP_MATMUL && n->kind != DLS_OP_CAST) {
            moved[n->phase == DLS_PHASE_BACKWARD] += (double)(n->read_bytes + n->write_bytes);
        }
    }
    dls_opgraph_destroy(g);
    dls_net_destroy(net);
}

TEST(eager_kernels)
{
    enum { N = 8 * 32, B = 4 * N }; /* numbers, their bytes; a mask has one for each */
    double moved[2];
    traffic(DLS_RUN_EAGER, DLS_NUMERIC_FP32, moved);
    /* dropout; softmax; the logarithm of another, which reads three times */
    assert_true(moved[0] == (2 * B + N) + 2 * B + 4 * B);
    /* zeros, the loss; y dy and the rest of softmax; dropout; the bias's sum */
    assert_true(moved[1] == B + 4 * B + 3 * B + 3 * B + (2 * B + N) + (B + 4 * 32));
    traffic(DLS_RUN_EAGER | DLS_RUN_FORWARD, DLS_NUMERIC_FP32, moved);
    assert_true(moved[0] == 2 * B);
    traffic(DLS_RUN_EAGER | DLS_RUN_COMPILED, DLS_NUMERIC_FP32, moved);
    assert_true(moved[0] == N + 2 * B + 4 * B);
    /* Mixed precision: softmax reads 16 bits and writes 32. */
    traffic(DLS_RUN_EAGER, DLS_NUMERIC_FP16, moved);
    assert_true(moved[0] == (B + N) + (B / 2 + B) + 4 * B);
    traffic(DLS_RUN_GRAPH, DLS_NUMERIC_FP32, moved);
    assert_true(moved[0] > 15 * B);
}

/* Kernels of a convolution with its norm and ReLU, a pool, a mean and a layer with a bias, and
 * bytes that the pool moves, forward and back. */
static size_t image_kernels(unsigned runner, dls_numeric numeric, double pool[2])
{
    dls_opgraph_info info = {.batch = 2, .numeric = numeric, .optimiser = DLS_OPTIMISER_MOMENTUM};
    dls_net *net = NULL;
    dls_opgraph *g = NULL;
    dls_workload w;
    snprintf(info.model, sizeof info.model, "an image");
    assert_int_equal(dls_net_create(&info, true, &net, NULL), DLS_OK);
    dls_net_set_runner(net, runner);
    dls_tensor x = dls_net_image(net, 8, 8, 3);
    x = dls_net_conv(net, x, (dls_conv){.out = 4, .kernel_h = 1, .kernel_w = 1, .stride = 1});
    x = dls_net_relu(net, dls_net_batch_norm(net, x));
    const dls_tensor part[2] = {x, dls_net_pool(net, x, DLS_OP_MAX_POOL, 1, 1, 0)};
    x = dls_net_global_mean(net, dls_net_concat(net, part, 2));
    dls_net_loss(net, dls_net_dense(net, x, 2, true));
    assert_int_equal(dls_net_finish(net, &g, NULL), DLS_OK);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *n = &g->nodes[i];
        if (n->kind == DLS_OP_MAX_POOL || n->kind == DLS_OP_MAX_POOL_GRAD) {
            pool[n->kind == DLS_OP_MAX_POOL_GRAD] = (double)(n->read_bytes + n->write_bytes);
        }
    }
    assert_int_equal(dls_workload_from_graph(g, &w, NULL), DLS_OK);
    const size_t n = w.n_kernels;
    dls_workload_fini(&w);
    dls_opgraph_destroy(g);
    dls_net_destroy(net);
    return n;
}

TEST(eager_images)
{
    enum { N = 2 * 8 * 8 * 4, B = 4 * N };
    double pool[2];
    /* The image's copy, convolution, norm and its counter, ReLU, pool, joint, mean, product, loss;
     * back zeros and the loss, the bias's sum, two products, the mean's quotient, the pool and a
     * copy for it, the sum for ReLU, which reads the other part as it is, ReLU, the norm, the
     * weights. */
    assert_int_equal(image_kernels(DLS_RUN_EAGER, DLS_NUMERIC_FP32, pool), 10 + 12);
    assert_true(pool[0] == 2 * B + 8 * N && pool[1] == 3 * B + 8 * N);
    assert_int_equal(image_kernels(DLS_RUN_EAGER | DLS_RUN_FORWARD, DLS_NUMERIC_FP32, pool),
                     8 + 12);
    /* Two weights and a bias go to 16 bits and their gradients back, what the loss reads to 32 and back; cuDNN
     * has no norm for bf16. */
    assert_int_equal(image_kernels(DLS_RUN_EAGER, DLS_NUMERIC_FP16, pool), 22 + 2 * 3 + 2);
    assert_int_equal(image_kernels(DLS_RUN_EAGER, DLS_NUMERIC_BF16, pool), 22 + 2 * 3 + 2 + 3);
    assert_true(image_kernels(DLS_RUN_GRAPH, DLS_NUMERIC_FP32, pool) > 30 && pool[1] == 4 * B);
}

/* The same products whoever runs them; GPT's GELU is eight kernels in PyTorch, one when compiled.
 */
TEST(eager_transformer)
{
    static const unsigned runner[3] = {DLS_RUN_GRAPH, DLS_RUN_EAGER,
                                       DLS_RUN_EAGER | DLS_RUN_COMPILED};
    const dls_zoo_model *z = dls_zoo_find("gpt2_small");
    dls_zoo_options options = dls_zoo_defaults(z);
    double flops[3], gelu[3];
    for (int i = 0; i < 3; i++) {
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
        options.runner = runner[i];
        assert_int_equal(dls_zoo_build(z, &options, &g, NULL), DLS_OK);
        flops[i] = gelu[i] = 0;
        for (int32_t k = 0; k < g->n_nodes; k++) {
            const dls_op_node *n = &g->nodes[k];
            flops[i] += dls_op_family_of(n->kind) == DLS_FAMILY_MATMUL ? n->flops : 0;
            gelu[i] += n->phase == DLS_PHASE_FORWARD && n->kind == DLS_OP_POW;
        }
    }
    assert_true(flops[1] == flops[0] && flops[2] == flops[0]);
    assert_true(gelu[0] == 0 && gelu[1] == 12 && gelu[2] == 0);
}

/* Of GPUs that split every layer each has its part of the products, and they add up two results a
 * layer, forward and backward. */
TEST(layers_in_parts)
{
    const dls_zoo_model *z = dls_zoo_find("gpt2_small");
    dls_zoo_options options = dls_zoo_defaults(z);
    double flops[2] = {0, 0};
    dls_workload w[2];
    options.runner = DLS_RUN_EAGER;
    for (int i = 0; i < 2; i++) {
        DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
        options.shards = i == 0 ? 0 : 4;
        assert_int_equal(dls_zoo_build(z, &options, &g, NULL), DLS_OK);
        assert_int_equal(dls_workload_from_graph(g, &w[i], NULL), DLS_OK);
        for (size_t k = 0; k < w[i].n_kernels; k++) {
            flops[i] += w[i].kernel[k].family == DLS_KERNEL_MATMUL ? w[i].kernel[k].flops : 0;
        }
    }
    assert_true(near(flops[1], flops[0] / 4, 1e-4)); /* of 50257 words the last GPU has one more */
    assert_true(w[0].shared == 0 && w[1].shared == 12 * 4 * 1024. * 768);
    assert_true(w[0].stream == 1024. * 768 && w[1].stream == w[0].stream);
    dls_workload_fini(&w[0]);
    dls_workload_fini(&w[1]);
    z = dls_zoo_find("resnet50");
    options = dls_zoo_defaults(z);
    options.shards = 2;
    dls_opgraph *g = NULL;
    assert_int_equal(dls_zoo_build(z, &options, &g, NULL), DLS_EINPUT);
}

/* Matrix units read channels side by side: each convolution transposes twice, groups do not. */
TEST(channels_first)
{
    DLS_OWN(dls_workload_fini) dls_workload w = {0};
    assert_int_equal(dls_workload_build("vgg11", &w, NULL), DLS_OK);
    const size_t n = w.n_kernels;
    size_t convs = 0;
    for (size_t i = 0; i < n; i++) {
        convs += w.kernel[i].window.out_c > 0;
    }
    assert_int_equal(dls_workload_lay_out(&w, DLS_LAYOUT_FIRST, true, NULL), DLS_OK);
    assert_int_equal(w.n_kernels, n + convs);
    assert_true(w.kernel[n].family == DLS_KERNEL_MEMORY);
    assert_true(w.kernel[n].moved == 2. * 224 * 224 * (3 + 64));
}

/* What all kernels but products and convolutions read and write in a step. */
static double other_bytes(const char *model, const dls_zoo_options *o)
{
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    const dls_zoo_model *z = dls_zoo_find(model);
    dls_zoo_options options = dls_zoo_defaults(z);
    double bytes = 0;
    options.runner = o->runner;
    options.numeric = o->numeric;
    options.batch = o->batch;
    options.sequence = o->sequence;
    options.image = o->image;
    assert_int_equal(dls_zoo_build(z, &options, &g, NULL), DLS_OK);
    for (int32_t k = 0; k < g->n_nodes; k++) {
        const dls_op_node *n = &g->nodes[k];
        const dls_op_family family = dls_op_family_of(n->kind);
        const bool counts = n->on_gpu && n->phase <= DLS_PHASE_BACKWARD &&
                            family != DLS_FAMILY_MATMUL && family != DLS_FAMILY_CONV;
        bytes += counts ? (double)n->repeat * (double)(n->read_bytes + n->write_bytes) : 0;
    }
    return bytes;
}

/* What all kernels but products read and write in a step, by the operations that PyTorch 2.11's dispatcher runs
 * of Hugging Face's transformers 5.24 and timm's of today, channels first (forward and backward, autocast for bf16).
 * There the logarithms of the loss read the scores once, here three times. What its kernels hide was added for timm's:
 * copies of what norms and softmax do not find side by side, a second roll, the second reading of a batch norm and of a layer norm's
 * sums, softmax's gradient in two. */
TEST(bytes_of_transformers)
{
    static const struct {
        const char *model;
        int32_t batch, sequence;
        double gb[2]; /* bf16, tf32 */
    } step[] = {{"smollm2_360m", 8, 1024, {438.1, 404.4}},
                {"llama3_2_1b", 4, 1024, {265.3, 235.8}},
                {"phi1_5", 4, 1024, {454.7, 404.9}},
                {"pythia_410m", 8, 1024, {293.0, 273.1}},
                {"t5_base", 16, 512, {286.6, 259.0}},
                {"vit_base", 8, 0, {7.19, 6.20}},
                {"swin_tiny_patch4_window7", 8, 0, {5.39, 5.81}},
                {"swinv2_tiny_window8", 8, 0, {11.70, 11.59}},
                {"cait_s24", 8, 0, {12.71, 14.72}},
                {"xcit_small_12_p16", 8, 0, {6.02, 6.40}},
                {"mixer_s16", 8, 0, {1.88, 2.01}},
                {"mobilevit_s", 8, 0, {5.27, 8.03}}};
    for (size_t i = 0; i < 2 * sizeof step / sizeof step[0]; i++) {
        const dls_zoo_options options = {.runner = DLS_RUN_EAGER | DLS_RUN_CHANNELS_FIRST,
                                         .numeric = i % 2 ? DLS_NUMERIC_TF32 : DLS_NUMERIC_BF16,
                                         .batch = step[i / 2].batch,
                                         .sequence = step[i / 2].sequence};
        const double bytes = other_bytes(step[i / 2].model, &options);
        assert_true(near(bytes / 1e9, step[i / 2].gb[i % 2], 0.07));
    }
}

/* The same of timm 1.0's networks of images, 8 in fp16 and channels last, beside convolutions. Added to what the
 * dispatcher lists are copies within kernels of convolutions and pools, of tensors that are no whole ones; a batch norm
 * reads twice, there and back. */
TEST(bytes_of_images)
{
    static const struct {
        const char *model;
        int32_t image;
        double gb;
    } step[] = {{"mixnet_m", 224, 3.202},      {"resnest26d", 224, 3.938}, {"efficientnet_b0_gn", 224, 6.972},
                {"hrnet_w18_small", 224, 1.514}, {"densenet169", 224, 5.269}, {"cs3darknet_l", 256, 2.630},
                {"gcresnet33ts", 256, 3.499},   {"convnext_nano_ols", 224, 2.556}, {"ghostnet_100", 224, 1.141},
                {"lcnet_100", 224, 0.657},      {"regnetz_040", 256, 7.817},   {"hardcorenas_b", 224, 1.233},
                {"maxvit_nano_rw_256", 256, 8.227}, {"maxvit_tiny_tf", 224, 9.783}};
    for (size_t i = 0; i < sizeof step / sizeof step[0]; i++) {
        const dls_zoo_options options = {.runner = DLS_RUN_EAGER,
                                         .numeric = DLS_NUMERIC_FP16,
                                         .batch = 8,
                                         .image = step[i].image};
        const double bytes = other_bytes(step[i].model, &options);
        assert_true(near(bytes / 1e9, step[i].gb, 0.03));
    }
}
