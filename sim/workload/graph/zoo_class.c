/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks of patches whose class attends to them behind all other layers: CaiT (Touvron et al.,
 * 2021), whose heads see each other's scores, and XCiT (El-Nouby et al., 2021), whose channels
 * attend to each other in the place of patches; names as timm spells them.
 *
 *      width=384 depth=12 heads=8 patch=16
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

typedef struct classes {
    int32_t width, depth, heads, patch;
} classes;

static classes read_spec(const char *spec)
{
    return (classes){.width = (int32_t)dls_spec_number(spec, "width", 384),
                     .depth = (int32_t)dls_spec_number(spec, "depth", 12),
                     .heads = (int32_t)dls_spec_number(spec, "heads", 8),
                     .patch = (int32_t)dls_spec_number(spec, "patch", 16)};
}

/* x plus y, weighed channel by channel. */
static dls_tensor join(dls_net *net, dls_tensor x, dls_tensor y)
{
    y = dls_net_mul(net, y, dls_net_numbers(net, dls_net_dim(net, y, -1)));
    return dls_net_add(net, x, y);
}

static dls_tensor feed_forward(dls_net *net, dls_tensor x, int32_t width)
{
    return dls_block_feed_forward(net, x, 4 * width, DLS_OP_GELU, (dls_block_heads){.heads = 1});
}

/* Queries of the class token [b][width], keys and values of all tokens y. */
static dls_tensor class_attention(dls_net *net, dls_tensor of, dls_tensor y, const classes *c)
{
    const int64_t b = dls_net_batch(net), w = c->width;
    dls_tensor q = dls_net_reshape(net, dls_net_dense(net, of, w, true), 3, (int64_t[]){b, 1, w});
    q = dls_net_scale(net, dls_net_split_heads(net, q, c->heads));
    const dls_tensor k = dls_net_split_heads(net, dls_net_dense(net, y, w, true), c->heads);
    const dls_tensor v = dls_net_split_heads(net, dls_net_dense(net, y, w, true), c->heads);
    const dls_tensor a = dls_net_merge_heads(net, dls_block_attend(net, q, k, v));
    return dls_net_dense(net, dls_net_reshape(net, a, 2, (int64_t[]){b, w}), w, true);
}

/* Two layers that only the class goes through, and the head. */
static void classify(dls_net *net, dls_tensor x, const classes *c)
{
    const int64_t b = dls_net_batch(net), n = dls_net_dim(net, x, 1), w = c->width;
    dls_tensor token = dls_net_first_token(net, x);
    token = dls_net_add(net, token, dls_net_numbers(net, w));
    for (int i = 0; i < 2; i++) {
        /* Beside the patches, which stay as they are. */
        const dls_tensor flat = dls_net_reshape(net, x, 2, (int64_t[]){b, n * w});
        dls_tensor y = dls_net_concat(net, (dls_tensor[]){token, flat}, 2);
        y = dls_net_layer_norm(net, dls_net_reshape(net, y, 3, (int64_t[]){b, n + 1, w}));
        const dls_tensor of = dls_net_first_token(net, y);
        token = join(net, token, class_attention(net, of, y, c));
        token = join(net, token, feed_forward(net, dls_net_layer_norm(net, token), c->width));
    }
    dls_net_loss(net, dls_net_dense(net, dls_net_layer_norm(net, token), 1000, true));
}

/* ---- CaiT ------------------------------------------------------------------------------------ */

/* Scores [b][heads][n][n] through a product over the heads. */
static dls_tensor talk(dls_net *net, dls_tensor a, const classes *c)
{
    const int64_t b = dls_net_dim(net, a, 0), n = dls_net_dim(net, a, 2);
    a = dls_net_pass(net, a, DLS_OP_TRANSPOSE, 2);
    a = dls_net_reshape(net, a, 2, (int64_t[]){b * n * n, c->heads});
    a = dls_net_pass(net, dls_net_dense(net, a, c->heads, true), DLS_OP_TRANSPOSE, 2);
    return dls_net_reshape(net, a, 4, (int64_t[]){b, c->heads, n, n});
}

static dls_tensor talking_attention(dls_net *net, dls_tensor y, const classes *c)
{
    dls_tensor part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = dls_net_split_heads(net, dls_net_dense(net, y, c->width, true), c->heads);
    }
    part[0] = dls_net_scale(net, part[0]);
    dls_tensor a = talk(net, dls_net_batch_matmul(net, part[0], part[1], true), c);
    a = talk(net, dls_net_softmax(net, a), c);
    a = dls_net_merge_heads(net, dls_net_batch_matmul(net, a, part[2], false));
    return dls_net_dense(net, a, c->width, true);
}

static void cait(dls_net *net, const char *spec)
{
    const classes c = read_spec(spec);
    dls_tensor x = dls_net_conv(net, dls_net_image(net, 224, 224, 3),
                                (dls_conv){.out = c.width,
                                           .kernel_h = c.patch,
                                           .kernel_w = c.patch,
                                           .stride = c.patch,
                                           .bias = true});
    const int64_t n = dls_net_dim(net, x, 1) * dls_net_dim(net, x, 2);
    x = dls_net_reshape(net, x, 3, (int64_t[]){dls_net_batch(net), n, c.width});
    x = dls_net_add_rows(net, x, dls_net_table(net, n, c.width));
    for (int32_t i = 0; i < c.depth; i++) {
        x = join(net, x, talking_attention(net, dls_net_layer_norm(net, x), &c));
        x = join(net, x, feed_forward(net, dls_net_layer_norm(net, x), c.width));
    }
    classify(net, x, &c);
}

/* ---- XCiT ------------------------------------------------------------------------------------ */

/* [b][n][width] to [b][heads][width / heads][n] */
static dls_tensor channels_of(dls_net *net, dls_tensor y, const classes *c)
{
    const int64_t b = dls_net_batch(net), n = dls_net_dim(net, y, 1);
    y = dls_net_transpose(net, dls_net_dense(net, y, c->width, true));
    return dls_net_reshape(net, y, 4, (int64_t[]){b, c->heads, c->width / c->heads, n});
}

static dls_tensor covariance_attention(dls_net *net, dls_tensor y, const classes *c)
{
    const int64_t b = dls_net_batch(net), n = dls_net_dim(net, y, 1);
    const dls_tensor q = dls_block_unit(net, channels_of(net, y, c));
    const dls_tensor k = dls_block_unit(net, channels_of(net, y, c));
    const dls_tensor v = channels_of(net, y, c);
    dls_tensor a = dls_net_scale(net, dls_net_batch_matmul(net, q, k, true));
    a = dls_net_batch_matmul(net, dls_net_softmax(net, a), v, false);
    a = dls_net_transpose(net, dls_net_reshape(net, a, 3, (int64_t[]){b, c->width, n}));
    return dls_net_dense(net, a, c->width, true);
}

static dls_tensor depthwise(dls_net *net, dls_tensor x)
{
    return dls_net_conv(net, x,
                        (dls_conv){.kernel_h = 3,
                                   .kernel_w = 3,
                                   .stride = 1,
                                   .pad = DLS_PAD_SAME,
                                   .depthwise = true,
                                   .bias = true});
}

/* Patches see their neighbours. */
static dls_tensor neighbours(dls_net *net, dls_tensor y, int64_t edge, const classes *c)
{
    const int64_t b = dls_net_batch(net);
    y = dls_net_pass(net, y, DLS_OP_TRANSPOSE, 2);
    y = dls_net_reshape(net, y, 4, (int64_t[]){b, edge, edge, c->width});
    y = dls_net_batch_norm(net, dls_net_unary(net, depthwise(net, y), DLS_OP_GELU));
    y = dls_net_pass(net, depthwise(net, y), DLS_OP_TRANSPOSE, 2);
    return dls_net_reshape(net, y, 3, (int64_t[]){b, edge * edge, c->width});
}

static void xcit(dls_net *net, const char *spec)
{
    const classes c = read_spec(spec);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    for (int32_t part = c.patch / 2; part > 0; part /= 2) {
        x = part < c.patch / 2 ? dls_net_unary(net, x, DLS_OP_GELU) : x;
        x = dls_block_conv_bn(net, x, c.width / part, 3, 2);
    }
    const int64_t edge = dls_net_dim(net, x, 1), n = edge * edge;
    x = dls_net_reshape(net, x, 3, (int64_t[]){dls_net_batch(net), n, c.width});
    x = dls_net_add(net, x,
                    dls_net_numbers(net, 65 * (int64_t)c.width)); /* a product of 64 waves */
    for (int32_t i = 0; i < c.depth; i++) {
        x = join(net, x, covariance_attention(net, dls_net_layer_norm(net, x), &c));
        x = join(net, x, neighbours(net, dls_net_layer_norm(net, x), edge, &c));
        x = join(net, x, feed_forward(net, dls_net_layer_norm(net, x), c.width));
    }
    classify(net, x, &c);
}

/* ---- members --------------------------------------------------------------------------------- */

#define CAIT(name, image, spec) DLS_ZOO_IMAGES("cait_" name, "cait", image, cait, spec)
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
    XCIT("nano_12", "width=128 heads=4"),
    XCIT("tiny_12", "width=192 heads=4"),
    XCIT("tiny_24", "width=192 depth=24 heads=4"),
    XCIT("small_12", "width=384 heads=8"),
    XCIT("small_24", "width=384 depth=24 heads=8"),
    XCIT("medium_24", "width=512 depth=24 heads=8"),
    XCIT("large_24", "width=768 depth=24 heads=16"),
};

const dls_zoo_table dls_zoo_classes = {rows, sizeof rows / sizeof rows[0]};
