/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The published simulator of Lucid (Hu et al., ASPLOS 2023), which descends from that of Helios (SC
 * 2021), reproduced per job to the second, defects included: one virtual cluster after the other,
 * each with whole nodes of 8 GPUs, in ticks of a second. It is not the engine, because jobs under
 * the profiler run twice, shared jobs keep a speed that nobody shares any more, and most policies
 * see the end of a job a tick late (docs/schedulers-sharing.md).
 *
 * Ticks in which nothing can happen are passed over: a tick changes nothing unless a job ends or
 * arrives, the tick before changed something, or the policy looks at the clock.
 */
#ifndef DLS_LUCID_LUCID_H
#define DLS_LUCID_LUCID_H

#include "base/strdict.h"

#include <stdbool.h>
#include <stdint.h>

#define DLS_LUCID_GPUS 8 /* of a node */
#define DLS_LUCID_NODES_MAX 4096
#define DLS_LUCID_BORROWED 9999 /* first_node: the one that the profiler has borrowed */

typedef struct dls_lucid_job {
    int32_t id, vc; /* codes of names and vcs */
    int32_t gpus;
    int64_t submit_s, duration_s;
    int32_t workload;  /* model, data set, batch and amp together */
    bool never_slower; /* of a model whose pairs count as if they did not share */
    double gmem_mib;
    int32_t share_score;     /* 0, 1, 2 */
    int64_t lucid_s, qssf_s; /* predicted duration */
    /* What the replay says. */
    int64_t start_s, end_s, queue_s; /* start -1: never */
    int32_t checkpoints, first_node; /* the node in its virtual cluster */
    uint32_t gpu_mask;               /* on it */
    bool profiled, done_in_profiler;
    int64_t shared_s; /* when it joined another; -1 */
    double rate;      /* at the end */
} dls_lucid_job;

typedef struct dls_lucid_vc {
    const char *name; /* borrowed */
    int32_t nodes;
} dls_lucid_vc;

typedef struct dls_lucid_forecast {
    int64_t time_s;
    double jobs, gpus;
} dls_lucid_forecast;

typedef struct dls_lucid_trace {
    dls_strdict ids, vcs, workloads;
    dls_lucid_job *job; /* [n] in order of the file, which is that of submission */
    size_t n, job_cap;
    double *speed; /* [workloads][workloads] of the first beside the second; NAN: not measured */
    double *speed_of_host;     /* [workloads] of one beside another of the same that came later: the
                                  second of the row */
    size_t n_speed, n_strange; /* rows of the table about workloads that no job has */
    dls_lucid_forecast *forecast; /* [n_forecast] by time */
    size_t n_forecast, forecast_cap;
} dls_lucid_trace;

/* Jobs: job_id,vc,gpu_num,submit,duration, for lucid also
 * model,dataset,batchsize,amp,gmem,sharescore, pred_lucid, for qssf pred_qssf. Errors: EINPUT
 * (columns, numbers, times that fall), ENOMEM. */
dls_status dls_lucid_load(const char *path, dls_lucid_trace *out, dls_error *err) DLS_MUST_CHECK;
/* Speeds of pairs: model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2.
 * Rows about workloads that no job has are left out
 * and counted. */
dls_status dls_lucid_load_pairs(const char *path, dls_lucid_trace *trace,
                                dls_error *err) DLS_MUST_CHECK;
/* Expected arrivals: time,pred_gpu_job,pred_gpu_num. */
dls_status dls_lucid_load_forecast(const char *path, dls_lucid_trace *trace,
                                   dls_error *err) DLS_MUST_CHECK;
void dls_lucid_trace_fini(dls_lucid_trace *trace);

typedef struct dls_lucid_cluster {
    const dls_lucid_vc *vc; /* [n] */
    int32_t n;
    /* lucid: nodes of one of them that the profiler has instead. */
    int32_t profiler_vc, profiler_nodes; /* -1, 0: there is no profiler */
    int32_t profile_s, profile_gpus;     /* it runs jobs of so many GPUs at most, so long */
} dls_lucid_cluster;

typedef struct dls_lucid_schedule {
    const char *name, *summary;
} dls_lucid_schedule;
/* The i-th, NULL past the last. */
const char *dls_lucid_schedule_at(size_t i, const char **summary);

/* Replay the trace; results are written into the jobs. Errors: EINPUT (unknown schedule; a virtual
 * cluster without nodes, a job that can never run, which the original would wait for for ever; a
 * pair that was not measured), ENOMEM. */
dls_status dls_lucid_run(const dls_lucid_cluster *cluster, const char *schedule,
                         dls_lucid_trace *trace, dls_error *err) DLS_MUST_CHECK;

#endif
