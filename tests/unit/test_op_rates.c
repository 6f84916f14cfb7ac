/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Costs of operations fitted to steps: those that made the steps are found again, those that no job
 * shows stay the formula's, a job that lies is not believed; they are written and read, and a step
 * is made of them.
 */
#include "base/rng.h"
#include "support/must.h"
#include "support/scratch.h"
#include "workload/operator/op_rates.h"

#include <math.h>

#define JOBS 40
static const double conv_flop_s = 1e-11, conv_byte_s = 4e-10, pool_byte_s = 7e-10, run_s = 4e-6;

static int near(double a, double b, double part)
{
    return fabs(a - b) <= part * fmax(fabs(a), fabs(b));
}

static dls_opmodel model;
static const dls_hw_gpu core = {.name = "CORE", .fp32_flops = 1e11, .mem_bps = 1e10};
static dls_kernel kernel[JOBS][2];
static double tensor[1] = {1e4};
static dls_workload work[JOBS];
static dls_op_job job[JOBS];

/* Convolutions and pools of all sizes, 100 to 1000 runs of each; 5 elements of a sample a run. */
static int jobs(void **state)
{
    dls_rng rng = dls_rng_stream(3, 0, 0);
    for (int n = 0; n < DLS_OPMODEL_NUMERICS; n++) {
        for (int f = 0; f < DLS_KERNEL_FAMILIES; f++) {
            model.eta[n][f] = 1;
        }
        model.launch_s[n] = 1e-6;
    }
    model.factor[0] = (dls_gpu_factor){.gpu = "P", .compute = 1, .memory = 1};
    model.derate[0] = (dls_gpu_derate){.gpu = "P", .factor = 1};
    model.host[0] = (dls_host){.name = "h", .slowdown = 1};
    model.fabric[0] = (dls_fabric_row){.name = "f", .fabric = {.bps = 1, .gamma = 1}};
    model.n_factors = model.n_derates = model.n_hosts = model.n_fabrics = 1;
    for (int i = 0; i < JOBS; i++) {
        const int32_t runs = 100 + (int32_t)dls_rng_below(&rng, 900);
        const double batch = 1 + (double)dls_rng_below(&rng, 64);
        kernel[i][0] = (dls_kernel){.family = DLS_KERNEL_CONV3,
                                    .op_family = DLS_FAMILY_CONV,
                                    .repeats = runs,
                                    .tensor = -1,
                                    .flops = 1e5 * dls_rng_unit(&rng),
                                    .moved = 1e3 * dls_rng_unit(&rng)};
        kernel[i][1] = (dls_kernel){.family = DLS_KERNEL_MEMORY,
                                    .op_family = DLS_FAMILY_POOL,
                                    .backward = 1,
                                    .repeats = runs,
                                    .tensor = 0,
                                    .moved = 1e3 * dls_rng_unit(&rng)};
        work[i] = (dls_workload){
            .kernel = kernel[i], .n_kernels = 2, .tensor = tensor, .n_tensors = 1, .params = 1e4};
        const double s = runs * (2 * run_s + batch * (conv_flop_s * kernel[i][0].flops +
                                                      4 * conv_byte_s * kernel[i][0].moved +
                                                      4 * pool_byte_s * kernel[i][1].moved));
        job[i] = (dls_op_job){.w = &work[i], .batch = batch, .step_s = s};
    }
    return make_folder(state);
}

TEST(found_again)
{
    const dls_rates formula = dls_opmodel_rates(&model, &core, DLS_NUMERIC_FP32);
    dls_op_rates found = {.gpu = "CORE"};
    job[7].step_s *= 30;
    assert_int_equal(dls_op_rates_fit(job, JOBS, &formula, &found, NULL), DLS_OK);
    job[7].step_s /= 30;
    assert_true(near(found.flop_s[DLS_FAMILY_CONV], conv_flop_s, 0.05));
    assert_true(near(found.byte_s[DLS_FAMILY_CONV], conv_byte_s, 0.05));
    assert_true(near(found.byte_s[DLS_FAMILY_POOL], pool_byte_s, 0.05));
    assert_true(near(found.run_s, run_s, 0.05));
    assert_true(near(found.flop_s[DLS_FAMILY_MATMUL], 1 / core.fp32_flops, 1e-12));
    assert_true(near(found.byte_s[DLS_FAMILY_NORM], 1 / core.mem_bps, 1e-12));

    /* Through a file, and a step of them. */
    static dls_opmodel again;
    model.rates[0] = found;
    model.n_rates = 1;
    assert_int_equal(dls_opmodel_save(&model, in_folder("rates.cfg"), NULL), DLS_OK);
    model.n_rates = 0;
    MUST(dls_opmodel_load(in_folder("rates.cfg"), &again, &e));
    assert_int_equal(again.n_rates, 1);
    const dls_rates rates = dls_opmodel_rates(&again, &core, DLS_NUMERIC_FP32);
    for (int i = 0; i < JOBS; i++) {
        assert_true(near(dls_step_time(job[i].w, &rates, job[i].batch).gpu_s, job[i].step_s, 0.05));
    }
    /* Other numbers, and other processors, are as before. */
    assert_null(dls_opmodel_rates(&again, &(dls_hw_gpu){.name = "OTHER"}, DLS_NUMERIC_FP32).op);
}

TEST(refusals)
{
    const dls_rates formula = dls_opmodel_rates(&model, &core, DLS_NUMERIC_FP32);
    dls_op_rates found = {.gpu = "CORE"};
    dls_op_job none = job[0];
    none.step_s = 0;
    assert_int_equal(dls_op_rates_fit(job, 0, &formula, &found, NULL), DLS_EINPUT);
    assert_int_equal(dls_op_rates_fit(&none, 1, &formula, &found, NULL), DLS_EINPUT);
}

GROUP(jobs, drop_folder)
