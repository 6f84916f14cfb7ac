/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks of patches whose class attends to them behind all other layers: CaiT (Touvron et al.,
 * 2021), whose heads see each other's scores, and XCiT (El-Nouby et al., 2021), whose channels
 * attend to each other in the place of patches; EdgeNeXt (Maaz et al., 2022), blocks of ConvNeXt and
 * then such attention; and VOLO (Yuan et al., 2021), where places first weigh those around them; names
 * as timm spells them.
 *
 *      width=384 depth=12 heads=8 patch=16     wide=4: inside of the feed-forward part
 *      blocks=4,14 stem=64 few=6               of VOLO: blocks at half of the width, then at all of
 *                                              it; channels of the stem; heads of the first blocks
 *      blocks=3,3,9,3 out=48,96,160,304        of EdgeNeXt's stages; bare: a stage's first convolution
 *                                              makes it smaller, and none has a bias
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

typedef struct classes {
    int32_t width, depth, heads, patch, wide;
    bool plain; /* nothing weighs branches; queries, keys and values have no bias */
} classes;

static classes read_spec(const char *spec)
{
    return (classes){.width = (int32_t)dls_spec_number(spec, "width", 384),
                     .depth = (int32_t)dls_spec_number(spec, "depth", 12),
                     .heads = (int32_t)dls_spec_number(spec, "heads", 8),
                     .patch = (int32_t)dls_spec_number(spec, "patch", 16),
                     .wide = (int32_t)dls_spec_number(spec, "wide", 4),
                     .plain = dls_spec_has(spec, "plain")};
}

static dls_tensor join(dls_net *net, dls_tensor x, dls_tensor y, const classes *c)
{
    return c->plain ? dls_net_add(net, x, y) : dls_block_add_scaled(net, x, y);
}

static dls_tensor feed_forward(dls_net *net, dls_tensor x, const classes *c)
{
    const int64_t inner = c->wide * dls_net_dim(net, x, -1);
    return dls_block_feed_forward(net, x, inner, DLS_OP_GELU, (dls_block_heads){.heads = 1});
}

/* Queries of the class token [b][width], keys and values of all tokens y. */
static dls_tensor class_attention(dls_net *net, dls_tensor of, dls_tensor y, const classes *c)
{
    const int64_t b = dls_net_batch(net), w = c->width;
    const bool bias = !c->plain;
    dls_tensor q = dls_net_reshape(net, dls_net_dense(net, of, w, bias), 3, (int64_t[]){b, 1, w});
    q = dls_net_scale(net, dls_net_split_heads(net, q, c->heads));
    const dls_tensor k = dls_net_split_heads(net, dls_net_dense(net, y, w, bias), c->heads);
    const dls_tensor v = dls_net_split_heads(net, dls_net_dense(net, y, w, bias), c->heads);
    const dls_tensor a = dls_net_merge_heads(net, dls_block_attend(net, q, k, v));
    return dls_net_dense(net, dls_net_reshape(net, a, 2, (int64_t[]){b, w}), w, true);
}

/* Two layers that only the class goes through. */
static dls_tensor class_layers(dls_net *net, dls_tensor x, const classes *c)
{
    dls_tensor token = dls_net_first_token(net, x);
    token = dls_net_add(net, token, dls_net_numbers(net, c->width));
    for (int i = 0; i < 2; i++) {
        /* Beside the patches, which stay as they are. */
        const dls_tensor y = dls_net_layer_norm(net, dls_block_with_token(net, x, token));
        const dls_tensor of = dls_net_first_token(net, y);
        token = join(net, token, class_attention(net, of, y, c), c);
        token = join(net, token, feed_forward(net, dls_net_layer_norm(net, token), c), c);
    }
    return token;
}

static void classify(dls_net *net, dls_tensor x, const classes *c)
{
    const dls_tensor token = dls_net_layer_norm(net, class_layers(net, x, c));
    dls_net_loss(net, dls_net_dense(net, token, 1000, true));
}

/* ---- CaiT ------------------------------------------------------------------------------------ */

/* Scores [b][heads][n][n] through a product over the heads. */
static dls_tensor talk(dls_net *net, dls_tensor a, const classes *c)
{
    const int64_t b = dls_net_dim(net, a, 0), n = dls_net_dim(net, a, 2);
    a = dls_net_turned(net, dls_net_reshape(net, a, 3, (int64_t[]){b, n * n, c->heads}));
    a = dls_net_turned(net, dls_net_dense(net, a, c->heads, true));
    return dls_net_reshape(net, a, 4, (int64_t[]){b, c->heads, n, n});
}

static dls_tensor talking_attention(dls_net *net, dls_tensor y, const classes *c)
{
    dls_tensor part[3];
    dls_block_projections(net, y, y,
                          (dls_block_heads){.heads = c->heads,
                                            .style = DLS_BLOCK_TIMM,
                                            .bias = true,
                                            .indexed = true},
                          part);
    dls_tensor a = talk(net, dls_net_batch_matmul(net, part[0], part[1], true), c);
    a = talk(net, dls_net_softmax(net, a), c);
    a = dls_net_merge_heads(net, dls_net_batch_matmul(net, a, part[2], false));
    return dls_net_dense(net, a, c->width, true);
}

static void cait(dls_net *net, const char *spec)
{
    const classes c = read_spec(spec);
    dls_tensor x = dls_block_patches(net, dls_net_image(net, 224, 224, 3), c.width, c.patch);
    x = dls_net_add_rows(net, x, dls_net_table(net, dls_net_dim(net, x, 1), c.width));
    for (int32_t i = 0; i < c.depth; i++) {
        x = dls_block_add_scaled(net, x, talking_attention(net, dls_net_layer_norm(net, x), &c));
        x = dls_block_add_scaled(net, x, feed_forward(net, dls_net_layer_norm(net, x), &c));
    }
    classify(net, x, &c);
}

/* ---- XCiT ------------------------------------------------------------------------------------ */


static dls_tensor covariance_attention(dls_net *net, dls_tensor y, const classes *c)
{
    const int64_t b = dls_net_batch(net), n = dls_net_dim(net, y, 1);
    dls_tensor part[3];
    dls_net_split(net, dls_net_dense(net, y, 3 * (int64_t)c->width, true), 3, part);
    for (int i = 0; i < 3; i++) { /* [b][n][width] to [b][heads][width / heads][n] */
        part[i] = dls_net_reshape(net, dls_net_transpose(net, part[i]), 4,
                                  (int64_t[]){b, c->heads, c->width / c->heads, n});
        part[i] = i < 2 ? dls_block_unit(net, part[i]) : part[i];
    }
    dls_tensor a = dls_block_warmed(net, dls_net_batch_matmul(net, part[0], part[1], true));
    a = dls_net_batch_matmul(net, dls_net_softmax(net, a), part[2], false);
    a = dls_net_transpose(net, dls_net_reshape(net, a, 3, (int64_t[]){b, c->width, n}));
    return dls_net_dense(net, a, c->width, true);
}

/* Patches see their neighbours. */
static dls_tensor neighbours(dls_net *net, dls_tensor y, int64_t edge)
{
    y = dls_block_pixels(net, dls_net_pass(net, y, DLS_OP_TRANSPOSE, 2), edge, edge);
    y = dls_net_unary(net, dls_block_depthwise(net, y, 3, 1, true), DLS_OP_GELU);
    y = dls_block_depthwise(net, dls_net_batch_norm(net, y), 3, 1, true);
    return dls_block_tokens(net, y);
}

static void xcit(dls_net *net, const char *spec)
{
    const classes c = read_spec(spec);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    for (int32_t part = c.patch / 2; part > 0; part /= 2) {
        x = part < c.patch / 2 ? dls_net_unary(net, x, DLS_OP_GELU) : x;
        x = dls_block_conv_bn(net, x, c.width / part, 3, 2);
    }
    const int64_t edge = dls_net_dim(net, x, 1);
    x = dls_block_tokens(net, x);
    x = dls_net_add(net, x,
                    dls_net_numbers(net, 65 * (int64_t)c.width)); /* a product of 64 waves */
    for (int32_t i = 0; i < c.depth; i++) {
        x = dls_block_add_scaled(net, x, covariance_attention(net, dls_net_layer_norm(net, x), &c));
        x = dls_block_add_scaled(net, x, neighbours(net, dls_net_layer_norm(net, x), edge));
        x = dls_block_add_scaled(net, x, feed_forward(net, dls_net_layer_norm(net, x), &c));
    }
    classify(net, x, &c);
}

/* ---- EdgeNeXt -------------------------------------------------------------------------------- */

#define MAX_SCALES 4

static dls_tensor depthwise(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride,
                            bool bias)
{
    const int32_t in = (int32_t)dls_net_dim(net, x, 3);
    return out == in ? dls_block_depthwise(net, x, kernel, stride, bias)
                     : dls_block_conv(net, x, out, kernel, stride, in);
}

static dls_tensor scaled_feed_forward(dls_net *net, dls_tensor shortcut, dls_tensor x, const classes *c)
{
    return dls_block_add_scaled(net, shortcut, feed_forward(net, dls_net_layer_norm(net, x), c));
}

/* Of n parts of the channels each but the last sees its neighbours and the part before; then channels
 * attend to each other. */
static dls_tensor split_block(dls_net *net, dls_tensor x, int n, bool bias, bool places, const classes *c)
{
    const int64_t all = c->width, each = (all + n - 1) / n, edge = dls_net_dim(net, x, 1);
    dls_tensor part[MAX_SCALES], y = -1;
    for (int i = 0; i < n; i++) {
        part[i] = dls_net_channels(net, x, i + 1 < n ? each : all - (n - 1) * each);
        if (i + 1 < n) {
            y = i > 0 ? dls_net_add(net, y, part[i]) : part[i];
            y = part[i] = dls_block_depthwise(net, y, 3, 1, bias);
        }
    }
    y = dls_block_tokens(net, dls_net_concat(net, part, n));
    y = places ? dls_net_add(net, y, dls_net_numbers(net, 65 * all)) : y;
    y = dls_block_add_scaled(net, y, covariance_attention(net, dls_net_layer_norm(net, y), c));
    return scaled_feed_forward(net, x, dls_block_pixels(net, y, edge, edge), c);
}

static void edgenext(dls_net *net, const char *spec)
{
    const bool bare = dls_spec_has(spec, "bare");
    double blocks[4] = {0}, out[4] = {0};
    classes c = read_spec(spec);
    dls_spec_numbers(spec, "blocks", blocks, 4);
    dls_spec_numbers(spec, "out", out, 4);
    dls_tensor x = dls_net_image(net, 256, 256, 3);
    x = bare ? dls_block_conv(net, x, (int32_t)out[0], 9, 4, 1)
             : dls_block_conv_bias(net, x, (int32_t)out[0], 4, 4, 1);
    x = dls_net_layer_norm(net, x);
    for (int stage = 0; stage < 4; stage++) {
        c.width = (int32_t)out[stage];
        if (stage > 0 && !bare) {
            x = dls_block_conv_bias(net, dls_net_layer_norm(net, x), c.width, 2, 2, 1);
        }
        for (int i = 0; i < (int)blocks[stage]; i++) {
            if (stage > 0 && i + 1 == (int)blocks[stage]) {
                x = split_block(net, x, stage + 1, !bare, stage == 1, &c);
                continue;
            }
            const int32_t stride = bare && stage > 0 && i == 0 ? 2 : 1;
            const dls_tensor y = depthwise(net, x, c.width, 3 + 2 * stage, stride, !bare);
            x = scaled_feed_forward(net, stride > 1 ? y : x, y, &c);
        }
    }
    x = dls_net_layer_norm(net, dls_net_global_mean(net, x));
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}

/* ---- VOLO ------------------------------------------------------------------------------------ */

/* Every second place weighs the nine around it, which are then added up where they overlap. */
static dls_tensor outlook(dls_net *net, dls_tensor y, int32_t heads)
{
    const int64_t b = dls_net_batch(net), edge = dls_net_dim(net, y, 1);
    const int64_t width = dls_net_dim(net, y, 3), n = (edge + 1) / 2 * ((edge + 1) / 2);
    const int64_t around[] = {b * heads * n, 9, width / heads};
    dls_tensor v = dls_net_windows(net, dls_net_dense(net, y, width, false), 3, around);
    v = dls_net_pass(net, v, DLS_OP_TRANSPOSE, 2);
    dls_tensor a = dls_net_dense(net, dls_block_halved(net, y), 81 * (int64_t)heads, true);
    a = dls_net_scale(net, dls_net_reshape(net, a, 3, (int64_t[]){b * heads * n, 9, 9}));
    v = dls_net_batch_matmul(net, dls_net_softmax(net, a), v, false);
    v = dls_net_pass(net, v, DLS_OP_TRANSPOSE, 2);
    v = dls_net_windows(net, v, 4, (int64_t[]){b, edge, edge, width});
    return dls_net_dense(net, v, width, true);
}

static void volo(dls_net *net, const char *spec)
{
    const classes c = read_spec(spec);
    const int32_t stem = (int32_t)dls_spec_number(spec, "stem", 64);
    const dls_block_heads heads = {.heads = c.heads, .style = DLS_BLOCK_TIMM, .last_bias = true};
    double blocks[2] = {0};
    dls_spec_numbers(spec, "blocks", blocks, 2);
    dls_tensor x = dls_block_conv_bn_relu(net, dls_net_image(net, 224, 224, 3), stem, 7, 2);
    x = dls_block_conv_bn_relu(net, dls_block_conv_bn_relu(net, x, stem, 3, 1), stem, 3, 1);
    x = dls_block_conv_bias(net, x, c.width / 2, 4, 4, 1);
    for (int i = 0; i < (int)blocks[0]; i++) {
        const int32_t few = (int32_t)dls_spec_number(spec, "few", c.heads / 2.);
        x = dls_net_add(net, x, outlook(net, dls_net_layer_norm(net, x), few));
        x = dls_net_add(net, x, feed_forward(net, dls_net_layer_norm(net, x), &c));
    }
    x = dls_block_tokens(net, dls_block_conv_bias(net, x, c.width, 2, 2, 1));
    const int64_t n = dls_net_dim(net, x, 1);
    x = dls_net_add_rows(net, x, dls_net_table(net, n, c.width));
    for (int i = 0; i < (int)blocks[1]; i++) {
        x = dls_block_encoder(net, x, (int64_t)c.wide * c.width, heads);
    }
    /* All tokens are classified, too. */
    x = dls_net_layer_norm(net, dls_block_with_token(net, x, class_layers(net, x, &c)));
    const dls_tensor token = dls_net_dense(net, dls_net_first_token(net, x), 1000, true);
    x = dls_net_dense(net, dls_net_tokens(net, x, n), 1000, true);
    x = dls_net_global_mean(net, dls_block_pixels(net, x, 1, n));
    dls_net_loss(net, dls_net_add(net, token, dls_net_scale(net, x)));
}

/* ---- members --------------------------------------------------------------------------------- */

#define CAIT(name, image, spec) DLS_ZOO_IMAGES("cait_" name, "cait", image, cait, spec)
#define VOLO(name, spec) DLS_ZOO_IMAGES("volo_d" name, "volo", 224, volo, "plain " spec)
#define VOLO5 "plain wide=4 width=768 heads=16 few=12 stem=128 blocks=12,36"
#define EDGE(name, spec) DLS_ZOO_IMAGES("edgenext_" name, "edgenext", 256, edgenext, spec)
#define XCIT(name, spec)                                                                           \
    DLS_ZOO_IMAGES("xcit_" name "_p16", "xcit", 224, xcit, spec),                                  \
        DLS_ZOO_IMAGES("xcit_" name "_p8", "xcit", 224, xcit, spec " patch=8")

static const dls_zoo_model rows[] = {
    CAIT("xxs24", 224, "width=192 depth=24 heads=4"),
    CAIT("xxs36", 224, "width=192 depth=36 heads=4"),
    CAIT("xs24", 384, "width=288 depth=24 heads=6"),
    CAIT("s24", 224, "width=384 depth=24 heads=8"),
    CAIT("s36", 384, "width=384 depth=36 heads=8"),
    CAIT("m36", 384, "width=768 depth=36 heads=16"),
    CAIT("m48", 448, "width=768 depth=48 heads=16"),
    VOLO("1", "wide=3 width=384 heads=12 blocks=4,14"),
    VOLO("2", "wide=3 width=512 heads=16 blocks=6,18"),
    VOLO("3", "wide=3 width=512 heads=16 blocks=8,28"),
    VOLO("4", "wide=3 width=768 heads=16 few=12 blocks=8,28"),
    DLS_ZOO_IMAGES("volo_d5", "volo", 224, volo, VOLO5),
    DLS_ZOO_IMAGES("volo_d5_512", "volo", 512, volo, VOLO5),
    EDGE("xx_small", "heads=4 blocks=2,2,6,2 out=24,48,88,168"),
    EDGE("x_small", "heads=4 blocks=3,3,9,3 out=32,64,100,192"),
    EDGE("small", "blocks=3,3,9,3 out=48,96,160,304"),
    EDGE("small_rw", "bare blocks=3,3,9,3 out=48,96,192,384"),
    EDGE("base", "blocks=3,3,9,3 out=80,160,288,584"),
    XCIT("nano_12", "width=128 heads=4"),
    XCIT("tiny_12", "width=192 heads=4"),
    XCIT("tiny_24", "width=192 depth=24 heads=4"),
    XCIT("small_12", "width=384 heads=8"),
    XCIT("small_24", "width=384 depth=24 heads=8"),
    XCIT("medium_24", "width=512 depth=24 heads=8"),
    XCIT("large_24", "width=768 depth=24 heads=16"),
};

const dls_zoo_table dls_zoo_classes = {rows, sizeof rows / sizeof rows[0]};
