/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Errors of predictions by metric, and the yardsticks for them: answers from the label noise, from
 * the mean, and from the nearest training graph.
 */
#include "predictor/training/evaluate.h"

#include "base/alloc.h"
#include "base/own.h"

#include <math.h>
#include <string.h>

dls_column_error dls_column_errors(const double *predicted, const double *label, size_t n)
{
    double square = 0;
    double sum = 0;
    double least = n ? label[0] : 0;
    double most = least;
    double share = 0;
    size_t positive = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = predicted[i] - label[i];
        square += d * d;
        sum += label[i];
        least = label[i] < least ? label[i] : least;
        most = label[i] > most ? label[i] : most;
        if (label[i] > 0) {
            share += fabs(d) / label[i];
            positive++;
        }
    }
    dls_column_error e = {.counted = most > least};
    e.rmse = n ? sqrt(square / (double)n) : 0;
    if (e.counted) {
        e.by_range = e.rmse / (most - least);
        e.by_mean = e.rmse / (sum / (double)n);
        e.by_max = e.rmse / most;
    }
    e.percent = positive ? 100 * share / (double)positive : 0;
    return e;
}

dls_status dls_error_table_fill(const double *predicted, const double *label,
                                const double *iteration_s, size_t n, dls_error_table *table,
                                dls_error *err)
{
    *table = (dls_error_table){.n = n};
    DLS_FREED double *p = NULL;
    DLS_TRY(dls_alloc_array(&p, 2 * (n ? n : 1), sizeof *p, "columns", err));
    double *y = p + n;
    size_t counted = 0;
    for (size_t k = 0; k < DLS_METRICS; k++) {
        for (size_t i = 0; i < n; i++) {
            p[i] = predicted[i * DLS_METRICS + k];
            y[i] = label[i * DLS_METRICS + k];
        }
        const dls_column_error e = dls_column_errors(p, y, n);
        table->metric[k] = e;
        if (e.counted) {
            counted++;
            table->by_range += e.by_range;
            table->by_mean += e.by_mean;
            table->by_max += e.by_max;
            table->percent += e.percent;
        }
    }
    const double share = counted ? 1 / (double)counted : 0;
    table->by_range *= share;
    table->by_mean *= share;
    table->by_max *= share;
    table->percent *= share;
    if (iteration_s) {
        for (size_t i = 0; i < n; i++) {
            const double *row = predicted + i * DLS_METRICS;
            p[i] = row[DLS_GPU_IDLE] + row[DLS_GPU_ACTIVE];
        }
        table->iteration = dls_column_errors(p, iteration_s, n);
    }
    return DLS_OK;
}

/* ---- simple predictors ---------------------------------------------------------------------- */

/* sum, mean and maximum of every column, nodes, edges */
static void describe(const dls_graph *g, double *d)
{
    const size_t f = (size_t)g->n_features;
    const size_t n = (size_t)g->n_nodes;
    for (size_t k = 0; k < f; k++) {
        double sum = 0;
        double top = g->x[k];
        for (size_t i = 0; i < n; i++) {
            const double v = g->x[i * f + k];
            sum += v;
            top = v > top ? v : top;
        }
        d[3 * k] = sum;
        d[3 * k + 1] = sum / (double)n;
        d[3 * k + 2] = top;
    }
    d[3 * f] = (double)n;
    d[3 * f + 1] = (double)g->row_start[n];
}

typedef struct neighbours {
    size_t width;
    double *d;     /* [setting's n][width] */
    double *scale; /* [width] 1 / deviation over the training split; 0 for a constant */
} neighbours;

static dls_status describe_all(const dls_dataset *set, const dls_dataset_setting *s, neighbours *b,
                               dls_error *err)
{
    b->width = 3 * (size_t)set->n_features + 2;
    DLS_TRY(DLS_ALLOC_ALL("descriptions of graphs", err,
                          DLS_ARRAY(b->d, (s->n ? s->n : 1) * b->width),
                          DLS_ARRAY(b->scale, b->width)));
    for (size_t i = 0; i < s->n; i++) {
        describe(&set->graph[s->graph[i]], b->d + i * b->width);
    }
    for (size_t k = 0; k < b->width; k++) {
        double sum = 0;
        double square = 0;
        double n = 0;
        for (size_t i = 0; i < s->n; i++) {
            if (s->split[i] == DLS_SPLIT_TRAIN) {
                sum += b->d[i * b->width + k];
                square += b->d[i * b->width + k] * b->d[i * b->width + k];
                n++;
            }
        }
        const double mean = n > 0 ? sum / n : 0;
        const double var = n > 0 ? square / n - mean * mean : 0;
        b->scale[k] = var > 1e-12 * mean * mean ? 1 / sqrt(var) : 0;
    }
    return DLS_OK;
}

/* The training row nearest to row i; the first of equals. */
static size_t nearest_to(const dls_dataset_setting *s, const neighbours *b, size_t i)
{
    size_t best = i;
    double least = HUGE_VAL;
    for (size_t j = 0; j < s->n; j++) {
        double sum = 0;
        for (size_t k = 0; s->split[j] == DLS_SPLIT_TRAIN && k < b->width; k++) {
            const double d = (b->d[i * b->width + k] - b->d[j * b->width + k]) * b->scale[k];
            sum += d * d;
        }
        if (s->split[j] == DLS_SPLIT_TRAIN && sum < least) {
            least = sum;
            best = j;
        }
    }
    return best;
}

/* The residual makes a step longer and leaves its bytes (dataset/label.h), so it is the ratio of
 * the two steps, and times and rates follow from it. */
static void without_residual(const double *truth, double model_s, double *out)
{
    const double step_s = truth[DLS_GPU_IDLE] + truth[DLS_GPU_ACTIVE];
    const double factor = step_s > 0 && model_s > 0 ? step_s / model_s : 1;
    for (int k = 0; k < DLS_METRICS; k++) {
        const bool peak = k % 3 == DLS_GPU_MEM_PEAK;
        const bool network = k >= DLS_NET_RX_IDLE;
        out[k] = !peak ? truth[k] / factor : network ? truth[k] * factor : truth[k];
    }
}

static dls_status room(dls_yardsticks *y, const dls_dataset_setting *s, dls_error *err)
{
    const size_t n = y->n ? y->n : 1;
    const size_t row = DLS_METRICS * sizeof(double);
    y->row = dls_alloc_zero(n, sizeof *y->row);
    y->graph = dls_alloc_zero(n, sizeof *y->graph);
    y->label = dls_alloc_zero(n, row);
    y->mean = dls_alloc_zero(n, row);
    y->nearest = dls_alloc_zero(n, row);
    y->iteration_s = dls_alloc_zero(n, sizeof(double));
    y->known = s->model_s && s->link_bytes ? dls_alloc_zero(n, sizeof *y->known) : NULL;
    y->truth = s->truth ? dls_alloc_zero(n, row) : NULL;
    y->model = s->truth && s->model_s ? dls_alloc_zero(n, row) : NULL;
    return y->row && y->graph && y->label && y->mean && y->nearest && y->iteration_s &&
                   (y->known || !s->model_s || !s->link_bytes) && (y->truth || !s->truth) && (y->model || !s->truth || !s->model_s)
               ? DLS_OK
               : dls_nomem(err, "evaluation", n * row);
}

static dls_status fill(const dls_dataset *set, const dls_dataset_setting *s, dls_split split,
                       dls_yardsticks *y, neighbours *b, dls_error *err)
{
    double mean[DLS_METRICS] = {0};
    double n_train = 0;
    for (size_t i = 0; i < s->n; i++) {
        y->n += s->split[i] == (uint8_t)split;
        n_train += s->split[i] == DLS_SPLIT_TRAIN;
        for (size_t k = 0; s->split[i] == DLS_SPLIT_TRAIN && k < DLS_METRICS; k++) {
            mean[k] += s->label[i * DLS_METRICS + k];
        }
    }
    if (y->n == 0 || n_train == 0) {
        return dls_fail(err, DLS_EINPUT, s->name, "setting %s has no graphs in its %s split",
                        s->name, dls_split_name(y->n == 0 ? (int)split : DLS_SPLIT_TRAIN));
    }
    DLS_TRY(room(y, s, err));
    DLS_TRY(describe_all(set, s, b, err));
    size_t at = 0;
    const size_t row = DLS_METRICS * sizeof(double);
    for (size_t i = 0; i < s->n; i++) {
        if (s->split[i] != (uint8_t)split) {
            continue;
        }
        y->row[at] = i;
        y->graph[at] = set->graph[s->graph[i]];
        memcpy(y->label + at * DLS_METRICS, s->label + i * DLS_METRICS, row);
        memcpy(y->nearest + at * DLS_METRICS, s->label + nearest_to(s, b, i) * DLS_METRICS, row);
        if (s->truth) {
            memcpy(y->truth + at * DLS_METRICS, s->truth + i * DLS_METRICS, row);
        }
        if (y->model) {
            without_residual(y->truth + at * DLS_METRICS, s->model_s[i],
                             y->model + at * DLS_METRICS);
        }
        y->iteration_s[at] = s->iteration_s[i];
        if (y->known) {
            (void)dls_dataset_known(s, i, &y->known[at]);
        }
        for (size_t k = 0; k < DLS_METRICS; k++) {
            y->mean[at * DLS_METRICS + k] = mean[k] / n_train;
        }
        at++;
    }
    return DLS_OK;
}

static void neighbours_fini(neighbours *b)
{
    DLS_FREE_ALL(b->d, b->scale);
}

dls_status dls_yardsticks_create(const dls_dataset *set, size_t setting, dls_split split,
                                 dls_yardsticks **out, dls_error *err)
{
    *out = NULL;
    DLS_HOLD(dls_yardsticks_destroy) dls_yardsticks *y = NULL;
    DLS_OWN(neighbours_fini) neighbours b = {0};
    DLS_TRY(dls_alloc_array(&y, 1, sizeof *y, "evaluation", err));
    DLS_TRY(fill(set, &set->setting[setting], split, y, &b, err));
    *out = dls_take(&y);
    return DLS_OK;
}

void dls_yardsticks_destroy(dls_yardsticks *y)
{
    if (y) {
        DLS_FREE_ALL(y->row, y->graph, y->label, y->truth, y->model, y->mean, y->nearest,
                     y->iteration_s, y->known, y);
    }
}
