/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Levels of elastic jobs (elastic_levels.h).
 */
#include "sched/elastic_levels.h"

void dls_levels_of(const dls_view *view, int32_t job, int32_t type, dls_levels *out)
{
    const int32_t least = view->min_gpus[job], most = view->max_gpus[job], gang = view->gpus[job];
    out->n = 0;
    for (int64_t next, g = least; g <= most && out->n < DLS_LEVELS_MAX; g = next) {
        next = 1;
        while (next <= g) {
            next *= 2;
        }
        next = g < gang && gang < next ? gang : next;
        next = g < most && most < next ? most : next;
        const dls_shape shape = dls_view_packed(view, type, g);
        const double speed = dls_view_speed(view, job, &shape, DLS_ABSENT);
        if (out->n > 0 && !(speed > out->speed[out->n - 1])) {
            return;
        }
        out->gpus[out->n] = (int32_t)g;
        out->speed[out->n++] = speed;
    }
}

int32_t dls_level_within(const dls_levels *l, int64_t gpus)
{
    int32_t best = 0;
    for (int32_t i = 0; i < l->n && l->gpus[i] <= gpus; i++) {
        best = l->gpus[i];
    }
    return best;
}
