/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the replay of Lucid's simulator: one virtual cluster, its clock, and what a policy does in
 * a tick.
 */
#ifndef DLS_LUCID_CORE_H
#define DLS_LUCID_CORE_H

#include "lucid/lucid.h"

/* GPUs that a job holds, or two jobs together. */
typedef struct dls_lucid_seat {
    int32_t jobs, n;
    struct dls_lucid_part {
        int32_t node;
        uint32_t mask;
    } part[]; /* [n] in the order of taking */
} dls_lucid_seat;

typedef struct dls_lucid_state {
    double left, rate; /* seconds of work after tick `at_s`, and what is done of it in a tick */
    int64_t at_s, since_s, end_s; /* end_s: the tick in which its end will be seen */
    int64_t attained;             /* ticks x GPUs, up to at_s */
    double priority;
    dls_lucid_seat *seat; /* NULL: it waits */
    int32_t host;         /* the job it has joined, while that runs; -1 */
    bool exclusive;
} dls_lucid_state;

typedef struct dls_lucid dls_lucid;

typedef struct dls_lucid_policy {
    dls_lucid_schedule schedule;
    bool late; /* an end is seen a tick after the work is done */
    /* Sort the queue, start and stop jobs. */
    dls_status (*tick)(dls_lucid *l, dls_error *err);
    int64_t every_s; /* > 0: acts at multiples of this only, or looks at the clock then */
    bool only_then;
    void (*ended)(dls_lucid *l, int32_t job); /* optional */
} dls_lucid_policy;

struct dls_lucid {
    const dls_lucid_policy *policy;
    const dls_lucid_cluster *cluster;
    dls_lucid_trace *trace;
    dls_lucid_job *job;     /* of the trace */
    dls_lucid_state *state; /* [n] likewise */
    const int32_t *coming;  /* [n_coming] jobs in order of arrival */
    size_t n_coming, next;
    int32_t *queue,
        *running; /* [n_queue] in the policy's order, [n_running] in order of starting */
    int32_t n_queue, n_running;
    int32_t n_before; /* of the queue: waited before this tick; the rest came in it */
    int64_t now_s;
    bool changed;   /* in this tick */
    uint32_t *used; /* [n_nodes] GPUs, a bit each */
    int32_t n_nodes, free_gpus;
    bool extra;                    /* the last of the nodes is borrowed */
    int32_t *order;                /* [n_nodes] scratch */
    int32_t *scratch;              /* [n] */
    struct dls_lucid_keyed *keyed; /* [n] scratch */
};

/* Stable, ascending. */
typedef struct dls_lucid_keyed {
    double key;
    int32_t place, job;
} dls_lucid_keyed;
void dls_lucid_sort(dls_lucid *l, int32_t *job, int32_t n,
                    double (*key)(const dls_lucid *l, int32_t job));

/* Bring the work of a running job up to this tick. */
void dls_lucid_sync(dls_lucid *l, int32_t job);
/* Of a running job that is up to this tick. */
void dls_lucid_set_rate(dls_lucid *l, int32_t job, double rate);
/* Take GPUs, consolidated, and run; *started false if there is no such place. The job stays in the
 * queue. */
dls_status dls_lucid_start(dls_lucid *l, int32_t job, bool *started, dls_error *err);
void dls_lucid_join(dls_lucid *l, int32_t job, int32_t host);
/* One node more at the end, or that one fewer, which is idle. */
void dls_lucid_borrow(dls_lucid *l);
void dls_lucid_return(dls_lucid *l);
/* Give the GPUs back; the job is not queued. */
void dls_lucid_stop(dls_lucid *l, int32_t job);
/* Start from the head of the queue on until one does not fit. */
dls_status dls_lucid_start_in_order(dls_lucid *l, dls_error *err);
/* Drop from the queue whoever runs, from the running who does not. */
void dls_lucid_tidy(dls_lucid *l);

extern const dls_lucid_policy dls_lucid_fifo, dls_lucid_sjf, dls_lucid_qssf, dls_lucid_srtf,
    dls_lucid_tiresias, dls_lucid_itself, dls_lucid_profiler;

#endif
