/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Builds computational graphs (nodes, edges, layers) and orders them with producers first; edges
 * that close a loop are left out of the order.
 */
#include "workload/graph/graph.h"

#include "base/suggest.h"

#include <math.h>
#include <string.h>

static const char *const phase_names[] = {
#define XX(id, text) text,
    DLS_PHASE_MAP(XX)
#undef XX
};

static const struct {
    const char *name;
    int32_t bytes;
} numerics[] = {
#define XX(id, text, bytes) {text, bytes},
    DLS_NUMERIC_MAP(XX)
#undef XX
};

static const struct {
    const char *name;
    int32_t words;
} optimisers[] = {
#define XX(id, text, words) {text, words},
    DLS_OPTIMISER_MAP(XX)
#undef XX
};

const char *dls_phase_name(int phase)
{
    return phase >= 0 && phase < DLS_PHASE_COUNT ? phase_names[phase] : "?";
}

const char *dls_numeric_name(int numeric)
{
    return numeric >= 0 && numeric < DLS_NUMERIC_COUNT ? numerics[numeric].name : "?";
}

const char *dls_optimiser_name(int optimiser)
{
    return optimiser >= 0 && optimiser < DLS_OPTIMISER_COUNT ? optimisers[optimiser].name : "?";
}

bool dls_numeric_find(const char *name, dls_numeric *out)
{
    const size_t i = DLS_NAMED(numerics, name);
    *out = i < DLS_NUMERIC_COUNT ? (dls_numeric)i : *out;
    return i < DLS_NUMERIC_COUNT;
}

bool dls_optimiser_find(const char *name, dls_optimiser *out)
{
    const size_t i = DLS_NAMED(optimisers, name);
    *out = i < DLS_OPTIMISER_COUNT ? (dls_optimiser)i : *out;
    return i < DLS_OPTIMISER_COUNT;
}

int32_t dls_numeric_bytes(dls_numeric numeric)
{
    return numerics[numeric].bytes;
}

int32_t dls_optimiser_words(dls_optimiser optimiser)
{
    return optimisers[optimiser].words;
}

/* ---- building -------------------------------------------------------------------------------- */

dls_status dls_opgraph_create(const dls_opgraph_info *info, dls_opgraph **out, dls_error *err)
{
    *out = NULL;
    DLS_HOLD(dls_opgraph_destroy) dls_opgraph *g = NULL;
    DLS_TRY(dls_alloc_array(&g, 1, sizeof *g, "graph", err));
    g->info = *info;
    int32_t none;
    DLS_TRY(dls_opgraph_layer(g, "", &none, err));
    *out = dls_take(&g);
    return DLS_OK;
}

void dls_opgraph_destroy(dls_opgraph *g)
{
    if (!g) {
        return;
    }
    dls_strdict_fini(&g->names);
    dls_strdict_fini(&g->ops);
    dls_strdict_fini(&g->layers);
    dls_free(g->nodes);
    dls_free(g->edges);
    dls_free(g);
}

dls_status dls_opgraph_add_node(dls_opgraph *g, const char *name, const char *op,
                                const dls_op_node *node, int32_t *idx, dls_error *err)
{
    const size_t n = (size_t)g->n_nodes;
    dls_op_node copy = *node;
    op = op ? op : dls_op_name(node->kind);
    copy.repeat = node->repeat > 0 ? node->repeat : 1;
    DLS_TRY(dls_grow(&g->nodes, &g->node_cap, n + 1, sizeof *g->nodes, err));
    DLS_TRY(dls_strdict_put(&g->ops, op, strlen(op), &copy.op, err));
    DLS_TRY(dls_strdict_put(&g->names, name, strlen(name), &copy.name, err));
    if ((size_t)copy.name != n) {
        return dls_fail(err, DLS_EINPUT, name, "two nodes are named \"%s\"", name);
    }
    g->nodes[n] = copy;
    *idx = g->n_nodes++;
    return DLS_OK;
}

dls_status dls_opgraph_add_edge(dls_opgraph *g, int32_t from, int32_t to, bool control,
                                dls_error *err)
{
    if (from < 0 || to < 0 || from >= g->n_nodes || to >= g->n_nodes || from == to) {
        return dls_fail(err, DLS_EINPUT, NULL, "no edge can go from node %d to node %d of %d",
                        (int)from, (int)to, (int)g->n_nodes);
    }
    const size_t n = (size_t)g->n_edges;
    DLS_TRY(dls_grow(&g->edges, &g->edge_cap, n + 1, sizeof *g->edges, err));
    g->edges[n] = (dls_op_edge){from, to, control};
    g->n_edges++;
    return DLS_OK;
}

dls_status dls_opgraph_layer(dls_opgraph *g, const char *name, int32_t *layer, dls_error *err)
{
    return dls_strdict_put(&g->layers, name, strlen(name), layer, err);
}

const char *dls_opgraph_name(const dls_opgraph *g, int32_t node)
{
    return dls_strdict_get(&g->names, g->nodes[node].name);
}

const char *dls_opgraph_op(const dls_opgraph *g, int32_t node)
{
    return dls_strdict_get(&g->ops, g->nodes[node].op);
}

const char *dls_opgraph_layer_name(const dls_opgraph *g, int32_t layer)
{
    return dls_strdict_get(&g->layers, layer);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Edges in rows by producer; those that close a loop are left out. */
typedef struct csr {
    int32_t *start, *to, *wanted; /* wanted: inputs that have not been ordered yet */
    int32_t *heap;
} csr;

static void csr_fini(csr *c)
{
    dls_free(c->start);
    dls_free(c->to);
    dls_free(c->wanted);
    dls_free(c->heap);
}

static bool closes_loop(const dls_opgraph *g, const dls_op_edge *e)
{
    return g->nodes[e->from].kind == DLS_OP_NEXT_ITERATION;
}

static dls_status csr_init(csr *c, const dls_opgraph *g, dls_error *err)
{
    const size_t n = (size_t)g->n_nodes;
    const size_t m = (size_t)g->n_edges;
    *c = (csr){.start = dls_alloc_zero(n + 2, sizeof(int32_t)),
               .to = dls_alloc_zero(m + 1, sizeof(int32_t)),
               .wanted = dls_alloc_zero(n + 1, sizeof(int32_t)),
               .heap = dls_alloc_zero(n + 1, sizeof(int32_t))};
    if (!c->start || !c->to || !c->wanted || !c->heap) {
        csr_fini(c);
        return dls_nomem(err, "order of a graph", (3 * n + m) * sizeof(int32_t));
    }
    for (size_t i = 0; i < m; i++) {
        if (!closes_loop(g, &g->edges[i])) {
            c->start[g->edges[i].from + 2]++;
            c->wanted[g->edges[i].to]++;
        }
    }
    for (size_t i = 2; i <= n + 1; i++) {
        c->start[i] += c->start[i - 1];
    }
    for (size_t i = 0; i < m; i++) {
        if (!closes_loop(g, &g->edges[i])) {
            c->to[c->start[g->edges[i].from + 1]++] = g->edges[i].to;
        }
    }
    return DLS_OK;
}

static void heap_push(int32_t *heap, int32_t *n, int32_t value)
{
    int32_t i = (*n)++;
    while (i > 0 && heap[(i - 1) / 2] > value) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = value;
}

static int32_t heap_pop(int32_t *heap, int32_t *n)
{
    const int32_t top = heap[0];
    const int32_t last = heap[--*n];
    int32_t i = 0;
    for (int32_t child; (child = 2 * i + 1) < *n; i = child) {
        child += child + 1 < *n && heap[child + 1] < heap[child];
        if (heap[child] >= last) {
            break;
        }
        heap[i] = heap[child];
    }
    heap[i] = last;
    return top;
}

/* Every node left has a producer that is left: going back n times ends on a cycle. `producer` is
 * scratch [n_nodes]. */
static dls_status cycle(const dls_opgraph *g, const int32_t *wanted, int32_t *producer,
                        dls_error *err)
{
    int32_t at = 0;
    for (int32_t i = 0; i < g->n_edges; i++) {
        const dls_op_edge *e = &g->edges[i];
        if (wanted[e->from] > 0 && wanted[e->to] > 0 && !closes_loop(g, e)) {
            producer[e->to] = e->from;
            at = e->to;
        }
    }
    for (int32_t step = 0; step < g->n_nodes; step++) {
        at = producer[at];
    }
    return dls_fail(err, DLS_EINPUT, dls_opgraph_name(g, at),
                    "node \"%s\" is on a cycle that no NextIteration closes",
                    dls_opgraph_name(g, at));
}

/* Of those that wait for nothing the one with the smallest number. Most are met in the order of their numbers;
 * the heap holds those that became free behind `at`. */
dls_status dls_opgraph_order(const dls_opgraph *g, int32_t *order, dls_error *err)
{
    csr c;
    DLS_TRY(csr_init(&c, g, err));
    int32_t n_heap = 0, n_done = 0, at = 0;
    for (;;) {
        while (n_heap == 0 && at < g->n_nodes && c.wanted[at] != 0) {
            at++;
        }
        if (n_heap == 0 && at == g->n_nodes) {
            break;
        }
        const int32_t node = n_heap > 0 ? heap_pop(c.heap, &n_heap) : at++;
        order[n_done++] = node;
        for (int32_t i = c.start[node]; i < c.start[node + 1]; i++) {
            if (--c.wanted[c.to[i]] == 0 && c.to[i] < at) {
                heap_push(c.heap, &n_heap, c.to[i]);
            }
        }
    }
    const dls_status status = n_done == g->n_nodes ? DLS_OK : cycle(g, c.wanted, c.heap, err);
    csr_fini(&c);
    return status;
}

/* ---- checks and sums ------------------------------------------------------------------------- */

static const char *wrong_with(const dls_opgraph *g, const dls_op_node *x)
{
    const dls_op_dims *d = &x->dims;
    if (x->kind < 0 || x->kind >= DLS_OP_COUNT) {
        return "its kind is unknown";
    }
    if (x->phase < 0 || x->phase >= DLS_PHASE_COUNT) {
        return "its phase is unknown";
    }
    if (x->layer < 0 || (size_t)x->layer >= g->layers.n || x->op < 0 || (size_t)x->op >= g->ops.n) {
        return "its layer or operation is not in the dictionary";
    }
    if (x->repeat < 1) {
        return "it is executed less than once";
    }
    if (x->tensor_size < 0 || x->out_bytes < 0 || x->read_bytes < 0 || x->write_bytes < 0 ||
        x->param_bytes < 0) {
        return "a size is negative";
    }
    if (!isfinite(x->flops) || x->flops < 0) {
        return "its floating-point operations are not a number >= 0";
    }
    if (d->batch < 0 || d->m < 0 || d->n < 0 || d->k < 0 || d->in_h < 0 || d->in_w < 0 ||
        d->in_c < 0 || d->out_h < 0 || d->out_w < 0 || d->out_c < 0 || d->kernel_h < 0 ||
        d->kernel_w < 0 || d->stride_h < 0 || d->stride_w < 0 || d->groups < 0) {
        return "a dimension is negative";
    }
    return NULL;
}

dls_status dls_opgraph_validate(const dls_opgraph *g, dls_error *err)
{
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const char *wrong = wrong_with(g, &g->nodes[i]);
        if (wrong) {
            return dls_fail(err, DLS_EINPUT, dls_opgraph_name(g, i), "node \"%s\": %s",
                            dls_opgraph_name(g, i), wrong);
        }
    }
    for (int32_t i = 0; i < g->n_edges; i++) {
        const dls_op_edge *e = &g->edges[i];
        if (e->from < 0 || e->to < 0 || e->from >= g->n_nodes || e->to >= g->n_nodes ||
            e->from == e->to) {
            return dls_fail(err, DLS_EINPUT, NULL, "edge %d goes from node %d to node %d of %d",
                            (int)i, (int)e->from, (int)e->to, (int)g->n_nodes);
        }
    }
    int32_t *order;
    DLS_TRY(
        dls_alloc_array(&order, (size_t)g->n_nodes + 1, sizeof *order, "order of a graph", err));
    const dls_status status = dls_opgraph_order(g, order, err);
    dls_free(order);
    return status;
}

void dls_opgraph_sum(const dls_opgraph *g, dls_opgraph_totals *totals)
{
    *totals = (dls_opgraph_totals){0};
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const dls_op_node *x = &g->nodes[i];
        const dls_op_family family = dls_op_family_of(x->kind);
        if (family == DLS_FAMILY_VARIABLE && x->param_bytes > 0) {
            totals->n_params += x->param_bytes / 4;
            totals->n_param_tensors++;
        }
        if (x->phase == DLS_PHASE_FORWARD && x->on_gpu) {
            totals->activation_bytes += x->out_bytes * x->repeat;
        }
        totals->flops[x->phase] += x->flops * x->repeat;
        if (family == DLS_FAMILY_CONV || family == DLS_FAMILY_MATMUL) {
            totals->matrix_flops[x->phase] += x->flops * x->repeat;
        }
        totals->traffic_bytes[x->phase] += (double)(x->read_bytes + x->write_bytes) * x->repeat;
        totals->n_nodes[x->phase]++;
        totals->n_family[family]++;
    }
}
