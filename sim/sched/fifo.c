/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In order of submission; the four differ in what happens behind the first that does not fit.
 *
 *   fifo   nothing: it blocks the rest
 *   fjf    (fit job first) it is skipped, not waited for
 *   easy   jobs behind it may start if that does not delay it, by the run times that are known or
 *          estimated (Lifka, JSSPP 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001)
 *   lpjf   (longest pending job first) as the Tiresias simulator meant it: nothing. Without
 *          preemption the longest pending job is the one submitted first, so its schedules are those
 *          of fifo; the simulator's own differs by a defect (docs/tiresias-compat.md)
 */
#include "dlsim/policy.h"

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    out->key = view->submit_us[job];
}

const dls_sched_ops dls_sched_ops_fifo = {
    .abi = DLS_POLICY_ABI,
    .name = "fifo",
    .summary = "first come, first served; the first that does not fit blocks the rest",
    .discipline = DLS_STRICT,
    .priority = priority,
};

const dls_sched_ops dls_sched_ops_fjf = {
    .abi = DLS_POLICY_ABI,
    .name = "fjf",
    .summary = "first come, first served, skipping what does not fit",
    .discipline = DLS_FIT,
    .priority = priority,
};

const dls_sched_ops dls_sched_ops_easy = {
    .abi = DLS_POLICY_ABI,
    .name = "easy",
    .summary = "first come, first served, with EASY backfilling",
    .discipline = DLS_EASY,
    .priority = priority,
};

const dls_sched_ops dls_sched_ops_lpjf = {
    .abi = DLS_POLICY_ABI,
    .name = "lpjf",
    .summary = "longest pending first, strictly",
    .discipline = DLS_STRICT,
    .priority = priority,
};
