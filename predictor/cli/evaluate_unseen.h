/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim evaluate --nearest: an inspector of all settings on those that it was not trained on,
 * beside what the rule of the nearest setting (predictions/setting_map.h) makes of
 * inspectors of the others, and beside the setting's own.
 */
#ifndef DLS_CLI_EVALUATE_UNSEEN_H
#define DLS_CLI_EVALUATE_UNSEEN_H

#include "predictor/training/judge.h"

typedef struct dls_unseen_options {
    const char *nearest;  /* weights of all settings' inspectors, or of one of all settings */
    const char *hardware; /* folder of the tables, or NULL */
    dls_split split;
    int32_t threads;
} dls_unseen_options;

/* Prints a line for every setting of the set that insp did not see in training and whose own
 * inspector is in the file, and their average. The nearest is one of those that insp saw. insp: has
 * all settings of the set (dls_together_settle). EINPUT: it is not an inspector of all settings,
 * saw them all, or saw none of the file. */
dls_status dls_unseen_print(const dls_inspector *insp, const dls_dataset *set,
                            const dls_unseen_options *o, dls_error *err) DLS_MUST_CHECK;

#endif
