/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Places a job in its queue by attained service, demotes and promotes it, and says when its queue
 * next changes.
 */
#include "sched/mlfq.h"

dls_status dls_mlfq_init(dls_mlfq *q, const dls_option_value *limits_s, double knob, bool by_gpu,
                         const char *who, dls_error *err)
{
    q->n_limits = limits_s->n_list;
    q->knob = knob;
    q->by_gpu = by_gpu;
    for (int32_t i = 0; i < q->n_limits; i++) {
        q->limit_us[i] = (int64_t)(limits_s->list[i] * 1e6 + 0.5);
        if (q->limit_us[i] <= (i ? q->limit_us[i - 1] : 0)) {
            return dls_fail(err, DLS_ECONFIG, who, "queue thresholds must ascend from above 0");
        }
    }
    return DLS_OK;
}

/* Where the job now stands in its queue. `moved`: it has just come to this queue. */
static void find_place(dls_mlfq *q, const dls_view *view, int32_t job, dls_job_event why,
                       bool moved, dls_mlfq_job *state, dls_priority *out)
{
    if (why == DLS_EVENT_SUBMITTED || moved) {
        state->place = DLS_MLFQ_WAITING + ++q->entered;
        out->ask_after_pass = view->running[job];
    } else if (why == DLS_EVENT_STARTED ||
               (why == DLS_EVENT_PASSED && view->running[job] && state->place > DLS_MLFQ_WAITING)) {
        state->place = ++q->started;
    } else if (why == DLS_EVENT_PREEMPTED && state->place < DLS_MLFQ_WAITING / 2) {
        /* Those preempted in one pass keep their order, in front of all earlier ones. */
        const int64_t block = DLS_MLFQ_BLOCK;
        if (q->front == 0 || q->front_pass != view->pass) {
            q->front_pass = view->pass;
            q->front = q->front / block * block + block;
        }
        state->place = DLS_MLFQ_WAITING - q->front / block * block + q->front % block;
        q->front++;
    }
}

int64_t dls_mlfq_priority(dls_mlfq *q, const dls_view *view, int32_t job, dls_job_event why,
                          dls_mlfq_job *state, dls_priority *out)
{
    const int32_t weight = q->by_gpu ? view->gpus[job] : 1;
    const int64_t total_us = dls_view_executed_us(view, job);
    const int32_t old_level = state->level;
    int64_t executed_us = total_us - state->base_us;
    if (!view->running[job] && q->knob > 0 && state->level > 0 && executed_us > 0) {
        const double wait_us = q->knob * (double)executed_us;
        const int64_t due_us = wait_us < 9e18 - (double)view->since_us[job]
                                   ? view->since_us[job] + (int64_t)(wait_us + 0.999999)
                                   : DLS_NEVER;
        if (view->now_us >= due_us) {
            state->base_us = total_us;
            state->level = 0;
            executed_us = 0;
            out->promoted = true;
        } else {
            out->alarm = DLS_ALARM_RESCHEDULE;
            out->alarm_us = due_us;
        }
    }
    const int64_t attained_us = dls_service_us(executed_us, weight);
    while (state->level < q->n_limits && attained_us >= q->limit_us[state->level]) {
        state->level++;
    }
    if (view->running[job] && state->level < q->n_limits) {
        /* No progress while a checkpoint is written, nor before it is restored. */
        const int64_t saved_us = dls_view_saved_us(view, job), restored_us = view->progress_us[job];
        out->alarm = DLS_ALARM_RESCHEDULE;
        out->alarm_us = (saved_us > restored_us ? saved_us : restored_us) +
                        (q->limit_us[state->level] - attained_us + weight - 1) / weight;
    }
    find_place(q, view, job, why, out->promoted || state->level != old_level, state, out);
    out->level = state->level;
    out->key = state->place;
    return attained_us;
}
