/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The sized model: properties that its formulas must have whatever the constants, its file, rows of
 * measured kernels, and a fit that finds constants that are known.
 */

#include "predictor/measured/sized_fit.h"
#include "support/scratch.h"
#include "workload/operator/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *hardware_folder(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/configs/hardware", getenv("DLSIM_SOURCE"));
    return path;
}

typedef struct tables {
    dls_hardware hw;
    dls_sized_table kernels;
} tables;

static tables load(void)
{
    char path[4200];
    tables t;
    snprintf(path, sizeof path, "%s/kernels.cfg", hardware_folder());
    assert_int_equal(dls_hardware_load(hardware_folder(), &t.hw, NULL), DLS_OK);
    assert_int_equal(dls_sized_table_load(path, &t.kernels, NULL), DLS_OK);
    return t;
}

static void unload(tables *t)
{
    dls_sized_table_fini(&t->kernels);
    dls_hardware_fini(&t->hw);
}

/* A kernel of a family for `batch` samples. */
static dls_sized_kernel sample(int family, double batch)
{
    dls_sized_kernel k = {.family = (dls_sized_family)family, .passes = 3};
    switch (family) {
    case DLS_SIZED_LINEAR:
    case DLS_SIZED_LINEAR_RAGGED:
        k.b = 1;
        k.m = 197 * batch;
        k.n = 768;
        k.k = 3072;
        break;
    case DLS_SIZED_BMM:
    case DLS_SIZED_BMM_RAGGED:
        k.b = 12 * batch;
        k.m = k.k = 197;
        k.n = 64;
        break;
    case DLS_SIZED_ATTENTION:
        k.b = 12 * batch;
        k.m = k.n = 197;
        k.k = 64;
        break;
    case DLS_SIZED_CONV:
        k.batch = batch;
        k.in_c = 128;
        k.out_c = 130;
        k.in_h = k.in_w = k.out_h = k.out_w = 28;
        k.kernel_h = k.kernel_w = 3;
        k.stride = 1;
        break;
    default:
        k.rows = 197 * batch;
        k.width = 768;
        break;
    }
    return k;
}

/* More samples never take less time; twice as many at most 2.1 times as long, in a step; alone,
 * what a clock that sinks adds; a GPU has an answer for every family, in fp32. */
TEST(time_grows_with_the_batch)
{
    tables t = load();
    for (size_t g = 0; g < t.hw.n_gpus; g++) {
        for (int i = 0; i < DLS_SIZED_NUMERICS * DLS_SIZED_FAMILIES; i++) {
            const int f = i % DLS_SIZED_FAMILIES;
            const dls_numeric numeric = (dls_numeric)(i / DLS_SIZED_FAMILIES);
            const dls_sized_pair by =
                dls_sized_table_for(&t.kernels, &t.hw.gpu[g], (dls_sized_family)f, numeric);
            dls_sized_gpu gpu = dls_sized_gpu_of(&t.hw.gpu[g], numeric);
            if (!by.row && (numeric != DLS_NUMERIC_FP32 || !*t.hw.gpu[g].kernels_like ||
                            f == DLS_SIZED_ATTENTION)) {
                continue; /* no GPU, but a core of a processor */
            }
            assert_non_null(by.row);
            double last[2] = {0, 0};
            for (double batch = 1; batch <= 4096; batch *= 2) {
                const dls_sized_kernel k = sample(f, batch);
                for (int alone = 0; alone < 2; alone++) {
                    gpu.alone = alone;
                    const double s = dls_sized_pair_s(&k, by, &gpu);
                    assert_true(s > 0 && s < 1e3);
                    assert_true(s >= last[alone] * (1 - 1e-12));
                    if (last[alone] > 0 && !alone && s > 2.1 * last[alone]) {
                        fail_msg("%s, %s, %g samples: %g s, half of them %g s", t.hw.gpu[g].name,
                                 dls_sized_family_name(f), batch, s, last[alone]);
                    }
                    last[alone] = s;
                }
            }
            assert_true(last[1] > 0);
        }
    }
    unload(&t);
}

/* What was measured of an H100 in fp32 and 16 bits is its own. */
TEST(constants_of_its_own)
{
    tables t = load();
    for (int f = 0; f < DLS_SIZED_FAMILIES; f++) {
        const bool ragged = f == DLS_SIZED_LINEAR_RAGGED || f == DLS_SIZED_BMM_RAGGED;
        for (int half = f == DLS_SIZED_ATTENTION; half < 2 && !ragged; half++) {
            assert_non_null(dls_sized_table_find(&t.kernels, "H100", (dls_sized_family)f,
                                                 half ? DLS_NUMERIC_FP16 : DLS_NUMERIC_FP32));
        }
    }
    unload(&t);
}

/* Matrix units take channels by the block; in tf32 an image is transposed for them but for 1x1. */
TEST(convolutions_of_matrix_units)
{
    tables t = load();
    const dls_hw_gpu *h100 = NULL;
    dls_sized_kernel k = {.family = DLS_SIZED_CONV, .batch = 64, .out_c = 1024};
    k.in_h = k.in_w = k.out_h = k.out_w = 14;
    k.kernel_h = k.kernel_w = 3;
    k.stride = 1;
    assert_int_equal(dls_hardware_gpu(&t.hw, "H100", &h100, NULL), DLS_OK);
    for (int i = 0; i < DLS_SIZED_NUMERICS; i++) {
        const dls_numeric numeric = (dls_numeric)i;
        const dls_sized_row *row =
            dls_sized_table_find(&t.kernels, "H100", DLS_SIZED_CONV, numeric);
        const dls_sized_gpu gpu = dls_sized_gpu_of(h100, numeric);
        assert_non_null(row);
        k.in_c = 33;
        const double few = dls_sized_s(&k, row, &gpu);
        k.in_c = 64;
        const double many = dls_sized_s(&k, row, &gpu);
        assert_true(numeric == DLS_NUMERIC_FP32 ? many > 1.3 * few : many < 1.15 * few);
        const double turned = dls_sized_turned_s(&k, row, &gpu);
        assert_true(numeric == DLS_NUMERIC_TF32 ? turned > 0 : turned == 0);
        /* Few images and a large window: older kernels, that are for less than 256 channels, do not
         * share the sum. */
        dls_sized_kernel wide = k;
        wide.batch = 4;
        wide.kernel_h = wide.kernel_w = 5;
        wide.in_c = 255;
        const double older = dls_sized_s(&wide, row, &gpu);
        wide.in_c = 256;
        assert_true((older > 1.2 * dls_sized_s(&wide, row, &gpu)) == (numeric != DLS_NUMERIC_FP32));
        /* Three channels are for vector units. */
        dls_sized_gpu slow = gpu;
        slow.vector_flops *= 0.5;
        wide.in_c = 3;
        assert_true((dls_sized_s(&wide, row, &slow) > dls_sized_s(&wide, row, &gpu)) ==
                    (numeric == DLS_NUMERIC_TF32));
    }
    k.kernel_h = k.kernel_w = 1; /* of its weights */
    const dls_sized_gpu gpu = dls_sized_gpu_of(h100, DLS_NUMERIC_TF32);
    assert_true(dls_sized_turned_s(
                    &k, dls_sized_table_find(&t.kernels, "H100", DLS_SIZED_CONV, DLS_NUMERIC_TF32),
                    &gpu) == 0);
    unload(&t);
}

/* Of matrix units a convolution that sees one pixel is a product, in tf32 for each image, and a
 * batch more or less changes no kernel. */
TEST(convolutions_that_are_products)
{
    const dls_sized_kernel one = {.family = DLS_SIZED_CONV,
                                  .batch = 3,
                                  .in_c = 64,
                                  .out_c = 128,
                                  .out_h = 7,
                                  .out_w = 7,
                                  .kernel_h = 1,
                                  .kernel_w = 1,
                                  .stride = 1};
    dls_sized_kernel k = one;
    assert_false(dls_sized_as_product(&k, DLS_NUMERIC_FP32));
    assert_true(dls_sized_as_product(&k, DLS_NUMERIC_FP16));
    assert_true(k.family == DLS_SIZED_LINEAR && k.b == 1 && k.m == 147 && k.n == 64 && k.k == 128);
    k = one;
    assert_true(dls_sized_as_product(&k, DLS_NUMERIC_TF32));
    assert_true(k.family == DLS_SIZED_BMM && k.b == 3 && k.m == 128 && k.k == 49);
    for (int other = 0; other < 3; other++) {
        k = one;
        *(other == 0 ? &k.kernel_w : other == 1 ? &k.stride : &k.groups) = 2;
        assert_false(dls_sized_as_product(&k, DLS_NUMERIC_TF32) || k.family != DLS_SIZED_CONV);
    }
}

/* Of matrix units rows of memory that fill no vectors of 16 bytes are slow, those of an odd length
 * slower; a row of no length fills them. */
TEST(products_of_odd_rows)
{
    tables t = load();
    const dls_hw_gpu *h100 = NULL;
    assert_int_equal(dls_hardware_gpu(&t.hw, "H100", &h100, NULL), DLS_OK);
    for (int i = 0; i < DLS_SIZED_NUMERICS; i++) {
        const dls_numeric numeric = (dls_numeric)i;
        const dls_sized_row *row =
            dls_sized_table_find(&t.kernels, "H100", DLS_SIZED_LINEAR, numeric);
        const dls_sized_gpu gpu = dls_sized_gpu_of(h100, numeric);
        const double length[] = {0, 50256, 50254, 50257};
        double s[4];
        for (int l = 0; l < 4; l++) {
            const dls_sized_kernel k = {.family = DLS_SIZED_LINEAR,
                                        .b = 1,
                                        .m = 4096,
                                        .n = 768,
                                        .k = 50257,
                                        .row_n = 768,
                                        .row_k = length[l]};
            s[l] = dls_sized_s(&k, row, &gpu);
        }
        assert_true(s[0] == s[1]);
        assert_true(numeric == DLS_NUMERIC_FP32 ? s[3] == s[0] : fmin(s[2], s[3]) > 1.5 * s[0]);
        assert_true(numeric != DLS_NUMERIC_FP16 || s[3] > 1.5 * s[2]);
        assert_true(dls_sized_product_family(true, 64, 64, 197, numeric) ==
                    (numeric == DLS_NUMERIC_FP32 ? DLS_SIZED_BMM_RAGGED : DLS_SIZED_BMM));
    }
    unload(&t);
}

/* What is read and written once takes at least the bandwidth's time, whatever the constants: rows
 * and elements of any size that no cache holds, on every GPU. */
TEST(passes_within_the_bandwidth)
{
    tables t = load();
    for (size_t g = 0; g < t.hw.n_gpus; g++) {
        dls_sized_gpu gpu = dls_sized_gpu_of(&t.hw.gpu[g], DLS_NUMERIC_FP32);
        gpu.alone = false;
        for (int f = DLS_SIZED_NORM; f <= DLS_SIZED_ELEMENTS; f++) {
            const dls_sized_pair by = dls_sized_table_for(&t.kernels, &t.hw.gpu[g],
                                                          (dls_sized_family)f, DLS_NUMERIC_FP32);
            for (double width = 8; width <= 65536; width *= 4) {
                const dls_sized_kernel k = {.family = (dls_sized_family)f,
                                            .rows = 1e9 / width,
                                            .width = width,
                                            .passes = 2};
                assert_true(!by.row || dls_sized_pair_s(&k, by, &gpu) >= 8e9 / gpu.mem_bps);
            }
        }
    }
    unload(&t);
}

/* A launch costs an H100 what its shortest kernels took, others and an H100 of which nothing is
 * known what is fitted for all. In 16 bits a head over 50,257 words is slow forward, its gradients
 * are not; in tf32 all are. */
TEST(launches_and_heads)
{
    tables t = load();
    const dls_hw_gpu *h100 = NULL, *a100 = NULL;
    dls_opmodel model;
    dls_sized_table table = {0};
    assert_int_equal(dls_hardware_gpu(&t.hw, "H100", &h100, NULL), DLS_OK);
    assert_int_equal(dls_hardware_gpu(&t.hw, "A100", &a100, NULL), DLS_OK);
    assert_int_equal(dls_opmodel_of(hardware_folder(), &table, &model, NULL), DLS_OK);
    for (int i = DLS_NUMERIC_FP32; i <= DLS_NUMERIC_TF32; i++) {
        const dls_numeric numeric = (dls_numeric)i;
        const dls_rates rates = dls_opmodel_rates(&model, h100, numeric);
        const double all = model.launch_s[dls_gpu_multiplies_in(h100, numeric)];
        assert_true(rates.launch_s > 2e-6 && rates.launch_s < 0.7 * all);
        assert_true(dls_opmodel_rates(&model, a100, numeric).launch_s == all);
        double s[2][2];
        for (int back = 0; back < 2; back++) {
            for (int odd = 0; odd < 2; odd++) {
                const dls_kernel k = {.family = DLS_KERNEL_MATMUL,
                                      .repeats = 1,
                                      .backward = (uint8_t)back,
                                      .product = {1, 4096, 768, 50256 + odd, 1, DLS_GROWS_ROWS}};
                s[back][odd] = dls_kernel_s(&k, &rates, 1);
            }
        }
        const bool half = numeric == DLS_NUMERIC_FP16 || numeric == DLS_NUMERIC_BF16;
        assert_true((s[0][1] > 1.5 * s[0][0]) == (numeric != DLS_NUMERIC_FP32));
        /* In tf32 gradients' operands do not lie along the sum. */
        assert_true(half ? s[1][1] < 1.01 * s[1][0]
                         : (s[1][1] > 1.05 * s[0][1]) == (numeric == DLS_NUMERIC_TF32) && s[1][1] >= s[0][1]);
    }
    dls_opmodel_forget(&model, &table, "H100");
    assert_true(dls_opmodel_rates(&model, h100, DLS_NUMERIC_FP16).launch_s ==
                model.launch_s[DLS_NUMERIC_FP16]);
    dls_sized_table_fini(&table);
    unload(&t);
}

/* A GPU without own constants takes those of the first relative that has the family; a family that
 * lacks one alignment takes the other. */
TEST(relatives)
{
    dls_sized_table t = {0};
    dls_sized_row a = {.gpu = "A", .family = DLS_SIZED_BMM};
    dls_sized_row b = {.gpu = "B", .family = DLS_SIZED_SOFTMAX};
    const dls_hw_gpu gpu = {.name = "C", .kernels_like = "A B"};
    assert_int_equal(dls_sized_table_put(&t, &a, NULL), DLS_OK);
    assert_int_equal(dls_sized_table_put(&t, &b, NULL), DLS_OK);
    assert_string_equal(dls_sized_table_for(&t, &gpu, DLS_SIZED_BMM, DLS_NUMERIC_FP32).row->gpu,
                        "A");
    assert_string_equal(
        dls_sized_table_for(&t, &gpu, DLS_SIZED_BMM_RAGGED, DLS_NUMERIC_FP32).row->gpu, "A");
    assert_string_equal(dls_sized_table_for(&t, &gpu, DLS_SIZED_SOFTMAX, DLS_NUMERIC_FP32).row->gpu,
                        "B");
    assert_null(dls_sized_table_for(&t, &gpu, DLS_SIZED_CONV, DLS_NUMERIC_FP32).row);
    /* Of matrix units those of its generation lend. */
    assert_null(dls_sized_table_for(&t, &gpu, DLS_SIZED_BMM, DLS_NUMERIC_FP16).row);
    a.numeric = DLS_NUMERIC_FP16;
    assert_int_equal(dls_sized_table_put(&t, &a, NULL), DLS_OK);
    assert_null(dls_sized_table_for(&t, &gpu, DLS_SIZED_BMM, DLS_NUMERIC_FP16).row);
    const dls_hw_gpu kin = {.name = "D", .matrix_like = "A", .kernels_clock = 0.5};
    const dls_sized_pair lent = dls_sized_table_for(&t, &kin, DLS_SIZED_BMM, DLS_NUMERIC_FP16);
    assert_string_equal(lent.row->gpu, "A");
    assert_true(lent.clock == 1);
    snprintf(a.gpu, sizeof a.gpu, "C");
    assert_int_equal(dls_sized_table_put(&t, &a, NULL), DLS_OK);
    assert_string_equal(dls_sized_table_for(&t, &gpu, DLS_SIZED_BMM, DLS_NUMERIC_FP16).row->gpu,
                        "C");
    assert_string_equal(dls_sized_table_for(&t, &gpu, DLS_SIZED_BMM, DLS_NUMERIC_FP32).row->gpu,
                        "A");
    dls_sized_table_fini(&t);
    assert_true(dls_sized_aligned(512, 1024, 30522));
    assert_true(dls_sized_aligned(196, 64, 196));
    assert_false(dls_sized_aligned(196, 64, 197));
    assert_false(dls_sized_aligned(100, 30, 30));
}

/* A GPU between two relatives takes the mean of both, or the one that is known; its own before
 * either. */
TEST(between_two)
{
    tables t = load();
    const dls_sized_kernel k = sample(DLS_SIZED_LINEAR, 64);
    const dls_hw_gpu *card = NULL;
    assert_int_equal(dls_hardware_gpu(&t.hw, "P100-PCIE", &card, NULL), DLS_OK);
    const dls_sized_gpu how = dls_sized_gpu_of(card, DLS_NUMERIC_FP32);
    dls_hw_gpu gpu = *card;
    double s[2] = {0, 0};
    snprintf(gpu.name, sizeof gpu.name, "NEW");
    const char *const like[] = {"V100-PCIE", "P4", "NONE V100-PCIE+P4 H100", "NONE+P4 H100"};
    for (int i = 0; i < 4; i++) {
        snprintf(gpu.kernels_like, sizeof gpu.kernels_like, "%s", like[i]);
        const dls_sized_pair by =
            dls_sized_table_for(&t.kernels, &gpu, DLS_SIZED_LINEAR, DLS_NUMERIC_FP32);
        const double took = dls_sized_pair_s(&k, by, &how);
        if (i < 2) {
            s[i] = took;
        } else {
            assert_true(fabs(took / (i == 2 ? sqrt(s[0] * s[1]) : s[1]) - 1) < 1e-12);
        }
    }
    assert_true(fabs(s[0] / s[1] - 1) > 0.01);
    snprintf(gpu.name, sizeof gpu.name, "P4");
    snprintf(gpu.kernels_like, sizeof gpu.kernels_like, "V100-PCIE+H100");
    const dls_sized_pair own =
        dls_sized_table_for(&t.kernels, &gpu, DLS_SIZED_LINEAR, DLS_NUMERIC_FP32);
    assert_string_equal(own.row->gpu, "P4");
    assert_null(own.other);
    unload(&t);
}

/* Another chip with a relative's constants has all usual tiles for batches of whole vectors, so
 * that half a tile is not wasted; another board of the chip has those that were seen. */
TEST(usual_tiles_of_another_chip)
{
    tables t = load();
    dls_sized_kernel k = sample(DLS_SIZED_BMM, 64);
    const dls_hw_gpu *card = NULL;
    assert_int_equal(dls_hardware_gpu(&t.hw, "A100-PCIE", &card, NULL), DLS_OK);
    const dls_sized_gpu how = dls_sized_gpu_of(card, DLS_NUMERIC_FP32);
    dls_hw_gpu gpu = *card;
    k.b = 4096;
    k.m = 64;
    k.n = k.k = 1024;
    const double own = dls_sized_pair_s(
        &k, dls_sized_table_for(&t.kernels, card, DLS_SIZED_BMM, DLS_NUMERIC_FP32), &how);
    snprintf(gpu.kernels_like, sizeof gpu.kernels_like, "A100-PCIE");
    snprintf(gpu.name, sizeof gpu.name, "A100-96GB");
    dls_sized_pair by = dls_sized_table_for(&t.kernels, &gpu, DLS_SIZED_BMM, DLS_NUMERIC_FP32);
    assert_false(by.lent);
    assert_true(dls_sized_pair_s(&k, by, &how) == own);
    snprintf(gpu.name, sizeof gpu.name, "B100");
    by = dls_sized_table_for(&t.kernels, &gpu, DLS_SIZED_BMM, DLS_NUMERIC_FP32);
    assert_true(by.lent);
    assert_true(dls_sized_pair_s(&k, by, &how) < 0.75 * own);
    unload(&t);
}

/* Factors of whole steps are for GPUs whose own kernels nobody measured. */
TEST(factors_of_relatives_alone)
{
    static dls_opmodel m;
    tables t = load();
    dls_sized_table kernels;
    const dls_hw_gpu *gpu = NULL;
    assert_int_equal(dls_opmodel_of(hardware_folder(), &kernels, &m, NULL), DLS_OK);
    assert_int_equal(dls_hardware_gpu(&t.hw, "V100-PCIE", &gpu, NULL), DLS_OK);
    dls_rates r = dls_opmodel_rates(&m, gpu, DLS_NUMERIC_FP32);
    assert_true(r.own.clock[DLS_SIZED_LINEAR] == 1);
    assert_int_equal(dls_hardware_gpu(&t.hw, "V100", &gpu, NULL), DLS_OK);
    r = dls_opmodel_rates(&m, gpu, DLS_NUMERIC_FP32);
    assert_string_equal(r.own.sized[DLS_SIZED_LINEAR].row->gpu, "V100-PCIE");
    /* Its card's products reach the data sheet's rate, its convolutions do not. */
    assert_true(r.own.clock[DLS_SIZED_LINEAR] == 1 && r.own.clock[DLS_SIZED_CONV] > 1.05);
    /* like_fp32, V100: of a board and its card for the A100, of another generation for the H200 */
    const double board = r.own.clock[DLS_SIZED_CONV];
    assert_int_equal(dls_hardware_gpu(&t.hw, "A100", &gpu, NULL), DLS_OK);
    r = dls_opmodel_rates(&m, gpu, DLS_NUMERIC_FP32);
    assert_string_equal(r.own.sized[DLS_SIZED_LINEAR].row->gpu, "A100-PCIE");
    assert_true(r.own.clock[DLS_SIZED_LINEAR] == board);
    assert_int_equal(dls_hardware_gpu(&t.hw, "H200", &gpu, NULL), DLS_OK);
    r = dls_opmodel_rates(&m, gpu, DLS_NUMERIC_FP32);
    assert_true(r.own.clock[DLS_SIZED_LINEAR] == 1);
    dls_sized_table_fini(&kernels);
    unload(&t);
}

TEST(file_round_trip)
{
    tables t = load();
    dls_sized_table again;
    char path[64];
    snprintf(path, sizeof path, "kernels-%ld.cfg", (long)getpid());
    assert_int_equal(dls_sized_table_save(&t.kernels, path, NULL), DLS_OK);
    assert_int_equal(dls_sized_table_load(path, &again, NULL), DLS_OK);
    unlink(path);
    assert_int_equal(again.n, t.kernels.n);
    assert_memory_equal(again.row, t.kernels.row, again.n * sizeof *again.row);
    dls_sized_table_fini(&again);
    unload(&t);
}

TEST(bad_rows_are_refused)
{
    static const struct {
        const char *row, *says;
    } cases[] = {{"V100-PCIE,bmm,2,3,4,5,0", ":2:23"},
                 {"V100-PCIE,bmm,2,3,4,5,nan", ":2:23"},
                 {"V100-PCIE,bmm,2,3,4,5,-1", ":2:23"},
                 {"V1000,bmm,2,3,4,5,1", ":2:1"},
                 {"V100-PCIE,outer,2,3,4,5,1", ":2:11"},
                 {"V100-PCIE,bmm,2,0,4,5,1", ":2:17"},
                 {"V100-PCIE,conv,2,3,4,5,1", "sizes are missing"}};
    char path[64], text[256];
    tables t = load();
    snprintf(path, sizeof path, "rows-%ld.csv", (long)getpid());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        DLS_OWN(dls_measured_kernels_fini) dls_measured_kernels rows = {0};
        snprintf(text, sizeof text, "gpu,op,b,m,n,k,latency_ms\n%s\n", cases[i].row);
        write_file(path, text);
        assert_int_equal(dls_measured_kernels_read(&rows, path, &t.hw, NULL, NULL), DLS_OK);
        assert_int_equal(rows.n, 0);
        assert_int_equal(rows.bad.n, 1);
        if (!strstr(rows.bad.at[0].text, cases[i].says)) {
            fail_msg("%s: %s", cases[i].row, rows.bad.at[0].text);
        }
    }
    unlink(path);
    unload(&t);
}

/* Names of kernels tell tiles; one shape in about five judges, whatever the GPU. */
TEST(rows_are_read)
{
    char path[64];
    tables t = load();
    dls_measured_kernels rows = {0};
    snprintf(path, sizeof path, "rows-%ld.csv", (long)getpid());
    write_file(path, "gpu,op,b,m,n,k,latency_ms,kernel\n"
                     "H100-SXM,linear,1,512,64,128,0.5,x_tilesize128x256x8_stage3\n"
                     "T4,linear,1,512,64,128,0.25,volta_sgemm_32x128_tn\n");
    assert_int_equal(dls_measured_kernels_read(&rows, path, &t.hw, NULL, NULL), DLS_OK);
    write_file(path,
               "gpu,op,batch,channels_in,channels_out,kernel_size,image,stride,padding,latency_ms,"
               "kernel,all_kernels\n"
               "T4,conv,2,3,4,3,8,1,1,0.25,a_winograd_128x128_relu_tile148t_nt_v1,b\n"
               "T4,conv,2,3,4,5,8,2,0,0.25,a_sgemm_64x32_nn,winogradforwarddata4x4+b\n");
    assert_int_equal(dls_measured_kernels_read(&rows, path, &t.hw, NULL, NULL), DLS_OK);
    unlink(path);
    assert_int_equal(rows.n, 4);
    assert_true(rows.row[0].judge == rows.row[1].judge);
    assert_true(rows.row[0].tile.m == 128 && rows.row[0].tile.n == 256);
    assert_true(rows.row[1].tile.m == 32 && rows.row[1].tile.n == 128);
    assert_true(rows.row[1].seconds == 0.25e-3 && rows.row[1].work.family == DLS_SIZED_LINEAR);
    assert_true(rows.row[2].tile_list == 1 && rows.row[2].tile.z == 1);
    assert_true(rows.row[2].tile.m == 8 && rows.row[2].tile.n == 16);
    assert_true(rows.row[3].tile_list == 2 && rows.row[3].work.out_h == 2);
    dls_measured_kernels_fini(&rows);
    unload(&t);
}

/* Rows that the formula itself made: the fit says of others what made them, within half a per cent
 * in the median. */
TEST(fit_finds_what_made_the_rows)
{
    tables t = load();
    dls_measured_kernels rows = {0};
    dls_sized_table fitted = {0};
    const dls_hw_gpu *card;
    assert_int_equal(dls_hardware_gpu(&t.hw, "T4", &card, NULL), DLS_OK);
    const dls_sized_row *made =
        dls_sized_table_find(&t.kernels, "T4", DLS_SIZED_BMM_RAGGED, DLS_NUMERIC_FP32);
    const dls_sized_gpu how = dls_sized_gpu_of(card, DLS_NUMERIC_FP32);
    const size_t n = 600;
    rows.row = calloc(n, sizeof *rows.row);
    rows.n = n;
    assert_non_null(rows.row);
    uint32_t seed = 1;
    for (size_t i = 0; i < n; i++) {
        double size[4];
        for (int k = 0; k < 4; k++) {
            seed = seed * 1664525u + 1013904223u;
            size[k] = 1 + floor(500 * (seed >> 8) / 16777216.0);
        }
        dls_measured_kernel *row = &rows.row[i];
        row->work = (dls_sized_kernel){
            .family = DLS_SIZED_BMM_RAGGED, .b = size[0], .m = size[1], .n = size[2], .k = size[3]};
        row->gpu = card;
        row->seconds = dls_sized_s(&row->work, made, &how);
        row->judge = i % 5 == 0;
        row->tile = made->tile[0][i % made->n_tiles[0]];
    }
    assert_int_equal(dls_sized_fit(&rows, &t.hw, NULL, &fitted, NULL), DLS_OK);
    assert_int_equal(fitted.n, 1);
    size_t good = 0;
    for (size_t i = 0; i < n; i += 5) {
        good += fabs(dls_measured_sized_s(&fitted, &rows.row[i]) / rows.row[i].seconds - 1) < 5e-3;
    }
    assert_true(good > n / 10);
    dls_sized_table none = {0};
    assert_int_equal(dls_sized_fit(&rows, &t.hw, card, &none, NULL), DLS_EINPUT);
    dls_sized_table_fini(&fitted);
    free(rows.row);
    unload(&t);
}
