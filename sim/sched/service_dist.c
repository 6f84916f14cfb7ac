/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Loads samples of job service from a file or from the trace and computes Gittins indices, expected
 * remaining service and quantiles from prefix sums.
 */
#include "sched/service_dist.h"

#include "dlsim/memory.h"
#include "sched/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MAX (1 << 25)

DLS_BY(cmp, double, DLS_ORDER(*x, *y));

typedef struct samples {
    dls_service_dist *d;
    size_t cap;
} samples;

static dls_status take_line(void *user, char *line, int number, const char *where, dls_error *err)
{
    samples *s = user;
    char *end;
    const double x = strtod(line, &end);
    end += strspn(end, " \t,");
    if (end == line || *end) {
        return number == 1 || !line[strspn(line, " \t")]
                   ? DLS_OK
                   : dls_fail(err, DLS_EINPUT, where, "expected one number of GPU-seconds");
    }
    if (!(x >= 0) || isinf(x)) {
        return dls_fail(err, DLS_EINPUT, where, "expected GPU-seconds of at least 0");
    }
    if (s->d->n == SAMPLES_MAX) {
        return dls_fail(err, DLS_EINPUT, where, "more than %d samples", SAMPLES_MAX);
    }
    DLS_TRY(dls_grow(&s->d->sample_s, &s->cap, (size_t)s->d->n + 1, sizeof *s->d->sample_s, err));
    s->d->sample_s[s->d->n++] = x;
    return DLS_OK;
}

static dls_status read_file(dls_service_dist *d, const char *path, dls_error *err)
{
    d->n = 0;
    DLS_TRY(dls_sched_lines_read(path, take_line, &(samples){d, 0}, err));
    return d->n > 0 ? DLS_OK : dls_fail(err, DLS_EINPUT, path, "no service samples");
}

static dls_status from_trace(dls_service_dist *d, const dls_view *view, dls_error *err)
{
    DLS_TRY(dls_alloc_array(&d->sample_s, (size_t)view->n_jobs, sizeof *d->sample_s,
                            "service samples", err));
    for (int32_t j = 0; j < view->n_jobs; j++) {
        d->sample_s[j] = (double)view->duration_us[j] * view->gpus[j] / 1e6;
    }
    d->n = view->n_jobs;
    return DLS_OK;
}

dls_status dls_service_dist_load(dls_service_dist *d, const dls_view *view, const char *path,
                                 dls_error *err)
{
    DLS_TRY(path && *path ? read_file(d, path, err) : from_trace(d, view, err));
    qsort(d->sample_s, (size_t)d->n, sizeof *d->sample_s, cmp);
    DLS_TRY(dls_alloc_array(&d->sum_s, (size_t)d->n + 1, sizeof *d->sum_s, "service samples", err));
    d->sum_s[0] = 0;
    for (int32_t i = 0; i < d->n; i++) {
        d->sum_s[i + 1] = d->sum_s[i] + d->sample_s[i];
    }
    return DLS_OK;
}

void dls_service_dist_fini(void *state)
{
    dls_service_dist *d = state;
    DLS_FREE_ALL(d->sample_s, d->sum_s);
}

dls_status dls_service_dist_clone(void *state, const void *from, const dls_view *view, dls_error *err)
{
    dls_service_dist *d = state;
    const size_t n = (size_t)d->n;
    return DLS_COPY_ALL(err, DLS_COPY(d->sample_s, n, n), DLS_COPY(d->sum_s, n + 1, n + 1));
}

/* First index with sample > x. Without branches that depend on the samples, which a processor would guess
 * wrong half the time; both halves of a half are on their way while it is chosen. */
static int32_t above(const dls_service_dist *d, double x)
{
    const double *from = d->sample_s;
    int32_t n = d->n;
    while (n > 0) {
        const int32_t half = (n + 1) / 2;
        n -= half;
        __builtin_prefetch(from + n / 2);
        __builtin_prefetch(from + half + n / 2);
        from += from[half - 1] <= x ? half : 0;
    }
    return (int32_t)(from - d->sample_s);
}

double dls_service_gittins(const dls_service_dist *d, double a_s, double delta_s)
{
    const int32_t j = above(d, a_s), k = above(d, a_s + delta_s);
    if (j == d->n) {
        return 0;
    }
    const double ends = k - j;
    const double cost = d->sum_s[k] - d->sum_s[j] - ends * a_s + delta_s * (d->n - k);
    return cost > 0 ? ends / cost : 0;
}

double dls_service_residual(const dls_service_dist *d, double a_s)
{
    const int32_t j = above(d, a_s);
    return j == d->n ? a_s : (d->sum_s[d->n] - d->sum_s[j]) / (d->n - j) - a_s;
}

double dls_service_quantile(const dls_service_dist *d, double q)
{
    const int32_t i = (int32_t)(q * d->n);
    return d->n ? d->sample_s[i < d->n ? i : d->n - 1] : 0;
}
