/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Runs of results files as tables: any table of dlsim's as CSV or Arrow, or the jobs as Batsim's
 * jobs.csv and the Standard Workload Format have them.
 */
#ifndef DLS_CLI_EXPORT_TABLES_H
#define DLS_CLI_EXPORT_TABLES_H

#include "base/owners.h"
#include "dlsim/results.h"

#include <stdio.h>

/* A run of the file; which, must be said if there are several: EUSAGE. */
dls_status dls_export_open(const char *path, const char *run_id, dls_saved **out,
                           dls_error *err) DLS_MUST_CHECK;

/* Every column under its name; codes as what they mean, "" for none. Returns how many rows. */
size_t dls_export_csv(FILE *to, const dls_saved *run, dls_table table);
/* The same as an Arrow IPC file; no code is null. Errors: ENOMEM, EINPUT (2 GiB of texts). */
dls_status dls_export_arrow(FILE *to, const dls_saved *run, dls_table table, size_t *rows,
                            dls_error *err) DLS_MUST_CHECK;
/* The jobs that ran to their end. Times are exact decimal seconds. */
size_t dls_export_batsim(FILE *to, const dls_saved *run);
/* All jobs; times in whole seconds. */
size_t dls_export_swf(FILE *to, const dls_saved *run);

/* For trace viewers (ui.perfetto.dev, chrome://tracing): the Trace Event Format as JSON
 * (docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU). A node is a process, a
 * GPU a thread, or several if jobs share it, a job a slice on every GPU that it holds; the
 * cluster's state over time is a set of counters. Times are the run's own, in microseconds. */
typedef struct dls_perfetto {
    int64_t from_us, until_us; /* slices that touch this span, counters that hold in it */
    size_t slices, counters;   /* what was written */
} dls_perfetto;
/* O(n log n) in allocations. Errors: EINPUT (neither allocations nor a series), ENOMEM. */
dls_status dls_export_perfetto(FILE *to, const dls_saved *run, dls_perfetto *span,
                               dls_error *err) DLS_MUST_CHECK;

/* Columns of a table by name into c[n]; one that was not recorded has no rows and no data. */
void dls_export_find(const dls_saved *run, dls_table table, const char *const *names, size_t n,
                     dls_result_column *c);
/* Of a column of jobs: whether values are codes; an integer, -1 without data; bytes of a value. */
bool dls_export_is_code(const char *name);
int64_t dls_export_at(const dls_result_column *c, size_t row);
size_t dls_export_width(dls_value_type type);

#endif
