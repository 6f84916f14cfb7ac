/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Forward and backward of a batch: cuts it into blocks of graphs of one size, lets threads take
 * them, and adds the blocks' gradients in their order, so that a loss curve has the same bits with
 * any number of threads.
 */
#ifndef DLS_TRAINING_STEPPER_H
#define DLS_TRAINING_STEPPER_H

#include "base/own.h"
#include "predictor/training/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dls_stepper_options {
    bool f64;
    const char *isa; /* NULL: the best this machine has */
    int32_t threads; /* 0: one per core this process may use */
} dls_stepper_options;

typedef struct dls_stepper dls_stepper;

/* net is borrowed. EINPUT: no such engine here. */
dls_status dls_stepper_create(const dls_trainee *net, const dls_stepper_options *opts,
                              dls_stepper **out, dls_error *err) DLS_MUST_CHECK;
void dls_stepper_destroy(dls_stepper *s); /* NULL-safe */
DLS_OWNER(dls_stepper, dls_stepper_destroy)
/* "avx512, f32, 2 threads"; borrowed */
const char *dls_stepper_describe(const dls_stepper *s);

/* The network's values have changed: pack them again. */
void dls_stepper_load(dls_stepper *s);

/* The state of a graph before the first trained layer, to be given as dls_step_sample.start; NULL
 * in *out when nothing is frozen (or the readout sees every layer). Owned by the caller (dls_free);
 * it stands until a frozen parameter changes. */
dls_status dls_stepper_start(dls_stepper *s, const dls_graph *g, void **out,
                             dls_error *err) DLS_MUST_CHECK;

typedef struct dls_batch {
    const dls_step_sample *sample;
    size_t n;
    double dropout;
    /* The loss is the mean squared error, and so many times what errors of a sample's rows differ from
     * their mean, squared: the mean over pairs of rows of the squared difference of their errors, halved. */
    double pairs;
    double *out;      /* [rows of all samples][n_outputs] */
    double *gradient; /* [n_values] of the mean squared error over all outputs; NULL: not wanted */
} dls_batch;

/* *loss: mean squared error over the samples that have a target (all must, for a gradient). Memory:
 * at most about DLS_BLOCK_BYTES per thread while the graphs allow it. */
dls_status dls_stepper_run(dls_stepper *s, const dls_batch *batch, double *loss,
                           dls_error *err) DLS_MUST_CHECK;
/* Working memory held now: blocks and gradients. */
size_t dls_stepper_bytes(const dls_stepper *s);

#ifdef __cplusplus
}
#endif
#endif
