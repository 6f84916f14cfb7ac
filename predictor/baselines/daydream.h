/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Daydream (Zhu, Phanishayee, Pekhimenko, USENIX ATC 2020): one profiled step as a graph of tasks,
 * changed as a what-if question asks, and replayed.
 *
 *      GPU stream      forward kernels, backward kernels, update
 *      network stream  one all-reduce for each bucket of gradients, once the last of them is there
 *
 * A task starts when the one before it in its stream and those that it waits for are done; the
 * update waits for every all-reduce. An all-reduce takes what the link's data sheet says, 2 (n-1)/n
 * bytes/B and 2 (n-1) latencies: nothing is fitted. Daydream takes a trace of kernels; published
 * points are whole steps, whose time is shared among the kernels as the roofline of the data sheet
 * says.
 */
#ifndef DLS_BASELINES_DAYDREAM_H
#define DLS_BASELINES_DAYDREAM_H

#include "workload/operator/hardware.h"
#include "workload/operator/workload.h"

#include <stdbool.h>

typedef struct dls_daydream {
    const dls_workload *w; /* borrowed */
    double *kernel_s;      /* [n_kernels] owned */
    bool *computes;        /* [n_kernels] owned: bound by computation, not by memory */
    double update_s;
    int n_workers;
    double bps, latency_s; /* of the link, for n_workers > 1 */
} dls_daydream;

/* A step of measured_s on one GPU. *d needs dls_daydream_fini only on success. ENOMEM. */
dls_status dls_daydream_profile(const dls_workload *w, const dls_hw_gpu *gpu, dls_numeric numeric,
                                double batch, double measured_s, dls_daydream *d,
                                dls_error *err) DLS_MUST_CHECK;
void dls_daydream_fini(dls_daydream *d); /* NULL-safe */

/* What if matrix units computed in 16 bits? Kernels bound by computation become three times as
 * fast, the others twice (Daydream's transformation for automatic mixed precision). */
void dls_daydream_mixed_precision(dls_daydream *d);
/* What if n workers exchanged gradients? */
void dls_daydream_distribute(dls_daydream *d, int n_workers, const dls_hw_link *link);

/* Seconds of the changed step. O(kernels). ENOMEM. */
dls_status dls_daydream_replay(const dls_daydream *d, double *step_s,
                               dls_error *err) DLS_MUST_CHECK;

#endif
