/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Trains one inspector for all settings of a dataset: standardises the numbers that describe a
 * setting and fits label scales as a ridge regression on them.
 */
#include "base/alloc.h"
#include "base/own.h"
#include "predictor/training/fit.h"
#include "predictor/training/ridge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the penalty per setting: slopes along numbers that hardly vary, or vary together, stay small,
 * so that a setting unlike all others gets a scale of the right order. */
#define PENALTY 0.01

typedef struct joint {
    dls_inspector *insp;
    const dls_dataset *set;
    const dls_fit_settings *which;
    const dls_data_options *d;
    size_t width;
    double *seen;       /* [n][width] */
    double *x, *y;      /* [n][width], [n]: a fit of the labels' scales */
    dls_labels *labels; /* [n] */
} joint;

static void standardise(const joint *j)
{
    dls_condition_scale *c = &j->insp->condition;
    const double n = (double)j->which->n;
    for (size_t k = 0; k < j->width; k++) {
        double sum = 0;
        double square = 0;
        for (size_t i = 0; i < j->which->n; i++) {
            sum += j->which->number[i * j->width + k];
        }
        c->shift[k] = sum / n;
        for (size_t i = 0; i < j->which->n; i++) {
            const double d = j->which->number[i * j->width + k] - c->shift[k];
            square += d * d;
        }
        c->scale[k] = square > 1e-12 * n ? sqrt(square / n) : 1;
    }
    for (size_t i = 0; i < j->which->n; i++) {
        dls_inspector_standardise(j->insp, j->which->number + i * j->width, j->seen + i * j->width);
    }
}

/* The greatest label of the training graphs; 0: a column of zeros. */
static double top_of(const dls_dataset_setting *s, int metric)
{
    double top = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double v = s->label[i * DLS_METRICS + (size_t)metric];
        top = s->split[i] == DLS_SPLIT_TRAIN && v > top ? v : top;
    }
    return top;
}

/* Scales as a function of the numbers, from the settings that have such labels at all. */
static dls_status fit_scales(const joint *j, dls_error *err)
{
    double slope[DLS_CONDITIONS_MAX + 1];
    for (int k = 0; k < DLS_METRICS; k++) {
        size_t n = 0;
        for (size_t i = 0; i < j->which->n; i++) {
            const double top = top_of(&j->set->setting[j->which->setting[i]], k);
            if (top > 0) {
                memcpy(j->x + n * j->width, j->seen + i * j->width, j->width * sizeof *j->x);
                j->y[n++] = log(top);
            }
        }
        memset(slope, 0, sizeof slope);
        if (n > 0) {
            DLS_TRY(dls_ridge(j->x, j->y, n, j->width, PENALTY * (double)n, slope, err));
        }
        j->insp->labels.scale[k] = exp(slope[0]);
        j->insp->labels.floor[k] = dls_train_floor(j->d, k, exp(slope[0]));
        memcpy(j->insp->condition.label_slope + (size_t)k * j->width, slope + 1,
               j->width * sizeof *slope);
    }
    for (size_t i = 0; i < j->which->n; i++) {
        j->labels[i] = dls_inspector_labels_at(j->insp, j->seen + i * j->width);
    }
    return DLS_OK;
}

/* The names of the settings, for the file. */
static dls_status name_settings(const joint *j, dls_error *err)
{
    size_t size = 1;
    for (size_t i = 0; i < j->which->n; i++) {
        size += strlen(j->set->setting[j->which->setting[i]].name) + 1;
    }
    char *text;
    DLS_TRY(dls_alloc_array(&text, size, 1, "names of settings", err));
    size_t used = 0;
    for (size_t i = 0; i < j->which->n; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "\n" : "",
                                 j->set->setting[j->which->setting[i]].name);
    }
    dls_free(j->insp->condition.trained_on);
    j->insp->condition.trained_on = text;
    return DLS_OK;
}

static dls_status train(const joint *j, const dls_train_options *o, dls_train_course *course,
                        dls_error *err)
{
    const dls_train_settings which = {.setting = j->which->setting,
                                      .condition = j->seen,
                                      .labels = j->d->relative ? NULL : j->labels,
                                      .n = j->which->n,
                                      .width = j->width};
    DLS_HOLD(dls_train_data_destroy) dls_train_data *data = NULL;
    DLS_HOLD(dls_trainee_destroy) dls_trainee *net = NULL;
    DLS_TRY(dls_train_data_create(j->set, &which, j->d, &data, err));
    DLS_TRY(dls_trainee_create(j->insp, DLS_SETTING_BASE, DLS_TUNE_BASE, &net, err));
    DLS_TRY(dls_train(net, data, o, course, err));
    DLS_TRY(dls_trainee_store(net, j->insp, NULL, err));
    return name_settings(j, err);
}

static void joint_fini(joint *j)
{
    DLS_FREE_ALL(j->seen, j->x, j->y, j->labels);
}

dls_status dls_fit_all(dls_inspector *insp, const dls_dataset *set, const dls_fit_settings *which,
                       const dls_data_options *d, const dls_train_options *o,
                       dls_train_course *course, dls_error *err)
{
    *course = (dls_train_course){0};
    const size_t width = (size_t)insp->arch.n_conditions;
    const size_t n = which->n;
    if (width == 0 || insp->n_settings > 0 || n == 0) {
        return dls_fail(err, DLS_EINPUT, "settings",
                        "training on settings together takes an inspector that is told of settings "
                        "and has none yet, and at least one setting");
    }
    DLS_TRY(dls_fit_check(insp, set, err));
    DLS_OWN(joint_fini)
    joint j = {.insp = insp,
               .set = set,
               .which = which,
               .d = d,
               .width = width,
               .seen = dls_alloc_zero(n * width, sizeof *j.seen),
               .x = dls_alloc_zero(n * width, sizeof *j.x),
               .y = dls_alloc_zero(n, sizeof *j.y),
               .labels = dls_alloc_zero(n, sizeof *j.labels)};
    if (!j.seen || !j.x || !j.y || !j.labels) {
        return dls_nomem(err, "settings", n * width * sizeof *j.seen);
    }
    standardise(&j);
    insp->relative = d->relative;
    DLS_TRY(d->relative ? DLS_OK : fit_scales(&j, err));
    return train(&j, o, course, err);
}
