/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A training as `dlsim train` is told to do it.
 */
#ifndef DLS_CLI_TRAINING_H
#define DLS_CLI_TRAINING_H

#include "cli/ui.h"
#include "predictor/sources/setting_files.h"
#include "predictor/training/fit.h"

#define DLS_STUDY_VARIANTS 32

/* Settings of a dataset that are trained, one by one or one inspector for all together. */
typedef struct dls_training_choice {
    bool all; /* every setting that the inspector does not have, but those left out */
    dls_words setting, without; /* names; without: of GPUs, too */
    int32_t leave_out; /* with all: every so many-th setting of the set is left out; 0: none */
    uint64_t from;     /* the first of them, modulo leave_out */
} dls_training_choice;

/* Texts are borrowed from the command line. */
typedef struct dls_training {
    const char *base, *output, *arch, *curves, *study;
    dls_words dataset; /* several: of --study=data */
    dls_training_choice choice;
    const char *hardware;
    double partition; /* below 0: not given */
    int32_t seeds;
    bool together, transfer, quiet;
    dls_ui_when when;
    dls_tune tune; /* with transfer: DLS_TUNE_CONV_MLP */
    dls_data_options data;
    dls_fit_init init;
    dls_train_options train;
} dls_training;

/* Trains every variant of `study` (depth, readout, conv, init, data, transfer) the same way and
 * prints a table. Transfer: every setting from scratch and tuned from the base, with all training
 * graphs and with data.share of them; epochs and seconds until the validation loss is that of the
 * best of scratch with all; and averages over settings and seeds of the ratios to scratch with all.
 * EUSAGE: no such study. */
dls_status dls_train_study(const dls_training *req, dls_error *err) DLS_MUST_CHECK;

#endif
