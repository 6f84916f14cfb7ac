/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From a dataset to an inspector: a base from scratch on one setting, further settings tuned from
 * it; or one inspector of all settings, which is told of the setting it is asked about.
 */
#ifndef DLS_TRAINING_FIT_H
#define DLS_TRAINING_FIT_H

#include "predictor/training/trainer.h"

/* How new weights are drawn. As published every layer halves what it is given, so that nothing of a
 * graph reaches the readout of a deep network and training stands still for thousands of epochs.
 * Residual: the candidate state of the GRU begins as the state before, its gate lets a quarter of
 * the convolution in, convolutions keep the variance (He et al., ICCV 2015), linear layers are
 * Xavier's at gain 1. docs/training.md has the curves. */
typedef enum dls_fit_init { DLS_FIT_PUBLISHED, DLS_FIT_RESIDUAL, DLS_FIT_INITS } dls_fit_init;
extern const char *const dls_fit_init_names[DLS_FIT_INITS + 1];

/* A new inspector for the dataset's features: arch with n_features set, weights drawn by seed, the
 * feature spec of the dataset. */
dls_status dls_fit_new(const dls_dataset *set, const dls_arch *arch, uint64_t seed,
                       dls_fit_init init, dls_inspector **out, dls_error *err) DLS_MUST_CHECK;

/* May a setting of the dataset be predicted by this inspector: as many features, and the same spec
 * where both say it. EINPUT. */
dls_status dls_fit_check(const dls_inspector *insp, const dls_dataset *set,
                         dls_error *err) DLS_MUST_CHECK;

/* Train on one setting and keep the result in the inspector: the base and its label
 * scales (tunings that change it; settings that were there are dropped, since what they share has
 * changed), and a setting of the dataset's name with all that is known of it. Of an inspector of
 * all settings, the setting (dls_inspector_settle) is tuned from what the inspector says of it,
 * with tunings that keep a setting only. Nothing is kept when training fails. *course is to be
 * released in any case. */
dls_status dls_fit_setting(dls_inspector *insp, const dls_dataset *set, size_t setting,
                           dls_tune tune, const dls_data_options *d, const dls_train_options *o,
                           dls_train_course *course, dls_error *err) DLS_MUST_CHECK;

typedef struct dls_fit_settings {
    const size_t *setting; /* [n] of the dataset */
    const double *number;  /* [n][arch.n_conditions] what the inspector is told of each */
    size_t n;
} dls_fit_settings;

/* Train one network on several settings together: an inspector that was made one of all settings
 * (dls_inspector_condition) and has none yet. A graph's layers and readout are computed once for
 * all its settings, so an epoch costs little more than one of a single setting. The labels' scales
 * become a log-linear function of the numbers, fitted to the greatest labels of the settings. The
 * inspector is of no use when this fails. *course is to be released in any case. */
dls_status dls_fit_all(dls_inspector *insp, const dls_dataset *set, const dls_fit_settings *which,
                       const dls_data_options *d, const dls_train_options *o,
                       dls_train_course *course, dls_error *err) DLS_MUST_CHECK;

#endif
