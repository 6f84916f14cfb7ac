/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Replay of the simulator that was published with ElasticFlow (github.com/gudiandian/ElasticFlow,
 * commit b3f5ea4, --scheme=elastic --schedule=ef-accessctrl): its results job by job.
 *
 * Plans, admission and spare GPUs are those of the policy `elasticflow` (sched/elasticflow_plan.h).
 * What is only here is its clock, which no engine can follow that lets time run forwards: arrivals
 * of the future decide whether an event is put off, and jobs end before the event that ends them
 * (docs/schedulers-elastic.md).
 */
#ifndef DLS_ELASTICFLOW_REPLAY_H
#define DLS_ELASTICFLOW_REPLAY_H

#include "record/record.h"
#include "workload/elastic.h"

typedef struct dls_elasticflow_share {
    int32_t job, gpus;
} dls_elasticflow_share;

typedef struct dls_elasticflow_params {
    int32_t nodes, gpus_per_node; /* of the one GPU type of the cluster that `speeds` is for */
    int32_t slot_s;
    bool edf; /* --schedule=edf instead: everybody is let in, and changes cost nothing */
    const dls_elastic_jobs *speeds; /* iterations per second */
    const char *gpu;                /* "A100" or "T4": what is the most that a model may get */
    /* Optional: the GPUs after one event, of the jobs that have any, by index. */
    dls_status (*on_event)(void *user, double now_s, const dls_elasticflow_share *share, size_t n,
                           dls_error *err);
    void *user;
} dls_elasticflow_params;

/* rec: freshly created for the trace. A job that is turned away ends as declined; *late counts
 * those that were let in and whose work was done behind the deadline, which the published ratio
 * takes off. Errors: EINPUT (no iterations, no deadline, a model or batch that is not in the table,
 * times with fractions of a second), ERUN (the published program fails here too), ENOMEM. */
dls_status dls_elasticflow_replay(const dls_elasticflow_params *p, const dls_trace *trace,
                                  dls_record *rec, size_t *late, dls_error *err) DLS_MUST_CHECK;

#endif
