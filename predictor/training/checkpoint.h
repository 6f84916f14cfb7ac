/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The state of a training between two epochs, as a file: values, best values, the optimiser's
 * moments, the curve so far. A line of text names network, data, options and seed; a checkpoint is
 * only taken up by the training it belongs to.
 */
#ifndef DLS_TRAINING_CHECKPOINT_H
#define DLS_TRAINING_CHECKPOINT_H

#include "predictor/training/trainer.h"

#define DLS_CHECKPOINT_IDENTITY 2048

typedef struct dls_checkpoint {
    const char *identity;
    dls_trainee *net;
    double *best; /* [n_values] */
    dls_adam *adam;
    dls_train_course *course;
} dls_checkpoint;

/* Written whole or not at all. EOUTPUT. */
dls_status dls_checkpoint_save(const dls_checkpoint *c, const char *path,
                               dls_error *err) DLS_MUST_CHECK;
/* EINPUT: damaged, or of another training. */
dls_status dls_checkpoint_load(const char *path, const dls_checkpoint *c,
                               dls_error *err) DLS_MUST_CHECK;

/* Curves as a file of their own: group <name>/ with epoch columns. Replaces what is there. */
typedef struct dls_named_course {
    const char *name;
    const dls_train_course *course;
} dls_named_course;
dls_status dls_courses_save(const char *path, const dls_named_course *course, size_t n,
                            dls_error *err) DLS_MUST_CHECK;

#endif
