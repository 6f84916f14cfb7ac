/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What GPUs given back may help, and refusals that depend on the job. The selection looks at the heads of the
 * classes only, so a refused head must make way for the next of its class:
 *
 *      class   waiting: [head] a b c ...      refused on every type with room --> parked: [head]
 *                                             GPUs given back, or a retry due --> waiting again
 *
 * At most DLS_PARKED_MAX of a class are parked, so a pass asks about a bounded number of jobs. Classes to which
 * GPUs given back may be offered are in a list: a pass of one pool looks at them, and not at all classes.
 */
#include "base/assert.h"
#include "engine/select_impl.h"

void dls_select_list(dls_select *s, dls_class *c)
{
    if (s->n_pools > 1 && !c->listed && dls_select_has_refused(c)) {
        c->listed = true;
        c->next_listed = s->listed;
        s->listed = (int32_t)(c - s->cls);
    }
}

void dls_select_mark_refused(dls_select *s)
{
    for (int32_t *at = &s->listed; *at != DLS_NONE;) {
        dls_class *c = &s->cls[*at];
        if (!dls_select_has_refused(c)) {
            c->listed = false;
            *at = c->next_listed;
            continue;
        }
        if ((c->head != DLS_NONE && c->refused_releases != UINT64_MAX && c->refused_releases != s->releases) ||
            (c->n_parked > 0 && c->parked_releases != s->releases)) {
            dls_select_mark(s, c->pool);
        }
        at = &c->next_listed;
    }
}

static void park(dls_select *s, dls_class *c, int32_t job)
{
    DLS_DEBUG_ASSERT(!s->refusal[job].parked);
    const dls_rank rank = s->order.member[job].rank;
    const int64_t estimate_us = dls_line_estimate_us(s, job);
    dls_select_remove_waiting(s, job);
    dls_order_insert(&s->order, &c->parked, job, rank, c->weight, estimate_us);
    s->pool[c->pool].waiting_gpus += c->weight; /* a parked job still waits */
    s->refusal[job].parked = true;
    if (c->n_parked++ == 0) {
        c->parked_releases = s->releases;
    }
    dls_select_list(s, c);
}

/* Out of the parked set, into none. */
static void take_parked(dls_select *s, dls_class *c, int32_t job)
{
    DLS_DEBUG_ASSERT(s->refusal[job].parked);
    dls_order_remove(&s->order, &c->parked, job);
    s->pool[c->pool].waiting_gpus -= c->weight;
    s->refusal[job] = (dls_refusal){.pass = UINT64_MAX, .releases = UINT64_MAX};
    c->n_parked--;
}

static void unpark_all(dls_select *s, dls_class *c)
{
    for (int32_t job; (job = dls_order_first(&s->order, c->parked)) != DLS_NONE;) {
        const dls_rank rank = s->order.member[job].rank;
        const int64_t estimate_us = dls_line_estimate_us(s, job);
        take_parked(s, c, job);
        dls_select_add_waiting(s, job, rank, estimate_us);
    }
}

void dls_select_take_waiting(dls_select *s, int32_t job)
{
    if (s->refusal && s->refusal[job].parked) {
        take_parked(s, &s->cls[s->job[job].cls], job);
    } else {
        dls_select_remove_waiting(s, job);
    }
}

void dls_select_refuse(dls_select *s, int32_t job, int32_t type, int64_t now_us)
{
    dls_class *c = &s->cls[s->job[job].cls];
    if (!s->refusal || c->n_parked == DLS_PARKED_MAX) {
        dls_select_refuse_class(s, c, type);
        return;
    }
    dls_refusal *r = &s->refusal[job];
    const bool known = r->pass == s->pass || r->releases == s->releases;
    r->types = (known ? r->types : 0) | UINT32_C(1) << type;
    if (r->pass != s->pass) {
        r->pass = s->pass;
        r->releases = s->releases;
    }
    if (!dls_select_fits(s, job, now_us)) {
        park(s, c, job);
    } else {
        dls_select_update_head(s, c);
    }
}

void dls_select_unpark(dls_select *s, int32_t pool)
{
    const dls_pool *p = &s->pool[pool];
    for (int32_t k = 0; k < p->n_classes; k++) {
        dls_class *c = &s->cls[p->first_class + k];
        if (c->n_parked > 0 && c->parked_releases != s->releases) {
            unpark_all(s, c);
        }
    }
}

void dls_select_refile_parked(dls_select *s, int32_t job, dls_rank rank)
{
    dls_class *c = &s->cls[s->job[job].cls];
    const int64_t estimate_us = dls_line_estimate_us(s, job);
    dls_order_remove(&s->order, &c->parked, job);
    dls_order_insert(&s->order, &c->parked, job, rank, c->weight, estimate_us);
}

void dls_select_clear_refusals_of_jobs(dls_select *s, dls_class *c)
{
    unpark_all(s, c);
    if (c->head != DLS_NONE) { /* refused on some types, it may have stayed */
        s->refusal[c->head].pass = s->refusal[c->head].releases = UINT64_MAX;
    }
}
