/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The two orders of Muri: muri-s, least remaining service (time x GPUs) first, for which run times
 * are known or predicted; muri-l, least attained service first, which does not look at them.
 */
#include "sched/gangs.h"
#include "sched/muri.h"

static dls_status init_s(void *state, const dls_view *view, const dls_option_value *values,
                         dls_error *err)
{
    return dls_muri_init(state, view, values, false, err);
}

static dls_status init_l(void *state, const dls_view *view, const dls_option_value *values,
                         dls_error *err)
{
    return dls_muri_init(state, view, values, true, err);
}

#define MURI                                                                                       \
    .abi = DLS_POLICY_ABI, .options = dls_muri_options, .state_bytes = sizeof(dls_muri_state),     \
    .job_state_bytes = sizeof(dls_muri_seen), .fini = dls_muri_fini, .clone = dls_muri_clone,      \
    .round = dls_muri_round, .timing = dls_muri_timing, .joins = true, .rigid = true

const dls_sched_ops dls_sched_ops_muri_s = {
    .name = "muri-s",
    .summary =
        "jobs that need different resources share GPUs, least remaining service first (Muri-S)",
    .init = init_s,
    MURI,
};

const dls_sched_ops dls_sched_ops_muri_l = {
    .name = "muri-l",
    .summary =
        "jobs that need different resources share GPUs, least attained service first (Muri-L)",
    .init = init_l,
    MURI,
};
