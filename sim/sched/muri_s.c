/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Muri-S: least remaining service (time x GPUs) first; run times are known or predicted.
 */
#include "sched/muri.h"

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    return dls_muri_init(state, view, values, false, err);
}

const dls_sched_ops dls_sched_ops_muri_s = {
    .abi = DLS_POLICY_ABI,
    .name = "muri-s",
    .summary =
        "jobs that need different resources share GPUs, least remaining service first (Muri-S)",
    .options = dls_muri_options,
    .state_bytes = sizeof(dls_muri_state),
    .job_state_bytes = sizeof(dls_muri_seen),
    .init = init,
    .fini = dls_muri_fini,
    .round = dls_muri_round,
    .timing = dls_muri_timing,
    .joins = true,
    .clone = dls_muri_clone,
};
