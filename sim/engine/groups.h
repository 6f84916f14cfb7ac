/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Schedulers that divide the cluster among gang sizes: each size is a pool, whose share the policy says.
 */
#ifndef DLS_ENGINE_GROUPS_H
#define DLS_ENGINE_GROUPS_H

#include "dlsim/policy.h"

/* [pools] what the policy is shown (dls_groups) */
typedef struct dls_group_shares {
    int32_t *gpus;
    int64_t *demand, *used, *reserved;
} dls_group_shares;

#define DLS_GROUPS_ARRAYS(XX)                                                                      \
    XX(groups.gpus, e->select.n_pools, e->params->sched->share)                                    \
    XX(groups.demand, e->select.n_pools, e->params->sched->share)                                  \
    XX(groups.used, e->select.n_pools, e->params->sched->share)                                    \
    XX(groups.reserved, e->select.n_pools, e->params->sched->share)

/* ---- groups.c ---------------------------------------------------------------------------------- */

/* Ask the policy how the cluster is to be divided, and let the pools have it. */
dls_status dls_share_pass(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

#endif
