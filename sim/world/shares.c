/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Solves max-min fair bandwidth incrementally: when a job or a link changes, only the levels that
 * depend on it are computed again, from low to high.
 */
#include "world/shares.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "world/shares_level.h"

/* ---- who crosses what ---------------------------------------------------------------------------- */

dls_status dls_shares_init(dls_shares *s, int32_t n_links, dls_error *err)
{
    DLS_ASSERT(n_links >= 0);
    *s = (dls_shares){.n_links = n_links, .free_crossing = -1};
    s->link = dls_alloc_zero((size_t)n_links, sizeof *s->link);
    s->changed = dls_alloc_zero((size_t)n_links, sizeof *s->changed);
    if (!s->link || !s->changed || dls_evq_init(&s->due, (size_t)n_links, err) != DLS_OK) {
        dls_shares_fini(s);
        return dls_nomem(err, "links", (size_t)n_links * sizeof *s->link);
    }
    for (int32_t l = 0; l < n_links; l++) {
        s->link[l].first = -1;
        s->link[l].level = DLS_LEVEL_NONE;
    }
    return DLS_OK;
}

void dls_shares_fini(dls_shares *s)
{
    dls_evq_fini(&s->due);
    DLS_FREE_ALL(s->link, s->flow, s->crossing, s->changed, s->moved, s->taker);
    *s = (dls_shares){0};
}

dls_status dls_shares_copy(dls_shares *s, const dls_shares *from, dls_error *err)
{
    const size_t n_links = (size_t)from->n_links;
    dls_shares_fini(s);
    *s = *from;
    s->due = (dls_evq){0};
    s->taker = NULL;
    s->takers_cap = 0; /* scratch */
    DLS_TRY(DLS_COPY_ALL(err, DLS_COPY(s->link, n_links, n_links), DLS_COPY(s->changed, n_links, n_links),
                         DLS_COPY(s->flow, from->n_flows, from->flows_cap),
                         DLS_COPY(s->crossing, from->n_crossings, from->crossings_cap),
                         DLS_COPY(s->moved, from->n_moved, from->moved_cap)));
    return dls_evq_copy(&s->due, &from->due, err);
}

dls_status dls_shares_reserve(dls_shares *s, int32_t flow, size_t n, dls_error *err)
{
    DLS_DEBUG_ASSERT(flow >= 0);
    const size_t flows = (size_t)flow + 1;
    DLS_TRY(dls_grow(&s->flow, &s->flows_cap, flows, sizeof *s->flow, err));
    DLS_TRY(dls_grow(&s->moved, &s->moved_cap, flows, sizeof *s->moved, err));
    while (s->n_flows < flows) {
        s->flow[s->n_flows++] = (dls_flow){.crossing = -1};
    }
    size_t have = 0;
    for (int32_t c = s->free_crossing; c >= 0 && have < n; c = s->crossing[c].next) {
        have++;
    }
    const size_t more = n - have;
    DLS_TRY(dls_grow(&s->crossing, &s->crossings_cap, s->n_crossings + more, sizeof *s->crossing, err));
    for (size_t i = 0; i < more; i++) {
        s->crossing[s->n_crossings].next = s->free_crossing;
        s->free_crossing = (int32_t)s->n_crossings++;
    }
    return DLS_OK;
}

static void note_link(dls_shares *s, int32_t link)
{
    if (!s->link[link].changed) {
        s->link[link].changed = true;
        s->changed[s->n_changed++] = link;
    }
}

static void note_flow(dls_shares *s, int32_t flow)
{
    if (!s->flow[flow].moved) {
        s->flow[flow].moved = true;
        s->moved[s->n_moved++] = flow;
    }
}

void dls_shares_note(dls_shares *s, int32_t flow)
{
    for (int32_t c = s->flow[flow].crossing; c >= 0; c = s->crossing[c].next_of_flow) {
        if (s->crossing[c].network) {
            note_link(s, s->crossing[c].link);
        }
    }
}

void dls_shares_add(dls_shares *s, int32_t flow, const dls_curve *curve)
{
    DLS_DEBUG_ASSERT((size_t)flow < s->n_flows && s->flow[flow].crossing < 0);
    dls_flow *f = &s->flow[flow];
    *f = (dls_flow){.curve = curve,
                    .speed = 1,
                    .overlap = 1,
                    .crossing = -1,
                    .least = DLS_LEVEL_NONE,
                    .second = DLS_LEVEL_NONE,
                    .tightest = -1,
                    .bytes_at_level = {-1, -1},
                    .moved = f->moved};
    if (curve) {
        f->alone = 1 + (int64_t)dls_curve_used(curve, curve->line, 1);
        note_flow(s, flow);
    }
}

/* One more level among those of a flow's links. */
static void limit(dls_flow *f, int32_t link, int32_t level)
{
    if (level < f->least) {
        f->second = f->least;
        f->least = level;
        f->tightest = link;
    } else if (level < f->second) {
        f->second = level;
    }
}

void dls_shares_cross(dls_shares *s, int32_t flow, int32_t link, uint64_t mask, bool network)
{
    DLS_DEBUG_ASSERT((size_t)flow < s->n_flows && link >= 0 && link < s->n_links);
    DLS_DEBUG_ASSERT(s->free_crossing >= 0); /* dls_shares_reserve */
    dls_flow *f = &s->flow[flow];
    dls_link *l = &s->link[link];
    const int32_t c = s->free_crossing;
    dls_crossing *x = &s->crossing[c];
    s->free_crossing = x->next;
    *x = (dls_crossing){.mask = mask,
                        .flow = flow,
                        .link = link,
                        .prev = -1,
                        .next = l->first,
                        .next_of_flow = f->crossing,
                        .network = network && f->curve && l->capacity > 0};
    if (l->first >= 0) {
        s->crossing[l->first].prev = c;
    }
    l->first = f->crossing = c;
    if (x->network) {
        l->lines += (int64_t)f->curve->line;
        l->alone += f->alone;
        l->users++;
        note_link(s, link);
        f->bytes_at_level[0] = f->bytes_at_level[1] = -1;
        limit(f, link, l->level);
    }
}

int32_t dls_shares_leave(dls_shares *s, int32_t crossing)
{
    DLS_DEBUG_ASSERT(crossing >= 0 && (size_t)crossing < s->n_crossings);
    dls_crossing *x = &s->crossing[crossing];
    dls_link *l = &s->link[x->link];
    dls_flow *f = &s->flow[x->flow];
    const int32_t next = x->next_of_flow;
    if (x->network) {
        l->lines -= (int64_t)f->curve->line;
        l->alone -= f->alone;
        l->users--;
        note_link(s, x->link);
    }
    *(x->prev >= 0 ? &s->crossing[x->prev].next : &l->first) = x->next;
    if (x->next >= 0) {
        s->crossing[x->next].prev = x->prev;
    }
    x->next = s->free_crossing;
    s->free_crossing = crossing;
    f->crossing = next;
    if (next < 0) {
        f->curve = NULL;
    }
    return next;
}

void dls_shares_set_capacity(dls_shares *s, int32_t link, double bytes_per_s)
{
    DLS_DEBUG_ASSERT(link >= 0 && link < s->n_links && bytes_per_s >= 0);
    s->link[link].capacity = bytes_per_s;
    note_link(s, link);
}

void dls_shares_set_speed(dls_shares *s, int32_t flow, double speed)
{
    DLS_DEBUG_ASSERT(speed > 0 && speed <= 1);
    if (s->flow[flow].speed != speed) {
        s->flow[flow].speed = speed;
        s->flow[flow].bytes_at_level[0] = s->flow[flow].bytes_at_level[1] = -1;
        dls_shares_note(s, flow);
    }
}

void dls_shares_set_overlap(dls_shares *s, int32_t flow, double overlap)
{
    DLS_DEBUG_ASSERT(overlap >= 0 && overlap <= 1);
    if (s->flow[flow].overlap != overlap) {
        s->flow[flow].overlap = overlap;
        dls_shares_note(s, flow);
    }
}

/* ---- levels -------------------------------------------------------------------------------------- */

/* A flow as a link sees it. */
static void fill_taker(dls_taker *t, dls_flow *f, int32_t link)
{
    const bool tightest = f->tightest == link;
    const double limit = dls_level_value(tightest ? f->second : f->least);
    const int64_t most = (int64_t)(limit < f->curve->line ? limit : f->curve->line);
    int64_t *moves = &f->bytes_at_level[tightest];
    if (*moves < 0) {
        *moves = dls_level_moves(f->curve, f->speed, most);
    }
    t->curve = f->curve;
    t->speed = f->speed;
    t->overlap = f->overlap;
    t->limit_bps = most;
    t->used_bps = *moves;
}

static int32_t work_out(dls_shares *s, int32_t link)
{
    const dls_link *l = &s->link[link];
    int32_t n = 0;
    if (!dls_link_binds(l)) {
        return DLS_LEVEL_NONE;
    }
    for (int32_t c = l->first; c >= 0; c = s->crossing[c].next) {
        if (s->crossing[c].network) {
            fill_taker(&s->taker[n++], &s->flow[s->crossing[c].flow], link);
        }
    }
    s->solved++;
    return dls_level_find(s->taker, n, l->capacity, l->level);
}

/* To be looked at before levels from `level` on are settled. */
static dls_status expect(dls_shares *s, int32_t link, int32_t level, dls_error *err)
{
    if (!dls_evq_has(&s->due, (uint32_t)link) || level < dls_evq_time(&s->due, (uint32_t)link)) {
        DLS_TRY(dls_evq_set(&s->due, (uint32_t)link, level, DLS_EV_TICK, err));
    }
    s->link[link].stale = true;
    return DLS_OK;
}

/* A flow's limit beside a link has moved: is that below what the level of the link depends on? */
static dls_status tell_link(dls_shares *s, int32_t link, int32_t before, int32_t after, dls_error *err)
{
    const dls_link *l = &s->link[link];
    const int32_t from = before < after ? before : after;
    if (l->level == DLS_LEVEL_NONE && !l->changed && (after < before || !dls_link_binds(l)) &&
        !dls_evq_has(&s->due, (uint32_t)link)) {
        return DLS_OK; /* it was not full, and will not be for that */
    }
    const bool due = dls_evq_has(&s->due, (uint32_t)link);
    const int32_t upto = due && !l->stale && l->next_level > l->level ? l->next_level : l->level;
    if (from >= upto && !(due && l->stale)) {
        return DLS_OK;
    }
    /* Its level rises where a limit falls, and falls, but not below the limit that was, where one rises. */
    return expect(s, link, after > before && before < l->level ? before : l->level, err);
}

/* The level of one of a flow's links has changed from `level`. */
static dls_status tell_flow(dls_shares *s, int32_t flow, int32_t link, int32_t level, dls_error *err)
{
    dls_flow *f = &s->flow[flow];
    const int32_t least = f->least, second = f->second, tightest = f->tightest;
    if (tightest != link && level > second && s->link[link].level >= second) {
        return DLS_OK; /* neither of the two lowest */
    }
    f->least = f->second = DLS_LEVEL_NONE;
    f->tightest = -1;
    for (int32_t c = f->crossing; c >= 0; c = s->crossing[c].next_of_flow) {
        if (s->crossing[c].network) {
            limit(f, s->crossing[c].link, s->link[s->crossing[c].link].level);
        }
    }
    if (f->least != least) {
        f->bytes_at_level[0] = -1;
        note_flow(s, flow);
    }
    f->bytes_at_level[1] = f->second != second ? -1 : f->bytes_at_level[1];
    for (int32_t c = f->crossing; c >= 0; c = s->crossing[c].next_of_flow) {
        const int32_t other = s->crossing[c].link;
        if (s->crossing[c].network && other != link) {
            const int32_t before = tightest == other ? second : least;
            const int32_t after = f->tightest == other ? f->second : f->least;
            if (before != after) {
                DLS_TRY(tell_link(s, other, before, after, err));
            }
        }
    }
    return DLS_OK;
}

static dls_status set_level(dls_shares *s, int32_t link, dls_error *err)
{
    dls_link *l = &s->link[link];
    const int32_t level = l->level;
    l->level = l->next_level;
    for (int32_t c = l->first; c >= 0; c = s->crossing[c].next) {
        if (s->crossing[c].network) {
            DLS_TRY(tell_flow(s, s->crossing[c].flow, link, level, err));
        }
    }
    return DLS_OK;
}

static dls_status look_at(dls_shares *s, int32_t link, dls_error *err)
{
    dls_link *l = &s->link[link];
    if (!l->stale) {
        return set_level(s, link, err);
    }
    l->next_level = work_out(s, link);
    l->stale = false;
    if (l->next_level == l->level) {
        return DLS_OK;
    }
    return dls_evq_set(&s->due, (uint32_t)link,
                       l->next_level < l->level ? l->next_level : l->level, DLS_EV_TICK, err);
}

/* ---- shares -------------------------------------------------------------------------------------- */

/* What a flow has now; whether that is another share than before. */
static bool update_share(dls_shares *s, int32_t flow)
{
    dls_flow *f = &s->flow[flow];
    f->moved = false;
    if (!f->curve) {
        return false;
    }
    const double limit =
        f->least == DLS_LEVEL_NONE ? f->curve->line : dls_level_value(f->least - 1);
    const double x = limit < f->curve->line ? limit : f->curve->line, was = f->x;
    f->x = x;
    return x != was;
}

dls_status dls_shares_settle(dls_shares *s, const int32_t **moved, size_t *n, dls_error *err)
{
    for (int32_t i = 0; i < s->n_changed; i++) {
        const int32_t link = s->changed[i];
        DLS_TRY(dls_grow(&s->taker, &s->takers_cap, (size_t)s->link[link].users, sizeof *s->taker, err));
        DLS_TRY(expect(s, link, 0, err));
        s->link[link].changed = false;
    }
    s->n_changed = 0;
    while (!dls_evq_empty(&s->due)) {
        DLS_TRY(look_at(s, (int32_t)dls_event_slot(dls_evq_pop(&s->due)), err));
    }
    size_t kept = 0;
    for (size_t i = 0; i < s->n_moved; i++) {
        if (update_share(s, s->moved[i])) {
            s->moved[kept++] = s->moved[i];
        }
    }
    s->n_moved = 0;
    *moved = s->moved;
    *n = kept;
    return DLS_OK;
}
