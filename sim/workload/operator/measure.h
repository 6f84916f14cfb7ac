/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measuring operations: the distinct kernels of a workload, each run for a while on a device.
 * Matrix products and convolutions are run as matrix products, the others as a copy of as many
 * bytes.
 */
#ifndef DLS_OPERATOR_MEASURE_H
#define DLS_OPERATOR_MEASURE_H

#include "workload/operator/meter.h"
#include "workload/operator/op_times.h"
#include "workload/operator/workload.h"

typedef struct dls_measure_options {
    const char *gpu; /* under whose name the times are kept */
    dls_numeric numeric;
    double batch;
    double budget_s;   /* an operation is repeated for about that long, at least three times */
    double most_flops; /* products of more are left out; 0: none is */
    /* Before every operation; may be NULL. */
    void (*progress)(void *user, size_t done, size_t n);
    void *user;
} dls_measure_options;

typedef struct dls_measure_report {
    size_t n_measured, n_left_out;
    size_t n_nameless; /* kernels that cannot be measured: their sizes are not known */
} dls_measure_report;

/* Adds to times, replaces what is there of the same key. Errors: EINPUT, EPREDICTOR (the device),
 * ENOMEM. Takes about budget_s for each distinct kernel. */
dls_status dls_measure_workload(const dls_meter *meter, const dls_workload *w,
                                const dls_measure_options *o, dls_op_times *times,
                                dls_measure_report *report, dls_error *err) DLS_MUST_CHECK;

#endif
