/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Transformers that see an image at several scales: CrossViT (Chen et al., 2021), two ViTs whose
 * classes look at each other's patches; NesT (Zhang et al., 2022), squares that are joined; TNT
 * (Han et al., 2021), pixels within patches; CoaT (Xu et al., 2021), stages that exchange what they
 * see; names as timm spells them.
 *
 *      width=96 heads=3 depth=4 wide=4     of CrossViT's patches of 12 pixels; those of 16 have
 *                                          twice the width; deep: three convolutions cut them
 *      width=96 heads=3 blocks=2,2,8       of NesT's first stage, doubled; blocks of each
 *      width=384 heads=6                   of TNT's patches; pixels have a 16th of the width
 *      width=64,128,256,320 blocks=2,2,2,2 wide=8,8,4,4 beside=6    of CoaT's stages, and blocks
 *                                          in which the last three run beside each other
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

/* ---- CrossViT -------------------------------------------------------------------------------- */

#define SCALES 2

typedef struct scale {
    dls_tensor x;  /* [b][1 + patches][width] */
    int64_t width, patches;
    dls_block_heads heads;
} scale;

static scale cut(dls_net *net, dls_tensor image, int32_t width, int32_t patch, int64_t heads,
                 bool deep)
{
    scale s = {.width = width, .heads = {.heads = heads, .style = DLS_BLOCK_TIMM, .bias = true}};
    if (deep) {
        const int32_t stride = patch == 12 ? 3 : 2;
        s.x = dls_net_relu(net, dls_block_conv_bias(net, image, width / 4, 7, 4, 1));
        s.x = dls_net_relu(net, dls_block_conv_bias(net, s.x, width / 2, 3, stride, 1));
        s.x = dls_block_conv_bias(net, s.x, width, 3, patch / 4 / stride, 1);
        s.x = dls_block_tokens(net, s.x);
    } else {
        s.x = dls_block_patches(net, image, width, patch);
    }
    s.patches = dls_net_dim(net, s.x, 1);
    s.x = dls_block_with_token(net, s.x, -1);
    s.x = dls_net_add_rows(net, s.x, dls_net_table(net, s.patches + 1, width));
    return s;
}

static dls_tensor to_width(dls_net *net, dls_tensor token, int64_t width)
{
    token = dls_net_unary(net, dls_net_layer_norm(net, token), DLS_OP_GELU);
    return dls_net_dense(net, token, width, true);
}

/* The class of `of` among the patches of `by`, with its own patches again. */
static dls_tensor look_across(dls_net *net, const scale *of, const scale *by)
{
    const dls_tensor patches = dls_net_tokens(net, by->x, by->patches);
    dls_tensor token = to_width(net, dls_net_tokens(net, of->x, 1), by->width);
    const dls_tensor all = dls_block_with_token(net, patches, token);
    const dls_tensor y = dls_net_layer_norm(net, all);
    const dls_tensor seen = dls_block_attention(net, dls_net_tokens(net, y, 1), y, by->heads);
    token = to_width(net, dls_net_add(net, dls_net_tokens(net, all, 1), seen), of->width);
    return dls_block_with_token(net, dls_net_tokens(net, of->x, of->patches), token);
}

static void crossvit(dls_net *net, const char *spec)
{
    const int32_t width = (int32_t)dls_spec_number(spec, "width", 192);
    const int64_t heads = (int64_t)dls_spec_number(spec, "heads", 6);
    const int depth = (int)dls_spec_number(spec, "depth", 4);
    const double wide = dls_spec_number(spec, "wide", 3);
    const bool deep = dls_spec_has(spec, "deep");
    const dls_tensor image = dls_net_image(net, 240, 240, 3);
    /* Seven tenths as many large patches along an edge: the image is made smaller for them. */
    const int64_t edge = 16 * ((7 * (dls_net_dim(net, image, 1) / 12) + 5) / 10);
    const dls_tensor less =
        dls_net_windows(net, image, 4, (int64_t[]){dls_net_batch(net), edge, edge, 3});
    scale s[SCALES] = {cut(net, image, width, 12, heads, deep),
                       cut(net, less, 2 * width, 16, heads, deep)};
    for (int block = 0; block < 3; block++) {
        for (int k = 0; k < SCALES; k++) {
            for (int i = 0; i < (k ? depth : 1); i++) {
                s[k].x = dls_block_encoder(net, s[k].x, (int64_t)(wide * (double)s[k].width),
                                           s[k].heads);
            }
        }
        const dls_tensor first = look_across(net, &s[0], &s[1]);
        s[1].x = look_across(net, &s[1], &s[0]);
        s[0].x = first;
    }
    dls_tensor sum = -1;
    for (int k = 0; k < SCALES; k++) {
        dls_tensor x = dls_net_first_token(net, dls_net_layer_norm(net, s[k].x));
        x = dls_net_dense(net, x, 1000, true);
        sum = k ? dls_net_add(net, sum, x) : x;
    }
    dls_net_loss(net, dls_net_scale(net, sum));
}

/* ---- NesT ------------------------------------------------------------------------------------ */

static void nest(dls_net *net, const char *spec)
{
    const int64_t b = dls_net_batch(net);
    double blocks[3] = {0};
    int32_t width = (int32_t)dls_spec_number(spec, "width", 96);
    int64_t heads = (int64_t)dls_spec_number(spec, "heads", 3);
    dls_spec_numbers(spec, "blocks", blocks, 3);
    dls_tensor x = dls_block_conv_bias(net, dls_net_image(net, 224, 224, 3), width, 4, 4, 1);
    for (int stage = 0; stage < 3; stage++, width *= 2, heads *= 2) {
        const int64_t squares = 16 >> 2 * stage;
        if (stage > 0) {
            x = dls_net_layer_norm(net, dls_block_conv_bias(net, x, width, 3, 1, 1));
            x = dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, DLS_PAD_SAME);
        }
        const int64_t edge = dls_net_dim(net, x, 1), n = edge * edge;
        x = dls_block_tokens(net, dls_net_pass(net, x, DLS_OP_TRANSPOSE, 2));
        x = dls_net_add_rows(net, x, dls_net_table(net, n, width));
        x = dls_net_reshape(net, x, 3, (int64_t[]){b * squares, n / squares, width});
        for (int i = 0; i < (int)blocks[stage]; i++) {
            x = dls_block_encoder(net, x, 4 * (int64_t)width,
                                  (dls_block_heads){
                                      .heads = heads, .style = DLS_BLOCK_TIMM, .bias = true});
        }
        x = dls_net_pass(net, x, DLS_OP_TRANSPOSE, 2);
        x = dls_net_reshape(net, x, 4, (int64_t[]){b, edge, edge, width});
    }
    dls_zoo_classify(net, dls_net_layer_norm(net, x));
}

/* ---- TNT ------------------------------------------------------------------------------------- */

#define PIXELS 16 /* of a patch, four pixels of the image apart */

static void tnt(dls_net *net, const char *spec)
{
    const int64_t b = dls_net_batch(net);
    const int32_t width = (int32_t)dls_spec_number(spec, "width", 384), each = width / PIXELS;
    const dls_block_heads heads = {.heads = (int64_t)dls_spec_number(spec, "heads", 6),
                                   .style = DLS_BLOCK_TIMM,
                                   .late = true,
                                   .last_bias = true};
    const dls_block_heads few = {.heads = 4, .style = DLS_BLOCK_TIMM, .late = true, .last_bias = true};
    dls_tensor x = dls_block_conv_bias(net, dls_net_image(net, 224, 224, 3), each, 7, 4, 1);
    const int64_t n = dls_net_dim(net, x, 1) * dls_net_dim(net, x, 2) / PIXELS;
    x = dls_net_pass(net, dls_net_pass(net, x, DLS_OP_TRANSPOSE, 2), DLS_OP_TRANSPOSE, 2);
    x = dls_net_reshape(net, x, 3, (int64_t[]){b * n, PIXELS, each});
    x = dls_net_add_rows(net, x, dls_net_table(net, PIXELS, each));
    x = dls_net_eager(net) ? dls_net_turned(net, x) : x; /* pixels lie by channel */
    dls_tensor y = dls_net_layer_norm(net, dls_net_reshape(net, x, 3, (int64_t[]){b, n, width}));
    y = dls_net_layer_norm(net, dls_net_dense(net, y, width, true));
    y = dls_block_with_token(net, y, -1);
    y = dls_net_add_rows(net, y, dls_net_table(net, n + 1, width));
    for (int i = 0; i < 12; i++) {
        x = dls_block_encoder(net, x, 4 * (int64_t)each, few);
        dls_tensor z = dls_net_layer_norm(net, x);
        z = dls_net_dense(net, dls_net_reshape(net, z, 3, (int64_t[]){b, n, width}), width, true);
        z = dls_net_add(net, dls_net_tokens(net, y, n), z);
        y = dls_block_with_token(net, z, dls_net_tokens(net, y, 1));
        y = dls_block_encoder(net, y, 4 * (int64_t)width, heads);
    }
    y = dls_net_first_token(net, dls_net_layer_norm(net, y));
    dls_net_loss(net, dls_net_dense(net, y, 1000, true));
}

/* ---- CoaT ------------------------------------------------------------------------------------ */

#define STAGES 4
#define HEADS 8

/* x [b][1 + edge * edge][width]; convolutions of a stage are the same in all of its blocks: which
 * arrays they train, -1 before they are there. */
typedef struct stage {
    dls_tensor x;
    int64_t edge, width, inner;
    int32_t places, around;
} stage;

/* What follows trains the arrays *from on, which are new where it is -1, until `ends`. */
static void shares(dls_net *net, int32_t *from)
{
    if (*from < 0) {
        *from = dls_net_trained(net);
    } else {
        dls_net_share(net, *from);
    }
}

static void ends(dls_net *net)
{
    dls_net_share(net, dls_net_trained(net));
}

static dls_tensor image_of(dls_net *net, dls_tensor x, int64_t edge)
{
    return dls_block_pixels(net, dls_net_tokens(net, x, edge * edge), edge, edge);
}

/* Neighbours say where a patch is. */
static dls_tensor with_places(dls_net *net, stage *s)
{
    const dls_tensor image = image_of(net, s->x, s->edge);
    shares(net, &s->places);
    dls_tensor y = dls_block_depthwise(net, image, 3, 1, true);
    ends(net);
    y = dls_block_tokens(net, dls_net_add(net, y, image));
    return dls_block_with_token(net, y, dls_net_tokens(net, s->x, 1));
}

/* Values of the patches around each, seen by windows of 3, 5 and 7 for 2, 3 and 3 of the heads. */
static dls_tensor surroundings(dls_net *net, stage *s, dls_tensor v)
{
    static const int32_t window[] = {3, 5, 7}, heads[] = {2, 3, 3};
    const dls_tensor image = image_of(net, v, s->edge);
    dls_tensor part[3];
    shares(net, &s->around);
    for (int i = 0; i < 3; i++) {
        part[i] = dls_net_channels(net, image, heads[i] * s->width / HEADS);
        part[i] = dls_block_depthwise(net, part[i], window[i], 1, true);
    }
    ends(net);
    return dls_block_tokens(net, dls_net_concat(net, part, 3));
}

/* Keys, normed over the tokens, by values first: a product whose size no token changes. */
static dls_tensor factor_attention(dls_net *net, stage *s, dls_tensor y)
{
    dls_tensor part[3];
    dls_net_split(net, dls_net_dense(net, y, 3 * s->width, true), 3, part);
    const dls_tensor q = dls_net_split_heads(net, part[0], HEADS);
    const dls_tensor v = dls_net_split_heads(net, part[2], HEADS);
    /* [b][heads][width / heads][tokens] */
    const int64_t n = dls_net_dim(net, y, 1), each = s->width / HEADS;
    const int64_t turned[] = {dls_net_batch(net), HEADS, each, n};
    dls_tensor k = dls_net_turned(net, dls_net_reshape(net, part[1], 4, turned));
    k = dls_net_batch_matmul(net, dls_net_softmax(net, k), v, false);
    dls_tensor a = dls_net_merge_heads(net, dls_net_batch_matmul(net, q, k, false));
    dls_tensor near = surroundings(net, s, part[2]);
    near = dls_net_mul(net, near, dls_net_tokens(net, part[0], n - 1));
    near = dls_block_with_token(net, near, dls_net_tokens(net, part[0], 1));
    a = dls_net_add(net, dls_net_scale(net, a), near);
    return dls_net_dense(net, a, s->width, true);
}

static dls_tensor feed_forward(dls_net *net, const stage *s, dls_tensor x)
{
    return dls_block_feed_forward(net, dls_net_layer_norm(net, x), s->inner, DLS_OP_GELU,
                                  (dls_block_heads){.heads = 1});
}

/* Another stage's as one of this stage's edge; its class as it is. */
static dls_tensor resized(dls_net *net, dls_tensor x, const stage *to)
{
    return dls_net_windows(
        net, x, 3, (int64_t[]){dls_net_batch(net), to->edge * to->edge + 1, to->width});
}

/* Stages 1 to 3, which are equally wide and have one feed-forward part. */
static void beside_each_other(dls_net *net, stage *s)
{
    dls_tensor seen[STAGES];
    int32_t from = -1;
    for (int k = 1; k < STAGES; k++) {
        s[k].x = with_places(net, &s[k]);
    }
    for (int k = 1; k < STAGES; k++) {
        seen[k] = factor_attention(net, &s[k], dls_net_layer_norm(net, s[k].x));
    }
    for (int k = 1; k < STAGES; k++) {
        dls_tensor sum = seen[k];
        for (int other = 1; other < STAGES; other++) {
            sum = other == k ? sum : dls_net_add(net, sum, resized(net, seen[other], &s[k]));
        }
        s[k].x = dls_net_add(net, s[k].x, sum);
    }
    for (int k = 1; k < STAGES; k++) {
        const dls_tensor y = dls_net_layer_norm(net, s[k].x);
        shares(net, &from);
        const dls_tensor z = dls_block_feed_forward(net, y, s[k].inner, DLS_OP_GELU,
                                                    (dls_block_heads){.heads = 1});
        ends(net);
        s[k].x = dls_net_add(net, s[k].x, z);
    }
}

/* The classes of the last three stages, weighed by three numbers. */
static dls_tensor class_of_all(dls_net *net, const stage *s)
{
    const int64_t b = dls_net_batch(net), w = s[STAGES - 1].width;
    dls_tensor token[STAGES - 1];
    for (int k = 1; k < STAGES; k++) {
        token[k - 1] = dls_net_first_token(net, dls_net_layer_norm(net, s[k].x));
    }
    dls_tensor y = dls_net_concat(net, token, STAGES - 1);
    y = dls_net_reshape(net, y, 3, (int64_t[]){b, w, STAGES - 1});
    return dls_net_reshape(net, dls_net_dense(net, y, 1, true), 2, (int64_t[]){b, w});
}

static void coat(dls_net *net, const char *spec)
{
    double blocks[STAGES] = {0}, width[STAGES] = {0}, wide[STAGES] = {0};
    const int beside = (int)dls_spec_number(spec, "beside", 0);
    stage s[STAGES];
    dls_spec_numbers(spec, "blocks", blocks, STAGES);
    dls_spec_numbers(spec, "width", width, STAGES);
    dls_spec_numbers(spec, "wide", wide, STAGES);
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    for (int k = 0; k < STAGES; k++) {
        s[k] = (stage){.edge = dls_net_dim(net, x, 1) / (k ? 2 : 4),
                       .width = (int64_t)width[k],
                       .inner = (int64_t)(width[k] * wide[k]),
                       .places = -1,
                       .around = -1};
        x = dls_block_patches(net, x, (int32_t)width[k], k ? 2 : 4);
        s[k].x = dls_block_with_token(net, dls_net_layer_norm(net, x), -1);
        for (int i = 0; i < (int)blocks[k]; i++) {
            s[k].x = with_places(net, &s[k]);
            const dls_tensor y = dls_net_layer_norm(net, s[k].x);
            s[k].x = dls_net_add(net, s[k].x, factor_attention(net, &s[k], y));
            s[k].x = dls_net_add(net, s[k].x, feed_forward(net, &s[k], s[k].x));
        }
        x = k + 1 < STAGES
                ? dls_net_pass(net, image_of(net, s[k].x, s[k].edge), DLS_OP_TRANSPOSE, 2)
                : x;
    }
    for (int i = 0; i < beside; i++) {
        beside_each_other(net, s);
    }
    x = beside ? class_of_all(net, s)
               : dls_net_first_token(net, dls_net_layer_norm(net, s[STAGES - 1].x));
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}

/* ---- members --------------------------------------------------------------------------------- */

#define CROSS(name, spec) DLS_ZOO_IMAGES("crossvit_" name, "crossvit", 240, crossvit, spec)
#define NEST(name, spec) DLS_ZOO_IMAGES("nest_" name, "nest", 224, nest, spec)
#define TNT(name, spec) DLS_ZOO_IMAGES("tnt_" name "_patch16", "tnt", 224, tnt, spec)
#define COAT(name, spec) DLS_ZOO_IMAGES("coat_" name, "coat", 224, coat, spec)
#define LITE "wide=8,8,4,4 width=64,128,"

static const dls_zoo_model rows[] = {
    CROSS("tiny", "width=96 heads=3 wide=4"),
    CROSS("small", "width=192 heads=6 wide=4"),
    CROSS("base", "width=384 heads=12 wide=4"),
    CROSS("9", "width=128 heads=4 depth=3"),
    CROSS("15", "width=192 heads=6 depth=5"),
    CROSS("18", "width=224 heads=7 depth=6"),
    CROSS("9_dagger", "width=128 heads=4 depth=3 deep"),
    CROSS("15_dagger", "width=192 heads=6 depth=5 deep"),
    CROSS("18_dagger", "width=224 heads=7 depth=6 deep"),
    NEST("tiny", "width=96 heads=3 blocks=2,2,8"),
    NEST("small", "width=96 heads=3 blocks=2,2,20"),
    NEST("base", "width=128 heads=4 blocks=2,2,20"),
    TNT("s", "width=384 heads=6"),
    TNT("b", "width=640 heads=10"),
    COAT("tiny", "width=152,152,152,152 blocks=2,2,2,2 wide=4,4,4,4 beside=6"),
    COAT("mini", "width=152,216,216,216 blocks=2,2,2,2 wide=4,4,4,4 beside=6"),
    COAT("lite_tiny", LITE "256,320 blocks=2,2,2,2"),
    COAT("lite_mini", LITE "320,512 blocks=2,2,2,2"),
    COAT("lite_small", LITE "320,512 blocks=3,4,6,3"),
};

const dls_zoo_table dls_zoo_scales = {rows, sizeof rows / sizeof rows[0]};
