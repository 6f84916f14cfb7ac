/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inspector in memory: adds and finds tensors and settings, checks that every tensor of the
 * architecture is there with its shape, converts network outputs to metrics and back.
 */
#include "predictor/driple/model.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "base/suggest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const metric_names[DLS_METRICS] = {
    "gpu_mem_idle", "gpu_mem_active", "gpu_mem_peak",  "gpu_idle",
    "gpu_active",   "gpu_peak",       "net_rx_idle",   "net_rx_active",
    "net_rx_peak",  "net_tx_idle",    "net_tx_active", "net_tx_peak"};

const char *dls_metric_name(int metric)
{
    return metric >= 0 && metric < DLS_METRICS ? metric_names[metric] : NULL;
}

double dls_label_from_output(const dls_labels *labels, int metric, double output)
{
    const double scale = labels->scale[metric];
    const double floor = labels->floor[metric];
    return floor > 0 ? floor * expm1(output * log1p(scale / floor)) : output * scale;
}

double dls_label_to_output(const dls_labels *labels, int metric, double value)
{
    const double scale = labels->scale[metric];
    const double floor = labels->floor[metric];
    return floor > 0 ? log1p(value / floor) / log1p(scale / floor) : value / scale;
}

void dls_tensors_fini(dls_tensors *set)
{
    for (size_t i = 0; i < set->n; i++) {
        dls_free(set->t[i].data);
    }
    dls_free(set->t);
    *set = (dls_tensors){0};
}

const dls_weight *dls_tensors_find(const dls_tensors *set, const char *name)
{
    for (size_t i = 0; i < set->n; i++) {
        if (strcmp(set->t[i].spec.name, name) == 0) {
            return &set->t[i];
        }
    }
    return NULL;
}

dls_status dls_tensors_add(dls_tensors *set, const dls_tensor_spec *spec, dls_weight **out,
                           dls_error *err)
{
    DLS_TRY(dls_grow(&set->t, &set->cap, set->n + 1, sizeof *set->t, err));
    dls_weight *t = &set->t[set->n];
    *t = (dls_weight){.spec = *spec};
    const size_t len = (size_t)dls_tensor_len(spec);
    DLS_TRY(dls_alloc_array(&t->data, len, sizeof(double), spec->name, err));
    set->n++;
    *out = t;
    return DLS_OK;
}

dls_status dls_inspector_create(const dls_arch *arch, dls_inspector **out, dls_error *err)
{
    *out = NULL;
    DLS_TRY(dls_arch_check(arch, err));
    dls_inspector *insp;
    DLS_TRY(dls_alloc_array(&insp, 1, sizeof *insp, "inspector", err));
    insp->arch = *arch;
    const size_t n = (size_t)arch->n_features;
    insp->feature_shift = dls_alloc_zero(n, sizeof(double));
    insp->feature_scale = dls_alloc_zero(n, sizeof(double));
    if (!insp->feature_shift || !insp->feature_scale) {
        dls_inspector_destroy(insp);
        return dls_nomem(err, "feature scales", n * sizeof(double));
    }
    for (size_t i = 0; i < n; i++) {
        insp->feature_scale[i] = 1;
    }
    for (int i = 0; i < DLS_METRICS; i++) {
        insp->labels.scale[i] = 1;
    }
    *out = insp;
    return DLS_OK;
}

void dls_inspector_destroy(dls_inspector *insp)
{
    if (!insp) {
        return;
    }
    for (size_t i = 0; i < insp->n_settings; i++) {
        dls_tensors_fini(&insp->settings[i].tensors);
    }
    dls_free(insp->settings);
    dls_tensors_fini(&insp->base);
    DLS_FREE_ALL(insp->feature_shift, insp->feature_scale, insp->op_names, insp->op_freq,
                 insp->features_text, insp->condition.names, insp->condition.shift,
                 insp->condition.scale, insp->condition.label_slope, insp->condition.trained_on,
                 insp);
}

dls_status dls_inspector_add_setting(dls_inspector *insp, const char *name, dls_setting **out,
                                     dls_error *err)
{
    if (name[0] == '\0' || strchr(name, '/') || strlen(name) >= sizeof insp->settings->name ||
        dls_inspector_find(insp, name) != -2) {
        return dls_fail(err, DLS_EINPUT, name,
                        "setting \"%s\": the name must be new, 1 to 63 characters without a slash, "
                        "and not \"base\"",
                        name);
    }
    DLS_TRY(dls_grow(&insp->settings, &insp->cap_settings, insp->n_settings + 1,
                     sizeof *insp->settings, err));
    dls_setting *s = &insp->settings[insp->n_settings++];
    *s = (dls_setting){0};
    snprintf(s->name, sizeof s->name, "%s", name);
    s->labels = insp->labels;
    *out = s;
    return DLS_OK;
}

int32_t dls_inspector_n_features(const dls_inspector *insp)
{
    return insp->arch.n_features;
}

bool dls_inspector_is_relative(const dls_inspector *insp)
{
    return insp->relative;
}

int32_t dls_inspector_n_settings(const dls_inspector *insp)
{
    return (int32_t)insp->n_settings;
}

dls_setting_info dls_inspector_setting(const dls_inspector *insp, int32_t setting_idx)
{
    const dls_setting *s = &insp->settings[setting_idx];
    return (dls_setting_info){.name = s->name,
                              .gpu_type = s->gpu_type,
                              .topology = s->topology,
                              .network = s->network,
                              .n_ps = s->n_ps,
                              .n_workers = s->n_workers,
                              .n_nodes = s->n_nodes};
}

void dls_setting_describe(dls_setting *to, const dls_setting_info *from)
{
    snprintf(to->gpu_type, sizeof to->gpu_type, "%s", from->gpu_type);
    snprintf(to->topology, sizeof to->topology, "%s", from->topology);
    snprintf(to->network, sizeof to->network, "%s", from->network);
    to->n_ps = from->n_ps;
    to->n_workers = from->n_workers;
    to->n_nodes = from->n_nodes;
}

const char *dls_inspector_features(const dls_inspector *insp)
{
    return insp->features_text ? insp->features_text : "";
}

int32_t dls_inspector_find(const dls_inspector *insp, const char *name)
{
    if (strcmp(name, "base") == 0) {
        return DLS_SETTING_BASE;
    }
    for (size_t i = 0; i < insp->n_settings; i++) {
        if (strcmp(insp->settings[i].name, name) == 0) {
            return (int32_t)i;
        }
    }
    return -2;
}

void dls_inspector_describe(const dls_inspector *insp, char *text, size_t size)
{
    char arch[160];
    dls_arch_describe(&insp->arch, arch, sizeof arch);
    snprintf(text, size, "%s, %zu settings", arch, insp->n_settings);
}

const dls_weight *dls_inspector_tensor(const dls_inspector *insp, int32_t setting_idx, bool suffix,
                                       const char *name)
{
    if (setting_idx >= 0) {
        const dls_setting *s = &insp->settings[setting_idx];
        static const char repeated[] = "conv_layers.1.";
        const dls_weight *own = NULL;
        if (suffix && s->has_conv && strncmp(name, repeated, sizeof repeated - 1) == 0) {
            char mine[DLS_TENSOR_NAME_MAX];
            snprintf(mine, sizeof mine, "%s", name);
            mine[sizeof repeated - 3] = '2';
            own = dls_tensors_find(&s->tensors, mine);
        } else if (strncmp(name, "graph_read_out.mlp.", 19) == 0) {
            own = dls_tensors_find(&s->tensors, name);
        }
        if (own) {
            return own;
        }
    }
    return dls_tensors_find(&insp->base, name);
}

/* ---- checking ------------------------------------------------------------------------------- */

typedef struct checker {
    const dls_tensors *set;
    const char *where;
    size_t seen;
} checker;

static dls_status check_tensor(void *user, const dls_tensor_spec *spec, dls_error *err)
{
    checker *c = user;
    const dls_weight *t = dls_tensors_find(c->set, spec->name);
    if (!t) {
        return dls_fail(err, DLS_EINPUT, c->where, "tensor %s is missing", spec->name);
    }
    if (t->spec.rows != spec->rows || t->spec.cols != spec->cols) {
        return dls_fail(err, DLS_EINPUT, c->where,
                        "tensor %s has shape (%lld, %lld), expected (%lld, %lld); 0 means a vector",
                        spec->name, (long long)t->spec.rows, (long long)t->spec.cols,
                        (long long)spec->rows, (long long)spec->cols);
    }
    const int64_t len = dls_tensor_len(spec);
    for (int64_t i = 0; i < len; i++) {
        if (!isfinite(t->data[i])) {
            return dls_fail(err, DLS_EINPUT, c->where, "tensor %s: element %lld is %s", spec->name,
                            (long long)i, isnan(t->data[i]) ? "NaN" : "infinite");
        }
    }
    c->seen++;
    return DLS_OK;
}

static dls_status check_extra(const checker *c, dls_error *err)
{
    if (c->seen == c->set->n) {
        return DLS_OK;
    }
    return dls_fail(err, DLS_EINPUT, c->where,
                    "%zu tensors where the architecture wants %zu; the last is %s", c->set->n,
                    c->seen, c->set->t[c->set->n - 1].spec.name);
}

static dls_status check_scale(const double *scale, const double *shift, size_t n, const char *what,
                              const char *where, dls_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(scale[i]) || scale[i] <= 0 || (shift && !isfinite(shift[i]))) {
            return dls_fail(err, DLS_EINPUT, where, "%s[%zu] must be finite and positive", what, i);
        }
    }
    return DLS_OK;
}

static dls_status check_labels(const dls_labels *labels, const char *where, dls_error *err)
{
    for (int i = 0; i < DLS_METRICS; i++) {
        if (!(isfinite(labels->floor[i]) && labels->floor[i] >= 0)) {
            return dls_fail(err, DLS_EINPUT, where,
                            "label_floor[%d] must be finite and not negative", i);
        }
    }
    return check_scale(labels->scale, NULL, DLS_METRICS, "label_scale", where, err);
}

static dls_status check_condition(const dls_inspector *insp, dls_error *err)
{
    const dls_condition_scale *c = &insp->condition;
    int32_t names = c->names != NULL;
    for (const char *at = c->names; at && *at; at++) {
        names += *at == '\n';
    }
    if (names != insp->arch.n_conditions) {
        return dls_fail(err, DLS_EINPUT, "base",
                        "conditions=%d in the architecture, but %d numbers of settings have names",
                        (int)insp->arch.n_conditions, (int)names);
    }
    for (size_t i = 0; i < (size_t)names * DLS_METRICS; i++) {
        if (!isfinite(c->label_slope[i])) {
            return dls_fail(err, DLS_EINPUT, "base", "label_slope: element %zu is not finite", i);
        }
    }
    return check_scale(c->scale, c->shift, (size_t)names, "condition_scale", "base", err);
}

dls_status dls_inspector_check(const dls_inspector *insp, dls_error *err)
{
    DLS_TRY(dls_arch_check(&insp->arch, err));
    DLS_TRY(check_condition(insp, err));
    DLS_TRY(check_scale(insp->feature_scale, insp->feature_shift, (size_t)insp->arch.n_features,
                        "feature_scale", "base", err));
    DLS_TRY(check_labels(&insp->labels, "base", err));
    checker base = {&insp->base, "base", 0};
    DLS_TRY(dls_arch_tensors(&insp->arch, DLS_PART_BASE, check_tensor, &base, err));
    DLS_TRY(check_extra(&base, err));
    for (size_t i = 0; i < insp->n_settings; i++) {
        const dls_setting *s = &insp->settings[i];
        if (s->has_conv && !insp->arch.shared) {
            return dls_fail(err, DLS_EINPUT, s->name,
                            "a setting cannot have repeated layers of its own when every layer of "
                            "the base is its own");
        }
        DLS_TRY(check_labels(&s->labels, s->name, err));
        checker c = {&s->tensors, s->name, 0};
        if (s->has_conv) {
            DLS_TRY(dls_arch_tensors(&insp->arch, DLS_PART_SETTING_CONV, check_tensor, &c, err));
        }
        DLS_TRY(dls_arch_tensors(&insp->arch, DLS_PART_SETTING_MLP, check_tensor, &c, err));
        DLS_TRY(check_extra(&c, err));
    }
    return DLS_OK;
}

/* ---- random weights ------------------------------------------------------------------------- */

typedef struct randomiser {
    dls_tensors *set;
    dls_rng rng;
    double width_bound; /* 1 / sqrt(width) of convolutions and recurrent cells */
    double gain;
} randomiser;

static dls_status random_tensor(void *user, const dls_tensor_spec *spec, dls_error *err)
{
    randomiser *r = user;
    dls_weight *t = NULL;
    DLS_TRY(dls_tensors_add(r->set, spec, &t, err));
    t->is_f32 = true;
    double bound = r->width_bound;
    double centre = 0;
    if (dls_ends_with(spec->name, ".linear.weight")) {
        const double in = (double)spec->cols;
        const double out = (double)spec->rows;
        const double gain = r->gain / in < 1 ? r->gain / in : 1;
        bound = gain * sqrt(6 / (in + out));
    } else if (dls_ends_with(spec->name, ".linear.bias")) {
        bound = 0;
    } else if (dls_ends_with(spec->name, ".epsilon")) {
        bound = 0;
        centre = 0.1;
    } else if (strstr(spec->name, ".heads.")) {
        bound = 0.1414 * sqrt(6.0 / (double)(spec->rows + spec->cols));
    }
    const int64_t len = dls_tensor_len(spec);
    for (int64_t i = 0; i < len; i++) {
        t->data[i] = (double)(float)(centre + bound * (2 * dls_rng_unit(&r->rng) - 1));
    }
    return DLS_OK;
}

dls_status dls_inspector_randomise(dls_inspector *insp, uint64_t seed, int32_t n_settings,
                                   double gain, dls_error *err)
{
    dls_tensors_fini(&insp->base);
    const double bound = 1 / sqrt((double)insp->arch.hidden);
    randomiser r = {&insp->base, dls_rng_stream(seed, DLS_RNG_INIT, 0), bound, gain};
    DLS_TRY(dls_arch_tensors(&insp->arch, DLS_PART_BASE, random_tensor, &r, err));
    for (int32_t i = 0; i < n_settings; i++) {
        char name[32];
        snprintf(name, sizeof name, "setting%d", (int)i);
        dls_setting *s = NULL;
        DLS_TRY(dls_inspector_add_setting(insp, name, &s, err));
        s->has_conv = insp->arch.shared;
        r = (randomiser){&s->tensors, dls_rng_stream(seed, DLS_RNG_INIT, (uint64_t)i + 1), bound,
                         gain};
        if (s->has_conv) {
            DLS_TRY(dls_arch_tensors(&insp->arch, DLS_PART_SETTING_CONV, random_tensor, &r, err));
        }
        DLS_TRY(dls_arch_tensors(&insp->arch, DLS_PART_SETTING_MLP, random_tensor, &r, err));
    }
    return dls_inspector_check(insp, err);
}
