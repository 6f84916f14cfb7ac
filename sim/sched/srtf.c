/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * srtf: shortest remaining run time first; knows the run times.
 */
#include "dlsim/policy.h"

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    (void)state;
    (void)why;
    out->key = dls_view_remaining_us(view, job);
}

const dls_sched_ops dls_sched_ops_srtf = {
    .abi = DLS_POLICY_ABI,
    .name = "srtf",
    .summary = "shortest remaining time first",
    .discipline = DLS_PREEMPT,
    .ageing = DLS_AGE_TIME,
    .priority = priority,
};
