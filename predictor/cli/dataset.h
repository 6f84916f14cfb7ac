/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim dataset: what is printed of one.
 */
#ifndef DLS_CLI_DATASET_H
#define DLS_CLI_DATASET_H

#include "predictor/dataset/dataset.h"
#include "predictor/dataset/facts.h"

/* Published facts of real jobs beside those of simulated ones, as a table in Markdown. */
void dls_dataset_facts_print(const dls_facts *facts);
/* What a dataset holds, of the settings named, n_settings 0: all. Errors: those of
 * dls_dataset_load, ENOMEM. */
dls_status dls_dataset_show(const char *path, const char *const *settings, size_t n_settings,
                            bool json, dls_error *err) DLS_MUST_CHECK;

#endif
