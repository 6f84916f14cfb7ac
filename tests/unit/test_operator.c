/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The operator model: networks against published counts, kernel times and exchanges against sums
 * done by hand, the fit against problems with a known answer, the constants against a new
 * calibration, its accuracy against the targets.
 */
#include "base/alloc.h"
#include "predictor/baselines/habitat.h"
#include "predictor/baselines/paleo.h"
#include "predictor/baselines/validate.h"
#include "support/must.h"
#include "support/refuse.h"
#include "support/scratch.h"
#include "workload/operator/calibrate.h"
#include "workload/operator/fit.h"
#include "workload/operator/timeline.h"
#include "workload/operator/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int near(double a, double b, double part)
{
    return fabs(a - b) <= part * fmax(fabs(a), fabs(b));
}

static const char *hardware_folder(void)
{
    static char path[4096];
    const char *source = getenv("DLSIM_SOURCE");
    snprintf(path, sizeof path, "%s/configs/hardware", source ? source : ".");
    return path;
}

TEST(published_counts)
{
    /* Parameters in millions and forward multiply-adds in thousands of millions. ResNets: He et al.
     * 2016 table 1 and torchvision (v1.5); VGG: Simonyan and Zisserman 2015 table 2 and
     * torchvision; GoogLeNet, Inception: torchvision and timm model tables; AlexNet: layers of the
     * TensorFlow benchmarks summed by hand; CIFAR ResNet-18: kuangliu/pytorch-cifar; BERT: Devlin
     * et al. without the pooler (0.59 and 1.05 M of their 109.5 and 335.1 M). */
    static const struct {
        const char *name;
        double params_m, macs_g;
    } published[] = {{"resnet50", 25.56, 3.86},        {"resnet101", 44.55, 7.57},
                     {"resnet152", 60.19, 11.3},       {"resnet50_v15", 25.56, 4.09},
                     {"resnet101_v15", 44.55, 7.80},   {"resnet152_v15", 60.19, 11.51},
                     {"vgg11", 132.86, 7.61},          {"vgg16", 138.36, 15.47},
                     {"vgg19", 143.67, 19.63},         {"googlenet", 6.99, 1.58},
                     {"inception3", 23.83, 5.71},      {"inception4", 42.68, 12.27},
                     {"resnet18_cifar", 11.17, 0.556}, {"alexnet", 61.84, 0.839},
                     {"bert_base", 108.9, 35.33},      {"bert_large", 334.1, 123.2}};
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        DLS_OWN(dls_workload_fini) dls_workload w = {0};
        assert_int_equal(dls_workload_build(published[i].name, &w, NULL), DLS_OK);
        assert_true(near(w.params / 1e6, published[i].params_m, 0.003));
        assert_true(near(w.forward_macs / 1e9, published[i].macs_g, 0.003));
        double sum = 0;
        size_t gradients = 0;
        for (size_t k = 0; k < w.n_tensors; k++) {
            sum += w.tensor[k];
        }
        for (size_t k = 0; k < w.n_kernels; k++) {
            gradients += w.kernel[k].tensor >= 0;
        }
        assert_true(near(sum, w.params, 1e-12));
        assert_true(gradients > 0 && gradients <= w.n_tensors);
    }
    dls_workload w;
    MUST_FAIL(DLS_EINPUT, "resnet50", dls_workload_build("resnet5", &w, &e));
}

TEST(no_memory_for_a_network)
{
    DLS_OWN(dls_workload_fini) dls_workload w = {0};
    EACH_REFUSED(2, dls_workload_build("alexnet", &w, NULL));
}

TEST(kernels_by_hand)
{
    dls_rates r = {.mem_bps = 1e9, .pass_bps = {1e9}, .launch_s = 1e-3, .derate = 1, .element_bytes = 4};
    r.own.flops[DLS_KERNEL_MATMUL] = 1e12;
    /* 4 samples: 4 * 1e12 / 1e12 = 4 s against 4 * (4 * 1e8 + 1e8) / 1e9 = 2 s */
    dls_kernel k = {.family = DLS_KERNEL_MATMUL,
                    .repeats = 1,
                    .tensor = -1,
                    .flops = 1e12,
                    .moved = 1e8,
                    .moved_once = 1e8};
    assert_true(near(dls_kernel_s(&k, &r, 4), 4.001, 1e-12));
    k.flops = 1e10;
    assert_true(near(dls_kernel_s(&k, &r, 4), 2.001, 1e-12));
    k.repeats = 3;
    assert_true(near(dls_kernel_s(&k, &r, 4), 6.003, 1e-12));
    assert_true(near(dls_kernel_bytes(&k, &r, 4), 6e9, 1e-12));
    r.derate = 2;
    k.family = DLS_KERNEL_MEMORY;
    assert_true(near(dls_kernel_s(&k, &r, 4), 12.006, 1e-12));
    r.derate = 1;

    k.family = DLS_KERNEL_MATMUL;
    k.repeats = 1;
    double tensor[] = {1e8, 5e7};
    const dls_workload w = {.kernel = &k,
                            .n_kernels = 1,
                            .tensor = tensor,
                            .n_tensors = 2,
                            .params = 1.5e8,
                            .activations = 1e6,
                            .input = 1e5,
                            .n_ops = 10,
                            .optimiser = DLS_OPTIMISER_MOMENTUM};
    const dls_step step = dls_step_time(&w, &r, 4);
    assert_true(near(step.forward_s, 2.001, 1e-12));
    assert_true(step.backward_s == 0);
    assert_true(near(step.update_s, 4 * 5 * 1.5e8 / 1e9 + 0.3 * 1e-3 * 2, 1e-12));
    assert_true(near(step.gpu_s, step.forward_s + step.update_s, 1e-12));
    assert_true(dls_step_host_s(&step, &w, NULL) == step.gpu_s);
    const dls_host host = {.slowdown = 2, .floor_s = 1, .floor_per_op_s = 0.5};
    const double gpu = 2 * step.gpu_s;
    assert_true(near(dls_step_host_s(&step, &w, &host), pow(pow(gpu, 4) + pow(6, 4), 0.25), 1e-12));
    /* A run forward, two parameters, 0.6 launches of the update. */
    const dls_host launches = {.slowdown = 1, .launch_s = 10, .tensor_s = 3};
    assert_true(step.forward_runs == 1 && step.tensors == 2);
    assert_true(near(dls_step_host_s(&step, &w, &launches),
                     pow(pow(gpu / 2, 4) + pow(10 * 1.6 + 3 * 2, 4), 0.25), 1e-12));
    /* An input that the training loop makes is a floor, too: the larger of both counts. */
    dls_workload fed = w;
    fed.made = 1e9;
    const dls_step waits = dls_step_time(&fed, &r, 4);
    assert_true(near(waits.input_s, 4 * 4e9 * (3 / 12e9 + 1 / 8.4e9), 1e-12));
    assert_true(waits.gpu_s == step.gpu_s);
    const double least = pow(waits.input_s, 4);
    assert_true(
        near(dls_step_host_s(&waits, &fed, NULL), pow(pow(gpu / 2, 4) + least, 0.25), 1e-12));
    assert_true(
        near(dls_step_host_s(&waits, &fed, &host), pow(pow(gpu, 4) + pow(6, 4), 0.25), 1e-12));
    const double fixed = (256 + 450) * 1048576.0;
    assert_true(near(dls_step_memory_bytes(&w, DLS_NUMERIC_FP32, 4),
                     12 * 1.5e8 + 4 * 4e6 + 4 * 4e5 + fixed, 1e-12));
    assert_true(near(dls_step_memory_bytes(&w, DLS_NUMERIC_FP16, 4),
                     14 * 1.5e8 + 2 * 4e6 + 4 * 4e5 + fixed, 1e-12));
}

TEST(exchanges_by_hand)
{
    assert_true(dls_ring_s(1, 1e9, 1e9, 1) == 0);
    assert_true(near(dls_ring_s(4, 1e9, 1e9, 0.1), 1.5 + 0.6, 1e-12));

    const double tensor[] = {100, 1, 10, 2, 5};
    assert_true(near(dls_ps_hot_bytes(tensor, 5, 1), 4 * 118, 1e-12));
    assert_true(near(dls_ps_hot_bytes(tensor, 5, 2), 4 * 115, 1e-12));
    assert_true(near(dls_ps_hot_bytes(tensor, 5, 9), 4 * 100, 1e-12));

    dls_fabric f = {
        .bps = 1e9, .per_tensor_s = 0.01, .per_doubling_s = 0.1, .gamma = 1, .straggle = 0.2};
    assert_true(near(dls_fabric_allreduce_s(&f, 4, 1e9, 10), 1.5 + 0.1 + 0.2, 1e-12));
    assert_true(near(dls_fabric_ps_s(&f, 4, 1e9, 1e9, 10), 0.75 * 2.1, 1e-12));
    assert_true(near(dls_fabric_async_s(&f, 4, 3, 1e9, 1e9, 10), 3 + 2.1, 1e-12));
    f.server_bps = 1e9;
    assert_true(near(dls_fabric_ps_s(&f, 4, 1e9, 5e8, 10), 4, 1e-12));
    assert_true(near(dls_fabric_async_s(&f, 4, 1, 1e9, 5e8, 10), 4, 1e-12));
    /* No overlap: everything adds. Full overlap: the longer one counts. */
    assert_true(near(dls_fabric_step_s(&f, 4, 3, 1), 1 + 2 + 1 + 0.45, 1e-12));
    f.gamma = 200;
    assert_true(near(dls_fabric_step_s(&f, 4, 3, 1), 1 + 2 + 0.45, 1e-6));
    assert_true(near(dls_fabric_step_s(&f, 4, 3, 5), 1 + 5 + 0.45, 1e-6));
    assert_true(dls_fabric_step_s(&f, 1, 3, 0) == 3);
    /* A server has all the parameters of one worker alone, several have them between them. */
    assert_true(near(dls_fabric_ps_s(&f, 1, 1e9, 1e9, 10), 2.1, 1e-12));
    assert_true(near(dls_fabric_ps_s(&f, 1, 1e9, 5e8, 10), 2.1, 1e-12));
    assert_true(near(dls_fabric_step_s(&f, 1, 3, 5), 1 + 5, 1e-6));
    assert_true(near(dls_fabric_async_s(&f, 1, 3, 1e9, 1e9, 10), 3 + 2.1, 1e-12));
}

TEST(links_by_hand)
{
    const dls_hw_link inner = {.goodput_bps = 1e10, .latency_s = 1e-5};
    const dls_hw_link outer = {.goodput_bps = 1e9, .latency_s = 1e-3};
    const dls_fabric like = {.bps = 1, .gamma = 3, .straggle = 0.5, .per_tensor_s = 9};
    dls_topology t = {.nodes = 1, .per_node = 4, .inner = &inner};
    /* 100 MB in four buckets: 2 * 3 / 4 of the bytes, 6 messages a bucket */
    assert_true(near(dls_topology_allreduce_s(&t, 1e8), 0.015 + 4 * 6e-5, 1e-12));
    t.algorithm = DLS_ALLREDUCE_TREE;
    assert_true(near(dls_topology_allreduce_s(&t, 1e8), 4 * 4 * (1e-5 + 2.5e-3), 1e-12));
    t.algorithm = DLS_ALLREDUCE_HIERARCHICAL;
    assert_true(near(dls_topology_allreduce_s(&t, 1e8), 0.015 + 4 * 6e-5, 1e-12));
    t.nodes = 2;
    t.outer = &outer;
    assert_true(near(dls_topology_allreduce_s(&t, 1e8), 0.015 + 4 * 6e-5 + 0.1 + 4 * 2e-3, 1e-12));
    t.algorithm = DLS_ALLREDUCE_RING;
    const double ring_s = 14.0 / 8 * 0.1 + 4 * 14e-3;
    assert_true(near(dls_topology_allreduce_s(&t, 1e8), ring_s, 1e-12));
    dls_fabric f = dls_topology_fabric(&t, 1e8, false, &like);
    assert_true(near(dls_fabric_allreduce_s(&f, 8, 1e8, 77), ring_s, 1e-12));
    assert_true(f.gamma == 3 && f.straggle == 0.5);
    f = dls_topology_fabric(&t, 1e8, true, &like);
    assert_true(f.bps == 1e9 && f.server_bps == 1e9);
    assert_string_equal(dls_allreduce_names()[DLS_ALLREDUCE_TREE], "tree");
}

/* Residuals of y = exp(x0) * t + x1 at 6 places; the last is an outlier if `wild`. */
typedef struct line {
    int wild;
} line;

static void line_residuals(void *user, const double *x, double *r)
{
    const line *l = user;
    for (int t = 0; t < 6; t++) {
        r[t] = 100 * (exp(x[0]) * t + x[1] - (2.0 * t + 1) - (l->wild && t == 5 ? 50 : 0));
    }
}

static void no_residuals(void *user, const double *x, double *r)
{
}

TEST(fits_with_known_answers)
{
    line l = {0};
    double x[DLS_FIT_MAX];
    dls_fit fit = {.residuals = line_residuals,
                   .user = &l,
                   .n = 2,
                   .n_residuals = 6,
                   .mean = {0, 0},
                   .sigma = {1e3, 1e3}};
    assert_int_equal(dls_fit_run(&fit, x, NULL), DLS_OK);
    assert_true(near(x[0], log(2), 1e-6));
    assert_true(near(x[1], 1, 1e-6));
    /* The absolute loss of the tails: one outlier of six does not move the line. */
    l.wild = 1;
    assert_int_equal(dls_fit_run(&fit, x, NULL), DLS_OK);
    assert_true(near(x[0], log(2), 0.01));
    assert_true(near(x[1], 1, 0.02));
    /* A prior without data wins. */
    fit.residuals = no_residuals;
    fit.n_residuals = 0;
    fit.mean[0] = 3;
    assert_int_equal(dls_fit_run(&fit, x, NULL), DLS_OK);
    assert_true(x[0] == 3);
    fit.n = 0;
    assert_int_equal(dls_fit_run(&fit, x, NULL), DLS_EINPUT);
}

typedef struct tables {
    dls_hardware hw;
    dls_pointset set;
    dls_opmodel model;
} tables;

static void load(tables *t)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/operator.cfg", hardware_folder());
    assert_int_equal(dls_hardware_load(hardware_folder(), &t->hw, NULL), DLS_OK);
    assert_int_equal(dls_pointset_create(&t->hw, &t->set, NULL), DLS_OK);
    assert_int_equal(dls_opmodel_load(path, &t->model, NULL), DLS_OK);
}

static void unload(tables *t)
{
    dls_pointset_fini(&t->set);
    dls_hardware_fini(&t->hw);
}

TEST(shipped_constants_are_the_calibration)
{
    static tables t;
    static dls_opmodel fresh, again;
    char path[64];
    load(&t);
    assert_int_equal(dls_calibrate(&t.set, NULL, NULL, &fresh, NULL), DLS_OK);
    snprintf(path, sizeof path, "operator-%ld.cfg", (long)getpid());
    assert_int_equal(dls_opmodel_save(&fresh, path, NULL), DLS_OK);
    assert_int_equal(dls_opmodel_load(path, &again, NULL), DLS_OK);
    unlink(path);
    for (int n = 0; n < DLS_OPMODEL_NUMERICS; n++) {
        for (int f = 0; f < DLS_KERNEL_FAMILIES; f++) {
            assert_true(near(again.eta[n][f], t.model.eta[n][f], 1e-4));
        }
        assert_true(near(again.launch_s[n], t.model.launch_s[n], 1e-4));
    }
    assert_int_equal(again.n_factors, t.model.n_factors);
    assert_int_equal(again.n_hosts, t.model.n_hosts);
    assert_int_equal(again.n_fabrics, t.model.n_fabrics);
    for (size_t i = 0; i < again.n_factors; i++) {
        assert_string_equal(again.factor[i].gpu, t.model.factor[i].gpu);
        assert_true(near(again.factor[i].compute, t.model.factor[i].compute, 1e-4));
        assert_true(near(again.factor[i].memory, t.model.factor[i].memory, 1e-4));
    }
    for (size_t i = 0; i < again.n_hosts; i++) {
        assert_true(near(again.host[i].slowdown, t.model.host[i].slowdown, 1e-4));
    }
    for (size_t i = 0; i < again.n_fabrics; i++) {
        assert_true(near(again.fabric[i].fabric.bps, t.model.fabric[i].fabric.bps, 1e-3));
        assert_true(near(again.fabric[i].fabric.gamma, t.model.fabric[i].fabric.gamma, 1e-3));
    }
    unload(&t);
}

/* The version that knows sizes: more samples never take less time, twice as many at most 2.1 times
 * as long, whatever network, GPU and precision; what a GPU cannot compute is refused. */
TEST(sized_steps_grow_with_the_batch)
{
    static tables t;
    static dls_opmodel model;
    dls_sized_table kernels;
    size_t first = 0; /* GPU: in turn, where not all are asked */
    load(&t);
    assert_int_equal(dls_opmodel_of(hardware_folder(), &kernels, &model, NULL), DLS_OK);
    for (const char *const *name = dls_workload_names(); *name; name++, first++) {
        DLS_OWN(dls_workload_fini) dls_workload w = {0};
        assert_int_equal(dls_workload_build(*name, &w, NULL), DLS_OK);
        for (size_t g = first % EACH; g < t.hw.n_gpus; g += EACH) {
            double last = 0;
            for (int batch = 1; batch <= 1024; batch *= 2) {
                const dls_rates rates = dls_opmodel_rates(&model, &t.hw.gpu[g], DLS_NUMERIC_FP32);
                const double s = dls_step_time(&w, &rates, batch).gpu_s;
                if (!(s > 0 && s < 1e4 && s >= last && (last == 0 || s <= 2.1 * last))) {
                    fail_msg("%s on %s: %d samples take %g s, half of them %g s", *name,
                             t.hw.gpu[g].name, batch, s, last);
                }
                last = s;
            }
        }
    }
    dls_workload w;
    dls_step_in_setting step;
    dls_work_setting setting = {.numeric = DLS_NUMERIC_BF16, .batch = 32, .n_workers = 1};
    assert_int_equal(dls_workload_build("resnet50", &w, NULL), DLS_OK);
    assert_int_equal(dls_hardware_gpu(&t.hw, "V100", &setting.gpu, NULL), DLS_OK);
    assert_int_equal(dls_setting_step(&model, &w, &setting, &step, NULL), DLS_EINPUT);
    assert_int_equal(dls_hardware_gpu(&t.hw, "A100", &setting.gpu, NULL), DLS_OK);
    assert_int_equal(dls_setting_step(&model, &w, &setting, &step, NULL), DLS_OK);
    dls_workload_fini(&w);
    dls_sized_table_fini(&kernels);
    unload(&t);
}

/* A product for each sample stays what it is when there is one sample. */
TEST(one_sample_is_a_batch)
{
    static tables t;
    static dls_opmodel model;
    dls_sized_table kernels;
    dls_kernel k = {.family = DLS_KERNEL_MATMUL, .repeats = 1};
    k.product = (dls_product){
        .grows = DLS_GROWS_COUNT, .batch = 1, .count = 1, .rows = 64, .depth = 32, .columns = 64};
    dls_kernel two = k;
    two.product.batch = two.product.count = 2;
    load(&t);
    assert_int_equal(dls_opmodel_of(hardware_folder(), &kernels, &model, NULL), DLS_OK);
    for (size_t g = 0; g < t.hw.n_gpus; g++) {
        const dls_rates rates = dls_opmodel_rates(&model, &t.hw.gpu[g], DLS_NUMERIC_FP32);
        if (dls_kernel_s(&k, &rates, 2) < dls_kernel_s(&k, &rates, 1)) {
            fail_msg("on %s two products take less time than one", t.hw.gpu[g].name);
        }
        assert_true(dls_kernel_s(&k, &rates, 2) == dls_kernel_s(&two, &rates, 2));
    }
    dls_sized_table_fini(&kernels);
    unload(&t);
}

/* With a relative's kernels a GPU keeps kernels_clock of its clock, with its own all of it. */
TEST(clock_beside_a_relative)
{
    static tables t;
    static dls_opmodel model;
    dls_sized_table kernels;
    const dls_hw_gpu *row;
    double clock[2][2]; /* with its own kernels, without; with kernels_clock, without */
    load(&t);
    assert_int_equal(dls_opmodel_of(hardware_folder(), &kernels, &model, NULL), DLS_OK);
    assert_int_equal(dls_hardware_gpu(&t.hw, "H100", &row, NULL), DLS_OK);
    assert_true(row->kernels_clock > 0.9 && row->kernels_clock < 1);
    for (int left_out = 0; left_out < 2; left_out++) {
        dls_hw_gpu gpu = *row;
        for (int bare = 0; bare < 2; bare++) {
            gpu.kernels_clock = bare ? 0 : row->kernels_clock;
            clock[left_out][bare] =
                dls_opmodel_rates(&model, &gpu, DLS_NUMERIC_FP32).own.sized[DLS_SIZED_LINEAR].clock;
        }
        dls_opmodel_forget(&model, &kernels, "H100");
    }
    assert_true(clock[0][0] == 1 && clock[0][1] == 1);
    assert_true(clock[1][0] == row->kernels_clock && clock[1][1] == 1);
    dls_sized_table_fini(&kernels);
    unload(&t);
}

/* Judged points must not matter to the constants: change them all, and nothing moves. */
TEST(judged_points_fit_nothing)
{
    static tables t;
    static dls_opmodel all, without;
    load(&t);
    assert_int_equal(dls_calibrate(&t.set, NULL, NULL, &all, NULL), DLS_OK);
    size_t judged = 0;
    for (size_t i = 0; i < t.set.n; i++) {
        if (t.set.point[i].role == DLS_POINT_JUDGE) {
            t.set.point[i].step_ms *= 3;
            judged++;
        }
    }
    assert_true(judged > 150);
    assert_int_equal(dls_calibrate(&t.set, NULL, NULL, &without, NULL), DLS_OK);
    assert_memory_equal(&all, &without, sizeof all);
    unload(&t);
}

TEST(accuracy_meets_the_targets)
{
    static tables t;
    dls_score_row rows[DLS_SCORE_ROWS];
    dls_versus versus[DLS_SCORE_ROWS];
    size_t n = 0, targets = 0;
    load(&t);
    assert_int_equal(t.set.n, 368);
    dls_validate_rows(&t.set, &t.model, rows, &n);
    for (size_t i = 0; i < n; i++) {
        assert_true(rows[i].judged.n > 0);
        if (rows[i].target > 0) {
            assert_true(rows[i].judged.mean <= rows[i].target);
            targets++;
        }
    }
    assert_int_equal(targets, 7);
    assert_int_equal(dls_validate_versus(&t.set, &t.model, versus, &n, NULL), DLS_OK);
    for (size_t i = 0; i < n; i++) {
        assert_true(versus[i].model.n == versus[i].other.n && versus[i].model.n > 10);
        if (versus[i].target_ratio > 0) {
            assert_true(versus[i].model.mean <= versus[i].target_ratio * versus[i].other.mean);
        }
    }
    unload(&t);
}

TEST(baselines_by_hand)
{
    const dls_hw_gpu a = {.name = "a", .fp32_flops = 1e12, .mem_bps = 1e11};
    const dls_hw_gpu b = {.name = "b", .fp32_flops = 4e12, .mem_bps = 2e11};
    dls_kernel k = {.family = DLS_KERNEL_MATMUL, .repeats = 1, .flops = 1e9, .moved = 1e6};
    const dls_workload w = {
        .kernel = &k, .n_kernels = 1, .forward_macs = 1e9, .optimiser = DLS_OPTIMISER_SGD};
    const dls_paleo paleo = {.fraction = {0.5, 1, 1}};
    assert_true(near(dls_paleo_step_s(&paleo, &w, &a, DLS_NUMERIC_FP32, 2),
                     2 * (2 * 6e9 / 1e12 + 2 * 4e6 / 1e11), 1e-12));
    /* 250 flops a byte, ridge of b 20: g = 0.04 */
    assert_true(near(dls_habitat_step_s(&w, &a, &b, DLS_NUMERIC_FP32, 2, 3),
                     3 * pow(0.5, 0.04) * pow(0.25, 0.96), 1e-12));
    /* 2 flops a byte: g = 1 - 0.05 */
    k.flops = 8e6;
    assert_true(near(dls_habitat_step_s(&w, &a, &b, DLS_NUMERIC_FP32, 2, 3),
                     3 * pow(0.5, 0.95) * pow(0.25, 0.05), 1e-12));
    assert_true(near(dls_habitat_step_s(&w, &a, &a, DLS_NUMERIC_FP32, 2, 3), 3, 1e-12));
}

/* As nvidia-smi, clouds and benchmarks spell them; what no row has is none of another's. */
TEST(gpus_have_many_names)
{
    static const char *const names[][2] = {
        {"v100", "V100"},
        {"Tesla V100-SXM2-32GB", "V100"},
        {"V100-16GB", "V100-16GB"},
        {"Tesla V100-SXM2-16GB", "V100-16GB"},
        {"Tesla V100-PCIE-32GB", "V100-PCIE-32GB"},
        {"V100 PCIe 16 GB", "V100-PCIE"},
        {"Tesla V100-DGXS-32GB", "V100"},
        {"GV100GL [Tesla V100S PCIe 32GB]", "V100S-PCIE"},
        {"v100s", "V100S-PCIE"},
        {"Tesla P100-PCIE-12GB", "P100-PCIE-12GB"},
        {"Tesla K40m", "K40"},
        {"GeForce GTX TITAN X", "TITAN-X"},
        {"NVIDIA TITAN X (Pascal)", "TITAN-X-PASCAL"},
        {"2080Ti", "RTX2080TI"},
        {"4090", "RTX4090"},
        {"6000", NULL},
        {"a100_80", "A100-80GB"},
        {"A100-80G", "A100-80GB"},
        {"A800", "A800-80GB"},
        {"NVIDIA A800 80GB PCIe", "A800-80GB-PCIE"},
        {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX-PRO-6000"},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX-PRO-6000-SERVER"}, {"g7e.2xlarge", "RTX-PRO-6000-SERVER"},
        {"NVIDIA H200 NVL", "H200-NVL"},
        {"NVIDIA H100 96GB HBM3", "H100-96GB"},
        {"NVIDIA GH200 480GB", "GH200"},
        {"NVIDIA GH200 144G HBM3e", "GH200-144GB"},
        {"AMD Instinct MI250X", "MI250X"},
        {"p3.2xlarge", "V100-16GB"},
        {"a2-highgpu-1g", "A100"},
        {"Standard_NC24ads_A100_v4", "A100-80GB-PCIE"},
        {"NC6s_v3", "V100-PCIE"},
        /* Of another card, a part of one, of nobody's. */
        {"A100-SXM-64GB", NULL},
        {"NVIDIA H100 64GB HBM2", NULL},
        {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", NULL},
        {"NVIDIA T4 NVL", NULL},
        {"Tesla V100-PCIE-16GB", "V100-PCIE"},
        {"NVIDIA A100-SXM4-80GB", "A100-80GB"},
        {"NVIDIA A100 80GB PCIe", "A100-80GB-PCIE"},
        {"A100-PCIE-40GB", "A100-PCIE"},
        {"NVIDIA H100 80GB HBM3", "H100"},
        {"NVIDIA H100 NVL", "H100-NVL"},
        {"NVIDIA GeForce RTX 2080 Ti", "RTX2080TI"},
        {"GeForce RTX 2080 SUPER", "RTX2080-SUPER"},
        {"Quadro RTX 6000", "RTX6000"},
        {"NVIDIA RTX 6000 Ada Generation", "RTX6000-ADA"},
        {"NVIDIA RTX A6000", "A6000"},
        {"NVIDIA TITAN Xp", "TITAN-XP"},
        {"NVIDIA L4", "L4"},
        {"NVIDIA L400", NULL},
        {"RTX 2080 Ti Super", NULL},
        {"80GB", NULL},
        {"", NULL},
    };
    DLS_OWN(dls_hardware_fini) dls_hardware hw = {0};
    char buf[4096];
    MUST(dls_hardware_load(dls_hardware_folder(NULL, buf, sizeof buf), &hw, &e));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const dls_hw_gpu *row = dls_hardware_gpu_variant(&hw, names[i][0]);
        assert_string_equal(row ? row->name : "none", names[i][1] ? names[i][1] : "none");
    }
}

TEST(mistakes_have_a_place)
{
    static dls_opmodel model;
    static tables t;
    char dir[64], path[128], links[128];
    dls_error err;
    dls_hardware hw;
    const dls_hw_gpu *gpu = NULL;
    const dls_hw_link *link = NULL;
    snprintf(dir, sizeof dir, "/tmp/dlsim-hardware-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/gpus.cfg", dir);
    snprintf(links, sizeof links, "%s/links.cfg", dir);
    assert_int_equal(dls_hardware_load(dir, &hw, &err), DLS_ECONFIG);
    write_file(links, "links = ({ name = \"l\"; bandwidth = \"1 GB/s\"; efficiency = 1; "
                      "latency = \"1 us\"; });\n");
#define GPU(more)                                                                                  \
    "gpus = (\n{ name = \"x\"; fp32 = \"1 TFLOP/s\"; tf32 = \"0\"; fp16 = \"0\"; " more            \
    " memory = \"1 GiB\"; link = \"l\"; });\n"
    write_file(path, GPU("bandwidth = \"1 GB/s\";"));
    assert_int_equal(dls_hardware_load(dir, &hw, &err), DLS_OK);
    assert_int_equal(dls_hardware_link(&hw, "L", &link, &err), DLS_OK);
    dls_hardware_fini(&hw);
    write_file(path, GPU("bandwidth = \"1 TFLOP/s\";"));
    assert_int_equal(dls_hardware_load(dir, &hw, &err), DLS_ECONFIG);
    assert_non_null(strstr(err.where, "gpus.cfg:2"));
    write_file(path, GPU("bandwidth = \"0 GB/s\";"));
    assert_int_equal(dls_hardware_load(dir, &hw, &err), DLS_ECONFIG);
    write_file(path, GPU("bandwidth = \"1 GB/s\"; like = \"y\";"));
    MUST_FAIL(DLS_ECONFIG, "\"y\"", dls_hardware_load(dir, &hw, &e));
    write_file(path, "gpus = (\n");
    assert_int_equal(dls_hardware_load(dir, &hw, &err), DLS_ECONFIG);
    write_file(path, "kernels = ( { numeric = \"fp64\"; } );\n");
    assert_int_equal(dls_opmodel_load(path, &model, &err), DLS_ECONFIG);
    assert_non_null(strstr(err.where, ":1"));
    unlink(path);
    unlink(links);
    rmdir(dir);
    load(&t);
    MUST_FAIL(DLS_EINPUT, "A100", dls_hardware_gpu(&t.hw, "A101", &gpu, &e));
    assert_int_equal(dls_hardware_gpu(&t.hw, "h200", &gpu, &err), DLS_OK);
    assert_null(dls_opmodel_host(&t.model, "nobody"));
    assert_null(dls_opmodel_fabric(&t.model, "nothing"));
    unload(&t);
}

/* One function for labels and the truth: what a line gives alone makes a topology's time of it. */
TEST(exchange_of_a_network)
{
    const dls_hw_link inner = {.goodput_bps = 10e9, .latency_s = 1e-5};
    const dls_hw_link outer = {.goodput_bps = 1e9, .latency_s = 3e-5};
    const double p = 100e6; /* 4 buckets */
    dls_exchange x = dls_exchange_of(DLS_ALLREDUCE_RING, 8, 2, p, &inner, 1e9, 3e-5);
    assert_true(fabs(x.line_bytes / (2 * 7. / 8 * p) - 1) < 1e-12);
    assert_true(fabs(x.fixed_s / (4 * 14 * 3e-5) - 1) < 1e-12);
    x = dls_exchange_of(DLS_ALLREDUCE_HIERARCHICAL, 8, 2, p, &inner, 1e9, 3e-5);
    assert_true(fabs(x.line_bytes / p - 1) < 1e-12);
    assert_true(fabs(x.fixed_s / (4 * 6 * (p / 4 / 4 / 10e9 + 1e-5) + 4 * 2 * 3e-5) - 1) < 1e-12);
    /* A line faster than the nodes: they are what takes the time. */
    x = dls_exchange_of(DLS_ALLREDUCE_RING, 8, 2, p, &inner, 40e9, 3e-5);
    assert_true(fabs((x.fixed_s + x.line_bytes / 40e9) / (4 * 14 * 3e-5 + 2 * 7. / 8 * p / 10e9) -
                     1) < 1e-12);
    for (int a = 0; a < 3; a++) {
        const dls_topology t = {2, 4, &inner, &outer, (dls_allreduce)a};
        x = dls_exchange_of((dls_allreduce)a, 8, 2, p, &inner, 1e9, 3e-5);
        assert_true(fabs(dls_topology_allreduce_s(&t, p) / (x.fixed_s + x.line_bytes / 1e9) - 1) <
                    1e-12);
        x = dls_exchange_of((dls_allreduce)a, 4, 1, p, &inner, 0, 0);
        assert_true(x.line_bytes == 0 && x.fixed_s > 0);
    }
}
