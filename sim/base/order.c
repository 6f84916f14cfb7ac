/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * B+-tree operations. Nodes are split and filled up on the way down, so that the node above always
 * has room for one entry more and can spare one; searches descend by ranks or by sums of weights.
 */
#include "base/order.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

_Static_assert(sizeof(dls_order_node) == 512, "whole cache lines");

enum { WIDTH = DLS_ORDER_WIDTH, LEAST = DLS_ORDER_LEAST, HIGHEST = 16 /* 2 x 5^15 members */ };

dls_status dls_order_init(dls_order *t, int32_t n, int64_t sets, dls_error *err)
{
    DLS_ASSERT(n >= 0 && sets >= 0);
    /* A set of m has at most m / 5 leaves, a fifth of that above them, .., and a root. */
    *t = (dls_order){.n = n, .room = n / 4 + (int32_t)(sets < n ? sets : n) + 1, .free = DLS_NONE};
    DLS_TRY(dls_alloc_lines(&t->member, (size_t)n + 1, sizeof *t->member, "ordered sets", err));
    t->aux = dls_alloc_zero((size_t)n + 1, sizeof *t->aux);
    t->node = dls_alloc_aligned((size_t)t->room * sizeof *t->node);
    if (!t->aux || !t->node) {
        dls_order_fini(t);
        return dls_nomem(err, "ordered sets", (size_t)n * sizeof *t->node);
    }
    return DLS_OK;
}

void dls_order_fini(dls_order *t)
{
    DLS_FREE_ALL(t->member, t->aux, t->node);
    *t = (dls_order){0};
}

dls_status dls_order_copy(dls_order *t, const dls_order *from, dls_error *err)
{
    const size_t n = (size_t)from->n + 1, bytes = (size_t)from->room * sizeof *t->node;
    *t = (dls_order){0};
    if (!from->node) {
        return DLS_OK;
    }
    t->member = dls_alloc_aligned(n * sizeof *t->member);
    t->aux = dls_alloc_zero(n, sizeof *t->aux);
    t->node = dls_alloc_aligned(bytes);
    if (!t->member || !t->aux || !t->node) {
        dls_order_fini(t);
        return dls_nomem(err, "ordered sets", bytes);
    }
    memcpy(t->member, from->member, n * sizeof *t->member);
    if (from->n_nodes > 0) { /* else none has been touched */
        memcpy(t->aux, from->aux, n * sizeof *t->aux);
    }
    memcpy(t->node, from->node, (size_t)from->n_nodes * sizeof *t->node);
    t->n = from->n;
    t->room = from->room;
    t->n_nodes = from->n_nodes;
    t->free = from->free;
    t->steps = from->steps;
    return DLS_OK;
}

/* ---- nodes ---------------------------------------------------------------------------------- */

static int32_t new_node(dls_order *t)
{
    int32_t at = t->free;
    if (at != DLS_NONE) {
        t->free = t->node[at].entry[0].at;
    } else {
        DLS_ASSERT(t->n_nodes < t->room);
        at = t->n_nodes++;
    }
    dls_order_node *p = &t->node[at];
    p->n = 0;
    p->leaf = DLS_NONE;
    for (int32_t i = 0; i <= WIDTH; i++) {
        p->lead[i] = INT64_MAX;
    }
    return at;
}

static void free_node(dls_order *t, int32_t at)
{
    t->node[at].entry[0].at = t->free;
    t->free = at;
}

/* Entries from `i` of a node to `j` of another, or of the same. */
static void move(dls_order_node *to, int64_t j, const dls_order_node *from, int64_t i, int64_t n)
{
    memmove(to->lead + j, from->lead + i, (size_t)n * sizeof *to->lead);
    memmove(to->entry + j, from->entry + i, (size_t)n * sizeof *to->entry);
}

static void put(dls_order_node *p, int32_t i, int64_t lead, dls_order_entry entry)
{
    DLS_DEBUG_ASSERT(p->n < WIDTH);
    move(p, i + 1, p, i, p->n - i);
    p->lead[i] = lead;
    p->entry[i] = entry;
    p->n++;
}

static void erase(dls_order_node *p, int32_t i)
{
    p->n--;
    move(p, i, p, i + 1, p->n - i);
    p->lead[p->n] = INT64_MAX;
}

/* Only so many entries stay. */
static void cut(dls_order_node *p, int64_t n)
{
    for (p->n = n; n < WIDTH; n++) {
        p->lead[n] = INT64_MAX;
    }
}

/* Ask the caches for all of a node. */
static inline void fetch(const dls_order_node *p)
{
    for (size_t byte = 0; byte < sizeof *p; byte += 64) {
        __builtin_prefetch((const char *)p + byte);
    }
}

/* The figures of entry i of a node, recounted. */
static void pull(dls_order *t, dls_order_node *p, int32_t i)
{
    const dls_order_node *c = &t->node[p->entry[i].at];
    int64_t sum = 0, aux = INT64_MAX;
    for (int32_t k = 0; k < c->n; k++) {
        sum += c->entry[k].sum;
        aux = c->entry[k].aux < aux ? c->entry[k].aux : aux;
    }
    p->lead[i] = c->lead[0];
    p->entry[i].first = c->entry[0].first;
    p->entry[i].sum = sum;
    p->entry[i].aux = aux;
}

/* ---- ranks ---------------------------------------------------------------------------------- */

/* How many entries of a node begin before a rank. Ranks whose leading parts tie are looked up. */
static inline int32_t count_before(const dls_order *t, const dls_order_node *p,
                                   const dls_rank *rank, int64_t lead)
{
    int32_t i = 0;
    for (int32_t step = 8; step > 0; step /= 2) {
        i += p->lead[i + step - 1] < lead ? step : 0;
    }
    while (p->lead[i] == lead && i < p->n &&
           dls_rank_cmp(&t->member[p->entry[i].first].rank, rank) < 0) {
        i++;
    }
    return i;
}

/* The same, and those that begin with member x, whose rank it is. */
static inline int32_t count_up_to(const dls_order *t, const dls_order_node *p, int32_t x,
                                  int64_t lead)
{
    int32_t i = 0;
    for (int32_t step = 8; step > 0; step /= 2) {
        i += p->lead[i + step - 1] < lead ? step : 0;
    }
    while (p->lead[i] == lead && i < p->n &&
           (p->entry[i].first == x ||
            dls_rank_cmp(&t->member[p->entry[i].first].rank, &t->member[x].rank) <= 0)) {
        i++;
    }
    return i;
}

/* ---- changes -------------------------------------------------------------------------------- */

/* Entry i of a node, which has room, is full: one becomes two. Who is about to come behind the last
 * of its entries, or before the first, is likely to be followed by more. */
static void split(dls_order *t, int32_t parent, int32_t i, int64_t lead)
{
    const int32_t right = new_node(t);
    dls_order_node *p = &t->node[parent], *l = &t->node[p->entry[i].at], *r = &t->node[right];
    const int32_t keep = lead > l->lead[WIDTH - 1] ? WIDTH - LEAST : WIDTH / 2;
    r->n = WIDTH - keep;
    move(r, 0, l, keep, r->n);
    cut(l, keep);
    put(p, i + 1, 0, (dls_order_entry){.at = right});
    pull(t, p, i);
    pull(t, p, i + 1);
}

void dls_order_insert(dls_order *t, dls_order_set *s, int32_t x, dls_rank rank, int32_t weight,
                      int64_t aux)
{
    DLS_DEBUG_ASSERT(x >= 0 && x < t->n && !dls_order_has(t, x));
    const int64_t lead = dls_rank_lead(&rank);
    t->member[x] = (dls_member){.rank = rank, .weight = weight, .in_set = true};
    t->aux[x] = aux;
    if (s->root == DLS_NONE) {
        *s = (dls_order_set){.root = new_node(t)};
    } else if (t->node[s->root].n == WIDTH) {
        const int32_t old = s->root;
        s->root = new_node(t);
        s->height++;
        put(&t->node[s->root], 0, 0, (dls_order_entry){.at = old});
        split(t, s->root, 0, lead);
    }
    int32_t at = s->root;
    for (int32_t h = s->height; h > 0; h--) {
        dls_order_node *p = &t->node[at];
        int32_t i = count_before(t, p, &rank, lead);
        const dls_order_node *c = &t->node[p->entry[i - (i > 0)].at];
        t->steps++;
        if (h == 1) {
            fetch(c);
        }
        if (c->n == WIDTH) {
            split(t, at, i - (i > 0), lead);
            i = count_before(t, p, &rank, lead);
        }
        if (i == 0) {
            p->lead[0] = lead;
            p->entry[0].first = x;
        }
        dls_order_entry *e = &p->entry[i - (i > 0)];
        e->sum += weight;
        e->aux = aux < e->aux ? aux : e->aux;
        at = e->at;
    }
    put(&t->node[at], count_before(t, &t->node[at], &rank, lead), lead,
        (dls_order_entry){.sum = weight, .aux = aux, .at = x, .first = x});
}

/* Entries i and i + 1 of a node become one, or equally full. */
static void level_out(dls_order *t, dls_order_node *p, int32_t i)
{
    dls_order_node *l = &t->node[p->entry[i].at], *r = &t->node[p->entry[i + 1].at];
    const int64_t n = l->n + r->n, keep = n <= WIDTH ? n : n / 2;
    if (keep > l->n) {
        move(l, l->n, r, 0, keep - l->n);
        move(r, 0, r, keep - l->n, n - keep);
    } else {
        move(r, l->n - keep, r, 0, r->n);
        move(r, 0, l, keep, l->n - keep);
    }
    cut(l, keep);
    cut(r, n - keep);
    pull(t, p, i);
    if (r->n > 0) {
        pull(t, p, i + 1);
    } else {
        free_node(t, p->entry[i + 1].at);
        erase(p, i + 1);
    }
}

/* What entry i of a node says of a subtree that member x has left. */
static void forget(const dls_order *t, dls_order_node *p, int32_t i, int32_t x)
{
    dls_order_entry *e = &p->entry[i];
    const dls_order_node *c = &t->node[e->at];
    if (e->first == x) {
        p->lead[i] = c->lead[0];
        e->first = c->entry[0].first;
    }
    if (e->aux == t->aux[x]) {
        int64_t least = INT64_MAX;
        for (int32_t k = 0; k < c->n && least > e->aux; k++) {
            least = c->entry[k].aux < least ? c->entry[k].aux : least;
        }
        e->aux = least;
    }
}

void dls_order_remove(dls_order *t, dls_order_set *s, int32_t x)
{
    DLS_DEBUG_ASSERT(x >= 0 && x < t->n && dls_order_has(t, x));
    dls_member *m = &t->member[x];
    const int64_t lead = dls_rank_lead(&m->rank);
    struct {
        dls_order_node *node;
        int32_t i;
    } way[HIGHEST];
    dls_order_node *p = &t->node[s->root];
    for (int32_t h = s->height; h > 0; h--) { /* p can spare an entry */
        int32_t i = count_up_to(t, p, x, lead) - 1;
        t->steps++;
        DLS_DEBUG_ASSERT(i >= 0);
        if (t->node[p->entry[i].at].n <= LEAST) {
            level_out(t, p, i + 1 < p->n ? i : i - 1);
            i = count_up_to(t, p, x, lead) - 1;
        }
        p->entry[i].sum -= m->weight;
        way[h - 1].node = p;
        way[h - 1].i = i;
        p = &t->node[p->entry[i].at];
    }
    const int32_t last = count_up_to(t, p, x, lead) - 1;
    t->steps++;
    DLS_DEBUG_ASSERT(last >= 0 && p->entry[last].at == x);
    erase(p, last);
    for (int32_t h = 0; h < s->height; h++) {
        forget(t, way[h].node, way[h].i, x);
    }
    m->in_set = false;
    const int32_t root = s->root;
    t->node[root].leaf = DLS_NONE; /* it may be free by now, and another set's */
    if (s->height > 0 && t->node[root].n == 1) {
        *s = (dls_order_set){t->node[root].entry[0].at, s->height - 1};
        t->node[s->root].leaf = DLS_NONE;
        free_node(t, root);
    } else if (t->node[root].n == 0) {
        *s = (dls_order_set)DLS_ORDER_SET_EMPTY;
        free_node(t, root);
    }
}

/* ---- searches ------------------------------------------------------------------------------- */

int64_t dls_order_sum(const dls_order *t, dls_order_set s)
{
    int64_t sum = 0;
    for (int32_t i = 0; s.root != DLS_NONE && i < t->node[s.root].n; i++) {
        sum += t->node[s.root].entry[i].sum;
    }
    return sum;
}

int32_t dls_order_first(const dls_order *t, dls_order_set s)
{
    return s.root == DLS_NONE ? DLS_NONE : t->node[s.root].entry[0].first;
}

int32_t dls_order_last(const dls_order *t, dls_order_set s)
{
    int32_t at = s.root;
    for (int32_t h = s.height; h >= 0 && at != DLS_NONE; h--) {
        at = t->node[at].entry[t->node[at].n - 1].at;
    }
    return at;
}

int32_t dls_order_next(const dls_order *t, dls_order_set s, int32_t x)
{
    DLS_DEBUG_ASSERT(x >= 0 && x < t->n);
    dls_order_node *root = s.root != DLS_NONE ? &t->node[s.root] : NULL;
    if (root && root->leaf != DLS_NONE) {
        const dls_order_node *p = &t->node[root->leaf];
        const int32_t i = root->leaf_entry + 1;
        if (i < p->n && p->entry[i - 1].at == x) {
            root->leaf_entry = i;
            return p->entry[i].at;
        }
    }
    const int64_t lead = dls_rank_lead(&t->member[x].rank);
    int32_t found = DLS_NONE;
    for (int32_t h = s.height, at = s.root; h >= 0 && at != DLS_NONE; h--) {
        const dls_order_node *p = &t->node[at];
        const int32_t i = count_up_to(t, p, x, lead);
        found = i < p->n ? p->entry[i].first : found;
        if (h == 0 && i < p->n) {
            root->leaf = at;
            root->leaf_entry = i;
        }
        at = i > 0 ? p->entry[i - 1].at : DLS_NONE;
    }
    return found;
}

int32_t dls_order_prev(const dls_order *t, dls_order_set s, int32_t x)
{
    DLS_DEBUG_ASSERT(x >= 0 && x < t->n);
    const dls_rank *rank = &t->member[x].rank;
    const int64_t lead = dls_rank_lead(rank);
    int32_t at = s.root;
    for (int32_t h = s.height; h >= 0 && at != DLS_NONE; h--) {
        const dls_order_node *p = &t->node[at];
        const int32_t i = count_before(t, p, rank, lead);
        at = i > 0 ? p->entry[i - 1].at : DLS_NONE;
    }
    return at;
}

int64_t dls_order_sum_before(dls_order *t, dls_order_set s, const dls_rank *rank)
{
    const int64_t lead = dls_rank_lead(rank);
    int64_t sum = 0;
    for (int32_t h = s.height, at = s.root; h >= 0 && at != DLS_NONE; h--) {
        const dls_order_node *p = &t->node[at];
        const int32_t i = count_before(t, p, rank, lead), whole = h > 0 ? i - 1 : i;
        t->steps++;
        for (int32_t k = 0; k < whole; k++) {
            sum += p->entry[k].sum;
        }
        at = i > 0 ? p->entry[i - 1].at : DLS_NONE;
    }
    return sum;
}

int32_t dls_order_first_over(dls_order *t, dls_order_set s, int64_t limit)
{
    int32_t at = s.root;
    for (int32_t h = s.height; h >= 0 && at != DLS_NONE; h--) {
        const dls_order_node *p = &t->node[at];
        int32_t i = 0;
        t->steps++;
        while (i < p->n && p->entry[i].sum <= limit) {
            limit -= p->entry[i++].sum;
        }
        at = i < p->n ? p->entry[i].at : DLS_NONE;
    }
    return at;
}

/* The first member of the subtree with aux <= limit, behind another unless that is DLS_NONE. */
static int32_t first_aux(dls_order *t, int32_t at, int32_t height, int32_t after, int64_t limit)
{
    const dls_order_node *p = &t->node[at];
    int32_t i = after != DLS_NONE ? count_up_to(t, p, after, dls_rank_lead(&t->member[after].rank)) : 0;
    int32_t found = DLS_NONE;
    t->steps++;
    if (height > 0 && i > 0 && p->entry[i - 1].aux <= limit) {
        found = first_aux(t, p->entry[i - 1].at, height - 1, after, limit);
    }
    for (; i < p->n && found == DLS_NONE; i++) {
        if (p->entry[i].aux <= limit) {
            found = height > 0 ? first_aux(t, p->entry[i].at, height - 1, DLS_NONE, limit)
                               : p->entry[i].at;
        }
    }
    return found;
}

int32_t dls_order_first_aux(dls_order *t, dls_order_set s, int32_t after, int64_t limit)
{
    return s.root == DLS_NONE ? DLS_NONE : first_aux(t, s.root, s.height, after, limit);
}
