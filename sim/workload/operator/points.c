/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the published steps that come with the program: configs/hardware/measured/published.csv.
 */
#include "workload/operator/points.h"

#include "base/alloc.h"
#include "base/csv.h"
#include "base/datapath.h"
#include "base/suggest.h"

#include <stdio.h>

const dls_point_place dls_point_places[DLS_POINT_SOURCES] = {
#define XX(key, ...) {#key, __VA_ARGS__},
    DLS_POINT_SOURCE_MAP(XX)
#undef XX
};

typedef struct reading {
    dls_point *point; /* owned */
    size_t n, cap;
} reading;

static dls_status take(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    enum { MODEL, GPU, SOURCE, PRECISION, GPUS, BATCH, STEP_MS, FITTED };
    reading *r = user;
    int64_t gpus, batch, step_ns, fitted;
    DLS_TRY(dls_grow(&r->point, &r->cap, r->n + 1, sizeof *r->point, err));
    dls_point *p = &r->point[r->n];
    const size_t source = DLS_NAMED(dls_point_places, dls_csv_text(csv, col[SOURCE]));
    if (source == DLS_POINT_SOURCES) {
        return dls_csv_fail(csv, col[SOURCE], err, "unknown source");
    }
    if (!dls_numeric_find(dls_csv_text(csv, col[PRECISION]), &p->numeric)) {
        return dls_csv_fail(csv, col[PRECISION], err, "not fp32, tf32, fp16 or bf16");
    }
    DLS_TRY(dls_csv_i64(csv, col[GPUS], "GPUs", 0, 1, 1 << 20, &gpus, err));
    DLS_TRY(dls_csv_i64(csv, col[BATCH], "a batch", 0, 1, 1 << 20, &batch, err));
    DLS_TRY(dls_csv_i64(csv, col[STEP_MS], "milliseconds", 6, 1, INT64_MAX, &step_ns, err));
    DLS_TRY(dls_csv_i64(csv, col[FITTED], "0 or 1", 0, 0, 1, &fitted, err));
    snprintf(p->model, sizeof p->model, "%s", dls_csv_text(csv, col[MODEL]));
    snprintf(p->gpu, sizeof p->gpu, "%s", dls_csv_text(csv, col[GPU]));
    p->source = (dls_point_source)source;
    p->n_gpus = (int32_t)gpus;
    p->batch = (int32_t)batch;
    p->step_ms = (double)step_ns / 1e6;
    p->role = fitted ? DLS_POINT_CALIBRATE : DLS_POINT_JUDGE;
    r->n++;
    return DLS_OK;
}

dls_status dls_point_read_all(dls_point **point, size_t *n, dls_error *err)
{
    static const char file[] = "configs/hardware/measured/published.csv";
    static const char *const columns[] = {"model", "gpu",           "source",  "precision",
                                          "gpus",  "batch_per_gpu", "step_ms", "fitted"};
    char path[4096];
    const int n_columns = sizeof columns / sizeof *columns;
    reading r = {0};
    const dls_status status = dls_csv_rows(dls_data_path(file, file, path, sizeof path), columns,
                                           n_columns, n_columns, take, &r, err);
    if (status != DLS_OK) {
        dls_free(r.point);
        return status;
    }
    *point = r.point;
    *n = r.n;
    return DLS_OK;
}
