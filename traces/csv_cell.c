/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Values of cells; the rows are found by csv.c.
 */
#include "traces/csv.h"

#include "traces/date.h"
#include "traces/decimal.h"

#include <stdio.h>
#include <string.h>

static int shown(const dls_csv_cell *cell)
{
    return (int)(cell->len < 60 ? cell->len : 60);
}

bool dls_csv_is(const dls_csv *csv, int col, const char *s)
{
    const size_t len = strlen(s);
    return col >= 0 && csv->cell[col].len == len && memcmp(csv->cell[col].s, s, len) == 0;
}

bool dls_csv_missing(const dls_csv *csv, int col)
{
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

static dls_status parse(const dls_csv *csv, int col, const char *what, int scale, bool round,
                        int64_t min, int64_t max, int64_t *out, dls_error *err)
{
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
    return parse(csv, col, what, scale, false, min, max, out, err);
}

dls_status dls_csv_us(const dls_csv *csv, int col, const char *what, int scale, int64_t *out,
                      dls_error *err)
{
    return parse(csv, col, what, scale, true, 0, DLS_TIME_MAX_US, out, err);
}

dls_status dls_csv_opt_i64(const dls_csv *csv, int col, const char *what, int scale, int64_t *out,
                           dls_error *err)
{
    *out = DLS_ABSENT;
    return dls_csv_missing(csv, col) ? DLS_OK
                                     : parse(csv, col, what, scale, false, 0, INT64_MAX, out, err);
}

dls_status dls_csv_opt_us(const dls_csv *csv, int col, const char *what, int scale, int64_t *out,
                          dls_error *err)
{
    *out = DLS_ABSENT;
    return dls_csv_missing(csv, col) ? DLS_OK : dls_csv_us(csv, col, what, scale, out, err);
}

dls_status dls_csv_duration(const dls_csv *csv, int col, int scale, int64_t *out, dls_error *err)
{
    DLS_TRY(parse(csv, col, "a duration", scale, true, INT64_MIN, DLS_TIME_MAX_US, out, err));
    *out = *out < 0 ? 0 : *out;
    return DLS_OK;
}

dls_status dls_csv_gpus(const dls_csv *csv, int col, int64_t *milli, dls_error *err)
{
    return parse(csv, col, "a number of GPUs (at most 1000000, up to 3 decimals)", 3, false, 0,
                 INT64_C(1000) * DLS_GPUS_MAX, milli, err);
}

dls_status dls_csv_date(const dls_csv *csv, int col, int64_t *us, dls_error *err)
{
    const dls_csv_cell *cell = &csv->cell[col];
    if (!dls_date_parse(cell->s, cell->len, us)) {
        return dls_csv_fail(csv, col, err,
                            "'%.*s' is not a date of 1970 or later, expected YYYY-MM-DD HH:MM:SS",
                            shown(cell), cell->s);
    }
    return DLS_OK;
}

const char *dls_csv_str(dls_csv *csv, int col)
{
    if (col < 0 || csv->cell[col].len == 0) {
        return NULL;
    }
    const dls_csv_cell *cell = &csv->cell[col];
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

dls_status dls_csv_add(const dls_csv *csv, dls_trace_builder *b, const dls_job_rec *rec,
                       dls_error *err)
{
    const dls_status status = dls_trace_builder_add(b, rec, NULL, err);
    if (status == DLS_EINPUT && err) {
        snprintf(err->where, sizeof err->where, "%.200s:%zu", csv->src->path, csv->line);
    }
    return status;
}
