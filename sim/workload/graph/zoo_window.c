/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Four stages of blocks at falling resolution: attention within windows, Swin (Liu et al., 2021),
 * and large depthwise convolutions in its place, ConvNeXt (Liu et al., 2022) and its second version
 * (Woo et al., 2023), names as timm spells them.
 *
 *      blocks=2,2,6,2 width=96       blocks of each stage; channels of the first, doubled after each
 *      heads=3 window=7,7,7,7        of the first stage, doubled; tokens of a window's edge
 *      overlap=3                     a stem of 7 x 7, or (tiered) of two 3 x 3, in place of 4 x 4
 *      convs                         products are 1 x 1 convolutions
 *      response                      version 2: channels are weighed by their lengths over the image
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

/* Copies that put windows together, or apart again, or turn an image. */
static dls_tensor copied(dls_net *net, dls_tensor x)
{
    return dls_net_pass(net, x, DLS_OP_TRANSPOSE, 2);
}

/* An image that goes round: PyTorch's kernels go along one edge each. */
static dls_tensor rolled(dls_net *net, dls_tensor x)
{
    return copied(net, dls_net_eager(net) ? copied(net, x) : x);
}

typedef struct windows {
    bool second;   /* version 2: norms behind the branches, cosines, places from a small network */
    int64_t inner; /* of that network */
} windows;

static int64_t places_of(const windows *w, int64_t in, int64_t heads)
{
    return w->second ? 3 * w->inner + w->inner * heads : (2 * in - 1) * (2 * in - 1) * heads;
}

/* x [b][edge * edge][width]; every second block has its windows shifted by half of one. */
static dls_tensor window_block(dls_net *net, dls_tensor x, int64_t edge, int64_t window,
                               int64_t heads, bool shifted, const windows *w)
{
    const int64_t b = dls_net_batch(net), width = dls_net_dim(net, x, 2);
    const int64_t most = window < edge ? window : edge;
    const int64_t in = most > 0 ? most : 1, n = in * in; /* a small image has no window, which reshaping tells */
    const bool rolls = shifted && in < edge;
    const dls_block_heads attention = {.heads = heads,
                                       .bias = true,
                                       .cosine = w->second,
                                       .style = DLS_BLOCK_TIMM,
                                       .masked = rolls,
                                       .places = places_of(w, in, heads)};
    dls_tensor y = w->second ? x : dls_net_layer_norm(net, x);
    y = rolls ? rolled(net, y) : y;
    y = dls_net_eager(net) ? copied(net, y) : y; /* by PyTorch's padding, if with nothing */
    y = copied(net, y);
    y = dls_net_reshape(net, y, 3, (int64_t[]){b * edge * edge / n, n, width});
    y = copied(net, dls_block_attention(net, y, y, attention));
    y = dls_net_reshape(net, y, 3, (int64_t[]){b, edge * edge, width});
    y = rolls ? rolled(net, y) : y;
    x = dls_net_add(net, x, w->second ? dls_net_layer_norm(net, y) : y);
    y = w->second ? x : dls_net_layer_norm(net, x);
    y = dls_block_feed_forward(net, y, 4 * width, DLS_OP_GELU, attention);
    return dls_net_add(net, x, w->second ? dls_net_layer_norm(net, y) : y);
}

/* Four neighbours side by side, normed, to twice the channels. */
static dls_tensor merged(dls_net *net, dls_tensor x, int64_t edge)
{
    const int64_t b = dls_net_batch(net), width = dls_net_dim(net, x, 2);
    x = dls_net_eager(net) ? copied(net, x) : x;
    x = dls_net_reshape(net, copied(net, x), 3, (int64_t[]){b, edge * edge / 4, 4 * width});
    return dls_net_dense(net, dls_net_layer_norm(net, x), 2 * width, false);
}

static void swin(dls_net *net, const char *spec)
{
    double blocks[4] = {0}, window[4] = {7, 7, 7, 7};
    const int32_t width = (int32_t)dls_spec_number(spec, "width", 96);
    int64_t heads = (int64_t)dls_spec_number(spec, "heads", 3);
    const windows w = {.second = dls_spec_has(spec, "second"),
                       .inner = (int64_t)dls_spec_number(spec, "inner", 512)};
    dls_spec_numbers(spec, "blocks", blocks, 4);
    if (dls_spec_numbers(spec, "window", window, 4) == 1) {
        window[1] = window[2] = window[3] = window[0];
    }
    dls_tensor x = dls_block_conv_bias(net, dls_net_image(net, 224, 224, 3), width, 4, 4, 1);
    const int64_t first = dls_net_dim(net, x, 1);
    int64_t edge = first;
    x = dls_net_layer_norm(net, dls_block_tokens(net, x));
    for (int stage = 0; stage < 4; stage++) {
        const int64_t side = window[stage] > 0 ? (int64_t)window[stage] : first / 8;
        for (int i = 0; i < (int)blocks[stage]; i++) {
            x = window_block(net, x, edge, side, heads, i % 2 == 1, &w);
        }
        if (stage < 3) {
            x = merged(net, x, edge);
            edge /= 2;
            heads *= 2;
        }
    }
    dls_zoo_classify(net, dls_block_pixels(net, dls_net_layer_norm(net, x), edge, edge));
}

/* ---- ConvNeXt -------------------------------------------------------------------------------- */

/* What the length's gradient reads and writes: of a norm its quotient, product and selection, and a sum. */
#define BACK_LENGTH 6

/* Each channel's length over that of the mean, times it, times and plus trained numbers, and it again. */
static dls_tensor response(dls_net *net, dls_tensor x)
{
    const int64_t b = dls_net_batch(net), c = dls_net_dim(net, x, 3);
    dls_tensor s = dls_net_global_mean(net, dls_net_eager(net) ? dls_net_pass(net, x, DLS_OP_POW, BACK_LENGTH) : x);
    s = dls_net_reshape(net, s, 4, (int64_t[]){b, 1, 1, c});
    s = dls_net_mul(net, dls_net_mul(net, x, s), dls_net_numbers(net, c));
    return dls_net_add(net, x, dls_net_offset(net, s));
}

static dls_tensor next_block(dls_net *net, dls_tensor x, bool convs, bool responds)
{
    const int32_t width = (int32_t)dls_net_dim(net, x, 3);
    dls_tensor y = dls_net_layer_norm(net, dls_block_depthwise(net, x, 7, 1, true));
    if (responds) {
        y = convs ? dls_block_conv_bias(net, y, 4 * width, 1, 1, 1) : dls_net_dense(net, y, 4 * width, true);
        y = response(net, dls_net_unary(net, y, DLS_OP_GELU));
        y = convs ? dls_block_conv_bias(net, y, width, 1, 1, 1) : dls_net_dense(net, y, width, true);
        return dls_net_add(net, x, y);
    }
    if (convs) {
        y = dls_net_unary(net, dls_block_conv_bias(net, y, 4 * width, 1, 1, 1), DLS_OP_GELU);
        y = dls_block_conv_bias(net, y, width, 1, 1, 1);
    } else {
        y = dls_block_feed_forward(net, y, 4 * width, DLS_OP_GELU, (dls_block_heads){.heads = 1});
    }
    return dls_block_add_scaled(net, x, y);
}

static void convnext(dls_net *net, const char *spec)
{
    double blocks[4] = {0};
    const int32_t width = (int32_t)dls_spec_number(spec, "width", 96);
    dls_spec_numbers(spec, "blocks", blocks, 4);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    if (dls_spec_has(spec, "overlap")) {
        const int32_t first = dls_spec_has(spec, "tiered") ? (width / 2 + 4) / 8 * 8 : width;
        x = dls_block_conv_bias(net, dls_block_conv_bias(net, x, first, 3, 2, 1), width, 3, 2, 1);
    } else {
        x = dls_block_conv_bias(net, x, width, 4, 4, 1);
    }
    x = dls_net_layer_norm(net, x);
    for (int stage = 0; stage < 4; stage++) {
        if (stage > 0) {
            x = dls_block_conv_bias(net, dls_net_layer_norm(net, x), width << stage, 2, 2, 1);
        }
        for (int i = 0; i < (int)blocks[stage]; i++) {
            x = next_block(net, x, dls_spec_has(spec, "convs"), dls_spec_has(spec, "response"));
        }
    }
    x = dls_spec_has(spec, "normed") ? dls_net_global_mean(net, dls_net_layer_norm(net, x))
                                     : dls_net_layer_norm(net, dls_net_global_mean(net, x));
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}

/* ---- members --------------------------------------------------------------------------------- */

#define SWIN(name, image, spec) DLS_ZOO_IMAGES(name, "swin", image, swin, spec)
#define NEXT(name, image, spec) DLS_ZOO_IMAGES(name, "convnext", image, convnext, spec)

static const dls_zoo_model rows[] = {
    SWIN("swin_tiny_patch4_window7", 224, "blocks=2,2,6,2"),
    SWIN("swin_small_patch4_window7", 224, "blocks=2,2,18,2"),
    SWIN("swin_base_patch4_window7", 224, "blocks=2,2,18,2 width=128 heads=4"),
    SWIN("swin_base_patch4_window12", 384, "blocks=2,2,18,2 width=128 heads=4 window=12"),
    SWIN("swin_large_patch4_window7", 224, "blocks=2,2,18,2 width=192 heads=6"),
    SWIN("swin_large_patch4_window12", 384, "blocks=2,2,18,2 width=192 heads=6 window=12"),
    SWIN("swin_s3_tiny", 224, "blocks=2,2,6,2 window=7,7,14,7"),
    SWIN("swin_s3_small", 224, "blocks=2,2,18,2 window=14,14,14,7"),
    SWIN("swin_s3_base", 224, "blocks=2,2,30,2 window=7,7,14,7"),
    SWIN("swinv2_tiny_window8", 256, "second blocks=2,2,6,2 window=8"),
    SWIN("swinv2_tiny_window16", 256, "second blocks=2,2,6,2 window=16"),
    SWIN("swinv2_small_window8", 256, "second blocks=2,2,18,2 window=8"),
    SWIN("swinv2_small_window16", 256, "second blocks=2,2,18,2 window=16"),
    SWIN("swinv2_base_window8", 256, "second blocks=2,2,18,2 width=128 heads=4 window=8"),
    SWIN("swinv2_base_window16", 256, "second blocks=2,2,18,2 width=128 heads=4 window=16"),
    SWIN("swinv2_base_window12", 192, "second blocks=2,2,18,2 width=128 heads=4 window=12"),
    SWIN("swinv2_base_window12to16_192to256", 256,
         "second blocks=2,2,18,2 width=128 heads=4 window=16"),
    SWIN("swinv2_base_window12to24_192to384", 384,
         "second blocks=2,2,18,2 width=128 heads=4 window=24"),
    SWIN("swinv2_large_window12", 192, "second blocks=2,2,18,2 width=192 heads=6 window=12"),
    SWIN("swinv2_large_window12to16_192to256", 256,
         "second blocks=2,2,18,2 width=192 heads=6 window=16"),
    SWIN("swinv2_large_window12to24_192to384", 384,
         "second blocks=2,2,18,2 width=192 heads=6 window=24"),
    SWIN("swinv2_cr_tiny", 224, "second blocks=2,2,6,2 window=0 inner=384"),
    SWIN("swinv2_cr_tiny_ns", 224, "second blocks=2,2,6,2 window=0 inner=384"),
    SWIN("swinv2_cr_small", 224, "second blocks=2,2,18,2 window=0 inner=384"),
    SWIN("swinv2_cr_small_ns", 224, "second blocks=2,2,18,2 window=0 inner=384"),
    SWIN("swinv2_cr_base", 224, "second blocks=2,2,18,2 width=128 heads=4 window=0 inner=384"),
    SWIN("swinv2_cr_base_ns", 224, "second blocks=2,2,18,2 width=128 heads=4 window=0 inner=384"),
    SWIN("swinv2_cr_large", 224, "second blocks=2,2,18,2 width=192 heads=6 window=0 inner=384"),
    SWIN("swinv2_cr_giant", 224, "second blocks=2,2,42,2 width=512 heads=16 window=0 inner=384"),
    SWIN("swinv2_cr_huge", 224, "second blocks=2,2,18,2 width=352 heads=11 window=0 inner=384"),
    NEXT("convnext_atto", 224, "convs blocks=2,2,6,2 width=40"),
    NEXT("convnext_atto_ols", 224, "convs blocks=2,2,6,2 width=40 overlap tiered"),
    NEXT("convnext_femto", 224, "convs blocks=2,2,6,2 width=48"),
    NEXT("convnext_femto_ols", 224, "convs blocks=2,2,6,2 width=48 overlap tiered"),
    NEXT("convnext_pico", 224, "convs blocks=2,2,6,2 width=64"),
    NEXT("convnext_pico_ols", 224, "convs blocks=2,2,6,2 width=64 overlap tiered"),
    NEXT("convnext_nano", 224, "convs blocks=2,2,8,2 width=80"),
    NEXT("convnext_nano_hnf", 224, "convs normed blocks=2,2,8,2 width=80"),
    NEXT("convnext_nano_ols", 224, "convs blocks=2,2,8,2 width=80 overlap"),
    NEXT("convnextv2_atto", 224, "convs response blocks=2,2,6,2 width=40"),
    NEXT("convnextv2_femto", 224, "convs response blocks=2,2,6,2 width=48"),
    NEXT("convnextv2_pico", 224, "convs response blocks=2,2,6,2 width=64"),
    NEXT("convnextv2_nano", 224, "convs response blocks=2,2,8,2 width=80"),
    NEXT("convnextv2_tiny", 224, "response blocks=3,3,9,3"),
    NEXT("convnextv2_small", 224, "response blocks=3,3,27,3"),
    NEXT("convnextv2_base", 224, "response blocks=3,3,27,3 width=128"),
    NEXT("convnextv2_large", 224, "response blocks=3,3,27,3 width=192"),
    NEXT("convnextv2_huge", 224, "response blocks=3,3,27,3 width=352"),
    NEXT("convnext_tiny", 224, "blocks=3,3,9,3"),
    NEXT("convnext_tiny_hnf", 224, "convs normed blocks=3,3,9,3"),
    NEXT("convnext_small", 224, "blocks=3,3,27,3"),
    NEXT("convnext_base", 224, "blocks=3,3,27,3 width=128"),
    NEXT("convnext_large", 224, "blocks=3,3,27,3 width=192"),
    NEXT("convnext_xlarge", 224, "blocks=3,3,27,3 width=256"),
};

const dls_zoo_table dls_zoo_windows = {rows, sizeof rows / sizeof rows[0]};
