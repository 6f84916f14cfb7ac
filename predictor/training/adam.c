/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/training/adam.h"

#include "base/alloc.h"

#include <math.h>

dls_adam_options dls_adam_default(void)
{
    return (dls_adam_options){
        .lr = 0.003, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 1e-6};
}

dls_status dls_adam_init(dls_adam *adam, const dls_trainee *net, dls_adam_options options,
                         dls_error *err)
{
    *adam = (dls_adam){.options = options};
    adam->m = dls_alloc_zero(net->n_values, sizeof *adam->m);
    adam->v = dls_alloc_zero(net->n_values, sizeof *adam->v);
    if (!adam->m || !adam->v) {
        dls_adam_fini(adam);
        return dls_nomem(err, "moments of the optimiser", 2 * net->n_values * sizeof(double));
    }
    return DLS_OK;
}

void dls_adam_fini(dls_adam *adam)
{
    dls_free(adam->m);
    dls_free(adam->v);
    *adam = (dls_adam){0};
}

static void clip(const dls_trainee *net, double *gradient, double most)
{
    double sum = 0;
    for (size_t i = 0; i < net->n_values; i++) {
        sum += gradient[i] * gradient[i];
    }
    const double norm = sqrt(sum);
    if (norm > most) {
        for (size_t i = 0; i < net->n_values; i++) {
            gradient[i] *= most / norm;
        }
    }
}

void dls_adam_step(dls_adam *adam, dls_trainee *net, double *gradient)
{
    const dls_adam_options *o = &adam->options;
    if (o->clip_norm > 0) {
        clip(net, gradient, o->clip_norm);
    }
    adam->t++;
    const double step = o->lr / (1 - pow(o->beta1, (double)adam->t));
    const double root = sqrt(1 - pow(o->beta2, (double)adam->t));
    for (size_t p = 0; p < net->n_params; p++) {
        const dls_param *q = &net->param[p];
        const size_t end = q->at + (size_t)dls_tensor_len(&q->spec);
        for (size_t i = q->at; q->trained && i < end; i++) {
            double value = net->value[i];
            double g = gradient[i];
            if (o->decoupled) {
                value *= 1 - o->lr * o->weight_decay;
            } else {
                g += o->weight_decay * value;
            }
            adam->m[i] = o->beta1 * adam->m[i] + (1 - o->beta1) * g;
            adam->v[i] = o->beta2 * adam->v[i] + (1 - o->beta2) * g * g;
            net->value[i] = value - step * adam->m[i] / (sqrt(adam->v[i]) / root + o->epsilon);
        }
    }
}
