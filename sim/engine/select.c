/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Selection of running jobs: tournaments of class heads, flips in rank order until the selection is
 * that of a full walk. backfill.c has EASY backfilling.
 */
#include "engine/select_impl.h"

#include "base/alloc.h"
#include "base/assert.h"

void dls_select_fini(dls_select *s)
{
    for (int32_t p = 0; s->pool && p < s->n_pools; p++) {
        DLS_FREE_ALL(s->pool[p].running, s->pool[p].last, s->pool[p].first);
    }
    dls_free(s->pool);
    dls_bitmap_fini(&s->dirty);
    dls_piles_fini(&s->piles);
    dls_order_fini(&s->order);
}

/* Which of its pool's running sets a job of the class belongs to. */
static inline int32_t running_set(const dls_pool *p, const dls_class *c, int32_t type)
{
    return type * p->n_running_sets + (p->n_running_sets > 1 ? c->size_idx : 0);
}

/* ---- heads ------------------------------------------------------------------------------------- */

static inline int32_t *tournament(const dls_select *s, const dls_pool *p, int32_t type)
{
    return p->first + (s->by_type ? (ptrdiff_t)type * 2 * p->n_classes : 0);
}

static inline int32_t earlier(const dls_select *s, int32_t a, int32_t b)
{
    if (a == DLS_NONE || b == DLS_NONE) {
        return a == DLS_NONE ? b : a;
    }
    return dls_rank_cmp(&s->order.member[a].rank, &s->order.member[b].rank) < 0 ? a : b;
}

/* Job `head`, or none, plays for class number k of the pool. */
static void play(const dls_select *s, const dls_pool *p, int32_t *first, int32_t k, int32_t head)
{
    int32_t i = p->n_classes + k;
    if (first[i] == head) {
        return;
    }
    first[i] = head;
    for (i /= 2; i > 0; i /= 2) {
        const int32_t winner = earlier(s, first[2 * i], first[2 * i + 1]);
        if (first[i] == winner) {
            return;
        }
        first[i] = winner;
    }
}

/* The first of a class. */
static int32_t first_waiting(dls_select *s, dls_class *c)
{
    return s->backfills ? dls_order_first(&s->order, c->waiting.set)
                        : dls_pile_first(&s->piles, &c->waiting.pile);
}

int32_t dls_select_next_waiting(dls_select *s, dls_class *c, int32_t job)
{
    return s->backfills ? dls_order_next(&s->order, c->waiting.set, job)
                        : dls_pile_next(&s->piles, &c->waiting.pile, job);
}

void dls_select_update_head(dls_select *s, dls_class *c)
{
    DLS_AUDIT_ASSERT(c->head == first_waiting(s, c));
    dls_pool *p = &s->pool[c->pool];
    const int32_t cls = (int32_t)(c - s->cls), k = cls - p->first_class;
    if (!p->first) {
        return; /* of a program, which walks */
    }
    dls_select_list(s, c);
    if (!s->by_type) {
        play(s, p, p->first, k, c->head);
        return;
    }
    const uint32_t open = c->head == DLS_NONE ? 0 : dls_select_open(s, c, c->head);
    for (uint32_t types = c->types; types; types &= types - 1) {
        const int32_t t = __builtin_ctz(types);
        play(s, p, tournament(s, p, t), k, open >> t & 1 ? c->head : DLS_NONE);
    }
    if (c->head != DLS_NONE && open != c->types && !c->closed) {
        c->closed = true;
        c->next_closed = p->closed;
        p->closed = cls;
    }
}

/* What was refused in another pass, or before GPUs were given back, may be tried again. */
static void reopen(dls_select *s, dls_pool *p)
{
    if (p->closed == DLS_NONE || (p->closed_pass == s->pass && p->closed_releases == s->releases)) {
        return;
    }
    p->closed_pass = s->pass;
    p->closed_releases = s->releases;
    int32_t cls = p->closed;
    p->closed = DLS_NONE;
    while (cls != DLS_NONE) {
        dls_class *c = &s->cls[cls];
        cls = c->next_closed;
        c->closed = false;
        dls_select_update_head(s, c); /* puts it back into the list if it is still closed */
    }
}

/* The first head that plays for the type among the gangs of at most `most` GPUs. */
static int32_t first_head(const dls_select *s, const dls_pool *p, int32_t type, int64_t most)
{
    const int32_t *first = tournament(s, p, type);
    const dls_class *c = &s->cls[p->first_class];
    if (most >= c[p->n_classes - 1].weight || first[1] == DLS_NONE) {
        return first[1];
    }
    if (most < c[0].weight) {
        return DLS_NONE;
    }
    int32_t lo; /* classes below are small enough */
    DLS_BISECT(lo, p->n_classes - 1, c[lo].weight <= most);
    int32_t best = DLS_NONE;
    for (int32_t l = p->n_classes, r = p->n_classes + lo; l < r; l /= 2, r /= 2) {
        if (l & 1) {
            best = earlier(s, best, first[l++]);
        }
        if (r & 1) {
            best = earlier(s, best, first[--r]);
        }
    }
    return best;
}

/* ---- membership -------------------------------------------------------------------------------- */

/* Of a line whose first has just changed: what will be first after some more, or what is. */
static inline void fetch_ahead(const dls_select *s, const dls_line *line, int32_t first)
{
    const int32_t soon = s->backfills ? DLS_NONE : dls_pile_soon(&s->piles, &line->pile, 2);
    if (first != DLS_NONE) {
        s->fetch(s->user, soon != DLS_NONE ? soon : first);
    }
}

void dls_select_add_waiting(dls_select *s, int32_t job, dls_rank rank, int64_t estimate_us)
{
    DLS_DEBUG_ASSERT(s->job[job].cls >= 0 && s->job[job].type < 0);
    dls_class *c = &s->cls[s->job[job].cls];
    dls_line_insert(s, &c->waiting, job, rank, c->weight, estimate_us);
    s->pool[c->pool].waiting_gpus += c->weight;
    if (c->head == DLS_NONE || dls_rank_cmp(&rank, &s->order.member[c->head].rank) < 0) {
        c->head = job;
        dls_select_update_head(s, c);
    }
}

void dls_select_remove_waiting(dls_select *s, int32_t job)
{
    DLS_DEBUG_ASSERT(s->job[job].cls >= 0 && s->job[job].type < 0);
    dls_class *c = &s->cls[s->job[job].cls];
    dls_line_remove(s, &c->waiting, job);
    s->pool[c->pool].waiting_gpus -= c->weight;
    if (c->head == job) {
        c->head = first_waiting(s, c);
        fetch_ahead(s, &c->waiting, c->head); /* may be the next to start */
        dls_select_update_head(s, c);
    }
}

/* The last of a running set has left. */
static void find_last(dls_select *s, dls_pool *p, int32_t set)
{
    p->last[set] = dls_pile_first(&s->piles, &p->running[set].pile);
    fetch_ahead(s, &p->running[set], p->last[set]); /* may be the next to stop */
}

/* A job into a running set, with its rank there. */
static void put_running(dls_select *s, dls_pool *p, int32_t set, int32_t job, dls_rank rank,
                        int32_t weight)
{
    dls_line_insert(s, &p->running[set], job, rank, weight, 0);
    if (s->preempts && (p->last[set] == DLS_NONE ||
                        dls_rank_cmp(&rank, &s->order.member[p->last[set]].rank) > 0)) {
        p->last[set] = job;
    }
}

void dls_select_add_running(dls_select *s, int32_t job, int32_t type, dls_rank rank, int64_t now_us)
{
    DLS_DEBUG_ASSERT(s->job[job].type < 0 && type >= 0 && type < s->n_types);
    dls_class *c = &s->cls[s->job[job].cls];
    dls_pool *p = &s->pool[c->pool];
    s->job[job].type = (int8_t)type;
    p->used[type] += dls_select_weight(s, c, job);
    if (s->ranked) {
        const int32_t set = running_set(p, c, type);
        rank.key += dls_select_slope(s, c->gpus) * now_us;
        put_running(s, p, set, job, rank, c->weight);
    }
}

void dls_select_remove_running(dls_select *s, int32_t job)
{
    DLS_DEBUG_ASSERT(s->job[job].type >= 0);
    dls_class *c = &s->cls[s->job[job].cls];
    dls_pool *p = &s->pool[c->pool];
    const int32_t type = s->job[job].type;
    s->job[job].type = -1;
    p->used[type] -= dls_select_weight(s, c, job);
    if (s->ranked) {
        const int32_t set = running_set(p, c, type);
        dls_line_remove(s, &p->running[set], job);
        if (p->last[set] == job) {
            find_last(s, p, set);
        }
    }
}

void dls_select_fetch(const dls_select *s, int32_t job)
{
    if (s->preempts && s->job[job].type >= 0) {
        dls_pile_fetch(&s->piles, job);
    }
}

void dls_select_deselect(dls_select *s, int32_t job, int64_t now_us, int64_t estimate_us)
{
    const dls_rank rank = dls_select_rank(s, job, now_us);
    dls_select_remove_running(s, job);
    dls_select_add_waiting(s, job, rank, estimate_us);
}

void dls_select_refile(dls_select *s, int32_t job, dls_rank rank, int64_t now_us)
{
    const int32_t type = s->job[job].type;
    if (type >= 0 && !s->ranked) {
        return; /* only counted */
    }
    const dls_rank old = dls_select_rank(s, job, now_us);
    if (dls_rank_cmp(&old, &rank) == 0) {
        return;
    }
    if (s->guest && s->guest[job]) {
        dls_select_set_guest_rank(s, job, rank, now_us);
    } else if (type >= 0) {
        const dls_class *c = &s->cls[s->job[job].cls];
        dls_pool *p = &s->pool[c->pool];
        const int32_t set = running_set(p, c, type);
        rank.key += dls_select_slope(s, c->gpus) * now_us;
        const bool was_last = p->last[set] == job;
        dls_line_remove(s, &p->running[set], job);
        put_running(s, p, set, job, rank, c->weight);
        if (was_last) {
            find_last(s, p, set);
        }
    } else if (s->refusal && s->refusal[job].parked) {
        dls_select_refile_parked(s, job, rank);
    } else {
        const int64_t estimate_us = dls_line_estimate_us(s, job);
        dls_select_remove_waiting(s, job);
        dls_select_add_waiting(s, job, rank, estimate_us);
    }
}

dls_rank dls_select_rank(const dls_select *s, int32_t job, int64_t now_us)
{
    dls_rank rank = s->order.member[job].rank;
    if (s->job[job].type >= 0 || (s->guest && s->guest[job])) {
        rank.key -= dls_select_slope(s, s->cls[s->job[job].cls].gpus) * now_us;
    }
    return rank;
}

int dls_select_by_rank(const void *a, const void *b, void *select)
{
    const dls_member *member = ((const dls_select *)select)->order.member;
    return dls_rank_cmp(&member[*(const int32_t *)a].rank, &member[*(const int32_t *)b].rank);
}

void dls_select_set_guest_rank(dls_select *s, int32_t job, dls_rank rank, int64_t now_us)
{
    DLS_DEBUG_ASSERT(s->guest && s->guest[job]);
    rank.key += dls_select_slope(s, s->cls[s->job[job].cls].gpus) * now_us;
    s->order.member[job].rank = rank;
}

/* ---- places in the order ----------------------------------------------------------------------- */

void dls_select_refuse_class(dls_select *s, dls_class *c, int32_t type)
{
    DLS_DEBUG_ASSERT(type >= 0 && type < s->n_types);
    c->refused_types = dls_select_refused(s, c) | UINT32_C(1) << type;
    if (c->refused_pass != s->pass) {
        c->refused_pass = s->pass;
        c->refused_releases = s->releases; /* of the first refusal: what is given back later may help it */
    }
    dls_select_update_head(s, c);
}

void dls_select_clear_refusal(dls_select *s, int32_t cls)
{
    dls_class *c = &s->cls[cls];
    c->refused_pass = c->refused_releases = UINT64_MAX;
    dls_select_mark(s, c->pool);
    if (s->refusal) {
        dls_select_clear_refusals_of_jobs(s, c);
    }
    dls_select_update_head(s, c);
}

/* The last of the jobs that the cursors, one per running set, point at. */
static int32_t last_of_cursors(const dls_select *s, const dls_pool *p, int64_t now_us)
{
    int32_t best = DLS_NONE;
    dls_rank best_rank = {0};
    for (int32_t k = 0; k < p->n_running_sets; k++) {
        if (s->cursor[k] != DLS_NONE) {
            const dls_rank rank = dls_select_rank(s, s->cursor[k], now_us);
            if (best == DLS_NONE || dls_rank_cmp(&rank, &best_rank) > 0) {
                best = s->cursor[k];
                best_rank = rank;
            }
        }
    }
    return best;
}

/* Put the cursors at the ends of the running sets of a type. */
static void to_the_ends(dls_select *s, const dls_pool *p, int32_t type)
{
    for (int32_t k = 0; k < p->n_running_sets; k++) {
        s->cursor[k] = p->last[type * p->n_running_sets + k];
    }
}

/* Step the cursors back over `job`, which is the last of them. */
static void step_back(dls_select *s, const dls_pool *p, int32_t job)
{
    const int32_t k = p->n_running_sets > 1 ? s->cls[s->job[job].cls].size_idx : 0;
    dls_line *running = &p->running[s->job[job].type * p->n_running_sets + k];
    s->cursor[k] = dls_pile_next(&s->piles, &running->pile, job);
}

/* Whether a waiting job of rank `rank` comes before a running one; *shifted: as it would stand in the set. */
static inline bool is_ahead(const dls_select *s, const dls_rank *rank, int32_t running, int64_t now_us,
                            dls_rank *shifted)
{
    const dls_member *m = &s->order.member[running];
    /* A part of a GPU ages as one. */
    const int32_t gpus = s->unit == 1 ? m->weight : (m->weight + s->unit - 1) / s->unit;
    *shifted = *rank;
    shifted->key += dls_select_slope(s, gpus) * now_us;
    return dls_rank_cmp(shifted, &m->rank) < 0;
}

/* The room that a waiting job of rank `rank` finds at its place: idle GPUs and those of the running jobs
 * ranked behind it; or less, if that is enough for its GPUs. The last member of each set mostly decides;
 * only if it does not are the GPUs behind `rank` summed. */
static inline int64_t room_behind(dls_select *s, const dls_pool *p, int32_t type, const dls_rank *rank,
                               int32_t gpus, int64_t now_us)
{
    const int32_t base = type * p->n_running_sets;
    const int64_t idle = p->cap[type] - p->used[type];
    int64_t at_least = idle;
    dls_rank shifted;
    if (idle >= gpus) {
        return idle;
    }
    for (int32_t k = p->n_running_sets - 1; k >= 0; k--) {
        const int32_t last = p->last[base + k];
        if (last != DLS_NONE && is_ahead(s, rank, last, now_us, &shifted)) {
            at_least += s->order.member[last].weight;
            if (at_least >= gpus) {
                return at_least;
            }
        }
    }
    int64_t behind = idle;
    for (int32_t k = p->n_running_sets - 1; k >= 0 && at_least > idle && behind < gpus; k--) {
        const int32_t last = p->last[base + k];
        if (last != DLS_NONE && is_ahead(s, rank, last, now_us, &shifted)) {
            behind += dls_pile_sum_to(&s->piles, &p->running[base + k].pile, &shifted, gpus - behind);
        }
    }
    return behind;
}

/* Those of some types (bits) on which a waiting job fits at its place in the order, `first` (-1: none)
 * being asked first; only one of them unless there is a choice to make. */
static inline uint32_t fits_in_order(dls_select *s, const dls_pool *p, const dls_class *c,
                                     int32_t job, uint32_t types, int64_t now_us, int32_t first)
{
    const dls_rank *rank = &s->order.member[job].rank;
    const uint32_t first_bit = first >= 0 ? UINT32_C(1) << first : 0;
    uint32_t fits = 0, rest = types;
    while (rest) {
        const int32_t t = rest & first_bit ? first : __builtin_ctz(rest);
        rest &= ~(UINT32_C(1) << t);
        if (p->cap[t] >= c->weight &&
            room_behind(s, p, t, rank, c->weight, now_us) >= c->weight) {
            fits |= UINT32_C(1) << t;
            if (!s->choose || t == first) {
                break;
            }
        }
    }
    return fits;
}

int32_t dls_select_choose(dls_select *s, int32_t job, uint32_t types, int32_t first, int64_t now_us)
{
    DLS_DEBUG_ASSERT(types != 0);
    if (!s->choose || (first >= 0 && types >> first & 1)) {
        return first >= 0 && types >> first & 1 ? first : __builtin_ctz(types);
    }
    const int32_t t = s->choose(s->user, job, types);
    for (int32_t k = 0; k < s->n_types && t < 0; k++) {
        if (types >> k & 1) {
            dls_select_refuse(s, job, k, now_us);
        }
    }
    return t;
}

/* The first selected job that, with those before it, exceeds what the pool may hold. */
static int32_t first_over(dls_select *s, dls_pool *p, int32_t type, int64_t now_us)
{
    if (p->n_running_sets == 1) {
        return dls_pile_reach(&s->piles, &p->running[type].pile, p->used[type] - p->cap[type]);
    }
    /* Several sets: walk back from the end; what lies beyond the limit is a few gangs at most. */
    to_the_ends(s, p, type);
    int64_t up_to = p->used[type];
    int32_t over = DLS_NONE;
    while (up_to > p->cap[type]) {
        over = last_of_cursors(s, p, now_us);
        up_to -= s->cls[s->job[over].cls].weight;
        s->heads_examined++;
        if (up_to > p->cap[type]) {
            step_back(s, p, over);
        }
    }
    return over;
}

/* ---- preemptive selection ---------------------------------------------------------------------- */

static dls_status touch(dls_select *s, int32_t job, dls_error *err)
{
    int32_t *at = &s->job[job].touched;
    if ((size_t)*at >= s->n_touched || s->touched[*at].job != job) {
        if (s->n_touched == s->touched_cap || s->n_touched == s->changed_cap) {
            DLS_TRY(dls_grow(&s->touched, &s->touched_cap, s->n_touched + 1, sizeof *s->touched, err));
            DLS_TRY(dls_grow(&s->changed, &s->changed_cap, s->n_touched + 1, sizeof *s->changed, err));
        }
        *at = (int32_t)s->n_touched++;
        s->touched[*at] = (dls_touched){.job = job, .placed = -1};
    }
    if (!s->touched[*at].changed) {
        s->touched[*at].changed = true;
        s->changed[s->n_changed++] = *at;
    }
    return DLS_OK;
}

static dls_status drop_what_no_longer_fits(dls_select *s, dls_pool *p, int32_t type, int64_t now_us,
                                           dls_error *err)
{
    while (p->used[type] > p->cap[type]) {
        const int32_t job = first_over(s, p, type, now_us);
        DLS_TRY(touch(s, job, err));
        s->heads_examined++;
        dls_select_deselect(s, job, now_us, 0);
    }
    return DLS_OK;
}

/* The first head that fits on the type at its place, or `best` if that comes before it. Where a gang has
 * too little room, so has every larger one behind it. */
static int32_t first_fitting(dls_select *s, const dls_pool *p, int32_t type, int32_t best,
                             int64_t now_us)
{
    int64_t room = p->cap[type];
    for (;;) {
        const int32_t job = first_head(s, p, type, room);
        if (job == DLS_NONE || earlier(s, best, job) == best) {
            return best;
        }
        const int32_t gpus = s->order.member[job].weight; /* its rank lies beside it, its class does not */
        s->heads_examined++;
        room = room_behind(s, p, type, &s->order.member[job].rank, gpus, now_us);
        if (room >= gpus) {
            return job;
        }
    }
}

dls_status dls_select_preemptive(dls_select *s, int32_t pool, int64_t now_us, const int8_t *sticky,
                                 dls_error *err)
{
    dls_pool *p = &s->pool[pool];
    for (int32_t t = 0; t < s->n_types; t++) {
        DLS_TRY(drop_what_no_longer_fits(s, p, t, now_us, err)); /* a share that shrank */
    }
    for (;;) {
        int32_t best = DLS_NONE;
        reopen(s, p);
        for (int32_t t = 0; t < s->n_types; t++) {
            best = first_fitting(s, p, t, best, now_us);
        }
        if (best == DLS_NONE) {
            return DLS_OK;
        }
        const dls_class *c = &s->cls[s->job[best].cls];
        const uint32_t best_types = s->n_types == 1
                                        ? 1
                                        : fits_in_order(s, p, c, best, dls_select_open(s, c, best),
                                                        now_us, sticky[best]);
        const int32_t best_type =
            dls_select_choose(s, best, best_types, sticky[best], now_us);
        if (best_type < 0) {
            continue;
        }
        const dls_rank rank = s->order.member[best].rank;
        DLS_TRY(touch(s, best, err));
        dls_select_remove_waiting(s, best);
        dls_select_add_running(s, best, best_type, rank, now_us);
        DLS_TRY(drop_what_no_longer_fits(s, p, best_type, now_us, err));
    }
}

/* ---- selection without preemption -------------------------------------------------------------- */

uint32_t dls_select_fits(dls_select *s, int32_t job, int64_t now_us)
{
    const dls_class *c = &s->cls[s->job[job].cls];
    const dls_pool *p = &s->pool[c->pool];
    const uint32_t open = dls_select_open(s, c, job);
    return s->preempts ? fits_in_order(s, p, c, job, open, now_us, -1) : dls_select_fits_free(p, c, open);
}

int32_t dls_select_next(dls_select *s, int32_t pool, bool fitting, int64_t now_us, int32_t *type)
{
    dls_pool *p = &s->pool[pool];
    for (;;) {
        int32_t best = fitting ? DLS_NONE : p->first[1];
        reopen(s, p);
        for (int32_t t = 0; t < s->n_types && fitting; t++) {
            best = earlier(s, best, first_head(s, p, t, p->cap[t] - p->used[t]));
        }
        if (best == DLS_NONE) {
            *type = -1;
            return DLS_NONE;
        }
        const dls_class *c = &s->cls[s->job[best].cls];
        const uint32_t types = dls_select_fits_free(p, c, dls_select_open(s, c, best));
        s->heads_examined++;
        *type = types ? dls_select_choose(s, best, types, -1, now_us) : -1;
        if (!fitting || *type >= 0) {
            return best;
        }
    }
}

/* ---- audit ------------------------------------------------------------------------------------- */

dls_status dls_select_check(const dls_select *s, dls_error *err)
{
    for (int32_t k = 0; k < s->n_pools; k++) {
        const dls_pool *p = &s->pool[k];
        for (int32_t t = 0; t < (s->by_type ? s->n_types : 1) && p->first; t++) {
            const int32_t *first = tournament(s, p, t);
            bool good = true;
            for (int32_t i = 1; i < p->n_classes; i++) {
                good = good && first[i] == earlier(s, first[2 * i], first[2 * i + 1]);
            }
            for (int32_t i = 0; i < p->n_classes; i++) {
                const dls_class *c = &s->cls[p->first_class + i];
                const bool plays = !s->by_type || c->types >> t & 1;
                const int32_t head = first[p->n_classes + i];
                good = good && (head == (plays ? c->head : DLS_NONE) ||
                                (head == DLS_NONE && c->closed));
            }
            if (!good) {
                return dls_fail(err, DLS_ERUN, NULL, "pool %d: wrong tournament of heads", k);
            }
        }
    }
    return DLS_OK;
}
