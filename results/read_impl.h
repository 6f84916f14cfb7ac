/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the reader: read.c opens files and runs, read_columns.c reads their long tables.
 */
#ifndef DLS_RESULTS_READ_IMPL_H
#define DLS_RESULTS_READ_IMPL_H

#include "base/strdict.h"
#include "results/read.h"
#include "results/tables.h"

struct dls_results {
    hid_t file, runs;
    char *path;
    dls_strdict ids;
};

typedef struct dls_run_text {
    char *name, *text; /* owned */
} dls_run_text;

struct dls_run {
    const dls_results *file;
    hid_t group, linked; /* the file that the run lies in, if it is another */
    char *id;
    dls_run_text *attrs;
    size_t n_attrs, attrs_cap;
    dls_summary summary;
    size_t n_jobs, n_allocs, n_series;
};

/* Rows of a table, by the length of one of its columns; 0 without the table. */
dls_status dls_run_count_rows(const dls_run *run, const char *table, const char *column, size_t *n,
                              dls_error *err) DLS_MUST_CHECK;

/* Read `count` of a column's n rows from `first` on. *out is owned; *width gets the bytes of one
 * value, for texts with room for the terminator. */
dls_status dls_run_read_rows(const dls_run *run, const char *name, dls_field_type want, size_t n,
                             size_t first, size_t count, void *out, size_t *width,
                             dls_error *err) DLS_MUST_CHECK;

#endif
