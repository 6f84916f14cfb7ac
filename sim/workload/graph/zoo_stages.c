/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Convolutional networks that are lists of stages: GENet (Lin et al., 2020), ResNets and RegNetZ of
 * timm's with SE, ECA or global context (Cao et al., 2019), HaloNet (Vaswani et al., 2021), BoTNet
 * (Srinivas et al., 2021), LambdaNetworks (Bello, 2021), MobileViT (Mehta and Rastegari, 2022) and
 * its second version; names as timm spells them.
 *
 * A word @TYPE,n,channels,stride,group,ratio,more is n equal blocks, the first with the stride:
 *      b two 3 x 3     x 1 x 1, 3 x 3 in groups of so many channels (1: depthwise), 1 x 1
 *      e 3 x 3, 1 x 1  a attention among the pixels of a square and those around it, for the 3 x 3;
 *                      more: width of a head's queries and keys, else as of its values
 *      t attention among all pixels for it; more: width of a head's keys, else as of its values
 *      l a lambda layer for it; group: edge of the window that places are told apart in, 0: of all
 *      m MobileViT     w its second version; group: layers, more: their width
 * ratio: channels of the middle over those out.
 *
 *      stem=32             channels of one 3 x 3; tiered, quad: the last of three or four, of
 *                          which bare: the first two have neither norm nor activation; deep: of
 *                          three alike; seven
 *      pool head=1280      behind the stem; a last 1 x 1 convolution
 *      context eca se=16   what weighs the channels of the middle
 *      inverted            the middle is a multiple of what comes in, nothing follows the sum
 *      extra               a second 3 x 3 in x
 *      evos                EvoNorm in the place of batch norm and activation
 *      bilinear            rows and columns are mixed there (BAT, Chi et al., 2020)
 *      halo=3 square=8     pixels around squares of so many
 *      relu                in the place of swish
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#include <string.h>

typedef struct staged {
    dls_op_kind kind;
    int32_t excite, halo, square;
    bool context, eca, bilinear, inverted, extra;
    dls_block_norm norm;
} staged;

typedef struct stage {
    char type;
    int32_t n, out, stride, group, more;
    double ratio;
} stage;

/* Norm, and with act the activation. */
static dls_tensor normed(dls_net *net, dls_tensor x, bool act, const staged *d)
{
    if (d->norm != DLS_BLOCK_BATCH_NORM) {
        return dls_block_norm_act(net, x, d->norm, act);
    }
    x = dls_net_batch_norm(net, x);
    return act ? dls_net_in_place(net, x, d->kind) : x;
}

static dls_tensor conv(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride,
                       int32_t groups, const staged *d)
{
    return normed(net, dls_block_conv(net, x, out, kernel, stride, groups), true, d);
}

/* 3 x 3 in groups of so many channels; 0: one group. */
static dls_tensor grouped(dls_net *net, dls_tensor x, int32_t out, int32_t stride, int32_t group,
                          const staged *d)
{
    if (group != 1) {
        return conv(net, x, out, 3, stride, group ? out / group : 1, d);
    }
    return dls_net_in_place(net, dls_block_depthwise_bn(net, x, 3, stride), d->kind);
}

/* Of a quarter of the channels rows are mixed, and columns, by matrices of squares of an eighth of the
 * image, of which there are two for all channels. */
#define PARTS 8
#define MATRICES 2
static dls_tensor bilinear(dls_net *net, dls_tensor x)
{
    const staged relu = {.kind = DLS_OP_RELU};
    const int32_t c = (int32_t)dls_net_dim(net, x, 3), few = dls_zoo_round(c / 4., 8);
    const int64_t b = dls_net_batch(net), edge = dls_net_dim(net, x, 1);
    const int64_t images[] = {b, few, edge, edge}, pixels[] = {b, edge, edge, few};
    dls_tensor y = conv(net, x, few, 1, 1, 1, &relu), by[2];
    const dls_tensor seen = conv(net, y, MATRICES, 1, 1, 1, &relu);
    for (int i = 0; i < 2; i++) { /* of the greatest of rows, of columns */
        const int32_t h = i == 0 ? PARTS : 1, w = PARTS / h;
        by[i] = dls_net_windows(net, seen, 4, (int64_t[]){b, h, w, MATRICES});
        by[i] = dls_net_conv(net, by[i], (dls_conv){.out = PARTS * PARTS * MATRICES,
                                                    .kernel_h = h,
                                                    .kernel_w = w,
                                                    .stride = 1,
                                                    .bias = true});
        by[i] = dls_net_windows(net, dls_net_unary(net, by[i], DLS_OP_SIGMOID), 4, images);
        for (int k = 0; k < 2 && edge > PARTS; k++) { /* put side by side along rows, then columns */
            by[i] = dls_net_pass(net, by[i], DLS_OP_CONCAT, 2);
        }
    }
    y = dls_net_reshape(net, y, 4, images);
    y = dls_net_batch_matmul(net, dls_net_batch_matmul(net, by[0], y, false), by[1], false);
    y = conv(net, dls_net_reshape(net, y, 4, pixels), few, 1, 1, 1, &relu);
    return dls_net_add(net, dls_net_dropout(net, conv(net, y, c, 1, 1, 1, &relu)), x);
}

static dls_tensor attend(dls_net *net, dls_tensor x, const staged *d)
{
    const int32_t c = (int32_t)dls_net_dim(net, x, 3), inner = d->excite ? c / d->excite : 0;
    if (d->bilinear) {
        return bilinear(net, x);
    }
    if (d->context) {
        return dls_block_context(net, x, (c + 4) / 8, false);
    }
    return d->eca || d->excite ? dls_block_squeeze_excite(net, x,
                                                          d->eca      ? 0
                                                          : inner < 8 ? 8
                                                                      : (inner + 4) / 8 * 8)
                               : x;
}

/* Numbers for each distance along rows and for each along columns times queries [b][heads][n][each],
 * added to scores [b][heads][n][m]. */
static dls_tensor with_distances(dls_net *net, dls_tensor a, dls_tensor q, int64_t edge)
{
    int64_t of[4];
    for (int i = 0; i < 4; i++) {
        of[i] = dls_net_dim(net, a, i);
    }
    for (int i = 0; i < 2; i++) { /* rows, columns */
        const int64_t flat[] = {of[0] * of[1] * of[2], dls_net_dim(net, q, 3)};
        dls_tensor y = dls_net_dense(net, dls_net_reshape(net, q, 2, flat), 2 * edge - 1, false);
        a = dls_net_add(net, a, dls_net_windows(net, y, 4, of));
    }
    return a;
}

/* Queries of squares, each head's keys and values of larger ones around them; places are told apart
 * along rows and columns. */
static dls_tensor halo_attention(dls_net *net, dls_tensor x, int32_t stride, int32_t heads,
                                 int32_t depth, const staged *d)
{
    const int32_t c = (int32_t)dls_net_dim(net, x, 3), keys = depth ? heads * depth : c;
    const int64_t edge = dls_net_dim(net, x, 1), squares = edge * edge / (d->square * d->square);
    const bool pools = d->square % stride != 0; /* behind it */
    const int64_t b = dls_net_batch(net) * squares, side = pools ? d->square : d->square / stride;
    const int64_t n = side * side, wide = d->square + 2 * d->halo, m = wide * wide;
    stride = pools ? 1 : stride;
    dls_tensor q = dls_block_conv(net, x, keys, 1, stride, 1), part[2];
    q = dls_net_pass(net, q, DLS_OP_TRANSPOSE, 2);
    q = dls_net_reshape(net, q, 4, (int64_t[]){b, heads, n, keys / heads});
    dls_tensor kv = dls_block_conv(net, x, keys + c, 1, 1, 1);
    kv = dls_net_windows(net, kv, 4, (int64_t[]){b, heads, m, (keys + c) / heads});
    if (keys == c) {
        dls_net_split(net, kv, 2, part);
    } else {
        part[0] = dls_net_channels(net, kv, keys / heads);
        part[1] = dls_net_channels(net, kv, c / heads);
    }
    dls_tensor a = dls_net_scale(net, dls_net_batch_matmul(net, q, part[0], true));
    a = with_distances(net, a, q, wide);
    a = dls_net_batch_matmul(net, dls_net_softmax(net, a), part[1], false);
    a = dls_net_pass(net, a, DLS_OP_TRANSPOSE, 2);
    a = dls_net_reshape(net, a, 4, (int64_t[]){dls_net_batch(net), edge / stride, edge / stride, c});
    return pools ? dls_block_halved(net, a) : a;
}

#define HEADS 4
#define DEPTH 16 /* of the queries of a lambda layer's heads */

/* Scores of all pixels, then every second is kept. depth: of keys; 0: as values. */
static dls_tensor bottleneck_attention(dls_net *net, dls_tensor x, int32_t stride, int32_t depth)
{
    const int32_t c = (int32_t)dls_net_dim(net, x, 3), keys = depth ? HEADS * depth : c;
    const int64_t edge = dls_net_dim(net, x, 1);
    const int32_t width[] = {keys, keys, c};
    dls_tensor part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = dls_block_tokens(net, dls_block_conv(net, x, width[i], 1, 1, 1));
        part[i] = dls_net_split_heads(net, part[i], HEADS);
    }
    dls_tensor a = dls_net_scale(net, dls_net_batch_matmul(net, part[0], part[1], true));
    a = dls_net_softmax(net, with_distances(net, a, part[0], edge));
    a = dls_net_merge_heads(net, dls_net_batch_matmul(net, a, part[2], false));
    x = dls_block_pixels(net, a, edge, edge);
    return stride > 1 ? dls_block_halved(net, x) : x;
}

/* Keys and values become one linear function of queries for all pixels, and one for each from a
 * convolution of the values, which all heads share. */
static dls_tensor lambda_layer(dls_net *net, dls_tensor x, int32_t stride, int32_t window)
{
    const int64_t b = dls_net_batch(net), edge = dls_net_dim(net, x, 1), n = edge * edge;
    const int32_t each = (int32_t)dls_net_dim(net, x, 3) / HEADS;
    dls_tensor q = dls_block_conv_bn(net, x, HEADS * DEPTH, 1, 1);
    dls_tensor k = dls_block_tokens(net, dls_block_conv(net, x, DEPTH, 1, 1, 1));
    const dls_tensor v = dls_block_tokens(net, dls_block_conv_bn(net, x, each, 1, 1));
    q = dls_net_split_heads(net, dls_block_tokens(net, q), HEADS);
    k = dls_net_softmax(net, dls_net_transpose(net, k));
    dls_tensor all = dls_net_batch_matmul(net, k, v, false);
    all = dls_net_windows(net, all, 4, (int64_t[]){b, HEADS, DEPTH, each});
    all = dls_net_batch_matmul(net, q, all, false);
    dls_tensor own = dls_net_transpose(net, v);
    if (window) {
        own = dls_net_reshape(net, own, 4, (int64_t[]){b * each, edge, edge, 1});
        own = dls_block_conv_bias(net, own, DEPTH, window, 1, 1);
    } else { /* numbers for each distance, of each pixel and all others, times the values */
        dls_tensor far = dls_net_numbers(net, (2 * edge - 1) * (2 * edge - 1) * DEPTH);
        far = dls_net_windows(net, far, 3, (int64_t[]){b * n, DEPTH, n});
        own = dls_net_windows(net, own, 3, (int64_t[]){b * n, n, each});
        own = dls_net_batch_matmul(net, far, own, false);
    }
    own = dls_net_windows(net, own, 3, (int64_t[]){b * HEADS * n, DEPTH, each});
    q = dls_net_reshape(net, q, 3, (int64_t[]){b * HEADS * n, 1, DEPTH});
    own = dls_net_reshape(net, dls_net_batch_matmul(net, q, own, false), 4,
                          (int64_t[]){b, HEADS, n, each});
    x = dls_net_merge_heads(net, dls_net_add(net, all, own));
    x = dls_block_pixels(net, x, edge, edge);
    return stride > 1 ? dls_block_halved(net, x) : x;
}

static dls_tensor block(dls_net *net, dls_tensor x, const stage *s, int32_t stride, const staged *d)
{
    const int32_t in = (int32_t)dls_net_dim(net, x, 3);
    const int32_t mid = dls_zoo_round((d->inverted ? in : s->out) * s->ratio, 8);
    const bool same = stride == 1 && in == s->out;
    const dls_tensor shortcut =
        same || d->inverted ? x : dls_block_conv_bn(net, x, s->out, 1, stride);
    switch (s->type) {
    case 'b':
        x = conv(net, x, mid, 3, stride, 1, d);
        break;
    case 'e':
        x = attend(net, grouped(net, x, mid, stride, s->group, d), d);
        break;
    case 'a':
    case 't':
    case 'l':
        x = conv(net, x, mid, 1, 1, 1, d);
        x = s->type == 'a'   ? halo_attention(net, x, stride, s->group ? s->group : 8, s->more, d)
            : s->type == 't' ? bottleneck_attention(net, x, stride, s->more)
                             : lambda_layer(net, x, stride, s->group);
        x = dls_net_in_place(net, dls_net_batch_norm(net, x), d->kind);
        break;
    default:
        x = conv(net, x, mid, 1, 1, 1, d);
        x = grouped(net, x, mid, stride, s->group, d);
        x = d->extra ? grouped(net, x, mid, 1, s->group, d) : x;
        x = attend(net, x, d);
    }
    x = normed(net, dls_block_conv(net, x, s->out, s->type == 'b' ? 3 : 1, 1, 1), false, d);
    x = d->inverted && !same ? x : dls_net_add(net, x, shortcut);
    return d->inverted ? x : dls_net_in_place(net, x, d->kind);
}

/* ---- MobileViT ------------------------------------------------------------------------------- */

/* Pixels at the same place of squares of 2 x 2 see each other. */
static dls_tensor transformer(dls_net *net, dls_tensor x, const stage *s, const staged *d)
{
    const dls_tensor whole = x;
    const int64_t b = dls_net_batch(net), h = dls_net_dim(net, x, 1), w = dls_net_dim(net, x, 2);
    const dls_block_heads heads = {.heads = 4, .style = DLS_BLOCK_TIMM, .bias = true};
    x = dls_block_conv(net, conv(net, x, s->out, 3, 1, 1, d), s->more, 1, 1, 1);
    x = dls_net_pass(net, dls_net_pass(net, x, DLS_OP_TRANSPOSE, 2), DLS_OP_TRANSPOSE, 2);
    x = dls_net_reshape(net, x, 3, (int64_t[]){4 * b, h * w / 4, s->more});
    for (int32_t i = 0; i < s->group; i++) {
        dls_tensor y = dls_net_layer_norm(net, x);
        x = dls_net_add(net, x, dls_block_attention(net, y, y, heads));
        y = dls_net_layer_norm(net, x);
        x = dls_net_add(net, x, dls_block_feed_forward(net, y, 2 * s->more, d->kind, heads));
    }
    x = dls_net_pass(net, dls_net_layer_norm(net, x), DLS_OP_TRANSPOSE, 2);
    x = dls_net_reshape(net, dls_net_pass(net, x, DLS_OP_TRANSPOSE, 2), 4,
                        (int64_t[]){b, h, w, s->more});
    x = conv(net, x, s->out, 1, 1, 1, d);
    return conv(net, dls_net_concat(net, (dls_tensor[]){whole, x}, 2), s->out, 3, 1, 1, d);
}

/* One number for each pixel says how much its keys count in the sum that weighs all values. */
static dls_tensor linear_attention(dls_net *net, dls_tensor x, int32_t width)
{
    const dls_tensor q = dls_block_conv_bias(net, x, 1, 1, 1, 1);
    dls_tensor kv[2];
    dls_net_split(net, dls_block_conv_bias(net, x, 2 * width, 1, 1, 1), 2, kv);
    dls_tensor a = dls_net_softmax(
        net, dls_net_reshape(net, q, 3,
                             (int64_t[]){dls_net_batch(net), 1,
                                         dls_net_dim(net, x, 1) * dls_net_dim(net, x, 2)}));
    a = dls_net_reshape(
        net, a, 4,
        (int64_t[]){dls_net_batch(net), dls_net_dim(net, x, 1), dls_net_dim(net, x, 2), 1});
    a = dls_net_global_mean(net, dls_net_mul(net, kv[0], a));
    a = dls_net_reshape(net, a, 4, (int64_t[]){dls_net_batch(net), 1, 1, width});
    return dls_block_conv_bias(net, dls_net_mul(net, dls_net_relu(net, kv[1]), a), width, 1, 1, 1);
}

static dls_tensor transformer2(dls_net *net, dls_tensor x, const stage *s, const staged *d)
{
    const int32_t width = dls_zoo_round(0.5 * s->out, 8);
    x = dls_block_conv(net, grouped(net, x, s->out, 1, 1, d), width, 1, 1, 1);
    x = dls_net_pass(net, x, DLS_OP_TRANSPOSE, 2);
    for (int32_t i = 0; i < s->group; i++) {
        x = dls_net_add(net, x, linear_attention(net, dls_net_layer_norm(net, x), width));
        dls_tensor y = dls_block_conv_bias(net, dls_net_layer_norm(net, x), 2 * width, 1, 1, 1);
        y = dls_block_conv_bias(net, dls_net_unary(net, y, d->kind), width, 1, 1, 1);
        x = dls_net_add(net, x, y);
    }
    x = dls_net_pass(net, dls_net_layer_norm(net, x), DLS_OP_TRANSPOSE, 2);
    return dls_block_conv_bn(net, x, s->out, 1, 1);
}

/* ---- the network ----------------------------------------------------------------------------- */

static dls_tensor stem(dls_net *net, const char *spec, const staged *d)
{
    const int32_t out = (int32_t)dls_spec_number(spec, "stem", 32);
    const bool pool = dls_spec_has(spec, "pool"), quad = dls_spec_has(spec, "quad");
    const bool bare = dls_spec_has(spec, "bare");
    const bool deep = dls_spec_has(spec, "deep");
    const int32_t tiered[] = {deep ? out : 3 * out / 8, deep ? out : out / 2, out};
    const int32_t four[] = {out / 8, out / 4, out / 2, out};
    const int n = quad ? 4 : 3;
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    if (quad || deep || dls_spec_has(spec, "tiered")) {
        for (int i = 0; i < n; i++) {
            const bool strided = i == 0 || (i + 1 == n && !pool);
            const int32_t c = (quad ? four : tiered)[i], stride = strided ? 2 : 1;
            x = bare && i < 2 ? dls_block_conv(net, x, c, 3, stride, 1)
                              : conv(net, x, c, 3, stride, 1, d);
        }
    } else {
        x = conv(net, x, out, dls_spec_has(spec, "seven") ? 7 : 3, 2, 1, d);
    }
    return pool ? dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, DLS_PAD_SAME) : x;
}

static void staged_design(dls_net *net, const char *spec)
{
    const staged d = {.kind = dls_spec_has(spec, "relu") ? DLS_OP_RELU : DLS_OP_SWISH,
                      .excite = (int32_t)dls_spec_number(spec, "se", 0),
                      .halo = (int32_t)dls_spec_number(spec, "halo", 3),
                      .context = dls_spec_has(spec, "context"),
                      .square = (int32_t)dls_spec_number(spec, "square", 8),
                      .bilinear = dls_spec_has(spec, "bilinear"),
                      .eca = dls_spec_has(spec, "eca"),
                      .inverted = dls_spec_has(spec, "inverted"),
                      .extra = dls_spec_has(spec, "extra"),
                      .norm = dls_spec_norm(spec)};
    const int32_t head = (int32_t)dls_spec_number(spec, "head", 0);
    dls_tensor x = stem(net, spec, &d);
    for (const char *at = strchr(spec, '@'); at; at = strchr(at + 1, '@')) {
        double v[6] = {0};
        dls_spec_list(at + 2, v, 6);
        const stage s = {.type = at[1],
                         .n = (int32_t)v[0],
                         .out = (int32_t)v[1],
                         .stride = (int32_t)v[2],
                         .group = (int32_t)v[3],
                         .ratio = v[4],
                         .more = (int32_t)v[5]};
        for (int32_t i = 0; i < s.n; i++) {
            x = s.type == 'm'   ? transformer(net, x, &s, &d)
                : s.type == 'w' ? transformer2(net, x, &s, &d)
                                : block(net, x, &s, i == 0 ? s.stride : 1, &d);
        }
    }
    dls_zoo_classify(net, head ? conv(net, x, head, 1, 1, 1, &d) : x);
}

/* ---- members --------------------------------------------------------------------------------- */

#define ROW(name, family, image, spec) DLS_ZOO_IMAGES(name, family, image, staged_design, spec)
#define R26 "@x,2,256,1,32,0.25 @x,2,512,2,32,0.25 @x,2,1024,2,32,0.25 @x,2,2048,2,32,0.25"
#define R33 "@x,2,256,1,0,0.25 @x,3,512,2,0,0.25 @x,3,1536,2,0,0.25 @x,2,1536,2,0,0.25"
#define R50(g)                                                                                     \
    "@x,3,256,1," g ",0.25 @x,4,512,2," g ",0.25 @x,6,1024,2," g ",0.25 @x,3,2048,2," g ",0.25"
#define H33                                                                                        \
    "@x,2,256,1,0,0.25 @x,2,512,2,0,0.25 @a,1,512,1,0,0.25 @x,2,1024,2,0,0.25 @a,1,1024,1,0,0.25 " \
    "@a,2,1536,2,0,0.333"
#define BOT26(g, more)                                                                             \
    "@x,2,256,1," g ",0.25 @x,2,512,2," g ",0.25 @x,1,1024,2," g ",0.25 @t,1,1024,1,0,0.25" more   \
    " @t,2,2048,2,0,0.25" more
#define LAMBDA26                                                                                   \
    "@x,2,256,1,0,0.25 @x,2,512,2,0,0.25 @x,1,1024,2,0,0.25 @l,1,1024,1,9,0.25 @l,2,2048,2,9,0.25"
/* Every second block of the third stage, and one of the last, is of a type and a group. */
#define LATE50(third, last)                                                                        \
    " @x,1,1024,2,0,0.25 @" third ",0.25 @x,1,1024,1,0,0.25 @" third                               \
    ",0.25 @x,1,1024,1,0,0.25 @" third ",0.25 @x,1,2048,2,0,0.25 @" last                           \
    ",0.25 @x,1,2048,1,0,0.25"
#define R50_LAST(second, third, last)                                                              \
    "@x,3,256,1,0,0.25 @x,3,512,2,0,0.25 @" second ",0.25" LATE50(third, last)
#define R50_TWICE(second, third, last)                                                             \
    "@x,3,256,1,0,0.25 @x,1,512,2,0,0.25 @" second ",0.25 @x,1,512,1,0,0.25 @" second              \
    ",0.25" LATE50(third, last)
#define BIG "tiered stem=64 "
#define Z "inverted se=4 "
#define Z16(r)                                                                                     \
    Z "head=1536 @x,2,48,2,16," r " @x,6,96,2,16," r " @x,12,192,2,16," r " @x,2,288,2,16," r
#define ZD(stem, g)                                                                                \
    Z stem " stem=64 head=1792 @x,3,64,1," g ",4 @x,6,128,2," g ",4 @x,12,256,2," g ",4 @x,3,384,2," g ",4"
#define V "inverted stem=16 "
#define SECOND(name, s, a, b, c, d, e)                                                             \
    ROW("mobilevitv2_" name, "mobilevit", 256,                                                     \
        "inverted stem=" s " @x,1," a ",1,1,2 @x,2," b ",2,1,2 @x,1," c ",2,1,2 @w,1," c           \
        ",1,2 @x,1," d ",2,1,2 @w,1," d ",1,4 @x,1," e ",2,1,2 @w,1," e ",1,3")

static const dls_zoo_model rows[] = {
    ROW("gernet_s", "genet", 224,
        "relu stem=13 head=1920 @b,1,48,2,0,1 @b,3,48,2,0,1 @x,7,384,2,0,0.25 @x,2,560,2,1,3 "
        "@x,1,256,1,1,3"),
    ROW("gernet_m", "genet", 224,
        "relu head=2560 @b,1,128,2,0,1 @b,2,192,2,0,1 @x,6,640,2,0,0.25 @x,4,640,2,1,3 "
        "@x,1,640,1,1,3"),
    ROW("gernet_l", "genet", 256,
        "relu head=2560 @b,1,128,2,0,1 @b,2,192,2,0,1 @x,6,640,2,0,0.25 @x,5,640,2,1,3 "
        "@x,4,640,1,1,3"),
    ROW("resnext26ts", "resnet_ts", 256, BIG "pool " R26),
    ROW("seresnext26ts", "resnet_ts", 256, BIG "pool se=16 " R26),
    ROW("gcresnext26ts", "resnet_ts", 256, BIG "pool context " R26),
    ROW("bat_resnext26ts", "resnet_ts", 256, BIG "pool bilinear " R26),
    ROW("eca_resnext26ts", "resnet_ts", 256, BIG "pool eca " R26),
    ROW("resnet32ts", "resnet_ts", 256, BIG R33),
    ROW("resnet33ts", "resnet_ts", 256, BIG "head=1280 " R33),
    ROW("seresnet33ts", "resnet_ts", 256, BIG "head=1280 se=16 " R33),
    ROW("gcresnet33ts", "resnet_ts", 256, BIG "head=1280 context " R33),
    ROW("eca_resnet33ts", "resnet_ts", 256, BIG "head=1280 eca " R33),
    ROW("gcresnet50t", "resnet_ts", 256, "relu " BIG "context " R50("0")),
    ROW("gcresnext50ts", "resnet_ts", 256, BIG "pool context " R50("32")),
    ROW("resnet51q", "resnet_ts", 256,
        "quad bare stem=128 head=2048 @x,2,256,1,32,0.25 @x,4,512,2,32,0.25 @x,6,1536,2,32,0.25 "
        "@x,4,1536,2,1,1"),
    ROW("resnet61q", "resnet_ts", 256,
        "extra quad stem=128 head=2048 @e,1,256,1,0,1 @x,4,512,2,32,0.25 @x,6,1536,2,32,0.25 "
        "@x,4,1536,2,1,1"),
    ROW("regnetz_b16", "regnet", 224, Z16("3")),
    ROW("regnetz_b16_evos", "regnet", 224, "evos " Z16("3")),
    ROW("regnetz_c16", "regnet", 256, Z16("4")),
    ROW("regnetz_c16_evos", "regnet", 256, "evos " Z16("4")),
    ROW("regnetz_d8", "regnet", 256, ZD("tiered", "8")),
    ROW("regnetz_d8_evos", "regnet", 256, "evos " ZD("deep", "8")),
    ROW("regnetz_d32", "regnet", 256, ZD("tiered", "32")),
    ROW("regnetz_e8", "regnet", 256,
        Z BIG "head=2048 @x,3,96,1,8,4 @x,8,192,2,8,4 @x,16,384,2,8,4 @x,3,512,2,8,4"),
    ROW("halonet26t", "halonet", 256,
        "relu " BIG "pool halo=2 @x,2,256,1,0,0.25 @x,2,512,2,0,0.25 @x,1,1024,2,0,0.25 "
        "@a,1,1024,1,0,0.25 @a,2,2048,2,0,0.25"),
    ROW("eca_halonext26ts", "halonet", 256,
        BIG "pool eca halo=2 @x,2,256,1,16,0.25 @x,2,512,2,16,0.25 @x,1,1024,2,16,0.25 "
            "@a,1,1024,1,0,0.25,16 @a,2,2048,2,0,0.25,16"),
    ROW("halonet50ts", "halonet", 256, BIG "pool " R50_LAST("a,1,512,1,4", "a,1,1024,1,0", "a,1,2048,1,0")),
    ROW("haloregnetz_b", "halonet", 224,
        Z "head=1536 square=7 halo=2 @x,2,48,2,16,3 @x,6,96,2,16,3 @x,1,192,2,16,3 @x,2,192,1,16,3 "
          "@a,1,192,1,0,3,24 @x,3,192,1,16,3 @a,1,192,1,0,3,24 @x,3,192,1,16,3 @a,1,192,1,0,3,24 "
          "@a,1,288,2,0,3,24 @a,1,288,1,0,3,36"),
    ROW("halonet_h1", "halonet", 256,
        "relu seven stem=64 pool @a,3,64,1,0,1 @a,3,128,2,0,1 @a,10,256,2,0,1 @a,3,512,2,0,1"),
    ROW("sehalonet33ts", "halonet", 256, BIG "head=1280 se=16 " H33),
    ROW("botnet26t_256", "botnet", 256, "relu " BIG "pool " BOT26("0", "")),
    ROW("eca_botnext26ts_256", "botnet", 256, BIG "pool eca " BOT26("16", ",16")),
    ROW("botnet50ts_256", "botnet", 256,
        BIG "pool " R50_LAST("t,1,512,1,0", "t,1,1024,1,0", "t,1,2048,1,0")),
    ROW("sebotnet33ts_256", "botnet", 256,
        BIG "head=1280 se=16 @x,2,256,1,0,0.25 @x,2,512,2,0,0.25 @t,1,512,1,0,0.25 "
            "@x,2,1024,2,0,0.25 @t,1,1024,1,0,0.25 @t,2,1536,2,0,0.333"),
    ROW("halo2botnet50ts_256", "botnet", 256,
        BIG R50_TWICE("a,1,512,1,0", "a,1,1024,1,0", "t,1,2048,1,0")),
    ROW("lamhalobotnet50ts_256", "botnet", 256,
        BIG R50_TWICE("l,1,512,1,13", "a,1,1024,1,0", "t,1,2048,1,0")),
    ROW("lambda_resnet26t", "lambda", 256, "relu " BIG "pool " LAMBDA26),
    ROW("lambda_resnet26rpt_256", "lambda", 256,
        "relu " BIG "pool @x,2,256,1,0,0.25 @x,2,512,2,0,0.25 @x,1,1024,2,0,0.25 "
            "@l,1,1024,1,0,0.25 @l,2,2048,2,0,0.25"),
    ROW("lambda_resnet50ts", "lambda", 256,
        BIG "pool " R50_LAST("l,1,512,1,9", "l,1,1024,1,9", "l,1,2048,1,9")),
    ROW("mobilevit_xxs", "mobilevit", 256,
        V "head=320 @x,1,16,1,1,2 @x,3,24,2,1,2 @x,1,48,2,1,2 @m,1,48,1,2,0,64 @x,1,64,2,1,2 "
          "@m,1,64,1,4,0,80 @x,1,80,2,1,2 @m,1,80,1,3,0,96"),
    ROW("mobilevit_xs", "mobilevit", 256,
        V "head=384 @x,1,32,1,1,4 @x,3,48,2,1,4 @x,1,64,2,1,4 @m,1,64,1,2,0,96 @x,1,80,2,1,4 "
          "@m,1,80,1,4,0,120 @x,1,96,2,1,4 @m,1,96,1,3,0,144"),
    ROW("mobilevit_s", "mobilevit", 256,
        V "head=640 @x,1,32,1,1,4 @x,3,64,2,1,4 @x,1,96,2,1,4 @m,1,96,1,2,0,144 @x,1,128,2,1,4 "
          "@m,1,128,1,4,0,192 @x,1,160,2,1,4 @m,1,160,1,3,0,240"),
    ROW("semobilevit_s", "mobilevit", 256,
        "relu se=8 " V "head=640 @x,1,32,1,1,4 @x,3,64,2,1,4 @x,1,96,2,1,4 @m,1,96,1,2,0,144 "
        "@x,1,128,2,1,4 @m,1,128,1,4,0,192 @x,1,160,2,1,4 @m,1,160,1,3,0,240"),
    SECOND("050", "16", "32", "64", "128", "192", "256"),
    SECOND("075", "24", "48", "96", "192", "288", "384"),
    SECOND("100", "32", "64", "128", "256", "384", "512"),
    SECOND("125", "40", "80", "160", "320", "480", "640"),
    SECOND("150", "48", "96", "192", "384", "576", "768"),
    SECOND("175", "56", "112", "224", "448", "672", "896"),
    SECOND("200", "64", "128", "256", "512", "768", "1024"),
};

const dls_zoo_table dls_zoo_stages = {rows, sizeof rows / sizeof rows[0]};
