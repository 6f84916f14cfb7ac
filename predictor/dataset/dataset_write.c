/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Writes dataset files (docs/dataset-files.md): graphs end to end in a few arrays, then one group
 * of labels for each setting, each with its checksum.
 */
#include "base/alloc.h"
#include "base/own.h"
#include "predictor/dataset/dataset_h5.h"

#include <string.h>

static dls_status put_ints(dls_set_channel *c, const char *name, hid_t stored, hid_t memory,
                           const void *data, size_t n)
{
    dls_set_hash_text(c, name);
    dls_h5_hash(&c->sha, data, n, H5Tget_size(memory));
    return dls_h5_put_data(c->at, name, stored, memory, data, n, 0, c->err);
}

static dls_status put_reals(dls_set_channel *c, const char *name, const double *x, size_t rows,
                            size_t cols)
{
    const size_t n = rows * (cols > 0 ? cols : 1);
    DLS_FREED float *data = NULL;
    DLS_TRY(dls_alloc_array(&data, n * sizeof *data + 1, 1, name, c->err));
    for (size_t i = 0; i < n; i++) {
        data[i] = (float)x[i];
    }
    dls_set_hash_text(c, name);
    dls_h5_hash(&c->sha, data, n, sizeof *data);
    return dls_h5_put_data(c->at, name, H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, data, rows, cols, c->err);
}

static dls_status put_texts(dls_set_channel *c, const char *name, const char *first, size_t n,
                            size_t width, size_t stride)
{
    DLS_FREED char *text = NULL;
    DLS_TRY(dls_alloc_array(&text, n * width + 1, 1, name, c->err));
    dls_set_hash_text(c, name);
    for (size_t i = 0; i < n; i++) {
        dls_set_hash_text(c, first + i * stride);
        memcpy(text + i * width, first + i * stride, strlen(first + i * stride));
    }
    return dls_h5_put_strings(c->at, name, text, n, width, c->err);
}

static dls_status put_checksum(dls_set_channel *c)
{
    char hex[DLS_SHA256_HEX];
    dls_sha256_final(&c->sha, hex);
    return dls_h5_put_text(c->at, "checksum", hex, c->err);
}

static dls_status put_group(hid_t at, const char *name, dls_set_channel *c, dls_error *err)
{
    *c = (dls_set_channel){.err = err};
    dls_sha256_init(&c->sha);
    return dls_h5_put_group(at, name, &c->at, err);
}

static dls_status put_origins(dls_set_channel *c, const dls_dataset *set)
{
    const dls_dataset_origin *o = set->origin;
    const size_t n = set->n_graphs, step = sizeof *o;
    DLS_TRY(put_texts(c, "model", o->model, n, sizeof o->model, step));
    DLS_TRY(put_texts(c, "family", o->family, n, sizeof o->family, step));
    DLS_TRY(put_texts(c, "data", o->data, n, sizeof o->data, step));
    DLS_TRY(put_texts(c, "numeric", o->numeric, n, sizeof o->numeric, step));
    return put_texts(c, "optimiser", o->optimiser, n, sizeof o->optimiser, step);
}

static void pack_graph(dls_set_pack *p, const dls_graph *g, size_t i, size_t *node, size_t *edge)
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

static dls_status put_graphs(hid_t file, const dls_dataset *set, dls_error *err)
{
    DLS_OWN(dls_set_pack_fini)
    dls_set_pack p = {.graphs = set->n_graphs, .features = (size_t)set->n_features};
    for (size_t i = 0; i < set->n_graphs; i++) {
        const dls_graph *g = &set->graph[i];
        p.nodes += (size_t)g->n_nodes;
        p.edges += (size_t)g->row_start[g->n_nodes];
        p.weighted = p.weighted || g->weight;
    }
    DLS_OWN(dls_set_leave) dls_set_channel c = {.at = H5I_INVALID_HID};
    DLS_TRY(put_group(file, DLS_SET_GRAPHS, &c, err));
    DLS_TRY(dls_set_pack_alloc(&p, err));
    size_t node = 0, edge = 0;
    for (size_t i = 0; i < set->n_graphs; i++) {
        p.batch[i] = set->origin[i].batch;
        pack_graph(&p, &set->graph[i], i, &node, &edge);
    }
    const hid_t i32 = H5T_STD_I32LE, native = H5T_NATIVE_INT32;
    DLS_TRY(put_origins(&c, set));
    DLS_TRY(put_ints(&c, "batch", i32, native, p.batch, p.graphs));
    DLS_TRY(put_ints(&c, "n_nodes", i32, native, p.n_nodes, p.graphs));
    DLS_TRY(put_ints(&c, "degree", i32, native, p.degree, p.nodes));
    DLS_TRY(put_ints(&c, "col", i32, native, p.col, p.edges));
    DLS_TRY(put_reals(&c, "x", p.x, p.nodes, p.features));
    if (p.weighted) {
        DLS_TRY(put_reals(&c, "weight", p.weight, p.edges, 0));
    }
    return put_checksum(&c);
}

static dls_status put_setting_data(dls_set_channel *c, const dls_dataset_setting *s)
{
    DLS_TRY(dls_h5_put_text(c->at, "gpu_type", s->gpu_type, c->err));
    DLS_TRY(dls_h5_put_text(c->at, "topology", s->topology, c->err));
    DLS_TRY(dls_h5_put_text(c->at, "network", s->network, c->err));
    DLS_TRY(dls_h5_put_i32(c->at, "n_ps", s->n_ps, c->err));
    DLS_TRY(dls_h5_put_i32(c->at, "n_workers", s->n_workers, c->err));
    DLS_TRY(dls_h5_put_i32(c->at, "n_nodes", s->n_nodes, c->err));
    DLS_TRY(dls_h5_put_text(c->at, "labels", s->measured ? "measured" : "simulated", c->err));
    DLS_TRY(put_ints(c, "graph", H5T_STD_I32LE, H5T_NATIVE_INT32, s->graph, s->n));
    DLS_TRY(put_ints(c, "split", H5T_STD_U8LE, H5T_NATIVE_UINT8, s->split, s->n));
    DLS_TRY(put_reals(c, "label", s->label, s->n, DLS_METRICS));
    DLS_TRY(put_reals(c, "iteration_s", s->iteration_s, s->n, 0));
    if (s->truth) {
        DLS_TRY(put_reals(c, "truth", s->truth, s->n, DLS_METRICS));
    }
    if (s->model_s) {
        DLS_TRY(put_reals(c, "model_s", s->model_s, s->n, 0));
    }
    if (s->link_bytes) {
        DLS_TRY(put_reals(c, "link_bytes", s->link_bytes, s->n, 0));
    }
    return put_checksum(c);
}

static dls_status put_setting(hid_t settings, const dls_dataset_setting *s, dls_error *err)
{
    DLS_OWN(dls_set_leave) dls_set_channel c = {.at = H5I_INVALID_HID};
    if (!*s->name || strchr(s->name, '/') || strcmp(s->name, ".") == 0) {
        return dls_fail(err, DLS_EOUTPUT, NULL, "\"%s\" cannot name a setting", s->name);
    }
    DLS_TRY(put_group(settings, s->name, &c, err));
    return put_setting_data(&c, s);
}

static dls_status put_settings(hid_t file, const dls_dataset *set, dls_error *err)
{
    DLS_OWN(dls_set_leave) dls_set_channel c = {.at = H5I_INVALID_HID};
    dls_set_channel top = {.at = file, .err = err};
    DLS_TRY(put_group(file, "/settings", &c, err));
    for (size_t i = 0; i < set->n_settings; i++) {
        DLS_TRY(put_setting(c.at, &set->setting[i], err));
    }
    return set->n_settings > 0 ? put_texts(&top, DLS_SET_NAMES, set->setting->name, set->n_settings,
                                           DLS_DATASET_NAME, sizeof *set->setting)
                               : DLS_OK;
}

static dls_status put_set(hid_t file, const void *what, dls_error *err)
{
    const dls_dataset *set = what;
    DLS_TRY(dls_h5_put_text(file, "format", DLS_SET_FORMAT, err));
    DLS_TRY(dls_h5_put_i32(file, "format_version", DLS_SET_FORMAT_VERSION, err));
    DLS_TRY(dls_h5_put_text(file, "feature_version", set->feature_version, err));
    DLS_TRY(dls_h5_put_i32(file, "n_features", set->n_features, err));
    DLS_TRY(dls_h5_put_u64(file, "seed", set->seed, err));
    DLS_TRY(dls_h5_put_text(file, "command", set->command, err));
    if (set->features_text) {
        DLS_TRY(dls_h5_put_strings(file, DLS_SET_FEATURES, set->features_text, 1,
                                   strlen(set->features_text) + 1, err));
    }
    DLS_TRY(put_graphs(file, set, err));
    return put_settings(file, set, err);
}

dls_status dls_dataset_save(const dls_dataset *set, const char *path, dls_error *err)
{
    return dls_h5_save(path, put_set, set, err);
}
