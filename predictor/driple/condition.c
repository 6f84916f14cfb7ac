/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inspectors of all settings: the base's MLP is given numbers of the setting, and a setting is made
 * of its numbers alone. Also the share of layers that settings take from the base.
 */
#include "base/alloc.h"
#include "predictor/driple/model.h"

#include <math.h>
#include <string.h>

dls_status dls_inspector_partition(dls_inspector *insp, double frozen, dls_error *err)
{
    dls_arch arch = insp->arch;
    arch.frozen = frozen;
    DLS_TRY(dls_arch_check(&arch, err));
    for (size_t i = 0; i < insp->n_settings && frozen != insp->arch.frozen; i++) {
        if (insp->settings[i].has_conv) {
            return dls_fail(err, DLS_EINPUT, insp->settings[i].name,
                            "setting %s was tuned with a share of %g of the layers taken from the "
                            "base; all settings of a file have the same",
                            insp->settings[i].name, insp->arch.frozen);
        }
    }
    insp->arch = arch;
    return DLS_OK;
}

dls_status dls_inspector_condition(dls_inspector *insp, const char *names, int32_t n,
                                   dls_error *err)
{
    dls_arch arch = insp->arch;
    dls_condition_scale *c = &insp->condition;
    if (insp->n_settings > 0 || c->names || n < 1) {
        return dls_fail(err, DLS_EINPUT, "conditions",
                        "an inspector of all settings begins without settings and numbers");
    }
    arch.n_conditions = n;
    DLS_TRY(dls_arch_check(&arch, err));
    const size_t width = (size_t)n;
    const dls_tensor_spec spec = dls_arch_condition_spec(&arch);
    dls_weight *tensor;
    c->names = dls_strdup(names);
    c->shift = dls_alloc_zero(width, sizeof *c->shift);
    c->scale = dls_alloc_zero(width, sizeof *c->scale);
    c->label_slope = dls_alloc_zero(width, DLS_METRICS * sizeof *c->label_slope);
    if (!c->names || !c->shift || !c->scale || !c->label_slope) {
        return dls_nomem(err, "numbers of settings", width * sizeof *c->shift);
    }
    for (size_t k = 0; k < width; k++) {
        c->scale[k] = 1;
    }
    DLS_TRY(dls_tensors_add(&insp->base, &spec, &tensor, err));
    tensor->is_f32 = true;
    insp->arch = arch;
    return dls_inspector_check(insp, err);
}

bool dls_inspector_saw(const dls_inspector *insp, const char *setting)
{
    const size_t len = strlen(setting);
    for (const char *at = insp->condition.trained_on; at && *at;) {
        const size_t n = strcspn(at, "\n");
        if (n == len && memcmp(at, setting, n) == 0) {
            return true;
        }
        at += n + (at[n] == '\n');
    }
    return false;
}

void dls_inspector_remove_setting(dls_inspector *insp, int32_t setting_idx)
{
    dls_setting *s = &insp->settings[setting_idx];
    dls_tensors_fini(&s->tensors);
    insp->n_settings--;
    memmove(s, s + 1, (insp->n_settings - (size_t)setting_idx) * sizeof *s);
}

void dls_inspector_standardise(const dls_inspector *insp, const double *number, double *seen)
{
    for (int32_t k = 0; k < insp->arch.n_conditions; k++) {
        seen[k] = (number[k] - insp->condition.shift[k]) / insp->condition.scale[k];
    }
}

dls_labels dls_inspector_labels_at(const dls_inspector *insp, const double *seen)
{
    const int32_t n = insp->arch.n_conditions;
    dls_labels labels = insp->labels;
    for (int i = 0; i < DLS_METRICS; i++) {
        double sum = 0;
        for (int32_t k = 0; k < n; k++) {
            sum += insp->condition.label_slope[(ptrdiff_t)i * n + k] * seen[k];
        }
        labels.scale[i] *= exp(sum);
        labels.floor[i] *= exp(sum);
    }
    return labels;
}

typedef struct folding {
    dls_setting *setting;
    const dls_inspector *insp;
    const double *seen; /* [n_conditions] */
} folding;

/* The base's MLP with the numbers in the bias of its first layer. */
static dls_status fold(void *user, const dls_tensor_spec *spec, dls_error *err)
{
    const folding *f = user;
    const dls_inspector *insp = f->insp;
    const dls_weight *from = dls_tensors_find(&insp->base, spec->name);
    dls_weight *to;
    DLS_TRY(dls_tensors_add(&f->setting->tensors, spec, &to, err));
    to->is_f32 = from->is_f32;
    memcpy(to->data, from->data, (size_t)dls_tensor_len(spec) * sizeof *to->data);
    if (strcmp(spec->name, "graph_read_out.mlp.fully_connected.0.linear.bias") == 0) {
        const dls_weight *w = dls_tensors_find(&insp->base, DLS_CONDITION_TENSOR);
        for (int64_t i = 0; i < spec->rows; i++) {
            for (int64_t k = 0; k < w->spec.cols; k++) {
                to->data[i] += w->data[i * w->spec.cols + k] * f->seen[k];
            }
            to->data[i] = to->is_f32 ? (double)(float)to->data[i] : to->data[i];
        }
    }
    return DLS_OK;
}

dls_status dls_inspector_settle(dls_inspector *insp, const char *name, const double *number,
                                dls_setting **out, dls_error *err)
{
    double seen[DLS_CONDITIONS_MAX];
    dls_setting *s;
    if (insp->arch.n_conditions == 0) {
        return dls_fail(err, DLS_EINPUT, name,
                        "the inspector takes no numbers of settings: it answers for those that it "
                        "was trained on");
    }
    dls_inspector_standardise(insp, number, seen);
    for (int32_t k = 0; k < insp->arch.n_conditions; k++) {
        if (!isfinite(seen[k])) {
            return dls_fail(err, DLS_EINPUT, name, "number %d of the setting is not finite",
                            (int)k);
        }
    }
    DLS_TRY(dls_inspector_add_setting(insp, name, &s, err));
    s->labels = dls_inspector_labels_at(insp, seen);
    folding f = {s, insp, seen};
    const dls_status status = dls_arch_tensors(&insp->arch, DLS_PART_SETTING_MLP, fold, &f, err);
    if (status != DLS_OK) {
        dls_tensors_fini(&s->tensors);
        insp->n_settings--;
        return status;
    }
    *out = s;
    return DLS_OK;
}
