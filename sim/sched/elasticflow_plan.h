/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Plans of ElasticFlow (Gu et al., ASPLOS 2023): how many GPUs every job is to have from when on,
 * so that its deadline is met with as few GPUs as possible, and who gets those that are left.
 *
 *      minimum satisfactory share   the smallest number of GPUs at which, filled in backwards from the deadline, the
 *                                   job's work fits into what earlier deadlines leave
 *      admission                    a job whose share does not exist is turned away
 *      spare GPUs                   go one level at a time to the job for which the next level costs the least
 *                                   additional GPU time
 *
 * Times are seconds, work is in the unit of the speeds. Used by the policy (elasticflow.c) and by
 * the replay of the authors' simulator (elasticflow/), so what is said here holds for both; where
 * the published program does something else than it says, `upstream` has it.
 */
#ifndef DLS_SCHED_ELASTICFLOW_PLAN_H
#define DLS_SCHED_ELASTICFLOW_PLAN_H

#include "sched/elasticflow_steps.h"

#define DLS_EF_LEVELS 32
#define DLS_EF_NO_DEADLINE 4e15 /* of best-effort jobs: whole seconds stay exact */

typedef struct dls_ef_plan {
    dls_ef_steps gpus;
    int32_t quota;   /* no share is greater */
    double real_end; /* when the work is done */
    double end;      /* until when the GPUs are planned for; as published up to whole slots */
} dls_ef_plan;

typedef struct dls_ef_job {
    int32_t id;
    int32_t n_levels;
    int32_t gpus_at[DLS_EF_LEVELS]; /* numbers of GPUs that it can use, ascending */
    double speed_at[DLS_EF_LEVELS]; /* work per second, > 0 */
    double deadline, left;
    int32_t floor; /* a level: quota that it has been promised; 0: none */
    dls_ef_plan plan;
    int32_t gpus;      /* share now */
    int32_t next;      /* level above */
    double worth;      /* of giving it that, larger first */
    dls_ef_plan offer; /* the plan with it, and what that would leave free */
    dls_ef_steps offer_free;
    bool planned;      /* by the last call of dls_ef_plan_all, and has not changed since */
} dls_ef_job;

typedef struct dls_ef_planner {
    int32_t gpus; /* of the cluster */
    double slot_s;
    bool upstream; /* as published: whole seconds and slots, spare GPUs where they cost the most */
    bool failed;   /* out of memory; nothing here means anything from then on */
    dls_ef_steps free;   /* what the plans leave */
    dls_ef_steps work;   /* scratch */
    dls_ef_steps future; /* scratch */
    /* Of the last call of dls_ef_plan_all: its jobs in order, when, on how many GPUs, and what was free before the first of
     * each 64. */
    dls_ef_job **done; /* [n_done] */
    dls_ef_steps *mark; /* [n_marks] */
    size_t n_done, cap_done, n_marks, cap_marks;
    double done_s;
    int32_t done_gpus;
    double room_s; /* when the first of those that it left without a plan could have GPUs; infinity: there are none */
} dls_ef_planner;

void dls_ef_planner_fini(dls_ef_planner *p);
void dls_ef_job_fini(dls_ef_job *j);

/* One more level, above those before; without speed, or beyond DLS_EF_LEVELS, it is passed over. */
void dls_ef_job_level(dls_ef_job *j, int32_t gpus, double speed);
/* Work per second on that many GPUs, a level; 0. */
double dls_ef_speed(const dls_ef_job *j, int32_t gpus);

/* By a key; stable, for lists that are nearly sorted: O(pairs out of order). */
void dls_ef_sort(dls_ef_job **job, size_t n, double (*key)(const dls_ef_job *));
/* Sort by deadline and plan each of the jobs in turn for its minimum satisfactory share, in a
 * cluster that is free from now on; true if all deadlines are met. Shares (gpus) are those of the
 * plans now. O(jobs x levels x steps); the first jobs of the order that were planned just so by the call before keep their
 * plans (not as published), if that was for the same time. Unless `all` are asked for (or as published) the last jobs of
 * the order get no plan while there are too few GPUs now for any of them and none has a deadline. */
bool dls_ef_plan_all(dls_ef_planner *p, dls_ef_job **job, size_t n, double now_s, bool all);
/* Give away the GPUs that no share takes now. O(GPUs x jobs x levels x steps). */
void dls_ef_spread(dls_ef_planner *p, dls_ef_job **job, size_t n, double now_s);

#endif
