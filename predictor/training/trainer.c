/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The training loop: shuffled epochs, validation, early stopping with the best values kept, and
 * checkpoints from which a training resumes with the same result.
 */
#include "predictor/training/trainer.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rng.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/backend.h"
#include "predictor/training/checkpoint.h"
#include "predictor/training/shuffle.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PI 3.14159265358979323846

dls_train_options dls_train_default(void)
{
    return (dls_train_options){.adam = dls_adam_default(),
                               .backend = DLS_BACKEND_CPU,
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

typedef struct training {
    dls_trainee *net;
    const dls_train_data *data;
    const dls_train_options *o;
    dls_train_course *course;
    const dls_learner_ops *ops;
    void *module; /* of a CUDA learner */
    void *learner;
    dls_adam adam;
    double *best;
    size_t *order;   /* [n of train] */
    uint64_t *noise; /* [n of train] */
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
        data = mix_doubles(data, split->target, dls_train_rows(split) * DLS_METRICS);
        if (split->condition) {
            const size_t width = (size_t)t->net->arch.n_conditions;
            data = mix_doubles(data, split->condition, dls_train_rows(split) * width);
        }
        for (size_t i = 0; i < split->n; i++) {
            const dls_graph *g = split->graph[i];
            data = mix_doubles(data, g->x, (size_t)g->n_nodes * (size_t)g->n_features);
        }
    }
    snprintf(t->identity, sizeof t->identity,
             "tune=%s f64=%d lr=%.17g beta=%.17g,%.17g eps=%.17g decay=%.17g,%d clip=%.17g "
             "epochs=%d batch=%d dropout=%.17g pairs=%.17g in_order=%d floor=%.17g seed=%llu values=%016llx "
             "data=%016llx %s",
             dls_tune_names[t->net->tune], o->step.f64, o->adam.lr, o->adam.beta1, o->adam.beta2, o->adam.epsilon, o->adam.weight_decay,
             o->adam.decoupled, o->adam.clip_norm, o->lr_floor < 1 ? (int)o->epochs : 0,
             (int)o->batch, o->dropout, o->pairs, o->in_order, o->lr_floor, (unsigned long long)o->seed,
             (unsigned long long)mix_doubles(1, t->net->value, t->net->n_values),
             (unsigned long long)data, arch);
}

static dls_lessons lessons_of(const training *t, int split)
{
    const dls_train_split *s = &t->data->split[split];
    const bool plain = dls_train_rows(s) == s->n && !s->condition;
    return (dls_lessons){.graph = s->graph,
                         .target = s->target,
                         .n = s->n,
                         .first = plain ? NULL : s->first,
                         .condition = s->condition};
}

static dls_status open_learner(training *t, dls_error *err)
{
    const dls_train_options *o = t->o;
    const dls_learner_config config = {.net = t->net,
                                       .adam = &t->adam,
                                       .train = lessons_of(t, DLS_SPLIT_TRAIN),
                                       .val = lessons_of(t, DLS_SPLIT_VAL),
                                       .batch = o->batch,
                                       .dropout = o->dropout,
                                       .pairs = o->pairs,
                                       .step = o->step};
    t->ops = &dls_learner_cpu;
    if (o->backend == DLS_BACKEND_CUDA) {
        DLS_TRY(dls_learner_cuda(NULL, &t->ops, &t->module, err));
    }
    DLS_TRY(t->ops->open(&config, &t->learner, err));
    const double from = dls_clock_s();
    DLS_TRY(t->ops->freeze(t->learner, err));
    t->course->start_s = dls_clock_s() - from;
    return DLS_OK;
}

static dls_status set_up(training *t, dls_error *err)
{
    const size_t n_train = t->data->split[DLS_SPLIT_TRAIN].n;
    DLS_TRY(dls_adam_init(&t->adam, t->net, t->o->adam, err));
    DLS_TRY(DLS_ALLOC_ALL("training", err, DLS_ARRAY(t->best, t->net->n_values),
                          DLS_ARRAY(t->order, n_train), DLS_ARRAY(t->noise, n_train)));
    memcpy(t->best, t->net->value, t->net->n_values * sizeof *t->best);
    identify(t);
    return open_learner(t, err);
}

static void tear_down(training *t)
{
    if (t->learner) {
        t->ops->close(t->learner);
    }
    dls_driple_module_close(t->module);
    dls_adam_fini(&t->adam);
    DLS_FREE_ALL(t->best, t->order, t->noise);
}

/* ---- an epoch ------------------------------------------------------------------------------- */

static dls_status train_epoch(training *t, int32_t epoch, double *mean, dls_error *err)
{
    const dls_train_options *o = t->o;
    const size_t n = t->data->split[DLS_SPLIT_TRAIN].n;
    const size_t batch = (size_t)o->batch;
    if (o->in_order) {
        for (size_t i = 0; i < n; i++) {
            t->order[i] = i;
        }
    } else {
        dls_shuffle(t->order, n, o->seed, (uint64_t)epoch);
    }
    const double share = 0.5 * (1 + cos(PI * (double)(epoch - 1) / (double)o->epochs));
    t->adam.options.lr = o->adam.lr * (o->lr_floor + (1 - o->lr_floor) * share);
    for (size_t i = 0; i < n; i++) {
        t->noise[i] = dls_mix64(o->seed ^ dls_mix64((uint64_t)epoch << 32 | (uint64_t)i));
    }
    for (size_t first = 0; first < n; first += batch) {
        const size_t m = n - first < batch ? n - first : batch;
        DLS_TRY(t->ops->step(t->learner, t->order + first, t->noise + first, m, err));
    }
    double sum = 0;
    DLS_TRY(t->ops->losses(t->learner, &sum, err));
    *mean = sum / (double)dls_train_rows(&t->data->split[DLS_SPLIT_TRAIN]);
    return DLS_OK;
}

static dls_status save(training *t, dls_error *err)
{
    const dls_checkpoint c = {t->identity, t->net, t->best, &t->adam, t->course};
    if (!t->o->checkpoint) {
        return DLS_OK;
    }
    DLS_TRY(t->ops->store(t->learner, true, err));
    return dls_checkpoint_save(&c, t->o->checkpoint, err);
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
        DLS_TRY(t->ops->store(t->learner, false, err));
        memcpy(t->best, t->net->value, t->net->n_values * sizeof *t->best);
    }
    const size_t bytes = t->ops->bytes(t->learner);
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
    t->began_s = dls_clock_s();
    while (!is_done(t)) {
        dls_train_epoch e = {.epoch = (int32_t)t->course->n + 1};
        DLS_TRY(train_epoch(t, e.epoch, &e.train_loss, err));
        DLS_TRY(t->ops->validate(t->learner, &e.val_loss, err));
        e.seconds = before + dls_clock_s() - t->began_s;
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
    return t->ops->load(t->learner, err);
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
    if (o->pairs > 0 && o->backend == DLS_BACKEND_CUDA) {
        return dls_fail(err, DLS_EPREDICTOR, NULL,
                        "the loss over pairs is computed on the CPU alone: --backend=cpu");
    }
    training t = {.net = net, .data = data, .o = o, .course = course};
    dls_status status = set_up(&t, err);
    DLS_THEN(status, resume(&t, err));
    if (status == DLS_OK) {
        status = epochs(&t, err);
        memcpy(net->value, t.best, net->n_values * sizeof *net->value);
    }
    tear_down(&t);
    return status;
}
