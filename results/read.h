/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Read results back (docs/results.md gives the layout). A file that is missing, cut short, damaged,
 * of another format or of a newer version is an error (EINPUT) that names the file and the object.
 *
 * HDF5 is not thread safe: one thread of a process at a time.
 */
#ifndef DLS_RESULTS_READ_H
#define DLS_RESULTS_READ_H

#include "base/own.h"
#include "base/strdict.h"
#include "results/tables.h"

/* An open file. */
typedef struct dls_results {
    hid_t file, runs;
    char *path;
    dls_strdict ids; /* names of the runs, in order */
} dls_results;

typedef struct dls_run_text {
    char *name, *text; /* owned */
} dls_run_text;

/* One run of it. */
typedef struct dls_run {
    const dls_results *file;
    hid_t group, linked; /* the file that the run lies in, if it is another */
    char *id;
    dls_run_text *attrs; /* as text, numbers in decimal, in order of name */
    size_t n_attrs, attrs_cap;
    dls_summary summary;
    size_t n_jobs;
} dls_run;

dls_status dls_results_open(const char *path, dls_results **out, dls_error *err) DLS_MUST_CHECK;
/* NULL-safe. The file's runs must have been closed. */
void dls_results_close(dls_results *file);
DLS_OWNER(dls_results, dls_results_close)
/* The i-th run's name, borrowed. */
static inline const char *dls_results_run_id(const dls_results *file, size_t i)
{
    return dls_strdict_get(&file->ids, (int32_t)i);
}

/* Read a run's attributes and summary. id NULL: the only run; an error if there are several. */
dls_status dls_run_open(const dls_results *file, const char *id, dls_run **out,
                        dls_error *err) DLS_MUST_CHECK;
void dls_run_close(dls_run *run); /* NULL-safe */
DLS_OWNER(dls_run, dls_run_close)

/* Close the HDF5 file: the run's texts and numbers and the file's list of runs stay. No other run
 * of it may be open. */
void dls_run_let_go(dls_results *file, dls_run *run);
/* Open a file that was let go again, for another of its runs; the list of them is the one that was read. */
dls_status dls_results_reopen(dls_results *file, dls_error *err) DLS_MUST_CHECK;

/* Read every table once, in blocks, then those of the record into `rec`, which is zero before, and compare
 * them with their digests: EINPUT names the first that is not what was written. Without `all` only columns that
 * every run has. rec is for dls_run_free_record in any case. O(size of the run). */
dls_status dls_run_read_record(const dls_run *run, bool all, dls_record *rec,
                               dls_error *err) DLS_MUST_CHECK;
void dls_run_free_record(dls_record *rec);
/* The same for who needs no columns. */
dls_status dls_run_verify(const dls_run *run, dls_error *err) DLS_MUST_CHECK;

/* The text of an attribute, "" if there is none of this name. */
const char *dls_run_attr(const dls_run *run, const char *name);

/* Rows of a table, by the length of one of its columns; 0 without the table. */
dls_status dls_run_count_rows(const dls_run *run, const char *table, const char *column, size_t *n,
                              dls_error *err) DLS_MUST_CHECK;

/* Read a column of n rows. *out is owned; *width gets the bytes of one value, for texts with room
 * for the terminator. */
dls_status dls_run_read_column(const dls_run *run, const char *name, dls_field_type want, size_t n,
                               void *out, size_t *width, dls_error *err) DLS_MUST_CHECK;
/* The columns of a table of n rows into `rows`, for dls_table_free in any case; without `all` only
 * those that every run has. */
dls_status dls_run_read_table(const dls_run *run, const dls_record_table *table, size_t n, bool all,
                              void *rows, dls_error *err) DLS_MUST_CHECK;

#endif
