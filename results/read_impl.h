/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the reader: read.c opens files and runs, read_columns.c reads their long tables.
 */
#ifndef DLS_RESULTS_READ_IMPL_H
#define DLS_RESULTS_READ_IMPL_H

#include "base/strdict.h"
#include "results/h5.h"
#include "results/read.h"

/* No table of a results file is longer: a larger number is damage. */
#define DLS_ROWS_MAX INT32_MAX
/* Nor is any text. */
#define DLS_TEXT_MAX (1 << 20)

struct dls_results {
    dls_h5 h5;
    char *path;
    hid_t runs;
    dls_strdict ids;
};

typedef struct dls_run_text {
    char *name, *text; /* owned */
} dls_run_text;

struct dls_run {
    const dls_results *file;
    hid_t group;
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

/* The text of an attribute, owned. Numbers become decimals. */
dls_status dls_read_attr(const dls_h5 *h5, hid_t at, const char *name, char **out,
                         dls_error *err) DLS_MUST_CHECK;

#endif
