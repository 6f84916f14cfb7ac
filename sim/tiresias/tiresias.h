/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The Tiresias compatibility engine: per-job results equal to those of the public Tiresias
 * simulator (SymbioticLab/Tiresias, simulator/, commit 959f9b0), its quirks included, without its
 * cost.
 *
 * Time is whole seconds inside, microseconds in the record. What is reproduced and what is repaired
 * is listed in docs/tiresias-compat.md. One run belongs to one thread; nothing is global.
 */
#ifndef DLS_TIRESIAS_TIRESIAS_H
#define DLS_TIRESIAS_TIRESIAS_H

#include "base/own.h"
#include "dlsim/error.h"
#include "dlsim/trace.h"
#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The five numbers of a cluster_spec.csv. */
typedef struct dls_tiresias_cluster {
    int32_t switches;
    int32_t nodes_per_switch;
    int32_t gpus_per_node;
    int32_t cpus_per_node;
    int32_t mem_gb_per_node;
} dls_tiresias_cluster;

/* What a node has left; only yarn placement knows. */
typedef struct dls_tiresias_node {
    int32_t free_gpus;
    int32_t free_cpus;
    double free_mem_gb;
    int64_t net_tenth_mb; /* traffic per iteration, each way, in 0.1 MB */
} dls_tiresias_node;

/* Node sets of gandiva, by GPUs per job 1, 2, 4, 8, 16, 32, 64: what its log reports. */
#define DLS_TIRESIAS_GANDIVA_SETS 7

/* The state after one event. */
typedef struct dls_tiresias_event {
    int64_t t_s;
    int64_t busy_gpus;
    int32_t running_jobs, pending_jobs, finished_jobs;
    int32_t n_nodes;
    const dls_tiresias_node *node; /* [n_nodes], NULL if the placement is by count */
    int32_t idle_nodes;          /* gandiva only */
    int32_t sets[DLS_TIRESIAS_GANDIVA_SETS];
} dls_tiresias_event;

typedef struct dls_tiresias_params {
    dls_tiresias_cluster cluster;
    const char *schedule;
    const char *scheme;     /* "count", "yarn" or "gandiva" */
    bool python3;           /* arithmetic of an unported-division Python 3 run, else Python 2 */
    const int64_t *samples; /* [n_samples] GPU-time samples in seconds, any order */
    size_t n_samples;
    const char *samples_path; /* read when samples is NULL and the schedule needs them */
    int32_t
        *completed; /* [n jobs] or NULL: gets the indices of ended jobs in the order of ending */

    /* Any of these may be NULL. A failing on_event ends the run with its status. */
    dls_status (*on_event)(void *user, const dls_tiresias_event *event, dls_error *err);
    void *user;
    bool (*interrupted)(void *asked);
    void *asked;
} dls_tiresias_params;

/* The simulator's own defaults: 1 x 32 nodes of 8 GPUs, 64 CPUs, 256 GB; fifo, yarn, Python 2. */
#define DLS_TIRESIAS_DEFAULTS                                                                      \
    ((dls_tiresias_params){.cluster = {1, 32, 8, 64, 256},                                         \
                           .schedule = "fifo",                                                     \
                           .scheme = "yarn",                                                       \
                           .samples_path = "yarn-gput1000.csv"})

/* One schedule that the engine knows. */
typedef struct dls_tiresias_schedule {
    const char *name;
    const char *schemes; /* "count yarn" */
    const char *summary;
    bool needs_samples;
} dls_tiresias_schedule;

const dls_tiresias_schedule *dls_tiresias_schedules(size_t *n);

/* Are schedule, scheme and cluster possible together? EUSAGE with a suggestion otherwise. */
dls_status dls_tiresias_check(const dls_tiresias_params *p, dls_error *err) DLS_MUST_CHECK;

/* Replay the trace. rec is freshly created for the trace's number of jobs. Jobs that never ran end
 * as DLS_JOB_PENDING, like there. rec->complete is false after an interruption.
 * Errors: EUSAGE (see dls_tiresias_check), EINPUT (submit times with fractions of a second,
 * fractional GPUs, no durations, unusable samples), ERUN (simulated time beyond what microseconds
 * can hold), ENOMEM. Cost: O((1 + flips) * sizes * log n) per event, sizes being the number of
 * distinct GPU counts; sjf and shortest* under yarn re-place every job at each event as the
 * original does, O(n). */
dls_status dls_tiresias_run(const dls_tiresias_params *p, const dls_trace *trace, dls_record *rec,
                          dls_error *err) DLS_MUST_CHECK;

/* ---- its input files ------------------------------------------------------------------------- */

/* cluster_spec.csv: a header with all five columns and one row of whole numbers. EINPUT names file,
 * line and column. */
dls_status dls_tiresias_load_cluster(const char *path, dls_tiresias_cluster *out,
                                   dls_error *err) DLS_MUST_CHECK;

/* GPU-time samples: a header line "duration", then one whole number of seconds a line, each at
 * least 1. *out is sorted, and freed by dls_free in any case. */
dls_status dls_tiresias_load_samples(const char *path, int64_t **out, size_t *n,
                                   dls_error *err) DLS_MUST_CHECK;

/* ---- its output files ------------------------------------------------------------------------ */

typedef struct dls_tiresias_log dls_tiresias_log;

/* Start cluster.csv and, unless the scheme is count, cpu.csv, gpu.csv, network.csv and memory.csv
 * in folder dir (made if missing). The files appear under their names when the log is finished.
 * flush: hand every row to the system at once. */
dls_status dls_tiresias_log_create(const char *dir, const dls_tiresias_params *p, bool flush,
                                 dls_tiresias_log **out, dls_error *err) DLS_MUST_CHECK;
/* One row a file; fits dls_tiresias_params.on_event with the log as user. */
dls_status dls_tiresias_log_event(void *log, const dls_tiresias_event *event, dls_error *err);
/* Write job.csv (jobs that ended, in the order of ending) and give all files their names. */
dls_status dls_tiresias_log_finish(dls_tiresias_log *log, const dls_trace *trace, const dls_record *rec,
                                 const int32_t *completed, dls_error *err) DLS_MUST_CHECK;
void dls_tiresias_log_destroy(dls_tiresias_log *log); /* NULL-safe; unfinished files are removed */
DLS_OWNER(dls_tiresias_log, dls_tiresias_log_destroy)

#endif
