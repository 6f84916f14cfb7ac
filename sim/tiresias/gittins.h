/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What two schedules look up in GPU-time samples v[0] <= v[1] <= ... (seconds).
 *
 * Gittins index of attained service a, as the original computes it for a = v[i] - 1 and a window of
 * 3250 s: the share of the samples above a that end in the window, over the mean time they take of
 * it (whole samples, not residuals). Expected remaining time of a: the mean of the samples above a
 * without the largest, a itself not subtracted. Both are rounded to decimals, halves away from zero
 * in Python 2 and to even in Python 3, and that decides ranks: values are kept as integers in units
 * of the last decimal. Sources: simulator/cluster.py and jobs.py of SymbioticLab/Tiresias.
 */
#ifndef DLS_TIRESIAS_GITTINS_H
#define DLS_TIRESIAS_GITTINS_H

#include "tiresias/tiresias.h"

typedef struct dls_tir_samples {
    int64_t *value; /* [n] ascending */
    int64_t *sum;   /* [n + 1] sum[i]: of the first i */
    int32_t *order; /* [n + 1] standing of the index of samples above, 0 is best; see next */
    int32_t n;
    bool python3;
} dls_tir_samples;

/* Copies and sorts. EINPUT: no samples, one below 1, or sums that a double cannot hold. */
dls_status dls_tir_samples_init(dls_tir_samples *x, const int64_t *samples, size_t n, bool python3,
                                dls_error *err) DLS_MUST_CHECK;
/* Compute order: equal standing for equal Gittins index. */
dls_status dls_tir_samples_rank(dls_tir_samples *x, dls_error *err) DLS_MUST_CHECK;
void dls_tir_samples_fini(dls_tir_samples *x);

/* Order of int64_t, for qsort. */
int dls_tir_compare_i64(const void *a, const void *b);

/* Expected remaining time after a seconds, in hundredths of a second. */
int64_t dls_tir_samples_expected(const dls_tir_samples *x, int64_t a);

/* The integer nearest to x * scale (x >= 0, scale a power of ten), decided on the exact value of x;
 * an exact half goes up, or to even for Python 3. */
int64_t dls_tir_round_scaled(double x, double scale, bool python3);

#endif
