/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads batches of graphs from HDF5 in slices that fit in memory, and turns dense adjacency
 * matrices into lists of neighbours.
 */
#include "dlsim/predictor.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/driple/h5io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX 32768

DLS_OWNER(dls_graph_reader, dls_graph_reader_close)

struct dls_graph_reader {
    hid_t file;
    char **group;
    size_t n_groups, cap_groups;
    /* one slice */
    dls_graph *graph;
    double *x, *adj, *weight;
    int64_t *row_start;
    int32_t *col;
    size_t cap_graph, cap_x, cap_adj, cap_weight, cap_row, cap_col;
};

typedef struct visit {
    dls_graph_reader *reader;
    dls_status status;
    dls_error *err;
} visit;

/* Every object once, by one of its names, however many links lead to it. */
static herr_t collect(hid_t file, const char *name, const H5O_info_t *info, void *user)
{
    visit *v = user;
    dls_graph_reader *r = v->reader;
    hid_t group;
    if (info->type != H5O_TYPE_GROUP || dls_h5_get_group(file, name, &group, NULL) != DLS_OK) {
        return 0;
    }
    if (dls_h5_has(group, "adj") && dls_h5_has(group, "x")) {
        char full[1024];
        snprintf(full, sizeof full, "/%s", strcmp(name, ".") == 0 ? "" : name);
        char *copy = dls_strdup(full);
        v->status =
            copy ? dls_grow(&r->group, &r->cap_groups, r->n_groups + 1, sizeof *r->group, v->err)
                 : dls_nomem(v->err, "group name", strlen(full));
        if (v->status == DLS_OK) {
            r->group[r->n_groups++] = copy;
        } else {
            dls_free(copy);
        }
    }
    H5Gclose(group);
    return v->status != DLS_OK;
}

/* A group before what is in it, and that before its neighbours. */
static int by_path(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    for (; *x && *x == *y; x++) {
        y++;
    }
    const int first = *x == '/' ? 1 : (unsigned char)*x, second = *y == '/' ? 1 : (unsigned char)*y;
    return first - second;
}

static dls_status collect_all(dls_graph_reader *r, dls_error *err)
{
    visit v = {r, DLS_OK, err};
    /* In the index's own order: see dls_h5_names. */
    if (H5Ovisit(r->file, H5_INDEX_NAME, H5_ITER_NATIVE, collect, &v) < 0) {
        return dls_h5_damaged(err, "a group");
    }
    if (r->n_groups > 1) {
        qsort(r->group, r->n_groups, sizeof *r->group, by_path);
    }
    return v.status;
}

dls_status dls_graph_reader_open(const char *path, dls_graph_reader **out, dls_error *err)
{
    *out = NULL;
    DLS_HOLD(dls_graph_reader_close) dls_graph_reader *r = NULL;
    DLS_TRY(dls_alloc_array(&r, 1, sizeof *r, "graph reader", err));
    r->file = -1;
    DLS_TRY(dls_h5_open(path, &r->file, err));
    DLS_TRY(collect_all(r, err));
    if (r->n_groups == 0) {
        return dls_fail(err, DLS_EINPUT, path,
                        "no group with datasets \"adj\" and \"x\" (graphs of operations are "
                        "grouped first: dlsim graph group --weights=W.h5)");
    }
    *out = dls_take(&r);
    return DLS_OK;
}

void dls_graph_reader_close(dls_graph_reader *r)
{
    if (!r) {
        return;
    }
    for (size_t i = 0; i < r->n_groups; i++) {
        dls_free(r->group[i]);
    }
    DLS_FREE_ALL(r->group, r->graph, r->x, r->adj, r->weight, r->row_start, r->col);
    if (r->file >= 0) {
        H5Fclose(r->file);
    }
    dls_free(r);
}

size_t dls_graph_reader_n_groups(const dls_graph_reader *r)
{
    return r->n_groups;
}

const char *dls_graph_reader_group(const dls_graph_reader *r, size_t group)
{
    return r->group[group];
}

static dls_status open_in(const dls_graph_reader *r, size_t group, const char *name, char *full,
                          size_t size, hid_t *set, dls_error *err)
{
    const char *g = r->group[group];
    snprintf(full, size, "%s/%s", g[1] ? g : "", name);
    return dls_h5_where(dls_h5_get_set(r->file, full, set, err), err, full);
}

static dls_status shape_of(dls_graph_reader *r, size_t group, const char *name,
                           dls_h5io_shape *shape, char *full, size_t size, dls_error *err)
{
    DLS_H5_OWNED hid_t set = H5I_INVALID_HID;
    DLS_TRY(open_in(r, group, name, full, size, &set, err));
    return dls_h5io_shape_of(set, full, shape, err);
}

dls_status dls_graph_reader_shape(dls_graph_reader *r, size_t group, dls_group_shape *out,
                                  dls_error *err)
{
    dls_h5io_shape a;
    dls_h5io_shape x;
    char name_a[1100];
    char name_x[1100];
    DLS_TRY(shape_of(r, group, "adj", &a, name_a, sizeof name_a, err));
    DLS_TRY(shape_of(r, group, "x", &x, name_x, sizeof name_x, err));
    if (!a.is_number || a.rank < 2 || a.dim[a.rank - 1] != a.dim[a.rank - 2]) {
        return dls_fail(err, DLS_EINPUT, name_a, "expected numbers of shape [N][N] or [B][N][N]");
    }
    const bool single = a.rank == 2;
    if (!x.is_number || x.rank != a.rank || x.dim[x.rank - 2] != a.dim[a.rank - 1] ||
        (!single && x.dim[0] != a.dim[0])) {
        return dls_fail(err, DLS_EINPUT, name_x,
                        "expected numbers of shape %s with B and N those of adj",
                        single ? "[N][F]" : "[B][N][F]");
    }
    const hsize_t n = a.dim[a.rank - 1];
    const hsize_t f = x.dim[x.rank - 1];
    if (n < 1 || n > NODES_MAX || f < 1 || f > 4096) {
        return dls_fail(err, DLS_EINPUT, name_a,
                        "%llu nodes with %llu features; supported are 1 to %d and 1 to 4096",
                        (unsigned long long)n, (unsigned long long)f, NODES_MAX);
    }
    *out = (dls_group_shape){.n_graphs = single ? 1 : (size_t)a.dim[0],
                             .n_nodes = (int32_t)n,
                             .n_features = (int32_t)f,
                             .single = single};
    return DLS_OK;
}

size_t dls_graph_reader_fit(const dls_group_shape *s, size_t memory_bytes)
{
    const size_t n = (size_t)s->n_nodes;
    /* one dense adjacency at a time; features, rows and a tenth of the edges stay */
    const size_t per_graph = n * (size_t)s->n_features * 8 + n * 8 + n * n * 2 + 256;
    const size_t fit = memory_bytes / per_graph;
    return fit < 1 ? 1 : fit;
}

static dls_status read_slab(dls_graph_reader *r, size_t group, const char *name, bool single,
                            size_t first, size_t n, size_t rows, size_t cols, double *out,
                            dls_error *err)
{
    char full[1100];
    DLS_H5_OWNED hid_t set = H5I_INVALID_HID;
    DLS_TRY(open_in(r, group, name, full, sizeof full, &set, err));
    DLS_H5_OWNED const hid_t space = H5Dget_space(set);
    const hsize_t start[3] = {first, 0, 0};
    const hsize_t count[3] = {n, rows, cols};
    const int skip = single ? 1 : 0;
    DLS_H5_OWNED const hid_t memory = H5Screate_simple(3 - skip, count + skip, NULL);
    const bool ok =
        space >= 0 &&
        H5Sselect_hyperslab(space, H5S_SELECT_SET, start + skip, NULL, count + skip, NULL) >= 0 &&
        H5Dread(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, out) >= 0;
    return ok ? DLS_OK : dls_fail(err, DLS_EINPUT, full, "cannot be read: truncated or damaged");
}

/* Nonzeros of one dense adjacency, behind *edges; NaN counts as nonzero and is refused later. */
static dls_status to_rows(dls_graph_reader *r, size_t n, int64_t *row_start, size_t *edges,
                          bool *binary, dls_error *err)
{
    const size_t begin = *edges;
    row_start[0] = 0;
    for (size_t i = 0; i < n; i++) {
        if (r->cap_col < *edges + n || r->cap_weight < *edges + n) {
            DLS_TRY(dls_grow(&r->col, &r->cap_col, *edges + n, sizeof *r->col, err));
            DLS_TRY(dls_grow(&r->weight, &r->cap_weight, *edges + n, sizeof *r->weight, err));
        }
        for (size_t j = 0; j < n; j++) {
            const double w = r->adj[i * n + j];
            if (w != 0) {
                r->col[*edges] = (int32_t)j;
                r->weight[(*edges)++] = w;
                *binary = *binary && w == 1;
            }
        }
        row_start[i + 1] = (int64_t)(*edges - begin);
    }
    return DLS_OK;
}

dls_status dls_graph_reader_read(dls_graph_reader *r, size_t group, const dls_group_shape *s,
                                 size_t first, size_t n_graphs, const dls_graph **graphs,
                                 dls_error *err)
{
    const size_t n = (size_t)s->n_nodes;
    const size_t f = (size_t)s->n_features;
    DLS_TRY(dls_grow(&r->graph, &r->cap_graph, n_graphs, sizeof *r->graph, err));
    DLS_TRY(dls_grow(&r->x, &r->cap_x, n_graphs * n * f, sizeof *r->x, err));
    DLS_TRY(dls_grow(&r->adj, &r->cap_adj, n * n, sizeof *r->adj, err));
    DLS_TRY(dls_grow(&r->row_start, &r->cap_row, n_graphs * (n + 1), sizeof *r->row_start, err));
    DLS_TRY(read_slab(r, group, "x", s->single, first, n_graphs, n, f, r->x, err));
    size_t edges = 0;
    bool binary = true;
    for (size_t i = 0; i < n_graphs; i++) {
        DLS_TRY(read_slab(r, group, "adj", s->single, first + i, 1, n, n, r->adj, err));
        DLS_TRY(to_rows(r, n, r->row_start + i * (n + 1), &edges, &binary, err));
    }
    edges = 0;
    for (size_t i = 0; i < n_graphs; i++) {
        const int64_t *row_start = r->row_start + i * (n + 1);
        r->graph[i] = (dls_graph){.n_nodes = s->n_nodes,
                                  .n_features = s->n_features,
                                  .x = r->x + i * n * f,
                                  .row_start = row_start,
                                  .col = r->col + edges,
                                  .weight = binary ? NULL : r->weight + edges};
        edges += (size_t)row_start[n];
    }
    *graphs = r->graph;
    return DLS_OK;
}
