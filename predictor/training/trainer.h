/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Training: epochs of batches, early stopping on the validation loss, checkpoints. The course of a
 * training is a function of network, data, options and seed alone: not of the number of threads,
 * and not of interruptions. Rounding is that of where it computes: a checkpoint taken up by another
 * instruction set or on another device goes on from the same values, but not to the same bits.
 */
#ifndef DLS_TRAINING_TRAINER_H
#define DLS_TRAINING_TRAINER_H

#include "predictor/training/data.h"
#include "predictor/training/learner.h"

typedef struct dls_train_epoch {
    int32_t epoch;     /* from 1 */
    double train_loss; /* mean over the epoch's graphs, each as its batch saw it */
    double val_loss;
    double best_loss;
    int32_t best_epoch;
    double seconds; /* since the training began, without interruptions */
} dls_train_epoch;

typedef struct dls_train_options {
    dls_backend_kind backend; /* DLS_BACKEND_CUDA, or else the CPU */
    dls_stepper_options step;
    dls_adam_options adam;
    int32_t epochs;   /* at most */
    int32_t patience; /* epochs in a row without a new best; 0: never stop early */
    int32_t batch;
    double dropout, pairs; /* as of dls_batch; pairs on the CPU alone, and not for validation */
    bool in_order;   /* batches as stored, as published; else shuffled every epoch */
    double lr_floor; /* the rate falls along a half cosine to this share of lr at `epochs`; 1:
                        constant */
    uint64_t seed;
    const char *checkpoint; /* written there every checkpoint_every epochs and when stopped; NULL */
    int32_t checkpoint_every;
    bool resume; /* go on from the checkpoint if it is there */
    /* After every epoch; false: write a checkpoint, if there is one, and stop with EINTERRUPTED. */
    bool (*progress)(void *user, const dls_train_epoch *epoch);
    void *user;
} dls_train_options;

/* Published: batches of 32, patience 1000, Adam as in adam.h; shuffled, unlike it. */
dls_train_options dls_train_default(void);

typedef struct dls_train_course {
    dls_train_epoch *epoch; /* [n] */
    size_t n, cap;
    double start_s; /* what computing the frozen layers once took */
    size_t bytes;   /* working memory at its greatest */
} dls_train_course;
void dls_train_course_fini(dls_train_course *course);

/* On return the network has its best values, those of the least validation loss. EINPUT: a loss
 * that is not finite (the values are those of the best epoch before, if any), a checkpoint of
 * another training; EINTERRUPTED, ENOMEM, EOUTPUT; EPREDICTOR: no
 * CUDA device, or it does not train this architecture. *course is to be released in any case. */
dls_status dls_train(dls_trainee *net, const dls_train_data *data, const dls_train_options *o,
                     dls_train_course *course, dls_error *err) DLS_MUST_CHECK;

#endif
