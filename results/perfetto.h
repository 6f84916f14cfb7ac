/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A run for trace viewers (ui.perfetto.dev, chrome://tracing): the Trace Event Format as JSON
 * (docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU). A node is a process, a
 * GPU a thread, a job a slice on every GPU that it holds; the cluster's state over time is a set of
 * counters. Times are the run's own, in microseconds.
 */
#ifndef DLS_RESULTS_PERFETTO_H
#define DLS_RESULTS_PERFETTO_H

#include "results/read.h"

typedef struct dls_perfetto_options {
    int64_t from_us, until_us; /* slices that touch this span, counters within it */
} dls_perfetto_options;

/* Counts of what was written. */
typedef struct dls_perfetto_counts {
    uint64_t slices, counters;
} dls_perfetto_counts;

/* A GPU that jobs share has a thread for each of them. O(n log n) in allocations. Errors: EINPUT
 * (the file is damaged, or holds neither allocations nor a series), EOUTPUT, ENOMEM. */
dls_status dls_perfetto_write(FILE *out, const dls_run *run, const dls_perfetto_options *options,
                              dls_perfetto_counts *counts, dls_error *err) DLS_MUST_CHECK;

#endif
