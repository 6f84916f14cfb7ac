/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Convolutional networks of several paths: DPN (Chen et al., 2017), in which some channels are
 * added to and others joined, SelecSLS (Mehta et al., 2020), in which a stage's first result is
 * joined to all later ones, TResNet (Ridnik et al., 2021); names as timm spells them.
 *
 *      blocks=3,4,20,3 grow=16,32,24,128    of DPN: blocks of a stage, channels that each joins
 *      stem=64 middle=96 groups=32          channels of the first and of its middles; small: the
 *      small late                           width is 64; late: two products behind the middle
 *      @first,later,...                     of SelecSLS: channels of a stage's middles, of what its
 *                                           blocks give; head=960,1024,1024,1280 last: 1 x 1 last
 *      planes=64                            of TResNet
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#include <string.h>

/* ---- DPN ------------------------------------------------------------------------------------- */

typedef struct dual {
    int32_t groups;
    bool late;
} dual;

/* Norm and activation, then the convolution. */
static dls_tensor before(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride,
                         int32_t groups)
{
    return dls_block_conv(net, dls_block_bn_relu(net, x), out, kernel, stride, groups);
}

/* path[0]: what is added to, `wide` channels, path[1]: what grows; changes: the first of a stage.
 */
static void dual_block(dls_net *net, dls_tensor path[2], int32_t mid, int32_t wide, int32_t grow,
                       int32_t stride, bool changes, const dual *d)
{
    const dls_tensor x = path[1] < 0 ? path[0] : dls_net_concat(net, path, 2);
    dls_tensor out[2];
    if (changes) {
        const dls_tensor y = before(net, x, wide + 2 * grow, 1, stride, 1);
        path[0] = dls_net_channels(net, y, wide);
        path[1] = dls_net_channels(net, y, 2 * grow);
    }
    dls_tensor y = before(net, before(net, x, mid, 1, 1, 1), mid, 3, stride, d->groups);
    if (d->late) {
        y = dls_block_bn_relu(net, y);
        out[0] = dls_block_conv(net, y, wide, 1, 1, 1);
        out[1] = dls_block_conv(net, y, grow, 1, 1, 1);
    } else {
        y = before(net, y, wide + grow, 1, 1, 1);
        out[0] = dls_net_channels(net, y, wide);
        out[1] = dls_net_channels(net, y, grow);
    }
    path[0] = dls_net_add(net, path[0], out[0]);
    path[1] = dls_net_concat(net, (dls_tensor[]){path[1], out[1]}, 2);
}

static void dpn(dls_net *net, const char *spec)
{
    const dual d = {.groups = (int32_t)dls_spec_number(spec, "groups", 32),
                    .late = dls_spec_has(spec, "late")};
    const bool small = dls_spec_has(spec, "small");
    const int32_t middle = (int32_t)dls_spec_number(spec, "middle", 96);
    double blocks[4] = {0}, grow[4] = {0};
    dls_spec_numbers(spec, "blocks", blocks, 4);
    dls_spec_numbers(spec, "grow", grow, 4);
    const int32_t stem = (int32_t)dls_spec_number(spec, "stem", 64);
    dls_tensor x = dls_net_image(net, 224, 224, 3), path[2] = {-1, -1};
    x = dls_block_conv_bn_relu(net, x, stem, small ? 3 : 7, 2);
    path[0] = dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, DLS_PAD_SAME);
    for (int stage = 0; stage < 4; stage++) {
        const int32_t wide = (small ? 64 : 256) << stage;
        for (int i = 0; i < (int)blocks[stage]; i++) {
            dual_block(net, path, middle << stage, wide, (int32_t)grow[stage],
                       i == 0 && stage > 0 ? 2 : 1, i == 0, &d);
        }
    }
    dls_zoo_classify(net, dls_block_bn_relu(net, dls_net_concat(net, path, 2)));
}

/* ---- SelecSLS -------------------------------------------------------------------------------- */

static void selecsls(dls_net *net, const char *spec)
{
    const bool last = dls_spec_has(spec, "last");
    double head[4] = {0}, v[8];
    dls_tensor x = dls_block_conv_bn_relu(net, dls_net_image(net, 224, 224, 3), 32, 3, 2);
    dls_spec_numbers(spec, "head", head, 4);
    for (const char *at = strchr(spec, '@'); at; at = strchr(at + 1, '@')) {
        dls_tensor part[4] = {-1, -1, -1, -1};
        char numbers[64] = "=";
        strncat(numbers, at + 1, sizeof numbers - 2);
        const int n = dls_spec_list(numbers, v, 8);
        const int32_t mid = (int32_t)v[0];
        for (int i = 0; i + 1 < n; i++) {
            part[0] = dls_block_conv_bn_relu(net, x, mid, 3, i == 0 ? 2 : 1);
            part[1] = dls_block_conv_bn_relu(net, part[0], mid, 1, 1);
            part[1] = dls_block_conv_bn_relu(net, part[1], mid / 2, 3, 1);
            part[2] = dls_block_conv_bn_relu(net, part[1], mid, 1, 1);
            part[2] = dls_block_conv_bn_relu(net, part[2], mid / 2, 3, 1);
            x = dls_net_concat(net, part, i == 0 ? 3 : 4);
            x = dls_block_conv_bn_relu(net, x, (int32_t)v[1 + i], 1, 1);
            part[3] = i == 0 ? x : part[3];
        }
    }
    for (int i = 0; i < 4; i++) {
        x = dls_block_conv_bn_relu(net, x, (int32_t)head[i], i == 3 && last ? 1 : 3,
                                   i % 2 == 0 ? 2 : 1);
    }
    dls_zoo_classify(net, x);
}

/* ---- TResNet --------------------------------------------------------------------------------- */

/* Basic blocks in the first two stages; strides are means of 2 x 2; no excitation in the last. */
static dls_tensor tresnet_block(dls_net *net, dls_tensor x, int32_t planes, int stage, bool strided)
{
    const bool basic = stage < 2;
    const int32_t out = basic ? planes : 4 * planes, few = basic ? planes / 4 : planes / 2;
    dls_tensor shortcut = x;
    if (strided || dls_net_dim(net, x, 3) != out) {
        shortcut = dls_block_conv_bn(net, strided ? dls_block_halved(net, x) : x, out, 1, 1);
    }
    x = basic ? x : dls_block_conv_bn_relu(net, x, planes, 1, 1);
    x = dls_block_conv_bn_relu(net, x, planes, 3, 1);
    x = strided ? dls_block_blurred(net, x) : x;
    x = basic ? dls_block_conv_bn(net, x, planes, 3, 1) : x;
    x = stage < 3 ? dls_block_squeeze_excite(net, x, few > 64 ? few : 64) : x;
    x = basic ? x : dls_block_conv_bn(net, x, out, 1, 1);
    return dls_net_relu(net, dls_net_add(net, x, shortcut));
}

static void tresnet(dls_net *net, const char *spec)
{
    const int32_t planes = (int32_t)dls_spec_number(spec, "planes", 64);
    double blocks[4] = {0};
    dls_spec_numbers(spec, "blocks", blocks, 4);
    dls_tensor x = dls_net_image(net, 224, 224, 3); /* squares of 4 x 4 become channels */
    const int64_t edge = dls_net_dim(net, x, 1) / 4;
    x = dls_net_pass(net, x, DLS_OP_TRANSPOSE, 0);
    x = dls_net_reshape(net, x, 4, (int64_t[]){dls_net_batch(net), edge, edge, 48});
    x = dls_block_conv_bn_relu(net, x, planes, 3, 1);
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < (int)blocks[stage]; i++) {
            x = tresnet_block(net, x, planes << stage, stage, i == 0 && stage > 0);
        }
    }
    dls_zoo_classify(net, x);
}

/* ---- members --------------------------------------------------------------------------------- */

#define DPN(name, spec) DLS_ZOO_IMAGES("dpn" name, "dpn", 224, dpn, spec)
#define SLS(name, spec) DLS_ZOO_IMAGES("selecsls" name, "selecsls", 224, selecsls, spec)
#define TRES(name, spec) DLS_ZOO_IMAGES("tresnet_" name, "tresnet", 224, tresnet, spec)
#define DPN68 "small stem=10 middle=128 blocks=3,4,12,3 grow=16,32,32,64"
#define SLS42 "@64,64,128 @144,144,288 @304,304,480"
#define SLS60 "@64,64,128 @128,128,128,288 @288,288,288,288,416"
#define SLS84 "@64,64,144 @144,144,144,144,144,304 @304,304,304,304,304,304,512"

static const dls_zoo_model rows[] = {
    DPN("68", DPN68),
    DPN("68b", DPN68 " late"),
    DPN("92", "blocks=3,4,20,3 grow=16,32,24,128"),
    DPN("98", "groups=40 stem=96 middle=160 blocks=3,6,20,3 grow=16,32,32,128"),
    DPN("107", "groups=50 stem=128 middle=200 blocks=4,8,20,3 grow=20,64,64,128"),
    DPN("131", "groups=40 stem=128 middle=160 blocks=4,8,28,3 grow=16,32,32,128"),
    SLS("42", "last head=960,1024,1024,1280 " SLS42),
    SLS("42b", "last head=960,1024,1280,1024 " SLS42),
    SLS("60", "last head=756,1024,1024,1280 " SLS60),
    SLS("60b", "last head=756,1024,1280,1024 " SLS60),
    SLS("84", "head=960,1024,1024,1280 " SLS84),
    TRES("m", "planes=64 blocks=3,4,11,3"),
    TRES("l", "planes=76 blocks=4,5,18,3"),
    TRES("xl", "planes=83 blocks=4,5,24,3"),
};

const dls_zoo_table dls_zoo_paths = {rows, sizeof rows / sizeof rows[0]};
