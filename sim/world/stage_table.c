/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Profiles of stages: read, matched with the jobs of a trace, put together for groups.
 */
#include "world/stage_table.h"

#include "base/alloc.h"
#include "base/csv.h"
#include "base/units.h"
#include "workload/kinds.h"

#include <math.h>
#include <string.h>

enum { MODEL, GPUS, DATA, COMPUTE, EXCHANGE, ITERATION, N_COLS };

static const char *const names[N_COLS] = {"model",     "gpus",       "data_s",
                                          "compute_s", "exchange_s", "iteration_s"};

static dls_status seconds(dls_csv *csv, int col, double *out, dls_error *err)
{
    if (!dls_units_f64(dls_csv_text(csv, col), out) ||
        !(*out == 0 || (*out >= 1e-9 && *out <= 1e9))) {
        return dls_csv_fail(csv, col, err, "expected seconds, 0 or from 1e-9 to 1e9");
    }
    return DLS_OK;
}

static dls_status parse_row(dls_csv *csv, const int *col, const dls_stage_table *t,
                            dls_stage_row *row, dls_error *err)
{
    int64_t gpus;
    double sum = 0;
    *row = (dls_stage_row){0};
    dls_model_key(dls_csv_text(csv, col[MODEL]), row->model);
    if (!row->model[0]) {
        return dls_csv_fail(csv, col[MODEL], err, "expected the name of a model");
    }
    DLS_TRY(dls_csv_i64(csv, col[GPUS], "GPUs, at least 1", 0, 1, 1 << 24, &gpus, err));
    row->gpus = (int32_t)gpus;
    for (int i = 0; i < 3; i++) {
        DLS_TRY(seconds(csv, col[DATA + i], &row->busy_s[i], err));
        sum += row->busy_s[i];
    }
    row->iteration_s = sum;
    if (!(sum > 0)) {
        return dls_csv_fail(csv, col[DATA], err, "the stages of an iteration take no time at all");
    }
    if (!dls_csv_missing(csv, col[ITERATION])) {
        DLS_TRY(seconds(csv, col[ITERATION], &row->iteration_s, err));
        if (!(row->iteration_s > 0)) {
            return dls_csv_fail(csv, col[ITERATION], err, "expected seconds above 0");
        }
    }
    for (size_t i = 0; i < t->n; i++) {
        if (t->row[i].gpus == row->gpus && strcmp(t->row[i].model, row->model) == 0) {
            return dls_csv_fail(csv, col[MODEL], err, "this model with %d GPUs is listed twice",
                                (int)row->gpus);
        }
    }
    return DLS_OK;
}

static dls_status add_row(dls_csv *csv, const int *col, void *user, dls_error *err)
{
    dls_stage_table *t = user;
    DLS_TRY(dls_grow(&t->row, &t->cap, t->n + 1, sizeof *t->row, err));
    DLS_TRY(parse_row(csv, col, t, &t->row[t->n], err));
    t->n++;
    return DLS_OK;
}

static const dls_stage_row *nearest(const dls_stage_table *t, const char *model, int32_t gpus)
{
    const dls_stage_row *best = NULL;
    double least = 0;
    for (size_t i = 0; i < t->n; i++) {
        const double far = fabs(log((double)t->row[i].gpus / gpus));
        if (strcmp(t->row[i].model, model) == 0 && (!best || far < least)) {
            best = &t->row[i];
            least = far;
        }
    }
    return best;
}

static dls_status match(const char *path, const dls_trace *trace, dls_stage_table *t,
                        dls_error *err)
{
    const dls_trace_columns *c = dls_trace_cols(trace);
    DLS_TRY(dls_alloc_array(&t->of, c->n + 1, sizeof *t->of, "stages", err));
    for (size_t j = 0; j < c->n; j++) {
        char model[DLS_MODEL_KEY];
        dls_model_key(dls_trace_model(trace, c->model[j]), model);
        t->of[j] = nearest(t, model, c->gpus[j]);
        if (!t->of[j]) {
            return dls_fail(err, DLS_EINPUT, path, "no stages of model \"%s\" (job %s)",
                            dls_trace_model(trace, c->model[j]), dls_trace_id(trace, j));
        }
        t->nearest += t->of[j]->gpus != c->gpus[j];
    }
    return DLS_OK;
}

dls_status dls_stage_table_load(const char *path, const dls_trace *trace, dls_stage_table *out,
                                dls_error *err)
{
    *out = (dls_stage_table){0};
    DLS_TRY(dls_csv_rows(path, names, N_COLS, ITERATION, add_row, out, err));
    return match(path, trace, out, err);
}

void dls_stage_table_fini(dls_stage_table *t)
{
    DLS_FREE_ALL(t->row, t->of);
    *t = (dls_stage_table){0};
}

double dls_stage_group_s(const dls_stage_row *const member[], int32_t n, double overlap)
{
    int64_t least = 0, apart = 0; /* nanoseconds: in any order the same */
    for (int32_t i = 0; i < n; i++) {
        const int64_t alone = llround(member[i]->iteration_s * 1e9);
        least = alone > least ? alone : least;
        apart += alone;
    }
    for (int r = 0; n > 1 && r < 3; r++) {
        int64_t busy = 0;
        for (int32_t i = 0; i < n; i++) {
            busy += llround(member[i]->busy_s[r] * 1e9);
        }
        least = busy > least ? busy : least;
    }
    const double overlapped = apart > least ? (double)(apart - least) : 0;
    return ((double)least + (1 - overlap) * overlapped) / 1e9;
}
