/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The network of Stable Diffusion that is trained (Rombach et al., 2022): a U of residual and attention blocks, which
 * says what noise was added to an image that an autoencoder made eight times smaller, given its text. Sizes as in
 * diffusers' configurations. Autoencoder and reader of texts, which are not trained, are not here.
 *
 *      text=768    width of what is read of the text, 77 tokens
 *      heads=8     of attention; each=64: numbers of one, in its place
 *      linear      products in the place of 1 x 1 convolutions around attention
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define LEVELS 4
#define BLOCKS 2 /* of a level on the way down; one more on the way up */
#define FIRST 320
#define TIME (4 * FIRST)
#define TOKENS 77
#define MAX_SKIPS (LEVELS * (BLOCKS + 1))

typedef struct unet {
    dls_tensor text, time; /* what all blocks are told */
    int64_t heads, each;
    bool linear;
    dls_tensor skip[MAX_SKIPS];
    int skips;
} unet;

static dls_tensor norm_swish(dls_net *net, dls_tensor x)
{
    return dls_net_unary(net, dls_net_group_norm(net, x), DLS_OP_SWISH);
}

static dls_tensor residual(dls_net *net, dls_tensor x, int32_t out, const unet *u)
{
    const bool same = dls_net_dim(net, x, 3) == out;
    dls_tensor y = dls_block_conv_bias(net, norm_swish(net, x), out, 3, 1, 1);
    const dls_tensor t = dls_net_dense(net, dls_net_unary(net, u->time, DLS_OP_SWISH), out, true);
    y = dls_net_add(net, y, dls_net_reshape(net, t, 4, (int64_t[]){dls_net_batch(net), 1, 1, out}));
    y = dls_block_conv_bias(net, norm_swish(net, y), out, 3, 1, 1);
    return dls_net_add(net, same ? x : dls_block_conv_bias(net, x, out, 1, 1, 1), y);
}

static dls_tensor gated(dls_net *net, dls_tensor x)
{
    dls_tensor half[2];
    const int64_t width = dls_net_dim(net, x, 2);
    dls_net_split(net, dls_net_dense(net, x, 8 * width, true), 2, half);
    return dls_net_dense(net, dls_net_mul(net, half[0], dls_net_unary(net, half[1], DLS_OP_GELU)), width, true);
}

/* On the image's own pixels, and on the text. */
static dls_tensor attended(dls_net *net, dls_tensor image, const unet *u)
{
    const int64_t h = dls_net_dim(net, image, 1), w = dls_net_dim(net, image, 2), width = dls_net_dim(net, image, 3);
    const bool parts = u->each > 0 && width >= u->each; /* all widths of a network that failed are 1 */
    const dls_block_heads b = {.heads = parts ? width / u->each : u->heads,
                               .style = DLS_BLOCK_BART,
                               .unmasked = true,
                               .last_bias = true};
    dls_tensor x = dls_net_group_norm(net, image);
    x = u->linear ? dls_net_dense(net, dls_block_tokens(net, x), width, true)
                  : dls_block_tokens(net, dls_block_conv_bias(net, x, (int32_t)width, 1, 1, 1));
    dls_tensor y = dls_net_layer_norm(net, x);
    x = dls_net_add(net, x, dls_block_attention(net, y, y, b));
    x = dls_net_add(net, x, dls_block_attention(net, dls_net_layer_norm(net, x), u->text, b));
    x = dls_net_add(net, x, gated(net, dls_net_layer_norm(net, x)));
    x = u->linear ? dls_block_pixels(net, dls_net_dense(net, x, width, true), h, w)
                  : dls_block_conv_bias(net, dls_block_pixels(net, x, h, w), (int32_t)width, 1, 1, 1);
    return dls_net_add(net, image, x);
}

static dls_tensor keep(dls_tensor x, unet *u)
{
    return u->skip[u->skips++] = x;
}

static dls_tensor down(dls_net *net, dls_tensor x, const int32_t *widths, unet *u)
{
    for (int level = 0; level < LEVELS; level++) {
        for (int i = 0; i < BLOCKS; i++) {
            x = residual(net, x, widths[level], u);
            x = keep(level + 1 < LEVELS ? attended(net, x, u) : x, u);
        }
        if (level + 1 < LEVELS) {
            x = keep(dls_block_conv_bias(net, x, widths[level], 3, 2, 1), u);
        }
    }
    return x;
}

static dls_tensor up(dls_net *net, dls_tensor x, const int32_t *widths, unet *u)
{
    for (int level = LEVELS - 1; level >= 0; level--) {
        for (int i = 0; i <= BLOCKS; i++) {
            const dls_tensor both = dls_net_concat(net, (dls_tensor[]){x, u->skip[--u->skips]}, 2);
            x = residual(net, both, widths[level], u);
            x = level + 1 < LEVELS ? attended(net, x, u) : x;
        }
        if (level > 0) {
            x = dls_block_enlarged(net, x, u->skip[u->skips - 1]);
            x = dls_block_conv_bias(net, x, widths[level], 3, 1, 1);
        }
    }
    return x;
}

static void stable_diffusion(dls_net *net, const char *spec)
{
    static const int32_t widths[LEVELS] = {FIRST, 2 * FIRST, 4 * FIRST, 4 * FIRST};
    const int32_t text = (int32_t)dls_spec_number(spec, "text", 768);
    unet u = {.heads = (int64_t)dls_spec_number(spec, "heads", 8),
              .each = (int64_t)dls_spec_number(spec, "each", 0),
              .linear = dls_spec_has(spec, "linear")};
    dls_tensor x = dls_net_latents(net, 512, 8, 64, 4);
    u.text = dls_net_reshape(net, dls_net_dense_input(net, TOKENS * text), 3,
                             (int64_t[]){dls_net_batch(net), TOKENS, text});
    u.time = dls_net_dense(net, dls_net_dense_input(net, FIRST), TIME, true);
    u.time = dls_net_dense(net, dls_net_unary(net, u.time, DLS_OP_SWISH), TIME, true);
    x = down(net, keep(dls_block_conv_bias(net, x, FIRST, 3, 1, 1), &u), widths, &u);
    x = residual(net, x, widths[LEVELS - 1], &u);
    x = residual(net, attended(net, x, &u), widths[LEVELS - 1], &u);
    x = norm_swish(net, up(net, x, widths, &u));
    dls_net_loss(net, dls_block_conv_bias(net, x, 4, 3, 1, 1));
}

#define DIFFUSION(name_, image_, spec_)                                                                                \
    {                                                                                                                  \
        .name = (name_), .family = "diffusion", .dataset = "laion", .batch = 4, .optimiser = DLS_OPTIMISER_ADAM,       \
        .design = stable_diffusion, .spec = (spec_), .image = (image_)                                                 \
    }

static const dls_zoo_model rows[] = {
    DIFFUSION("stable_diffusion_1", 512, "text=768 heads=8"),
    DIFFUSION("stable_diffusion_2", 768, "text=1024 each=64 linear"),
    DIFFUSION("stable_diffusion_2_base", 512, "text=1024 each=64 linear"),
};

const dls_zoo_table dls_zoo_diffusions = {rows, sizeof rows / sizeof rows[0]};
