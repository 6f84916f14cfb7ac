/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Whom Kueue preempts for a workload, of one resource: by the policies of ClusterQueues (withinClusterQueue,
 * reclaimWithinCohort, borrowWithinCohort) and who is nearer to the quota, or by fair sharing's weights and strategies
 * (https://kueue.sigs.k8s.io/docs/concepts/preemption/).
 */
#ifndef DLS_SCHED_KUEUE_PREEMPT_H
#define DLS_SCHED_KUEUE_PREEMPT_H

#include "sched/quota_tree.h"

/* Strategies of fair sharing, in the order in which they are tried. */
typedef enum dls_kueue_fair {
    DLS_KUEUE_UNFAIR,
    DLS_KUEUE_FINAL,   /* LessThanOrEqualToFinalShare */
    DLS_KUEUE_INITIAL, /* LessThanInitialShare */
    DLS_KUEUE_BOTH     /* the first, then the second */
} dls_kueue_fair;

typedef struct dls_kueue_load {
    int32_t job, queue; /* queue: in the tree */
    int32_t type;       /* the policy's: of its GPUs */
    double gpus;
    int64_t priority, submit_us, since_us; /* since: admitted */
    bool fixed, gone;   /* is no candidate; gave way */
} dls_kueue_load;

typedef struct dls_kueue_candidate dls_kueue_candidate;

/* Scratch; owned. */
typedef struct dls_kueue_search {
    dls_kueue_candidate *at;
    size_t n, cap;
    size_t *taken; /* of `at`, in their order */
    size_t n_taken, cap_taken;
} dls_kueue_search;

void dls_kueue_search_fini(dls_kueue_search *s);
/* *found: `in`, which is not in the tree, fits when those of the loads that are now `gone` have left the tree; else nothing
 * has changed. O(n log n + targets x nodes). */
dls_status dls_kueue_preempt(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load, size_t n,
                             const dls_kueue_load *in, dls_kueue_fair fair, bool *found,
                             dls_error *err) DLS_MUST_CHECK;
/* Who has gone by the last search, of the loads, into out[n_taken]; returns how many. */
size_t dls_kueue_targets(const dls_kueue_search *s, size_t *out);
/* Those that have gone by the last search are back. */
void dls_kueue_restore(dls_kueue_search *s, dls_quota_tree *t, dls_kueue_load *load);
/* One gives way, or is back. */
void dls_kueue_put(dls_quota_tree *t, dls_kueue_load *of, bool gone);
/* How unfairly much a queue or cohort borrows: thousandths of what its parent can have, by its weight; 0: nothing. */
double dls_kueue_share(const dls_quota_tree *t, int32_t node);

#endif
