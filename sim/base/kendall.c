/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Kendall's tau-b: sorted by x, the exchanges that a merge sort by y makes are the discordant
 * pairs.
 */
#include "base/kendall.h"

#include "base/own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
    double x, y;
} pair;

DLS_BY(by_x_then_y, pair, DLS_UP(x), DLS_UP(y));

/* Sort p[n] by y with room for n more; returns how many pairs changed sides. */
static double sort_by_y(pair *p, pair *room, size_t n)
{
    double swaps = 0;
    if (n < 2) {
        return 0;
    }
    const size_t half = n / 2;
    swaps += sort_by_y(p, room, half) + sort_by_y(p + half, room, n - half);
    for (size_t i = 0, l = 0, r = half; i < n; i++) {
        if (r == n || (l < half && p[l].y <= p[r].y)) {
            room[i] = p[l++];
        } else {
            swaps += (double)(half - l);
            room[i] = p[r++];
        }
    }
    memcpy(p, room, n * sizeof *p);
    return swaps;
}

static double pairs(double n)
{
    return n * (n - 1) / 2;
}

dls_status dls_kendall_count(const double *x, const double *y, size_t n, dls_kendall_pairs *out,
                             dls_error *err)
{
    double same_both = 0;
    *out = (dls_kendall_pairs){0};
    if (n < 2) {
        return DLS_OK;
    }
    DLS_FREED pair *p = NULL;
    DLS_TRY(dls_alloc_array(&p, 2 * n, sizeof *p, "pairs", err));
    for (size_t i = 0; i < n; i++) {
        p[i] = (pair){x[i], y[i]};
    }
    qsort(p, n, sizeof *p, by_x_then_y);
    for (size_t i = 1, runs_x = 1, runs_both = 1; i <= n; i++) {
        const int x_goes_on = i < n && p[i].x == p[i - 1].x;
        const int both_go_on = x_goes_on && p[i].y == p[i - 1].y;
        out->same_x += x_goes_on ? 0 : pairs((double)runs_x);
        same_both += both_go_on ? 0 : pairs((double)runs_both);
        runs_x = x_goes_on ? runs_x + 1 : 1;
        runs_both = both_go_on ? runs_both + 1 : 1;
    }
    out->discordant = sort_by_y(p, p + n, n);
    for (size_t i = 1, run = 1; i <= n; i++) {
        const int goes_on = i < n && p[i].y == p[i - 1].y;
        out->same_y += goes_on ? 0 : pairs((double)run);
        run = goes_on ? run + 1 : 1;
    }
    out->all = pairs((double)n);
    out->concordant = out->all - out->same_x - out->same_y + same_both - out->discordant;
    return DLS_OK;
}

dls_status dls_kendall_tau(const double *x, const double *y, size_t n, double *tau, dls_error *err)
{
    dls_kendall_pairs p;
    *tau = (double)NAN;
    DLS_TRY(dls_kendall_count(x, y, n, &p, err));
    const double scale = sqrt(p.all - p.same_x) * sqrt(p.all - p.same_y);
    *tau = scale > 0 ? (p.concordant - p.discordant) / scale : (double)NAN;
    return DLS_OK;
}
