/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Transformers whose tokens become fewer and wider from stage to stage: PoolFormer (Yu et al.,
 * 2022), in which a mean over neighbours stands for attention, EfficientFormer (Li et al., 2022), whose last
 * blocks attend in its place, Twins (Chu et al., 2021), whose keys
 * and values are of fewer places, or, in every second block of SVT, of the place's square, PVT v2
 * (Wang et al., 2022), whose patches overlap, PiT (Heo et al., 2021), whose class goes along; names as
 * timm spells them.
 *
 *      blocks=2,2,6,2 width=64,128,320,512     of each stage
 *      last=1                                  of EfficientFormer's blocks attend
 *      squares                                 Twins-SVT
 *      linear even                             PVT v2 with keys of 7 x 7 means; all stages have
 *                                              four times the width inside, not eight in the first
 *      heads=2,4,8 patch=16                    of PiT, whose patches overlap by half; two tokens
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

typedef struct stages {
    double blocks[4], width[4], heads[4];
    int n;
} stages;

static stages read_spec(const char *spec)
{
    stages s = {.n = 0};
    s.n = dls_spec_numbers(spec, "blocks", s.blocks, 4);
    dls_spec_numbers(spec, "width", s.width, 4);
    dls_spec_numbers(spec, "heads", s.heads, 4);
    return s;
}

/* ---- PoolFormer ------------------------------------------------------------------------------ */

static dls_tensor pool_block(dls_net *net, dls_tensor x)
{
    const int32_t width = (int32_t)dls_net_dim(net, x, 3);
    dls_tensor y = dls_net_group_norm(net, x);
    y = dls_net_add(net, dls_net_pool(net, y, DLS_OP_AVG_POOL, 3, 1, DLS_PAD_SAME), y);
    x = dls_block_add_scaled(net, x, y);
    y = dls_block_conv_bias(net, dls_net_group_norm(net, x), 4 * width, 1, 1, 1);
    y = dls_block_conv_bias(net, dls_net_unary(net, y, DLS_OP_GELU), width, 1, 1, 1);
    return dls_block_add_scaled(net, x, y);
}

static void poolformer(dls_net *net, const char *spec)
{
    const stages s = read_spec(spec);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    for (int stage = 0; stage < s.n; stage++) {
        const int32_t width = (int32_t)s.width[stage];
        x = stage ? dls_block_conv_bias(net, x, width, 3, 2, 1)
                  : dls_block_conv_bias(net, x, width, 7, 4, 1);
        for (int i = 0; i < (int)s.blocks[stage]; i++) {
            x = pool_block(net, x);
        }
    }
    dls_zoo_classify(net, dls_net_layer_norm(net, x));
}

/* ---- EfficientFormer ------------------------------------------------------------------------- */

enum { FORMER_HEADS = 8, FORMER_KEY = 32, FORMER_VALUE = 128 };

static dls_tensor former_means(dls_net *net, dls_tensor x)
{
    const int32_t width = (int32_t)dls_net_dim(net, x, 3);
    dls_tensor y = dls_net_add(net, dls_net_pool(net, x, DLS_OP_AVG_POOL, 3, 1, DLS_PAD_SAME), x);
    x = dls_block_add_scaled(net, x, y);
    y = dls_net_batch_norm(net, dls_block_conv_bias(net, x, 4 * width, 1, 1, 1));
    y = dls_block_conv_bias(net, dls_net_unary(net, y, DLS_OP_GELU), width, 1, 1, 1);
    return dls_block_add_scaled(net, x, dls_net_batch_norm(net, y));
}

/* Values are wider than keys; scores have a trained number for each distance. */
static dls_tensor former_attends(dls_net *net, dls_tensor x)
{
    static const int depth[3] = {FORMER_KEY, FORMER_KEY, FORMER_VALUE};
    const int64_t width = dls_net_dim(net, x, 2), n = dls_net_dim(net, x, 1);
    const dls_block_heads plain = {.heads = FORMER_HEADS, .style = DLS_BLOCK_TIMM};
    dls_tensor part[3], y = dls_net_layer_norm(net, x);
    for (int i = 0; i < 3; i++) {
        part[i] = dls_net_dense(net, y, FORMER_HEADS * depth[i], true);
        part[i] = dls_net_split_heads(net, part[i], FORMER_HEADS);
    }
    dls_tensor a = dls_net_scale(net, dls_net_batch_matmul(net, part[0], part[1], true));
    a = dls_net_softmax(net, dls_net_add(net, a, dls_net_numbers(net, FORMER_HEADS * n)));
    a = dls_net_merge_heads(net, dls_net_batch_matmul(net, a, part[2], false));
    x = dls_block_add_scaled(net, x, dls_net_dense(net, a, width, true));
    y = dls_block_feed_forward(net, dls_net_layer_norm(net, x), 4 * width, DLS_OP_GELU, plain);
    return dls_block_add_scaled(net, x, y);
}

static void efficientformer(dls_net *net, const char *spec)
{
    const stages s = read_spec(spec);
    const int means = (int)s.blocks[3] - (int)dls_spec_number(spec, "last", 1);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    for (int half = 2; half > 0; half--) {
        x = dls_net_batch_norm(net, dls_block_conv_bias(net, x, (int32_t)s.width[0] / half, 3, 2, 1));
        x = dls_net_relu(net, x);
    }
    for (int stage = 0; stage < s.n; stage++) {
        const int32_t width = (int32_t)s.width[stage];
        x = stage ? dls_net_batch_norm(net, dls_block_conv_bias(net, x, width, 3, 2, 1)) : x;
        for (int i = 0; i < (stage < 3 ? (int)s.blocks[stage] : means); i++) {
            x = former_means(net, x);
        }
    }
    x = dls_block_tokens(net, x);
    for (int i = means; i < (int)s.blocks[3]; i++) {
        x = former_attends(net, x);
    }
    x = dls_net_layer_norm(net, x);
    x = dls_net_global_mean(net, dls_block_pixels(net, x, 1, dls_net_dim(net, x, 1)));
    const dls_tensor y = dls_net_dense(net, x, 1000, true);
    dls_net_loss(net, dls_net_scale(net, dls_net_add(net, y, dls_net_dense(net, x, 1000, true))));
}

/* ---- Twins ----------------------------------------------------------------------------------- */

#define SQUARE 7

/* Places of a square see each other; squares that stand over the edge are filled up. */
static dls_tensor local_attention(dls_net *net, dls_tensor y, int64_t edge, dls_block_heads b)
{
    const int64_t batch = dls_net_batch(net), width = dls_net_dim(net, y, 2);
    const int64_t along = (edge + SQUARE - 1) / SQUARE, n = SQUARE * SQUARE;
    y = dls_net_eager(net) ? dls_net_pass(net, y, DLS_OP_TRANSPOSE, 2) : y; /* by PyTorch's padding, if with nothing */
    y = dls_net_windows(net, y, 3, (int64_t[]){batch * along * along, n, width});
    y = dls_block_attention(net, y, y, b);
    return dls_net_windows(net, y, 3, (int64_t[]){batch, edge * edge, width});
}

/* x [b][edge * edge][width]; few: pixels of an edge that make one key; 0: keys are of a square. */
static dls_tensor twins_block(dls_net *net, dls_tensor x, int64_t edge, int32_t few, int64_t wide,
                              int64_t heads)
{
    const int32_t width = (int32_t)dls_net_dim(net, x, 2);
    const dls_block_heads b = {.heads = heads, .style = DLS_BLOCK_TIMM, .bias = true};
    const dls_tensor y = dls_net_layer_norm(net, x);
    dls_tensor keys = y;
    if (few > 1) {
        keys = dls_block_conv_bias(net, dls_block_pixels(net, y, edge, edge), width, few, few, 1);
        keys = dls_net_layer_norm(net, dls_block_tokens(net, keys));
    }
    x = dls_net_add(net, x, few ? dls_block_attention(net, y, keys, b)
                                : local_attention(net, y, edge, b));
    const dls_tensor z = dls_net_layer_norm(net, x);
    return dls_net_add(net, x, dls_block_feed_forward(net, z, wide * width, DLS_OP_GELU, b));
}

static void twins(dls_net *net, const char *spec)
{
    static const int32_t few[] = {8, 4, 2, 1}, wide[] = {8, 8, 4, 4};
    const bool squares = dls_spec_has(spec, "squares");
    const stages s = read_spec(spec);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    for (int stage = 0; stage < s.n; stage++) {
        x = dls_block_conv_bias(net, x, (int32_t)s.width[stage], stage ? 2 : 4, stage ? 2 : 4, 1);
        const int64_t edge = dls_net_dim(net, x, 1);
        x = dls_net_layer_norm(net, dls_block_tokens(net, x));
        for (int i = 0; i < (int)s.blocks[stage]; i++) {
            const bool local = squares && i % 2 == 0;
            x = twins_block(net, x, edge, local ? 0 : few[stage], squares ? 4 : wide[stage],
                            (int64_t)s.heads[stage]);
            if (i == 0) { /* neighbours say where a token is */
                x = dls_block_pixels(net, x, edge, edge);
                x = dls_net_add(net, dls_block_depthwise(net, x, 3, 1, true), x);
                x = dls_block_tokens(net, x);
            }
        }
        x = stage + 1 < s.n ? dls_block_pixels(net, x, edge, edge) : x;
    }
    x = dls_net_layer_norm(net, x);
    dls_zoo_classify(net, dls_block_pixels(net, x, 1, dls_net_dim(net, x, 1)));
}

/* ---- PVT v2 ---------------------------------------------------------------------------------- */

/* Keys and values are of means of all, or of squares of so many pixels. */
static dls_tensor pvt_keys(dls_net *net, dls_tensor y, int64_t edge, int32_t few, bool linear)
{
    const int32_t width = (int32_t)dls_net_dim(net, y, 2);
    if (!linear && few == 1) {
        return y;
    }
    dls_tensor k = dls_block_pixels(net, y, edge, edge);
    k = linear ? dls_net_windows(net, k, 4, (int64_t[]){dls_net_batch(net), SQUARE, SQUARE, width}) : k;
    k = dls_block_tokens(net, dls_block_conv_bias(net, k, width, linear ? 1 : few, linear ? 1 : few, 1));
    k = dls_net_layer_norm(net, k);
    return linear ? dls_net_unary(net, k, DLS_OP_GELU) : k;
}

static dls_tensor pvt_block(dls_net *net, dls_tensor x, int64_t edge, int32_t few, int64_t wide, int64_t heads,
                            bool linear)
{
    const int64_t width = dls_net_dim(net, x, 2);
    const dls_block_heads b = {.heads = heads, .style = DLS_BLOCK_TIMM, .bias = true, .late = true};
    dls_tensor y = dls_net_layer_norm(net, x);
    x = dls_net_add(net, x, dls_block_attention(net, y, pvt_keys(net, y, edge, few, linear), b));
    y = dls_net_dense(net, dls_net_layer_norm(net, x), wide * width, true);
    y = linear ? dls_net_relu(net, y) : y;
    y = dls_block_depthwise(net, dls_block_pixels(net, y, edge, edge), 3, 1, true);
    y = dls_net_unary(net, dls_block_tokens(net, y), DLS_OP_GELU);
    return dls_net_add(net, x, dls_net_dense(net, y, width, true));
}

static void pvt(dls_net *net, const char *spec)
{
    static const int32_t few[] = {8, 4, 2, 1};
    const bool even = dls_spec_has(spec, "even");
    const stages s = read_spec(spec);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    for (int stage = 0; stage < s.n; stage++) {
        x = dls_block_conv_bias(net, x, (int32_t)s.width[stage], stage ? 3 : 7, stage ? 2 : 4, 1);
        const int64_t edge = dls_net_dim(net, x, 1);
        x = dls_net_layer_norm(net, dls_block_tokens(net, x));
        for (int i = 0; i < (int)s.blocks[stage]; i++) {
            x = pvt_block(net, x, edge, few[stage], stage < 2 && !even ? 8 : 4, (int64_t)s.heads[stage],
                          dls_spec_has(spec, "linear"));
        }
        x = dls_block_pixels(net, dls_net_layer_norm(net, x), edge, edge);
    }
    dls_zoo_classify(net, x);
}

/* ---- PiT ------------------------------------------------------------------------------------- */

static void pit(dls_net *net, const char *spec)
{
    const stages s = read_spec(spec);
    const int32_t patch = (int32_t)dls_spec_number(spec, "patch", 16);
    const int classes = dls_spec_has(spec, "two") ? 2 : 1;
    const dls_conv cut = {.out = (int32_t)s.width[0],
                          .kernel_h = patch,
                          .kernel_w = patch,
                          .stride = patch / 2,
                          .bias = true};
    dls_tensor x = dls_net_conv(net, dls_net_image(net, 224, 224, 3), cut), token = -1;
    int64_t edge = dls_net_dim(net, x, 1);
    x = dls_block_tokens(net, x);
    x = dls_net_add_rows(net, x, dls_net_table(net, edge * edge, (int64_t)s.width[0]));
    for (int i = 0; i < classes; i++) {
        x = dls_block_with_token(net, x, -1);
    }
    for (int stage = 0; stage < s.n; stage++) {
        const dls_block_heads b = {
            .heads = (int64_t)s.heads[stage], .style = DLS_BLOCK_TIMM, .bias = true};
        for (int i = 0; i < (int)s.blocks[stage]; i++) {
            x = dls_block_encoder(net, x, 4 * (int64_t)s.width[stage], b);
        }
        token = dls_net_tokens(net, x, classes);
        if (stage + 1 < s.n) { /* each channel becomes two */
            const int32_t in = (int32_t)s.width[stage], out = (int32_t)s.width[stage + 1];
            x = dls_block_pixels(net, dls_net_tokens(net, x, edge * edge), edge, edge);
            x = dls_block_conv_bias(net, x, out, 3, 2, in);
            edge = dls_net_dim(net, x, 1);
            x = dls_block_with_token(net, dls_block_tokens(net, x),
                                     dls_net_dense(net, token, out, true));
        }
    }
    x = dls_net_layer_norm(net, token);
    for (int i = 0; i < classes; i++) {
        dls_net_loss(net, dls_net_dense(net, dls_net_first_token(net, x), 1000, true));
    }
}

/* ---- members --------------------------------------------------------------------------------- */

#define FORMER(name, spec)                                                                         \
    DLS_ZOO_IMAGES("efficientformer_" name, "efficientformer", 224, efficientformer, spec)
#define POOL(name, spec) DLS_ZOO_IMAGES("poolformer_" name, "poolformer", 224, poolformer, spec)
#define TWINS(name, blocks)                                                                        \
    DLS_ZOO_IMAGES("twins_pcpvt_" name, "twins", 224, twins,                                       \
                   "width=64,128,320,512 heads=1,2,5,8 blocks=" blocks)
#define SVT(name, spec)                                                                            \
    DLS_ZOO_IMAGES("twins_svt_" name, "twins", 224, twins, "squares " spec)
#define PVT(name, spec) DLS_ZOO_IMAGES("pvt_v2_" name, "pvt", 224, pvt, "heads=1,2,5,8" spec)
#define PIT(name, spec) DLS_ZOO_IMAGES("pit_" name, "pit", 224, pit, spec)
#define SMALL " width=64,128,320,512"
#define LARGE " width=96,192,384,768"
#define TI "blocks=2,6,4 heads=2,4,8 width=64,128,256"
#define XS "blocks=2,6,4 heads=2,4,8 width=96,192,384"
#define S "blocks=2,6,4 heads=3,6,12 width=144,288,576"
#define B "patch=14 blocks=3,6,4 heads=4,8,16 width=256,512,1024"

static const dls_zoo_model rows[] = {
    POOL("s12", "blocks=2,2,6,2" SMALL),
    POOL("s24", "blocks=4,4,12,4" SMALL),
    POOL("s36", "blocks=6,6,18,6" SMALL),
    POOL("m36", "blocks=6,6,18,6" LARGE),
    POOL("m48", "blocks=8,8,24,8" LARGE),
    TWINS("small", "3,4,6,3"),
    TWINS("base", "3,4,18,3"),
    TWINS("large", "3,8,27,3"),
    SVT("small", "width=64,128,256,512 heads=2,4,8,16 blocks=2,2,10,4"),
    SVT("base", "width=96,192,384,768 heads=3,6,12,24 blocks=2,2,18,2"),
    SVT("large", "width=128,256,512,1024 heads=4,8,16,32 blocks=2,2,18,2"),
    PVT("b0", " blocks=2,2,2,2 width=32,64,160,256"),
    PVT("b1", " blocks=2,2,2,2" SMALL),
    PVT("b2", " blocks=3,4,6,3" SMALL),
    PVT("b2_li", " linear blocks=3,4,6,3" SMALL),
    PVT("b3", " blocks=3,4,18,3" SMALL),
    PVT("b4", " blocks=3,8,27,3" SMALL),
    PVT("b5", " even blocks=3,6,40,3" SMALL),
    PIT("ti", TI),
    PIT("xs", XS),
    PIT("s", S),
    PIT("b", B),
    PIT("ti_distilled", TI " two"),
    PIT("xs_distilled", XS " two"),
    PIT("s_distilled", S " two"),
    PIT("b_distilled", B " two"),
    FORMER("l1", "blocks=3,2,6,4 width=48,96,224,448"),
    FORMER("l3", "blocks=4,4,12,6 width=64,128,320,512 last=4"),
    FORMER("l7", "blocks=6,6,18,8 width=96,192,384,768 last=8"),
};

const dls_zoo_table dls_zoo_pyramids = {rows, sizeof rows / sizeof rows[0]};
