/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The graphs of a training on the device, uploaded once, and the plan of a batch, uploaded every
 * step.
 *
 * A batch's graphs are sorted by how many layers run on them, most first. So the nodes that a layer
 * still has to do are the first active[k] of the batch's, and what is kept of all layers lies
 * without gaps, layer k from row offset[k] on:
 *
 *     layer 0: | graph 0 | graph 1 | graph 2 |
 *     layer 1: | graph 0 | graph 1 |               graph 2 had one layer: its nodes are done
 *     layer 2: | graph 0 |
 *
 * A weight's gradient is then one product over all these rows.
 */
#ifndef DLS_TRAINING_CUDA_LESSONS_CUH
#define DLS_TRAINING_CUDA_LESSONS_CUH

#include "predictor/training/cuda_network.cuh"

extern "C" {
#include "base/rng.h"
}

#include <climits>

#define TILE 32 /* nodes of one graph that a block of the layers' kernels takes */

/* On the device: all graphs one behind the other. */
struct store {
    float *features;             /* [nodes][F] scaled */
    int *row_start, *back_start; /* [nodes + 1] the matrix that aggregates; its transpose */
    int *col, *back_col;         /* within the graph */
    float *val, *back_val;
    float *diag; /* [nodes] */
    /* answers: one a graph, or one for each of its settings */
    double *target;   /* [answers][outputs] */
    float *condition; /* [answers][conditions] */
};

/* A graph of the store, on the host. */
struct lesson {
    const dls_graph *graph;
    const double *target, *condition; /* [answers] rows; condition may be NULL */
    int node0, depth, frozen, split, steps;
    int answer0, answers;
};

struct dev_sample {
    long long attend0;                 /* first of its [steps][n] attentions */
    int node0;                         /* in the store */
    int row0;                          /* in the batch */
    int step0;                         /* in what Set2Set keeps, steps + 1 rows a graph */
    int n, first, count, split, steps; /* count layers, from `first`; own layers from `split` */
    int answer0, answers;              /* in the batch */
    unsigned key[2];                   /* of its dropout masks */
};

struct dev_answer {
    int sample, at; /* at: in the store */
};

struct dev_tile {
    int sample, first, rows;
};

/* What a batch may need at most. */
struct batch_limits {
    size_t graphs, rows, layer_rows, layers, tiles, step_rows, attentions, answers;
};

/* A batch; arrays as long as the limits say. */
struct batch_plan {
    dev_sample *sample;
    dev_tile *tile;
    dev_answer *answer;
    size_t graphs, rows, tiles, layer_rows, step_rows, answers;
    int layers;
    size_t *active;       /* [layers] nodes of layer k */
    size_t *active_tiles; /* [layers] */
    size_t *offset;       /* [layers + 1] where what is kept of layer k begins */
};

/* ---- the store --------------------------------------------------------------------------------
 */

struct store_size {
    size_t graphs, nodes, edges, answers;
    int features, outputs, conditions;
};

static store lay_store(const store_size *x, bump *b)
{
    store s;
    s.features = take<float>(b, x->nodes * x->features);
    s.row_start = take<int>(b, x->nodes + 1);
    s.back_start = take<int>(b, x->nodes + 1);
    s.col = take<int>(b, x->edges);
    s.back_col = take<int>(b, x->edges);
    s.val = take<float>(b, x->edges);
    s.back_val = take<float>(b, x->edges);
    s.diag = take<float>(b, x->nodes);
    s.target = take<double>(b, x->answers * x->outputs);
    s.condition = take<float>(b, x->answers * x->conditions);
    return s;
}

static double weight_of(const dls_graph *g, int64_t e)
{
    return g->weight ? g->weight[e] : 1.0;
}

/* D^-1/2 (A + I) D^-1/2 with d = 1 + row sum. */
static void fill_adjacency(const dls_graph *g, size_t node0, size_t edge0, const store *s)
{
    const int n = g->n_nodes;
    float *root = s->diag + node0;
    for (int i = 0; i < n; i++) {
        double d = 1;
        for (int64_t e = g->row_start[i]; e < g->row_start[i + 1]; e++) {
            d += weight_of(g, e);
        }
        root[i] = (float)(1 / sqrt(d));
        s->row_start[node0 + i] = (int)(edge0 + (size_t)g->row_start[i]);
    }
    for (int i = 0; i < n; i++) {
        for (int64_t e = g->row_start[i]; e < g->row_start[i + 1]; e++) {
            const float scale = root[i] * root[g->col[e]];
            s->col[edge0 + e] = g->col[e];
            s->val[edge0 + e] = (float)weight_of(g, e) * scale;
        }
    }
    for (int i = 0; i < n; i++) {
        root[i] = root[i] * root[i];
    }
}

/* Column by column, rows ascending: the order in which the transpose sums. */
static void fill_transpose(const dls_graph *g, size_t node0, size_t edge0, const store *s)
{
    const int n = g->n_nodes;
    const int64_t edges = g->row_start[n];
    int *start = s->back_start + node0; /* counts, then where the next edge goes, then the starts */
    for (int i = 0; i < n; i++) {
        start[i] = 0;
    }
    for (int64_t e = 0; e < edges; e++) {
        start[g->col[e]]++;
    }
    int at = (int)edge0;
    for (int i = 0; i < n; i++) {
        const int count = start[i];
        start[i] = at;
        at += count;
    }
    for (int i = 0; i < n; i++) {
        for (int64_t e = g->row_start[i]; e < g->row_start[i + 1]; e++) {
            const int to = start[g->col[e]]++;
            s->back_col[to] = i;
            s->back_val[to] = s->val[edge0 + e];
        }
    }
    for (int i = n - 1; i > 0; i--) {
        start[i] = start[i - 1];
    }
    start[0] = (int)edge0;
}

static void fill_store(const dls_trainee *net, const lesson *l, const store_size *x, const store *s)
{
    const int f = x->features;
    size_t edge0 = 0;
    for (size_t i = 0; i < x->graphs; i++) {
        const dls_graph *g = l[i].graph;
        const size_t node0 = l[i].node0;
        for (int k = 0; k < g->n_nodes * f; k++) {
            s->features[node0 * f + k] =
                (float)((g->x[k] - net->feature_shift[k % f]) / net->feature_scale[k % f]);
        }
        fill_adjacency(g, node0, edge0, s);
        fill_transpose(g, node0, edge0, s);
        edge0 += (size_t)g->row_start[g->n_nodes];
        memcpy(s->target + (size_t)l[i].answer0 * x->outputs, l[i].target,
               (size_t)l[i].answers * x->outputs * sizeof(double));
        for (int k = 0; l[i].condition && k < l[i].answers * x->conditions; k++) {
            s->condition[(size_t)l[i].answer0 * x->conditions + k] = (float)l[i].condition[k];
        }
    }
    s->row_start[x->nodes] = s->back_start[x->nodes] = (int)edge0;
}

/* ---- lessons ----------------------------------------------------------------------------------
 */

static void describe_lesson(const dls_trainee *net, lesson *l)
{
    const dls_arch *a = &net->arch;
    l->depth = dls_arch_layers(a, l->graph->n_nodes);
    l->frozen = dls_trainee_frozen_layers(net, l->depth);
    l->steps = a->set2set_steps ? a->set2set_steps : l->graph->n_nodes;
    l->split = INT_MAX;
    for (int k = l->depth - 1; net->own && k >= 0; k--) {
        if (dls_trainee_conv_of(net, k, l->depth) == net->n_convs) {
            l->split = k;
        }
    }
}

static size_t tiles_of(int n)
{
    return (n + TILE - 1) / TILE;
}

/* A bound on n[i]'s sum over any `batch` graphs: that of the greatest. Sorts. */
static int greater_first(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a;
    const size_t y = *(const size_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}
static size_t sum_of_greatest(size_t *n, size_t count, size_t batch)
{
    size_t sum = 0;
    qsort(n, count, sizeof *n, greater_first);
    for (size_t i = 0; i < count && i < batch; i++) {
        sum += n[i];
    }
    return sum;
}

enum {
    LIMIT_ROWS,
    LIMIT_LAYER_ROWS,
    LIMIT_TILES,
    LIMIT_STEP_ROWS,
    LIMIT_ANSWERS,
    LIMIT_ATTENTIONS,
    LIMITS
};

static size_t limit_of(const lesson *l, int which)
{
    const size_t n = l->graph->n_nodes;
    const size_t layers = l->depth - l->frozen > l->frozen ? l->depth - l->frozen : l->frozen;
    return which == LIMIT_ROWS         ? n
           : which == LIMIT_LAYER_ROWS ? n * layers
           : which == LIMIT_TILES      ? tiles_of((int)n)
           : which == LIMIT_STEP_ROWS  ? (size_t)l->steps + 1
           : which == LIMIT_ANSWERS    ? (size_t)l->answers
                                       : l->steps * n;
}

static dls_status find_limits(const lesson *l, size_t n, size_t batch, batch_limits *x,
                              dls_error *err)
{
    size_t *each = (size_t *)dls_alloc_zero(n, sizeof *each);
    if (!each) {
        return dls_nomem(err, "graphs", n * sizeof *each);
    }
    size_t sum[LIMITS];
    for (int k = 0; k < LIMITS; k++) {
        for (size_t i = 0; i < n; i++) {
            each[i] = limit_of(&l[i], k);
        }
        sum[k] = sum_of_greatest(each, n, batch);
    }
    dls_free(each);
    memset(x, 0, sizeof *x);
    x->graphs = batch;
    x->rows = sum[LIMIT_ROWS];
    x->layer_rows = sum[LIMIT_LAYER_ROWS];
    x->tiles = sum[LIMIT_TILES];
    x->step_rows = sum[LIMIT_STEP_ROWS];
    x->answers = sum[LIMIT_ANSWERS];
    x->attentions = sum[LIMIT_ATTENTIONS];
    for (size_t i = 0; i < n; i++) {
        x->layers = (size_t)l[i].depth > x->layers ? (size_t)l[i].depth : x->layers;
    }
    if (x->layer_rows > INT_MAX || x->step_rows > INT_MAX) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda",
                        "a batch of %zu such graphs has more rows than a product takes; --batch "
                        "makes it smaller",
                        batch);
    }
    return DLS_OK;
}

/* ---- plans ------------------------------------------------------------------------------------
 */

/* Layers before the first trained one, or the trained ones. */
enum plan_part { PLAN_FROZEN, PLAN_TRAINED };

static int count_of(const lesson *l, plan_part part)
{
    return part == PLAN_FROZEN ? l->frozen : l->depth - l->frozen;
}

/* The dropout stream that the CPU draws from (base/rng.h). */
static void name_stream(dev_sample *s, uint64_t noise)
{
    const dls_rng rng = dls_rng_stream(noise, DLS_RNG_TRAIN, 0);
    s->key[0] = rng.key[0];
    s->key[1] = rng.key[1];
}

/* Lessons with the most layers first; noise (NULL: none) goes along. */
static void sort_by_count(const lesson *l, size_t *index, uint64_t *noise, size_t n, plan_part part)
{
    for (size_t i = 1; i < n; i++) { /* stable, and batches are small */
        for (size_t k = i; k > 0 && count_of(&l[index[k]], part) > count_of(&l[index[k - 1]], part);
             k--) {
            const size_t swap = index[k];
            index[k] = index[k - 1];
            index[k - 1] = swap;
            if (noise) {
                const uint64_t other = noise[k];
                noise[k] = noise[k - 1];
                noise[k - 1] = other;
            }
        }
    }
}

/* index[n] into the lessons, reordered as the batch is; noise NULL: no dropout. */
static void make_plan(const lesson *l, size_t *index, uint64_t *noise, size_t n, plan_part part,
                      batch_plan *p)
{
    sort_by_count(l, index, noise, n, part);
    p->graphs = n;
    p->layers = n ? count_of(&l[index[0]], part) : 0;
    size_t rows = 0, tiles = 0, steps = 0, answers = 0;
    long long attentions = 0;
    for (size_t i = 0; i < n; i++) {
        const lesson *from = &l[index[i]];
        const int nodes = from->graph->n_nodes;
        dev_sample *s = &p->sample[i];
        memset(s, 0, sizeof *s);
        s->node0 = from->node0;
        s->row0 = (int)rows;
        s->step0 = (int)steps;
        s->attend0 = attentions;
        s->n = nodes;
        s->first = part == PLAN_FROZEN ? 0 : from->frozen;
        s->count = count_of(from, part);
        s->split = from->split;
        s->steps = from->steps;
        s->answer0 = (int)answers;
        s->answers = from->answers;
        for (int k = 0; k < from->answers; k++) {
            p->answer[answers].sample = (int)i;
            p->answer[answers++].at = from->answer0 + k;
        }
        if (noise) {
            name_stream(s, noise[i]);
        }
        for (int first = 0; first < nodes; first += TILE) {
            const dev_tile t = {(int)i, first, nodes - first < TILE ? nodes - first : TILE};
            p->tile[tiles++] = t;
        }
        rows += nodes;
        steps += from->steps + 1;
        attentions += (long long)from->steps * nodes;
        for (int k = 0; k < s->count; k++) {
            p->active[k] = rows;
            p->active_tiles[k] = tiles;
        }
    }
    p->rows = rows;
    p->tiles = tiles;
    p->step_rows = steps;
    p->answers = answers;
    p->offset[0] = 0;
    for (int k = 0; k < p->layers; k++) {
        p->offset[k + 1] = p->offset[k] + p->active[k];
    }
    p->layer_rows = p->offset[p->layers];
}

#endif
