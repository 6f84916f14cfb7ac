/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A training as `dlsim train` is told to do it.
 */
#ifndef DLS_CLI_TRAINING_H
#define DLS_CLI_TRAINING_H

#include "predictor/cli/together.h"
#include "predictor/cli/train_study.h"
#include "cli/ui.h"
#include "predictor/training/fit.h"

/* Texts are borrowed from the command line. */
typedef struct dls_training {
    const char *dataset, *base, *output, *arch, *curves, *tune_text, *study;
    const char *more_datasets[DLS_STUDY_VARIANTS];
    size_t n_datasets;
    dls_together_choice choice;
    const char *hardware;
    double partition; /* below 0: not given */
    int32_t seeds;
    bool together, quiet;
    dls_ui_when when;
    dls_tune tune;
    dls_data_options data;
    dls_fit_init init;
    dls_train_options train;
} dls_training;

/* Trains, with a progress bar, and writes the inspector after every setting; Ctrl-C ends it after
 * the epoch. Returns the exit code, the reason of a failure printed. */
int dls_training_run(const dls_training *req);

#endif
