/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How long a job will run, as a scheduler could know it when the job comes: from the jobs like it
 * that have ended. Jobs are grouped from all of them to those of one user, model and number of
 * GPUs, and each group moves the estimate of the one before:
 *
 *      e = e' + sum(r - e') / (n + 1)      r: logarithm of a run time in seconds, n of them
 *
 * as in predictor/sources/calibration.h; at first e' is an hour's, or that of the job's limit,
 * which no estimate exceeds. With trees they move it last: boosted on what the jobs that have ended
 * ran beyond their e, by what had been seen when they came. The history of a trace is made once and
 * only read; what a run has learned is in arrays of the run's.
 */
#ifndef DLS_WORKLOAD_HISTORY_H
#define DLS_WORKLOAD_HISTORY_H

#include "base/own.h"
#include "dlsim/trace.h"
#include "workload/trees.h"

typedef struct dls_history dls_history;

/* Of the jobs of one group that have ended: logarithms of seconds. */
typedef struct dls_past_runs {
    int64_t n;
    double sum, last, recent; /* recent: a fifth the last, four fifths what it was before */
} dls_past_runs;

/* Logarithmic bins: GPUs, e, and of each group of the job the last and the recent run time. */
#define DLS_HISTORY_LEVELS 9
#define DLS_HISTORY_FEATURES (2 + 2 * DLS_HISTORY_LEVELS)

/* What was known when a job came. */
typedef struct dls_asked {
    float log_s; /* e */
    uint8_t x[DLS_HISTORY_FEATURES];
} dls_asked;

/* The trees, and what teaches them: the last jobs that have ended. */
#define DLS_HISTORY_ROWS 8192
typedef struct dls_lessons {
    dls_trees trees;
    int64_t next_us;      /* no earlier fit */
    size_t ended, fitted; /* jobs, and jobs at the last fit */
    uint8_t x[DLS_HISTORY_FEATURES][DLS_HISTORY_ROWS];
    int64_t target[DLS_HISTORY_ROWS], left[DLS_HISTORY_ROWS];
    uint16_t at[DLS_HISTORY_ROWS];
} dls_lessons;

/* What has been learned in a run; the caller's. */
typedef struct dls_learned {
    dls_past_runs *runs;  /* [groups] */
    dls_lessons *lessons; /* [1]; NULL without trees, as .. */
    dls_asked *asked;     /* .. [jobs] */
} dls_learned;

/* trace is borrowed for the life of *out. past: another trace, whose jobs have all ended before the
 * first of this one comes, each after its recorded run time (those without are left out); NULL:
 * nothing is known at first. Users, models and virtual clusters are the same if they are called the
 * same. Errors: ENOMEM. O(n log n) for n jobs of both. */
dls_status dls_history_create(const dls_trace *trace, const dls_trace *past, bool trees,
                              dls_history **out, dls_error *err) DLS_MUST_CHECK;
/* Of the same trace. O(jobs). */
dls_status dls_history_copy(const dls_history *from, dls_history **out,
                            dls_error *err) DLS_MUST_CHECK;
void dls_history_destroy(dls_history *h); /* NULL-safe */
DLS_OWNER(dls_history, dls_history_destroy)

/* Groups of jobs, 0 without a history; whether there are trees. */
size_t dls_history_groups(const dls_history *h);
bool dls_history_trees(const dls_history *h);

/* *to, zeroed: what is known before the first job comes. */
void dls_history_begin(const dls_history *h, dls_learned *to);
/* A job comes: the run time that is believed, > 0. O(1), and once a day, if half of what the trees
 * learn from is new, O(DLS_HISTORY_ROWS). */
int64_t dls_history_ask_us(const dls_history *h, dls_learned *l, int32_t job, int64_t now_us);
/* One that came has ended after running so long. O(1). */
void dls_history_see(const dls_history *h, dls_learned *l, int32_t job, int64_t run_us);

#endif
