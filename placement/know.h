/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a placement policy may ask of the predictor during one request: a small table of functions,
 * so that placement/ knows nothing of where forecasts come from. The engine fills it from
 * sim/predictions; tests fill it by hand.
 */
#ifndef DLS_PLACEMENT_KNOW_H
#define DLS_PLACEMENT_KNOW_H

#include "dlsim/policy.h"

struct dls_know {
    /* false: nothing is known of the job. */
    bool (*forecast)(void *user, int32_t job, const dls_shape *shape, dls_forecast *out);
    /* The candidate shapes of a job, best first; borrowed until the next request. */
    const dls_shape *(*candidates)(void *user, int32_t job, size_t *n);
    void *user;
};

#endif
