/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * easy: in order of submission; jobs behind the first that must wait may start if that does not
 * delay it, by the run times that are known or estimated (Lifka, JSSPP 1995; Mu'alem and
 * Feitelson, IEEE TPDS 12(6), 2001).
 */
#include "dlsim/policy.h"

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    (void)state;
    (void)why;
    out->key = view->submit_us[job];
}

const dls_sched_ops dls_sched_ops_easy = {
    .abi = DLS_POLICY_ABI,
    .name = "easy",
    .summary = "first come, first served, with EASY backfilling",
    .discipline = DLS_EASY,
    .ageing = DLS_AGE_NONE,
    .priority = priority,
};
