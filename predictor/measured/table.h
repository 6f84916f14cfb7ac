/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the readers of measured files share: a CSV file, gzip or not, with named columns of which
 * most may be missing, and complaints about single rows.
 */
#ifndef DLS_MEASURED_TABLE_H
#define DLS_MEASURED_TABLE_H

#include "base/csv.h"
#include "workload/operator/hardware.h"

#define DLS_MEASURED_COLUMNS 32

/* What a column holds where a file does not have it: "optimiser=none", ... */
typedef struct dls_measured_defaults {
    const char *const *text; /* [n] "COLUMN=VALUE", borrowed */
    size_t n;
    bool *known; /* [n] set where the file could have that column; NULL: not asked for */
} dls_measured_defaults;

typedef struct dls_complaint {
    char text[320]; /* "file:line:column: ..." */
} dls_complaint;

typedef struct dls_complaints {
    dls_complaint *at; /* [n] owned */
    size_t n, cap;
} dls_complaints;

dls_status dls_complain(dls_complaints *list, const dls_error *what, dls_error *err) DLS_MUST_CHECK;

typedef struct dls_measured_table {
    dls_csv csv;
    char *text;    /* owned */
    char stem[64]; /* of the file's name */
    bool any;      /* a row was read */
    const char *const *names;
    int col[DLS_MEASURED_COLUMNS];
    const char *given[DLS_MEASURED_COLUMNS]; /* from the defaults, or NULL */
    char gpu[2 * DLS_HW_NAME];               /* found last, as the file spells it */
    const dls_hw_gpu *gpu_row;               /* NULL: none yet */
} dls_measured_table;

/* names[n]: of columns, alternatives joined by '|', in any case, with any signs between letters; the last is the time, which no default gives. needed: those that must be there or have a
 * default, -1 behind the last; NULL: none. Errors: EINPUT, ENOMEM. */
dls_status dls_measured_open(dls_measured_table *t, const char *path, const char *const *names,
                             size_t n, const int *needed, const dls_measured_defaults *defaults,
                             dls_error *err) DLS_MUST_CHECK;
/* Columns that are not read, as another has one of their names or they are slips of ones that are missing, are told to `doubts`. Errors: ENOMEM. */
dls_status dls_measured_doubt_columns(const dls_measured_table *t, size_t n, const char *path,
                                      dls_complaints *doubts, dls_error *err) DLS_MUST_CHECK;
void dls_measured_close(dls_measured_table *t);
/* The next row; why: what is wrong with its form, if anything is. Errors: EINPUT (the rest of the
 * file cannot be read, or there is no row at all). */
dls_status dls_measured_next(dls_measured_table *t, bool *more, dls_error *why,
                             dls_error *err) DLS_MUST_CHECK;

/* Is the header of the column, which is there, spelled so but for case and signs? */
bool dls_measured_column_is(const dls_measured_table *t, int column, const char *key);

/* Cells of the row; a missing one has the default, or else `otherwise`. */
void dls_measured_word(dls_measured_table *t, int column, const char *otherwise, char *out,
                       size_t size);
dls_status dls_measured_count(dls_measured_table *t, int column, int64_t otherwise, int64_t min,
                              int64_t max, int64_t *out, dls_error *err) DLS_MUST_CHECK;
/* Above 0, in seconds: of milliseconds, or of what the header's name ends in ("us", "s"); MiB thousandths. */
dls_status dls_measured_ms(const dls_measured_table *t, int column, double *seconds,
                           dls_error *err) DLS_MUST_CHECK;
/* Its row of the tables. */
dls_status dls_measured_gpu(dls_measured_table *t, int column, const dls_hardware *hw,
                            const dls_hw_gpu **out, dls_error *err) DLS_MUST_CHECK;

#endif
