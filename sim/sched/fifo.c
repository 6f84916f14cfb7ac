/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * fifo: in order of submission, strictly.
 */
#include "dlsim/policy.h"

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    (void)state;
    (void)why;
    out->key = view->submit_us[job];
}

const dls_sched_ops dls_sched_ops_fifo = {
    .abi = DLS_POLICY_ABI,
    .name = "fifo",
    .summary = "first come, first served; the first that does not fit blocks the rest",
    .discipline = DLS_STRICT,
    .ageing = DLS_AGE_NONE,
    .priority = priority,
};
