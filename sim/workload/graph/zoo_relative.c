/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * DeBERTa V3 (He et al., 2021): BERT whose tokens have no positions of their own; each query is held against the
 * distances to the others, too, and each key against those from them. Sizes and operations as in Hugging Face's.
 * It is fine-tuned always: the pooled first token decides between two classes.
 *
 *      width=768 layers=12 heads=12
 *
 * Queries and keys of the distances are products once a step, not for each sample.
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

#define WORDS 128100
#define DISTANCES 512 /* far ones are told apart less finely */

/* [1][distances][width] of a layer for all samples. */
static dls_tensor repeated(dls_net *net, dls_tensor x, int64_t heads)
{
    x = dls_net_split_heads(net, x, heads);
    return dls_net_windows(net, x, 4, (int64_t[]){dls_net_batch(net), heads, DISTANCES, dls_net_dim(net, x, 3)});
}

/* Of each row of scores of x and all distances those that its tokens have, scaled. */
static dls_tensor from_distances(dls_net *net, dls_tensor x, dls_tensor distances)
{
    const int64_t t = dls_net_dim(net, x, 2);
    const dls_tensor all = dls_net_batch_matmul(net, x, distances, true);
    const dls_tensor own = dls_net_windows(net, all, 4, (int64_t[]){dls_net_batch(net), dls_net_dim(net, x, 1), t, t});
    return dls_net_scale(net, own);
}

/* Once more with the same weights: queries and keys of the distances. */
static dls_tensor attention(dls_net *net, dls_tensor x, dls_tensor distances, int64_t heads)
{
    const int64_t width = dls_net_dim(net, x, 2);
    const int32_t first = dls_net_trained(net);
    const dls_tensor q = dls_net_split_heads(net, dls_net_dense(net, x, width, true), heads);
    const dls_tensor k = dls_net_split_heads(net, dls_net_dense(net, x, width, true), heads);
    distances = dls_net_dropout(net, distances);
    dls_net_share(net, first);
    const dls_tensor to = dls_net_dense(net, distances, width, true);
    const dls_tensor from = dls_net_dense(net, distances, width, true);
    const dls_tensor v = dls_net_split_heads(net, dls_net_dense(net, x, width, true), heads);
    dls_tensor a = dls_net_batch_matmul(net, q, dls_net_scale(net, k), true);
    dls_tensor more = from_distances(net, q, repeated(net, from, heads));
    more = dls_net_add(net, more, from_distances(net, k, repeated(net, to, heads)));
    a = dls_net_pass(net, dls_net_add(net, a, more), DLS_OP_SELECT, 2); /* what is filled up is not seen */
    a = dls_net_dropout(net, dls_net_pass(net, dls_net_softmax(net, a), DLS_OP_SELECT, 0));
    a = dls_net_merge_heads(net, dls_net_batch_matmul(net, a, v, false));
    return dls_net_dropout(net, dls_net_dense(net, a, width, true));
}

static void deberta(dls_net *net, const char *spec)
{
    const int64_t width = (int64_t)dls_spec_number(spec, "width", 0);
    const int64_t heads = (int64_t)dls_spec_number(spec, "heads", 0);
    const dls_block_heads b = {.heads = heads, .style = DLS_BLOCK_BERT, .bias = true, .dropout = true};
    const dls_embedding words = dls_net_table(net, WORDS, width);
    dls_tensor x = dls_net_lookup(net, words, dls_net_indices(net, dls_net_sequence(net)));
    x = dls_net_dropout(net, dls_net_pass(net, dls_net_layer_norm(net, x), DLS_OP_MUL, 2));
    dls_tensor distances = dls_net_numbers(net, DISTANCES * width);
    distances = dls_net_reshape(net, distances, 3, (int64_t[]){1, DISTANCES, width});
    distances = dls_net_layer_norm(net, distances);
    for (int64_t i = 0; i < (int64_t)dls_spec_number(spec, "layers", 0); i++) {
        x = dls_block_post_norm(net, x, attention(net, x, distances, heads));
        x = dls_block_post_norm(net, x, dls_block_feed_forward(net, x, 4 * width, DLS_OP_GELU, b));
    }
    x = dls_net_dense(net, dls_net_dropout(net, dls_net_first_token(net, x)), width, true);
    x = dls_net_dropout(net, dls_net_unary(net, x, DLS_OP_GELU));
    dls_net_loss(net, dls_net_dense(net, x, 2, true));
}

#define DEBERTA(name, batch, spec) DLS_ZOO_TEXTS("deberta_v3_" name, "deberta", "squad", batch, 128, deberta, spec)

static const dls_zoo_model rows[] = {
    DEBERTA("xsmall", 32, "width=384 layers=12 heads=6"),
    DEBERTA("small", 32, "width=768 layers=6 heads=12"),
    DEBERTA("base", 32, "width=768 layers=12 heads=12"),
    DEBERTA("large", 16, "width=1024 layers=24 heads=16"),
};

const dls_zoo_table dls_zoo_relatives = {rows, sizeof rows / sizeof rows[0]};
