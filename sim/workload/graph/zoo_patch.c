/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks that see an image as a sequence of patches. Attention: ViT (Dosovitskiy et al., 2021;
 * Ti and S: Touvron et al., 2021), DeiT III (Touvron et al., 2022), BEiT (Bao et al., 2021), ConViT
 * (d'Ascoli et al., 2021), whose first ten layers have a share of their scores from places alone.
 * Products over the patches in its place: Mixer (Tolstikhin et al., 2021), ResMLP (Touvron et al.,
 * 2021), gMLP (Liu et al., 2021), names as timm spells them.
 *
 *      width=768 depth=12 heads=12 patch=16     wide=4: inside of the feed-forward part
 *      scaled        every branch is multiplied with trained numbers
 *      relative      positions are numbers added to the scores, and no others
 *      unbiased      queries, keys and values have no bias
 *      post          norms behind the branches
 *      mean          all patches are averaged, and there is no token for the class
 *      two           two tokens, and two products to the classes
 *      parallel      two branches of each kind beside each other
 *      | blocks=...  a ResNet (zoo_resnet.c) makes what is cut into patches
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#include <string.h>

typedef struct patches {
    int32_t width, depth, heads, patch;
    double wide;
    bool scaled, relative, unbiased, mean, two, post;
    int32_t branches;
} patches;

static patches read_spec(const char *spec)
{
    return (patches){.width = (int32_t)dls_spec_number(spec, "width", 768),
                     .depth = (int32_t)dls_spec_number(spec, "depth", 12),
                     .heads = (int32_t)dls_spec_number(spec, "heads", 12),
                     .patch = (int32_t)dls_spec_number(spec, "patch", 16),
                     .wide = dls_spec_number(spec, "wide", 4),
                     .scaled = dls_spec_has(spec, "scaled"),
                     .relative = dls_spec_has(spec, "relative"),
                     .unbiased = dls_spec_has(spec, "unbiased"),
                     .mean = dls_spec_has(spec, "mean"),
                     .two = dls_spec_has(spec, "two"),
                     .post = dls_spec_has(spec, "post"),
                     .branches = dls_spec_has(spec, "parallel") ? 2 : 1};
}

static dls_tensor join(dls_net *net, dls_tensor x, dls_tensor y, bool scaled)
{
    return scaled ? dls_block_add_scaled(net, x, y) : dls_net_add(net, x, y);
}

static dls_tensor normed(dls_net *net, dls_tensor x, bool does)
{
    return does ? dls_net_layer_norm(net, x) : x;
}

/* Pairs of places that differ, of every head, and three with the class token. */
static int64_t places_of(const patches *p, int64_t tokens)
{
    int64_t edge = 1;
    while ((edge + 1) * (edge + 1) <= tokens) {
        edge++;
    }
    return p->relative ? ((2 * edge - 1) * (2 * edge - 1) + 3) * p->heads : 0;
}

static void vit(dls_net *net, const char *spec)
{
    const patches p = read_spec(spec);
    const char *trunk = strchr(spec, '|');
    dls_tensor x = trunk ? dls_zoo_residual_trunk(net, trunk + 1) : dls_net_image(net, 224, 224, 3);
    x = dls_block_patches(net, x, p.width, p.patch);
    for (int i = 0; i < !p.mean + p.two; i++) {
        x = dls_block_with_token(net, x, -1);
    }
    const int64_t tokens = dls_net_dim(net, x, 1);
    const dls_block_heads b = {.heads = p.heads,
                               .style = DLS_BLOCK_TIMM,
                               .bias = !p.unbiased,
                               .last_bias = true,
                               .places = places_of(&p, tokens)};
    if (!p.relative) {
        x = dls_net_add_rows(net, x, dls_net_table(net, tokens, p.width));
    }
    for (int32_t i = 0; i < p.depth; i++) {
        for (int32_t k = 0; k < p.branches; k++) {
            const dls_tensor y = normed(net, x, !p.post);
            x = join(net, x, normed(net, dls_block_attention(net, y, y, b), p.post), p.scaled);
        }
        for (int32_t k = 0; k < p.branches; k++) {
            const int64_t inner = (int64_t)(p.wide * p.width + 0.5);
            const dls_tensor z =
                dls_block_feed_forward(net, normed(net, x, !p.post), inner, DLS_OP_GELU, b);
            x = join(net, x, normed(net, z, p.post), p.scaled);
        }
    }
    x = dls_net_layer_norm(net, x);
    for (int i = 0; i < 1 + p.two; i++) {
        dls_net_loss(net, dls_net_dense(net, dls_net_first_token(net, x), 1000, true));
    }
}

/* ---- ConViT ---------------------------------------------------------------------------------- */

#define GATED_LAYERS 10
#define BACK_NORMED 14 /* of rows that are divided by their sums: five quotients and products, two sums */

/* Scores of three numbers for each pair of places, worked out for every sample, beside those of
 * queries and keys; a trained number of each head weighs the two, and each row is normed again. */
static dls_tensor gated_attention(dls_net *net, dls_tensor y, dls_tensor pairs, int64_t heads)
{
    const int64_t b = dls_net_batch(net), width = dls_net_dim(net, y, 2), n = dls_net_dim(net, y, 1);
    dls_tensor part[3];
    dls_block_projections(net, y, y,
                          (dls_block_heads){.heads = heads, .style = DLS_BLOCK_TIMM, .late = true}, part);
    dls_tensor a = dls_net_scale(net, dls_net_batch_matmul(net, part[0], part[1], true));
    dls_tensor places = dls_net_turned(net, dls_net_dense(net, pairs, heads, true));
    places = dls_net_reshape(net, places, 4, (int64_t[]){b, heads, n, n});
    const dls_tensor gate = dls_net_unary(net, dls_net_numbers(net, heads), DLS_OP_SIGMOID);
    a = dls_net_mul(net, dls_net_softmax(net, a), gate);
    a = dls_net_add(net, a, dls_net_mul(net, dls_net_softmax(net, places), gate));
    a = dls_block_divided(net, a, DLS_OP_REAL_DIV, BACK_NORMED);
    a = dls_net_merge_heads(net, dls_net_batch_matmul(net, a, part[2], false));
    return dls_net_dense(net, a, width, true);
}

static void convit(dls_net *net, const char *spec)
{
    const patches p = read_spec(spec);
    const dls_block_heads b = {.heads = p.heads, .style = DLS_BLOCK_TIMM, .last_bias = true};
    const dls_tensor image = dls_net_image(net, 224, 224, 3);
    dls_tensor x = dls_block_patches(net, image, p.width, p.patch);
    const int64_t n = dls_net_dim(net, x, 1);
    const dls_tensor pairs =
        dls_net_windows(net, image, 3, (int64_t[]){dls_net_batch(net), n * n, 3});
    x = dls_net_add_rows(net, x, dls_net_table(net, n, p.width));
    for (int32_t i = 0; i < p.depth; i++) {
        if (i < GATED_LAYERS) {
            const dls_tensor y = dls_net_layer_norm(net, x);
            x = dls_net_add(net, x, gated_attention(net, y, pairs, p.heads));
            const dls_tensor z = dls_net_layer_norm(net, x);
            x = dls_net_add(net, x,
                            dls_block_feed_forward(net, z, 4 * (int64_t)p.width, DLS_OP_GELU, b));
        } else {
            x = i == GATED_LAYERS ? dls_block_with_token(net, x, -1) : x;
            x = dls_block_encoder(net, x, 4 * (int64_t)p.width, b);
        }
    }
    x = dls_net_first_token(net, dls_net_layer_norm(net, x));
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}

/* ---- products over the patches --------------------------------------------------------------- */

/* Width to inner and back; gated: half of inner weighs the other. */
static dls_tensor two_products(dls_net *net, dls_tensor x, int64_t inner, bool gated)
{
    dls_tensor half[2];
    const int64_t width = dls_net_dim(net, x, -1);
    x = dls_net_dense(net, x, inner, true);
    if (gated) {
        dls_net_split(net, x, 2, half);
        x = dls_net_mul(net, half[0], dls_net_unary(net, half[1], DLS_OP_SIGMOID));
    } else {
        x = dls_net_unary(net, x, DLS_OP_GELU);
    }
    return dls_net_dense(net, x, width, true);
}

/* Scale and offset of each channel: ResMLP's norm. */
static dls_tensor affine(dls_net *net, dls_tensor x)
{
    return dls_net_offset(net, dls_net_mul(net, x, dls_net_numbers(net, dls_net_dim(net, x, -1))));
}

static dls_tensor mixer_block(dls_net *net, dls_tensor x, const patches *p, bool gated)
{
    dls_tensor y = dls_net_transpose(net, dls_net_layer_norm(net, x));
    y = two_products(net, y, gated ? p->width : p->width / 2, gated);
    x = dls_net_add(net, x, dls_net_transpose(net, y));
    return dls_net_add(net, x, two_products(net, dls_net_layer_norm(net, x), 4 * p->width, gated));
}

static dls_tensor resmlp_block(dls_net *net, dls_tensor x, const patches *p)
{
    dls_tensor y = dls_net_transpose(net, affine(net, x));
    y = dls_net_transpose(net, dls_net_dense(net, y, dls_net_dim(net, y, -1), true));
    x = dls_block_add_scaled(net, x, y);
    return dls_block_add_scaled(net, x, two_products(net, affine(net, x), 4 * p->width, false));
}

static dls_tensor gmlp_block(dls_net *net, dls_tensor x, const patches *p)
{
    dls_tensor half[2];
    dls_tensor y = dls_net_dense(net, dls_net_layer_norm(net, x), 6 * p->width, true);
    dls_net_split(net, dls_net_unary(net, y, DLS_OP_GELU), 2, half);
    dls_tensor v = dls_net_transpose(net, dls_net_layer_norm(net, half[1]));
    v = dls_net_transpose(net, dls_net_dense(net, v, dls_net_dim(net, v, -1), true));
    return dls_net_add(net, x, dls_net_dense(net, dls_net_mul(net, half[0], v), p->width, true));
}

static void mixer(dls_net *net, const char *spec)
{
    const patches p = read_spec(spec);
    const bool res = dls_spec_has(spec, "affine"), gmlp = dls_spec_has(spec, "gmlp");
    dls_tensor x = dls_block_patches(net, dls_net_image(net, 224, 224, 3), p.width, p.patch);
    for (int32_t i = 0; i < p.depth; i++) {
        x = res    ? resmlp_block(net, x, &p)
            : gmlp ? gmlp_block(net, x, &p)
                   : mixer_block(net, x, &p, dls_spec_has(spec, "gated"));
    }
    x = res ? affine(net, x) : dls_net_layer_norm(net, x);
    dls_zoo_classify(net, dls_block_pixels(net, x, 1, dls_net_dim(net, x, 1)));
}

/* ---- members --------------------------------------------------------------------------------- */

#define TINY "width=192 heads=3"
#define SMALL "width=384 heads=6"
#define MEDIUM "width=512 heads=8"
#define BASE "width=768 heads=12"
#define LARGE "width=1024 depth=24 heads=16"
#define HUGE "width=1280 depth=32 heads=16 patch=14"
#define VIT(name, image, spec) DLS_ZOO_IMAGES(name, "vit", image, vit, spec)
#define MLP(name, image, spec) DLS_ZOO_IMAGES(name, "mixer", image, mixer, spec)

static const dls_zoo_model rows[] = {
    VIT("vit_tiny", 224, TINY),
    VIT("vit_small", 224, SMALL),
    VIT("vit_base", 224, BASE),
    VIT("vit_large", 224, LARGE),
    VIT("vit_small_patch32", 224, SMALL " patch=32"),
    VIT("vit_small_patch8", 224, SMALL " patch=8"),
    VIT("vit_base_patch32", 224, BASE " patch=32"),
    VIT("vit_base_patch8", 224, BASE " patch=8"),
    VIT("vit_large_patch32", 224, LARGE " patch=32"),
    VIT("vit_large_patch14", 224, LARGE " patch=14"),
    VIT("vit_huge_patch14", 224, HUGE),
    VIT("vit_giant_patch14", 224, "width=1408 depth=40 heads=16 patch=14 wide=4.363637"),
    VIT("vit_gigantic_patch14", 224, "width=1664 depth=48 heads=16 patch=14 wide=4.923077"),
    VIT("vit_base_patch16_miil", 224, BASE " unbiased"),
    VIT("vit_base_patch16_plus", 240, "width=896 heads=14 scaled"),
    VIT("vit_base_patch32_plus", 256, "width=896 heads=14 patch=32 scaled"),
    VIT("vit_base_patch16_rpn", 224, BASE " unbiased post mean"),
    VIT("vit_small_patch16_36x1", 224, SMALL " depth=36 scaled"),
    VIT("vit_small_patch16_18x2", 224, SMALL " depth=18 scaled parallel"),
    VIT("vit_base_patch16_18x2", 224, BASE " depth=18 scaled parallel"),
    VIT("vit_relpos_small_patch16", 224, SMALL " relative scaled mean"),
    VIT("vit_relpos_medium_patch16", 224, MEDIUM " relative scaled mean"),
    VIT("vit_relpos_medium_patch16_cls", 224, MEDIUM " relative scaled"),
    VIT("vit_relpos_medium_patch16_rpn", 224, MEDIUM " relative post mean"),
    VIT("vit_relpos_small_patch16_rpn", 224, SMALL " relative post mean"),
    VIT("vit_relpos_base_patch16_rpn", 224, BASE " relative post mean"),
    VIT("vit_relpos_base_patch16_cls", 224, BASE " relative scaled"),
    VIT("vit_relpos_base_patch16_clsgap", 224, BASE " relative scaled"),
    VIT("vit_relpos_base_patch16", 224, BASE " relative scaled mean"),
    VIT("vit_srelpos_small_patch16", 224, SMALL " relative scaled mean"),
    VIT("vit_srelpos_medium_patch16", 224, MEDIUM " relative scaled mean"),
    VIT("vit_relpos_base_patch16_plus", 240, "width=896 heads=14 relative scaled mean"),
    VIT("vit_relpos_base_patch32_plus_rpn", 256,
        "width=896 heads=14 patch=32 relative post mean"),
    VIT("deit_tiny_distilled_patch16", 224, TINY " two"),
    VIT("deit_small_distilled_patch16", 224, SMALL " two"),
    VIT("deit_base_distilled_patch16", 224, BASE " two"),
    VIT("deit3_small_patch16", 224, SMALL " scaled"),
    VIT("deit3_medium_patch16", 224, MEDIUM " scaled"),
    VIT("deit3_base_patch16", 224, BASE " scaled"),
    VIT("deit3_large_patch16", 224, LARGE " scaled"),
    VIT("deit3_huge_patch14", 224, HUGE " scaled"),
    VIT("vit_tiny_r_s16_p8", 224, TINY " patch=8 | layer"),
    VIT("vit_small_r26_s32", 224, SMALL " patch=1 | layer blocks=2,2,2,2"),
    VIT("vit_base_r26_s32", 224, BASE " patch=1 | layer blocks=2,2,2,2"),
    VIT("vit_base_r50_s16", 224, BASE " patch=1 | layer blocks=3,4,9"),
    VIT("vit_large_r50_s32", 224, LARGE " patch=1 | layer blocks=3,4,6,3"),
    VIT("vit_small_resnet26d", 224,
        "width=768 depth=8 heads=8 wide=3 patch=1 | blocks=2,2,2,2 stem=32,32,64 average"),
    VIT("vit_small_resnet50d_s16", 224,
        "width=768 depth=8 heads=8 wide=3 patch=1 | blocks=3,4,6 stem=32,32,64 average"),
    VIT("vit_base_resnet26d", 224, BASE " patch=1 | blocks=2,2,2,2 stem=32,32,64 average"),
    VIT("vit_base_resnet50d", 224, BASE " patch=1 | blocks=3,4,6,3 stem=32,32,64 average"),
    VIT("vit_small_patch14_dinov2", 518, SMALL " patch=14 scaled"),
    VIT("vit_base_patch14_dinov2", 518, BASE " patch=14 scaled"),
    VIT("vit_large_patch14_dinov2", 518, LARGE " patch=14 scaled"),
    VIT("beit_base_patch16", 224, BASE " relative scaled"),
    VIT("beit_large_patch16", 224, LARGE " relative scaled"),
    DLS_ZOO_IMAGES("convit_tiny", "vit", 224, convit, "width=192 heads=4"),
    DLS_ZOO_IMAGES("convit_small", "vit", 224, convit, "width=432 heads=9"),
    DLS_ZOO_IMAGES("convit_base", "vit", 224, convit, "width=768 heads=16"),
    MLP("mixer_s32", 224, "width=512 depth=8 patch=32"),
    MLP("mixer_s16", 224, "width=512 depth=8"),
    MLP("mixer_b32", 224, "width=768 patch=32"),
    MLP("mixer_b16", 224, "width=768"),
    MLP("mixer_l32", 224, "width=1024 depth=24 patch=32"),
    MLP("mixer_l16", 224, "width=1024 depth=24"),
    MLP("gmixer_12", 224, "width=384 gated"),
    MLP("gmixer_24", 224, "width=384 depth=24 gated"),
    MLP("resmlp_12", 224, "width=384 affine"),
    MLP("resmlp_24", 224, "width=384 depth=24 affine"),
    MLP("resmlp_36", 224, "width=384 depth=36 affine"),
    MLP("resmlp_big_24", 224, "width=768 depth=24 patch=8 affine"),
    MLP("gmlp_ti16", 224, "width=128 depth=30 gmlp"),
    MLP("gmlp_s16", 224, "width=256 depth=30 gmlp"),
    MLP("gmlp_b16", 224, "width=512 depth=30 gmlp"),
};

const dls_zoo_table dls_zoo_patches = {rows, sizeof rows / sizeof rows[0]};
