/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The learner of the CPU: a stepper and the optimiser beside it.
 */
#include "base/alloc.h"
#include "base/own.h"
#include "predictor/training/learner.h"

#include <stdio.h>

typedef struct cpu_learner {
    dls_learner_config c;
    dls_stepper *stepper;
    void **start[2];         /* [n of train, val] states before the trained layers */
    dls_step_sample *sample; /* [larger of batch and validation set] */
    double *out;
    double *gradient;
    double sum; /* losses not yet asked for */
} cpu_learner;

static const dls_lessons *lessons_of(const cpu_learner *l, int which)
{
    return which == 0 ? &l->c.train : &l->c.val;
}

static void cpu_close(void *state)
{
    cpu_learner *l = state;
    if (!l) {
        return;
    }
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; l->start[s] && i < lessons_of(l, s)->n; i++) {
            dls_free(l->start[s][i]);
        }
        dls_free(l->start[s]);
    }
    dls_stepper_destroy(l->stepper);
    DLS_FREE_ALL(l->sample, l->out, l->gradient, l);
}

/* Of so many graphs. */
static size_t most_rows(const dls_learner_config *c, size_t n)
{
    size_t most = 1;
    const dls_lessons *set[] = {&c->train, &c->val};
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < set[s]->n; i++) {
            const size_t rows = dls_lessons_first(set[s], i + 1) - dls_lessons_first(set[s], i);
            most = rows > most ? rows : most;
        }
    }
    return most * n;
}

static dls_status set_up(cpu_learner *l, dls_error *err)
{
    const dls_trainee *net = l->c.net;
    const size_t batch = (size_t)l->c.batch;
    const size_t most = batch > l->c.val.n ? batch : l->c.val.n;
    const size_t outputs = (size_t)net->arch.n_outputs;
    DLS_TRY(dls_stepper_create(net, &l->c.step, &l->stepper, err));
    l->sample = dls_alloc_zero(most, sizeof *l->sample);
    l->out = dls_alloc_zero(most_rows(&l->c, most), outputs * sizeof *l->out);
    l->gradient = dls_alloc_zero(net->n_values, sizeof *l->gradient);
    l->start[0] = dls_alloc_zero(l->c.train.n, sizeof *l->start[0]);
    l->start[1] = dls_alloc_zero(l->c.val.n, sizeof *l->start[1]);
    return l->sample && l->out && l->gradient && l->start[0] && l->start[1]
               ? DLS_OK
               : dls_nomem(err, "training", net->n_values * sizeof(double));
}

DLS_OWNER(cpu_learner, cpu_close)

static dls_status cpu_open(const dls_learner_config *config, void **state, dls_error *err)
{
    *state = NULL;
    DLS_HOLD(cpu_close) cpu_learner *l = NULL;
    DLS_TRY(dls_alloc_array(&l, 1, sizeof *l, "training", err));
    l->c = *config;
    DLS_TRY(set_up(l, err));
    *state = dls_take(&l);
    return DLS_OK;
}

static dls_status cpu_freeze(void *state, dls_error *err)
{
    cpu_learner *l = state;
    for (int s = 0; s < 2; s++) {
        const dls_lessons *set = lessons_of(l, s);
        for (size_t i = 0; i < set->n; i++) {
            DLS_TRY(dls_stepper_start(l->stepper, set->graph[i], &l->start[s][i], err));
        }
    }
    return DLS_OK;
}

static dls_status cpu_load(void *state, dls_error *err)
{
    cpu_learner *l = state;
    dls_stepper_load(l->stepper);
    return DLS_OK;
}

static dls_step_sample sample_of(const cpu_learner *l, int which, size_t i, uint64_t noise)
{
    const dls_lessons *set = lessons_of(l, which);
    const dls_arch *a = &l->c.net->arch;
    const size_t first = dls_lessons_first(set, i);
    return (dls_step_sample){
        .graph = set->graph[i],
        .start = l->start[which][i],
        .target = set->target + first * (size_t)a->n_outputs,
        .noise = noise,
        .condition = set->condition ? set->condition + first * (size_t)a->n_conditions : NULL,
        .rows = dls_lessons_first(set, i + 1) - first};
}

static dls_status cpu_step(void *state, const size_t *index, const uint64_t *noise, size_t n,
                           dls_error *err)
{
    cpu_learner *l = state;
    size_t rows = 0;
    for (size_t i = 0; i < n; i++) {
        l->sample[i] = sample_of(l, 0, index[i], noise[i]);
        rows += l->sample[i].rows;
    }
    const dls_batch b = {.sample = l->sample,
                         .n = n,
                         .dropout = l->c.dropout,
                         .pairs = l->c.pairs,
                         .out = l->out,
                         .gradient = l->gradient};
    double loss = 0;
    DLS_TRY(dls_stepper_run(l->stepper, &b, &loss, err));
    l->sum += loss * (double)rows;
    dls_adam_step(l->c.adam, l->c.net, l->gradient);
    dls_stepper_load(l->stepper);
    return DLS_OK;
}

static dls_status cpu_losses(void *state, double *sum, dls_error *err)
{
    cpu_learner *l = state;
    *sum = l->sum;
    l->sum = 0;
    return DLS_OK;
}

static dls_status cpu_validate(void *state, double *loss, dls_error *err)
{
    cpu_learner *l = state;
    for (size_t i = 0; i < l->c.val.n; i++) {
        l->sample[i] = sample_of(l, 1, i, 0);
    }
    const dls_batch b = {.sample = l->sample, .n = l->c.val.n, .out = l->out};
    return dls_stepper_run(l->stepper, &b, loss, err);
}

/* Values and moments are those of the network and the optimiser all the time. */
static dls_status cpu_store(void *state, bool moments, dls_error *err)
{
    return DLS_OK;
}

static size_t cpu_bytes(const void *state)
{
    const cpu_learner *l = state;
    return dls_stepper_bytes(l->stepper);
}

static void cpu_describe(const void *state, char *text, size_t size)
{
    const cpu_learner *l = state;
    snprintf(text, size, "%s", dls_stepper_describe(l->stepper));
}

const dls_learner_ops dls_learner_cpu = {.abi = DLS_LEARNER_ABI,
                                         .name = "cpu",
                                         .open = cpu_open,
                                         .close = cpu_close,
                                         .freeze = cpu_freeze,
                                         .load = cpu_load,
                                         .step = cpu_step,
                                         .losses = cpu_losses,
                                         .validate = cpu_validate,
                                         .store = cpu_store,
                                         .bytes = cpu_bytes,
                                         .describe = cpu_describe};
