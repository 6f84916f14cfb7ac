/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictor/training/trainer.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "predictor/driple/arch_text.h"
#include "predictor/training/checkpoint.h"
#include "predictor/training/shuffle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PI 3.14159265358979323846

dls_train_options dls_train_default(void)
{
    return (dls_train_options){.adam = dls_adam_default(),
                               .epochs = 10000,
                               .patience = 1000,
                               .batch = 32,
                               .lr_floor = 1,
                               .checkpoint_every = 50};
}

void dls_train_course_fini(dls_train_course *course)
{
    dls_free(course->epoch);
    *course = (dls_train_course){0};
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct training {
    dls_trainee *net;
    const dls_train_data *data;
    const dls_train_options *o;
    dls_train_course *course;
    dls_stepper *stepper;
    dls_adam adam;
    void **start[DLS_SPLIT_TEST]; /* [n of train, val] */
    dls_step_sample *sample;      /* [larger of batch and validation split] */
    double *out;
    double *gradient;
    double *best;
    size_t *order; /* [n of train] */
    char identity[DLS_CHECKPOINT_IDENTITY];
    double began_s;
} training;

/* ---- setting up ----------------------------------------------------------------------------- */

static uint64_t mix_doubles(uint64_t h, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &v[i], sizeof bits);
        h = dls_mix64(h ^ bits) + i;
    }
    return h;
}

/* Everything that the course depends on; the values are those before the first step. */
static void identify(training *t)
{
    const dls_train_options *o = t->o;
    char arch[DLS_ARCH_TEXT_MAX];
    dls_arch_format(&t->net->arch, arch);
    uint64_t data = 0;
    for (int s = 0; s < DLS_SPLIT_TEST; s++) {
        const dls_train_split *split = &t->data->split[s];
        data = mix_doubles(data, split->target, split->n * DLS_METRICS);
        for (size_t i = 0; i < split->n; i++) {
            const dls_graph *g = split->graph[i];
            data = mix_doubles(data, g->x, (size_t)g->n_nodes * (size_t)g->n_features);
        }
    }
    snprintf(t->identity, sizeof t->identity,
             "tune=%s isa=%s f64=%d lr=%.17g beta=%.17g,%.17g eps=%.17g decay=%.17g,%d clip=%.17g "
             "epochs=%d batch=%d dropout=%.17g in_order=%d floor=%.17g seed=%llu values=%016llx "
             "data=%016llx %s",
             dls_tune_names[t->net->tune], dls_stepper_engine(t->stepper)->isa, o->step.f64,
             o->adam.lr, o->adam.beta1, o->adam.beta2, o->adam.epsilon, o->adam.weight_decay,
             o->adam.decoupled, o->adam.clip_norm, o->lr_floor < 1 ? (int)o->epochs : 0,
             (int)o->batch, o->dropout, o->in_order, o->lr_floor, (unsigned long long)o->seed,
             (unsigned long long)mix_doubles(1, t->net->value, t->net->n_values),
             (unsigned long long)data, arch);
}

static dls_status compute_starts(training *t, dls_error *err)
{
    const double from = now_s();
    for (int s = 0; s < DLS_SPLIT_TEST; s++) {
        const dls_train_split *split = &t->data->split[s];
        t->start[s] = dls_alloc_zero(split->n, sizeof *t->start[s]);
        if (!t->start[s]) {
            return dls_nomem(err, "frozen states", split->n * sizeof(void *));
        }
        for (size_t i = 0; i < split->n; i++) {
            DLS_TRY(dls_stepper_start(t->stepper, split->graph[i], &t->start[s][i], err));
        }
    }
    t->course->start_s = now_s() - from;
    return DLS_OK;
}

static dls_status set_up(training *t, dls_error *err)
{
    const size_t n_train = t->data->split[DLS_SPLIT_TRAIN].n;
    const size_t n_val = t->data->split[DLS_SPLIT_VAL].n;
    const size_t most = n_train > n_val ? n_train : n_val;
    const size_t outputs = (size_t)t->net->arch.n_outputs;
    DLS_TRY(dls_stepper_create(t->net, &t->o->step, &t->stepper, err));
    DLS_TRY(dls_adam_init(&t->adam, t->net, t->o->adam, err));
    t->sample = dls_alloc_zero(most, sizeof *t->sample);
    t->out = dls_alloc_zero(most, outputs * sizeof *t->out);
    t->gradient = dls_alloc_zero(t->net->n_values, sizeof *t->gradient);
    t->best = dls_alloc_zero(t->net->n_values, sizeof *t->best);
    t->order = dls_alloc_zero(n_train, sizeof *t->order);
    if (!t->sample || !t->out || !t->gradient || !t->best || !t->order) {
        return dls_nomem(err, "training", 2 * t->net->n_values * sizeof(double));
    }
    memcpy(t->best, t->net->value, t->net->n_values * sizeof *t->best);
    identify(t);
    return compute_starts(t, err);
}

static void tear_down(training *t)
{
    for (int s = 0; s < DLS_SPLIT_TEST; s++) {
        for (size_t i = 0; t->start[s] && i < t->data->split[s].n; i++) {
            dls_free(t->start[s][i]);
        }
        dls_free(t->start[s]);
    }
    dls_stepper_destroy(t->stepper);
    dls_adam_fini(&t->adam);
    dls_free(t->sample);
    dls_free(t->out);
    dls_free(t->gradient);
    dls_free(t->best);
    dls_free(t->order);
}

/* ---- an epoch ------------------------------------------------------------------------------- */

static dls_step_sample sample_of(const training *t, int split, size_t i, uint64_t noise)
{
    const dls_train_split *s = &t->data->split[split];
    return (dls_step_sample){.graph = s->graph[i],
                             .start = t->start[split][i],
                             .target = s->target + i * DLS_METRICS,
                             .noise = noise};
}

static dls_status train_epoch(training *t, int32_t epoch, double *mean, dls_error *err)
{
    const dls_train_options *o = t->o;
    const size_t n = t->data->split[DLS_SPLIT_TRAIN].n;
    const size_t batch = (size_t)o->batch;
    double sum = 0;
    if (o->in_order) {
        for (size_t i = 0; i < n; i++) {
            t->order[i] = i;
        }
    } else {
        dls_shuffle(t->order, n, o->seed, (uint64_t)epoch);
    }
    const double share = 0.5 * (1 + cos(PI * (double)(epoch - 1) / (double)o->epochs));
    t->adam.options.lr = o->adam.lr * (o->lr_floor + (1 - o->lr_floor) * share);
    for (size_t first = 0; first < n; first += batch) {
        const size_t m = n - first < batch ? n - first : batch;
        for (size_t i = 0; i < m; i++) {
            const uint64_t noise =
                dls_mix64(o->seed ^ dls_mix64((uint64_t)epoch << 32 | (uint64_t)(first + i)));
            t->sample[i] = sample_of(t, DLS_SPLIT_TRAIN, t->order[first + i], noise);
        }
        const dls_batch b = {.sample = t->sample,
                             .n = m,
                             .dropout = o->dropout,
                             .out = t->out,
                             .gradient = t->gradient};
        double loss = 0;
        DLS_TRY(dls_stepper_run(t->stepper, &b, &loss, err));
        sum += loss * (double)m;
        dls_adam_step(&t->adam, t->net, t->gradient);
        dls_stepper_load(t->stepper);
    }
    *mean = sum / (double)n;
    return DLS_OK;
}

static dls_status validate(training *t, double *loss, dls_error *err)
{
    const size_t n = t->data->split[DLS_SPLIT_VAL].n;
    for (size_t i = 0; i < n; i++) {
        t->sample[i] = sample_of(t, DLS_SPLIT_VAL, i, 0);
    }
    const dls_batch b = {.sample = t->sample, .n = n, .out = t->out};
    return dls_stepper_run(t->stepper, &b, loss, err);
}

static dls_status save(training *t, dls_error *err)
{
    const dls_checkpoint c = {t->identity, t->net, t->best, &t->adam, t->course};
    return t->o->checkpoint ? dls_checkpoint_save(&c, t->o->checkpoint, err) : DLS_OK;
}

static dls_status note_epoch(training *t, dls_train_epoch *e, dls_error *err)
{
    dls_train_course *course = t->course;
    const dls_train_epoch *last = course->n ? &course->epoch[course->n - 1] : NULL;
    if (!isfinite(e->train_loss) || !isfinite(e->val_loss)) {
        return dls_fail(err, DLS_EINPUT, NULL,
                        "the loss of epoch %d is not finite (training %g, validation %g): a lower "
                        "learning rate or clipping may help",
                        (int)e->epoch, e->train_loss, e->val_loss);
    }
    const bool better = !last || e->val_loss < last->best_loss;
    e->best_loss = better ? e->val_loss : last->best_loss;
    e->best_epoch = better ? e->epoch : last->best_epoch;
    if (better) {
        memcpy(t->best, t->net->value, t->net->n_values * sizeof *t->best);
    }
    const size_t bytes = dls_stepper_bytes(t->stepper);
    course->bytes = bytes > course->bytes ? bytes : course->bytes;
    DLS_TRY(dls_grow(&course->epoch, &course->cap, course->n + 1, sizeof *course->epoch, err));
    course->epoch[course->n++] = *e;
    return DLS_OK;
}

static bool is_done(const training *t)
{
    const dls_train_course *c = t->course;
    if (c->n == 0) {
        return false;
    }
    const dls_train_epoch *last = &c->epoch[c->n - 1];
    return last->epoch >= t->o->epochs ||
           (t->o->patience > 0 && last->epoch - last->best_epoch >= t->o->patience);
}

static dls_status epochs(training *t, dls_error *err)
{
    const dls_train_options *o = t->o;
    const double before = t->course->n ? t->course->epoch[t->course->n - 1].seconds : 0;
    t->began_s = now_s();
    while (!is_done(t)) {
        dls_train_epoch e = {.epoch = (int32_t)t->course->n + 1};
        DLS_TRY(train_epoch(t, e.epoch, &e.train_loss, err));
        DLS_TRY(validate(t, &e.val_loss, err));
        e.seconds = before + now_s() - t->began_s;
        DLS_TRY(note_epoch(t, &e, err));
        if (o->progress && !o->progress(o->user, &e)) {
            DLS_TRY(save(t, err));
            return dls_fail(err, DLS_EINTERRUPTED, NULL, "stopped after epoch %d", (int)e.epoch);
        }
        if (o->checkpoint_every > 0 && e.epoch % o->checkpoint_every == 0) {
            DLS_TRY(save(t, err));
        }
    }
    return DLS_OK;
}

static dls_status resume(training *t, dls_error *err)
{
    if (!t->o->resume || !t->o->checkpoint || access(t->o->checkpoint, F_OK) != 0) {
        return DLS_OK;
    }
    const dls_checkpoint c = {t->identity, t->net, t->best, &t->adam, t->course};
    DLS_TRY(dls_checkpoint_load(t->o->checkpoint, &c, err));
    dls_stepper_load(t->stepper);
    return DLS_OK;
}

dls_status dls_train(dls_trainee *net, const dls_train_data *data, const dls_train_options *o,
                     dls_train_course *course, dls_error *err)
{
    *course = (dls_train_course){0};
    if (o->batch < 1 || o->epochs < 1 || !(o->adam.lr > 0) ||
        !(o->dropout >= 0 && o->dropout < 1)) {
        return dls_fail(
            err, DLS_EINPUT, NULL,
            "batch and epochs must be at least 1, the learning rate above 0, dropout in "
            "0..1");
    }
    training t = {.net = net, .data = data, .o = o, .course = course};
    dls_status status = set_up(&t, err);
    if (status == DLS_OK) {
        status = resume(&t, err);
    }
    if (status == DLS_OK) {
        status = epochs(&t, err);
        memcpy(net->value, t.best, net->n_values * sizeof *net->value);
    }
    tear_down(&t);
    return status;
}
