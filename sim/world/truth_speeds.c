/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The truth `speeds`: jobs run as long as the trace says, divided by the speed of the GPU type,
 * wherever they are placed; a power limit makes it smaller (cluster/power.h).
 */
#include "world/truth.h"

#include "base/own.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

typedef struct state {
    double speed[DLS_TYPES_MAX + 1];
} state;

static dls_status wrong(const char *entry, size_t len, dls_error *err)
{
    return dls_fail(err, DLS_ECONFIG, "perf.speeds",
                    "\"%.*s\" is not TYPE=SPEED with a speed of 0.001 to 1000",
                    (int)(len < 80 ? len : 80), entry);
}

/* One entry; a type that the cluster has not got is passed over: a study may vary the cluster. */
static dls_status take_entry(state *s, const dls_gpu_type *types, int32_t n_types,
                             const char *entry, size_t len, dls_error *err)
{
    char text[2 * DLS_NAME_MAX], *equals;
    double speed;
    if (len >= sizeof text) {
        return wrong(entry, len, err);
    }
    snprintf(text, sizeof text, "%.*s", (int)len, entry);
    equals = strchr(text, '=');
    if (!equals || equals == text || !dls_units_f64(equals + 1, &speed) || !(speed >= 1e-3) ||
        speed > 1e3) {
        return wrong(entry, len, err);
    }
    *equals = '\0';
    for (int32_t t = 0; t < n_types; t++) {
        if (strcasecmp(types[t].name, text) == 0) {
            s->speed[t] = speed;
        }
    }
    return DLS_OK;
}

static void speeds_close(void *opaque)
{
    dls_free(opaque);
}

static dls_status speeds_open(const dls_world_params *p, const dls_gpu_type *types, int32_t n_types,
                              void **out, dls_error *err)
{
    DLS_FREED state *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "speeds", err));
    for (int32_t t = 0; t <= DLS_TYPES_MAX; t++) {
        s->speed[t] = 1;
    }
    const char *at = p->speeds ? p->speeds : "";
    for (at += strspn(at, "; "); *at; at += strspn(at, "; ")) {
        const size_t len = strcspn(at, "; ");
        DLS_TRY(take_entry(s, types, n_types, at, len, err));
        at += len;
    }
    for (int32_t t = 0; t < n_types && p->power && p->power->limit_w > 0; t++) {
        dls_gpu_power gpu;
        double slower;
        DLS_TRY(dls_gpu_power_of(p->power->gpus, types[t].name, &gpu, err));
        dls_gpu_power_limited(&gpu, dls_gpu_power_at(&gpu, p->power->utilisation),
                              p->power->limit_w, &slower);
        s->speed[t] /= slower;
    }
    *out = dls_take(&s);
    return DLS_OK;
}

static dls_status speeds_solo(void *opaque, const dls_truth_ask *ask, dls_solo *out,
                              dls_truth_note *note, dls_error *err)
{
    const state *s = opaque;
    const double iteration_s = 1 / s->speed[ask->type];
    *out = (dls_solo){.iteration_s = iteration_s, .compute_s = iteration_s, .gamma = 1};
    return DLS_OK;
}

const dls_truth_ops dls_truth_ops_speeds = {
    .name = "speeds",
    .summary = "as long as the trace says, divided by the speed of the GPU type",
    .durations = true,
    .open = speeds_open,
    .close = speeds_close,
    .solo = speeds_solo,
};
