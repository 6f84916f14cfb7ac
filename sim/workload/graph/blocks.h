/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Blocks that several models of the zoo and the random models are made of.
 */
#ifndef DLS_GRAPH_BLOCKS_H
#define DLS_GRAPH_BLOCKS_H

#include "workload/graph/net.h"

/* ---- images [b][h][w][c]; padded so that only the stride makes them smaller ------------------ */

/* Square kernels; a kernel that is no larger than its stride is not padded. */
dls_tensor dls_block_conv(dls_net *net, dls_tensor x, int32_t out, int32_t kernel, int32_t stride,
                          int32_t groups);
dls_tensor dls_block_conv_bias(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                               int32_t stride, int32_t groups);
dls_tensor dls_block_depthwise(dls_net *net, dls_tensor x, int32_t kernel, int32_t stride,
                               bool bias);
/* With batch norm, no bias. */
dls_tensor dls_block_conv_bn(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                             int32_t stride);
dls_tensor dls_block_conv_bn_relu(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                                  int32_t stride);
dls_tensor dls_block_grouped_bn_relu(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                                     int32_t stride, int32_t groups);
dls_tensor dls_block_bn_relu(dls_net *net, dls_tensor x);
dls_tensor dls_block_conv_bias_relu(dls_net *net, dls_tensor x, int32_t out, int32_t kernel,
                                    int32_t stride, int32_t pad);
dls_tensor dls_block_depthwise_bn(dls_net *net, dls_tensor x, int32_t kernel, int32_t stride);
/* x times the sigmoid of s [b][c], channel by channel. */
dls_tensor dls_block_weigh(dls_net *net, dls_tensor x, dls_tensor s);
/* Scale the channels by what their means say (Hu et al., 2018); `inner` channels in between, 0: by
 * the means alone, over which one row of weights slides (ECA, Wang et al., 2020). */
dls_tensor dls_block_squeeze_excite(dls_net *net, dls_tensor x, int32_t inner);
/* The pixels' mean by weights of their own, through two products with `inner` channels in between, is
 * added to all pixels, or weighs their channels (global context: Cao et al., 2019). */
dls_tensor dls_block_context(dls_net *net, dls_tensor x, int64_t inner, bool weighs);
/* Means of 2 x 2 pixels. */
dls_tensor dls_block_halved(dls_net *net, dls_tensor x);
/* Every second pixel, with those around it (Zhang, 2019): PyTorch pads, and then looks at 3 x 3. */
dls_tensor dls_block_blurred(dls_net *net, dls_tensor x);
/* Nearest neighbours: each pixel becomes four until there are as many as of `like`. */
dls_tensor dls_block_enlarged(dls_net *net, dls_tensor x, dls_tensor like);
/* [b][h][w][c] to [b][h * w][c], and back. */
dls_tensor dls_block_tokens(dls_net *net, dls_tensor x);
dls_tensor dls_block_pixels(dls_net *net, dls_tensor x, int64_t h, int64_t w);
/* Squares of so many pixels as tokens. */
dls_tensor dls_block_patches(dls_net *net, dls_tensor x, int32_t width, int32_t patch);

/* ---- vectors and sequences ------------------------------------------------------------------- */

/* n dense layers, each with ReLU. */
dls_tensor dls_block_mlp(dls_net *net, dls_tensor x, const int64_t *widths, int n);

/* The words of a sequence of t through a table of their own. */
dls_tensor dls_block_embed(dls_net *net, int64_t rows, int64_t width, int32_t t);

/* One LSTM layer over all steps, [b][t][d] to [b][t][width], as tf.nn.dynamic_rnn with
 * BasicLSTMCell: one matrix product of input and state per step. */
dls_tensor dls_block_lstm(dls_net *net, dls_tensor x, int32_t width);

/* Rows over a number that is worked out of all of each; `back`: as of dls_net_pass. */
dls_tensor dls_block_divided(dls_net *net, dls_tensor x, dls_op_kind kind, int back);
/* The last dimension brought to length 1. */
dls_tensor dls_block_unit(dls_net *net, dls_tensor x);
/* Norms without the batch's mean, with the activation that is part of them; else scale and offset
 * alone stay of B0, and S0 divides all the same. */
typedef enum dls_block_norm {
    DLS_BLOCK_BATCH_NORM, /* none of them: its activation is apart */
    DLS_BLOCK_EVO_S0,     /* Liu et al., 2020; by the deviation of groups of channels */
    DLS_BLOCK_EVO_B0,     /* of the batch, or of a channel of the image, which is larger */
    DLS_BLOCK_FRN         /* Singh and Krishnan, 2020 */
} dls_block_norm;
dls_tensor dls_block_norm_act(dls_net *net, dls_tensor x, dls_block_norm norm, bool act);
/* Scores [b][heads][..] times a trained number of each head. */
dls_tensor dls_block_warmed(dls_net *net, dls_tensor a);
/* A constant times the tanh of x divided by it. */
dls_tensor dls_block_capped(dls_net *net, dls_tensor x);

/* x plus y, which is multiplied channel by channel with trained numbers. */
dls_tensor dls_block_add_scaled(dls_net *net, dls_tensor x, dls_tensor y);
/* Tokens in front, [b][width] or [b][several][width]; -1: a trained one. */
dls_tensor dls_block_with_token(dls_net *net, dls_tensor x, dls_tensor token);

/* softmax(q k^T) v; all [b][t][d] */
dls_tensor dls_block_attend(dls_net *net, dls_tensor q, dls_tensor k, dls_tensor v);

/* Whose implementation is followed where PyTorch's kernels are written down (Hugging Face's):
 * BERT adds a mask to the scores; GPT makes queries, keys and values in one product, selects by a
 * mask and spells GELU out; OPT scales queries, adds its mask, bounds the sums and drops no scores;
 * T5 does not scale and adds a bias of places, or a mask, to the scores; LLaMA and all decoders since
 * repeat keys and values for their queries, and add a mask of 32 bits. timm's make queries, keys and
 * values of one thing in one product, too, and scale queries; `masked`: a mask is added to the scores.
 * BART scales queries and adds a mask; `unmasked`: none, as in Whisper's encoder and in diffusion.
 */
typedef enum dls_block_style {
    DLS_BLOCK_PLAIN,
    DLS_BLOCK_BERT,
    DLS_BLOCK_GPT,
    DLS_BLOCK_OPT,
    DLS_BLOCK_T5,
    DLS_BLOCK_LLAMA,
    DLS_BLOCK_TIMM,
    DLS_BLOCK_BART
} dls_block_style;

typedef struct dls_block_heads {
    int64_t heads;
    int64_t key_heads; /* of keys and values, each for as many of queries; 0: as many as heads */
    int64_t depth; /* of a head; 0: the width over the heads */
    dls_block_style style;
    bool bias;
    bool first_bias; /* of queries, keys and values alone */
    bool last_bias;  /* of the last product alone */
    bool plain_keys; /* keys have none */
    bool dropout;
    bool masked;  /* timm's */
    bool unmasked; /* BART's */
    bool causal;  /* each sees those before; the style says so for GPT, OPT and LLaMA */
    bool late;    /* scores are scaled, not queries */
    bool fused;   /* all is one kernel: dls_block_attention's own */
    bool indexed; /* queries, keys and values are taken out by their indices */
    bool of_tanh; /* GELU is, whatever the style */
    bool rotary;
    int64_t turned; /* numbers of a head that rotary turns; 0: all */
    bool level;     /* queries and keys of a head have a root-mean-square norm */
    bool capped;    /* scores are, by dls_block_capped */
    bool cosine;    /* queries and keys are brought to length 1 */
    int64_t places; /* trained numbers that are added to the scores: relative positions; 0: none */
    dls_tensor *offset; /* [b][heads][t or 1][t], added to scores: T5's bias; NULL: none */
} dls_block_heads;

/* GELU by its tanh, as a program that spells it out; BLOOM's with a gradient of its own. */
dls_tensor dls_block_gelu_of_tanh(dls_net *net, dls_tensor x);
dls_tensor dls_block_gelu_of_bloom(dls_net *net, dls_tensor x);

/* Queries of x, keys and values of y, [b][heads][t][depth] each. */
void dls_block_projections(dls_net *net, dls_tensor x, dls_tensor y, dls_block_heads b,
                           dls_tensor part[3]);
/* Multi-head attention of x on y; width as x's. */
dls_tensor dls_block_attention(dls_net *net, dls_tensor x, dls_tensor y, dls_block_heads b);
dls_tensor dls_block_feed_forward(dls_net *net, dls_tensor x, int64_t inner, dls_op_kind activation,
                                  dls_block_heads b);
/* A layer of an encoder whose branches, attention of x on itself and a feed-forward part with GELU,
 * are normed before. */
dls_tensor dls_block_encoder(dls_net *net, dls_tensor x, int64_t inner, dls_block_heads b);
/* x + y, normalised afterwards. */
dls_tensor dls_block_post_norm(dls_net *net, dls_tensor x, dls_tensor y);

#endif
