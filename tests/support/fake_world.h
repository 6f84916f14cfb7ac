/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Worlds for tests of the engine: a job's rate follows from who else runs, by a rule that a naive
 * simulator can follow too.
 */
#ifndef DLS_TESTS_FAKE_WORLD_H
#define DLS_TESTS_FAKE_WORLD_H

#include "engine/pace.h"

#include <stdlib.h>
#include <string.h>

#define FAKE_JOBS 64

/* The world of these tests: to the engine it is a name alone. */
typedef struct dls_world {
    const dls_trace *trace;
    bool running[FAKE_JOBS];
    bool by_gpu;                /* jobs share something when they share a GPU, else every third does */
    dls_seat seat[FAKE_JOBS][8];
    size_t n_seats[FAKE_JOBS];
    int64_t rate[FAKE_JOBS];    /* 0: not yet asked for */
    bool split;                 /* every settling gives every job another rate first, and takes it back */
    int32_t settles, starts, stops;
    dls_rate_change change[2 * FAKE_JOBS];
} fake_world;

static inline void fake_insist(bool good)
{
    if (!good) {
        abort();
    }
}

/* Rate of a job beside `others` running jobs that share something with it. */
static inline int64_t fake_rate(int32_t job, int32_t others)
{
    static const int64_t base[] = {DLS_RATE_ONE, DLS_RATE_ONE / 2, 3 * DLS_RATE_ONE / 2, 1234577,
                                   DLS_RATE_ONE / 7, DLS_RATE_ONE};
    return base[job % 6] / (1 + others / 2);
}

/* Who shares something: every third job. */
static inline bool fake_shares(int32_t a, int32_t b)
{
    return a != b && a % 3 == b % 3;
}

static inline bool fake_shares_gpu(const fake_world *w, int32_t a, int32_t b)
{
    for (size_t i = 0; i < w->n_seats[a]; i++) {
        for (size_t k = 0; k < w->n_seats[b]; k++) {
            if (w->seat[a][i].node == w->seat[b][k].node &&
                (w->seat[a][i].mask & w->seat[b][k].mask)) {
                return a != b;
            }
        }
    }
    return false;
}

static inline int64_t fake_work_us(const dls_world *w, int32_t job)
{
    return dls_trace_cols(w->trace)->duration_us[job];
}

static inline dls_status fake_start(dls_world *w, int32_t job, int32_t type, const dls_seat *seats,
                                    size_t n, dls_error *err)
{
    fake_insist(n > 0 && n <= 8 && !w->running[job]);
    memcpy(w->seat[job], seats, n * sizeof *seats);
    w->n_seats[job] = n;
    w->running[job] = true;
    w->rate[job] = 0;
    w->starts++;
    return DLS_OK;
}

static inline void fake_stop(dls_world *w, int32_t job)
{
    fake_insist(w->running[job]);
    w->running[job] = false;
    w->stops++;
}

static inline void fake_link_scale(dls_world *w, int32_t node, double part)
{
}

static inline int64_t fake_rate_now(const fake_world *w, int32_t job)
{
    int32_t others = 0;
    for (int32_t j = 0; j < FAKE_JOBS; j++) {
        if (w->running[j]) {
            others += w->by_gpu ? 2 * fake_shares_gpu(w, job, j) : fake_shares(job, j);
        }
    }
    return fake_rate(job, others);
}

static inline dls_status fake_settle(dls_world *w, const dls_rate_change **changed, size_t *n,
                                     dls_error *err)
{
    *n = 0;
    for (int32_t j = 0; j < FAKE_JOBS; j++) {
        if (!w->running[j]) {
            continue;
        }
        const int64_t rate = fake_rate_now(w, j);
        if (w->split) {
            w->change[(*n)++] = (dls_rate_change){j, rate + 1};
        }
        if (w->split || rate != w->rate[j]) {
            w->change[(*n)++] = (dls_rate_change){j, rate};
        }
        w->rate[j] = rate;
    }
    w->settles++;
    *changed = w->change;
    return DLS_OK;
}

/* The fastest that it can be: alone. */
static inline dls_status fake_solo(dls_world *w, int32_t job, const dls_shape *shape, dls_solo *out,
                                   int64_t *rate, dls_error *err)
{
    fake_insist(shape->gpus > 0 && shape->n_nodes >= 1 && shape->n_racks >= 1);
    memset(out, 0, sizeof *out);
    *rate = fake_rate(job, 0);
    return DLS_OK;
}

static inline int64_t fake_alone(const dls_world *w, int32_t job)
{
    return fake_rate(job, 0);
}

static inline dls_pace fake_pace(fake_world *w, const dls_trace *trace)
{
    memset(w, 0, sizeof *w);
    w->trace = trace;
    return (dls_pace){.world = w,
                      .work_us = fake_work_us,
                      .start = fake_start,
                      .stop = fake_stop,
                      .link_scale = fake_link_scale,
                      .settle = fake_settle,
                      .solo = fake_solo,
                      .alone = fake_alone};
}

#endif
