/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Optimal division of numbers into two classes: sorts them and tries every split with running sums.
 */
#include "predictor/measure/two_means.h"

#include "base/alloc.h"
#include "base/own.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

static void divide(const double *sorted, size_t n, double mean, dls_two_means *out)
{
    /* With values taken from the mean, a division's gain over one class is s^2 (1/i + 1/(n - i)),
     * s the sum of the lower i. */
    double total = 0, sum = 0, best = 0, low_sum = 0;
    for (size_t i = 0; i < n; i++) {
        total += (sorted[i] - mean) * (sorted[i] - mean);
    }
    *out = (dls_two_means){mean, mean, sorted[n - 1], n, 0, total};
    for (size_t i = 1; i < n; i++) {
        sum += sorted[i - 1] - mean;
        if (sorted[i] == sorted[i - 1]) {
            continue;
        }
        const double gain = sum * sum * (1 / (double)i + 1 / (double)(n - i));
        if (gain > best) {
            best = gain;
            low_sum = sum;
            out->n_low = i;
        }
    }
    out->n_high = n - out->n_low;
    if (out->n_high == 0) {
        return;
    }
    out->low = mean + low_sum / (double)out->n_low;
    out->high = mean - low_sum / (double)out->n_high;
    /* Neighbours without a double between them: the lower one itself is not above itself. */
    const double below = sorted[out->n_low - 1], above = sorted[out->n_low];
    const double middle = below + (above - below) / 2;
    out->threshold = middle < above ? middle : below;
    out->within = total > best ? total - best : 0;
}

dls_status dls_two_means_find(const double *x, size_t n, dls_two_means *out, dls_error *err)
{
    double sum = 0;
    if (n == 0) {
        return dls_fail(err, DLS_EINPUT, NULL, "a series without samples");
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return dls_fail(err, DLS_EINPUT, NULL, "sample %zu is not a finite number", i);
        }
        sum += x[i] / (double)n;
    }
    DLS_FREED double *sorted = NULL;
    DLS_TRY(dls_alloc_array(&sorted, n, sizeof *sorted, "samples", err));
    memcpy(sorted, x, n * sizeof *sorted);
    gsl_sort(sorted, 1, n);
    divide(sorted, n, sum, out);
    return DLS_OK;
}
