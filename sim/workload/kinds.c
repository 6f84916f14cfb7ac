/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Groups the jobs of a trace into kinds by model and batch per GPU (sort, then number by first
 * submission), with the tensor skew of each model.
 */
#include "workload/kinds.h"

#include "base/alloc.h"
#include "base/own.h"
#include "dlsim/memory.h"
#include "workload/graph/zoo.h"

#include <math.h>

#define BATCH_MAX (INT64_C(1) << 20) /* of the zoo */

void dls_kinds_fini(dls_kinds *kinds)
{
    if (kinds) {
        DLS_FREE_ALL(kinds->kind, kinds->of);
        dls_zoo_files_free(kinds->files);
        *kinds = (dls_kinds){0};
    }
}

static int64_t batch_per_gpu(const dls_trace_columns *col, size_t job)
{
    const int64_t batch = dls_trace_i64(col->batch, job);
    if (batch < 1) {
        return DLS_ABSENT;
    }
    const int64_t each = (batch + col->gpus[job] / 2) / col->gpus[job];
    return each < 1 ? 1 : each > BATCH_MAX ? BATCH_MAX : each;
}

/* of[job] becomes the first job of its kind: in an order in which those of one kind are neighbours. A
 * batch, and that there is none, fit half of a key. */
_Static_assert(BATCH_MAX < UINT32_MAX && DLS_ABSENT == -1, "batches of two kinds would be one");
static dls_status group(const dls_trace_columns *col, int32_t *of, dls_error *err)
{
    DLS_FREED dls_keyed *row = NULL;
    DLS_TRY(dls_alloc_array(&row, 2 * col->n + 1, sizeof *row, "kinds", err));
    for (size_t j = 0; j < col->n; j++) {
        row[j] = (dls_keyed){(uint64_t)(col->model[j] + 1) << 32 | (uint32_t)batch_per_gpu(col, j), (uint32_t)j};
    }
    const dls_keyed *sorted = dls_radix_sort(row, row + col->n, col->n);
    for (size_t i = 0, first = 0; i < col->n; i++) {
        first = sorted[i].key == sorted[first].key ? first : i;
        of[sorted[i].value] = (int32_t)sorted[first].value;
    }
    return DLS_OK;
}

static dls_status kind_of(const dls_trace *trace, const char *stand_ins, int32_t job,
                          dls_kinds *kinds, dls_kind *out, dls_error *err)
{
    const dls_trace_columns *col = dls_trace_cols(trace);
    *out = (dls_kind){.model = dls_trace_model(trace, col->model[job]),
                      .batch_per_gpu = batch_per_gpu(col, (size_t)job),
                      .first_job = job,
                      .tensor_skew = (double)NAN};
    DLS_TRY(dls_model_lookup_among(out->model, stand_ins, &kinds->files, &out->names, err));
    out->names.memo = kinds->memo;
    out->batch = out->batch_per_gpu == DLS_ABSENT ? out->names.zoo->batch : out->batch_per_gpu;
    dls_model_touch(&out->names, out->batch);
    return DLS_OK;
}

/* Skews of the models so far: few, however many kinds there are. */
typedef struct skews {
    struct {
        dls_model_names names;
        double skew;
    } * of;
    size_t n, cap;
} skews;

static dls_status add_skew(skews *s, dls_kind *kind, dls_error *err)
{
    dls_workload w;
    double greatest = 0;
    if (kind->names.match == DLS_MODEL_UNKNOWN) {
        return DLS_OK;
    }
    for (size_t i = 0; i < s->n; i++) {
        if (dls_model_same(&s->of[i].names, &kind->names)) {
            kind->tensor_skew = s->of[i].skew;
            return DLS_OK;
        }
    }
    DLS_TRY(dls_grow(&s->of, &s->cap, s->n + 1, sizeof *s->of, err));
    /* Parameters are the same at every batch, but for tables' rows: one graph tells them. */
    const int32_t batch = kind->names.samples ? kind->names.samples : kind->names.zoo->batch;
    DLS_TRY(kind->names.layers ? dls_model_workload(&kind->names, DLS_NUMERIC_FP32, &w, err)
                               : dls_model_at_batch(&kind->names, batch, DLS_NUMERIC_FP32, &w, err));
    for (size_t i = 0; i < w.n_tensors; i++) {
        greatest = fmax(greatest, w.tensor[i]);
    }
    kind->tensor_skew = greatest / w.params;
    dls_workload_fini(&w);
    s->of[s->n].names = kind->names;
    s->of[s->n++].skew = kind->tensor_skew;
    return DLS_OK;
}

static dls_status number(const dls_trace *trace, const char *stand_ins, dls_kinds *kinds,
                         skews *models, dls_error *err)
{
    const size_t n = dls_trace_cols(trace)->n;
    size_t cap = 0;
    for (size_t j = 0; j < n; j++) {
        if (kinds->of[j] < (int32_t)j) { /* its first job is numbered already */
            kinds->of[j] = kinds->of[kinds->of[j]];
        } else {
            const int32_t k = kinds->n;
            DLS_TRY(dls_grow(&kinds->kind, &cap, (size_t)k + 1, sizeof *kinds->kind, err));
            DLS_TRY(kind_of(trace, stand_ins, (int32_t)j, kinds, &kinds->kind[k], err));
            DLS_TRY(add_skew(models, &kinds->kind[k], err));
            kinds->n++;
            kinds->of[j] = k;
        }
        const dls_model_match match = kinds->kind[kinds->of[j]].names.match;
        kinds->unknown_jobs += match == DLS_MODEL_UNKNOWN;
        kinds->stand_in_jobs += match == DLS_MODEL_STAND_IN;
    }
    return DLS_OK;
}

dls_status dls_kinds_of_trace(const dls_trace *trace, const char *stand_ins, dls_memo *memo,
                              dls_kinds *out, dls_error *err)
{
    const dls_trace_columns *col = dls_trace_cols(trace);
    *out = (dls_kinds){.of = dls_alloc_zero(col->n + 1, sizeof *out->of), .memo = memo};
    if (!out->of) {
        return dls_nomem(err, "kinds", col->n * sizeof *out->of);
    }
    skews models = {0};
    dls_status status = group(col, out->of, err);
    DLS_THEN(status, number(trace, stand_ins, out, &models, err));
    dls_free(models.of);
    if (status != DLS_OK) {
        dls_kinds_fini(out);
    }
    return status;
}
