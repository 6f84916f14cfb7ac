/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * CLIP (Radford et al., 2021): a ViT of images and a Transformer of their texts, whose results are brought to one
 * width and to length 1 and held against each other. Sizes of OpenAI's.
 *
 *      width=768 layers=12 heads=12 patch=32   of what sees
 *      words=512 read=8                        width and heads of what reads, 12 layers
 *
 * Each image is held against its own text alone here. All of a batch would be a product that grows with the batch's
 * square: with 32,768 images 0.2 % of the FLOPs of the smallest network, with fewer less.
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define TEXT_LAYERS 12
#define WORDS 49408
#define TOKENS 77

/* x times the sigmoid of x times a constant: three kernels. */
static dls_tensor quick_gelu(dls_net *net, dls_tensor x)
{
    return dls_net_spells_out(net)
               ? dls_net_mul(net, x, dls_net_unary(net, dls_net_scale(net, x), DLS_OP_SIGMOID))
               : dls_net_unary(net, x, DLS_OP_SWISH);
}

static dls_tensor tower(dls_net *net, dls_tensor x, int64_t layers, dls_block_heads b)
{
    const int64_t width = dls_net_dim(net, x, 2);
    for (int64_t i = 0; i < layers; i++) {
        dls_tensor y = dls_net_layer_norm(net, x);
        x = dls_net_add(net, x, dls_block_attention(net, y, y, b));
        y = dls_net_dense(net, dls_net_layer_norm(net, x), 4 * width, true);
        x = dls_net_add(net, x, dls_net_dense(net, quick_gelu(net, y), width, true));
    }
    return x;
}

static dls_tensor of_image(dls_net *net, const char *spec, int64_t common)
{
    const int32_t width = (int32_t)dls_spec_number(spec, "width", 0);
    const int32_t patch = (int32_t)dls_spec_number(spec, "patch", 0);
    const dls_block_heads b = {
        .heads = (int64_t)dls_spec_number(spec, "heads", 0), .style = DLS_BLOCK_TIMM, .bias = true};
    dls_tensor x = dls_block_conv(net, dls_net_image(net, 224, 224, 3), width, patch, patch, 1);
    x = dls_block_with_token(net, dls_block_tokens(net, x), -1);
    x = dls_net_add_rows(net, x, dls_net_table(net, dls_net_dim(net, x, 1), width));
    x = tower(net, dls_net_layer_norm(net, x), (int64_t)dls_spec_number(spec, "layers", 0), b);
    x = dls_net_layer_norm(net, dls_net_first_token(net, x));
    return dls_block_unit(net, dls_net_dense(net, x, common, false));
}

static dls_tensor of_text(dls_net *net, const char *spec, int64_t common)
{
    const int64_t width = (int64_t)dls_spec_number(spec, "words", 0), t = dls_net_sequence(net);
    const dls_block_heads b = {
        .heads = (int64_t)dls_spec_number(spec, "read", 0), .style = DLS_BLOCK_TIMM, .bias = true, .causal = true};
    const dls_embedding words = dls_net_table(net, WORDS, width);
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, (int32_t)t));
    x = dls_net_add_rows(net, x, dls_net_table(net, t > TOKENS ? t : TOKENS, width));
    x = dls_net_layer_norm(net, tower(net, x, TEXT_LAYERS, b));
    return dls_block_unit(net, dls_net_dense(net, dls_net_first_token(net, x), common, false));
}

static void clip(dls_net *net, const char *spec)
{
    const int64_t b = dls_net_batch(net), common = (int64_t)dls_spec_number(spec, "words", 0);
    const dls_tensor image = dls_net_reshape(net, of_image(net, spec, common), 3, (int64_t[]){b, 1, common});
    const dls_tensor text = dls_net_reshape(net, of_text(net, spec, common), 3, (int64_t[]){b, 1, common});
    const dls_tensor near = dls_net_batch_matmul(net, image, text, true);
    dls_net_loss(net, dls_net_mul(net, near, dls_net_numbers(net, 1)));
}

#define CLIP(name_, image_, spec_)                                                                                     \
    {                                                                                                                  \
        .name = "clip_vit_" name_, .family = "clip", .dataset = "laion", .batch = 64, .sequence = TOKENS,              \
        .optimiser = DLS_OPTIMISER_ADAM, .design = clip, .spec = (spec_), .image = (image_)                            \
    }
#define BASE "width=768 layers=12 heads=12 words=512 read=8"
#define LARGE "width=1024 layers=24 heads=16 words=768 read=12"

static const dls_zoo_model rows[] = {
    CLIP("base_patch32", 224, BASE " patch=32"),
    CLIP("base_patch16", 224, BASE " patch=16"),
    CLIP("large_patch14", 224, LARGE " patch=14"),
    CLIP("large_patch14_336", 336, LARGE " patch=14"),
};

const dls_zoo_table dls_zoo_clips = {rows, sizeof rows / sizeof rows[0]};
