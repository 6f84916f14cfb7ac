/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Residual networks (He et al., 2016) and what grew out of them: ResNeXt (Xie et al., 2017), wide
 * ones (Zagoruyko and Komodakis, 2016), squeeze and excite (Hu et al., 2018), the stems and
 * shortcuts of He et al., 2019, ResNet-RS (Bello et al., 2021), names as timm spells them.
 *
 *      blocks=3,4,6,3      of each stage; two 3 x 3 convolutions with the word basic
 *      groups=32 width=4   of the 3 x 3 convolution; channels of a group at 64
 *      stem=32,32,64       three 3 x 3 convolutions in place of 7 x 7; conv: no pooling behind
 *      average             shortcuts pool before they convolve
 *      smooth              the 3 x 3 convolution keeps its stride, pooling follows; blur: of 3 x 3, in the stem too
 *      excite=16           channels over those between; eca: no product at all
 *      early               the stride is that of the first 1 x 1 convolution
 *      before              norm and activation stand before each convolution (version 2)
 *      scale= radix= ...   the 3 x 3 convolution is more than one (zoo_split.c)
 *      layer grow=2        norms of groups of channels in the place of batch norm; all as wide;
 *                          weights are standardised, without plain
 *      evos evob frn       EvoNorms or FRN in the place of batch norm and activation
 *      small               images of 32 x 32, ten classes: a stem of one 3 x 3
 *      cut=47,18,... to=19,171,818,2022    channels of each block's middle, and of each stage:
 *                          pruned networks
 *      keep=2              a stage, counted from 0, that keeps the size of what it gets
 *      frozen              norms, and all of the stem and the first stage, stay as they are: detection
 *      half wide3          first convolution of half the channels; 3 x 3 in the shortcut
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define MAX_CUT 66

typedef struct residual {
    int32_t groups, per_group, excite;
    bool basic, average, smooth, blur, eca, half, wide3, early, before, layer, plain;
    bool frozen, still; /* norms; what comes now */
    double grow;
    double inner[2]; /* channels of the middle, 0: by planes; pruned */
    int32_t out;
    dls_block_norm norm;
    const char *spec;
} residual;

static dls_tensor norm(dls_net *net, dls_tensor x, const residual *r)
{
    return r->frozen  ? dls_net_pass(net, dls_net_scale(net, x), DLS_OP_ADD, 0)
           : r->layer ? dls_net_group_norm(net, x)
                      : dls_net_batch_norm(net, x);
}

static dls_tensor still_conv(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride, int32_t groups)
{
    const int64_t shape[] = {kernel, kernel, dls_net_dim(net, x, 3) / groups, out};
    const dls_tensor weights = dls_net_frozen(net, 4, shape);
    return dls_net_conv(net, x,
                        (dls_conv){.out = out,
                                   .kernel_h = kernel,
                                   .kernel_w = kernel,
                                   .stride = stride,
                                   .pad = kernel > stride ? DLS_PAD_SAME : 0,
                                   .groups = groups,
                                   .weights = &weights});
}

static dls_tensor conv_norm(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride,
                            int32_t groups, const residual *r)
{
    return norm(net, (r->still ? still_conv : dls_block_conv)(net, x, out, kernel, stride, groups), r);
}

static dls_tensor norm_relu(dls_net *net, dls_tensor x, const residual *r)
{
    return r->norm != DLS_BLOCK_BATCH_NORM ? dls_block_norm_act(net, x, r->norm, true)
                                           : dls_net_relu(net, norm(net, x, r));
}

static dls_tensor attend(dls_net *net, dls_tensor x, const residual *r)
{
    const int32_t c = (int32_t)dls_net_dim(net, x, 3);
    const int32_t inner = r->excite ? c / r->excite : 0;
    return r->eca || inner ? dls_block_squeeze_excite(net, x, (inner + 4) / 8 * 8) : x;
}

/* Where the size changes. */
static dls_tensor shortcut_of(dls_net *net, dls_tensor x, int32_t out, int32_t stride,
                              const residual *r)
{
    if (r->average && stride > 1) {
        x = dls_block_halved(net, x);
        stride = 1;
    }
    return conv_norm(net, x, out, r->wide3 && stride > 1 ? 3 : 1, stride, 1, r);
}

/* first: of its stage. */
static dls_tensor strided(dls_net *net, dls_tensor x, int32_t out, int32_t stride, bool first,
                          const residual *r)
{
    const bool apart = r->smooth && stride > 1;
    const dls_tensor split = dls_zoo_split_conv(net, x, out, stride, r->groups, first, r->spec);
    if (split >= 0) {
        return split;
    }
    x = dls_net_relu(net,
                     conv_norm(net, x, out, 3, apart ? 1 : stride, r->basic ? 1 : r->groups, r));
    return apart ? (r->blur ? dls_block_blurred : dls_block_halved)(net, x) : x;
}

static dls_tensor block(dls_net *net, dls_tensor x, int32_t planes, int32_t stride,
                        const residual *r)
{
    const int32_t out = r->out ? r->out : r->basic ? planes : 4 * planes;
    const int32_t inner = r->out ? (int32_t)r->inner[1] : planes * r->per_group / 64 * r->groups;
    const int32_t first = r->out ? (int32_t)r->inner[0] : r->half ? inner / 2 : inner;
    const bool same = stride == 1 && dls_net_dim(net, x, 3) == out;
    const dls_tensor shortcut = same ? x : shortcut_of(net, x, out, stride, r);
    if (r->basic) {
        x = conv_norm(net, strided(net, x, planes, stride, !same, r), planes, 3, 1, 1, r);
    } else {
        x = conv_norm(net, x, first, 1, r->early ? stride : 1, 1, r);
        x = strided(net, dls_net_relu(net, x), inner, r->early ? 1 : stride, !same, r);
        x = conv_norm(net, x, out, 1, 1, 1, r);
    }
    return dls_net_relu(net, dls_net_add(net, attend(net, x, r), shortcut));
}

/* He et al., 2016b: nothing but additions on the way from block to block. */
static dls_tensor block_before(dls_net *net, dls_tensor x, int32_t planes, int32_t stride,
                               const residual *r)
{
    const dls_tensor y = norm_relu(net, x, r);
    dls_tensor shortcut = x;
    if (dls_net_dim(net, x, 3) != 4 * planes) {
        const bool pool = r->average && stride > 1;
        shortcut = pool ? dls_block_halved(net, y) : y;
        shortcut = dls_block_conv(net, shortcut, 4 * planes, 1, pool ? 1 : stride, 1);
    }
    x = norm_relu(net, dls_block_conv(net, y, planes, 1, 1, 1), r);
    x = norm_relu(net, dls_block_conv(net, x, planes, 3, stride, 1), r);
    return dls_net_add(net, dls_block_conv(net, x, 4 * planes, 1, 1, 1), shortcut);
}

static dls_tensor stem(dls_net *net, const char *spec, const residual *r)
{
    double widths[3];
    const int32_t edge = dls_spec_has(spec, "small") ? 32 : 224;
    dls_tensor x = dls_net_image(net, edge, edge, 3);
    if (edge == 32) {
        return dls_block_conv_bn_relu(net, x, 64, 3, 1);
    }
    if (r->before) { /* no norm before the first block's own */
        const bool deep = dls_spec_numbers(spec, "stem", widths, 3) == 3;
        for (int i = 0; deep && i < 2; i++) {
            x = norm_relu(net, dls_block_conv(net, x, (int32_t)widths[i], 3, i == 0 ? 2 : 1, 1), r);
        }
        x = deep ? dls_block_conv(net, x, (int32_t)widths[2], 3, 1, 1)
                 : dls_block_conv(net, x, (int32_t)r->grow * 64, 7, 2, 1);
        return dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, DLS_PAD_SAME);
    }
    if (dls_spec_numbers(spec, "stem", widths, 3) != 3) {
        x = dls_net_relu(net, conv_norm(net, x, 64, 7, 2, 1, r));
    } else {
        for (int i = 0; i < 3; i++) {
            x = dls_block_conv_bn_relu(net, x, (int32_t)widths[i], 3, i == 0 ? 2 : 1);
        }
    }
    if (r->blur && dls_net_eager(net)) {
        return dls_block_blurred(net, dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 1, DLS_PAD_SAME));
    }
    return dls_spec_has(spec, "conv")
               ? dls_block_conv_bn_relu(net, x, (int32_t)dls_net_dim(net, x, 3), 3, 2)
               : dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, DLS_PAD_SAME);
}

dls_tensor dls_zoo_residual_stages(dls_net *net, const char *spec, dls_tensor of[4])
{
    double blocks[4] = {0}, cut[MAX_CUT], to[4] = {0};
    const int cuts = dls_spec_numbers(spec, "cut", cut, MAX_CUT);
    residual r = {.groups = (int32_t)dls_spec_number(spec, "groups", 1),
                        .per_group = (int32_t)dls_spec_number(spec, "width", 64),
                        .excite = (int32_t)dls_spec_number(spec, "excite", 0),
                        .basic = dls_spec_has(spec, "basic"),
                        .average = dls_spec_has(spec, "average"),
                        .smooth = dls_spec_has(spec, "smooth"),
                        .blur = dls_spec_has(spec, "blur"),
                        .eca = dls_spec_has(spec, "eca"),
                        .half = dls_spec_has(spec, "half"),
                        .wide3 = dls_spec_has(spec, "wide3"),
                        .early = dls_spec_has(spec, "early"),
                        .before = dls_spec_has(spec, "before"),
                        .layer = dls_spec_has(spec, "layer"),
                        .plain = dls_spec_has(spec, "plain"),
                        .frozen = dls_spec_has(spec, "frozen"),
                        .still = dls_spec_has(spec, "frozen"),
                        .grow = dls_spec_number(spec, "grow", 1),
                        .norm = dls_spec_norm(spec),
                        .spec = spec};
    dls_spec_numbers(spec, "blocks", blocks, 4);
    dls_spec_numbers(spec, "to", to, 4);
    const int keep = (int)dls_spec_number(spec, "keep", 0);
    if (r.layer && !r.plain) {
        dls_net_standardise(net);
    }
    dls_tensor x = stem(net, spec, &r);
    for (int stage = 0, nth = 0; stage < 4; stage++) {
        r.out = (int32_t)to[stage];
        for (int i = 0; i < (int)blocks[stage]; i++, nth += 2) {
            for (int k = 0; k < 2 && nth + 1 < cuts; k++) {
                r.inner[k] = cut[nth + k];
            }
            x = (r.before ? block_before : block)(net, x, (int32_t)r.grow * 64 << stage,
                                                  i == 0 && stage > 0 && stage != keep ? 2 : 1, &r);
        }
        of[stage] = x;
        r.still = false;
    }
    return r.before ? norm_relu(net, x, &r) : x;
}

dls_tensor dls_zoo_residual_trunk(dls_net *net, const char *spec)
{
    dls_tensor of[4];
    return dls_zoo_residual_stages(net, spec, of);
}

void dls_zoo_residual(dls_net *net, const char *spec)
{
    const dls_tensor x = dls_net_global_mean(net, dls_zoo_residual_trunk(net, spec));
    dls_net_loss(net, dls_net_dense(net, x, dls_spec_has(spec, "small") ? 10 : 1000, true));
}

/* ---- members --------------------------------------------------------------------------------- */

#define B18 "blocks=2,2,2,2"
#define B50 "blocks=3,4,6,3"
#define B101 "blocks=3,4,23,3"
#define B152 "blocks=3,8,36,3"
#define B200 "blocks=3,24,36,3"
#define B269 "blocks=3,30,48,8"
#define C " stem=32,32,64"
#define D " stem=32,32,64 average"
#define S " stem=64,64,128"
#define T " stem=24,32,64 average"
#define SE " excite=16"
#define RS " stem=32,32,64 average conv excite=4"
#define X32x4 " groups=32 width=4"
#define X32x8 " groups=32 width=8"
#define X64x4 " groups=64 width=4"
#define ROW(name, image, spec) DLS_ZOO_IMAGES(name, "resnet", image, dls_zoo_residual, spec)

static const dls_zoo_model rows[] = {
    ROW("resnet10t", 176, "basic blocks=1,1,1,1" T),
    ROW("resnet14t", 176, "blocks=1,1,1,1" T),
    ROW("resnet18d", 224, "basic " B18 D),
    ROW("resnet26", 224, B18),
    ROW("resnet26d", 224, B18 D),
    ROW("resnet26t", 256, B18 T),
    ROW("resnet34d", 224, "basic " B50 D),
    ROW("resnet50c", 224, B50 C),
    ROW("resnet50d", 224, B50 D),
    ROW("resnet50s", 224, B50 S),
    ROW("resnet50_gn", 224, B50 " layer plain"),
    ROW("resnet50t", 224, B50 T),
    ROW("resnet101c", 224, B101 C),
    ROW("resnet101d", 256, B101 D),
    ROW("resnet101s", 224, B101 S),
    ROW("resnet152c", 224, B152 C),
    ROW("resnet152d", 256, B152 D),
    ROW("resnet152s", 224, B152 S),
    ROW("resnet200", 224, B200),
    ROW("resnet200d", 256, B200 D),
    ROW("wide_resnet50_2", 224, B50 " width=128"),
    ROW("wide_resnet101_2", 224, B101 " width=128"),
    ROW("resnext50_32x4d", 224, B50 X32x4),
    ROW("resnext50d_32x4d", 224, B50 D X32x4),
    ROW("resnext101_32x4d", 224, B101 X32x4),
    ROW("resnext101_32x8d", 224, B101 X32x8),
    ROW("resnext101_64x4d", 224, B101 X64x4),
    ROW("resnext101_32x16d", 224, B101 " groups=32 width=16"),
    ROW("resnext101_32x32d", 224, B101 " groups=32 width=32"),
    ROW("resnext101_32x48d", 224, B101 " groups=32 width=48"),
    ROW("seresnet18", 224, "basic " B18 SE),
    ROW("seresnet34", 224, "basic " B50 SE),
    ROW("seresnet50", 224, B50 SE),
    ROW("legacy_seresnet50", 224, B50 SE " early"),
    ROW("legacy_seresnet101", 224, B101 SE " early"),
    ROW("legacy_seresnet152", 224, B152 SE " early"),
    ROW("seresnet50t", 224, B50 T SE),
    ROW("seresnet101", 224, B101 SE),
    ROW("seresnet152", 224, B152 SE),
    ROW("seresnet152d", 256, B152 D SE),
    ROW("seresnet200d", 256, B200 D SE),
    ROW("seresnet269d", 256, B269 D SE),
    ROW("seresnext26_32x4d", 224, B18 SE X32x4),
    ROW("seresnext26d_32x4d", 224, B18 D SE X32x4),
    ROW("seresnext26t_32x4d", 224, B18 T SE X32x4),
    ROW("seresnext50_32x4d", 224, B50 SE X32x4),
    ROW("seresnext101_32x4d", 224, B101 SE X32x4),
    ROW("seresnext101_64x4d", 224, B101 SE X64x4),
    ROW("seresnext101_32x8d", 224, B101 SE X32x8),
    ROW("seresnext101d_32x8d", 224, B101 D SE X32x8),
    ROW("seresnextaa101d_32x8d", 224, B101 D SE X32x8 " smooth"),
    ROW("senet154", 224, B152 S SE X64x4 " half wide3"),
    ROW("ecaresnet26t", 256, B18 T " eca"),
    ROW("ecaresnet50d", 224, B50 D " eca"),
    ROW("ecaresnet50d_pruned", 224,
        B50 D " eca to=19,171,818,2022 cut=47,18,52,22,64,35,85,37,107,80,120,85,125,87,198,126,255,232,"
        "256,233,253,235,256,225,256,239,492,237,512,500,512,490"),
    ROW("ecaresnet101d_pruned", 224,
        B101 D " eca to=26,142,278,2042 cut=45,25,53,20,60,27,81,24,93,49,102,54,122,78,"
        "101,25,239,160,234,156,250,176,253,191,251,175,230,128,244,154,244,159,238,97,244,149,253,"
        "181,245,119,255,216,256,201,253,149,254,141,256,190,256,217,255,156,256,155,256,232,256,"
        "214,499,289,512,512,512,502"),
    ROW("ecaresnet50t", 256, B50 T " eca"),
    ROW("ecaresnetlight", 224, "blocks=1,1,11,3 average eca"),
    ROW("ecaresnet101d", 224, B101 D " eca"),
    ROW("ecaresnet200d", 256, B200 D " eca"),
    ROW("ecaresnet269d", 320, B269 D " eca"),
    ROW("ecaresnext26t_32x4d", 224, B18 T X32x4 " eca"),
    ROW("ecaresnext50t_32x4d", 224, B18 T X32x4 " eca"),
    ROW("resnetblur18", 224, "basic " B18 " smooth blur"),
    ROW("resnetblur50", 224, B50 " smooth blur"),
    ROW("resnetblur50d", 224, B50 D " smooth blur"),
    ROW("resnetblur101d", 224, B101 D " smooth blur"),
    ROW("resnetaa50", 224, B50 " smooth"),
    ROW("resnetaa50d", 224, B50 D " smooth"),
    ROW("resnetaa101d", 224, B101 D " smooth"),
    ROW("seresnetaa50d", 224, B50 D SE " smooth"),
    ROW("resnetv2_50", 224, B50 " before"),
    ROW("resnetv2_50d", 224, B50 D " before"),
    ROW("resnetv2_50t", 224, B50 T " before"),
    ROW("resnetv2_101", 224, B101 " before"),
    ROW("resnetv2_101d", 224, B101 D " before"),
    ROW("resnetv2_152", 224, B152 " before"),
    ROW("resnetv2_152d", 224, B152 D " before"),
    ROW("resnetv2_50d_gn", 224, B50 D " before layer plain"),
    ROW("resnetv2_50d_evos", 224, B50 D " before evos"),
    ROW("resnetv2_50d_evob", 224, B50 D " before evob"),
    ROW("resnetv2_50d_frn", 224, B50 D " before frn"),
    ROW("resnetv2_50x1", 448, B50 " before layer"),
    ROW("resnetv2_50x3", 448, B50 " before layer grow=3"),
    ROW("resnetv2_101x1", 448, B101 " before layer"),
    ROW("resnetv2_101x3", 448, B101 " before layer grow=3"),
    ROW("resnetv2_152x2", 448, B152 " before layer grow=2"),
    ROW("resnetv2_152x4", 480, B152 " before layer grow=4"),
    ROW("res2net50_26w_4s", 224, B50 " width=104 scale=4"),
    ROW("res2net101_26w_4s", 224, B101 " width=104 scale=4"),
    ROW("res2net50_26w_6s", 224, B50 " width=156 scale=6"),
    ROW("res2net50_26w_8s", 224, B50 " width=208 scale=8"),
    ROW("res2net50_48w_2s", 224, B50 " width=96 scale=2"),
    ROW("res2net50_14w_8s", 224, B50 " width=112 scale=8"),
    ROW("res2next50", 224, B50 " groups=8 width=16 scale=4"),
    ROW("skresnet18", 224, "basic " B18 " kernels=2 halved attend=8 least=16"),
    ROW("skresnet34", 224, "basic " B50 " kernels=2 halved attend=8 least=16"),
    ROW("skresnet50", 224, B50 " kernels=2 halved attend=16 least=8"),
    ROW("skresnet50d", 224, B50 D " kernels=2 halved attend=16 least=8"),
    ROW("skresnext50_32x4d", 224, B50 X32x4 " kernels=2 attend=16"),
    ROW("resnest14d", 224, "blocks=1,1,1,1" D " radix=2"),
    ROW("resnest26d", 224, B18 D " radix=2"),
    ROW("resnest50d", 224, B50 D " radix=2"),
    ROW("resnest50d_1s4x24d", 224, B50 D " radix=1 sooner groups=4 width=24"),
    ROW("resnest50d_4s2x40d", 224, B50 D " radix=4 sooner groups=2 width=40"),
    ROW("resnest101e", 256, B101 S " average radix=2"),
    ROW("resnest200e", 320, B200 S " average radix=2"),
    ROW("resnest269e", 416, B269 S " average radix=2"),
    ROW("resnetrs50", 160, B50 RS),
    ROW("resnetrs101", 192, B101 RS),
    ROW("resnetrs152", 256, B152 RS),
    ROW("resnetrs200", 256, B200 RS),
    ROW("resnetrs270", 256, "blocks=4,29,53,4" RS),
    ROW("resnetrs350", 288, "blocks=4,36,72,4" RS),
    ROW("resnetrs420", 320, "blocks=4,44,87,4" RS),
};

const dls_zoo_table dls_zoo_resnets = {rows, sizeof rows / sizeof rows[0]};
