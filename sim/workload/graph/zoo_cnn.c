/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Convolutional networks without inception blocks. ImageNet models see 224 x 224 images and 1000
 * classes, CIFAR models 32 x 32 and 10, whatever the data set is called.
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define SAME DLS_PAD_SAME

static dls_tensor halve(dls_net *net, dls_tensor x, int32_t kernel)
{
    return dls_net_pool(net, x, DLS_OP_MAX_POOL, kernel, 2, 0);
}

static void classify(dls_net *net, dls_tensor x, int64_t classes)
{
    dls_net_loss(net, dls_net_dense(net, dls_net_global_mean(net, x), classes, true));
}

/* LeCun et al., 1998, as Caffe trains it on MNIST. */
void dls_zoo_lenet(dls_net *net, const char *spec)
{
    dls_tensor x = dls_net_image(net, 28, 28, 1);
    x = dls_net_conv(
        net, x, (dls_conv){.out = 20, .kernel_h = 5, .kernel_w = 5, .stride = 1, .bias = true});
    x = halve(net, x, 2);
    x = dls_net_conv(
        net, x, (dls_conv){.out = 50, .kernel_h = 5, .kernel_w = 5, .stride = 1, .bias = true});
    x = halve(net, x, 2);
    x = dls_net_relu(net, dls_net_dense(net, dls_net_flatten(net, x), 500, true));
    dls_net_loss(net, dls_net_dense(net, x, 10, true));
}

/* Krizhevsky, 2014 ("One weird trick"): one tower, as torchvision has it. */
void dls_zoo_alexnet(dls_net *net, const char *spec)
{
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    x = halve(net, dls_block_conv_bias_relu(net, x, 64, 11, 4, 2), 3);
    x = halve(net, dls_block_conv_bias_relu(net, x, 192, 5, 1, 2), 3);
    x = dls_block_conv_bias_relu(net, x, 384, 3, 1, 1);
    x = dls_block_conv_bias_relu(net, x, 256, 3, 1, 1);
    x = halve(net, dls_block_conv_bias_relu(net, x, 256, 3, 1, 1), 3);
    x = dls_net_dropout(net, dls_net_flatten(net, x));
    x = dls_net_dropout(net, dls_net_relu(net, dls_net_dense(net, x, 4096, true)));
    x = dls_net_relu(net, dls_net_dense(net, x, 4096, true));
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}

/* He et al., 2016, section 4.2: shortcuts without parameters (subsampled, padded with zeros). */
void dls_zoo_resnet_cifar(dls_net *net, const char *spec)
{
    dls_tensor x = dls_block_conv_bn_relu(net, dls_net_image(net, 32, 32, 3), 16, 3, 1);
    const int32_t depth = (int32_t)dls_spec_number(spec, "depth", 20);
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

/* Huang et al., 2017, growth 12, without bottlenecks and compression. */
void dls_zoo_densenet_cifar(dls_net *net, const char *spec)
{
    dls_tensor x = dls_block_conv(net, dls_net_image(net, 32, 32, 3), 16, 3, 1, 1);
    const int32_t depth = (int32_t)dls_spec_number(spec, "depth", 40);
    for (int block = 0; block < 3; block++) {
        for (int32_t i = 0; i < (depth - 4) / 3; i++) {
            const dls_tensor y = dls_block_conv(net, dls_block_bn_relu(net, x), 12, 3, 1, 1);
            x = dls_net_concat(net, (dls_tensor[]){x, y}, 2);
        }
        x = dls_block_bn_relu(net, x);
        if (block < 2) {
            x = dls_block_conv(net, x, (int32_t)dls_net_dim(net, x, 3), 1, 1, 1);
            x = dls_net_pool(net, x, DLS_OP_AVG_POOL, 2, 2, 0);
        }
    }
    classify(net, x, 10);
}

/* ---- depthwise separable --------------------------------------------------------------------- */

static dls_tensor relu6(dls_net *net, dls_tensor x)
{
    return dls_net_in_place(net, x, DLS_OP_RELU6);
}

/* Howard et al., 2017 */
void dls_zoo_mobilenet(dls_net *net, const char *spec)
{
    static const struct {
        int32_t out, stride;
    } layers[] = {{64, 1},  {128, 2}, {128, 1}, {256, 2}, {256, 1},  {512, 2}, {512, 1},
                  {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1}};
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    x = relu6(net, dls_block_conv_bn(net, x, 32, 3, 2));
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        x = relu6(net, dls_block_depthwise_bn(net, x, 3, layers[i].stride));
        x = relu6(net, dls_block_conv_bn(net, x, layers[i].out, 1, 1));
    }
    classify(net, x, 1000);
}
