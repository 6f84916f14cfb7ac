/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Encoders whose decoders attend to what they say, with learned positions: BART (Lewis et al., 2020), of words,
 * and Whisper (Radford et al., 2022), which writes down what is said in a sound. Sizes as in Hugging Face's
 * configurations.
 *
 *      width=768 layers=6 heads=12   of each of both stacks
 *      words=50265                   rows of the table, which is the output, too
 *      written=4 heard=80            of Whisper: layers of the decoder alone; frequencies
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

typedef struct sizes {
    int64_t width, layers, heads, words;
} sizes;

static sizes sizes_of(const char *spec)
{
    return (sizes){.width = (int64_t)dls_spec_number(spec, "width", 0),
                   .layers = (int64_t)dls_spec_number(spec, "layers", 0),
                   .heads = (int64_t)dls_spec_number(spec, "heads", 0),
                   .words = (int64_t)dls_spec_number(spec, "words", 0)};
}

/* Rows of a table of positions: as many as there are, or more if more tokens are asked for. */
static dls_tensor with_places(dls_net *net, dls_tensor x, int64_t places, int64_t spare)
{
    const int64_t t = dls_net_dim(net, x, 1), rows = t > places ? t : places;
    return dls_net_add_rows(net, x, dls_net_table(net, rows + spare, dls_net_dim(net, x, 2)));
}

/* ---- BART ------------------------------------------------------------------------------------ */

#define BART_PLACES 1024
#define BART_SPARE 2 /* rows in front that no token has */

/* memory: what the encoder says, -1 in the encoder itself. */
static dls_tensor bart_stack(dls_net *net, dls_embedding words, dls_tensor memory, const sizes *s)
{
    const dls_block_heads b = {.heads = s->heads, .style = DLS_BLOCK_BART, .bias = true, .dropout = true};
    dls_block_heads own = b;
    own.causal = memory >= 0;
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, dls_net_sequence(net)));
    x = dls_net_layer_norm(net, with_places(net, x, BART_PLACES, BART_SPARE));
    x = dls_net_dropout(net, x);
    for (int64_t i = 0; i < s->layers; i++) {
        x = dls_block_post_norm(net, x, dls_block_attention(net, x, x, own));
        if (memory >= 0) {
            x = dls_block_post_norm(net, x, dls_block_attention(net, x, memory, b));
        }
        dls_tensor y = dls_net_unary(net, dls_net_dense(net, x, 4 * s->width, true), DLS_OP_GELU);
        y = dls_net_dense(net, dls_net_dropout(net, y), s->width, true);
        x = dls_block_post_norm(net, x, dls_net_dropout(net, y));
    }
    return x;
}

/* As many tokens out as in. */
static void bart(dls_net *net, const char *spec)
{
    const sizes s = sizes_of(spec);
    const dls_embedding words = dls_net_table(net, s.words, s.width);
    const dls_tensor read = bart_stack(net, words, -1, &s);
    const dls_tensor x = dls_net_tied(net, bart_stack(net, words, read, &s), words, false);
    dls_net_loss(net, dls_net_pass(net, x, DLS_OP_ADD, 0)); /* numbers for each word that are not trained */
}

/* ---- Whisper --------------------------------------------------------------------------------- */

#define FRAMES 3000 /* of 10 ms: every sound is filled up to 30 s, or cut */
#define WHISPER_PLACES 448

static dls_tensor heard(dls_net *net, dls_tensor x, int32_t width, int32_t stride)
{
    x = dls_net_conv(net, x,
                     (dls_conv){.out = width,
                                .kernel_h = 1,
                                .kernel_w = 3,
                                .stride = stride,
                                .pad = DLS_PAD_SAME,
                                .bias = true});
    return dls_net_unary(net, x, DLS_OP_GELU);
}

/* Attention's kinds: keys have no biases, and only words that come do not see each other. */
static dls_tensor whisper_stack(dls_net *net, dls_tensor x, dls_tensor memory, int64_t layers, const sizes *s)
{
    const dls_block_heads all = {
        .heads = s->heads, .style = DLS_BLOCK_BART, .bias = true, .plain_keys = true, .unmasked = true};
    dls_block_heads own = all;
    own.causal = memory >= 0;
    own.unmasked = memory < 0;
    for (int64_t i = 0; i < layers; i++) {
        dls_tensor y = dls_net_layer_norm(net, x);
        x = dls_net_add(net, x, dls_block_attention(net, y, y, own));
        if (memory >= 0) {
            x = dls_net_add(net, x, dls_block_attention(net, dls_net_layer_norm(net, x), memory, all));
        }
        y = dls_net_layer_norm(net, x);
        x = dls_net_add(net, x, dls_block_feed_forward(net, y, 4 * s->width, DLS_OP_GELU, all));
    }
    return dls_net_layer_norm(net, x);
}

/* A sequence's tokens are those that are written. */
static void whisper(dls_net *net, const char *spec)
{
    const sizes s = sizes_of(spec);
    dls_tensor x = dls_net_image(net, 1, FRAMES, (int32_t)dls_spec_number(spec, "heard", 80));
    x = heard(net, heard(net, x, (int32_t)s.width, 1), (int32_t)s.width, 2);
    x = dls_net_pass(net, dls_block_tokens(net, x), DLS_OP_ADD, 0); /* positions that are worked out */
    const dls_tensor sound = whisper_stack(net, x, -1, s.layers, &s);
    const dls_embedding words = dls_net_table(net, s.words, s.width);
    x = dls_net_lookup(net, words, dls_net_indices(net, dls_net_sequence(net)));
    x = with_places(net, x, WHISPER_PLACES, 0);
    x = whisper_stack(net, x, sound, (int64_t)dls_spec_number(spec, "written", (double)s.layers), &s);
    dls_net_loss(net, dls_net_tied(net, x, words, false));
}

/* ---- members --------------------------------------------------------------------------------- */

#define BART(name, batch, spec) DLS_ZOO_TEXTS("bart_" name, "bart", "cnn_dailymail", batch, 512, bart, spec)
#define WHISPER(name, batch, spec) DLS_ZOO_TEXTS("whisper_" name, "whisper", "common_voice", batch, 448, whisper, spec)
#define SOME " words=51865"
#define ENGLISH " words=51864"
#define TINY "width=384 layers=4 heads=6"
#define BASE "width=512 layers=6 heads=8"
#define SMALL "width=768 layers=12 heads=12"
#define MEDIUM "width=1024 layers=24 heads=16"
#define LARGE "width=1280 layers=32 heads=20"

static const dls_zoo_model rows[] = {
    BART("base", 16, "width=768 layers=6 heads=12 words=50265"),
    BART("large", 8, "width=1024 layers=12 heads=16 words=50265"),
    BART("large_cnn", 8, "width=1024 layers=12 heads=16 words=50264"),
    WHISPER("tiny", 16, TINY SOME),
    WHISPER("base", 16, BASE SOME),
    WHISPER("small", 16, SMALL SOME),
    WHISPER("medium", 8, MEDIUM SOME),
    WHISPER("large", 4, LARGE SOME),
    WHISPER("large_v3", 4, LARGE " words=51866 heard=128"),
    WHISPER("large_v3_turbo", 4, LARGE " words=51866 heard=128 written=4"),
    WHISPER("tiny_en", 16, TINY ENGLISH),
    WHISPER("base_en", 16, BASE ENGLISH),
    WHISPER("small_en", 16, SMALL ENGLISH),
    WHISPER("medium_en", 8, MEDIUM ENGLISH),
};

const dls_zoo_table dls_zoo_encdecs = {rows, sizeof rows / sizeof rows[0]};
