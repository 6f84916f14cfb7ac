/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * RegNet (Radosavovic et al., 2020): block i is as wide as first * growth^k, k the nearest whole
 * number to log(1 + i * slope / first) / log(growth), and widths that are equal make a stage. X has
 * grouped convolutions, Y squeeze and excite, too (excite); Z inverts the bottleneck (wide=4); of V
 * norm and activation stand before each convolution (before). layer: norms of groups of channels.
 * tv: torchvision's rounding to groups.
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#include <math.h>

typedef struct regnet {
    double first, slope, growth;
    int32_t depth, group, wide;
    bool excite, layer, tv;
} regnet;

/* In multiples of 8 and then of whole groups of the bottleneck; half a group is rounded to an even number of
 * them, or up by torchvision. */
static int32_t width_of(const regnet *r, int32_t i, int32_t *group)
{
    const double k = round(log(1 + i * r->slope / r->first) / log(r->growth));
    const double width = 8 * rint(r->first * pow(r->growth, k) / 8);
    *group = r->group < r->wide * width ? r->group : (int32_t)(r->wide * width);
    return r->tv ? dls_zoo_round(width, *group) : (int32_t)(rint(r->wide * width / *group) * *group / r->wide);
}

static dls_tensor norm(dls_net *net, dls_tensor x, const regnet *r)
{
    return r->layer ? dls_net_group_norm(net, x) : dls_net_batch_norm(net, x);
}

static dls_tensor attend(dls_net *net, dls_tensor x, int32_t in, const regnet *r)
{
    return r->excite ? dls_block_squeeze_excite(net, x, (int32_t)lrint(in / 4.)) : x;
}

static dls_tensor block(dls_net *net, dls_tensor x, int32_t out, int32_t stride, int32_t group,
                        const regnet *r)
{
    const int32_t in = (int32_t)dls_net_dim(net, x, 3), inner = out * r->wide;
    const bool same = stride == 1 && in == out, inverted = r->wide > 1;
    const dls_tensor shortcut =
        same || inverted ? x : norm(net, dls_block_conv(net, x, out, 1, stride, 1), r);
    x = dls_net_relu(net, norm(net, dls_block_conv(net, x, inner, 1, 1, 1), r));
    x = dls_block_conv(net, x, inner, 3, stride, inner / group);
    x = attend(net, dls_net_relu(net, norm(net, x, r)), in, r);
    x = norm(net, dls_block_conv(net, x, out, 1, 1, 1), r);
    x = inverted && !same ? x : dls_net_add(net, x, shortcut);
    return inverted ? x : dls_net_relu(net, x);
}

static dls_tensor block_before(dls_net *net, dls_tensor x, int32_t out, int32_t stride,
                               int32_t group, const regnet *r)
{
    const int32_t in = (int32_t)dls_net_dim(net, x, 3);
    const bool same = stride == 1 && in == out;
    const dls_tensor y = dls_block_bn_relu(net, x);
    const dls_tensor shortcut = same ? y : dls_block_conv(net, y, out, 1, stride, 1);
    x = dls_block_bn_relu(net, dls_block_conv(net, y, out, 1, 1, 1));
    x = dls_block_bn_relu(net, dls_block_conv(net, x, out, 3, stride, out / group));
    x = dls_block_conv(net, attend(net, x, in, r), out, 1, 1, 1);
    return dls_net_add(net, x, shortcut);
}

static void regnet_design(dls_net *net, const char *spec)
{
    const regnet r = {.first = dls_spec_number(spec, "first", 0),
                      .slope = dls_spec_number(spec, "slope", 0),
                      .growth = dls_spec_number(spec, "growth", 0),
                      .depth = (int32_t)dls_spec_number(spec, "depth", 0),
                      .group = (int32_t)dls_spec_number(spec, "group", 0),
                      .wide = (int32_t)dls_spec_number(spec, "wide", 1),
                      .excite = dls_spec_has(spec, "excite"),
                      .layer = dls_spec_has(spec, "layer"),
                      .tv = dls_spec_has(spec, "tv")};
    const bool preact = dls_spec_has(spec, "before");
    const int32_t head = (int32_t)dls_spec_number(spec, "head", 0);
    if (preact || r.layer || r.wide > 1) { /* timm's own */
        dls_net_swish_for_relu(net);
    }
    dls_tensor x = dls_block_conv(net, dls_net_image(net, 224, 224, 3), 32, 3, 2, 1);
    x = preact ? x : dls_net_relu(net, norm(net, x, &r));
    for (int32_t i = 0, before = 0, group; i < r.depth; i++) {
        const int32_t out = width_of(&r, i, &group);
        x = (preact ? block_before : block)(net, x, out, out == before ? 1 : 2, group, &r);
        before = out;
    }
    x = preact ? dls_net_relu(net, x) : x;
    dls_zoo_classify(net, head ? dls_block_conv_bn_relu(net, x, head, 1, 1) : x);
}

#define ROW(name, image, first, slope, growth, group, depth, more)                                 \
    DLS_ZOO_IMAGES("regnet" name, "regnet", image, regnet_design,                                  \
                   "first=" #first " slope=" #slope " growth=" #growth " group=" #group            \
                   " depth=" #depth more)
#define X(name, first, slope, growth, group, depth)                                                \
    ROW("x_" name, 224, first, slope, growth, group, depth, "")
#define Y(name, first, slope, growth, group, depth)                                                \
    ROW("y_" name, 224, first, slope, growth, group, depth, " excite")

static const dls_zoo_model rows[] = {
    X("002", 24, 36.44, 2.49, 8, 13),
    X("004", 24, 24.48, 2.54, 16, 22),
    X("006", 48, 36.97, 2.24, 24, 16),
    X("008", 56, 35.73, 2.28, 16, 16),
    X("016", 80, 34.01, 2.25, 24, 18),
    X("032", 88, 26.31, 2.25, 48, 25),
    X("040", 96, 38.65, 2.43, 40, 23),
    X("064", 184, 60.83, 2.07, 56, 17),
    X("080", 80, 49.56, 2.88, 120, 23),
    X("120", 168, 73.36, 2.37, 112, 19),
    X("160", 216, 55.59, 2.1, 128, 22),
    X("320", 320, 69.86, 2.0, 168, 23),
    Y("002", 24, 36.44, 2.49, 8, 13),
    Y("004", 48, 27.89, 2.09, 8, 16),
    Y("006", 48, 32.54, 2.32, 16, 15),
    Y("008", 56, 38.84, 2.4, 16, 14),
    Y("016", 48, 20.71, 2.65, 24, 27),
    Y("032", 80, 42.63, 2.66, 24, 21),
    Y("040", 96, 31.41, 2.24, 64, 22),
    Y("064", 112, 33.22, 2.27, 72, 25),
    Y("080", 192, 76.82, 2.19, 56, 17),
    Y("120", 168, 73.36, 2.37, 112, 19),
    Y("160", 200, 106.23, 2.48, 112, 18),
    Y("320", 232, 115.89, 2.53, 232, 20),
    ROW("y_040s_gn", 224, 96, 31.41, 2.24, 64, 22, " excite layer"),
    ROW("v_040", 224, 96, 31.41, 2.24, 64, 22, " excite before"),
    ROW("v_064", 224, 112, 33.22, 2.27, 72, 25, " excite before"),
    ROW("z_005", 224, 16, 10.7, 2.51, 4, 21, " excite wide=4 head=1024"),
    ROW("z_040", 256, 48, 14.5, 2.226, 8, 28, " excite wide=4"),
    ROW("z_040h", 256, 48, 14.5, 2.226, 8, 28, " excite wide=4 head=1536"),
    ROW("x_004_tv", 224, 24, 24.48, 2.54, 16, 22, " tv"),
    ROW("y_008_tv", 224, 56, 38.84, 2.4, 16, 14, " excite tv"),
    ROW("y_080_tv", 224, 192, 76.82, 2.19, 56, 17, " excite tv"),
    Y("1280", 456, 160.83, 2.52, 264, 27),
};

const dls_zoo_table dls_zoo_regnets = {rows, sizeof rows / sizeof rows[0]};
