/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Making datasets: which graphs, how they are divided, what the labels of a known timeline are, and
 * what failing allocations leave behind.
 */

#include "base/alloc.h"
#include "predictor/dataset/build.h"
#include "predictor/dataset/summary.h"
#include "predictor/dataset/variants.h"
#include "workload/operator/residual.h"
#include "support/dataset_setup.h"
#include "support/refuse.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- graphs ---------------------------------------------------------------------------------- */

static bool same(const dls_variant *a, const dls_variant *b)
{
    return a->model == b->model && a->batch == b->batch && a->numeric == b->numeric &&
           a->optimiser == b->optimiser;
}

TEST(test_variants)
{
    dls_error err = {0};
    dls_variant *v, *again, *other;
    size_t of_model[64] = {0}, fit = 0, equal = 0;
    assert_int_equal(dls_variants_draw(320, 1, &v, &err), DLS_OK);
    assert_int_equal(dls_variants_draw(320, 1, &again, &err), DLS_OK);
    assert_int_equal(dls_variants_draw(320, 2, &other, &err), DLS_OK);
    for (size_t i = 0; i < 320; i++) {
        assert_true(same(&v[i], &again[i]));
        equal += same(&v[i], &other[i]);
        of_model[v[i].model - dls_zoo_at(0)]++;
        fit += v[i].memory_bytes <= DLS_VARIANT_MEMORY_BYTES;
        for (size_t k = 0; k < i; k++) {
            assert_false(same(&v[i], &v[k]));
        }
    }
    for (size_t m = 0; m < dls_zoo_drawn(); m++) {
        assert_true(of_model[m] == 9 || of_model[m] == 10);
    }
    assert_true(fit >= 300 && fit < 320);
    assert_true(equal < 300);
    dls_free(v);
    dls_free(again);
    dls_free(other);
    assert_int_equal(dls_variants_draw(100000, 1, &v, &err), DLS_EINPUT);
    assert_null(v);
}

TEST(test_split_by_family)
{
    for (uint64_t seed = 0; seed < 3; seed++) {
        dls_error err = {0};
        DLS_FREED dls_variant *v = NULL;
        uint8_t split[320];
        unsigned domains[DLS_SPLITS] = {0};
        size_t in[DLS_SPLITS] = {0};
        assert_int_equal(dls_variants_draw(320, seed, &v, &err), DLS_OK);
        assert_int_equal(dls_variants_split_family(v, 320, seed, split, &err), DLS_OK);
        for (size_t i = 0; i < 320; i++) {
            in[split[i]]++;
            domains[split[i]] |= 1u << dls_variant_domain(v[i].model);
            for (size_t k = 0; k < i; k++) {
                assert_true(strcmp(v[i].model->family, v[k].model->family) != 0 ||
                            split[i] == split[k]);
            }
            /* The ends of the range by parameters. */
            if (strcmp(v[i].model->family, "vgg") == 0 ||
                strcmp(v[i].model->family, "resnet_cifar") == 0) {
                assert_int_equal(split[i], DLS_SPLIT_TRAIN);
            }
        }
        assert_int_equal(domains[DLS_SPLIT_TRAIN], 7);
        assert_int_equal(domains[DLS_SPLIT_TEST], 7);
        assert_int_equal(domains[DLS_SPLIT_VAL] & 3, 3);
        assert_in_range(in[DLS_SPLIT_TRAIN], 160, 224);
        assert_in_range(in[DLS_SPLIT_VAL], 40, 90);
        assert_in_range(in[DLS_SPLIT_TEST], 40, 90);
    }
}

TEST(test_split_random)
{
    dls_error err = {0};
    uint8_t split[100];
    size_t in[DLS_SPLITS] = {0};
    assert_int_equal(dls_variants_split_random(100, 5, split, &err), DLS_OK);
    for (size_t i = 0; i < 100; i++) {
        in[split[i]]++;
    }
    assert_int_equal(in[DLS_SPLIT_TRAIN], 60);
    assert_int_equal(in[DLS_SPLIT_VAL], 20);
    assert_int_equal(in[DLS_SPLIT_TEST], 20);
}

/* ---- labels ---------------------------------------------------------------------------------- */

TEST(test_residual)
{
    double sum = 0, square = 0;
    assert_true(dls_residual(1, "resnet50", "V100", "eth10", 0) == 1);
    assert_true(dls_residual(1, "resnet50", "V100", "eth10", 0.1) ==
                dls_residual(1, "ResNet50", "v100", "ETH10", 0.1));
    assert_true(dls_residual(1, "resnet50", "V100", "eth10", 0.1) !=
                dls_residual(1, "resnet50", "V100", "eth1", 0.1));
    assert_true(dls_residual(1, "resnet50", "V100", "", 0.1) !=
                dls_residual(2, "resnet50", "V100", "", 0.1));
    assert_true(dls_residual(1, "ab", "c", "", 0.1) != dls_residual(1, "a", "bc", "", 0.1));
    for (int i = 0; i < 4000; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        const double x = log(dls_residual(3, name, "V100", "eth10", 0.16));
        sum += x;
        square += x * x;
    }
    assert_true(fabs(sum / 4000) < 0.01);
    assert_true(fabs(sqrt(square / 4000) - 0.16) < 0.008);
}

/* A network of one matrix product, in a setting of the paper. */
static void one_layer(dls_workload *w)
{
    static dls_kernel kernel[3];
    static double tensor[1] = {25e6};
    kernel[0] = (dls_kernel){.family = DLS_KERNEL_MATMUL, .repeats = 1, .tensor = -1, .flops = 1e9};
    kernel[1] = kernel[0];
    kernel[1].backward = 1;
    kernel[2] = kernel[1];
    kernel[2].tensor = 0;
    *w = (dls_workload){.name = "one_layer",
                        .kernel = kernel,
                        .n_kernels = 3,
                        .tensor = tensor,
                        .n_tensors = 1,
                        .params = 25e6,
                        .n_layers = 1};
}

static dls_label label_with(dls_label_options *o, const dls_setting_spec *spec, uint64_t entity)
{
    dls_error err = {0};
    dls_workload w;
    dls_fabric fabric;
    dls_work_setting work;
    dls_label label;
    bool fits = false;
    one_layer(&w);
    assert_int_equal(
        dls_setting_work(spec, &model, &hw, &w, 100, DLS_NUMERIC_FP32, &fabric, &work, &err),
        DLS_OK);
    assert_int_equal(dls_label_make(o, &model, spec, &work, &w, entity, &label, &fits, &err),
                     DLS_OK);
    assert_true(fits);
    return label;
}

TEST(test_label)
{
    dls_label_options o;
    dls_label_options_init(&o);
    const dls_setting_spec *spec = &paper.spec[6]; /* two workers over 40 Gb/s */
    const dls_label label = label_with(&o, spec, 7);
    const double residual = dls_residual(1, "one_layer", spec->gpu, "eth40", o.network_sigma);
    assert_true(fabs(label.iteration_s / (label.model_s * residual) - 1) < 0.02);
    /* Bytes of a step: half of all weights are the other worker's, each way. */
    const double bytes = label.truth[DLS_NET_TX_ACTIVE] * label.truth[DLS_NET_TX_PEAK];
    assert_true(fabs(bytes / 50e6 - 1) < 0.15);
    for (int r = 0; r < 4; r++) { /* every resource pauses once a step */
        const double cycle = label.truth[3 * r] + label.truth[3 * r + 1];
        assert_true(fabs(cycle / (label.model_s * residual) - 1) < 0.05);
    }
    for (int k = 0; k < DLS_METRICS; k++) {
        assert_true(fabs(label.metric[k] / label.truth[k] - 1) < 0.25);
    }
    assert_true(label.metric[DLS_NET_TX_PEAK] != label.truth[DLS_NET_TX_PEAK]);
    assert_true(label.metric[DLS_GPU_PEAK] != label.truth[DLS_GPU_PEAK]);
    /* Without noise and residual: the model. */
    dls_label_options exact = o;
    exact.node_sigma = exact.network_sigma = 0;
    exact.step_spread = exact.jitter_frac = exact.noise_frac = 0;
    const dls_label plain = label_with(&exact, spec, 7);
    assert_true(plain.iteration_s == plain.model_s && plain.model_s == label.model_s);
    assert_memory_equal(plain.metric, plain.truth, sizeof plain.metric);
    /* The residual changes times and rates of the network and nothing else. */
    for (int k = 0; k < DLS_METRICS; k++) {
        const bool peak = k % 3 == DLS_GPU_MEM_PEAK;
        const double gain = !peak ? residual : k >= DLS_NET_RX_IDLE ? 1 / residual : 1;
        assert_true(fabs(label.truth[k] / (gain * plain.truth[k]) - 1) < 1e-9);
    }
    /* The residual is frozen, the noise is not. */
    const dls_label twin = label_with(&o, spec, 8);
    assert_true(twin.iteration_s != label.iteration_s);
    assert_true(fabs(twin.iteration_s / label.iteration_s - 1) < 0.05);
}

/* However often a resource pauses in a step, and be it much shorter than a sample: what it is idle
 * and active comes to a step, and a recording begins like it goes on. */
TEST(test_label_is_a_step)
{
    dls_label_options o;
    dls_label_options_init(&o);
    o.step_spread = o.jitter_frac = o.noise_frac = 0;
    for (size_t k = 0; k < paper.n; k++) {
        for (uint64_t entity = 0; entity < 8; entity++) {
            const dls_label label = label_with(&o, &paper.spec[k], entity);
            for (int r = 0; r < DLS_RESOURCES; r++) {
                const double step = label.truth[3 * r] + label.truth[3 * r + 1];
                assert_true(fabs(step / label.iteration_s - 1) < 1e-9);
            }
            /* Over 1 Gb/s the GPU computes for less than a sample. */
            const dls_label first = label_with(&o, &paper.spec[k], 0);
            assert_true(fabs(label.truth[DLS_GPU_ACTIVE] / first.truth[DLS_GPU_ACTIVE] - 1) < 0.2);
        }
    }
}

/* One worker: no network, whose pause is the step. */
TEST(test_label_alone)
{
    dls_label_options o;
    dls_label_options_init(&o);
    dls_setting_spec spec = {.name = "one",
                             .gpu = "V100",
                             .exchange = "one",
                             .link = "nvlink2",
                             .workers = 1,
                             .nodes = 1};
    const dls_label label = label_with(&o, &spec, 1);
    assert_true(label.metric[DLS_NET_RX_IDLE] == label.iteration_s);
    assert_true(label.metric[DLS_NET_RX_ACTIVE] == 0 && label.metric[DLS_NET_TX_PEAK] == 0);
    assert_true(label.metric[DLS_GPU_PEAK] > 0.5 && label.metric[DLS_GPU_PEAK] <= 1);
}

/* ---- sets ------------------------------------------------------------------------------------ */

static dls_build_options options_of(size_t n_graphs, size_t n_settings)
{
    dls_build_options o = {
        .model = &model, .hw = &hw, .setting = paper.spec, .n_settings = n_settings};
    dls_corpus_options_init(&o.corpus);
    dls_label_options_init(&o.label);
    o.corpus.n_graphs = n_graphs;
    o.corpus.n_groups = 8;
    o.label.n_samples = 128;
    return o;
}

TEST(test_build)
{
    dls_error err = {0};
    DLS_HOLD(dls_dataset_destroy) dls_dataset *set = NULL, *one = NULL;
    dls_dataset_summary m;
    dls_build_options o = options_of(68, 2);
    assert_int_equal(dls_dataset_build(&o, &set, &err), DLS_OK);
    assert_int_equal(set->n_graphs, 68);
    assert_int_equal(set->n_settings, 2);
    for (size_t i = 0; i < set->n_graphs; i++) {
        assert_int_equal(set->graph[i].n_nodes, 8);
        assert_int_equal(set->graph[i].n_features, 8);
    }
    /* A setting's labels do not depend on the settings beside it. */
    o.setting = &paper.spec[1];
    o.n_settings = 1;
    assert_int_equal(dls_dataset_build(&o, &one, &err), DLS_OK);
    assert_int_equal(one->setting[0].n, set->setting[1].n);
    assert_memory_equal(one->setting[0].label, set->setting[1].label,
                        one->setting[0].n * DLS_METRICS * sizeof(double));
    assert_int_equal(dls_dataset_summarise(set, 0, &m, &err), DLS_OK);
    assert_int_equal(m.n_split[0] + m.n_split[1] + m.n_split[2] + m.n_left_out, 68);
    assert_true(m.n_left_out >= 2); /* LLaMA */
    assert_true(m.floor > 0 && m.floor < 0.1);
    assert_true(m.floor < m.neighbour_any && m.neighbour_any < m.mean_test);
    assert_true(m.model_error > 0.01 && m.model_error < 0.5);
    assert_true(m.least_s > 0 && m.least_s < m.median_s && m.median_s < m.most_s);
}

/* A made-up set whose answers are known. */
TEST(test_summary)
{
    dls_error err = {0};
    dls_dataset_summary m;
    double x[4][1] = {{0}, {1}, {10}, {9}};
    const int64_t row_start[2] = {0, 0};
    dls_graph graph[4];
    int32_t index[4] = {0, 1, 2, 3};
    uint8_t split[4] = {DLS_SPLIT_TRAIN, DLS_SPLIT_TEST, DLS_SPLIT_TRAIN, DLS_SPLIT_TEST};
    double label[4 * DLS_METRICS] = {0}, iteration_s[4] = {1, 2, 3, 4};
    const double gpu_idle[4] = {1, 2, 5, 4}; /* the only metric that varies */
    for (int i = 0; i < 4; i++) {
        graph[i] = (dls_graph){.n_nodes = 1, .n_features = 1, .x = x[i], .row_start = row_start};
        label[i * DLS_METRICS + DLS_GPU_IDLE] = gpu_idle[i];
        label[i * DLS_METRICS + DLS_GPU_ACTIVE] = 1;
        label[i * DLS_METRICS + DLS_GPU_MEM_ACTIVE] = 1;
    }
    dls_dataset_setting setting = {
        .n = 4, .graph = index, .split = split, .label = label, .iteration_s = iteration_s};
    const dls_dataset set = {
        .graph = graph, .n_graphs = 4, .setting = &setting, .n_settings = 1, .n_features = 1};
    assert_int_equal(dls_dataset_summarise(&set, 0, &m, &err), DLS_OK);
    assert_true(fabs(m.neighbour_test - 0.5) < 1e-12); /* off by 1 and 1, range 2 */
    assert_true(fabs(m.mean_test - 0.5) < 1e-12);      /* mean 3: off by 1 and 1 */
    assert_true(fabs(m.neighbour_any - 0.25) < 1e-12); /* each off by 1, range 4 */
    assert_true(isnan(m.floor) && isnan(m.model_error));
    assert_true(m.median_s == 2.5 && m.least_s == 1 && m.most_s == 4);
    assert_true(m.pattern[0].burst == 1 && m.pattern[1].both == 1 && m.pattern[2].idle == 1);
}

TEST(test_no_memory)
{
    dls_build_options o = options_of(34, 1);
    o.corpus.split = DLS_SPLIT_AT_RANDOM;
    o.label.n_samples = 16;
    int all = INT_MAX;
    dls_error err = {0};
    dls_dataset *set;
    dls_alloc_set_hook(refuse, &all);
    assert_int_equal(dls_dataset_build(&o, &set, &err), DLS_OK);
    dls_alloc_set_hook(NULL, NULL);
    dls_dataset_destroy(set);
    all = INT_MAX - all;
    assert_true(all > 1000);
    for (int n = 1; n < all; n += all / 5) {
        int left = n;
        dls_alloc_set_hook(refuse, &left);
        const dls_status status = dls_dataset_build(&o, &set, &err);
        dls_alloc_set_hook(NULL, NULL);
        assert_int_equal(status, DLS_ENOMEM);
        assert_null(set);
    }
}

GROUP(begin, end)
