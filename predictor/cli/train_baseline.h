/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim train --baseline: its options, the progress of its trainings, and how well networks predict
 * measured layers of models that they have not seen.
 */
#ifndef DLS_CLI_TRAIN_BASELINE_H
#define DLS_CLI_TRAIN_BASELINE_H

#include "cli/ui.h"
#include "predictor/baselines/kernel_nets.h"

typedef struct dls_train_baselines {
    const char *dataset, *output, *operators, *hardware, *profiles, *gpu;
    bool quiet;
    dls_ui_when when;
    dls_kernel_data_options data;
    dls_kernel_nets_options nets;
    char command[1024];
} dls_train_baselines;

/* Progress of several trainings, one after the other: the user of a dls_mlp_fit. */
typedef struct dls_learn_bar {
    dls_progress bar;
    dls_ui_when when;
    bool quiet;
    int32_t epochs;
} dls_learn_bar;
void dls_learn_bar_next(dls_learn_bar *b, const char *label);
/* As dls_mlp_fit.progress; goes on. */
bool dls_learn_bar_epoch(void *learn_bar, int32_t epoch, double train_loss, double val_loss);

/* --profiles: prints a table. */
dls_status dls_train_layers(const dls_train_baselines *t, dls_error *err) DLS_MUST_CHECK;

#endif
