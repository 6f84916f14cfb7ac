/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Datasets with simulated labels: a corpus of graphs in a list of settings.
 */
#ifndef DLS_DATASET_BUILD_H
#define DLS_DATASET_BUILD_H

#include "predictor/dataset/corpus.h"
#include "predictor/dataset/label.h"

typedef struct dls_build_options {
    dls_corpus_options corpus;
    dls_label_options label;
    const dls_opmodel *model; /* borrowed, all */
    const dls_hardware *hw;
    const dls_setting_spec *setting;
    size_t n_settings;
    const char *command; /* kept in the file */
    /* After every setting; may be NULL. */
    void (*progress)(void *user, size_t done, size_t n);
    void *user;
} dls_build_options;

/* Graphs that do not fit the memory of a setting's GPU are left out there. Errors: EINPUT, ECONFIG,
 * ENOMEM; EINPUT names a setting in which nothing fits. */
dls_status dls_dataset_build(const dls_build_options *o, dls_dataset **out,
                             dls_error *err) DLS_MUST_CHECK;

#endif
