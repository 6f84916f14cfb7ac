/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Daydream's replay against timelines worked out by hand.
 */

#include "base/alloc.h"
#include "predictor/baselines/daydream.h"
#include "support/refuse.h"

#include <math.h>

/* Two layers, forward 1 s and backward 2 s each, the second bound by memory; no optimiser state
 * that counts. 1 flop/s, 1 byte/s. */
static dls_kernel kernels[4] = {
    {.family = DLS_KERNEL_MATMUL, .repeats = 1, .layer = 0, .tensor = -1, .flops = 1},
    {.family = DLS_KERNEL_MATMUL, .backward = 1, .repeats = 1, .layer = 0, .tensor = 0, .flops = 2},
    {.family = DLS_KERNEL_MEMORY, .repeats = 1, .layer = 1, .tensor = -1, .moved = 0.25},
    {.family = DLS_KERNEL_MEMORY,
     .backward = 1,
     .repeats = 1,
     .layer = 1,
     .tensor = 1,
     .moved = 0.5},
};
static const dls_hw_gpu gpu = {.fp32_flops = 1, .mem_bps = 1};

static dls_workload work_of(double *tensor)
{
    return (dls_workload){.kernel = kernels,
                          .n_kernels = 4,
                          .tensor = tensor,
                          .n_tensors = 2,
                          .params = 0,
                          .n_layers = 2};
}

static double replay(const dls_daydream *d)
{
    double step_s = 0;
    assert_int_equal(dls_daydream_replay(d, &step_s, NULL), DLS_OK);
    return step_s;
}

static void near(double a, double b)
{
    if (!(fabs(a - b) < 1e-9 * fmax(1, fabs(b)))) {
        fail_msg("%.12g instead of %.12g", a, b);
    }
}

TEST(test_one)
{
    double tensor[2] = {25e6 / 4, 50e6 / 4};
    const dls_workload w = work_of(tensor);
    DLS_OWN(dls_daydream_fini) dls_daydream d = {0};
    assert_int_equal(dls_daydream_profile(&w, &gpu, DLS_NUMERIC_FP32, 1, 12, &d, NULL), DLS_OK);
    near(replay(&d), 12); /* the measured step, twice the 6 s of the data sheet */
    near(d.kernel_s[0], 2);
    near(d.kernel_s[3], 4);
    dls_daydream_mixed_precision(&d);
    near(replay(&d), 6.0 / 3 + 6.0 / 2);
}

/* Forward 2 s, layer 1 back 2 s (4 s), layer 0 back 2 s (6 s).
 * Two workers exchange bytes / B: 50 MB from 4 s on, 25 MB then. */
TEST(test_distributed)
{
    double tensor[2] = {25e6 / 4, 50e6 / 4};
    const dls_workload w = work_of(tensor);
    DLS_OWN(dls_daydream_fini) dls_daydream d = {0};
    assert_int_equal(dls_daydream_profile(&w, &gpu, DLS_NUMERIC_FP32, 1, 6, &d, NULL), DLS_OK);
    dls_hw_link link = {.goodput_bps = 50e6, .latency_s = 0};
    dls_daydream_distribute(&d, 2, &link);
    near(replay(&d), 6.5); /* 4 to 5 s and 6 to 6.5 s */
    link.goodput_bps = 10e6;
    dls_daydream_distribute(&d, 2, &link);
    near(replay(&d), 4 + 5 + 2.5); /* one after the other */
    link.latency_s = 0.25;
    dls_daydream_distribute(&d, 2, &link);
    near(replay(&d), 4 + 5 + 2.5 + 2 * 2 * 0.25);
    link = (dls_hw_link){.goodput_bps = 1e15};
    dls_daydream_distribute(&d, 2, &link);
    assert_true(replay(&d) < 6.001);
}

/* Gradients below the size of a bucket leave together, at the end. */
TEST(test_bucket)
{
    double tensor[2] = {10e6 / 4, 10e6 / 4};
    const dls_workload w = work_of(tensor);
    DLS_OWN(dls_daydream_fini) dls_daydream d = {0};
    assert_int_equal(dls_daydream_profile(&w, &gpu, DLS_NUMERIC_FP32, 1, 6, &d, NULL), DLS_OK);
    const dls_hw_link link = {.goodput_bps = 10e6, .latency_s = 0.5};
    dls_daydream_distribute(&d, 2, &link);
    near(replay(&d), 6 + 2 + 2 * 0.5);
}

TEST(test_no_memory)
{
    double tensor[2] = {1, 1}, step_s = 0;
    const dls_workload w = work_of(tensor);
    DLS_OWN(dls_daydream_fini) dls_daydream d = {0};
    dls_status status;
    for (int n = 0; n < 2; n++) {
        REFUSED(status, n, dls_daydream_profile(&w, &gpu, DLS_NUMERIC_FP32, 1, 6, &d, NULL));
        assert_int_equal(status, DLS_ENOMEM);
    }
    assert_int_equal(dls_daydream_profile(&w, &gpu, DLS_NUMERIC_FP32, 1, 6, &d, NULL), DLS_OK);
    REFUSED(status, 0, dls_daydream_replay(&d, &step_s, NULL));
    assert_int_equal(status, DLS_ENOMEM);
}
