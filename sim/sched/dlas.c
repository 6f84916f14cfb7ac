/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Discretised least attained service: dlas by executed time alone, dlas-gpu by executed time x
 * GPUs. With two or three queues the latter is Tiresias-L (NSDI 2019, section 3.3); the default
 * thresholds are those of its public simulator.
 */
#include "sched/mlfq.h"

enum { OPT_LIMITS, OPT_KNOB };
static const dls_option options[] = {
    DLS_MLFQ_LIMITS(DLS_OPT_TIME_LIST, "3250,7200", ""),
    DLS_MLFQ_KNOB,
    {0},
};

static const dls_option gpu_options[] = {
    DLS_MLFQ_LIMITS(DLS_OPT_F64_LIST, "3250,7200", "GPU-s"),
    DLS_MLFQ_KNOB,
    {0},
};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    return dls_mlfq_init(state, &values[OPT_LIMITS], values[OPT_KNOB].f, false, "dlas", err);
}

static dls_status gpu_init(void *state, const dls_view *view, const dls_option_value *values,
                           dls_error *err)
{
    return dls_mlfq_init(state, &values[OPT_LIMITS], values[OPT_KNOB].f, true, "dlas-gpu", err);
}

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    dls_mlfq_priority(state, view, job, why, dls_view_job_state(view, job), out);
}

const dls_sched_ops dls_sched_ops_dlas = {
    .abi = DLS_POLICY_ABI,
    .name = "dlas",
    .summary = "least attained time first, in queues",
    .options = options,
    .state_bytes = sizeof(dls_mlfq),
    .job_state_bytes = sizeof(dls_mlfq_job),
    .discipline = DLS_PREEMPT,
    .init = init,
    .priority = priority,
};

const dls_sched_ops dls_sched_ops_dlas_gpu = {
    .abi = DLS_POLICY_ABI,
    .name = "dlas-gpu",
    .summary = "least attained service (time x GPUs) first, in queues: Tiresias-L",
    .options = gpu_options,
    .state_bytes = sizeof(dls_mlfq),
    .job_state_bytes = sizeof(dls_mlfq_job),
    .discipline = DLS_PREEMPT,
    .init = gpu_init,
    .priority = priority,
};
