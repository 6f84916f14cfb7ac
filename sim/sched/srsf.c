/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * srsf: shortest remaining service first, service being run time x GPUs (Tiresias, NSDI 2019,
 * section 3.1); knows the run times.
 */
#include "dlsim/policy.h"

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    (void)state;
    (void)why;
    out->key = dls_service_us(dls_view_remaining_us(view, job), view->gpus[job]);
}

const dls_sched_ops dls_sched_ops_srsf = {
    .abi = DLS_POLICY_ABI,
    .name = "srsf",
    .summary = "shortest remaining service (time x GPUs) first",
    .discipline = DLS_PREEMPT,
    .ageing = DLS_AGE_SERVICE,
    .priority = priority,
};
