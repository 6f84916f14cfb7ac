/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * driple: the place, of those free now and of the better ones expected soon, where the predictor
 * says that the job ends first. Whole nodes are left to jobs that need them when the profile says
 * that this one's network bursts fit the links (choose.h).
 */
#include "placement/choose.h"

#include <math.h>

static const dls_option options[] = {DLS_CHOOSE_OPTION_ROWS, {0}};

static dls_status init(void *state, const dls_place_index *index, const dls_option_value *values,
                       dls_error *err)
{
    return dls_choose_init(state, index, values, err);
}

static void fini(void *state)
{
    dls_choose_fini(state);
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    return dls_choose_place(state, index, r, grant);
}

static double cost(void *state, const dls_place_index *index, const dls_request *r)
{
    return dls_choose_cost(state, index, r);
}

static void started(void *state, const dls_place_index *index, const dls_request *r,
                    const int32_t *nodes, const int32_t *gpus, size_t n)
{
    dls_choose *c = state;
    dls_traffic_started(&c->traffic, index, r, nodes, gpus, n, (double)NAN);
}

static void stopped(void *state, const dls_place_index *index, int32_t job, int64_t now_us,
                    int64_t worked_us)
{
    dls_choose *c = state;
    (void)now_us;
    (void)worked_us;
    dls_traffic_stopped(&c->traffic, index, job);
}

const dls_placement_ops dls_placement_ops_driple = {
    .abi = DLS_POLICY_ABI,
    .name = "driple",
    .summary =
        "where the predictor says that the job ends first, waiting for a better place counted",
    .options = options,
    .needs_prediction = true,
    .state_bytes = sizeof(dls_choose),
    .init = init,
    .fini = fini,
    .place = place,
    .cost = cost,
    .started = started,
    .stopped = stopped,
};
