/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Follows the steps of a job through its series, by dynamic programming over where they begin.
 */
#include "predictor/measure/steps.h"

#include "base/alloc.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define TURNS 3
#define SHORTEST 0.55 /* of a period */
#define LONGEST 1.8
#define PULL 4.0 /* weight of the squared logarithm of a step's length in periods */
#define MOST_PRODUCTS 4294967296.0

/* A sequence of steps through m series of n samples with windows of `width` samples. */
typedef struct follower {
    size_t m, n, width, places; /* places: where a window may begin */
    size_t shortest, longest;
    double *z;         /* [m][n] mean 0, variance 1 */
    double *window;    /* [m][width] what a step looks like */
    double *alike;     /* [places] its correlation with the series */
    double *sum;       /* [places] of the best sequence that ends there */
    double *pull;      /* [longest + 1] price of a step of that length */
    uint32_t *from;    /* [places] the beginning before, + 1 */
    size_t *beginning; /* [n_beginnings] */
    size_t n_beginnings;
} follower;

static void follower_fini(follower *f)
{
    DLS_FREE_ALL(f->z, f->window, f->alike, f->sum, f->pull, f->from, f->beginning);
}

static dls_status follower_init(follower *f, size_t m, size_t n, double period, dls_error *err)
{
    *f = (follower){.m = m,
                    .n = n,
                    .width = (size_t)lround(period),
                    .shortest = (size_t)fmax(1, period * SHORTEST),
                    .longest = (size_t)ceil(period * LONGEST)};
    f->places = n - f->width + 1;
    DLS_TRY(DLS_ALLOC_ALL("steps", err, DLS_ARRAY(f->z, m * n), DLS_ARRAY(f->window, m * f->width),
                          DLS_ARRAY(f->alike, f->places), DLS_ARRAY(f->sum, f->places),
                          DLS_ARRAY(f->pull, f->longest + 1), DLS_ARRAY(f->from, f->places),
                          DLS_ARRAY(f->beginning, f->places)));
    for (size_t i = f->shortest; i <= f->longest; i++) {
        const double off = log((double)i / period);
        f->pull[i] = PULL * off * off;
    }
    return DLS_OK;
}

/* Those of x that vary; how many they are. */
static size_t standardise(follower *f, const double *const *x)
{
    size_t rows = 0;
    for (size_t k = 0; k < f->m; k++) {
        const double mean = gsl_stats_mean(x[k], 1, f->n);
        const double sd = sqrt(gsl_stats_variance_with_fixed_mean(x[k], 1, f->n, mean));
        double *z = f->z + rows * f->n;
        for (size_t i = 0; i < f->n && sd > 0; i++) {
            z[i] = (x[k][i] - mean) / sd;
        }
        rows += sd > 0;
    }
    return rows;
}

static void compare(follower *f)
{
    const double scale = 1 / (double)(f->m * f->width);
    for (size_t at = 0; at < f->places; at++) {
        double sum = 0;
        for (size_t k = 0; k < f->m; k++) {
            const double *z = f->z + k * f->n + at, *w = f->window + k * f->width;
            for (size_t i = 0; i < f->width; i++) {
                sum += z[i] * w[i];
            }
        }
        f->alike[at] = scale * sum;
    }
}

static void choose(follower *f)
{
    size_t last = f->places - 1;
    for (size_t at = 0; at < f->places; at++) {
        double best = 0;
        f->from[at] = 0;
        for (size_t length = f->shortest; length <= f->longest && length <= at; length++) {
            const double sum = f->sum[at - length] - f->pull[length];
            if (sum > best) {
                best = sum;
                f->from[at] = (uint32_t)(at - length + 1);
            }
        }
        f->sum[at] = f->alike[at] + best;
    }
    for (size_t at = f->places;
         at-- > 0 && f->places - at < f->longest;) { /* within the last step */
        last = f->sum[at] > f->sum[last] ? at : last;
    }
    f->n_beginnings = 0;
    for (size_t next = last + 1; next > 0; next = f->from[next - 1]) {
        f->beginning[f->n_beginnings++] = next - 1; /* the last one first */
    }
}

static void average(follower *f)
{
    memset(f->window, 0, f->m * f->width * sizeof *f->window);
    for (size_t k = 0; k < f->m; k++) {
        for (size_t b = 0; b < f->n_beginnings; b++) {
            const double *z = f->z + k * f->n + f->beginning[b];
            for (size_t i = 0; i < f->width; i++) {
                f->window[k * f->width + i] += z[i] / (double)f->n_beginnings;
            }
        }
    }
}

/* Between samples, where the parabola through a correlation and its neighbours has its top. */
static double place_of(const follower *f, size_t at)
{
    if (at == 0 || at + 1 == f->places) {
        return (double)at;
    }
    const double left = f->alike[at - 1], right = f->alike[at + 1];
    const double bend = left - 2 * f->alike[at] + right;
    const double off = bend < 0 ? 0.5 * (left - right) / bend : 0;
    return (double)at + fmax(-1, fmin(1, off));
}

/* Mean correlation of a step with the mean of the others. */
static double likeness(const follower *f)
{
    const double n = (double)f->n_beginnings;
    double sum = 0, own = 0;
    for (size_t b = 0; b < f->n_beginnings; b++) {
        sum += f->alike[f->beginning[b]];
        for (size_t k = 0; k < f->m; k++) {
            const double *z = f->z + k * f->n + f->beginning[b];
            for (size_t i = 0; i < f->width; i++) {
                own += z[i] * z[i];
            }
        }
    }
    return (sum - own / (double)(f->m * f->width) / n) / (n - 1);
}

static void measure(follower *f, dls_steps *out)
{
    out->likeness = likeness(f);
    double *length = f->sum;
    const size_t n = f->n_beginnings - 1;
    for (size_t i = 0; i < n; i++) {
        length[i] = place_of(f, f->beginning[i]) - place_of(f, f->beginning[i + 1]);
    }
    gsl_sort(length, 1, n);
    out->n = n;
    out->mean_samples = gsl_stats_mean(length, 1, n);
    out->low_samples = gsl_stats_quantile_from_sorted_data(length, 1, n, 0.1);
    out->high_samples = gsl_stats_quantile_from_sorted_data(length, 1, n, 0.9);
}

static dls_status follow(const double *const *x, size_t m, size_t n, double period, dls_steps *out,
                         dls_error *err)
{
    follower f;
    *out = (dls_steps){0};
    if (m == 0 || period < 3 || 3 * period > (double)n || n >= UINT32_MAX ||
        (double)m * (double)n * period >= MOST_PRODUCTS) {
        return DLS_OK;
    }
    const dls_status status = follower_init(&f, m, n, period, err);
    if (status == DLS_OK && (f.m = standardise(&f, x)) > 0) {
        f.beginning[0] = (n - f.width) / 2;
        f.n_beginnings = 1;
        for (int turn = 0; turn < TURNS; turn++) {
            average(&f);
            compare(&f);
            choose(&f);
        }
        if (f.n_beginnings >= 3) {
            average(&f);
            compare(&f);
            measure(&f, out);
        }
    }
    follower_fini(&f);
    return status;
}

dls_status dls_steps_follow(const double *const *x, size_t m, size_t n, double period,
                            dls_steps *out, dls_error *err)
{
    dls_steps half;
    assert((x || m == 0) && isfinite(period));
    DLS_TRY(follow(x, m, n, period, out, err));
    DLS_TRY(follow(x, m, n, period / 2, &half, err));
    if (half.n > 0 && out->n > 0 && half.likeness >= out->likeness) {
        *out = half;
    }
    return DLS_OK;
}
