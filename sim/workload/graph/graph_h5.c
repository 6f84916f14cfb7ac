/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Computational graphs in HDF5: docs/graphs.md describes the layout. One table of columns drives
 * writing, reading and the checksum.
 */
#include "base/h5.h"
#include "base/own.h"
#include "workload/graph/graph.h"

#include <stddef.h>
#include <string.h>

#define FORMAT "dlsim-graph"
#define FORMAT_VERSION 1

#define COLUMN(row, text, field, type)                                                             \
    {                                                                                              \
        .name = (text), .cell = (type), .offset = offsetof(row, field)                             \
    }
#define NODE(field, type) COLUMN(dls_op_node, #field, field, type)
#define DIM(field, type) COLUMN(dls_op_node, "dim_" #field, dims.field, type)
#define EDGE(field, type) COLUMN(dls_op_edge, #field, field, type)
static const dls_h5_column node_columns[] = {
    NODE(kind, DLS_H5_I32),
    NODE(op, DLS_H5_I32),
    NODE(phase, DLS_H5_I32),
    NODE(layer, DLS_H5_I32),
    NODE(repeat, DLS_H5_I32),
    NODE(on_gpu, DLS_H5_BOOL),
    NODE(tensor_size, DLS_H5_I64),
    NODE(out_bytes, DLS_H5_I64),
    NODE(read_bytes, DLS_H5_I64),
    NODE(write_bytes, DLS_H5_I64),
    NODE(param_bytes, DLS_H5_I64),
    NODE(flops, DLS_H5_F64),
    DIM(batch, DLS_H5_I64),
    DIM(m, DLS_H5_I64),
    DIM(n, DLS_H5_I64),
    DIM(k, DLS_H5_I64),
    DIM(in_h, DLS_H5_I32),
    DIM(in_w, DLS_H5_I32),
    DIM(in_c, DLS_H5_I32),
    DIM(out_h, DLS_H5_I32),
    DIM(out_w, DLS_H5_I32),
    DIM(out_c, DLS_H5_I32),
    DIM(kernel_h, DLS_H5_I32),
    DIM(kernel_w, DLS_H5_I32),
    DIM(stride_h, DLS_H5_I32),
    DIM(stride_w, DLS_H5_I32),
    DIM(groups, DLS_H5_I32),
};

static const dls_h5_column edge_columns[] = {
    EDGE(from, DLS_H5_I32),
    EDGE(to, DLS_H5_I32),
    EDGE(control, DLS_H5_BOOL),
};

static const dls_h5_table node_table = {
    "nodes", node_columns, sizeof node_columns / sizeof *node_columns, sizeof(dls_op_node)};
static const dls_h5_table edge_table = {
    "edges", edge_columns, sizeof edge_columns / sizeof *edge_columns, sizeof(dls_op_edge)};

/* ---- checksum -------------------------------------------------------------------------------- */

static void hash_text(dls_sha256 *sha, const char *text)
{
    dls_sha256_update(sha, text, strlen(text) + 1);
}

static void hash_dict(dls_sha256 *sha, const dls_strdict *dict)
{
    for (size_t i = 0; i < dict->n; i++) {
        hash_text(sha, dls_strdict_get(dict, (int32_t)i));
    }
}

static void checksum(const dls_opgraph *g, char hex[DLS_SHA256_HEX])
{
    dls_sha256 sha;
    dls_sha256_init(&sha);
    hash_text(&sha, g->info.model);
    hash_text(&sha, g->info.dataset);
    dls_h5_hash(&sha, &g->info.batch, 1, sizeof g->info.batch);
    dls_h5_hash(&sha, &g->info.sequence, 1, sizeof g->info.sequence);
    hash_text(&sha, dls_numeric_name(g->info.numeric));
    hash_text(&sha, dls_optimiser_name(g->info.optimiser));
    hash_dict(&sha, &g->names);
    hash_dict(&sha, &g->ops);
    hash_dict(&sha, &g->layers);
    dls_h5_hash_rows(&sha, &node_table, g->nodes, (size_t)g->n_nodes, true);
    dls_h5_hash_rows(&sha, &edge_table, g->edges, (size_t)g->n_edges, true);
    dls_sha256_final(&sha, hex);
}

/* ---- writing --------------------------------------------------------------------------------- */

static dls_status put_graph(hid_t file, const void *what, dls_error *err)
{
    const dls_opgraph *g = what;
    char hex[DLS_SHA256_HEX];
    checksum(g, hex);
    DLS_TRY(dls_h5_put_text(file, "format", FORMAT, err));
    DLS_TRY(dls_h5_put_i32(file, "format_version", FORMAT_VERSION, err));
    DLS_TRY(dls_h5_put_text(file, "model", g->info.model, err));
    DLS_TRY(dls_h5_put_text(file, "dataset", g->info.dataset, err));
    DLS_TRY(dls_h5_put_i32(file, "batch", g->info.batch, err));
    DLS_TRY(dls_h5_put_i32(file, "sequence", g->info.sequence, err));
    DLS_TRY(dls_h5_put_text(file, "precision", dls_numeric_name(g->info.numeric), err));
    DLS_TRY(dls_h5_put_text(file, "optimiser", dls_optimiser_name(g->info.optimiser), err));
    DLS_TRY(dls_h5_put_text(file, "checksum", hex, err));
    DLS_TRY(dls_h5_put_dict(file, "names", &g->names, err));
    DLS_TRY(dls_h5_put_dict(file, "ops", &g->ops, err));
    DLS_TRY(dls_h5_put_dict(file, "layers", &g->layers, err));
    DLS_TRY(dls_h5_put_rows(file, &node_table, g->nodes, (size_t)g->n_nodes, err));
    return dls_h5_put_rows(file, &edge_table, g->edges, (size_t)g->n_edges, err);
}

dls_status dls_opgraph_save(const dls_opgraph *g, const char *path, dls_error *err)
{
    return dls_h5_save(path, put_graph, g, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static dls_status get_info(hid_t file, dls_opgraph_info *info, char hex[DLS_SHA256_HEX],
                           dls_error *err)
{
    char text[DLS_OPGRAPH_TEXT_MAX];
    DLS_TRY(dls_h5_check_format(file, FORMAT, FORMAT_VERSION, err));
    DLS_TRY(dls_h5_get_text(file, "model", info->model, sizeof info->model, err));
    DLS_TRY(dls_h5_get_text(file, "dataset", info->dataset, sizeof info->dataset, err));
    DLS_TRY(dls_h5_get_i32(file, "batch", &info->batch, err));
    DLS_TRY(dls_h5_get_i32(file, "sequence", &info->sequence, err));
    DLS_TRY(dls_h5_get_text(file, "precision", text, sizeof text, err));
    if (!dls_numeric_find(text, &info->numeric)) {
        return dls_fail(err, DLS_EINPUT, NULL, "precision \"%s\" is unknown", text);
    }
    DLS_TRY(dls_h5_get_text(file, "optimiser", text, sizeof text, err));
    if (!dls_optimiser_find(text, &info->optimiser)) {
        return dls_fail(err, DLS_EINPUT, NULL, "optimiser \"%s\" is unknown", text);
    }
    return dls_h5_get_text(file, "checksum", hex, DLS_SHA256_HEX, err);
}

static dls_status get_rows(hid_t file, dls_opgraph *g, dls_error *err)
{
    size_t n_edges;
    DLS_TRY(dls_h5_length(file, "edges/from", &n_edges, err));
    const size_t n = g->names.n;
    DLS_TRY(dls_alloc_array(&g->nodes, n + 1, sizeof *g->nodes, "graph", err));
    DLS_TRY(dls_alloc_array(&g->edges, n_edges + 1, sizeof *g->edges, "graph", err));
    g->node_cap = n + 1;
    g->edge_cap = n_edges + 1;
    g->n_nodes = (int32_t)n;
    g->n_edges = (int32_t)n_edges;
    DLS_TRY(dls_h5_get_rows(file, &node_table, g->nodes, n, err));
    DLS_TRY(dls_h5_get_rows(file, &edge_table, g->edges, n_edges, err));
    for (size_t i = 0; i < n; i++) {
        g->nodes[i].name = (int32_t)i;
    }
    return DLS_OK;
}

static dls_status get_graph(hid_t file, dls_opgraph **out, dls_error *err)
{
    dls_opgraph_info info = {0};
    char stored[DLS_SHA256_HEX];
    char hex[DLS_SHA256_HEX];
    DLS_TRY(get_info(file, &info, stored, err));
    DLS_TRY(dls_opgraph_create(&info, out, err));
    dls_opgraph *g = *out;
    DLS_TRY(dls_h5_get_dict(file, "names", &g->names, err));
    DLS_TRY(dls_h5_get_dict(file, "ops", &g->ops, err));
    DLS_TRY(dls_h5_get_dict(file, "layers", &g->layers, err));
    DLS_TRY(get_rows(file, g, err));
    checksum(g, hex);
    if (strcmp(stored, hex) != 0) {
        return dls_fail(err, DLS_EINPUT, NULL, "checksum %s stored, %s computed: damaged", stored,
                        hex);
    }
    return dls_opgraph_validate(g, err);
}

dls_status dls_opgraph_load(const char *path, dls_opgraph **out, dls_error *err)
{
    DLS_H5_OWNED hid_t file = H5I_INVALID_HID;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    *out = NULL;
    DLS_TRY(dls_h5_open(path, &file, err));
    DLS_TRY(dls_h5_where(get_graph(file, &g, err), err, path));
    *out = dls_take(&g);
    return DLS_OK;
}
