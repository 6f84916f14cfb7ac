/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inspector architectures: checks the fields, and walks all tensors of an architecture with their
 * names and shapes, for loading, training and packing.
 */
#include "predictor/driple/arch.h"

#include "dlsim/predictor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH_MAX 4096
#define LAYERS_MAX 65536
#define CONVS_MAX 64

const char *const dls_conv_names[DLS_CONV_COUNT + 1] = {"gcn", "gin", "mpnn", "gat", NULL};
const char *const dls_depth_names[DLS_DEPTH_COUNT + 1] = {"fixed",  "N",      "Nover2", "Nover3",
                                                          "log2N",  "2log2N", "3log2N", "4log2N",
                                                          "log10N", "3sqrtN", "log30N", NULL};
const char *const dls_pool_names[DLS_POOL_COUNT + 1] = {"set2set", "mean", "max", "attention",
                                                        NULL};
const char *const dls_aggregator_names[DLS_AGG_COUNT + 1] = {
    "sum",     "mean",    "max",     "min",     "identity", "var", "std", "normalised_mean",
    "softmax", "softmin", "moment3", "moment4", "moment5",  NULL};
const char *const dls_scaler_names[DLS_SCALE_COUNT + 1] = {
    "identity", "amplification", "attenuation", "linear", "inverse_linear", NULL};

int32_t dls_name_index(const char *const *names, const char *name, size_t len)
{
    for (int32_t i = 0; names[i]; i++) {
        if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0) {
            return i;
        }
    }
    return -1;
}

dls_arch dls_arch_default(void)
{
    return (dls_arch){.conv = DLS_CONV_GCN,
                      .n_features = 3,
                      .hidden = 64,
                      .n_outputs = DLS_METRICS,
                      .depth = DLS_DEPTH_N_OVER_2,
                      .shared = true,
                      .gru = true,
                      .pool = DLS_POOL_SET2SET,
                      .mlp_layers = 3,
                      .frozen = 0.5,
                      .gin_layers = 2,
                      .gat_heads = 4,
                      .gat_alpha = 0.2,
                      .towers = 4,
                      .n_aggregators = 1,
                      .n_scalers = 1,
                      .avg_d_lin = 1,
                      .avg_d_log = 1};
}

static dls_status bad(dls_error *err, const char *field, const char *why)
{
    return dls_fail(err, DLS_EINPUT, field, "architecture: %s: %s", field, why);
}

dls_status dls_arch_check(const dls_arch *a, dls_error *err)
{
    if (a->n_features < 1 || a->n_features > WIDTH_MAX) {
        return bad(err, "n_features", "must be 1..4096");
    }
    if (a->hidden < 1 || a->hidden > WIDTH_MAX) {
        return bad(err, "hidden", "must be 1..4096");
    }
    if (a->n_outputs != DLS_METRICS) {
        return bad(err, "n_outputs", "an inspector has 12 outputs");
    }
    if (a->gru && a->n_features > a->hidden) {
        return bad(err, "n_features", "more features than hidden units do not go with a GRU");
    }
    if (a->mlp_layers < 1 || a->mlp_layers > 16) {
        return bad(err, "mlp_layers", "must be 1..16");
    }
    if (!(a->frozen >= 0 && a->frozen <= 1)) {
        return bad(err, "frozen", "must be 0..1");
    }
    if (a->n_conditions < 0 || a->n_conditions > DLS_CONDITIONS_MAX) {
        return bad(err, "conditions", "must be 0..64");
    }
    if (a->set2set_steps < 0 || a->set2set_steps > LAYERS_MAX) {
        return bad(err, "set2set_steps", "must be 0..65536");
    }
    if (a->depth == DLS_DEPTH_FIXED && (a->n_layers < 1 || a->n_layers > LAYERS_MAX)) {
        return bad(err, "n_layers", "must be 1..65536");
    }
    if (!a->shared && (a->depth != DLS_DEPTH_FIXED || a->n_layers > CONVS_MAX)) {
        return bad(err, "shared", "layers of their own need a fixed depth of at most 64");
    }
    if (a->skip && (a->depth != DLS_DEPTH_FIXED || a->n_layers > CONVS_MAX)) {
        return bad(err, "skip", "skip connections need a fixed depth of at most 64");
    }
    if (a->conv == DLS_CONV_GIN && (a->gin_layers < 1 || a->gin_layers > 16)) {
        return bad(err, "gin_layers", "must be 1..16");
    }
    if (a->conv == DLS_CONV_GAT && (a->gat_heads < 1 || a->gat_heads > a->hidden ||
                                    a->hidden % a->gat_heads != 0 || !isfinite(a->gat_alpha))) {
        return bad(err, "gat_heads", "must divide the hidden width, and alpha be finite");
    }
    if (a->conv == DLS_CONV_MPNN) {
        if (a->towers < 1 || a->towers > a->hidden || a->hidden % a->towers != 0) {
            return bad(err, "towers", "must divide the hidden width");
        }
        if (a->n_aggregators < 1 || a->n_aggregators > DLS_AGG_COUNT || a->n_scalers < 1 ||
            a->n_scalers > DLS_SCALE_COUNT) {
            return bad(err, "aggregators", "at least one aggregator and one scaler");
        }
        if (!(a->avg_d_lin > 0) || !(a->avg_d_log > 0) || !isfinite(a->avg_d_lin) ||
            !isfinite(a->avg_d_log)) {
            return bad(err, "avg_d", "mean degrees must be positive");
        }
    }
    return DLS_OK;
}

int32_t dls_arch_layers(const dls_arch *a, int32_t n_nodes)
{
    const double n = n_nodes;
    double value = 0;
    switch (a->depth) {
    case DLS_DEPTH_FIXED:
        value = a->n_layers;
        break;
    case DLS_DEPTH_N:
        value = n;
        break;
    case DLS_DEPTH_N_OVER_2:
        value = n_nodes / 2;
        break;
    case DLS_DEPTH_N_OVER_3:
        value = n_nodes / 3;
        break;
    case DLS_DEPTH_LOG2N:
        value = log2(n);
        break;
    case DLS_DEPTH_2LOG2N:
        value = 2 * log2(n);
        break;
    case DLS_DEPTH_3LOG2N:
        value = 3 * log2(n);
        break;
    case DLS_DEPTH_4LOG2N:
        value = 4 * log2(n);
        break;
    case DLS_DEPTH_LOG10N:
        value = log10(n);
        break;
    case DLS_DEPTH_3SQRTN:
        value = 3 * sqrt(n);
        break;
    case DLS_DEPTH_LOG30N:
        value = n_nodes > 1 ? log(35) / log(n) : 1;
        break;
    case DLS_DEPTH_COUNT:
        break;
    }
    return value < 1 ? 1 : (int32_t)value;
}

int32_t dls_arch_prefix_layers(const dls_arch *a, int32_t n_layers)
{
    return 1 + (int32_t)(a->frozen * (n_layers - 1));
}

int32_t dls_arch_n_convs(const dls_arch *a)
{
    return a->shared ? 2 : a->n_layers;
}

int32_t dls_arch_readout_width(const dls_arch *a)
{
    return a->skip ? a->n_features + a->n_layers * a->hidden : a->hidden;
}

int32_t dls_arch_pooled_width(const dls_arch *a)
{
    const int32_t d = dls_arch_readout_width(a);
    return a->pool == DLS_POOL_SET2SET ? 2 * d : d;
}

void dls_arch_describe(const dls_arch *a, char *text, size_t size)
{
    char depth[48];
    if (a->depth == DLS_DEPTH_FIXED) {
        snprintf(depth, sizeof depth, "%d%s", (int)a->n_layers, a->shared ? "" : " own");
    } else {
        snprintf(depth, sizeof depth, "%s", dls_depth_names[a->depth]);
    }
    snprintf(text, size, "%s%s, %d features, hidden %d, %s layers%s%s, %s", dls_conv_names[a->conv],
             a->reference ? " (reference)" : "", (int)a->n_features, (int)a->hidden, depth,
             a->gru ? ", gru" : "", a->skip ? ", skip" : "", dls_pool_names[a->pool]);
}

/* ---- tensors -------------------------------------------------------------------------------- */

typedef struct visitor {
    dls_tensor_visit visit;
    void *user;
    dls_error *err;
} visitor;

__attribute__((format(printf, 4, 5))) static dls_status emit(const visitor *v, int64_t rows,
                                                             int64_t cols, const char *fmt, ...)
{
    dls_tensor_spec spec = {.rows = rows, .cols = cols};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(spec.name, sizeof spec.name, fmt, ap);
    va_end(ap);
    return v->visit(v->user, &spec, v->err);
}

static dls_status linear(const visitor *v, const char *name, int64_t in, int64_t out)
{
    DLS_TRY(emit(v, out, in, "%s.linear.weight", name));
    return emit(v, out, 0, "%s.linear.bias", name);
}

int32_t dls_arch_conv_maps(const dls_arch *a)
{
    return a->conv == DLS_CONV_GIN    ? 1 + a->gin_layers
           : a->conv == DLS_CONV_GAT  ? 2 * a->gat_heads
           : a->conv == DLS_CONV_MPNN ? 3 * a->towers + 1
                                      : 1;
}

#define NAMED(to, ...) snprintf(to, sizeof(to), "conv_layers." __VA_ARGS__)

dls_conv_map dls_arch_conv_map(const dls_arch *a, int32_t layer, int32_t i)
{
    const int64_t in = layer == 0 ? a->n_features : a->hidden;
    const int64_t h = a->hidden;
    const int l = (int)layer;
    dls_conv_map m = {.rows = h, .cols = h};
    char name[72] = ""; /* of a linear layer of torch */
    if (a->conv == DLS_CONV_GCN) {
        m.rows = in;
        m.plain = true;
        NAMED(m.weight, "%d.W", l);
        NAMED(m.bias, "%d.b", l);
    } else if (a->conv == DLS_CONV_GIN && i == 0) {
        m.rows = 1;
        m.cols = 0;
        NAMED(m.bias, "%d.epsilon", l);
    } else if (a->conv == DLS_CONV_GIN) {
        const int64_t mid = in > h ? in : h;
        m.rows = i == a->gin_layers ? h : mid;
        m.cols = i == 1 ? in : mid;
        NAMED(name, "%d.post_transformation.fully_connected.%d", l, (int)i - 1);
    } else if (a->conv == DLS_CONV_GAT) {
        const int64_t f = h / a->gat_heads;
        m.plain = i % 2 == 0;
        m.rows = m.plain ? in : 2 * f;
        m.cols = m.plain ? f : 1;
        NAMED(*(m.plain ? &m.weight : &m.bias), "%d.heads.%d.%s", l, (int)i / 2,
              m.plain ? "W" : "a");
    } else if (i == 3 * a->towers) {
        NAMED(name, "%d.mixing_network", l);
    } else {
        /* Layer 0 shows all features to every tower; the others share the columns out. */
        const int64_t f = layer == 0 ? in : in / a->towers;
        const bool post = i % 3 == 2;
        m.rows = post ? h / a->towers : f;
        m.cols = post ? f * (1 + (int64_t)a->n_aggregators * a->n_scalers) : 2 * f;
        m.first = post ? 0 : i % 3 * (int32_t)f;
        m.k = post ? 0 : (int32_t)f;
        NAMED(name, "%d.towers.%d.%strans.fully_connected.0", l, (int)i / 3, post ? "post" : "pre");
    }
    if (*name) {
        snprintf(m.weight, sizeof m.weight, "%s.linear.weight", name);
        snprintf(m.bias, sizeof m.bias, "%s", m.first ? "" : name);
        strcat(m.bias, m.first ? "" : ".linear.bias");
    }
    m.k = *m.weight && !m.k ? (int32_t)(m.plain ? m.rows : m.cols) : m.k;
    return m;
}

static dls_status conv_tensors(const dls_arch *a, int32_t layer, const visitor *v)
{
    for (int32_t i = 0; i < dls_arch_conv_maps(a); i++) {
        const dls_conv_map m = dls_arch_conv_map(a, layer, i);
        if (*m.weight && m.first == 0) {
            DLS_TRY(emit(v, m.rows, m.cols, "%s", m.weight));
        }
        if (*m.bias && *m.weight) {
            DLS_TRY(emit(v, m.plain ? m.cols : m.rows, 0, "%s", m.bias));
        } else if (*m.bias) {
            DLS_TRY(emit(v, m.rows, m.cols, "%s", m.bias));
        }
    }
    return DLS_OK;
}

static dls_status recurrent(const visitor *v, const char *name, int64_t gates, int64_t in,
                            int64_t width)
{
    DLS_TRY(emit(v, gates * width, in, "%s.weight_ih_l0", name));
    DLS_TRY(emit(v, gates * width, width, "%s.weight_hh_l0", name));
    DLS_TRY(emit(v, gates * width, 0, "%s.bias_ih_l0", name));
    return emit(v, gates * width, 0, "%s.bias_hh_l0", name);
}

static dls_status mlp_tensors(const dls_arch *a, const visitor *v)
{
    const int64_t d = dls_arch_readout_width(a);
    char name[72];
    for (int32_t l = 0; l < a->mlp_layers; l++) {
        snprintf(name, sizeof name, "graph_read_out.mlp.fully_connected.%d", (int)l);
        DLS_TRY(linear(v, name, l == 0 ? dls_arch_pooled_width(a) : d,
                       l == a->mlp_layers - 1 ? a->n_outputs : d));
    }
    return DLS_OK;
}

dls_tensor_spec dls_arch_condition_spec(const dls_arch *a)
{
    return (dls_tensor_spec){.name = DLS_CONDITION_TENSOR,
                             .rows = a->mlp_layers == 1 ? a->n_outputs : dls_arch_readout_width(a),
                             .cols = a->n_conditions};
}

dls_status dls_arch_tensors(const dls_arch *a, dls_part part, dls_tensor_visit visit, void *user,
                            dls_error *err)
{
    const visitor v = {visit, user, err};
    if (part == DLS_PART_SETTING_CONV) {
        return conv_tensors(a, 2, &v);
    }
    if (part == DLS_PART_SETTING_MLP) {
        return mlp_tensors(a, &v);
    }
    for (int32_t layer = 0; layer < dls_arch_n_convs(a); layer++) {
        DLS_TRY(conv_tensors(a, layer, &v));
    }
    if (a->gru) {
        DLS_TRY(recurrent(&v, "gru.gru", 3, a->hidden, a->hidden));
    }
    const int64_t d = dls_arch_readout_width(a);
    if (a->pool == DLS_POOL_SET2SET) {
        DLS_TRY(recurrent(&v, "graph_read_out.set2set.lstm", 4, 2 * d, d));
    } else if (a->pool == DLS_POOL_ATTENTION) {
        DLS_TRY(linear(&v, "graph_read_out.attention", d, 1));
    }
    if (a->n_conditions > 0) {
        const dls_tensor_spec spec = dls_arch_condition_spec(a);
        DLS_TRY(visit(user, &spec, err));
    }
    return mlp_tensors(a, &v);
}
