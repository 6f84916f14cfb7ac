/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Training on CUDA against the CPU's float64: check_training MODULE [--quick]
 *
 * MODULE is dlsim-cuda.so, or the emulated one of the same source (tests/gpu/cuda_emu.h), for which
 * --quick keeps graphs small. For every case: loss and gradient of a batch, ten steps of the
 * optimiser, the validation loss; and of some a second run, which must give the same bits, and one
 * that is stored and taken up halfway, by the CPU's learner, too. Needs no HDF5, GSL or libconfig.
 * Exit status 77: no device here.
 */
#include "base/alloc.h"
#include "base/rng.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/backend.h"
#include "predictor/training/learner.h"
#include "tests/inspector_graphs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the largest gradient; of a loss; of the largest step that the values took. */
#define GRADIENT_BOUND 2e-5
#define LOSS_BOUND 1e-5
#define VALUE_BOUND 2e-4

enum { TRAIN = 5, VAL = 3, GRAPHS = TRAIN + VAL, STEPS = 10, ANSWERS = 3, CONDITIONS = 4 };

static bool quick;

typedef struct task {
    const char *name;
    const char *arch;
    dls_tune tune;
    double dropout, clip;
    bool adamw, weighted, again, told;
} task;

/* clang-format off */
static const task tasks[] = {
    {.name = "as published", .arch = "hidden=16", .again = true},
    {.name = "as many features as units", .arch = "hidden=20 n_features=20 set2set_steps=2"},
    {.name = "hidden 70, one layer", .arch = "hidden=70 depth=fixed n_layers=1 set2set_steps=2"},
    {.name = "weighted, asymmetric", .arch = "hidden=13 set2set_steps=2", .weighted = true},
    {.name = "one layer of the mlp", .arch = "hidden=16 set2set_steps=2 mlp_layers=1"},
    {.name = "three steps, four layers of the mlp", .arch = "hidden=8 set2set_steps=3 mlp_layers=4"},
    {.name = "dropout, clipping", .arch = "hidden=16 depth=N set2set_steps=2", .dropout = 0.3, .clip = 0.01},
    {.name = "adamw", .arch = "hidden=16 set2set_steps=2", .adamw = true},
    {.name = "transfer", .arch = "hidden=16 depth=N set2set_steps=4", .tune = DLS_TUNE_CONV_MLP, .again = true},
    {.name = "tune the mlp", .arch = "hidden=16 set2set_steps=3", .tune = DLS_TUNE_MLP},
    {.name = "tune convolution and gru", .arch = "hidden=16 depth=N set2set_steps=2", .tune = DLS_TUNE_CONV_GRU},
    {.name = "tune all", .arch = "hidden=16 depth=N set2set_steps=2", .tune = DLS_TUNE_ALL, .dropout = 0.1},
    {.name = "told of settings", .arch = "hidden=16 set2set_steps=2", .told = true},
    {.name = "told of settings, one layer of the mlp", .arch = "hidden=8 set2set_steps=2 mlp_layers=1", .told = true},
};
/* clang-format on */
#define N_TASKS (sizeof tasks / sizeof *tasks)

static void die(const char *what, const dls_error *e)
{
    fprintf(stderr, "%s: %s\n", what, e->msg);
    exit(1);
}

/* ---- a training ------------------------------------------------------------------------------ */

typedef struct school {
    dls_graph graph[GRAPHS];
    const dls_graph *pointer[GRAPHS];
    /* Told of settings, a graph has 1, 2 or ANSWERS of them in turn; else one answer. */
    size_t first[2][GRAPHS + 1]; /* [train, validation] */
    double target[GRAPHS * ANSWERS][DLS_METRICS];
    double condition[GRAPHS * ANSWERS][CONDITIONS];
    dls_inspector *insp;
} school;

typedef struct pupil {
    const dls_learner_ops *ops;
    dls_trainee *net;
    dls_adam adam;
    void *state;
} pupil;

static void found(school *s, const task *t)
{
    static const int32_t small[GRAPHS] = {6, 1, 9, 6, 35, 2, 7, 5};
    static const int32_t large[GRAPHS] = {40, 1, 70, 40, 33, 100, 7, 64};
    const int32_t *nodes = quick ? small : large;
    dls_error e = {0};
    dls_arch a = dls_arch_default();
    if (dls_arch_parse(&a, t->arch, &e) != DLS_OK || dls_arch_check(&a, &e) != DLS_OK ||
        dls_inspector_create(&a, &s->insp, &e) != DLS_OK ||
        dls_inspector_randomise(s->insp, 3, 0, 40, &e) != DLS_OK ||
        (t->told && dls_inspector_condition(s->insp, "a\nb\nc\nd", CONDITIONS, &e) != DLS_OK)) {
        die(t->name, &e);
    }
    s->insp->feature_shift[0] = 0.1;
    s->insp->feature_scale[0] = 0.8;
    dls_rng rng = dls_rng_stream(5, DLS_RNG_TEST, 1);
    for (int i = 0; i < GRAPHS; i++) {
        const graph_kind kind = {.density = 3.0 / nodes[i],
                                 .asymmetric = t->weighted,
                                 .weighted = t->weighted};
        random_graph(&s->graph[i], nodes[i], a.n_features, (uint64_t)i + 7, kind);
        s->pointer[i] = &s->graph[i];
        const bool val = i >= TRAIN;
        const int at = val ? i - TRAIN : i;
        s->first[val][0] = 0;
        s->first[val][at + 1] =
            s->first[val][at] + (t->told ? 1 + (size_t)i % ANSWERS : 1);
    }
    for (int i = 0; i < GRAPHS * ANSWERS; i++) {
        for (int k = 0; k < DLS_METRICS; k++) {
            s->target[i][k] = dls_rng_unit(&rng);
        }
        for (int k = 0; k < CONDITIONS; k++) {
            s->condition[i][k] = 2 * dls_rng_unit(&rng) - 1;
        }
    }
}

static void close_school(school *s)
{
    for (int i = 0; i < GRAPHS; i++) {
        random_graph_free(&s->graph[i]);
    }
    dls_inspector_destroy(s->insp);
}

static void enrol(pupil *p, const dls_learner_ops *ops, const school *s, const task *t,
                  const dls_adam_options *adam, bool f64)
{
    dls_error e = {0};
    *p = (pupil){.ops = ops};
    if (dls_trainee_create(s->insp, DLS_SETTING_BASE, t->tune, &p->net, &e) != DLS_OK) {
        die(t->name, &e);
    }
    dls_rng rng = dls_rng_stream(5, DLS_RNG_TEST, 2);
    for (size_t i = 0; i < p->net->n_values; i++) {
        p->net->value[i] += 0.05 * (dls_rng_unit(&rng) - 0.5); /* biases are 0 otherwise */
    }
    const size_t answers = s->first[0][TRAIN];
    dls_learner_config c = {.net = p->net,
                            .adam = &p->adam,
                            .train = {.graph = s->pointer, .target = s->target[0], .n = TRAIN},
                            .val = {.graph = s->pointer + TRAIN,
                                    .target = s->target[answers],
                                    .n = VAL},
                            .batch = TRAIN - 1,
                            .dropout = t->dropout,
                            .step = {.f64 = f64, .threads = 1}};
    if (t->told) {
        c.train.first = s->first[0];
        c.val.first = s->first[1];
        c.train.condition = s->condition[0];
        c.val.condition = s->condition[answers];
    }
    if (dls_adam_init(&p->adam, p->net, *adam, &e) != DLS_OK ||
        ops->open(&c, &p->state, &e) != DLS_OK || ops->freeze(p->state, &e) != DLS_OK) {
        if (strstr(e.msg, "no CUDA device")) {
            printf("skipped: %s\n", e.msg);
            exit(77);
        }
        die(t->name, &e);
    }
}

static void leave(pupil *p)
{
    p->ops->close(p->state);
    dls_adam_fini(&p->adam);
    dls_trainee_destroy(p->net);
}

/* Step number `step` takes all but one of the training graphs, in another order each time. */
static double learn(pupil *p, int step)
{
    dls_error e = {0};
    size_t index[TRAIN];
    uint64_t noise[TRAIN];
    double loss = 0;
    for (size_t i = 0; i < TRAIN; i++) {
        index[i] = ((size_t)step + 2 * i) % TRAIN;
        noise[i] = (uint64_t)step * 100 + i;
    }
    if (p->ops->step(p->state, index, noise, TRAIN - 1, &e) != DLS_OK ||
        p->ops->losses(p->state, &loss, &e) != DLS_OK) {
        die("step", &e);
    }
    return loss / (TRAIN - 1);
}

static void store(pupil *p)
{
    dls_error e = {0};
    if (p->ops->store(p->state, true, &e) != DLS_OK) {
        die("store", &e);
    }
}

static double validate(pupil *p)
{
    dls_error e = {0};
    double loss = 0;
    if (p->ops->validate(p->state, &loss, &e) != DLS_OK) {
        die("validate", &e);
    }
    return loss;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static double worse(double a, double b)
{
    return isnan(b) || b > a ? b : a;
}

/* The first moment after one step without decay is a tenth of the gradient. */
static double gradient_error(const dls_learner_ops *ops, const school *s, const task *t)
{
    pupil p[2];
    dls_adam_options o = dls_adam_default();
    o.weight_decay = 0;
    double error = 0;
    double top = 0;
    for (int i = 0; i < 2; i++) {
        enrol(&p[i], i ? ops : &dls_learner_cpu, s, t, &o, i == 0);
        (void)learn(&p[i], 0);
        store(&p[i]);
    }
    for (size_t i = 0; i < p[0].net->n_values; i++) {
        error = worse(error, fabs(p[1].adam.m[i] - p[0].adam.m[i]));
        top = worse(top, fabs(p[0].adam.m[i]));
    }
    leave(&p[0]);
    leave(&p[1]);
    return top > 1e-7 ? error / top : HUGE_VAL;
}

typedef struct outcome {
    double loss, value; /* greatest errors against float64 */
    bool same, resumed; /* bits of a second run, of one that was stored and loaded */
} outcome;

static dls_adam_options adam_of(const task *t)
{
    dls_adam_options o = dls_adam_default();
    o.epsilon = 1e-3; /* steps then go with the gradient, not with its sign, which rounding flips */
    o.clip_norm = t->clip;
    o.decoupled = t->adamw;
    o.weight_decay = t->adamw ? 1e-2 : 1e-4;
    return o;
}

/* Half of the steps by `first`, the rest by `second` from what the first stored. */
static void hand_over(const dls_learner_ops *first, const dls_learner_ops *second, const school *s,
                      const task *t, pupil *p)
{
    const dls_adam_options o = adam_of(t);
    dls_error e = {0};
    pupil q;
    enrol(&q, first, s, t, &o, false);
    for (int k = 0; k < STEPS / 2; k++) {
        (void)learn(&q, k);
    }
    store(&q);
    enrol(p, second, s, t, &o, false);
    const size_t bytes = p->net->n_values * sizeof(double);
    memcpy(p->net->value, q.net->value, bytes);
    memcpy(p->adam.m, q.adam.m, bytes);
    memcpy(p->adam.v, q.adam.v, bytes);
    p->adam.t = q.adam.t;
    leave(&q);
    if (p->ops->load(p->state, &e) != DLS_OK) {
        die("load", &e);
    }
    for (int k = STEPS / 2; k < STEPS; k++) {
        (void)learn(p, k);
    }
    store(p);
}

static bool same_bits(const pupil *a, const pupil *b)
{
    const size_t bytes = a->net->n_values * sizeof(double);
    return memcmp(a->net->value, b->net->value, bytes) == 0 &&
           memcmp(a->adam.m, b->adam.m, bytes) == 0 && memcmp(a->adam.v, b->adam.v, bytes) == 0;
}

static double value_error(const pupil *want, const pupil *got, const double *before)
{
    double error = 0;
    double top = 0;
    for (size_t i = 0; i < want->net->n_values; i++) {
        error = worse(error, fabs(got->net->value[i] - want->net->value[i]));
        top = worse(top, fabs(want->net->value[i] - before[i]));
    }
    return top > 0 ? error / top : HUGE_VAL;
}

static outcome ten_steps(const dls_learner_ops *ops, const school *s, const task *t)
{
    const dls_adam_options o = adam_of(t);
    outcome r = {.same = true, .resumed = true};
    pupil want;
    pupil got;
    enrol(&want, &dls_learner_cpu, s, t, &o, true);
    enrol(&got, ops, s, t, &o, false);
    const size_t bytes = want.net->n_values * sizeof(double);
    double *before = dls_alloc(bytes);
    if (!before) {
        abort();
    }
    memcpy(before, want.net->value, bytes);
    for (int k = 0; k < STEPS; k++) {
        const double a = learn(&want, k);
        r.loss = worse(r.loss, fabs(learn(&got, k) - a) / a);
    }
    store(&want);
    store(&got);
    r.value = value_error(&want, &got, before);
    const double a = validate(&want);
    r.loss = worse(r.loss, fabs(validate(&got) - a) / a);
    if (t->again) {
        pupil p;
        enrol(&p, ops, s, t, &o, false);
        for (int k = 0; k < STEPS; k++) {
            (void)learn(&p, k);
        }
        store(&p);
        r.same = same_bits(&p, &got);
        leave(&p);
        hand_over(ops, ops, s, t, &p);
        r.resumed = same_bits(&p, &got);
        leave(&p);
        hand_over(ops, &dls_learner_cpu, s, t, &p);
        r.value = worse(r.value, value_error(&want, &p, before));
        leave(&p);
    }
    dls_free(before);
    leave(&want);
    leave(&got);
    return r;
}

static bool check(const dls_learner_ops *ops, const task *t)
{
    school s;
    found(&s, t);
    const double gradient = gradient_error(ops, &s, t);
    const outcome r = ten_steps(ops, &s, t);
    const bool ok = gradient <= GRADIENT_BOUND && r.loss <= LOSS_BOUND && r.value <= VALUE_BOUND &&
                    r.same && r.resumed;
    printf("{\"check\": \"training, %s\", \"gradient_error\": %.3g, \"loss_error\": %.3g, "
           "\"value_error\": %.3g, \"repeats\": %s, \"resumes\": %s, \"ok\": %s}\n",
           t->name, gradient, r.loss, r.value, r.same ? "true" : "false",
           r.resumed ? "true" : "false", ok ? "true" : "false");
    fflush(stdout);
    close_school(&s);
    return ok;
}

/* What the shipped networks do not have is the CPU's, by name. */
static bool check_refused(const dls_learner_ops *ops)
{
    static const char *const other[] = {"conv=gin", "pool=mean", "gru=0", "shared=0 depth=fixed n_layers=2"};
    bool ok = true;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        const task t = {.name = other[i], .arch = other[i]};
        const dls_adam_options o = dls_adam_default();
        dls_error e = {0};
        school s;
        pupil p;
        found(&s, &t);
        enrol(&p, &dls_learner_cpu, &s, &t, &o, false);
        void *state = NULL;
        const dls_learner_config c = {.net = p.net,
                                      .adam = &p.adam,
                                      .train = {.graph = s.pointer, .target = s.target[0], .n = 1},
                                      .batch = 1};
        ok = ops->open(&c, &state, &e) == DLS_EPREDICTOR && strstr(e.msg, "not trained on CUDA") &&
             ok;
        leave(&p);
        close_school(&s);
    }
    printf("{\"check\": \"other networks are refused\", \"ok\": %s}\n", ok ? "true" : "false");
    return ok;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: check_training MODULE [--quick]\n");
        return 2;
    }
    quick = argc > 2 && strcmp(argv[2], "--quick") == 0;
    dls_error e = {0};
    const dls_learner_ops *ops = NULL;
    void *module = NULL;
    if (dls_learner_cuda(argv[1], &ops, &module, &e) != DLS_OK) {
        die(argv[1], &e);
    }
    int failures = 0;
    for (size_t i = 0; i < N_TASKS; i++) {
        failures += !check(ops, &tasks[i]);
    }
    failures += !check_refused(ops);
    printf("%d of %zu checks failed\n", failures, N_TASKS + 1);
    dls_driple_module_close(module);
    return failures ? 1 : 0;
}
