/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Asynchronous fluid communities as in networkx 2.8, including its order of neighbours and its
 * random draws, over compressed adjacency rows.
 */
#include "workload/graph/fluid.h"

#include "base/own.h"
#include "workload/graph/pyrandom.h"

#include <stdbool.h>

#define NONE INT32_C(-1)

/* ---- adjacency ------------------------------------------------------------------------------- */

/* Both ends of every edge, in order, repeats included. */
static void fill_rows(int32_t n, const int32_t (*edges)[2], int64_t n_edges, int64_t *start,
                      int32_t *nbr)
{
    for (int64_t i = 0; i < n_edges; i++) {
        start[edges[i][0] + 2]++;
        start[edges[i][1] + 2] += edges[i][0] != edges[i][1];
    }
    for (int32_t v = 0; v < n; v++) {
        start[v + 2] += start[v + 1];
    }
    for (int64_t i = 0; i < n_edges; i++) {
        const int32_t u = edges[i][0];
        const int32_t v = edges[i][1];
        nbr[start[u + 1]++] = v;
        if (u != v) {
            nbr[start[v + 1]++] = u;
        }
    }
}

static void drop_repeats(dls_adjacency *a, int32_t *seen)
{
    int64_t out = 0;
    int64_t from = 0;
    for (int32_t v = 0; v < a->n; v++) {
        const int64_t end = a->start[v + 1];
        a->start[v] = out;
        for (int64_t i = from; i < end; i++) {
            const int32_t w = a->nbr[i];
            if (seen[w] != v + 1) {
                seen[w] = v + 1;
                a->nbr[out++] = w;
            }
        }
        from = end;
    }
    a->start[a->n] = out;
}

dls_status dls_adjacency_create(int32_t n, const int32_t (*edges)[2], int64_t n_edges,
                                dls_adjacency *out, dls_error *err)
{
    *out = (dls_adjacency){0};
    for (int64_t i = 0; i < n_edges; i++) {
        if (edges[i][0] < 0 || edges[i][1] < 0 || edges[i][0] >= n || edges[i][1] >= n) {
            return dls_fail(err, DLS_EINPUT, NULL, "edge %lld ends at a node out of 0..%d",
                            (long long)i, (int)n - 1);
        }
    }
    DLS_OWN(dls_adjacency_fini) dls_adjacency a = {.n = n};
    DLS_FREED int32_t *seen = NULL;
    DLS_TRY(dls_alloc_array(&a.start, (size_t)n + 2, sizeof *a.start, "adjacency", err));
    DLS_TRY(dls_alloc_array(&a.nbr, 2 * (size_t)n_edges + 1, sizeof *a.nbr, "adjacency", err));
    DLS_TRY(dls_alloc_array(&seen, (size_t)n + 1, sizeof *seen, "adjacency", err));
    fill_rows(n, edges, n_edges, a.start, a.nbr);
    drop_repeats(&a, seen);
    *out = a;
    a = (dls_adjacency){0};
    return DLS_OK;
}

void dls_adjacency_fini(dls_adjacency *a)
{
    dls_free(a->start);
    dls_free(a->nbr);
    *a = (dls_adjacency){0};
}

dls_status dls_adjacency_restrict(const dls_adjacency *a, const int32_t *order, int32_t n,
                                  dls_adjacency *out, dls_error *err)
{
    const size_t max_edges = (size_t)a->start[a->n];
    DLS_FREED int32_t *number = NULL;
    DLS_FREED int32_t(*edges)[2] = NULL;
    *out = (dls_adjacency){0};
    DLS_TRY(dls_alloc_array(&number, (size_t)a->n + 1, sizeof *number, "part of a graph", err));
    DLS_TRY(dls_alloc_array(&edges, max_edges + 1, sizeof *edges, "part of a graph", err));
    int64_t n_edges = 0;
    for (int32_t i = 0; i < n; i++) {
        number[order[i]] = i + 1;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int64_t e = a->start[order[i]]; e < a->start[order[i] + 1]; e++) {
            if (number[a->nbr[e]] > 0) {
                edges[n_edges][0] = i;
                edges[n_edges][1] = number[a->nbr[e]] - 1;
                n_edges++;
            }
        }
    }
    return dls_adjacency_create(n, (const int32_t(*)[2])edges, n_edges, out, err);
}

int32_t dls_adjacency_components(const dls_adjacency *a, int32_t *component, int32_t *scratch)
{
    int32_t n = 0;
    for (int32_t v = 0; v < a->n; v++) {
        component[v] = NONE;
    }
    for (int32_t root = 0; root < a->n; root++) {
        if (component[root] != NONE) {
            continue;
        }
        int32_t depth = 1;
        scratch[0] = root;
        component[root] = n;
        while (depth > 0) {
            const int32_t v = scratch[--depth];
            for (int64_t e = a->start[v]; e < a->start[v + 1]; e++) {
                if (component[a->nbr[e]] == NONE) {
                    component[a->nbr[e]] = n;
                    scratch[depth++] = a->nbr[e];
                }
            }
        }
        n++;
    }
    return n;
}

/* ---- fluid communities ----------------------------------------------------------------------- */

typedef struct fluid {
    const dls_adjacency *a;
    dls_pyrandom random;
    int32_t *label; /* [n] NONE: not reached yet */
    int32_t *first; /* [n] nodes in order of their first label */
    int32_t *order; /* [n] of this pass */
    int32_t n_labelled;
    double *density;  /* [k] 1 / members */
    int32_t *members; /* [k] */
    double *score;    /* [k] sum of densities around the vertex, where mark says so */
    int64_t *mark;    /* [k] number of the visit that touched it last */
    int32_t *touched; /* [k] communities around the vertex in order of first sight */
    int64_t visit;
} fluid;

static void fluid_fini(const fluid *f)
{
    DLS_FREE_ALL(f->first, f->order, f->density, f->members, f->score, f->mark, f->touched);
}

static dls_status fluid_init(fluid *f, const dls_adjacency *a, int32_t k, uint64_t seed,
                             int32_t *label, dls_error *err)
{
    const size_t n = (size_t)a->n;
    const size_t n_com = (size_t)k;
    *f = (fluid){.a = a,
                 .label = label,
                 .first = dls_alloc(n * sizeof(int32_t)),
                 .order = dls_alloc(n * sizeof(int32_t)),
                 .density = dls_alloc(n_com * sizeof(double)),
                 .members = dls_alloc(n_com * sizeof(int32_t)),
                 .score = dls_alloc(n_com * sizeof(double)),
                 .mark = dls_alloc_zero(n_com, sizeof(int64_t)),
                 .touched = dls_alloc(n_com * sizeof(int32_t))};
    if (!f->first || !f->order || !f->density || !f->members || !f->score || !f->mark ||
        !f->touched) {
        return dls_nomem(err, "fluid communities", n * 2 * sizeof(int32_t));
    }
    dls_pyrandom_seed(&f->random, seed);
    for (int32_t v = 0; v < a->n; v++) {
        f->label[v] = NONE;
        f->order[v] = v;
    }
    dls_pyrandom_shuffle(&f->random, f->order, a->n);
    for (int32_t c = 0; c < k; c++) {
        f->first[c] = f->order[c];
        f->label[f->order[c]] = c;
        f->members[c] = 1;
        f->density[c] = 1;
    }
    f->n_labelled = k;
    return DLS_OK;
}

static inline void see(fluid *f, int32_t c, int32_t *n_touched)
{
    if (f->mark[c] != f->visit) {
        f->mark[c] = f->visit;
        f->score[c] = f->density[c];
        f->touched[(*n_touched)++] = c;
    } else {
        f->score[c] += f->density[c];
    }
}

static void move(fluid *f, int32_t v, int32_t to)
{
    const int32_t from = f->label[v];
    if (from == NONE) {
        f->first[f->n_labelled++] = v;
    } else {
        f->density[from] = 1.0 / --f->members[from];
    }
    f->label[v] = to;
    f->density[to] = 1.0 / ++f->members[to];
}

/* One vertex joins the densest community around it; true if it changed. A draw is made even when
 * there is one candidate, because the reference makes it. */
static bool update(fluid *f, int32_t v)
{
    const dls_adjacency *a = f->a;
    const int32_t own = f->label[v];
    int32_t n_touched = 0;
    f->visit++;
    if (own != NONE) {
        see(f, own, &n_touched);
    }
    for (int64_t e = a->start[v]; e < a->start[v + 1]; e++) {
        const int32_t c = f->label[a->nbr[e]];
        if (c != NONE) {
            see(f, c, &n_touched);
        }
    }
    if (n_touched == 0) {
        return false;
    }
    double top = f->score[f->touched[0]];
    for (int32_t i = 1; i < n_touched; i++) {
        top = f->score[f->touched[i]] > top ? f->score[f->touched[i]] : top;
    }
    if (own != NONE && top - f->score[own] < 1e-4) {
        return false;
    }
    int32_t n_best = 0;
    for (int32_t i = 0; i < n_touched; i++) {
        if (top - f->score[f->touched[i]] < 1e-4) {
            f->touched[n_best++] = f->touched[i];
        }
    }
    move(f, v, f->touched[dls_pyrandom_below(&f->random, (uint32_t)n_best)]);
    return true;
}

/* Nodes that were never reached take the label of whoever reaches them first. */
static void flood(fluid *f)
{
    const dls_adjacency *a = f->a;
    int32_t *queue = f->order;
    int32_t n = 0;
    for (int32_t v = 0; v < a->n; v++) {
        if (f->label[v] != NONE) {
            queue[n++] = v;
        }
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t v = queue[i];
        for (int64_t e = a->start[v]; e < a->start[v + 1]; e++) {
            const int32_t w = a->nbr[e];
            if (f->label[w] == NONE) {
                f->label[w] = f->label[v];
                f->first[f->n_labelled++] = w;
                queue[n++] = w;
            }
        }
    }
}

static void number_by_appearance(fluid *f, int32_t k)
{
    int32_t *number = f->touched;
    int32_t n = 0;
    for (int32_t c = 0; c < k; c++) {
        number[c] = NONE;
    }
    for (int32_t i = 0; i < f->a->n; i++) {
        int32_t *c = &number[f->label[f->first[i]]];
        if (*c == NONE) {
            *c = n++;
        }
    }
    for (int32_t v = 0; v < f->a->n; v++) {
        f->label[v] = number[f->label[v]];
    }
}

static dls_status check(const dls_adjacency *a, int32_t k, dls_error *err)
{
    if (k < 1 || k > a->n) {
        return dls_fail(err, DLS_EINPUT, NULL, "%d groups of %d nodes are not possible", (int)k,
                        (int)a->n);
    }
    DLS_FREED int32_t *scratch = NULL;
    DLS_TRY(dls_alloc_array(&scratch, 2 * (size_t)a->n, sizeof *scratch, "fluid communities", err));
    const int32_t n = dls_adjacency_components(a, scratch, scratch + a->n);
    return n == 1 ? DLS_OK
                  : dls_fail(err, DLS_EINPUT, NULL,
                             "the graph falls apart into %d parts: fluid communities need one",
                             (int)n);
}

dls_status dls_fluid(const dls_adjacency *a, int32_t k, uint64_t seed, int32_t max_iter,
                     int32_t *label, dls_error *err)
{
    DLS_OWN(fluid_fini) fluid f = {0};
    DLS_TRY(check(a, k, err));
    DLS_TRY(fluid_init(&f, a, k, seed, label, err));
    bool changed = true;
    for (int32_t pass = 0; changed && pass <= max_iter; pass++) {
        changed = false;
        for (int32_t v = 0; v < a->n; v++) {
            f.order[v] = v;
        }
        dls_pyrandom_shuffle(&f.random, f.order, a->n);
        for (int32_t i = 0; i < a->n; i++) {
            changed |= update(&f, f.order[i]);
        }
    }
    if (f.n_labelled < a->n) {
        flood(&f);
    }
    number_by_appearance(&f, k);
    return DLS_OK;
}
