/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where the errors of a split come from: those of each model family alone, over the range of the
 * whole split.
 */
#ifndef DLS_TRAINING_FAMILIES_H
#define DLS_TRAINING_FAMILIES_H

#include "predictor/training/evaluate.h"

#define DLS_FAMILIES_MAX 32

typedef struct dls_family_error {
    char name[DLS_DATASET_NAME];
    size_t n;         /* graphs */
    double by_range;  /* root of the mean square over the split's range, mean of the metrics */
    double iteration; /* likewise, of the step time alone */
    double percent;   /* mean of |prediction / step time - 1| */
    double share;     /* of the split's squared error of the step time, 0..1 */
} dls_family_error;

/* predicted [y->n][DLS_METRICS]; out[DLS_FAMILIES_MAX] in the order in which the split meets them,
 * *n of them. EINPUT: more families. O(n). */
dls_status dls_family_errors(const dls_dataset *set, size_t setting, const dls_yardsticks *y,
                             const double *predicted, dls_family_error *out, size_t *n,
                             dls_error *err) DLS_MUST_CHECK;

#endif
