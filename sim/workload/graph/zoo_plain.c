/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Convolutions one behind the other: VGG (Simonyan and Zisserman, 2015), and DenseNet (Huang et
 * al., 2017), where each sees the results of all before it.
 *
 * RepVGG (Ding et al., 2021) is a VGG whose convolutions have a 1 x 1 and nothing beside them while
 * they are trained.
 *
 *      blocks=2,2,3,3,3              VGG: convolutions of a stage; norm: each with batch norm
 *      blocks=6,12,24,16 growth=32   DenseNet: layers of a stage, channels that each adds
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

void dls_zoo_vgg(dls_net *net, const char *spec)
{
    static const int32_t width[5] = {64, 128, 256, 512, 512};
    const bool norm = dls_spec_has(spec, "norm");
    double blocks[5] = {0};
    dls_spec_numbers(spec, "blocks", blocks, 5);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    for (int stage = 0; stage < 5; stage++) {
        for (int i = 0; i < (int)blocks[stage]; i++) {
            x = norm ? dls_block_conv_bn_relu(net, x, width[stage], 3, 1)
                     : dls_block_conv_bias_relu(net, x, width[stage], 3, 1, DLS_PAD_SAME);
        }
        x = dls_net_pool(net, x, DLS_OP_MAX_POOL, 2, 2, 0);
    }
    x = dls_net_flatten(net, x);
    for (int i = 0; i < 2; i++) {
        x = dls_net_dropout(net, dls_net_relu(net, dls_net_dense(net, x, 4096, true)));
    }
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}

/* Norm, activation, convolution without a bias. */
static dls_tensor layer(dls_net *net, dls_tensor x, int32_t out, int32_t kernel)
{
    return dls_block_conv(net, dls_block_bn_relu(net, x), out, kernel, 1, 1);
}

/* Bottlenecks, compression by 2. */
void dls_zoo_densenet(dls_net *net, const char *spec)
{
    double blocks[4] = {0};
    const int32_t growth = (int32_t)dls_spec_number(spec, "growth", 32);
    dls_spec_numbers(spec, "blocks", blocks, 4);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    if (dls_spec_has(spec, "deep")) {
        x = dls_block_conv_bn_relu(net, x, growth, 3, 2);
        x = dls_block_conv_bn_relu(net, x, growth, 3, 1);
        x = dls_block_conv_bn_relu(net, x, 2 * growth, 3, 1);
    } else {
        x = dls_block_conv_bn_relu(net, x, 2 * growth, 7, 2);
    }
    x = dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, DLS_PAD_SAME);
    for (int block = 0; block < 4; block++) {
        for (int i = 0; i < (int)blocks[block]; i++) {
            const dls_tensor y = layer(net, layer(net, x, 4 * growth, 1), growth, 3);
            x = dls_net_concat(net, (dls_tensor[]){x, y}, 2);
        }
        if (block < 3) {
            x = layer(net, x, (int32_t)dls_net_dim(net, x, 3) / 2, 1);
            x = dls_net_pool(net, x, DLS_OP_AVG_POOL, 2, 2, 0);
        }
    }
    dls_zoo_classify(net, dls_block_bn_relu(net, x));
}

/* ---- RepVGG ---------------------------------------------------------------------------------- */

static dls_tensor branch(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride,
                         int32_t groups)
{
    return dls_net_batch_norm(net, dls_block_conv(net, x, out, kernel, stride, groups));
}

static dls_tensor beside(dls_net *net, dls_tensor x, int32_t out, int32_t stride, int32_t groups)
{
    const bool same = stride == 1 && dls_net_dim(net, x, 3) == out;
    dls_tensor y = branch(net, x, out, 1, stride, groups);
    y = dls_net_add(net, branch(net, x, out, 3, stride, groups), y);
    return dls_net_relu(net, same ? dls_net_add(net, y, dls_net_batch_norm(net, x)) : y);
}

static void repvgg(dls_net *net, const char *spec)
{
    double blocks[4] = {0}, grown[4] = {0};
    const int32_t groups = (int32_t)dls_spec_number(spec, "groups", 1);
    dls_spec_numbers(spec, "blocks", blocks, 4);
    dls_spec_numbers(spec, "width", grown, 4);
    dls_tensor x = beside(net, dls_net_image(net, 224, 224, 3), 64, 2, 1);
    for (int stage = 0, nth = 0; stage < 4; stage++) {
        for (int i = 0; i < (int)blocks[stage]; i++, nth++) { /* every second one in groups */
            x = beside(net, x, (int32_t)(grown[stage] * (64 << stage)), i == 0 ? 2 : 1,
                       nth % 2 == 1 ? groups : 1);
        }
    }
    dls_zoo_classify(net, x);
}

#define B "blocks=4,6,16,1 width="
#define REP(name, spec) DLS_ZOO_IMAGES("repvgg_" name, "repvgg", 224, repvgg, spec)
#define VGG(name, spec) DLS_ZOO_IMAGES(name, "vgg", 224, dls_zoo_vgg, spec)
#define DENSE(name, spec) DLS_ZOO_IMAGES(name, "densenet", 224, dls_zoo_densenet, spec)

static const dls_zoo_model rows[] = {
    VGG("vgg13", "blocks=2,2,2,2,2"),
    VGG("vgg11_bn", "norm blocks=1,1,2,2,2"),
    VGG("vgg13_bn", "norm blocks=2,2,2,2,2"),
    VGG("vgg16_bn", "norm blocks=2,2,3,3,3"),
    VGG("vgg19_bn", "norm blocks=2,2,4,4,4"),
    REP("a2", "blocks=2,4,14,1 width=1.5,1.5,1.5,2.75"),
    REP("b0", B "1,1,1,2.5"),
    REP("b1", B "2,2,2,4"),
    REP("b1g4", B "2,2,2,4 groups=4"),
    REP("b2", B "2.5,2.5,2.5,5"),
    REP("b2g4", B "2.5,2.5,2.5,5 groups=4"),
    REP("b3", B "3,3,3,5"),
    REP("b3g4", B "3,3,3,5 groups=4"),
    DENSE("densenet161", "blocks=6,12,36,24 growth=48"),
    DENSE("densenet169", "blocks=6,12,32,32"),
    DENSE("densenet201", "blocks=6,12,48,32"),
    DENSE("densenet121d", "blocks=6,12,24,16 deep"),
    DENSE("densenet264d", "blocks=6,12,64,48 growth=48 deep"),
    DENSE("densenet264", "blocks=6,12,64,48 growth=48"),
};

const dls_zoo_table dls_zoo_plain = {rows, sizeof rows / sizeof rows[0]};
