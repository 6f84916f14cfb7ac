/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Predicts a split of a setting and compares: the inspector's errors beside those of the yardsticks
 * (evaluate.h).
 */
#include "predictor/training/judge.h"

#include "base/alloc.h"
#include "base/own.h"

#include <string.h>

const char *const dls_who_names[DLS_WHO_COUNT] = {"inspector", "noise_floor", "operator_model",
                                                  "nearest", "mean"};

dls_status dls_judge_predict(dls_predictor *predictor, const dls_yardsticks *y, int32_t as,
                             double *out, dls_error *err)
{
    DLS_FREED dls_query *query = dls_alloc(y->n * sizeof *query);
    DLS_FREED dls_profile *profile = dls_alloc(y->n * sizeof *profile);
    DLS_TRY(query && profile ? DLS_OK : dls_nomem(err, "predictions", y->n * sizeof *profile));
    for (size_t i = 0; i < y->n; i++) {
        query[i] = (dls_query){(int32_t)i, as};
    }
    DLS_TRY(dls_predict_known(predictor, y->graph, y->n, query, y->known, y->n, profile, err));
    for (size_t i = 0; i < y->n; i++) {
        memcpy(out + i * DLS_METRICS, profile[i].metric, sizeof profile[i].metric);
    }
    return DLS_OK;
}

static dls_status compare(dls_predictor *predictor, const dls_dataset *set, size_t setting,
                          const dls_yardsticks *y, int32_t as, dls_judgement *j, dls_error *err)
{
    DLS_FREED double *out = NULL;
    DLS_TRY(dls_alloc_array(&out, y->n * DLS_METRICS, sizeof *out, "predictions", err));
    DLS_TRY(dls_judge_predict(predictor, y, as, out, err));
    const double *who[DLS_WHO_COUNT] = {out, y->truth, y->model, y->nearest, y->mean};
    for (int k = 0; k < DLS_WHO_COUNT; k++) {
        j->has[k] = who[k] != NULL;
        if (who[k]) {
            DLS_TRY(
                dls_error_table_fill(who[k], y->label, y->iteration_s, y->n, &j->table[k], err));
        }
    }
    return dls_family_errors(set, setting, y, out, j->family, &j->n_families, err);
}

dls_status dls_judge(dls_predictor *predictor, const dls_dataset *set, size_t setting, int32_t as,
                     dls_split split, dls_judgement *out, dls_error *err)
{
    DLS_HOLD(dls_yardsticks_destroy) dls_yardsticks *y = NULL;
    *out = (dls_judgement){0};
    DLS_TRY(dls_yardsticks_create(set, setting, split, &y, err));
    return compare(predictor, set, setting, y, as, out, err);
}
