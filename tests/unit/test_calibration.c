/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Learning from jobs that ran (predictor.calibrate): the estimate against its formula by hand,
 * which answers change and which do not, unknown models, copies.
 */

#include "support/predictions_setup.h"

#include "predictor/sources/calibration.h"

#include <math.h>

#define NEAR(a, b) assert_true(fabs((a) / (b)-1) < 1e-12)

static const world_group groups[] = {{"V100", 8, 4, 4, 10}, {"A100", 4, 8, 0, 100}};
static const world_job jobs[] = {
    {"vgg16", 8, 32, 1000, 0},  {"resnet50", 8, 32, 1000, 0}, {"VGG-16", 8, 64, 500, 0},
    {"mystery", 4, 32, 100, 0}, {"vgg16", 1, 32, 1000, 0},  {"", 4, 32, 100, 0}, /* of no user, too */
};
#define N_JOBS ((int32_t)(sizeof jobs / sizeof jobs[0]))

static void open_world(world_setup *s)
{
    world_init(s, "operator", groups, 2, jobs, (size_t)N_JOBS);
    s->p.residual_sigma = s->p.network_residual_sigma = 0.2;
    world_open(s);
}

TEST(test_by_hand)
{
    static const dls_shape here = {0, 8, 2, 1}, there = {1, 8, 1, 1}, apart = {0, 8, 8, 2};
    DLS_OWN(world_fini) world_setup s = {0};
    DLS_HOLD(dls_calibration_destroy) dls_calibration *c = NULL;
    open_world(&s);
    assert_int_equal(dls_calibration_create(dls_world_kinds(s.w), s.trace, 2, &c, NULL), DLS_OK);
    assert_true(dls_calibration_factor(c, 0, &here) == 1 && !dls_calibration_knows(c, 0));
    /* One observation of twice the time: a half of its logarithm by model, 3/4 by type, ... */
    dls_calibration_see(c, 0, &here, 2);
    NEAR(dls_calibration_factor(c, 0, &here), pow(2, 15.0 / 16));
    NEAR(dls_calibration_factor(c, 2, &here), pow(2, 7.0 / 8)); /* another batch, other spelling */
    NEAR(dls_calibration_factor(c, 0, &apart), pow(2, 3.0 / 4));
    NEAR(dls_calibration_factor(c, 0, &there), pow(2, 1.0 / 2));
    assert_true(dls_calibration_factor(c, 1, &here) == 1);
    assert_true(dls_calibration_knows(c, 2) && !dls_calibration_knows(c, 1));
    /* Many of them are believed. */
    for (int i = 0; i < 10000; i++) {
        dls_calibration_see(c, 0, &here, 2);
        dls_calibration_see(c, 0, &there, 0.5);
    }
    assert_true(fabs(dls_calibration_factor(c, 0, &here) - 2) < 1e-3);
    assert_true(fabs(dls_calibration_factor(c, 0, &there) - 0.5) < 1e-3);
    const uint64_t version = dls_calibration_version(c);
    dls_calibration_see(c, 0, &here, (double)NAN);
    dls_calibration_see(c, 0, &here, 0);
    assert_true(dls_calibration_version(c) == version);
}

static double truth_s(const world_setup *s, int32_t job, const dls_shape *shape)
{
    dls_solo solo;
    assert_int_equal(dls_world_solo(s->w, job, shape, &solo, NULL), DLS_OK);
    return solo.iteration_s;
}

/* What was seen of a place makes its answer the truth's; the best come first all the time. */
TEST(test_answers)
{
    DLS_OWN(world_fini) world_setup s = {0};
    open_world(&s);
    dls_prediction_params p = predictions_params(&s, "paleo");
    DLS_HOLD(dls_predictions_destroy) dls_predictions *raw = predictions_open(&p);
    p.calibrate = true;
    DLS_HOLD(dls_predictions_destroy) dls_predictions *f = predictions_open(&p), *copy = NULL;
    predictions_prepare(raw, 0, N_JOBS);
    predictions_prepare(f, 0, N_JOBS);
    size_t n;
    const dls_shape *shapes = dls_predictions_shapes(f, 0, 0, &n);
    const dls_shape best = shapes[0];
    dls_predictions_seen(f, 0, &best, truth_s(&s, 0, &best), 999999); /* too short to count */
    dls_predictions_seen(f, 0, &best, (double)NAN, 1000000000);
    assert_true(predictions_get(f, 0, 0, 8, 2, 1).iteration_s ==
                predictions_get(raw, 0, 0, 8, 2, 1).iteration_s);
    for (int i = 0; i < 1000; i++) {
        dls_predictions_seen(f, 0, &best, 5 * truth_s(&s, 0, &best), 1000000000);
    }
    dls_prediction out;
    dls_predictions_get(f, 0, &best, 1000000, &out);
    assert_true(fabs(out.iteration_s / (5 * truth_s(&s, 0, &best)) - 1) < 0.02);
    NEAR(out.remaining_s, out.iteration_s / dls_world_reference_s(s.w, 0));
    assert_true(predictions_get(f, 1, 0, 8, 2, 1).iteration_s ==
                predictions_get(raw, 1, 0, 8, 2, 1).iteration_s);
    shapes = dls_predictions_shapes(f, 0, 0, &n);
    for (size_t i = 1; i < n; i++) {
        dls_prediction a, b;
        dls_predictions_get(f, 0, &shapes[i - 1], 1, &a);
        dls_predictions_get(f, 0, &shapes[i], 1, &b);
        assert_true(a.iteration_s <= b.iteration_s);
    }
    assert_int_equal(dls_predictions_about(f).observed, 1000);
    /* A copy knows the same. */
    assert_int_equal(dls_predictions_copy(f, s.w, &copy, NULL), DLS_OK);
    NEAR(predictions_get(copy, 0, best.type, 8, best.n_nodes, best.n_racks).iteration_s,
         out.iteration_s);
}

/* Of a model that nobody knows nothing is said, until a job of it ran. */
TEST(test_unknown)
{
    static const dls_shape here = {0, 4, 1, 1};
    DLS_OWN(world_fini) world_setup s = {0};
    size_t n;
    open_world(&s);
    dls_prediction_params p = predictions_params(&s, "operator");
    p.calibrate = true;
    DLS_HOLD(dls_predictions_destroy) dls_predictions *f = predictions_open(&p);
    predictions_prepare(f, 0, N_JOBS);
    assert_true(isnan(predictions_get(f, 3, 0, 4, 1, 1).iteration_s));
    assert_null(dls_predictions_shapes(f, 3, 0, &n));
    assert_int_equal(dls_predictions_estimate_us(f, 3), 100000000); /* as at the reference */
    dls_predictions_seen(f, 3, &here, 3 * dls_world_reference_s(s.w, 3), 5000000);
    NEAR(predictions_get(f, 3, 0, 4, 1, 1).iteration_s,
         pow(3, 15.0 / 16) * dls_world_reference_s(s.w, 3));
    assert_non_null(dls_predictions_shapes(f, 3, 0, &n));
}
