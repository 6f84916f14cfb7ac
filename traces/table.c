/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads trace formats described by a table of columns: recognises the header, binds columns,
 * converts units, notes columns that nobody reads.
 */
#include "traces/table.h"

#include "base/assert.h"
#include "base/own.h"
#include "traces/date.h"
#include "traces/outcome.h"
#include "traces/trace_impl.h"

#include <stdio.h>
#include <string.h>

/* ---- values ---------------------------------------------------------------------------------- */

dls_status dls_csv_us(const dls_csv *csv, int col, int scale, int64_t *out, dls_error *err)
{
    const char *what = scale == DLS_SECONDS        ? "a time in seconds"
                       : scale == DLS_MILLISECONDS ? "a time in milliseconds"
                                                   : "a time in microseconds";
    return dls_csv_scaled(csv, col, what, scale, true, 0, DLS_TIME_MAX_US, out, err);
}

dls_status dls_csv_opt_us(const dls_csv *csv, int col, int scale, int64_t *out, dls_error *err)
{
    *out = DLS_ABSENT;
    return dls_csv_missing(csv, col) ? DLS_OK : dls_csv_us(csv, col, scale, out, err);
}

dls_status dls_csv_duration(const dls_csv *csv, int col, int scale, int64_t *out, dls_error *err)
{
    DLS_TRY(
        dls_csv_scaled(csv, col, "a duration", scale, true, INT64_MIN, DLS_TIME_MAX_US, out, err));
    *out = *out < 0 ? 0 : *out;
    return DLS_OK;
}

dls_status dls_csv_gpus(const dls_csv *csv, int col, int64_t *milli, dls_error *err)
{
    return dls_csv_i64(csv, col, "a number of GPUs (at most 1000000, up to 3 decimals)", 3, 0,
                       INT64_C(1000) * DLS_GPUS_MAX, milli, err);
}

static dls_status read_date(const dls_csv *csv, int col, int64_t *us, dls_error *err)
{
    const dls_csv_cell *cell = &csv->cell[col];
    return dls_date_parse(cell->s, cell->len, us)
               ? DLS_OK
               : dls_csv_fail(csv, col, err,
                              "'%.*s' is not a date of 1970 or later, expected YYYY-MM-DD HH:MM:SS",
                              (int)(cell->len < 60 ? cell->len : 60), cell->s);
}

dls_status dls_csv_opt_date(const dls_csv *csv, int col, int64_t *us, dls_error *err)
{
    *us = DLS_ABSENT;
    return dls_csv_missing(csv, col) ? DLS_OK : read_date(csv, col, us, err);
}

static dls_status read_count(const dls_csv *csv, int col, const dls_field *field, int64_t *out,
                             dls_error *err)
{
    const char *what = field->what         ? field->what
                       : field->scale == 3 ? "a number with at most 3 decimals"
                                           : "a whole number";
    *out = DLS_ABSENT;
    return dls_csv_missing(csv, col)
               ? DLS_OK
               : dls_csv_i64(csv, col, what, field->scale, 0, INT64_MAX, out, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static dls_status read_field(const dls_field *field, dls_csv *csv, int col, dls_trace_builder *b,
                             dls_job_rec *rec, dls_error *err)
{
    void *const at = (char *)rec + field->target;
    int64_t *const number = at;
    if (col < 0) {
        return DLS_OK; /* what the record was initialised with */
    }
    switch (field->kind) {
    case DLS_FIELD_TEXT:
        *(const char **)at = dls_csv_str(csv, col);
        return DLS_OK;
    case DLS_FIELD_TIME:
        return dls_csv_us(csv, col, field->scale, number, err);
    case DLS_FIELD_OPT_TIME:
        return dls_csv_opt_us(csv, col, field->scale, number, err);
    case DLS_FIELD_DURATION:
        return dls_csv_duration(csv, col, field->scale, number, err);
    case DLS_FIELD_OPT_DURATION:
        return csv->cell[col].len == 0 ? DLS_OK
                                       : dls_csv_duration(csv, col, field->scale, number, err);
    case DLS_FIELD_DATE:
        return read_date(csv, col, number, err);
    case DLS_FIELD_COUNT:
        return read_count(csv, col, field, number, err);
    case DLS_FIELD_GPUS:
    case DLS_FIELD_GPUS_OR_SKIP:
        return dls_csv_gpus(csv, col, number, err);
    case DLS_FIELD_OUTCOME:
        rec->outcome = dls_outcome_cell(csv, col, b);
        return DLS_OK;
    case DLS_FIELD_OTHER:
        break;
    }
    return DLS_OK;
}

dls_status dls_csv_add(const dls_csv *csv, dls_trace_builder *b, const dls_job_rec *rec,
                       dls_error *err)
{
    const dls_status status = dls_trace_builder_add(b, rec, NULL, err);
    if (status == DLS_EINPUT && err) {
        snprintf(err->where, sizeof err->where, "%.200s:%zu", csv->path, csv->line);
    }
    return status;
}

/* A table and where its columns are in a file. */
typedef struct bound_table {
    const struct dls_trace_table *table;
    int col[DLS_TABLE_FIELDS];
} bound_table;

static dls_status read_row(dls_csv *csv, const void *user, dls_trace_builder *b, dls_error *err)
{
    const struct dls_trace_table *t = ((const bound_table *)user)->table;
    const int *col = ((const bound_table *)user)->col;
    dls_job_rec rec;
    const char *skip = NULL;
    dls_job_rec_init(&rec);
    rec.flags = t->flags;
    for (size_t i = 0; i < t->n_fields && !skip; i++) {
        DLS_TRY(read_field(&t->fields[i], csv, col[i], b, &rec, err));
        if (t->fields[i].kind == DLS_FIELD_GPUS_OR_SKIP && rec.gpus_milli == 0) {
            skip = "no GPU";
        }
    }
    if (t->row && !skip) {
        DLS_TRY(t->row(csv, col, &rec, b, &skip, err));
    }
    if (skip) {
        dls_trace_builder_skipped(b, skip);
        return DLS_OK;
    }
    return dls_csv_add(csv, b, &rec, err);
}

/* ---- files ----------------------------------------------------------------------------------- */

static char separator(const struct dls_trace_table *t, const dls_trace_source *src)
{
    return t->blank_header && !memchr(src->text, ',', strcspn(src->text, "\n")) ? ' ' : ',';
}

int dls_trace_table_sniff(const struct dls_trace_table *t, const dls_trace_source *src)
{
    const char sep = separator(t, src);
    bool is_it = sep == ' ' && dls_csv_sniff(src->text, src->len, sep, t->blank_header);
    for (size_t i = 0; i < sizeof t->header / sizeof *t->header && t->header[i] && !is_it; i++) {
        is_it = dls_csv_sniff(src->text, src->len, sep, t->header[i]);
    }
    for (const char *p = t->not_header; p && *p && is_it;) {
        char name[32];
        const size_t len = strcspn(p, ",");
        snprintf(name, sizeof name, "%.*s", (int)len, p);
        is_it = !dls_csv_sniff(src->text, src->len, sep, name);
        p += len + (p[len] == ',');
    }
    return is_it ? t->score : 0;
}

/* A column that nobody reads is no error, but a mistyped name should be seen. */
static void note_unread(const dls_csv *csv, const int *col, size_t n, dls_trace_builder *b)
{
    for (size_t i = 0; i < csv->n_header; i++) {
        bool read = false;
        for (size_t k = 0; k < n && !read; k++) {
            read = col[k] == (int)i;
        }
        if (!read) {
            char note[80];
            snprintf(note, sizeof note, "column '%.*s' not used",
                     (int)(csv->header[i].len < 50 ? csv->header[i].len : 50), csv->header[i].s);
            dls_trace_builder_noted(b, note);
        }
    }
}

dls_status dls_trace_rows_read(dls_csv *csv, dls_cells_fn row, const void *user,
                               dls_trace_builder *b, dls_error *err)
{
    for (bool more = true; more && !dls_trace_builder_full(b);) {
        const size_t before = csv->n_marked;
        DLS_TRY(dls_csv_next(csv, &more, err));
        for (size_t i = before; i < csv->n_marked; i++) {
            dls_trace_builder_noted(b, "rows that begin with '#', taken for comments");
        }
        DLS_TRY(more ? row(csv, user, b, err) : DLS_OK);
    }
    return DLS_OK;
}

dls_status dls_trace_table_read(const struct dls_trace_table *t, const dls_trace_source *src,
                                dls_trace_builder *b, dls_error *err)
{
    DLS_OWN(dls_csv_fini) dls_csv csv = {0};
    bound_table bound = {.table = t};
    dls_csv_bind binds[DLS_TABLE_FIELDS];
    DLS_ASSERT(t->n_fields <= DLS_TABLE_FIELDS);
    for (size_t i = 0; i < t->n_fields; i++) {
        binds[i] = (dls_csv_bind){t->fields[i].names, &bound.col[i], t->fields[i].required};
    }
    if (t->zone) {
        dls_trace_builder_rebase(b, t->zone);
    }
    dls_csv_init(&csv, src->path, src->text, src->len, separator(t, src));
    DLS_TRY(dls_csv_header(&csv, err));
    DLS_TRY(dls_csv_bind_all(&csv, binds, t->n_fields, err));
    if (t->notes_rest) {
        note_unread(&csv, bound.col, t->n_fields, b);
    }
    return dls_trace_rows_read(&csv, read_row, &bound, b, err);
}
