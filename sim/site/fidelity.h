/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How near a replay of a site's history comes to what happened: start times of jobs against the
 * recorded ones, and a grade.
 *
 *      DLS_TRY(dls_fidelity_of(setup, &f, err));
 *      printf("grade %c\n", f.grade);
 *      dls_fidelity_fini(&f);
 */
#ifndef DLS_SITE_FIDELITY_H
#define DLS_SITE_FIDELITY_H

#include "dlsim/run.h"

/* Jobs that have something in common: all, a partition, an account, a size. */
typedef struct dls_fidelity_group {
    const char *kind; /* "all", "partition", "account", "GPUs" */
    char name[64];
    size_t n;
    double recorded_wait_s, replayed_wait_s; /* means */
    double median_s, p95_s;                  /* of |replayed start - recorded start| */
} dls_fidelity_group;

typedef struct dls_fidelity_job {
    size_t job;        /* of the trace */
    double recorded_s; /* start, from the trace's zero */
    double replayed_s; /* the median of the replays */
    double mean_s;     /* their mean */
} dls_fidelity_job;

typedef struct dls_fidelity {
    dls_fidelity_group *group; /* [n_groups], the first is that of all jobs */
    dls_fidelity_job *job;     /* [n_jobs] the farthest off first */
    size_t n_groups, group_cap, n_jobs;
    size_t unknown;  /* jobs without a recorded wait, or that the replay did not start */
    size_t replays;  /* 1, or more that differ by less than a second: see dls_fidelity_of */
    double tau;      /* Kendall's, of the order of starts */
    double self_tau; /* of replays with each other, 1 for one: nobody can know the order better */
    size_t passed, passed_same; /* jobs that started before one that came earlier; also replayed */
    double recorded_busy,
        replayed_busy; /* GPUs in use over all, from the first submission to the last start */
    char grade;        /* 'A' .. 'D', by DLS_FIDELITY_RULE */
    double total_gpus;
    dls_trace *trace;
} dls_fidelity;

/* A wait of which half the mean is 1 s cannot be graded by its ratio alone: the mean is off by less
 * than the part, or by 2 s. */
#define DLS_FIDELITY_RULE                                                                          \
    "A: order of starts (tau) >= 0.98 and mean wait within 3 %; B: 0.95 and 10 %; C: 0.90 and 25 " \
    "%; "                                                                                          \
    "D: less. A mean wait within 2 s counts as within 3 %."

/* Replay what the set-up names (its trace must say how long jobs waited) and compare. Where all
 * times are whole seconds the recorder has cut them; what a schedule becomes can hang on what was
 * cut, so histories of up to DLS_FIDELITY_MANY jobs are replayed DLS_FIDELITY_REPLAYS times with it
 * drawn at random, equally each time the function is called. A larger one is replayed once. Errors:
 * those of dls_simulation_run; EINPUT (no recorded wait). *out is to be released in any case. */
#define DLS_FIDELITY_REPLAYS 15
#define DLS_FIDELITY_MANY 5000
dls_status dls_fidelity_of(dls_setup *setup, dls_fidelity *out, dls_error *err) DLS_MUST_CHECK;
void dls_fidelity_fini(dls_fidelity *f);

#endif
