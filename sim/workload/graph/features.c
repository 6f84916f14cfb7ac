/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Computes the feature rows of groups: sums and counts over their operations, logarithms and scales
 * by the feature spec.
 */
#include "workload/graph/features.h"

#include "base/own.h"

#include <math.h>
#include <string.h>

enum {
    TENSOR_SIZE,
    N_NODES,
    NODE_TYPE,
    FLOPS,
    TRAFFIC,
    PARAMS,
    N_BACKWARD,
    N_UPDATE,
    ALL_FLOPS,
    ALL_TRAFFIC,
    ALL_UPDATED,
    ALL_UPDATES,
    ALL_OUTPUT,
    ALL_RUNS,
    VALUE_BYTES,
    ALL_CONV1,
    ALL_CONV_SQUARE,
    ALL_CONV_OTHER,
    ALL_PRODUCTS,
    ALL_OTHER_TRAFFIC,
    ALL_KERNEL_RUNS,
    ALL_UPDATE_FLOPS,
    LARGEST_UPDATE
};

static const struct {
    const char *name;
    bool log; /* of 1 + x: sizes span ten decades */
} columns[DLS_FEATURES_MAX] = {
    [TENSOR_SIZE] = {"tensor_size", true},
    [N_NODES] = {"n_nodes", false},
    [NODE_TYPE] = {"node_type", false},
    [FLOPS] = {"flops", true},
    [TRAFFIC] = {"traffic_bytes", true},
    [PARAMS] = {"param_bytes", true},
    [N_BACKWARD] = {"n_backward", false},
    [N_UPDATE] = {"n_update", false},
    [ALL_FLOPS] = {"all_flops", true},
    [ALL_TRAFFIC] = {"all_traffic_bytes", true},
    [ALL_UPDATED] = {"all_update_bytes", true},
    [ALL_UPDATES] = {"all_updates", true},
    [ALL_OUTPUT] = {"all_output_bytes", true},
    [ALL_RUNS] = {"all_runs", true},
    [VALUE_BYTES] = {"value_bytes", false},
    [ALL_CONV1] = {"all_conv1_flops", true},
    [ALL_CONV_SQUARE] = {"all_conv_square_flops", true},
    [ALL_CONV_OTHER] = {"all_conv_other_flops", true},
    [ALL_PRODUCTS] = {"all_product_flops", true},
    [ALL_OTHER_TRAFFIC] = {"all_other_traffic_bytes", true},
    [ALL_KERNEL_RUNS] = {"all_kernel_runs", true},
    [ALL_UPDATE_FLOPS] = {"all_update_flops", true},
    [LARGEST_UPDATE] = {"largest_update_bytes", true},
};

static const int32_t widths[] = {0,
#define XX(id, text, n) n,
                                 DLS_FEATURES_MAP(XX)
#undef XX
};

const char *dls_features_version_name(int version)
{
    static const char *const names[] = {[DLS_FEATURES_VERSION_NONE] = NULL,
#define XX(id, text, n) [DLS_FEATURES_##id] = text,
                                        DLS_FEATURES_MAP(XX)
#undef XX
    };
    return version >= 0 && version < DLS_FEATURES_VERSION_END ? names[version] : NULL;
}

const char *dls_feature_name(int32_t column)
{
    return column >= 0 && column < DLS_FEATURES_MAX ? columns[column].name : NULL;
}

dls_status dls_feature_spec_create(dls_features_version version, dls_feature_spec **out,
                                   dls_error *err)
{
    *out = NULL;
    if (version <= DLS_FEATURES_VERSION_NONE || version >= DLS_FEATURES_VERSION_END) {
        return dls_fail(err, DLS_EINPUT, NULL, "features have no version %d", (int)version);
    }
    dls_feature_spec *spec;
    DLS_TRY(dls_alloc_array(&spec, 1, sizeof *spec, "feature spec", err));
    spec->version = version;
    spec->n_features = widths[version];
    for (int i = 0; i < DLS_FEATURES_MAX; i++) {
        spec->scale[i] = 1;
    }
    *out = spec;
    return DLS_OK;
}

void dls_feature_spec_destroy(dls_feature_spec *spec)
{
    if (spec) {
        dls_strdict_fini(&spec->ops);
        dls_free(spec->frequency);
        dls_free(spec);
    }
}

dls_status dls_feature_spec_set(dls_feature_spec *spec, const char *op, double frequency,
                                dls_error *err)
{
    if (!(frequency >= 0 && frequency <= 1)) {
        return dls_fail(err, DLS_EINPUT, op, "the frequency of \"%s\" is not in 0..1", op);
    }
    int32_t code;
    DLS_TRY(dls_grow(&spec->frequency, &spec->frequency_cap, spec->ops.n + 1,
                     sizeof *spec->frequency, err));
    DLS_TRY(dls_strdict_put(&spec->ops, op, strlen(op), &code, err));
    spec->frequency[code] = frequency;
    spec->fallback = frequency;
    for (size_t i = 0; i < spec->ops.n; i++) {
        spec->fallback = fmin(spec->fallback, spec->frequency[i]);
    }
    return DLS_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double clamp_size(double sum)
{
    return sum < 9e18 ? sum : 9e18;
}

/* The column that the FLOPs of a convolution or matrix product count in; -1: neither. */
static int product_column(const dls_op_node *node)
{
    const dls_op_dims *d = &node->dims;
    switch (dls_op_family_of(node->kind)) {
    case DLS_FAMILY_MATMUL:
    case DLS_FAMILY_RNN:
        return ALL_PRODUCTS;
    case DLS_FAMILY_CONV:
        if (d->groups == 1 && d->kernel_h == 1 && d->kernel_w == 1) {
            return ALL_CONV1;
        }
        return d->groups == 1 && d->kernel_h == d->kernel_w && d->kernel_h <= 5 &&
                       d->stride_h == 1 && d->stride_w == 1
                   ? ALL_CONV_SQUARE
                   : ALL_CONV_OTHER;
    default:
        return -1;
    }
}

/* Add a node to what the whole graph, or its group, comes to. */
static void add_total(const dls_op_node *node, double *all)
{
    const double traffic = (double)(node->read_bytes + node->write_bytes) * node->repeat;
    const double flops = node->flops * node->repeat;
    const int column = product_column(node);
    all[ALL_FLOPS] += flops;
    all[ALL_TRAFFIC] += traffic;
    all[ALL_OUTPUT] += (double)node->out_bytes;
    all[ALL_RUNS] += node->repeat;
    if (node->phase == DLS_PHASE_UPDATE) {
        all[ALL_UPDATE_FLOPS] += flops;
        if (node->param_bytes > 0) {
            all[ALL_UPDATED] += (double)node->param_bytes;
            all[ALL_UPDATES] += 1;
            all[LARGEST_UPDATE] = fmax(all[LARGEST_UPDATE], (double)node->param_bytes);
        }
    } else if (column >= 0) {
        all[column] += flops;
        all[ALL_KERNEL_RUNS] += node->repeat;
    } else {
        all[ALL_OTHER_TRAFFIC] += traffic;
    }
}

dls_status dls_features_raw(const dls_feature_spec *spec, const dls_opgraph *g,
                            const dls_grouping *grouping, double *x, int64_t *n_unknown,
                            dls_error *err)
{
    const size_t width = (size_t)spec->n_features;
    const bool own = spec->version == DLS_FEATURES_OWN;
    DLS_FREED double *of_op = NULL;
    DLS_FREED bool *known = NULL;
    DLS_TRY(dls_alloc_array(&of_op, g->ops.n + 1, sizeof *of_op, "features", err));
    DLS_TRY(dls_alloc_array(&known, g->ops.n + 1, sizeof *known, "features", err));
    for (size_t i = 0; i < g->ops.n; i++) {
        const char *op = dls_strdict_get(&g->ops, (int32_t)i);
        const int32_t code = dls_strdict_find(&spec->ops, op, strlen(op));
        known[i] = code >= 0;
        of_op[i] = code >= 0 ? spec->frequency[code] : spec->fallback;
    }
    memset(x, 0, (size_t)grouping->n_groups * width * sizeof *x);
    double all[DLS_FEATURES_MAX] = {[VALUE_BYTES] = dls_numeric_bytes(g->info.numeric)};
    int64_t unknown = 0;
    for (int32_t v = 0; v < g->n_nodes; v++) {
        if (grouping->group[v] < 0) {
            continue;
        }
        const dls_op_node *node = &g->nodes[v];
        double *row = x + (size_t)grouping->group[v] * width;
        unknown += !known[node->op];
        row[TENSOR_SIZE] = clamp_size(row[TENSOR_SIZE] + (double)node->tensor_size);
        row[N_NODES] += 1;
        row[NODE_TYPE] += of_op[node->op];
        if (spec->version >= DLS_FEATURES_WORK) {
            row[FLOPS] += node->flops * node->repeat;
            row[TRAFFIC] += (double)(node->read_bytes + node->write_bytes) * node->repeat;
            row[PARAMS] += (double)node->param_bytes;
            row[N_BACKWARD] += node->phase == DLS_PHASE_BACKWARD;
            row[N_UPDATE] += node->phase == DLS_PHASE_UPDATE;
        }
        add_total(node, own ? row : all);
    }
    for (int32_t i = 0; spec->version >= DLS_FEATURES_TOTAL && i < grouping->n_groups; i++) {
        double *row = x + (size_t)i * width;
        if (own) {
            row[VALUE_BYTES] = all[VALUE_BYTES];
        } else {
            memcpy(row + ALL_FLOPS, all + ALL_FLOPS, (width - ALL_FLOPS) * sizeof *x);
        }
    }
    if (n_unknown) {
        *n_unknown = unknown;
    }
    return DLS_OK;
}

static void squash(const dls_feature_spec *spec, double *x, int32_t n_rows)
{
    for (int32_t i = 0; i < n_rows; i++) {
        for (int32_t f = 0; f < spec->n_features; f++) {
            double *at = &x[(size_t)i * (size_t)spec->n_features + (size_t)f];
            *at = columns[f].log ? log1p(*at) : *at;
        }
    }
}

void dls_features_normalise(const dls_feature_spec *spec, double *x, int32_t n_rows)
{
    squash(spec, x, n_rows);
    for (int32_t i = 0; i < n_rows; i++) {
        for (int32_t f = 0; f < spec->n_features; f++) {
            x[(size_t)i * (size_t)spec->n_features + (size_t)f] /= spec->scale[f];
        }
    }
}

dls_status dls_features(const dls_feature_spec *spec, const dls_opgraph *g,
                        const dls_grouping *grouping, double *x, int64_t *n_unknown, dls_error *err)
{
    DLS_TRY(dls_features_raw(spec, g, grouping, x, n_unknown, err));
    dls_features_normalise(spec, x, grouping->n_groups);
    return DLS_OK;
}

/* ---- corpus ---------------------------------------------------------------------------------- */

static dls_status count_ops(dls_feature_spec *spec, const dls_grouped *corpus, size_t n,
                            dls_error *err)
{
    double total = 0;
    dls_strdict_fini(&spec->ops);
    for (size_t i = 0; i < n; i++) {
        const dls_opgraph *g = corpus[i].graph;
        for (int32_t v = 0; v < g->n_nodes; v++) {
            const char *op = dls_opgraph_op(g, v);
            const size_t before = spec->ops.n;
            int32_t code;
            DLS_TRY(dls_grow(&spec->frequency, &spec->frequency_cap, before + 1,
                             sizeof *spec->frequency, err));
            DLS_TRY(dls_strdict_put(&spec->ops, op, strlen(op), &code, err));
            spec->frequency[code] = (size_t)code == before ? 1 : spec->frequency[code] + 1;
            total += 1;
        }
    }
    spec->fallback = spec->ops.n ? 1 : 0;
    for (size_t i = 0; i < spec->ops.n; i++) {
        spec->frequency[i] /= total;
        spec->fallback = fmin(spec->fallback, spec->frequency[i]);
    }
    return DLS_OK;
}

dls_status dls_feature_spec_fit(dls_feature_spec *spec, const dls_grouped *corpus, size_t n,
                                dls_error *err)
{
    double top[DLS_FEATURES_MAX] = {0};
    DLS_TRY(count_ops(spec, corpus, n, err));
    for (size_t i = 0; i < n; i++) {
        const dls_grouping *grouping = corpus[i].grouping;
        const size_t cells = (size_t)grouping->n_groups * (size_t)spec->n_features;
        DLS_FREED double *x = NULL;
        DLS_TRY(dls_alloc_array(&x, cells, sizeof *x, "features", err));
        DLS_TRY(dls_features_raw(spec, corpus[i].graph, grouping, x, NULL, err));
        squash(spec, x, grouping->n_groups);
        for (size_t cell = 0; cell < cells; cell++) {
            double *t = &top[cell % (size_t)spec->n_features];
            *t = fmax(*t, x[cell]);
        }
    }
    for (int32_t f = 0; f < spec->n_features; f++) {
        spec->scale[f] = top[f] > 0 ? top[f] : 1;
    }
    return DLS_OK;
}
