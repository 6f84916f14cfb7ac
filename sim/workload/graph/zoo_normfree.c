/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks without norms (Brock et al., 2021): NFNets, and ResNets made so, names as
 * timm spells them. Activations and branches are multiplied by constants in the place of norms.
 * Weights are standardised in each step; what is left away is their scale, one trained number for each channel, 0.1 %
 * of all.
 *
 *      blocks=1,2,6,3 out=256,512,1536,1536   of each stage
 *      times=2              as many blocks
 *      group=128 bottle=0.5 channels of a group; of the middle, of those out
 *      extra                a second 3 x 3 convolution
 *      stem=16,32,64,128    four 3 x 3 convolutions; else 7 x 7 and pooling
 *      head=3072            channels of a last convolution
 *      excite=2             channels over those between; eca
 *      gamma                activations are multiplied by a constant, and branches by a number
 *      reg                  RegNet: a stem of one 3 x 3 convolution, the middle is a multiple of what comes in (the
 *                           first block's as wide), its channels are weighed
 *      relu silu            in the place of GELU
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

typedef struct normfree {
    double bottle, excite, width;
    int32_t group;
    bool extra, eca, gamma, reg;
    dls_op_kind kind;
} normfree;

static dls_tensor by_gamma(dls_net *net, dls_tensor x, const normfree *n)
{
    return n->gamma ? dls_net_scale(net, x) : x;
}

static dls_tensor act(dls_net *net, dls_tensor x, const normfree *n)
{
    return by_gamma(net, dls_net_unary(net, x, n->kind), n);
}

static dls_tensor act_in_place(dls_net *net, dls_tensor x, const normfree *n)
{
    return by_gamma(net, dls_net_in_place(net, x, n->kind), n);
}

static dls_tensor attend(dls_net *net, dls_tensor x, const normfree *n)
{
    const int64_t c = dls_net_dim(net, x, 3);
    const int32_t inner = n->excite > 0 ? dls_zoo_round((double)c / n->excite, 8) : 0;
    return n->eca || inner ? dls_net_scale(net, dls_block_squeeze_excite(net, x, inner)) : x;
}

static dls_tensor block(dls_net *net, dls_tensor x, int32_t out, int32_t stride, double bottle,
                        const normfree *n)
{
    const int32_t in = (int32_t)dls_net_dim(net, x, 3);
    const int32_t wide = dls_zoo_round((n->reg ? in : out) * bottle, 8);
    const int32_t groups = n->group ? wide / n->group : 1,
                  mid = n->group ? groups * n->group : wide;
    dls_tensor y = dls_net_scale(net, act(net, x, n)), shortcut = x;
    if (stride > 1 || in != out) {
        shortcut = stride > 1 ? dls_block_halved(net, y) : y;
        shortcut = dls_block_conv_bias(net, shortcut, out, 1, 1, 1);
    }
    y = act_in_place(net, dls_block_conv_bias(net, y, mid, 1, 1, 1), n);
    y = dls_block_conv_bias(net, y, mid, 3, stride, groups);
    y = n->extra ? dls_block_conv_bias(net, act_in_place(net, y, n), mid, 3, 1, groups) : y;
    y = act(net, n->reg ? attend(net, y, n) : y, n);
    y = dls_block_conv_bias(net, y, out, 1, 1, 1);
    y = n->reg ? y : attend(net, y, n);
    y = by_gamma(net, y, n);
    return dls_net_add(net, dls_net_scale(net, y), shortcut);
}

static dls_tensor stem(dls_net *net, const char *spec, const normfree *n, int32_t first)
{
    double widths[4];
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    if (n->reg) {
        return dls_block_conv_bias(net, x, first, 3, 2, 1);
    }
    if (dls_spec_numbers(spec, "stem", widths, 4) != 4) {
        return dls_net_pool(net, dls_block_conv_bias(net, x, 64, 7, 2, 1), DLS_OP_MAX_POOL, 3, 2,
                            DLS_PAD_SAME);
    }
    for (int i = 0; i < 4; i++) {
        x = dls_block_conv_bias(net, i ? act(net, x, n) : x, (int32_t)widths[i], 3, i % 3 ? 1 : 2,
                                1);
    }
    return x;
}

static void design(dls_net *net, const char *spec)
{
    double blocks[4] = {0}, out[4] = {0};
    const double times = dls_spec_number(spec, "times", 1);
    const int32_t head = (int32_t)dls_spec_number(spec, "head", 0);
    const normfree n = {.bottle = dls_spec_number(spec, "bottle", 0.25),
                        .excite = dls_spec_number(spec, "excite", 0),
                        .width = dls_spec_number(spec, "width", 1),
                        .group = (int32_t)dls_spec_number(spec, "group", 0),
                        .extra = dls_spec_has(spec, "extra"),
                        .eca = dls_spec_has(spec, "eca"),
                        .gamma = dls_spec_has(spec, "gamma"),
                        .reg = dls_spec_has(spec, "reg"),
                        .kind = dls_spec_has(spec, "relu")   ? DLS_OP_RELU
                                : dls_spec_has(spec, "silu") ? DLS_OP_SWISH
                                                             : DLS_OP_GELU};
    dls_spec_numbers(spec, "blocks", blocks, 4);
    dls_spec_numbers(spec, "out", out, 4);
    dls_net_standardise(net);
    dls_tensor x = stem(net, spec, &n, dls_zoo_round(n.width * out[0], 8));
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < (int)(times * blocks[stage]); i++) {
            x = block(net, x, dls_zoo_round(n.width * out[stage], 8),
                      i == 0 && (stage > 0 || n.reg) ? 2 : 1,
                      n.reg && stage == 0 && i == 0 ? 1 : n.bottle, &n);
        }
    }
    x = head ? dls_block_conv_bias(net, x, dls_zoo_round(n.width * head, 8), 1, 1, 1) : x;
    dls_zoo_classify(net, act(net, x, &n));
}

/* ---- members --------------------------------------------------------------------------------- */

#define F "blocks=1,2,6,3 out=256,512,1536,1536 stem=16,32,64,128 extra "
#define FULL F "group=128 bottle=0.5 excite=2 head=3072 times="
#define LIGHT F "group=64 bottle=0.25 eca silu "
#define REG(blocks, out, head)                                                                     \
    "silu reg width=0.75 group=8 bottle=2.25 excite=2 blocks=" blocks " out=" out " head=" head
#define RESNET(blocks) "relu blocks=" blocks " out=256,512,1024,2048"
#define ROW(name, image, spec) DLS_ZOO_IMAGES(name, "nfnet", image, design, spec)

static const dls_zoo_model rows[] = {
    ROW("nfnet_f0", 192, FULL "1"),
    ROW("nfnet_f1", 224, FULL "2"),
    ROW("nfnet_f2", 256, FULL "3"),
    ROW("nfnet_f3", 320, FULL "4"),
    ROW("nfnet_f4", 384, FULL "5"),
    ROW("nfnet_f5", 416, FULL "6"),
    ROW("nfnet_f6", 448, FULL "7"),
    ROW("nfnet_f7", 480, FULL "8"),
    ROW("nfnet_l0", 224, F "group=64 bottle=0.25 excite=4 silu head=2304"),
    ROW("eca_nfnet_l0", 224, LIGHT "head=2304"),
    ROW("eca_nfnet_l1", 256, LIGHT "head=3072 times=2"),
    ROW("eca_nfnet_l2", 320, LIGHT "head=3072 times=3"),
    ROW("eca_nfnet_l3", 352, LIGHT "head=3072 times=4"),
    ROW("dm_nfnet_f0", 192, FULL "1 gamma"),
    ROW("dm_nfnet_f1", 224, FULL "2 gamma"),
    ROW("dm_nfnet_f2", 256, FULL "3 gamma"),
    ROW("dm_nfnet_f3", 320, FULL "4 gamma"),
    ROW("dm_nfnet_f4", 384, FULL "5 gamma"),
    ROW("dm_nfnet_f5", 416, FULL "6 gamma"),
    ROW("dm_nfnet_f6", 448, FULL "7 gamma"),
    ROW("nf_regnet_b0", 192, REG("1,3,6,6", "48,104,208,440", "1280")),
    ROW("nf_regnet_b1", 256, REG("2,4,7,7", "48,104,208,440", "1280")),
    ROW("nf_regnet_b2", 240, REG("2,4,8,8", "56,112,232,488", "1419")),
    ROW("nf_regnet_b3", 288, REG("2,5,9,9", "56,128,248,528", "1536")),
    ROW("nf_regnet_b4", 320, REG("2,6,11,11", "64,144,288,616", "1792")),
    ROW("nf_regnet_b5", 384, REG("3,7,14,14", "80,168,336,704", "2048")),
    ROW("nf_resnet26", 224, RESNET("2,2,2,2")),
    ROW("nf_resnet50", 256, RESNET("3,4,6,3")),
    ROW("nf_resnet101", 224, RESNET("3,4,23,3")),
    ROW("nf_seresnet26", 224, RESNET("2,2,2,2") " excite=16"),
    ROW("nf_seresnet50", 224, RESNET("3,4,6,3") " excite=16"),
    ROW("nf_seresnet101", 224, RESNET("3,4,23,3") " excite=16"),
    ROW("nf_ecaresnet26", 224, RESNET("2,2,2,2") " eca"),
    ROW("nf_ecaresnet50", 224, RESNET("3,4,6,3") " eca"),
    ROW("nf_ecaresnet101", 224, RESNET("3,4,23,3") " eca"),
};

const dls_zoo_table dls_zoo_normfree = {rows, sizeof rows / sizeof rows[0]};
