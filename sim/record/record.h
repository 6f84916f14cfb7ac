/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What one run did: a row per job, a row per stretch of an allocation, a time series of the cluster.
 *
 * The engine (sim/engine) or the compatibility engine (sim/tiresias) fills it; results/ writes it. The
 * columns are written to HDF5 as they lie here. A record belongs to one run and one thread.
 */
#ifndef DLS_RECORD_RECORD_H
#define DLS_RECORD_RECORD_H

#include "base/own.h"
#include "dlsim/error.h"
#include "record/columns.h"
#include "record/facts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum dls_job_state {
    DLS_JOB_NEW = 0,        /* not yet submitted when the run stopped */
    DLS_JOB_PENDING = 1,
    DLS_JOB_RUNNING = 2,
    DLS_JOB_FINISHED = 3,
    DLS_JOB_INFEASIBLE = 4, /* can never run on this cluster: reported up front, never queued */
    DLS_JOB_DECLINED = 5    /* turned away by the scheduler */
} dls_job_state;

/* Where a job ran: one row per (job, stretch of constant rate, node). */
typedef struct dls_alloc_rows {
    size_t n, cap;
    struct dls_mapped *file; /* [columns], see dls_record_stream; NULL: in memory */
    int32_t *job;       /* index in the trace */
    int32_t *node;      /* -1: the placement does not say (counting only) */
    int64_t *start_us;
    int64_t *end_us;    /* -1 while it lasts; the end of the run for jobs still running then */
    uint64_t *gpu_mask; /* bit i: GPU i of the node; 0 with node -1 */
    int32_t *gpus;      /* GPUs held on the node (all of them with node -1) */
    float *rate;        /* progress: work seconds per second; 0 while restoring */
    bool has_guests;    /* any */
    uint8_t *guest;     /* 1: the GPUs are another job's, which has rows of its own */
} dls_alloc_rows;

/* Piecewise-constant: row i holds from t_us[i] until t_us[i+1]. */
typedef struct dls_series_rows {
    size_t n, cap;
    struct dls_mapped *file;
    int64_t *t_us;
    int32_t *busy_gpus;
    int32_t *running_jobs;
    int32_t *pending_jobs;
    int32_t *finished_jobs;
    int32_t *busy_nodes;   /* at least one GPU held by a job; 0 when GPUs are only counted */
    int32_t *full_nodes;   /* and no GPU that works free */
    float *power_w;        /* mean over the row, at the meter; NULL: energy is not accounted for */
} dls_series_rows;

/* One row per start of a job: what was said of it then, and what came of it. */
typedef struct dls_start_rows {
    size_t n, cap;
    struct dls_mapped *file;
    int32_t *job;
    int32_t *host;          /* whose GPUs it shares, -1: its own */
    int32_t *type, *n_nodes, *n_racks;
    int64_t *start_us;
    int64_t *end_us;        /* when it lost its GPUs or finished; the end of the run if it holds them */
    int64_t *left_us;       /* work left at the start, run time at the reference rate */
    int64_t *work_us;       /* of it, done until end_us */
    int64_t *executed_us;   /* time in which it was done: work_us / executed_us is the mean rate */
    float *iteration_s;     /* predicted; NAN: nothing was */
    float *remaining_s;     /* predicted time for left_us, without restoring */
} dls_start_rows;

/* The world at the instants of the cluster's series; piecewise constant as that. */
typedef struct dls_world_rows {
    size_t n, cap;
    struct dls_mapped *file;
    int64_t *t_us;
    int32_t *failed_gpus, *guests;
    float *nic_mean, *nic_max, *uplink_mean, *uplink_max; /* part of the bandwidth in use, over the
                                                             links that any job crosses */
} dls_world_rows;

typedef struct dls_world_point {
    int64_t t_us;
    int32_t failed_gpus, guests;
    float nic_mean, nic_max, uplink_mean, uplink_max;
} dls_world_point;

/* Of all services; GPU-microseconds from the first submission on. */
typedef struct dls_service_sums {
    int32_t n;
    int64_t own_gpus;
    int64_t span_us;                /* without GPUs */
    int64_t used_us, lent_us;       /* of their own GPUs: serving; held by jobs */
    int64_t kept_us, least_kept_us; /* within the bound: sum over the services, the worst of them */
    uint64_t preemptions, shrinks;  /* of jobs, for services */
} dls_service_sums;

typedef struct dls_record {
    size_t n_jobs;
    uint8_t *state;        /* dls_job_state when the run stopped */
    int64_t *start_us;     /* first start, -1 */
    int64_t *end_us;       /* -1 */
    int64_t *pending_us;   /* total time waiting, while suspended included */
    int64_t *executed_us;  /* time spent running, restoring excluded; x GPUs = attained service */
    int64_t *overhead_us;  /* time spent restoring, GPUs held */
    int32_t *preempts;     /* times it lost its GPUs */
    int32_t *resumes;      /* times it got GPUs, the first start included */
    int32_t *promotes;     /* times it was moved to the first queue for having starved */
    int64_t *gpu_us;       /* GPUs x time held, restoring included, on GPUs of its own; NULL: every job
                              held its gang all the time */
    int64_t *gpu_restore_us; /* of it, restoring */
    int32_t *part_milli;     /* thousandths of each of its GPUs that it gets; NULL: GPUs are not divided */
    int64_t *guest_us;     /* time on the GPUs of another job, part of executed and overhead; NULL:
                              GPUs are not shared */

    int32_t *failures;     /* times its GPUs failed, part of preempts; NULL: nothing fails */
    int64_t *lost_us;      /* work lost to that, seconds at the reference; NULL as above */

    int64_t *fastest_us;   /* run time alone on the placement that suits it best; -1 unknown; NULL
                              without a performance model */

    double *energy_j;      /* of the GPUs that it held, at the meter; NULL: not accounted for */
    double *cost, *carbon_g; /* of that energy; NULL as above */

    dls_alloc_rows allocs;
    dls_series_rows series;
    dls_start_rows starts;  /* only where placement matters: with a performance model, a predictor, GPU
                               sharing or failures */
    dls_world_rows world;
    bool want_world;        /* keep starts and world */
    bool want_allocs, want_series; /* default true; a sweep may not need them */
    char *stream_beside;           /* NULL: all rows are kept in memory */

    dls_run_facts facts;
    int64_t end_us_of_run; /* time of the last event */
    int64_t total_gpus;
    bool complete;         /* every event processed; false after an interruption or --until */
    uint64_t events;       /* arrivals, finishes, ticks: distinct things that happened */
    uint64_t passes;       /* scheduling passes */
    uint64_t positions;    /* jobs whose position in the order a pass had to look at */
    uint64_t flips;        /* starts and preemptions decided by passes */
    uint64_t node_failures, gpu_failures, rack_failures, job_failures, node_drains;
    dls_service_sums services;
    double guest_gpu_s;    /* GPUs x time shared as a guest */
    uint64_t guest_starts; /* times that a job became the guest of another */
    double lost_run_gpu_s;     /* time in which the work was done that lost_us counts, x gang */
    double pull_backs, pull_back_gpu_s; /* of jobs out of step, expected; time that GPUs stood still for it */
    uint64_t policy_fallbacks; /* dls_policy_fallback */
    uint64_t refusals;     /* selected jobs that the placement refused */
    int64_t peak_pending;
    uint64_t peak_queue;   /* most entries in the event queue */
} dls_record;

/* Until when a job of the engine was there: its end, or that of a job that the scheduler ended or the run, which have
 * no end and accounts until then. */
static inline int64_t dls_record_left_us(const dls_record *rec, int64_t submit_us, size_t job)
{
    return submit_us + rec->pending_us[job] + rec->executed_us[job] + rec->overhead_us[job];
}

dls_status dls_record_create(size_t n_jobs, dls_record **out, dls_error *err) DLS_MUST_CHECK;
/* The rows of a table, and how many there are. */
static inline void *dls_record_rows(dls_record *rec, dls_rows_of table)
{
    return (char *)rec + dls_record_tables[table].at;
}
static inline size_t dls_record_n(const dls_record *rec, dls_rows_of table)
{
    return *(const size_t *)(const void *)((const char *)rec + dls_record_tables[table].at);
}
/* Columns that only some runs have. */
dls_status dls_record_want(dls_record *rec, dls_wanted what, dls_error *err) DLS_MUST_CHECK;
void dls_record_destroy(dls_record *rec); /* NULL-safe */
DLS_OWNER(dls_record, dls_record_destroy)
/* Tables with an end that only the events know keep their first DLS_ROWS_IN_MEMORY rows in memory; once
 * there are more, or from the first row on where half as many jobs make that certain, their columns lie in files
 * without a name on the disk of `path`, behind which the last DLS_ROWS_ADDED rows at most are in memory, and are used as
 * before. Where the disk has no room for them they stay in memory. Such a record belongs to one process
 * (base/mapped.h). */
dls_status dls_record_stream(dls_record *rec, const char *path, dls_error *err) DLS_MUST_CHECK;
enum { DLS_ROWS_IN_MEMORY = 1 << 20, DLS_ROWS_ADDED = 1 << 16 };
/* Rows that lie in files leave the memory until they are touched again. */
void dls_record_rest(const dls_record *rec);
/* For who goes through a table: called with every row. */
static inline void dls_record_pass(const dls_record *rec, size_t row)
{
    if (row % DLS_ROWS_IN_MEMORY == 0 && row > 0) {
        dls_record_rest(rec);
    }
}
/* In memory, all of it. */
dls_status dls_record_copy(const dls_record *from, dls_record **out, dls_error *err) DLS_MUST_CHECK;

/* Append a row; *row gets its index, for setting end_us later. O(1) amortised. */
dls_status dls_record_alloc_row(dls_record *rec, int32_t job, int32_t node, int64_t start_us,
                                uint64_t gpu_mask, int32_t gpus, float rate, size_t *row,
                                dls_error *err) DLS_MUST_CHECK;

typedef struct dls_series_point {
    int64_t t_us;
    int32_t busy_gpus, running_jobs, pending_jobs, finished_jobs, busy_nodes, full_nodes;
} dls_series_point;

/* Append a point; one with the time of the last row replaces it, one equal to the last row in all
 * but the time is left out. */
dls_status dls_record_series(dls_record *rec, const dls_series_point *p,
                             dls_error *err) DLS_MUST_CHECK;

/* Append a row with its job and times of start set; *row gets its index. O(1) amortised. */
dls_status dls_record_start_row(dls_record *rec, int32_t job, int64_t start_us, size_t *row,
                                dls_error *err) DLS_MUST_CHECK;
/* As dls_record_series. */
dls_status dls_record_world(dls_record *rec, const dls_world_point *p, dls_error *err) DLS_MUST_CHECK;

/* 64-bit digest of the job columns (state, start, end, pending, executed, overhead, preempts,
 * resumes, promotes): equal for the same inputs whatever the compiler or the machine. */
uint64_t dls_record_digest(const dls_record *rec);
/* The same of the allocations and the cluster's series, as far as they were recorded. */
uint64_t dls_record_history_digest(const dls_record *rec);

#endif
