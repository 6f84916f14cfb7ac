/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks of depthwise convolutions and 1 x 1 behind each, with residuals: Xception (Chollet,
 * 2017) and in the form of Chen et al., 2018, and ReXNet (Han et al., 2021), whose channels grow from
 * block to block and of which a shortcut reaches those that were there; names as timm spells them.
 *
 *      middle=8 before     blocks of the middle; norm and activation stand before each convolution
 *      twice               two blocks for each of the first two widths behind the first
 *      width=1 of=8        of ReXNet: channels times as many, in multiples
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#include <math.h>

/* ---- Xception -------------------------------------------------------------------------------- */

typedef struct xblock {
    int32_t out[3], stride;
    bool before, alone; /* alone: without a shortcut */
} xblock;

static dls_tensor xception_block(dls_net *net, dls_tensor x, const xblock *b)
{
    const bool same = b->stride == 1 && dls_net_dim(net, x, 3) == b->out[2];
    x = b->before ? dls_block_bn_relu(net, x) : x;
    dls_tensor y = x;
    for (int i = 0; i < 3; i++) {
        const int32_t stride = i == 2 ? b->stride : 1;
        if (b->before) {
            y = i > 0 ? dls_block_bn_relu(net, y) : y;
            y = dls_block_depthwise(net, y, 3, stride, false);
            y = dls_block_conv(net, y, b->out[i], 1, 1, 1);
        } else {
            y = dls_block_depthwise_bn(net, b->alone ? y : dls_net_relu(net, y), 3, stride);
            y = dls_block_conv_bn(net, b->alone ? dls_net_relu(net, y) : y, b->out[i], 1, 1);
            y = b->alone ? dls_net_relu(net, y) : y;
        }
    }
    if (b->alone) {
        return y;
    }
    const dls_tensor shortcut = same        ? x
                                : b->before ? dls_block_conv(net, x, b->out[2], 1, b->stride, 1)
                                            : dls_block_conv_bn(net, x, b->out[2], 1, b->stride);
    return dls_net_add(net, y, shortcut);
}

static void xception(dls_net *net, const char *spec)
{
    const bool before = dls_spec_has(spec, "before");
    const int32_t middle = (int32_t)dls_spec_number(spec, "middle", 8);
    static const int32_t first[] = {128, 256, 728}, doubled[] = {128, 256, 256, 728, 728};
    const bool twice = dls_spec_has(spec, "twice");
    const int32_t n = twice ? 5 : 3;
    dls_tensor x = dls_block_conv_bn_relu(net, dls_net_image(net, 299, 299, 3), 32, 3, 2);
    x = before ? dls_block_conv(net, x, 64, 3, 1, 1) : dls_block_conv_bn_relu(net, x, 64, 3, 1);
    for (int32_t i = 0; i < n + middle; i++) {
        const int32_t out = i >= n ? 728 : (twice ? doubled : first)[i];
        const bool strided = i < n && !(twice && i % 2 == 1);
        x = xception_block(net, x, &(xblock){{out, out, out}, strided ? 2 : 1, before, false});
    }
    x = xception_block(net, x, &(xblock){{728, 1024, 1024}, 2, before, false});
    x = xception_block(net, x, &(xblock){{1536, 1536, 2048}, 1, before, true});
    dls_zoo_classify(net, before ? dls_net_relu(net, x) : x);
}

/* Chollet's own: blocks of `n` that end in pooling where they are strided; wide: channels come with
 * the last. */
static dls_tensor separable(dls_net *net, dls_tensor x, int32_t out)
{
    x = dls_block_conv(net, dls_block_depthwise(net, x, 3, 1, false), out, 1, 1, 1);
    return dls_net_batch_norm(net, x);
}

static dls_tensor first_xception_block(dls_net *net, dls_tensor x, int32_t out, int n, int stride,
                                       bool wide)
{
    const int32_t in = (int32_t)dls_net_dim(net, x, 3);
    const dls_tensor shortcut = stride > 1 ? dls_block_conv_bn(net, x, out, 1, stride) : x;
    for (int i = 0; i < n; i++) {
        x = in == 64 && i == 0 ? x : dls_net_relu(net, x);
        x = separable(net, x, wide && i + 1 < n ? in : out);
    }
    x = stride > 1 ? dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, stride, DLS_PAD_SAME) : x;
    return dls_net_add(net, x, shortcut);
}

static void first_xception(dls_net *net, const char *spec)
{
    static const int32_t entry[] = {128, 256, 728};
    (void)spec;
    dls_tensor x = dls_block_conv_bn_relu(net, dls_net_image(net, 299, 299, 3), 32, 3, 2);
    x = dls_block_conv_bn_relu(net, x, 64, 3, 1);
    for (int i = 0; i < 11; i++) {
        x = first_xception_block(net, x, i < 3 ? entry[i] : 728, i < 3 ? 2 : 3, i < 3 ? 2 : 1, false);
    }
    x = first_xception_block(net, x, 1024, 2, 2, true);
    x = dls_net_relu(net, separable(net, x, 1536));
    dls_zoo_classify(net, dls_net_relu(net, separable(net, x, 2048)));
}

/* ---- ReXNet ---------------------------------------------------------------------------------- */

static dls_tensor swish(dls_net *net, dls_tensor x)
{
    return dls_net_in_place(net, x, DLS_OP_SWISH);
}

/* With batch norm between the two products. */
static dls_tensor excite(dls_net *net, dls_tensor x, int32_t of)
{
    const int64_t b = dls_net_batch(net), c = dls_net_dim(net, x, 3);
    dls_tensor s = dls_net_reshape(net, dls_net_global_mean(net, x), 4, (int64_t[]){b, 1, 1, c});
    s = dls_block_conv_bias(net, s, dls_zoo_round((double)(c / 12), of), 1, 1, 1);
    s = dls_block_conv_bias(net, dls_block_bn_relu(net, s), (int32_t)c, 1, 1, 1);
    return dls_block_weigh(net, x, s);
}

static dls_tensor rexnet_block(dls_net *net, dls_tensor x, int32_t out, int32_t times,
                               int32_t stride, int32_t of, bool excites)
{
    const int32_t in = (int32_t)dls_net_dim(net, x, 3);
    dls_tensor y = x;
    if (times > 1) {
        y = swish(net, dls_block_conv_bn(net, y, dls_zoo_round(times * in, of), 1, 1));
    }
    y = dls_block_depthwise_bn(net, y, 3, stride);
    y = dls_net_unary(net, excites ? excite(net, y, of) : y, DLS_OP_RELU6);
    y = dls_block_conv_bn(net, y, out, 1, 1);
    if (stride > 1 || in > out) {
        return y;
    }
    const dls_tensor sum = dls_net_add(net, dls_net_channels(net, y, in), x);
    return in == out
               ? sum
               : dls_net_concat(net, (dls_tensor[]){sum, dls_net_channels(net, y, out - in)}, 2);
}

static void rexnet(dls_net *net, const char *spec)
{
    static const int32_t blocks[] = {1, 2, 2, 3, 3, 5}, strides[] = {1, 2, 2, 2, 1, 2};
    const double width = dls_spec_number(spec, "width", 1);
    const int32_t of = (int32_t)dls_spec_number(spec, "of", 1);
    double base = 16;
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    x = swish(net, dls_block_conv_bn(net, x, dls_zoo_round(rint(32 * width), of), 3, 2));
    for (int stage = 0; stage < 6; stage++) {
        for (int32_t i = 0; i < blocks[stage]; i++, base += 180. / 16) {
            x = rexnet_block(net, x, dls_zoo_round(rint(base * width), of), stage ? 6 : 1,
                             i == 0 ? strides[stage] : 1, of, stage > 1);
        }
    }
    x = dls_block_conv_bn(net, x, dls_zoo_round(1280 * width, of), 1, 1);
    dls_zoo_classify(net, swish(net, x));
}

/* ---- members --------------------------------------------------------------------------------- */

#define XCEPTION(name, spec) DLS_ZOO_IMAGES("xception" name, "xception", 299, xception, spec)
#define REXNET(name, spec) DLS_ZOO_IMAGES("rexnet" name, "rexnet", 224, rexnet, spec)

static const dls_zoo_model rows[] = {
    XCEPTION("41", "middle=8"),         XCEPTION("65", "middle=16"),
    XCEPTION("71", "middle=16 twice"),
    XCEPTION("41p", "middle=8 before"), XCEPTION("65p", "middle=16 before"),
    REXNET("_100", "width=1"),          REXNET("_130", "width=1.3"),
    REXNET("_150", "width=1.5"),        REXNET("_200", "width=2"),
    REXNET("r_100", "width=1 of=8"),    REXNET("r_130", "width=1.3 of=8"),
    REXNET("r_150", "width=1.5 of=8"),  REXNET("r_200", "width=2 of=8"),
    DLS_ZOO_IMAGES("xception", "xception", 299, first_xception, ""),
};

const dls_zoo_table dls_zoo_separable = {rows, sizeof rows / sizeof rows[0]};
