/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * driple: the place, of those free now and of the better ones expected soon, where the predictor
 * says that the job ends first. Whole nodes are left to jobs that need them when the profile says
 * that this one's network bursts fit the links (choose.h).
 */
#include "placement/choose.h"

static const dls_option options[] = {DLS_CHOOSE_WAIT_ROWS, DLS_CHOOSE_LEFTOVER_ROWS, {0}};

const dls_placement_ops dls_placement_ops_driple = {
    .abi = DLS_POLICY_ABI,
    .name = "driple",
    .summary =
        "where the predictor says that the job ends first, waiting for a better place counted",
    .options = options,
    .needs_prediction = true,
    .state_bytes = sizeof(dls_choose),
    .init = dls_choose_init_all,
    .fini = dls_choose_fini,
    .clone = dls_choose_clone,
    .place = dls_choose_place,
    .cost = dls_choose_cost,
    .started = dls_traffic_started,
    .stopped = dls_traffic_stopped,
};
