/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Horus' cost of a GPU against values worked by hand, and whom its placement lets share.
 */
#include "placement/horus.h"

#include "cluster/index.h"
#include "dlsim/predictor.h"
#include "engine/pace.h"
#include "support/sim_case.h"
#include "support/test.h"

static void near(double a, double b)
{
    assert_true(fabs(a - b) < 1e-12);
}

TEST(test_cost)
{
    const double gb = 1e9;
    dls_horus_gpu g = {16 * gb, 8 * gb, 60, 1};
    /* 1.3 x 12 / 16 + 1.6 x 40 / 100 + 1 */
    near(dls_horus_cost(&g, 4 * gb, 80), 2.615);
    /* Too little use costs as well: 1.3 x 12 / 16 + 20 / 100 + 1. */
    g.use = 30;
    near(dls_horus_cost(&g, 4 * gb, 50), 2.175);
    /* An idle GPU; exactly 100 %. */
    g = (dls_horus_gpu){16 * gb, 0, 0, 0};
    near(dls_horus_cost(&g, 4 * gb, 100), 0.325);
    near(dls_horus_cost(&g, 4 * gb, 25), 1.075);
    /* Use and memory of those that are there are capped. */
    g = (dls_horus_gpu){16 * gb, 20 * gb, 180, 2};
    near(dls_horus_cost(&g, 0, 50), 1.3 + 0.8 + 2);
}

/* Job j uses 10 j % on average and at most twice that, and 2 j GB; from 50 on nothing is known. */
static bool prediction(void *user, int32_t job, const dls_shape *s, dls_prediction *out)
{
    *out = (dls_prediction){.iteration_s = 1, .remaining_s = 100, .mem_bytes = 2e9 * job};
    out->metric[DLS_GPU_ACTIVE] = 0.5;
    out->metric[DLS_GPU_PEAK] = 0.2 * job;
    return job < 50;
}

TEST(test_share)
{
    dls_cluster_spec spec = case_cluster(2, 4, 0);
    dls_place_index *x;
    dls_error err;
    spec.types[0].mem_gib = 16;
    assert_int_equal(DLS_OK, dls_place_index_create(&spec, &x, &err));
    const dls_placement_ops *ops = case_placement("horus");
    dls_place_predictor predictor = {.prediction = prediction};
    dls_request r = {.job = 2, .gpus = 1, .predictor = &predictor};
    const dls_shape one = {0, 1, 1, 1};
    /* 2 beside 1: 10 + 40 - 100 = -50: 0.5; 6 GB of 17.2: 0.454; 1. Beside 4: -20: 0.2; 12 GB:
     * 0.908; 1. */
    const double total = 16 * 0x1p30;
    near(ops->share(NULL, x, &r, 1, &one), 1 / (1 + 1.3 * 6e9 / total + 0.5 + 1));
    near(ops->share(NULL, x, &r, 4, &one), 1 / (1 + 1.3 * 12e9 / total + 0.2 + 1));
    /* 4 + 2 x 6 = 16 GB and half a GB fit into 17.2, 4 + 14 do not. */
    assert_true(ops->share(NULL, x, &r, 6, &one) > 0);
    assert_true(ops->share(NULL, x, &r, 7, &one) == 0);
    assert_true(ops->share(NULL, x, &r, 60, &one) == 0);
    near(ops->cost(NULL, x, &r), 1.3 * 4e9 / total + 0.6);
    r.job = 60;
    assert_true(ops->cost(NULL, x, &r) == 0);
    dls_place_index_destroy(x);
    free(spec.groups);
}
