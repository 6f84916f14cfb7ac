/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Convolutions of groups: which of them are unlike others, what their time grows with,
 * and the file of the constants.
 */
#include "support/scratch.h"
#include "workload/operator/groupconv.h"

#include <math.h>
#include <string.h>

static const dls_groupconv some = {
    {[DLS_GROUPCONV_DEPTHWISE_LAST] = 0.25,   [DLS_GROUPCONV_DEPTHWISE_FIRST] = 0.5,
     [DLS_GROUPCONV_MEMORY_LAST] = 0.05,      [DLS_GROUPCONV_MEMORY_FIRST] = 0.25,
     [DLS_GROUPCONV_COMPUTE_LAST] = 0.1,      [DLS_GROUPCONV_COMPUTE_FIRST] = 1,
     [DLS_GROUPCONV_NARROW] = 5,              [DLS_GROUPCONV_DEPTHWISE] = 0.5,
     [DLS_GROUPCONV_DEPTHWISE_OUTPUT] = 18,   [DLS_GROUPCONV_DEPTHWISE_FORWARD] = 0.1,
     [DLS_GROUPCONV_DEPTHWISE_DATA] = 0.05,   [DLS_GROUPCONV_DEPTHWISE_WEIGHT] = 0.02,
     [DLS_GROUPCONV_TF32] = 0.2,              [DLS_GROUPCONV_TF32_BLOCK] = 0.1,
     [DLS_GROUPCONV_TF32_CALL] = 15,          [DLS_GROUPCONV_TF32_GRADIENT] = 2,
     [DLS_GROUPCONV_TF32_GRADIENT_CALL] = 20, [DLS_GROUPCONV_FP32] = 0.5,
     [DLS_GROUPCONV_FP32_BLOCK] = 0.1,        [DLS_GROUPCONV_FP32_CALL] = 30,
     [DLS_GROUPCONV_FP32_GRADIENT] = 3,       [DLS_GROUPCONV_FP32_GRADIENT_CALL] = 40,
     [DLS_GROUPCONV_V9_DEPTHWISE] = 0.5,      [DLS_GROUPCONV_V9_FORWARD] = 0.5,
     [DLS_GROUPCONV_V9_DATA] = 0.1,           [DLS_GROUPCONV_V9_WEIGHT] = 0.2,
     [DLS_GROUPCONV_V9_BLOCK] = 0.1,          [DLS_GROUPCONV_V9_BLOCK_WEIGHT] = 0.05,
     [DLS_GROUPCONV_V9_CALL] = 5,             [DLS_GROUPCONV_V9_TURN] = 0.01,
     [DLS_GROUPCONV_V9_TURN_ODD] = 0.002,     [DLS_GROUPCONV_V9_TURN_CALL] = 7,
     [DLS_GROUPCONV_V9_DENSE] = 0.2}};

static double seconds(int32_t groups, int32_t in, int32_t out, dls_layout layout, int part)
{
    const dls_kernel k = {.count = groups,
                          .flops = 1e9,
                          .window = {.in_c = in, .out_c = out, .out_h = 56},
                          .layout = (uint8_t)layout,
                          .part = (uint8_t)part};
    return dls_groupconv_s(&some, &k, 2, 1e6, 1e12, 1e13);
}

TEST(who_is_unlike)
{
    const dls_groupconv nothing = {{0}};
    const dls_kernel k = {
        .count = 2, .window = {.in_c = 32, .out_c = 32}, .layout = DLS_LAYOUT_LAST};
    assert_true(dls_groupconv_s(&nothing, &k, 1, 1, 1, 1) == 0);
    assert_true(seconds(1, 64, 64, DLS_LAYOUT_LAST, DLS_PART_FORWARD) == 0);
    assert_true(seconds(2, 32, 32, DLS_LAYOUT_UNKNOWN, DLS_PART_FORWARD) == 0);
    /* ResNeXt-50's, which has kernels of matrix units with channels last alone */
    assert_true(seconds(32, 128, 128, DLS_LAYOUT_LAST, DLS_PART_FORWARD) == 0);
    assert_true(seconds(32, 128, 128, DLS_LAYOUT_FIRST, DLS_PART_FORWARD) > 0);
    /* as many channels a group in fewer groups; 12 channels; twice as many out as in */
    assert_true(seconds(24, 384, 384, DLS_LAYOUT_LAST, DLS_PART_FORWARD) > 0);
    assert_true(seconds(32, 384, 384, DLS_LAYOUT_LAST, DLS_PART_FORWARD) > 0);
    assert_true(seconds(64, 256, 512, DLS_LAYOUT_LAST, DLS_PART_FORWARD) > 0);
}

static void near(double is, double expected)
{
    assert_true(fabs(is / expected - 1) < 1e-12);
}

TEST(how_long)
{
    /* bytes and flops, 1e6 and 2e9, over 1e12 and 1e13 a second, by their shares */
    near(seconds(2, 32, 32, DLS_LAYOUT_LAST, DLS_PART_DATA), 20e-6 + 2e-3);
    near(seconds(2, 32, 32, DLS_LAYOUT_FIRST, DLS_PART_DATA), 4e-6 + 2e-4);
    /* depthwise: bytes alone */
    near(seconds(64, 64, 64, DLS_LAYOUT_LAST, DLS_PART_WEIGHT), 4e-6);
    near(seconds(64, 64, 64, DLS_LAYOUT_FIRST, DLS_PART_WEIGHT), 2e-6);
    /* few channels, apart: a block for each weight, over all pixels of 2 images */
    const double narrow = 2. * 56 * 56 * 5e-9;
    near(seconds(16, 16, 16, DLS_LAYOUT_FIRST, DLS_PART_WEIGHT), 2e-6 + narrow);
    near(seconds(16, 16, 16, DLS_LAYOUT_FIRST, DLS_PART_DATA), 2e-6);
    near(seconds(16, 16, 16, DLS_LAYOUT_LAST, DLS_PART_WEIGHT), 4e-6);
}

static double seconds9(int32_t groups, int32_t in, int32_t out, dls_layout layout,
                       dls_kernel_part part)
{
    const dls_kernel k = {.count = groups,
                          .flops = 1e9,
                          .window = {.in_c = in, .out_c = out, .stride = 2},
                          .layout = (uint8_t)layout,
                          .part = (uint8_t)part};
    return dls_groupconv9_s(&some, &k, 2, 1e6, 1e12, 1e13, 1e14);
}

TEST(by_cudnn_9)
{
    assert_true(seconds9(1, 64, 64, DLS_LAYOUT_LAST, DLS_PART_FORWARD) == 0);
    assert_true(seconds9(8, 64, 64, DLS_LAYOUT_FIRST, DLS_PART_FORWARD) == 0);
    /* No fast kernel: 24 and 128 a group, not as many out as in. A call of 7 us, 5e5 numbers turned
     * and 2e9 flops over 1e14. */
    near(seconds9(8, 192, 192, DLS_LAYOUT_LAST, DLS_PART_DATA), 7e-6 + 25e-6 + 1e-4);
    near(seconds9(8, 1024, 1024, DLS_LAYOUT_LAST, DLS_PART_FORWARD), 7e-6 + 5e-6 + 1e-4);
    near(seconds9(8, 64, 128, DLS_LAYOUT_LAST, DLS_PART_WEIGHT), 7e-6 + 5e-6 + 1e-4);
    near(seconds9(8, 64, 192, DLS_LAYOUT_LAST, DLS_PART_FORWARD), 7e-6 + 25e-6 + 1e-4);
    /* A call of 5 us; 1e6 bytes over 1e12 a second and 2e9 flops over 1e13, by their shares. */
    near(seconds9(64, 64, 64, DLS_LAYOUT_LAST, DLS_PART_FORWARD), 5e-6 + 2e-6 + 4e-4);
    near(seconds9(64, 64, 64, DLS_LAYOUT_LAST, DLS_PART_DATA), 5e-6 + 2e-6 + 4 * 2e-3);
    near(seconds9(64, 64, 64, DLS_LAYOUT_LAST, DLS_PART_WEIGHT), 5e-6 + 2e-6 + 1e-3);
    /* Of groups the width makes no difference to what an output takes. */
    near(seconds9(16, 64, 64, DLS_LAYOUT_LAST, DLS_PART_FORWARD), 5e-6 + 2e-3 / 4);
    near(seconds9(2, 128, 128, DLS_LAYOUT_LAST, DLS_PART_FORWARD), 5e-6 + 2e-3 / 64);
    near(seconds9(16, 64, 64, DLS_LAYOUT_LAST, DLS_PART_DATA), 5e-6 + 4 * 2e-3 / 4);
    near(seconds9(16, 64, 64, DLS_LAYOUT_LAST, DLS_PART_WEIGHT), 5e-6 + 4e-3 / 4);
}

static double seconds32(int32_t groups, dls_kernel_part part, double flops, double bytes)
{
    const dls_kernel k = {.count = groups,
                          .flops = 1e9,
                          .window = {.in_c = 64, .out_c = 64, .kernel_h = 3, .kernel_w = 3, .stride = 2},
                          .layout = DLS_LAYOUT_FIRST,
                          .part = (uint8_t)part};
    return dls_groupconv32_s(&some, &k, 2, bytes, 1e12, 1e13, flops);
}

TEST(in_32_bits)
{
    assert_true(seconds32(1, DLS_PART_FORWARD, 1e13, 1e6) == 0);
    /* 1e6 bytes over 1e12 a second, 2e9 flops over 1e13, by their shares; an output is 18 taps more */
    near(seconds32(64, DLS_PART_FORWARD, 1e13, 1e6), 3 * 2e-3);
    near(seconds32(64, DLS_PART_FORWARD, 1e14, 1e6), 3 * 2e-3);
    near(seconds32(64, DLS_PART_FORWARD, 1e14, 1e11), 0.1);
    near(seconds32(64, DLS_PART_DATA, 1e14, 1e6), 2e-6 + 4 * 4e-3);
    near(seconds32(64, DLS_PART_WEIGHT, 1e14, 1e6), 2e-6 + 1e-2);
    /* tf32: both; fp32: the longer of what all flops take and an output's taps, of 8 or 2 a group */
    near(seconds32(8, DLS_PART_FORWARD, 1e14, 1e6), 5e-6 + 2e-3 / 8 + 15e-6);
    near(seconds32(8, DLS_PART_DATA, 1e14, 1e6), 2 * (5e-6 + 2e-3 / 8) + 20e-6);
    near(seconds32(8, DLS_PART_FORWARD, 1e13, 1e6), 4e-4 + 8 * 30e-6);
    near(seconds32(32, DLS_PART_FORWARD, 1e13, 1e6), 2e-3 / 2 + 32 * 30e-6);
    near(seconds32(8, DLS_PART_WEIGHT, 1e13, 1e6), 3 * 4e-4 + 8 * 40e-6);
}

TEST(the_file)
{
    const char *path = in_folder("grouped.cfg");
    dls_groupconv back;
    dls_error err;
    assert_int_equal(dls_groupconv_save(&some, path, &err), DLS_OK);
    assert_int_equal(dls_groupconv_load(path, &back, &err), DLS_OK);
    assert_memory_equal(&back, &some, sizeof some);
    write_file(path, "grouped = (\n{ depthwise_last = 0.25; });\n");
    assert_int_equal(dls_groupconv_load(path, &back, &err), DLS_ECONFIG);
    assert_non_null(strstr(err.where, "grouped.cfg:2"));
    write_file(path, "grouped = ();\n");
    assert_int_equal(dls_groupconv_load(path, &back, &err), DLS_ECONFIG);
}

GROUP(make_folder, drop_folder)
