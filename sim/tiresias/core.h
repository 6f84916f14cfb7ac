/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the compatibility schedulers share: the job table, lazy accounting, the end of an event.
 *
 * A job is accounted when its status changes: it has been in its status since anchor_s, so
 * nothing walks all jobs at every event.
 */
#ifndef DLS_TIRESIAS_CORE_H
#define DLS_TIRESIAS_CORE_H

#include "tiresias/tiresias.h"
#include "base/evq.h"

#define DLS_TIR_NEVER INT64_MAX
/* The last second that fits in a record's microseconds; job sizes times it fit in 64 bits too. */
#define DLS_TIR_TIME_MAX_S INT64_C(9000000000000)

typedef struct dls_tir_job {
    int64_t submit_s, duration_s;
    int64_t start_s, end_s;       /* -1: not yet */
    int64_t anchor_s;             /* last change of status */
    int64_t pending_s, service_s; /* up to anchor_s */
    int64_t executed_s, waited_s; /* dlas: restart at a promotion; up to anchor_s */
    int32_t gpus, cls;            /* cls: index of gpus among the distinct sizes */
    int32_t preempts, resumes, promotes;
    uint8_t status; /* dls_job_state */
} dls_tir_job;

typedef struct dls_tir {
    const dls_tiresias_params *p;
    const dls_trace *trace;
    dls_record *rec;
    dls_tir_job *job; /* [n] in (submit, file) order */
    int32_t n;
    int32_t *size; /* [n_sizes] distinct GPU counts, ascending */
    int32_t n_sizes;
    int64_t total_gpus;
    int64_t now_s, last_s; /* this event, the previous one */
    int32_t next;          /* first job that has not arrived */
    int64_t busy_gpus;
    int32_t running, pending, finished;
    bool preemptive;             /* counts resumes, and the waiting of jobs that never end */
    bool counts_gpus;            /* placement by count: the core writes the allocation rows */
    const dls_tiresias_node *node; /* yarn only */
    int32_t n_nodes, busy_nodes, full_nodes;
    int32_t idle_nodes, sets[DLS_TIRESIAS_GANDIVA_SETS];
    size_t *row; /* [n] open allocation row of a job, SIZE_MAX: none */
    bool stop;   /* interrupted */
} dls_tir;

dls_status dls_tir_init(dls_tir *s, const dls_tiresias_params *p, const dls_trace *trace,
                        dls_record *rec, dls_error *err) DLS_MUST_CHECK;
void dls_tir_fini(dls_tir *s);

/* Submission time of the next arrival. */
static inline int64_t dls_tir_next_arrival(const dls_tir *s)
{
    return s->next < s->n ? s->job[s->next].submit_s : DLS_TIR_NEVER;
}
static inline int64_t dls_tir_service_s(const dls_tir *s, int32_t j)
{
    const dls_tir_job *job = &s->job[j];
    return job->service_s + (job->status == DLS_JOB_RUNNING ? s->now_s - job->anchor_s : 0);
}
static inline int64_t dls_tir_end_s(const dls_tir *s, int32_t j)
{
    const dls_tir_job *job = &s->job[j];
    return job->anchor_s + job->duration_s - job->service_s;
}

/* Changes of status at now_s. arrive takes job s->next. */
int32_t dls_tir_arrive(dls_tir *s);
dls_status dls_tir_start(dls_tir *s, int32_t j, dls_error *err) DLS_MUST_CHECK;
void dls_tir_suspend(dls_tir *s, int32_t j);
void dls_tir_finish(dls_tir *s, int32_t j);
/* Close the open allocation row of a job. */
void dls_tir_close_row(dls_tir *s, int32_t j);

/* Move the clock: ERUN when it leaves the range. */
dls_status dls_tir_clock(dls_tir *s, int64_t now_s, dls_error *err) DLS_MUST_CHECK;
/* The event is over: series, observers, interruption. */
dls_status dls_tir_event(dls_tir *s, dls_error *err) DLS_MUST_CHECK;
/* The run is over: fill the record. */
void dls_tir_close(dls_tir *s);

/* The schedules; each runs the whole trace. */
dls_status dls_tir_run_batch(dls_tir *s, dls_error *err) DLS_MUST_CHECK;
dls_status dls_tir_run_sorted(dls_tir *s, dls_error *err) DLS_MUST_CHECK;
dls_status dls_tir_run_sorted_yarn(dls_tir *s, dls_error *err) DLS_MUST_CHECK;
dls_status dls_tir_run_shortest(dls_tir *s, dls_error *err) DLS_MUST_CHECK;
dls_status dls_tir_run_queues(dls_tir *s, dls_error *err) DLS_MUST_CHECK;
dls_status dls_tir_run_gandiva(dls_tir *s, dls_error *err) DLS_MUST_CHECK;

#endif
