/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a dataset holds, for people and as JSON.
 */
#ifndef DLS_CLI_DATASET_SHOW_H
#define DLS_CLI_DATASET_SHOW_H

#include "predictor/dataset/dataset.h"

/* The settings named, n_settings 0: all. Errors: those of dls_dataset_load, ENOMEM. */
dls_status dls_dataset_show(const char *path, const char *const *settings, size_t n_settings,
                            bool json, dls_error *err) DLS_MUST_CHECK;

#endif
