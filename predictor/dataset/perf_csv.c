/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads Driple's CSV of measured metrics (format: measured.h), one row for each job and resource.
 */
#include "predictor/dataset/perf_csv.h"

#include "base/alloc.h"
#include "base/csv.h"
#include "base/own.h"
#include "base/units.h"

#include <stdio.h>

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

static dls_status number(dls_csv *csv, int col, double *out, dls_error *err)
{
    return dls_units_f64(dls_csv_text(csv, col), out) && *out >= 0
               ? DLS_OK
               : dls_csv_fail(csv, col, err, "expected a number, at least 0");
}

static dls_status read_row(dls_csv *in, const int *col, dls_perf_csv *csv, dls_error *err)
{
    dls_perf_row row = {.resource = -1};
    for (int i = 0; i < 4; i++) {
        row.resource = dls_csv_is(in, col[COL_RESOURCE], resources[i]) ? i : row.resource;
    }
    if (row.resource < 0) {
        return DLS_OK;
    }
    for (int p = 0; p < DLS_JOB_PARTS; p++) {
        if (in->cell[col[p]].len >= sizeof row.part[p]) {
            return dls_csv_fail(in, col[p], err, "a text of more than 63 bytes");
        }
        snprintf(row.part[p], sizeof row.part[p], "%s", dls_csv_text(in, col[p]));
    }
    DLS_TRY(number(in, col[COL_IDLE], &row.idle_s, err));
    DLS_TRY(number(in, col[COL_ACTIVE], &row.active_s, err));
    DLS_TRY(number(in, col[COL_PEAK], &row.peak, err));
    DLS_TRY(dls_grow(&csv->row, &csv->cap, csv->n + 1, sizeof *csv->row, err));
    csv->row[csv->n++] = row;
    return DLS_OK;
}

static dls_status read_all(dls_csv *in, dls_perf_csv *csv, dls_error *err)
{
    int col[N_COLUMNS];
    dls_csv_bind binds[N_COLUMNS];
    for (int c = 0; c < N_COLUMNS; c++) {
        binds[c] = (dls_csv_bind){columns[c], &col[c], true};
    }
    DLS_TRY(dls_csv_header(in, err));
    DLS_TRY(dls_csv_bind_all(in, binds, N_COLUMNS, err));
    for (bool more;;) {
        DLS_TRY(dls_csv_next(in, &more, err));
        if (!more) {
            return DLS_OK;
        }
        DLS_TRY(read_row(in, col, csv, err));
    }
}

dls_status dls_perf_csv_load(const char *path, dls_perf_csv *csv, dls_error *err)
{
    DLS_OWN(dls_csv_fini) dls_csv in = {0};
    *csv = (dls_perf_csv){0};
    DLS_TRY(dls_csv_open(&in, path, err));
    return read_all(&in, csv, err);
}

void dls_perf_csv_fini(dls_perf_csv *csv)
{
    if (csv) {
        dls_free(csv->row);
        *csv = (dls_perf_csv){0};
    }
}
