/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/training/data.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "predictor/training/shuffle.h"

#include <math.h>
#include <stdio.h>

void dls_train_data_destroy(dls_train_data *data)
{
    for (int s = 0; data && s < DLS_SPLITS; s++) {
        dls_free(data->split[s].graph);
        dls_free(data->split[s].target);
        dls_free(data->split[s].row);
    }
    dls_free(data);
}

static dls_status check_labels(const dls_dataset_setting *setting, dls_error *err)
{
    for (size_t i = 0; i < setting->n; i++) {
        for (int k = 0; k < DLS_METRICS; k++) {
            const double v = setting->label[i * DLS_METRICS + (size_t)k];
            if (!isfinite(v) || v < 0) {
                return dls_fail(err, DLS_EINPUT, setting->name,
                                "setting %s, row %zu: %s is %g; labels must be finite and not "
                                "negative",
                                setting->name, i, dls_metric_name(k), v);
            }
        }
    }
    return DLS_OK;
}

static dls_status room(dls_train_split *s, size_t n, dls_error *err)
{
    s->graph = dls_alloc_zero(n ? n : 1, sizeof *s->graph);
    s->target = dls_alloc_zero(n ? n : 1, DLS_METRICS * sizeof *s->target);
    s->row = dls_alloc_zero(n ? n : 1, sizeof *s->row);
    return s->graph && s->target && s->row ? DLS_OK : dls_nomem(err, "split", n * DLS_METRICS * 8);
}

/* Keep a share of the training rows, in their order. */
static dls_status thin_out(dls_train_split *train, double share, uint64_t seed, dls_error *err)
{
    const size_t keep = (size_t)ceil(share * (double)train->n);
    if (keep >= train->n) {
        return DLS_OK;
    }
    size_t *order = dls_alloc(train->n * sizeof *order);
    unsigned char *kept = dls_alloc_zero(train->n, 1);
    dls_status status = DLS_OK;
    if (order && kept) {
        dls_shuffle(order, train->n, seed, UINT64_C(1) << 62);
        for (size_t i = 0; i < keep; i++) {
            kept[order[i]] = 1;
        }
        size_t n = 0;
        for (size_t i = 0; i < train->n; i++) {
            if (kept[i]) {
                train->row[n++] = train->row[i];
            }
        }
        train->n = n;
    } else {
        status = dls_nomem(err, "share of the training split", train->n * sizeof *order);
    }
    dls_free(order);
    dls_free(kept);
    return status;
}

/* Idle and active are times; peaks are shares and rates. */
static bool is_time(size_t metric)
{
    return metric % 3 != 2;
}

static void fill(const dls_dataset *set, const dls_dataset_setting *setting, double log_floor,
                 dls_train_data *d)
{
    const dls_train_split *train = &d->split[DLS_SPLIT_TRAIN];
    for (size_t k = 0; k < DLS_METRICS; k++) {
        double top = 0;
        for (size_t i = 0; i < train->n; i++) {
            const double v = setting->label[train->row[i] * DLS_METRICS + k];
            top = v > top ? v : top;
        }
        d->labels.scale[k] = top > 0 ? top : 1;
        d->labels.floor[k] = top > 0 && is_time(k) ? log_floor * top : 0;
    }
    for (int s = 0; s < DLS_SPLITS; s++) {
        dls_train_split *split = &d->split[s];
        for (size_t i = 0; i < split->n; i++) {
            split->graph[i] = &set->graph[setting->graph[split->row[i]]];
            for (size_t k = 0; k < DLS_METRICS; k++) {
                split->target[i * DLS_METRICS + k] = dls_label_to_output(
                    &d->labels, (int)k, setting->label[split->row[i] * DLS_METRICS + k]);
            }
        }
    }
}

static dls_status divide(const dls_dataset *set, const dls_dataset_setting *setting,
                         const dls_data_options *o, dls_train_data *d, dls_error *err)
{
    DLS_TRY(check_labels(setting, err));
    for (int s = 0; s < DLS_SPLITS; s++) {
        DLS_TRY(room(&d->split[s], setting->n, err));
    }
    for (size_t i = 0; i < setting->n; i++) {
        dls_train_split *s = &d->split[setting->split[i]];
        s->row[s->n++] = i;
    }
    DLS_TRY(thin_out(&d->split[DLS_SPLIT_TRAIN], o->share, o->seed, err));
    for (int s = DLS_SPLIT_TRAIN; s <= DLS_SPLIT_VAL; s++) {
        if (d->split[s].n == 0) {
            return dls_fail(err, DLS_EINPUT, setting->name,
                            "setting %s has no graphs in its %s split", setting->name,
                            dls_split_name(s));
        }
    }
    fill(set, setting, o->log_floor, d);
    return DLS_OK;
}

dls_status dls_train_data_create(const dls_dataset *set, size_t setting, const dls_data_options *o,
                                 dls_train_data **out, dls_error *err)
{
    *out = NULL;
    dls_train_data *d = dls_alloc_zero(1, sizeof *d);
    if (!d) {
        return dls_nomem(err, "training data", sizeof *d);
    }
    const dls_status status = divide(set, &set->setting[setting], o, d, err);
    if (status != DLS_OK) {
        dls_train_data_destroy(d);
        return status;
    }
    *out = d;
    return DLS_OK;
}
