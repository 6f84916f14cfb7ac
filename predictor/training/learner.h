/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Where a training computes: network, graphs and optimiser on the CPU, or on a CUDA device in the
 * module that predictions use, too. The trainer above knows epochs, orders, stopping and files and
 * sees one function table; what a learner holds of values and moments comes back by `store`, so a
 * checkpoint does not say who wrote it.
 */
#ifndef DLS_TRAINING_LEARNER_H
#define DLS_TRAINING_LEARNER_H

#include "predictor/training/adam.h"
#include "predictor/training/stepper.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DLS_LEARNER_ABI 1u

/* Graphs and their labels as outputs of the network; borrowed. */
typedef struct dls_lessons {
    const dls_graph *const *graph; /* [n] */
    const double *target;          /* [rows][n_outputs] */
    size_t n;
    const size_t *first;     /* [n + 1] first row of a graph, all rows; NULL: a row each */
    const double *condition; /* [rows][arch.n_conditions] (dls_step_sample); NULL */
} dls_lessons;
static inline size_t dls_lessons_first(const dls_lessons *l, size_t i)
{
    return l->first ? l->first[i] : i;
}

/* Everything is borrowed for the life of the learner. */
typedef struct dls_learner_config {
    dls_trainee *net;
    dls_adam *adam; /* the rate is read before every step */
    dls_lessons train, val;
    int32_t batch; /* most graphs in a step */
    double dropout, pairs; /* as of dls_batch */
    dls_stepper_options step;
} dls_learner_config;

typedef struct dls_learner_ops {
    uint32_t abi; /* DLS_LEARNER_ABI */
    const char *name;
    /* Begins with the values of the network and the moments of the optimiser. EINPUT, EPREDICTOR:
     * not this architecture or precision, no device; ENOMEM. */
    dls_status (*open)(const dls_learner_config *config, void **state, dls_error *err);
    void (*close)(void *state); /* NULL-safe */
    /* Compute what does not change, the states before the first trained layer; once. */
    dls_status (*freeze)(void *state, dls_error *err);
    /* The network's values or the optimiser's moments have been replaced: take them over. */
    dls_status (*load)(void *state, dls_error *err);
    /* A batch of training graphs forward and backward, and one step of the optimiser. noise[i]
     * names the stream of sample i's dropout masks. */
    dls_status (*step)(void *state, const size_t *index, const uint64_t *noise, size_t n,
                       dls_error *err);
    /* *sum: over the steps since the last call, a step's mean squared error times its rows. */
    dls_status (*losses)(void *state, double *sum, dls_error *err);
    /* Mean squared error over the validation graphs. */
    dls_status (*validate)(void *state, double *loss, dls_error *err);
    /* Values into the network; with moments those into the optimiser, too. */
    dls_status (*store)(void *state, bool moments, dls_error *err);
    size_t (*bytes)(const void *state); /* working memory held now */
    /* "avx512, f32, 2 threads" */
    void (*describe)(const void *state, char *text, size_t size);
} dls_learner_ops;

extern const dls_learner_ops dls_learner_cpu;

/* What the CUDA module exports as "dls_learner_module". */
typedef const dls_learner_ops *(*dls_learner_module_fn)(uint32_t abi);

/* The CUDA learner from the module (predictor/driple/backend.h says where that is looked for).
 * EPREDICTOR says what was tried. *handle is for dls_driple_module_close. */
dls_status dls_learner_cuda(const char *path, const dls_learner_ops **ops, void **handle,
                            dls_error *err) DLS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
