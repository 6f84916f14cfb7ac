/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Convolutional networks without inception blocks. ImageNet models see 224 x 224 images and 1000
 * classes, CIFAR models 32 x 32 and 10, whatever the data set is called.
 */
#include "workload/graph/zoo.h"

#include "workload/graph/blocks.h"

#include <math.h>

#define SAME DLS_PAD_SAME

static dls_tensor max_pool(dls_net *net, dls_tensor x, int32_t kernel, int32_t stride, int32_t pad)
{
    return dls_net_pool(net, x, DLS_OP_MAX_POOL, kernel, stride, pad);
}

static void classify(dls_net *net, dls_tensor x, int64_t classes)
{
    dls_net_loss(net, dls_net_dense(net, dls_net_global_mean(net, x), classes, true));
}

/* LeCun et al., 1998, as Caffe trains it on MNIST. */
void dls_zoo_lenet(dls_net *net, int32_t variant)
{
    (void)variant;
    dls_tensor x = dls_net_image(net, 28, 28, 1);
    x = dls_net_conv(
        net, x, (dls_conv){.out = 20, .kernel_h = 5, .kernel_w = 5, .stride = 1, .bias = true});
    x = max_pool(net, x, 2, 2, 0);
    x = dls_net_conv(
        net, x, (dls_conv){.out = 50, .kernel_h = 5, .kernel_w = 5, .stride = 1, .bias = true});
    x = max_pool(net, x, 2, 2, 0);
    x = dls_net_relu(net, dls_net_dense(net, dls_net_flatten(net, x), 500, true));
    dls_net_loss(net, dls_net_dense(net, x, 10, true));
}

/* Krizhevsky, 2014 ("One weird trick"): one tower, as torchvision has it. */
void dls_zoo_alexnet(dls_net *net, int32_t variant)
{
    (void)variant;
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    x = max_pool(net, dls_block_conv_bias_relu(net, x, 64, 11, 4, 2), 3, 2, 0);
    x = max_pool(net, dls_block_conv_bias_relu(net, x, 192, 5, 1, 2), 3, 2, 0);
    x = dls_block_conv_bias_relu(net, x, 384, 3, 1, 1);
    x = dls_block_conv_bias_relu(net, x, 256, 3, 1, 1);
    x = max_pool(net, dls_block_conv_bias_relu(net, x, 256, 3, 1, 1), 3, 2, 0);
    x = dls_net_dropout(net, dls_net_flatten(net, x));
    x = dls_net_dropout(net, dls_net_relu(net, dls_net_dense(net, x, 4096, true)));
    x = dls_net_relu(net, dls_net_dense(net, x, 4096, true));
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}

/* Simonyan and Zisserman, 2015: configurations A, D, E. */
void dls_zoo_vgg(dls_net *net, int32_t depth)
{
    static const int32_t width[5] = {64, 128, 256, 512, 512};
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    for (int stage = 0; stage < 5; stage++) {
        const int32_t n = depth == 11 ? (stage < 2 ? 1 : 2) : stage < 2 ? 2 : depth == 16 ? 3 : 4;
        for (int32_t i = 0; i < n; i++) {
            x = dls_block_conv_bias_relu(net, x, width[stage], 3, 1, SAME);
        }
        x = max_pool(net, x, 2, 2, 0);
    }
    x = dls_net_flatten(net, x);
    for (int i = 0; i < 2; i++) {
        x = dls_net_dropout(net, dls_net_relu(net, dls_net_dense(net, x, 4096, true)));
    }
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}

/* He et al., 2016, with the stride in the 3 x 3 convolution ("v1.5"). */
void dls_zoo_resnet(dls_net *net, int32_t depth)
{
    const int32_t blocks[4] = {3, depth == 152 ? 8 : 4,
                               depth == 50    ? 6
                               : depth == 101 ? 23
                                              : 36,
                               3};
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    x = max_pool(net, dls_block_conv_bn_relu(net, x, 64, 7, 2), 3, 2, SAME);
    for (int stage = 0; stage < 4; stage++) {
        const int32_t width = 64 << stage;
        for (int32_t i = 0; i < blocks[stage]; i++) {
            const int32_t stride = i == 0 && stage > 0 ? 2 : 1;
            const dls_tensor shortcut =
                i == 0 ? dls_block_conv_bn(net, x, 4 * width, 1, stride) : x;
            x = dls_block_conv_bn_relu(net, x, width, 1, 1);
            x = dls_block_conv_bn_relu(net, x, width, 3, stride);
            x = dls_block_conv_bn(net, x, 4 * width, 1, 1);
            x = dls_net_relu(net, dls_net_add(net, x, shortcut));
        }
    }
    classify(net, x, 1000);
}

/* Blocks of two 3 x 3 convolutions; a convolution in the shortcut where the size changes. */
static dls_tensor basic_stages(dls_net *net, dls_tensor x, const int32_t blocks[4])
{
    for (int stage = 0; stage < 4; stage++) {
        const int32_t width = 64 << stage;
        for (int32_t i = 0; i < blocks[stage]; i++) {
            const int32_t stride = i == 0 && stage > 0 ? 2 : 1;
            const dls_tensor shortcut =
                stride == 2 ? dls_block_conv_bn(net, x, width, 1, stride) : x;
            x = dls_block_conv_bn_relu(net, x, width, 3, stride);
            x = dls_block_conv_bn(net, x, width, 3, 1);
            x = dls_net_relu(net, dls_net_add(net, x, shortcut));
        }
    }
    return x;
}

/* He et al., 2016: 18 or 34 layers. */
void dls_zoo_resnet_basic(dls_net *net, int32_t depth)
{
    const int32_t more = depth == 34;
    const int32_t blocks[4] = {more ? 3 : 2, more ? 4 : 2, more ? 6 : 2, more ? 3 : 2};
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    x = max_pool(net, dls_block_conv_bn_relu(net, x, 64, 7, 2), 3, 2, SAME);
    classify(net, basic_stages(net, x, blocks), 1000);
}

/* The same with 18 layers for small images, as PyTorch users train it on CIFAR-10
 * (kuangliu/pytorch-cifar). */
void dls_zoo_resnet18_cifar(dls_net *net, int32_t variant)
{
    (void)variant;
    const dls_tensor x = dls_block_conv_bn_relu(net, dls_net_image(net, 32, 32, 3), 64, 3, 1);
    classify(net, basic_stages(net, x, (const int32_t[]){2, 2, 2, 2}), 10);
}

/* He et al., 2016, section 4.2: shortcuts without parameters (subsampled, padded with zeros). */
void dls_zoo_resnet_cifar(dls_net *net, int32_t depth)
{
    dls_tensor x = dls_block_conv_bn_relu(net, dls_net_image(net, 32, 32, 3), 16, 3, 1);
    for (int stage = 0; stage < 3; stage++) {
        const int32_t width = 16 << stage;
        for (int32_t i = 0; i < (depth - 2) / 6; i++) {
            const int32_t stride = i == 0 && stage > 0 ? 2 : 1;
            dls_tensor shortcut = x;
            x = dls_block_conv_bn_relu(net, x, width, 3, stride);
            x = dls_block_conv_bn(net, x, width, 3, 1);
            if (stride == 2) {
                const dls_tensor half = dls_net_pool(net, shortcut, DLS_OP_AVG_POOL, 1, 2, SAME);
                const dls_tensor zeros = dls_net_scale(net, half);
                shortcut = dls_net_concat(net, (dls_tensor[]){half, zeros}, 2);
            }
            x = dls_net_relu(net, dls_net_add(net, x, shortcut));
        }
    }
    classify(net, x, 10);
}

/* ---- DenseNet -------------------------------------------------------------------------------- */

static dls_tensor bn_relu(dls_net *net, dls_tensor x)
{
    return dls_net_relu(net, dls_net_batch_norm(net, x));
}

static dls_tensor conv(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride)
{
    return dls_net_conv(
        net, x,
        (dls_conv){
            .out = out, .kernel_h = kernel, .kernel_w = kernel, .stride = stride, .pad = SAME});
}

/* Huang et al., 2017, growth 12, without bottlenecks and compression. */
void dls_zoo_densenet_cifar(dls_net *net, int32_t depth)
{
    dls_tensor x = conv(net, dls_net_image(net, 32, 32, 3), 16, 3, 1);
    for (int block = 0; block < 3; block++) {
        for (int32_t i = 0; i < (depth - 4) / 3; i++) {
            const dls_tensor y = conv(net, bn_relu(net, x), 12, 3, 1);
            x = dls_net_concat(net, (dls_tensor[]){x, y}, 2);
        }
        x = bn_relu(net, x);
        if (block < 2) {
            x = conv(net, x, (int32_t)dls_net_dim(net, x, 3), 1, 1);
            x = dls_net_pool(net, x, DLS_OP_AVG_POOL, 2, 2, 0);
        }
    }
    classify(net, x, 10);
}

/* Huang et al., 2017: bottlenecks, compression by 2, growth 32. */
void dls_zoo_densenet121(dls_net *net, int32_t variant)
{
    (void)variant;
    static const int32_t layers[4] = {6, 12, 24, 16};
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    x = max_pool(net, dls_block_conv_bn_relu(net, x, 64, 7, 2), 3, 2, SAME);
    for (int block = 0; block < 4; block++) {
        for (int32_t i = 0; i < layers[block]; i++) {
            const dls_tensor y = conv(net, bn_relu(net, x), 128, 1, 1);
            const dls_tensor z = conv(net, bn_relu(net, y), 32, 3, 1);
            x = dls_net_concat(net, (dls_tensor[]){x, z}, 2);
        }
        x = bn_relu(net, x);
        if (block < 3) {
            x = conv(net, x, (int32_t)dls_net_dim(net, x, 3) / 2, 1, 1);
            x = dls_net_pool(net, x, DLS_OP_AVG_POOL, 2, 2, 0);
        }
    }
    classify(net, x, 1000);
}

/* ---- depthwise separable --------------------------------------------------------------------- */

static dls_tensor relu6(dls_net *net, dls_tensor x)
{
    return dls_net_unary(net, x, DLS_OP_RELU6);
}

/* Howard et al., 2017 */
static dls_tensor mobilenet_v1(dls_net *net, dls_tensor x)
{
    static const struct {
        int32_t out, stride;
    } layers[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                  {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
    x = relu6(net, dls_block_conv_bn(net, x, 32, 3, 2));
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        x = relu6(net, dls_block_depthwise_bn(net, x, 3, layers[i].stride));
        x = relu6(net, dls_block_conv_bn(net, x, layers[i].out, 1, 1));
    }
    return x;
}

/* Sandler et al., 2018: expansion, output channels, repetitions, stride. */
static dls_tensor mobilenet_v2(dls_net *net, dls_tensor x)
{
    static const int32_t stages[7][4] = {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2},
                                         {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2},
                                         {6, 320, 1, 1}};
    x = relu6(net, dls_block_conv_bn(net, x, 32, 3, 2));
    for (int s = 0; s < 7; s++) {
        for (int32_t i = 0; i < stages[s][2]; i++) {
            const int32_t in = (int32_t)dls_net_dim(net, x, 3);
            const dls_tensor shortcut = x;
            if (stages[s][0] > 1) {
                x = relu6(net, dls_block_conv_bn(net, x, in * stages[s][0], 1, 1));
            }
            x = relu6(net, dls_block_depthwise_bn(net, x, 3, i == 0 ? stages[s][3] : 1));
            x = dls_block_conv_bn(net, x, stages[s][1], 1, 1);
            x = i > 0 ? dls_net_add(net, x, shortcut) : x;
        }
    }
    return relu6(net, dls_block_conv_bn(net, x, 1280, 1, 1));
}

void dls_zoo_mobilenet(dls_net *net, int32_t version)
{
    const dls_tensor x = dls_net_image(net, 224, 224, 3);
    classify(net, version == 1 ? mobilenet_v1(net, x) : mobilenet_v2(net, x), 1000);
}

static dls_tensor swish(dls_net *net, dls_tensor x)
{
    return dls_net_unary(net, x, DLS_OP_SWISH);
}

/* A multiple of 8 that is not less than nine tenths of it. */
static int32_t round_channels(double channels)
{
    const int32_t near = (int32_t)(channels + 4) / 8 * 8;
    return near < 0.9 * channels ? near + 8 : near;
}

/* Tan and Le, 2019, B0 to B4: expansion, output channels, repetitions, stride, kernel. */
void dls_zoo_efficientnet(dls_net *net, int32_t variant)
{
    static const int32_t stages[7][5] = {{1, 16, 1, 1, 3}, {6, 24, 2, 2, 3},  {6, 40, 2, 2, 5},
                                         {6, 80, 3, 2, 3}, {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5},
                                         {6, 320, 1, 1, 3}};
    static const struct {
        double width, depth;
        int32_t image;
    } scales[5] = {{1, 1, 224}, {1, 1.1, 240}, {1.1, 1.2, 260}, {1.2, 1.4, 300}, {1.4, 1.8, 380}};
    const double wide = scales[variant].width, deep = scales[variant].depth;
    const int32_t image = scales[variant].image;
    dls_tensor x = swish(net, dls_block_conv_bn(net, dls_net_image(net, image, image, 3),
                                                round_channels(32 * wide), 3, 2));
    for (int s = 0; s < 7; s++) {
        for (int32_t i = 0; i < (int32_t)ceil(deep * stages[s][2] - 1e-9); i++) {
            const int32_t in = (int32_t)dls_net_dim(net, x, 3);
            const dls_tensor shortcut = x;
            if (stages[s][0] > 1) {
                x = swish(net, dls_block_conv_bn(net, x, in * stages[s][0], 1, 1));
            }
            x = swish(net, dls_block_depthwise_bn(net, x, stages[s][4], i == 0 ? stages[s][3] : 1));
            x = dls_block_conv_bn(net, dls_block_squeeze_excite(net, x, in / 4),
                                  round_channels(stages[s][1] * wide), 1, 1);
            x = i > 0 ? dls_net_add(net, x, shortcut) : x;
        }
    }
    classify(net, swish(net, dls_block_conv_bn(net, x, round_channels(1280 * wide), 1, 1)), 1000);
}

/* ---- attention over patches ------------------------------------------------------------------ */

/* Dosovitskiy et al., 2021 (sizes Ti and S: Touvron et al., 2021): patches of 16 x 16, norm first.
 * The first patch stands for the class token. */
void dls_zoo_vit(dls_net *net, int32_t size)
{
    static const struct {
        int32_t width, layers, heads;
    } sizes[4] = {{192, 12, 3}, {384, 12, 6}, {768, 12, 12}, {1024, 24, 16}};
    const int32_t width = sizes[size].width;
    const dls_block_heads b = {.heads = sizes[size].heads, .bias = true};
    dls_tensor x = dls_net_conv(
        net, dls_net_image(net, 224, 224, 3),
        (dls_conv){.out = width, .kernel_h = 16, .kernel_w = 16, .stride = 16, .bias = true});
    const int64_t tokens = dls_net_dim(net, x, 1) * dls_net_dim(net, x, 2);
    x = dls_net_reshape(net, x, 3, (const int64_t[]){dls_net_batch(net), tokens, width});
    x = dls_net_add_rows(net, x, dls_net_table(net, tokens, width));
    for (int32_t i = 0; i < sizes[size].layers; i++) {
        const dls_tensor y = dls_net_layer_norm(net, x);
        x = dls_net_add(net, x, dls_block_attention(net, y, y, b));
        const dls_tensor z = dls_net_layer_norm(net, x);
        x = dls_net_add(net, x, dls_block_feed_forward(net, z, 4 * width, DLS_OP_GELU, b));
    }
    x = dls_net_first_token(net, dls_net_layer_norm(net, x));
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}
