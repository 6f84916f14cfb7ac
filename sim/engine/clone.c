/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A second engine in the same state as a first: both then go on by themselves, and do the same if
 * they are asked the same. Each part copies its own state.
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/engine.h"

static dls_status copy_pools(dls_select *s, const dls_select *from, dls_error *err)
{
    DLS_TRY(dls_alloc_array(&s->pool, (size_t)from->n_pools + 1, sizeof *s->pool, "pools", err));
    for (int32_t k = 0; k < from->n_pools; k++) {
        const dls_pool *of = &from->pool[k];
        const size_t n = (size_t)(of->n_running_sets * from->n_types);
        dls_pool *p = &s->pool[k];
        *p = *of;
        p->running = NULL;
        p->last = NULL;
        p->first = NULL;
        s->n_pools = k + 1;
        DLS_TRY(dls_duplicate(&p->running, of->running, n, n, sizeof *p->running, err));
        DLS_TRY(dls_duplicate(&p->last, of->last, n, n, sizeof *p->last, err));
        const size_t n_first = (size_t)(2 * of->n_classes * (from->by_type ? from->n_types : 1));
        DLS_TRY(dls_duplicate(&p->first, of->first, n_first, n_first, sizeof *p->first, err));
    }
    return DLS_OK;
}

dls_status dls_select_copy(dls_select *s, const dls_select *from, dls_error *err)
{
    s->n_pools = 0;
    DLS_TRY(dls_bitmap_init(&s->dirty, from->n_pools, err));
    dls_bitmap_assign(&s->dirty, &from->dirty);
    DLS_TRY(dls_order_copy(&s->order, &from->order, err));
    DLS_TRY(dls_piles_copy(&s->piles, &from->piles, &s->order, err));
    return copy_pools(s, from, err);
}

/* A policy's state: its bytes, and what they point to, which only the policy can copy. A policy
 * that frees something has such. */
static dls_status copy_state(void **state, const void *from, size_t bytes, const char *name,
                             bool has_memory, bool can, dls_error *err)
{
    if (has_memory && !can) {
        return dls_fail(
            err, DLS_EPOLICY, name,
            "has memory of its own and no `clone`: a simulation with it cannot be cloned");
    }
    return dls_duplicate(state, from, bytes, bytes, 1, err);
}

static dls_status copy_policies(dls_engine *c, const dls_engine *e, dls_error *err)
{
    const dls_sched_ops *s = e->params->sched;
    const dls_placement_ops *p = e->params->placement;
    DLS_TRY(copy_state(&c->ask.sched_state, e->ask.sched_state, s->state_bytes, s->name, s->fini,
                       s->clone, err));
    if (s->clone) {
        DLS_TRY(s->clone(c->ask.sched_state, e->ask.sched_state, &c->view, err));
    }
    DLS_TRY(copy_state(&c->ask.placement_state, e->ask.placement_state, p->state_bytes, p->name,
                       p->fini, p->clone, err));
    return p->clone ? p->clone(c->ask.placement_state, e->ask.placement_state, c->index, err)
                    : DLS_OK;
}

/* *c, a copy of the bytes of *e, owns nothing that the other does. */
static void disown(dls_engine *c)
{
    c->rec = NULL;
    c->index = NULL;
    c->ask.sched_state = c->ask.placement_state = NULL;
    c->ask.grant = (dls_grant){0};
    c->select.order = c->walk.order = (dls_order){0};
    c->select.piles = (dls_piles){0};
    c->select.pool = NULL;
    c->select.dirty = (dls_bitmap){0};
    c->walk.waiting = (dls_bitmap){0};
    c->guests.lists = (dls_bitmap){0};
#define XX(member, ...) c->member = NULL;
    DLS_ENGINE_ARRAYS(XX)
    DLS_ENGINE_LISTS(XX)
#undef XX
#define XX(member, slots) c->member = (dls_evq){0};
    DLS_ENGINE_QUEUES(XX)
#undef XX
}

/* What *c is to own; it can be destroyed at any time. */
static dls_status copy_parts(dls_engine *c, const dls_engine *e, dls_error *err)
{
    DLS_TRY(dls_place_index_copy(e->index, c->params->cluster, &c->index, err));
    DLS_TRY(dls_record_copy(e->rec, &c->rec, err));
    DLS_TRY(dls_select_copy(&c->select, &e->select, err));
#define XX(member, slots) DLS_TRY(dls_evq_copy(&c->member, &e->member, err));
    DLS_ENGINE_QUEUES(XX)
#undef XX
#define COPY(member, used, room)                                                                   \
    DLS_TRY(dls_duplicate(&c->member, e->member, (size_t)(used), (size_t)(room),                   \
                          sizeof *c->member, err));
#define XX(member, count, condition) COPY(member, count, count)
    DLS_ENGINE_ARRAYS(XX)
#undef XX
    DLS_ENGINE_LISTS(COPY)
#undef COPY
    if (e->walk.on) {
        DLS_TRY(dls_order_copy(&c->walk.order, &e->walk.order, err));
        DLS_TRY(dls_bitmap_init(&c->walk.waiting, e->n, err));
        dls_bitmap_assign(&c->walk.waiting, &e->walk.waiting);
    }
    if (e->guests.on) {
        DLS_TRY(dls_bitmap_init(&c->guests.lists, e->guests.lists.n, err));
        dls_bitmap_assign(&c->guests.lists, &e->guests.lists);
    }
    c->jobs.duration_us = c->jobs.work_us ? c->jobs.work_us : c->col->duration_us;
    c->jobs.estimate_us = c->jobs.believed_us ? c->jobs.believed_us : c->jobs.duration_us;
    c->select.job = c->job;
    c->select.size = c->walk.on ? c->walk.size : c->col->gpus;
    c->decision.actions.e = c;
    c->decision.actions.err = &c->decision.refused;
    dls_ask_bind(c);
    dls_view_bind(c);
    dls_seal(c); /* the view leads to the clone's columns */
    return copy_policies(c, e, err);
}

dls_status dls_sim_clone(const dls_engine *e, const dls_sim_params *p, dls_engine **out,
                         dls_error *err)
{
    DLS_ASSERT(!e->closed && p->sched == e->params->sched && p->placement == e->params->placement);
    dls_engine *c;
    DLS_TRY(dls_alloc_array(&c, 1, sizeof *c, "simulation", err));
    *c = *e;
    c->params = p;
    disown(c);
    const dls_status status = copy_parts(c, e, err);
    if (status != DLS_OK) {
        dls_engine_destroy(c);
        return status;
    }
    *out = c;
    return DLS_OK;
}
