/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads Driple's CSV of measured metrics (format: measured.h), one row for each job and resource.
 */
#include "predictor/dataset/perf_csv.h"

#include "base/alloc.h"
#include "base/csv.h"

#include <stdio.h>

#define NOT_BELOW_0 "a number, at least 0"

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

static dls_status read_row(dls_csv *in, const int *col, void *user, dls_error *err)
{
    dls_perf_csv *csv = user;
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
    DLS_TRY(dls_csv_real(in, col[COL_IDLE], NOT_BELOW_0, 0, &row.idle_s, err));
    DLS_TRY(dls_csv_real(in, col[COL_ACTIVE], NOT_BELOW_0, 0, &row.active_s, err));
    DLS_TRY(dls_csv_real(in, col[COL_PEAK], NOT_BELOW_0, 0, &row.peak, err));
    DLS_TRY(dls_grow(&csv->row, &csv->cap, csv->n + 1, sizeof *csv->row, err));
    csv->row[csv->n++] = row;
    return DLS_OK;
}

dls_status dls_perf_csv_load(const char *path, dls_perf_csv *csv, dls_error *err)
{
    *csv = (dls_perf_csv){0};
    return dls_csv_rows(path, columns, N_COLUMNS, N_COLUMNS, read_row, csv, err);
}

void dls_perf_csv_fini(dls_perf_csv *csv)
{
    if (csv) {
        dls_free(csv->row);
        *csv = (dls_perf_csv){0};
    }
}
