/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How well Justus's networks predict what was measured: profiles of layers, all but those of one
 * family of models to learn from, those of the family to judge.
 */
#ifndef DLS_BASELINES_LAYER_STUDY_H
#define DLS_BASELINES_LAYER_STUDY_H

#include "predictor/baselines/kernel_nets.h"
#include "predictor/baselines/layer_profile.h"

typedef struct dls_layer_verdict {
    const char *model;                       /* borrowed */
    double measured_s, justus_s, roofline_s; /* all layers */
    double justus_layer, roofline_layer;     /* mean of |predicted / measured - 1| over layers */
} dls_layer_verdict;

typedef struct dls_layer_study_options {
    const dls_layer_profile *profile; /* [n] borrowed, in order of the models' names */
    size_t n;
    const dls_hw_gpu *gpu; /* on which they were measured */
    dls_kernel_nets_options nets;
    /* Before each family; may be NULL. */
    void (*begin)(void *user, const char *model);
    void *user;
} dls_layer_study_options;

/* verdict[n]. Models are of one family if their names begin with the same five letters. A family is
 * judged by networks that learned from all others but the one that comes after it, which says when
 * to stop. Beside it the roofline, computing and moving one after the other as Paleo has it, at the
 * fraction that centres the profiles learned from (geometric mean over models). Errors: EINPUT
 * (fewer than three families), those of dls_kernel_nets_train. */
dls_status dls_layer_study_run(const dls_layer_study_options *o, dls_layer_verdict *verdict,
                               dls_error *err) DLS_MUST_CHECK;

#endif
