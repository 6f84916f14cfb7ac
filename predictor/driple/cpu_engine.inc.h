/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One CPU engine. The including file defines REAL, ENGINE_NAME, ENGINE_ISA and, for a vector
 * instruction set, ENGINE_AVX2 or ENGINE_AVX512, and is compiled with the flags that go with it.
 *
 * A run takes pairs of one size:
 *
 *     graph --prefix--> h --suffix of each setting--> a row: nodes X [N][D] and X^T
 *     all rows together --Set2Set--> pooled [rows][2D] --MLP of each pair--> out
 *
 * A pair whose setting has no convolution of its own uses the row of the base.
 */
#include "base/alloc.h"
#include "predictor/driple/cpu_engine.h"

#include <stdarg.h>
#include <stdio.h>

#include "predictor/driple/cpu_simd.inc.h"

#include "predictor/driple/cpu_dense.inc.h"

#include "predictor/driple/cpu_pack.inc.h"

#include "predictor/driple/cpu_graph.inc.h"

#ifdef ENGINE_TILES
#include "predictor/driple/cpu_tiles.inc.h"
#endif

#include "predictor/driple/cpu_conv.inc.h"

#include "predictor/driple/cpu_inbox.inc.h"

#include "predictor/driple/cpu_mpnn.inc.h"

typedef struct bump {
    char *at; /* NULL: only count */
    size_t used;
} bump;

static void *bump_take(bump *b, size_t n, size_t size)
{
    void *p = b->at ? b->at + b->used : NULL;
    b->used += (n * size + 63) / 64 * 64;
    return p;
}

/* Everything a run works in; laid out twice by the same code, once to count and once to use. */
typedef struct layout {
    REAL *state[3]; /* [N][ld] two to go back and forth, one to keep the prefix */
    REAL *y;        /* [N][ld] */
    scratch s;
    REAL *norm_value, *norm_diag;
    REAL *skip;                        /* [N][dp] the prefix's columns */
    REAL *nodes;                       /* [rows][N][dp] */
    REAL *turned;                      /* [rows][D][np] */
    REAL *lstm_h[2], *lstm_r, *lstm_c; /* [rows][dp] */
    REAL *weight;                      /* [np] softmax */
    REAL *mlp[2];                      /* [widest] */
    int32_t *row_of;                   /* [pairs] */
} layout;

static int32_t max32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static size_t lay_out(const packed *p, char *memory, int32_t n, int64_t edges, int32_t degree,
                      size_t n_pairs, layout *l)
{
    const dls_arch *a = &p->arch;
    bump b = {memory, 0};
    const size_t nodes = (size_t)n;
    const size_t ld = (size_t)p->ld;
    const size_t dp = (size_t)p->dp;
    const size_t np = pad16z(nodes);
    *l = (layout){0};
    for (int i = 0; i < 3; i++) {
        l->state[i] = bump_take(&b, nodes * ld, sizeof(REAL));
    }
    l->y = bump_take(&b, nodes * ld, sizeof(REAL));
    l->s.agg = bump_take(&b, nodes * ld, sizeof(REAL));
    if (a->conv != DLS_CONV_GCN) {
        const int32_t hp = pad16(max32(a->hidden, a->n_features));
        const int32_t f = max32(a->n_features, a->hidden / a->towers);
        const int32_t inputs = f * (1 + a->n_aggregators * a->n_scalers);
        l->s.wide_ld = a->conv == DLS_CONV_MPNN ? max32(4 * hp, pad16(inputs)) : hp;
        l->s.wide = bump_take(&b, nodes * (size_t)l->s.wide_ld, sizeof(REAL));
        l->s.wide2 = bump_take(&b, nodes * (size_t)l->s.wide_ld, sizeof(REAL));
        const size_t m = (size_t)degree + 3;
        l->s.message = bump_take(&b, m * (size_t)hp, sizeof(REAL));
        l->s.edge = bump_take(&b, 2 * m, sizeof(REAL));
        l->s.index = bump_take(&b, m, sizeof(int32_t));
    }
#ifdef ENGINE_TILES
    l->s.tiles.ld = tiles_of(max32(p->ld, p->dp)) * TILE_K;
    for (int i = 0; i < 2; i++) {
        const size_t rows = pad16z(n_pairs > nodes ? n_pairs : nodes);
        uint16_t **at = i ? &l->s.tiles.second : &l->s.tiles.first;
        *at = bump_take(&b, rows * (size_t)l->s.tiles.ld, sizeof **at);
    }
#endif
    l->s.dense = bump_take(&b, nodes * np, sizeof(REAL));
    l->s.degree = bump_take(&b, nodes, sizeof(REAL));
    l->norm_value = bump_take(&b, (size_t)edges, sizeof(REAL));
    l->norm_diag = bump_take(&b, nodes, sizeof(REAL));
    if (a->skip) {
        l->skip = bump_take(&b, nodes * dp, sizeof(REAL));
    }
    l->nodes = bump_take(&b, n_pairs * nodes * dp, sizeof(REAL));
    if (a->pool == DLS_POOL_SET2SET) {
        l->turned = bump_take(&b, n_pairs * dp * np, sizeof(REAL));
    }
    for (int i = 0; i < 2; i++) {
        l->lstm_h[i] = bump_take(&b, n_pairs * dp, sizeof(REAL));
    }
    l->lstm_r = bump_take(&b, n_pairs * dp, sizeof(REAL));
    l->lstm_c = bump_take(&b, n_pairs * dp, sizeof(REAL));
    l->weight = bump_take(&b, np + dp, sizeof(REAL));
    for (int i = 0; i < 2; i++) {
        l->mlp[i] = bump_take(&b, 2 * dp + 16, sizeof(REAL));
    }
    l->row_of = bump_take(&b, n_pairs, sizeof(int32_t));
    return b.used;
}

static void job_extent(const dls_driple_job *job, size_t first, size_t last, int64_t *edges,
                       int32_t *degree)
{
    *edges = 0;
    *degree = 0;
    for (size_t i = first; i < last; i++) {
        const dls_graph *g = &job->graphs[job->pairs[i].graph];
        *edges = g->row_start[g->n_nodes] > *edges ? g->row_start[g->n_nodes] : *edges;
        for (int32_t k = 0; k < g->n_nodes; k++) {
            *degree = max32(*degree, (int32_t)(g->row_start[k + 1] - g->row_start[k]));
        }
    }
}

static size_t engine_work_bytes(const void *state, const dls_driple_job *job, size_t first,
                                size_t last)
{
    int64_t edges = 0;
    int32_t degree = 0;
    layout l;
    job_extent(job, first, last, &edges, &degree);
    return lay_out(state, NULL, job->graphs[job->pairs[first].graph].n_nodes, edges, degree,
                   last - first, &l);
}

typedef struct run {
    const packed *p;
    const dls_cpu_work *work;
    layout l;
    graph_ctx x;
    int32_t n; /* nodes of every graph here */
} run;

static void look(const run *r, const char *stage, int32_t layer, const REAL *data, int32_t rows,
                 int32_t cols, int32_t ld)
{
    if (r->work->probe) {
        r->work->probe(r->work->probe_user, stage, layer, data, rows, cols, ld);
    }
}

static void load_graph(run *r, const dls_graph *g, REAL *h)
{
    const packed *p = r->p;
    const dls_inspector *insp = p->insp;
    memset(h, 0, (size_t)g->n_nodes * (size_t)p->ld * sizeof(REAL));
    for (int32_t i = 0; i < g->n_nodes; i++) {
        for (int32_t k = 0; k < g->n_features; k++) {
            h[(ptrdiff_t)i * p->ld + k] =
                (REAL)((g->x[(ptrdiff_t)i * g->n_features + k] - insp->feature_shift[k]) /
                       insp->feature_scale[k]);
        }
    }
    r->x.g = g;
    r->x.norm = (csr){g->n_nodes, g->row_start, g->col, r->l.norm_value, r->l.norm_diag};
    const int64_t edges = g->row_start[g->n_nodes];
    if (p->arch.conv == DLS_CONV_GCN) {
        const double n = g->n_nodes;
        normalise(&r->x, (double)edges > r->work->dense_above * n * n);
    } else if (p->arch.conv == DLS_CONV_GIN) {
        for (int64_t e = 0; e < edges; e++) {
            r->l.norm_value[e] = edge_weight(g, e);
        }
    }
}

/* Layer `layer` with convolution c: from `in` (columns: in_width) to `out`. */
static void layer_step(run *r, const conv *c, int32_t layer, const REAL *in, int32_t in_width,
                       REAL *out)
{
    const packed *p = r->p;
    const dls_arch *a = &p->arch;
    REAL *y = a->gru ? r->l.y : out;
    switch (a->conv) {
    case DLS_CONV_GCN:
        conv_gcn(c, &r->x, in, in_width, p->ld, y);
        break;
    case DLS_CONV_GIN:
        conv_gin(a, c, &r->x, in, in_width, p->ld, y);
        break;
    case DLS_CONV_GAT:
        conv_gat(a, c, &r->x, in, in_width, p->ld, y);
        break;
    default:
        conv_mpnn(a, c, &r->x, in, layer == 0, p->ld, y);
        break;
    }
    look(r, "conv", layer, y, r->n, a->hidden, p->ld);
    if (a->gru) {
#ifdef ENGINE_TILES
        gru_tiles(&r->x.s.tiles, &p->gru, in, in_width, y, out, r->n, p->ld);
#else
        gru(&p->gru, in, in_width, y, out, r->n, p->ld, NULL, 0);
#endif
    }
    look(r, "layer", layer, out, r->n, a->hidden, p->ld);
}

static void keep_columns(const run *r, REAL *to, int32_t to_col, const REAL *from, int32_t width)
{
    for (int32_t i = 0; i < r->n; i++) {
        memcpy(to + (ptrdiff_t)i * r->p->dp + to_col, from + (ptrdiff_t)i * r->p->ld,
               (size_t)width * sizeof(REAL));
    }
}

/* Layers [from, to) starting from state `h` (left as it is); own: the convolution of a setting or
 * NULL. Returns the buffer that holds the last state. skip is where skip columns go. */
static REAL *layers(run *r, const conv *own, int32_t from, int32_t to, REAL *h, REAL *const next[2],
                    REAL *skip)
{
    const packed *p = r->p;
    const dls_arch *a = &p->arch;
    int turn = 0;
    for (int32_t l = from; l < to; l++) {
        const conv *c = a->shared ? (l == 0 ? &p->convs[0]
                                     : own  ? own
                                            : &p->convs[1])
                                  : &p->convs[l];
        REAL *out = next[turn];
        turn = !turn;
        layer_step(r, c, l, h, l == 0 ? a->n_features : a->hidden, out);
        h = out;
        if (skip) {
            keep_columns(r, skip, a->n_features + l * a->hidden, h, a->hidden);
        }
    }
    return h;
}

/* The nodes of one row, in the readout's layout. */
static void keep_row(run *r, int32_t row, const REAL *h)
{
    const packed *p = r->p;
    const int32_t d = dls_arch_readout_width(&p->arch);
    REAL *nodes = r->l.nodes + (ptrdiff_t)row * r->n * p->dp;
    if (!p->arch.skip) {
        keep_columns(r, nodes, 0, h, p->arch.hidden);
        for (int32_t i = 0; i < r->n; i++) {
            memset(nodes + (ptrdiff_t)i * p->dp + d, 0, (size_t)(p->dp - d) * sizeof(REAL));
        }
    }
    if (r->l.turned) {
        const ptrdiff_t np = pad16(r->n);
        REAL *t = r->l.turned + (ptrdiff_t)row * p->dp * np;
        for (int32_t k = 0; k < d; k++) {
            for (int32_t i = 0; i < r->n; i++) {
                t[k * np + i] = nodes[(ptrdiff_t)i * p->dp + k];
            }
            for (int32_t i = r->n; i < np; i++) {
                t[k * np + i] = 0;
            }
        }
    }
}

/* All layers of one graph for the pairs [i, end) that ask about it; returns the rows so far. */
static int32_t trunk(run *r, const dls_driple_job *job, size_t first, size_t i, size_t end,
                     int32_t rows)
{
    const packed *p = r->p;
    const dls_arch *a = &p->arch;
    layout *l = &r->l;
    const int32_t depth = dls_arch_layers(a, r->n);
    const int32_t split = dls_arch_prefix_layers(a, depth);
    load_graph(r, &job->graphs[job->pairs[i].graph], l->state[0]);
    if (l->skip) {
        memset(l->skip, 0, (size_t)r->n * (size_t)p->dp * sizeof(REAL));
        keep_columns(r, l->skip, 0, l->state[0], a->n_features);
    }
    REAL *const next[2] = {l->state[1], l->state[2]};
    REAL *shared = layers(r, NULL, 0, split, l->state[0], next, l->skip);
    REAL *const rest[2] = {l->state[0], shared == l->state[1] ? l->state[2] : l->state[1]};
    int32_t base_row = -1;
    for (; i < end; i++) {
        const int32_t setting = job->pairs[i].setting;
        const conv *own =
            setting >= 0 && p->insp->settings[setting].has_conv ? &p->own[setting] : NULL;
        if (!own && base_row >= 0) {
            l->row_of[i - first] = base_row;
            continue;
        }
        REAL *row = l->nodes + (ptrdiff_t)rows * r->n * p->dp;
        if (l->skip) {
            memcpy(row, l->skip, (size_t)r->n * (size_t)p->dp * sizeof(REAL));
        }
        keep_row(r, rows, layers(r, own, split, depth, shared, rest, l->skip ? row : NULL));
        base_row = own ? base_row : rows;
        l->row_of[i - first] = rows++;
    }
    return rows;
}

/* ---- readouts ------------------------------------------------------------------------------- */

/* Set2Set (Vinyals, Bengio, Kudlur, "Order Matters", ICLR 2016) over all rows at once: the LSTM's
 * weights are read once per GATE_ROWS rows. Leaves h and the read vector in lstm_h[0], lstm_r. */
static void set2set(run *r, int32_t rows)
{
    const packed *p = r->p;
    layout *l = &r->l;
    const int32_t d = dls_arch_readout_width(&p->arch);
    const int32_t np = pad16(r->n);
    const size_t bytes = (size_t)rows * (size_t)p->dp * sizeof(REAL);
    memset(l->lstm_h[0], 0, bytes);
    memset(l->lstm_r, 0, bytes);
    memset(l->lstm_c, 0, bytes);
    const int32_t steps = p->arch.set2set_steps ? p->arch.set2set_steps : r->n;
    for (int32_t t = 0; t < steps; t++) {
#ifdef ENGINE_TILES
        lstm_tiles(&l->s.tiles, &p->lstm, l->lstm_h[0], l->lstm_r, l->lstm_c, l->lstm_h[1], rows,
                   p->dp);
#else
        lstm(&p->lstm, l->lstm_h[0], l->lstm_r, l->lstm_c, l->lstm_h[1], rows, p->dp, NULL, 0);
#endif
        REAL *h = l->lstm_h[1];
        l->lstm_h[1] = l->lstm_h[0];
        l->lstm_h[0] = h;
        for (ptrdiff_t q = 0; q < rows; q++) {
            row_times(h + q * p->dp, d, l->turned + q * p->dp * np, np, np, l->weight);
            softmax(l->weight, r->n, np);
            row_times(l->weight, r->n, l->nodes + q * r->n * p->dp, p->dp, p->dp,
                      l->lstm_r + q * p->dp);
        }
    }
}

static void pool_row(run *r, int32_t row, REAL *out)
{
    const packed *p = r->p;
    layout *l = &r->l;
    const int32_t d = dls_arch_readout_width(&p->arch);
    const REAL *nodes = l->nodes + (ptrdiff_t)row * r->n * p->dp;
    if (p->arch.pool == DLS_POOL_SET2SET) {
        memcpy(out, l->lstm_h[0] + (ptrdiff_t)row * p->dp, (size_t)d * sizeof(REAL));
        memcpy(out + d, l->lstm_r + (ptrdiff_t)row * p->dp, (size_t)d * sizeof(REAL));
        return;
    }
    REAL *w = l->weight;
    for (int32_t i = 0; i < r->n; i++) {
        w[i] = 1 / (REAL)r->n;
        if (p->arch.pool == DLS_POOL_ATTENTION) {
            w[i] = p->attention.b[0];
            for (int32_t k = 0; k < d; k++) {
                w[i] += nodes[(ptrdiff_t)i * p->dp + k] * p->attention.w[k * p->attention.np];
            }
        }
    }
    if (p->arch.pool == DLS_POOL_ATTENTION) {
        for (int32_t i = r->n; i < pad16(r->n); i++) {
            w[i] = 0;
        }
        softmax(w, r->n, pad16(r->n));
    }
    for (int32_t k = 0; k < d; k++) {
        REAL v = p->arch.pool == DLS_POOL_MAX ? nodes[k] : 0;
        for (int32_t i = 0; i < r->n; i++) {
            const REAL e = nodes[(ptrdiff_t)i * p->dp + k];
            v = p->arch.pool == DLS_POOL_MAX ? (e > v || e != e ? e : v) : v + w[i] * e;
        }
        out[k] = v;
    }
}

static void engine_run(const void *state, const dls_cpu_work *work, const dls_driple_job *job,
                       size_t first, size_t last)
{
    run r = {.p = state, .work = work};
    const dls_arch *a = &r.p->arch;
    int64_t edges = 0;
    int32_t degree = 0;
    r.n = job->graphs[job->pairs[first].graph].n_nodes;
    job_extent(job, first, last, &edges, &degree);
    (void)lay_out(r.p, work->memory, r.n, edges, degree, last - first, &r.l);
    r.x.s = r.l.s;
    int32_t rows = 0;
#ifdef ENGINE_TILES
    tiles_begin();
#endif
    for (size_t i = first; i < last;) {
        size_t end = i + 1;
        while (end < last && job->pairs[end].graph == job->pairs[i].graph) {
            end++;
        }
        rows = trunk(&r, job, first, i, end, rows);
        i = end;
    }
    if (a->pool == DLS_POOL_SET2SET) {
        set2set(&r, rows);
    }
    for (size_t i = first; i < last; i++) {
        REAL *in = r.l.mlp[0];
        REAL *out = r.l.mlp[1];
        pool_row(&r, r.l.row_of[i - first], in);
        look(&r, "pooled", 0, in, 1, dls_arch_pooled_width(a), dls_arch_pooled_width(a));
        const lin *mlp = r.p->mlp + (ptrdiff_t)(job->pairs[i].setting + 1) * a->mlp_layers;
        for (int32_t k = 0; k < a->mlp_layers; k++) {
            dense(in, mlp[k].k, 1, mlp[k].k, mlp[k].w, mlp[k].np, mlp[k].np, mlp[k].b,
                  k == a->mlp_layers - 1 ? ACT_LRELU : ACT_RELU, out, mlp[k].np);
            REAL *swap = in;
            in = out;
            out = swap;
        }
        for (int32_t k = 0; k < a->n_outputs; k++) {
            job->out[i * (size_t)a->n_outputs + (size_t)k] = (double)in[k];
        }
    }
#ifdef ENGINE_TILES
    tiles_end();
#endif
}

#define MAP(name, call)                                                                            \
    static void name(const double *x, double *y, size_t n)                                         \
    {                                                                                              \
        for (size_t i = 0; i + V <= n; i += V) {                                                   \
            REAL v[V];                                                                             \
            for (int k = 0; k < V; k++) {                                                          \
                v[k] = (REAL)x[i + (size_t)k];                                                     \
            }                                                                                      \
            vreal a = v_load(v);                                                                   \
            call(1, &a);                                                                           \
            v_store(v, a);                                                                         \
            for (int k = 0; k < V; k++) {                                                          \
                y[i + (size_t)k] = (double)v[k];                                                   \
            }                                                                                      \
        }                                                                                          \
    }
MAP(engine_map_sigmoid, sigmoid_rows)
MAP(engine_map_tanh, tanh_rows)
MAP(engine_map_exp, exp_rows)

const dls_cpu_engine ENGINE_NAME = {.isa = ENGINE_ISA,
                                    .f64 = sizeof(REAL) == sizeof(double),
#ifdef ENGINE_TILES
                                    .bf16 = true,
#endif
                                    .pack = engine_pack,
                                    .extend = engine_extend,
                                    .unpack = engine_unpack,
                                    .work_bytes = engine_work_bytes,
                                    .run = engine_run,
                                    .map_sigmoid = engine_map_sigmoid,
                                    .map_tanh = engine_map_tanh,
                                    .map_exp = engine_map_exp};
