/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks of cells that a search has found: NASNet-A (Zoph et al., 2018) and PNASNet-5 (Liu et al.,
 * 2018), names as timm spells them. A cell reads the result of the cell before it, R, and of the one
 * before that, L, brought to its width; a pair of words is a sum. A word is an operation, the edge of
 * its kernel, and what it reads: R, L, or the sum of that number:
 *      s two depthwise convolutions, each with a product behind     m a greatest   a means
 *      = the same
 * Of L and R every second place is taken where the cell is strided; what then has another width or
 * size goes through a product.
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define SUMS 5

typedef struct cells {
    const char *normal, *strided; /* two words of three letters for each sum */
    int first[2];                 /* sum that is joined first, normal and strided */
    bool passes;                  /* a normal cell's L is joined, too */
    int32_t width, stem[2];       /* of the first cells; of two that are strided in front of them */
    int n;                        /* cells of a stage without those that are strided */
} cells;

static const cells nasnet = {.normal = "s5Rs3L s5Ls3L a3R==L a3La3L s3R==R",
                             .strided = "s5Rs7L m3Rs7L a3Rs5L a30==1 s30m3R",
                             .first = {0, 1},
                             .passes = true,
                             .width = 168,
                             .stem = {42, 84},
                             .n = 6};
static const cells pnasnet = {.normal = "s5Lm3L s7Rm3R s5Rs3R s32m3R s3L==R",
                              .strided = "s5Lm3L s7Rm3R s5Rs3R s32m3R s3L==R",
                              .width = 216,
                              .stem = {54, 108},
                              .n = 4};

static dls_tensor product(dls_net *net, dls_tensor x, int32_t out, int32_t stride)
{
    return dls_block_conv_bn(net, dls_net_unary(net, x, DLS_OP_RELU), out, 1, stride);
}

/* Padded by a kernel of its own where it is not the same on all sides. */
static dls_tensor padded(dls_net *net, dls_tensor x, bool does)
{
    return does && dls_net_eager(net) ? dls_net_pass(net, x, DLS_OP_PAD, 2) : x;
}

static dls_tensor separable(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride)
{
    for (int i = 0; i < 2; i++, stride = 1) {
        x = padded(net, dls_net_unary(net, x, DLS_OP_RELU), stride > 1);
        x = dls_block_conv_bn(net, dls_block_depthwise(net, x, kernel, stride, false), out, 1, 1);
    }
    return x;
}

/* Every second place, and those beside them, each to half of the channels. */
static dls_tensor halved(dls_net *net, dls_tensor x, int32_t out)
{
    dls_tensor half[2];
    x = dls_net_unary(net, x, DLS_OP_RELU);
    for (int i = 0; i < 2; i++) {
        half[i] = i > 0 && dls_net_eager(net) ? dls_net_pass(net, x, DLS_OP_PAD, 2) : x;
        half[i] = dls_net_pool(net, half[i], DLS_OP_AVG_POOL, 1, 2, DLS_PAD_SAME);
        half[i] = dls_block_conv(net, half[i], out / 2, 1, 1, 1);
    }
    return dls_net_batch_norm(net, dls_net_concat(net, half, 2));
}

static dls_tensor word(dls_net *net, const char *w, const dls_tensor *from, const dls_tensor *sum,
                       int32_t out, int32_t stride)
{
    const bool inner = w[2] >= '0' && w[2] < '0' + SUMS;
    dls_tensor x = inner ? sum[w[2] - '0'] : from[w[2] == 'L'];
    stride = inner ? 1 : stride;
    if (w[0] == 's') {
        return separable(net, x, out, w[1] - '0', stride);
    }
    if (w[0] == '=') {
        return stride > 1 && !inner ? product(net, x, out, stride) : x;
    }
    x = dls_net_pool(net, padded(net, x, true), w[0] == 'm' ? DLS_OP_MAX_POOL : DLS_OP_AVG_POOL, 3,
                     stride, DLS_PAD_SAME);
    return dls_net_dim(net, x, 3) == out ? x : dls_block_conv_bn(net, x, out, 1, 1);
}

/* from: R, L; raw: L stays as it is. */
static dls_tensor cell(dls_net *net, dls_tensor right, dls_tensor left, int32_t out, int32_t stride,
                       bool raw, const cells *c)
{
    const char *text = stride > 1 ? c->strided : c->normal;
    const int32_t size = (int32_t)dls_net_dim(net, right, 1);
    dls_tensor sum[SUMS], all[SUMS + 1], from[2];
    int n = 0;
    from[1] = raw                                  ? left
              : dls_net_dim(net, left, 1) > size ? halved(net, left, out)
                                                   : product(net, left, out, 1);
    from[0] = product(net, right, out, 1);
    for (int i = 0; i < SUMS; i++, text += 7) {
        const dls_tensor x = word(net, text, from, sum, out, stride);
        sum[i] = dls_net_add(net, x, word(net, text + 3, from, sum, out, stride));
    }
    if (c->passes && stride == 1) {
        all[n++] = from[1];
    }
    for (int i = c->first[stride > 1]; i < SUMS; i++) {
        all[n++] = sum[i];
    }
    return dls_net_concat(net, all, n);
}

static void searched(dls_net *net, const char *spec)
{
    const cells *c = dls_spec_has(spec, "progressive") ? &pnasnet : &nasnet;
    const dls_conv first = {.out = 96, .kernel_h = 3, .kernel_w = 3, .stride = 2};
    dls_tensor left = dls_net_batch_norm(net, dls_net_conv(net, dls_net_image(net, 331, 331, 3), first));
    dls_tensor right = cell(net, left, left, c->stem[0], 2, true, c), next;
    next = cell(net, right, left, c->stem[1], 2, false, c);
    left = right;
    right = next;
    for (int stage = 0; stage < 3; stage++) {
        const int32_t width = c->width << stage;
        if (stage > 0) {
            next = cell(net, right, left, width, 2, false, c);
            left = c->passes ? left : right; /* of NASNet's the one before stays */
            right = next;
        }
        for (int i = 0; i < c->n - (stage > 0 && !c->passes); i++) {
            next = cell(net, right, left, width, 1, false, c);
            left = right;
            right = next;
        }
    }
    dls_zoo_classify(net, dls_net_relu(net, right));
}

static const dls_zoo_model rows[] = {
    DLS_ZOO_IMAGES("nasnetalarge", "nasnet", 331, searched, ""),
    DLS_ZOO_IMAGES("pnasnet5large", "nasnet", 331, searched, "progressive"),
};

const dls_zoo_table dls_zoo_cells = {rows, sizeof rows / sizeof rows[0]};
