/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Dataset files: docs/dataset-files.md describes the layout. Graphs are stored end to end in a few
 * arrays, then one group of labels for each setting. Real numbers are kept as float32; graphs and
 * every setting have a checksum of their own, so that one setting can be read alone. What is read
 * is checked before anything of it is used: sizes, checksums, edges and finite numbers.
 */
#include "base/alloc.h"
#include "base/h5.h"
#include "base/own.h"
#include "base/suggest.h"
#include "predictor/dataset/dataset.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FORMAT "dlsim-dataset"
#define FORMAT_VERSION 1
#define GRAPHS "/graphs"
#define FEATURES "/features"
#define NAMES "/setting_names"

/* ---- what passes in either direction --------------------------------------------------------- */

/* The group that is being written or read, and the checksum of what passed so far. */
typedef struct channel {
    hid_t at;
    bool writes;
    dls_sha256 sha;
    dls_error *err;
} channel;

static void leave(const channel *c)
{
    dls_h5_leave(&c->at);
}

static dls_status enter(hid_t at, const char *name, bool writes, channel *c, dls_error *err)
{
    *c = (channel){.at = H5I_INVALID_HID, .writes = writes, .err = err};
    dls_sha256_init(&c->sha);
    return (writes ? dls_h5_put_group : dls_h5_get_group)(at, name, &c->at, err);
}

static void hash_text(channel *c, const char *text)
{
    dls_sha256_update(&c->sha, text, strlen(text) + 1);
}

static dls_status pass_ints(channel *c, const char *name, hid_t stored, hid_t memory, void *data,
                            size_t n)
{
    DLS_TRY(c->writes ? DLS_OK : dls_h5_get_data(c->at, name, memory, data, n, 0, c->err));
    hash_text(c, name);
    dls_h5_hash(&c->sha, data, n, H5Tget_size(memory));
    return c->writes ? dls_h5_put_data(c->at, name, stored, memory, data, n, 0, c->err) : DLS_OK;
}

static dls_status pass_i32s(channel *c, const char *name, int32_t *data, size_t n)
{
    return pass_ints(c, name, H5T_STD_I32LE, H5T_NATIVE_INT32, data, n);
}

/* What is read is finite, and *x allocated where it is NULL. */
static dls_status pass_reals(channel *c, const char *name, double **x, size_t rows, size_t cols)
{
    const size_t n = rows * (cols > 0 ? cols : 1);
    DLS_FREED float *data = NULL;
    DLS_TRY(dls_alloc_array(&data, n * sizeof *data + 1, 1, name, c->err));
    DLS_TRY(*x ? DLS_OK : dls_alloc_array(x, n + 1, sizeof **x, name, c->err));
    for (size_t i = 0; c->writes && i < n; i++) {
        data[i] = (float)(*x)[i];
    }
    if (!c->writes) {
        DLS_TRY(dls_h5_get_data(c->at, name, H5T_NATIVE_FLOAT, data, rows, cols, c->err));
    }
    for (size_t i = 0; !c->writes && i < n; i++) {
        (*x)[i] = (double)data[i];
        if (!isfinite(data[i])) {
            return dls_fail(c->err, DLS_EINPUT, NULL, "\"%s\": element %zu is not finite", name, i);
        }
    }
    hash_text(c, name);
    dls_h5_hash(&c->sha, data, n, sizeof *data);
    return c->writes ? dls_h5_put_data(c->at, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, data, rows,
                                       cols, c->err)
                     : DLS_OK;
}

/* Some files have it; *x: NULL without. */
static dls_status pass_known_reals(channel *c, const char *name, double **x, size_t n, size_t cols)
{
    const bool known = c->writes ? *x != NULL : dls_h5_has(c->at, name);
    return known ? pass_reals(c, name, x, n, cols) : DLS_OK;
}

/* n texts of `width` bytes in rows of `stride`. */
static dls_status pass_texts(channel *c, const char *name, char *first, size_t n, size_t width,
                             size_t stride)
{
    DLS_FREED char *text = NULL;
    DLS_TRY(dls_alloc_array(&text, n * width + 1, 1, name, c->err));
    for (size_t i = 0; c->writes && i < n; i++) {
        memcpy(text + i * width, first + i * stride, strlen(first + i * stride));
    }
    DLS_TRY(c->writes ? dls_h5_put_strings(c->at, name, text, n, width, c->err)
                      : dls_h5_get_strings(c->at, name, text, n, width, c->err));
    hash_text(c, name);
    for (size_t i = 0; i < n; i++) {
        hash_text(c, text + i * width);
        memcpy(first + i * stride, text + i * width, c->writes ? 0 : width);
    }
    return DLS_OK;
}

static dls_status pass_text(const channel *c, const char *name, char *text, size_t size)
{
    return c->writes ? dls_h5_put_text(c->at, name, text, c->err)
                     : dls_h5_get_text(c->at, name, text, size, c->err);
}

static dls_status pass_i32(const channel *c, const char *name, int32_t *value)
{
    return c->writes ? dls_h5_put_i32(c->at, name, *value, c->err)
                     : dls_h5_get_i32(c->at, name, value, c->err);
}

static dls_status pass_checksum(channel *c, const char *what)
{
    char hex[DLS_SHA256_HEX], stored[DLS_SHA256_HEX];
    dls_sha256_final(&c->sha, hex);
    memcpy(stored, hex, sizeof hex);
    DLS_TRY(pass_text(c, "checksum", stored, sizeof stored));
    return strcmp(stored, hex) == 0
               ? DLS_OK
               : dls_fail(c->err, DLS_EINPUT, NULL,
                          "\"%s\": checksum %s stored, %s computed: damaged", what, stored, hex);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* All graphs one behind the other. */
typedef struct pack {
    int32_t *batch, *n_nodes; /* [graphs] */
    int32_t *degree;          /* [nodes] */
    int32_t *col;             /* [edges] */
    double *x, *weight;       /* [nodes][features], [edges] */
    size_t graphs, nodes, edges, features;
    bool weighted;
} pack;

static void pack_fini(pack *p)
{
    DLS_FREE_ALL(p->batch, p->n_nodes, p->degree, p->col, p->x, p->weight);
}

static dls_status pack_alloc(pack *p, dls_error *err)
{
    p->batch = dls_alloc_zero(p->graphs + 1, sizeof *p->batch);
    p->n_nodes = dls_alloc_zero(p->graphs + 1, sizeof *p->n_nodes);
    p->degree = dls_alloc_zero(p->nodes + 1, sizeof *p->degree);
    p->col = dls_alloc_zero(p->edges + 1, sizeof *p->col);
    p->x = dls_alloc_zero(p->nodes * p->features + 1, sizeof *p->x);
    p->weight = p->weighted ? dls_alloc_zero(p->edges + 1, sizeof *p->weight) : NULL;
    if (!p->batch || !p->n_nodes || !p->degree || !p->col || !p->x || (p->weighted && !p->weight)) {
        return dls_nomem(err, "graphs", p->nodes * p->features * sizeof *p->x);
    }
    return DLS_OK;
}

static void pack_graph(pack *p, const dls_graph *g, size_t i, size_t *node, size_t *edge)
{
    const size_t n = (size_t)g->n_nodes, e = (size_t)g->row_start[n];
    p->n_nodes[i] = g->n_nodes;
    for (size_t v = 0; v < n; v++) {
        p->degree[*node + v] = (int32_t)(g->row_start[v + 1] - g->row_start[v]);
    }
    if (n > 0) {
        memcpy(p->x + *node * p->features, g->x, n * p->features * sizeof *g->x);
    }
    if (e > 0) {
        memcpy(p->col + *edge, g->col, e * sizeof *g->col);
    }
    for (size_t k = 0; p->weighted && k < e; k++) {
        p->weight[*edge + k] = g->weight ? g->weight[k] : 1;
    }
    *node += n;
    *edge += e;
}

/* One graph out of the pack. EINPUT: a neighbour that is none of its nodes, or not ascending. */
static dls_status unpack_graph(const pack *p, size_t i, size_t *node, size_t *edge, dls_graph *g,
                               dls_error *err)
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
static bool sizes_agree(const pack *p)
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

static dls_status pass_pack(channel *c, const dls_dataset *set, pack *p)
{
    dls_dataset_origin *o = set->origin;
    const size_t n = set->n_graphs, step = sizeof *o;
    DLS_TRY(pass_texts(c, "model", o->model, n, sizeof o->model, step));
    DLS_TRY(pass_texts(c, "family", o->family, n, sizeof o->family, step));
    DLS_TRY(pass_texts(c, "data", o->data, n, sizeof o->data, step));
    DLS_TRY(pass_texts(c, "numeric", o->numeric, n, sizeof o->numeric, step));
    DLS_TRY(pass_texts(c, "optimiser", o->optimiser, n, sizeof o->optimiser, step));
    DLS_TRY(pass_i32s(c, "batch", p->batch, p->graphs));
    DLS_TRY(pass_i32s(c, "n_nodes", p->n_nodes, p->graphs));
    DLS_TRY(pass_i32s(c, "degree", p->degree, p->nodes));
    DLS_TRY(pass_i32s(c, "col", p->col, p->edges));
    DLS_TRY(pass_reals(c, "x", &p->x, p->nodes, p->features));
    DLS_TRY(p->weighted ? pass_reals(c, "weight", &p->weight, p->edges, 0) : DLS_OK);
    DLS_TRY(sizes_agree(p) ? DLS_OK : dls_h5_damaged(c->err, GRAPHS "/degree"));
    return pass_checksum(c, GRAPHS);
}

static dls_status put_graphs(hid_t file, const dls_dataset *set, dls_error *err)
{
    DLS_OWN(pack_fini) pack p = {.graphs = set->n_graphs, .features = (size_t)set->n_features};
    for (size_t i = 0; i < set->n_graphs; i++) {
        const dls_graph *g = &set->graph[i];
        p.nodes += (size_t)g->n_nodes;
        p.edges += (size_t)g->row_start[g->n_nodes];
        p.weighted = p.weighted || g->weight;
    }
    DLS_OWN(leave) channel c = {.at = H5I_INVALID_HID};
    DLS_TRY(enter(file, GRAPHS, true, &c, err));
    DLS_TRY(pack_alloc(&p, err));
    size_t node = 0, edge = 0;
    for (size_t i = 0; i < set->n_graphs; i++) {
        p.batch[i] = set->origin[i].batch;
        pack_graph(&p, &set->graph[i], i, &node, &edge);
    }
    return pass_pack(&c, set, &p);
}

static dls_status get_graphs(hid_t file, dls_dataset *set, dls_error *err)
{
    DLS_OWN(pack_fini) pack p = {.features = (size_t)set->n_features};
    DLS_OWN(leave) channel c = {.at = H5I_INVALID_HID};
    DLS_TRY(enter(file, GRAPHS, false, &c, err));
    p.weighted = dls_h5_has(c.at, "weight");
    DLS_TRY(dls_h5_length(c.at, "batch", &p.graphs, err));
    DLS_TRY(dls_h5_length(c.at, "degree", &p.nodes, err));
    DLS_TRY(dls_h5_length(c.at, "col", &p.edges, err));
    DLS_TRY(dls_alloc_array(&set->graph, p.graphs + 1, sizeof *set->graph, "graphs", err));
    DLS_TRY(dls_alloc_array(&set->origin, p.graphs + 1, sizeof *set->origin, "graphs", err));
    set->n_graphs = p.graphs;
    DLS_TRY(pack_alloc(&p, err));
    DLS_TRY(pass_pack(&c, set, &p));
    size_t node = 0, edge = 0;
    for (size_t i = 0; i < p.graphs; i++) {
        set->graph[i] = (dls_graph){.n_nodes = p.n_nodes[i], .n_features = set->n_features};
        set->origin[i].batch = p.batch[i];
        DLS_TRY(unpack_graph(&p, i, &node, &edge, &set->graph[i], err));
    }
    return DLS_OK;
}

/* ---- settings -------------------------------------------------------------------------------- */

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

static dls_status pass_setting(channel *c, dls_dataset_setting *s)
{
    char labels[DLS_DATASET_NAME];
    snprintf(labels, sizeof labels, "%s", s->measured ? "measured" : "simulated");
    DLS_TRY(pass_text(c, "gpu_type", s->gpu_type, sizeof s->gpu_type));
    DLS_TRY(pass_text(c, "topology", s->topology, sizeof s->topology));
    DLS_TRY(pass_text(c, "network", s->network, sizeof s->network));
    DLS_TRY(pass_i32(c, "n_ps", &s->n_ps));
    DLS_TRY(pass_i32(c, "n_workers", &s->n_workers));
    DLS_TRY(pass_i32(c, "n_nodes", &s->n_nodes));
    DLS_TRY(pass_text(c, "labels", labels, sizeof labels));
    s->measured = strcmp(labels, "measured") == 0;
    if (!c->writes) {
        DLS_TRY(dls_h5_length(c->at, "graph", &s->n, c->err));
        DLS_TRY(dls_alloc_array(&s->graph, s->n + 1, sizeof *s->graph, s->name, c->err));
        DLS_TRY(dls_alloc_array(&s->split, s->n + 1, sizeof *s->split, s->name, c->err));
    }
    DLS_TRY(pass_i32s(c, "graph", s->graph, s->n));
    DLS_TRY(pass_ints(c, "split", H5T_STD_U8LE, H5T_NATIVE_UINT8, s->split, s->n));
    DLS_TRY(pass_reals(c, "label", &s->label, s->n, DLS_METRICS));
    DLS_TRY(pass_reals(c, "iteration_s", &s->iteration_s, s->n, 0));
    DLS_TRY(pass_known_reals(c, "truth", &s->truth, s->n, DLS_METRICS));
    DLS_TRY(pass_known_reals(c, "model_s", &s->model_s, s->n, 0));
    DLS_TRY(pass_known_reals(c, "link_bytes", &s->link_bytes, s->n, 0));
    return pass_checksum(c, s->name);
}

static dls_status put_settings(hid_t file, const dls_dataset *set, dls_error *err)
{
    DLS_H5_OWNED hid_t settings = H5I_INVALID_HID;
    channel top = {.at = file, .writes = true, .err = err};
    DLS_TRY(dls_h5_put_group(file, "/settings", &settings, err));
    for (size_t i = 0; i < set->n_settings; i++) {
        dls_dataset_setting *s = &set->setting[i];
        DLS_OWN(leave) channel c = {.at = H5I_INVALID_HID};
        if (!*s->name || strchr(s->name, '/') || strcmp(s->name, ".") == 0) {
            return dls_fail(err, DLS_EOUTPUT, NULL, "\"%s\" cannot name a setting", s->name);
        }
        DLS_TRY(enter(settings, s->name, true, &c, err));
        DLS_TRY(pass_setting(&c, s));
    }
    return set->n_settings > 0 ? pass_texts(&top, NAMES, set->setting->name, set->n_settings,
                                            DLS_DATASET_NAME, sizeof *set->setting)
                               : DLS_OK;
}

static dls_status get_setting(hid_t file, const char *name, dls_dataset *set, dls_error *err)
{
    dls_dataset_setting *s = &set->setting[set->n_settings++];
    char path[DLS_DATASET_NAME + 16];
    DLS_OWN(leave) channel c = {.at = H5I_INVALID_HID};
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(path, sizeof path, "/settings/%s", name);
    DLS_TRY(enter(file, path, false, &c, err));
    DLS_TRY(pass_setting(&c, s));
    return check_rows(s, set->n_graphs, err);
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
    if (dls_h5_has(file, NAMES)) {
        DLS_TRY(dls_h5_length(file, NAMES, &n, err));
    }
    DLS_FREED char *names = dls_alloc_zero(n * DLS_DATASET_NAME + 1, 1);
    DLS_TRY(names ? DLS_OK : dls_nomem(err, "settings", n * DLS_DATASET_NAME));
    if (n > 0) {
        DLS_TRY(dls_h5_get_strings(file, NAMES, names, n, DLS_DATASET_NAME, err));
    }
    return get_named(file, names, n, wanted, n_wanted, set, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

static dls_status get_features_text(hid_t file, char **text, dls_error *err)
{
    if (!dls_h5_has(file, FEATURES)) {
        return DLS_OK;
    }
    DLS_H5_OWNED hid_t data = H5I_INVALID_HID;
    DLS_TRY(dls_h5_get_set(file, FEATURES, &data, err));
    DLS_H5_OWNED const hid_t type = H5Dget_type(data);
    const size_t width = H5Tget_size(type);
    if (width == 0 || width > (size_t)1 << 24) {
        return dls_h5_damaged(err, FEATURES);
    }
    *text = dls_alloc_zero(width + 1, 1);
    return *text ? dls_h5_get_strings(file, FEATURES, *text, 1, width, err)
                 : dls_nomem(err, FEATURES, width);
}

static dls_status pass_head(const channel *c, dls_dataset *set)
{
    DLS_TRY(pass_text(c, "feature_version", set->feature_version, sizeof set->feature_version));
    DLS_TRY(pass_i32(c, "n_features", &set->n_features));
    DLS_TRY(c->writes ? dls_h5_put_u64(c->at, "seed", set->seed, c->err)
                      : dls_h5_get_u64(c->at, "seed", &set->seed, c->err));
    return pass_text(c, "command", set->command, sizeof set->command);
}

static dls_status put_set(hid_t file, const void *what, dls_error *err)
{
    dls_dataset set = *(const dls_dataset *)what; /* borrowed */
    const channel top = {.at = file, .writes = true, .err = err};
    DLS_TRY(dls_h5_put_text(file, "format", FORMAT, err));
    DLS_TRY(dls_h5_put_i32(file, "format_version", FORMAT_VERSION, err));
    DLS_TRY(pass_head(&top, &set));
    if (set.features_text) {
        DLS_TRY(dls_h5_put_strings(file, FEATURES, set.features_text, 1,
                                   strlen(set.features_text) + 1, err));
    }
    DLS_TRY(put_graphs(file, &set, err));
    return put_settings(file, &set, err);
}

dls_status dls_dataset_save(const dls_dataset *set, const char *path, dls_error *err)
{
    return dls_h5_save(path, put_set, set, err);
}

static dls_status get_set(hid_t file, const char *const *wanted, size_t n_wanted, dls_dataset *set,
                          dls_error *err)
{
    const channel top = {.at = file, .err = err};
    DLS_TRY(dls_h5_check_format(file, FORMAT, FORMAT_VERSION, err));
    DLS_TRY(pass_head(&top, set));
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
