/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The state of the scheduler `slurm`, which its two files share: slurm.c, what it is made of and
 * when it acts, and slurm_run.c, what it does then.
 */
#ifndef DLS_SCHED_SLURM_STATE_H
#define DLS_SCHED_SLURM_STATE_H

#include "sched/slurm_clock.h"
#include "sched/slurm_jobs.h"
#include "sched/slurm_plan.h"
#include "sched/slurm_priority.h"

#define MAX_LIMIT_US INT64_C(31622400000000) /* a leap year: Slurm's "unlimited" */

struct slurm {
    dls_slurm_priority priority;
    dls_slurm_plan plan;
    dls_slurm_clock clock;
    bool exclusive;
    int64_t bf_jobs, queue_depth, default_limit_us;
    dls_slurm_cpu cpu; /* whose numbers, for what follows, begin behind the jobs of the view */
    int64_t *limit_us; /* [jobs] */
    dls_slurm_partitions partitions;
    dls_slurm_outages outages;
    size_t gone; /* outages for good when that was last looked at */
    dls_slurm_jobs jobs;
    bool preempt;
    int64_t requeue_us;
    int64_t boot_us, check_us; /* the next look at jobs whose grace is over; DLS_NEVER: nobody was told to give way */
    bool *failed;     /* [partitions] in this run of the main scheduler; NULL: none yet */
    int32_t *waiting; /* by priority */
    bool begun;       /* passes before have been caught up with */
    int64_t seen_us;  /* jobs that came until then have been looked at */
    int32_t *victim;  /* scratch */
    size_t waiting_cap, victim_cap;
};

static inline int64_t dls_slurm_limit(const struct slurm *s, int64_t limit_us)
{
    const int64_t given_us = limit_us > 0 ? limit_us : s->default_limit_us;
    return given_us < MAX_LIMIT_US ? given_us : MAX_LIMIT_US;
}

/* Could a job of the view run on the idle cluster, as it asks for nodes? */
bool dls_slurm_can_run(const struct slurm *s, const dls_view *view, int32_t job);
/* What is due now by the clock: the main scheduler, backfill, both or nothing. Errors: ENOMEM. */
dls_status dls_slurm_run_due(struct slurm *s, const dls_view *view, dls_actions *out,
                             dls_error *err) DLS_MUST_CHECK;

/* Jobs whose grace is over by now go, where slurmctld looks for them: every half a minute. O(running) then. */
void dls_slurm_end_graces(struct slurm *s, const dls_view *view, dls_actions *out);

#endif
