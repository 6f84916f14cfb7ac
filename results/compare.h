/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs side by side: each figure and its ratio to the first run. Pure formatting.
 */
#ifndef DLS_RESULTS_COMPARE_H
#define DLS_RESULTS_COMPARE_H

#include "results/summary.h"

typedef struct dls_compare_run {
    const char *label;        /* shown in the table: "dlas-gpu/consolidated", a file name */
    const char *trace_sha256; /* "" or NULL: unknown */
    const dls_summary *summary;
} dls_compare_run;

/* A table for people: one line per run, then one table per gang size class that has jobs. Ratios
 * are value / value of the first run. */
void dls_compare_print(FILE *out, const dls_compare_run *runs, size_t n);
/* A JSON object: {"runs": [{"label", "trace_sha256", "summary", "ratio"}, ...]} and a line end. */
dls_status dls_compare_json(FILE *out, const dls_compare_run *runs, size_t n,
                            dls_error *err) DLS_MUST_CHECK;
/* The first run whose trace differs from that of run 0 (both known), or 0. */
size_t dls_compare_other_trace(const dls_compare_run *runs, size_t n);

#endif
