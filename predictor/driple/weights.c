/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Saves and loads inspectors as HDF5 files (docs/inspector-files.md): tensors, label scales,
 * features and settings, with a checksum of the architecture.
 */
#include "predictor/driple/weights.h"

#include "base/alloc.h"
#include "base/fnv.h"
#include "base/guard.h"
#include "base/own.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/h5io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "dlsim-inspector"
#define FORMAT_VERSION 1
#define SETTINGS_MAX 4096
#define ATTRIBUTE_BYTES ((size_t)1 << 16) /* HDF5 keeps no larger attribute */

/* ---- writing -------------------------------------------------------------------------------- */

static dls_status put_tensors(hid_t loc, const dls_tensors *set, dls_error *err)
{
    DLS_H5_OWNED hid_t group = H5I_INVALID_HID;
    DLS_TRY(dls_h5_put_group(loc, "tensors", &group, err));
    for (size_t i = 0; i < set->n; i++) {
        const dls_weight *t = &set->t[i];
        DLS_TRY(dls_h5io_put_array(group, t->spec.name, t->data, t->spec.rows, t->spec.cols,
                                   t->is_f32, err));
    }
    return DLS_OK;
}

static dls_status put_labels(hid_t loc, const dls_labels *labels, dls_error *err)
{
    DLS_TRY(dls_h5io_put_array(loc, "label_scale", labels->scale, DLS_METRICS, 0, false, err));
    return dls_h5io_put_array(loc, "label_floor", labels->floor, DLS_METRICS, 0, false, err);
}

static dls_status put_base(hid_t base, const dls_inspector *insp, dls_error *err)
{
    char text[DLS_ARCH_TEXT_MAX];
    char hex[17];
    dls_arch_format(&insp->arch, text);
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)dls_fnv_text(DLS_FNV_START, text));
    DLS_TRY(dls_h5_put_text(base, "architecture", text, err));
    DLS_TRY(dls_h5_put_text(base, "architecture_checksum", hex, err));
    const int64_t n = insp->arch.n_features;
    DLS_TRY(dls_h5io_put_array(base, "feature_shift", insp->feature_shift, n, 0, false, err));
    DLS_TRY(dls_h5io_put_array(base, "feature_scale", insp->feature_scale, n, 0, false, err));
    DLS_TRY(put_labels(base, &insp->labels, err));
    if (insp->relative) {
        DLS_TRY(dls_h5_put_text(base, "outputs", "relative", err));
    }
    if (insp->n_ops) {
        DLS_TRY(dls_h5_put_text(base, "op_names", insp->op_names, err));
        DLS_TRY(dls_h5io_put_array(base, "op_frequency", insp->op_freq, (int64_t)insp->n_ops, 0,
                                   false, err));
    }
    if (insp->features_text) {
        DLS_TRY(dls_h5_put_text(base, "features", insp->features_text, err));
    }
    if (insp->arch.n_conditions) {
        const int64_t m = insp->arch.n_conditions;
        const dls_condition_scale *c = &insp->condition;
        DLS_TRY(dls_h5_put_text(base, "condition_names", c->names, err));
        DLS_TRY(dls_h5io_put_array(base, "condition_shift", c->shift, m, 0, false, err));
        DLS_TRY(dls_h5io_put_array(base, "condition_scale", c->scale, m, 0, false, err));
        if (c->trained_on) {
            DLS_TRY(dls_h5_put_text(base, "trained_on", c->trained_on, err));
        }
        DLS_TRY(dls_h5io_put_array(base, "label_slope", c->label_slope, DLS_METRICS * m, 0, false,
                                   err));
    }
    return put_tensors(base, &insp->base, err);
}

static dls_status put_setting(hid_t group, const dls_setting *s, dls_error *err)
{
    DLS_TRY(dls_h5_put_text(group, "gpu_type", s->gpu_type, err));
    DLS_TRY(dls_h5_put_text(group, "topology", s->topology, err));
    DLS_TRY(dls_h5_put_text(group, "network", s->network, err));
    DLS_TRY(dls_h5_put_i64(group, "n_ps", s->n_ps, err));
    DLS_TRY(dls_h5_put_i64(group, "n_workers", s->n_workers, err));
    DLS_TRY(dls_h5_put_i64(group, "n_nodes", s->n_nodes, err));
    DLS_TRY(put_labels(group, &s->labels, err));
    return put_tensors(group, &s->tensors, err);
}

static dls_status put_all(hid_t file, const void *what, dls_error *err)
{
    const dls_inspector *insp = what;
    DLS_TRY(dls_h5_put_text(file, "format", FORMAT, err));
    DLS_TRY(dls_h5_put_i64(file, "format_version", FORMAT_VERSION, err));
    DLS_TRY(dls_h5_put_i64(file, "n_settings", (int64_t)insp->n_settings, err));
    DLS_H5_OWNED hid_t base = H5I_INVALID_HID, settings = H5I_INVALID_HID;
    DLS_TRY(dls_h5_put_group(file, "base", &base, err));
    DLS_TRY(put_base(base, insp, err));
    DLS_TRY(dls_h5_put_group(file, "settings", &settings, err));
    for (size_t i = 0; i < insp->n_settings; i++) {
        DLS_H5_OWNED hid_t group = H5I_INVALID_HID;
        DLS_TRY(dls_h5_put_group(settings, insp->settings[i].name, &group, err));
        DLS_TRY(dls_h5_put_i64(group, "index", (int64_t)i, err));
        DLS_TRY(put_setting(group, &insp->settings[i], err));
    }
    return DLS_OK;
}

dls_status dls_inspector_save(const dls_inspector *insp, const char *path, dls_error *err)
{
    DLS_TRY(dls_inspector_check(insp, err));
    return dls_h5_save(path, put_all, insp, err);
}

/* ---- reading -------------------------------------------------------------------------------- */

static dls_status get_tensors(hid_t loc, const char *where, dls_tensors *set, dls_error *err)
{
    DLS_H5_OWNED hid_t group = H5I_INVALID_HID;
    DLS_TRY(dls_h5_where(dls_h5_get_group(loc, "tensors", &group, err), err, where));
    return dls_h5io_get_tensors(group, true, where, set, err);
}

/* Files from before there were floors have none: outputs are shares of the scale. */
static dls_status get_labels(hid_t loc, const char *where, dls_labels *labels, dls_error *err)
{
    memset(labels->floor, 0, sizeof labels->floor);
    DLS_TRY(dls_h5io_get_vector(loc, "label_scale", where, DLS_METRICS, labels->scale, err));
    return dls_h5_has(loc, "label_floor")
               ? dls_h5io_get_vector(loc, "label_floor", where, DLS_METRICS, labels->floor, err)
               : DLS_OK;
}

/* Files that do not say it have the metrics. */
static dls_status get_outputs(hid_t base, dls_inspector *insp, dls_error *err)
{
    char text[24] = "metrics";
    if (H5Aexists(base, "outputs") > 0) {
        DLS_TRY(dls_h5io_text(base, "outputs", false, text, sizeof text, "base", err));
    }
    insp->relative = strcmp(text, "relative") == 0;
    return insp->relative || strcmp(text, "metrics") == 0
               ? DLS_OK
               : dls_fail(err, DLS_EINPUT, "base", "outputs: \"%s\" is not metrics or relative",
                          text);
}

static dls_status get_ops(hid_t base, dls_inspector *insp, dls_error *err)
{
    if (H5Aexists(base, "op_names") <= 0) {
        return DLS_OK;
    }
    const size_t size = ATTRIBUTE_BYTES;
    DLS_TRY(dls_alloc_array(&insp->op_names, size, 1, "operation names", err));
    DLS_TRY(dls_h5io_text(base, "op_names", false, insp->op_names, size, "base", err));
    insp->n_ops = 1;
    for (const char *c = insp->op_names; *c; c++) {
        insp->n_ops += *c == '\n';
    }
    insp->op_freq = dls_alloc(insp->n_ops * sizeof(double));
    return insp->op_freq
               ? dls_h5io_get_vector(base, "op_frequency", "base", insp->n_ops, insp->op_freq, err)
               : dls_nomem(err, "operation frequencies", insp->n_ops * sizeof(double));
}

static dls_status get_features(hid_t base, dls_inspector *insp, dls_error *err)
{
    if (H5Aexists(base, "features") <= 0) {
        return DLS_OK;
    }
    insp->features_text = dls_alloc(ATTRIBUTE_BYTES);
    return insp->features_text ? dls_h5io_text(base, "features", false, insp->features_text,
                                               ATTRIBUTE_BYTES, "base", err)
                               : dls_nomem(err, "feature spec", ATTRIBUTE_BYTES);
}

static dls_status get_condition(hid_t base, dls_inspector *insp, dls_error *err)
{
    const size_t n = (size_t)insp->arch.n_conditions;
    dls_condition_scale *c = &insp->condition;
    if (n == 0) {
        return DLS_OK;
    }
    c->names = dls_alloc(ATTRIBUTE_BYTES);
    c->shift = dls_alloc(n * sizeof *c->shift);
    c->scale = dls_alloc(n * sizeof *c->scale);
    c->label_slope = dls_alloc(DLS_METRICS * n * sizeof *c->label_slope);
    if (!c->names || !c->shift || !c->scale || !c->label_slope) {
        return dls_nomem(err, "numbers of settings", ATTRIBUTE_BYTES);
    }
    DLS_TRY(dls_h5io_text(base, "condition_names", false, c->names, ATTRIBUTE_BYTES, "base", err));
    if (H5Aexists(base, "trained_on") > 0) {
        DLS_TRY(dls_alloc_array(&c->trained_on, ATTRIBUTE_BYTES, 1, "names of settings", err));
        DLS_TRY(
            dls_h5io_text(base, "trained_on", false, c->trained_on, ATTRIBUTE_BYTES, "base", err));
    }
    DLS_TRY(dls_h5io_get_vector(base, "condition_shift", "base", n, c->shift, err));
    DLS_TRY(dls_h5io_get_vector(base, "condition_scale", "base", n, c->scale, err));
    return dls_h5io_get_vector(base, "label_slope", "base", DLS_METRICS * n, c->label_slope, err);
}

static dls_status get_base(hid_t base, dls_inspector **out, dls_error *err)
{
    char text[DLS_ARCH_TEXT_MAX];
    char stored[24];
    char hex[17];
    DLS_TRY(dls_h5io_text(base, "architecture", false, text, sizeof text, "base", err));
    DLS_TRY(
        dls_h5io_text(base, "architecture_checksum", false, stored, sizeof stored, "base", err));
    snprintf(hex, sizeof hex, "%016llx", (unsigned long long)dls_fnv_text(DLS_FNV_START, text));
    if (strcmp(hex, stored) != 0) {
        return dls_fail(err, DLS_EINPUT, "base",
                        "architecture: checksum %s stored, %s computed: the file is damaged",
                        stored, hex);
    }
    dls_arch arch = dls_arch_default();
    DLS_TRY(dls_arch_parse(&arch, text, err));
    DLS_TRY(dls_inspector_create(&arch, out, err));
    dls_inspector *insp = *out;
    const size_t n = (size_t)arch.n_features;
    DLS_TRY(dls_h5io_get_vector(base, "feature_shift", "base", n, insp->feature_shift, err));
    DLS_TRY(dls_h5io_get_vector(base, "feature_scale", "base", n, insp->feature_scale, err));
    DLS_TRY(get_labels(base, "base", &insp->labels, err));
    DLS_TRY(get_outputs(base, insp, err));
    DLS_TRY(get_ops(base, insp, err));
    DLS_TRY(get_features(base, insp, err));
    DLS_TRY(get_condition(base, insp, err));
    return get_tensors(base, "base", &insp->base, err);
}

static dls_status get_setting(hid_t group, dls_setting *s, dls_error *err)
{
    int64_t n_ps = 0;
    int64_t n_workers = 0;
    int64_t n_nodes = 0;
    DLS_TRY(dls_h5io_text(group, "gpu_type", true, s->gpu_type, sizeof s->gpu_type, s->name, err));
    DLS_TRY(dls_h5io_text(group, "topology", true, s->topology, sizeof s->topology, s->name, err));
    DLS_TRY(dls_h5io_text(group, "network", true, s->network, sizeof s->network, s->name, err));
    DLS_TRY(dls_h5io_integer(group, "n_ps", true, &n_ps, s->name, err));
    DLS_TRY(dls_h5io_integer(group, "n_workers", true, &n_workers, s->name, err));
    DLS_TRY(dls_h5io_integer(group, "n_nodes", true, &n_nodes, s->name, err));
    if (n_ps < 0 || n_ps > INT32_MAX || n_workers < 0 || n_workers > INT32_MAX || n_nodes < 0 ||
        n_nodes > INT32_MAX) {
        return dls_fail(err, DLS_EINPUT, s->name,
                        "n_ps, n_workers and n_nodes must not be negative");
    }
    s->n_ps = (int32_t)n_ps;
    s->n_workers = (int32_t)n_workers;
    s->n_nodes = (int32_t)n_nodes;
    DLS_TRY(get_labels(group, s->name, &s->labels, err));
    DLS_TRY(get_tensors(group, s->name, &s->tensors, err));
    for (size_t i = 0; i < s->tensors.n; i++) {
        s->has_conv |= strncmp(s->tensors.t[i].spec.name, "conv_layers.2.", 14) == 0;
    }
    return DLS_OK;
}

DLS_BY(by_index, dls_setting, DLS_UP(n_ps));

static dls_status add_named(hid_t settings, const char *name, dls_inspector *insp, dls_error *err)
{
    dls_setting *s = NULL;
    int64_t index = 0;
    DLS_H5_OWNED hid_t group = H5I_INVALID_HID;
    DLS_TRY(dls_inspector_add_setting(insp, name, &s, err));
    if (dls_h5_get_group(settings, name, &group, err) != DLS_OK) {
        return dls_fail(err, DLS_EINPUT, name, "setting %s is not a group", name);
    }
    DLS_TRY(dls_h5io_integer(group, "index", false, &index, name, err));
    if (index < 0 || index >= SETTINGS_MAX) {
        return dls_fail(err, DLS_EINPUT, name, "attribute \"index\" is out of range");
    }
    s->n_ps = (int32_t)index; /* for the sort; the real value is read below */
    return DLS_OK;
}

/* Groups come by name; attribute "index" gives the order they were saved in. */
static dls_status get_settings(hid_t settings, int64_t expected, dls_inspector *insp,
                               dls_error *err)
{
    DLS_OWN(dls_strdict_fini) dls_strdict names = {0};
    DLS_TRY(dls_h5_names(settings, &names, err));
    if (names.n > SETTINGS_MAX) {
        return dls_fail(err, DLS_EINPUT, "settings", "more than %d settings", SETTINGS_MAX);
    }
    for (size_t i = 0; i < names.n; i++) {
        DLS_TRY(add_named(settings, dls_strdict_get(&names, (int32_t)i), insp, err));
    }
    if ((int64_t)insp->n_settings != expected) {
        return dls_fail(err, DLS_EINPUT, "settings", "%zu settings where the file says %lld",
                        insp->n_settings, (long long)expected);
    }
    if (insp->n_settings) {
        qsort(insp->settings, insp->n_settings, sizeof *insp->settings, by_index);
    }
    for (size_t i = 0; i < insp->n_settings; i++) {
        DLS_H5_OWNED hid_t group = H5I_INVALID_HID;
        DLS_TRY(dls_h5_get_group(settings, insp->settings[i].name, &group, err));
        DLS_TRY(get_setting(group, &insp->settings[i], err));
    }
    return DLS_OK;
}

static dls_status get_all(hid_t file, const char *path, dls_inspector **out, dls_error *err)
{
    char format[32];
    int64_t version = 0;
    int64_t n_settings = 0;
    DLS_TRY(dls_h5io_text(file, "format", true, format, sizeof format, path, err));
    if (strcmp(format, FORMAT) != 0) {
        return dls_fail(err, DLS_EINPUT, path,
                        "not an inspector file (attribute format is \"%s\"); plain files of "
                        "named tensors are turned into one by `dlsim model import`",
                        format);
    }
    DLS_TRY(dls_h5io_integer(file, "format_version", false, &version, path, err));
    if (version != FORMAT_VERSION) {
        return dls_fail(err, DLS_EINPUT, path, "format version %lld, this program reads %d",
                        (long long)version, FORMAT_VERSION);
    }
    DLS_TRY(dls_h5io_integer(file, "n_settings", false, &n_settings, path, err));
    hid_t base, settings; /* closed with the file */
    DLS_TRY(dls_h5_get_group(file, "base", &base, err));
    DLS_TRY(dls_h5_get_group(file, "settings", &settings, err));
    DLS_TRY(get_base(base, out, err));
    return get_settings(settings, n_settings, *out, err);
}

dls_status dls_inspector_load(const char *path, dls_inspector **out, dls_error *err)
{
    DLS_IN_C_LOCALE;
    DLS_HDF5_LOCKED;
    *out = NULL;
    DLS_H5_OWNED hid_t file = H5I_INVALID_HID;
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    DLS_TRY(dls_h5_open(path, &file, err));
    DLS_TRY(dls_h5_where(get_all(file, path, &insp, err), err, path));
    DLS_TRY(dls_inspector_check(insp, err));
    *out = dls_take(&insp);
    return DLS_OK;
}
