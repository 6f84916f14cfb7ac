/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rows of Sia's programme (sia_rows.h).
 */
#include "sched/sia_rows.h"

#include <math.h>

int32_t dls_sia_configs(int32_t types, const int32_t *per_node, const int32_t *nodes,
                        dls_sia_config *out)
{
    int32_t n = 0;
    for (int32_t t = 0; t < types; t++) {
        for (int32_t g = 1; g <= per_node[t] && n < DLS_SIA_CONFIGS; g *= 2) {
            out[n++] = (dls_sia_config){t, 1, g};
        }
        for (int32_t k = 1; k <= nodes[t] && n < DLS_SIA_CONFIGS; k++) {
            const int32_t g = k * per_node[t];
            if (g > DLS_SIA_GPUS) {
                break;
            }
            if (k > 1 || (g & (g - 1)) != 0) {
                out[n++] = (dls_sia_config){t, k, g};
            }
        }
    }
    return n;
}

void dls_sia_scale(double *value, int32_t n)
{
    double least = (double)INFINITY;
    for (int32_t i = 0; i < n; i++) {
        least = value[i] > DLS_SIA_NONE ? fmin(least, value[i]) : least;
    }
    for (int32_t i = 0; i < n; i++) {
        value[i] = isinf(least) ? DLS_SIA_NONE : fmax(value[i] / least, DLS_SIA_NONE);
    }
}

double dls_sia_factor(double age_s, double restarts, double restart_s)
{
    return age_s < restart_s ? 1 : fmax(age_s - restarts * restart_s, 0) / (age_s + restart_s);
}

/* Rounded to hundredths, as published: most programmes have many optima by that, of which ties
 * decide. */
static double cost(const dls_sia_terms *terms, double value)
{
    const double rounded = fmin(round(pow(value, terms->power) * 100) / 100, 3000);
    return terms->power < 0 ? rounded : -rounded;
}

dls_status dls_sia_add(dls_choice *c, const dls_sia_terms *terms, const dls_sia_config *config,
                       const double *value, int32_t n, int32_t present, bool pinned, double factor,
                       dls_error *err)
{
    DLS_TRY(dls_choice_group(c, err));
    if (!pinned) {
        DLS_TRY(dls_choice_add(c, terms->power < 0 ? terms->lambda : 0, 0, 0, err));
    }
    for (int32_t i = 0; i < n; i++) {
        const bool changes = present >= 0 && i != present;
        if (pinned ? i != present : !(value[i] > DLS_SIA_NONE)) {
            continue; /* nothing is always cheaper than what cannot be used */
        }
        const double tie = (present < 0 ? 0 : changes ? 1e-6 : 0) + 1e-9 * i;
        DLS_TRY(dls_choice_add(c, cost(terms, value[i] * (changes ? factor : 1)) + tie,
                               config[i].type, config[i].gpus, err));
    }
    return DLS_OK;
}

