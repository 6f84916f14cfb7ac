/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The design studies of dlsim train: variants of an inspector trained the same way, side by side.
 */
#ifndef DLS_CLI_TRAIN_STUDY_H
#define DLS_CLI_TRAIN_STUDY_H

#include "cli/ui.h"
#include "predictor/training/fit.h"

#define DLS_STUDY_VARIANTS 32

typedef struct dls_train_study {
    const char *what;           /* "depth", "readout", "conv", "init", "data", "transfer" */
    const char *const *dataset; /* [n_datasets] */
    size_t n_datasets;
    const char *const *settings; /* [n_settings]; one, but for "transfer" */
    size_t n_settings;
    const char *base;     /* "transfer": what is tuned */
    const char *hardware; /* "transfer": folder of the tables, for a base of all settings; NULL */
    int32_t seeds;        /* "transfer": so many trainings of each, from train.seed on */
    const char *arch;     /* what the variants have in common */
    dls_fit_init init;
    dls_data_options data;
    dls_train_options train;
    bool quiet;
    dls_ui_when when;
} dls_train_study;

/* Trains every variant and prints a table. Transfer: every setting from scratch and tuned from the
 * base, with all training graphs and with data.share of them; epochs and seconds until the
 * validation loss is that of the best of scratch with all; and averages over settings and seeds of
 * the ratios to scratch with all. EUSAGE: no such study. */
dls_status dls_train_study_run(const dls_train_study *s, dls_error *err) DLS_MUST_CHECK;

#endif
