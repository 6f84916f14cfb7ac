/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sjf-duration: the job with the shortest run time (known or estimated) first, skipping what does
 * not fit; a running job is never interrupted.
 */
#include "dlsim/policy.h"

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    (void)state;
    (void)why;
    out->key = view->estimate_us[job];
}

const dls_sched_ops dls_sched_ops_sjf_duration = {
    .abi = DLS_POLICY_ABI,
    .name = "sjf-duration",
    .summary = "shortest run time first, without preemption",
    .discipline = DLS_FIT,
    .ageing = DLS_AGE_NONE,
    .priority = priority,
};
