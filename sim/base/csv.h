/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Tables of text: one reader for all input that is lines of cells.
 *
 * Comma separated (RFC 4180 quoting, quoted cells may hold line ends), blank separated (runs of
 * blanks count as one), or separated by TAB or '|' (no quoting). A UTF-8 byte order mark, LF and CRLF, blank
 * lines and lines that start with '#' are passed over, blanks around cells are dropped, columns are
 * found by name. Every complaint names file:line:column (bytes, 1-based) and what was expected
 * there.
 *
 * Reading a cell allocates nothing: cells point into the text; copies of strings live in a scratch
 * buffer until the next row. A million rows of ten cells take about 0.3 s.
 *
 *      dls_csv_init(&csv, path, text, len, ',');
 *      dls_csv_header(&csv, err), dls_csv_bind_all(&csv, binds, n, err)      unless it has no header
 *      while (dls_csv_next(&csv, &more, err) == DLS_OK && more) { cells of one row }
 *      dls_csv_fini(&csv);
 */
#ifndef DLS_BASE_CSV_H
#define DLS_BASE_CSV_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DLS_CSV_MAX_COLS 128
#define DLS_CSV_MAX_CELL 65536 /* bytes of a text; longer ones are refused, by traces' builders, too */

typedef struct dls_csv_cell {
    const char *s; /* without quotes and outer blanks */
    uint32_t len;
    bool quoted, escaped; /* escaped: holds "" for " */
} dls_csv_cell;

typedef struct dls_csv {
    const char *path;       /* for messages */
    const char *next, *end; /* unread text */
    const char *line_start; /* of the line that the cells below start on */
    size_t line, next_line; /* 1-based */
    char sep;               /* ',', ';', '\t', '|', or ' ' for runs of blanks */
    char comment;           /* lines that start so are passed over: '#' unless changed */
    size_t n_marked;        /* comments behind the header that have as many cells as it: rows, maybe */
    bool any_cells;         /* rows with more or fewer cells than the header are no error: see n_cells */
    size_t n_header, n_cells;
    dls_csv_cell header[DLS_CSV_MAX_COLS]; /* n_header = 0: a table without header */
    dls_csv_cell cell[DLS_CSV_MAX_COLS];
    char *scratch;
    size_t scratch_len, scratch_cap;
    char *own; /* the text, if dls_csv_open has read it */
} dls_csv;

/* Start at the first line of text, which must outlive csv; fini frees the scratch buffer (and is
 * allowed after a failed init). */
void dls_csv_init(dls_csv *csv, const char *path, const char *text, size_t len, char sep);
/* The same for a comma separated file, gzip or not, of at most DLS_FILE_TABLE bytes, whose text fini
 * frees. Errors of dls_file_read_plain, after which fini has nothing to do. */
dls_status dls_csv_open(dls_csv *csv, const char *path, dls_error *err) DLS_MUST_CHECK;
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
/* Does the header of the text (separated by sep) have all these names ("a,b,c")? */
bool dls_csv_sniff(const char *text, size_t len, char sep, const char *names);

/* Read a table from its header to its end: row() for each, with the columns of names[n] in col[n], of which
 * the first n_required must be there (the others may be -1); n at most 32. Errors: those of the calls above,
 * and of row. */
typedef dls_status (*dls_csv_row_fn)(dls_csv *csv, const int *col, void *user, dls_error *err);
dls_status dls_csv_read(dls_csv *csv, const char *const *names, int n, int n_required,
                        dls_csv_row_fn row, void *user, dls_error *err) DLS_MUST_CHECK;
/* The same of a whole comma separated file. */
dls_status dls_csv_rows(const char *path, const char *const *names, int n, int n_required,
                        dls_csv_row_fn row, void *user, dls_error *err) DLS_MUST_CHECK;

/* An error at a cell of this row (col < 0: at the line): "column 'x': <text>". */
dls_status dls_csv_fail(const dls_csv *csv, int col, dls_error *err, const char *fmt, ...)
    DLS_PRINTF(4, 5);

/* True if there is no such column, or the cell is empty, None, NA, NaN, nan, NULL or null. */
bool dls_csv_missing(const dls_csv *csv, int col);
/* Cell text is exactly s. */
bool dls_csv_is(const dls_csv *csv, int col, const char *s);
/* The cell as a terminated string, the caller's until the next row; NULL if empty or col < 0. Once
 * for a cell of a row. */
char *dls_csv_str(dls_csv *csv, int col);
/* The same, and the same room; "" if empty or col < 0. */
const char *dls_csv_text(dls_csv *csv, int col);

/* A required number: out = cell * 10^scale within min..max; `what` says what was expected. Digits
 * beyond the scale are rounded or, in dls_csv_i64, an error. */
dls_status dls_csv_scaled(const dls_csv *csv, int col, const char *what, int scale, bool round,
                          int64_t min, int64_t max, int64_t *out, dls_error *err) DLS_MUST_CHECK;
dls_status dls_csv_i64(const dls_csv *csv, int col, const char *what, int scale, int64_t min,
                       int64_t max, int64_t *out, dls_error *err) DLS_MUST_CHECK;
/* The same as a real number of any form, `least` or more. */
dls_status dls_csv_real(dls_csv *csv, int col, const char *what, double least, double *out,
                        dls_error *err) DLS_MUST_CHECK;

/* Write a text as a cell that reads back as it is: quoted (RFC 4180) when it holds a separator, a
 * quote or a line end, begins or ends with a blank, or begins with '#'. */
void dls_csv_put(FILE *to, const char *text);
/* Write value / 10^scale, exactly and without trailing zeros. */
void dls_csv_put_scaled(FILE *to, int64_t value, int scale);

#endif
