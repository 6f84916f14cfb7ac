/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a trace looks like, models for traces that name none, and synthetic traces from published
 * distributions.
 *
 *      #include <dlsim/traces.h>
 *
 *      dls_status write_heavy(const char *path, dls_error *err)
 *      {
 *          dls_synth_params params;
 *          dls_trace *trace;
 *          dls_synth_params_init(&params);
 *          params.n_jobs = 10000;
 *          DLS_TRY(dls_synth_parse_queueing("heavy", &params, err));
 *          DLS_TRY(dls_synth_generate(&params, &trace, NULL, err));
 *          const dls_status status = dls_trace_save_csv(trace, path, err);
 *          dls_trace_destroy(trace);
 *          return status;
 *      }
 */
#ifndef DLSIM_TRACES_H
#define DLSIM_TRACES_H

#include "dlsim/error.h"
#include "dlsim/trace.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- statistics: the figures that `dlsim trace stats` prints ------------------------------------- *
 *
 * Quantiles interpolate linearly between order statistics, position (n - 1) p (Hyndman and Fan's
 * type 7, the default of numpy and gsl_stats_quantile). The coefficient of variation uses the
 * population standard deviation. GPU requests count as the file has them, fractions included. */

/* 1, 5, 25, 50, 75, 90, 95, 99 % and the maximum */
#define DLS_STATS_QUANTILES 9

typedef struct dls_stats_dist {
    uint64_t n;
    double q[DLS_STATS_QUANTILES]; /* NAN if n is 0, like mean and cv */
    double mean;
    double cv; /* standard deviation / mean */
} dls_stats_dist;

/* One size of job, or one virtual cluster (code in the trace's dictionary, -1: none named). */
typedef struct dls_stats_size {
    int64_t gpus_milli;
    uint64_t jobs;
    double gpu_h;
} dls_stats_size;

typedef struct dls_stats_vc {
    int32_t code;
    uint64_t jobs;
    double gpu_h, median_s;
    int64_t max_gpus_milli;
} dls_stats_vc;

typedef struct dls_trace_stats {
    uint64_t jobs, zero_duration, no_duration;
    double span_s; /* last submission - first */
    double mean_gpus;
    int64_t max_gpus_milli;
    dls_stats_dist duration_s; /* of the jobs that have one */
    dls_stats_dist gap_s;      /* between consecutive submissions */
    double gpu_h;              /* GPUs x duration */
    double busy_gpus;          /* gpu_h / span: busy on average over the submit span */
    double peak_gpus;          /* most GPUs in use at once if no job waited */
    dls_stats_size *sizes;     /* ascending in GPUs */
    size_t n_sizes;
    dls_stats_vc *vcs; /* most jobs first; empty if the trace names none */
    size_t n_vcs;
    uint64_t outcomes[DLS_OUTCOME_COUNT];
    uint64_t flags[DLS_JOB_FLAG_COUNT];
} dls_trace_stats;

/* O(n log n) time, about 50 bytes per job of scratch. ENOMEM only. */
DLS_API dls_status dls_trace_stats_compute(const dls_trace *trace, dls_trace_stats *out,
                                   dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_trace_stats_fini(dls_trace_stats *stats); /* of {0}, too */

/* ---- models: tables of GPU count -> weighted (model, batch) ------------------------------------- */

/* Built-in tables, i-th name or NULL; the first is the default. */
DLS_API const char *dls_assign_builtin_name(int i);
/* The text of a built-in table, its source in comments; NULL if there is none of that name. */
DLS_API const char *dls_assign_builtin_text(const char *name);
/* A new trace, owned by the caller, in which each job without a model has one of the built-in table, drawn
 * with one random stream per job, and a batch where it had none. Errors: EUSAGE (no such table). */
DLS_API dls_status dls_trace_assign_builtin(const dls_trace *in, const char *table, uint64_t seed,
                                            dls_trace **out, dls_error *err) DLS_MUST_CHECK;

/* ---- synthetic traces ---------------------------------------------------------------------------- *
 *
 *   batches --> positions in [0,1) --> GPU counts, durations (stratified) --> VC, user, outcome
 *      |
 *      +------> operational time ----> hours x weekdays x days -------------> submission times
 *                                      (stretched until the asked-for load or queueing is met)
 *
 * Users submit batches: jobs of one batch follow within seconds, most of them with one GPU count
 * and about one duration. Marginals are stratified: over the whole trace GPU counts, and durations
 * within a class of GPU counts, follow the published tables to within a job or two per batch,
 * whatever the seed; the seed decides who comes when. Submissions and durations are whole seconds
 * unless asked otherwise.
 *
 * Deterministic: equal parameters give equal traces with every compiler and optimisation level (the
 * C library's exp and log are the only functions whose last bit is not fixed by IEEE 754; times are
 * rounded). O(n log n) time; about 100 bytes per job beside the trace itself.
 */

#define DLS_SYNTH_JOBS_MAX 20000000
#define DLS_SYNTH_LOAD_MAX 1000

typedef struct dls_synth_params {
    const char *profile;  /* one of dls_synth_profile_name */
    int64_t n_jobs;       /* 2 .. DLS_SYNTH_JOBS_MAX */
    int64_t cluster_gpus; /* gangs are cut to it; 0: the cluster that the profile was recorded on */
    double load;          /* GPU time asked for / (cluster_gpus x submit span); 0: published rate */
    double waiting_frac;  /* queueing: at least this share of all jobs waits ... */
    double time_frac;     /* ... for this share of the time from first submission to last end */
    int64_t duration_max_s; /* jobs that run longer are left out of the distribution; 0: none */
    int64_t stamp_us; /* all times are multiples of it: 1,000,000 as in the published traces, or
                       * 1, for large benchmarks where whole seconds would merge most events */
    uint64_t seed;
    double multi_frac; /* share of jobs of more than one GPU; 0: the profile's */
} dls_synth_params;

/* What queueing a work-conserving count replay of the trace shows (GPUs only, no placement). */
typedef struct dls_synth_queueing {
    double time_frac;   /* share of [first submission, last end] with enough jobs waiting */
    double span_frac;   /* the same of the submit span */
    int64_t peak_jobs;  /* most jobs waiting at once */
    int64_t makespan_s; /* first submission to last end */
} dls_synth_queueing;

/* What was made. The two replays bracket the usual policies: the oldest job that fits first, and
 * the least GPU time that fits first (no preemption). */
typedef struct dls_synth_report {
    int64_t cluster_gpus;
    int64_t duration_max_s; /* 0: not limited; the queueing calibration may set it */
    int64_t span_s;         /* last submission - first */
    int64_t waiting_jobs;   /* the threshold: waiting_frac x jobs, rounded up */
    double gpu_s;           /* GPU time asked for */
    double load;            /* gpu_s / (cluster_gpus x span_s) */
    dls_synth_queueing oldest_first, least_first; /* zero unless queueing was asked for */
} dls_synth_report;

/* seed 1, 5000 jobs, profile philly, whole seconds, everything else 0. */
DLS_API void dls_synth_params_init(dls_synth_params *params);

/* "none", "heavy" (a tenth of all jobs waits for a third of the time) or "SHARE:TIME" such as
 * "0.05:0.5", both in (0,1). EUSAGE otherwise. */
DLS_API dls_status dls_synth_parse_queueing(const char *text, dls_synth_params *params,
                                    dls_error *err) DLS_MUST_CHECK;

/* i-th profile's name and one line about it; NULL beyond the last. */
DLS_API const char *dls_synth_profile_name(int i);
DLS_API const char *dls_synth_profile_summary(int i);

/* Makes a trace, which the caller owns. report may be NULL. EUSAGE: a parameter out of range, an
 * unknown profile, load and queueing both given, a load so small that the trace would last more
 * than 100 years; ERUN: the queueing cannot be reached with this profile and cluster.
 *
 * Queueing is reached by raising the load until at least waiting_jobs jobs wait during time_frac of
 * the oldest-first replay, during time_frac of the submit span of the least-first replay (whose end
 * is a few giants alone), and on the average of the two replays during time_frac of the whole:
 * preemptive policies that favour young or short jobs lie between the two. Published durations are
 * so heavy-tailed that the longest jobs can outlast all queues, and that with short jobs first a
 * few jobs hold most of the work; so when load alone does not do, durations are limited, step by
 * step, until it does. The report says to what. */
DLS_API dls_status dls_synth_generate(const dls_synth_params *params, dls_trace **out,
                              dls_synth_report *report, dls_error *err) DLS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
