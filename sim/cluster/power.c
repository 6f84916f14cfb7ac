/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Power of the table of GPUs or of a text. Static power is not in data sheets: where nobody has
 * fitted it to measured runs it is taken as a fifth of the board's.
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
    char name[DLS_NAME_MAX];
    bool found = known != NULL;
    if (known) {
        out->most_w = known->board_w;
        out->static_w = known->static_w > 0 ? known->static_w : STATIC_PART * known->board_w;
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
