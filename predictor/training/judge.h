/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An inspector's errors on a split of a setting, beside those of the yardsticks.
 */
#ifndef DLS_TRAINING_JUDGE_H
#define DLS_TRAINING_JUDGE_H

#include "predictor/training/evaluate.h"
#include "predictor/training/families.h"

/* Floors: labels without noise; labels without noise and residual, which is all that a graph and a
 * setting can tell. */
enum {
    DLS_WHO_INSPECTOR,
    DLS_WHO_FLOOR,
    DLS_WHO_MODEL,
    DLS_WHO_NEAREST,
    DLS_WHO_MEAN,
    DLS_WHO_COUNT
};
/* "inspector", "noise_floor", "operator_model", "nearest", "mean" */
extern const char *const dls_who_names[DLS_WHO_COUNT];

typedef struct dls_judgement {
    dls_error_table table[DLS_WHO_COUNT];
    bool has[DLS_WHO_COUNT];                   /* measured labels have no floors */
    dls_family_error family[DLS_FAMILIES_MAX]; /* [n_families] of the inspector's errors */
    size_t n_families;
} dls_judgement;

/* out[y->n][DLS_METRICS]. Errors: those of dls_predict. */
dls_status dls_judge_predict(dls_predictor *predictor, const dls_yardsticks *y, int32_t as,
                             double *out, dls_error *err) DLS_MUST_CHECK;

/* as: the setting of the predictor's inspector that is asked, or DLS_SETTING_BASE. Errors: those of
 * dls_predict and dls_yardsticks_create. */
dls_status dls_judge(dls_predictor *predictor, const dls_dataset *set, size_t setting, int32_t as,
                     dls_split split, dls_judgement *out, dls_error *err) DLS_MUST_CHECK;

#endif
