/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the compatibility schedulers share: the job table, lazy accounting, predicted ends, the loop
 * over events.
 *
 * A job is accounted when its status changes: it has been in its status since anchor_s, so
 * nothing walks all jobs at every event.
 */
#ifndef DLS_TIRESIAS_CORE_H
#define DLS_TIRESIAS_CORE_H

#include "base/evq.h"
#include "tiresias/gittins.h"
#include "tiresias/tiresias.h"

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
    int64_t events, changes;       /* events so far; arrivals and ends so far */
    dls_evq ends;                  /* running jobs, in seconds */
    int32_t *due;                  /* [n] for dls_tir_due, else scratch */
    dls_tir_samples samples;       /* if the schedule needs them */
    int32_t knob2;                 /* twice the starvation knob; 0: none */
    bool preemptive;               /* counts resumes, and the waiting of jobs that never end */
    bool sliced;                   /* gandiva: nobody can say when a running job ends */
    bool stop;                     /* interrupted */
    const dls_tiresias_node *node; /* yarn only */
    int32_t n_nodes, idle_nodes, sets[DLS_TIRESIAS_GANDIVA_SETS];
    void *arrays;       /* a list of all that dls_tir_array gave */
    bool out_of_memory; /* it once failed */
} dls_tir;

/* A family of schedules: its state, all zero at first, and what happens at an event. */
typedef struct dls_tir_family {
    size_t size;
    dls_status (*init)(void *state, dls_tir *s, dls_error *err);
    dls_status (*event)(void *state, dls_error *err);
    void (*fini)(void *state); /* NULL: it has arrays only */
} dls_tir_family;

extern const dls_tir_family dls_tir_family_batch, dls_tir_family_sorted_yarn,
    dls_tir_family_shortest, dls_tir_family_queues, dls_tir_family_gandiva;

/* Replay the trace with a schedule of the family. */
dls_status dls_tir_run(const dls_tir_family *family, int32_t knob2, const dls_tiresias_params *p,
                       const dls_trace *trace, dls_record *rec, dls_error *err) DLS_MUST_CHECK;

/* n zero elements that live as long as the run. NULL without memory; whoever asks for several looks
 * at them at once, by dls_tir_arrays_got. */
void *dls_tir_array(dls_tir *s, size_t n, size_t size);
dls_status dls_tir_arrays_got(const dls_tir *s, dls_error *err) DLS_MUST_CHECK;

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

/* The earliest predicted end. */
static inline int64_t dls_tir_next_end(const dls_tir *s)
{
    return dls_evq_empty(&s->ends) ? DLS_TIR_NEVER : dls_evq_top(&s->ends).time_us;
}

/* Move the clock: ERUN when it leaves the range. */
dls_status dls_tir_clock(dls_tir *s, int64_t now_s, dls_error *err) DLS_MUST_CHECK;
/* The same, to the next arrival or end. */
dls_status dls_tir_advance(dls_tir *s, dls_error *err) DLS_MUST_CHECK;
/* Which running jobs are to end at t_s, no other being due before: out [n] by index, returns how
 * many. They stay in s->ends until they finish. */
int32_t dls_tir_due(dls_tir *s, int64_t t_s, int32_t *out);

/* Changes of status at now_s; s->ends follows. arrive takes job s->next. */
int32_t dls_tir_arrive(dls_tir *s);
dls_status dls_tir_start(dls_tir *s, int32_t j, dls_error *err) DLS_MUST_CHECK;
void dls_tir_suspend(dls_tir *s, int32_t j);
void dls_tir_finish(dls_tir *s, int32_t j);

/* The event is over: observers, interruption. */
dls_status dls_tir_event(dls_tir *s, dls_error *err) DLS_MUST_CHECK;

/* Order of int32_t, for qsort. */
int dls_tir_compare_i32(const void *a, const void *b);

#endif
