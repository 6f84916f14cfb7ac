/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What stands in the place of the 3 x 3 convolution of a residual block, with norm and activation:
 * branches one after the other (Res2Net, Gao et al., 2021), or beside each other, weighed by what
 * their sum says (SKNet, Li et al., 2019; ResNeSt, Zhang et al., 2022).
 *
 *      scale=4       parts, each of which sees the one before
 *      radix=2       branches of one convolution of groups; sooner: strides are before it, not behind
 *      kernels=2     branches of convolutions of their own; halved: each sees half of the channels
 *      attend=8 least=16   channels over those that weigh, and how many these are at least
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define PARTS 8

/* A first block of a stage pools the last part, and no part sees another. */
static dls_tensor in_turn(dls_net *net, dls_tensor x, int32_t stride, int32_t groups, int n,
                          bool first)
{
    dls_tensor part[PARTS], y = -1;
    const int32_t width = (int32_t)dls_net_dim(net, x, 3) / n;
    dls_net_split(net, x, n, part);
    for (int i = 0; i + 1 < n; i++) {
        y = i == 0 || first ? part[i] : dls_net_add(net, y, part[i]);
        y = part[i] = dls_block_grouped_bn_relu(net, y, width, 3, stride, groups);
    }
    if (first) {
        part[n - 1] = dls_net_pool(net, part[n - 1], DLS_OP_AVG_POOL, 3, stride, DLS_PAD_SAME);
    }
    return dls_net_concat(net, part, n);
}

/* The sum of n branches, each weighed channel by channel; groups > 0: as ResNeSt's, of as many.
 * all: the branches beside each other, which PyTorch adds in one kernel; -1: they are added one by one. */
static dls_tensor weighed(dls_net *net, const dls_tensor *part, dls_tensor all, int n,
                          int32_t inner, int32_t groups)
{
    const int64_t c = all < 0 ? dls_net_dim(net, part[0], 3) : dls_net_dim(net, all, 3) / n;
    const int64_t b = dls_net_batch(net);
    dls_tensor s = all < 0 ? part[0] : dls_net_parts_sum(net, all, n), y, weight[PARTS];
    for (int i = 1; i < n && all < 0; i++) {
        s = dls_net_add(net, s, part[i]);
    }
    s = dls_net_reshape(net, dls_net_global_mean(net, s), 4, (int64_t[]){b, 1, 1, c});
    dls_tensor (*conv)(dls_net *, dls_tensor, int32_t, int32_t, int32_t, int32_t) =
        groups > 0 ? dls_block_conv_bias : dls_block_conv;
    const int32_t parts = groups > 0 ? groups : 1;
    s = dls_block_bn_relu(net, conv(net, s, inner, 1, 1, parts));
    s = conv(net, s, (int32_t)(n * c), 1, 1, parts);
    if (n == 1) {
        return dls_net_mul(net, part[0], dls_net_unary(net, s, DLS_OP_SIGMOID));
    }
    s = dls_net_softmax(net, s);
    if (all >= 0) {
        return dls_net_parts_sum(net, dls_net_mul(net, all, s), n);
    }
    dls_net_split(net, s, n, weight);
    y = dls_net_mul(net, part[0], weight[0]);
    for (int i = 1; i < n; i++) {
        y = dls_net_add(net, y, dls_net_mul(net, part[i], weight[i]));
    }
    return y;
}

/* Nothing of the kind: -1. */
dls_tensor dls_zoo_split_conv(dls_net *net, dls_tensor x, int32_t out, int32_t stride,
                              int32_t groups, bool first, const char *spec)
{
    const int scale = (int)dls_spec_number(spec, "scale", 0);
    const int radix = (int)dls_spec_number(spec, "radix", 0);
    const int kernels = (int)dls_spec_number(spec, "kernels", 0);
    const int32_t inner = (int32_t)(out * (radix ? radix : 1) / dls_spec_number(spec, "attend", 4));
    const int32_t least = (int32_t)dls_spec_number(spec, "least", 32);
    dls_tensor part[PARTS];
    if (scale) {
        return in_turn(net, x, stride, groups, scale, first);
    }
    if (radix) {
        if (dls_spec_has(spec, "sooner") && stride > 1) {
            x = dls_net_pool(net, x, DLS_OP_AVG_POOL, 3, stride, DLS_PAD_SAME);
            stride = 1;
        }
        x = dls_block_grouped_bn_relu(net, x, radix * out, 3, 1, radix * groups);
        part[0] = x;
        if (radix > 1 && !dls_net_eager(net)) {
            dls_net_split(net, x, radix, part);
        }
        const dls_tensor all = radix > 1 && dls_net_eager(net) ? x : -1;
        x = weighed(net, part, all, radix, inner > least ? inner : least, groups);
        return stride > 1 ? dls_net_pool(net, x, DLS_OP_AVG_POOL, 3, stride, DLS_PAD_SAME) : x;
    }
    if (kernels) {
        part[0] = part[1] = x;
        if (dls_spec_has(spec, "halved")) {
            dls_net_split(net, x, kernels, part);
        }
        for (int i = 0; i < kernels; i++) {
            part[i] = dls_block_grouped_bn_relu(net, part[i], out, 3, stride, groups);
        }
        const dls_tensor all = dls_net_eager(net) ? dls_net_stack(net, part, kernels) : -1;
        return weighed(net, part, all, kernels, inner > least ? inner : least, 0);
    }
    return -1;
}
