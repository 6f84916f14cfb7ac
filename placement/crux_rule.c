/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Intensity, path, priority and level of jobs that share links, by the rules of Crux.
 */
#include "placement/crux_rule.h"

#include <math.h>

#define LEFT_MIN (1.0 / 1024) /* of a link: who is served last is not stopped */

double dls_crux_intensity(const dls_crux_flow *f)
{
    return f->work * f->line_bps / f->bytes;
}

double dls_crux_loss(const dls_crux_flow *f, double bps)
{
    const double left = fmax(LEFT_MIN, 1 - bps / f->line_bps);
    const double alone_s = f->bytes / f->line_bps, slow_s = alone_s / left;
    const double period_s =
        f->exposed_s > 0 ? f->period_s + slow_s - alone_s : fmax(f->period_s, slow_s);
    return 1 - f->period_s / period_s;
}

static double mean_bps(const dls_crux_flow *f)
{
    return f->bytes / f->period_s;
}

void dls_crux_priorities(const dls_crux_flow *flow, int32_t n, double *priority)
{
    int32_t most = 0, next = -1; /* the reference plays against the next */
    for (int32_t j = 1; j < n; j++) {
        if (mean_bps(&flow[j]) > mean_bps(&flow[most])) {
            next = most;
            most = j;
        } else if (next < 0 || mean_bps(&flow[j]) > mean_bps(&flow[next])) {
            next = j;
        }
    }
    for (int32_t j = 0; j < n; j++) {
        const int32_t other = j == most ? next : most;
        priority[j] = other < 0 ? 1
                                : flow[j].work / flow[j].period_s *
                                      dls_crux_loss(&flow[j], mean_bps(&flow[other]));
    }
}

int32_t dls_crux_path(const double *load, int32_t paths, const int32_t *rack, int32_t n_racks)
{
    int32_t best = 0;
    double least = (double)INFINITY;
    for (int32_t p = 0; p < paths; p++) {
        double most = 0;
        for (int32_t r = 0; r < n_racks; r++) {
            const double on = load[rack[r] * paths + p];
            most = on > most ? on : most;
        }
        if (most < least) {
            least = most;
            best = p;
        }
    }
    return best;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* An order that keeps who shares a link in the order that they have. */
static void draw_order(const double *harm, int32_t n, dls_rng *rng, int32_t *order, int32_t *before)
{
    for (int32_t j = 0; j < n; j++) {
        before[j] = 0;
        for (int32_t i = 0; i < j; i++) {
            before[j] += harm[i * n + j] > 0;
        }
    }
    for (int32_t at = 0; at < n; at++) {
        int32_t ready = 0, pick = -1;
        for (int32_t j = 0; j < n; j++) {
            if (before[j] == 0 && dls_rng_below(rng, (uint64_t)++ready) == 0) {
                pick = j;
            }
        }
        order[at] = pick; /* the job of the least number is always ready */
        before[pick] = -1;
        for (int32_t j = pick + 1; j < n; j++) {
            before[j] -= harm[pick * n + j] > 0;
        }
    }
}

size_t dls_crux_scratch(int32_t n, int32_t levels)
{
    const size_t jobs = (size_t)n + 1;
    return jobs * jobs + 2 * jobs * (size_t)levels + 2 * jobs;
}

/* inside[a * n + b]: harm among those at a..b of the order. */
static void fill_inside(const double *harm, int32_t n, const int32_t *order, double *inside)
{
    for (int32_t b = 0; b < n; b++) {
        double with = 0;
        inside[b * n + b] = 0;
        for (int32_t a = b - 1; a >= 0; a--) {
            const int32_t i = order[a] < order[b] ? order[a] : order[b];
            const int32_t j = order[a] < order[b] ? order[b] : order[a];
            with += harm[i * n + j];
            inside[a * n + b] = inside[a * n + b - 1] + with;
        }
    }
}

/* Cut an order into at most `levels` pieces with least harm inside; cut[k * (n + 1) + b]: where the
 * last of k + 1 pieces of the first b starts. Returns the harm, *pieces the fewest that reach it.
 */
static double cut_order(const double *inside, int32_t n, int32_t levels, double *least,
                        int32_t *cut, int32_t *pieces)
{
    const int32_t row = n + 1;
    for (int32_t k = 0; k < levels; k++) {
        for (int32_t b = 1; b <= n; b++) {
            double *best = &least[k * row + b];
            *best = inside[b - 1];
            cut[k * row + b] = 0;
            for (int32_t a = 1; k > 0 && a < b; a++) {
                const double sum = least[(k - 1) * row + a] + inside[a * n + b - 1];
                if (sum < *best) {
                    *best = sum;
                    cut[k * row + b] = a;
                }
            }
        }
    }
    *pieces = 0;
    for (int32_t k = 1; k < levels; k++) {
        *pieces = least[k * row + n] < least[*pieces * row + n] ? k : *pieces;
    }
    return least[*pieces * row + n];
}

void dls_crux_levels(const double *harm, int32_t n, int32_t levels, int32_t orders, dls_rng *rng,
                     double *scratch, int32_t *level)
{
    double *inside = scratch, *least = inside + (size_t)(n + 1) * (size_t)(n + 1);
    int32_t *cut = (int32_t *)(least + (size_t)(n + 1) * (size_t)levels);
    int32_t *order = (int32_t *)((double *)cut + (size_t)(n + 1) * (size_t)levels);
    int32_t *before = order + n;
    double best = (double)INFINITY;
    for (int32_t j = 0; j < n; j++) {
        order[j] = j;
    }
    for (int32_t i = 0; i < orders && best > 0 && n > 0; i++) {
        int32_t k;
        if (i > 0) {
            draw_order(harm, n, rng, order, before);
        }
        fill_inside(harm, n, order, inside);
        const double sum = cut_order(inside, n, levels, least, cut, &k);
        if (sum < best) {
            best = sum;
            for (int32_t end = n; end > 0; k--) {
                const int32_t from = cut[k * (n + 1) + end];
                for (int32_t at = from; at < end; at++) {
                    level[order[at]] = k;
                }
                end = from;
            }
        }
    }
}
