/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Computational graphs in HDF5: docs/graphs.md describes the layout. One table of columns drives
 * writing, reading and the checksum.
 */
#include "base/alloc.h"
#include "base/h5.h"
#include "base/own.h"
#include "workload/graph/graph.h"

#include <hdf5.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FORMAT "dlsim-graph"
#define FORMAT_VERSION 1

typedef enum cell { CELL_I32, CELL_I64, CELL_F64, CELL_BOOL } cell;

typedef struct column {
    const char *name;
    cell type;
    size_t offset;
} column;

#define NODE(field, type)                                                                          \
    {                                                                                              \
#field, type, offsetof(dls_op_node, field)                                                 \
    }
#define DIM(field, type)                                                                           \
    {                                                                                              \
        "dim_" #field, type, offsetof(dls_op_node, dims.field)                                     \
    }
static const column node_columns[] = {
    NODE(kind, CELL_I32),
    NODE(op, CELL_I32),
    NODE(phase, CELL_I32),
    NODE(layer, CELL_I32),
    NODE(repeat, CELL_I32),
    NODE(on_gpu, CELL_BOOL),
    NODE(tensor_size, CELL_I64),
    NODE(out_bytes, CELL_I64),
    NODE(read_bytes, CELL_I64),
    NODE(write_bytes, CELL_I64),
    NODE(param_bytes, CELL_I64),
    NODE(flops, CELL_F64),
    DIM(batch, CELL_I64),
    DIM(m, CELL_I64),
    DIM(n, CELL_I64),
    DIM(k, CELL_I64),
    DIM(in_h, CELL_I32),
    DIM(in_w, CELL_I32),
    DIM(in_c, CELL_I32),
    DIM(out_h, CELL_I32),
    DIM(out_w, CELL_I32),
    DIM(out_c, CELL_I32),
    DIM(kernel_h, CELL_I32),
    DIM(kernel_w, CELL_I32),
    DIM(stride_h, CELL_I32),
    DIM(stride_w, CELL_I32),
    DIM(groups, CELL_I32),
};
#undef NODE
#undef DIM

#define EDGE(field, type)                                                                          \
    {                                                                                              \
#field, type, offsetof(dls_op_edge, field)                                                 \
    }
static const column edge_columns[] = {
    EDGE(from, CELL_I32),
    EDGE(to, CELL_I32),
    EDGE(control, CELL_BOOL),
};
#undef EDGE

#define N_NODE_COLUMNS (sizeof node_columns / sizeof node_columns[0])
#define N_EDGE_COLUMNS (sizeof edge_columns / sizeof edge_columns[0])

static size_t cell_bytes(cell type)
{
    return type == CELL_I32 ? 4 : type == CELL_BOOL ? 1 : 8;
}

static hid_t file_type(cell type)
{
    switch (type) {
    case CELL_I32:
        return H5T_STD_I32LE;
    case CELL_I64:
        return H5T_STD_I64LE;
    case CELL_F64:
        return H5T_IEEE_F64LE;
    case CELL_BOOL:
    default:
        return H5T_STD_U8LE;
    }
}

static hid_t memory_type(cell type)
{
    switch (type) {
    case CELL_I32:
        return H5T_NATIVE_INT32;
    case CELL_I64:
        return H5T_NATIVE_INT64;
    case CELL_F64:
        return H5T_NATIVE_DOUBLE;
    case CELL_BOOL:
    default:
        return H5T_NATIVE_UINT8;
    }
}

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

static void hash_rows(dls_sha256 *sha, const column *columns, size_t n_columns, const void *rows,
                      size_t n_rows, size_t row_bytes)
{
    for (size_t c = 0; c < n_columns; c++) {
        hash_text(sha, columns[c].name);
        for (size_t i = 0; i < n_rows; i++) {
            dls_h5_hash(sha, (const char *)rows + i * row_bytes + columns[c].offset, 1,
                        cell_bytes(columns[c].type));
        }
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
    hash_rows(&sha, node_columns, N_NODE_COLUMNS, g->nodes, (size_t)g->n_nodes, sizeof *g->nodes);
    hash_rows(&sha, edge_columns, N_EDGE_COLUMNS, g->edges, (size_t)g->n_edges, sizeof *g->edges);
    dls_sha256_final(&sha, hex);
}

/* ---- writing --------------------------------------------------------------------------------- */

static dls_status put_rows(hid_t file, const char *group, const column *columns, size_t n_columns,
                           const void *rows, size_t n_rows, size_t row_bytes, dls_error *err)
{
    DLS_H5_OWNED hid_t at = H5I_INVALID_HID;
    DLS_FREED char *data = NULL;
    DLS_TRY(dls_h5_put_group(file, group, &at, err));
    DLS_TRY(dls_alloc_array(&data, n_rows * 8 + 1, 1, group, err));
    for (size_t c = 0; c < n_columns; c++) {
        const size_t bytes = cell_bytes(columns[c].type);
        for (size_t i = 0; i < n_rows; i++) {
            memcpy(data + i * bytes, (const char *)rows + i * row_bytes + columns[c].offset, bytes);
        }
        DLS_TRY(dls_h5_put_data(at, columns[c].name, file_type(columns[c].type),
                                memory_type(columns[c].type), data, n_rows, 0, err));
    }
    return DLS_OK;
}

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
    DLS_TRY(put_rows(file, "nodes", node_columns, N_NODE_COLUMNS, g->nodes, (size_t)g->n_nodes,
                     sizeof *g->nodes, err));
    return put_rows(file, "edges", edge_columns, N_EDGE_COLUMNS, g->edges, (size_t)g->n_edges,
                    sizeof *g->edges, err);
}

dls_status dls_opgraph_save(const dls_opgraph *g, const char *path, dls_error *err)
{
    return dls_h5_save(path, put_graph, g, err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static dls_status get_column(hid_t file, const char *group, const column *col, char *rows,
                             size_t n_rows, size_t row_bytes, dls_error *err)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", group, col->name);
    const size_t bytes = cell_bytes(col->type);
    DLS_FREED char *data = NULL;
    DLS_TRY(dls_alloc_array(&data, n_rows * bytes + 1, 1, path, err));
    DLS_TRY(dls_h5_get_data(file, path, memory_type(col->type), data, n_rows, 0, err));
    for (size_t i = 0; i < n_rows; i++) {
        if (col->type == CELL_BOOL) {
            data[i] = data[i] != 0;
        }
        memcpy(rows + i * row_bytes + col->offset, data + i * bytes, bytes);
    }
    return DLS_OK;
}

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
    for (size_t c = 0; c < N_NODE_COLUMNS; c++) {
        DLS_TRY(get_column(file, "nodes", &node_columns[c], (char *)g->nodes, n, sizeof *g->nodes,
                           err));
    }
    for (size_t c = 0; c < N_EDGE_COLUMNS; c++) {
        DLS_TRY(get_column(file, "edges", &edge_columns[c], (char *)g->edges, n_edges,
                           sizeof *g->edges, err));
    }
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
    const dls_status status = get_graph(file, &g, err);
    if (status != DLS_OK && err) {
        snprintf(err->where, sizeof err->where, "%s", path);
    }
    *out = status == DLS_OK ? dls_take(&g) : NULL;
    return status;
}
