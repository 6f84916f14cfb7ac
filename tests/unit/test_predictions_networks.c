/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Learned baselines as sources of predictions: networks that give every kernel the same time, so that
 * the answers are known; files that do not fit; failed allocations.
 */

#include "support/predictions_setup.h"

#include "base/alloc.h"
#include "predictor/baselines/habitat_nets.h"
#include "predictor/baselines/justus.h"
#include "predictor/dataset/origin.h"
#include "support/refuse.h"

#include <math.h>
#include <unistd.h>

#define PATH "test_predictions_networks.h5"
#define NEAR(a, b, tolerance) assert_true(fabs((a) / (b)-1) < (tolerance))

static const world_group groups[] = {{"V100", 8, 4, 4, 10}, {"A100", 4, 8, 0, 100}};
static const world_job jobs[] = {{"resnet50", 1, 24, 100, 0}, {"bert_base", 4, 8, 100, 0}};
#define N_JOBS ((int32_t)(sizeof jobs / sizeof jobs[0]))

/* Every kernel of a kind takes (kind + 1) 10 us, on every GPU. */
static void make_networks(dls_learned how, dls_kernel_nets *nets)
{
    *nets = (dls_kernel_nets){.how = how};
    for (int k = 0; k < DLS_KERNEL_NETS; k++) {
        const dls_mlp_shape shape = {dls_kernel_features((dls_kernel_net)k), 2, 1};
        if (dls_learned_uses(how, (dls_kernel_net)k)) {
            assert_int_equal(dls_mlp_create(shape, &nets->net[k], NULL), DLS_OK);
            nets->net[k].value[nets->net[k].n_values - 1] = log(1e-5 * (k + 1));
        }
    }
    assert_int_equal(dls_kernel_nets_save(nets, PATH, NULL), DLS_OK);
}

static void open_world(world_setup *s)
{
    world_init(s, "operator", groups, 2, jobs, (size_t)N_JOBS);
    world_open(s);
}

static dls_workload resnet50(void)
{
    const dls_dataset_origin origin = {.model = "resnet50", .numeric = "fp32", .batch = 24};
    dls_workload w;
    dls_numeric numeric;
    assert_int_equal(dls_dataset_workload(&origin, 0, &w, &numeric, NULL), DLS_OK);
    return w;
}

TEST(test_justus)
{
    DLS_OWN(world_fini) world_setup s = {0};
    DLS_OWN(dls_kernel_nets_fini) dls_kernel_nets nets = {0};
    open_world(&s);
    make_networks(DLS_LEARNED_JUSTUS, &nets);
    dls_prediction_params p = predictions_params(&s, "justus");
    p.weights = PATH;
    dls_predictions *f = predictions_open(&p);
    predictions_prepare(f, 0, N_JOBS);
    DLS_OWN(dls_workload_fini) dls_workload w = resnet50();
    double want = 5e-5; /* the update */
    for (size_t i = 0; i < w.n_kernels; i++) {
        want += w.kernel[i].repeats * 1e-5 * (1 + (int)dls_kernel_net_of(&w.kernel[i]));
    }
    NEAR(predictions_get(f, 0, 0, 1, 1, 1).iteration_s, want, 1e-9);
    NEAR(predictions_get(f, 0, 1, 1, 1, 1).iteration_s, want, 1e-9);
    /* Workers exchange on top of it. */
    assert_true(predictions_get(f, 1, 0, 4, 4, 1).iteration_s >
                predictions_get(f, 1, 0, 4, 1, 1).iteration_s);
    dls_predictions_destroy(f);
}

TEST(test_habitat)
{
    DLS_OWN(world_fini) world_setup s = {0};
    DLS_OWN(dls_kernel_nets_fini) dls_kernel_nets nets = {0};
    open_world(&s);
    make_networks(DLS_LEARNED_HABITAT, &nets);
    dls_prediction_params p = predictions_params(&s, "habitat");
    const dls_prediction_params rule = p;
    p.weights = PATH;
    dls_predictions *f = predictions_open(&p), *r = predictions_open(&rule);
    predictions_prepare(f, 0, N_JOBS);
    predictions_prepare(r, 0, N_JOBS);
    const double measured = predictions_get(r, 0, 0, 1, 1, 1).iteration_s;
    NEAR(predictions_get(f, 0, 0, 1, 1, 1).iteration_s, measured, 1e-9);
    /* Convolutions and products keep their time, the rest is scaled as waves. */
    dls_hardware hw;
    const dls_hw_gpu *from, *to;
    double want;
    DLS_OWN(dls_workload_fini) dls_workload w = resnet50();
    assert_int_equal(dls_hardware_load(s.hardware, &hw, NULL), DLS_OK);
    assert_int_equal(dls_hardware_gpu(&hw, "V100", &from, NULL), DLS_OK);
    assert_int_equal(dls_hardware_gpu(&hw, "A100", &to, NULL), DLS_OK);
    assert_int_equal(
        dls_habitat_nets_step_s(&nets, &w, from, to, DLS_NUMERIC_FP32, 24, measured, &want, NULL),
        DLS_OK);
    NEAR(predictions_get(f, 0, 1, 1, 1, 1).iteration_s, want, 1e-9);
    assert_true(want > 1.02 * predictions_get(r, 0, 1, 1, 1, 1).iteration_s && want < measured);
    dls_predictions_destroy(f);
    dls_predictions_destroy(r);
    dls_hardware_fini(&hw);
}

static void refused(world_setup *s, const char *source, const char *weights, dls_status status,
                    const char *why)
{
    dls_prediction_params p = predictions_params(s, source);
    dls_predictions *f = NULL;
    dls_error err = {0};
    p.weights = weights;
    assert_int_equal(dls_predictions_create(&p, &f, &err), status);
    if (!strstr(err.msg, why)) {
        fail_msg("\"%s\" where \"%s\" is expected", err.msg, why);
    }
}

TEST(test_bad)
{
    world_setup s;
    dls_kernel_nets nets;
    open_world(&s);
    make_networks(DLS_LEARNED_HABITAT, &nets);
    refused(&s, "justus", NULL, DLS_ECONFIG, "--baseline=justus");
    refused(&s, "justus", PATH, DLS_ECONFIG, "networks of habitat, not of justus");
    refused(&s, "justus", "missing.h5", DLS_EINPUT, "");
    refused(&s, "habitat", "missing.h5", DLS_EINPUT, "");
    dls_kernel_nets_fini(&nets);
    make_networks(DLS_LEARNED_JUSTUS, &nets);
    refused(&s, "habitat", PATH, DLS_ECONFIG, "networks of justus, not of habitat");
    dls_kernel_nets_fini(&nets);
    world_fini(&s);
    unlink(PATH);
}

TEST(test_no_memory)
{
    static const dls_learned how[] = {DLS_LEARNED_JUSTUS, DLS_LEARNED_HABITAT};
    for (int k = 0; k < 2; k++) {
        DLS_OWN(world_fini) world_setup s = {0};
        DLS_OWN(dls_kernel_nets_fini) dls_kernel_nets nets = {0};
        bool whole = false;
        open_world(&s);
        make_networks(how[k], &nets);
        dls_prediction_params p = predictions_params(&s, dls_learned_names[how[k]]);
        p.weights = PATH;
        for (int i = 0; !whole; i += 1 + i / 20) {
            const int32_t ask[] = {0};
            DLS_HOLD(dls_predictions_destroy) dls_predictions *f = NULL;
            int left = i;
            dls_alloc_set_hook(refuse, &left);
            dls_status status = dls_predictions_create(&p, &f, NULL);
            if (status == DLS_OK) {
                status = dls_predictions_prepare(f, ask, 1, NULL);
            }
            dls_alloc_set_hook(NULL, NULL);
            whole = status == DLS_OK && left >= 0;
            assert_true(whole || left < 0);
        }
    }
    unlink(PATH);
}
