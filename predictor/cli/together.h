/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Settings of a dataset that are trained: which, one by one or one inspector for all together; and
 * having such an inspector answer for them.
 */
#ifndef DLS_CLI_TOGETHER_H
#define DLS_CLI_TOGETHER_H

#include "cli/command.h"
#include "predictor/training/fit.h"

#define DLS_TOGETHER_MAX 1024

typedef struct dls_together_choice {
    bool all; /* every setting that the inspector does not have, but those left out */
    dls_words setting, without; /* names; without: of GPUs, too */
    int32_t leave_out; /* with all: every so many-th setting of the set is left out; 0: none */
    uint64_t from;     /* the first of them, modulo leave_out */
} dls_together_choice;

/* Their indices in the set; chosen has room for DLS_TOGETHER_MAX. EINPUT: a name that the set does
 * not have. */
dls_status dls_together_choose(const dls_dataset *set, const dls_inspector *insp,
                               const dls_together_choice *choice, size_t *chosen, size_t *n,
                               dls_error *err) DLS_MUST_CHECK;

/* Train insp, new and not told of settings yet, on settings[n] of the set together. hardware:
 * folder of the tables, NULL: those that came with the program. */
dls_status dls_together_fit(dls_inspector *insp, const dls_dataset *set, const size_t *settings,
                            size_t n, const char *hardware, const dls_data_options *data,
                            const dls_train_options *train, dls_train_course *course,
                            dls_error *err) DLS_MUST_CHECK;

/* Describe settings[n] of the set (NULL: all) to an inspector of all settings, but those that it
 * has; another inspector stays as it is. */
dls_status dls_together_settle(dls_inspector *insp, const dls_dataset *set, const size_t *settings,
                               size_t n, const char *hardware, dls_error *err) DLS_MUST_CHECK;

#endif
