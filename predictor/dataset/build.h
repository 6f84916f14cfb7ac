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

/* The label of one graph of the corpus in a setting; its noise depends on nothing else. Errors:
 * those of dls_setting_work and dls_label_make. */
dls_status dls_corpus_label(const dls_build_options *o, const dls_corpus *corpus, size_t graph,
                            const dls_setting_spec *spec, dls_label *out, bool *fits,
                            dls_error *err) DLS_MUST_CHECK;

/* Graphs that do not fit the memory of a setting's GPU are left out there. Errors: EINPUT, ECONFIG,
 * ENOMEM; EINPUT names a setting in which nothing fits. */
dls_status dls_dataset_build(const dls_build_options *o, dls_dataset **out,
                             dls_error *err) DLS_MUST_CHECK;

#endif
