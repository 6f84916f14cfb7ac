/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Adam (Kingma, Ba, ICLR 2015) with weight decay added to the gradient, as the published training
 * does it, or decoupled from it: AdamW (Loshchilov, Hutter, ICLR 2019). Only the trained parameters
 * of a network move.
 */
#ifndef DLS_TRAINING_ADAM_H
#define DLS_TRAINING_ADAM_H

#include "predictor/training/trainee.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dls_adam_options {
    double lr;
    double beta1, beta2, epsilon;
    double weight_decay;
    bool decoupled;   /* AdamW */
    double clip_norm; /* a gradient of a greater 2-norm is scaled down to it; 0: never */
} dls_adam_options;
/* The published: 0.003, 0.9, 0.999, 1e-8, 1e-6 coupled, no clipping. */
dls_adam_options dls_adam_default(void);

typedef struct dls_adam {
    dls_adam_options options;
    double *m, *v; /* [n_values] of the network */
    int64_t t;     /* steps taken */
} dls_adam;

dls_status dls_adam_init(dls_adam *adam, const dls_trainee *net, dls_adam_options options,
                         dls_error *err) DLS_MUST_CHECK;
void dls_adam_fini(dls_adam *adam);
/* One step. gradient [n_values] is scaled in place if clipped. O(n_values). */
void dls_adam_step(dls_adam *adam, dls_trainee *net, double *gradient);

/* The same for a plain vector, all of which moves. */
dls_status dls_adam_init_values(dls_adam *adam, size_t n_values, dls_adam_options options,
                                dls_error *err) DLS_MUST_CHECK;
void dls_adam_step_values(dls_adam *adam, double *value, double *gradient, size_t n_values);

#ifdef __cplusplus
}
#endif
#endif
