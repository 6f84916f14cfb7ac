/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the selection: what select.c and backfill.c share.
 */
#ifndef DLS_ENGINE_SELECT_IMPL_H
#define DLS_ENGINE_SELECT_IMPL_H

#include "engine/select.h"

static inline dls_line dls_line_empty(const dls_select *s, bool back)
{
    return s->backfills ? (dls_line){.set = DLS_ORDER_SET_EMPTY}
                        : (dls_line){.pile = DLS_PILE_EMPTY(back)};
}

/* The estimate that a waiting job stands at, which backfilling alone asks for. */
static inline int64_t dls_line_estimate_us(const dls_select *s, int32_t job)
{
    return s->backfills ? s->order.aux[job] : 0;
}

static inline void dls_line_insert(dls_select *s, dls_line *line, int32_t job, dls_rank rank,
                                   int32_t weight, int64_t estimate_us)
{
    if (s->backfills) {
        dls_order_insert(&s->order, &line->set, job, rank, weight, estimate_us);
    } else {
        dls_pile_insert(&s->piles, &line->pile, job, rank, weight);
    }
}

static inline void dls_line_remove(dls_select *s, dls_line *line, int32_t job)
{
    if (s->backfills) {
        dls_order_remove(&s->order, &line->set, job);
    } else {
        dls_pile_remove(&s->piles, &line->pile, job);
    }
}

/* A head has changed, something was refused or parked: the class is in the list of those that GPUs given back may help, if they may. */
void dls_select_list(dls_select *s, dls_class *c);

/* The types on which the placement has refused the class, as long as that holds. */
static inline uint32_t dls_select_refused(const dls_select *s, const dls_class *c)
{
    return c->refused_pass == s->pass || c->refused_releases == s->releases ? c->refused_types : 0;
}

/* The types on which the class may be tried for a job of it. */
static inline uint32_t dls_select_open(const dls_select *s, const dls_class *c, int32_t job)
{
    const uint32_t types = c->types & ~dls_select_refused(s, c);
    const dls_refusal *r = s->refusal ? &s->refusal[job] : NULL;
    return r && (r->pass == s->pass || r->releases == s->releases) ? types & ~r->types : types;
}

/* Those of some types (bits) with enough free GPUs for the class. */
static inline uint32_t dls_select_fits_free(const dls_pool *p, const dls_class *c, uint32_t types)
{
    uint32_t fits = 0;
    for (; types; types &= types - 1) {
        const int32_t t = __builtin_ctz(types);
        fits |= (uint32_t)(p->cap[t] - p->used[t] >= c->weight) << t;
    }
    return fits;
}

/* One of the types (bits, not 0), `first` (-1: none) if it is among them. -1: the job would rather
 * wait; then its class is left alone on these types. */
int32_t dls_select_choose(dls_select *s, int32_t job, uint32_t types, int32_t first,
                          int64_t now_us);

#endif
