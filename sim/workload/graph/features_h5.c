/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Grouped graphs as the inspector reads them, with the spec of their features (docs/graphs.md).
 */
#include "base/alloc.h"
#include "base/h5.h"
#include "base/own.h"
#include "workload/graph/features.h"

#include <stdio.h>
#include <string.h>

#define FORMAT "dlsim-grouped-graphs"
#define FORMAT_VERSION 1
#define SPEC "/features"

static void checksum(const dls_feature_spec *spec, char hex[DLS_SHA256_HEX])
{
    dls_sha256 sha;
    dls_sha256_init(&sha);
    for (size_t i = 0; i < spec->ops.n; i++) {
        const char *op = dls_strdict_get(&spec->ops, (int32_t)i);
        dls_sha256_update(&sha, op, strlen(op) + 1);
    }
    dls_h5_hash(&sha, spec->frequency, spec->ops.n, sizeof *spec->frequency);
    dls_h5_hash(&sha, spec->scale, (size_t)spec->n_features, sizeof *spec->scale);
    dls_sha256_final(&sha, hex);
}

static dls_status put_spec(hid_t file, const dls_feature_spec *spec, dls_error *err)
{
    DLS_H5_OWNED hid_t at = H5I_INVALID_HID;
    DLS_TRY(dls_h5_put_group(file, SPEC, &at, err));
    char hex[DLS_SHA256_HEX];
    char columns[256] = "";
    for (int32_t f = 0; f < spec->n_features; f++) {
        const size_t used = strlen(columns);
        snprintf(columns + used, sizeof columns - used, "%s%s", f ? " " : "", dls_feature_name(f));
    }
    checksum(spec, hex);
    DLS_TRY(dls_h5_put_i32(at, "version", (int32_t)spec->version, err));
    DLS_TRY(dls_h5_put_text(at, "columns", columns, err));
    DLS_TRY(dls_h5_put_text(at, "checksum", hex, err));
    DLS_TRY(dls_h5_put_dict(at, "ops", &spec->ops, err));
    DLS_TRY(dls_h5_put_data(at, "frequency", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, spec->frequency,
                            spec->ops.n, 0, err));
    return dls_h5_put_data(at, "scale", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, spec->scale,
                           (size_t)spec->n_features, 0, err);
}

static dls_status put_matrices(hid_t at, const dls_feature_spec *spec, const dls_grouped *graph,
                               unsigned char *adj, double *x, dls_error *err)
{
    const dls_grouping *grouping = graph->grouping;
    const size_t n = (size_t)grouping->n_groups;
    for (size_t i = 0; i < n; i++) {
        for (int64_t e = grouping->row_start[i]; e < grouping->row_start[i + 1]; e++) {
            adj[i * n + (size_t)grouping->col[e]] = 1;
        }
    }
    DLS_TRY(dls_features(spec, graph->graph, grouping, x, NULL, err));
    DLS_TRY(dls_h5_put_data(at, "adj", H5T_STD_U8LE, H5T_NATIVE_UINT8, adj, n, n, err));
    DLS_TRY(dls_h5_put_data(at, "x", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, x, n,
                            (size_t)spec->n_features, err));
    return dls_h5_put_data(at, "group", H5T_STD_I32LE, H5T_NATIVE_INT32, grouping->group,
                           (size_t)grouping->n_nodes, 0, err);
}

static dls_status put_info(hid_t at, const dls_opgraph_info *info, dls_error *err)
{
    DLS_TRY(dls_h5_put_text(at, "model", info->model, err));
    DLS_TRY(dls_h5_put_text(at, "dataset", info->dataset, err));
    DLS_TRY(dls_h5_put_i32(at, "batch", info->batch, err));
    DLS_TRY(dls_h5_put_i32(at, "sequence", info->sequence, err));
    DLS_TRY(dls_h5_put_text(at, "precision", dls_numeric_name(info->numeric), err));
    return dls_h5_put_text(at, "optimiser", dls_optimiser_name(info->optimiser), err);
}

static dls_status put_grouped(hid_t file, const dls_feature_spec *spec, const dls_grouped *graph,
                              dls_error *err)
{
    char name[DLS_OPGRAPH_TEXT_MAX + 16];
    const char *model = graph->graph->info.model;
    snprintf(name, sizeof name, "%s", *model ? model : "graph");
    for (int i = 2; dls_h5_has(file, name); i++) {
        snprintf(name, sizeof name, "%s-%d", *model ? model : "graph", i);
    }
    const size_t n = (size_t)graph->grouping->n_groups;
    DLS_H5_OWNED hid_t at = H5I_INVALID_HID;
    DLS_FREED unsigned char *adj = NULL;
    DLS_FREED double *x = NULL;
    DLS_TRY(dls_h5_put_group(file, name, &at, err));
    DLS_TRY(dls_alloc_array(&adj, n * n + 1, 1, name, err));
    DLS_TRY(dls_alloc_array(&x, n * (size_t)spec->n_features + 1, sizeof *x, name, err));
    DLS_TRY(put_info(at, &graph->graph->info, err));
    return put_matrices(at, spec, graph, adj, x, err);
}

typedef struct grouped_list {
    const dls_feature_spec *spec;
    const dls_grouped *graphs;
    size_t n;
} grouped_list;

static dls_status put_all(hid_t file, const void *what, dls_error *err)
{
    const grouped_list *list = what;
    DLS_TRY(dls_h5_put_text(file, "format", FORMAT, err));
    DLS_TRY(dls_h5_put_i32(file, "format_version", FORMAT_VERSION, err));
    DLS_TRY(put_spec(file, list->spec, err));
    for (size_t i = 0; i < list->n; i++) {
        DLS_TRY(put_grouped(file, list->spec, &list->graphs[i], err));
    }
    return DLS_OK;
}

dls_status dls_grouped_save(const char *path, const dls_feature_spec *spec,
                            const dls_grouped *graphs, size_t n, dls_error *err)
{
    const grouped_list list = {spec, graphs, n};
    return dls_h5_save(path, put_all, &list, err);
}
