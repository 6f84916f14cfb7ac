/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Board power of the table of GPUs, from the data sheets named in gpu_table.c. Static power is not
 * in data sheets: of four types it is fitted to measured runs, of the others a fifth of the
 * board's.
 */
#include "cluster/power.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DUTY 0.619
#define SPEED 2.151
#define STATIC_PART 0.2

static const struct {
    const char *name;
    double most_w, static_w; /* 0: not measured */
} boards[] = {
    {"K80", 150, 0},
    {"K40", 235, 0},
    {"TITAN-X-MAXWELL", 250, 0},
    {"P100", 300, 33.26},
    {"P100-PCIE", 250, 33.26},
    {"P40", 250, 0},
    {"TITAN-X", 250, 0},
    {"TITAN-XP", 250, 0},
    {"GTX1080TI", 250, 0},
    {"V100", 300, 20.85},
    {"V100-32GB", 300, 20.85},
    {"V100-PCIE", 250, 20.85},
    {"V100-PCIE-32GB", 250, 20.85},
    {"T4", 70, 0},
    {"RTX2080TI", 250, 0},
    {"TITAN-RTX", 280, 0},
    {"RTX6000", 260, 54.64},
    {"RTX8000", 260, 54.64},
    {"A100", 400, 0},
    {"A100-80GB", 400, 0},
    {"A100-PCIE", 250, 0},
    {"A100-PCIE-80GB", 300, 0},
    {"A800", 400, 0},
    {"A10", 150, 0},
    {"A30", 165, 0},
    {"A40", 300, 79.85},
    {"RTX3090", 350, 0},
    {"L4", 72, 0},
    {"L40S", 350, 0},
    {"RTX4090", 450, 0},
    {"H100", 700, 0},
    {"H100-PCIE", 350, 0},
    {"H800", 700, 0},
    {"H200", 700, 0},
};

/* One "TYPE=STATIC:MOST". */
static bool entry_of(const char *text, size_t len, char name[DLS_NAME_MAX], dls_gpu_power *out)
{
    char buf[3 * DLS_NAME_MAX], *equals, *end;
    if (len >= sizeof buf) {
        return false;
    }
    memcpy(buf, text, len);
    buf[len] = '\0';
    equals = strchr(buf, '=');
    if (!equals || equals == buf || equals - buf >= DLS_NAME_MAX) {
        return false;
    }
    snprintf(name, DLS_NAME_MAX, "%.*s", (int)(equals - buf), buf);
    out->static_w = strtod(equals + 1, &end);
    if (end == equals + 1 || *end != ':') {
        return false;
    }
    const char *most = end + 1;
    out->most_w = strtod(most, &end);
    return end != most && *end == '\0' && out->static_w >= 0 && out->most_w > out->static_w &&
           out->most_w < 1e5;
}

dls_status dls_gpu_power_of(const char *own, const char *type, dls_gpu_power *out, dls_error *err)
{
    const dls_gpu_type *known = dls_gpu_find(type);
    const char *called = known ? known->name : type;
    char name[DLS_NAME_MAX];
    bool found = false;
    for (size_t i = 0; i < sizeof boards / sizeof boards[0]; i++) {
        if (strcasecmp(boards[i].name, called) == 0) {
            out->most_w = boards[i].most_w;
            out->static_w =
                boards[i].static_w > 0 ? boards[i].static_w : STATIC_PART * boards[i].most_w;
            found = true;
        }
    }
    const char *at = own ? own : "";
    for (at += strspn(at, "; "); *at; at += strspn(at, "; ")) {
        const size_t len = strcspn(at, "; ");
        dls_gpu_power given;
        if (!entry_of(at, len, name, &given)) {
            return dls_fail(err, DLS_ECONFIG, "energy.gpus",
                            "\"%.*s\" is not TYPE=STATIC:MOST in watts, as in \"V100=40:250\"",
                            (int)(len < 80 ? len : 80), at);
        }
        if (strcasecmp(name, type) == 0) {
            *out = given;
            found = true;
        }
        at += len;
    }
    return found ? DLS_OK
                 : dls_fail(err, DLS_ECONFIG, "energy.gpus",
                            "the power of the GPU type \"%s\" is not known: give %s=STATIC:MOST",
                            type, type);
}

double dls_gpu_power_at(const dls_gpu_power *gpu, double utilisation)
{
    return gpu->static_w + utilisation * (gpu->most_w - gpu->static_w);
}

double dls_gpu_power_limited(const dls_gpu_power *gpu, double mean_w, double limit_w,
                             double *slower)
{
    const double range_w = gpu->most_w - gpu->static_w;
    const double part = fmin(fmax((mean_w - gpu->static_w) / range_w, 1e-3), 1);
    const double duty = pow(part, DUTY);
    const double peak_w = gpu->static_w + (mean_w - gpu->static_w) / duty;
    *slower = 1;
    if (!(limit_w > 0) || limit_w >= peak_w || mean_w <= gpu->static_w) {
        return mean_w;
    }
    const double left = fmin(fmax((limit_w - gpu->static_w) / (peak_w - gpu->static_w), 0.01), 1);
    const double busy = duty / pow(left, 1 / SPEED);
    *slower = busy + 1 - duty;
    return (busy * limit_w + (1 - duty) * gpu->static_w) / *slower;
}
