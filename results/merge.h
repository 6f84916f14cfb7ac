/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Many results files as one: the runs, and a table of the points that they are.
 *
 *      /runs/<id>/         as in the file that it comes from, copied or linked
 *      /points/<column>    one row per point; docs/sweeps.md
 */
#ifndef DLS_RESULTS_MERGE_H
#define DLS_RESULTS_MERGE_H

#include "results/read.h"
#include "results/schema.h"

typedef struct dls_merge_run {
    const char *path; /* the file, which holds one run */
    const char *id;   /* the run's name in the merged file */
    const char *own;  /* and in its own; NULL: the file is asked. A file that is linked is not opened with it. */
} dls_merge_run;

/* An attribute of /points. */
typedef struct dls_merge_text {
    const char *name, *text;
} dls_merge_text;

typedef struct dls_merge {
    const dls_merge_run *runs;
    size_t n_runs;
    bool link; /* by external links: small, and of no use without the files */
    const dls_column *columns;
    size_t n_columns, n_points;
    const dls_merge_text *texts;
    size_t n_texts;
} dls_merge;

/* The file appears when it is whole. O(size of the runs), of their number with links. Links are
 * relative to the merged file's folder where the files lie below it. Errors: EINPUT (a file that is
 * no result), EOUTPUT, ENOMEM. */
dls_status dls_results_merge(const char *path, const dls_merge *merge,
                             dls_error *err) DLS_MUST_CHECK;

/* The table of points of a merged file, as far as a comparison needs it. */
typedef struct dls_points {
    size_t n;    /* 0: the file has no such table */
    char *run;   /* [n * run_width] its run, "" if it has none */
    char *label; /* [n * label_width] what its design is called */
    int64_t *design, *replica;
    bool seeded; /* designs were run with seeds of the sweep's; else a run's seed is its design's */
    size_t run_width, label_width; /* texts are terminated */
    char *baseline;                /* labels or parts of some, a line each; "" */
} dls_points;

/* *out needs dls_points_fini in any case. */
dls_status dls_points_read(const dls_results *file, dls_points *out, dls_error *err) DLS_MUST_CHECK;
void dls_points_fini(dls_points *points);

#endif
