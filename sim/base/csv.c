/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reader of tables of text in three dialects (comma, blank, TAB): cells point into the text,
 * columns are found by name, errors name line and column.
 */
#include "base/csv.h"

#include "base/assert.h"
#include "base/decimal.h"
#include "base/file.h"
#include "base/own.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void dls_csv_init(dls_csv *csv, const char *path, const char *text, size_t len, char sep)
{
    DLS_ASSERT((text || len == 0) && sep && strchr(",;\t| ", sep));
    const bool marked = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    csv->path = path;
    csv->next = csv->line_start = text + (marked ? 3 : 0);
    csv->end = text + len;
    csv->line = csv->next_line = 1;
    csv->sep = sep;
    csv->comment = '#';
    csv->n_marked = 0;
    csv->any_cells = false;
    csv->n_header = csv->n_cells = 0;
    csv->scratch = NULL;
    csv->scratch_len = csv->scratch_cap = 0;
    csv->own = NULL;
}

dls_status dls_csv_open(dls_csv *csv, const char *path, dls_error *err)
{
    char *text;
    size_t len;
    DLS_TRY(dls_file_read_plain(path, DLS_FILE_TABLE, &text, &len, err));
    dls_csv_init(csv, path, text, len, ',');
    csv->own = text;
    return DLS_OK;
}

void dls_csv_fini(dls_csv *csv)
{
    DLS_FREE_ALL(csv->scratch, csv->own);
    csv->scratch = csv->own = NULL;
}

/* "path:line:column" of a byte of this row, whose quoted cells may hold line ends. */
static void where_is(const dls_csv *csv, const char *at, char *where, size_t size)
{
    size_t line = csv->line;
    const char *start = csv->line_start;
    for (const char *p = start; p < at; p++) {
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    }
    snprintf(where, size, "%.200s:%zu:%zu", csv->path, line, (size_t)(at - start) + 1);
}

dls_status dls_csv_fail(const dls_csv *csv, int col, dls_error *err, const char *fmt, ...)
{
    DLS_ASSERT(col < 0 || (size_t)col < csv->n_cells);
    char where[256], text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (col < 0) {
        snprintf(where, sizeof where, "%.200s:%zu", csv->path, csv->line);
        return dls_fail(err, DLS_EINPUT, where, "%s", text);
    }
    where_is(csv, csv->cell[col].s, where, sizeof where);
    if ((size_t)col >= csv->n_header) {
        return dls_fail(err, DLS_EINPUT, where, "field %d: %s", col + 1, text);
    }
    const dls_csv_cell *name = &csv->header[col];
    return dls_fail(err, DLS_EINPUT, where, "column '%.*s': %s",
                    (int)(name->len < 80 ? name->len : 80), name->s, text);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The quoted cell that opens at p: *p_end is left behind the closing quote. */
static dls_status read_quoted(dls_csv *csv, const char *p, dls_csv_cell *cell, const char **p_end,
                              dls_error *err)
{
    const char *open = p++;
    size_t doubled = 0; /* quotes, each of which is one of the text */
    *cell = (dls_csv_cell){.s = p, .quoted = true};
    for (;; p++) {
        if (p == csv->end) {
            char where[256];
            where_is(csv, open, where, sizeof where);
            return dls_fail(err, DLS_EINPUT, where, "the quote that opens here is never closed");
        }
        if (*p == '\n') {
            csv->next_line++;
        } else if (*p == '"') {
            if (p + 1 == csv->end || p[1] != '"') {
                break;
            }
            cell->escaped = true;
            doubled++;
            p++;
        }
    }
    const size_t size = (size_t)(p - cell->s) - doubled;
    if (size > DLS_CSV_MAX_CELL) {
        char where[256];
        where_is(csv, open, where, sizeof where);
        return dls_fail(err, DLS_EINPUT, where, "a cell of %zu bytes (at most %d)", size,
                        DLS_CSV_MAX_CELL);
    }
    cell->len = (uint32_t)(p - cell->s);
    *p_end = p + 1;
    return DLS_OK;
}

/* One cell from p on; *p_end is left at its separator, its line end or the end of the text. */
static dls_status read_cell(dls_csv *csv, const char *p, dls_csv_cell *cell, const char **p_end,
                            dls_error *err)
{
    const char sep = csv->sep;
    const char *end = csv->end;
    while (p < end && is_blank(*p) && *p != sep) {
        p++;
    }
    char where[256];
    if (p < end && *p == '"' && sep != '\t' && sep != '|') {
        DLS_TRY(read_quoted(csv, p, cell, &p, err));
        const bool apart = sep == ' ' && p < end && is_blank(*p);
        while (p < end && is_blank(*p) && *p != sep) {
            p++;
        }
        if (p < end && !apart && *p != sep && *p != '\n') {
            where_is(csv, p, where, sizeof where);
            return dls_fail(err, DLS_EINPUT, where,
                            "text behind a closing quote, expected '%c' or the end of the line",
                            sep);
        }
        *p_end = p;
        return DLS_OK;
    }
    const char *s = p;
    if (sep == ' ') {
        while (p < end && !is_blank(*p) && *p != '\n') {
            p++;
        }
    } else {
        while (p < end && *p != sep && *p != '\n') {
            p++;
        }
    }
    *p_end = p;
    while (p > s && is_blank(p[-1])) {
        p--;
    }
    if (p - s > DLS_CSV_MAX_CELL) {
        where_is(csv, s, where, sizeof where);
        return dls_fail(err, DLS_EINPUT, where, "a cell of %zu bytes (at most %d)", (size_t)(p - s),
                        DLS_CSV_MAX_CELL);
    }
    *cell = (dls_csv_cell){.s = s, .len = (uint32_t)(p - s)};
    return DLS_OK;
}

/* Whether the comment from p to end has the cells of a row, as one has whose first cell begins with the mark. */
static bool is_marked_row(const dls_csv *csv, const char *p, const char *end)
{
    size_t cells = 1;
    for (; p < end; p++) {
        cells += *p == csv->sep;
    }
    return csv->n_header > 1 && csv->sep != ' ' && cells == csv->n_header;
}

/* Pass over blank lines and comments; false at the end of the text. */
static bool skip_to_row(dls_csv *csv)
{
    while (csv->next < csv->end) {
        const char *p = csv->next;
        while (p < csv->end && is_blank(*p)) {
            p++;
        }
        if (p < csv->end && *p != '\n' && *p != csv->comment) {
            return true;
        }
        const char *eol = p < csv->end ? memchr(p, '\n', (size_t)(csv->end - p)) : NULL;
        csv->n_marked += p < csv->end && *p == csv->comment && is_marked_row(csv, p, eol ? eol : csv->end);
        if (!eol) {
            csv->next = csv->end;
            return false;
        }
        csv->next = eol + 1;
        csv->next_line++;
    }
    return false;
}

static dls_status read_row(dls_csv *csv, dls_csv_cell *cells, size_t *n, dls_error *err)
{
    csv->line = csv->next_line;
    csv->line_start = csv->next;
    const char *p = csv->next;
    *n = 0;
    if (csv->sep == ' ') {
        while (p < csv->end && is_blank(*p)) {
            p++;
        }
    }
    for (;;) {
        if (*n == DLS_CSV_MAX_COLS) {
            char where[256];
            where_is(csv, p, where, sizeof where);
            return dls_fail(err, DLS_EINPUT, where, "more than %d columns", DLS_CSV_MAX_COLS);
        }
        DLS_TRY(read_cell(csv, p, &cells[*n], &p, err));
        (*n)++;
        if (csv->sep == ' ') {
            while (p < csv->end && is_blank(*p)) {
                p++;
            }
            if (p < csv->end && *p != '\n') {
                continue;
            }
        }
        if (p == csv->end || *p == '\n') {
            break;
        }
        p++;
    }
    if (p < csv->end) {
        p++;
        csv->next_line++;
    }
    csv->next = p;
    return DLS_OK;
}

dls_status dls_csv_cells(dls_csv *csv, bool *more, dls_error *err)
{
    DLS_DEBUG_ASSERT(csv->next <= csv->end);
    *more = skip_to_row(csv);
    if (!*more) {
        return DLS_OK;
    }
    DLS_TRY(read_row(csv, csv->cell, &csv->n_cells, err));
    if (csv->n_header && csv->n_cells != csv->n_header && !csv->any_cells) {
        return dls_csv_fail(csv, -1, err, "%zu cells, but the header has %zu columns", csv->n_cells,
                            csv->n_header);
    }
    return DLS_OK;
}

dls_status dls_csv_next(dls_csv *csv, bool *more, dls_error *err)
{
    DLS_TRY(dls_csv_cells(csv, more, err));
    if (!*more) {
        return DLS_OK;
    }
    /* Copies of all strings of this row will fit: dls_csv_str cannot fail. */
    csv->scratch_len = 0;
    return dls_grow(&csv->scratch, &csv->scratch_cap,
                    (size_t)(csv->next - csv->line_start) + csv->n_cells + 1, 1, err);
}

/* ---- the header ------------------------------------------------------------------------------ */

static bool same(const dls_csv_cell *cell, const char *s, size_t len)
{
    return cell->len == len && memcmp(cell->s, s, len) == 0;
}

/* Leave next at the header line; false if there is none. */
static bool find_header(dls_csv *csv)
{
    static const char rfold[] = "#job id";
    const size_t left = (size_t)(csv->end - csv->next);
    return (left >= sizeof rfold - 1 && memcmp(csv->next, rfold, sizeof rfold - 1) == 0) ||
           skip_to_row(csv);
}

dls_status dls_csv_header(dls_csv *csv, dls_error *err)
{
    DLS_ASSERT(csv->n_header == 0);
    if (!find_header(csv)) {
        return dls_fail(err, DLS_EINPUT, csv->path, "no header line: the file has no data");
    }
    DLS_TRY(read_row(csv, csv->header, &csv->n_header, err));
    for (size_t i = 0; i < csv->n_header; i++) {
        for (size_t j = 0; j < i; j++) {
            if (csv->header[i].len && same(&csv->header[j], csv->header[i].s, csv->header[i].len)) {
                char where[256];
                where_is(csv, csv->header[i].s, where, sizeof where);
                return dls_fail(err, DLS_EINPUT, where, "two columns are named '%.*s'",
                                (int)(csv->header[i].len < 80 ? csv->header[i].len : 80),
                                csv->header[i].s);
            }
        }
    }
    return DLS_OK;
}

int dls_csv_find(const dls_csv *csv, const char *names)
{
    for (const char *p = names;;) {
        const size_t len = strcspn(p, "|");
        for (size_t i = 0; i < csv->n_header; i++) {
            if (same(&csv->header[i], p, len)) {
                return (int)i;
            }
        }
        if (p[len] == '\0') {
            return -1;
        }
        p += len + 1;
    }
}

dls_status dls_csv_bind_all(const dls_csv *csv, const dls_csv_bind *binds, size_t n, dls_error *err)
{
    char missing[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        *binds[i].col = dls_csv_find(csv, binds[i].names);
        if (binds[i].required && *binds[i].col < 0 && used < sizeof missing) {
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s'%.*s'",
                                     used ? ", " : "", (int)strcspn(binds[i].names, "|"),
                                     binds[i].names);
        }
    }
    if (used) {
        return dls_csv_fail(csv, -1, err, "the header lacks the column %s", missing);
    }
    return DLS_OK;
}

dls_status dls_csv_read(dls_csv *csv, const char *const *names, int n, int n_required,
                        dls_csv_row_fn row, void *user, dls_error *err)
{
    int col[32];
    dls_csv_bind binds[32];
    DLS_ASSERT(n > 0 && n <= 32 && n_required <= n);
    for (int i = 0; i < n; i++) {
        binds[i] = (dls_csv_bind){names[i], &col[i], i < n_required};
    }
    DLS_TRY(dls_csv_header(csv, err));
    DLS_TRY(dls_csv_bind_all(csv, binds, (size_t)n, err));
    for (bool more;;) {
        DLS_TRY(dls_csv_next(csv, &more, err));
        if (!more) {
            return DLS_OK;
        }
        DLS_TRY(row(csv, col, user, err));
    }
}

dls_status dls_csv_rows(const char *path, const char *const *names, int n, int n_required,
                        dls_csv_row_fn row, void *user, dls_error *err)
{
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    DLS_TRY(dls_csv_open(&csv, path, err));
    return dls_csv_read(&csv, names, n, n_required, row, user, err);
}

bool dls_csv_sniff(const char *text, size_t len, char sep, const char *names)
{
    dls_csv csv;
    dls_csv_init(&csv, "", text, len, sep);
    if (!find_header(&csv) || read_row(&csv, csv.header, &csv.n_header, NULL) != DLS_OK) {
        return false;
    }
    for (const char *p = names;;) {
        const size_t n = strcspn(p, ",");
        bool found = false;
        for (size_t i = 0; i < csv.n_header && !found; i++) {
            found = same(&csv.header[i], p, n);
        }
        if (!found || p[n] == '\0') {
            return found;
        }
        p += n + 1;
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static int shown(const dls_csv_cell *cell)
{
    return (int)(cell->len < 60 ? cell->len : 60);
}

bool dls_csv_is(const dls_csv *csv, int col, const char *s)
{
    DLS_DEBUG_ASSERT(col < (int)csv->n_cells);
    const size_t len = strlen(s);
    return col >= 0 && csv->cell[col].len == len && memcmp(csv->cell[col].s, s, len) == 0;
}

bool dls_csv_missing(const dls_csv *csv, int col)
{
    DLS_DEBUG_ASSERT(col < (int)csv->n_cells);
    static const char *const words[] = {"None", "NA", "NaN", "nan", "NULL", "null"};
    if (col < 0 || csv->cell[col].len == 0) {
        return true;
    }
    if (csv->cell[col].len > 4 || (unsigned char)csv->cell[col].s[0] < 'A') {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (dls_csv_is(csv, col, words[i])) {
            return true;
        }
    }
    return false;
}

dls_status dls_csv_scaled(const dls_csv *csv, int col, const char *what, int scale, bool round,
                          int64_t min, int64_t max, int64_t *out, dls_error *err)
{
    DLS_ASSERT(col >= 0 && (size_t)col < csv->n_cells && min <= max);
    const dls_csv_cell *cell = &csv->cell[col];
    if (cell->len == 0) {
        return dls_csv_fail(csv, col, err, "empty, expected %s", what);
    }
    switch (dls_decimal_parse(cell->s, cell->len, scale, out)) {
    case DLS_DECIMAL_EXACT:
        break;
    case DLS_DECIMAL_ROUNDED:
        if (!round) {
            return dls_csv_fail(csv, col, err,
                                scale ? "'%.*s' has more than %d decimals, expected %s"
                                      : "'%.*s' is not whole (%d decimals allowed), expected %s",
                                shown(cell), cell->s, scale, what);
        }
        break;
    case DLS_DECIMAL_OVERFLOW:
        return dls_csv_fail(csv, col, err, "'%.*s' is too large, expected %s", shown(cell), cell->s,
                            what);
    case DLS_DECIMAL_NAN:
    case DLS_DECIMAL_BAD:
        return dls_csv_fail(csv, col, err, "'%.*s' is not a number, expected %s", shown(cell),
                            cell->s, what);
    }
    if (*out < min || *out > max) {
        return dls_csv_fail(csv, col, err, "'%.*s' is %s, expected %s", shown(cell), cell->s,
                            *out > max ? "too large"
                            : *out < 0 ? "negative"
                                       : "too small",
                            what);
    }
    return DLS_OK;
}

dls_status dls_csv_i64(const dls_csv *csv, int col, const char *what, int scale, int64_t min,
                       int64_t max, int64_t *out, dls_error *err)
{
    return dls_csv_scaled(csv, col, what, scale, false, min, max, out, err);
}

dls_status dls_csv_real(dls_csv *csv, int col, const char *what, double least, double *out,
                        dls_error *err)
{
    return dls_units_f64(dls_csv_text(csv, col), out) && *out >= least
               ? DLS_OK
               : dls_csv_fail(csv, col, err, "expected %s", what);
}

char *dls_csv_str(dls_csv *csv, int col)
{
    DLS_DEBUG_ASSERT(col < (int)csv->n_cells);
    if (col < 0 || csv->cell[col].len == 0) {
        return NULL;
    }
    const dls_csv_cell *cell = &csv->cell[col];
    DLS_ASSERT(csv->scratch_len + cell->len < csv->scratch_cap);
    char *copy = csv->scratch + csv->scratch_len;
    size_t n = 0;
    for (uint32_t i = 0; i < cell->len; i++) {
        copy[n++] = cell->s[i];
        i += cell->escaped && cell->s[i] == '"'; /* "" is one quote */
    }
    copy[n] = '\0';
    csv->scratch_len += n + 1;
    return copy;
}

const char *dls_csv_text(dls_csv *csv, int col)
{
    const char *text = dls_csv_str(csv, col);
    return text ? text : "";
}

void dls_csv_put(FILE *to, const char *text)
{
    const size_t len = strlen(text);
    const bool bare = len == 0 || (!strpbrk(text, ",\"\r\n") && text[0] != '#' &&
                                   !strchr(" \t", text[0]) && !strchr(" \t", text[len - 1]));
    fputs(bare ? "" : "\"", to);
    for (; *text; text++) {
        fputs(*text == '"' ? "\"" : "", to);
        putc(*text, to);
    }
    fputs(bare ? "" : "\"", to);
}

void dls_csv_put_scaled(FILE *to, int64_t value, int scale)
{
    DLS_ASSERT(scale >= 0 && scale <= 18);
    char text[32];
    const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int len = snprintf(text, sizeof text, "%0*" PRIu64, scale + 1, size), decimals = scale;
    for (; decimals > 0 && text[len - 1] == '0'; decimals--) {
        len--;
    }
    fprintf(to, "%s%.*s", value < 0 ? "-" : "", len - decimals, text);
    if (decimals > 0) {
        fprintf(to, ".%.*s", decimals, text + len - decimals);
    }
}
