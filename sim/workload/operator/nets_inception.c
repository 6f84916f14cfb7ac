/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GoogLeNet (Szegedy et al. 2015), Inception v3 (2016) and v4 (2017), without auxiliary heads.
 * Every block reads one tensor: a branch starts again from it, and a concatenation closes the
 * block.
 */
#include "workload/operator/layers.h"

#define CLASSES 1000
#define NORM (DLS_NORM | DLS_RELU)

static void conv(dls_layers *b, int32_t kh, int32_t kw, int32_t c)
{
    dls_layers_conv(b, kh, kw, 1, c, DLS_SAME, NORM);
}

/* Halves the grid: 3x3, stride 2, no padding. */
static void reduce(dls_layers *b, int32_t c)
{
    dls_layers_conv(b, 3, 3, 2, c, DLS_VALID, NORM);
}

static void pool_conv(dls_layers *b, dls_shape in, int32_t c)
{
    b->at = in;
    dls_layers_pool(b, 3, 1, DLS_SAME);
    conv(b, 1, 1, c);
}

/* 1x3 and 3x1 side by side. */
static void side_by_side(dls_layers *b, int32_t c)
{
    const dls_shape in = b->at;
    conv(b, 1, 3, c);
    b->at = in;
    conv(b, 3, 1, c);
}

static void classify(dls_layers *b)
{
    dls_layers_pool_global(b);
    dls_layers_dense(b, CLASSES);
    dls_layers_loss(b, CLASSES);
}

/* ---- GoogLeNet ------------------------------------------------------------------------------- */

static void biased(dls_layers *b, int32_t k, int32_t stride, int32_t c)
{
    dls_layers_conv(b, k, k, stride, c, DLS_SAME, DLS_BIAS | DLS_RELU);
}

void dls_layers_net_googlenet(dls_layers *b)
{
    /* 1x1; 1x1 and 3x3; 1x1 and 5x5; 1x1 behind the pool: table 1 of the paper */
    static const int32_t block[][6] = {{64, 96, 128, 16, 32, 32},     {128, 128, 192, 32, 96, 64},
                                       {192, 96, 208, 16, 48, 64},    {160, 112, 224, 24, 64, 64},
                                       {128, 128, 256, 24, 64, 64},   {112, 144, 288, 32, 64, 64},
                                       {256, 160, 320, 32, 128, 128}, {256, 160, 320, 32, 128, 128},
                                       {384, 192, 384, 48, 128, 128}};
    b->at = (dls_shape){224, 224, 3};
    biased(b, 7, 2, 64);
    dls_layers_pool(b, 3, 2, DLS_SAME);
    biased(b, 1, 1, 64);
    biased(b, 3, 1, 192);
    dls_layers_pool(b, 3, 2, DLS_SAME);
    for (int i = 0; i < 9; i++) {
        const int32_t *c = block[i];
        const dls_shape in = b->at;
        biased(b, 1, 1, c[0]);
        b->at = in;
        biased(b, 1, 1, c[1]);
        biased(b, 3, 1, c[2]);
        b->at = in;
        biased(b, 1, 1, c[3]);
        biased(b, 5, 1, c[4]);
        b->at = in;
        dls_layers_pool(b, 3, 1, DLS_SAME);
        biased(b, 1, 1, c[5]);
        dls_layers_concat(b, c[0] + c[2] + c[4] + c[5]);
        if (i == 1 || i == 6) {
            dls_layers_pool(b, 3, 2, DLS_SAME);
        }
    }
    classify(b);
}

/* ---- Inception v3 ---------------------------------------------------------------------------- */

static void v3_a(dls_layers *b, int32_t pooled)
{
    const dls_shape in = b->at;
    conv(b, 1, 1, 64);
    b->at = in;
    conv(b, 1, 1, 48);
    conv(b, 5, 5, 64);
    b->at = in;
    conv(b, 1, 1, 64);
    conv(b, 3, 3, 96);
    conv(b, 3, 3, 96);
    pool_conv(b, in, pooled);
    dls_layers_concat(b, 64 + 64 + 96 + pooled);
}

static void v3_c(dls_layers *b, int32_t c)
{
    const dls_shape in = b->at;
    conv(b, 1, 1, 192);
    b->at = in;
    conv(b, 1, 1, c);
    conv(b, 1, 7, c);
    conv(b, 7, 1, 192);
    b->at = in;
    conv(b, 1, 1, c);
    conv(b, 7, 1, c);
    conv(b, 1, 7, c);
    conv(b, 7, 1, c);
    conv(b, 1, 7, 192);
    pool_conv(b, in, 192);
    dls_layers_concat(b, 768);
}

static void v3_e(dls_layers *b)
{
    const dls_shape in = b->at;
    conv(b, 1, 1, 320);
    b->at = in;
    conv(b, 1, 1, 384);
    side_by_side(b, 384);
    dls_layers_concat(b, 768);
    b->at = in;
    conv(b, 1, 1, 448);
    conv(b, 3, 3, 384);
    side_by_side(b, 384);
    dls_layers_concat(b, 768);
    pool_conv(b, in, 192);
    dls_layers_concat(b, 2048);
}

void dls_layers_net_inception3(dls_layers *b)
{
    b->at = (dls_shape){299, 299, 3};
    reduce(b, 32);
    dls_layers_conv(b, 3, 3, 1, 32, DLS_VALID, NORM);
    conv(b, 3, 3, 64);
    dls_layers_pool(b, 3, 2, DLS_VALID);
    conv(b, 1, 1, 80);
    dls_layers_conv(b, 3, 3, 1, 192, DLS_VALID, NORM);
    dls_layers_pool(b, 3, 2, DLS_VALID);
    v3_a(b, 32);
    v3_a(b, 64);
    v3_a(b, 64);

    dls_shape in = b->at;
    conv(b, 1, 1, 64);
    conv(b, 3, 3, 96);
    reduce(b, 96);
    b->at = in;
    reduce(b, 384);
    b->at = in;
    dls_layers_pool(b, 3, 2, DLS_VALID);
    dls_layers_concat(b, 768);
    v3_c(b, 128);
    v3_c(b, 160);
    v3_c(b, 160);
    v3_c(b, 192);

    in = b->at;
    conv(b, 1, 1, 192);
    reduce(b, 320);
    b->at = in;
    conv(b, 1, 1, 192);
    conv(b, 1, 7, 192);
    conv(b, 7, 1, 192);
    reduce(b, 192);
    b->at = in;
    dls_layers_pool(b, 3, 2, DLS_VALID);
    dls_layers_concat(b, 1280);
    v3_e(b);
    v3_e(b);
    classify(b);
}

/* ---- Inception v4 ---------------------------------------------------------------------------- */

static void v4_stem(dls_layers *b)
{
    reduce(b, 32);
    dls_layers_conv(b, 3, 3, 1, 32, DLS_VALID, NORM);
    conv(b, 3, 3, 64);
    dls_shape in = b->at;
    dls_layers_pool(b, 3, 2, DLS_VALID);
    b->at = in;
    reduce(b, 96);
    dls_layers_concat(b, 160);
    in = b->at;
    conv(b, 1, 1, 64);
    dls_layers_conv(b, 3, 3, 1, 96, DLS_VALID, NORM);
    b->at = in;
    conv(b, 1, 1, 64);
    conv(b, 7, 1, 64);
    conv(b, 1, 7, 64);
    dls_layers_conv(b, 3, 3, 1, 96, DLS_VALID, NORM);
    dls_layers_concat(b, 192);
    in = b->at;
    dls_layers_pool(b, 3, 2, DLS_VALID);
    b->at = in;
    reduce(b, 192);
    dls_layers_concat(b, 384);
}

static void v4_a(dls_layers *b)
{
    const dls_shape in = b->at;
    conv(b, 1, 1, 96);
    b->at = in;
    conv(b, 1, 1, 64);
    conv(b, 3, 3, 96);
    b->at = in;
    conv(b, 1, 1, 64);
    conv(b, 3, 3, 96);
    conv(b, 3, 3, 96);
    pool_conv(b, in, 96);
    dls_layers_concat(b, 384);
}

static void v4_b(dls_layers *b)
{
    const dls_shape in = b->at;
    conv(b, 1, 1, 384);
    b->at = in;
    conv(b, 1, 1, 192);
    conv(b, 1, 7, 224);
    conv(b, 7, 1, 256);
    b->at = in;
    conv(b, 1, 1, 192);
    conv(b, 1, 7, 192);
    conv(b, 7, 1, 224);
    conv(b, 1, 7, 224);
    conv(b, 7, 1, 256);
    pool_conv(b, in, 128);
    dls_layers_concat(b, 1024);
}

static void v4_c(dls_layers *b)
{
    const dls_shape in = b->at;
    conv(b, 1, 1, 256);
    b->at = in;
    conv(b, 1, 1, 384);
    side_by_side(b, 256);
    b->at = in;
    conv(b, 1, 1, 384);
    conv(b, 1, 3, 448);
    conv(b, 3, 1, 512);
    side_by_side(b, 256);
    pool_conv(b, in, 256);
    dls_layers_concat(b, 1536);
}

void dls_layers_net_inception4(dls_layers *b)
{
    b->at = (dls_shape){299, 299, 3};
    v4_stem(b);
    for (int i = 0; i < 4; i++) {
        v4_a(b);
    }
    dls_shape in = b->at;
    conv(b, 1, 1, 192);
    conv(b, 3, 3, 224);
    reduce(b, 256);
    b->at = in;
    reduce(b, 384);
    b->at = in;
    dls_layers_pool(b, 3, 2, DLS_VALID);
    dls_layers_concat(b, 1024);
    for (int i = 0; i < 7; i++) {
        v4_b(b);
    }
    in = b->at;
    conv(b, 1, 1, 192);
    reduce(b, 192);
    b->at = in;
    conv(b, 1, 1, 256);
    conv(b, 1, 7, 256);
    conv(b, 7, 1, 320);
    reduce(b, 320);
    b->at = in;
    dls_layers_pool(b, 3, 2, DLS_VALID);
    dls_layers_concat(b, 1536);
    for (int i = 0; i < 3; i++) {
        v4_c(b);
    }
    classify(b);
}
