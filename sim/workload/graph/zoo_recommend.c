/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Recommendation: large tables, small networks.
 */
#include "workload/graph/zoo_impl.h"

#include "workload/graph/blocks.h"

/* He et al., 2017 (NeuMF), as MLPerf trains it on MovieLens 20M: 138493 users, 26744 items. */
void dls_zoo_ncf(dls_net *net, const char *spec)
{
    const dls_tensor user = dls_net_indices(net, 0);
    const dls_tensor item = dls_net_indices(net, 0);
    const dls_tensor user_mf = dls_net_lookup(net, dls_net_table(net, 138493, 64), user);
    const dls_tensor item_mf = dls_net_lookup(net, dls_net_table(net, 26744, 64), item);
    const dls_tensor user_mlp = dls_net_lookup(net, dls_net_table(net, 138493, 128), user);
    const dls_tensor item_mlp = dls_net_lookup(net, dls_net_table(net, 26744, 128), item);
    const dls_tensor mf = dls_net_mul(net, user_mf, item_mf);
    const dls_tensor deep =
        dls_block_mlp(net, dls_net_concat(net, (dls_tensor[]){user_mlp, item_mlp}, 2),
                      (const int64_t[]){256, 128, 64}, 3);
    const dls_tensor both = dls_net_concat(net, (dls_tensor[]){mf, deep}, 2);
    dls_net_loss(net, dls_net_dense(net, both, 1, true));
}

#define TABLES 26

static dls_tensor pairs(dls_net *net, dls_tensor x, dls_tensor dense, int64_t width)
{
    const dls_tensor all =
        dls_net_reshape(net, x, 3, (const int64_t[]){dls_net_batch(net), 1 + TABLES, width});
    const dls_tensor y = dls_net_pairs(net, dls_net_batch_matmul(net, all, all, true));
    return dls_net_concat(net, (dls_tensor[]){dense, y}, 2);
}

static dls_tensor crosses(dls_net *net, dls_tensor first)
{
    dls_tensor x = first;
    for (int i = 0; i < 3; i++) {
        const dls_tensor y = dls_net_dense(net, dls_net_dense(net, x, 512, false), dls_net_dim(net, x, -1), true);
        x = dls_net_add(net, dls_net_mul(net, first, y), x);
    }
    return x;
}

/* Naumov et al., 2019, all pairs of vectors multiplied: on Criteo Kaggle tables of 16; with "mlperf" on a terabyte of
 * Criteo's clicks as MLPerf Training 0.7 to 2.1 does, tables of 128, none of more than 40 million rows. With "crossed"
 * as MLPerf does from 3.0 on (DCN v2, Wang et al., 2021): several rows of a table are looked up and added, and three
 * layers multiply the vectors by products of themselves of rank 512, in place of pairs. */
void dls_zoo_dlrm(dls_net *net, const char *spec)
{
    static const int64_t kaggle[TABLES] = {1460,  583,     10131227, 2202608, 305,     24,   12517,
                                           633,   3,       93145,    5683,    8351593, 3194, 27,
                                           14992, 5461306, 10,       5652,    2173,    4,    7046547,
                                           18,    15,      286181,   105,     142572};
    static const int64_t terabyte[TABLES] = {39884406, 39043,   17289,    7420,     20263,    3,      7120,
                                             1543,     63,      38532951, 2953546,  403346,   10,     2208,
                                             11938,    155,     4,        976,      14,       39979771, 25641295,
                                             39664984, 585935,  12972,    108,      36};
    static const int64_t capped[TABLES] = {40000000, 39060,  17295,    7424,     20265,    3,      7122,  1543, 63,
                                           40000000, 3067956, 405282,  10,       2209,     11938,  155,   4,    976,
                                           14,       40000000, 40000000, 40000000, 590152, 12973,  108,   36};
    static const int32_t hot[TABLES] = {3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1};
    const bool crossed = dls_spec_has(spec, "crossed"), mlperf = crossed || dls_spec_has(spec, "mlperf");
    const int64_t *of = crossed ? capped : mlperf ? terabyte : kaggle;
    const int64_t width = mlperf ? 128 : 16;
    const int64_t bottom[2][4] = {{512, 256, 64, 16}, {512, 256, 128}};
    const int64_t top[2][4] = {{512, 256}, {1024, 1024, 512, 256}};
    dls_tensor vector[1 + TABLES];
    vector[0] = dls_block_mlp(net, dls_net_dense_input(net, 13), bottom[mlperf], mlperf ? 3 : 4);
    for (int i = 0; i < TABLES; i++) {
        const dls_embedding table = dls_net_table(net, of[i], width);
        vector[1 + i] = crossed ? dls_net_bag(net, table, dls_net_indices(net, hot[i]))
                                : dls_net_lookup(net, table, dls_net_indices(net, 0));
    }
    dls_tensor x = dls_net_concat(net, vector, 1 + TABLES);
    x = crossed ? crosses(net, x) : pairs(net, x, vector[0], width);
    const dls_tensor y = dls_block_mlp(net, x, top[mlperf], mlperf ? 4 : 2);
    dls_net_loss(net, dls_net_dense(net, y, 1, true));
}

/* Autoencoder of ratings with one hidden layer of 200 (recoder's on MovieLens 20M, Gavel's
 * "Recommendation"): 20108 items. */
void dls_zoo_autoencoder(dls_net *net, const char *spec)
{
    const int64_t items = 20108;
    dls_tensor x = dls_net_dropout(net, dls_net_dense_input(net, (int32_t)items));
    x = dls_net_unary(net, dls_net_dense(net, x, 200, true), DLS_OP_TANH);
    dls_net_loss(net, dls_net_dense(net, x, items, true));
}

static const dls_zoo_model rows[] = {
    {.name = "dlrm_mlperf",
     .family = "dlrm",
     .dataset = "criteo-terabyte",
     .batch = 8192,
     .optimiser = DLS_OPTIMISER_SGD,
     .design = dls_zoo_dlrm,
     .spec = "mlperf"},
    {.name = "dlrm_dcnv2",
     .family = "dlrm",
     .dataset = "criteo-terabyte",
     .batch = 8192,
     .optimiser = DLS_OPTIMISER_SGD,
     .design = dls_zoo_dlrm,
     .spec = "crossed"},
};

const dls_zoo_table dls_zoo_clicks = {rows, sizeof rows / sizeof rows[0]};
