/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Quotas as a tree, of two kinds.
 *
 * Cohorts: who has more than its quota borrows from its cohort, as far as the others there lend, then from the next one up.
 * The meaning is Kueue's, of its API: nominalQuota, borrowingLimit, lendingLimit
 * (https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/, .../cohort/).
 *
 * Shares: a queue's quota is for all queues below it; what quotas leave is divided among those that want more, first by
 * priority, then by weight. The meaning is that of KAI's Queues (https://github.com/kai-scheduler/KAI-Scheduler,
 * docs/fairness).
 */
#ifndef DLS_SCHED_QUOTA_TREE_H
#define DLS_SCHED_QUOTA_TREE_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whom a workload of a ClusterQueue may preempt. */
typedef enum dls_quota_policy {
    DLS_QUOTA_NEVER,
    DLS_QUOTA_LOWER, /* of lower priority */
    DLS_QUOTA_NEWER, /* or as high and submitted later */
    DLS_QUOTA_ANY
} dls_quota_policy;

typedef struct dls_quota {
    char name[320];
    int32_t parent;     /* -1: none */
    double own;         /* GPUs; shares: INFINITY: as many as there are */
    double borrow, lend; /* at most so much from and to the cohort; INFINITY: no limit */
    double all;         /* with what its members lend it */
    double kept;        /* of that it lends nobody */
    double most;        /* it could have if nobody used anything */
    double used;        /* by itself and by members, beyond what they keep */
    int32_t depth;      /* steps up to the top */
    int32_t height;     /* steps down to the furthest member */
    int32_t order;      /* at[0].order, at[1].order, ..: every member before its parent */
    int32_t first, next; /* member; -1: none */
    int32_t members;    /* while it is read */
    double weight;      /* shares: of what is left over; cohorts: of fair sharing */
    /* Of ClusterQueues (sched/kueue_preempt.h). */
    dls_quota_policy within, reclaim; /* in the queue, of others */
    bool borrows;                     /* preempts others and borrows with it, up to a priority */
    double threshold;
    bool strict;                      /* nobody passes the first that waits */
    /* While candidates are sought. */
    int32_t list, meets;
    bool pruned, path;
    size_t candidate; /* the first one of a queue that is left */
    /* Of shares. */
    double limit, priority;
    double asked;       /* by itself and by members */
    double share, rest; /* rest: while it is divided */
} dls_quota;

typedef struct dls_quota_tree {
    dls_quota *at;
    size_t n, cap;
    int32_t first; /* of the tops */
    int32_t steps; /* cohorts: up to the highest top; shares: 2 */
    bool shares;
} dls_quota_tree;

/* Reads a table `name,parent,gpus,borrow,lend`: a queue or a cohort, parent empty: none, gpus empty: 0,
 * limits empty: none; in any order; a parent without a row has no quota of its own; with `,weight,within,reclaim,borrowing,order`
 * behind it fair sharing's weight (empty: 1), preemption policies in Kueue's words (empty: Never; borrowing: LowerPriority, or up to
 * which priority), the queueing strategy (empty: BestEffortFIFO). Errors: EINPUT with file and
 * line (a name twice, a number that is none), ECONFIG (a cohort within itself), ENOMEM. */
dls_status dls_quota_cohorts_read(dls_quota_tree *t, const char *path, dls_error *err) DLS_MUST_CHECK;
/* Of shares `name,parent,gpus,limit,weight,priority`: gpus and limit -1: no limit; empty: 0, no limit, 1, 100. */
dls_status dls_quota_shares_read(dls_quota_tree *t, const char *path, dls_error *err) DLS_MUST_CHECK;
void dls_quota_tree_fini(dls_quota_tree *t);
dls_status dls_quota_tree_clone(dls_quota_tree *t, const dls_quota_tree *from,
                                dls_error *err) DLS_MUST_CHECK;
/* -1: there is none of that name. O(n). */
int32_t dls_quota_find(const dls_quota_tree *t, const char *name);
/* Nobody uses or asks for anything. O(n). */
void dls_quota_clear(dls_quota_tree *t);
/* How much more a queue may use. Cohorts: that borrows from cohorts up to so many steps above it; 0 steps: of its own
 * quota. Shares: of its quota, of its share, up to its limit (0, 1, 2), and the same of all above it. Less than 0: it uses more
 * than that. O(depth). */
double dls_quota_free(const dls_quota_tree *t, int32_t queue, int32_t steps);
/* How much it could use if nobody used anything. O(depth). */
double dls_quota_most(const dls_quota_tree *t, int32_t queue);
/* A queue uses so many more, or fewer. O(depth). */
void dls_quota_use(dls_quota_tree *t, int32_t queue, double gpus);

/* ---- shares (quota_shares.c) ----------------------------------------------------------------- */

/* A queue asks for so many more, what it has included. O(depth). */
void dls_quota_ask(dls_quota_tree *t, int32_t queue, double gpus);
/* Everybody's share of so many GPUs, by what was asked. O(n x priorities x rounds). */
void dls_quota_divide(dls_quota_tree *t, double gpus);
/* A queue comes before another: where they part, by priority, then by what part of its share it uses. O(depth). */
bool dls_quota_before(const dls_quota_tree *t, int32_t a, int32_t b);

#endif
