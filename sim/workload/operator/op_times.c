/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Table of measured operation times, sorted by GPU, precision and amount of work: insertion, and
 * binary search for exactly the same work.
 */
#include "workload/operator/op_times.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>
#include <strings.h>

void dls_op_times_fini(dls_op_times *times)
{
    if (times) {
        dls_free(times->row);
        *times = (dls_op_times){0};
    }
}

static int sign_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_work(const dls_op_work *a, const dls_op_work *b)
{
    const int by[] = {sign_of(a->bytes, b->bytes), sign_of(a->count, b->count), sign_of(a->m, b->m),
                      sign_of(a->n, b->n), sign_of(a->k, b->k)};
    for (size_t i = 0; i < sizeof by / sizeof by[0]; i++) {
        if (by[i] != 0) {
            return by[i];
        }
    }
    return 0;
}

static int compare_owner(const dls_op_time *a, const char *gpu, dls_numeric numeric)
{
    const int by_gpu = strcasecmp(a->gpu, gpu);
    return by_gpu != 0 ? by_gpu
                       : ((int)a->numeric > (int)numeric) - ((int)a->numeric < (int)numeric);
}

static int compare(const dls_op_time *a, const dls_op_time *b)
{
    const int by_owner = compare_owner(a, b->gpu, b->numeric);
    return by_owner != 0 ? by_owner : compare_work(&a->work, &b->work);
}

dls_status dls_op_times_put(dls_op_times *times, const dls_op_time *row, dls_error *err)
{
    const dls_op_work *w = &row->work;
    const bool product = w->count > 0 && w->m > 0 && w->n > 0 && w->k > 0 && w->bytes == 0;
    const bool move = w->count == 0 && w->m == 0 && w->n == 0 && w->k == 0 && w->bytes > 0;
    if ((!product && !move) || !(row->seconds > 0) || !isfinite(row->seconds) || !*row->gpu) {
        return dls_fail(err, DLS_EINPUT, NULL, "a measured time that makes no sense");
    }
    size_t at; /* rows before it are not behind the new one */
    DLS_BISECT(at, times->n, compare(&times->row[at], row) <= 0);
    if (at > 0 && compare(&times->row[at - 1], row) == 0) {
        times->row[at - 1] = *row;
        return DLS_OK;
    }
    DLS_TRY(dls_grow(&times->row, &times->cap, times->n + 1, sizeof *times->row, err));
    memmove(times->row + at + 1, times->row + at, (times->n - at) * sizeof *times->row);
    times->row[at] = *row;
    times->n++;
    return DLS_OK;
}

const dls_op_time *dls_op_times_of(const dls_op_times *times, const char *gpu, dls_numeric numeric,
                                   size_t *n)
{
    size_t first = 0;
    *n = 0;
    while (first < times->n && compare_owner(&times->row[first], gpu, numeric) < 0) {
        first++;
    }
    while (first + *n < times->n && compare_owner(&times->row[first + *n], gpu, numeric) == 0) {
        ++*n;
    }
    return *n > 0 ? &times->row[first] : NULL;
}

/* A move of a size between two that were measured: on the straight line through them in logarithms. */
static double between(const dls_op_time *a, const dls_op_time *b, const dls_op_work *work)
{
    if (work->bytes <= 0 || a->work.bytes <= 0 || b->work.bytes <= 0) {
        return 0;
    }
    const double at = log((double)work->bytes / (double)a->work.bytes) /
                      log((double)b->work.bytes / (double)a->work.bytes);
    return a->seconds * pow(b->seconds / a->seconds, at);
}

double dls_op_time_find(const dls_op_time *row, size_t n, const dls_op_work *work)
{
    size_t low;
    DLS_BISECT(low, n, compare_work(&row[low].work, work) < 0);
    if (low < n && compare_work(&row[low].work, work) == 0) {
        return row[low].seconds;
    }
    return low > 0 && low < n ? between(&row[low - 1], &row[low], work) : 0;
}
