/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Slurm's partitions: sets of nodes, which may overlap, in tiers; jobs of a higher tier are looked
 * at first. A job belongs to the partition that is named as its virtual cluster; all nodes are open
 * to jobs of others.
 */
#ifndef DLS_SCHED_SLURM_PARTITION_H
#define DLS_SCHED_SLURM_PARTITION_H

#include "dlsim/policy.h"

typedef struct dls_slurm_partition {
    char name[64];
    int32_t tier;
    double factor;    /* of the priority of its jobs, 0 .. 1 */
    int64_t limit_us; /* of jobs without one; -1: none */
    int64_t most_us;  /* jobs of a longer one never run; -1: none */
} dls_slurm_partition;

typedef struct dls_slurm_partitions {
    dls_slurm_partition *at; /* [n] */
    uint64_t *nodes;         /* [n][words] */
    size_t n, cap, nodes_cap;
    int32_t words;
    int32_t *of; /* [jobs] or -1; NULL: there are no partitions */
    size_t n_of;
} dls_slurm_partitions;

/* Reads a table `partition,tier,factor,limit,most,first,last`, nodes by number from 0, of which a partition may have
 * several rows; nodes behind the last that any row names are in all. path "": there are none.
 * Errors: EINPUT with file and line, ENOMEM. */
dls_status dls_slurm_partitions_init(dls_slurm_partitions *p, const dls_view *view,
                                     const char *path, dls_error *err) DLS_MUST_CHECK;
void dls_slurm_partitions_fini(dls_slurm_partitions *p);
dls_status dls_slurm_partitions_clone(dls_slurm_partitions *p, const dls_slurm_partitions *from,
                                      dls_error *err) DLS_MUST_CHECK;

/* -1: none of that name. */
int32_t dls_slurm_partition_find(const dls_slurm_partitions *p, const char *name);
/* Of a job of the view. */
static inline int32_t dls_slurm_partition_of(const dls_slurm_partitions *p, int32_t job)
{
    return p->of ? p->of[job] : -1;
}
/* Its nodes; NULL: all. */
static inline const uint64_t *dls_slurm_partition_nodes(const dls_slurm_partitions *p,
                                                        int32_t which)
{
    return which < 0 ? NULL : p->nodes + (size_t)which * (size_t)p->words;
}
static inline double dls_slurm_partition_factor(const dls_slurm_partitions *p, int32_t which)
{
    return which < 0 ? 0 : p->at[which].factor;
}
/* 1, as Slurm has it where nothing is said. */
static inline int32_t dls_slurm_partition_tier(const dls_slurm_partitions *p, int32_t which)
{
    return which < 0 ? 1 : p->at[which].tier;
}

#endif
