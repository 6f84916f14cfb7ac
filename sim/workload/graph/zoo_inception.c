/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks of inception blocks, batch norm after every convolution, without auxiliary classifiers.
 */
#include "workload/graph/zoo.h"

#define SAME DLS_PAD_SAME

static dls_tensor conv(dls_net *net, dls_tensor x, int32_t out, int32_t h, int32_t w,
                       int32_t stride, int32_t pad)
{
    const dls_conv c = {.out = out, .kernel_h = h, .kernel_w = w, .stride = stride, .pad = pad};
    return dls_net_relu(net, dls_net_batch_norm(net, dls_net_conv(net, x, c)));
}

static dls_tensor c1(dls_net *net, dls_tensor x, int32_t out)
{
    return conv(net, x, out, 1, 1, 1, SAME);
}

static dls_tensor c3(dls_net *net, dls_tensor x, int32_t out)
{
    return conv(net, x, out, 3, 3, 1, SAME);
}

/* 3 x 3, stride 2, no padding: halves the image */
static dls_tensor c3_half(dls_net *net, dls_tensor x, int32_t out)
{
    return conv(net, x, out, 3, 3, 2, 0);
}

static dls_tensor max_half(dls_net *net, dls_tensor x)
{
    return dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, 0);
}

/* An average around every pixel, then 1 x 1. */
static dls_tensor average_c1(dls_net *net, dls_tensor x, int32_t out)
{
    return c1(net, dls_net_pool(net, x, DLS_OP_AVG_POOL, 3, 1, SAME), out);
}

static dls_tensor join(dls_net *net, dls_tensor a, dls_tensor b, dls_tensor c, dls_tensor d)
{
    return dls_net_concat(net, (dls_tensor[]){a, b, c, d}, d >= 0 ? 4 : 3);
}

static void classify(dls_net *net, dls_tensor x)
{
    x = dls_net_dropout(net, dls_net_global_mean(net, x));
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}

/* Szegedy et al., 2015; 3 x 3 in place of 5 x 5 and batch norm, as torchvision has it. */
void dls_zoo_googlenet(dls_net *net, int32_t variant)
{
    (void)variant;
    static const int32_t blocks[9][6] = {
        {64, 96, 128, 16, 32, 32},     {128, 128, 192, 32, 96, 64},
        {192, 96, 208, 16, 48, 64},    {160, 112, 224, 24, 64, 64},
        {128, 128, 256, 24, 64, 64},   {112, 144, 288, 32, 64, 64},
        {256, 160, 320, 32, 128, 128}, {256, 160, 320, 32, 128, 128},
        {384, 192, 384, 48, 128, 128}};
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    x = dls_net_pool(net, conv(net, x, 64, 7, 7, 2, SAME), DLS_OP_MAX_POOL, 3, 2, SAME);
    x = c3(net, c1(net, x, 64), 192);
    x = dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, SAME);
    for (int i = 0; i < 9; i++) {
        const int32_t *b = blocks[i];
        if (i == 2 || i == 7) {
            x = dls_net_pool(net, x, DLS_OP_MAX_POOL, i == 2 ? 3 : 2, 2, SAME);
        }
        const dls_tensor y1 = c1(net, x, b[0]);
        const dls_tensor y2 = c3(net, c1(net, x, b[1]), b[2]);
        const dls_tensor y3 = c3(net, c1(net, x, b[3]), b[4]);
        const dls_tensor y4 = c1(net, dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 1, SAME), b[5]);
        x = join(net, y1, y2, y3, y4);
    }
    classify(net, x);
}

/* ---- Inception v3: Szegedy et al., 2016 ------------------------------------------------------ */

static dls_tensor v3_a(dls_net *net, dls_tensor x, int32_t pooled)
{
    const dls_tensor a = c1(net, x, 64);
    const dls_tensor b = conv(net, c1(net, x, 48), 64, 5, 5, 1, SAME);
    const dls_tensor c = c3(net, c3(net, c1(net, x, 64), 96), 96);
    return join(net, a, b, c, average_c1(net, x, pooled));
}

/* Two rounds of n x 1 and 1 x n through `width` channels. */
static dls_tensor v3_c(dls_net *net, dls_tensor x, int32_t width)
{
    dls_tensor a = c1(net, x, width);
    a = conv(net, conv(net, a, width, 1, 7, 1, SAME), 192, 7, 1, 1, SAME);
    dls_tensor b = c1(net, x, width);
    b = conv(net, conv(net, b, width, 7, 1, 1, SAME), width, 1, 7, 1, SAME);
    b = conv(net, conv(net, b, width, 7, 1, 1, SAME), 192, 1, 7, 1, SAME);
    const dls_tensor c = c1(net, x, 192);
    return join(net, c, a, b, average_c1(net, x, 192));
}

static dls_tensor fork3(dls_net *net, dls_tensor x, int32_t out)
{
    const dls_tensor a = conv(net, x, out, 1, 3, 1, SAME);
    const dls_tensor b = conv(net, x, out, 3, 1, 1, SAME);
    return dls_net_concat(net, (dls_tensor[]){a, b}, 2);
}

static dls_tensor v3_e(dls_net *net, dls_tensor x)
{
    const dls_tensor a = fork3(net, c1(net, x, 384), 384);
    const dls_tensor b = fork3(net, c3(net, c1(net, x, 448), 384), 384);
    const dls_tensor c = c1(net, x, 320);
    return join(net, c, a, b, average_c1(net, x, 192));
}

void dls_zoo_inception3(dls_net *net, int32_t variant)
{
    (void)variant;
    dls_tensor x = dls_net_image(net, 299, 299, 3);
    x = conv(net, c3_half(net, x, 32), 32, 3, 3, 1, 0);
    x = max_half(net, c3(net, x, 64));
    x = max_half(net, conv(net, c1(net, x, 80), 192, 3, 3, 1, 0));
    x = v3_a(net, x, 32);
    x = v3_a(net, x, 64);
    x = v3_a(net, x, 64);
    const dls_tensor a = c3_half(net, x, 384);
    dls_tensor b = c3_half(net, c3(net, c1(net, x, 64), 96), 96);
    x = join(net, a, b, max_half(net, x), -1);
    x = v3_c(net, x, 128);
    x = v3_c(net, x, 160);
    x = v3_c(net, x, 160);
    x = v3_c(net, x, 192);
    const dls_tensor c = c3_half(net, c1(net, x, 192), 320);
    b = conv(net, c1(net, x, 192), 192, 1, 7, 1, SAME);
    b = c3_half(net, conv(net, b, 192, 7, 1, 1, SAME), 192);
    x = join(net, c, b, max_half(net, x), -1);
    x = v3_e(net, x);
    x = v3_e(net, x);
    classify(net, x);
}

/* ---- Inception v4: Szegedy et al., 2017 ------------------------------------------------------ */

static dls_tensor v4_stem(dls_net *net, dls_tensor x)
{
    x = c3(net, conv(net, c3_half(net, x, 32), 32, 3, 3, 1, 0), 64);
    dls_tensor a = max_half(net, x);
    dls_tensor b = c3_half(net, x, 96);
    x = dls_net_concat(net, (dls_tensor[]){a, b}, 2);
    a = conv(net, c1(net, x, 64), 96, 3, 3, 1, 0);
    b = conv(net, c1(net, x, 64), 64, 1, 7, 1, SAME);
    b = conv(net, conv(net, b, 64, 7, 1, 1, SAME), 96, 3, 3, 1, 0);
    x = dls_net_concat(net, (dls_tensor[]){a, b}, 2);
    a = c3_half(net, x, 192);
    b = max_half(net, x);
    return dls_net_concat(net, (dls_tensor[]){a, b}, 2);
}

static dls_tensor v4_a(dls_net *net, dls_tensor x)
{
    const dls_tensor a = c1(net, x, 96);
    const dls_tensor b = c3(net, c1(net, x, 64), 96);
    const dls_tensor c = c3(net, c3(net, c1(net, x, 64), 96), 96);
    return join(net, a, b, c, average_c1(net, x, 96));
}

static dls_tensor v4_b(dls_net *net, dls_tensor x)
{
    dls_tensor a = conv(net, c1(net, x, 192), 224, 1, 7, 1, SAME);
    a = conv(net, a, 256, 7, 1, 1, SAME);
    dls_tensor b = conv(net, c1(net, x, 192), 192, 7, 1, 1, SAME);
    b = conv(net, conv(net, b, 224, 1, 7, 1, SAME), 224, 7, 1, 1, SAME);
    b = conv(net, b, 256, 1, 7, 1, SAME);
    const dls_tensor c = c1(net, x, 384);
    return join(net, c, a, b, average_c1(net, x, 128));
}

static dls_tensor v4_c(dls_net *net, dls_tensor x)
{
    const dls_tensor a = fork3(net, c1(net, x, 384), 256);
    dls_tensor b = conv(net, c1(net, x, 384), 448, 3, 1, 1, SAME);
    b = fork3(net, conv(net, b, 512, 1, 3, 1, SAME), 256);
    const dls_tensor c = c1(net, x, 256);
    return join(net, c, a, b, average_c1(net, x, 256));
}

void dls_zoo_inception4(dls_net *net, int32_t variant)
{
    (void)variant;
    dls_tensor x = v4_stem(net, dls_net_image(net, 299, 299, 3));
    for (int i = 0; i < 4; i++) {
        x = v4_a(net, x);
    }
    const dls_tensor a = c3_half(net, x, 384);
    dls_tensor b = c3_half(net, c3(net, c1(net, x, 192), 224), 256);
    x = join(net, a, b, max_half(net, x), -1);
    for (int i = 0; i < 7; i++) {
        x = v4_b(net, x);
    }
    const dls_tensor c = c3_half(net, c1(net, x, 192), 192);
    b = conv(net, c1(net, x, 256), 256, 1, 7, 1, SAME);
    b = c3_half(net, conv(net, b, 320, 7, 1, 1, SAME), 320);
    x = join(net, c, b, max_half(net, x), -1);
    for (int i = 0; i < 3; i++) {
        x = v4_c(net, x);
    }
    classify(net, x);
}

/* ---- Inception-ResNet v2: Szegedy et al., 2017 ----------------------------------------------- */

/* The branches through one product back to the width, scaled, added. */
static dls_tensor residual(dls_net *net, dls_tensor x, const dls_tensor *branch, int n, bool relu)
{
    const dls_conv back = {.out = (int32_t)dls_net_dim(net, x, 3),
                           .kernel_h = 1,
                           .kernel_w = 1,
                           .stride = 1,
                           .pad = SAME,
                           .bias = true};
    dls_tensor y = dls_net_conv(net, dls_net_concat(net, branch, n), back);
    y = dls_net_add(net, x, dls_net_scale(net, y));
    return relu ? dls_net_relu(net, y) : y;
}

static dls_tensor resnet_a(dls_net *net, dls_tensor x)
{
    const dls_tensor a = c1(net, x, 32), b = c3(net, c1(net, x, 32), 32);
    const dls_tensor c = c3(net, c3(net, c1(net, x, 32), 48), 64);
    return residual(net, x, (dls_tensor[]){a, b, c}, 3, true);
}

/* Through n x 1 after 1 x n. */
static dls_tensor resnet_line(dls_net *net, dls_tensor x, int32_t n, const int32_t width[3],
                              bool relu)
{
    const dls_tensor a = c1(net, x, 192);
    const dls_tensor b = conv(net, c1(net, x, width[0]), width[1], 1, n, 1, SAME);
    return residual(net, x, (dls_tensor[]){a, conv(net, b, width[2], n, 1, 1, SAME)}, 2, relu);
}

void dls_zoo_inception_resnet2(dls_net *net, int32_t variant)
{
    (void)variant;
    dls_tensor x = c3_half(net, dls_net_image(net, 299, 299, 3), 32);
    x = max_half(net, c3(net, conv(net, x, 32, 3, 3, 1, 0), 64));
    x = max_half(net, conv(net, c1(net, x, 80), 192, 3, 3, 1, 0));
    dls_tensor a = conv(net, c1(net, x, 48), 64, 5, 5, 1, SAME);
    dls_tensor b = c3(net, c3(net, c1(net, x, 64), 96), 96);
    const dls_tensor pooled = average_c1(net, x, 64);
    x = join(net, c1(net, x, 96), a, b, pooled);
    for (int i = 0; i < 10; i++) {
        x = resnet_a(net, x);
    }
    a = c3_half(net, x, 384);
    b = c3_half(net, c3(net, c1(net, x, 256), 256), 384);
    x = join(net, a, b, max_half(net, x), -1);
    for (int i = 0; i < 20; i++) {
        x = resnet_line(net, x, 7, (const int32_t[]){128, 160, 192}, true);
    }
    a = c3_half(net, c1(net, x, 256), 384);
    b = c3_half(net, c1(net, x, 256), 288);
    const dls_tensor c = c3_half(net, c3(net, c1(net, x, 256), 288), 320);
    x = join(net, a, b, c, max_half(net, x));
    for (int i = 0; i < 10; i++) {
        x = resnet_line(net, x, 3, (const int32_t[]){192, 224, 256}, i < 9);
    }
    classify(net, c1(net, x, 1536));
}
