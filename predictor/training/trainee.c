/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lays out all parameters of a network in one vector, starts them (random, or from the base), and
 * maps each linear layer to its place for the engines.
 */
#include "predictor/training/trainee.h"

#include "base/alloc.h"
#include "base/own.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const dls_tune_names[DLS_TUNE_COUNT + 1] = {"base",     "conv+mlp", "mlp",
                                                        "conv+gru", "all",      NULL};

bool dls_tune_is_setting(dls_tune tune)
{
    return tune == DLS_TUNE_CONV_MLP || tune == DLS_TUNE_MLP;
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool is_trained(dls_tune tune, const char *name)
{
    switch (tune) {
    case DLS_TUNE_CONV_MLP:
        return begins(name, "conv_layers.2.") || begins(name, "graph_read_out.mlp.");
    case DLS_TUNE_MLP:
        return begins(name, "graph_read_out.mlp.");
    case DLS_TUNE_CONV_GRU:
        return begins(name, "conv_layers.2.") || begins(name, "gru.");
    default:
        return true;
    }
}

/* ---- parameters ----------------------------------------------------------------------------- */

typedef struct builder {
    dls_trainee *net;
    const dls_inspector *insp;
    int32_t setting;
} builder;

static dls_status add_param(void *user, const dls_tensor_spec *spec, dls_error *err)
{
    dls_trainee *net = ((builder *)user)->net;
    DLS_TRY(dls_grow(&net->param, &net->cap_params, net->n_params + 1, sizeof *net->param, err));
    const bool trained = is_trained(net->tune, spec->name);
    net->param[net->n_params++] =
        (dls_param){.spec = *spec, .at = net->n_values, .trained = trained};
    net->n_values += (size_t)dls_tensor_len(spec);
    return DLS_OK;
}

/* conv_layers.2.* starts as the setting's own or as the base's conv_layers.1.* */
static const dls_weight *source_of(const builder *b, const dls_param *p)
{
    char name[DLS_TENSOR_NAME_MAX];
    static const char own[] = "conv_layers.2.";
    const bool is_own = b->net->own && begins(p->spec.name, own);
    snprintf(name, sizeof name, "%s", p->spec.name);
    if (is_own) {
        name[sizeof own - 3] = '1';
    }
    return dls_inspector_tensor(b->insp, b->setting, is_own, name);
}

static const dls_param *find(const dls_trainee *net, const char *name)
{
    for (size_t i = 0; i < net->n_params; i++) {
        if (strcmp(net->param[i].spec.name, name) == 0) {
            return &net->param[i];
        }
    }
    return NULL;
}

__attribute__((format(printf, 2, 3))) static const dls_param *param(const dls_trainee *net,
                                                                    const char *fmt, ...)
{
    char name[DLS_TENSOR_NAME_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    return find(net, name);
}

/* ---- maps ----------------------------------------------------------------------------------- */

static dls_status add_map(dls_trainee *net, dls_map map, dls_error *err)
{
    DLS_TRY(dls_grow(&net->map, &net->cap_maps, net->n_maps + 1, sizeof *net->map, err));
    net->map[net->n_maps++] = map;
    return DLS_OK;
}

/* k columns of a torch matrix [out][in] from first_col on; w NULL-safe for no bias. */
static dls_map torch_map(const dls_param *w, const dls_param *b, int64_t first_col, int64_t k)
{
    return (dls_map){.k = (int32_t)k,
                     .width = (int32_t)w->spec.rows,
                     .chunks = 1,
                     .w = w->at + (size_t)first_col,
                     .in_step = 1,
                     .out_step = (size_t)w->spec.cols,
                     .w2 = DLS_NOWHERE,
                     .b = b ? b->at : DLS_NOWHERE,
                     .b2 = DLS_NOWHERE,
                     .trained = w->trained};
}

static dls_map vector_map(const dls_param *v)
{
    return (dls_map){.width = (int32_t)dls_tensor_len(&v->spec),
                     .chunks = 1,
                     .w = DLS_NOWHERE,
                     .w2 = DLS_NOWHERE,
                     .b = v->at,
                     .b2 = DLS_NOWHERE,
                     .trained = v->trained};
}

/* A matrix stored [in][out]. */
static dls_map plain_map(const dls_param *w, const dls_param *b)
{
    dls_map m = torch_map(w, b, 0, w->spec.rows);
    m.width = (int32_t)w->spec.cols;
    m.in_step = (size_t)w->spec.cols;
    m.out_step = 1;
    return m;
}

static dls_status linear_map(dls_trainee *net, const char *name, dls_error *err)
{
    const dls_param *w = param(net, "%s.linear.weight", name);
    return add_map(net, torch_map(w, param(net, "%s.linear.bias", name), 0, w->spec.cols), err);
}

static dls_status conv_maps(dls_trainee *net, int32_t c, dls_error *err)
{
    net->conv[c] = (int32_t)net->n_maps;
    for (int32_t i = 0; i < dls_arch_conv_maps(&net->arch); i++) {
        const dls_conv_map m = dls_arch_conv_map(&net->arch, c, i);
        const dls_param *w = find(net, m.weight), *b = find(net, m.bias);
        DLS_TRY(add_map(net,
                        !w        ? vector_map(b)
                        : m.plain ? plain_map(w, b)
                                  : torch_map(w, b, m.first, m.k),
                        err));
    }
    return DLS_OK;
}

/* Gates of the GRU are laid out n of the input, r, z, n of the hidden state, so that what the input
 * reaches and what the hidden state reaches are three neighbours each. */
static dls_status gru_maps(dls_trainee *net, dls_error *err)
{
    const int32_t h = net->arch.hidden;
    static const uint8_t order[2][4] = {{2, 0, 1, 0}, {0, 1, 2, 0}};
    net->gru = (int32_t)net->n_maps;
    for (int i = 0; i < 2; i++) {
        const char *side = i ? "hh" : "ih";
        dls_map m = torch_map(param(net, "gru.gru.weight_%s_l0", side),
                              param(net, "gru.gru.bias_%s_l0", side), 0, h);
        m.width = h;
        m.chunks = 3;
        memcpy(m.chunk, order[i], sizeof m.chunk);
        DLS_TRY(add_map(net, m, err));
    }
    return DLS_OK;
}

/* The LSTM's input begins with h, which is also its hidden state: both matrices act on it. */
static dls_status lstm_maps(dls_trainee *net, dls_error *err)
{
    const int32_t d = dls_arch_readout_width(&net->arch);
    const dls_param *wi = param(net, "graph_read_out.set2set.lstm.weight_ih_l0");
    const dls_param *wh = param(net, "graph_read_out.set2set.lstm.weight_hh_l0");
    dls_map m = torch_map(wi, param(net, "graph_read_out.set2set.lstm.bias_ih_l0"), 0, d);
    net->lstm = (int32_t)net->n_maps;
    m.width = d;
    m.chunks = 4;
    memcpy(m.chunk, (const uint8_t[4]){0, 1, 2, 3}, sizeof m.chunk);
    dls_map read = m;
    m.w2 = wh->at;
    m.out_step2 = (size_t)wh->spec.cols;
    m.b2 = param(net, "graph_read_out.set2set.lstm.bias_hh_l0")->at;
    read.w += (size_t)d;
    read.b = DLS_NOWHERE;
    DLS_TRY(add_map(net, m, err));
    return add_map(net, read, err);
}

static dls_status build_maps(dls_trainee *net, dls_error *err)
{
    const dls_arch *a = &net->arch;
    char name[72];
    for (int32_t c = 0; c < net->n_convs + net->own; c++) {
        DLS_TRY(conv_maps(net, c, err));
    }
    net->gru = net->lstm = net->attention = -1;
    if (a->gru) {
        DLS_TRY(gru_maps(net, err));
    }
    if (a->pool == DLS_POOL_SET2SET) {
        DLS_TRY(lstm_maps(net, err));
    } else if (a->pool == DLS_POOL_ATTENTION) {
        net->attention = (int32_t)net->n_maps;
        DLS_TRY(linear_map(net, "graph_read_out.attention", err));
    }
    net->condition = -1;
    if (a->n_conditions > 0) {
        const dls_param *w = param(net, "%s", DLS_CONDITION_TENSOR);
        net->condition = (int32_t)net->n_maps;
        DLS_TRY(add_map(net, torch_map(w, NULL, 0, a->n_conditions), err));
    }
    net->mlp = (int32_t)net->n_maps;
    for (int32_t l = 0; l < a->mlp_layers; l++) {
        snprintf(name, sizeof name, "graph_read_out.mlp.fully_connected.%d", (int)l);
        DLS_TRY(linear_map(net, name, err));
    }
    return DLS_OK;
}

/* ---- the network ---------------------------------------------------------------------------- */

static dls_status fill(builder *b, dls_error *err)
{
    dls_trainee *net = b->net;
    const dls_inspector *insp = b->insp;
    const size_t f = (size_t)insp->arch.n_features;
    net->feature_shift = dls_alloc(f * sizeof(double));
    net->feature_scale = dls_alloc(f * sizeof(double));
    net->conv = dls_alloc_zero((size_t)net->n_convs + net->own, sizeof *net->conv);
    if (!net->feature_shift || !net->feature_scale || !net->conv) {
        return dls_nomem(err, "network", 2 * f * sizeof(double));
    }
    memcpy(net->feature_shift, insp->feature_shift, f * sizeof(double));
    memcpy(net->feature_scale, insp->feature_scale, f * sizeof(double));
    DLS_TRY(dls_arch_tensors(&net->arch, DLS_PART_BASE, add_param, b, err));
    if (net->own) {
        DLS_TRY(dls_arch_tensors(&net->arch, DLS_PART_SETTING_CONV, add_param, b, err));
    }
    DLS_TRY(dls_alloc_array(&net->value, net->n_values, sizeof *net->value, "parameters", err));
    for (size_t i = 0; i < net->n_params; i++) {
        const dls_weight *t = source_of(b, &net->param[i]);
        memcpy(net->value + net->param[i].at, t->data,
               (size_t)dls_tensor_len(&t->spec) * sizeof(double));
    }
    return build_maps(net, err);
}

dls_status dls_trainee_create(const dls_inspector *insp, int32_t setting_idx, dls_tune tune,
                              dls_trainee **out, dls_error *err)
{
    *out = NULL;
    const dls_arch *a = &insp->arch;
    if (a->reference && (a->conv == DLS_CONV_GAT || a->conv == DLS_CONV_MPNN)) {
        return dls_fail(err, DLS_EINPUT, "reference",
                        "reference=1 repeats mistakes of the published code for comparison and is "
                        "not trained; use reference=0");
    }
    const bool own = tune != DLS_TUNE_BASE && tune != DLS_TUNE_MLP;
    if (own && !a->shared) {
        return dls_fail(err, DLS_EINPUT, dls_tune_names[tune],
                        "tuning %s needs layers that repeat one convolution (shared=1)",
                        dls_tune_names[tune]);
    }
    DLS_HOLD(dls_trainee_destroy) dls_trainee *net = NULL;
    DLS_TRY(dls_alloc_array(&net, 1, sizeof *net, "network", err));
    net->arch = *a;
    net->tune = tune;
    net->own = own;
    net->n_convs = dls_arch_n_convs(a);
    builder b = {net, insp, setting_idx};
    DLS_TRY(fill(&b, err));
    *out = dls_take(&net);
    return DLS_OK;
}

void dls_trainee_destroy(dls_trainee *net)
{
    if (net) {
        DLS_FREE_ALL(net->feature_shift, net->feature_scale, net->param, net->value, net->map,
                     net->conv, net);
    }
}

int32_t dls_trainee_conv_of(const dls_trainee *net, int32_t layer, int32_t n_layers)
{
    if (!net->arch.shared) {
        return layer;
    }
    if (layer == 0) {
        return 0;
    }
    return net->own && layer >= dls_arch_prefix_layers(&net->arch, n_layers) ? net->n_convs : 1;
}

int32_t dls_trainee_frozen_layers(const dls_trainee *net, int32_t n_layers)
{
    if (net->gru >= 0 && net->map[net->gru].trained) {
        return 0;
    }
    for (int32_t l = 0; l < n_layers; l++) {
        if (net->map[net->conv[dls_trainee_conv_of(net, l, n_layers)]].trained) {
            return l;
        }
    }
    return n_layers;
}

/* ---- back into an inspector ------------------------------------------------------------------ */

static dls_status put(const dls_trainee *net, dls_tensors *set, const dls_param *p, dls_error *err)
{
    dls_weight *t = NULL;
    for (size_t i = 0; i < set->n; i++) {
        if (strcmp(set->t[i].spec.name, p->spec.name) == 0) {
            t = &set->t[i];
        }
    }
    if (!t) {
        DLS_TRY(dls_tensors_add(set, &p->spec, &t, err));
    }
    t->is_f32 = true;
    const size_t len = (size_t)dls_tensor_len(&p->spec);
    for (size_t i = 0; i < len; i++) {
        t->data[i] = (double)(float)net->value[p->at + i];
    }
    return DLS_OK;
}

dls_status dls_trainee_store(const dls_trainee *net, dls_inspector *insp, const char *setting,
                             dls_error *err)
{
    for (size_t i = 0; i < net->n_params; i++) {
        const dls_param *p = &net->param[i];
        const size_t len = (size_t)dls_tensor_len(&p->spec);
        for (size_t k = 0; k < len; k++) {
            if (!isfinite((float)net->value[p->at + k])) {
                return dls_fail(err, DLS_EINPUT, p->spec.name,
                                "training left a value in %s that is not finite; nothing is kept",
                                p->spec.name);
            }
        }
    }
    dls_setting *s = NULL;
    if (setting) {
        const int32_t idx = dls_inspector_find(insp, setting);
        if (idx >= 0) {
            s = &insp->settings[idx];
        } else {
            DLS_TRY(dls_inspector_add_setting(insp, setting, &s, err));
        }
    }
    for (size_t i = 0; i < net->n_params; i++) {
        const dls_param *p = &net->param[i];
        const bool own = net->own && begins(p->spec.name, "conv_layers.2.");
        const bool mlp = begins(p->spec.name, "graph_read_out.mlp.");
        if (s && (own || mlp)) {
            DLS_TRY(put(net, &s->tensors, p, err));
            s->has_conv |= own;
        }
        if (!s && !own && p->trained) {
            DLS_TRY(put(net, &insp->base, p, err));
        }
    }
    return DLS_OK;
}
