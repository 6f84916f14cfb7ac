/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lives of results as intervals over the operations of a step, and the largest sum of those that
 * overlap.
 */
#include "workload/operator/alive.h"

#include "base/own.h"

#include <stdbool.h>

typedef struct lives {
    const dls_opgraph *g;
    int32_t *at;    /* when a node runs, from 0; -1: not in a step */
    int32_t *owner; /* whose result a node's is, a view being another's; -1: nobody's */
    int32_t *first; /* the first node that a node reads, of those that have a result; -1: none */
    int32_t *last;  /* when a node's result is read last */
    int32_t steps;
} lives;

static bool holds(const dls_op_node *x)
{
    switch (dls_op_family_of(x->kind)) {
    case DLS_FAMILY_VARIABLE:
    case DLS_FAMILY_READ:
    case DLS_FAMILY_CONST:
    case DLS_FAMILY_INPUT:
    case DLS_FAMILY_STATE:
        return false;
    default:
        return x->on_gpu && (x->phase == DLS_PHASE_FORWARD || x->phase == DLS_PHASE_BACKWARD);
    }
}

/* Numbers of 32 bits among those of 16 are told by what is written. */
static double result_bytes(const dls_op_node *x)
{
    return (double)(x->write_bytes >= 2 * x->out_bytes ? x->write_bytes : x->out_bytes);
}

static void run_in_order(lives *l, const int32_t *order)
{
    for (int phase = 0; phase < 2; phase++) {
        const int32_t now = phase ? DLS_PHASE_BACKWARD : DLS_PHASE_FORWARD;
        for (int32_t i = 0; i < l->g->n_nodes; i++) {
            const dls_op_node *x = &l->g->nodes[order[i]];
            if (x->phase == now && holds(x)) {
                l->at[order[i]] = l->steps++;
            }
        }
    }
}

static void find_owners(lives *l, const int32_t *order)
{
    const dls_op_node *node = l->g->nodes;
    for (int32_t e = 0; e < l->g->n_edges; e++) {
        const dls_op_edge *edge = &l->g->edges[e];
        if (!edge->control && l->at[edge->from] >= 0 && l->first[edge->to] < 0) {
            l->first[edge->to] = edge->from;
        }
    }
    for (int32_t i = 0; i < l->g->n_nodes; i++) {
        const int32_t o = order[i], from = l->first[o];
        const dls_op_node *x = &node[o];
        const bool view = x->read_bytes + x->write_bytes == 0 &&
                          (from < 0 || x->out_bytes == node[from].out_bytes);
        l->owner[o] = l->at[o] < 0 ? -1 : !view ? o : from < 0 ? -1 : l->owner[from];
    }
}

static void find_ends(lives *l)
{
    for (int32_t i = 0; i < l->g->n_nodes; i++) {
        l->last[i] = l->at[i];
    }
    for (int32_t e = 0; e < l->g->n_edges; e++) {
        const dls_op_edge *edge = &l->g->edges[e];
        const int32_t owner = l->owner[edge->from];
        if (edge->control || owner < 0 || l->at[edge->to] < 0) {
            continue;
        }
        const bool loss = l->g->nodes[edge->to].kind == DLS_OP_LOG_SOFTMAX;
        const int32_t when = loss ? l->steps - 1 : l->at[edge->to];
        l->last[owner] = when > l->last[owner] ? when : l->last[owner];
    }
}

/* A loop's results are all kept for its way back; there and without, one at a time. */
static double most(const lives *l, const int32_t *gradient, int32_t turn, double *change)
{
    double now = 0, peak = 0;
    for (int32_t i = 0; i < l->g->n_nodes; i++) {
        const dls_op_node *x = &l->g->nodes[i];
        if (l->owner[i] != i || gradient[i] >= 0) {
            continue;
        }
        const bool kept = x->phase == DLS_PHASE_FORWARD && l->last[i] >= turn;
        const double bytes = result_bytes(x) * (kept ? x->repeat : 1);
        change[l->at[i]] += bytes;
        change[l->last[i] + 1] -= bytes;
    }
    for (int32_t t = 0; t < l->steps; t++) {
        now += change[t];
        peak = now > peak ? now : peak;
    }
    return peak;
}

dls_status dls_graph_alive(const dls_opgraph *g, const int32_t *order, const int32_t *gradient,
                           double *bytes, dls_error *err)
{
    const size_t n = (size_t)g->n_nodes;
    DLS_FREED int32_t *table = NULL;
    DLS_FREED double *change = NULL;
    DLS_TRY(dls_alloc_array(&table, 4 * n + 1, sizeof *table, "graph", err));
    DLS_TRY(dls_alloc_array(&change, n + 2, sizeof *change, "graph", err));
    lives l = {g, table, table + n, table + 2 * n, table + 3 * n, 0};
    int32_t turn = 0;
    for (size_t i = 0; i < 4 * n; i++) {
        table[i] = -1;
    }
    run_in_order(&l, order);
    find_owners(&l, order);
    find_ends(&l);
    for (size_t i = 0; i < n; i++) {
        turn += l.at[i] >= 0 && g->nodes[i].phase == DLS_PHASE_FORWARD;
    }
    *bytes = most(&l, gradient, turn, change);
    return DLS_OK;
}
