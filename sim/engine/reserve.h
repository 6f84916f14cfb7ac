/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * EASY backfilling that knows where (scheduler.reserve = "nodes"): on which nodes the first waiting job will start.
 */
#ifndef DLS_ENGINE_RESERVE_H
#define DLS_ENGINE_RESERVE_H

#include "dlsim/policy.h"

/* What a node will have beside the job that it is reserved for, and what is kept of it now. */
typedef struct dls_reserved {
    uint64_t named;    /* the GPUs that the job is to have, if it needs just these; else 0 */
    int64_t spare_cpu, spare_mem;
    int32_t node, spare_gpus;
    uint64_t kept;
    int64_t kept_cpu, kept_mem;
} dls_reserved;

typedef struct dls_reservation {
    bool on;
    dls_reserved *part; /* [n] empty: nothing is reserved */
    size_t n, cap;
    int32_t *cursor;    /* [pools] scratch: who ends next */
    int32_t *ended;     /* scratch: taken to have ended */
    size_t n_ended, ended_cap;
} dls_reservation;

#define DLS_RESERVE_ARRAYS(XX) XX(reserve.cursor, e->select.n_pools, e->reserve.on)

#define DLS_RESERVE_LISTS(XX)                                                                      \
    XX(reserve.part, 0, e->reserve.cap)                                                            \
    XX(reserve.ended, 0, e->reserve.ended_cap)

/* As dls_select_shadow, but the placement says when and where it would start the head: it is asked as if the running
 * jobs, of all pools, had ended one after the other as estimated. O(jobs that end before x (log nodes + pools)) and as
 * many questions to the placement. */
dls_status dls_reserve(dls_engine *e, int32_t head, int64_t *shadow_us, uint32_t *types, int64_t *spare,
                       dls_error *err) DLS_MUST_CHECK;
/* Take what is reserved and free now from the index while one is placed that ends later; false: that is nothing. Then
 * give it back, less what that job has of the rest. */
bool dls_reserve_keep(dls_engine *e);
void dls_reserve_return(dls_engine *e);

#endif
