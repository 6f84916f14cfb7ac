/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a dataset holds, for people.
 */
#ifndef DLS_CLI_DATASET_SHOW_H
#define DLS_CLI_DATASET_SHOW_H

#include "predictor/dataset/dataset.h"

/* Errors: those of dls_dataset_load. */
dls_status dls_dataset_show(const char *path, const char *const *settings, size_t n_settings,
                            dls_error *err) DLS_MUST_CHECK;

#endif
