/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prepares the training data of settings: keeps a seeded share of the graphs, turns labels into
 * network outputs, and finds the scales from the training split.
 */
#include "predictor/training/data.h"

#include "base/alloc.h"
#include "base/own.h"
#include "predictor/training/shuffle.h"

#include <math.h>
#include <string.h>

void dls_train_data_destroy(dls_train_data *data)
{
    for (int s = 0; data && s < DLS_SPLITS; s++) {
        DLS_FREE_ALL(data->split[s].graph, data->split[s].first, data->split[s].setting,
                     data->split[s].row, data->split[s].target, data->split[s].condition);
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

/* ---- which graphs ---------------------------------------------------------------------------- */

/* Which of n graphs stay: a share of them, the first of a seeded order. kept is [n]. */
static dls_status draw_share(size_t n, double share, uint64_t seed, bool *kept, dls_error *err)
{
    const size_t keep = (size_t)ceil(share * (double)n);
    DLS_FREED size_t *order = NULL;
    DLS_TRY(dls_alloc_array(&order, n ? n : 1, sizeof *order, "share of the training split", err));
    dls_shuffle(order, n, seed, UINT64_C(1) << 62);
    for (size_t i = 0; i < n; i++) {
        kept[order[i]] = i < keep;
    }
    return DLS_OK;
}

typedef struct builder {
    const dls_dataset *set;
    const dls_train_settings *which;
    const dls_data_options *o;
    size_t *rows; /* [graphs of the set] that a split has of each */
    bool *kept;   /* [graphs of a split] */
    dls_train_data *data;
} builder;

static const dls_dataset_setting *setting_of(const builder *b, size_t i)
{
    return &b->set->setting[b->which->setting[i]];
}

/* rows becomes where a graph's rows go from; SIZE_MAX: nowhere. */
static dls_status choose_graphs(const builder *b, int split, dls_error *err)
{
    dls_train_split *s = &b->data->split[split];
    const size_t n_graphs = b->set->n_graphs;
    size_t n = 0;
    for (size_t g = 0; g < n_graphs; g++) {
        n += b->rows[g] > 0;
    }
    DLS_TRY(DLS_ALLOC_ALL("split", err, DLS_ARRAY(s->graph, n ? n : 1),
                          DLS_ARRAY(s->first, n + 1)));
    DLS_TRY(draw_share(n, split == DLS_SPLIT_TRAIN ? b->o->share : 1, b->o->seed, b->kept, err));
    n = 0;
    for (size_t g = 0, i = 0; g < n_graphs; g++) {
        const size_t rows = b->rows[g];
        const bool here = rows > 0 && b->kept[i];
        i += rows > 0;
        b->rows[g] = here ? s->first[n] : SIZE_MAX;
        if (here) {
            s->graph[n] = &b->set->graph[g];
            s->first[n + 1] = s->first[n] + rows;
            n++;
        }
    }
    s->n = n;
    return DLS_OK;
}

static dls_status choose_rows(const builder *b, int split, dls_error *err)
{
    dls_train_split *s = &b->data->split[split];
    const size_t width = b->which->condition ? b->which->width : 0;
    memset(b->rows, 0, b->set->n_graphs * sizeof *b->rows);
    for (size_t k = 0; k < b->which->n; k++) {
        const dls_dataset_setting *from = setting_of(b, k);
        for (size_t i = 0; i < from->n; i++) {
            b->rows[from->graph[i]] += from->split[i] == (uint8_t)split;
        }
    }
    DLS_TRY(choose_graphs(b, split, err));
    const size_t n = dls_train_rows(s) + 1;
    s->setting = dls_alloc_zero(n, sizeof *s->setting);
    s->row = dls_alloc_zero(n, sizeof *s->row);
    s->target = dls_alloc_zero(n, DLS_METRICS * sizeof *s->target);
    s->condition = width ? dls_alloc_zero(n, width * sizeof *s->condition) : NULL;
    if (!s->setting || !s->row || !s->target || (width && !s->condition)) {
        return dls_nomem(err, "split", n * (DLS_METRICS + width) * sizeof(double));
    }
    for (size_t k = 0; k < b->which->n; k++) {
        const dls_dataset_setting *from = setting_of(b, k);
        for (size_t i = 0; i < from->n; i++) {
            if (from->split[i] != (uint8_t)split || b->rows[from->graph[i]] == SIZE_MAX) {
                continue;
            }
            const size_t at = b->rows[from->graph[i]]++;
            s->setting[at] = (int32_t)k;
            s->row[at] = i;
            if (width) {
                memcpy(s->condition + at * width, b->which->condition + k * width,
                       width * sizeof *s->condition);
            }
        }
    }
    return DLS_OK;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Idle and active are times, peaks are shares and rates. */
static bool is_time(int metric)
{
    return metric % 3 != 2;
}

double dls_train_floor(const dls_data_options *o, int metric, double scale)
{
    return is_time(metric) ? o->log_floor * scale : 0;
}

static const double *labels_of(const builder *b, const dls_train_split *s, size_t row)
{
    return setting_of(b, (size_t)s->setting[row])->label + s->row[row] * DLS_METRICS;
}

/* From the training graphs that were kept. */
static void find_labels(const builder *b)
{
    dls_train_data *d = b->data;
    const dls_train_split *train = &d->split[DLS_SPLIT_TRAIN];
    for (int k = 0; k < DLS_METRICS; k++) {
        double top = 0;
        for (size_t i = 0; i < dls_train_rows(train); i++) {
            const double v = labels_of(b, train, i)[k];
            top = v > top ? v : top;
        }
        d->labels.scale[k] = top > 0 ? top : 1;
        d->labels.floor[k] = dls_train_floor(b->o, k, top);
    }
}

/* EINPUT: the dataset does not say what is known of its rows. */
static dls_status fill_relative(const builder *b, dls_error *err)
{
    for (int k = 0; k < DLS_METRICS; k++) {
        b->data->labels.scale[k] = 1;
    }
    for (int s = 0; s < DLS_SPLITS; s++) {
        dls_train_split *split = &b->data->split[s];
        for (size_t i = 0; i < dls_train_rows(split); i++) {
            const dls_dataset_setting *from = setting_of(b, (size_t)split->setting[i]);
            dls_known known;
            if (!dls_dataset_known(from, split->row[i], &known) || !dls_known_ok(&known)) {
                return dls_fail(err, DLS_EINPUT, from->name,
                                "setting %s, row %zu: a model's step and the bytes of the exchange "
                                "are not known, which outputs are to be relative to",
                                from->name, split->row[i]);
            }
            dls_relative_to_outputs(labels_of(b, split, i), &known,
                                    split->target + i * DLS_METRICS);
        }
    }
    return DLS_OK;
}

static void fill(const builder *b)
{
    dls_train_data *d = b->data;
    const dls_labels *given = b->which->labels;
    if (given) {
        d->labels = given[0];
    } else {
        find_labels(b);
    }
    for (int s = 0; s < DLS_SPLITS; s++) {
        dls_train_split *split = &d->split[s];
        for (size_t i = 0; i < dls_train_rows(split); i++) {
            const dls_labels *labels = given ? &given[split->setting[i]] : &d->labels;
            for (int k = 0; k < DLS_METRICS; k++) {
                split->target[i * DLS_METRICS + (size_t)k] =
                    dls_label_to_output(labels, k, labels_of(b, split, i)[k]);
            }
        }
    }
}

static dls_status divide(const builder *b, dls_error *err)
{
    for (size_t k = 0; k < b->which->n; k++) {
        DLS_TRY(check_labels(setting_of(b, k), err));
    }
    for (int s = 0; s < DLS_SPLITS; s++) {
        DLS_TRY(choose_rows(b, s, err));
        if (s <= DLS_SPLIT_VAL && b->data->split[s].n == 0) {
            const char *name = b->which->n > 0 ? setting_of(b, 0)->name : "";
            return dls_fail(err, DLS_EINPUT, name, "setting %s has no graphs in its %s split", name,
                            dls_split_name(s));
        }
    }
    if (b->o->relative) {
        return fill_relative(b, err);
    }
    fill(b);
    return DLS_OK;
}

static void builder_fini(builder *b)
{
    DLS_FREE_ALL(b->rows, b->kept);
    dls_train_data_destroy(b->data);
}

dls_status dls_train_data_create(const dls_dataset *set, const dls_train_settings *which,
                                 const dls_data_options *o, dls_train_data **out, dls_error *err)
{
    *out = NULL;
    const size_t n = set->n_graphs ? set->n_graphs : 1;
    DLS_OWN(builder_fini)
    builder b = {.set = set,
                 .which = which,
                 .o = o,
                 .rows = dls_alloc_zero(n, sizeof *b.rows),
                 .kept = dls_alloc_zero(n, sizeof *b.kept),
                 .data = dls_alloc_zero(1, sizeof *b.data)};
    if (!b.rows || !b.kept || !b.data) {
        return dls_nomem(err, "training data", n * sizeof *b.rows);
    }
    DLS_TRY(divide(&b, err));
    *out = dls_take(&b.data);
    return DLS_OK;
}
