/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks that keep several resolutions: HRNet (Wang et al., 2020), whose branches exchange what
 * they see after every few blocks, and DLA (Yu et al., 2018), trees of blocks whose results are
 * joined at their roots; names as timm spells them.
 *
 *      width=18 blocks=4,4,4 modules=1,4,3   of HRNet's stages behind the first
 *      first=4 planes=64                     blocks of the first stage, and their planes
 *      head=32,64,128,256                    planes of the last branches' blocks
 *      levels=1,2,3,1 out=128,256,512,1024   depth and channels of DLA's trees
 *      basic; groups=32 width=4 bottle=2     its blocks; channels over those of the middle
 *      roots                                 a tree's root adds what it began with
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define BRANCHES 4
#define CHILDREN 8

static dls_tensor conv(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride)
{
    return dls_block_conv_bn_relu(net, x, out, kernel, stride);
}

static dls_tensor basic(dls_net *net, dls_tensor x, dls_tensor shortcut, int32_t out,
                        int32_t stride)
{
    dls_tensor y = conv(net, x, out, 3, stride);
    y = dls_block_conv_bn(net, y, out, 3, 1);
    return dls_net_relu(net, dls_net_add(net, y, shortcut));
}

static dls_tensor bottleneck(dls_net *net, dls_tensor x, dls_tensor shortcut, int32_t mid,
                             int32_t out, int32_t stride, int32_t groups)
{
    dls_tensor y = conv(net, x, mid, 1, 1);
    y = dls_block_grouped_bn_relu(net, y, mid, 3, stride, groups);
    y = dls_block_conv_bn(net, y, out, 1, 1);
    return dls_net_relu(net, dls_net_add(net, y, shortcut));
}

/* ---- HRNet ----------------------------------------------------------------------------------- */

/* n bottlenecks of so many planes, four times as many out. */
static dls_tensor planes(dls_net *net, dls_tensor x, int32_t mid, int n)
{
    for (int i = 0; i < n; i++) {
        const bool same = dls_net_dim(net, x, 3) == 4 * mid;
        x = bottleneck(net, x, same ? x : dls_block_conv_bn(net, x, 4 * mid, 1, 1), mid, 4 * mid, 1,
                       1);
    }
    return x;
}

/* What branch `from` says at the resolution of branch `to`: halved step by step, or copied. */
static dls_tensor brought(dls_net *net, dls_tensor x, int from, int to, int32_t width)
{
    for (int i = from; i < to; i++) {
        const bool last = i + 1 == to;
        const int32_t out = last ? width << to : width << from;
        x = dls_block_conv_bn(net, x, out, 3, 2);
        x = last ? x : dls_net_relu(net, x);
    }
    return from > to ? dls_block_conv_bn(net, x, width << to, 1, 1) : x;
}

static void exchange(dls_net *net, dls_tensor *x, int n, int32_t width)
{
    dls_tensor sum[BRANCHES];
    for (int to = 0; to < n; to++) {
        sum[to] = x[to];
        for (int from = 0; from < n; from++) {
            if (from != to) {
                dls_tensor y = brought(net, x[from], from, to, width);
                y = from > to ? dls_block_enlarged(net, y, x[to]) : y;
                sum[to] = dls_net_add(net, sum[to], y);
            }
        }
        sum[to] = dls_net_relu(net, sum[to]);
    }
    for (int i = 0; i < n; i++) {
        x[i] = sum[i];
    }
}

static void hrnet(dls_net *net, const char *spec)
{
    static const int32_t head[BRANCHES] = {32, 64, 128, 256};
    const int32_t width = (int32_t)dls_spec_number(spec, "width", 18);
    double blocks[3] = {4, 4, 4}, modules[3] = {1, 4, 3};
    dls_tensor x[BRANCHES];
    dls_spec_numbers(spec, "blocks", blocks, 3);
    dls_spec_numbers(spec, "modules", modules, 3);
    x[0] = conv(net, conv(net, dls_net_image(net, 224, 224, 3), 64, 3, 2), 64, 3, 2);
    x[0] = planes(net, x[0], (int32_t)dls_spec_number(spec, "planes", 64),
                  (int)dls_spec_number(spec, "first", 4));
    for (int stage = 0; stage < 3; stage++) {
        const int n = stage + 2;
        x[n - 1] = conv(net, x[n - 2], width << (n - 1), 3, 2);
        x[0] = stage == 0 ? conv(net, x[0], width, 3, 1) : x[0];
        for (int m = 0; m < (int)modules[stage]; m++) {
            for (int i = 0; i < n; i++) {
                for (int k = 0; k < (int)blocks[stage]; k++) {
                    x[i] = basic(net, x[i], x[i], width << i, 1);
                }
            }
            exchange(net, x, n, width);
        }
    }
    dls_tensor y = planes(net, x[0], head[0], 1);
    for (int i = 1; i < BRANCHES; i++) { /* with biases */
        y = dls_block_bn_relu(net, dls_block_conv_bias(net, y, 4 * head[i], 3, 2, 1));
        y = dls_net_add(net, planes(net, x[i], head[i], 1), y);
    }
    dls_zoo_classify(net, dls_block_bn_relu(net, dls_block_conv_bias(net, y, 2048, 1, 1, 1)));
}

/* ---- DLA ------------------------------------------------------------------------------------- */

typedef struct dla {
    bool basic, roots;
    int32_t groups, width, bottle, scale;
    const char *spec;
} dla;

static dls_tensor leaf(dls_net *net, dls_tensor x, dls_tensor shortcut, int32_t out, int32_t stride,
                       const dla *d)
{
    if (d->scale) { /* Res2Net's, of groups or one */
        dls_tensor y = conv(net, x, out * d->width / 64 * d->groups / 2 * d->scale, 1, 1);
        y = dls_zoo_split_conv(net, y, 0, stride, d->groups, stride > 1, d->spec);
        return dls_net_relu(net, dls_net_add(net, dls_block_conv_bn(net, y, out, 1, 1), shortcut));
    }
    const int32_t mid =
        d->groups > 1 ? out * d->width / 64 * d->groups / d->bottle * 1 : out / d->bottle;
    return d->basic ? basic(net, x, shortcut, out, stride)
                    : bottleneck(net, x, shortcut, mid, out, stride, d->groups);
}

/* A tree of so many levels; children: n results for its root. first: of all on this path. */
static dls_tensor tree(dls_net *net, dls_tensor x, int32_t out, int32_t stride, int levels,
                       bool first, dls_tensor *child, int n, const dla *d)
{
    const dls_tensor bottom = stride > 1 ? dls_net_pool(net, x, DLS_OP_MAX_POOL, 2, 2, 0) : x;
    dls_tensor kept[CHILDREN];
    dls_tensor shortcut = bottom;
    if (first) {
        child[n++] = bottom;
    }
    if (levels == 1 && dls_net_dim(net, x, 3) != out) {
        shortcut = dls_block_conv_bn(net, bottom, out, 1, 1);
    }
    if (levels > 1) {
        const dls_tensor a = tree(net, x, out, stride, levels - 1, false, kept, 0, d);
        child[n++] = a;
        return tree(net, a, out, 1, levels - 1, false, child, n, d);
    }
    const dls_tensor a = leaf(net, x, shortcut, out, stride, d);
    const dls_tensor b = leaf(net, a, a, out, 1, d);
    kept[0] = b;
    kept[1] = a;
    for (int i = 0; i < n; i++) {
        kept[2 + i] = child[i];
    }
    dls_tensor y = dls_block_conv_bn(net, dls_net_concat(net, kept, n + 2), out, 1, 1);
    y = d->roots ? dls_net_add(net, y, b) : y;
    return dls_net_relu(net, y);
}

static void design_dla(dls_net *net, const char *spec)
{
    double levels[4] = {0}, out[4] = {0};
    const dla d = {.basic = dls_spec_has(spec, "basic"),
                   .roots = dls_spec_has(spec, "roots"),
                   .groups = (int32_t)dls_spec_number(spec, "groups", 1),
                   .width = (int32_t)dls_spec_number(spec, "width", 64),
                   .bottle = (int32_t)dls_spec_number(spec, "bottle", 2),
                   .scale = (int32_t)dls_spec_number(spec, "scale", 0),
                   .spec = spec};
    dls_spec_numbers(spec, "levels", levels, 4);
    dls_spec_numbers(spec, "out", out, 4);
    dls_tensor x = conv(net, dls_net_image(net, 224, 224, 3), 16, 7, 1);
    x = conv(net, conv(net, x, 16, 3, 1), 32, 3, 2);
    for (int i = 0; i < 4; i++) {
        dls_tensor child[CHILDREN];
        x = tree(net, x, (int32_t)out[i], 2, (int)levels[i], i > 0, child, 0, &d);
    }
    dls_zoo_classify(net, x);
}

/* ---- members --------------------------------------------------------------------------------- */

#define HR(name, spec) DLS_ZOO_IMAGES("hrnet_w" name, "hrnet", 224, hrnet, spec)
#define DLA(name, spec) DLS_ZOO_IMAGES("dla" name, "dla", 224, design_dla, spec)
#define WIDE " out=128,256,512,1024 "
#define SLIM " out=64,64,128,256 "

static const dls_zoo_model rows[] = {
    HR("18_small", "width=16 blocks=2,2,2 modules=1,1,1 first=1 planes=32"),
    HR("18_small_v2", "width=18 blocks=2,2,2 modules=1,3,2 first=2"),
    HR("18", "width=18"),
    HR("30", "width=30"),
    HR("32", "width=32"),
    HR("40", "width=40"),
    HR("44", "width=44"),
    HR("48", "width=48"),
    HR("64", "width=64"),
    DLA("34", "levels=1,2,2,1 out=64,128,256,512 basic"),
    DLA("46_c", "levels=1,2,2,1" SLIM),
    DLA("46x_c", "levels=1,2,2,1 groups=32 width=4" SLIM),
    DLA("60x_c", "levels=1,2,3,1 groups=32 width=4" SLIM),
    DLA("60", "levels=1,2,3,1" WIDE),
    DLA("60x", "levels=1,2,3,1 groups=32 width=4" WIDE),
    DLA("60_res2net", "levels=1,2,3,1 width=28 scale=4" WIDE),
    DLA("60_res2next", "levels=1,2,3,1 groups=8 width=4 scale=4" WIDE),
    DLA("102", "levels=1,3,4,1 roots" WIDE),
    DLA("102x", "levels=1,3,4,1 roots groups=32 width=4" WIDE),
    DLA("102x2", "levels=1,3,4,1 roots groups=64 width=4" WIDE),
    DLA("169", "levels=2,3,5,1 roots" WIDE),
};

const dls_zoo_table dls_zoo_multi = {rows, sizeof rows / sizeof rows[0]};
