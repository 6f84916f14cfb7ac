/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random convolutional networks.
 */
#include "workload/graph/blocks.h"
#include "workload/graph/random_model.h"

#define SAME DLS_PAD_SAME

/* No image gets smaller than this. */
#define LEAST_SIDE 4
#define BRANCHES_MAX 5

static dls_tensor image(dls_net *net, dls_rng *rng)
{
    static const int32_t sides[] = {28, 32, 32, 64, 96, 128, 160, 192, 224, 224, 224, 256, 299};
    const int32_t side = sides[dls_rng_below(rng, sizeof sides / sizeof sides[0])];
    return dls_net_image(net, side, side, side == 28 ? 1 : 3);
}

static bool can_halve(const dls_net *net, dls_tensor x)
{
    return dls_net_dim(net, x, 1) >= 2 * (int64_t)LEAST_SIDE;
}

static int32_t channels(const dls_net *net, dls_tensor x)
{
    return (int32_t)dls_net_dim(net, x, 3);
}

static dls_tensor halve(dls_net *net, dls_tensor x, dls_op_kind pool, int32_t kernel)
{
    return can_halve(net, x) ? dls_net_pool(net, x, pool, kernel, 2, SAME) : x;
}

/* Large images are made smaller before anything is computed on them. */
static dls_tensor stem(dls_net *net, dls_rng *rng, int32_t width)
{
    dls_tensor x = image(net, rng);
    const bool large = dls_net_dim(net, x, 1) > 64;
    const int32_t kernel = large ? 3 + 2 * dls_random_between(rng, 0, 2) : 3;
    x = dls_block_conv_bn_relu(net, x, width, kernel, large ? 2 : 1);
    return large && dls_random_chance(rng, 0.6) ? halve(net, x, DLS_OP_MAX_POOL, 3) : x;
}

static int32_t classes(dls_rng *rng)
{
    return dls_random_chance(rng, 0.4) ? 1000 : dls_random_spread(rng, 2, 20000, 1);
}

static void classify(dls_net *net, dls_rng *rng, dls_tensor x)
{
    x = dls_net_global_mean(net, x);
    x = dls_random_chance(rng, 0.3) ? dls_net_dropout(net, x) : x;
    dls_net_loss(net, dls_net_dense(net, x, classes(rng), true));
}

void dls_random_plain(dls_net *net, dls_rng *rng)
{
    const bool norm = dls_random_chance(rng, 0.4);
    const int32_t base = dls_random_spread(rng, 8, 96, 8);
    const int32_t stages = dls_random_between(rng, 2, 5);
    dls_tensor x = image(net, rng);
    if (dls_net_dim(net, x, 1) > 64 && dls_random_chance(rng, 0.4)) {
        x = dls_block_conv_bias_relu(net, x, base, 7 + 4 * dls_random_between(rng, 0, 1), 4, 2);
    }
    for (int32_t s = 0; s < stages; s++) {
        const int32_t width = base << (s < 3 ? s : 3);
        const int32_t kernel = dls_random_chance(rng, 0.8) ? 3 : 5;
        for (int32_t i = dls_random_between(rng, 1, 4); i > 0; i--) {
            x = norm ? dls_block_conv_bn_relu(net, x, width, kernel, 1)
                     : dls_block_conv_bias_relu(net, x, width, kernel, 1, SAME);
        }
        x = halve(net, x, DLS_OP_MAX_POOL, dls_random_between(rng, 2, 3));
    }
    if (dls_random_chance(rng, 0.3)) {
        classify(net, rng, x);
        return;
    }
    /* Dense layers on all that is left, as wide as a layer of at most 2^27 weights allows. */
    while (can_halve(net, x)) {
        x = halve(net, x, DLS_OP_MAX_POOL, 2);
    }
    x = dls_net_flatten(net, x);
    for (int32_t i = dls_random_between(rng, 1, 3); i > 0; i--) {
        x = dls_net_relu(net, dls_net_dense(net, x, dls_random_spread(rng, 64, 4096, 64), true));
        x = dls_random_chance(rng, 0.5) ? dls_net_dropout(net, x) : x;
    }
    dls_net_loss(net, dls_net_dense(net, x, classes(rng), true));
}

void dls_random_residual(dls_net *net, dls_rng *rng)
{
    const bool bottleneck = dls_random_chance(rng, 0.6);
    const int32_t expand = bottleneck ? dls_random_between(rng, 2, 4) : 1;
    const int32_t base = dls_random_spread(rng, 8, 128, 8);
    const int32_t stages = dls_random_between(rng, 2, 4);
    const int32_t most = dls_random_spread(rng, 1, 24, 1);
    dls_tensor x = stem(net, rng, base);
    for (int32_t s = 0; s < stages; s++) {
        const int32_t width = base << s;
        const int32_t blocks = dls_random_between(rng, 1, most);
        for (int32_t i = 0; i < blocks; i++) {
            const int32_t stride = i == 0 && s > 0 && can_halve(net, x) ? 2 : 1;
            const dls_tensor shortcut =
                i == 0 ? dls_block_conv_bn(net, x, expand * width, 1, stride) : x;
            if (bottleneck) {
                x = dls_block_conv_bn_relu(net, x, width, 1, 1);
            }
            x = dls_block_conv_bn_relu(net, x, width, 3, stride);
            x = dls_block_conv_bn(net, x, expand * width, bottleneck ? 1 : 3, 1);
            x = dls_net_relu(net, dls_net_add(net, x, shortcut));
        }
    }
    classify(net, rng, x);
}

void dls_random_dense(dls_net *net, dls_rng *rng)
{
    const int32_t growth = dls_random_spread(rng, 8, 64, 4);
    const int32_t stages = dls_random_between(rng, 2, 4);
    const int32_t most = dls_random_spread(rng, 4, 36, 1);
    const bool bottleneck = dls_random_chance(rng, 0.5);
    const bool compress = dls_random_chance(rng, 0.5);
    dls_tensor x = stem(net, rng, 2 * growth);
    for (int32_t s = 0; s < stages; s++) {
        for (int32_t i = dls_random_between(rng, 2, most); i > 0; i--) {
            dls_tensor y = dls_block_bn_relu(net, x);
            if (bottleneck) {
                y = dls_block_conv_bn_relu(net, y, 4 * growth, 1, 1);
            }
            y = dls_block_conv(net, y, growth, 3, 1, 1);
            x = dls_net_concat(net, (dls_tensor[]){x, y}, 2);
        }
        x = dls_block_bn_relu(net, x);
        if (s + 1 < stages) {
            x = dls_block_conv(net, x, channels(net, x) / (compress ? 2 : 1), 1, 1, 1);
            x = halve(net, x, DLS_OP_AVG_POOL, 2);
        }
    }
    classify(net, rng, x);
}

void dls_random_separable(dls_net *net, dls_rng *rng)
{
    static const dls_op_kind activations[] = {DLS_OP_RELU, DLS_OP_RELU6, DLS_OP_SWISH};
    const dls_op_kind activation = activations[dls_rng_below(rng, 3)];
    const int32_t base = dls_random_spread(rng, 8, 64, 8);
    const int32_t stages = dls_random_between(rng, 3, 6);
    const bool expanded = dls_random_chance(rng, 0.6);
    const int32_t expand = expanded ? dls_random_between(rng, 2, 6) : 1;
    const bool squeeze = expanded && dls_random_chance(rng, 0.4);
    dls_tensor x = stem(net, rng, base);
    int32_t width = base;
    for (int32_t s = 0; s < stages; s++) {
        const int32_t kernel = dls_random_chance(rng, 0.7) ? 3 : 5;
        const int32_t blocks = dls_random_between(rng, 1, 5);
        for (int32_t i = 0; i < blocks; i++) {
            const dls_tensor shortcut = x;
            const bool half = i == 0 && s > 0 && can_halve(net, x);
            if (expanded) {
                x = dls_block_conv_bn(net, x, expand * channels(net, x), 1, 1);
                x = dls_net_unary(net, x, activation);
            }
            x = dls_block_depthwise_bn(net, x, kernel, half ? 2 : 1);
            x = dls_net_unary(net, x, activation);
            x = squeeze ? dls_block_squeeze_excite(net, x, channels(net, x) / (4 * expand)) : x;
            x = dls_block_conv_bn(net, x, width, 1, 1);
            x = expanded ? x : dls_net_unary(net, x, activation);
            x = expanded && i > 0 ? dls_net_add(net, x, shortcut) : x;
        }
        width = (int32_t)(width * (1.3 + 0.7 * dls_rng_unit(rng))) / 8 * 8 + 8;
    }
    x = dls_block_conv_bn(net, x, dls_random_spread(rng, 128, 2048, 64), 1, 1);
    classify(net, rng, dls_net_unary(net, x, activation));
}

static dls_tensor line(dls_net *net, dls_tensor x, int32_t out, int32_t h, int32_t w)
{
    const dls_conv c = {.out = out, .kernel_h = h, .kernel_w = w, .stride = 1, .pad = SAME};
    return dls_block_bn_relu(net, dls_net_conv(net, x, c));
}

/* A branch of an inception block: 1 x 1 alone, before a square kernel, before two of them or before
 * a pair of lines, or behind pooling. */
static dls_tensor branch(dls_net *net, dls_rng *rng, dls_tensor x, int32_t width)
{
    const int32_t inner = dls_random_spread(rng, 8, width > 16 ? width : 16, 8);
    const int32_t kind = dls_random_between(rng, 0, 4);
    if (kind == 4) {
        const dls_op_kind pool = dls_random_chance(rng, 0.5) ? DLS_OP_MAX_POOL : DLS_OP_AVG_POOL;
        return line(net, dls_net_pool(net, x, pool, 3, 1, SAME), width, 1, 1);
    }
    if (kind == 0) {
        return line(net, x, width, 1, 1);
    }
    x = line(net, x, inner, 1, 1);
    if (kind == 3) {
        const int32_t n = dls_random_chance(rng, 0.5) ? 3 : 7;
        return line(net, line(net, x, inner, 1, n), width, n, 1);
    }
    const int32_t n = dls_random_chance(rng, 0.8) ? 3 : 5;
    x = kind == 2 ? line(net, x, inner, n, n) : x;
    return line(net, x, width, n, n);
}

void dls_random_inception(dls_net *net, dls_rng *rng)
{
    const int32_t base = dls_random_spread(rng, 16, 96, 8);
    const int32_t stages = dls_random_between(rng, 2, 4);
    const int32_t n = dls_random_between(rng, 2, BRANCHES_MAX);
    dls_tensor x = stem(net, rng, base);
    for (int32_t s = 0; s < stages; s++) {
        for (int32_t i = dls_random_between(rng, 1, 5); i > 0; i--) {
            dls_tensor part[BRANCHES_MAX];
            for (int32_t b = 0; b < n; b++) {
                part[b] = branch(net, rng, x, dls_random_spread(rng, 8, base << s, 8));
            }
            x = dls_net_concat(net, part, n);
        }
        x = s + 1 < stages ? halve(net, x, DLS_OP_MAX_POOL, 3) : x;
    }
    classify(net, rng, x);
}
