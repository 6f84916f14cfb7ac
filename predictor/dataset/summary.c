/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Statistics of a setting's labels: ranges, noise floor, and the errors of three answers that need
 * no training (the operator model, the mean, the nearest training graph).
 */
#include "predictor/dataset/summary.h"

#include "base/alloc.h"
#include "base/own.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

/* ---- shape of the labels --------------------------------------------------------------------- */

static void ranges(const dls_dataset_setting *s, double *sorted, dls_dataset_summary *out)
{
    memcpy(sorted, s->iteration_s, s->n * sizeof *sorted);
    gsl_sort(sorted, 1, s->n);
    out->least_s = sorted[0];
    out->most_s = sorted[s->n - 1];
    out->median_s = (sorted[(s->n - 1) / 2] + sorted[s->n / 2]) / 2;
    for (size_t i = 0; i < s->n; i++) {
        out->n_split[s->split[i]]++;
        for (int k = 0; k < DLS_METRICS; k++) {
            const double y = s->label[i * DLS_METRICS + (size_t)k];
            out->least[k] = i ? fmin(out->least[k], y) : y;
            out->most[k] = i ? fmax(out->most[k], y) : y;
        }
        for (int r = 0; r < DLS_METRICS / 3; r++) {
            const double *y = s->label + i * DLS_METRICS + 3 * r;
            dls_pattern_share *p = &out->pattern[r];
            *(!(y[1] > 0) ? &p->idle : !(y[0] > 0) ? &p->burst : &p->both) += 1 / (double)s->n;
        }
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Answers for rows against labels: squares summed up per metric, over the range of the labels. */
typedef struct errors {
    double square[DLS_METRICS], least[DLS_METRICS], most[DLS_METRICS];
    size_t n;
} errors;

static void add(errors *e, const double *label, const double *answer)
{
    for (int k = 0; k < DLS_METRICS; k++) {
        e->square[k] += (answer[k] - label[k]) * (answer[k] - label[k]);
        e->least[k] = e->n ? fmin(e->least[k], label[k]) : label[k];
        e->most[k] = e->n ? fmax(e->most[k], label[k]) : label[k];
    }
    e->n++;
}

static double nrmse(const errors *e)
{
    double sum = 0;
    int metrics = 0;
    for (int k = 0; k < DLS_METRICS; k++) {
        const double range = e->most[k] - e->least[k];
        if (e->n > 0 && range > 0) {
            sum += sqrt(e->square[k] / (double)e->n) / range;
            metrics++;
        }
    }
    return metrics > 0 ? sum / metrics : (double)NAN;
}

static double floor_of(const dls_dataset_setting *s)
{
    errors e = {.n = 0};
    for (size_t i = 0; s->truth && i < s->n; i++) {
        if (s->split[i] == DLS_SPLIT_TEST) {
            add(&e, s->label + i * DLS_METRICS, s->truth + i * DLS_METRICS);
        }
    }
    return nrmse(&e);
}

static double model_error(const dls_dataset_setting *s)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; s->model_s && i < s->n; i++) {
        if (s->split[i] == DLS_SPLIT_TEST) {
            sum += fabs(s->iteration_s[i] / s->model_s[i] - 1);
            n++;
        }
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

static double mean_error(const dls_dataset_setting *s, size_t n_train)
{
    double mean[DLS_METRICS] = {0};
    errors e = {.n = 0};
    for (size_t i = 0; i < s->n; i++) {
        for (int k = 0; s->split[i] == DLS_SPLIT_TRAIN && k < DLS_METRICS; k++) {
            mean[k] += s->label[i * DLS_METRICS + (size_t)k] / (double)n_train;
        }
    }
    for (size_t i = 0; n_train > 0 && i < s->n; i++) {
        if (s->split[i] == DLS_SPLIT_TEST) {
            add(&e, s->label + i * DLS_METRICS, mean);
        }
    }
    return nrmse(&e);
}

/* ---- nearest neighbours ---------------------------------------------------------------------- */

/* One row of 2 F + 1 numbers per labelled graph. */
static void describe(const dls_graph *g, double *row)
{
    const size_t width = (size_t)g->n_features, n = (size_t)g->n_nodes;
    for (size_t f = 0; f < width; f++) {
        double sum = 0, square = 0;
        for (size_t v = 0; v < n; v++) {
            const double x = g->x[v * width + f];
            sum += x;
            square += x * x;
        }
        const double mean = sum / (double)n;
        row[2 * f] = mean;
        row[2 * f + 1] = sqrt(fmax(0, square / (double)n - mean * mean));
    }
    row[2 * width] = log((double)n);
}

static void standardise(double *rows, size_t n, size_t width)
{
    for (size_t f = 0; f < width; f++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < n; i++) {
            sum += rows[i * width + f];
            square += rows[i * width + f] * rows[i * width + f];
        }
        const double mean = sum / (double)n;
        const double deviation = sqrt(fmax(0, square / (double)n - mean * mean));
        for (size_t i = 0; i < n; i++) {
            double *x = &rows[i * width + f];
            *x = deviation > 1e-12 ? (*x - mean) / deviation : 0;
        }
    }
}

/* SIZE_MAX: there is none. */
static size_t nearest(const dls_dataset_setting *s, const double *rows, size_t width, size_t i,
                      bool train_only)
{
    size_t best = SIZE_MAX;
    double least = (double)INFINITY;
    for (size_t k = 0; k < s->n; k++) {
        if (k == i || (train_only && s->split[k] != DLS_SPLIT_TRAIN)) {
            continue;
        }
        double d = 0;
        for (size_t f = 0; f < width && d < least; f++) {
            const double off = rows[i * width + f] - rows[k * width + f];
            d += off * off;
        }
        if (d < least) {
            least = d;
            best = k;
        }
    }
    return best;
}

static double neighbour_error(const dls_dataset_setting *s, const double *rows, size_t width,
                              bool train_only)
{
    errors e = {.n = 0};
    for (size_t i = 0; i < s->n; i++) {
        if (train_only && s->split[i] != DLS_SPLIT_TEST) {
            continue;
        }
        const size_t k = nearest(s, rows, width, i, train_only);
        if (k != SIZE_MAX) {
            add(&e, s->label + i * DLS_METRICS, s->label + k * DLS_METRICS);
        }
    }
    return nrmse(&e);
}

dls_status dls_dataset_summarise(const dls_dataset *set, size_t setting, dls_dataset_summary *out,
                                 dls_error *err)
{
    const dls_dataset_setting *s = &set->setting[setting];
    const size_t width = 2 * (size_t)set->n_features + 1;
    *out = (dls_dataset_summary){.n_left_out = set->n_graphs - s->n};
    DLS_FREED double *rows = NULL;
    DLS_TRY(dls_alloc_array(&rows, s->n * width, sizeof *rows, "summary", err));
    if (s->n > 0) {
        ranges(s, rows, out);
    }
    for (size_t i = 0; i < s->n; i++) {
        describe(&set->graph[s->graph[i]], rows + i * width);
    }
    standardise(rows, s->n, width);
    out->floor = floor_of(s);
    out->model_error = model_error(s);
    out->mean_test = mean_error(s, out->n_split[DLS_SPLIT_TRAIN]);
    out->neighbour_test = neighbour_error(s, rows, width, true);
    out->neighbour_any = neighbour_error(s, rows, width, false);
    return DLS_OK;
}
