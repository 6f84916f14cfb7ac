/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads dataset files (docs/dataset-files.md): checks sizes, checksums, edges and finite numbers
 * before anything of the file is used.
 */
#include "base/alloc.h"
#include "base/own.h"
#include "base/suggest.h"
#include "predictor/dataset/dataset_h5.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static dls_status get_ints(dls_set_channel *c, const char *name, hid_t memory, void *data, size_t n)
{
    DLS_TRY(dls_h5_get_data(c->at, name, memory, data, n, 0, c->err));
    dls_set_hash_text(c, name);
    dls_h5_hash(&c->sha, data, n, H5Tget_size(memory));
    return DLS_OK;
}

/* *x is allocated; all of it is finite. */
static dls_status get_reals(dls_set_channel *c, const char *name, double **x, size_t rows,
                            size_t cols)
{
    const size_t n = rows * (cols > 0 ? cols : 1);
    DLS_FREED float *data = dls_alloc(n * sizeof *data + 1);
    *x = dls_alloc_zero(n + 1, sizeof **x);
    DLS_TRY(data && *x ? DLS_OK : dls_nomem(c->err, name, n * sizeof **x));
    DLS_TRY(dls_h5_get_data(c->at, name, H5T_NATIVE_FLOAT, data, rows, cols, c->err));
    for (size_t i = 0; i < n; i++) {
        (*x)[i] = (double)data[i];
        if (!isfinite(data[i])) {
            return dls_fail(c->err, DLS_EINPUT, NULL, "\"%s\": element %zu is not finite", name, i);
        }
    }
    dls_set_hash_text(c, name);
    dls_h5_hash(&c->sha, data, n, sizeof *data);
    return DLS_OK;
}

static dls_status get_texts(dls_set_channel *c, const char *name, char *first, size_t n,
                            size_t width, size_t stride)
{
    DLS_FREED char *text = dls_alloc_zero(n * width + 1, 1);
    DLS_TRY(text ? dls_h5_get_strings(c->at, name, text, n, width, c->err)
                 : dls_nomem(c->err, name, n * width));
    dls_set_hash_text(c, name);
    for (size_t i = 0; i < n; i++) {
        dls_set_hash_text(c, text + i * width);
        memcpy(first + i * stride, text + i * width, width);
    }
    return DLS_OK;
}

static dls_status get_checksum(dls_set_channel *c, const char *what)
{
    char stored[DLS_SHA256_HEX];
    char hex[DLS_SHA256_HEX];
    dls_sha256_final(&c->sha, hex);
    DLS_TRY(dls_h5_get_text(c->at, "checksum", stored, sizeof stored, c->err));
    return strcmp(stored, hex) == 0
               ? DLS_OK
               : dls_fail(c->err, DLS_EINPUT, NULL,
                          "\"%s\": checksum %s stored, %s computed: damaged", what, stored, hex);
}

static dls_status get_group(hid_t at, const char *name, dls_set_channel *c, dls_error *err)
{
    *c = (dls_set_channel){.err = err};
    dls_sha256_init(&c->sha);
    return dls_h5_get_group(at, name, &c->at, err);
}

static dls_status get_origins(dls_set_channel *c, dls_dataset *set)
{
    dls_dataset_origin *o = set->origin;
    const size_t n = set->n_graphs, step = sizeof *o;
    DLS_TRY(get_texts(c, "model", o->model, n, sizeof o->model, step));
    DLS_TRY(get_texts(c, "family", o->family, n, sizeof o->family, step));
    DLS_TRY(get_texts(c, "data", o->data, n, sizeof o->data, step));
    DLS_TRY(get_texts(c, "numeric", o->numeric, n, sizeof o->numeric, step));
    return get_texts(c, "optimiser", o->optimiser, n, sizeof o->optimiser, step);
}

/* One graph out of the pack. EINPUT: a neighbour that is none of its nodes, or not ascending. */
static dls_status unpack_graph(const dls_set_pack *p, size_t i, size_t *node, size_t *edge,
                               dls_graph *g, dls_error *err)
{
    const size_t n = (size_t)p->n_nodes[i];
    int64_t *row_start = dls_alloc_zero(n + 1, sizeof *row_start);
    g->row_start = row_start;
    if (!row_start) {
        return dls_nomem(err, "graphs", (n + 1) * sizeof *row_start);
    }
    for (size_t v = 0; v < n; v++) {
        row_start[v + 1] = row_start[v] + p->degree[*node + v];
    }
    const size_t e = (size_t)row_start[n];
    double *x = dls_alloc(n * p->features * sizeof *x + 1);
    int32_t *col = dls_alloc(e * sizeof *col + 1);
    double *weight = p->weighted ? dls_alloc(e * sizeof *weight + 1) : NULL;
    g->x = x;
    g->col = col;
    g->weight = weight;
    if (!x || !col || (p->weighted && !weight)) {
        return dls_nomem(err, "graphs", n * p->features * sizeof *x);
    }
    memcpy(x, p->x + *node * p->features, n * p->features * sizeof *x);
    memcpy(col, p->col + *edge, e * sizeof *col);
    if (weight) {
        memcpy(weight, p->weight + *edge, e * sizeof *weight);
    }
    for (size_t v = 0; v < n; v++) {
        for (int64_t k = row_start[v]; k < row_start[v + 1]; k++) {
            if (col[k] < 0 || (size_t)col[k] >= n || (k > row_start[v] && col[k] <= col[k - 1])) {
                return dls_fail(err, DLS_EINPUT, NULL, "graph %zu, node %zu: neighbours are wrong",
                                i, v);
            }
        }
    }
    *node += n;
    *edge += e;
    return DLS_OK;
}

/* Sizes that agree with each other. */
static bool sizes_agree(const dls_set_pack *p)
{
    size_t nodes = 0, edges = 0;
    for (size_t i = 0; i < p->graphs; i++) {
        if (p->n_nodes[i] < 1) {
            return false;
        }
        nodes += (size_t)p->n_nodes[i];
    }
    for (size_t v = 0; v < p->nodes; v++) {
        if (p->degree[v] < 0) {
            return false;
        }
        edges += (size_t)p->degree[v];
    }
    return nodes == p->nodes && edges == p->edges;
}

static dls_status get_pack(dls_set_channel *c, dls_set_pack *p)
{
    double *x = NULL, *weight = NULL;
    DLS_TRY(get_ints(c, "batch", H5T_NATIVE_INT32, p->batch, p->graphs));
    DLS_TRY(get_ints(c, "n_nodes", H5T_NATIVE_INT32, p->n_nodes, p->graphs));
    DLS_TRY(get_ints(c, "degree", H5T_NATIVE_INT32, p->degree, p->nodes));
    DLS_TRY(get_ints(c, "col", H5T_NATIVE_INT32, p->col, p->edges));
    dls_status status = get_reals(c, "x", &x, p->nodes, p->features);
    dls_free(p->x);
    p->x = x;
    if (status == DLS_OK && p->weighted) {
        status = get_reals(c, "weight", &weight, p->edges, 0);
        dls_free(p->weight);
        p->weight = weight;
    }
    return status == DLS_OK && !sizes_agree(p) ? dls_h5_damaged(c->err, DLS_SET_GRAPHS "/degree")
                                               : status;
}

static dls_status get_graphs_into(dls_set_channel *c, dls_dataset *set, dls_set_pack *p)
{
    set->graph = dls_alloc_zero(p->graphs + 1, sizeof *set->graph);
    set->origin = dls_alloc_zero(p->graphs + 1, sizeof *set->origin);
    if (!set->graph || !set->origin) {
        return dls_nomem(c->err, "graphs", p->graphs * sizeof *set->origin);
    }
    set->n_graphs = p->graphs;
    DLS_TRY(dls_set_pack_alloc(p, c->err));
    DLS_TRY(get_origins(c, set));
    DLS_TRY(get_pack(c, p));
    DLS_TRY(get_checksum(c, DLS_SET_GRAPHS));
    size_t node = 0, edge = 0;
    for (size_t i = 0; i < p->graphs; i++) {
        set->graph[i] = (dls_graph){.n_nodes = p->n_nodes[i], .n_features = set->n_features};
        set->origin[i].batch = p->batch[i];
        DLS_TRY(unpack_graph(p, i, &node, &edge, &set->graph[i], c->err));
    }
    return DLS_OK;
}

static dls_status get_graphs(hid_t file, dls_dataset *set, dls_error *err)
{
    DLS_OWN(dls_set_pack_fini) dls_set_pack p = {.features = (size_t)set->n_features};
    DLS_OWN(dls_set_leave) dls_set_channel c = {.at = H5I_INVALID_HID};
    DLS_TRY(get_group(file, DLS_SET_GRAPHS, &c, err));
    p.weighted = dls_h5_has(c.at, "weight");
    DLS_TRY(dls_h5_length(c.at, "batch", &p.graphs, err));
    DLS_TRY(dls_h5_length(c.at, "degree", &p.nodes, err));
    DLS_TRY(dls_h5_length(c.at, "col", &p.edges, err));
    return get_graphs_into(&c, set, &p);
}

static dls_status check_rows(const dls_dataset_setting *s, size_t n_graphs, dls_error *err)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->graph[i] < 0 || (size_t)s->graph[i] >= n_graphs || s->split[i] >= DLS_SPLITS ||
            (i > 0 && s->graph[i] <= s->graph[i - 1])) {
            return dls_fail(err, DLS_EINPUT, NULL, "setting \"%s\": row %zu is wrong", s->name, i);
        }
    }
    return DLS_OK;
}

static dls_status get_setting_data(dls_set_channel *c, size_t n_graphs, dls_dataset_setting *s)
{
    char labels[DLS_DATASET_NAME];
    DLS_TRY(dls_h5_get_text(c->at, "gpu_type", s->gpu_type, sizeof s->gpu_type, c->err));
    DLS_TRY(dls_h5_get_text(c->at, "topology", s->topology, sizeof s->topology, c->err));
    DLS_TRY(dls_h5_get_text(c->at, "network", s->network, sizeof s->network, c->err));
    DLS_TRY(dls_h5_get_i32(c->at, "n_ps", &s->n_ps, c->err));
    DLS_TRY(dls_h5_get_i32(c->at, "n_workers", &s->n_workers, c->err));
    DLS_TRY(dls_h5_get_i32(c->at, "n_nodes", &s->n_nodes, c->err));
    DLS_TRY(dls_h5_get_text(c->at, "labels", labels, sizeof labels, c->err));
    s->measured = strcmp(labels, "measured") == 0;
    DLS_TRY(dls_h5_length(c->at, "graph", &s->n, c->err));
    s->graph = dls_alloc_zero(s->n + 1, sizeof *s->graph);
    s->split = dls_alloc_zero(s->n + 1, sizeof *s->split);
    if (!s->graph || !s->split) {
        return dls_nomem(c->err, s->name, s->n * sizeof *s->graph);
    }
    DLS_TRY(get_ints(c, "graph", H5T_NATIVE_INT32, s->graph, s->n));
    DLS_TRY(get_ints(c, "split", H5T_NATIVE_UINT8, s->split, s->n));
    DLS_TRY(get_reals(c, "label", &s->label, s->n, DLS_METRICS));
    DLS_TRY(get_reals(c, "iteration_s", &s->iteration_s, s->n, 0));
    if (dls_h5_has(c->at, "truth")) {
        DLS_TRY(get_reals(c, "truth", &s->truth, s->n, DLS_METRICS));
    }
    if (dls_h5_has(c->at, "model_s")) {
        DLS_TRY(get_reals(c, "model_s", &s->model_s, s->n, 0));
    }
    if (dls_h5_has(c->at, "link_bytes")) {
        DLS_TRY(get_reals(c, "link_bytes", &s->link_bytes, s->n, 0));
    }
    DLS_TRY(get_checksum(c, s->name));
    return check_rows(s, n_graphs, c->err);
}

static dls_status get_setting(hid_t file, const char *name, dls_dataset *set, dls_error *err)
{
    dls_dataset_setting *s = &set->setting[set->n_settings++];
    char path[DLS_DATASET_NAME + 16];
    DLS_OWN(dls_set_leave) dls_set_channel c = {.at = H5I_INVALID_HID};
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(path, sizeof path, "/settings/%s", name);
    DLS_TRY(get_group(file, path, &c, err));
    return get_setting_data(&c, set->n_graphs, s);
}

/* The settings wanted, each of which must be in the file: names[n][DLS_DATASET_NAME]. */
static dls_status check_wanted(const char *names, size_t n, const char *const *wanted,
                               size_t n_wanted, dls_error *err)
{
    DLS_FREED const char **known = NULL;
    DLS_TRY(dls_alloc_array(&known, n + 1, sizeof *known, "settings", err));
    for (size_t i = 0; i < n; i++) {
        known[i] = names + i * DLS_DATASET_NAME;
    }
    for (size_t k = 0; k < n_wanted; k++) {
        bool found = false;
        for (size_t i = 0; i < n; i++) {
            found = found || strcmp(known[i], wanted[k]) == 0;
        }
        if (!found) {
            return dls_fail(err, DLS_EINPUT, NULL, "no setting \"%s\"%s", wanted[k],
                            DLS_DID_YOU_MEAN(dls_suggest(wanted[k], known)));
        }
    }
    return DLS_OK;
}

static dls_status get_named(hid_t file, const char *names, size_t n, const char *const *wanted,
                            size_t n_wanted, dls_dataset *set, dls_error *err)
{
    DLS_TRY(check_wanted(names, n, wanted, wanted ? n_wanted : 0, err));
    DLS_TRY(dls_alloc_array(&set->setting, n + 1, sizeof *set->setting, "settings", err));
    for (size_t i = 0; i < n; i++) {
        const char *name = names + i * DLS_DATASET_NAME;
        bool take = !wanted;
        for (size_t k = 0; wanted && k < n_wanted; k++) {
            take = take || strcmp(name, wanted[k]) == 0;
        }
        if (take) {
            DLS_TRY(get_setting(file, name, set, err));
        }
    }
    return DLS_OK;
}

static dls_status get_settings(hid_t file, const char *const *wanted, size_t n_wanted,
                               dls_dataset *set, dls_error *err)
{
    size_t n = 0;
    if (dls_h5_has(file, DLS_SET_NAMES)) {
        DLS_TRY(dls_h5_length(file, DLS_SET_NAMES, &n, err));
    }
    DLS_FREED char *names = dls_alloc_zero(n * DLS_DATASET_NAME + 1, 1);
    DLS_TRY(names ? DLS_OK : dls_nomem(err, "settings", n * DLS_DATASET_NAME));
    if (n > 0) {
        DLS_TRY(dls_h5_get_strings(file, DLS_SET_NAMES, names, n, DLS_DATASET_NAME, err));
    }
    return get_named(file, names, n, wanted, n_wanted, set, err);
}

static dls_status get_features_text(hid_t file, char **text, dls_error *err)
{
    if (!dls_h5_has(file, DLS_SET_FEATURES)) {
        return DLS_OK;
    }
    DLS_H5_OWNED hid_t data = H5I_INVALID_HID;
    DLS_TRY(dls_h5_get_set(file, DLS_SET_FEATURES, &data, err));
    DLS_H5_OWNED const hid_t type = H5Dget_type(data);
    const size_t width = H5Tget_size(type);
    if (width == 0 || width > (size_t)1 << 24) {
        return dls_h5_damaged(err, DLS_SET_FEATURES);
    }
    *text = dls_alloc_zero(width + 1, 1);
    return *text ? dls_h5_get_strings(file, DLS_SET_FEATURES, *text, 1, width, err)
                 : dls_nomem(err, DLS_SET_FEATURES, width);
}

static dls_status get_set(hid_t file, const char *const *wanted, size_t n_wanted, dls_dataset *set,
                          dls_error *err)
{
    DLS_TRY(dls_h5_check_format(file, DLS_SET_FORMAT, DLS_SET_FORMAT_VERSION, err));
    DLS_TRY(dls_h5_get_text(file, "feature_version", set->feature_version,
                            sizeof set->feature_version, err));
    DLS_TRY(dls_h5_get_i32(file, "n_features", &set->n_features, err));
    DLS_TRY(dls_h5_get_u64(file, "seed", &set->seed, err));
    DLS_TRY(dls_h5_get_text(file, "command", set->command, sizeof set->command, err));
    if (set->n_features < 1 || set->n_features > 4096) {
        return dls_h5_damaged(err, "n_features");
    }
    DLS_TRY(get_features_text(file, &set->features_text, err));
    DLS_TRY(get_graphs(file, set, err));
    return get_settings(file, wanted, n_wanted, set, err);
}

dls_status dls_dataset_load(const char *path, const char *const *settings, size_t n_settings,
                            dls_dataset **out, dls_error *err)
{
    DLS_H5_OWNED hid_t file = H5I_INVALID_HID;
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL;
    *out = NULL;
    DLS_TRY(dls_h5_open(path, &file, err));
    DLS_TRY(dls_alloc_array(&set, 1, sizeof *set, path, err));
    const dls_status status = get_set(file, settings, n_settings, set, err);
    if (status != DLS_OK && err) {
        snprintf(err->where, sizeof err->where, "%s", path);
    }
    *out = status == DLS_OK ? dls_take(&set) : NULL;
    return status;
}
