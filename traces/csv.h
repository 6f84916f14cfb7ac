/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables of text: one reader for all trace formats that are lines of cells.
 *
 * Comma separated (RFC 4180 quoting, quoted cells may hold line ends), blank separated (runs of
 * blanks count as one) or TAB separated (no quoting). LF and CRLF, blank lines and lines that start
 * with '#' are passed over, blanks around cells are dropped, columns are found by name. Every
 * complaint names file:line:column (bytes, 1-based) and what was expected there.
 *
 * Reading a cell allocates nothing: cells point into the source; copies of strings live in a
 * scratch buffer until the next row. A million rows of ten cells take about 0.3 s.
 */
#ifndef DLS_TRACES_CSV_H
#define DLS_TRACES_CSV_H

#include "dlsim/trace.h"

#define DLS_CSV_MAX_COLS 128
#define DLS_CSV_MAX_CELL 65536 /* bytes; longer cells are refused */

typedef struct dls_csv_cell {
    const char *s; /* without quotes and outer blanks */
    uint32_t len;
    bool quoted, escaped; /* escaped: holds "" for " */
} dls_csv_cell;

typedef struct dls_csv {
    const dls_trace_source *src;
    const char *next, *end; /* unread text */
    const char *line_start; /* of the line that the cells below start on */
    size_t line, next_line; /* 1-based */
    char sep;               /* ',', '\t', or ' ' for runs of blanks */
    char comment;           /* lines that start so are passed over: '#' unless changed */
    size_t n_header, n_cells;
    dls_csv_cell header[DLS_CSV_MAX_COLS]; /* n_header = 0: a table without header */
    dls_csv_cell cell[DLS_CSV_MAX_COLS];
    char *scratch;
    size_t scratch_len, scratch_cap;
} dls_csv;

/* Start at the first line; fini frees the scratch buffer (and is allowed after a failed init). */
void dls_csv_init(dls_csv *csv, const dls_trace_source *src, char sep);
void dls_csv_fini(dls_csv *csv);
/* The header: the first line that is not blank and not a comment; a first line that starts with
 * "#job id" is a header too. DLS_EINPUT if there is none or a name repeats. */
dls_status dls_csv_header(dls_csv *csv, dls_error *err) DLS_MUST_CHECK;
/* Next row into cell[]; *more = false at the end. A row whose number of cells differs from the
 * header's is an error. */
dls_status dls_csv_next(dls_csv *csv, bool *more, dls_error *err) DLS_MUST_CHECK;

/* The same without room for dls_csv_str: allocates nothing, so sniffing cannot run out of memory.
 */
dls_status dls_csv_cells(dls_csv *csv, bool *more, dls_error *err) DLS_MUST_CHECK;

/* Which column is which: alternatives joined by '|', the first that the header has is taken. */
typedef struct dls_csv_bind {
    const char *names;
    int *col; /* set to the column, or -1 */
    bool required;
} dls_csv_bind;
/* All missing required columns are reported at once. */
dls_status dls_csv_bind_all(const dls_csv *csv, const dls_csv_bind *binds, size_t n,
                            dls_error *err) DLS_MUST_CHECK;
/* -1 if the header has none of the alternatives. */
int dls_csv_find(const dls_csv *csv, const char *names);

/* An error at a cell of this row (col < 0: at the line): "column 'x': <text>". */
dls_status dls_csv_fail(const dls_csv *csv, int col, dls_error *err, const char *fmt, ...)
    DLS_PRINTF(4, 5);

/* True if there is no such column, or the cell is empty, None, NA, NaN, nan, NULL or null. */
bool dls_csv_missing(const dls_csv *csv, int col);
/* Cell text is exactly s. */
bool dls_csv_is(const dls_csv *csv, int col, const char *s);

/* Required numbers: out = cell * 10^scale within min..max; `what` says what was expected. Digits
 * beyond the scale are an error in dls_csv_i64 and rounded in dls_csv_us. */
dls_status dls_csv_i64(const dls_csv *csv, int col, const char *what, int scale, int64_t min,
                       int64_t max, int64_t *out, dls_error *err) DLS_MUST_CHECK;
/* A time; scale 6 for a column in seconds, 3 for milliseconds, 0 for microseconds. */
dls_status dls_csv_us(const dls_csv *csv, int col, const char *what, int scale, int64_t *out,
                      dls_error *err) DLS_MUST_CHECK;
/* The same when the cell is there, DLS_ABSENT when it is missing. */
dls_status dls_csv_opt_i64(const dls_csv *csv, int col, const char *what, int scale, int64_t *out,
                           dls_error *err) DLS_MUST_CHECK;
dls_status dls_csv_opt_us(const dls_csv *csv, int col, const char *what, int scale, int64_t *out,
                          dls_error *err) DLS_MUST_CHECK;
/* A duration: as dls_csv_us, but a negative one becomes 0 (the builder flags it). */
dls_status dls_csv_duration(const dls_csv *csv, int col, int scale, int64_t *out,
                            dls_error *err) DLS_MUST_CHECK;
/* GPUs in 1/1000, at least 0. */
dls_status dls_csv_gpus(const dls_csv *csv, int col, int64_t *milli, dls_error *err) DLS_MUST_CHECK;
/* "YYYY-MM-DD HH:MM:SS" with or without offset, see date.h. */
dls_status dls_csv_date(const dls_csv *csv, int col, int64_t *us, dls_error *err) DLS_MUST_CHECK;
/* The cell as a terminated string, valid until the next row; NULL if empty or col < 0. */
const char *dls_csv_str(dls_csv *csv, int col);

/* dls_trace_builder_add with this row as the place. */
dls_status dls_csv_add(const dls_csv *csv, dls_trace_builder *b, const dls_job_rec *rec,
                       dls_error *err) DLS_MUST_CHECK;

/* A whole table: header, columns, then row() for every row until the builder is full; `cols` is the
 * caller's, with the column numbers that binds points to. n_binds = 0: a table without header. */
typedef dls_status (*dls_csv_row)(dls_csv *csv, const void *cols, dls_trace_builder *b,
                                  dls_error *err);
dls_status dls_csv_read(const dls_trace_source *src, char sep, const dls_csv_bind *binds,
                        size_t n_binds, dls_csv_row row, void *cols, dls_trace_builder *b,
                        dls_error *err) DLS_MUST_CHECK;

/* For sniffing: does the header of src (separated by sep) have all these names ("a,b,c")? */
bool dls_csv_sniff(const dls_trace_source *src, char sep, const char *names);

#endif
