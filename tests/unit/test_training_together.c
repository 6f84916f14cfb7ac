/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One inspector of many settings, on a dataset of a few random graphs whose labels are a product of
 * what the graph is and what the setting is: it learns both, answers for a setting that it has not
 * seen, comes back from a file, and what is folded into a setting's MLP says what training said.
 */

#define OWN_MAIN
#include "base/alloc.h"
#include "predictor/sources/setting_files.h"
#include "inspector_graphs.h"
#include "predictor/driple/arch_text.h"
#include "predictor/driple/weights.h"
#include "predictor/training/checkpoint.h"
#include "predictor/training/fit.h"
#include "predictor/training/ridge.h"
#include "support/must.h"
#include "support/refuse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { GRAPHS = 16, NODES = 8, FEATURES = 4, SETTINGS = 7, SEEN = 6, WIDTH = 2 };

static char path[64];

/* A setting's numbers are the logarithm of its speed, and 1; times are a graph's sum over the
 * speed. The last setting is in the middle of the others and is not trained on. */
typedef struct toy {
    dls_dataset set;
    dls_dataset_setting setting[SETTINGS];
    dls_graph graph[GRAPHS];
    int32_t index[GRAPHS];
    uint8_t split[GRAPHS];
    double label[SETTINGS][GRAPHS * DLS_METRICS];
    double iteration_s[GRAPHS];
    double number[SETTINGS * WIDTH];
    size_t which[SETTINGS];
} toy;

static void toy_set(toy *t)
{
    static const double speed[SETTINGS] = {-3, -2, -1, 1, 2, 3, 0};
    *t = (toy){0};
    for (int i = 0; i < GRAPHS; i++) {
        random_graph(&t->graph[i], NODES, FEATURES, (uint64_t)i + 1, (graph_kind){.density = 0.3});
        t->index[i] = i;
        t->split[i] = (uint8_t)(i < 12 ? DLS_SPLIT_TRAIN : DLS_SPLIT_VAL);
    }
    for (int s = 0; s < SETTINGS; s++) {
        t->which[s] = (size_t)s;
        t->number[s * WIDTH] = speed[s];
        t->number[s * WIDTH + 1] = 1;
        for (int i = 0; i < GRAPHS; i++) {
            double sum = 0;
            for (int k = 0; k < NODES * FEATURES; k++) {
                sum += t->graph[i].x[k];
            }
            for (int k = 0; k < DLS_METRICS; k++) {
                t->label[s][i * DLS_METRICS + k] =
                    k == DLS_NET_TX_PEAK ? 0 : (sum + k) * exp2(-speed[s]);
            }
        }
        t->setting[s] = (dls_dataset_setting){.gpu_type = "V100",
                                              .topology = "one",
                                              .n_workers = 1,
                                              .n_nodes = 1,
                                              .n = GRAPHS,
                                              .graph = t->index,
                                              .split = t->split,
                                              .label = t->label[s],
                                              .iteration_s = t->iteration_s};
        snprintf(t->setting[s].name, sizeof t->setting[s].name, "s%d", s);
    }
    t->set = (dls_dataset){.graph = t->graph,
                           .n_graphs = GRAPHS,
                           .setting = t->setting,
                           .n_settings = SETTINGS,
                           .n_features = FEATURES};
}

static void toy_free(toy *t)
{
    for (int i = 0; i < GRAPHS; i++) {
        random_graph_free(&t->graph[i]);
    }
}

static dls_train_options quick(int32_t epochs)
{
    dls_train_options o = dls_train_default();
    o.epochs = epochs;
    o.patience = 0;
    o.batch = 4;
    o.seed = 9;
    o.step.threads = 1;
    o.adam.lr = 0.005;
    o.lr_floor = 0.05;
    return o;
}

static const dls_data_options whole = {.share = 1, .log_floor = 1e-3};

static dls_inspector *fresh(const toy *t)
{
    dls_arch arch = dls_arch_default();
    arch.hidden = 16;
    dls_inspector *insp = NULL;
    MUST(dls_fit_new(&t->set, &arch, 1, DLS_FIT_RESIDUAL, &insp, &e));
    MUST(dls_inspector_condition(insp, "speed\none", WIDTH, &e));
    return insp;
}

static dls_inspector *trained(const toy *t, int32_t epochs, dls_train_course *course)
{
    dls_inspector *insp = fresh(t);
    const dls_train_options o = quick(epochs);
    const dls_fit_settings which = {t->which, t->number, SEEN};
    MUST(dls_fit_all(insp, &t->set, &which, &whole, &o, course, &e));
    return insp;
}

static void settle(dls_inspector *insp, const toy *t, int s)
{
    dls_setting *made;
    MUST(dls_inspector_settle(insp, t->setting[s].name, t->number + s * WIDTH, &made, &e));
    assert_false(made->has_conv);
}

/* Relative error of the GPU's busy time on the validation graphs of a setting, root mean square. */
static double error_on(dls_inspector *insp, const toy *t, int s)
{
    dls_predictor *p = NULL;
    const dls_predictor_options o = {.backend = DLS_BACKEND_CPU, .threads = 1};
    const int32_t as = dls_inspector_find(insp, t->setting[s].name);
    dls_query query[GRAPHS];
    dls_profile profile[GRAPHS];
    double sum = 0;
    int n = 0;
    for (int i = 0; i < GRAPHS; i++) {
        query[i] = (dls_query){i, as};
    }
    MUST(dls_predictor_create(insp, &o, &p, &e));
    MUST(dls_predict(p, t->graph, GRAPHS, query, GRAPHS, profile, &e));
    for (int i = 0; i < GRAPHS; i++) {
        if (t->split[i] == DLS_SPLIT_VAL) {
            const double label = t->label[s][i * DLS_METRICS + DLS_GPU_ACTIVE];
            const double d = profile[i].metric[DLS_GPU_ACTIVE] / label - 1;
            sum += d * d;
            n++;
        }
    }
    dls_predictor_destroy(p);
    return sqrt(sum / n);
}

TEST(test_learns)
{
    toy t;
    toy_set(&t);
    dls_train_course course;
    dls_inspector *insp = trained(&t, 200, &course);
    assert_true(course.epoch[199].train_loss < 0.02 * course.epoch[0].train_loss);
    for (int s = 0; s < SETTINGS; s++) {
        settle(insp, &t, s);
        const double error = error_on(insp, &t, s);
        print_message("%s: %.3f\n", t.setting[s].name, error);
        assert_true(error < 0.25); /* speeds differ by 64 */
    }
    /* A power law is found exactly, up to the penalty. */
    const double ratio = insp->settings[0].labels.scale[0] / insp->settings[5].labels.scale[0];
    assert_true(fabs(log2(ratio) - 6) < 0.1);
    assert_true(insp->settings[0].labels.scale[DLS_NET_TX_PEAK] == 1);
    MUST(dls_inspector_check(insp, &e));
    dls_train_course_fini(&course);
    dls_inspector_destroy(insp);
    toy_free(&t);
}

/* The outputs of training, with numbers beside the graph, are those of a setting's own MLP. */
TEST(test_folds)
{
    toy t;
    toy_set(&t);
    dls_train_course course;
    dls_inspector *insp = trained(&t, 3, &course);
    dls_trainee *net;
    dls_stepper *stepper;
    MUST(dls_trainee_create(insp, DLS_SETTING_BASE, DLS_TUNE_BASE, &net, &e));
    const dls_stepper_options so = {.f64 = true, .threads = 1};
    MUST(dls_stepper_create(net, &so, &stepper, &e));
    dls_predictor *p = NULL;
    for (int s = 0; s < SETTINGS; s++) {
        settle(insp, &t, s);
    }
    const dls_predictor_options o = {
        .backend = DLS_BACKEND_CPU, .threads = 1, .precision = DLS_PRECISION_F64};
    MUST(dls_predictor_create(insp, &o, &p, &e));
    double seen[SETTINGS * WIDTH];
    double out[SETTINGS * DLS_METRICS];
    dls_query query[SETTINGS];
    dls_profile profile[SETTINGS];
    for (int s = 0; s < SETTINGS; s++) {
        dls_inspector_standardise(insp, t.number + s * WIDTH, seen + s * WIDTH);
        query[s] = (dls_query){0, s};
    }
    const dls_step_sample sample = {.graph = &t.graph[0], .condition = seen, .rows = SETTINGS};
    const dls_batch batch = {.sample = &sample, .n = 1, .out = out};
    double loss;
    MUST(dls_stepper_run(stepper, &batch, &loss, &e));
    MUST(dls_predict(p, t.graph, GRAPHS, query, SETTINGS, profile, &e));
    for (int s = 0; s < SETTINGS; s++) {
        const dls_labels *labels = &insp->settings[s].labels;
        for (int k = 0; k < DLS_METRICS; k++) {
            const double said = dls_label_from_output(labels, k, out[s * DLS_METRICS + k]);
            assert_true(fabs(profile[s].metric[k] - said) < 1e-5 * (fabs(said) + labels->scale[k]));
        }
    }
    dls_predictor_destroy(p);
    dls_stepper_destroy(stepper);
    dls_trainee_destroy(net);
    dls_train_course_fini(&course);
    dls_inspector_destroy(insp);
    toy_free(&t);
}

static void same_base(const dls_inspector *a, const dls_inspector *b)
{
    assert_int_equal(a->base.n, b->base.n);
    for (size_t i = 0; i < a->base.n; i++) {
        const dls_weight *t = &a->base.t[i];
        const dls_weight *u = dls_tensors_find(&b->base, t->spec.name);
        assert_non_null(u);
        assert_memory_equal(t->data, u->data, (size_t)dls_tensor_len(&t->spec) * sizeof(double));
    }
}

static bool stop_at_5(void *user, const dls_train_epoch *e)
{
    return e->epoch != 5;
}

TEST(test_resumes)
{
    toy t;
    toy_set(&t);
    dls_train_course one;
    dls_train_course two;
    dls_inspector *straight = trained(&t, 9, &one);
    dls_inspector *broken = fresh(&t);
    dls_train_options o = quick(9);
    const dls_fit_settings which = {t.which, t.number, SEEN};
    o.checkpoint = path;
    o.checkpoint_every = 100;
    o.resume = true;
    o.progress = stop_at_5;
    dls_error why = {0};
    assert_int_equal(dls_fit_all(broken, &t.set, &which, &whole, &o, &two, &why), DLS_EINTERRUPTED);
    dls_train_course_fini(&two);
    o.progress = NULL;
    o.step.threads = 3;
    MUST(dls_fit_all(broken, &t.set, &which, &whole, &o, &two, &e));
    assert_int_equal(two.n, 9);
    assert_true(two.epoch[8].val_loss == one.epoch[8].val_loss);
    same_base(straight, broken);
    dls_train_course_fini(&two);

    /* Other numbers make another training. */
    dls_inspector *other = fresh(&t);
    t.number[0] += 1;
    assert_int_equal(dls_fit_all(other, &t.set, &which, &whole, &o, &two, &why), DLS_EINPUT);
    assert_non_null(strstr(why.msg, "another training"));
    dls_train_course_fini(&two);
    dls_inspector_destroy(other);
    dls_train_course_fini(&one);
    dls_inspector_destroy(straight);
    dls_inspector_destroy(broken);
    unlink(path);
    toy_free(&t);
}

TEST(test_file)
{
    toy t;
    toy_set(&t);
    dls_train_course course;
    dls_inspector *a = trained(&t, 2, &course);
    dls_inspector *b = NULL;
    settle(a, &t, 2);
    MUST(dls_inspector_save(a, path, &e));
    MUST(dls_inspector_load(path, &b, &e));
    assert_int_equal(b->arch.n_conditions, WIDTH);
    assert_string_equal(b->condition.names, "speed\none");
    assert_memory_equal(a->condition.shift, b->condition.shift, WIDTH * sizeof(double));
    assert_memory_equal(a->condition.scale, b->condition.scale, WIDTH * sizeof(double));
    assert_memory_equal(a->condition.label_slope, b->condition.label_slope,
                        DLS_METRICS * WIDTH * sizeof(double));
    same_base(a, b);
    settle(a, &t, 6);
    settle(b, &t, 6);
    assert_true(error_on(a, &t, 2) == error_on(b, &t, 2));
    assert_true(error_on(a, &t, 6) == error_on(b, &t, 6));
    dls_train_course_fini(&course);
    dls_inspector_destroy(a);
    dls_inspector_destroy(b);
    unlink(path);
    toy_free(&t);
}

/* A setting tuned from what the inspector says of it begins there, not at nothing. */
TEST(test_tunes)
{
    toy t;
    toy_set(&t);
    dls_train_course course;
    dls_inspector *insp = trained(&t, 100, &course);
    const double before = course.epoch[course.n - 1].best_loss;
    dls_train_course_fini(&course);
    dls_train_options o = quick(5);
    o.adam.lr = 1e-4;
    dls_error why = {0};
    MUST_FAIL(DLS_EINPUT, "described",
              dls_fit_setting(insp, &t.set, 6, DLS_TUNE_CONV_MLP, &whole, &o, &course, &e));
    settle(insp, &t, 6);
    assert_int_equal(dls_fit_setting(insp, &t.set, 6, DLS_TUNE_BASE, &whole, &o, &course, &why),
                     DLS_EINPUT);
    MUST(dls_fit_setting(insp, &t.set, 6, DLS_TUNE_CONV_MLP, &whole, &o, &course, &e));
    assert_true(course.epoch[0].val_loss < 3 * before + 1e-4);
    assert_int_equal(insp->n_settings, 1);
    assert_true(insp->settings[0].has_conv);
    assert_true(error_on(insp, &t, 6) < 0.25);
    /* Layers of its own were cut at a half. */
    MUST(dls_inspector_partition(insp, 0.5, &e));
    MUST_FAIL(DLS_EINPUT, "0.5", dls_inspector_partition(insp, 0.75, &e));
    dls_train_course_fini(&course);
    dls_inspector_destroy(insp);
    toy_free(&t);
}

TEST(test_partition)
{
    toy t;
    toy_set(&t);
    dls_train_course course;
    dls_inspector *insp = trained(&t, 2, &course);
    dls_inspector *again = NULL;
    dls_train_course_fini(&course);
    dls_error why = {0};
    /* Texts from before there was a choice say nothing, and mean a half. */
    char text[DLS_ARCH_TEXT_MAX];
    dls_arch arch = dls_arch_default();
    dls_arch_format(&arch, text);
    assert_true(!strstr(text, "frozen") && !strstr(text, "conditions"));
    assert_true(arch.frozen == 0.5);
    assert_int_equal(dls_inspector_partition(insp, 1.5, &why), DLS_EINPUT);
    assert_int_equal(dls_inspector_partition(insp, (double)NAN, &why), DLS_EINPUT);
    MUST(dls_inspector_partition(insp, 0.25, &e));
    settle(insp, &t, 0);
    const dls_train_options o = quick(2);
    MUST(dls_fit_setting(insp, &t.set, 0, DLS_TUNE_CONV_MLP, &whole, &o, &course, &e));
    dls_train_course_fini(&course);
    MUST(dls_inspector_save(insp, path, &e));
    MUST(dls_inspector_load(path, &again, &e));
    assert_true(again->arch.frozen == 0.25);
    const double error = error_on(insp, &t, 0);
    assert_true(error_on(again, &t, 0) == error);
    again->arch.frozen = 0.75; /* read as another share, it answers something else */
    assert_true(error_on(again, &t, 0) != error);
    dls_inspector_destroy(again);
    dls_inspector_destroy(insp);
    unlink(path);
    toy_free(&t);
}

TEST(test_refused)
{
    toy t;
    toy_set(&t);
    dls_train_course course;
    dls_error why = {0};
    dls_arch arch = dls_arch_default();
    dls_inspector *plain = NULL;
    dls_setting *s;
    arch.hidden = 16;
    const dls_train_options o = quick(1);
    dls_fit_settings which = {t.which, t.number, SEEN};
    MUST(dls_fit_new(&t.set, &arch, 1, DLS_FIT_RESIDUAL, &plain, &e));
    MUST_FAIL(DLS_EINPUT, "takes no numbers", dls_inspector_settle(plain, "x", t.number, &s, &e));
    assert_int_equal(dls_fit_all(plain, &t.set, &which, &whole, &o, &course, &why), DLS_EINPUT);
    dls_inspector_destroy(plain);
    arch.n_conditions = 2; /* numbers without names */
    assert_int_equal(dls_fit_new(&t.set, &arch, 1, DLS_FIT_RESIDUAL, &plain, &why), DLS_EINPUT);

    dls_inspector *insp = fresh(&t);
    which.n = 0;
    assert_int_equal(dls_fit_all(insp, &t.set, &which, &whole, &o, &course, &why), DLS_EINPUT);
    assert_int_equal(dls_inspector_condition(insp, "again", 1, &why), DLS_EINPUT);
    const double bad[WIDTH] = {1, (double)INFINITY};
    assert_int_equal(dls_inspector_settle(insp, "x", bad, &s, &why), DLS_EINPUT);
    assert_int_equal(insp->n_settings, 0);
    settle(insp, &t, 0);
    assert_int_equal(dls_inspector_settle(insp, "s0", t.number, &s, &why), DLS_EINPUT);
    /* Its base alone answers for nothing. */
    dls_predictor *p = NULL;
    dls_profile profile;
    const dls_query query = {0, DLS_SETTING_BASE};
    const dls_predictor_options po = {.backend = DLS_BACKEND_CPU, .threads = 1};
    MUST(dls_predictor_create(insp, &po, &p, &e));
    assert_int_equal(dls_predict(p, t.graph, 1, &query, 1, &profile, &why), DLS_EINPUT);
    dls_predictor_destroy(p);

    /* Numbers of another program. */
    bool takes_any;
    MUST_FAIL(DLS_EINPUT, "speed one", dls_settle_check(insp, &takes_any, &e));
    insp->condition.label_slope[3] = (double)NAN;
    assert_int_equal(dls_inspector_check(insp, &why), DLS_EINPUT);
    insp->condition.label_slope[3] = 0;
    insp->condition.names[5] = '-'; /* one name of two */
    assert_int_equal(dls_inspector_check(insp, &why), DLS_EINPUT);
    assert_int_equal(dls_inspector_save(insp, path, &why), DLS_EINPUT);
    dls_inspector_destroy(insp);
    toy_free(&t);
}

/* Tables of hardware to numbers. */
TEST(test_conditions)
{
    dls_hw_gpu gpus[] = {
        {.name = "fast", .fp32_flops = 8, .mem_bps = 4, .mem_bytes = 2, .link = "in"},
        {.name = "odd", .fp32_flops = 1, .mem_bps = 1, .mem_bytes = 1, .link = "no"},
        {.name = "fast-9GB", .fp32_flops = 8, .mem_bps = 4, .mem_bytes = 9, .link = "in"}};
    dls_hw_link links[] = {{.name = "in", .bps = 16, .goodput_bps = 8, .latency_s = 0.5},
                           {.name = "out", .bps = 1024, .goodput_bps = 8, .latency_s = 0.25}};
    const dls_hardware hw = {.gpu = gpus, .link = links, .n_gpus = 3, .n_links = 2};
    dls_setting_info s = {.name = "x",
                          .gpu_type = "fast",
                          .topology = "one",
                          .network = "",
                          .n_workers = 1,
                          .n_nodes = 1};
    double number[DLS_CONDITIONS];
    MUST(dls_condition_of_setting(&hw, &s, number, &e));
    const double one[DLS_CONDITIONS] = {3, 2, 1, 4, 4, -1};
    assert_memory_equal(number, one, sizeof one);
    s.gpu_type = "fast-9GB"; /* what a card holds takes no part of a step */
    MUST(dls_condition_of_setting(&hw, &s, number, &e));
    assert_memory_equal(number, one, sizeof one);
    s.gpu_type = "fast";
    s.topology = "allreduce";
    s.network = "out";
    s.n_workers = 8;
    s.n_nodes = 2;
    MUST(dls_condition_of_setting(&hw, &s, number, &e));
    const double eight[DLS_CONDITIONS] = {3, 2, 1, 4, 10, -2, 3, 1, 0, 1};
    assert_memory_equal(number, eight, sizeof eight);
    s.topology = "ps-async";
    s.n_ps = 3;
    MUST(dls_condition_of_setting(&hw, &s, number, &e));
    const double servers[DLS_CONDITIONS] = {3, 2, 1, 4, 10, -2, 3, 1, 2, 0, 1, 1};
    assert_memory_equal(number, servers, sizeof servers);
    dls_error why = {0};
    s.network = "eth";
    assert_int_equal(dls_condition_of_setting(&hw, &s, number, &why), DLS_EINPUT);
    s.network = "out";
    s.n_workers = 0;
    assert_int_equal(dls_condition_of_setting(&hw, &s, number, &why), DLS_EINPUT);
    s.n_workers = 2;
    s.gpu_type = "faster";
    assert_int_equal(dls_condition_of_setting(&hw, &s, number, &why), DLS_EINPUT);
    s.gpu_type = "odd";
    assert_int_equal(dls_condition_of_setting(&hw, &s, number, &why), DLS_EINPUT);
}

TEST(test_ridge)
{
    const double x[] = {0, 1, 1, 0, 2, 2, 3, 1, 4, 5};
    double y[5];
    double slope[3];
    for (int i = 0; i < 5; i++) {
        y[i] = 2 + 3 * x[2 * i] - x[2 * i + 1];
    }
    MUST(dls_ridge(x, y, 5, 2, 1e-9, slope, &e));
    assert_true(fabs(slope[0] - 2) < 1e-6 && fabs(slope[1] - 3) < 1e-6 &&
                fabs(slope[2] + 1) < 1e-6);
    /* One column and one row: the mean, and no slope. */
    MUST(dls_ridge(x, y, 1, 1, 1, slope, &e));
    assert_true(slope[0] == y[0] && slope[1] == 0);
    /* By hand: x = 0, 2 and y = 0, 4 with penalty 2: slope 2 * 2 / (2 + 2) = 1 about the mean 2. */
    const double two[] = {0, 2};
    const double four[] = {0, 4};
    MUST(dls_ridge(two, four, 2, 1, 2, slope, &e));
    assert_true(fabs(slope[1] - 1) < 1e-12 && fabs(slope[0] - 1) < 1e-12);
}

static dls_status fit_and_settle(dls_inspector *insp, const toy *t, const dls_train_options *o,
                                 dls_train_course *course)
{
    const dls_fit_settings which = {t->which, t->number, SEEN};
    dls_setting *s;
    DLS_TRY(dls_inspector_condition(insp, "speed\none", WIDTH, NULL));
    DLS_TRY(dls_fit_all(insp, &t->set, &which, &whole, o, course, NULL));
    return dls_inspector_settle(insp, "s", t->number, &s, NULL);
}

TEST(test_allocations)
{
    toy t;
    toy_set(&t);
    const dls_train_options o = quick(1);
    int n = 0;
    dls_status status = DLS_ENOMEM;
    for (; status == DLS_ENOMEM && n < 2000; n++) {
        dls_arch arch = dls_arch_default();
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = NULL;
        DLS_OWN(dls_train_course_fini) dls_train_course course = {0};
        arch.hidden = 8;
        MUST(dls_fit_new(&t.set, &arch, 1, DLS_FIT_RESIDUAL, &insp, &e));
        REFUSED(status, n, fit_and_settle(insp, &t, &o, &course));
    }
    assert_int_equal(status, DLS_OK);
    assert_true(n > 20);
    toy_free(&t);
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/dlsim-together-%d.h5", (int)getpid());
    return run_listed();
}
