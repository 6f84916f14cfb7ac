/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * "Walk all jobs in order of rank, take what fits, suspend the rest", at the cost of what changes.
 *
 * Running jobs are one ordered set weighted by GPUs; waiting jobs are one ordered set per GPU
 * count. Going down the ranks, the GPUs taken before a job only grow, so of each GPU count only the
 * first waiting job can be the next to start, and the next to be suspended is the first running job
 * up to which the running ones hold more than the limit. The pass applies the higher ranked of the
 * two until there is none; all before it is consistent already.
 */
#ifndef DLS_TIRESIAS_SELECT_H
#define DLS_TIRESIAS_SELECT_H

#include "base/assert.h"
#include "base/order.h"
#include "tiresias/core.h"

/* Jobs that share a number of GPUs: the cluster, or one job size's reservation. */
typedef struct dls_tir_group {
    dls_order_set running;
    int64_t limit_gpus;
    int32_t first_cls, end_cls; /* its GPU counts */
} dls_tir_group;

typedef struct dls_tir_select {
    dls_order table;
    dls_order_set *waiting; /* [n_sizes] */
    dls_tir_group *group;   /* [n_groups] */
    int32_t n_groups;
    int32_t *flip; /* [n] jobs started or suspended by the pass, in order of rank */
    int32_t n_flips;
} dls_tir_select;

/* One group for all sizes (limit: the whole cluster), or one per size (limit 0). */
dls_status dls_tir_select_init(dls_tir_select *sel, dls_tir *s, bool per_size,
                               dls_error *err) DLS_MUST_CHECK;
void dls_tir_select_fini(dls_tir_select *sel);
/* Sort jobs by their present rank. */
void dls_tir_select_sort(const dls_tir_select *sel, int32_t *jobs, int32_t n);

static inline dls_tir_group *dls_tir_group_of(const dls_tir_select *sel, const dls_tir *s,
                                              int32_t j)
{
    return &sel->group[sel->n_groups == 1 ? 0 : s->job[j].cls];
}
/* Put a job that arrived, or take one out, or give it another rank; its status says which set. */
void dls_tir_select_add(dls_tir_select *sel, const dls_tir *s, int32_t j, dls_rank rank);
void dls_tir_select_drop(dls_tir_select *sel, const dls_tir *s, int32_t j);
void dls_tir_select_rerank(dls_tir_select *sel, const dls_tir *s, int32_t j, dls_rank rank);
/* Another tie that leaves the job's place in its own set as it is. O(1). */
static inline void dls_tir_select_rename(dls_tir_select *sel, int32_t j, dls_rank rank)
{
    dls_rank *now = &sel->table.member[j].rank;
    DLS_ASSERT(now->level == rank.level && now->key == rank.key);
    *now = rank;
}

/* Apply dls_tir_start and dls_tir_suspend to what must change; sets flip. */
dls_status dls_tir_select_pass(dls_tir_select *sel, dls_tir *s, dls_error *err) DLS_MUST_CHECK;

#endif
