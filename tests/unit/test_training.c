/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Training as a whole, on datasets of a few random graphs: it learns, it goes on as if it had not
 * stopped, bad labels never become a model, every failing allocation is survived.
 */

#define OWN_MAIN
#include "base/alloc.h"
#include "base/rng.h"
#include "inspector_graphs.h"
#include "predictor/driple/weights.h"
#include "predictor/training/checkpoint.h"
#include "predictor/training/evaluate.h"
#include "predictor/training/fit.h"
#include "support/must.h"
#include "support/refuse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { GRAPHS = 14, NODES = 8, FEATURES = 4 };

static char path[1][64];

/* Labels that a network can find: sums of features. Split: 8 train, 3 val, 3 test. */
typedef struct toy {
    dls_dataset set;
    dls_dataset_setting setting;
    dls_graph graph[GRAPHS];
    dls_dataset_origin origin[GRAPHS];
    int32_t index[GRAPHS];
    uint8_t split[GRAPHS];
    double label[GRAPHS * DLS_METRICS];
    double truth[GRAPHS * DLS_METRICS];
    double iteration_s[GRAPHS];
    double model_s[GRAPHS];
} toy;

static void toy_set(toy *t)
{
    *t = (toy){0};
    for (int i = 0; i < GRAPHS; i++) {
        random_graph(&t->graph[i], NODES, FEATURES, (uint64_t)i + 1, (graph_kind){.density = 0.3});
        double sum[FEATURES] = {0};
        for (int k = 0; k < NODES * FEATURES; k++) {
            sum[k % FEATURES] += t->graph[i].x[k];
        }
        for (int k = 0; k < DLS_METRICS; k++) {
            const double v = sum[k % FEATURES] + 0.3 * sum[(k + 1) % FEATURES];
            t->label[i * DLS_METRICS + k] = k == DLS_NET_TX_PEAK ? 0 : v;
            t->truth[i * DLS_METRICS + k] = 1.01 * t->label[i * DLS_METRICS + k];
        }
        t->iteration_s[i] =
            t->label[i * DLS_METRICS + DLS_GPU_IDLE] + t->label[i * DLS_METRICS + DLS_GPU_ACTIVE];
        t->model_s[i] = 1.1 * t->iteration_s[i];
        t->index[i] = i;
        t->split[i] = (uint8_t)(i < 8 ? DLS_SPLIT_TRAIN : i < 11 ? DLS_SPLIT_VAL : DLS_SPLIT_TEST);
    }
    t->setting = (dls_dataset_setting){.name = "toy",
                                       .gpu_type = "V100",
                                       .topology = "allreduce",
                                       .network = "eth10",
                                       .n_workers = 8,
                                       .n_nodes = 2,
                                       .n = GRAPHS,
                                       .graph = t->index,
                                       .split = t->split,
                                       .label = t->label,
                                       .iteration_s = t->iteration_s,
                                       .truth = t->truth,
                                       .model_s = t->model_s};
    t->set = (dls_dataset){.graph = t->graph,
                           .origin = t->origin,
                           .n_graphs = GRAPHS,
                           .setting = &t->setting,
                           .n_settings = 1,
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
    o.batch = 3;
    o.seed = 9;
    o.step.threads = 1;
    o.adam.lr = 0.005;
    return o;
}

static const dls_data_options whole = {.share = 1};

static dls_inspector *fresh(const toy *t)
{
    dls_arch arch = dls_arch_default();
    arch.hidden = 16;
    dls_inspector *insp = NULL;
    MUST(dls_fit_new(&t->set, &arch, 1, DLS_FIT_RESIDUAL, &insp, &e));
    return insp;
}

/* The 8 graphs of the training split by heart: a thirtieth of the loss of a constant. */
TEST(test_overfits)
{
    toy t;
    toy_set(&t);
    for (int i = 8; i < GRAPHS; i++) {
        t.split[i] = DLS_SPLIT_TEST;
    }
    t.split[7] = DLS_SPLIT_VAL; /* there must be one */
    dls_inspector *insp = fresh(&t);
    dls_train_course course;
    dls_train_options o = quick(1000);
    o.lr_floor = 0.05;
    MUST(dls_fit_setting(insp, &t.set, 0, DLS_TUNE_BASE, &whole, &o, &course, &e));
    assert_int_equal(course.n, 1000);
    double variance = 0;
    for (int k = 0; k < DLS_METRICS; k++) {
        double sum = 0;
        double square = 0;
        double top = 0;
        for (int i = 0; i < 7; i++) {
            const double v = t.label[i * DLS_METRICS + k];
            sum += v / 7;
            square += v * v / 7;
            top = v > top ? v : top;
        }
        variance += top > 0 ? (square - sum * sum) / (top * top) / DLS_METRICS : 0;
    }
    print_message("loss %.3g of %.3g\n", course.epoch[999].train_loss, variance);
    assert_true(course.epoch[999].train_loss < variance / 30);
    assert_true(course.epoch[0].train_loss > variance / 2);
    assert_int_equal(dls_inspector_find(insp, "toy"), 0);
    const dls_setting_info info = dls_inspector_setting(insp, 0);
    assert_string_equal(info.gpu_type, "V100");
    assert_int_equal(info.n_nodes, 2);
    MUST(dls_inspector_check(insp, &e));
    assert_true(insp->labels.scale[DLS_NET_TX_PEAK] == 1); /* nothing but zeros */
    dls_train_course_fini(&course);
    dls_inspector_destroy(insp);
    toy_free(&t);
}

/* Decay, its kind and clipping reach the optimiser: each makes another course. */
TEST(test_optimiser_options)
{
    double loss[4];
    toy t;
    toy_set(&t);
    for (int i = 0; i < 4; i++) {
        DLS_HOLD(dls_inspector_destroy) dls_inspector *insp = fresh(&t);
        DLS_OWN(dls_train_course_fini) dls_train_course course = {0};
        dls_train_options o = quick(6);
        o.adam.weight_decay = i == 1 || i == 2 ? 0.5 : 0;
        o.adam.decoupled = i == 2;
        o.adam.clip_norm = i == 3 ? 1e-6 : 0;
        MUST(dls_fit_setting(insp, &t.set, 0, DLS_TUNE_BASE, &whole, &o, &course, &e));
        loss[i] = course.epoch[5].train_loss;
        for (int k = 0; k < i; k++) {
            assert_true(fabs(loss[i] / loss[k] - 1) > 1e-6);
        }
    }
    toy_free(&t);
}

static bool stop_at_5(void *user, const dls_train_epoch *e)
{
    return e->epoch != 5;
}

static void same_course(const dls_train_course *a, const dls_train_course *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_true(a->epoch[i].train_loss == b->epoch[i].train_loss);
        assert_true(a->epoch[i].val_loss == b->epoch[i].val_loss);
        assert_int_equal(a->epoch[i].best_epoch, b->epoch[i].best_epoch);
    }
}

static void same_base(const dls_inspector *a, const dls_inspector *b)
{
    for (size_t i = 0; i < a->base.n; i++) {
        const dls_weight *t = &a->base.t[i];
        assert_memory_equal(t->data, dls_tensors_find(&b->base, t->spec.name)->data,
                            (size_t)dls_tensor_len(&t->spec) * sizeof(double));
    }
}

TEST(test_resumes)
{
    toy t;
    toy_set(&t);
    dls_train_options o = quick(12);
    o.dropout = 0.2;
    o.checkpoint_every = 4;
    dls_inspector *straight = fresh(&t);
    dls_inspector *broken = fresh(&t);
    dls_train_course one;
    dls_train_course two;
    MUST(dls_fit_setting(straight, &t.set, 0, DLS_TUNE_BASE, &whole, &o, &one, &e));
    o.checkpoint = path[0];
    o.resume = true;
    o.progress = stop_at_5;
    dls_error why = {0};
    assert_int_equal(dls_fit_setting(broken, &t.set, 0, DLS_TUNE_BASE, &whole, &o, &two, &why),
                     DLS_EINTERRUPTED);
    assert_int_equal(two.n, 5);
    dls_train_course_fini(&two);
    o.progress = NULL;
    o.step.threads = 3;
    MUST(dls_fit_setting(broken, &t.set, 0, DLS_TUNE_BASE, &whole, &o, &two, &e));
    same_course(&one, &two);
    same_base(straight, broken);
    dls_train_course_fini(&two);

    /* Another training does not take it up. */
    dls_inspector *other = fresh(&t);
    o.seed = 10;
    MUST_FAIL(DLS_EINPUT, "another training",
              dls_fit_setting(other, &t.set, 0, DLS_TUNE_BASE, &whole, &o, &two, &e));
    dls_train_course_fini(&two);
    dls_inspector_destroy(other);
    dls_train_course_fini(&one);
    dls_inspector_destroy(straight);
    dls_inspector_destroy(broken);
    unlink(path[0]);
    toy_free(&t);
}

TEST(test_transfer)
{
    toy t;
    toy_set(&t);
    dls_train_options o = quick(5);
    dls_inspector *insp = fresh(&t);
    dls_train_course course;
    MUST(dls_fit_setting(insp, &t.set, 0, DLS_TUNE_BASE, &whole, &o, &course, &e));
    dls_train_course_fini(&course);
    dls_inspector *before = NULL;
    MUST(dls_inspector_save(insp, path[0], &e));
    MUST(dls_inspector_load(path[0], &before, &e));
    snprintf(t.setting.name, sizeof t.setting.name, "second");
    for (int i = 0; i < GRAPHS * DLS_METRICS; i++) {
        t.label[i] *= 3;
    }
    o.epochs = 30;
    MUST(dls_fit_setting(insp, &t.set, 0, DLS_TUNE_CONV_MLP, &whole, &o, &course, &e));
    assert_true(course.epoch[29].train_loss < course.epoch[0].train_loss);
    same_base(insp, before); /* frozen */
    assert_int_equal(insp->n_settings, 2);
    assert_true(insp->settings[1].has_conv && !insp->settings[0].has_conv);
    MUST(dls_inspector_check(insp, &e));
    dls_train_course_fini(&course);
    dls_inspector_destroy(before);
    dls_inspector_destroy(insp);
    unlink(path[0]);
    toy_free(&t);
}

TEST(test_bad_labels)
{
    static const double bad[] = {(double)NAN, (double)INFINITY, -1};
    for (int i = 0; i < 3; i++) {
        toy t;
        toy_set(&t);
        t.label[3 * DLS_METRICS + 2] = bad[i];
        dls_inspector *insp = fresh(&t);
        dls_train_options o = quick(2);
        dls_train_course course;
        MUST_FAIL(DLS_EINPUT, "gpu_mem_peak",
                  dls_fit_setting(insp, &t.set, 0, DLS_TUNE_BASE, &whole, &o, &course, &e));
        assert_int_equal(insp->n_settings, 0);
        dls_inspector_destroy(insp);
        toy_free(&t);
    }
}

/* A rate that makes the loss overflow ends with an error, and the inspector is as it was. */
TEST(test_diverges)
{
    toy t;
    toy_set(&t);
    dls_inspector *insp = fresh(&t);
    dls_inspector *before = fresh(&t);
    dls_train_options o = quick(50);
    o.adam.lr = 1e18;
    dls_train_course course;
    MUST_FAIL(DLS_EINPUT, "not finite",
              dls_fit_setting(insp, &t.set, 0, DLS_TUNE_BASE, &whole, &o, &course, &e));
    same_base(insp, before);
    assert_int_equal(insp->n_settings, 0);
    dls_train_course_fini(&course);
    dls_inspector_destroy(insp);
    dls_inspector_destroy(before);
    toy_free(&t);
}

TEST(test_logarithms)
{
    toy t;
    toy_set(&t);
    dls_train_data *data = NULL;
    const dls_data_options o = {.share = 0.5, .log_floor = 0.01, .seed = 3};
    const size_t first = 0;
    const dls_train_settings which = {.setting = &first, .n = 1};
    MUST(dls_train_data_create(&t.set, &which, &o, &data, &e));
    assert_int_equal(data->split[DLS_SPLIT_TRAIN].n, 4);
    const dls_train_split *val = &data->split[DLS_SPLIT_VAL];
    for (size_t i = 0; i < val->n; i++) {
        for (size_t k = 0; k < DLS_METRICS; k++) {
            const double label = t.label[val->row[i] * DLS_METRICS + k];
            const double back =
                dls_label_from_output(&data->labels, (int)k, val->target[i * DLS_METRICS + k]);
            assert_true(fabs(back - label) <= 1e-12 * (1 + label));
            if (k % 3 == 2) {
                assert_true(data->labels.floor[k] == 0);
            }
        }
    }
    assert_true(dls_label_from_output(&data->labels, DLS_GPU_IDLE, 0) == 0);
    assert_true(fabs(dls_label_from_output(&data->labels, DLS_GPU_IDLE, 1) -
                     data->labels.scale[DLS_GPU_IDLE]) < 1e-12);
    dls_train_data_destroy(data);
    toy_free(&t);
}

TEST(test_errors_by_hand)
{
    const double label[4] = {1, 2, 3, 0};
    const double said[4] = {1, 4, 3, 2};
    const dls_column_error e = dls_column_errors(said, label, 4);
    assert_true(fabs(e.rmse - sqrt(2)) < 1e-12);
    assert_true(fabs(e.by_range - sqrt(2) / 3) < 1e-12);
    assert_true(fabs(e.by_mean - sqrt(2) / 1.5) < 1e-12);
    assert_true(fabs(e.by_max - sqrt(2) / 3) < 1e-12);
    assert_true(fabs(e.percent - 100.0 / 3) < 1e-12); /* the label 0 has no percentage */
    const double same[3] = {5, 5, 5};
    assert_false(dls_column_errors(said, same, 3).counted);
}

TEST(test_yardsticks)
{
    toy t;
    toy_set(&t);
    /* A test graph that is a training graph's twin. */
    random_graph_free(&t.graph[12]);
    random_graph(&t.graph[12], NODES, FEATURES, 4, (graph_kind){.density = 0.3});
    dls_yardsticks *y = NULL;
    MUST(dls_yardsticks_create(&t.set, 0, DLS_SPLIT_TEST, &y, &e));
    assert_int_equal(y->n, 3);
    assert_memory_equal(y->nearest + DLS_METRICS, t.label + 3 * DLS_METRICS,
                        DLS_METRICS * sizeof(double));
    double mean = 0;
    for (int i = 0; i < 8; i++) {
        mean += t.label[i * DLS_METRICS] / 8;
    }
    assert_true(fabs(y->mean[0] - mean) < 1e-12);
    dls_error_table floor;
    MUST(dls_error_table_fill(y->truth, y->label, y->iteration_s, y->n, &floor, &e));
    assert_true(fabs(floor.percent - 1) < 1e-9);
    assert_false(floor.metric[DLS_NET_TX_PEAK].counted);
    /* The toy's residual is 1.01 / 1.1: times are that much longer, rates of the network lower. */
    for (size_t i = 0; i < y->n * DLS_METRICS; i++) {
        const size_t k = i % DLS_METRICS;
        const double gain = k == DLS_NET_RX_PEAK || k == DLS_NET_TX_PEAK ? 1.01 / 1.1
                            : k == DLS_GPU_PEAK || k == DLS_GPU_MEM_PEAK ? 1
                                                                         : 1.1 / 1.01;
        assert_true(fabs(y->model[i] - gain * y->truth[i]) <= 1e-12 * y->truth[i]);
    }
    dls_yardsticks_destroy(y);
    for (int i = 0; i < GRAPHS; i++) {
        t.split[i] = DLS_SPLIT_TRAIN;
    }
    dls_error why = {0};
    assert_int_equal(dls_yardsticks_create(&t.set, 0, DLS_SPLIT_TEST, &y, &why), DLS_EINPUT);
    toy_free(&t);
}

/* ---- failing allocations --------------------------------------------------------------------- */

TEST(test_allocations)
{
    toy t;
    toy_set(&t);
    dls_train_options o = quick(2);
    o.checkpoint = path[0];
    o.checkpoint_every = 1;
    int n = 0;
    dls_status status = DLS_ENOMEM;
    for (; status == DLS_ENOMEM && n < 2000; n++) {
        dls_inspector *insp = fresh(&t);
        dls_train_course course;
        dls_error why = {0};
        REFUSED(status, n,
                dls_fit_setting(insp, &t.set, 0, DLS_TUNE_BASE, &whole, &o, &course, &why));
        dls_train_course_fini(&course);
        dls_inspector_destroy(insp);
    }
    assert_int_equal(status, DLS_OK);
    assert_true(n > 20);
    unlink(path[0]);
    toy_free(&t);
}

int main(void)
{
    snprintf(path[0], sizeof path[0], "/tmp/dlsim-training-%d.h5", (int)getpid());
    return run_listed();
}
