/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Adam and AdamW (ICLR 2015, ICLR 2019) over a vector of doubles, with gradient clipping; steps
 * only the trained parameters.
 */
#include "predictor/training/adam.h"

#include "base/alloc.h"

#include <math.h>

dls_adam_options dls_adam_default(void)
{
    return (dls_adam_options){
        .lr = 0.003, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 1e-6};
}

dls_status dls_adam_init_values(dls_adam *adam, size_t n_values, dls_adam_options options,
                                dls_error *err)
{
    *adam = (dls_adam){.options = options};
    adam->m = dls_alloc_zero(n_values, sizeof *adam->m);
    adam->v = dls_alloc_zero(n_values, sizeof *adam->v);
    if (!adam->m || !adam->v) {
        dls_adam_fini(adam);
        return dls_nomem(err, "moments of the optimiser", 2 * n_values * sizeof(double));
    }
    return DLS_OK;
}

dls_status dls_adam_init(dls_adam *adam, const dls_trainee *net, dls_adam_options options,
                         dls_error *err)
{
    return dls_adam_init_values(adam, net->n_values, options, err);
}

void dls_adam_fini(dls_adam *adam)
{
    DLS_FREE_ALL(adam->m, adam->v);
    *adam = (dls_adam){0};
}

static void clip(double *gradient, size_t n, double most)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += gradient[i] * gradient[i];
    }
    const double norm = sqrt(sum);
    if (norm > most) {
        for (size_t i = 0; i < n; i++) {
            gradient[i] *= most / norm;
        }
    }
}

/* The next step begins. */
static void advance(dls_adam *adam, double *gradient, size_t n)
{
    if (adam->options.clip_norm > 0) {
        clip(gradient, n, adam->options.clip_norm);
    }
    adam->t++;
}

static void move(const dls_adam *adam, double *values, const double *gradient, size_t first,
                 size_t end)
{
    const dls_adam_options *o = &adam->options;
    const double step = o->lr / (1 - pow(o->beta1, (double)adam->t));
    const double root = sqrt(1 - pow(o->beta2, (double)adam->t));
    for (size_t i = first; i < end; i++) {
        double value = values[i];
        double g = gradient[i];
        if (o->decoupled) {
            value *= 1 - o->lr * o->weight_decay;
        } else {
            g += o->weight_decay * value;
        }
        adam->m[i] = o->beta1 * adam->m[i] + (1 - o->beta1) * g;
        adam->v[i] = o->beta2 * adam->v[i] + (1 - o->beta2) * g * g;
        values[i] = value - step * adam->m[i] / (sqrt(adam->v[i]) / root + o->epsilon);
    }
}

void dls_adam_step(dls_adam *adam, dls_trainee *net, double *gradient)
{
    advance(adam, gradient, net->n_values);
    for (size_t p = 0; p < net->n_params; p++) {
        const dls_param *q = &net->param[p];
        if (q->trained) {
            move(adam, net->value, gradient, q->at, q->at + (size_t)dls_tensor_len(&q->spec));
        }
    }
}

void dls_adam_step_values(dls_adam *adam, double *value, double *gradient, size_t n_values)
{
    advance(adam, gradient, n_values);
    move(adam, value, gradient, 0, n_values);
}
