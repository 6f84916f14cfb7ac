/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reduces a training graph to groups by Driple's rules: GPU operations only, the largest connected
 * part, then fluid communities, or no grouping.
 */
#include "workload/graph/grouping.h"

#include "base/own.h"
#include "base/suggest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NONE INT32_C(-1)

static const char *const names[] = {
#define XX(id, text) text,
    DLS_GROUPING_MAP(XX)
#undef XX
};

bool dls_grouping_find(const char *name, dls_grouping_kind *out)
{
    const size_t i = DLS_NAMED(names, name);
    *out = i < DLS_GROUPING_COUNT ? (dls_grouping_kind)i : *out;
    return i < DLS_GROUPING_COUNT;
}

/* ---- what is kept ---------------------------------------------------------------------------- */

/* Edges between GPU operations, by consumer and then in order of addition: the order in which a
 * reader of the nodes' input lists meets them. Ends are
 * numbers among the GPU operations. */
static int64_t gpu_edges(const dls_opgraph *g, const int32_t *number, int64_t *start,
                         int32_t (*edges)[2])
{
    for (int32_t i = 0; i < g->n_edges; i++) {
        const dls_op_edge *e = &g->edges[i];
        if (number[e->from] != NONE && number[e->to] != NONE) {
            start[number[e->to] + 1]++;
        }
    }
    int64_t n = 0;
    for (int32_t v = 0; v < g->n_nodes; v++) {
        if (number[v] != NONE) {
            const int64_t count = start[number[v] + 1];
            start[number[v] + 1] = n + count;
            n += count;
        }
    }
    /* start[v] is the first place of v; it moves on as the row fills. */
    for (int32_t i = 0; i < g->n_edges; i++) {
        const dls_op_edge *e = &g->edges[i];
        if (number[e->from] != NONE && number[e->to] != NONE) {
            const int64_t at = start[number[e->to]]++;
            edges[at][0] = number[e->from];
            edges[at][1] = number[e->to];
        }
    }
    return n;
}

/* Into an empty one, a copy without the nodes that have no neighbour; every other node keeps its
 * list as it is. */
static dls_status drop_isolates(const dls_adjacency *a, int32_t *node, dls_adjacency *out,
                                dls_error *err)
{
    const size_t n = (size_t)a->n;
    const char *what = "operations on a GPU";
    DLS_FREED int32_t *number = NULL;
    DLS_TRY(dls_alloc_array(&out->start, n + 1, sizeof *out->start, what, err));
    DLS_TRY(dls_alloc_array(&out->nbr, (size_t)a->start[n] + 1, sizeof *out->nbr, what, err));
    DLS_TRY(dls_alloc_array(&number, n + 1, sizeof *number, what, err));
    for (int32_t v = 0; v < a->n; v++) {
        number[v] = out->n;
        if (a->start[v + 1] > a->start[v]) {
            node[out->n++] = v;
            out->start[out->n] = a->start[v + 1];
        }
    }
    for (int64_t e = 0; e < a->start[n]; e++) {
        out->nbr[e] = number[a->nbr[e]];
    }
    return DLS_OK;
}

/* The nodes of the largest component, the first of equals, in order. Returns how many; *n_parts
 * tells how many components there are. scratch[2 n]. */
static int32_t largest(const dls_adjacency *a, int32_t *scratch, int32_t *order, int32_t *n_parts)
{
    int32_t *component = scratch;
    int32_t *count = scratch + a->n;
    const int32_t n = dls_adjacency_components(a, component, count);
    for (int32_t c = 0; c < n; c++) {
        count[c] = 0;
    }
    for (int32_t v = 0; v < a->n; v++) {
        count[component[v]]++;
    }
    int32_t best = 0;
    for (int32_t c = 1; c < n; c++) {
        best = count[c] > count[best] ? c : best;
    }
    int32_t n_order = 0;
    for (int32_t v = 0; v < a->n; v++) {
        if (component[v] == best) {
            order[n_order++] = v;
        }
    }
    *n_parts = n;
    return n_order;
}

/* gpu: index in the graph of each node of all. scratch[4 n]. The neighbour lists are rebuilt only
 * if there are other parts to leave behind, as in the published builder. */
static dls_status keep(const dls_opgraph *g, const dls_adjacency *all, const int32_t *gpu,
                       int32_t *scratch, dls_kept *out, dls_error *err)
{
    int32_t *node = scratch + 2 * (size_t)all->n;
    int32_t *order = node + all->n;
    DLS_OWN(dls_adjacency_fini) dls_adjacency joined = {0};
    DLS_TRY(drop_isolates(all, node, &joined, err));
    int32_t n_parts;
    const int32_t n = largest(&joined, scratch, order, &n_parts);
    if (n == 0) {
        return dls_fail(err, DLS_EINPUT, g->info.model,
                        "no two connected operations are on a GPU (%d operations are)",
                        (int)all->n);
    }
    DLS_TRY(dls_alloc_array(&out->node, (size_t)n + 1, sizeof *out->node, "kept operations", err));
    for (int32_t i = 0; i < n; i++) {
        out->node[i] = gpu[node[order[i]]];
    }
    if (n_parts > 1) {
        return dls_adjacency_restrict(&joined, order, n, &out->adjacency, err);
    }
    out->adjacency = joined;
    joined = (dls_adjacency){0};
    return DLS_OK;
}

static dls_status find_kept(const dls_opgraph *g, dls_kept *out, dls_error *err)
{
    const size_t n = (size_t)g->n_nodes + 1;
    const char *what = "operations on a GPU";
    DLS_FREED int32_t *number = NULL, *gpu = NULL, *scratch = NULL;
    DLS_FREED int64_t *start = NULL;
    DLS_FREED int32_t(*edges)[2] = NULL;
    DLS_OWN(dls_adjacency_fini) dls_adjacency all = {0};
    DLS_TRY(dls_alloc_array(&number, n, sizeof *number, what, err));
    DLS_TRY(dls_alloc_array(&gpu, n, sizeof *gpu, what, err));
    DLS_TRY(dls_alloc_array(&start, n + 1, sizeof *start, what, err));
    DLS_TRY(dls_alloc_array(&edges, (size_t)g->n_edges + 1, sizeof *edges, what, err));
    DLS_TRY(dls_alloc_array(&scratch, 4 * n, sizeof *scratch, what, err));
    for (int32_t v = 0; v < g->n_nodes; v++) {
        number[v] = g->nodes[v].on_gpu ? out->n_gpu : NONE;
        gpu[out->n_gpu] = v;
        out->n_gpu += g->nodes[v].on_gpu;
    }
    const int64_t n_edges = gpu_edges(g, number, start, edges);
    DLS_TRY(dls_adjacency_create(out->n_gpu, (const int32_t(*)[2])edges, n_edges, &all, err));
    return keep(g, &all, gpu, scratch, out, err);
}

dls_status dls_kept_create(const dls_opgraph *g, dls_kept *out, dls_error *err)
{
    *out = (dls_kept){0};
    const dls_status status = find_kept(g, out, err);
    if (status != DLS_OK) {
        dls_kept_fini(out);
    }
    return status;
}

void dls_kept_fini(dls_kept *kept)
{
    dls_free(kept->node);
    dls_adjacency_fini(&kept->adjacency);
    *kept = (dls_kept){0};
}

/* ---- groups ---------------------------------------------------------------------------------- */

DLS_BY(by_number, int32_t, DLS_ORDER(*x, *y));

/* Rows of the grouped graph: edges between groups, each once, ascending, no self loops. members[]
 * are the kept nodes by group (first[group] .. first[group + 1]). */
static void group_rows(const dls_kept *kept, const int32_t *label, const int32_t *first,
                       const int32_t *members, int32_t *seen, dls_grouping *out)
{
    const dls_adjacency *a = &kept->adjacency;
    int64_t n = 0;
    for (int32_t group = 0; group < out->n_groups; group++) {
        out->row_start[group] = n;
        for (int32_t i = first[group]; i < first[group + 1]; i++) {
            for (int64_t e = a->start[members[i]]; e < a->start[members[i] + 1]; e++) {
                const int32_t other = label[a->nbr[e]];
                if (other != group && seen[other] != group + 1) {
                    seen[other] = group + 1;
                    out->col[n++] = other;
                }
            }
        }
        qsort(out->col + out->row_start[group], (size_t)(n - out->row_start[group]),
              sizeof *out->col, by_number);
    }
    out->row_start[out->n_groups] = n;
}

dls_status dls_grouping_from_labels(const dls_opgraph *g, const dls_kept *kept,
                                    const int32_t *label, int32_t n_groups, dls_grouping *out,
                                    dls_error *err)
{
    const dls_adjacency *a = &kept->adjacency;
    const char *what = "groups";
    const size_t n = (size_t)n_groups, nodes = (size_t)g->n_nodes;
    DLS_OWN(dls_grouping_fini) dls_grouping made = {.n_groups = n_groups, .n_nodes = g->n_nodes};
    DLS_FREED int32_t *first = NULL, *seen = NULL, *members = NULL;
    *out = (dls_grouping){0};
    DLS_TRY(dls_alloc_array(&made.group, nodes + 1, sizeof *made.group, what, err));
    DLS_TRY(dls_alloc_array(&made.row_start, n + 1, sizeof *made.row_start, what, err));
    DLS_TRY(dls_alloc_array(&made.col, (size_t)a->start[a->n] + 1, sizeof *made.col, what, err));
    DLS_TRY(dls_alloc_array(&first, n + 2, sizeof *first, what, err));
    DLS_TRY(dls_alloc_array(&seen, n + 1, sizeof *seen, what, err));
    DLS_TRY(dls_alloc_array(&members, (size_t)a->n + 1, sizeof *members, what, err));
    for (int32_t v = 0; v < g->n_nodes; v++) {
        made.group[v] = NONE;
    }
    for (int32_t i = 0; i < a->n; i++) {
        made.group[kept->node[i]] = label[i];
        first[label[i] + 2]++;
    }
    for (int32_t group = 0; group < n_groups; group++) {
        first[group + 2] += first[group + 1];
    }
    for (int32_t i = 0; i < a->n; i++) {
        members[first[label[i] + 1]++] = i;
    }
    group_rows(kept, label, first, members, seen, &made);
    *out = made;
    made = (dls_grouping){0};
    return DLS_OK;
}

void dls_grouping_fini(dls_grouping *grouping)
{
    dls_free(grouping->group);
    dls_free(grouping->row_start);
    dls_free(grouping->col);
    *grouping = (dls_grouping){0};
}

dls_status dls_grouping_create(const dls_opgraph *g, dls_grouping_kind kind, int32_t n_groups,
                               uint64_t seed, dls_grouping *out, dls_error *err)
{
    DLS_OWN(dls_kept_fini) dls_kept kept = {0};
    DLS_FREED int32_t *label = NULL;
    *out = (dls_grouping){0};
    DLS_TRY(dls_kept_create(g, &kept, err));
    const int32_t n = kept.adjacency.n;
    DLS_TRY(dls_alloc_array(&label, (size_t)n, sizeof *label, "groups", err));
    if (kind == DLS_GROUPING_NONE) {
        n_groups = n;
        for (int32_t i = 0; i < n; i++) {
            label[i] = i;
        }
    } else {
        DLS_TRY(dls_fluid(&kept.adjacency, n_groups, seed, DLS_FLUID_MAX_ITER, label, err));
    }
    return dls_grouping_from_labels(g, &kept, label, n_groups, out, err);
}

/* ---- proportional ---------------------------------------------------------------------------- */

typedef struct sized {
    int32_t n;
    size_t graph;
} sized;

DLS_BY(by_size, sized, DLS_UP(n), DLS_UP(graph));

dls_status dls_grouping_proportional(const int32_t *n_kept, size_t n_graphs, size_t batch_size,
                                     int32_t *n_groups, dls_error *err)
{
    DLS_FREED sized *by = NULL;
    DLS_TRY(dls_alloc_array(&by, n_graphs + 1, sizeof *by, "proportional grouping", err));
    for (size_t i = 0; i < n_graphs; i++) {
        by[i] = (sized){n_kept[i], i};
    }
    qsort(by, n_graphs, sizeof *by, by_size);
    for (size_t begin = 0; begin < n_graphs; begin += batch_size) {
        const size_t end = begin + batch_size < n_graphs ? begin + batch_size : n_graphs;
        double sum = 0;
        for (size_t i = begin; i < end; i++) {
            sum += by[i].n;
        }
        const double mean = sum / (double)(end - begin);
        const double per_group = mean > 10 ? log10(mean) : 1;
        const double wanted = round(mean / per_group);
        const int32_t k = wanted < by[begin].n ? (int32_t)wanted : by[begin].n;
        for (size_t i = begin; i < end; i++) {
            n_groups[by[i].graph] = k;
        }
    }
    return DLS_OK;
}

dls_status dls_groupings_create(dls_opgraph *const *graph, size_t n, const dls_grouping_how *how,
                                dls_grouping *out, dls_error *err)
{
    DLS_FREED int32_t *n_kept = NULL;
    DLS_TRY(dls_alloc_array(&n_kept, 2 * n + 1, sizeof *n_kept, "groups", err));
    int32_t *n_groups = n_kept + n;
    for (size_t i = 0; i < n; i++) {
        DLS_OWN(dls_kept_fini) dls_kept kept = {0};
        DLS_TRY(dls_kept_create(graph[i], &kept, err));
        n_kept[i] = kept.adjacency.n;
        n_groups[i] = how->at_most && n_kept[i] < how->n_groups ? n_kept[i] : how->n_groups;
    }
    if (how->kind == DLS_GROUPING_PROPORTIONAL) {
        DLS_TRY(dls_grouping_proportional(n_kept, n, how->batch, n_groups, err));
    }
    for (size_t i = 0; i < n; i++) {
        DLS_TRY(dls_grouping_create(graph[i], how->kind, n_groups[i], how->seed, &out[i], err));
    }
    return DLS_OK;
}

/* ---- GraphDef rules -------------------------------------------------------------------------- */

int64_t dls_driple_tensor_size(const int64_t *dims, int n_dims)
{
    int64_t size = 0;
    for (int i = 0; i < n_dims; i++) {
        if (dims[i] < 0) {
            size = 0;
        } else if (__builtin_mul_overflow(size == 0 ? 1 : size, dims[i], &size)) {
            return INT64_MAX;
        }
    }
    return size;
}

size_t dls_driple_input_name(const char *input, const char **start)
{
    const char *colon = strchr(input, ':');
    *start = input;
    if (colon) {
        return (size_t)(colon - input);
    }
    if (strchr(input, '^')) {
        *start = input + 1;
    }
    return strlen(*start);
}
