/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * sjf (smallest job first): fewest GPUs first; preemptive, as in the Tiresias simulator.
 */
#include "dlsim/policy.h"

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    (void)state;
    (void)why;
    out->key = view->gpus[job];
}

const dls_sched_ops dls_sched_ops_sjf = {
    .abi = DLS_POLICY_ABI,
    .name = "sjf",
    .summary = "fewest GPUs first, preemptive",
    .discipline = DLS_PREEMPT,
    .ageing = DLS_AGE_NONE,
    .priority = priority,
};
