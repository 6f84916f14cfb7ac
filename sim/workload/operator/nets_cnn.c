/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * AlexNet, VGG and ResNet. Shapes of the TensorFlow benchmarks (stride of the bottleneck in its
 * first 1x1 convolution) and, as v1.5, of torchvision (in the 3x3 one).
 */
#include "workload/operator/layers.h"

#define CLASSES 1000
#define IMAGE_SIZE 224

static void dense_relu(dls_layers *b, int32_t out)
{
    dls_layers_dense(b, out);
    dls_layers_relu(b);
}

static void classify(dls_layers *b, int32_t classes)
{
    dls_layers_dense(b, classes);
    dls_layers_loss(b, classes);
}

void dls_layers_net_alexnet(dls_layers *b)
{
    const int then = DLS_BIAS | DLS_RELU;
    b->at = (dls_shape){227, 227, 3};
    dls_layers_conv(b, 11, 11, 4, 64, DLS_VALID, then);
    dls_layers_pool(b, 3, 2, DLS_VALID);
    dls_layers_conv(b, 5, 5, 1, 192, DLS_SAME, then);
    dls_layers_pool(b, 3, 2, DLS_VALID);
    dls_layers_conv(b, 3, 3, 1, 384, DLS_SAME, then);
    dls_layers_conv(b, 3, 3, 1, 384, DLS_SAME, then);
    dls_layers_conv(b, 3, 3, 1, 256, DLS_SAME, then);
    dls_layers_pool(b, 3, 2, DLS_VALID);
    dense_relu(b, 4096);
    dense_relu(b, 4096);
    classify(b, CLASSES);
}

void dls_layers_net_vgg(dls_layers *b, int depth)
{
    static const int32_t width[] = {64, 128, 256, 512, 512};
    const int narrow = depth == 11 ? 1 : 2, wide = depth == 11 ? 2 : depth == 16 ? 3 : 4;
    b->at = (dls_shape){IMAGE_SIZE, IMAGE_SIZE, 3};
    for (int block = 0; block < 5; block++) {
        const int n = block < 2 ? narrow : wide;
        for (int i = 0; i < n; i++) {
            dls_layers_conv(b, 3, 3, 1, width[block], DLS_SAME, DLS_BIAS | DLS_RELU);
        }
        dls_layers_pool(b, 2, 2, DLS_VALID);
    }
    dense_relu(b, 4096);
    dense_relu(b, 4096);
    classify(b, CLASSES);
}

/* The shortcut of a block whose output has another shape; the main path goes on from `out`. */
static void project(dls_layers *b, dls_shape in, int32_t stride, int32_t c)
{
    const dls_shape out = b->at;
    b->at = in;
    dls_layers_conv(b, 1, 1, stride, c, DLS_SAME, DLS_NORM);
    b->at = out;
}

static void bottleneck(dls_layers *b, int32_t c, int32_t stride, bool v15)
{
    const dls_shape in = b->at;
    dls_layers_conv(b, 1, 1, v15 ? 1 : stride, c, DLS_SAME, DLS_NORM | DLS_RELU);
    dls_layers_conv(b, 3, 3, v15 ? stride : 1, c, DLS_SAME, DLS_NORM | DLS_RELU);
    dls_layers_conv(b, 1, 1, 1, 4 * c, DLS_SAME, DLS_NORM);
    if (in.c != 4 * c) {
        project(b, in, stride, 4 * c);
    }
    dls_layers_residual_add(b);
    dls_layers_relu(b);
}

void dls_layers_net_resnet(dls_layers *b, int depth, bool v15)
{
    const int blocks[] = {3, depth == 152 ? 8 : 4, depth == 50 ? 6 : depth == 101 ? 23 : 36, 3};
    b->at = (dls_shape){IMAGE_SIZE, IMAGE_SIZE, 3};
    dls_layers_conv(b, 7, 7, 2, 64, DLS_SAME, DLS_NORM | DLS_RELU);
    dls_layers_pool(b, 3, 2, DLS_SAME);
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < blocks[stage]; i++) {
            bottleneck(b, 64 << stage, stage > 0 && i == 0 ? 2 : 1, v15);
        }
    }
    dls_layers_pool_global(b);
    classify(b, CLASSES);
}

void dls_layers_net_resnet18_cifar(dls_layers *b)
{
    b->at = (dls_shape){32, 32, 3};
    dls_layers_conv(b, 3, 3, 1, 64, DLS_SAME, DLS_NORM | DLS_RELU);
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < 2; i++) {
            const dls_shape in = b->at;
            const int32_t c = 64 << stage, stride = stage > 0 && i == 0 ? 2 : 1;
            dls_layers_conv(b, 3, 3, stride, c, DLS_SAME, DLS_NORM | DLS_RELU);
            dls_layers_conv(b, 3, 3, 1, c, DLS_SAME, DLS_NORM);
            if (in.c != c) {
                project(b, in, stride, c);
            }
            dls_layers_residual_add(b);
            dls_layers_relu(b);
        }
    }
    dls_layers_pool_global(b);
    classify(b, 10);
}
