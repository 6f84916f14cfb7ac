/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In which order Slurm looks at waiting jobs: as submitted (priority/basic), or by its multifactor
 * priority of age, fair share and size.
 *
 * Formulas: Slurm's pages on the multifactor priority plugin and on the fair tree
 * (https://slurm.schedmd.com/priority_multifactor.html, .../fair_tree.html).
 */
#ifndef DLS_SCHED_SLURM_PRIORITY_H
#define DLS_SCHED_SLURM_PRIORITY_H

#include "sched/slurm_cpu.h"
#include "sched/slurm_jobs.h"

/* An account, or a user of one, with shares among its siblings. */
typedef struct dls_slurm_share {
    int32_t parent, child, next; /* in share[]: siblings are a list; -1: none */
    double shares;               /* NAN: its account's own (fairshare=parent) */
    double usage;                /* decayed, of it and of all below */
    double level,
        factor; /* level: shares over usage among siblings; factor: a user's rank, 0 .. 1 */
    bool user;
    char account[64], name[64];
} dls_slurm_share;

/* For sorting. */
typedef struct dls_slurm_ranked {
    double value;
    int32_t id;
    bool account; /* behind users of the same value */
    int32_t tier; /* before all else */
} dls_slurm_ranked;

typedef struct dls_slurm_priority {
    bool multifactor, by_cpu; /* usage and size by processors, else by GPUs */
    double weight_age, weight_fair, weight_size, weight_partition, weight_qos, cluster_cpus;
    int64_t max_age_us, half_life_us, calc_us; /* half_life 0: usage never decays */
    int64_t next_us;        /* of the next calculation; before the first nobody has a fair share;
                               DLS_NEVER unless `multifactor` */
    int64_t last_us;        /* up to when usage has decayed */
    dls_slurm_share *share; /* [0] is the root */
    size_t n, cap;
    int32_t n_users;
    int32_t *share_of; /* [jobs] */
    double *value;     /* [jobs] as last calculated; < 0: not yet */
    dls_slurm_ranked *room;
    size_t room_cap;
} dls_slurm_priority;

/* Reads the shares, a table `account,user,shares` of which a row without a user is an account and
 * `parent` as shares is fairshare=parent; without a path all users of the trace share equally. Jobs
 * belong to the account that their class names, or else to the first that has their user. Errors:
 * EINPUT with file and line, ENOMEM. */
dls_status dls_slurm_priority_init(dls_slurm_priority *p, const dls_view *view, const char *path,
                                   dls_error *err) DLS_MUST_CHECK;
void dls_slurm_priority_fini(dls_slurm_priority *p);
dls_status dls_slurm_priority_clone(dls_slurm_priority *p, const dls_slurm_priority *from,
                                    const dls_view *view, dls_error *err) DLS_MUST_CHECK;

/* The share of a user's job: that of the account, else the first of the user, else a new one. Only
 * if `multifactor`, before the first calculation. Errors: ENOMEM. */
dls_status dls_slurm_priority_share(dls_slurm_priority *p, const char *account, const char *user,
                                    int32_t *share, dls_error *err) DLS_MUST_CHECK;

/* A period has passed (now >= next_us): usage decays, and priorities of jobs that wait are new.
 * Nothing to do unless `multifactor`. O(running + waiting + shares log shares) then. */
void dls_slurm_priority_calculate(dls_slurm_priority *p, const dls_view *view, dls_slurm_cpu *cpu,
                                  const dls_slurm_jobs *jobs,
                                  const dls_slurm_partitions *partitions);
/* Jobs that are new get their first priority. O(waiting). */
void dls_slurm_priority_look(dls_slurm_priority *p, const dls_view *view, dls_slurm_cpu *cpu,
                             const dls_slurm_jobs *jobs, const dls_slurm_partitions *partitions);
/* Highest tier and then priority first, equal ones as they stand; numbers from n_jobs on are of
 * those without GPUs. O(n log n). Errors: ENOMEM. */
dls_status dls_slurm_priority_sort(dls_slurm_priority *p, const dls_slurm_cpu *cpu,
                                   const dls_slurm_partitions *partitions, int32_t n_jobs,
                                   int32_t *job, size_t n, dls_error *err) DLS_MUST_CHECK;

#endif
