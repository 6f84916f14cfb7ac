/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A second engine in the same state as a first: both then go on by themselves, and do the same if
 * they are asked the same. Each part copies its own state.
 */
#include "base/alloc.h"
#include "engine/engine.h"

#include <string.h>

static dls_status copy_pools(dls_select *s, const dls_select *from, dls_error *err)
{
    s->pool = dls_alloc_zero((size_t)from->n_pools + 1, sizeof *s->pool);
    if (!s->pool) {
        return dls_nomem(err, "pools", (size_t)from->n_pools * sizeof *s->pool);
    }
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
    const size_t n = (size_t)from->order.n;
    int32_t sizes = 1;
    for (int32_t k = 0; k < from->n_pools; k++) {
        sizes = from->pool[k].n_sizes > sizes ? from->pool[k].n_sizes : sizes;
    }
    *s = *from;
    s->order = (dls_order){0};
    s->cls = NULL;
    s->pool = NULL;
    s->class_of = s->touched = s->stopped = s->cursor = NULL;
    s->type = NULL;
    s->guest = NULL;
    s->refusal = NULL;
    s->n_pools = 0;
    s->touched_cap = s->stopped_cap = s->n_touched = 0; /* of one pass */
    DLS_TRY(copy_pools(s, from, err));
    DLS_TRY(dls_order_copy(&s->order, &from->order, err));
    DLS_TRY(dls_duplicate(&s->cls, from->cls, (size_t)from->n_classes, (size_t)from->n_classes,
                          sizeof *s->cls, err));
    DLS_TRY(dls_duplicate(&s->class_of, from->class_of, n, n, sizeof *s->class_of, err));
    DLS_TRY(dls_duplicate(&s->type, from->type, n, n, sizeof *s->type, err));
    DLS_TRY(dls_duplicate(&s->guest, from->guest, n, n, sizeof *s->guest, err));
    DLS_TRY(dls_duplicate(&s->refusal, from->refusal, n, n, sizeof *s->refusal, err));
    return dls_duplicate(&s->cursor, from->cursor, (size_t)sizes, (size_t)sizes, sizeof *s->cursor,
                         err);
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
    DLS_TRY(copy_state(&c->sched_state, e->sched_state, s->state_bytes, s->name, s->fini, s->clone,
                       err));
    if (s->clone) {
        DLS_TRY(s->clone(c->sched_state, e->sched_state, &c->view, err));
    }
    DLS_TRY(copy_state(&c->placement_state, e->placement_state, p->state_bytes, p->name, p->fini,
                       p->clone, err));
    return p->clone ? p->clone(c->placement_state, e->placement_state, c->index, err) : DLS_OK;
}

/* What *c, a copy of the bytes of *e, is to own; it can be destroyed at any time. */
static dls_status copy_parts(dls_engine *c, const dls_engine *e, dls_error *err)
{
    DLS_TRY(dls_place_index_copy(e->index, c->params->cluster, &c->index, err));
    DLS_TRY(dls_record_copy(e->rec, &c->rec, err));
    DLS_TRY(dls_evq_copy(&c->events, &e->events, err));
    DLS_TRY(dls_evq_copy(&c->stale, &e->stale, err));
    DLS_TRY(dls_evq_copy(&c->turns, &e->turns, err));
    DLS_TRY(dls_evq_copy(&c->retries, &e->retries, err));
    DLS_TRY(dls_select_copy(&c->select, &e->select, err));
    DLS_TRY(dls_walk_copy(c, e, err));
    DLS_TRY(dls_rounds_copy(c, e, err));
    DLS_TRY(dls_guest_copy(c, e, err));
    DLS_TRY(dls_failures_copy(c, e, err));
#define XX(member, used, room)                                                                     \
    DLS_TRY(dls_duplicate(&c->member, e->member, (size_t)(used), (size_t)(room),                   \
                          sizeof *c->member, err));
    DLS_ENGINE_ARRAYS(XX)
#undef XX
    c->duration_us = c->work_us ? c->work_us : c->col->duration_us;
    if (c->select.choose) {
        c->select.user = c;
    }
    dls_predictor_init(c);
    c->actions.e = c;
    c->actions.err = &c->refused;
    dls_view_bind(c);
    return copy_policies(c, e, err);
}

dls_status dls_sim_clone(const dls_engine *e, const dls_sim_params *p, dls_engine **out,
                         dls_error *err)
{
    dls_engine *c = dls_alloc(sizeof *c);
    if (!c) {
        return dls_nomem(err, "simulation", sizeof *c);
    }
    /* First nothing that the other owns. */
    *c = *e;
    c->params = p;
    c->rec = NULL;
    c->index = NULL;
    c->sched_state = c->placement_state = NULL;
    memset(&c->events, 0, sizeof c->events);
    memset(&c->stale, 0, sizeof c->stale);
    memset(&c->turns, 0, sizeof c->turns);
    memset(&c->retries, 0, sizeof c->retries);
    memset(&c->select, 0, sizeof c->select);
    memset(&c->walk, 0, sizeof c->walk);
    memset(&c->rounds, 0, sizeof c->rounds);
    memset(&c->grant, 0, sizeof c->grant);
    c->guests.job = NULL;
    c->guests.newest = NULL;
    c->failures = (dls_failure_state){0};
#define XX(member, used, room) c->member = NULL;
    DLS_ENGINE_ARRAYS(XX)
#undef XX
    const dls_status status = copy_parts(c, e, err);
    if (status != DLS_OK) {
        dls_engine_destroy(c);
        return status;
    }
    *out = c;
    return DLS_OK;
}
