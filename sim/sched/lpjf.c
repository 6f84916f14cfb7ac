/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * lpjf (longest pending job first), stopping at the first that does not fit, as the Tiresias
 * simulator meant it. Without preemption the longest pending job is the one submitted first, so its
 * schedules are those of fifo; the simulator's own lpjf differs by a defect (docs/tiresias-compat.md).
 */
#include "dlsim/policy.h"

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    (void)state;
    (void)why;
    out->key = view->submit_us[job];
}

const dls_sched_ops dls_sched_ops_lpjf = {
    .abi = DLS_POLICY_ABI,
    .name = "lpjf",
    .summary = "longest pending first, strictly",
    .discipline = DLS_STRICT,
    .ageing = DLS_AGE_NONE,
    .priority = priority,
};
