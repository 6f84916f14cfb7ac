/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Rounds: when the next one is, and the plan that it fills.
 */
#ifndef DLS_ENGINE_ROUND_H
#define DLS_ENGINE_ROUND_H

#include "dlsim/policy.h"

typedef struct dls_planned {
    dls_want want;
    int32_t job, host;       /* host: to join, else DLS_NONE */
    bool keep, decline;
    int32_t first_node;      /* of want.nodes, in the plan's own copy */
} dls_planned;

typedef struct dls_rounds {
    bool on, due;
    dls_round_timing timing;
    int64_t origin_us;       /* the first submission */
    uint64_t number;         /* rounds so far */
    uint64_t *named;         /* [n] number of the round that last named the job */
    dls_planned *plan;
    size_t n, cap;
    dls_place_part *nodes;
    size_t n_nodes, nodes_cap;
    int32_t *moving;         /* scratch: running jobs that change or stop */
    size_t moving_cap;
    bool keep_all;
} dls_rounds;

#define DLS_ROUND_ARRAYS(XX) XX(rounds.named, e->n, e->params->sched->round)

#define DLS_ROUND_LISTS(XX)                                                                        \
    XX(rounds.plan, 0, e->rounds.cap)                                                              \
    XX(rounds.nodes, 0, e->rounds.nodes_cap)                                                       \
    XX(rounds.moving, 0, e->rounds.moving_cap)

/* ---- round.c ----------------------------------------------------------------------------------- */

/* The policy's `init` is over. */
dls_status dls_rounds_init(dls_engine *e, dls_error *err) DLS_MUST_CHECK;
/* Jobs have come, or have lost their GPUs or finished. */
dls_status dls_round_wanted(dls_engine *e, bool arrival, dls_error *err) DLS_MUST_CHECK;
dls_status dls_round_pass(dls_engine *e, dls_error *err) DLS_MUST_CHECK;

#endif
