/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inverted residuals and attention one after the other: CoAtNet (Dai et al., 2021), whose last two stages
 * attend to the whole image, and MaxViT (Tu et al., 2022), where each block attends within windows and then
 * across them, names as timm spells them.
 *
 *      blocks=2,3,5,2 out=96,192,384,768      blocks and channels of each stage
 *      stem=32,64     channels of its two convolutions; biased: these have a bias
 *      windows        MaxViT, windows of a 32nd of the image's edge
 *      excite=0.25    channels that excite, of those of the depthwise convolution; early: before its norm
 *      within         blocks expand what they give, not what they get, and excite by a quarter of it
 *      late           attention has the channels of what it gets, its last product those of what it gives
 *      act            the norm before a block has an activation
 *      bare           the last product of a block has no bias; plain: nor has the shortcut of attention
 *      pool           blocks pool before their first product, else their depthwise convolution has a stride
 *      padded         PyTorch's program copies what is padded, with nothing or not, before it goes on by two
 *      largest        shortcuts and attention pool maxima of 3 x 3
 *      inner=512      places come from a network of so many channels that runs once a step, else from a table
 *      scaled         what attention and its products say is multiplied with trained numbers
 *      batch          attention has batch norms
 *      hidden         a product and tanh before the classes
 *      swish          in place of GELU in the convolutional blocks
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

typedef struct maxvit {
    double excite;
    int64_t inner;
    bool windows, early, within, late, act, bare, plain, pool, padded, largest, scaled, batch, swish;
} maxvit;

enum { STAGES = 4, HEAD = 32 };

static dls_tensor conv(dls_net *net, dls_tensor x, int32_t out, bool bias)
{
    return (bias ? dls_block_conv_bias : dls_block_conv)(net, x, out, 1, 1, 1);
}

static dls_tensor normed_act(dls_net *net, dls_tensor x, const maxvit *m)
{
    x = dls_net_batch_norm(net, x);
    return m->swish ? dls_net_in_place(net, x, DLS_OP_SWISH) : dls_net_unary(net, x, DLS_OP_GELU);
}

static dls_tensor normed(dls_net *net, dls_tensor x, const maxvit *m)
{
    return m->batch ? dls_net_batch_norm(net, x) : dls_net_layer_norm(net, x);
}

static dls_tensor padded(dls_net *net, dls_tensor x, const maxvit *m)
{
    return m->padded ? dls_net_pass(net, x, DLS_OP_PAD, 2) : x;
}

static dls_tensor halved(dls_net *net, dls_tensor x, const maxvit *m)
{
    x = padded(net, x, m);
    return m->largest ? dls_net_pool(net, x, DLS_OP_MAX_POOL, 3, 2, DLS_PAD_SAME) : dls_block_halved(net, x);
}

static dls_tensor shortcut_of(dls_net *net, dls_tensor x, int32_t out, int32_t stride, bool bias,
                              const maxvit *m)
{
    x = stride > 1 ? halved(net, x, m) : x;
    return dls_net_dim(net, x, 3) == out ? x : conv(net, x, out, bias);
}

static dls_tensor join(dls_net *net, dls_tensor x, dls_tensor y, const maxvit *m)
{
    return m->scaled ? dls_block_add_scaled(net, x, y) : dls_net_add(net, x, y);
}

static dls_tensor inverted(dls_net *net, dls_tensor x, int32_t out, int32_t stride, const maxvit *m)
{
    const int32_t mid = 4 * (m->within ? out : (int32_t)dls_net_dim(net, x, 3));
    const int32_t inner = (int32_t)(m->excite * (m->within ? out : mid));
    const dls_tensor shortcut = shortcut_of(net, x, out, stride, !m->bare, m);
    x = m->act ? normed_act(net, x, m) : dls_net_batch_norm(net, x);
    x = m->pool && stride > 1 ? dls_block_halved(net, x) : x;
    x = normed_act(net, dls_block_conv(net, x, mid, 1, 1, 1), m);
    x = stride > 1 ? padded(net, x, m) : x;
    x = dls_block_depthwise(net, x, 3, m->pool ? 1 : stride, false);
    x = m->early ? dls_block_squeeze_excite(net, x, inner) : x;
    x = normed_act(net, x, m);
    x = m->early ? x : dls_block_squeeze_excite(net, x, inner);
    return dls_net_add(net, conv(net, x, out, !m->bare), shortcut);
}

/* Trained numbers of places of a square of that edge. */
static int64_t places_of(const maxvit *m, int64_t edge, int64_t heads)
{
    return m->inner ? 3 * m->inner + (m->inner + 1) * heads : (2 * edge - 1) * (2 * edge - 1) * heads;
}

/* Of the whole image, by convolutions. */
static dls_tensor attention(dls_net *net, dls_tensor x, int32_t out, const maxvit *m)
{
    const int32_t width = m->late ? (int32_t)dls_net_dim(net, x, 3) : out;
    const int64_t edge = dls_net_dim(net, x, 1), heads = width / HEAD;
    dls_tensor part[3];
    dls_net_split(net, dls_block_tokens(net, conv(net, x, 3 * width, true)), 3, part);
    part[0] = dls_net_scale(net, part[0]);
    for (int i = 0; i < 3; i++) {
        part[i] = dls_net_split_heads(net, part[i], heads);
    }
    dls_tensor a = dls_net_batch_matmul(net, part[0], part[1], true);
    a = dls_net_softmax(net, dls_net_add(net, a, dls_net_numbers(net, places_of(m, edge, heads))));
    a = dls_net_merge_heads(net, dls_net_batch_matmul(net, a, part[2], false));
    return conv(net, dls_block_pixels(net, a, edge, edge), out, true);
}

static dls_tensor attending(dls_net *net, dls_tensor x, int32_t out, int32_t stride, const maxvit *m)
{
    dls_tensor y = normed(net, x, m);
    y = attention(net, stride > 1 ? halved(net, y, m) : y, out, m);
    x = join(net, shortcut_of(net, x, out, stride, !m->plain, m), y, m);
    y = dls_net_unary(net, conv(net, normed(net, x, m), 4 * out, true), DLS_OP_GELU);
    return join(net, x, conv(net, y, out, true), m);
}

/* Of squares, or of what is as far apart as these are large. */
static dls_tensor partitioned(dls_net *net, dls_tensor x, int64_t window, const maxvit *m)
{
    const int64_t b = dls_net_batch(net), width = dls_net_dim(net, x, 2), all = dls_net_dim(net, x, 1);
    const int64_t n = window * window, heads = width / HEAD;
    const dls_block_heads of = {
        .heads = heads, .bias = true, .style = DLS_BLOCK_TIMM, .places = places_of(m, window, heads)};
    dls_tensor y = dls_net_pass(net, dls_net_layer_norm(net, x), DLS_OP_TRANSPOSE, 2);
    y = dls_net_reshape(net, y, 3, (int64_t[]){b * all / n, n, width});
    y = dls_net_pass(net, dls_block_attention(net, y, y, of), DLS_OP_TRANSPOSE, 2);
    x = join(net, x, dls_net_reshape(net, y, 3, (int64_t[]){b, all, width}), m);
    y = dls_block_feed_forward(net, dls_net_layer_norm(net, x), 4 * width, DLS_OP_GELU, of);
    return join(net, x, y, m);
}

static dls_tensor maxvit_block(dls_net *net, dls_tensor x, int32_t out, int32_t stride, int64_t window,
                               const maxvit *m)
{
    x = inverted(net, x, out, stride, m);
    const int64_t edge = dls_net_dim(net, x, 1);
    x = partitioned(net, partitioned(net, dls_block_tokens(net, x), window, m), window, m);
    return dls_block_pixels(net, x, edge, edge);
}

static void design(dls_net *net, const char *spec)
{
    double blocks[STAGES] = {0}, out[STAGES] = {0}, stem[2] = {64, 64};
    const maxvit m = {.excite = dls_spec_number(spec, "excite", 0.25),
                      .inner = (int64_t)dls_spec_number(spec, "inner", 0),
                      .windows = dls_spec_has(spec, "windows"),
                      .early = dls_spec_has(spec, "early"),
                      .within = dls_spec_has(spec, "within"),
                      .late = dls_spec_has(spec, "late"),
                      .act = dls_spec_has(spec, "act"),
                      .bare = dls_spec_has(spec, "bare"),
                      .plain = dls_spec_has(spec, "plain"),
                      .pool = dls_spec_has(spec, "pool"),
                      .padded = dls_spec_has(spec, "padded") && dls_net_eager(net),
                      .largest = dls_spec_has(spec, "largest"),
                      .scaled = dls_spec_has(spec, "scaled"),
                      .batch = dls_spec_has(spec, "batch"),
                      .swish = dls_spec_has(spec, "swish")};
    dls_spec_numbers(spec, "blocks", blocks, STAGES);
    dls_spec_numbers(spec, "out", out, STAGES);
    dls_spec_numbers(spec, "stem", stem, 2);
    dls_tensor (*first)(dls_net *, dls_tensor, int32_t, int32_t, int32_t, int32_t) =
        dls_spec_has(spec, "biased") ? dls_block_conv_bias : dls_block_conv;
    dls_tensor x = dls_net_image(net, 224, 224, 3);
    const int64_t edge = dls_net_dim(net, x, 1), window = edge >= 32 ? edge / 32 : 1;
    x = normed_act(net, first(net, x, (int32_t)stem[0], 3, 2, 1), &m);
    x = first(net, x, (int32_t)stem[1], 3, 1, 1);
    for (int s = 0; s < STAGES; s++) {
        for (int i = 0; i < (int)blocks[s]; i++) {
            const int32_t c = (int32_t)out[s], stride = i == 0 ? 2 : 1;
            x = m.windows ? maxvit_block(net, x, c, stride, window, &m)
                : s < 2   ? inverted(net, x, c, stride, &m)
                          : attending(net, x, c, stride, &m);
        }
    }
    if (dls_spec_has(spec, "hidden")) {
        x = dls_net_layer_norm(net, dls_net_global_mean(net, x));
        x = dls_net_unary(net, dls_net_dense(net, x, dls_net_dim(net, x, 1), true), DLS_OP_TANH);
    } else {
        x = dls_net_global_mean(net, normed(net, x, &m));
    }
    dls_net_loss(net, dls_net_dense(net, x, 1000, true));
}

/* ---- members --------------------------------------------------------------------------------- */

#define O32 "out=32,64,128,256 "
#define O64 "out=64,128,256,512 "
#define O96 "out=96,192,384,768 "
#define O128 "out=128,256,512,1024 "
#define O192 "out=192,384,768,1536 "
#define COAT "late act bare swish stem=32,64 " O96
#define COAT128 "late act bare swish stem=64,128 blocks=2,6,14,2 " O128
#define COAT192 "late act bare swish scaled stem=96,192 blocks=2,6,14,2 " O192
#define NEW "late swish stem=32,64 " O64
#define PAPER "within hidden "
#define RW "windows bare swish excite=0.0625 "
#define TF "windows within hidden biased padded "
#define ROW(name, family, image, spec) DLS_ZOO_IMAGES(name, family, image, design, spec)
#define CO(name, spec) ROW("coatnet_" name, "coatnet", 224, spec)
#define MAX(name, image, spec) ROW("maxvit_" name, "maxvit", image, spec)

static const dls_zoo_model rows[] = {
    CO("pico_rw", NEW "blocks=2,3,5,2"),
    CO("nano_rw", NEW "pool blocks=3,4,6,3"),
    CO("0_rw", COAT "pool early plain blocks=2,3,7,2"),
    CO("1_rw", COAT "early plain blocks=2,6,14,2"),
    CO("2_rw", COAT128),
    CO("3_rw", COAT192),
    CO("bn_0_rw", COAT "early plain batch blocks=2,3,7,2"),
    CO("rmlp_nano_rw", NEW "inner=384 blocks=3,4,6,3"),
    CO("rmlp_0_rw", COAT "inner=512 blocks=2,3,7,2"),
    CO("rmlp_1_rw", COAT "pool largest early plain inner=384 blocks=2,6,14,2"),
    CO("rmlp_1_rw2", COAT "inner=512 blocks=2,6,14,2"),
    CO("rmlp_2_rw", COAT128 " scaled inner=512"),
    CO("rmlp_3_rw", COAT192 "inner=512"),
    CO("0", PAPER "stem=64,64 blocks=2,3,5,2 " O96),
    CO("1", PAPER "stem=64,64 blocks=2,6,14,2 " O96),
    CO("2", PAPER "stem=128,128 blocks=2,6,14,2 " O128),
    CO("3", PAPER "stem=192,192 blocks=2,6,14,2 " O192),
    CO("4", PAPER "stem=192,192 blocks=2,12,28,2 " O192),
    CO("5", PAPER "stem=192,192 blocks=2,12,28,2 out=256,512,1280,2048"),
    MAX("pico_rw_256", 256, RW "stem=24,32 blocks=2,2,5,2 " O32),
    MAX("nano_rw_256", 256, RW "stem=32,64 blocks=1,2,3,1 " O64),
    MAX("tiny_rw", 224, RW "stem=32,64 blocks=2,2,5,2 " O64),
    MAX("tiny_rw_256", 256, RW "stem=32,64 blocks=2,2,5,2 " O64),
    MAX("rmlp_pico_rw_256", 256, RW "inner=512 stem=24,32 blocks=2,2,5,2 " O32),
    MAX("rmlp_nano_rw_256", 256, RW "inner=512 stem=32,64 blocks=1,2,3,1 " O64),
    MAX("rmlp_tiny_rw_256", 256, RW "inner=512 stem=32,64 blocks=2,2,5,2 " O64),
    MAX("rmlp_small_rw", 224, RW "inner=512 scaled stem=32,64 blocks=2,2,5,2 " O96),
    MAX("rmlp_small_rw_256", 256, RW "inner=512 scaled stem=32,64 blocks=2,2,5,2 " O96),
    MAX("rmlp_base_rw", 224, RW "inner=512 hidden stem=32,64 blocks=2,6,14,2 " O96),
    MAX("tiny_tf", 224, TF "stem=64,64 blocks=2,2,5,2 " O64),
    MAX("small_tf", 224, TF "stem=64,64 blocks=2,2,5,2 " O96),
    MAX("base_tf", 224, TF "stem=64,64 blocks=2,6,14,2 " O96),
    MAX("large_tf", 224, TF "stem=128,128 blocks=2,6,14,2 " O128),
    MAX("xlarge_tf", 224, TF "stem=192,192 blocks=2,6,14,2 " O192),
};

const dls_zoo_table dls_zoo_maxvits = {rows, sizeof rows / sizeof rows[0]};
