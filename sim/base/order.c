/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Treap operations: insertion and removal by rotation, with subtree sums and minima kept up to
 * date; searches descend by sums of weights.
 */
#include "base/order.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

_Static_assert(sizeof(dls_order_node) == 64, "a node is a cache line");

dls_status dls_order_init(dls_order *t, int32_t n, dls_error *err)
{
    DLS_ASSERT(n >= 0);
    t->n = n;
    t->steps = 0;
    t->node = dls_alloc_aligned((size_t)n * sizeof *t->node);
    if (!t->node) {
        return dls_nomem(err, "ordered sets", (size_t)n * sizeof *t->node);
    }
    for (int32_t x = 0; x < n; x++) {
        t->node[x] = (dls_order_node){.parent = DLS_IN_NO_SET};
    }
    return DLS_OK;
}

void dls_order_fini(dls_order *t)
{
    dls_free(t->node);
    t->node = NULL;
    t->n = 0;
}

dls_status dls_order_copy(dls_order *t, const dls_order *from, dls_error *err)
{
    const size_t bytes = (size_t)from->n * sizeof *t->node;
    *t = (dls_order){0};
    if (!from->node) {
        return DLS_OK;
    }
    t->node = dls_alloc_aligned(bytes);
    if (!t->node) {
        return dls_nomem(err, "ordered sets", bytes);
    }
    memcpy(t->node, from->node, bytes);
    t->n = from->n;
    t->steps = from->steps;
    return DLS_OK;
}

/* Heap priority of a member: fixed, so that runs repeat. */
static inline uint32_t priority(int32_t x)
{
    uint32_t h = (uint32_t)x * 0x9E3779B1u;
    h = (h ^ (h >> 15)) * 0x85EBCA77u;
    return (h ^ (h >> 13)) * 0xC2B2AE3Du;
}

static inline bool above(int32_t a, int32_t b)
{
    const uint32_t pa = priority(a), pb = priority(b);
    return pa != pb ? pa > pb : a < b;
}

static inline void pull(dls_order *t, int32_t x)
{
    dls_order_node *p = &t->node[x];
    int64_t sum = p->weight, min_aux = p->aux;
    if (p->left != DLS_NONE) {
        const dls_order_node *l = &t->node[p->left];
        sum += l->sum;
        min_aux = l->min_aux < min_aux ? l->min_aux : min_aux;
    }
    if (p->right != DLS_NONE) {
        const dls_order_node *r = &t->node[p->right];
        sum += r->sum;
        min_aux = r->min_aux < min_aux ? r->min_aux : min_aux;
    }
    p->sum = sum;
    p->min_aux = min_aux;
}

static inline void replace_child(dls_order *t, dls_order_set *s, int32_t parent, int32_t old,
                                 int32_t new_child)
{
    if (parent == DLS_NONE) {
        s->root = new_child;
    } else if (t->node[parent].left == old) {
        t->node[parent].left = new_child;
    } else {
        t->node[parent].right = new_child;
    }
    if (new_child != DLS_NONE) {
        t->node[new_child].parent = parent;
    }
}

/* Rotate x above its parent. */
static void rotate_up(dls_order *t, dls_order_set *s, int32_t x)
{
    dls_order_node *const node = t->node;
    const int32_t p = node[x].parent;
    const int32_t g = node[p].parent;
    if (node[p].left == x) {
        node[p].left = node[x].right;
        if (node[x].right != DLS_NONE) {
            node[node[x].right].parent = p;
        }
        node[x].right = p;
    } else {
        node[p].right = node[x].left;
        if (node[x].left != DLS_NONE) {
            node[node[x].left].parent = p;
        }
        node[x].left = p;
    }
    replace_child(t, s, g, p, x);
    node[p].parent = x;
    node[x].sum = node[p].sum; /* the same members as were below p */
    node[x].min_aux = node[p].min_aux;
    pull(t, p);
}

void dls_order_insert(dls_order *t, dls_order_set *s, int32_t x, dls_rank rank, int32_t weight,
                      int64_t aux)
{
    DLS_DEBUG_ASSERT(x >= 0 && x < t->n && !dls_order_has(t, x));
    dls_order_node *const node = t->node;
    node[x] = (dls_order_node){.rank = rank,
                               .sum = weight,
                               .aux = aux,
                               .min_aux = aux,
                               .left = DLS_NONE,
                               .right = DLS_NONE,
                               .parent = DLS_NONE,
                               .weight = weight};
    int32_t *link = &s->root, at = DLS_NONE;
    while (*link != DLS_NONE) {
        at = *link;
        t->steps++;
        /* All of x's ancestors gain it, whatever rotations follow below them. */
        node[at].sum += weight;
        node[at].min_aux = aux < node[at].min_aux ? aux : node[at].min_aux;
        link = dls_rank_cmp(&rank, &node[at].rank) < 0 ? &node[at].left : &node[at].right;
    }
    *link = x;
    node[x].parent = at;
    while (node[x].parent != DLS_NONE && above(x, node[x].parent)) {
        rotate_up(t, s, x);
    }
}

static inline int32_t root_of(const dls_order *t, int32_t x)
{
    while (t->node[x].parent != DLS_NONE) {
        x = t->node[x].parent;
    }
    return x;
}

void dls_order_remove(dls_order *t, dls_order_set *s, int32_t x)
{
    DLS_DEBUG_ASSERT(x >= 0 && x < t->n && dls_order_has(t, x));
    DLS_AUDIT_ASSERT(root_of(t, x) == s->root);
    dls_order_node *const node = t->node;
    while (node[x].left != DLS_NONE && node[x].right != DLS_NONE) {
        t->steps++;
        rotate_up(t, s, above(node[x].left, node[x].right) ? node[x].left : node[x].right);
    }
    const int32_t child = node[x].left != DLS_NONE ? node[x].left : node[x].right;
    const int32_t parent = node[x].parent;
    replace_child(t, s, parent, x, child);
    /* Only where x alone had the least aux do its ancestors have to look at their children again. */
    bool least = true;
    for (int32_t p = parent; p != DLS_NONE; p = node[p].parent) {
        t->steps++;
        if (least && node[p].min_aux == node[x].aux) {
            pull(t, p);
            least = node[p].min_aux != node[x].aux;
        } else {
            least = false;
            node[p].sum -= node[x].weight;
        }
    }
    node[x].parent = DLS_IN_NO_SET;
}

int32_t dls_order_first(const dls_order *t, dls_order_set s)
{
    int32_t x = s.root;
    while (x != DLS_NONE && t->node[x].left != DLS_NONE) {
        x = t->node[x].left;
    }
    return x;
}

int32_t dls_order_last(const dls_order *t, dls_order_set s)
{
    int32_t x = s.root;
    while (x != DLS_NONE && t->node[x].right != DLS_NONE) {
        x = t->node[x].right;
    }
    return x;
}

int32_t dls_order_next(const dls_order *t, int32_t x)
{
    DLS_DEBUG_ASSERT(x >= 0 && x < t->n && dls_order_has(t, x));
    if (t->node[x].right != DLS_NONE) {
        return dls_order_first(t, (dls_order_set){t->node[x].right});
    }
    int32_t p = t->node[x].parent;
    while (p != DLS_NONE && t->node[p].right == x) {
        x = p;
        p = t->node[p].parent;
    }
    return p;
}

int32_t dls_order_prev(const dls_order *t, int32_t x)
{
    DLS_DEBUG_ASSERT(x >= 0 && x < t->n && dls_order_has(t, x));
    if (t->node[x].left != DLS_NONE) {
        return dls_order_last(t, (dls_order_set){t->node[x].left});
    }
    int32_t p = t->node[x].parent;
    while (p != DLS_NONE && t->node[p].left == x) {
        x = p;
        p = t->node[p].parent;
    }
    return p;
}

int64_t dls_order_sum_before(dls_order *t, dls_order_set s, const dls_rank *rank)
{
    int64_t sum = 0;
    for (int32_t x = s.root; x != DLS_NONE;) {
        const dls_order_node *p = &t->node[x];
        t->steps++;
        if (dls_rank_cmp(&p->rank, rank) < 0) {
            sum += p->weight + (p->left == DLS_NONE ? 0 : t->node[p->left].sum);
            x = p->right;
        } else {
            x = p->left;
        }
    }
    return sum;
}

int32_t dls_order_first_over(dls_order *t, dls_order_set s, int64_t limit)
{
    int32_t found = DLS_NONE;
    for (int32_t x = s.root; x != DLS_NONE;) {
        const dls_order_node *p = &t->node[x];
        const int64_t left = p->left == DLS_NONE ? 0 : t->node[p->left].sum;
        t->steps++;
        if (left + p->weight > limit) {
            found = x;
            x = p->left;
        } else {
            limit -= left + p->weight;
            x = p->right;
        }
    }
    return found;
}

/* The first member of the subtree with aux <= limit. */
static int32_t leftmost_aux(dls_order *t, int32_t x, int64_t limit)
{
    while (x != DLS_NONE && t->node[x].min_aux <= limit) {
        const dls_order_node *p = &t->node[x];
        t->steps++;
        if (p->left != DLS_NONE && t->node[p->left].min_aux <= limit) {
            x = p->left;
        } else if (p->aux <= limit) {
            return x;
        } else {
            x = p->right;
        }
    }
    return DLS_NONE;
}

int32_t dls_order_first_aux(dls_order *t, dls_order_set s, int32_t after, int64_t limit)
{
    DLS_DEBUG_ASSERT(after == DLS_NONE || dls_order_has(t, after));
    if (after == DLS_NONE) {
        return leftmost_aux(t, s.root, limit);
    }
    int32_t found = leftmost_aux(t, t->node[after].right, limit);
    for (int32_t x = after; found == DLS_NONE && t->node[x].parent != DLS_NONE;) {
        const int32_t p = t->node[x].parent;
        t->steps++;
        if (t->node[p].left == x) {
            found = t->node[p].aux <= limit ? p : leftmost_aux(t, t->node[p].right, limit);
        }
        x = p;
    }
    return found;
}
