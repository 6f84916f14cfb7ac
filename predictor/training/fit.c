/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Trains an inspector of one setting from a dataset: standardises features, trains a base from
 * scratch or tunes a setting from it, and keeps scales and labels with the result.
 */
#include "predictor/training/fit.h"

#include "base/alloc.h"
#include "base/own.h"

#include <math.h>
#include <string.h>

const char *const dls_fit_init_names[DLS_FIT_INITS + 1] = {"published", "residual", NULL};

#define XAVIER 1e9       /* dls_inspector_randomise stops at gain 1 */
#define GATE_BIAS (-1.1) /* sigmoid: 0.25 */

static void make_residual(dls_inspector *insp)
{
    const int64_t h = insp->arch.hidden;
    for (size_t i = 0; i < insp->base.n; i++) {
        dls_weight *t = &insp->base.t[i];
        const char *name = t->spec.name;
        const char *end = strrchr(name, '.');
        if (strncmp(name, "conv_layers.", 12) == 0 && end && strcmp(end, ".W") == 0) {
            /* GCN's are drawn within 1 / sqrt(hidden); [in][out] */
            const double factor = sqrt(6.0 / (double)t->spec.rows) * sqrt((double)h);
            for (int64_t k = 0; k < dls_tensor_len(&t->spec); k++) {
                t->data[k] = (double)(float)(t->data[k] * factor);
            }
        } else if (strcmp(name, "gru.gru.weight_ih_l0") == 0) {
            for (int64_t u = 0; u < h; u++) {
                t->data[(2 * h + u) * t->spec.cols + u] += 1;
            }
        } else if (strcmp(name, "gru.gru.bias_ih_l0") == 0) {
            for (int64_t u = 0; u < h; u++) {
                t->data[h + u] += GATE_BIAS;
            }
        }
    }
}

/* mark[graph]: is it in train, in any setting. */
static void mark_train(const dls_dataset *set, bool *mark)
{
    for (size_t k = 0; k < set->n_settings; k++) {
        const dls_dataset_setting *s = &set->setting[k];
        for (size_t i = 0; i < s->n; i++) {
            mark[s->graph[i]] |= s->split[i] == DLS_SPLIT_TRAIN;
        }
    }
}

/* The network sees features with mean 0 and deviation 1 over the groups of the training graphs; one
 * that is the same everywhere stays as it is. Logarithms of sizes fill a small part of 0..1, where
 * differences that matter would be lost in the first layer. */
static dls_status standardise(const dls_dataset *set, dls_inspector *insp, dls_error *err)
{
    const size_t width = (size_t)set->n_features;
    DLS_FREED bool *mark = NULL;
    DLS_TRY(dls_alloc_array(&mark, set->n_graphs + 1, sizeof *mark, "training graphs", err));
    mark_train(set, mark);
    for (size_t f = 0; f < width; f++) {
        double n = 0, sum = 0, square = 0;
        for (size_t i = 0; i < set->n_graphs; i++) {
            const dls_graph *g = &set->graph[i];
            for (size_t v = 0; mark[i] && v < (size_t)g->n_nodes; v++) {
                const double x = g->x[v * width + f];
                n += 1;
                sum += x;
                square += x * x;
            }
        }
        const double mean = n > 0 ? sum / n : 0;
        const double deviation = n > 0 ? sqrt(fmax(0, square / n - mean * mean)) : 0;
        if (deviation > 1e-9) {
            insp->feature_shift[f] = mean;
            insp->feature_scale[f] = deviation;
        }
    }
    return DLS_OK;
}

dls_status dls_fit_new(const dls_dataset *set, const dls_arch *arch, uint64_t seed,
                       dls_fit_init init, dls_inspector **out, dls_error *err)
{
    dls_arch mine = *arch;
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    *out = NULL;
    mine.n_features = set->n_features;
    DLS_TRY(dls_inspector_create(&mine, &insp, err));
    DLS_TRY(dls_inspector_randomise(insp, seed, 0, init == DLS_FIT_RESIDUAL ? XAVIER : 1, err));
    if (init == DLS_FIT_RESIDUAL) {
        make_residual(insp);
        DLS_TRY(standardise(set, insp, err));
    }
    if (set->features_text) {
        const size_t size = strlen(set->features_text) + 1;
        DLS_TRY(dls_duplicate(&insp->features_text, set->features_text, size, size, 1, err));
    }
    *out = dls_take(&insp);
    return DLS_OK;
}

dls_status dls_fit_check(const dls_inspector *insp, const dls_dataset *set, dls_error *err)
{
    if (insp->arch.n_features != set->n_features) {
        return dls_fail(err, DLS_EINPUT, "features",
                        "the inspector takes %d features per node, the dataset has %d",
                        (int)insp->arch.n_features, (int)set->n_features);
    }
    if (insp->features_text && set->features_text &&
        strcmp(insp->features_text, set->features_text) != 0) {
        return dls_fail(err, DLS_EINPUT, "features",
                        "the dataset's features were made with another feature spec than those the "
                        "inspector was trained on: their scales do not agree");
    }
    return DLS_OK;
}

static void drop_settings(dls_inspector *insp)
{
    for (size_t i = 0; i < insp->n_settings; i++) {
        dls_tensors_fini(&insp->settings[i].tensors);
    }
    insp->n_settings = 0;
}

static void describe(dls_setting *to, const dls_dataset_setting *from, const dls_labels *labels)
{
    const dls_setting_info info = dls_dataset_setting_info(from);
    dls_setting_describe(to, &info);
    to->labels = *labels;
}

static dls_status keep(dls_inspector *insp, const dls_trainee *net, const dls_dataset_setting *from,
                       const dls_labels *labels, bool relative, dls_error *err)
{
    if (!dls_tune_is_setting(net->tune)) {
        drop_settings(insp);
        insp->labels = *labels;
        insp->relative = relative;
        DLS_TRY(dls_trainee_store(net, insp, NULL, err));
    }
    DLS_TRY(dls_trainee_store(net, insp, from->name, err));
    describe(&insp->settings[dls_inspector_find(insp, from->name)], from, labels);
    return DLS_OK;
}

dls_status dls_fit_setting(dls_inspector *insp, const dls_dataset *set, size_t setting,
                           dls_tune tune, const dls_data_options *d, const dls_train_options *o,
                           dls_train_course *course, dls_error *err)
{
    *course = (dls_train_course){0};
    DLS_HOLD(dls_train_data_destroy) dls_train_data *data = NULL;
    DLS_HOLD(dls_trainee_destroy) dls_trainee *net = NULL;
    int32_t from = DLS_SETTING_BASE;
    dls_train_settings which = {.setting = &setting, .n = 1};
    DLS_TRY(dls_fit_check(insp, set, err));
    if (insp->arch.n_conditions > 0) {
        from = dls_inspector_find(insp, set->setting[setting].name);
        if (from < 0 || !dls_tune_is_setting(tune)) {
            return dls_fail(
                err, DLS_EINPUT, set->setting[setting].name,
                "of an inspector of all settings, settings that were described to it are "
                "tuned, with conv+mlp or mlp");
        }
        which.labels = &insp->settings[from].labels;
    }
    dls_data_options how = *d;
    how.relative |= insp->relative;
    DLS_TRY(dls_train_data_create(set, &which, &how, &data, err));
    DLS_TRY(dls_trainee_create(insp, from, tune, &net, err));
    DLS_TRY(dls_train(net, data, o, course, err));
    return keep(insp, net, &set->setting[setting], &data->labels, how.relative, err);
}
