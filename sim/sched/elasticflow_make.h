/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One plan of ElasticFlow, for those that plan all jobs (elasticflow_plan.c).
 */
#ifndef DLS_SCHED_ELASTICFLOW_MAKE_H
#define DLS_SCHED_ELASTICFLOW_MAKE_H

#include "sched/elasticflow_plan.h"

static inline void dls_ef_put_step(dls_ef_planner *p, dls_ef_steps *s, double t, int32_t v)
{
    p->failed = p->failed || !dls_ef_set_step(s, t, v);
}

static inline void dls_ef_put_copy(dls_ef_planner *p, dls_ef_steps *to, const dls_ef_steps *from)
{
    p->failed = p->failed || !dls_ef_copy_steps(to, from);
}

static inline void dls_ef_swap_free(dls_ef_planner *p)
{
    const dls_ef_steps swap = p->free;
    p->free = p->work;
    p->work = swap;
}

/* The level above so many GPUs; those, if there is none. */
int32_t dls_ef_up(const dls_ef_job *j, int32_t gpus);

/* A plan in `future`, with a share now or without; `free` gets what it leaves. Both may be p->free: then only the steps
 * that the plan takes from are touched. true: in time. */
bool dls_ef_make(dls_ef_planner *p, const dls_ef_job *j, double now, const dls_ef_steps *future,
                 int32_t given, dls_ef_plan *plan, dls_ef_steps *free);

#endif
