/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Language models of LLaMA's kind with many small experts, of which a token passes a few: Qwen3's (Yang et al., 2025)
 * and DeepSeek's (2024). Sizes as in Hugging Face's configurations.
 *
 *      width=2048 layers=48 words=151936
 *      experts=128 top=8 one=768    how many, of which a token passes top, and how wide one is
 *      shared=1    experts that every token passes, as one feed-forward
 *      dense=3     first layers with a feed-forward of `inner` in place of experts
 *      heads=32 kv=4 each=128          attention as Qwen3's
 *      latent=512  DeepSeek's attention: keys and values of 128 a head come out of so many numbers, to each key 64
 *                  with positions are added, which all heads share
 *      queries=1536                    queries come out of so many
 *
 * The products of all experts are one batched product, as their programs have it (grouped products). The router
 * shares the tokens of a batch evenly (rounded up).
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define KEY 128   /* numbers of a head's key without positions, and of its value */
#define TURNED 64 /* with positions */

static int64_t whole(const char *spec, const char *key, double otherwise)
{
    return (int64_t)dls_spec_number(spec, key, otherwise);
}

static dls_tensor gated(dls_net *net, dls_tensor x, int64_t inner)
{
    const int64_t width = dls_net_dim(net, x, -1);
    const dls_tensor y = dls_net_unary(net, dls_net_dense(net, x, inner, false), DLS_OP_SWISH);
    return dls_net_dense(net, dls_net_mul(net, y, dls_net_dense(net, x, inner, false)), width, false);
}

/* x[experts][rows][in] times a matrix of each. */
static dls_tensor each_by_its_own(dls_net *net, dls_tensor x, int64_t out)
{
    const int64_t n = dls_net_dim(net, x, 0), in = dls_net_dim(net, x, 2);
    const dls_tensor weights =
        dls_net_reshape(net, dls_net_numbers(net, n * in * out), 3, (int64_t[]){n, in, out});
    return dls_net_batch_matmul(net, x, weights, false);
}

static dls_tensor experts(dls_net *net, dls_tensor x, const char *spec)
{
    const int64_t n = whole(spec, "experts", 0), inner = whole(spec, "one", 0), top = whole(spec, "top", 0);
    const int64_t b = dls_net_batch(net), t = dls_net_dim(net, x, 1), w = dls_net_dim(net, x, 2);
    const int64_t rows = (top * b * t + n - 1) / n;
    const dls_tensor weight = dls_net_softmax(net, dls_net_dense(net, x, n, false));
    const dls_tensor z = dls_net_windows(net, x, 3, (int64_t[]){n, rows, w});
    const dls_tensor gate = dls_net_unary(net, each_by_its_own(net, z, inner), DLS_OP_SWISH);
    const dls_tensor all = each_by_its_own(net, dls_net_mul(net, gate, each_by_its_own(net, z, inner)), w);
    const dls_tensor own = dls_net_windows(net, weight, 3, (int64_t[]){n, rows, 1});
    const dls_tensor y = dls_net_windows(net, dls_net_mul(net, all, own), 3, (int64_t[]){b, t, w});
    const int64_t shared = whole(spec, "shared", 0);
    return shared > 0 ? dls_net_add(net, y, gated(net, x, shared * inner)) : y;
}

/* Positions for the last numbers of a head, in front of which the others stay. */
static dls_tensor turned_behind(dls_net *net, dls_tensor x)
{
    const dls_tensor y = dls_net_rotary(net, dls_net_channels(net, x, TURNED));
    return dls_net_concat(net, (dls_tensor[]){dls_net_channels(net, x, KEY), y}, 2);
}

static dls_tensor latent_attention(dls_net *net, dls_tensor x, const char *spec)
{
    const int64_t heads = whole(spec, "heads", 0), latent = whole(spec, "latent", 0);
    const int64_t queries = whole(spec, "queries", 0), width = dls_net_dim(net, x, -1);
    const int64_t dims[4] = {dls_net_batch(net), heads, dls_net_dim(net, x, 1), TURNED};
    dls_tensor q = queries > 0 ? dls_net_rms_norm(net, dls_net_dense(net, x, queries, false)) : x;
    q = dls_net_split_heads(net, dls_net_dense(net, q, heads * (KEY + TURNED), false), heads);
    q = turned_behind(net, q);
    const dls_tensor both = dls_net_dense(net, x, latent + TURNED, false);
    dls_tensor kv = dls_net_rms_norm(net, dls_net_channels(net, both, latent));
    kv = dls_net_split_heads(net, dls_net_dense(net, kv, heads * 2 * KEY, false), heads);
    const dls_tensor place = dls_net_rotary(net, dls_net_channels(net, both, TURNED));
    const dls_tensor places = dls_net_windows(net, place, 4, dims);
    const dls_tensor k = dls_net_concat(net, (dls_tensor[]){dls_net_channels(net, kv, KEY), places}, 2);
    dls_tensor v = dls_net_channels(net, kv, KEY), a;
    if (dls_net_fuses_attention(net)) { /* values are filled up to the width of keys */
        v = dls_net_concat(net, (dls_tensor[]){v, dls_net_frozen(net, 4, dims)}, 2);
        a = dls_net_channels(net, dls_net_attention(net, q, k, v, true), KEY);
    } else {
        dls_tensor score = dls_net_scale(net, dls_net_batch_matmul(net, q, k, true));
        score = dls_net_spells_out(net) ? dls_net_pass_wide(net, score, DLS_OP_ADD, 0) : score; /* the mask */
        a = dls_net_batch_matmul(net, dls_net_softmax(net, score), v, false);
    }
    return dls_net_dense(net, dls_net_merge_heads(net, a), width, false);
}

static void mixture(dls_net *net, const char *spec)
{
    const int64_t n_words = whole(spec, "words", 0), layers = whole(spec, "layers", 0);
    const int64_t dense = whole(spec, "dense", 0);
    const dls_block_heads heads = {.heads = whole(spec, "heads", 0),
                                   .style = DLS_BLOCK_LLAMA,
                                   .key_heads = whole(spec, "kv", 0),
                                   .depth = whole(spec, "each", 0),
                                   .level = true,
                                   .rotary = true};
    const dls_embedding words = dls_net_table(net, n_words, whole(spec, "width", 0));
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, dls_net_sequence(net)));
    for (int64_t i = 0; i < layers; i++) {
        const dls_tensor y = dls_net_rms_norm(net, x);
        x = dls_net_add(net, x, whole(spec, "latent", 0) > 0 ? latent_attention(net, y, spec)
                                                             : dls_block_attention(net, y, y, heads));
        const dls_tensor z = dls_net_rms_norm(net, x);
        x = dls_net_add(net, x, i < dense ? gated(net, z, whole(spec, "inner", 0)) : experts(net, z, spec));
    }
    dls_net_loss(net, dls_net_dense(net, dls_net_rms_norm(net, x), n_words, false));
}

#define MIXTURE(name, spec) DLS_ZOO_TEXTS(name, "experts", "c4", 1, 4096, mixture, spec)
#define QWEN3(name, spec) MIXTURE(name, spec " kv=4 each=128 experts=128 top=8 words=151936")

static const dls_zoo_model rows[] = {
    QWEN3("qwen3_30b_a3b", "width=2048 layers=48 heads=32 one=768"),
    QWEN3("qwen3_235b_a22b", "width=4096 layers=94 heads=64 one=1536"),
    MIXTURE("deepseek_v2_lite", "width=2048 layers=27 heads=16 latent=512 inner=10944 dense=1 experts=64 top=6 "
                                "one=1408 shared=2 words=102400"),
    MIXTURE("deepseek_v3", "width=7168 layers=61 heads=128 latent=512 queries=1536 inner=18432 dense=3 experts=256 "
                           "top=8 one=2048 shared=1 words=129280"),
};

const dls_zoo_table dls_zoo_mixtures = {rows, sizeof rows / sizeof rows[0]};
