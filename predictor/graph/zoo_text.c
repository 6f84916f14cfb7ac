/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Language models and translation.
 */
#include "predictor/graph/zoo.h"

/* The words of a sequence of t through a table of their own. */
static dls_tensor embed(dls_net *net, int64_t rows, int64_t width, int32_t t)
{
    const dls_table table = dls_net_table(net, rows, width);
    return dls_net_lookup(net, table, dls_net_indices(net, t));
}

/* ---- recurrent ---------------------------------------------------------------------------------
 */

/* One LSTM layer over all steps, [b][t][d] to [b][t][width], as tf.nn.dynamic_rnn with
 * BasicLSTMCell: one matrix product of input and state per step. */
static dls_tensor lstm(dls_net *net, dls_tensor x, int32_t width)
{
    dls_tensor gate[4];
    dls_net_loop_begin(net, (int32_t)dls_net_dim(net, x, 1));
    const dls_tensor h = dls_net_loop_state(net, width);
    const dls_tensor c = dls_net_loop_state(net, width);
    const dls_tensor in = dls_net_loop_read(net, x);
    const dls_tensor both = dls_net_concat(net, (dls_tensor[]){in, h}, 2);
    dls_net_split(net, dls_net_dense(net, both, 4 * (int64_t)width, true), 4, gate);
    const dls_tensor i = dls_net_unary(net, gate[0], DLS_OP_SIGMOID);
    const dls_tensor j = dls_net_unary(net, gate[1], DLS_OP_TANH);
    const dls_tensor f = dls_net_unary(net, gate[2], DLS_OP_SIGMOID);
    const dls_tensor o = dls_net_unary(net, gate[3], DLS_OP_SIGMOID);
    const dls_tensor kept = dls_net_mul(net, c, f);
    const dls_tensor new_c = dls_net_add(net, kept, dls_net_mul(net, i, j));
    const dls_tensor new_h = dls_net_mul(net, dls_net_unary(net, new_c, DLS_OP_TANH), o);
    dls_net_loop_next(net, c, new_c);
    dls_net_loop_next(net, h, new_h);
    return dls_net_loop_end(net, new_h);
}

/* softmax(q k^T) v; all [b][t][d] */
static dls_tensor attend(dls_net *net, dls_tensor q, dls_tensor k, dls_tensor v)
{
    const dls_tensor a = dls_net_softmax(net, dls_net_batch_matmul(net, q, k, true));
    return dls_net_batch_matmul(net, a, v, false);
}

/* Sutskever et al., 2014, with the attention of Luong et al., 2015: 2 or 4 layers of 512 or 1024.
 */
void dls_zoo_seq2seq(dls_net *net, int32_t size)
{
    static const int32_t layers[3] = {2, 4, 4};
    static const int32_t widths[3] = {512, 512, 1024};
    const int32_t width = widths[size];
    const int64_t vocabulary = 32000;
    const int32_t t = dls_net_sequence(net);
    dls_tensor source = embed(net, vocabulary, width, t);
    dls_tensor target = embed(net, vocabulary, width, t);
    for (int32_t i = 0; i < layers[size]; i++) {
        source = lstm(net, dls_net_dropout(net, source), width);
    }
    for (int32_t i = 0; i < layers[size]; i++) {
        target = lstm(net, dls_net_dropout(net, target), width);
    }
    const dls_tensor query = dls_net_dense(net, target, width, false);
    const dls_tensor context = attend(net, query, source, source);
    dls_tensor y = dls_net_concat(net, (dls_tensor[]){context, target}, 2);
    y = dls_net_unary(net, dls_net_dense(net, y, width, false), DLS_OP_TANH);
    dls_net_loss(net, dls_net_dense(net, y, vocabulary, true));
}

/* ---- attention ---------------------------------------------------------------------------------
 */

typedef struct block {
    int64_t heads;
    bool bias;
    bool dropout;
    bool rotary;
} block;

static dls_tensor drop(dls_net *net, dls_tensor x, bool dropout)
{
    return dropout ? dls_net_dropout(net, x) : x;
}

/* Multi-head attention of x on y; width as x's. */
static dls_tensor attention(dls_net *net, dls_tensor x, dls_tensor y, block b)
{
    const int64_t width = dls_net_dim(net, x, -1);
    dls_tensor q = dls_net_split_heads(net, dls_net_dense(net, x, width, b.bias), b.heads);
    dls_tensor k = dls_net_split_heads(net, dls_net_dense(net, y, width, b.bias), b.heads);
    const dls_tensor v = dls_net_split_heads(net, dls_net_dense(net, y, width, b.bias), b.heads);
    if (b.rotary) {
        q = dls_net_rotary(net, q);
        k = dls_net_rotary(net, k);
    }
    dls_tensor a = dls_net_scale(net, dls_net_batch_matmul(net, q, k, true));
    a = drop(net, dls_net_softmax(net, a), b.dropout);
    a = dls_net_merge_heads(net, dls_net_batch_matmul(net, a, v, false));
    return drop(net, dls_net_dense(net, a, width, b.bias), b.dropout);
}

static dls_tensor feed_forward(dls_net *net, dls_tensor x, int64_t inner, dls_op_kind activation,
                               bool dropout)
{
    const int64_t width = dls_net_dim(net, x, -1);
    dls_tensor y = dls_net_unary(net, dls_net_dense(net, x, inner, true), activation);
    return drop(net, dls_net_dense(net, y, width, true), dropout);
}

/* x + f(x), normalised afterwards */
static dls_tensor post_norm(dls_net *net, dls_tensor x, dls_tensor y)
{
    return dls_net_layer_norm(net, dls_net_add(net, x, y));
}

/* Vaswani et al., 2017: one table of 37000 byte pairs for source, target and output. */
void dls_zoo_transformer(dls_net *net, int32_t size)
{
    const int64_t width = size ? 1024 : 512;
    const block b = {.heads = size ? 16 : 8, .dropout = true};
    const int32_t t = dls_net_sequence(net);
    const dls_table table = dls_net_table(net, 37000, width);
    dls_tensor x = dls_net_lookup(net, table, dls_net_indices(net, t));
    dls_tensor y = dls_net_lookup(net, table, dls_net_indices(net, t));
    x = dls_net_dropout(net, dls_net_scale(net, x));
    y = dls_net_dropout(net, dls_net_scale(net, y));
    for (int i = 0; i < 6; i++) {
        x = post_norm(net, x, attention(net, x, x, b));
        x = post_norm(net, x, feed_forward(net, x, 4 * width, DLS_OP_RELU, true));
    }
    for (int i = 0; i < 6; i++) {
        y = post_norm(net, y, attention(net, y, y, b));
        y = post_norm(net, y, attention(net, y, x, b));
        y = post_norm(net, y, feed_forward(net, y, 4 * width, DLS_OP_RELU, true));
    }
    dls_net_loss(net, dls_net_tied(net, y, table, false));
}

/* Devlin et al., 2019, fine-tuned: the pooled first token decides between two classes. */
void dls_zoo_bert(dls_net *net, int32_t size)
{
    const int64_t width = size ? 1024 : 768;
    const block b = {.heads = size ? 16 : 12, .bias = true, .dropout = true};
    const int32_t t = dls_net_sequence(net);
    const dls_table words = dls_net_table(net, 30522, width);
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, t));
    const dls_table kinds = dls_net_table(net, 2, width);
    x = dls_net_add(net, x, dls_net_lookup(net, kinds, dls_net_indices(net, t)));
    x = dls_net_add_rows(net, x, dls_net_table(net, 512, width));
    x = dls_net_dropout(net, dls_net_layer_norm(net, x));
    for (int i = 0; i < (size ? 24 : 12); i++) {
        x = post_norm(net, x, attention(net, x, x, b));
        x = post_norm(net, x, feed_forward(net, x, 4 * width, DLS_OP_GELU, true));
    }
    x = dls_net_dense(net, dls_net_first_token(net, x), width, true);
    x = dls_net_dropout(net, dls_net_unary(net, x, DLS_OP_TANH));
    dls_net_loss(net, dls_net_dense(net, x, 2, true));
}

/* Radford et al., 2019: norm first, output tied to the table of words. */
void dls_zoo_gpt2(dls_net *net, int32_t size)
{
    const int64_t width = size ? 1024 : 768;
    const block b = {.heads = size ? 16 : 12, .bias = true, .dropout = true};
    const dls_table words = dls_net_table(net, 50257, width);
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, dls_net_sequence(net)));
    x = dls_net_dropout(net, dls_net_add_rows(net, x, dls_net_table(net, 1024, width)));
    for (int i = 0; i < (size ? 24 : 12); i++) {
        const dls_tensor y = dls_net_layer_norm(net, x);
        x = dls_net_add(net, x, attention(net, y, y, b));
        x = dls_net_add(
            net, x, feed_forward(net, dls_net_layer_norm(net, x), 4 * width, DLS_OP_GELU, true));
    }
    dls_net_loss(net, dls_net_tied(net, dls_net_layer_norm(net, x), words, false));
}

/* Touvron et al., 2023: rotary positions, gated feed-forward, root-mean-square norm, no biases. */
void dls_zoo_llama(dls_net *net, int32_t variant)
{
    (void)variant;
    const int64_t width = 4096;
    const int64_t inner = 11008;
    const block b = {.heads = 32, .rotary = true};
    dls_tensor x = embed(net, 32000, width, dls_net_sequence(net));
    for (int i = 0; i < 32; i++) {
        const dls_tensor y = dls_net_rms_norm(net, x);
        x = dls_net_add(net, x, attention(net, y, y, b));
        const dls_tensor z = dls_net_rms_norm(net, x);
        const dls_tensor gate =
            dls_net_unary(net, dls_net_dense(net, z, inner, false), DLS_OP_SWISH);
        const dls_tensor up = dls_net_mul(net, gate, dls_net_dense(net, z, inner, false));
        x = dls_net_add(net, x, dls_net_dense(net, up, width, false));
    }
    dls_net_loss(net, dls_net_dense(net, dls_net_rms_norm(net, x), 32000, false));
}
