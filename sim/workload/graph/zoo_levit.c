/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks between convolutions and attention: LeViT (Graham et al., 2021) and Visformer (Chen et
 * al., 2021), whose products have batch norms; Sequencer (Tatsunami and Taki, 2022), whose rows and
 * columns are read by LSTMs, and ConvMixer (Trockman and Kolter, 2022), patches with large depthwise
 * convolutions; names as timm spells them.
 *
 *      width=128,256,384 heads=4,6,8 blocks=2,3,4 key=16   of LeViT's stages; depth of a head's keys;
 *                                                          one: a single product to the classes
 *      width=384 heads=6 stem=32       of Visformer's second stage, half and twice in the others
 *      blocks=4,3,8,3                  of Sequencer's stages
 *      width=768 depth=32 kernel=7 patch=7 relu            of ConvMixer; GELU without relu
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

/* ---- LeViT ----------------------------------------------------------------------------------- */

#define STAGES 3

static dls_tensor product(dls_net *net, dls_tensor x, int64_t out)
{
    return dls_net_batch_norm(net, dls_net_dense(net, x, out, false));
}

/* x [b][edge * edge][..] to [b][side * side][out]: a side shorter than the edge has every second
 * place ask all. Places are told apart by numbers for each distance. */
static dls_tensor levit_attention(dls_net *net, dls_tensor x, int64_t out, int64_t key,
                                  int64_t heads, int64_t side)
{
    const int64_t n = dls_net_dim(net, x, 1), ratio = side * side < n ? 4 : 2;
    const dls_tensor from = side * side < n ? dls_net_tokens(net, x, side * side) : x;
    dls_tensor q = dls_net_split_heads(net, product(net, from, key * heads), heads);
    const dls_tensor k = dls_net_split_heads(net, product(net, x, key * heads), heads);
    const dls_tensor v = dls_net_split_heads(net, product(net, x, ratio * key * heads), heads);
    dls_tensor a = dls_net_scale(net, dls_net_batch_matmul(net, q, k, true));
    a = dls_net_add(net, a, dls_net_numbers(net, heads * n));
    a = dls_net_batch_matmul(net, dls_net_softmax(net, a), v, false);
    return product(net, dls_net_unary(net, dls_net_merge_heads(net, a), DLS_OP_SWISH), out);
}

static dls_tensor levit_feed_forward(dls_net *net, dls_tensor x)
{
    const int64_t width = dls_net_dim(net, x, 2);
    const dls_tensor y = dls_net_unary(net, product(net, x, 2 * width), DLS_OP_SWISH);
    return dls_net_add(net, x, product(net, y, width));
}

static void levit(dls_net *net, const char *spec)
{
    double width[STAGES] = {0}, heads[STAGES] = {0}, blocks[STAGES] = {0};
    const int64_t key = (int64_t)dls_spec_number(spec, "key", 32);
    dls_spec_numbers(spec, "width", width, STAGES);
    dls_spec_numbers(spec, "heads", heads, STAGES);
    dls_spec_numbers(spec, "blocks", blocks, STAGES);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    for (int part = 8; part > 0; part /= 2) {
        x = part < 8 ? dls_net_unary(net, x, DLS_OP_SWISH) : x;
        x = dls_block_conv_bn(net, x, (int32_t)width[0] / part, 3, 2);
    }
    int64_t edge = dls_net_dim(net, x, 1);
    x = dls_block_tokens(net, x);
    for (int stage = 0; stage < STAGES; stage++) {
        const int64_t w = (int64_t)width[stage];
        if (stage > 0) {
            edge = (edge + 1) / 2;
            x = levit_attention(net, x, w, key, (int64_t)width[stage - 1] / key, edge);
            x = levit_feed_forward(net, x);
        }
        for (int i = 0; i < (int)blocks[stage]; i++) {
            x = dls_net_add(net, x,
                            levit_attention(net, x, w, key, (int64_t)heads[stage], edge));
            x = levit_feed_forward(net, x);
        }
    }
    x = dls_net_global_mean(net, dls_block_pixels(net, x, 1, edge * edge));
    dls_tensor y = dls_net_dense(net, dls_net_batch_norm(net, x), 1000, true);
    if (!dls_spec_has(spec, "one")) {
        x = dls_net_dense(net, dls_net_batch_norm(net, x), 1000, true);
        y = dls_net_scale(net, dls_net_add(net, y, x));
    }
    dls_net_loss(net, y);
}

/* ---- Visformer ------------------------------------------------------------------------------- */

static dls_tensor pixel_attention(dls_net *net, dls_tensor x, int64_t heads)
{
    const int32_t width = (int32_t)dls_net_dim(net, x, 3);
    const int64_t h = dls_net_dim(net, x, 1), w = dls_net_dim(net, x, 2);
    dls_tensor part[3];
    x = dls_net_batch_norm(net, x);
    dls_net_split(net, dls_block_tokens(net, dls_block_conv(net, x, 3 * width, 1, 1, 1)), 3, part);
    for (int i = 0; i < 3; i++) {
        part[i] = dls_net_split_heads(net, part[i], heads);
    }
    dls_tensor a = dls_net_scale(net, dls_net_batch_matmul(net, part[0], part[1], true));
    a = dls_net_batch_matmul(net, dls_net_softmax(net, a), part[2], false);
    a = dls_block_pixels(net, dls_net_merge_heads(net, a), h, w);
    return dls_block_conv(net, a, width, 1, 1, 1);
}

/* spatial: a 3 x 3 convolution of eight groups in the middle. */
static dls_tensor pixel_feed_forward(dls_net *net, dls_tensor x, bool spatial)
{
    const int32_t width = (int32_t)dls_net_dim(net, x, 3), inner = (spatial ? 2 : 4) * width;
    x = dls_block_conv(net, dls_net_batch_norm(net, x), inner, 1, 1, 1);
    x = dls_net_unary(net, x, DLS_OP_GELU);
    x = spatial ? dls_net_unary(net, dls_block_conv(net, x, inner, 3, 1, 8), DLS_OP_GELU) : x;
    return dls_block_conv(net, x, width, 1, 1, 1);
}

static void visformer(dls_net *net, const char *spec)
{
    static const int blocks[STAGES] = {7, 4, 4};
    const int32_t width = (int32_t)dls_spec_number(spec, "width", 384) / 2;
    const int64_t heads = (int64_t)dls_spec_number(spec, "heads", 6);
    const int32_t first = (int32_t)dls_spec_number(spec, "stem", 32);
    dls_tensor x = dls_block_conv_bn_relu(net, dls_net_image(net, 224, 224, 3), first, 7, 2);
    for (int stage = 0; stage < STAGES; stage++) {
        const int32_t patch = stage ? 2 : 4;
        x = dls_net_batch_norm(net, dls_block_conv_bias(net, x, width << stage, patch, patch, 1));
        const int64_t n = dls_net_dim(net, x, 1) * dls_net_dim(net, x, 2);
        x = dls_net_add(net, x, dls_net_numbers(net, n * (width << stage)));
        for (int i = 0; i < blocks[stage]; i++) {
            x = stage ? dls_net_add(net, x, pixel_attention(net, x, heads)) : x;
            x = dls_net_add(net, x, pixel_feed_forward(net, x, stage == 0));
        }
    }
    dls_zoo_classify(net, dls_net_batch_norm(net, x));
}

/* ---- Sequencer ------------------------------------------------------------------------------- */

#define GATES 4

/* Both directions along the last but one dimension: [b][h][w][c] to two of [b][h][w][inner]. */
static void both_ways(dls_net *net, dls_tensor x, int64_t inner, dls_tensor *out)
{
    const int64_t h = dls_net_dim(net, x, 1), w = dls_net_dim(net, x, 2), c = dls_net_dim(net, x, 3);
    const int64_t b = dls_net_batch(net);
    x = dls_net_reshape(net, x, 3, (int64_t[]){b * h, w, c});
    for (int i = 0; i < 2; i++) {
        out[i] = dls_net_recurrence(net, dls_net_dense(net, x, GATES * inner, true), inner);
        out[i] = dls_net_reshape(net, out[i], 4, (int64_t[]){b, h, w, inner});
    }
}

static void sequencer(dls_net *net, const char *spec)
{
    static const int32_t width[] = {192, 384, 384, 384}, patch[] = {7, 2, 1, 1};
    double blocks[4] = {0};
    dls_spec_numbers(spec, "blocks", blocks, 4);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    for (int stage = 0; stage < 4; stage++) {
        x = dls_block_conv_bias(net, x, width[stage], patch[stage], patch[stage], 1);
        for (int i = 0; i < (int)blocks[stage]; i++) {
            dls_tensor way[4];
            dls_tensor y = dls_net_layer_norm(net, x);
            both_ways(net, dls_net_transpose(net, y), width[stage] / 4, way);
            both_ways(net, y, width[stage] / 4, way + 2);
            way[0] = dls_net_transpose(net, way[0]);
            way[1] = dls_net_transpose(net, way[1]);
            y = dls_net_dense(net, dls_net_concat(net, way, 4), width[stage], true);
            x = dls_net_add(net, x, y);
            y = dls_block_feed_forward(net, dls_net_layer_norm(net, x), 3 * (int64_t)width[stage],
                                       DLS_OP_GELU, (dls_block_heads){.heads = 1});
            x = dls_net_add(net, x, y);
        }
    }
    dls_zoo_classify(net, dls_net_layer_norm(net, x));
}

/* ---- ConvMixer ------------------------------------------------------------------------------- */

static void convmixer(dls_net *net, const char *spec)
{
    const int32_t width = (int32_t)dls_spec_number(spec, "width", 768);
    const int32_t patch = (int32_t)dls_spec_number(spec, "patch", 7);
    const int32_t kernel = (int32_t)dls_spec_number(spec, "kernel", 9);
    const dls_op_kind kind = dls_spec_has(spec, "relu") ? DLS_OP_RELU : DLS_OP_GELU;
    dls_tensor x = dls_block_conv_bias(net, dls_net_image(net, 224, 224, 3), width, patch, patch, 1);
    x = dls_net_batch_norm(net, dls_net_unary(net, x, kind));
    for (int i = 0; i < (int)dls_spec_number(spec, "depth", 20); i++) {
        dls_tensor y = dls_net_unary(net, dls_block_depthwise(net, x, kernel, 1, true), kind);
        x = dls_net_add(net, dls_net_batch_norm(net, y), x);
        x = dls_net_unary(net, dls_block_conv_bias(net, x, width, 1, 1, 1), kind);
        x = dls_net_batch_norm(net, x);
    }
    dls_zoo_classify(net, x);
}

/* ---- members --------------------------------------------------------------------------------- */

#define LEVIT(name, spec) DLS_ZOO_IMAGES("levit_" name, "levit", 224, levit, spec)
#define VIS(name, spec) DLS_ZOO_IMAGES("visformer_" name, "visformer", 224, visformer, spec)
#define SEQ(name, spec) DLS_ZOO_IMAGES("sequencer2d_" name, "sequencer", 224, sequencer, spec)
#define MIX(name, spec) DLS_ZOO_IMAGES("convmixer_" name, "convmixer", 224, convmixer, spec)

static const dls_zoo_model rows[] = {
    LEVIT("128s", "width=128,256,384 heads=4,6,8 blocks=2,3,4 key=16"),
    LEVIT("128", "width=128,256,384 heads=4,8,12 blocks=4,4,4 key=16"),
    LEVIT("192", "width=192,288,384 heads=3,5,6 blocks=4,4,4"),
    LEVIT("256", "width=256,384,512 heads=4,6,8 blocks=4,4,4"),
    LEVIT("384", "width=384,512,768 heads=6,9,12 blocks=4,4,4"),
    LEVIT("256d", "width=256,384,512 heads=4,6,8 blocks=4,8,6 one"),
    VIS("tiny", "width=192 heads=3 stem=16"),
    VIS("small", "width=384 heads=6 stem=32"),
    SEQ("s", "blocks=4,3,8,3"),
    SEQ("m", "blocks=4,3,14,3"),
    SEQ("l", "blocks=8,8,16,4"),
    MIX("768_32", "width=768 depth=32 kernel=7 relu"),
    MIX("1024_20_ks9_p14", "width=1024 patch=14"),
    MIX("1536_20", "width=1536"),
};

const dls_zoo_table dls_zoo_levits = {rows, sizeof rows / sizeof rows[0]};
