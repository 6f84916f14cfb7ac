/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * How often the operations of a loop are executed. TensorFlow writes a loop's body once, between
 * Enter and Exit operations that name their frame; LoopCond compares a counter with a limit.
 *
 *      Const --> Enter --> Merge --> Less --> LoopCond
 *                            ^         ^---- Enter <-- Const: the limit
 */
#include "base/own.h"
#include "workload/graph/import_impl.h"

#include <string.h>

#define REPEAT_MAX 1000000

typedef struct frame {
    int32_t parent; /* -1: not in a loop */
    int32_t times;  /* 0: not known */
} frame;

typedef struct loops {
    dls_strdict names;
    frame *frames;
    size_t cap;
    int32_t *of; /* [n_nodes] frame, -1 */
} loops;

static dls_status enter(loops *l, const imp_node *x, int32_t parent, int32_t *code, dls_error *err)
{
    const char *name = dls_imp_attr_s(x, "frame_name", "");
    const size_t before = l->names.n;
    DLS_TRY(dls_strdict_put(&l->names, name, strlen(name), code, err));
    DLS_TRY(dls_grow(&l->frames, &l->cap, l->names.n, sizeof *l->frames, err));
    if (l->names.n > before) { /* a frame is new once: its parent is older than it */
        l->frames[*code] = (frame){.parent = parent};
    }
    return DLS_OK;
}

/* The least limit that a comparison, or several joined by "and", names. */
static int32_t limit(const imp_graph *g, const imp_node *x, int depth)
{
    if (x->kind == DLS_OP_LESS) {
        const int64_t at_most = dls_imp_scalar_value(g, x, 1, 0);
        const int64_t times = at_most + (strcmp(x->op, "LessEqual") == 0 && at_most < REPEAT_MAX);
        return times > 0 && times <= REPEAT_MAX ? (int32_t)times : 0;
    }
    int32_t least = 0;
    for (int32_t i = 0; i < x->n_in && x->kind == DLS_OP_LOGICAL_AND && depth < 8; i++) {
        const int32_t one = x->in[i].node >= 0 ? limit(g, &g->nodes[x->in[i].node], depth + 1) : 0;
        least = one > 0 && (least == 0 || one < least) ? one : least;
    }
    return least;
}

static dls_status find(imp_graph *g, const int32_t *order, loops *l, dls_error *err)
{
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const int32_t at = order[i];
        const imp_node *x = &g->nodes[at];
        int32_t inside = -1;
        for (int32_t k = 0; k < x->n_in && inside < 0; k++) {
            inside = x->in[k].node >= 0 ? l->of[x->in[k].node] : -1;
        }
        if (x->kind == DLS_OP_ENTER) {
            DLS_TRY(enter(l, x, inside, &inside, err));
        } else if (x->kind == DLS_OP_EXIT && inside >= 0) {
            inside = l->frames[inside].parent;
        } else if (x->kind == DLS_OP_LOOP_COND && inside >= 0 && x->in[0].node >= 0) {
            l->frames[inside].times = limit(g, &g->nodes[x->in[0].node], 0);
        }
        l->of[at] = inside;
    }
    return DLS_OK;
}

/* Of a loop whose limit is not a constant: a backward loop counts down from what its forward loop
 * came to. */
static int32_t usual(const imp_graph *g, const loops *l)
{
    for (size_t i = 0; i < l->names.n; i++) {
        if (l->frames[i].times > 0) {
            return l->frames[i].times;
        }
    }
    return g->options->sequence > 0 ? g->options->sequence : 1;
}

static int32_t repeats(const loops *l, int32_t inside, int32_t otherwise)
{
    int64_t times = 1;
    for (int32_t at = inside; at >= 0 && times < REPEAT_MAX; at = l->frames[at].parent) {
        times *= l->frames[at].times > 0 ? l->frames[at].times : otherwise;
    }
    return times < REPEAT_MAX ? (int32_t)times : REPEAT_MAX;
}

static void loops_fini(loops *l)
{
    dls_strdict_fini(&l->names);
    dls_free(l->frames);
    dls_free(l->of);
}

dls_status dls_imp_loops(imp_graph *g, const int32_t *order, dls_error *err)
{
    DLS_OWN(loops_fini) loops l = {0};
    DLS_TRY(dls_alloc_array(&l.of, (size_t)g->n_nodes + 1, sizeof *l.of, "graph", err));
    for (int32_t i = 0; i < g->n_nodes; i++) {
        l.of[i] = -1; /* what a NextIteration brings back is not known when it is asked for */
    }
    DLS_TRY(find(g, order, &l, err));
    const int32_t otherwise = usual(g, &l);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        g->nodes[i].repeat = repeats(&l, l.of[i], otherwise);
    }
    return DLS_OK;
}
