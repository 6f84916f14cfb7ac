/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random networks of dense layers, sequences and tables.
 */
#include "workload/graph/blocks.h"
#include "workload/graph/random_model.h"

void dls_random_mlp(dls_net *net, dls_rng *rng)
{
    dls_tensor x = dls_net_dense_input(net, dls_random_spread(rng, 16, 8192, 1));
    for (int32_t i = dls_random_between(rng, 1, 12); i > 0; i--) {
        x = dls_net_relu(net, dls_net_dense(net, x, dls_random_spread(rng, 32, 8192, 8), true));
        x = dls_random_chance(rng, 0.2) ? dls_net_dropout(net, x) : x;
    }
    dls_net_loss(net, dls_net_dense(net, x, dls_random_spread(rng, 1, 20000, 1), true));
}

/* ---- recurrent ------------------------------------------------------------------------------- */

/* One GRU layer (Cho et al., 2014), [b][t][d] to [b][t][width], as tf.nn.dynamic_rnn with GRUCell:
 * both gates in one product, the candidate in another. */
static dls_tensor gru(dls_net *net, dls_tensor x, int32_t width)
{
    dls_tensor gate[2];
    dls_net_loop_begin(net, (int32_t)dls_net_dim(net, x, 1));
    const dls_tensor h = dls_net_loop_state(net, width);
    const dls_tensor in = dls_net_loop_read(net, x);
    const dls_tensor both = dls_net_concat(net, (dls_tensor[]){in, h}, 2);
    const dls_tensor gates =
        dls_net_unary(net, dls_net_dense(net, both, 2 * (int64_t)width, true), DLS_OP_SIGMOID);
    dls_net_split(net, gates, 2, gate);
    const dls_tensor reset = dls_net_mul(net, gate[0], h);
    const dls_tensor seen = dls_net_concat(net, (dls_tensor[]){in, reset}, 2);
    const dls_tensor new = dls_net_unary(net, dls_net_dense(net, seen, width, true), DLS_OP_TANH);
    const dls_tensor kept = dls_net_mul(net, gate[1], h);
    const dls_tensor next = dls_net_add(net, kept, dls_net_mul(net, gate[1], new));
    dls_net_loop_next(net, h, next);
    return dls_net_loop_end(net, next);
}

typedef struct recurrent {
    bool lstm, dropout;
    int32_t width, layers;
} recurrent;

static dls_tensor run_layers(dls_net *net, recurrent r, dls_tensor x)
{
    for (int32_t i = 0; i < r.layers; i++) {
        x = r.dropout ? dls_net_dropout(net, x) : x;
        x = r.lstm ? dls_block_lstm(net, x, r.width) : gru(net, x, r.width);
    }
    return x;
}

void dls_random_recurrent(dls_net *net, dls_rng *rng)
{
    const recurrent r = {.lstm = dls_random_chance(rng, 0.6),
                         .dropout = dls_random_chance(rng, 0.6),
                         .width = dls_random_spread(rng, 64, 2048, 32),
                         .layers = dls_random_between(rng, 1, 4)};
    const int64_t vocabulary = dls_random_spread(rng, 1000, 100000, 1);
    const int32_t t = dls_net_sequence(net), task = dls_random_between(rng, 0, 2);
    dls_tensor x = dls_block_embed(net, vocabulary, dls_random_spread(rng, 64, 1024, 32), t);
    x = run_layers(net, r, x);
    if (task == 0) { /* classifier */
        x = dls_net_first_token(net, x);
        dls_net_loss(net, dls_net_dense(net, x, dls_random_spread(rng, 2, 1000, 1), true));
        return;
    }
    if (task == 1) { /* translation: x is what the decoder attends to */
        const dls_tensor y = run_layers(net, r, dls_block_embed(net, vocabulary, r.width, t));
        const dls_tensor query = dls_net_dense(net, y, r.width, false);
        const dls_tensor context = dls_block_attend(net, query, x, x);
        x = dls_net_concat(net, (dls_tensor[]){context, y}, 2);
        x = dls_net_unary(net, dls_net_dense(net, x, r.width, false), DLS_OP_TANH);
    }
    dls_net_loss(net, dls_net_dense(net, x, vocabulary, true));
}

/* ---- attention ------------------------------------------------------------------------------- */

typedef struct transformer {
    dls_block_heads heads;
    int64_t width, inner;
    dls_op_kind activation;
    bool norm_first, gated, rms;
} transformer;

static dls_tensor norm(dls_net *net, const transformer *t, dls_tensor x)
{
    return t->rms ? dls_net_rms_norm(net, x) : dls_net_layer_norm(net, x);
}

static dls_tensor inner_layers(dls_net *net, const transformer *t, dls_tensor x)
{
    if (!t->gated) {
        return dls_block_feed_forward(net, x, t->inner, t->activation, t->heads);
    }
    const dls_tensor gate =
        dls_net_unary(net, dls_net_dense(net, x, t->inner, false), t->activation);
    const dls_tensor up = dls_net_mul(net, gate, dls_net_dense(net, x, t->inner, false));
    return dls_net_dense(net, up, t->width, false);
}

/* Attention on itself, on `other` if that is there (>= 0), and the dense layers. */
static dls_tensor layer(dls_net *net, const transformer *t, dls_tensor x, dls_tensor other)
{
    for (int part = 0; part < 3; part++) {
        if (part == 1 && other < 0) {
            continue;
        }
        const dls_tensor in = t->norm_first ? norm(net, t, x) : x;
        const dls_tensor y = part == 2
                                 ? inner_layers(net, t, in)
                                 : dls_block_attention(net, in, part == 1 ? other : in, t->heads);
        x = dls_net_add(net, x, y);
        x = t->norm_first ? x : norm(net, t, x);
    }
    return x;
}

static transformer draw_transformer(dls_rng *rng)
{
    static const dls_op_kind activations[] = {DLS_OP_RELU, DLS_OP_GELU, DLS_OP_GELU, DLS_OP_SWISH};
    transformer t = {.width = dls_random_spread(rng, 128, 2048, 64),
                     .activation = activations[dls_rng_below(rng, 4)],
                     .norm_first = dls_random_chance(rng, 0.5),
                     .gated = dls_random_chance(rng, 0.2),
                     .rms = dls_random_chance(rng, 0.2)};
    t.inner = t.width * dls_random_between(rng, 4, 9) / 2;
    t.heads = (dls_block_heads){.heads = dls_random_chance(rng, 0.7) ? t.width / 64 : t.width / 32,
                                .bias = dls_random_chance(rng, 0.6),
                                .dropout = dls_random_chance(rng, 0.6),
                                .rotary = dls_random_chance(rng, 0.2)};
    return t;
}

void dls_random_transformer(dls_net *net, dls_rng *rng)
{
    const transformer t = draw_transformer(rng);
    const int32_t words = dls_net_sequence(net), layers = dls_random_spread(rng, 1, 32, 1);
    const int32_t task = dls_random_between(rng, 0, 3);
    const dls_embedding table = dls_net_table(net, dls_random_spread(rng, 1000, 130000, 1), t.width);
    dls_tensor x = dls_net_lookup(net, table, dls_net_indices(net, words));
    if (!t.heads.rotary) {
        x = dls_net_add_rows(net, x, dls_net_table(net, words, t.width));
    }
    x = t.heads.dropout ? dls_net_dropout(net, x) : x;
    for (int32_t i = 0; i < layers; i++) {
        x = layer(net, &t, x, -1);
    }
    if (task == 0) { /* classifier */
        x = dls_net_dense(net, dls_net_first_token(net, x), t.width, true);
        x = dls_net_unary(net, x, DLS_OP_TANH);
        dls_net_loss(net, dls_net_dense(net, x, dls_random_spread(rng, 2, 1000, 1), true));
        return;
    }
    if (task == 1) { /* translation */
        dls_tensor y = dls_net_lookup(net, table, dls_net_indices(net, words));
        for (int32_t i = 0; i < layers; i++) {
            y = layer(net, &t, y, x);
        }
        x = y;
    }
    x = t.norm_first ? norm(net, &t, x) : x;
    dls_net_loss(net, dls_random_chance(rng, 0.6)
                          ? dls_net_tied(net, x, table, false)
                          : dls_net_dense(net, x, dls_random_spread(rng, 1000, 130000, 1), false));
}

/* ---- recommendation -------------------------------------------------------------------------- */

#define TABLES_MAX 32
#define WEIGHTS_MAX 6e8 /* of all tables */

static dls_tensor draw_mlp(dls_net *net, dls_rng *rng, dls_tensor x, int32_t layers, int32_t most)
{
    for (int32_t i = 0; i < layers; i++) {
        x = dls_net_relu(net, dls_net_dense(net, x, dls_random_spread(rng, 16, most, 16), true));
    }
    return x;
}

void dls_random_recommender(dls_net *net, dls_rng *rng)
{
    dls_tensor vector[TABLES_MAX + 1];
    int32_t n = dls_random_spread(rng, 1, TABLES_MAX, 1), vectors = 0;
    const int32_t width = dls_random_spread(rng, 4, 256, 4);
    const int32_t most_rows = dls_random_spread(rng, 100, 20000000, 1);
    const bool pairs = dls_random_chance(rng, 0.5), dense = dls_random_chance(rng, 0.6);
    double left = WEIGHTS_MAX / width;
    for (; n > 0; n--) {
        int32_t rows = dls_random_spread(rng, 3, most_rows > 3 ? most_rows : 4, 1);
        rows = rows < left / n ? rows : (int32_t)(left / n);
        left -= rows;
        vector[vectors++] =
            dls_net_lookup(net, dls_net_table(net, rows, width), dls_net_indices(net, 0));
    }
    if (dense) {
        dls_tensor x = dls_net_dense_input(net, dls_random_between(rng, 1, 64));
        x = draw_mlp(net, rng, x, dls_random_between(rng, 0, 3), 1024);
        vector[vectors++] = dls_net_relu(net, dls_net_dense(net, x, width, true));
    }
    dls_tensor x = vectors > 1 ? dls_net_concat(net, vector, vectors) : vector[0];
    if (pairs && vectors > 1) {
        const int64_t shape[] = {dls_net_batch(net), vectors, width};
        const dls_tensor all = dls_net_reshape(net, x, 3, shape);
        x = dls_net_pairs(net, dls_net_batch_matmul(net, all, all, true));
        x = dls_net_concat(net, (dls_tensor[]){vector[vectors - 1], x}, 2);
    }
    x = draw_mlp(net, rng, x, dls_random_between(rng, 1, 4), 2048);
    dls_net_loss(net, dls_net_dense(net, x, dls_random_chance(rng, 0.7) ? 1 : 1000, true));
}
