/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The backward pass of every convolution, pooling and option against central differences of the
 * loss, in float64; and what must not change a gradient: threads, what is kept, where a pass
 * starts.
 */

#include "base/alloc.h"
#include "base/rng.h"
#include "inspector_graphs.h"
#include "predictor/driple/arch_text.h"
#include "predictor/training/stepper.h"
#include "support/must.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRAPHS = 4, PROBES = EACH > 1 ? 1 : 2, ROWS = 3, WIDTH = 5 }; /* probes: of each parameter */

typedef struct fixture {
    dls_inspector *insp;
    dls_trainee *net;
    dls_stepper *stepper;
    dls_graph graph[GRAPHS];
    double target[GRAPHS][ROWS][DLS_METRICS];
    double condition[GRAPHS][ROWS * WIDTH];
    dls_step_sample sample[GRAPHS];
    double out[GRAPHS * ROWS * DLS_METRICS];
    double *gradient;
    dls_batch batch;
} fixture;

static void set_up(fixture *f, const char *arch_text, dls_tune tune, bool f64, int32_t threads,
                   bool weighted)
{
    static const int32_t nodes[GRAPHS] = {6, 9, 6, 6};
    *f = (fixture){0};
    dls_arch arch = dls_arch_default();
    MUST(dls_arch_parse(&arch, arch_text, &e));
    const int32_t numbers = arch.n_conditions;
    arch.n_conditions = 0;
    MUST(dls_inspector_create(&arch, &f->insp, &e));
    MUST(dls_inspector_randomise(f->insp, 3, 0, 40, &e));
    if (numbers > 0) {
        assert_int_equal(numbers, WIDTH);
        MUST(dls_inspector_condition(f->insp, "a\nb\nc\nd\ne", WIDTH, &e));
    }
    f->insp->feature_shift[0] = 0.1;
    f->insp->feature_scale[0] = 0.8;
    MUST(dls_trainee_create(f->insp, DLS_SETTING_BASE, tune, &f->net, &e));
    const dls_stepper_options o = {.f64 = f64, .threads = threads};
    MUST(dls_stepper_create(f->net, &o, &f->stepper, &e));
    dls_rng rng = dls_rng_stream(5, DLS_RNG_TEST, 1);
    for (size_t i = 0; i < f->net->n_values; i++) {
        f->net->value[i] += 0.05 * (dls_rng_unit(&rng) - 0.5); /* biases are 0 otherwise */
    }
    dls_stepper_load(f->stepper);
    for (int i = 0; i < GRAPHS; i++) {
        const graph_kind kind = {.density = 0.4, .asymmetric = weighted, .weighted = weighted};
        random_graph(&f->graph[i], nodes[i], arch.n_features, (uint64_t)i + 7, kind);
        /* a graph in one to three settings */
        const size_t rows = numbers > 0 ? 1 + (size_t)i % ROWS : 1;
        for (size_t k = 0; k < rows * DLS_METRICS; k++) {
            f->target[i][k / DLS_METRICS][k % DLS_METRICS] = dls_rng_unit(&rng);
        }
        for (size_t k = 0; numbers > 0 && k < rows * WIDTH; k++) {
            f->condition[i][k] = 2 * dls_rng_unit(&rng) - 1;
        }
        f->sample[i] = (dls_step_sample){.graph = &f->graph[i],
                                         .target = f->target[i][0],
                                         .noise = (uint64_t)i,
                                         .condition = numbers > 0 ? f->condition[i] : NULL,
                                         .rows = numbers > 0 ? rows : 0};
    }
    f->gradient = calloc(f->net->n_values, sizeof(double));
    assert_non_null(f->gradient);
    f->batch = (dls_batch){.sample = f->sample, .n = GRAPHS, .out = f->out};
}

static void tear_down(fixture *f)
{
    for (int i = 0; i < GRAPHS; i++) {
        random_graph_free(&f->graph[i]);
    }
    free(f->gradient);
    dls_stepper_destroy(f->stepper);
    dls_trainee_destroy(f->net);
    dls_inspector_destroy(f->insp);
}

static double loss_of(fixture *f, double *gradient)
{
    double loss = 0;
    f->batch.gradient = gradient;
    MUST(dls_stepper_run(f->stepper, &f->batch, &loss, &e));
    return loss;
}

static double nudged(fixture *f, double *value, double by)
{
    const double was = *value;
    *value = was + by;
    dls_stepper_load(f->stepper);
    const double loss = loss_of(f, NULL);
    *value = was;
    dls_stepper_load(f->stepper);
    return loss;
}

/* Central differences of two step sizes; a probe where they disagree stands at a kink (ReLU, max)
 * and is left out, but few may be. */
static bool slope_of(fixture *f, double *value, double *slope)
{
    const double h = 1e-5;
    const double wide = (nudged(f, value, 2 * h) - nudged(f, value, -2 * h)) / (4 * h);
    *slope = (nudged(f, value, h) - nudged(f, value, -h)) / (2 * h);
    return fabs(wide - *slope) < 1e-6 * (fabs(*slope) + 1e-2);
}

static double pairs; /* weight of the loss over pairs of a graph's rows */

static void check(const char *arch, dls_tune tune, double dropout, bool weighted)
{
    fixture f;
    set_up(&f, arch, tune, true, 1, weighted);
    f.batch.pairs = pairs;
    f.batch.dropout = dropout;
    (void)loss_of(&f, f.gradient);
    double top = 0;
    for (size_t i = 0; i < f.net->n_values; i++) {
        top = fabs(f.gradient[i]) > top ? fabs(f.gradient[i]) : top;
    }
    assert_true(top > 1e-4);
    dls_rng rng = dls_rng_stream(6, DLS_RNG_TEST, 2);
    int smooth = 0;
    int probes = 0;
    for (size_t p = 0; p < f.net->n_params; p++) {
        const dls_param *q = &f.net->param[p];
        const size_t len = (size_t)dls_tensor_len(&q->spec);
        for (int k = 0; k < PROBES; k++) {
            const size_t i = q->at + (size_t)dls_rng_below(&rng, len);
            if (!q->trained) {
                assert_true(f.gradient[i] == 0);
                continue;
            }
            double slope = 0;
            probes++;
            if (slope_of(&f, &f.net->value[i], &slope)) {
                smooth++;
                if (fabs(slope - f.gradient[i]) > 1e-5 * (fabs(slope) + top)) {
                    fail_msg("%s: %s[%zu]: %.10g, difference says %.10g", arch, q->spec.name,
                             i - q->at, f.gradient[i], slope);
                }
            }
        }
    }
    if (smooth * 10 < probes * 8) {
        fail_msg("%s: only %d of %d probes could be compared", arch, smooth, probes);
    }
    tear_down(&f);
}

TEST(test_architectures)
{
    static const char *const archs[] = {
        "hidden=12",
        "hidden=16 depth=fixed n_layers=4 shared=0",
        "hidden=16 depth=fixed n_layers=3 skip=1",
        "hidden=16 depth=fixed n_layers=3 skip=1 gru=0 pool=mean",
        "hidden=16 gru=0 n_features=20",
        "hidden=16 pool=mean",
        "hidden=16 pool=max",
        "hidden=16 pool=attention mlp_layers=1",
        "hidden=16 set2set_steps=3 mlp_layers=4",
        "hidden=16 conditions=5",
        "hidden=16 conditions=5 pool=mean mlp_layers=1",
        "hidden=16 conditions=5 pool=attention mlp_layers=2",
        "conv=gin hidden=16",
        "conv=gin hidden=16 gin_layers=3 gru=0 n_features=20",
        "conv=gat hidden=16",
        "conv=gat hidden=12 gat_heads=1 gru=0",
        "conv=mpnn hidden=16",
        "conv=mpnn hidden=12 towers=2 aggregators=max,min,identity scalers=identity,amplification",
        ("conv=mpnn hidden=16 aggregators=mean,var,std,normalised_mean "
         "scalers=attenuation,linear,inverse_linear avg_d_lin=3 avg_d_log=1.3"),
        "conv=mpnn hidden=16 aggregators=softmax,softmin,moment3,moment4,moment5 self_loop=1",
    };
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        check(archs[i], DLS_TUNE_BASE, 0, false);
    }
}

TEST(test_options)
{
    check("hidden=16", DLS_TUNE_BASE, 0.3, false);
    check("hidden=16", DLS_TUNE_BASE, 0, true);
    check("conv=gin hidden=16", DLS_TUNE_BASE, 0, true);
    check("conv=mpnn hidden=16 aggregators=sum,mean", DLS_TUNE_BASE, 0, true);
    check("hidden=16 depth=N", DLS_TUNE_CONV_MLP, 0, false);
    check("hidden=16 depth=N", DLS_TUNE_CONV_GRU, 0, false);
    check("hidden=16 depth=N", DLS_TUNE_ALL, 0.1, false);
    check("hidden=16 depth=N frozen=0.2", DLS_TUNE_CONV_MLP, 0, false);
    check("hidden=16 depth=N frozen=1", DLS_TUNE_CONV_MLP, 0, false);
    check("hidden=16", DLS_TUNE_MLP, 0, false);
    check("hidden=16 conditions=5", DLS_TUNE_MLP, 0, false);
    check("conv=gat hidden=16 depth=N pool=mean", DLS_TUNE_CONV_MLP, 0, false);
}

TEST(test_pairs)
{
    double loss[2];
    for (int k = 0; k < 2; k++) { /* rows that stand alone have no pairs */
        fixture f;
        set_up(&f, "hidden=16", DLS_TUNE_BASE, false, 1, false);
        f.batch.pairs = k;
        loss[k] = loss_of(&f, NULL);
        tear_down(&f);
    }
    assert_true(loss[0] > 0 && fabs(loss[1] / loss[0] - 1) < 1e-12);
    pairs = 0.7;
    check("hidden=16 conditions=5", DLS_TUNE_BASE, 0, false);
    check("hidden=16 conditions=5 pool=mean mlp_layers=1", DLS_TUNE_BASE, 0, false);
    pairs = 0;
}

/* A pass that starts behind the frozen layers gives the same bits as one that computes them. */
TEST(test_start)
{
    static const dls_tune tunes[] = {DLS_TUNE_CONV_MLP, DLS_TUNE_MLP};
    for (int q = 0; q < 2; q++) {
        fixture f;
        set_up(&f, "hidden=16 depth=N", tunes[q], false, 1, false);
        const double loss = loss_of(&f, f.gradient);
        double *whole = malloc(f.net->n_values * sizeof *whole);
        assert_non_null(whole);
        memcpy(whole, f.gradient, f.net->n_values * sizeof *whole);
        void *start[GRAPHS];
        for (int i = 0; i < GRAPHS; i++) {
            MUST(dls_stepper_start(f.stepper, &f.graph[i], &start[i], &e));
            assert_non_null(start[i]);
            f.sample[i].start = start[i];
        }
        assert_true(loss_of(&f, f.gradient) == loss);
        assert_memory_equal(whole, f.gradient, f.net->n_values * sizeof *whole);
        for (int i = 0; i < GRAPHS; i++) {
            dls_free(start[i]);
        }
        free(whole);
        tear_down(&f);
    }
}

/* A graph in three settings is three graphs in one each. */
TEST(test_rows)
{
    fixture f;
    set_up(&f, "hidden=16 conditions=5", DLS_TUNE_BASE, true, 1, false);
    const double loss = loss_of(&f, f.gradient);
    dls_step_sample apart[GRAPHS * ROWS];
    double out[GRAPHS * ROWS * DLS_METRICS];
    double *gradient = calloc(f.net->n_values, sizeof *gradient);
    assert_non_null(gradient);
    dls_batch batch = {.sample = apart, .out = out, .gradient = gradient};
    for (int i = 0; i < GRAPHS; i++) {
        for (size_t k = 0; k < dls_step_rows(&f.sample[i]); k++) {
            apart[batch.n++] = (dls_step_sample){.graph = &f.graph[i],
                                                 .target = f.target[i][k],
                                                 .condition = f.condition[i] + k * WIDTH};
        }
    }
    assert_int_equal(batch.n, 7);
    double again = 0;
    MUST(dls_stepper_run(f.stepper, &batch, &again, &e));
    assert_true(fabs(again - loss) < 1e-12 * loss);
    for (size_t i = 0; i < batch.n * DLS_METRICS; i++) {
        assert_true(fabs(out[i] - f.out[i]) < 1e-12);
    }
    for (size_t i = 0; i < f.net->n_values; i++) {
        assert_true(fabs(gradient[i] - f.gradient[i]) < 1e-12);
    }
    free(gradient);
    tear_down(&f);
}

TEST(test_threads)
{
    fixture one;
    set_up(&one, "hidden=16 conditions=5", DLS_TUNE_BASE, false, 1, false);
    const double loss = loss_of(&one, one.gradient);
    for (int32_t threads = 2; threads <= 5; threads++) {
        fixture f;
        set_up(&f, "hidden=16 conditions=5", DLS_TUNE_BASE, false, threads, false);
        assert_true(loss_of(&f, f.gradient) == loss);
        assert_memory_equal(one.gradient, f.gradient, f.net->n_values * sizeof(double));
        tear_down(&f);
    }
    tear_down(&one);
}

/* Computing a layer again instead of keeping it, at the level of the engine. */
TEST(test_recomputed)
{
    static const char *const archs[] = {"hidden=16 depth=N", "conv=gin hidden=16",
                                        "conv=gat hidden=16", "conv=mpnn hidden=16"};
    for (int q = 0; q < 4; q++) {
        fixture f;
        set_up(&f, archs[q], DLS_TUNE_BASE, false, 1, false);
        const dls_step_engine *engine = dls_step_engine_find(false, NULL);
        void *packed = NULL;
        MUST(engine->open(f.net, &packed, &e));
        const size_t bytes = engine->gradient_bytes(packed);
        void *gradient[2] = {dls_alloc_aligned(bytes), dls_alloc_aligned(bytes)};
        double out[2][DLS_METRICS];
        for (int keep = 0; keep < 2; keep++) {
            const dls_step_size size = {.n_nodes = 9,
                                        .edges = f.graph[1].row_start[9],
                                        .degree = 9,
                                        .n = 1,
                                        .rows = 1,
                                        .backward = true,
                                        .keep = keep,
                                        .dropout = true};
            const size_t need = engine->work_bytes(packed, &size);
            DLS_FREED void *memory = dls_alloc_aligned(need);
            assert_true(memory && gradient[keep]);
            const dls_step_block block = {.sample = &f.sample[1],
                                          .size = size,
                                          .weight = 0.1,
                                          .dropout = 0.2,
                                          .out = out[keep],
                                          .gradient = gradient[keep]};
            engine->run(packed, memory, &block);
        }
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        assert_memory_equal(gradient[0], gradient[1], bytes - 64);
        dls_free(gradient[0]);
        dls_free(gradient[1]);
        engine->close(packed);
        tear_down(&f);
    }
}

TEST(test_refused)
{
    dls_arch arch = dls_arch_default();
    dls_error e = {0};
    DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
    dls_trainee *net = NULL;
    assert_int_equal(dls_arch_parse(&arch, "conv=gat hidden=16 reference=1", &e), DLS_OK);
    assert_int_equal(dls_inspector_create(&arch, &insp, &e), DLS_OK);
    assert_int_equal(dls_inspector_randomise(insp, 1, 0, 1, &e), DLS_OK);
    assert_int_equal(dls_trainee_create(insp, DLS_SETTING_BASE, DLS_TUNE_BASE, &net, &e),
                     DLS_EINPUT);
    assert_null(net);
    assert_non_null(strstr(e.msg, "reference"));
    dls_inspector_destroy(insp);
    arch = dls_arch_default();
    assert_int_equal(dls_arch_parse(&arch, "hidden=16 depth=fixed n_layers=2 shared=0", &e),
                     DLS_OK);
    assert_int_equal(dls_inspector_create(&arch, &insp, &e), DLS_OK);
    assert_int_equal(dls_inspector_randomise(insp, 1, 0, 1, &e), DLS_OK);
    assert_int_equal(dls_trainee_create(insp, DLS_SETTING_BASE, DLS_TUNE_CONV_MLP, &net, &e),
                     DLS_EINPUT);
    assert_null(net);
}
