/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Language models and translation.
 */
#include "workload/graph/zoo.h"

#include "workload/graph/blocks.h"

/* All but the last token's logits are copied; back into zeros. */
#define BACK_SHIFT 3

/* ---- recurrent ------------------------------------------------------------------------------- */

/* Sutskever et al., 2014, with the attention of Luong et al., 2015: 2 or 4 layers of 512 or 1024.
 */
void dls_zoo_seq2seq(dls_net *net, int32_t size)
{
    static const int32_t layers[3] = {2, 4, 4};
    static const int32_t widths[3] = {512, 512, 1024};
    const int32_t width = widths[size];
    const int64_t vocabulary = 32000;
    const int32_t t = dls_net_sequence(net);
    dls_tensor source = dls_block_embed(net, vocabulary, width, t);
    dls_tensor target = dls_block_embed(net, vocabulary, width, t);
    for (int32_t i = 0; i < layers[size]; i++) {
        source = dls_block_lstm(net, dls_net_dropout(net, source), width);
    }
    for (int32_t i = 0; i < layers[size]; i++) {
        target = dls_block_lstm(net, dls_net_dropout(net, target), width);
    }
    const dls_tensor query = dls_net_dense(net, target, width, false);
    const dls_tensor context = dls_block_attend(net, query, source, source);
    dls_tensor y = dls_net_concat(net, (dls_tensor[]){context, target}, 2);
    y = dls_net_unary(net, dls_net_dense(net, y, width, false), DLS_OP_TANH);
    dls_net_loss(net, dls_net_dense(net, y, vocabulary, true));
}

/* ---- attention ------------------------------------------------------------------------------- */

/* Vaswani et al., 2017: one table of 37000 byte pairs for source, target and output. */
void dls_zoo_transformer(dls_net *net, int32_t size)
{
    const int64_t width = size ? 1024 : 512;
    const dls_block_heads b = {.heads = size ? 16 : 8, .dropout = true};
    const int32_t t = dls_net_sequence(net);
    const dls_table table = dls_net_table(net, 37000, width);
    dls_tensor x = dls_net_lookup(net, table, dls_net_indices(net, t));
    dls_tensor y = dls_net_lookup(net, table, dls_net_indices(net, t));
    x = dls_net_dropout(net, dls_net_scale(net, x));
    y = dls_net_dropout(net, dls_net_scale(net, y));
    for (int i = 0; i < 6; i++) {
        x = dls_block_post_norm(net, x, dls_block_attention(net, x, x, b));
        x = dls_block_post_norm(net, x, dls_block_feed_forward(net, x, 4 * width, DLS_OP_RELU, b));
    }
    for (int i = 0; i < 6; i++) {
        y = dls_block_post_norm(net, y, dls_block_attention(net, y, y, b));
        y = dls_block_post_norm(net, y, dls_block_attention(net, y, x, b));
        y = dls_block_post_norm(net, y, dls_block_feed_forward(net, y, 4 * width, DLS_OP_RELU, b));
    }
    dls_net_loss(net, dls_net_tied(net, y, table, false));
}

/* Devlin et al., 2019, fine-tuned: the pooled first token decides between two classes. Where
 * PyTorch's training is asked for, it is pretraining: a word for every token beside. */
void dls_zoo_bert(dls_net *net, int32_t size)
{
    static const struct {
        int32_t width, layers, heads, words, kinds, places;
    } sizes[] = {{768, 12, 12, 30522, 2, 512},
                 {1024, 24, 16, 30522, 2, 512},
                 {768, 12, 12, 50265, 1, 514}, /* RoBERTa: Liu et al., 2019 */
                 {1024, 24, 16, 50265, 1, 514},
                 {768, 6, 12, 30522, 0, 512}}; /* DistilBERT: Sanh et al., 2019 */
    const int64_t width = sizes[size].width;
    const dls_block_heads b = {
        .heads = sizes[size].heads, .style = DLS_BLOCK_BERT, .bias = true, .dropout = true};
    const int32_t t = dls_net_sequence(net);
    const dls_table words = dls_net_table(net, sizes[size].words, width);
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, t));
    if (sizes[size].kinds > 0) {
        const dls_table kinds = dls_net_table(net, sizes[size].kinds, width);
        x = dls_net_add(net, x, dls_net_lookup(net, kinds, dls_net_indices(net, t)));
    }
    x = dls_net_add_rows(net, x, dls_net_table(net, sizes[size].places, width));
    x = dls_net_dropout(net, dls_net_layer_norm(net, x));
    for (int i = 0; i < sizes[size].layers; i++) {
        x = dls_block_post_norm(net, x, dls_block_attention(net, x, x, b));
        x = dls_block_post_norm(net, x, dls_block_feed_forward(net, x, 4 * width, DLS_OP_GELU, b));
    }
    if (dls_net_trains_eagerly(net)) {
        dls_tensor y = dls_net_unary(net, dls_net_dense(net, x, width, true), DLS_OP_GELU);
        y = dls_net_tied(net, dls_net_layer_norm(net, y), words, true);
        dls_net_loss(net, y);
    }
    x = dls_net_dense(net, dls_net_first_token(net, x), width, true);
    x = dls_net_dropout(net, dls_net_unary(net, x, DLS_OP_TANH));
    dls_net_loss(net, dls_net_dense(net, x, 2, true));
}

/* Radford et al., 2019: norm first, output tied to the table of words. Sizes of GPT-2, of GPT-3
 * (Brown et al., 2020, all attention dense) and of OPT (Zhang et al., 2022). The paper's row
 * of GPT-3 XL contradicts itself: a width of 2048 (1.3B parameters), 24 heads of 128, which are
 * 3072. The name XL is for the heads. */
void dls_zoo_gpt(dls_net *net, int32_t size)
{
    static const struct {
        int32_t width, layers, heads, words;
        dls_op_kind activation;
    } sizes[] = {{768, 12, 12, 50257, DLS_OP_GELU},  {1024, 24, 16, 50257, DLS_OP_GELU},
                 {1280, 36, 20, 50257, DLS_OP_GELU}, {1600, 48, 25, 50257, DLS_OP_GELU},
                 {2048, 24, 16, 50257, DLS_OP_GELU}, {2560, 32, 32, 50257, DLS_OP_GELU},
                 {2048, 24, 32, 50272, DLS_OP_RELU}, {3072, 24, 24, 50257, DLS_OP_GELU},
                 {768, 12, 12, 50272, DLS_OP_RELU},  {2560, 32, 32, 50272, DLS_OP_RELU},
                 {4096, 32, 32, 50272, DLS_OP_RELU}, {4096, 32, 32, 50257, DLS_OP_GELU}};
    const int64_t width = sizes[size].width;
    const int32_t t = dls_net_sequence(net);
    const bool opt = sizes[size].activation == DLS_OP_RELU;
    const dls_block_heads b = {.heads = sizes[size].heads,
                               .style = opt ? DLS_BLOCK_OPT : DLS_BLOCK_GPT,
                               .bias = true,
                               .dropout = true};
    const dls_table words = dls_net_table(net, dls_net_part(net, sizes[size].words), width);
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, t));
    x = dls_net_add_rows(net, x, dls_net_table(net, t > 1024 ? t : 1024, width));
    x = opt && dls_net_eager(net) ? x : dls_net_dropout(net, x);
    for (int i = 0; i < sizes[size].layers; i++) {
        const dls_tensor y = dls_net_layer_norm(net, x);
        x = dls_net_add(net, x, dls_block_attention(net, y, y, b));
        const dls_tensor z = dls_net_layer_norm(net, x);
        x = dls_net_add(net, x,
                        dls_block_feed_forward(net, z, 4 * width, sizes[size].activation, b));
    }
    x = dls_net_tied(net, dls_net_layer_norm(net, x), words, false);
    if (dls_net_trains_eagerly(net)) {
        x = dls_net_pass(net, x, DLS_OP_SLICE, BACK_SHIFT);
    }
    dls_net_loss(net, x);
}

/* PyTorch's word_language_model on WikiText-2 with its defaults, Gavel's "LM": two layers of 200.
 */
void dls_zoo_lstm_lm(dls_net *net, int32_t variant)
{
    (void)variant;
    const int64_t vocabulary = 33278;
    dls_tensor x = dls_block_embed(net, vocabulary, 200, dls_net_sequence(net));
    for (int i = 0; i < 2; i++) {
        x = dls_block_lstm(net, dls_net_dropout(net, x), 200);
    }
    dls_net_loss(net, dls_net_dense(net, dls_net_dropout(net, x), vocabulary, true));
}

/* Touvron et al., 2023: rotary positions, gated feed-forward, root-mean-square norm, no biases. */
void dls_zoo_llama(dls_net *net, int32_t variant)
{
    static const struct {
        int32_t width, inner, layers, heads;
    } sizes[4] = {
        {4096, 11008, 32, 32}, {5120, 13824, 40, 40}, {6656, 17920, 60, 52}, {8192, 22016, 80, 64}};
    const int64_t width = sizes[variant].width;
    const int64_t inner = sizes[variant].inner;
    const dls_block_heads b = {.heads = sizes[variant].heads, .rotary = true};
    dls_tensor x = dls_block_embed(net, 32000, width, dls_net_sequence(net));
    for (int i = 0; i < sizes[variant].layers; i++) {
        const dls_tensor y = dls_net_rms_norm(net, x);
        x = dls_net_add(net, x, dls_block_attention(net, y, y, b));
        const dls_tensor z = dls_net_rms_norm(net, x);
        const dls_tensor gate =
            dls_net_unary(net, dls_net_dense(net, z, inner, false), DLS_OP_SWISH);
        const dls_tensor up = dls_net_mul(net, gate, dls_net_dense(net, z, inner, false));
        x = dls_net_add(net, x, dls_net_dense(net, up, width, false));
    }
    dls_net_loss(net, dls_net_dense(net, dls_net_rms_norm(net, x), 32000, false));
}

/* Fedus et al., 2022, as Hugging Face runs it (T5's encoder and decoder): every second layer has 4
 * experts, of which a token passes one and each takes 64 tokens of a sequence; the rest pass by.
 * Sizes as NeuSight measured. The router shares the tokens evenly here. */
enum { SWITCH_WIDTH = 1024, SWITCH_INNER = 16384, SWITCH_LAYERS = 24 };
enum { SWITCH_EXPERTS = 4, SWITCH_ROOM = 64, SWITCH_BUCKETS = 32, SWITCH_HEADS = 32 };

static dls_tensor switch_expert(dls_net *net, dls_tensor x)
{
    const dls_tensor y = dls_net_relu(net, dls_net_dense(net, x, SWITCH_INNER, false));
    return dls_net_dense(net, dls_net_dropout(net, y), SWITCH_WIDTH, false);
}

/* Tokens are brought together for their experts, and back. */
static dls_tensor switch_experts(dls_net *net, dls_tensor x)
{
    const int64_t b = dls_net_batch(net);
    const int64_t t = dls_net_dim(net, x, 1);
    const int64_t each = t < SWITCH_EXPERTS * SWITCH_ROOM ? t / SWITCH_EXPERTS : SWITCH_ROOM;
    const int64_t rest = t - SWITCH_EXPERTS * each;
    dls_tensor share[SWITCH_EXPERTS], y[SWITCH_EXPERTS + 1];
    dls_net_split(net, dls_net_softmax(net, dls_net_dense(net, x, SWITCH_EXPERTS, false)),
                  SWITCH_EXPERTS, share);
    for (int i = 0; i < SWITCH_EXPERTS && each > 0; i++) {
        y[i] = dls_net_flatten(net, switch_expert(net, dls_net_tokens(net, x, each)));
    }
    if (rest > 0) {
        y[each > 0 ? SWITCH_EXPERTS : 0] = dls_net_flatten(net, dls_net_tokens(net, x, rest));
    }
    const int n = (each > 0 ? SWITCH_EXPERTS : 0) + (rest > 0);
    const dls_tensor all =
        dls_net_reshape(net, dls_net_concat(net, y, n), 3, (int64_t[]){b, t, SWITCH_WIDTH});
    return dls_net_mul(net, all, share[0]);
}

/* One of the two stacks; the decoder's also attends to what the encoder said. */
static dls_tensor switch_stack(dls_net *net, dls_table words, const dls_tensor *encoded)
{
    const int64_t b = dls_net_batch(net);
    const int32_t t = dls_net_sequence(net);
    const dls_table buckets = dls_net_table(net, SWITCH_BUCKETS, SWITCH_HEADS);
    dls_tensor offset = dls_net_lookup(net, buckets, dls_net_indices(net, t * t));
    offset =
        dls_net_reshape(net, dls_net_transpose(net, offset), 4, (int64_t[]){b, SWITCH_HEADS, t, t});
    const dls_block_heads cross = {
        .heads = SWITCH_HEADS, .depth = 128, .style = DLS_BLOCK_T5, .dropout = true};
    dls_block_heads own = cross;
    own.offset = &offset;
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, t));
    x = dls_net_dropout(net, x);
    for (int i = 0; i < SWITCH_LAYERS; i++) {
        dls_tensor y = dls_net_rms_norm(net, x);
        x = dls_net_add(net, x, dls_block_attention(net, y, y, own));
        if (encoded) {
            y = dls_net_rms_norm(net, x);
            x = dls_net_add(net, x, dls_block_attention(net, y, *encoded, cross));
        }
        y = dls_net_rms_norm(net, x);
        y = i % 2 == 1 ? switch_experts(net, y) : switch_expert(net, y);
        x = dls_net_add(net, x, dls_net_dropout(net, y));
    }
    return dls_net_dropout(net, dls_net_rms_norm(net, x));
}

void dls_zoo_switch(dls_net *net, int32_t variant)
{
    (void)variant;
    const dls_table words = dls_net_table(net, 32128, SWITCH_WIDTH);
    const dls_tensor encoded = switch_stack(net, words, NULL);
    const dls_tensor y = dls_net_scale(net, switch_stack(net, words, &encoded));
    dls_net_loss(net, dls_net_tied(net, y, words, false));
}
