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

#include "predictor/driple/cpu_room.inc.h"

#include "predictor/driple/cpu_pack.inc.h"

#include "predictor/driple/cpu_graph.inc.h"

#ifdef ENGINE_TILES
#include "predictor/driple/cpu_tiles.inc.h"
#endif

#include "predictor/driple/cpu_inbox.inc.h"

#include "predictor/driple/cpu_forward.inc.h"

#include "predictor/driple/cpu_stack.inc.h"

/* Everything a run works in. */
typedef struct layout {
    REAL *state[3]; /* [N][ld] two to go back and forth, one to keep the prefix */
    REAL *y, *agg;  /* [N][ld] */
    scratch s;
    REAL *norm_value, *norm_diag;
    graph_stack stack;
    REAL *skip;                        /* [N][dp] the prefix's columns */
    REAL *nodes;                       /* [rows][N][dp] */
    REAL *turned;                      /* [rows][D][np] */
    REAL *lstm_h[2], *lstm_r, *lstm_c; /* [rows][dp] */
    REAL *weight;                      /* [np] softmax */
    REAL *mlp[2];                      /* [pairs][2 dp + 16] */
    int32_t *row_of;                   /* [pairs] */
} layout;

/* What a run is about. */
typedef struct extent {
    int64_t edges;  /* of a graph, at most */
    int32_t degree; /* likewise */
    int32_t n;      /* nodes of every graph */
    size_t pairs, rows;
    size_t stack; /* graphs whose layers are computed together */
} extent;

static void lay_out_stack(bump *b, size_t nodes, size_t entries, graph_stack *s)
{
    s->start = bump_take(b, nodes + 1, sizeof *s->start);
    s->col = bump_take(b, entries, sizeof *s->col);
    s->value = bump_take(b, entries, sizeof(REAL));
    s->diag = bump_take(b, nodes, sizeof(REAL));
}

static size_t lay_out(const packed *p, char *memory, const extent *e, layout *l)
{
    const dls_arch *a = &p->arch;
    bump b = {memory, 0};
    const size_t n = (size_t)e->n;
    const size_t nodes = n * e->stack;
    const size_t ld = (size_t)p->ld;
    const size_t dp = (size_t)p->dp;
    const size_t np = pad16z(n);
    *l = (layout){0};
    for (int i = 0; i < 3; i++) {
        l->state[i] = bump_take(&b, nodes * ld, sizeof(REAL));
    }
    l->y = bump_take(&b, nodes * ld, sizeof(REAL));
    l->agg = bump_take(&b, nodes * ld, sizeof(REAL));
    lay_out_conv(a, nodes, e->degree, FORWARD_ARRAYS, &b, &l->s);
#ifdef ENGINE_TILES
    l->s.tiles.ld = tiles_of(larger(p->ld, p->dp)) * TILE_K;
    for (int i = 0; i < 2; i++) {
        const size_t rows = pad16z(e->rows > nodes ? e->rows : nodes);
        uint16_t **at = i ? &l->s.tiles.second : &l->s.tiles.first;
        *at = bump_take(&b, rows * (size_t)l->s.tiles.ld, sizeof **at);
    }
#endif
    l->s.dense = bump_take(&b, n * np, sizeof(REAL));
    l->s.degree = bump_take(&b, n, sizeof(REAL));
    l->norm_value = bump_take(&b, (size_t)e->edges, sizeof(REAL));
    l->norm_diag = bump_take(&b, n, sizeof(REAL));
    if (e->stack > 1) {
        lay_out_stack(&b, nodes, ((size_t)e->edges + n) * e->stack, &l->stack);
    }
    if (a->skip) {
        l->skip = bump_take(&b, n * dp, sizeof(REAL));
    }
    l->nodes = bump_take(&b, e->rows * n * dp, sizeof(REAL));
    if (a->pool == DLS_POOL_SET2SET) {
        l->turned = bump_take(&b, e->rows * dp * np, sizeof(REAL));
    }
    for (int i = 0; i < 2; i++) {
        l->lstm_h[i] = bump_take(&b, e->rows * dp, sizeof(REAL));
    }
    l->lstm_r = bump_take(&b, e->rows * dp, sizeof(REAL));
    l->lstm_c = bump_take(&b, e->rows * dp, sizeof(REAL));
    l->weight = bump_take(&b, np + dp, sizeof(REAL));
    for (int i = 0; i < 2; i++) {
        l->mlp[i] = bump_take(&b, e->pairs * (2 * dp + 16), sizeof(REAL));
    }
    l->row_of = bump_take(&b, e->pairs, sizeof(int32_t));
    return b.used;
}

static bool has_own(const packed *p, const dls_pair *pair)
{
    return pair->setting >= 0 && p->insp->settings[pair->setting].has_conv;
}

/* Graphs are stacked where one conv is for all and knows no other nodes than neighbours. */
static extent job_extent(const packed *p, const dls_driple_job *job, size_t first, size_t last)
{
    extent e = {.n = job->graphs[job->pairs[first].graph].n_nodes, .pairs = last - first};
    size_t graphs = 0;
    bool own = false, base = false;
    for (size_t i = first; i < last; i++) {
        const dls_graph *g = &job->graphs[job->pairs[i].graph];
        const bool is_new = i == first || job->pairs[i].graph != job->pairs[i - 1].graph;
        const bool mine = has_own(p, &job->pairs[i]);
        base &= !is_new;
        e.rows += mine || !base;
        own |= mine;
        base |= !mine;
        graphs += is_new;
        if (is_new) {
            dls_graph_extent(g, &e.edges, &e.degree);
        }
    }
    const bool local = p->arch.conv == DLS_CONV_GCN || p->arch.conv == DLS_CONV_GIN;
    e.stack =
        local && !own && !p->arch.skip && 2 * e.n <= STACK_NODES ? STACK_NODES / (size_t)e.n : 1;
    e.stack = e.stack > graphs ? graphs : e.stack;
    return e;
}

static size_t engine_work_bytes(const void *state, const dls_driple_job *job, size_t first,
                                size_t last)
{
    layout l;
    const extent e = job_extent(state, job, first, last);
    return lay_out(state, NULL, &e, &l);
}

typedef struct run {
    const packed *p;
    const dls_cpu_work *work;
    layout l;
    graph_ctx x;
    int32_t n;    /* nodes of every graph here */
    size_t stack; /* graphs whose layers are computed together, at most */
} run;

static void look(const run *r, const char *stage, int32_t layer, const REAL *data, int32_t rows,
                 int32_t cols, int32_t ld)
{
    if (r->work->probe) {
        r->work->probe(r->work->probe_user, stage, layer, data, rows, cols, ld);
    }
}

static bool is_dense(const run *r, const dls_graph *g)
{
    const double n = g->n_nodes;
    return (double)g->row_start[g->n_nodes] > r->work->dense_above * n * n;
}

static void load_graph(run *r, const dls_graph *g, REAL *h)
{
    const packed *p = r->p;
    const dls_inspector *insp = p->insp;
    load_features(g, insp->feature_shift, insp->feature_scale, h, p->ld);
    take_up(&r->x, p->arch.conv, g, r->l.norm_value, r->l.norm_diag,
            r->stack == 1 && is_dense(r, g));
}

/* Layer `layer` with the convolution whose maps begin at c: from `in` (columns: in_width) to `out`.
 */
static void layer_step(run *r, const lin *c, int32_t layer, const REAL *in, int32_t in_width,
                       REAL *out)
{
    const packed *p = r->p;
    const dls_arch *a = &p->arch;
    REAL *y = a->gru ? r->l.y : out;
    const conv_args q = {.a = a,
                         .c = c,
                         .in = in,
                         .in_width = in_width,
                         .ld = p->ld,
                         .first = layer == 0,
                         .agg = r->l.agg,
                         .y = y};
    conv_forward(&r->x, &q);
    const int32_t n = r->x.norm.n;
    look(r, "conv", layer, y, n, a->hidden, p->ld);
    if (a->gru) {
#ifdef ENGINE_TILES
        gru_tiles(&r->x.s.tiles, &p->gru, in, in_width, y, out, n, p->ld);
#else
        gru(&p->gru, in, in_width, y, out, n, p->ld, NULL, 0);
#endif
    }
    look(r, "layer", layer, out, n, a->hidden, p->ld);
}

static void keep_columns(const run *r, REAL *to, int32_t to_col, const REAL *from, int32_t width)
{
    for (int32_t i = 0; i < r->n; i++) {
        memcpy(to + (ptrdiff_t)i * r->p->dp + to_col, from + (ptrdiff_t)i * r->p->ld,
               (size_t)width * sizeof(REAL));
    }
}

/* Layers [from, to) starting from state `h` (left as it is); own: the maps of a setting's
 * convolution or NULL. Returns the buffer that holds the last state. skip is where skip columns go.
 */
static REAL *layers(run *r, const lin *own, int32_t from, int32_t to, REAL *h, REAL *const next[2],
                    REAL *skip)
{
    const packed *p = r->p;
    const dls_arch *a = &p->arch;
    int turn = 0;
    for (int32_t l = from; l < to; l++) {
        const int32_t base = a->shared && l > 1 ? 1 : l;
        const lin *c = own && l > 0 ? own : p->convs + (ptrdiff_t)base * p->conv_maps;
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

/* All layers of the graphs that the pairs [i, end) ask about, in the base's settings; returns the
 * rows so far. */
static int32_t stacked_trunk(run *r, const dls_driple_job *job, size_t first, size_t i, size_t end,
                             int32_t rows)
{
    layout *l = &r->l;
    const dls_pair *pair = job->pairs;
    const ptrdiff_t block = (ptrdiff_t)r->n * r->p->ld;
    const int32_t begin = rows;
    l->stack.n = 0;
    for (; i < end; i++) {
        if (rows == begin || pair[i].graph != pair[i - 1].graph) {
            load_graph(r, &job->graphs[pair[i].graph], l->state[0] + (rows++ - begin) * block);
            stack_graph(&l->stack, &r->x.norm,
                        r->p->arch.conv == DLS_CONV_GCN && is_dense(r, r->x.g));
        }
        l->row_of[i - first] = rows - 1;
    }
    r->x.norm = (csr){l->stack.n, l->stack.start, l->stack.col, l->stack.value, l->stack.diag};
    REAL *const next[2] = {l->state[1], l->state[2]};
    const REAL *h = layers(r, NULL, 0, dls_arch_layers(&r->p->arch, r->n), l->state[0], next, NULL);
    for (int32_t q = begin; q < rows; q++) {
        keep_row(r, q, h + (q - begin) * block);
    }
    return rows;
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
        const dls_pair *pair = &job->pairs[i];
        const lin *own = has_own(p, pair) ? p->own + (ptrdiff_t)pair->setting * p->conv_maps : NULL;
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

#ifdef ENGINE_TILES
enum { SET_BYTES = 1 << 20, SET_ROWS = TILE };
#else
enum { SET_BYTES = 360 << 10, SET_ROWS = GATE_ROWS };
#endif

/* ---- readouts ------------------------------------------------------------------------------- */

/* Set2Set (Vinyals, Bengio, Kudlur, "Order Matters", ICLR 2016) over the rows [q, end) at once: the
 * LSTM's weights are read once per GATE_ROWS rows. Leaves h and the read vector in lstm_h[0],
 * lstm_r. */
static void set2set_rows(run *r, ptrdiff_t q, ptrdiff_t end, int32_t steps)
{
    const packed *p = r->p;
    layout *l = &r->l;
    const int32_t d = dls_arch_readout_width(&p->arch);
    const int32_t np = pad16(r->n);
    const ptrdiff_t at = q * p->dp;
    const int32_t rows = (int32_t)(end - q);
    for (int32_t t = 0; t < steps; t++) {
        const REAL *from = l->lstm_h[t % 2] + at;
        REAL *h = l->lstm_h[1 - t % 2] + at;
#ifdef ENGINE_TILES
        lstm_tiles(&l->s.tiles, &p->lstm, from, l->lstm_r + at, l->lstm_c + at, h, rows, p->dp);
#else
        lstm(&p->lstm, from, l->lstm_r + at, l->lstm_c + at, h, rows, p->dp, NULL, 0);
#endif
        for (ptrdiff_t i = q; i < end; i++) {
            row_times(h + (i - q) * p->dp, d, l->turned + i * p->dp * np, np, np, l->weight);
            softmax(l->weight, r->n, np);
            row_times(l->weight, r->n, l->nodes + i * r->n * p->dp, p->dp, p->dp,
                      l->lstm_r + i * p->dp);
        }
    }
}

/* As many rows at a time as have their nodes in the second-level cache. */
static void set2set(run *r, int32_t rows)
{
    const packed *p = r->p;
    layout *l = &r->l;
    const size_t bytes = (size_t)rows * (size_t)p->dp * sizeof(REAL);
    memset(l->lstm_h[0], 0, bytes);
    memset(l->lstm_r, 0, bytes);
    memset(l->lstm_c, 0, bytes);
    const int32_t steps = p->arch.set2set_steps ? p->arch.set2set_steps : r->n;
    const ptrdiff_t of_row = (ptrdiff_t)sizeof(REAL) * p->dp * (r->n + pad16(r->n));
    const ptrdiff_t fit = SET_BYTES / of_row / SET_ROWS * SET_ROWS;
    const ptrdiff_t most = fit > 0 ? fit : SET_ROWS;
    for (ptrdiff_t q = 0; q < rows; q += most) {
        set2set_rows(r, q, q + most < rows ? q + most : rows, steps);
    }
    if (steps % 2) {
        REAL *h = l->lstm_h[1];
        l->lstm_h[1] = l->lstm_h[0];
        l->lstm_h[0] = h;
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
    pool_nodes(&p->arch, &p->attention, nodes, r->n, d, p->dp, l->weight, out);
}

/* The MLP of each pair, those of the same weights together. */
static void readout(run *r, const dls_driple_job *job, size_t first, size_t last)
{
    const dls_arch *a = &r->p->arch;
    const size_t n = last - first;
    const ptrdiff_t ld = 2 * r->p->dp + 16;
    REAL *in = r->l.mlp[0];
    REAL *out = r->l.mlp[1];
    for (size_t i = 0; i < n; i++) {
        REAL *row = in + (ptrdiff_t)i * ld;
        pool_row(r, r->l.row_of[i], row);
        look(r, "pooled", 0, row, 1, dls_arch_pooled_width(a), dls_arch_pooled_width(a));
    }
    for (int32_t k = 0; k < a->mlp_layers; k++) {
        const lin *mlp = r->p->mlp + k;
        for (size_t i = 0, end = 0; i < n; i = end) {
            const lin *l = &mlp[(ptrdiff_t)(job->pairs[first + i].setting + 1) * a->mlp_layers];
            REAL *c = out + (ptrdiff_t)i * ld;
            for (; end < n; end++) {
                const lin *o =
                    &mlp[(ptrdiff_t)(job->pairs[first + end].setting + 1) * a->mlp_layers];
                if (o->w != l->w) {
                    break;
                }
                memcpy(out + (ptrdiff_t)end * ld, o->b, (size_t)o->np * sizeof(REAL));
            }
            dense(in + (ptrdiff_t)i * ld, ld, (int32_t)(end - i), l->k, l->w, l->np, l->np, c,
                  k == a->mlp_layers - 1 ? ACT_LRELU : ACT_RELU, c, ld);
        }
        REAL *swap = in;
        in = out;
        out = swap;
    }
    for (size_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < a->n_outputs; k++) {
            job->out[(first + i) * (size_t)a->n_outputs + (size_t)k] =
                (double)in[(ptrdiff_t)i * ld + k];
        }
    }
}

static void engine_run(const void *state, const dls_cpu_work *work, const dls_driple_job *job,
                       size_t first, size_t last)
{
    run r = {.p = state, .work = work};
    const extent e = job_extent(r.p, job, first, last);
    r.n = e.n;
    r.stack = e.stack;
    (void)lay_out(r.p, work->memory, &e, &r.l);
    r.x.s = r.l.s;
    int32_t rows = 0;
#ifdef ENGINE_TILES
    tiles_begin();
#endif
    for (size_t i = first; i < last;) {
        size_t graphs = 0;
        size_t end = i;
        for (; end < last; end++) {
            if (end == i || job->pairs[end].graph != job->pairs[end - 1].graph) {
                if (graphs == r.stack) {
                    break;
                }
                graphs++;
            }
        }
        rows = r.stack > 1 ? stacked_trunk(&r, job, first, i, end, rows)
                           : trunk(&r, job, first, i, end, rows);
        i = end;
    }
    if (r.p->arch.pool == DLS_POOL_SET2SET) {
        set2set(&r, rows);
    }
    readout(&r, job, first, last);
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
