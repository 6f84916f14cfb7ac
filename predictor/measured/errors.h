/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How far predictions are from measurements: of each time by itself, of networks against each other
 * on one GPU, of GPUs against each other for one network.
 */
#ifndef DLS_MEASURED_ERRORS_H
#define DLS_MEASURED_ERRORS_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One measured time with its prediction. Times are per sample, so that rows of different batches
 * compare. */
typedef struct dls_judged {
    double measured, predicted; /* predicted NAN: unanswered */
    bool unfit;                 /* the source says that it does not fit the GPU's memory */
    double batch;
    int32_t network; /* what runs: model and its size */
    int32_t gpu;
    int32_t peers; /* rows may be compared with those of the same number: all else that matters is
                      equal */
} dls_judged;

typedef struct dls_errors {
    size_t rows, answered, unfit;
    double median, mean,
        p90;     /* of |predicted / measured - 1| over answered rows; NAN without any */
    double bias; /* geometric mean of predicted / measured */
    /* Pairs of different networks on one GPU among peers: concordant less discordant, over all. */
    size_t network_pairs;
    double tau;
    /* Pairs of GPUs of one network among peers, of equal batch where there are any, else the
     * nearest: share of those that were measured apart in that order, and the median error of their
     * predicted ratio, by how many times it is above or below the measured one, less 1. */
    size_t gpu_pairs;
    double in_order, ratio_median;
} dls_errors;

/* O(n log n), and as many steps as there are pairs of GPUs. Errors: ENOMEM. */
dls_status dls_errors_of(const dls_judged *row, size_t n, dls_errors *out,
                         dls_error *err) DLS_MUST_CHECK;

/* What is told of errors: where, and how. */
enum { DLS_ERROR_IN_JSON = 1, DLS_ERROR_IN_H5 = 2 };
typedef struct dls_error_figure {
    const char *name; /* in JSON and HDF5 */
    const char *head; /* over a column of text, NULL: in none */
    const char *page; /* over one of a document, NULL: in none */
    int files;        /* in which of these */
    bool count;       /* a size_t, not a double */
    size_t at;        /* the member */
    int width, digits;
    double scale; /* in texts */
} dls_error_figure;
extern const dls_error_figure dls_error_figures[];
extern const size_t dls_error_figures_n;
double dls_error_figure_of(const dls_error_figure *f, const dls_errors *e);

#endif
