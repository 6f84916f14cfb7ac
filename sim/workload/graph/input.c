/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Applies an input spec (grouping and features) to a graph, and stores and reads the spec as JSON.
 */
#include "workload/graph/input.h"

#include "base/alloc.h"

#include <json-c/json.h>
#include <string.h>

void dls_input_spec_fini(dls_input_spec *spec)
{
    if (spec) {
        dls_feature_spec_destroy(spec->features);
        *spec = (dls_input_spec){0};
    }
}

/* ---- text ------------------------------------------------------------------------------------ */

static const char *const grouping_names[] = {
#define XX(id, text) [DLS_GROUPING_##id] = text,
    DLS_GROUPING_MAP(XX)
#undef XX
};

static void add_spec(json_object *to, const dls_input_spec *spec)
{
    const dls_feature_spec *f = spec->features;
    json_object *columns = json_object_new_array();
    json_object *scale = json_object_new_array();
    json_object *frequency = json_object_new_object();
    for (int32_t i = 0; i < f->n_features; i++) {
        json_object_array_add(columns, json_object_new_string(dls_feature_name(i)));
        json_object_array_add(scale, json_object_new_double(f->scale[i]));
    }
    for (size_t i = 0; i < f->ops.n; i++) {
        json_object_object_add(frequency, dls_strdict_get(&f->ops, (int32_t)i),
                               json_object_new_double(f->frequency[i]));
    }
    json_object_object_add(to, "grouping", json_object_new_string(grouping_names[spec->grouping]));
    json_object_object_add(to, "groups", json_object_new_int(spec->n_groups));
    json_object_object_add(to, "seed", json_object_new_uint64(spec->seed));
    json_object_object_add(to, "features", json_object_new_int((int32_t)f->version));
    json_object_object_add(to, "columns", columns);
    json_object_object_add(to, "scale", scale);
    json_object_object_add(to, "frequency", frequency);
}

dls_status dls_input_spec_text(const dls_input_spec *spec, char **text, dls_error *err)
{
    *text = NULL;
    json_object *root = json_object_new_object();
    if (root) {
        add_spec(root, spec);
        const char *s = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN);
        *text = s ? dls_strdup(s) : NULL;
        json_object_put(root);
    }
    return *text ? DLS_OK : dls_nomem(err, "input spec", 0);
}

static dls_status wrong(const char *member, dls_error *err)
{
    return dls_fail(err, DLS_EINPUT, NULL, "input spec: \"%s\" is missing or wrong", member);
}

static json_object *member(json_object *root, const char *name, json_type type)
{
    json_object *value;
    return json_object_object_get_ex(root, name, &value) && json_object_is_type(value, type) ? value
                                                                                             : NULL;
}

static dls_status parse_features(json_object *root, dls_feature_spec *f, dls_error *err)
{
    json_object *columns = member(root, "columns", json_type_array);
    json_object *scale = member(root, "scale", json_type_array);
    json_object *frequency = member(root, "frequency", json_type_object);
    const size_t n = (size_t)f->n_features;
    if (!columns || json_object_array_length(columns) != n) {
        return wrong("columns", err);
    }
    if (!scale || json_object_array_length(scale) != n) {
        return wrong("scale", err);
    }
    for (size_t i = 0; i < n; i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(columns, i));
        f->scale[i] = json_object_get_double(json_object_array_get_idx(scale, i));
        if (!name || strcmp(name, dls_feature_name((int32_t)i)) != 0) {
            return wrong("columns", err);
        }
        if (!(f->scale[i] > 0 && f->scale[i] < 1e300)) {
            return wrong("scale", err);
        }
    }
    if (!frequency) {
        return wrong("frequency", err);
    }
    struct json_object_iterator at = json_object_iter_begin(frequency);
    const struct json_object_iterator end = json_object_iter_end(frequency);
    for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
        DLS_TRY(dls_feature_spec_set(f, json_object_iter_peek_name(&at),
                                     json_object_get_double(json_object_iter_peek_value(&at)),
                                     err));
    }
    return DLS_OK;
}

static dls_status parse_root(json_object *root, dls_input_spec *spec, dls_error *err)
{
    json_object *grouping = member(root, "grouping", json_type_string);
    json_object *groups = member(root, "groups", json_type_int);
    json_object *seed = member(root, "seed", json_type_int);
    json_object *version = member(root, "features", json_type_int);
    if (!grouping || !dls_grouping_find(json_object_get_string(grouping), &spec->grouping)) {
        return wrong("grouping", err);
    }
    if (!groups || json_object_get_int(groups) < 1) {
        return wrong("groups", err);
    }
    if (!seed) {
        return wrong("seed", err);
    }
    if (!version) {
        return wrong("features", err);
    }
    spec->n_groups = json_object_get_int(groups);
    spec->seed = json_object_get_uint64(seed);
    DLS_TRY(dls_feature_spec_create((dls_features_version)json_object_get_int(version),
                                    &spec->features, err));
    return parse_features(root, spec->features, err);
}

dls_status dls_input_spec_parse(const char *text, dls_input_spec *spec, dls_error *err)
{
    *spec = (dls_input_spec){0};
    json_object *root = json_tokener_parse(text);
    const dls_status status = json_object_is_type(root, json_type_object)
                                  ? parse_root(root, spec, err)
                                  : dls_fail(err, DLS_EINPUT, NULL, "input spec: not JSON");
    json_object_put(root);
    if (status != DLS_OK) {
        dls_input_spec_fini(spec);
    }
    return status;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

void dls_input_graph_fini(dls_graph *g)
{
    if (g) {
        dls_free((void *)(uintptr_t)g->x);
        dls_free((void *)(uintptr_t)g->row_start);
        dls_free((void *)(uintptr_t)g->col);
        dls_free((void *)(uintptr_t)g->weight);
        *g = (dls_graph){0};
    }
}

dls_status dls_input_grouped(const dls_input_spec *spec, const dls_opgraph *g,
                             const dls_grouping *grouping, dls_graph *out, int64_t *n_unknown,
                             dls_error *err)
{
    const size_t n = (size_t)grouping->n_groups, width = (size_t)spec->features->n_features;
    const size_t edges = (size_t)grouping->row_start[n];
    double *x = dls_alloc(n * width * sizeof *x + 1);
    int64_t *row_start = dls_alloc((n + 1) * sizeof *row_start);
    int32_t *col = dls_alloc(edges * sizeof *col + 1);
    *out = (dls_graph){.n_nodes = grouping->n_groups,
                       .n_features = spec->features->n_features,
                       .x = x,
                       .row_start = row_start,
                       .col = col};
    dls_status status = x && row_start && col ? DLS_OK : dls_nomem(err, "graph", n * width);
    if (status == DLS_OK) {
        memcpy(row_start, grouping->row_start, (n + 1) * sizeof *row_start);
        if (edges > 0) {
            memcpy(col, grouping->col, edges * sizeof *col);
        }
        status = dls_features(spec->features, g, grouping, x, n_unknown, err);
    }
    if (status != DLS_OK) {
        dls_input_graph_fini(out);
    }
    return status;
}
