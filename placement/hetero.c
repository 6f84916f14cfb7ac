/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * hetero: of the GPU types that a job may use and that have room now, the one on which the
 * predictor expects it to end first; there as `consolidated`. It never waits for a faster type. A
 * job of which the predictor knows nothing finds all types equal.
 */
#include "dlsim/memory.h"
#include "placement/fit.h"

#include <math.h>

typedef struct hetero {
    dls_grant *trial;
} hetero;

static dls_status init(void *state, const dls_place_index *index, const dls_option_value *values,
                       dls_error *err)
{
    hetero *h = state;
    h->trial = dls_grant_create();
    return h->trial ? DLS_OK : dls_nomem(err, "hetero", 0);
}

static void fini(void *state)
{
    dls_grant_destroy(((hetero *)state)->trial);
}

static dls_status clone(void *state, const void *from, const dls_place_index *index, dls_error *err)
{
    return init(state, index, NULL, err);
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    return dls_fit_consolidated(index, r, grant);
}

static double cost(void *state, const dls_place_index *index, const dls_request *r)
{
    hetero *h = state;
    dls_prediction f;
    dls_shape shape;
    dls_grant_reset(h->trial);
    if (!dls_fit_consolidated(index, r, h->trial) || !dls_grant_shape(h->trial, index, &shape)) {
        const double ideal_s = dls_fit_ideal_s(index, r);
        return isnan(ideal_s) ? 0 : ideal_s;
    }
    return dls_place_predict(r, r->job, &shape, &f) ? f.remaining_s : 0;
}

const dls_placement_ops dls_placement_ops_hetero = {
    .abi = DLS_POLICY_ABI,
    .name = "hetero",
    .summary = "the GPU type that is predicted to be fastest, there on the fewest nodes",
    .needs_prediction = true,
    .state_bytes = sizeof(hetero),
    .init = init,
    .fini = fini,
    .clone = clone,
    .place = place,
    .cost = cost,
};
