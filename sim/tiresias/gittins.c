/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gittins indices and expected remaining times over service samples, rounded as the original Python
 * program rounds them.
 */
#include "tiresias/gittins.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_S 3250
/* Sums up to here are exact in a double. */
#define SUM_MAX (INT64_C(1) << 46)

int dls_tir_compare_i64(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t dls_tir_round_scaled(double x, double scale, bool python3)
{
    const double product = x * scale, error = fma(x, scale, -product);
    const double whole = floor(product), rest = product - whole;
    int64_t m = (int64_t)whole;
    if (rest > 0.5 || (rest == 0.5 && error > 0)) {
        m++;
    } else if (rest == 0.5 && error == 0) {
        m += python3 ? m % 2 : 1;
    }
    return m;
}

dls_status dls_tir_samples_init(dls_tir_samples *x, const int64_t *samples, size_t n, bool python3,
                                dls_error *err)
{
    *x = (dls_tir_samples){.python3 = python3};
    if (n == 0 || n > 100000000) {
        return dls_fail(err, DLS_EINPUT, NULL, "%zu GPU-time samples: expected 1 to 100000000", n);
    }
    x->n = (int32_t)n;
    DLS_TRY(DLS_ALLOC_ALL("samples", err, DLS_ARRAY(x->value, n), DLS_ARRAY(x->sum, n + 1)));
    memcpy(x->value, samples, n * sizeof *x->value);
    qsort(x->value, n, sizeof *x->value, dls_tir_compare_i64);
    if (x->value[0] < 1) {
        return dls_fail(err, DLS_EINPUT, NULL, "a GPU-time sample of %lld s: expected at least 1",
                        (long long)x->value[0]);
    }
    for (size_t i = 0; i < n; i++) {
        if (x->value[i] > SUM_MAX - x->sum[i] - WINDOW_S * (int64_t)n) {
            return dls_fail(err, DLS_EINPUT, NULL, "the GPU-time samples sum to more than %lld s",
                            (long long)SUM_MAX);
        }
        x->sum[i + 1] = x->sum[i] + x->value[i];
    }
    return DLS_OK;
}

void dls_tir_samples_fini(dls_tir_samples *x)
{
    DLS_FREE_ALL(x->value, x->sum, x->order);
}

/* How many samples are <= a: the index into order, and value[] of it is the next to cross. */
static int32_t samples_above(const dls_tir_samples *x, int64_t a)
{
    int32_t at;
    DLS_BISECT(at, x->n, x->value[at] <= a);
    return at;
}

int64_t dls_tir_samples_expected(const dls_tir_samples *x, int64_t a)
{
    const int32_t n = x->n, i = samples_above(x, a);
    if (i == n) {
        return 0;
    }
    if (i == n - 1) {
        return x->value[i] * 100;
    }
    const double mean = (double)(x->sum[n - 1] - x->sum[i]) / (double)(n - 1 - i);
    return dls_tir_round_scaled(mean, 100, x->python3);
}

/* The Gittins index at v[k] - 1, in units of 0.0001. */
static int64_t gittins_index(const dls_tir_samples *x, int32_t k)
{
    const int32_t n = x->n;
    const int64_t a = x->value[k] - 1;
    const int32_t from = samples_above(x, a);
    const int32_t to =
        a + WINDOW_S > x->value[n - 1] - 1 ? n - 1 : samples_above(x, a + WINDOW_S);
    const double share = (double)(to - from) / (double)(n - from);
    const double p = (double)dls_tir_round_scaled(share, 1e5, x->python3) / 1e5;
    const int64_t spent = x->sum[to] - x->sum[from] + (int64_t)WINDOW_S * (n - to);
    const double cost =
        x->python3 ? (double)spent / (double)(n - from) : (double)(spent / (n - from));
    return dls_tir_round_scaled(p * 1e6 / cost, 1e4, x->python3);
}

dls_status dls_tir_samples_rank(dls_tir_samples *x, dls_error *err)
{
    const size_t n = (size_t)x->n + 1;
    int64_t *index = dls_alloc(2 * n * sizeof *index);
    x->order = dls_alloc(n * sizeof *x->order);
    if (!index || !x->order) {
        dls_free(index);
        return dls_nomem(err, "Gittins table", 2 * n * sizeof *index);
    }
    int64_t *distinct = index + n;
    for (int32_t k = 0; k < x->n; k++) {
        index[k] = -gittins_index(x, k);
    }
    index[x->n] = 0; /* beyond the largest sample */
    memcpy(distinct, index, n * sizeof *index);
    qsort(distinct, n, sizeof *distinct, dls_tir_compare_i64);
    size_t m = 0;
    for (size_t k = 0; k < n; k++) {
        if (m == 0 || distinct[m - 1] != distinct[k]) {
            distinct[m++] = distinct[k];
        }
    }
    for (size_t k = 0; k < n; k++) {
        const int64_t *at = bsearch(&index[k], distinct, m, sizeof *distinct, dls_tir_compare_i64);
        x->order[k] = (int32_t)(at - distinct);
    }
    dls_free(index);
    return DLS_OK;
}
