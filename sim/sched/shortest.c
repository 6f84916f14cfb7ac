/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The smallest first; the five differ in what is small.
 *
 *   sjf           (smallest job first) GPUs; preemptive, as in the Tiresias simulator
 *   sjf-duration  the run time, known or estimated; skips what does not fit, interrupts no job
 *   qssf          run time x GPUs, estimated; from the head until one does not fit (Helios, SC 2021)
 *   srtf          what remains of the run time, which is known
 *   srsf          what remains of the service, which is run time x GPUs (Tiresias, NSDI 2019, section 3.1)
 */
#include "dlsim/policy.h"

static void by_gpus(void *state, const dls_view *view, int32_t job, dls_job_event why,
                    dls_priority *out)
{
    out->key = view->gpus[job];
}

static void by_estimate(void *state, const dls_view *view, int32_t job, dls_job_event why,
                        dls_priority *out)
{
    out->key = view->estimate_us[job];
}

static void by_expected_service(void *state, const dls_view *view, int32_t job, dls_job_event why,
                                dls_priority *out)
{
    out->key = dls_service_us(view->estimate_us[job], view->gpus[job]);
}

static void by_time_left(void *state, const dls_view *view, int32_t job, dls_job_event why,
                         dls_priority *out)
{
    out->key = dls_view_remaining_us(view, job);
}

static void by_service_left(void *state, const dls_view *view, int32_t job, dls_job_event why,
                            dls_priority *out)
{
    out->key = dls_service_us(dls_view_remaining_us(view, job), view->gpus[job]);
}

const dls_sched_ops dls_sched_ops_sjf = {
    .abi = DLS_POLICY_ABI,
    .name = "sjf",
    .summary = "fewest GPUs first, preemptive",
    .discipline = DLS_PREEMPT,
    .priority = by_gpus,
};

const dls_sched_ops dls_sched_ops_sjf_duration = {
    .abi = DLS_POLICY_ABI,
    .name = "sjf-duration",
    .summary = "shortest run time first, without preemption",
    .discipline = DLS_FIT,
    .priority = by_estimate,
};

const dls_sched_ops dls_sched_ops_qssf = {
    .abi = DLS_POLICY_ABI,
    .name = "qssf",
    .summary = "least estimated service (time x GPUs) first, without preemption (QSSF)",
    .discipline = DLS_STRICT,
    .priority = by_expected_service,
};

const dls_sched_ops dls_sched_ops_srtf = {
    .abi = DLS_POLICY_ABI,
    .name = "srtf",
    .summary = "shortest remaining time first",
    .discipline = DLS_PREEMPT,
    .ageing = DLS_AGE_TIME,
    .priority = by_time_left,
};

const dls_sched_ops dls_sched_ops_srsf = {
    .abi = DLS_POLICY_ABI,
    .name = "srsf",
    .summary = "shortest remaining service (time x GPUs) first",
    .discipline = DLS_PREEMPT,
    .ageing = DLS_AGE_SERVICE,
    .priority = by_service_left,
};
