/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reservations by node. The running jobs are given back to the index in the order in which they are estimated to end,
 * until the placement accepts the head: that names when, and the nodes. Then all is taken again.
 *
 * Who ends by then may be placed anywhere. For who does not, the index lacks what the head needs and is free now, so
 * the placement looks elsewhere by itself:
 *
 *      node   free now   free then   head's   spare then   kept now
 *      0      3          8           6        2            1
 *      1      4          4           2        2            2
 */
#include "engine/reserve.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/engine.h"

#include <string.h>

/* The running job of the type that ends next, of all pools; DLS_NONE. */
static int32_t next_to_end(dls_engine *e)
{
    const dls_select *s = &e->select;
    int32_t best = DLS_NONE;
    for (int32_t k = 0; k < s->n_pools; k++) {
        const int32_t job = e->reserve.cursor[k];
        if (job != DLS_NONE && (best == DLS_NONE || dls_rank_cmp(&s->order.member[job].rank,
                                                                 &s->order.member[best].rank) < 0)) {
            best = job;
        }
    }
    return best;
}

/* The placement accepts the head: what the nodes of the grant have beside it. */
static dls_status note(dls_engine *e, int32_t head, dls_error *err)
{
    dls_reservation *r = &e->reserve;
    const dls_grant *g = &e->ask.grant;
    DLS_TRY(dls_grow(&r->part, &r->cap, g->n, sizeof *r->part, err));
    r->n = g->n;
    for (size_t i = 0; i < g->n; i++) {
        const dls_node *node = &e->index->node[g->part[i].node];
        int64_t cpu, mem;
        dls_side_resources(e, head, g->part[i].gpus, &cpu, &mem);
        r->part[i] = (dls_reserved){.named = g->mask[i],
                                    .spare_cpu = node->free_cpu_milli - cpu,
                                    .spare_mem = node->free_mem_mib - mem,
                                    .node = g->part[i].node,
                                    .spare_gpus = node->free - g->part[i].gpus};
    }
    return DLS_OK;
}

/* Try the head on a type after each end before *shadow_us; if it is accepted, that and the rest say so. */
static dls_status try_type(dls_engine *e, int32_t head, int32_t t, int64_t *shadow_us, uint32_t *types,
                           int64_t *spare, dls_error *err)
{
    dls_select *s = &e->select;
    dls_reservation *r = &e->reserve;
    const dls_class *c = &s->cls[s->job[head].cls];
    const dls_pool *p = &s->pool[c->pool];
    const int64_t now_us = e->clock.now_us;
    int64_t used = p->used[t];
    bool fits = false;
    for (int32_t k = 0; k < s->n_pools; k++) {
        r->cursor[k] = dls_order_first(&s->order, s->pool[k].running[t].set);
    }
    for (int32_t job = next_to_end(e); job != DLS_NONE && !fits;) {
        const int64_t end_us = s->order.member[job].rank.key;
        const int64_t when_us = end_us > now_us ? end_us : now_us;
        if (when_us >= *shadow_us) {
            return DLS_OK;
        }
        do { /* whatever ends at that very instant, or is late */
            const int32_t pool = s->cls[s->job[job].cls].pool;
            r->cursor[pool] = dls_order_next(&s->order, s->pool[pool].running[t].set, job);
            used -= pool == c->pool ? dls_select_weight(s, &s->cls[s->job[job].cls], job) : 0;
            DLS_TRY(dls_grow(&r->ended, &r->ended_cap, r->n_ended + 1, sizeof *r->ended, err));
            r->ended[r->n_ended++] = job;
            dls_give_back(e, job, e->job[job].parts);
            job = next_to_end(e);
        } while (job != DLS_NONE && s->order.member[job].rank.key <= when_us);
        if (used + c->weight <= p->cap[t]) {
            DLS_TRY(dls_place_trial(e, head, t, when_us, &fits, err));
        }
        if (fits) {
            DLS_TRY(note(e, head, err));
            *shadow_us = when_us;
            *types = UINT32_C(1) << t;
            *spare = p->cap[t] - used - c->weight;
        }
    }
    return DLS_OK;
}

dls_status dls_reserve(dls_engine *e, int32_t head, int64_t *shadow_us, uint32_t *types, int64_t *spare,
                       dls_error *err)
{
    DLS_DEBUG_ASSERT(e->reserve.on);
    dls_select *s = &e->select;
    dls_reservation *r = &e->reserve;
    const dls_class *c = &s->cls[s->job[head].cls];
    const uint64_t releases = s->releases; /* nothing has really been given back */
    dls_status status = DLS_OK;
    *shadow_us = DLS_NEVER;
    *types = 0;
    *spare = 0;
    r->n = 0;
    for (uint32_t left = c->types; left && status == DLS_OK; left &= left - 1) {
        const int32_t t = __builtin_ctz(left);
        if (s->pool[c->pool].cap[t] < c->weight) {
            continue;
        }
        status = try_type(e, head, t, shadow_us, types, spare, err);
        while (r->n_ended > 0) {
            const bool again = dls_retake(e, r->ended[--r->n_ended]);
            DLS_ASSERT(again); /* nobody else has had them */
        }
    }
    s->releases = releases;
    return status;
}

bool dls_reserve_keep(dls_engine *e)
{
    bool any = false;
    for (size_t i = 0; i < e->reserve.n; i++) {
        dls_reserved *p = &e->reserve.part[i];
        const dls_node *node = &e->index->node[p->node];
        const int32_t more = node->free - p->spare_gpus;
        p->kept = p->named ? p->named & node->free_mask : more > 0 ? dls_lowest(node->free_mask, more) : 0;
        p->kept_cpu = node->free_cpu_milli > p->spare_cpu ? node->free_cpu_milli - p->spare_cpu : 0;
        p->kept_mem = node->free_mem_mib > p->spare_mem ? node->free_mem_mib - p->spare_mem : 0;
        if (p->kept || p->kept_cpu || p->kept_mem) {
            any = true;
            dls_place_change(e->index, p->node, node->free_mask & ~p->kept, node->free - dls_gpus_of(p->kept),
                             p->kept_cpu, p->kept_mem);
        }
        /* What is left for others now; what one of them takes is less of the spare. */
        p->spare_gpus -= node->free;
        p->spare_cpu -= node->free_cpu_milli;
        p->spare_mem -= node->free_mem_mib;
    }
    return any;
}

void dls_reserve_return(dls_engine *e)
{
    for (size_t i = 0; i < e->reserve.n; i++) {
        dls_reserved *p = &e->reserve.part[i];
        const dls_node *node = &e->index->node[p->node];
        p->spare_gpus += node->free;
        p->spare_cpu += node->free_cpu_milli;
        p->spare_mem += node->free_mem_mib;
        if (p->kept || p->kept_cpu || p->kept_mem) {
            dls_place_change(e->index, p->node, node->free_mask | p->kept, node->free + dls_gpus_of(p->kept),
                             -p->kept_cpu, -p->kept_mem);
        }
    }
}
