/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every label of a split beside its prediction, as CSV: for questions that tables of errors do not
 * answer (one job in two settings, twice the batch).
 */
#include "base/alloc.h"
#include "base/own.h"
#include "predictor/cli/evaluate.h"

void dls_evaluate_rows_head(FILE *out)
{
    fputs("setting,model,family,batch,metric,label,predicted,nearest\n", out);
}

static void put(const dls_dataset *set, size_t setting, const dls_yardsticks *y, size_t i,
                const double *predicted, FILE *out)
{
    const dls_dataset_setting *s = &set->setting[setting];
    const dls_dataset_origin *o = &set->origin[s->graph[y->row[i]]];
    for (int k = 0; k <= DLS_METRICS; k++) {
        const bool step = k == DLS_METRICS; /* idle and active time of the GPU together */
        const size_t at = i * DLS_METRICS + (step ? DLS_GPU_IDLE : (size_t)k);
        const double p = predicted[at] + (step ? predicted[at + 1] : 0);
        const double nearest = y->nearest[at] + (step ? y->nearest[at + 1] : 0);
        fprintf(out, "%s,%s,%s,%d,%s,%.9g,%.9g,%.9g\n", s->name, o->model, o->family, (int)o->batch,
                step ? "iteration_s" : dls_metric_name(k), step ? y->iteration_s[i] : y->label[at],
                p, nearest);
    }
}

dls_status dls_evaluate_rows(dls_predictor *predictor, const dls_dataset *set, size_t setting,
                             int32_t as, dls_split split, FILE *out, dls_error *err)
{
    DLS_HOLD(dls_yardsticks_destroy) dls_yardsticks *y = NULL;
    DLS_FREED double *predicted = NULL;
    DLS_TRY(dls_yardsticks_create(set, setting, split, &y, err));
    DLS_TRY(dls_alloc_array(&predicted, y->n * DLS_METRICS, sizeof *predicted, "predictions", err));
    DLS_TRY(dls_judge_predict(predictor, y, as, predicted, err));
    for (size_t i = 0; i < y->n; i++) {
        put(set, setting, y, i, predicted, out);
    }
    return DLS_OK;
}
