/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Quotas as a tree: queues in cohorts, cohorts in cohorts. Who has more than its quota borrows from its
 * cohort, as far as the others there lend, then from the next one up.
 *
 * The meaning is Kueue's, of its API: nominalQuota, borrowingLimit, lendingLimit
 * (https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/, .../cohort/).
 */
#ifndef DLS_SCHED_QUOTA_TREE_H
#define DLS_SCHED_QUOTA_TREE_H

#include "dlsim/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct dls_quota {
    char name[320];
    int32_t parent;     /* -1: none */
    double own;         /* GPUs */
    double borrow, lend; /* at most so much from and to the cohort; INFINITY: no limit */
    double all;         /* with what its members lend it */
    double kept;        /* of that it lends nobody */
    double used;        /* by itself and by members, beyond what they keep */
    int32_t depth;      /* steps up to the top */
    int32_t order;      /* at[0].order, at[1].order, ..: every member before its parent */
    int32_t members;    /* while it is read */
} dls_quota;

typedef struct dls_quota_tree {
    dls_quota *at;
    size_t n, cap;
    int32_t depth; /* most steps up to a top */
} dls_quota_tree;

/* Reads a table `name,parent,gpus,borrow,lend`: a queue or a cohort, parent empty: none, gpus empty: 0,
 * limits empty: none; in any order; a parent without a row has no quota of its own. Errors: EINPUT with file and
 * line (a name twice, a number that is none), ECONFIG (a cohort within itself), ENOMEM. */
dls_status dls_quota_tree_read(dls_quota_tree *t, const char *path, dls_error *err) DLS_MUST_CHECK;
void dls_quota_tree_fini(dls_quota_tree *t);
dls_status dls_quota_tree_clone(dls_quota_tree *t, const dls_quota_tree *from,
                                dls_error *err) DLS_MUST_CHECK;
/* -1: there is none of that name. O(n). */
int32_t dls_quota_find(const dls_quota_tree *t, const char *name);
/* Nobody uses anything. O(n). */
void dls_quota_clear(dls_quota_tree *t);
/* How much more a queue may use that borrows from cohorts up to so many steps above it; 0 steps: of its own
 * quota. Less than 0: it uses more than that. O(steps). */
double dls_quota_free(const dls_quota_tree *t, int32_t queue, int32_t steps);
/* A queue uses so many more. O(depth). */
void dls_quota_use(dls_quota_tree *t, int32_t queue, double gpus);

#endif
