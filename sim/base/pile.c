/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Piles: parts in order, split where the near end is asked for.
 */
#include "base/pile.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

_Static_assert(sizeof(dls_pile_chunk) == 512, "whole cache lines");

enum { CHUNK = DLS_PILE_CHUNK, WAYS = 8 /* into which a part is split at most */, SAMPLES = 4 /* for each */ };

static dls_status allocate(dls_piles *t, dls_error *err)
{
    DLS_TRY(dls_alloc_array(&t->at, (size_t)t->n + 1, sizeof *t->at, "piles", err));
    DLS_TRY(dls_alloc_array(&t->part, (size_t)t->parts, sizeof *t->part, "piles", err));
    const size_t bytes = (size_t)t->chunks * sizeof *t->chunk;
    t->chunk = dls_alloc_aligned(bytes);
    return t->chunk ? DLS_OK : dls_nomem(err, "piles", bytes);
}

dls_status dls_piles_init(dls_piles *t, dls_order *ranks, int64_t piles, dls_error *err)
{
    const int64_t n = ranks->n, most = piles * DLS_PILE_PARTS;
    const int32_t parts = (int32_t)(most < n ? most : n) + WAYS;
    *t = (dls_piles){.member = ranks->member,
                     .n = ranks->n,
                     .parts = parts,
                     .chunks = ranks->n / CHUNK + 2 + parts, /* of a part one is not full; one is split */
                     .free_chunk = DLS_NONE,
                     .free_part = DLS_NONE};
    const dls_status status = allocate(t, err);
    if (status != DLS_OK) {
        dls_piles_fini(t);
    }
    return status;
}

void dls_piles_fini(dls_piles *t)
{
    DLS_FREE_ALL(t->at, t->part, t->chunk);
    *t = (dls_piles){0};
}

dls_status dls_piles_copy(dls_piles *t, const dls_piles *from, dls_order *ranks, dls_error *err)
{
    *t = *from;
    t->member = ranks->member;
    t->at = NULL;
    t->part = NULL;
    t->chunk = NULL;
    const dls_status status = from->chunk ? allocate(t, err) : DLS_OK;
    if (status != DLS_OK || !from->chunk) {
        dls_piles_fini(t);
        return status;
    }
    memcpy(t->at, from->at, (size_t)from->n * sizeof *t->at);
    memcpy(t->part, from->part, (size_t)from->n_parts * sizeof *t->part);
    memcpy(t->chunk, from->chunk, (size_t)from->n_chunks * sizeof *t->chunk);
    return DLS_OK;
}

/* ---- parts and chunks ----------------------------------------------------------------------- */

static int32_t new_chunk(dls_piles *t, int32_t part, int32_t next)
{
    int32_t at = t->free_chunk;
    if (at != DLS_NONE) {
        t->free_chunk = t->chunk[at].next;
    } else {
        DLS_ASSERT(t->n_chunks < t->chunks);
        at = t->n_chunks++;
    }
    t->chunk[at].n = 0;
    t->chunk[at].part = part;
    t->chunk[at].next = next;
    return at;
}

/* The chunk behind it. */
static int32_t free_chunk(dls_piles *t, int32_t at)
{
    const int32_t next = t->chunk[at].next;
    t->chunk[at].next = t->free_chunk;
    t->free_chunk = at;
    return next;
}

static int32_t new_part(dls_piles *t, dls_pile *p, int32_t next)
{
    int32_t at = t->free_part;
    if (at != DLS_NONE) {
        t->free_part = t->part[at].next;
    } else {
        DLS_ASSERT(t->n_parts < t->parts);
        at = t->n_parts++;
    }
    t->part[at] = (dls_pile_part){.chunk = DLS_NONE, .next = next};
    p->parts++;
    return at;
}

static inline int64_t lead_of(const dls_pile *p, const dls_rank *rank)
{
    const int64_t lead = dls_rank_lead(rank);
    return p->back ? ~lead : lead;
}

/* Whether a rank is nearer than another, whose leading part is the same. */
static bool nearer(const dls_pile *p, const dls_rank *a, const dls_rank *b)
{
    const int order = dls_rank_cmp(a, b);
    return p->back ? order > 0 : order < 0;
}

static inline bool is_before(const dls_pile *p, int64_t lead, const dls_rank *rank, int64_t bound_lead,
                             const dls_rank *bound)
{
    return lead < bound_lead || (lead == bound_lead && nearer(p, rank, bound));
}

static inline bool entry_before(const dls_piles *t, const dls_pile *p, const dls_pile_entry *a,
                                const dls_pile_entry *b)
{
    return is_before(p, a->lead, &t->member[a->member].rank, b->lead, &t->member[b->member].rank);
}

static inline void append(dls_piles *t, int32_t part, dls_pile_entry e)
{
    dls_pile_part *q = &t->part[part];
    if (q->chunk == DLS_NONE || t->chunk[q->chunk].n == CHUNK) {
        q->chunk = new_chunk(t, part, q->chunk);
        q->sorted = 0;
    }
    dls_pile_chunk *c = &t->chunk[q->chunk];
    t->at[e.member] = q->chunk * 32 + c->n;
    c->entry[c->n++] = e;
    q->n++;
    q->sum += e.weight;
}

/* All of part b, which follows, into part a. */
static void join(dls_piles *t, dls_pile *p, int32_t a, int32_t b)
{
    dls_pile_part *q = &t->part[a];
    const dls_pile_part gone = t->part[b];
    dls_pile_chunk *last = NULL;
    for (int32_t at = t->chunk[gone.chunk].next; at != DLS_NONE; at = last->next) {
        last = &t->chunk[at];
        last->part = a;
    }
    if (last) { /* those that are full */
        last->next = t->chunk[q->chunk].next;
        t->chunk[q->chunk].next = t->chunk[gone.chunk].next;
    }
    const dls_pile_chunk first = t->chunk[gone.chunk];
    free_chunk(t, gone.chunk);
    q->n += gone.n - first.n;
    q->sum += gone.sum;
    q->next = gone.next;
    for (int32_t i = 0; i < first.n; i++) {
        q->sum -= first.entry[i].weight;
        append(t, a, first.entry[i]);
    }
    q->sorted = 0;
    t->part[b].next = t->free_part;
    t->free_part = b;
    p->parts--;
}

/* Fewer parts: neighbours become one where they are small, which most pairs are, but for one part. */
static void join_small(dls_piles *t, dls_pile *p, int32_t but)
{
    int32_t all = 0;
    for (int32_t at = p->near; at != DLS_NONE; at = t->part[at].next) {
        all += t->part[at].n;
    }
    for (int32_t at = p->near; at != DLS_NONE; at = t->part[at].next) {
        const int32_t next = t->part[at].next;
        if (next != DLS_NONE && at != but && next != but &&
            t->part[at].n + t->part[next].n <= all / (DLS_PILE_PARTS / 4)) {
            join(t, p, at, next);
        }
    }
}

/* ---- order ---------------------------------------------------------------------------------- */

/* The first of some entries are in order, the farthest first; now all are. */
static void sort(const dls_piles *t, const dls_pile *p, dls_pile_entry *e, int32_t sorted, int32_t n)
{
    for (int32_t i = sorted > 0 ? sorted : 1; i < n; i++) {
        const dls_pile_entry x = e[i];
        int32_t k = i;
        if (entry_before(t, p, &e[0], &x)) {
            k = 0; /* who comes is most often the farthest, or .. */
        } else {
            while (entry_before(t, p, &e[k - 1], &x)) {
                k--;
            }
        }
        memmove(&e[k + 1], &e[k], (size_t)(i - k) * sizeof *e);
        e[k] = x;
    }
}

/* So many samples of a part, the nearest last. */
static void sample(const dls_piles *t, const dls_pile *p, const dls_pile_part *q, dls_pile_entry *out,
                   int32_t n)
{
    int32_t at = q->chunk, i = 0;
    for (int32_t k = 0; k < n; k++, i += q->n / n) {
        while (i >= t->chunk[at].n) {
            i -= t->chunk[at].n;
            at = t->chunk[at].next;
        }
        out[k] = t->chunk[at].entry[i];
    }
    sort(t, p, out, 0, n);
}

/* A part that does not fit a chunk becomes up to WAYS, of which it is the nearest. */
static void split(dls_piles *t, dls_pile *p, int32_t part)
{
    if (p->parts > DLS_PILE_PARTS - WAYS) {
        join_small(t, p, part);
    }
    dls_pile_entry drawn[SAMPLES * WAYS], bound[WAYS];
    int32_t into[WAYS] = {part}, chunk = t->part[part].chunk;
    const int32_t n = t->part[part].n, ways = n >= 256 ? WAYS : n >= 128 ? WAYS / 2 : 2;
    sample(t, p, &t->part[part], drawn, SAMPLES * ways);
    for (int32_t k = ways - 1; k > 0; k--) {
        bound[k] = drawn[SAMPLES * (ways - k) - 1];
        into[k] = new_part(t, p, k < ways - 1 ? into[k + 1] : t->part[part].next);
        t->part[into[k]].lead = bound[k].lead;
        t->part[into[k]].bound = t->member[bound[k].member].rank;
    }
    t->part[part].next = into[1];
    t->part[part].chunk = DLS_NONE;
    t->part[part].sorted = t->part[part].n = 0;
    t->part[part].sum = 0;
    while (chunk != DLS_NONE) {
        const dls_pile_chunk *from = &t->chunk[chunk];
        for (int32_t i = 0; i < from->n; i++) {
            const dls_pile_entry *e = &from->entry[i];
            int32_t k = 0;
            for (int32_t half = ways / 2; half > 0; half /= 2) {
                k += bound[k + half].lead <= e->lead ? half : 0;
            }
            while (k > 0 && e->lead == bound[k].lead && entry_before(t, p, e, &bound[k])) {
                k--;
            }
            append(t, into[k], *e);
        }
        chunk = free_chunk(t, chunk);
    }
}

/* The part, of which the nearest stay, fits a chunk that is sorted. */
static dls_pile_chunk *look_into(dls_piles *t, dls_pile *p, int32_t part)
{
    while (t->part[part].n > CHUNK) {
        split(t, p, part);
    }
    dls_pile_chunk *c = &t->chunk[t->part[part].chunk];
    if (t->part[part].sorted < c->n) {
        sort(t, p, c->entry, t->part[part].sorted, c->n);
        t->part[part].sorted = c->n;
    }
    return c;
}

/* ---- members -------------------------------------------------------------------------------- */

void dls_pile_insert(dls_piles *t, dls_pile *p, int32_t x, dls_rank rank, int32_t weight)
{
    DLS_DEBUG_ASSERT(x >= 0 && x < t->n && !t->member[x].in_set);
    const int64_t lead = lead_of(p, &rank);
    t->member[x] = (dls_member){.rank = rank, .weight = weight, .in_set = true};
    if (p->near == DLS_NONE) {
        p->near = new_part(t, p, DLS_NONE);
    }
    int32_t at = p->near;
    for (int32_t next; (next = t->part[at].next) != DLS_NONE; at = next) {
        if (is_before(p, lead, &rank, t->part[next].lead, &t->part[next].bound)) {
            break;
        }
    }
    append(t, at, (dls_pile_entry){.lead = lead, .member = x, .weight = weight});
}

static int32_t entry_of(const dls_piles *t, const dls_pile_chunk *c, int32_t x)
{
    int32_t i = t->at[x] % 32;
    if (i >= c->n || c->entry[i].member != x) {
        for (i = c->n - 1; c->entry[i].member != x; i--) {
        }
    }
    return i;
}

void dls_pile_remove(dls_piles *t, dls_pile *p, int32_t x)
{
    DLS_DEBUG_ASSERT(x >= 0 && x < t->n && t->member[x].in_set);
    dls_pile_chunk *c = &t->chunk[t->at[x] / 32];
    const int32_t part = c->part;
    dls_pile_part *q = &t->part[part];
    int32_t i = entry_of(t, c, x);
    t->member[x].in_set = false;
    q->n--;
    q->sum -= c->entry[i].weight;
    dls_pile_chunk *first = &t->chunk[q->chunk];
    first->n--;
    if (i < q->sorted) { /* of one chunk */
        q->sorted--;
        memmove(&c->entry[i], &c->entry[i + 1], (size_t)(c->n - i) * sizeof *c->entry);
    } else {
        const dls_pile_entry moved = first->entry[first->n];
        c->entry[i] = moved;
        t->at[moved.member] = t->at[x] / 32 * 32 + i;
    }
    if (first->n > 0) {
        return;
    }
    q->chunk = free_chunk(t, q->chunk);
    if (q->n == 0) {
        int32_t *link = &p->near;
        while (*link != part) {
            link = &t->part[*link].next;
        }
        *link = q->next;
        q->next = t->free_part;
        t->free_part = part;
        p->parts--;
    }
}

int32_t dls_pile_first(dls_piles *t, dls_pile *p)
{
    if (p->near == DLS_NONE) {
        return DLS_NONE;
    }
    const dls_pile_chunk *c = look_into(t, p, p->near);
    return c->entry[c->n - 1].member;
}

int32_t dls_pile_next(dls_piles *t, dls_pile *p, int32_t x)
{
    const dls_pile_chunk *c;
    int32_t part;
    do { /* until what x is in is no more split */
        part = t->chunk[t->at[x] / 32].part;
        c = look_into(t, p, part);
    } while (t->chunk[t->at[x] / 32].part != part);
    const int32_t i = entry_of(t, c, x);
    if (i > 0) {
        return c->entry[i - 1].member;
    }
    const int32_t next = t->part[part].next;
    if (next == DLS_NONE) {
        return DLS_NONE;
    }
    c = look_into(t, p, next);
    return c->entry[c->n - 1].member;
}

int64_t dls_pile_sum_to(dls_piles *t, dls_pile *p, const dls_rank *rank, int64_t enough)
{
    const int64_t lead = lead_of(p, rank);
    int64_t sum = 0;
    for (int32_t at = p->near; at != DLS_NONE && sum < enough; at = t->part[at].next) {
        int32_t next = t->part[at].next;
        const bool ends = next == DLS_NONE || is_before(p, lead, rank, t->part[next].lead, &t->part[next].bound);
        if (!ends) {
            sum += t->part[at].sum;
            continue;
        }
        const dls_pile_chunk *c = look_into(t, p, at);
        for (int32_t i = c->n - 1; i >= 0 && sum < enough; i--) {
            const dls_pile_entry *e = &c->entry[i];
            if (!is_before(p, e->lead, &t->member[e->member].rank, lead, rank)) {
                return sum;
            }
            sum += e->weight;
        }
    }
    return sum;
}

int32_t dls_pile_reach(dls_piles *t, dls_pile *p, int64_t weight)
{
    int32_t found = DLS_NONE;
    for (int32_t at = p->near; at != DLS_NONE && weight > 0; at = t->part[at].next) {
        if (t->part[at].sum < weight && t->part[at].next != DLS_NONE) {
            weight -= t->part[at].sum;
            continue;
        }
        const dls_pile_chunk *c = look_into(t, p, at);
        for (int32_t i = c->n - 1; i >= 0 && weight > 0; i--) {
            found = c->entry[i].member;
            weight -= c->entry[i].weight;
        }
    }
    return found;
}
