/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Binds the engine's table of prediction calls (pace.h) to predictor/sources.
 */
#include "engine/pace.h"

static dls_status prepare(void *user, const int32_t *jobs, size_t n, dls_error *err)
{
    return dls_predictions_prepare(user, jobs, n, err);
}

static dls_status prepare_size(void *user, int32_t job, int32_t gpus, dls_error *err)
{
    return dls_predictions_prepare_size(user, job, gpus, err);
}

static const dls_shape *shapes(void *user, int32_t job, int32_t gpus, size_t *n)
{
    return dls_predictions_shapes(user, job, gpus, n);
}

static void get(void *user, int32_t job, const dls_shape *shape, int64_t work_left_us,
                dls_prediction *out)
{
    dls_predictions_get(user, job, shape, work_left_us, out);
}

static int64_t estimate_us(void *user, int32_t job)
{
    return dls_predictions_estimate_us(user, job);
}

static void seen(void *user, int32_t job, const dls_shape *shape, double iteration_s,
                 int64_t executed_us)
{
    dls_predictions_seen(user, job, shape, iteration_s, executed_us);
}

dls_prediction_ops dls_prediction_ops_of(dls_predictions *predictions)
{
    return (dls_prediction_ops){.user = predictions,
                        .prepare = prepare,
                        .prepare_size = prepare_size,
                        .shapes = shapes,
                        .get = get,
                        .estimate_us = estimate_us,
                        .seen = seen};
}
