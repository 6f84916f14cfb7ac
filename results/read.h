/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Read results back (docs/results.md gives the layout). A file that is missing, cut short, damaged,
 * of another format or of a newer version is an error (EINPUT) that names the file and the object.
 *
 * HDF5 is not thread safe: one thread of a process at a time.
 */
#ifndef DLS_RESULTS_READ_H
#define DLS_RESULTS_READ_H

#include "results/summary.h"

typedef struct dls_results dls_results; /* an open file */
typedef struct dls_run dls_run;         /* one run of it */

dls_status dls_results_open(const char *path, dls_results **out, dls_error *err) DLS_MUST_CHECK;
/* NULL-safe. The file's runs must have been closed. */
void dls_results_close(dls_results *file);
size_t dls_results_n_runs(const dls_results *file);
/* By name, borrowed; in order of name. */
const char *dls_results_run_id(const dls_results *file, size_t i);

/* Read a run's attributes and summary. id NULL: the only run; an error if there are several. */
dls_status dls_run_open(const dls_results *file, const char *id, dls_run **out,
                        dls_error *err) DLS_MUST_CHECK;
void dls_run_close(dls_run *run); /* NULL-safe */

/* Close the HDF5 file: the run's texts and numbers and the file's list of runs stay. No other run
 * of it may be open. */
void dls_run_let_go(dls_results *file, dls_run *run);

/* Read every table once, in blocks, and compare the jobs with their digest: EINPUT names the first
 * column that is not what was written. O(size of the run). */
dls_status dls_run_verify(const dls_run *run, dls_error *err) DLS_MUST_CHECK;

const char *dls_run_id(const dls_run *run);
const dls_summary *dls_run_summary(const dls_run *run);
/* Attributes as text, numbers in decimal, in order of name; borrowed. */
size_t dls_run_n_attrs(const dls_run *run);
const char *dls_run_attr_name(const dls_run *run, size_t i);
/* "" if there is none of this name. */
const char *dls_run_attr(const dls_run *run, const char *name);
/* Rows of the long tables; 0 if a table is not in the file. */
size_t dls_run_n_jobs(const dls_run *run);
size_t dls_run_n_allocs(const dls_run *run);
size_t dls_run_n_series(const dls_run *run);

/* What happened to the jobs: their columns, allocations and series (each if asked for), checked against
 * the digest. *out is owned by the caller (dls_record_destroy). O(rows). */
dls_status dls_run_read_record(const dls_run *run, bool allocs, bool series, dls_record **out,
                               dls_error *err) DLS_MUST_CHECK;

#endif
