/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Composite layers of the model zoo (convolution with batch norm, LSTM, attention, feed-forward) in
 * terms of net.h.
 */
#include "workload/graph/blocks.h"

#include <assert.h>

static dls_tensor square(dls_net *net, dls_tensor x, int32_t kernel, int32_t stride, dls_conv c)
{
    c.kernel_h = c.kernel_w = kernel;
    c.stride = stride;
    c.pad = kernel > stride ? DLS_PAD_SAME : 0;
    return dls_net_conv(net, x, c);
}

dls_tensor dls_block_conv(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride,
                          int32_t groups)
{
    return square(net, x, kernel, stride, (dls_conv){.out = out, .groups = groups});
}

dls_tensor dls_block_conv_bias(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                               int32_t stride, int32_t groups)
{
    return square(net, x, kernel, stride, (dls_conv){.out = out, .groups = groups, .bias = true});
}

dls_tensor dls_block_depthwise(dls_net *net, dls_tensor x, int32_t kernel, int32_t stride,
                               bool bias)
{
    return square(net, x, kernel, stride, (dls_conv){.depthwise = true, .bias = bias});
}

dls_tensor dls_block_conv_bn(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                             int32_t stride)
{
    return dls_net_batch_norm(net, dls_block_conv(net, x, out, kernel, stride, 1));
}

dls_tensor dls_block_conv_bn_relu(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                                  int32_t stride)
{
    return dls_block_grouped_bn_relu(net, x, out, kernel, stride, 1);
}

dls_tensor dls_block_grouped_bn_relu(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                                     int32_t stride, int32_t groups)
{
    return dls_block_bn_relu(net, dls_block_conv(net, x, out, kernel, stride, groups));
}

dls_tensor dls_block_bn_relu(dls_net *net, dls_tensor x)
{
    return dls_net_relu(net, dls_net_batch_norm(net, x));
}

dls_tensor dls_block_conv_bias_relu(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                                    int32_t stride, int32_t pad)
{
    return dls_net_relu(net, dls_net_conv(net, x,
                                          (dls_conv){.out = out,
                                                     .kernel_h = kernel,
                                                     .kernel_w = kernel,
                                                     .stride = stride,
                                                     .pad = pad,
                                                     .bias = true}));
}

dls_tensor dls_block_depthwise_bn(dls_net *net, dls_tensor x, int32_t kernel, int32_t stride)
{
    return dls_net_batch_norm(net, dls_block_depthwise(net, x, kernel, stride, false));
}

dls_tensor dls_block_weigh(dls_net *net, dls_tensor x, dls_tensor s)
{
    const int64_t c = dls_net_dim(net, x, 3);
    s = dls_net_unary(net, s, DLS_OP_SIGMOID);
    s = dls_net_reshape(net, s, 4, (int64_t[]){dls_net_batch(net), 1, 1, c});
    return dls_net_mul(net, x, s);
}

dls_tensor dls_block_squeeze_excite(dls_net *net, dls_tensor x, int32_t inner)
{
    dls_tensor s = dls_net_global_mean(net, x);
    if (inner > 0) {
        s = dls_net_unary(net, dls_net_dense(net, s, inner, true), DLS_OP_SWISH);
        s = dls_net_dense(net, s, dls_net_dim(net, x, 3), true);
    }
    return dls_block_weigh(net, x, s);
}

dls_tensor dls_block_context(dls_net *net, dls_tensor x, int64_t inner, bool weighs)
{
    const int64_t b = dls_net_batch(net), c = dls_net_dim(net, x, 3);
    const int64_t n = dls_net_dim(net, x, 1) * dls_net_dim(net, x, 2);
    dls_tensor a = dls_block_conv_bias(net, x, 1, 1, 1, 1);
    a = dls_net_softmax(net, dls_net_reshape(net, a, 3, (int64_t[]){b, 1, n}));
    a = dls_net_batch_matmul(net, a, dls_block_tokens(net, x), false);
    a = dls_net_dense(net, dls_net_reshape(net, a, 2, (int64_t[]){b, c}), inner, true);
    a = dls_net_dense(net, dls_net_relu(net, dls_net_layer_norm(net, a)), c, true);
    return weighs ? dls_block_weigh(net, x, a)
                  : dls_net_add(net, x, dls_net_reshape(net, a, 4, (int64_t[]){b, 1, 1, c}));
}

dls_tensor dls_block_halved(dls_net *net, dls_tensor x)
{
    return dls_net_pool(net, x, DLS_OP_AVG_POOL, 2, 2, DLS_PAD_SAME);
}

dls_tensor dls_block_blurred(dls_net *net, dls_tensor x)
{
    return dls_net_eager(net) ? dls_net_pool(net, dls_net_pass(net, x, DLS_OP_PAD, 2),
                                             DLS_OP_AVG_POOL, 3, 2, DLS_PAD_SAME)
                              : dls_block_halved(net, x);
}

dls_tensor dls_block_enlarged(dls_net *net, dls_tensor x, dls_tensor like)
{
    const int64_t b = dls_net_batch(net), c = dls_net_dim(net, x, 3);
    if (dls_net_eager(net)) {
        const int64_t to[] = {b, dls_net_dim(net, like, 1), dls_net_dim(net, like, 2), c};
        return dls_net_windows(net, x, 4, to);
    }
    for (int64_t h = dls_net_dim(net, x, 1); h > 0 && h < dls_net_dim(net, like, 1); h *= 2) {
        x = dls_net_concat(net, (dls_tensor[]){x, x, x, x}, 4);
        x = dls_net_reshape(net, x, 4, (int64_t[]){b, 2 * h, 2 * h, c});
    }
    return x;
}

dls_tensor dls_block_tokens(dls_net *net, dls_tensor x)
{
    const int64_t n = dls_net_dim(net, x, 1) * dls_net_dim(net, x, 2);
    return dls_net_reshape(net, x, 3,
                           (int64_t[]){dls_net_dim(net, x, 0), n, dls_net_dim(net, x, 3)});
}

dls_tensor dls_block_pixels(dls_net *net, dls_tensor x, int64_t h, int64_t w)
{
    return dls_net_reshape(net, x, 4,
                           (int64_t[]){dls_net_dim(net, x, 0), h, w, dls_net_dim(net, x, 2)});
}

dls_tensor dls_block_patches(dls_net *net, dls_tensor x, int32_t width, int32_t patch)
{
    return dls_block_tokens(net, dls_block_conv_bias(net, x, width, patch, patch, 1));
}

dls_tensor dls_block_add_scaled(dls_net *net, dls_tensor x, dls_tensor y)
{
    y = dls_net_mul(net, y, dls_net_numbers(net, dls_net_dim(net, y, -1)));
    return dls_net_add(net, x, y);
}

dls_tensor dls_block_with_token(dls_net *net, dls_tensor x, dls_tensor token)
{
    const int64_t b = dls_net_batch(net), n = dls_net_dim(net, x, 1), w = dls_net_dim(net, x, 2);
    const dls_tensor flat = dls_net_reshape(net, x, 2, (int64_t[]){b, n * w});
    const int64_t more =
        token < 0 || dls_net_dim(net, token, 2) == 1 ? 1 : dls_net_dim(net, token, 1);
    token = more > 1 ? dls_net_flatten(net, token) : token;
    x = token < 0 ? dls_net_concat(net, (dls_tensor[]){flat, dls_net_numbers(net, w)}, 2)
                  : dls_net_concat(net, (dls_tensor[]){token, flat}, 2);
    return dls_net_reshape(net, x, 3, (int64_t[]){b, n + more, w});
}

dls_tensor dls_block_mlp(dls_net *net, dls_tensor x, const int64_t *widths, int n)
{
    for (int i = 0; i < n; i++) {
        x = dls_net_relu(net, dls_net_dense(net, x, widths[i], true));
    }
    return x;
}

dls_tensor dls_block_embed(dls_net *net, int64_t rows, int64_t width, int32_t t)
{
    const dls_embedding table = dls_net_table(net, rows, width);
    return dls_net_lookup(net, table, dls_net_indices(net, t));
}

dls_tensor dls_block_lstm(dls_net *net, dls_tensor x, int32_t width)
{
    dls_tensor gate[4];
    dls_net_loop_begin(net, (int32_t)dls_net_dim(net, x, 1));
    const dls_tensor h = dls_net_loop_state(net, width);
    const dls_tensor c = dls_net_loop_state(net, width);
    const dls_tensor in = dls_net_loop_read(net, x);
    const dls_tensor both = dls_net_concat(net, (dls_tensor[]){in, h}, 2);
    dls_net_split(net, dls_net_dense(net, both, 4 * (int64_t)width, true), 4, gate);
    const dls_tensor i = dls_net_unary(net, gate[0], DLS_OP_SIGMOID);
    const dls_tensor j = dls_net_unary(net, gate[1], DLS_OP_TANH);
    const dls_tensor f = dls_net_unary(net, gate[2], DLS_OP_SIGMOID);
    const dls_tensor o = dls_net_unary(net, gate[3], DLS_OP_SIGMOID);
    const dls_tensor kept = dls_net_mul(net, c, f);
    const dls_tensor new_c = dls_net_add(net, kept, dls_net_mul(net, i, j));
    const dls_tensor new_h = dls_net_mul(net, dls_net_unary(net, new_c, DLS_OP_TANH), o);
    dls_net_loop_next(net, c, new_c);
    dls_net_loop_next(net, h, new_h);
    return dls_net_loop_end(net, new_h);
}

dls_tensor dls_block_attend(dls_net *net, dls_tensor q, dls_tensor k, dls_tensor v)
{
    const dls_tensor a = dls_net_softmax(net, dls_net_batch_matmul(net, q, k, true));
    return dls_net_batch_matmul(net, a, v, false);
}

static dls_tensor drop(dls_net *net, dls_tensor x, bool dropout)
{
    return dropout ? dls_net_dropout(net, x) : x;
}

/* What follows holds for the eager kernels of a style alone. */
static dls_block_style style_of(const dls_net *net, dls_block_heads b)
{
    return dls_net_eager(net) ? b.style : DLS_BLOCK_PLAIN;
}

/* timm's queries are scaled within one kernel. */
static bool scales_queries(dls_block_style style, dls_block_heads b)
{
    return style == DLS_BLOCK_OPT || style == DLS_BLOCK_BART ||
           (style == DLS_BLOCK_TIMM && !b.cosine && !b.late && !b.fused);
}

/* One kernel adds no numbers to scores but the mask that it knows. */
static bool fuses(const dls_net *net, dls_block_heads b)
{
    return dls_net_fuses_attention(net) && !b.offset && !b.capped && !b.cosine && !b.masked &&
           b.places == 0 && b.style != DLS_BLOCK_T5;
}

/* [b][t][width] by heads; as it lies, for a kernel that reads it so. */
static dls_tensor by_heads(dls_net *net, dls_tensor x, int64_t heads, bool lies)
{
    const int64_t t = dls_net_dim(net, x, 1), width = dls_net_dim(net, x, 2);
    return lies ? dls_net_reshape(net, x, 4,
                                  (int64_t[]){dls_net_batch(net), heads, t, width / heads})
                : dls_net_split_heads(net, x, heads);
}

void dls_block_projections(dls_net *net, dls_tensor x, dls_tensor y, dls_block_heads b,
                           dls_tensor part[3])
{
    const int64_t width =
        dls_net_part(net, b.depth > 0 ? b.heads * b.depth : dls_net_dim(net, x, -1));
    const dls_block_style style = style_of(net, b);
    const bool joint = style == DLS_BLOCK_GPT || (style == DLS_BLOCK_TIMM && x == y);
    if (joint) {
        const dls_tensor all = dls_net_dense(net, x, 3 * width, b.bias || b.first_bias);
        (b.indexed ? dls_net_index : dls_net_split)(net, all, 3, part);
    }
    for (int i = 0; i < 3; i++) {
        const int64_t heads = i > 0 && b.key_heads > 0 ? b.key_heads : b.heads;
        if (!joint) {
            part[i] = dls_net_dense(net, i == 0 ? x : y, width / b.heads * heads,
                                    (b.bias || b.first_bias) && !(i == 1 && b.plain_keys));
        }
        if (scales_queries(style, b) && i == 0) {
            part[i] = dls_net_scale(net, part[i]);
        }
        part[i] = by_heads(net, part[i], dls_net_part(net, heads), b.fused);
    }
}

/* The rows of x, [b][heads of any number][rows][depth], dealt to so many heads: queries that share
 * keys and values are rows of one product with them. */
static dls_tensor regroup(dls_net *net, dls_tensor x, int64_t heads)
{
    const int64_t rows = dls_net_dim(net, x, 1) * dls_net_dim(net, x, 2) / heads;
    return dls_net_reshape(net, x, 4,
                           (int64_t[]){dls_net_batch(net), heads, rows, dls_net_dim(net, x, 3)});
}

/* [b][heads][t][depth] of keys or values once more for each of their queries. */
static dls_tensor repeated(dls_net *net, dls_tensor x, int64_t heads)
{
    return dls_net_windows(net, x, 4,
                           (int64_t[]){dls_net_batch(net), heads, dls_net_dim(net, x, 2), dls_net_dim(net, x, 3)});
}

/* How much each style's mask reads and writes on the way back, from PyTorch's derivatives: `where`
 * selects again; `maximum` halves, compares twice, selects and fills. */
#define BACK_WHERE 2
#define BACK_MAXIMUM 10

dls_tensor dls_block_capped(dls_net *net, dls_tensor x)
{
    return dls_net_scale(net, dls_net_unary(net, dls_net_scale(net, x), DLS_OP_TANH));
}

dls_tensor dls_block_warmed(dls_net *net, dls_tensor a)
{
    return dls_net_spells_out(net)
               ? dls_net_mul(net, a, dls_net_numbers(net, dls_net_dim(net, a, 1)))
               : dls_net_scale(net, a);
}

static dls_tensor scores(dls_net *net, dls_tensor q, dls_tensor k, dls_block_heads b)
{
    const dls_block_style style = style_of(net, b);
    dls_tensor a = dls_net_batch_matmul(net, q, k, true);
    const bool within = b.offset && style == DLS_BLOCK_LLAMA; /* the product scales, and adds what it finds */
    const bool scaled = scales_queries(style, b) || b.style == DLS_BLOCK_T5 || within;
    a = scaled ? a : b.cosine ? dls_block_warmed(net, a) : dls_net_scale(net, a);
    a = b.capped ? dls_block_capped(net, a) : a;
    if (b.offset && !within) {
        a = dls_net_add(net, a, *b.offset);
    } else if (style == DLS_BLOCK_LLAMA) {
        a = within ? dls_net_pass(net, a, DLS_OP_TILE, 0) : a;
        a = dls_net_pass_wide(net, a, DLS_OP_ADD, 0);
    } else if (style != DLS_BLOCK_PLAIN && style != DLS_BLOCK_GPT && style != DLS_BLOCK_TIMM &&
               !(style == DLS_BLOCK_BART && b.unmasked)) {
        a = dls_net_pass(net, a, DLS_OP_ADD, 0);
    }
    if (b.places > 0) {
        a = dls_net_add(net, a, dls_net_numbers(net, b.places));
    }
    if (style == DLS_BLOCK_TIMM && (b.masked || b.causal)) {
        a = dls_net_pass(net, a, DLS_OP_ADD, 0);
    }
    if (style == DLS_BLOCK_GPT) {
        a = dls_net_pass(net, a, DLS_OP_SELECT, BACK_WHERE);
    }
    if (style == DLS_BLOCK_OPT) {
        a = dls_net_pass(net, a, DLS_OP_MAXIMUM, BACK_MAXIMUM);
    }
    return drop(net, dls_net_softmax(net, a), b.dropout && style != DLS_BLOCK_OPT);
}

/* Of a row's division by its length: two quotients, their product with the gradient and its sum; of
 * the length another quotient, a selection and a product; all in 32 bits. */
#define BACK_UNIT 20
dls_tensor dls_block_unit(dls_net *net, dls_tensor x)
{
    return dls_block_divided(net, x, DLS_OP_POW, BACK_UNIT);
}

dls_tensor dls_block_divided(dls_net *net, dls_tensor x, dls_op_kind kind, int back)
{
    if (dls_net_spells_out(net)) {
        (void)dls_net_row_mean(net, x); /* a kernel that reads all */
    }
    return dls_net_pass_wide(net, x, kind, back);
}

/* What the gradient of a deviation reads and writes, in 16 bits: a sum, and in 32 the variance's mean,
 * difference and product, rounded. That of what is divided by it: negated, two quotients, a product. */
#define BACK_DEVIATION 14
#define BACK_DIVISOR 8
/* The mean square's: a product and a sum; in 32 bits another product, rounded, and the square's. */
#define BACK_LENGTH 12

dls_tensor dls_block_norm_act(dls_net *net, dls_tensor x, dls_block_norm norm, bool act)
{
    const bool own = norm == DLS_BLOCK_EVO_B0 && act, divides = norm == DLS_BLOCK_EVO_S0;
    dls_tensor number[3]; /* in front, scale, offset */
    for (int i = 0; i < 3; i++) {
        number[i] = i > 0 || act ? dls_net_narrow(net, dls_net_numbers(net, dls_net_dim(net, x, -1))) : -1;
    }
    dls_tensor y = x;
    if (own || (divides && act)) {
        y = dls_net_mul(net, x, number[0]);
        y = divides ? dls_net_mul(net, x, dls_net_unary(net, y, DLS_OP_SIGMOID)) : y;
    }
    if (divides || own || norm == DLS_BLOCK_FRN) {
        (void)dls_net_row_mean(net, dls_net_wide(net, x)); /* a kernel that reads all */
        const int back = own       ? BACK_DEVIATION
                         : divides ? BACK_DEVIATION + BACK_DIVISOR
                                   : BACK_LENGTH + (act ? 2 * BACK_MAXIMUM : 0);
        const dls_tensor by = dls_net_pass(net, x, DLS_OP_SQRT, back);
        y = own ? dls_net_add(net, y, by) : dls_net_mul(net, y, by);
    }
    if (own) { /* the larger deviation, and what it divides */
        (void)dls_net_row_mean(net, dls_net_wide(net, x));
        y = dls_net_pass(net, y, DLS_OP_MAXIMUM, 2 * BACK_MAXIMUM + BACK_DEVIATION + BACK_DIVISOR);
        y = dls_net_mul(net, x, y);
    }
    y = dls_net_add(net, dls_net_mul(net, y, number[1]), number[2]);
    return norm == DLS_BLOCK_FRN && act ? dls_net_add(net, y, number[0]) : y; /* not below */
}

/* Rotary positions for the first n numbers of a head, 0: for all; the rest passes by. The head is
 * views of equal parts. */
#define MAX_PARTS 8
static dls_tensor turn(dls_net *net, dls_tensor x, int64_t n)
{
    const int64_t depth = dls_net_dim(net, x, -1);
    int64_t part = n, rest = depth;
    dls_tensor parts[MAX_PARTS];
    if (n == 0 || n >= depth) {
        return dls_net_rotary(net, x);
    }
    while (rest % part != 0) { /* the greatest that divides both */
        const int64_t left = rest % part;
        rest = part;
        part = left;
    }
    assert(depth / part <= MAX_PARTS);
    dls_net_split(net, x, (int)(depth / part), parts);
    for (int64_t i = 0; i < n / part; i++) {
        parts[i] = dls_net_rotary(net, parts[i]);
    }
    return dls_net_concat(net, parts, (int)(depth / part));
}

/* What queries, keys and values say, heads side by side again. */
static dls_tensor attended(dls_net *net, dls_tensor part[3], dls_block_heads b)
{
    const bool repeats = b.key_heads > 0 && style_of(net, b) == DLS_BLOCK_LLAMA;
    const bool regroups = b.key_heads > 0 && !repeats;
    if (b.fused) {
        const bool causal = b.causal || b.style == DLS_BLOCK_GPT || b.style == DLS_BLOCK_OPT ||
                            b.style == DLS_BLOCK_LLAMA;
        const dls_tensor a = dls_net_attention(net, part[0], part[1], part[2], causal);
        return dls_net_reshape(net, a, 3,
                               (int64_t[]){dls_net_batch(net), dls_net_dim(net, a, 2),
                                           dls_net_dim(net, a, 1) * dls_net_dim(net, a, 3)});
    }
    for (int i = 1; i < 3 && repeats && b.key_heads < b.heads; i++) {
        part[i] = repeated(net, part[i], b.heads);
    }
    part[0] = regroups ? regroup(net, part[0], b.key_heads) : part[0];
    const dls_tensor a = dls_net_batch_matmul(net, scores(net, part[0], part[1], b), part[2], false);
    return dls_net_merge_heads(net, regroups ? regroup(net, a, b.heads) : a);
}

dls_tensor dls_block_attention(dls_net *net, dls_tensor x, dls_tensor y, dls_block_heads b)
{
    const int64_t width = dls_net_dim(net, x, -1);
    dls_tensor part[3]; /* queries, keys, values */
    b.fused = fuses(net, b);
    dls_block_projections(net, x, y, b, part);
    if (b.cosine) {
        part[0] = dls_block_unit(net, part[0]);
        part[1] = dls_block_unit(net, part[1]);
    }
    for (int i = 0; i < 2; i++) {
        part[i] = b.level ? dls_net_rms_norm(net, part[i]) : part[i];
        part[i] = b.rotary ? turn(net, part[i], b.turned) : part[i];
    }
    const dls_tensor a = attended(net, part, b);
    return drop(net, dls_net_shared(net, dls_net_dense(net, a, width, b.bias || b.last_bias)), b.dropout);
}

/* y / 2 (1 + tanh(c (y + c' y^3))), operation by operation; the cube's derivative is a power, two
 * products. */
#define BACK_CUBE 7
dls_tensor dls_block_gelu_of_tanh(dls_net *net, dls_tensor y)
{
    if (!dls_net_spells_out(net)) {
        return dls_net_unary(net, y, DLS_OP_GELU);
    }
    const dls_tensor half = dls_net_scale(net, y);
    const dls_tensor cube = dls_net_scale(net, dls_net_pass(net, y, DLS_OP_POW, BACK_CUBE));
    const dls_tensor inner = dls_net_scale(net, dls_net_add(net, y, cube));
    const dls_tensor one = dls_net_pass(net, dls_net_unary(net, inner, DLS_OP_TANH), DLS_OP_ADD, 0);
    return dls_net_mul(net, half, one);
}

/* Nine kernels, three of which read two tensors, so as much as ten; eighteen back. */
#define BLOOM_KERNELS 10
#define BACK_BLOOM 44
dls_tensor dls_block_gelu_of_bloom(dls_net *net, dls_tensor y)
{
    for (int i = 1; i < BLOOM_KERNELS && dls_net_spells_out(net); i++) {
        y = dls_net_pass(net, y, DLS_OP_MUL, 0);
    }
    return dls_net_spells_out(net) ? dls_net_pass(net, y, DLS_OP_MUL, BACK_BLOOM)
                                   : dls_net_unary(net, y, DLS_OP_GELU);
}

dls_tensor dls_block_feed_forward(dls_net *net, dls_tensor x, int64_t inner, dls_op_kind activation,
                                  dls_block_heads b)
{
    const int64_t width = dls_net_dim(net, x, -1);
    dls_tensor y = dls_net_dense(net, x, dls_net_part(net, inner), true);
    y = (style_of(net, b) == DLS_BLOCK_GPT || b.of_tanh) && activation == DLS_OP_GELU
            ? dls_block_gelu_of_tanh(net, y)
            : dls_net_unary(net, y, activation);
    y = dls_net_shared(net, dls_net_dense(net, y, width, true));
    return drop(net, y, b.dropout);
}

dls_tensor dls_block_encoder(dls_net *net, dls_tensor x, int64_t inner, dls_block_heads b)
{
    const dls_tensor y = dls_net_layer_norm(net, x);
    x = dls_net_add(net, x, dls_block_attention(net, y, y, b));
    const dls_tensor z = dls_net_layer_norm(net, x);
    return dls_net_add(net, x, dls_block_feed_forward(net, z, inner, DLS_OP_GELU, b));
}

dls_tensor dls_block_post_norm(dls_net *net, dls_tensor x, dls_tensor y)
{
    return dls_net_layer_norm(net, dls_net_add(net, x, y));
}
