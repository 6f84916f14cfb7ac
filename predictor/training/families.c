/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Divides the errors of a split by model family: root mean squares over the range of the whole
 * split.
 */
#include "predictor/training/families.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The 12 metrics and the step time behind them. */
#define COLUMNS (DLS_METRICS + 1)

static double label_of(const dls_yardsticks *y, size_t row, size_t column)
{
    return column < DLS_METRICS ? y->label[row * DLS_METRICS + column] : y->iteration_s[row];
}

static double answer_of(const double *predicted, size_t row, size_t column)
{
    const double *p = predicted + row * DLS_METRICS;
    return column < DLS_METRICS ? p[column] : p[DLS_GPU_IDLE] + p[DLS_GPU_ACTIVE];
}

static void find_ranges(const dls_yardsticks *y, double range[COLUMNS])
{
    for (size_t k = 0; k < COLUMNS; k++) {
        double least = label_of(y, 0, k), most = least;
        for (size_t i = 1; i < y->n; i++) {
            least = fmin(least, label_of(y, i, k));
            most = fmax(most, label_of(y, i, k));
        }
        range[k] = most - least;
    }
}

static dls_status find_family(const char *name, dls_family_error *out, size_t *n, size_t *at,
                              dls_error *err)
{
    for (*at = 0; *at < *n && strcmp(out[*at].name, name) != 0; ++*at) {
    }
    if (*at < *n) {
        return DLS_OK;
    }
    if (*n == DLS_FAMILIES_MAX) {
        return dls_fail(err, DLS_EINPUT, name, "more than %d model families", DLS_FAMILIES_MAX);
    }
    out[*n] = (dls_family_error){0};
    snprintf(out[*n].name, sizeof out[*n].name, "%s", name);
    ++*n;
    return DLS_OK;
}

/* From sums of squares to what is told. */
static void finish(dls_family_error *f, const double *square, const double *range, double all)
{
    size_t counted = 0;
    for (size_t k = 0; k < DLS_METRICS; k++) {
        if (range[k] > 0) {
            f->by_range += sqrt(square[k] / (double)f->n) / range[k];
            counted++;
        }
    }
    f->by_range /= counted > 0 ? (double)counted : 1;
    if (range[DLS_METRICS] > 0) {
        f->iteration = sqrt(square[DLS_METRICS] / (double)f->n) / range[DLS_METRICS];
    }
    f->percent *= 100 / (double)f->n;
    f->share = all > 0 ? square[DLS_METRICS] / all : 0;
}

dls_status dls_family_errors(const dls_dataset *set, size_t setting, const dls_yardsticks *y,
                             const double *predicted, dls_family_error *out, size_t *n,
                             dls_error *err)
{
    const dls_dataset_setting *s = &set->setting[setting];
    double square[DLS_FAMILIES_MAX][COLUMNS] = {{0}}, range[COLUMNS], all = 0;
    *n = 0;
    find_ranges(y, range);
    for (size_t i = 0; i < y->n; i++) {
        size_t f = 0;
        DLS_TRY(find_family(set->origin[s->graph[y->row[i]]].family, out, n, &f, err));
        out[f].n++;
        for (size_t k = 0; k < COLUMNS; k++) {
            const double off = answer_of(predicted, i, k) - label_of(y, i, k);
            square[f][k] += off * off;
            all += k == DLS_METRICS ? off * off : 0;
        }
        out[f].percent += fabs(answer_of(predicted, i, DLS_METRICS) / y->iteration_s[i] - 1);
    }
    for (size_t f = 0; f < *n; f++) {
        finish(&out[f], square[f], range, all);
    }
    return DLS_OK;
}
