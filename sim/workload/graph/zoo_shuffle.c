/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Small networks of unlike branches: SqueezeNet (Iandola et al., 2016), ShuffleNet (Zhang et al.,
 * 2018) and its second version (Ma et al., 2018), GhostNet (Han et al., 2020), names as torchvision
 * and timm spell them.
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

static dls_tensor conv_bn(dls_net *net, dls_tensor x, int32_t out, int32_t groups)
{
    return dls_net_batch_norm(net, dls_block_conv(net, x, out, 1, 1, groups));
}

static dls_tensor joined(dls_net *net, dls_tensor x, dls_tensor y)
{
    return dls_net_concat(net, (dls_tensor[]){x, y}, 2);
}

static dls_tensor halved(dls_net *net, dls_tensor x, int32_t pad)
{
    return dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, pad);
}

/* ---- SqueezeNet ------------------------------------------------------------------------------ */

static dls_tensor fire(dls_net *net, dls_tensor x, int32_t squeeze)
{
    x = dls_block_conv_bias_relu(net, x, squeeze, 1, 1, 0);
    return joined(net, dls_block_conv_bias_relu(net, x, 4 * squeeze, 1, 1, 0),
                  dls_block_conv_bias_relu(net, x, 4 * squeeze, 3, 1, 1));
}

/* A window may stand over the edge, and none only there. */
static dls_tensor rounded_up(dls_net *net, dls_tensor x)
{
    return halved(net, x, dls_net_dim(net, x, 1) % 2 ? 0 : DLS_PAD_SAME);
}

/* late: version 1.0, pools behind the first, fourth and eighth layer; 1.1 earlier. */
static void squeezenet(dls_net *net, const char *spec)
{
    static const int32_t squeeze[] = {16, 16, 32, 32, 48, 48, 64, 64};
    const bool late = dls_spec_has(spec, "late");
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    x = dls_block_conv_bias_relu(net, x, late ? 96 : 64, late ? 7 : 3, 2, 0);
    x = rounded_up(net, x);
    for (int i = 0; i < 8; i++) {
        x = fire(net, x, squeeze[i]);
        if (late ? i == 2 || i == 6 : i == 1 || i == 3) {
            x = rounded_up(net, x);
        }
    }
    x = dls_block_conv_bias_relu(net, dls_net_dropout(net, x), 1000, 1, 1, 0);
    dls_net_loss(net, dls_net_global_mean(net, x));
}

/* ---- ShuffleNet ------------------------------------------------------------------------------ */

static dls_tensor unit(dls_net *net, dls_tensor x, int32_t out, int32_t stride, int32_t groups)
{
    const int32_t in = (int32_t)dls_net_dim(net, x, 3);
    dls_tensor y =
        dls_net_relu(net, conv_bn(net, x, out / 4, in % groups || in < out / 4 ? 1 : groups));
    y = dls_block_depthwise_bn(net, dls_net_shuffle(net, y), 3, stride);
    y = conv_bn(net, y, stride > 1 ? out - in : out, groups);
    return dls_net_relu(
        net, stride > 1 ? joined(net, dls_net_pool(net, x, DLS_OP_AVG_POOL, 3, 2, DLS_PAD_SAME), y)
                        : dls_net_add(net, x, y));
}

static dls_tensor unit2(dls_net *net, dls_tensor x, int32_t out, int32_t stride)
{
    dls_tensor half[2] = {x, x};
    if (stride > 1) {
        half[0] = dls_block_depthwise_bn(net, x, 3, stride);
        half[0] = dls_block_conv_bn_relu(net, half[0], out / 2, 1, 1);
    } else {
        dls_net_split(net, x, 2, half);
    }
    dls_tensor y = dls_block_conv_bn_relu(net, half[1], out / 2, 1, 1);
    y = dls_block_depthwise_bn(net, y, 3, stride);
    y = dls_block_conv_bn_relu(net, y, out / 2, 1, 1);
    return dls_net_shuffle(net, joined(net, half[0], y));
}

/* stages: channels of three; groups=: of version 1; head=: a last 1 x 1 convolution. */
static void shufflenet(dls_net *net, const char *spec)
{
    double out[3];
    const int32_t groups = (int32_t)dls_spec_number(spec, "groups", 0);
    const int32_t head = (int32_t)dls_spec_number(spec, "head", 0);
    dls_spec_numbers(spec, "stages", out, 3);
    dls_tensor x = dls_block_conv_bn_relu(net, dls_net_image(net, 224, 224, 3), 24, 3, 2);
    x = halved(net, x, DLS_PAD_SAME);
    for (int stage = 0; stage < 3; stage++) {
        for (int i = 0; i < (stage == 1 ? 8 : 4); i++) {
            const int32_t c = (int32_t)out[stage], stride = i == 0 ? 2 : 1;
            x = groups ? unit(net, x, c, stride, groups) : unit2(net, x, c, stride);
        }
    }
    dls_zoo_classify(net, head ? dls_block_conv_bn_relu(net, x, head, 1, 1) : x);
}

/* ---- GhostNet -------------------------------------------------------------------------------- */

/* Half of the channels by a convolution, the others out of these, each by itself. */
static dls_tensor ghost(dls_net *net, dls_tensor x, int32_t out, bool relu)
{
    dls_tensor first = conv_bn(net, x, (out + 1) / 2, 1);
    first = relu ? dls_net_relu(net, first) : first;
    dls_tensor y = dls_block_depthwise_bn(net, first, 3, 1);
    return joined(net, first, relu ? dls_net_relu(net, y) : y);
}

static dls_tensor bottleneck(dls_net *net, dls_tensor x, const double v[6], double width)
{
    const int32_t kernel = (int32_t)v[0], in = (int32_t)dls_net_dim(net, x, 3);
    const int32_t mid = dls_zoo_round(v[1] * width, 4), out = dls_zoo_round(v[2] * width, 4);
    const int32_t stride = (int32_t)v[4];
    dls_tensor shortcut = x, y = ghost(net, x, mid, true);
    if (stride > 1) {
        y = dls_block_depthwise_bn(net, y, kernel, stride);
    }
    y = v[3] > 0 ? dls_block_squeeze_excite(net, y, dls_zoo_round(mid * v[3], 4)) : y;
    y = ghost(net, y, out, false);
    if (stride > 1 || in != out) {
        shortcut = conv_bn(net, dls_block_depthwise_bn(net, x, kernel, stride), out, 1);
    }
    /* in place, to a slice of all channels */
    return dls_net_add(net, dls_net_eager(net) ? dls_net_channels(net, y, out) : y, shortcut);
}

static void ghostnet(dls_net *net, const char *spec)
{
    /* kernel, channels within, out, excite, stride */
    static const double layers[][6] = {
        {3, 16, 16, 0, 1},      {3, 48, 24, 0, 2},      {3, 72, 24, 0, 1},
        {5, 72, 40, 0.25, 2},   {5, 120, 40, 0.25, 1},  {3, 240, 80, 0, 2},
        {3, 200, 80, 0, 1},     {3, 184, 80, 0, 1},     {3, 184, 80, 0, 1},
        {3, 480, 112, 0.25, 1}, {3, 672, 112, 0.25, 1}, {5, 672, 160, 0.25, 2},
        {5, 960, 160, 0, 1},    {5, 960, 160, 0.25, 1}, {5, 960, 160, 0, 1},
        {5, 960, 160, 0.25, 1}};
    const double width = dls_spec_number(spec, "width", 1);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    x = dls_block_conv_bn_relu(net, x, dls_zoo_round(16 * width, 4), 3, 2);
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++) {
        x = bottleneck(net, x, layers[i], width);
    }
    x = dls_block_conv_bn_relu(net, x, dls_zoo_round(960 * width, 4), 1, 1);
    x = dls_net_relu(net, dls_net_dense(net, dls_net_global_mean(net, x), 1280, true));
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}

/* ---- members --------------------------------------------------------------------------------- */

#define SHUFFLE(name, spec) DLS_ZOO_IMAGES(name, "shufflenet", 224, shufflenet, spec)
#define GHOST(name, spec) DLS_ZOO_IMAGES("ghostnet_" name, "ghostnet", 224, ghostnet, spec)

static const dls_zoo_model rows[] = {
    DLS_ZOO_IMAGES("squeezenet1_0", "squeezenet", 224, squeezenet, "late"),
    DLS_ZOO_IMAGES("squeezenet1_1", "squeezenet", 224, squeezenet, ""),
    SHUFFLE("shufflenet_g3", "stages=240,480,960 groups=3"),
    SHUFFLE("shufflenet_v2_x0_5", "stages=48,96,192 head=1024"),
    SHUFFLE("shufflenet_v2_x1_0", "stages=116,232,464 head=1024"),
    SHUFFLE("shufflenet_v2_x1_5", "stages=176,352,704 head=1024"),
    SHUFFLE("shufflenet_v2_x2_0", "stages=244,488,976 head=2048"),
    GHOST("050", "width=0.5"),
    GHOST("100", "width=1"),
    GHOST("130", "width=1.3"),
};

const dls_zoo_table dls_zoo_shuffles = {rows, sizeof rows / sizeof rows[0]};
