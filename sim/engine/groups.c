/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a scheduler that divides the cluster among gang sizes is shown, and what becomes of its
 * answer.
 */
#include "base/assert.h"
#include "engine/engine.h"

dls_status dls_share_pass(dls_engine *e, dls_error *err)
{
    DLS_DEBUG_ASSERT(e->params->sched->share);
    dls_select *s = &e->select;
    dls_groups g = {.n = s->n_pools,
                    .gpus = e->groups.gpus,
                    .demand = e->groups.demand,
                    .used = e->groups.used,
                    .reserved = e->groups.reserved,
                    .total_gpus = e->index->total_gpus,
                    .next_us = DLS_NEVER};
    int64_t sum = 0;
    for (int32_t k = 0; k < s->n_pools; k++) {
        e->groups.gpus[k] = s->pool[k].id;
        e->groups.used[k] = s->pool[k].used[0];
        e->groups.demand[k] = s->pool[k].used[0] + s->pool[k].waiting_gpus;
        e->groups.reserved[k] = s->pool[k].cap[0];
    }
    dls_view_update(e);
    dls_seal(e);
    e->params->sched->share(e->ask.sched_state, &e->view, &g);
    DLS_TRY(dls_seal_check(e, err));
    DLS_TRY(dls_policy_check(e, e->params->sched->name, DLS_NONE, err));
    for (int32_t k = 0; k < s->n_pools; k++) {
        if (e->groups.reserved[k] < e->groups.used[k]) {
            return dls_fail(err, DLS_EPOLICY, e->params->sched->name,
                            "reserves less for gangs of %d than they hold", e->groups.gpus[k]);
        }
        if (e->groups.reserved[k] > e->index->total_gpus - sum) {
            return dls_fail(err, DLS_EPOLICY, e->params->sched->name,
                            "reserves more than the %lld GPUs of the cluster",
                            (long long)e->index->total_gpus);
        }
        sum += e->groups.reserved[k];
        if (s->pool[k].cap[0] != e->groups.reserved[k]) {
            dls_select_mark(s, k);
        }
        s->pool[k].cap[0] = e->groups.reserved[k];
    }
    if (g.next_us <= e->clock.now_us) {
        return dls_fail(err, DLS_EPOLICY, e->params->sched->name,
                        "wants to divide the cluster again at a time that is not in the future");
    }
    if (g.next_us != DLS_NEVER) {
        return dls_evq_set(&e->clock.events, DLS_SLOT_SHARE(e), g.next_us, DLS_EV_TICK, err);
    }
    return DLS_OK;
}
