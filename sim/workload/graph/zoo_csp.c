/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Networks that carry a part of each stage past its blocks: CSPNet with DarkNet (Wang et al., 2020;
 * Redmon and Farhadi, 2018), and all of its layers, VoVNet (Lee and Park, 2020); names as timm
 * spells them.
 *
 *      out=64,128,256,512,1024 blocks=1,2,8,8,4    of each stage
 *      cross=2     half of out times so many channels goes past the blocks; of the first stage
 *                  alone with the word dark. Without it none does
 *      bottle=0.5  channels of the middle of a block (dark: but 1 in all stages but the first)
 *      third       as version 3: half of out goes past the blocks, and one convolution joins both;
 *                  blocks of bottle times half of out; edge: 3 x 3 comes first; excite=4: their
 *                  middle is weighed, by a fourth
 *      groups=32   of the 3 x 3 convolutions; of each stage
 *      early swish the first stage halves, too; in the place of ReLU
 *      average     stages pool, then 1 x 1
 *      focus=80    a stem of 6 x 6; two=32,64 of two 3 x 3; seven: 7 x 7 and pooling
 *      stem=32,32,64  three 3 x 3 convolutions and pooling, else one of 32
 *      se          squeeze and excite, a sixteenth
 *      layers=5 middle=128,160,192,224   of VoVNet, beside each other; blocks of each stage
 *      apart       its convolutions are depthwise ones, then 1 x 1
 *      ese eca     what weighs the channels of the last block of a stage; plain: nothing, and
 *                  blocks are not added to what comes in
 *      to=256,512,768,1024    channels of VoVNet's stages, if they are others
 *      last=64     channels of the stem
 *      evos        EvoNorm in the place of batch norm and activation
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define LAYERS 8

/* ---- CSPNet ---------------------------------------------------------------------------------- */

static dls_tensor conv(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride)
{
    return dls_block_conv_bn_relu(net, x, out, kernel, stride);
}

static dls_tensor block(dls_net *net, dls_tensor x, double bottle, bool dark, bool excite,
                        int32_t groups)
{
    const int32_t out = (int32_t)dls_net_dim(net, x, 3), mid = (int32_t)(out * bottle);
    dls_tensor y = conv(net, x, mid, 1, 1);
    y = excite && dark ? dls_block_squeeze_excite(net, y, dls_zoo_round(mid / 16., 8)) : y;
    y = dls_block_grouped_bn_relu(net, y, dark ? out : mid, 3, 1, groups);
    y = excite && !dark ? dls_block_squeeze_excite(net, y, dls_zoo_round(mid / 16., 8)) : y;
    if (dark) {
        return dls_net_add(net, y, x);
    }
    return dls_net_relu(net, dls_net_add(net, dls_block_conv_bn(net, y, out, 1, 1), x));
}

dls_tensor dls_zoo_csp_stage(dls_net *net, dls_tensor x, int32_t out, int n, int stage,
                             const char *spec)
{
    const bool dark = dls_spec_has(spec, "dark"), se = dls_spec_has(spec, "se");
    double cross = dls_spec_number(spec, "cross", 0);
    double bottle = dls_spec_number(spec, "bottle", 0.5);
    double of_stage[5];
    const bool own = dls_spec_numbers(spec, "groups", of_stage, 5) > 1;
    const int32_t groups = own ? (int32_t)of_stage[stage] : (int32_t)dls_spec_number(spec, "groups", 1);
    dls_tensor half[2];
    if (dls_spec_has(spec, "average")) {
        x = conv(net, dls_block_halved(net, x), out, 1, 1);
    } else if (dark || stage > 0 || dls_spec_has(spec, "early")) { /* CSPNet's ResNets grow behind it */
        x = dls_block_grouped_bn_relu(net, x, dark ? out : (int32_t)dls_net_dim(net, x, 3), 3, 2,
                                      groups);
    }
    if (cross > 0) {
        bottle = dark && stage > 0 ? 1 : bottle;
        cross = dark && stage > 0 ? 1 : cross;
        x = conv(net, x, (int32_t)(out * cross), 1, 1);
        dls_net_split(net, x, 2, half);
        x = half[1];
    }
    for (int i = 0; i < n; i++) {
        x = block(net, x, bottle, dark, se, groups);
    }
    if (cross > 0) {
        x = conv(net, x, (int32_t)(out * cross / 2), 1, 1);
        x = conv(net, dls_net_concat(net, (dls_tensor[]){half[0], x}, 2), out, 1, 1);
    }
    return x;
}

static dls_tensor third_stage(dls_net *net, dls_tensor x, int32_t out, int n, const char *spec)
{
    const bool edge = dls_spec_has(spec, "edge");
    const int32_t mid = (int32_t)(out / 2 * dls_spec_number(spec, "bottle", 1));
    const int32_t excite = (int32_t)dls_spec_number(spec, "excite", 0);
    const int32_t few = excite && mid / excite >= 4 ? (mid / excite + 4) / 8 * 8 : 8;
    dls_tensor half[2];
    x = conv(net, x, (int32_t)dls_net_dim(net, x, 3), 3, 2);
    dls_net_split(net, conv(net, x, out, 1, 1), 2, half);
    for (int i = 0; i < n; i++) {
        x = conv(net, half[0], mid, edge ? 3 : 1, 1);
        x = excite ? dls_block_squeeze_excite(net, x, few) : x;
        x = conv(net, x, out / 2, edge ? 1 : 3, 1);
        half[0] = dls_net_add(net, x, half[0]);
    }
    return conv(net, dls_net_concat(net, half, 2), out, 1, 1);
}

static dls_tensor csp_stem(dls_net *net, dls_tensor x, const char *spec)
{
    double stem[3];
    const int32_t focus = (int32_t)dls_spec_number(spec, "focus", 0);
    const int two = dls_spec_numbers(spec, "two", stem, 2);
    const int n = two == 2 ? 2 : dls_spec_numbers(spec, "stem", stem, 3);
    if (focus) {
        return conv(net, x, focus, 6, 2);
    }
    if (dls_spec_has(spec, "seven")) {
        return dls_net_pool(net, conv(net, x, 64, 7, 2), DLS_OP_MAX_POOL, 3, 2, DLS_PAD_SAME);
    }
    for (int i = 0; i < n; i++) {
        x = conv(net, x, (int32_t)stem[i], 3, i == 0 ? 2 : 1);
    }
    return n == 0   ? conv(net, x, 32, 3, 1)
           : n == 3 ? dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, DLS_PAD_SAME)
                    : x;
}

static void cspnet(dls_net *net, const char *spec)
{
    double out[5] = {0}, blocks[5] = {0};
    const bool third = dls_spec_has(spec, "third");
    if (third || dls_spec_has(spec, "swish")) {
        dls_net_swish_for_relu(net);
    }
    dls_tensor x = csp_stem(net, dls_net_image(net, 256, 256, 3), spec);
    const int stages = dls_spec_numbers(spec, "out", out, 5);
    dls_spec_numbers(spec, "blocks", blocks, 5);
    for (int stage = 0; stage < stages; stage++) {
        const int32_t c = (int32_t)out[stage], n = (int32_t)blocks[stage];
        x = third ? third_stage(net, x, c, n, spec) : dls_zoo_csp_stage(net, x, c, n, stage, spec);
    }
    dls_zoo_classify(net, x);
}

/* ---- VoVNet ---------------------------------------------------------------------------------- */

static dls_tensor normed(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride,
                         const char *spec)
{
    const dls_block_norm norm = dls_spec_norm(spec);
    x = dls_block_conv(net, x, out, kernel, stride, 1);
    return norm == DLS_BLOCK_BATCH_NORM ? dls_block_bn_relu(net, x)
                                        : dls_block_norm_act(net, x, norm, true);
}

static dls_tensor layer(dls_net *net, dls_tensor x, int32_t out, int32_t stride, const char *spec)
{
    if (!dls_spec_has(spec, "apart")) {
        return normed(net, x, out, 3, stride, spec);
    }
    return normed(net, dls_block_depthwise(net, x, 3, stride, false), out, 1, 1, spec);
}

static dls_tensor weigh(dls_net *net, dls_tensor x, const char *spec)
{
    dls_tensor s = dls_net_global_mean(net, x);
    s = dls_spec_has(spec, "ese") ? dls_net_dense(net, s, dls_net_dim(net, x, 3), true) : s;
    return dls_block_weigh(net, x, s);
}

static dls_tensor one_shot(dls_net *net, dls_tensor x, int32_t mid, int32_t out, bool adds,
                           bool last, const char *spec)
{
    const int n = (int)dls_spec_number(spec, "layers", 5);
    dls_tensor all[LAYERS + 1] = {x}, y = x;
    if (dls_spec_has(spec, "apart") && dls_net_dim(net, x, 3) != mid) {
        y = normed(net, y, mid, 1, 1, spec);
    }
    for (int i = 0; i < n; i++) {
        y = all[i + 1] = layer(net, y, mid, 1, spec);
    }
    y = normed(net, dls_net_concat(net, all, n + 1), out, 1, 1, spec);
    y = last && !dls_spec_has(spec, "plain") ? weigh(net, y, spec) : y;
    return adds ? dls_net_add(net, y, x) : y;
}

static void vovnet(dls_net *net, const char *spec)
{
    double blocks[4] = {0}, middle[4] = {0}, to[4] = {256, 512, 768, 1024};
    const int32_t last = (int32_t)dls_spec_number(spec, "last", 128);
    dls_spec_numbers(spec, "blocks", blocks, 4);
    dls_spec_numbers(spec, "middle", middle, 4);
    dls_spec_numbers(spec, "to", to, 4);
    dls_tensor x = normed(net, dls_net_image(net, 224, 224, 3), 64, 3, 2, spec);
    x = layer(net, layer(net, x, 64, 1, spec), last, 2, spec);
    for (int stage = 0; stage < 4; stage++) {
        x = stage ? dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, DLS_PAD_SAME) : x;
        for (int i = 0; i < (int)blocks[stage]; i++) {
            x = one_shot(net, x, (int32_t)middle[stage], (int32_t)to[stage],
                         i > 0 && !dls_spec_has(spec, "plain"), i + 1 == (int)blocks[stage], spec);
        }
    }
    dls_zoo_classify(net, x);
}

/* ---- members --------------------------------------------------------------------------------- */

#define DARK "dark out=64,128,256,512,1024 blocks="
#define CS3(stem, out) "third two=" stem " out=" out " blocks="
#define FOCUS(stem, out) "third focus=" stem " out=" out " blocks="
#define SLIM " middle=64,80,96,112 to=112,256,384,512"
#define VOV " middle=128,160,192,224 "
#define CSP(name, spec) DLS_ZOO_IMAGES(name, "cspnet", 256, cspnet, spec)
#define OSA(name, spec) DLS_ZOO_IMAGES(name, "vovnet", 224, vovnet, spec)

static const dls_zoo_model rows[] = {
    CSP("darknet17", DARK "1,1,1,1,1"),
    CSP("darknet21", DARK "1,1,1,2,2"),
    CSP("sedarknet21", DARK "1,1,1,2,2 se"),
    CSP("darknet53", DARK "1,2,8,8,4"),
    CSP("darknetaa53", DARK "1,2,8,8,4 average"),
    CSP("cs3darknet_s", CS3("16,32", "64,128,256,512") "1,3,4,1"),
    CSP("cs3darknet_m", CS3("24,48", "96,192,384,768") "2,4,6,2"),
    CSP("cs3darknet_l", CS3("32,64", "128,256,512,1024") "3,6,9,3"),
    CSP("cs3darknet_x", CS3("40,80", "160,320,640,1280") "3,7,11,3"),
    CSP("cs3darknet_focus_s", FOCUS("32", "64,128,256,512") "1,3,4,1"),
    CSP("cs3darknet_focus_m", FOCUS("48", "96,192,384,768") "2,4,6,2"),
    CSP("cs3darknet_focus_l", FOCUS("64", "128,256,512,1024") "3,6,9,3"),
    CSP("cs3darknet_focus_x", FOCUS("80", "160,320,640,1280") "3,7,11,3"),
    CSP("cs3sedarknet_l", CS3("32,64", "128,256,512,1024") "3,6,9,3 excite=4"),
    CSP("cs3sedarknet_x", CS3("40,80", "160,320,640,1280") "3,7,11,3 excite=16"),
    CSP("cs3sedarknet_xdw",
        "early swish two=32,64 out=256,512,1024,2048 blocks=3,6,12,4 groups=1,1,256,512 cross=1 se"),
    CSP("cs3edgenet_x", CS3("40,80", "160,320,640,1280") "3,7,11,3 edge bottle=1.5"),
    CSP("cs3se_edgenet_x", CS3("40,80", "160,320,640,1280") "3,7,11,3 edge bottle=1.5 excite=4"),
    CSP("cspdarknet53", DARK "1,2,8,8,4 cross=2"),
    CSP("cspresnet50", "out=128,256,512,1024 blocks=3,3,5,2 cross=2 seven"),
    CSP("cspresnext50",
        "out=256,512,1024,2048 blocks=3,3,5,2 cross=1 bottle=1 groups=32 seven"),
    CSP("cspresnet50d", "out=128,256,512,1024 blocks=3,3,5,2 cross=2 stem=32,32,64"),
    CSP("cspresnet50w",
        "out=256,512,1024,2048 blocks=3,3,5,2 cross=1 bottle=0.25 stem=32,32,64"),
    OSA("vovnet39a", "blocks=1,1,2,2 plain" VOV),
    OSA("vovnet57a", "blocks=1,1,4,3 plain" VOV),
    OSA("ese_vovnet19b_slim", "layers=3 blocks=1,1,1,1 ese" SLIM),
    OSA("ese_vovnet19b_slim_dw", "apart last=64 layers=3 blocks=1,1,1,1 ese" SLIM),
    OSA("ese_vovnet19b_dw", "apart last=64 layers=3 blocks=1,1,1,1 ese" VOV),
    OSA("ese_vovnet39b", "blocks=1,1,2,2 ese" VOV),
    OSA("ese_vovnet39b_evos", "blocks=1,1,2,2 ese evos" VOV),
    OSA("eca_vovnet39b", "blocks=1,1,2,2 eca" VOV),
    OSA("ese_vovnet57b", "blocks=1,1,4,3 ese" VOV),
    OSA("ese_vovnet99b", "blocks=1,3,9,3 ese" VOV),
};

const dls_zoo_table dls_zoo_csp = {rows, sizeof rows / sizeof rows[0]};
