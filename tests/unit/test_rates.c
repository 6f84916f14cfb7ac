/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What kernels take on every GPU of the table, by the sized model: precisions beside each other, relatives
 * beside those that were measured, kernels beside their like.
 */
#include "base/own.h"
#include "support/test.h"
#include "workload/kinds.h"
#include "workload/operator/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tables {
    dls_hardware hw;
    dls_sized_table kernels; /* of the model */
    dls_opmodel model;
} tables;

static tables *load(void)
{
    char folder[4096];
    tables *t = calloc(1, sizeof *t);
    snprintf(folder, sizeof folder, "%s/configs/hardware", getenv("DLSIM_SOURCE"));
    assert_int_equal(dls_hardware_load(folder, &t->hw, NULL), DLS_OK);
    assert_int_equal(dls_opmodel_of(folder, &t->kernels, &t->model, NULL), DLS_OK);
    return t;
}

static void unload(tables *t)
{
    dls_sized_table_fini(&t->kernels);
    dls_hardware_fini(&t->hw);
    free(t);
}

/* tf32 lets the library take matrix units, it need not: where they are no faster than vector units
 * (GeForce, L40), products and convolutions take no longer than in fp32. Within its generation a
 * GPU's matrix units work as those that were measured. */
TEST(units_that_are_slower)
{
    tables *t = load();
    const dls_hw_gpu *h100 = NULL, *h200 = NULL;
    const dls_kernel matmul = {.family = DLS_KERNEL_MATMUL,
                               .repeats = 1,
                               .flops = 2.0 * 4096 * 4096 * 1024,
                               .product = {1, 4096, 4096, 1024, 1, DLS_GROWS_ROWS}};
    const dls_kernel conv = {.family = DLS_KERNEL_CONV3,
                             .repeats = 1,
                             .flops = 2.0 * 56 * 56 * 9 * 256 * 256,
                             .product = {1, 56 * 56, 9 * 256, 256, 1, DLS_GROWS_ROWS},
                             .window = {56, 256, 256, 3, 3, 1, 56}};
    int mixed = 0;
    for (size_t g = 0; g < t->hw.n_gpus; g++) {
        const dls_rates fp32 = dls_opmodel_rates(&t->model, &t->hw.gpu[g], DLS_NUMERIC_FP32);
        const dls_rates tf32 = dls_opmodel_rates(&t->model, &t->hw.gpu[g], DLS_NUMERIC_TF32);
        mixed += tf32.has_vector;
        assert_true(dls_kernel_s(&matmul, &tf32, 32) <= 1.01 * dls_kernel_s(&matmul, &fp32, 32));
        assert_true(dls_kernel_s(&conv, &tf32, 32) <= 1.01 * dls_kernel_s(&conv, &fp32, 32));
    }
    assert_true(mixed > 20);
    assert_int_equal(dls_hardware_gpu(&t->hw, "H100", &h100, NULL), DLS_OK);
    assert_int_equal(dls_hardware_gpu(&t->hw, "H200", &h200, NULL), DLS_OK);
    for (int i = DLS_NUMERIC_FP32; i <= DLS_NUMERIC_TF32; i++) {
        const dls_rates one = dls_opmodel_rates(&t->model, h100, (dls_numeric)i);
        const dls_rates other = dls_opmodel_rates(&t->model, h200, (dls_numeric)i);
        const double s = dls_kernel_s(&matmul, &one, 32) / dls_kernel_s(&matmul, &other, 32);
        assert_true(s >= 1 && s < 1.2 && one.launch_s == other.launch_s);
    }
    unload(t);
}

/* GPUs that differ in memory or in NVLink compute alike. */
TEST(the_same_chip)
{
    tables *t = load();
    static const char *const pair[][2] = {
        {"V100", "V100-16GB"},      {"V100-PCIE", "V100-PCIE-32GB"}, {"A100-80GB", "A800-80GB"},
        {"H100-PCIE", "H800-PCIE"}, {"H100", "H800"},                {"A100-80GB-PCIE", "A800-80GB-PCIE"},
    };
    const dls_kernel matmul = {.family = DLS_KERNEL_MATMUL,
                               .repeats = 1,
                               .flops = 2.0 * 4096 * 1024 * 512,
                               .product = {1, 4096, 1024, 512, 1, DLS_GROWS_ROWS}};
    dls_kernel conv = matmul;
    conv.family = DLS_KERNEL_CONV1;
    conv.window = (dls_window){64, 1024, 512, 1, 1, 1, 64};
    for (size_t i = 0; i < sizeof pair / sizeof *pair; i++) {
        for (int n = 0; n < DLS_NUMERIC_COUNT; n++) {
            double s[2][2];
            for (int k = 0; k < 2; k++) {
                const dls_hw_gpu *gpu = NULL;
                assert_int_equal(dls_hardware_gpu(&t->hw, pair[i][k], &gpu, NULL), DLS_OK);
                const dls_rates r = dls_opmodel_rates(&t->model, gpu, (dls_numeric)n);
                s[k][0] = dls_kernel_s(&matmul, &r, 1);
                s[k][1] = dls_kernel_s(&conv, &r, 1);
            }
            assert_true(s[0][0] == s[1][0] && s[0][1] == s[1][1]);
        }
    }
    unload(t);
}

/* Where products of matrix units alone were measured, they are by size; convolutions, 1x1 too, and launches stay the
 * families', but for what a B200 has of an H100: who launches, and what goes number by number. A card of another
 * generation is lent nothing. */
TEST(products_alone)
{
    tables *t = load();
    static const char *const name[] = {"A100-80GB", "A800-80GB", "A40", "A6000", "B200", "GB200", "RTX3090", "L40S"};
    const dls_kernel matmul = {.family = DLS_KERNEL_MATMUL,
                               .repeats = 1,
                               .flops = 2.0 * 4096 * 4096 * 4096,
                               .product = {1, 4096, 4096, 4096, 1, DLS_GROWS_ROWS}};
    dls_kernel conv = matmul, narrow = matmul;
    conv.family = DLS_KERNEL_CONV1;
    conv.window = (dls_window){64, 4096, 4096, 1, 1, 1, 64};
    narrow.product.columns = 64;
    narrow.flops /= 64;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const dls_hw_gpu *gpu = NULL;
        assert_int_equal(dls_hardware_gpu(&t->hw, name[i], &gpu, NULL), DLS_OK);
        const dls_rates r = dls_opmodel_rates(&t->model, gpu, DLS_NUMERIC_BF16);
        const bool hopper = strstr(name[i], "B200") != NULL;
        assert_true(hopper ? r.launch_s < t->model.launch_s[DLS_NUMERIC_FP16] / 2
                           : r.launch_s == t->model.launch_s[DLS_NUMERIC_FP16]);
        const double wide_s = dls_kernel_s(&matmul, &r, 1) - r.launch_s;
        const double narrow_s = dls_kernel_s(&narrow, &r, 1) - r.launch_s;
        const double share = matmul.flops / wide_s / r.own.gpu.flops;
        const bool sized = fabs(wide_s / narrow_s / 64 - 1) > 0.01;
        assert_true(sized == (i < 6) && (!sized || (share > 0.6 && share < 0.9)));
        assert_true(fabs((dls_kernel_s(&conv, &r, 1) - r.launch_s) * r.own.flops[DLS_KERNEL_CONV1] / conv.flops - 1) <
                    1e-9);
    }
    unload(t);
}

/* A large product is no faster than the data sheet says, whatever convolutions gained on that GPU; a V100's least of all, whose
 * card's products reach the rate. */
TEST(products_within_the_rate)
{
    tables *t = load();
    const dls_kernel matmul = {.family = DLS_KERNEL_MATMUL,
                               .repeats = 1,
                               .flops = 2.0 * 8192 * 8192 * 8192,
                               .product = {1, 8192, 8192, 8192, 1, DLS_GROWS_ROWS}};
    for (size_t g = 0; g < t->hw.n_gpus; g++) {
        for (int numeric = DLS_NUMERIC_FP32; numeric <= DLS_NUMERIC_TF32; numeric++) {
            const dls_rates r = dls_opmodel_rates(&t->model, &t->hw.gpu[g], (dls_numeric)numeric);
            const double rate = matmul.flops / dls_kernel_s(&matmul, &r, 1);
            if (rate > 1.04 * r.own.gpu.flops) {
                fail_msg("%s, %s: %g of the rate", t->hw.gpu[g].name, dls_numeric_name(numeric), rate / r.own.gpu.flops);
            }
        }
    }
    unload(t);
}

/* 16 bits halve what is moved, also where vector units multiply: on no GPU a pass or a product
 * takes longer than in fp32. */
TEST(halves_without_units)
{
    tables *t = load();
    const dls_kernel pass = {.family = DLS_KERNEL_MEMORY, .repeats = 1, .moved = 1e8};
    const dls_kernel matmul = {.family = DLS_KERNEL_MATMUL,
                               .repeats = 1,
                               .flops = 2.0 * 4096 * 64 * 64,
                               .moved = 2 * 4096 * 64,
                               .product = {1, 4096, 64, 64, 1, DLS_GROWS_ROWS}};
    for (size_t g = 0; g < t->hw.n_gpus; g++) {
        if (strcmp(t->hw.gpu[g].name, "EPYC-CORE") != 0) { /* fitted in fp32 alone */
            const dls_rates fp32 = dls_opmodel_rates(&t->model, &t->hw.gpu[g], DLS_NUMERIC_FP32);
            const dls_rates fp16 = dls_opmodel_rates(&t->model, &t->hw.gpu[g], DLS_NUMERIC_FP16);
            assert_true(dls_kernel_s(&pass, &fp16, 32) < 0.6 * dls_kernel_s(&pass, &fp32, 32));
            assert_true(dls_kernel_s(&matmul, &fp16, 32) < dls_kernel_s(&matmul, &fp32, 32));
        }
    }
    unload(t);
}

/* Passes over memory are bound by what a multiprocessor moves where there is more bandwidth than
 * that: an H200's gain less from its memory than what goes number by number. */
TEST(passes_bound_by_multiprocessors)
{
    tables *t = load();
    for (int pass = DLS_PASS_ANY; pass < DLS_PASSES; pass++) {
        const dls_kernel k = {
            .family = DLS_KERNEL_MEMORY, .repeats = 1, .moved = 1e9, .pass = (uint8_t)pass};
        double h100 = 0;
        for (size_t g = 0; g < t->hw.n_gpus; g++) {
            const dls_hw_gpu *gpu = &t->hw.gpu[g];
            for (int sized = 0; sized < 2; sized++) {
                t->model.sized = sized ? &t->kernels : NULL;
                const dls_rates rates = dls_opmodel_rates(&t->model, gpu, DLS_NUMERIC_FP32);
                const double memory = 4e9 / rates.mem_bps;
                const double s = dls_kernel_s(&k, &rates, 1) / rates.derate - rates.launch_s;
                const bool bound = sized && gpu->tf32_flops > 0;
                assert_true(bound ? s > memory : fabs(s / memory - 1) < 1e-9);
                assert_true(s < memory + 4e9 / rates.own.gpu.multiprocessors / 10e9);
                h100 = sized && strcmp(gpu->name, "H100") == 0 ? s : h100;
                assert_true(!sized || strcmp(gpu->name, "H200") != 0 || (s < h100 && s > 0.7 * h100));
            }
        }
    }
    unload(t);
}

/* A batch norm of few channels that lie apart takes as long as a channel; a pool as long as the
 * numbers that it makes and looks at, on an H200 as on an H100. */
TEST(passes_bound_by_windows)
{
    tables *t = load();
    dls_kernel norm = {.family = DLS_KERNEL_MEMORY,
                       .repeats = 1,
                       .moved = 1e7,
                       .pass = DLS_PASS_BATCH_NORM,
                       .layout = DLS_LAYOUT_FIRST,
                       .window = {.in_c = 20}};
    dls_kernel pool = {
        .family = DLS_KERNEL_MEMORY,
        .repeats = 1,
        .moved = 1,
        .pass = DLS_PASS_POOL,
        .window = {.in_h = 56, .in_c = 64, .kernel_h = 3, .kernel_w = 3, .stride = 2, .out_h = 28}};
    dls_kernel apart = {
        .family = DLS_KERNEL_MEMORY, .repeats = 1, .moved = 2, .pass = DLS_PASS_SCATTERED, .window = {.in_c = 1000}};
    double forward[2] = {0}, turned[2] = {0};
    for (int h200 = 0; h200 < 2; h200++) {
        const dls_hw_gpu *gpu;
        assert_int_equal(dls_hardware_gpu(&t->hw, h200 ? "H200" : "H100", &gpu, NULL), DLS_OK);
        const dls_rates rates = dls_opmodel_rates(&t->model, gpu, DLS_NUMERIC_FP32);
        norm.layout = DLS_LAYOUT_FIRST;
        norm.window.in_c = 20;
        const double few = dls_kernel_s(&norm, &rates, 64) - rates.launch_s;
        norm.window.in_c = 10;
        assert_true(fabs((dls_kernel_s(&norm, &rates, 64) - rates.launch_s) / few - 2) < 1e-9);
        norm.layout = DLS_LAYOUT_LAST;
        assert_true(dls_kernel_s(&norm, &rates, 64) - rates.launch_s < few / 5);
        pool.backward = false;
        forward[h200] = dls_kernel_s(&pool, &rates, 64) - rates.launch_s;
        pool.backward = true; /* 4 times the numbers, each in 2.25 windows */
        const double back = dls_kernel_s(&pool, &rates, 64) - rates.launch_s;
        assert_true(fabs(back / forward[h200] - 4 * (1 + 0.15 * 2.25) / (1 + 0.15 * 9)) < 1e-9);
        turned[h200] = dls_kernel_s(&apart, &rates, 64) - rates.launch_s;
        apart.window.in_c *= 2;
        assert_true(fabs((dls_kernel_s(&apart, &rates, 64) - rates.launch_s) / turned[h200] - 2) < 1e-9);
        apart.window.in_c /= 2;
    }
    assert_true(forward[0] == forward[1] && turned[0] == turned[1]);
    unload(t);
}

/* A kernel that stands for another, as fast at any batch, on any GPU, is as fast as that. */
TEST(kernels_that_repeat)
{
    static const char *const models[] = {"resnet50", "bert_base", "efficientnet_b0", "lstm_lm", "gpt2"};
    tables *t = load();
    size_t n = 0, repeated = 0;
    for (size_t i = 0; i < 2 * sizeof models / sizeof models[0]; i++) {
        dls_model_names names = dls_model_lookup(models[i / 2]);
        names.runner = i % 2 ? DLS_RUN_EAGER : DLS_RUN_GRAPH;
        DLS_OWN(dls_workload_fini) dls_workload w = {0};
        assert_int_equal(dls_model_workload(&names, DLS_NUMERIC_FP16, &w, NULL), DLS_OK);
        double *s = calloc(w.n_kernels, sizeof *s);
        for (size_t g = 0; g < t->hw.n_gpus; g += 24) {
            const dls_rates rates = dls_opmodel_rates(&t->model, &t->hw.gpu[g], DLS_NUMERIC_FP16);
            (void)dls_step_kernels(&w, &rates, 24, s);
            for (size_t k = 0; k < w.n_kernels; k++) {
                assert_true(s[k] == dls_kernel_s(&w.kernel[k], &rates, 24));
            }
        }
        for (size_t k = 0; k < w.n_kernels; k++) {
            repeated += w.kernel[k].back > 0;
        }
        n += w.n_kernels;
        free(s);
    }
    assert_true(repeated > n / 2);
    unload(t);
}

/* Each of these is ahead of the one before in everything, and so computes a step as fast or faster, be it of many small
 * kernels or of few large ones. 6 %: kernels of different GPUs were measured by different people. */
TEST(newer_is_no_slower)
{
    tables *t = load();
    static const char *const order[] = {"P100", "V100", "A100-80GB", "H100", "H200", "B200", "GB200"};
    static const char *const models[] = {"lstm", "efficientnet_b0", "resnet50", "bert_base", "vit_b_16"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        for (int n = 0; n < DLS_NUMERIC_COUNT; n++) {
            const dls_model_names names = dls_model_lookup(models[i]);
            DLS_OWN(dls_workload_fini) dls_workload w = {0};
            assert_int_equal(dls_model_workload(&names, (dls_numeric)n, &w, NULL), DLS_OK);
            double before[2] = {(double)INFINITY, (double)INFINITY};
            for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
                const dls_hw_gpu *gpu = NULL;
                assert_int_equal(dls_hardware_gpu(&t->hw, order[k], &gpu, NULL), DLS_OK);
                if (dls_gpu_knows(gpu, (dls_numeric)n, NULL) != DLS_OK) {
                    continue;
                }
                const dls_rates rates = dls_opmodel_rates(&t->model, gpu, (dls_numeric)n);
                for (int b = 0; b < 2; b++) {
                    const double s = dls_step_time(&w, &rates, b ? 64 : 1).gpu_s;
                    assert_true(s > 0 && s <= 1.06 * before[b]);
                    before[b] = s;
                }
            }
        }
    }
    unload(t);
}
