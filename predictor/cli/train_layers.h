/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim train --baseline=justus --profiles: how well the networks predict measured layers of models
 * that they have not seen.
 */
#ifndef DLS_CLI_TRAIN_LAYERS_H
#define DLS_CLI_TRAIN_LAYERS_H

#include "cli/ui.h"
#include "predictor/baselines/kernel_nets.h"

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

typedef struct dls_train_layers {
    const char *profiles, *gpu, *hardware;
    dls_kernel_nets_options nets;
    dls_ui_when when;
    bool quiet;
} dls_train_layers;

/* Prints a table. */
dls_status dls_train_layers_run(const dls_train_layers *t, dls_error *err) DLS_MUST_CHECK;

#endif
