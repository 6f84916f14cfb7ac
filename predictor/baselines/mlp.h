/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A small multilayer perceptron with one output, in float64 on one core:
 *
 *      x -> (x - shift) scale -> [W, ReLU] depth times -> w -> y
 *
 * Its training is a function of rows, options and seed alone.
 */
#ifndef DLS_BASELINES_MLP_H
#define DLS_BASELINES_MLP_H

#include "predictor/training/adam.h"

typedef struct dls_mlp_shape {
    int32_t n_in, width, depth; /* all >= 1; depth hidden layers of `width` */
} dls_mlp_shape;

typedef struct dls_mlp {
    dls_mlp_shape shape;
    double *shift, *scale; /* [n_in] owned */
    /* owned: for each layer the weights [in][out] and the biases [out] */
    double *value;
    size_t n_values;
} dls_mlp;

/* Parameters of a network of this shape. */
size_t dls_mlp_values(dls_mlp_shape shape);
/* All weights and biases 0, inputs as they are. *m needs dls_mlp_fini only on success. Errors:
 * EINPUT (a size below 1, more than 2^24 parameters), ENOMEM. */
dls_status dls_mlp_create(dls_mlp_shape shape, dls_mlp *m, dls_error *err) DLS_MUST_CHECK;
/* Weights with He's variance (He et al., ICCV 2015), biases 0. */
void dls_mlp_draw(dls_mlp *m, uint64_t seed, uint64_t entity);
void dls_mlp_fini(dls_mlp *m); /* NULL-safe; *m is then empty */

typedef struct dls_mlp_rows {
    const double *x; /* [n][n_in] */
    const double *y; /* [n] */
    size_t n;
} dls_mlp_rows;

/* out[n] of x[n][n_in]. O(n * parameters). ENOMEM. */
dls_status dls_mlp_run(const dls_mlp *m, const double *x, size_t n, double *out,
                       dls_error *err) DLS_MUST_CHECK;
/* Mean squared error over the rows, and its gradient [n_values]. ENOMEM. */
dls_status dls_mlp_gradient(const dls_mlp *m, const dls_mlp_rows *rows, double *loss,
                            double *gradient, dls_error *err) DLS_MUST_CHECK;

typedef struct dls_mlp_fit {
    dls_adam_options adam; /* its rate until half of the epochs, a fifth of it after */
    int32_t epochs, batch; /* >= 1 */
    uint64_t seed, entity; /* of the order of the rows */
    /* After every epoch; false ends the training with EINTERRUPTED. May be NULL. */
    bool (*progress)(void *user, int32_t epoch, double train_loss, double val_loss);
    void *user;
} dls_mlp_fit;

/* Inputs are shifted and scaled to mean 0 and deviation 1 over the training rows (a column that is
 * constant there: to 0), the last bias becomes the mean of y; then epochs of shuffled batches. The
 * values are in the end those of the epoch with the least mean squared error *best over val; after
 * an error they are of no use. Errors: EINPUT (no rows, an input or a loss that is not finite),
 * EINTERRUPTED, ENOMEM. */
dls_status dls_mlp_train(dls_mlp *m, const dls_mlp_rows *train, const dls_mlp_rows *val,
                         const dls_mlp_fit *fit, double *best, dls_error *err) DLS_MUST_CHECK;

#endif
