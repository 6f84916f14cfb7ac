/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Gavel's objectives (Narayanan et al., OSDI 2020): which share of the time of which GPU type each
 * job is to have. Every objective is one or a few of the programs of sched/interior.h.
 *
 *      dls_timeshares_reset(&s, n_types, gpus);
 *      for each job: j = dls_timeshares_add(&s), fill it in
 *      dls_timeshares_...(&s, &outcome, err), then j->share
 */
#ifndef DLS_SCHED_TIMESHARES_H
#define DLS_SCHED_TIMESHARES_H

#include "sched/interior.h"

typedef struct dls_timeshare_job {
    int32_t id; /* the caller's */
    double gpus, weight;
    double left;                 /* work */
    double beside;               /* 0: runs alone; a pair: how fast it is, over its members alone,
                                    which is in `speed`, but not in what it is compared with */
    double age;                  /* seconds since submission */
    double isolated_s;           /* that what is done would have taken with an equal share */
    double price[DLS_TYPES_MAX]; /* of the whole job for a second; dls_timeshares_cost only */
    double deadline_s;           /* from now on, INFINITY: none; dls_timeshares_cost only */
    double speed[DLS_TYPES_MAX]; /* work per second; 0: cannot run there */
    double share[DLS_TYPES_MAX]; /* the answer */
} dls_timeshare_job;

typedef struct dls_timeshares {
    int32_t n_types;
    double gpus[DLS_TYPES_MAX];
    dls_timeshare_job *job; /* [n], owned */
    size_t n, cap;
    double *floor; /* scratch [n], owned */
    size_t floor_cap;
    struct dls_timeshare_class *class; /* scratch, owned */
    size_t *class_of;
    size_t class_cap, class_of_cap;
    dls_interior lp;
    double best; /* of the last objective */
} dls_timeshares;

void dls_timeshares_reset(dls_timeshares *s, int32_t n_types, const double *gpus);
/* Zeroed; valid until the next is added; NULL: out of memory. */
dls_timeshare_job *dls_timeshares_add(dls_timeshares *s);
void dls_timeshares_fini(dls_timeshares *s);

/* Speed of a job with an equal share of every type: N_w / jobs / gang each, cut to its whole time.
 */
double dls_timeshares_isolated_speed(const dls_timeshares *s, const dls_timeshare_job *j);

/* Equal shares. */
void dls_timeshares_isolated(dls_timeshares *s);
/* Least attained service: the smallest normalised speed, over what the whole cluster would give in
 * proportion, times gang over weight, is greatest. best: that. */
dls_status dls_timeshares_las(dls_timeshares *s, dls_interior_outcome *outcome,
                              dls_error *err) DLS_MUST_CHECK;
/* The same, then the second smallest, and so on (water filling): the only such allocation but for
 * which types make up a job's speed. */
dls_status dls_timeshares_water_filling(dls_timeshares *s, dls_interior_outcome *outcome,
                                        dls_error *err) DLS_MUST_CHECK;
/* Finish-time fairness (Mahajan et al., Themis, NSDI 2020): the largest ratio of the time a job
 * takes from submission to end over that with an equal share is smallest. best: that ratio. */
dls_status dls_timeshares_finish_time(dls_timeshares *s, dls_interior_outcome *outcome,
                                      dls_error *err) DLS_MUST_CHECK;
/* All work done soonest. best: seconds. */
dls_status dls_timeshares_duration(dls_timeshares *s, dls_interior_outcome *outcome,
                                   dls_error *err) DLS_MUST_CHECK;
/* Largest sum of speeds. best: that. */
dls_status dls_timeshares_throughput(dls_timeshares *s, dls_interior_outcome *outcome,
                                     dls_error *err) DLS_MUST_CHECK;
/* Largest sum of speed over price, with the work of those that have a deadline done in time; *met:
 * false: not all deadlines can be kept, and none is. best: the sum. */
dls_status dls_timeshares_cost(dls_timeshares *s, bool *met, dls_interior_outcome *outcome,
                               dls_error *err) DLS_MUST_CHECK;

/* What the last four leave open: of the shares that reach the objective those that are best by
 * water filling. In units of its normalised speed nobody gets less than `share` gives. */
dls_status dls_timeshares_fill(dls_timeshares *s, dls_interior_outcome *outcome,
                               dls_error *err) DLS_MUST_CHECK;

#endif
