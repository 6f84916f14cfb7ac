/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs side by side: each figure and its ratio to the first run. Pure formatting.
 */
#ifndef DLS_RESULTS_COMPARE_H
#define DLS_RESULTS_COMPARE_H

#include "results/summary.h"

typedef struct dls_compare_run {
    const char *label;        /* shown in the table: "dlas-gpu/consolidated", a file name, a design */
    const char *trace_sha256; /* "" or NULL: unknown */
    const dls_summary *summary;
    size_t design;   /* runs of one design differ in their seed alone; numbered from 0 */
    int64_t replica; /* runs of one replica, the seed where there are several, share their random numbers */
} dls_compare_run;

/* A table for people: one line per run, then one table per gang size class that has jobs. Ratios
 * are value / value of the first run. */
void dls_compare_print(FILE *out, const dls_compare_run *runs, size_t n);
/* A JSON object: {"runs": [{"label", "trace_sha256", "summary", "ratio"}, ...]} and a line end. */
dls_status dls_compare_json(FILE *out, const dls_compare_run *runs, size_t n,
                            dls_error *err) DLS_MUST_CHECK;
/* ---- several runs per design -------------------------------------------------------------------
 *
 * A figure of a design is the mean over its runs, with the half width of its 95 % confidence
 * interval (Student's t with n - 1 degrees of freedom). A ratio is the mean over the replicas that
 * both designs have, each run against the run with the same random numbers, which takes most of
 * their noise out (common random numbers: Law, Simulation Modeling and Analysis, 11.2); its
 * interval is that of the paired ratios.
 *
 * A baseline is a design's label or a part of one ("random" or "nic=40 Gb/s" of "srtf/random,
 * nic=40 Gb/s": policies are divided by '/', keys by ", "). A part stands, for each design, for the one that has it in place of
 * one part of its own.
 */

/* Is `name` the label, or a part of it? */
bool dls_compare_label_has(const char *label, const char *name);

typedef struct dls_compare_options {
    const char *const *baselines; /* none: the first design */
    size_t n_baselines;
} dls_compare_options;

/* A table for people. Runs of a design need not stand together. O(n log n), with baselines
 * O(designs) for each. Errors: EUSAGE if a baseline is in no label, ENOMEM. */
dls_status dls_compare_designs_print(FILE *out, const dls_compare_run *runs, size_t n,
                                     const dls_compare_options *options,
                                     dls_error *err) DLS_MUST_CHECK;
/* {"designs": [{"label", "runs", "figures": {name: {"n", "mean", "half_width"}}, "ratios":
 * [{"baseline", "label", "figures": {...}}]}]} and a line end. n: the runs, or pairs, that have such a
 * number; the mean is theirs. */
dls_status dls_compare_designs_json(FILE *out, const dls_compare_run *runs, size_t n,
                                    const dls_compare_options *options,
                                    dls_error *err) DLS_MUST_CHECK;

#endif
