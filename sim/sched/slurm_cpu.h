/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs without GPUs, which are in no trace: they wait in Slurm's queue with the others and hold
 * processors of nodes with GPUs. They are the scheduler's own: it starts them, and they end when
 * their time is over.
 */
#ifndef DLS_SCHED_SLURM_CPU_H
#define DLS_SCHED_SLURM_CPU_H

#include "sched/slurm_partition.h"

typedef struct dls_slurm_cpu_job {
    int64_t submit_us, duration_us, limit_us; /* limit_us < 0: none */
    int64_t since_us;                         /* it runs */
    int64_t cpus, mem;                        /* 1/1000, MiB, on each of .. */
    int32_t nodes;                            /* .. so many nodes, of any type */
    int32_t share;                            /* in dls_slurm_priority; -1 */
    int32_t partition;                        /* in dls_slurm_partitions; -1 */
    double value;                             /* its priority as last calculated */
} dls_slurm_cpu_job;

typedef struct dls_slurm_cpu {
    dls_slurm_cpu_job *job; /* [n] in order of submission */
    size_t n, cap;
    size_t next;                /* comes next */
    int32_t *waiting, *running; /* in job[]; those that wait in order of submission */
    size_t n_waiting, waiting_cap, n_running, running_cap;
} dls_slurm_cpu;

/* The first job of the view that waits at its time; -1. Jobs without GPUs may have come, waited and
 * run before any of it did, at times before 0. */
static inline int32_t dls_slurm_first_waiting(const dls_view *view)
{
    const int32_t job = dls_view_first_waiting(view);
    return job >= 0 && view->submit_us[job] <= view->now_us ? job : -1;
}

struct dls_slurm_priority;

/* Reads a table `submit,duration,limit,nodes,cpus,mem_mib,user,account,partition` in order of submission;
 * seconds, limit empty: none; cpus and memory of each node. path "": there are none. Jobs that the idle
 * cluster could not hold are left out and counted as fallbacks of the policy. Errors: EINPUT with
 * file and line, ENOMEM. */
dls_status dls_slurm_cpu_init(dls_slurm_cpu *c, const dls_view *view,
                              struct dls_slurm_priority *priority,
                              const dls_slurm_partitions *partitions, const char *path,
                              dls_error *err) DLS_MUST_CHECK;
void dls_slurm_cpu_fini(dls_slurm_cpu *c);
dls_status dls_slurm_cpu_clone(dls_slurm_cpu *c, const dls_slurm_cpu *from,
                               dls_error *err) DLS_MUST_CHECK;

/* Jobs come and end up to now; *events: some did. O(waiting + running). Errors: ENOMEM. */
dls_status dls_slurm_cpu_advance(dls_slurm_cpu *c, int64_t now_us, bool *events,
                                 dls_error *err) DLS_MUST_CHECK;
/* When the next comes or ends; DLS_NEVER. */
int64_t dls_slurm_cpu_next(const dls_slurm_cpu *c);
/* One that waits starts. Errors: ENOMEM. */
dls_status dls_slurm_cpu_start(dls_slurm_cpu *c, int32_t job, int64_t now_us,
                               dls_error *err) DLS_MUST_CHECK;

#endif
