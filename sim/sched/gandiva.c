/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gandiva: time slicing in the manner of Gandiva (OSDI 2018): no priorities, no knowledge of run
 * times; waiting and running jobs take turns. A job that has had its slice while others wait goes to
 * the back of the queue; one at the front runs until its slice is over. Packing and migration of the
 * original are not modelled.
 *
 * While jobs wait it costs a look at every running job per slice, and up to a preemption; while none
 * waits, nothing.
 */
#include "dlsim/policy.h"

enum { OPT_SLICE };
static const dls_option options[] = {
    {.name = "slice",
     .type = DLS_OPT_TIME,
     .min = 1,
     .max = 1e9,
     .def = "60 s",
     .unit = "",
     .doc = "time a job keeps its GPUs while others wait"},
    {0},
};

struct gandiva {
    int64_t slice_us;
    int64_t turn; /* the back of the queue */
};

static dls_status init(void *state, const dls_view *view, const dls_option_value *values,
                       dls_error *err)
{
    struct gandiva *g = state;
    g->slice_us = (int64_t)(values[OPT_SLICE].f * 1e6);
    return DLS_OK;
}

static void priority(void *state, const dls_view *view, int32_t job, dls_job_event why,
                     dls_priority *out)
{
    struct gandiva *g = state;
    int64_t *place = dls_view_job_state(view, job);
    if (why == DLS_EVENT_SUBMITTED || why == DLS_EVENT_DUE) {
        *place = ++g->turn;
    }
    out->key = *place;
    if (view->running[job]) {
        /* A slice is time in which the job progresses: restoring does not use it up. */
        const int64_t from_us = view->progress_us[job];
        out->alarm = DLS_ALARM_YIELD;
        out->alarm_us = (from_us > view->now_us ? from_us : view->now_us) + g->slice_us;
    }
}

const dls_sched_ops dls_sched_ops_gandiva = {
    .abi = DLS_POLICY_ABI,
    .name = "gandiva",
    .summary = "time slicing: jobs take turns",
    .options = options,
    .state_bytes = sizeof(struct gandiva),
    .job_state_bytes = sizeof(int64_t),
    .discipline = DLS_PREEMPT,
    .init = init,
    .priority = priority,
};
