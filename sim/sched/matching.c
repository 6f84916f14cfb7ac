/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Vertices are 1..n, blossoms n+1.., 0 is nobody. A *base* is a vertex or a blossom in no blossom.
 * An edge between bases is the edge between two of their vertices that has the least distance. A
 * matching lasts from stage to stage; each stage grows a forest from all free bases and ends with
 * one more pair, or with the proof that there is none.
 */
#include "sched/matching.h"

#include "dlsim/memory.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { FREE = -1, EVEN = 0, ODD = 1 };
#define END_TOLERANCE 1e-5

typedef struct edge {
    int32_t u, v; /* vertices; 0: none */
} edge;

struct dls_matching {
    int32_t n, room;      /* vertices; rows and columns of the tables below */
    int32_t last;         /* highest number that was in use */
    const double *weight; /* [n * n] borrowed */
    void *memory;
    size_t bytes;
    edge *between;       /* [room * room] */
    int32_t *holder;     /* [room * (n+1)] of a blossom: which member has the vertex */
    int32_t *member;     /* [room * (n+1)] cycle of a blossom, the base first */
    double *label, *far; /* [room] dual variables; distance of the slack's edge */
    int32_t *members, *base, *mate, *parent, *slack, *side, *seen, *queue; /* [room] */
    int32_t head, tail, walk;
};

static edge *edge_of(const dls_matching *m, int32_t a, int32_t b)
{
    return &m->between[(size_t)a * (size_t)m->room + (size_t)b];
}

static double weight_of(const dls_matching *m, const edge *e)
{
    return e->u ? m->weight[(size_t)(e->u - 1) * (size_t)m->n + (size_t)(e->v - 1)] : 0;
}

/* How far the edge is from being tight. */
static double distance(const dls_matching *m, const edge *e)
{
    return m->label[e->u] + m->label[e->v] - weight_of(m, e) * 2;
}

static int32_t *cycle(const dls_matching *m, int32_t b)
{
    return m->member + (size_t)b * (size_t)(m->n + 1);
}

static int32_t *holders(const dls_matching *m, int32_t b)
{
    return m->holder + (size_t)b * (size_t)(m->n + 1);
}

/* ---- slack ----------------------------------------------------------------------------------- */

static void offer_slack(dls_matching *m, int32_t u, int32_t x, double far)
{
    if (!m->slack[x] || far < m->far[x]) {
        m->slack[x] = u;
        m->far[x] = far;
    }
}

static void find_slack(dls_matching *m, int32_t x)
{
    m->slack[x] = 0;
    for (int32_t u = 1; u <= m->n; u++) {
        if (weight_of(m, edge_of(m, u, x)) > 0 && m->base[u] != x && m->side[m->base[u]] == EVEN) {
            offer_slack(m, u, x, distance(m, edge_of(m, u, x)));
        }
    }
}

/* The vertices of a base, in breadth-first order of the cycles. The part of the queue behind its
 * tail serves as the list of what is still to be opened. */
static void push_base(dls_matching *m, int32_t x)
{
    if (x <= m->n) {
        m->queue[m->tail++] = x;
        return;
    }
    int32_t *open = m->seen + m->room, n = 0; /* see lay_out */
    open[n++] = x;
    for (int32_t i = 0; i < n; i++) {
        if (open[i] <= m->n) {
            m->queue[m->tail++] = open[i];
            continue;
        }
        memcpy(open + n, cycle(m, open[i]), (size_t)m->members[open[i]] * sizeof *open);
        n += m->members[open[i]];
    }
}

/* ---- blossoms -------------------------------------------------------------------------------- */

static void set_base(dls_matching *m, int32_t x, int32_t b)
{
    m->base[x] = b;
    for (int32_t i = 0; x > m->n && i < m->members[x]; i++) {
        set_base(m, cycle(m, x)[i], b);
    }
}

static void reverse(int32_t *a, int32_t n)
{
    for (int32_t i = 0; i < n / 2; i++) {
        const int32_t swap = a[i];
        a[i] = a[n - 1 - i];
        a[n - 1 - i] = swap;
    }
}

/* Where a member stands on the path of even length from the base; the cycle is turned round if need
 * be. */
static int32_t even_place(dls_matching *m, int32_t b, int32_t member)
{
    int32_t *c = cycle(m, b), at = 0;
    while (c[at] != member) {
        at++;
    }
    if (at % 2 == 1) {
        reverse(c + 1, m->members[b] - 1);
        at = m->members[b] - at;
    }
    return at;
}

static void set_mate(dls_matching *m, int32_t u, int32_t v)
{
    const edge e = *edge_of(m, u, v);
    m->mate[u] = e.v;
    if (u <= m->n) {
        return;
    }
    int32_t *c = cycle(m, u);
    const int32_t entry = holders(m, u)[e.u], at = even_place(m, u, entry);
    for (int32_t i = 0; i < at; i++) {
        set_mate(m, c[i], c[i ^ 1]);
    }
    set_mate(m, entry, v);
    /* The entry is the base from now on. */
    reverse(c, at);
    reverse(c + at, m->members[u] - at);
    reverse(c, m->members[u]);
}

static void augment(dls_matching *m, int32_t u, int32_t v)
{
    for (;;) {
        const int32_t next = m->base[m->mate[u]];
        set_mate(m, u, v);
        if (!next) {
            return;
        }
        set_mate(m, next, m->base[m->parent[next]]);
        u = m->base[m->parent[next]];
        v = next;
    }
}

static int32_t common_ancestor(dls_matching *m, int32_t u, int32_t v)
{
    m->walk++;
    while (u || v) {
        if (u) {
            if (m->seen[u] == m->walk) {
                return u;
            }
            m->seen[u] = m->walk;
            u = m->base[m->mate[u]];
            u = u ? m->base[m->parent[u]] : 0;
        }
        const int32_t swap = u;
        u = v;
        v = swap;
    }
    return 0;
}

static void add_side(dls_matching *m, int32_t b, int32_t from, int32_t to)
{
    int32_t *c = cycle(m, b);
    for (int32_t x = from; x != to;) {
        const int32_t y = m->base[m->mate[x]];
        c[m->members[b]++] = x;
        c[m->members[b]++] = y;
        push_base(m, y);
        x = m->base[m->parent[y]];
    }
}

static void copy_edges(dls_matching *m, int32_t b)
{
    int32_t *inside = holders(m, b);
    for (int32_t x = 1; x <= m->last; x++) {
        *edge_of(m, b, x) = *edge_of(m, x, b) = (edge){0, 0};
    }
    memset(inside, 0, (size_t)(m->n + 1) * sizeof *inside);
    for (int32_t i = 0; i < m->members[b]; i++) {
        const int32_t s = cycle(m, b)[i];
        for (int32_t x = 1; x <= m->last; x++) {
            if (weight_of(m, edge_of(m, b, x)) <= 0 ||
                distance(m, edge_of(m, s, x)) < distance(m, edge_of(m, b, x))) {
                *edge_of(m, b, x) = *edge_of(m, s, x);
                *edge_of(m, x, b) = *edge_of(m, x, s);
            }
        }
        for (int32_t x = 1; x <= m->n; x++) {
            if (holders(m, s)[x]) {
                inside[x] = s;
            }
        }
    }
}

static void shrink(dls_matching *m, int32_t u, int32_t ancestor, int32_t v)
{
    int32_t b = m->n + 1;
    while (b <= m->last && m->base[b]) {
        b++;
    }
    m->last = b > m->last ? b : m->last;
    assert(b < m->room);
    m->label[b] = 0;
    m->side[b] = EVEN;
    m->mate[b] = m->mate[ancestor];
    m->members[b] = 0;
    cycle(m, b)[m->members[b]++] = ancestor;
    add_side(m, b, u, ancestor);
    reverse(cycle(m, b) + 1, m->members[b] - 1);
    add_side(m, b, v, ancestor);
    set_base(m, b, b);
    copy_edges(m, b);
    find_slack(m, b);
}

static void expand(dls_matching *m, int32_t b)
{
    const int32_t *c = cycle(m, b);
    for (int32_t i = 0; i < m->members[b]; i++) {
        set_base(m, c[i], c[i]);
    }
    const int32_t entry = holders(m, b)[edge_of(m, b, m->parent[b])->u];
    const int32_t at = even_place(m, b, entry);
    for (int32_t i = 0; i < at; i += 2) {
        const int32_t odd = c[i], even = c[i + 1];
        m->parent[odd] = edge_of(m, even, odd)->u;
        m->side[odd] = ODD;
        m->side[even] = EVEN;
        m->slack[odd] = 0;
        find_slack(m, even);
        push_base(m, even);
    }
    m->side[entry] = ODD;
    m->parent[entry] = m->parent[b];
    for (int32_t i = at + 1; i < m->members[b]; i++) {
        m->side[c[i]] = FREE;
        find_slack(m, c[i]);
    }
    m->base[b] = 0;
}

/* ---- a stage --------------------------------------------------------------------------------- */

/* A tight edge from an even base: true when it has led to one more pair. */
static bool tight(dls_matching *m, const edge *e)
{
    const int32_t u = m->base[e->u], v = m->base[e->v];
    if (m->side[v] == FREE) {
        const int32_t next = m->base[m->mate[v]];
        m->parent[v] = e->u;
        m->side[v] = ODD;
        m->slack[v] = m->slack[next] = 0;
        m->side[next] = EVEN;
        push_base(m, next);
    } else if (m->side[v] == EVEN) {
        const int32_t ancestor = common_ancestor(m, u, v);
        if (!ancestor) {
            augment(m, u, v);
            augment(m, v, u);
            return true;
        }
        shrink(m, u, ancestor, v);
    }
    return false;
}

static bool scan(dls_matching *m)
{
    while (m->head < m->tail) {
        const int32_t u = m->queue[m->head++];
        if (m->side[m->base[u]] == ODD) {
            continue;
        }
        const double *weight = m->weight + (size_t)(u - 1) * (size_t)m->n - 1;
        for (int32_t v = 1; v <= m->n; v++) {
            const int32_t x = m->base[v];
            if (!(weight[v] > 0) || m->side[x] == ODD || m->base[u] == x) {
                continue; /* an odd base learns nothing from another edge */
            }
            const double far = m->label[u] + m->label[v] - weight[v] * 2;
            if (far > 0) {
                offer_slack(m, u, x, x == v ? far : distance(m, edge_of(m, u, x)));
            } else if (tight(m, &(edge){u, v})) {
                return true;
            }
        }
    }
    return false;
}

static double largest_step(const dls_matching *m)
{
    double d = (double)INFINITY;
    for (int32_t b = m->n + 1; b <= m->last; b++) {
        if (m->base[b] == b && m->side[b] == ODD) {
            d = fmin(d, m->label[b] / 2);
        }
    }
    for (int32_t x = 1; x <= m->last; x++) {
        if (m->base[x] == x && m->slack[x] && m->side[x] != ODD) {
            const double far = m->side[x] == FREE ? m->far[x] : m->far[x] / 2;
            d = far < d ? far : d;
        }
    }
    return d;
}

/* Move the labels; false: a free vertex has none left, the matching is the best. */
static bool move_labels(dls_matching *m, double d)
{
    for (int32_t u = 1; u <= m->n; u++) {
        double *label = &m->label[u];
        if (m->side[m->base[u]] == EVEN) {
            if (*label <= d || *label - d <= END_TOLERANCE * *label) {
                return false;
            }
            *label -= d;
        } else if (m->side[m->base[u]] == ODD) {
            *label += d;
        }
    }
    for (int32_t b = m->n + 1; b <= m->last; b++) {
        if (m->base[b] == b && m->side[b] != FREE) {
            m->label[b] += m->side[b] == EVEN ? d * 2 : -(d * 2);
        }
    }
    for (int32_t x = 1; x <= m->last; x++) {
        if (m->slack[x]) {
            m->far[x] = distance(m, edge_of(m, m->slack[x], x));
        }
    }
    return true;
}

static bool grow_and_expand(dls_matching *m, bool *augmented)
{
    const int32_t last = m->last; /* what is shrunk here has its turn in the queue */
    m->head = m->tail = 0;
    for (int32_t x = 1; x <= last; x++) {
        if (m->base[x] == x && m->slack[x] && m->base[m->slack[x]] != x) {
            const edge e = *edge_of(m, m->slack[x], x);
            if (distance(m, &e) <= 0 && tight(m, &e)) {
                *augmented = true;
                return true;
            }
        }
    }
    for (int32_t b = m->n + 1; b <= m->last; b++) {
        if (m->base[b] == b && m->side[b] == ODD && m->label[b] <= 0) {
            expand(m, b);
        }
    }
    return false;
}

static bool stage(dls_matching *m)
{
    bool augmented = false;
    m->head = m->tail = 0;
    for (int32_t x = 0; x <= m->last; x++) {
        m->side[x] = FREE;
        m->slack[x] = 0;
    }
    for (int32_t x = 1; x <= m->last; x++) {
        if (m->base[x] == x && !m->mate[x]) {
            m->parent[x] = 0;
            m->side[x] = EVEN;
            push_base(m, x);
        }
    }
    if (m->tail == 0) {
        return false;
    }
    while (!scan(m)) {
        if (!move_labels(m, largest_step(m))) {
            return false;
        }
        if (grow_and_expand(m, &augmented)) {
            return augmented;
        }
    }
    return true;
}

/* ---- memory ---------------------------------------------------------------------------------- */

dls_status dls_matching_create(dls_matching **out, dls_error *err)
{
    *out = dls_alloc_zero(1, sizeof **out);
    return *out ? DLS_OK : dls_nomem(err, "matching", sizeof **out);
}

void dls_matching_destroy(dls_matching *m)
{
    if (m) {
        DLS_FREE_ALL(m->memory, m);
    }
}

/* A laminar family of odd sets of n vertices has at most n / 2 members. */
static dls_status lay_out(dls_matching *m, int32_t n, dls_error *err)
{
    const size_t room = (size_t)n + (size_t)n / 2 + 2, row = (size_t)n + 1;
    const size_t ints = 2 * room * row + 9 * room;
    const size_t bytes =
        2 * room * sizeof(double) + room * room * sizeof(edge) + ints * sizeof(int32_t);
    if (bytes > m->bytes) {
        dls_free(m->memory);
        m->bytes = 0;
        m->memory = dls_alloc(bytes);
        if (!m->memory) {
            return dls_nomem(err, "matching", bytes);
        }
        m->bytes = bytes;
    }
    m->n = n;
    m->room = (int32_t)room;
    m->label = m->memory;
    m->far = m->label + room;
    m->between = (edge *)(m->far + room);
    m->holder = (int32_t *)(m->between + room * room);
    m->member = m->holder + room * row;
    m->members = m->member + room * row;
    m->base = m->members + room;
    m->mate = m->base + room;
    m->parent = m->mate + room;
    m->slack = m->parent + room;
    m->side = m->slack + room;
    m->queue = m->side + room;
    m->seen = m->queue + room; /* twice: behind it push_base() lists what it opens */
    memset(m->members, 0, 9 * room * sizeof(int32_t));
    return DLS_OK;
}

dls_status dls_matching_find(dls_matching *m, int32_t n, const double *weight, int32_t *mate,
                             dls_error *err)
{
    double most = 0;
    DLS_TRY(lay_out(m, n, err));
    m->weight = weight;
    m->last = n;
    m->walk = 0;
    for (int32_t u = 1; u <= n; u++) {
        memset(holders(m, u), 0, (size_t)(n + 1) * sizeof(int32_t));
        holders(m, u)[u] = u;
        m->base[u] = u;
        for (int32_t v = 1; v <= n; v++) {
            *edge_of(m, u, v) = (edge){u, v};
            const double w = weight_of(m, edge_of(m, u, v));
            most = w > most ? w : most;
        }
    }
    for (int32_t u = 0; u <= n; u++) {
        m->label[u] = most;
    }
    while (most > 0 && stage(m)) {
    }
    for (int32_t u = 1; u <= n; u++) {
        mate[u - 1] = m->mate[u] - 1;
    }
    return DLS_OK;
}
