/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Binds the engine's tables of questions (pace.h) to sim/world and predictor/sources.
 */
#include "engine/pace.h"

static dls_status solo(dls_world *w, int32_t job, const dls_shape *shape, dls_solo *out,
                       int64_t *rate, dls_error *err)
{
    DLS_TRY(dls_world_solo(w, job, shape, out, err));
    *rate = dls_world_solo_rate(w, job, out);
    return DLS_OK;
}

dls_pace dls_pace_of(dls_world *world)
{
    return (dls_pace){.world = world,
                      .work_us = dls_world_work_us,
                      .fits = dls_world_fits,
                      .start = dls_world_start,
                      .stop = dls_world_stop,
                      .link_scale = dls_world_link_scale,
                      .settle = dls_world_settle,
                      .solo = solo,
                      .alone = dls_world_alone_rate,
                      .shares = dls_world_shares,
                      .set_shift = dls_world_set_shift,
                      .set_route = dls_world_set_route,
                      .reference_s = dls_world_reference_s,
                      .link_load = dls_world_link_load,
                      .pull_backs = dls_world_drifts(world) ? dls_world_pull_backs : NULL,
                      .gpu_speed = dls_world_gpu_speed};
}

dls_prediction_ops dls_prediction_ops_of(dls_predictions *predictions)
{
    return (dls_prediction_ops){.from = predictions,
                                .prepare = dls_predictions_prepare,
                                .prepare_size = dls_predictions_prepare_size,
                                .shapes = dls_predictions_shapes,
                                .get = dls_predictions_get,
                                .estimate_us = dls_predictions_estimate_us,
                                .seen = dls_predictions_seen};
}
