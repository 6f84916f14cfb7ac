/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fjf (fit job first): in order of submission; a job that does not fit is skipped, not waited for.
 */
#include "dlsim/policy.h"

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    (void)state;
    (void)why;
    out->key = view->submit_us[job];
}

const dls_sched_ops dls_sched_ops_fjf = {
    .abi = DLS_POLICY_ABI,
    .name = "fjf",
    .summary = "first come, first served, skipping what does not fit",
    .discipline = DLS_FIT,
    .ageing = DLS_AGE_NONE,
    .priority = priority,
};
