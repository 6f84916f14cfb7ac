/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Multi-level feedback queues by attained service: what dlas, dlas-gpu, gittins and multi-dlas-gpu
 * share (Tiresias, NSDI 2019, section 3: discretised two-dimensional age-based scheduling).
 *
 * A job sits in the queue whose thresholds enclose the service that it has attained since it entered
 * the system or was last promoted. It is demoted the moment it reaches a threshold. With a
 * starvation knob K > 0 a waiting job returns to the first queue when it has waited K times as long
 * as it had run since its last promotion.
 *
 * A queue has a running part in front and a waiting part behind. A job that starts joins the end of
 * the running part, one that is preempted the front of the waiting part; a new, a promoted or a
 * demoted job enters at the very end, and a demoted one that keeps its GPUs all the same moves up to
 * the end of the running part. So within a queue nobody preempts anybody except by fitting better.
 */
#ifndef DLS_SCHED_MLFQ_H
#define DLS_SCHED_MLFQ_H

#include "dlsim/policy.h"

/* The options of the queues: thresholds, and the starvation knob. */
#define DLS_MLFQ_LIMITS(list_type, default_text, unit_text)                                        \
    {                                                                                              \
        .name = "queue_limits", .type = list_type, .min = 0, .max = 1e12, .def = default_text,     \
        .unit = unit_text,                                                                         \
        .doc = "attained service at which a job leaves each queue for the next"                    \
    }
#define DLS_MLFQ_KNOB                                                                              \
    {                                                                                              \
        .name = "promote_knob", .type = DLS_OPT_F64, .min = 0, .max = 1e9, .def = "0", .unit = "", \
        .doc = "PROMOTEKNOB: back to the first queue after waiting so many times the executed "    \
               "time; 0 never"                                                                     \
    }

/* Below 2^58, so that ordered sets tell places apart without looking ranks up. */
#define DLS_MLFQ_WAITING (INT64_C(1) << 57)
#define DLS_MLFQ_BLOCK (INT64_C(1) << 24) /* most that a pass preempts; there is room for 2^32 such passes */

typedef struct dls_mlfq {
    int64_t limit_us[DLS_OPT_LIST_MAX]; /* service at which a job leaves queue i */
    int32_t n_limits;
    double knob;       /* 0: never promote */
    bool by_gpu;       /* service counts GPUs */
    int64_t started;   /* jobs that have joined a running part */
    int64_t entered;   /* jobs that have entered at the end of a waiting part */
    int64_t front;     /* of the waiting parts, in blocks, one for each pass that preempts */
    uint64_t front_pass; /* the pass of the last block */
} dls_mlfq;

typedef struct dls_mlfq_job {
    int64_t base_us;   /* executed time at the last promotion */
    int64_t place;     /* in the queue: running parts below DLS_MLFQ_WAITING, waiting parts around it */
    int32_t level;
} dls_mlfq_job;

/* Level, order in the queue, promotion and the time of the next change; returns the service
 * attained since the last promotion, in (GPU-)microseconds. */
int64_t dls_mlfq_priority(dls_mlfq *q, const dls_view *view, int32_t job, dls_job_event why,
                          dls_mlfq_job *state, dls_priority *out);

/* Thresholds in (GPU-)seconds as given by an option; ascending and above 0. */
dls_status dls_mlfq_init(dls_mlfq *q, const dls_option_value *limits_s, double knob, bool by_gpu,
                         const char *who, dls_error *err) DLS_MUST_CHECK;

#endif
