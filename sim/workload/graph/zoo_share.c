/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Language models whose layers share what they train: ALBERT (Lan et al., 2020), all of whose
 * layers are one, and T5 with its version 1.1 (Raffel et al., 2020), whose relative positions the
 * first layer of a stack has for all. Sizes as in Hugging Face's configurations.
 *
 *      width=768 layers=12 heads=12 inner=3072
 *      each=64     of T5, of each head; the heads' sum need not be the width
 *      gated       version 1.1: a gate beside GELU, an output of its own
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

typedef struct sizes {
    int64_t width, layers, heads, head, inner;
    bool gated;
} sizes;

static sizes sizes_of(const char *spec)
{
    return (sizes){.width = (int64_t)dls_spec_number(spec, "width", 0),
                   .layers = (int64_t)dls_spec_number(spec, "layers", 0),
                   .heads = (int64_t)dls_spec_number(spec, "heads", 0),
                   .head = (int64_t)dls_spec_number(spec, "each", 64),
                   .inner = (int64_t)dls_spec_number(spec, "inner", 0),
                   .gated = dls_spec_has(spec, "gated")};
}

/* ---- ALBERT ---------------------------------------------------------------------------------- */

#define ALBERT_WORDS 30000
#define ALBERT_WORD 128
#define ALBERT_PLACES 512

/* The pooled first token decides between two classes; PyTorch's training: a word for every token
 * beside, as with BERT. */
static void albert(dls_net *net, const char *spec)
{
    const sizes s = sizes_of(spec);
    const dls_block_heads b = {
        .heads = s.heads, .style = DLS_BLOCK_BERT, .bias = true, .dropout = true};
    const int32_t t = dls_net_sequence(net);
    const dls_table words = dls_net_table(net, ALBERT_WORDS, ALBERT_WORD);
    const dls_table kinds = dls_net_table(net, 2, ALBERT_WORD);
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, t));
    x = dls_net_add(net, x, dls_net_lookup(net, kinds, dls_net_indices(net, t)));
    x = dls_net_add_rows(net, x, dls_net_table(net, ALBERT_PLACES, ALBERT_WORD));
    x = dls_net_dropout(net, dls_net_layer_norm(net, x));
    x = dls_net_dense(net, x, s.width, true);
    const int32_t layer = dls_net_trained(net);
    for (int64_t i = 0; i < s.layers; i++) {
        if (i > 0) {
            dls_net_share(net, layer);
        }
        x = dls_block_post_norm(net, x, dls_block_attention(net, x, x, b));
        x = dls_block_post_norm(net, x, dls_block_feed_forward(net, x, s.inner, DLS_OP_GELU, b));
    }
    if (dls_net_trains_eagerly(net)) {
        dls_tensor y = dls_net_unary(net, dls_net_dense(net, x, ALBERT_WORD, true), DLS_OP_GELU);
        dls_net_loss(net, dls_net_tied(net, dls_net_layer_norm(net, y), words, true));
    }
    x = dls_net_dense(net, dls_net_first_token(net, x), s.width, true);
    x = dls_net_dropout(net, dls_net_unary(net, x, DLS_OP_TANH));
    dls_net_loss(net, dls_net_dense(net, x, 2, true));
}

/* ---- T5 -------------------------------------------------------------------------------------- */

#define T5_WORDS 32128
#define T5_DISTANCES 32 /* that are told apart, for each head */

/* No biases, no scale; places: added to the scores, -1: none are. */
static dls_tensor attention(dls_net *net, dls_tensor x, dls_tensor y, const sizes *s,
                            dls_tensor places)
{
    dls_tensor part[3]; /* queries, keys, values */
    for (int i = 0; i < 3; i++) {
        part[i] = dls_net_dense(net, i == 0 ? x : y, s->heads * s->head, false);
        part[i] = dls_net_split_heads(net, part[i], s->heads);
    }
    dls_tensor a = dls_net_batch_matmul(net, part[0], part[1], true);
    a = places >= 0 ? dls_net_add(net, a, places) : a;
    a = dls_net_dropout(net, dls_net_softmax(net, a));
    a = dls_net_merge_heads(net, dls_net_batch_matmul(net, a, part[2], false));
    return dls_net_dropout(net, dls_net_dense(net, a, s->width, false));
}

static dls_tensor feed_forward(dls_net *net, dls_tensor x, const sizes *s)
{
    dls_tensor y = dls_net_unary(net, dls_net_dense(net, x, s->inner, false),
                                 s->gated ? DLS_OP_GELU : DLS_OP_RELU);
    y = s->gated ? dls_net_mul(net, y, dls_net_dense(net, x, s->inner, false)) : y;
    y = dls_net_dense(net, dls_net_dropout(net, y), s->width, false);
    return dls_net_dropout(net, y);
}

/* memory: what the encoder says, -1 in the encoder itself. */
static dls_tensor stack(dls_net *net, dls_tensor x, dls_tensor memory, const sizes *s)
{
    const dls_tensor places = dls_net_numbers(net, T5_DISTANCES * s->heads);
    x = dls_net_dropout(net, x);
    for (int64_t i = 0; i < s->layers; i++) {
        dls_tensor y = dls_net_rms_norm(net, x);
        x = dls_net_add(net, x, attention(net, y, y, s, places));
        if (memory >= 0) {
            y = dls_net_rms_norm(net, x);
            x = dls_net_add(net, x, attention(net, y, memory, s, -1));
        }
        x = dls_net_add(net, x, feed_forward(net, dls_net_rms_norm(net, x), s));
    }
    return dls_net_dropout(net, dls_net_rms_norm(net, x));
}

/* As many tokens out as in. */
static void t5(dls_net *net, const char *spec)
{
    const sizes s = sizes_of(spec);
    const int32_t t = dls_net_sequence(net);
    const dls_table words = dls_net_table(net, T5_WORDS, s.width);
    const dls_tensor in = dls_net_lookup(net, words, dls_net_indices(net, t));
    const dls_tensor out = dls_net_lookup(net, words, dls_net_indices(net, t));
    const dls_tensor y = stack(net, out, stack(net, in, -1, &s), &s);
    dls_net_loss(net, s.gated ? dls_net_dense(net, y, T5_WORDS, false)
                              : dls_net_tied(net, dls_net_scale(net, y), words, false));
}

/* ---- members --------------------------------------------------------------------------------- */

#define ROW(name_, family_, dataset_, batch_, sequence_, design_, spec_)                           \
    {                                                                                              \
        .name = (name_), .family = (family_), .dataset = (dataset_), .batch = (batch_),            \
        .sequence = (sequence_), .optimiser = DLS_OPTIMISER_ADAM, .design = (design_),             \
        .spec = (spec_)                                                                            \
    }
#define ALBERT(name, batch, spec) ROW("albert_" name, "albert", "squad", batch, 128, albert, spec)
#define T5(name, batch, spec) ROW(name, "t5", "c4", batch, 512, t5, spec)

static const dls_zoo_model rows[] = {
    ALBERT("base", 32, "width=768 layers=12 heads=12 inner=3072"),
    ALBERT("large", 16, "width=1024 layers=24 heads=16 inner=4096"),
    ALBERT("xlarge", 8, "width=2048 layers=24 heads=16 inner=8192"),
    ALBERT("xxlarge", 4, "width=4096 layers=12 heads=64 inner=16384"),
    T5("t5_small", 16, "width=512 layers=6 heads=8 inner=2048"),
    T5("t5_base", 8, "width=768 layers=12 heads=12 inner=3072"),
    T5("t5_large", 4, "width=1024 layers=24 heads=16 inner=4096"),
    T5("t5_3b", 1, "width=1024 layers=24 heads=32 each=128 inner=16384"),
    T5("t5_11b", 1, "width=1024 layers=24 heads=128 each=128 inner=65536"),
    T5("t5_v1_1_small", 16, "width=512 layers=8 heads=6 inner=1024 gated"),
    T5("t5_v1_1_base", 8, "width=768 layers=12 heads=12 inner=2048 gated"),
    T5("t5_v1_1_large", 4, "width=1024 layers=24 heads=16 inner=2816 gated"),
    T5("t5_v1_1_xl", 1, "width=2048 layers=24 heads=32 inner=5120 gated"),
    T5("t5_v1_1_xxl", 1, "width=4096 layers=24 heads=64 inner=10240 gated"),
};

const dls_zoo_table dls_zoo_shared = {rows, sizeof rows / sizeof rows[0]};
