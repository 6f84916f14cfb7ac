/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a run amounts to: completion times, delays, utilisation, costs; over all jobs and by class.
 *
 * Counts and cluster figures are over the whole run. Job statistics (dls_stats, slowdown) are over
 * the jobs that completed and were submitted within
 * [first submission + warm-up, last submission - cool-down].
 */
#ifndef DLS_RESULTS_SUMMARY_H
#define DLS_RESULTS_SUMMARY_H

#include "dlsim/trace.h"
#include "record/record.h"
#include "results/energy.h"
#include "results/world.h"

#include <stdio.h>

/* Seconds. NaN where n is 0. Quantiles interpolate linearly between order statistics. */
typedef struct dls_stats {
    uint64_t n;
    double mean_s, median_s, p95_s, p99_s, max_s;
} dls_stats;

/* A job is short below this run time: the border of the Tiresias paper's four classes (Gu et al.,
 * NSDI 2019). The paper does not print its border of small; dlsim uses one 4-GPU node of its
 * testbed. */
#define DLS_SHORT_S 800
#define DLS_SMALL_GPUS 4

/* Every job belongs to one part of each kind. */
typedef enum dls_part_kind {
    DLS_PART_ALL,    /* the one part that holds every job */
    DLS_PART_GPUS,   /* by gang size */
    DLS_PART_CLASS,  /* small or large, short or long */
    DLS_PART_OUTCOME /* how the job ended where the trace was recorded */
} dls_part_kind;

#define DLS_SIZE_CLASSES 7
#define DLS_JOB_CLASSES 4
#define DLS_SUMMARY_PARTS (1 + DLS_SIZE_CLASSES + DLS_JOB_CLASSES + (int)DLS_OUTCOME_COUNT)

typedef struct dls_summary_part {
    dls_part_kind kind;
    char name[24]; /* "all", "3-4", ">32", "small-short", "killed" */
    uint64_t jobs; /* whole run, as are the next eleven */
    uint64_t completed;
    uint64_t infeasible;
    uint64_t declined;                 /* turned away by the scheduler */
    uint64_t deadlines, deadlines_met; /* jobs that have one; of them, completed by then */
    uint64_t unfinished; /* none of these: waiting, running or not submitted when the run stopped */
    uint64_t preemptions, resumes, promotions;
    double held_gpu_s;     /* GPU-seconds held, restoring included */
    double useful_gpu_s;   /* GPU-seconds held, restoring excluded */
    dls_stats jct;         /* end - submission */
    dls_stats queue;       /* total time waiting, while suspended included */
    dls_stats first_start; /* first start - submission */
    double slowdown_mean;  /* of jct / duration, over jobs with a duration > 0; NaN if none */
} dls_summary_part;

/* Inference services beside the jobs; GPU-seconds from the first submission to the run's end. */
typedef struct dls_service_summary {
    uint64_t services, services_preemptions, services_shrinks; /* of jobs, for services */
    double services_own_gpu_s, services_used_gpu_s, services_lent_gpu_s;
    double services_kept,
        services_least_kept; /* part of the time within the bound: of all services, of the worst */
} dls_service_summary;

typedef struct dls_summary {
    dls_summary_part part[DLS_SUMMARY_PARTS]; /* [0] is all jobs; kinds follow in order */
    double warmup_s, cooldown_s;
    double first_submit_s; /* of the trace */
    double makespan_s;     /* last end - first submission; NaN if nothing ended */
    double span_s;         /* first submission .. last end, or the end of the run if jobs remain */
    int64_t total_gpus;
    double utilisation; /* held GPU-seconds / (total GPUs x span), 0..1 */
    double useful_utilisation;
    double waiting_mean;       /* jobs, over the span; NaN without a series */
    double tenth_waiting_frac; /* of the span in which a tenth of all jobs or more wait; NaN as
                                  above */
    int64_t waiting_peak;
    uint64_t events, passes, positions, flips, refusals, peak_queue;
    double positions_per_event;
    double wall_s;       /* of the simulation; 0 if not measured */
    double events_per_s; /* 0 if not measured */
    uint64_t unprofiled_jobs,
        other_batch_jobs;      /* not in the table of speeds: the model, the batch */
    uint64_t policy_fallbacks; /* times without a solution (dls_policy_fallback) */
    uint64_t digest;           /* dls_record_digest */
    uint64_t history_digest;   /* dls_record_history_digest */
    bool complete;             /* every event was processed */
    bool has_world;            /* placement mattered: */
    dls_world_summary world;
    bool has_energy;
    dls_energy_summary energy;
    bool has_services;
    dls_service_summary services;
} dls_summary;

/* O(n_jobs + series rows), 48 bytes of working memory per job. Errors: ENOMEM; EINPUT when the
 * record is not of this trace or a time is negative. */
dls_status dls_summary_make(const dls_trace *trace, const dls_record *rec, int64_t warmup_us,
                            int64_t cooldown_us, double wall_s, dls_summary *out,
                            dls_error *err) DLS_MUST_CHECK;

/* "all", "gpus", "class", "outcome" */
const char *dls_part_kind_name(dls_part_kind kind);

/* ---- formatting: pure, no state, the caller checks the stream -------------------------------- */

/* A table for people; parts: also the tables by gang size, class and outcome. */
void dls_summary_print(FILE *out, const dls_summary *s, bool parts);
/* One JSON object, no line end behind it. NaN becomes null. */
dls_status dls_summary_json(FILE *out, const dls_summary *s, dls_error *err) DLS_MUST_CHECK;

/* Room for any text of dls_format_seconds. */
#define DLS_SECONDS_TEXT 24
/* "0 s", "12.3 ms", "45.2 s", "12.5 min", "3.42 h", "2.10 d", "-" for NaN. Returns buf. */
const char *dls_format_seconds(char buf[DLS_SECONDS_TEXT], double seconds);

#endif
