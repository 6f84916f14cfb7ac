/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Multi-level feedback queues by attained service: what dlas, dlas-gpu, gittins and multi-dlas-gpu
 * share (Tiresias, NSDI 2019, section 3: discretised two-dimensional age-based scheduling).
 *
 * A job sits in the queue whose thresholds enclose the service that it has attained since it entered
 * the system or was last promoted. It is demoted the moment it reaches a threshold. With a
 * starvation knob K > 0 a waiting job returns to the first queue when it has waited K times as long
 * as it had run since its last promotion. In a queue: in order of first start, then of submission.
 */
#ifndef DLS_SCHED_MLFQ_H
#define DLS_SCHED_MLFQ_H

#include "dlsim/policy.h"

typedef struct dls_mlfq {
    int64_t limit_us[DLS_OPT_LIST_MAX]; /* service at which a job leaves queue i */
    int32_t n_limits;
    double knob;       /* 0: never promote */
    bool by_gpu;       /* service counts GPUs */
} dls_mlfq;

typedef struct dls_mlfq_job {
    int64_t base_us;   /* executed time at the last promotion */
    int32_t level;
} dls_mlfq_job;

/* Level, order in the queue, promotion and the time of the next change; returns the service
 * attained since the last promotion, in (GPU-)microseconds. */
int64_t dls_mlfq_priority(const dls_mlfq *q, const dls_view *view, int32_t job,
                          dls_mlfq_job *state, dls_priority *out);

/* Thresholds in (GPU-)seconds as given by an option; ascending and above 0. */
dls_status dls_mlfq_init(dls_mlfq *q, const dls_option_value *limits_s, double knob, bool by_gpu,
                         const char *who, dls_error *err) DLS_MUST_CHECK;

#endif
