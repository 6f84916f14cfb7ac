/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Errors, rank correlation over networks and order of GPUs, of judged rows.
 */
#include "predictor/measured/errors.h"

#include "base/alloc.h"
#include "base/kendall.h"
#include "base/own.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A growing list of numbers. */
typedef struct numbers {
    double *at;
    size_t n, cap;
} numbers;

static void numbers_fini(numbers *list)
{
    dls_free(list->at);
}

static dls_status push(numbers *list, double x, dls_error *err)
{
    DLS_TRY(dls_grow(&list->at, &list->cap, list->n + 1, sizeof *list->at, err));
    list->at[list->n++] = x;
    return DLS_OK;
}

static double quantile(numbers *list, double f)
{
    if (list->n == 0) {
        return (double)NAN;
    }
    gsl_sort(list->at, 1, list->n);
    return gsl_stats_quantile_from_sorted_data(list->at, 1, list->n, f);
}

DLS_BY(by_peers, dls_judged, DLS_UP(peers), DLS_UP(network), DLS_UP(gpu), DLS_UP(batch));

static dls_status times(const dls_judged *row, size_t n, dls_errors *out, dls_error *err)
{
    DLS_OWN(numbers_fini) numbers off = {0};
    double sum = 0, logs = 0;
    for (size_t i = 0; i < n; i++) {
        const double e = fabs(row[i].predicted / row[i].measured - 1);
        sum += e;
        logs += log(row[i].predicted / row[i].measured);
        DLS_TRY(push(&off, e, err));
    }
    out->median = quantile(&off, 0.5);
    out->p90 = quantile(&off, 0.9);
    out->mean = n ? sum / (double)n : (double)NAN;
    out->bias = n ? exp(logs / (double)n) : (double)NAN;
    return DLS_OK;
}

/* Rows of row[0]'s network and GPU at the front of row[n], n > 0. */
static size_t run_of_gpu(const dls_judged *row, size_t n)
{
    size_t end = 1;
    while (end < n && row[end].gpu == row[0].gpu && row[end].network == row[0].network) {
        end++;
    }
    return end;
}

DLS_BY(by_gpu, dls_judged, DLS_UP(gpu), DLS_UP(network));

/* The pairs of row[n] whose measured times differ, `times` over, and by how many more of them the
 * predicted ones are in that order than in the other. room[2 n]. */
static dls_status add_pairs(const dls_judged *row, size_t n, double times, double *room,
                            double *pairs, double *score, dls_error *err)
{
    dls_kendall_pairs p;
    for (size_t i = 0; i < n; i++) {
        room[i] = row[i].measured;
        room[n + i] = row[i].predicted;
    }
    DLS_TRY(dls_kendall_count(room, room + n, n, &p, err));
    *pairs += times * (p.all - p.same_x);
    *score += times * (p.concordant - p.discordant);
    return DLS_OK;
}

/* row[n]: one group of peers. On each GPU all pairs but those of one network. */
static dls_status networks(const dls_judged *row, size_t n, double *pairs, double *score,
                           dls_error *err)
{
    DLS_FREED dls_judged *sorted = NULL;
    DLS_FREED double *room = NULL;
    DLS_TRY(dls_alloc_array(&sorted, n, sizeof *sorted, "judged rows", err));
    DLS_TRY(dls_alloc_array(&room, 2 * n, sizeof *room, "judged rows", err));
    memcpy(sorted, row, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_gpu);
    for (size_t i = 0, on_gpu = 0, end; i < n; i = end) {
        end = i + run_of_gpu(sorted + i, n - i);
        DLS_TRY(add_pairs(sorted + i, end - i, -1, room, pairs, score, err));
        if (end == n || sorted[end].gpu != sorted[i].gpu) {
            DLS_TRY(add_pairs(sorted + on_gpu, end - on_gpu, 1, room, pairs, score, err));
            on_gpu = end;
        }
    }
    return DLS_OK;
}

/* By how many times the larger of two is larger. */
static double apart(double a, double b)
{
    return a > b ? a / b : b / a;
}

/* Pairs of GPUs that were measured apart, and of them those that are predicted in that order. */
typedef struct order {
    size_t pairs, right;
} order;

/* The same whichever of the two comes first. */
static dls_status compare(const dls_judged *a, const dls_judged *b, order *in, numbers *off, dls_error *err)
{
    const int measured = (a->measured > b->measured) - (a->measured < b->measured);
    const int predicted = (a->predicted > b->predicted) - (a->predicted < b->predicted);
    in->pairs += measured != 0;
    in->right += measured != 0 && measured == predicted;
    return push(off, apart(a->predicted * b->measured, b->predicted * a->measured) - 1, err);
}

/* Keeps in near[2] the two rows of the nearest batches. */
static void keep_nearest(const dls_judged *a, const dls_judged *b, const dls_judged *near[2])
{
    if (!near[0] || apart(a->batch, b->batch) < apart(near[0]->batch, near[1]->batch)) {
        near[0] = a;
        near[1] = b;
    }
}

/* Rows a[n] of one GPU against b[m] of another, same network, both by batch: pairs of equal batch,
 * else the nearest. */
static dls_status gpu_pair(const dls_judged *a, size_t n, const dls_judged *b, size_t m,
                           order *in, numbers *off, dls_error *err)
{
    const size_t before = off->n;
    const dls_judged *near[2] = {NULL, NULL};
    for (size_t i = 0, at = 0, below = 0; i < n; i++) {
        for (; at < m && b[at].batch < a[i].batch; at++) {
            below = b[at].batch == b[below].batch ? below : at; /* the first of its batch */
        }
        for (size_t k = at; k < m && b[k].batch == a[i].batch; k++) {
            DLS_TRY(compare(&a[i], &b[k], in, off, err));
        }
        keep_nearest(&a[i], &b[below], near);
        keep_nearest(&a[i], &b[at < m ? at : below], near);
    }
    return off->n == before ? compare(near[0], near[1], in, off, err) : DLS_OK;
}

/* row[n]: peers, sorted. */
static dls_status gpus(const dls_judged *row, size_t n, order *in, numbers *off, dls_error *err)
{
    for (size_t a = 0, a_end; a < n; a = a_end) {
        a_end = a + run_of_gpu(row + a, n - a);
        for (size_t b = a_end, b_end; b < n && row[b].network == row[a].network; b = b_end) {
            b_end = b + run_of_gpu(row + b, n - b);
            DLS_TRY(gpu_pair(row + a, a_end - a, row + b, b_end - b, in, off, err));
        }
    }
    return DLS_OK;
}

static dls_status pairs(const dls_judged *row, size_t n, dls_errors *out, dls_error *err)
{
    DLS_OWN(numbers_fini) numbers off = {0};
    order in = {0};
    double score = 0, network_pairs = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && row[end].peers == row[i].peers; end++) {
        }
        DLS_TRY(networks(row + i, end - i, &network_pairs, &score, err));
        DLS_TRY(gpus(row + i, end - i, &in, &off, err));
    }
    out->gpu_pairs = off.n;
    out->network_pairs = (size_t)network_pairs;
    out->tau = out->network_pairs ? score / (double)out->network_pairs : (double)NAN;
    out->in_order = in.pairs ? (double)in.right / (double)in.pairs : (double)NAN;
    out->ratio_median = quantile(&off, 0.5);
    return DLS_OK;
}

#define AT(m) offsetof(dls_errors, m)
enum { JSON = DLS_ERROR_IN_JSON, H5 = DLS_ERROR_IN_H5, BOTH = JSON | H5 };
const dls_error_figure dls_error_figures[] = {
    {"rows", NULL, NULL, BOTH, true, AT(rows), 0, 0, 1},
    {"answered", NULL, NULL, BOTH, true, AT(answered), 0, 0, 1},
    {"said_not_to_fit", NULL, NULL, JSON, true, AT(unfit), 0, 0, 1},
    {"median", "median%", "median %", BOTH, false, AT(median), 7, 1, 100},
    {"mean", "mean%", "mean %", BOTH, false, AT(mean), 7, 1, 100},
    {"p90", "p90%", "p90 %", BOTH, false, AT(p90), 7, 1, 100},
    {"bias", "bias", "bias", BOTH, false, AT(bias), 6, 2, 1},
    {"network_pairs", NULL, NULL, JSON, true, AT(network_pairs), 0, 0, 1},
    {"tau", "tau", "tau", BOTH, false, AT(tau), 6, 2, 1},
    {"gpu_pairs", "pairs", NULL, BOTH, true, AT(gpu_pairs), 5, 0, 1},
    {"in_order", "order%", "GPU pairs in order %", BOTH, false, AT(in_order), 6, 1, 100},
    {"ratio_median", "ratio%", "their ratio %", BOTH, false, AT(ratio_median), 6, 1, 100},
    {"unfit", NULL, NULL, H5, true, AT(unfit), 0, 0, 1},
};
const size_t dls_error_figures_n = sizeof dls_error_figures / sizeof *dls_error_figures;

double dls_error_figure_of(const dls_error_figure *f, const dls_errors *e)
{
    const void *at = (const char *)e + f->at;
    return f->count ? (double)*(const size_t *)at : *(const double *)at;
}

dls_status dls_errors_of(const dls_judged *row, size_t n, dls_errors *out, dls_error *err)
{
    size_t answered = 0;
    *out = (dls_errors){.rows = n};
    DLS_FREED dls_judged *sorted = NULL;
    DLS_TRY(dls_alloc_array(&sorted, n, sizeof *sorted, "judged rows", err));
    for (size_t i = 0; i < n; i++) {
        out->unfit += row[i].unfit;
        if (isfinite(row[i].predicted)) {
            sorted[answered++] = row[i];
        }
    }
    qsort(sorted, answered, sizeof *sorted, by_peers);
    out->answered = answered;
    DLS_TRY(times(sorted, answered, out, err));
    return pairs(sorted, answered, out, err);
}
