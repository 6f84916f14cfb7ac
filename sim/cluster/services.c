/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What inference services need over the day, by Erlang's formula.
 */
#include "cluster/services.h"

#include "cluster/index.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOUR_US INT64_C(3600000000)
#define DAY_US (24 * HOUR_US)
#define REPLICAS_MAX 1e6

/* ---- the queue ------------------------------------------------------------------------------- */

/* With B(c) of c > a replicas. */
static double late(const dls_service *s, double a, int64_t c, double blocked)
{
    const double waits = blocked / (1 - a / (double)c * (1 - blocked));
    return waits * exp(-((double)c - a) * (s->bound_s - s->request_s) / s->request_s);
}

static double next_blocked(double a, int64_t c, double blocked)
{
    return a * blocked / ((double)c + a * blocked);
}

double dls_service_late(const dls_service *s, double rate, int64_t replicas)
{
    const double a = rate * s->request_s;
    double blocked = 1;
    if (!(rate > 0) || (double)replicas <= a) {
        return rate > 0;
    }
    for (int64_t c = 1; c <= replicas; c++) {
        blocked = next_blocked(a, c, blocked);
    }
    return late(s, a, replicas, blocked);
}

static int32_t pieces_for(const dls_service *s, double rate)
{
    const double a = rate * s->request_s;
    double blocked = 1;
    int64_t c = 0;
    while (rate > 0 && ((double)c <= a || late(s, a, c, blocked) > 1 - s->share)) {
        c++;
        blocked = next_blocked(a, c, blocked);
    }
    return (int32_t)((c + s->per_gpu - 1) / s->per_gpu);
}

/* ---- the day --------------------------------------------------------------------------------- */

static int32_t step_at(const dls_service *s, int64_t t_us)
{
    int32_t i = s->n_steps - 1;
    while (i > 0 && s->from_us[i] > t_us % DAY_US) {
        i--;
    }
    return s->from_us[i] <= t_us % DAY_US ? i : s->n_steps - 1;
}

static int64_t next_step_us(const dls_service *s, int64_t t_us)
{
    const int64_t day_us = t_us - t_us % DAY_US;
    int32_t i = 0;
    while (i < s->n_steps && day_us + s->from_us[i] <= t_us) {
        i++;
    }
    return i < s->n_steps ? day_us + s->from_us[i] : day_us + DAY_US + s->from_us[0];
}

bool dls_service_keeps(const dls_service *s, int64_t t_us, int32_t pieces)
{
    return dls_service_late(s, s->rate[step_at(s, t_us)], (int64_t)pieces * s->per_gpu) <=
           1 - s->share;
}

static int32_t pieces_of_own(const dls_service *s, int32_t pieces)
{
    return pieces < s->gpus * s->pieces ? pieces : (int32_t)s->gpus * s->pieces;
}

int32_t dls_service_need(const dls_service *s, int64_t t_us, int64_t ahead_us)
{
    int32_t most = s->need[step_at(s, t_us)];
    for (int64_t t = next_step_us(s, t_us); t <= t_us + ahead_us; t = next_step_us(s, t)) {
        const int32_t need = s->need[step_at(s, t)];
        most = need > most ? need : most;
    }
    return pieces_of_own(s, most);
}

int32_t dls_service_least(const dls_service *s)
{
    int32_t least = s->need[0];
    for (int32_t i = 1; i < s->n_steps; i++) {
        least = s->need[i] < least ? s->need[i] : least;
    }
    return pieces_of_own(s, least);
}

int64_t dls_service_next_us(const dls_service *s, int64_t t_us, int64_t ahead_us)
{
    const int64_t now = next_step_us(s, t_us), soon = next_step_us(s, t_us + ahead_us) - ahead_us;
    return s->n_steps == 1 ? INT64_MAX : now < soon ? now : soon;
}

/* ---- making one ------------------------------------------------------------------------------ */

/* One "HOUR=RATE". */
static dls_status add_step(dls_service *s, const char *entry, size_t len, dls_error *err)
{
    char text[80], *equals = NULL;
    double hour = -1, rate = -1;
    if (len < sizeof text) {
        snprintf(text, sizeof text, "%.*s", (int)len, entry);
        equals = strchr(text, '=');
    }
    if (equals) {
        *equals = '\0';
    }
    if (!equals || !dls_units_f64(text, &hour) || !dls_units_f64(equals + 1, &rate) ||
        !(hour >= 0 && hour < 24 && rate >= 0)) {
        return dls_fail(err, DLS_ECONFIG, s->name,
                        "\"%.*s\" is not HOUR=RATE with an hour from 0 to below 24 and requests "
                        "per second",
                        (int)(len < 80 ? len : 80), entry);
    }
    if (rate * s->request_s > REPLICAS_MAX) {
        return dls_fail(err, DLS_ECONFIG, s->name, "%g requests per second need over %g replicas",
                        rate, REPLICAS_MAX);
    }
    const int64_t from_us = llround(hour * (double)HOUR_US);
    if (s->n_steps == DLS_SERVICE_STEPS ||
        (s->n_steps > 0 && from_us <= s->from_us[s->n_steps - 1])) {
        return dls_fail(err, DLS_ECONFIG, s->name,
                        s->n_steps == DLS_SERVICE_STEPS ? "a load of more than 288 steps"
                                                        : "the hours of the load do not ascend");
    }
    s->from_us[s->n_steps] = from_us;
    s->rate[s->n_steps] = rate;
    s->need[s->n_steps++] = pieces_for(s, rate);
    return DLS_OK;
}

dls_status dls_service_make(dls_service *s, const char *load, int32_t parts, dls_error *err)
{
    int32_t most = 0;
    s->n_steps = 0;
    s->milli = parts == DLS_PARTS_WHOLE || s->part >= 1
                   ? DLS_GPU_MILLI
                   : dls_parts_size(parts == DLS_PARTS_MIG, llround(s->part * DLS_GPU_MILLI));
    s->pieces = dls_parts_of_gpu(parts == DLS_PARTS_MIG, s->milli);
    if (!(s->bound_s > s->request_s)) {
        return dls_fail(err, DLS_ECONFIG, s->name,
                        "a request alone takes %g s: no number of GPUs keeps a bound of %g s",
                        s->request_s, s->bound_s);
    }
    for (load += strspn(load, "; "); *load; load += strspn(load, "; ")) {
        const size_t len = strcspn(load, "; ");
        DLS_TRY(add_step(s, load, len, err));
        load += len;
        most = s->need[s->n_steps - 1] > most ? s->need[s->n_steps - 1] : most;
    }
    if (most == 0) {
        return dls_fail(err, DLS_ECONFIG, s->name,
                        "no load: expected requests per second from an hour on, as in "
                        "\"0=20; 8=100; 22=40\"");
    }
    s->gpus = s->gpus > 0 ? s->gpus : (most + s->pieces - 1) / s->pieces;
    return DLS_OK;
}
