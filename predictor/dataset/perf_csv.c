/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/dataset/perf_csv.h"

#include "base/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MAX 64

enum { COL_RESOURCE = DLS_JOB_PARTS, COL_IDLE, COL_ACTIVE, COL_PEAK, N_COLUMNS };

static const char *const columns[N_COLUMNS] = {[DLS_JOB_GPU] = "GPU",
                                               [DLS_JOB_DATA] = "Data Set",
                                               [DLS_JOB_MODEL] = "Model",
                                               [DLS_JOB_SYNC] = "Sync/Async",
                                               [DLS_JOB_HYPER] = "Hyper-Parameter",
                                               [DLS_JOB_NAME] = "Job Name",
                                               [COL_RESOURCE] = "Resource",
                                               [COL_IDLE] = "avg Idle time",
                                               [COL_ACTIVE] = "avg Active time",
                                               [COL_PEAK] = "avg Peak consumption"};

static const char *const resources[] = {"GPU MEM util", "GPU util", "Network_rx", "Network_tx"};

typedef struct reader {
    const char *path;
    FILE *file;
    char *line;
    size_t line_cap;
    size_t line_no;
    char *cell[CELLS_MAX];
    int n_cells;
    int at[N_COLUMNS];
    dls_error *err;
} reader;

static dls_status wrong(const reader *r, const char *what, const char *text)
{
    char where[256];
    snprintf(where, sizeof where, "%s:%zu", r->path, r->line_no);
    return dls_fail(r->err, DLS_EINPUT, where, "%s \"%s\"", what, text);
}

/* Cut the line into its cells, quotes removed in place. */
static dls_status split(reader *r)
{
    char *from = r->line, *to = r->line;
    r->n_cells = 0;
    for (bool more = true; more;) {
        if (r->n_cells == CELLS_MAX) {
            return wrong(r, "more cells than 64 before", from);
        }
        r->cell[r->n_cells++] = to;
        const bool quoted = *from == '"';
        from += quoted;
        while (*from && (quoted || *from != ',')) {
            if (quoted && *from == '"') {
                if (from[1] != '"') {
                    break;
                }
                from++;
            }
            *to++ = *from++;
        }
        if (quoted && *from != '"') {
            return wrong(r, "a quote without its end:", r->cell[r->n_cells - 1]);
        }
        from += quoted;
        more = *from == ',';
        if (!more && *from) {
            return wrong(r, "text behind a quote:", from);
        }
        from += more;
        *to++ = '\0';
    }
    return DLS_OK;
}

/* false: the end of the file. */
static bool next(reader *r)
{
    const ssize_t n = getline(&r->line, &r->line_cap, r->file);
    if (n < 0) {
        return false;
    }
    r->line[strcspn(r->line, "\r\n")] = '\0';
    r->line_no++;
    return true;
}

static dls_status read_head(reader *r)
{
    if (!next(r)) {
        return wrong(r, "an empty file in place of", "GPU,Data Set,...");
    }
    if (strncmp(r->line, "\xEF\xBB\xBF", 3) == 0) {
        memmove(r->line, r->line + 3, strlen(r->line + 3) + 1);
    }
    DLS_TRY(split(r));
    for (int c = 0; c < N_COLUMNS; c++) {
        r->at[c] = -1;
        for (int i = 0; i < r->n_cells; i++) {
            if (strcmp(r->cell[i], columns[c]) == 0) {
                r->at[c] = i;
            }
        }
        if (r->at[c] < 0) {
            return wrong(r, "no column", columns[c]);
        }
    }
    return DLS_OK;
}

static dls_status number(const reader *r, int column, double *out)
{
    const char *text = r->cell[r->at[column]];
    char *end;
    *out = strtod(text, &end);
    return *text && !*end && isfinite(*out) && *out >= 0 ? DLS_OK : wrong(r, columns[column], text);
}

static dls_status read_row(reader *r, dls_perf_csv *csv)
{
    dls_perf_row row = {.resource = -1};
    DLS_TRY(split(r));
    for (int c = 0; c < N_COLUMNS; c++) {
        if (r->at[c] >= r->n_cells) {
            return wrong(r, "no cell for column", columns[c]);
        }
    }
    for (int i = 0; i < 4; i++) {
        row.resource = strcmp(r->cell[r->at[COL_RESOURCE]], resources[i]) == 0 ? i : row.resource;
    }
    if (row.resource < 0) {
        return DLS_OK;
    }
    for (int p = 0; p < DLS_JOB_PARTS; p++) {
        const char *text = r->cell[r->at[p]];
        if (strlen(text) >= sizeof row.part[p]) {
            return wrong(r, "a text of more than 63 bytes:", text);
        }
        snprintf(row.part[p], sizeof row.part[p], "%s", text);
    }
    DLS_TRY(number(r, COL_IDLE, &row.idle_s));
    DLS_TRY(number(r, COL_ACTIVE, &row.active_s));
    DLS_TRY(number(r, COL_PEAK, &row.peak));
    DLS_TRY(dls_grow(&csv->row, &csv->cap, csv->n + 1, sizeof *csv->row, r->err));
    csv->row[csv->n++] = row;
    return DLS_OK;
}

static dls_status read_all(reader *r, dls_perf_csv *csv)
{
    DLS_TRY(read_head(r));
    while (next(r)) {
        if (*r->line) {
            DLS_TRY(read_row(r, csv));
        }
    }
    return ferror(r->file) ? dls_fail(r->err, DLS_EINPUT, r->path, "could not be read") : DLS_OK;
}

dls_status dls_perf_csv_load(const char *path, dls_perf_csv *csv, dls_error *err)
{
    *csv = (dls_perf_csv){0};
    reader r = {.path = path, .file = fopen(path, "r"), .err = err};
    if (!r.file) {
        return dls_fail(err, DLS_EINPUT, path, "%s", strerror(errno));
    }
    const dls_status status = read_all(&r, csv);
    free(r.line); /* getline's */
    fclose(r.file);
    return status;
}

void dls_perf_csv_fini(dls_perf_csv *csv)
{
    if (csv) {
        dls_free(csv->row);
        *csv = (dls_perf_csv){0};
    }
}
