/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Binds the engine's table of questions (pace.h) to the world of sim/world.
 */
#include "engine/pace.h"

static int64_t work_us(void *user, int32_t job)
{
    return dls_world_work_us(user, job);
}

static bool fits(void *user, int32_t job, int32_t type)
{
    return dls_world_fits(user, job, type);
}

static dls_status start(void *user, int32_t job, int32_t type, const dls_seat *seats, size_t n,
                        dls_error *err)
{
    return dls_world_start(user, job, type, seats, n, err);
}

static void stop(void *user, int32_t job)
{
    dls_world_stop(user, job);
}

static void link_scale(void *user, int32_t node, double part)
{
    dls_world_link_scale(user, node, part);
}

static dls_status settle(void *user, const dls_rate_change **changed, size_t *n, dls_error *err)
{
    return dls_world_settle(user, changed, n, err);
}

static dls_status solo(void *user, int32_t job, const dls_shape *shape, dls_solo *out,
                       int64_t *rate, dls_error *err)
{
    DLS_TRY(dls_world_solo(user, job, shape, out, err));
    *rate = dls_world_solo_rate(user, job, out);
    return DLS_OK;
}

static int64_t alone(void *user, int32_t job)
{
    return dls_world_alone_rate(user, job);
}

static dls_link_load link_load(void *user)
{
    return dls_world_link_load(user);
}

static dls_pull_backs pull_backs(void *user)
{
    return dls_world_pull_backs(user);
}

static bool shares(void *user, int32_t job, int32_t type, const dls_seat *seats, size_t n)
{
    return dls_world_shares(user, job, type, seats, n);
}

static void set_shift(void *user, int32_t job, double shift_s)
{
    dls_world_set_shift(user, job, shift_s);
}

static dls_status set_route(void *user, int32_t job, int32_t path, int32_t level, dls_error *err)
{
    return dls_world_set_route(user, job, path, level, err);
}

static double reference_s(void *user, int32_t job)
{
    return dls_world_reference_s(user, job);
}

static double gpu_speed(void *user, int32_t job, int32_t node, int32_t gpu)
{
    return dls_world_gpu_speed(user, job, node, gpu);
}

dls_pace dls_pace_of(dls_world *world)
{
    return (dls_pace){.user = world,
                      .work_us = work_us,
                      .fits = fits,
                      .start = start,
                      .stop = stop,
                      .link_scale = link_scale,
                      .settle = settle,
                      .solo = solo,
                      .alone = alone,
                      .shares = shares,
                      .set_shift = set_shift,
                      .set_route = set_route,
                      .reference_s = reference_s,
                      .link_load = link_load,
                      .pull_backs = dls_world_drifts(world) ? pull_backs : NULL,
                      .gpu_speed = gpu_speed};
}
