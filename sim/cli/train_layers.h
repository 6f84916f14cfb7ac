/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim train --baseline=justus --profiles: how well the networks predict measured layers of models
 * that they have not seen.
 */
#ifndef DLS_CLI_TRAIN_LAYERS_H
#define DLS_CLI_TRAIN_LAYERS_H

#include "cli/ui.h"
#include "predictor/baselines/kernel_nets.h"

typedef struct dls_train_layers {
    const char *profiles, *gpu, *hardware;
    dls_kernel_nets_options nets;
    dls_ui_when when;
    bool quiet;
} dls_train_layers;

/* Prints a table; the exit code. */
int dls_train_layers_run(const dls_train_layers *t);

#endif
