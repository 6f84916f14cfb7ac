/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One training engine. The including file defines REAL, ENGINE_NAME, ENGINE_ISA and, for a vector
 * instruction set, ENGINE_AVX2 or ENGINE_AVX512, and is compiled with the flags that go with it.
 *
 *     each graph:  features or start --layers--> nodes        (states kept; gates too, or again later)
 *     the block:   nodes --readout, MLP--> out, loss --> gradient of the nodes
 *     each graph:  gradient of the nodes --layers backwards--> gradient of the parameters
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/rng.h"
#include "predictor/training/engine.h"

#include "predictor/driple/cpu_simd.inc.h"

#include "predictor/driple/cpu_dense.inc.h"

#include "predictor/driple/cpu_room.inc.h"

#include "predictor/driple/cpu_graph.inc.h"

#include "predictor/driple/cpu_inbox.inc.h"

#include "predictor/training/step_mul.inc.h"

#include "predictor/training/step_pack.inc.h"

#include "predictor/driple/cpu_forward.inc.h"

#include "predictor/training/step_conv.inc.h"
#include "predictor/training/step_mpnn.inc.h"
#include "predictor/training/step_readout.inc.h"

/* What a layer leaves for its way back. */
typedef struct slot {
    REAL *y, *agg; /* [N][ld] */
    REAL *gates;   /* [N][ldg] */
    REAL *mask;    /* [N][hp] dropout: 0 or 1 / (1 - p) */
} slot;

typedef struct work {
    view v;
    REAL *norm_value, *norm_diag;
    REAL *state; /* [graphs][layers + 1][N][ld] */
    REAL *slots; /* [graphs][layers] or one, slot_reals each */
    size_t slot_reals;
    REAL *dstate[2]; /* [N][ld] */
    REAL *dy;        /* [N][ld] */
    readout o;
} work;

static void lay_out_view(const packed *p, const dls_step_size *x, bump *b, work *w)
{
    const dls_arch *a = &p->net->arch;
    const size_t nodes = (size_t)x->n_nodes;
    const size_t edges = (size_t)x->edges;
    scratch *s = &w->v.x.s;
    w->norm_value = bump_take(b, edges, sizeof(REAL));
    w->norm_diag = bump_take(b, nodes, sizeof(REAL));
    w->v.turned.value = bump_take(b, edges, sizeof(REAL));
    w->v.turned_start = bump_take(b, nodes + 1, sizeof *w->v.turned_start);
    w->v.turned_col = bump_take(b, edges, sizeof *w->v.turned_col);
    w->v.dagg = bump_take(b, nodes * (size_t)p->ld, sizeof(REAL));
    s->degree = bump_take(b, nodes, sizeof(REAL));
    lay_out_conv(a, nodes, x->degree, WIDE_ARRAYS, b, s);
    if (a->conv == DLS_CONV_MPNN) {
        const int32_t hp = pad16(larger(a->hidden, a->n_features));
        w->v.dmessage = bump_take(b, ((size_t)x->degree + 3) * (size_t)hp, sizeof(REAL));
    }
}

static void lay_out_readout(const packed *p, const dls_step_size *x, bump *b, readout *o)
{
    const dls_arch *a = &p->net->arch;
    const size_t nodes = (size_t)x->n_nodes;
    const size_t dp = (size_t)p->dp;
    const size_t n = x->n;
    o->np = pad16(x->n_nodes);
    o->ldk = 5 * p->dp + 16;
    o->nodes = bump_take(b, n * nodes * dp, sizeof(REAL));
    o->dnodes = bump_take(b, n * nodes * dp, sizeof(REAL));
    o->row = bump_take(b, dp + (size_t)o->np, sizeof(REAL));
    o->steps = 0;
    if (a->pool == DLS_POOL_SET2SET) {
        o->steps = a->set2set_steps ? a->set2set_steps : x->n_nodes;
        const size_t t = (size_t)o->steps;
        o->turned = bump_take(b, n * dp * (size_t)o->np, sizeof(REAL));
        o->h = bump_take(b, (t + 1) * n * dp, sizeof(REAL));
        o->c = bump_take(b, (t + 1) * n * dp, sizeof(REAL));
        o->r = bump_take(b, (t + 1) * n * dp, sizeof(REAL));
        o->dr = bump_take(b, t * n * dp, sizeof(REAL));
        o->gates = bump_take(b, t * n * (size_t)o->ldk, sizeof(REAL));
        o->de = bump_take(b, t * n * (size_t)o->np, sizeof(REAL));
        o->dh = bump_take(b, n * dp, sizeof(REAL));
        o->dc = bump_take(b, n * dp, sizeof(REAL));
    }
    const size_t t = (size_t)(o->steps ? o->steps : 1);
    o->a = bump_take(b, t * n * (size_t)o->np, sizeof(REAL));
    const size_t layer = x->rows * (size_t)p->ldm;
    o->pooled = bump_take(b, n * (size_t)p->ldm, sizeof(REAL));
    o->first = bump_take(b, n * (size_t)p->ldm, sizeof(REAL));
    o->condition = bump_take(b, x->rows * (size_t)a->n_conditions, sizeof(REAL));
    o->act = bump_take(b, layer * (size_t)a->mlp_layers, sizeof(REAL));
    o->dact[0] = bump_take(b, layer, sizeof(REAL));
    o->dact[1] = bump_take(b, layer, sizeof(REAL));
}

static size_t slot_layout(const packed *p, int32_t n_nodes, bool dropout, REAL *at, slot *s)
{
    bump b = {(char *)at, 0};
    const size_t nodes = (size_t)n_nodes;
    s->y = bump_take(&b, nodes * (size_t)p->ld, sizeof(REAL));
    s->agg = bump_take(&b, nodes * (size_t)p->ld, sizeof(REAL));
    s->gates = p->net->gru >= 0 ? bump_take(&b, nodes * (size_t)p->ldg, sizeof(REAL)) : NULL;
    s->mask = dropout ? bump_take(&b, nodes * (size_t)p->hp, sizeof(REAL)) : NULL;
    return b.used / sizeof(REAL);
}

/* depth: layers that are computed. */
static size_t lay_out(const packed *p, const dls_step_size *x, int32_t depth, void *memory, work *w)
{
    bump b = {memory, 0};
    const size_t states = (size_t)x->n_nodes * (size_t)p->ld;
    const size_t layers = (size_t)depth;
    slot s;
    *w = (work){0};
    lay_out_view(p, x, &b, w);
    w->slot_reals = slot_layout(p, x->n_nodes, x->dropout, NULL, &s);
    w->slots = bump_take(&b, w->slot_reals * (x->keep ? x->n * layers : 1), sizeof(REAL));
    w->state = bump_take(&b, states * (layers + 1) * (x->backward ? x->n : 1), sizeof(REAL));
    w->dstate[0] = bump_take(&b, states, sizeof(REAL));
    w->dstate[1] = bump_take(&b, states, sizeof(REAL));
    w->dy = bump_take(&b, states, sizeof(REAL));
    lay_out_readout(p, x, &b, &w->o);
    return b.used;
}

static size_t step_work_bytes(const void *state, const dls_step_size *size)
{
    const packed *p = state;
    work w;
    return lay_out(p, size, dls_arch_layers(&p->net->arch, size->n_nodes), NULL, &w);
}

/* ---- a graph's layers ------------------------------------------------------------------------ */

typedef struct run {
    const packed *p;
    const dls_step_block *block;
    dls_step_size x;
    int32_t from, depth; /* layers */
    work w;
} run;

static slot slot_of(const run *r, size_t graph, int32_t layer)
{
    slot s;
    const size_t layers = (size_t)(r->depth - r->from);
    const size_t i = r->x.keep ? graph * layers + (size_t)(layer - r->from) : 0;
    (void)slot_layout(r->p, r->x.n_nodes, r->x.dropout, r->w.slots + i * r->w.slot_reals, &s);
    return s;
}

/* The input of a layer; of the last layer plus one, the output. */
static REAL *state_of(const run *r, size_t graph, int32_t layer)
{
    const size_t layers = (size_t)(r->depth - r->from) + 1;
    const size_t i = (r->x.backward ? graph * layers : 0) + (size_t)(layer - r->from);
    return r->w.state + i * (size_t)r->x.n_nodes * (size_t)r->p->ld;
}

static conv_args args_of(const run *r, int32_t layer, const REAL *in, const slot *s)
{
    const dls_trainee *net = r->p->net;
    const int32_t c = dls_trainee_conv_of(net, layer, r->depth);
    return (conv_args){.a = &net->arch,
                       .c = &r->p->lin[net->conv[c]],
                       .in = in,
                       .in_width = layer == 0 ? net->arch.n_features : net->arch.hidden,
                       .ld = r->p->ld,
                       .first = layer == 0,
                       .agg = s->agg,
                       .y = s->y};
}

/* Masks are drawn again, not kept, when a layer is computed again: their stream is named. */
static void drop(const run *r, uint64_t noise, int32_t layer, const slot *s, REAL *out)
{
    const packed *p = r->p;
    const REAL scale = (REAL)(1 / (1 - r->block->dropout));
    const uint32_t limit = (uint32_t)(r->block->dropout * 4294967296.0);
    dls_rng rng = dls_rng_stream(noise, DLS_RNG_TRAIN, (uint64_t)layer + 1);
    for (int32_t i = 0; i < r->x.n_nodes; i++) {
        for (int32_t k = 0; k < p->net->arch.hidden; k++) {
            const REAL m = dls_rng_u32(&rng) < limit ? 0 : scale;
            s->mask[(ptrdiff_t)i * p->hp + k] = m;
            out[(ptrdiff_t)i * p->ld + k] *= m;
        }
    }
}

static void layer_forward(run *r, uint64_t noise, int32_t layer, const REAL *in, const slot *s,
                          REAL *out)
{
    const packed *p = r->p;
    const dls_arch *a = &p->net->arch;
    conv_args q = args_of(r, layer, in, s);
    conv_forward(&r->w.v.x, &q);
    if (a->gru) {
        gru(&p->gru, in, q.in_width, s->y, out, r->x.n_nodes, p->ld, s->gates, p->ldg);
    } else {
        memcpy(out, s->y, (size_t)r->x.n_nodes * (size_t)p->ld * sizeof(REAL));
    }
    if (s->mask && layer < r->depth - 1) {
        drop(r, noise, layer, s, out);
    }
}

static void columns_add(REAL *to, ptrdiff_t ldt, const REAL *from, ptrdiff_t ldf, int32_t rows,
                        int32_t cols)
{
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t k = 0; k < cols; k++) {
            to[i * ldt + k] += from[i * ldf + k];
        }
    }
}

static void graph_forward(run *r, size_t graph)
{
    const packed *p = r->p;
    const dls_arch *a = &p->net->arch;
    const dls_step_sample *sample = &r->block->sample[graph];
    const size_t nodes = (size_t)r->x.n_nodes;
    REAL *rows = r->w.o.nodes + graph * nodes * (size_t)p->dp;
    REAL *h = state_of(r, graph, r->from);
    view_graph(&r->w.v, a, sample->graph, r->w.norm_value, r->w.norm_diag);
    if (sample->start) {
        memcpy(h, sample->start, nodes * (size_t)p->ld * sizeof(REAL));
    } else {
        load_features(sample->graph, p->net->feature_shift, p->net->feature_scale, h, p->ld);
    }
    memset(rows, 0, nodes * (size_t)p->dp * sizeof(REAL));
    if (a->skip) {
        columns_add(rows, p->dp, h, p->ld, r->x.n_nodes, a->n_features);
    }
    for (int32_t l = r->from; l < r->depth; l++) {
        const slot s = slot_of(r, graph, l);
        REAL *out = state_of(r, graph, l + 1);
        layer_forward(r, sample->noise, l, h, &s, out);
        h = out;
        if (a->skip) {
            columns_add(rows + a->n_features + l * a->hidden, p->dp, h, p->ld, r->x.n_nodes,
                        a->hidden);
        }
    }
    if (!a->skip) {
        columns_add(rows, p->dp, h, p->ld, r->x.n_nodes, a->hidden);
    }
}

/* The GRU's gates [r, z, n, hidden half of n] become their gradients [n of the input, r, z, n of
 * the hidden state]; dy is what goes past the gates. */
static void gates_back(REAL *restrict gates, const REAL *restrict y, const REAL *restrict dout,
                       REAL *restrict dy, int32_t hp)
{
    for (int32_t k = 0; k < hp; k++) {
        const REAL r = gates[k], z = gates[hp + k], n = gates[2 * hp + k], ny = gates[3 * hp + k];
        const REAL d = dout[k];
        const REAL dn = d * (1 - z) * (1 - n * n);
        gates[k] = dn;
        gates[hp + k] = dn * ny * r * (1 - r);
        gates[2 * hp + k] = d * (y[k] - n) * z * (1 - z);
        gates[3 * hp + k] = dn * r;
        dy[k] = d * z;
    }
}

/* dout [N][ld] of a layer to din, NULL at the last layer of the way back. */
static void layer_backward(run *r, int32_t layer, const REAL *in, const slot *s, REAL *dout,
                           REAL *din)
{
    const packed *p = r->p;
    const dls_arch *a = &p->net->arch;
    const int32_t n = r->x.n_nodes;
    const ptrdiff_t ld = p->ld;
    conv_args q = args_of(r, layer, in, s);
    q.grad = r->block->gradient;
    q.din = din;
    q.dy = a->gru ? r->w.dy : dout;
    if (s->mask && layer < r->depth - 1) {
        for (ptrdiff_t i = 0; i < n; i++) {
            for (int32_t k = 0; k < a->hidden; k++) {
                dout[i * ld + k] *= s->mask[i * p->hp + k];
            }
        }
    }
    if (a->gru) {
        const lin *x = &p->lin[p->net->gru];
        const lin *y = x + 1;
        for (ptrdiff_t i = 0; i < n; i++) {
            gates_back(s->gates + i * p->ldg, s->y + i * ld, dout + i * ld, q.dy + i * ld, p->hp);
        }
        mul_add(s->gates + p->hp, p->ldg, n, y->np, y->back, y->kp, q.dy, ld);
        if (x->map->trained) {
            outer_add(in, ld, q.in_width, n, s->gates, p->ldg, x->np, q.grad + x->gw, x->np);
            rows_add(s->gates, p->ldg, n, x->np, q.grad + x->gb);
            lin_gradient(y, s->y, ld, s->gates + p->hp, p->ldg, n, q.grad);
        }
    }
    switch (a->conv) {
    case DLS_CONV_GIN:
        gin_backward(&r->w.v, &q);
        break;
    case DLS_CONV_GAT:
        gat_backward(&r->w.v, &q);
        break;
    case DLS_CONV_MPNN:
        mpnn_backward(&r->w.v, &q);
        break;
    default:
        gcn_backward(&r->w.v, &q);
        break;
    }
    if (a->gru && din) {
        const lin *x = &p->lin[p->net->gru];
        mul_add(s->gates, p->ldg, n, x->np, x->back, x->kp, din, ld);
    }
}

static void graph_backward(run *r, size_t graph)
{
    const packed *p = r->p;
    const dls_arch *a = &p->net->arch;
    const dls_step_sample *sample = &r->block->sample[graph];
    const int32_t n = r->x.n_nodes;
    const size_t bytes = (size_t)n * (size_t)p->ld * sizeof(REAL);
    const REAL *dnodes = r->w.o.dnodes + graph * (size_t)n * (size_t)p->dp;
    const int32_t last = dls_trainee_frozen_layers(p->net, r->depth);
    REAL *d = r->w.dstate[0];
    REAL *before = r->w.dstate[1];
    memset(d, 0, bytes);
    view_graph(&r->w.v, a, sample->graph, r->w.norm_value, r->w.norm_diag);
    if (!a->skip) {
        columns_add(d, p->ld, dnodes, p->dp, n, a->hidden);
    }
    for (int32_t l = r->depth - 1; l >= last; l--) {
        const slot s = slot_of(r, graph, l);
        const REAL *in = state_of(r, graph, l);
        if (a->skip) {
            columns_add(d, p->ld, dnodes + a->n_features + l * a->hidden, p->dp, n, a->hidden);
        }
        if (!r->x.keep) {
            layer_forward(r, sample->noise, l, in, &s, before);
        }
        memset(before, 0, bytes);
        layer_backward(r, l, in, &s, d, l > last ? before : NULL);
        REAL *swap = d;
        d = before;
        before = swap;
    }
}

/* ---- the block ------------------------------------------------------------------------------ */

/* Outputs of all rows, and the gradient of the loss by them. */
static void take_outputs(const run *r, const REAL *out)
{
    const dls_step_block *block = r->block;
    const size_t ldm = (size_t)r->p->ldm;
    const size_t n = (size_t)r->p->net->arch.n_outputs;
    REAL *d = r->w.o.dact[0];
    double *to = block->out;
    memset(d, 0, r->x.rows * ldm * sizeof(REAL));
    for (size_t i = 0; i < block->size.n; i++) {
        const dls_step_sample *s = &block->sample[i];
        const size_t rows = dls_step_rows(s);
        for (size_t row = 0; row < rows; row++) {
            for (size_t k = 0; k < n; k++) {
                to[row * n + k] = (double)out[row * ldm + k];
            }
        }
        for (size_t k = 0; s->target && k < n; k++) {
            const double mean = block->pairs > 0 ? dls_step_mean_error(s, to, n, k) : 0;
            for (size_t row = 0; row < rows; row++) {
                const double e = to[row * n + k] - s->target[row * n + k];
                d[row * ldm + k] = (REAL)(block->weight * (e + block->pairs * (e - mean)));
            }
        }
        out += rows * ldm;
        d += rows * ldm;
        to += rows * n;
    }
}

static void step_run(const void *state, void *memory, const dls_step_block *block)
{
    run r = {.p = state, .block = block};
    const packed *p = r.p;
    const dls_arch *a = &p->net->arch;
    r.x = block->size;
    r.depth = dls_arch_layers(a, r.x.n_nodes);
    r.from = block->sample[0].start ? dls_trainee_frozen_layers(p->net, r.depth) : 0;
    (void)lay_out(p, &r.x, r.depth - r.from, memory, &r.w);
    for (size_t i = 0; i < r.x.n; i++) {
        graph_forward(&r, i);
    }
    const pool_args q = {p,
                         &r.w.o,
                         block->sample,
                         (int32_t)r.x.n,
                         r.x.n_nodes,
                         (int32_t)r.x.rows,
                         block->gradient};
    memset(r.w.o.pooled, 0, r.x.n * (size_t)p->ldm * sizeof(REAL));
    if (a->pool == DLS_POOL_SET2SET) {
        set2set_forward(&q);
    } else {
        simple_forward(&q);
    }
    mlp_forward(&q);
    take_outputs(&r, activation(&q, a->mlp_layers));
    if (!block->gradient) {
        return;
    }
    memset(block->gradient, 0, step_gradient_bytes(p));
    REAL *dpooled = mlp_backward(&q);
    const bool pool_trained = p->net->lstm >= 0        ? p->lin[p->net->lstm].map->trained
                              : p->net->attention >= 0 ? p->lin[p->net->attention].map->trained
                                                       : false;
    const bool layers_trained = dls_trainee_frozen_layers(p->net, r.depth) < r.depth;
    if (!pool_trained && !layers_trained) {
        return;
    }
    if (a->pool == DLS_POOL_SET2SET) {
        set2set_backward(&q, dpooled);
    } else {
        simple_backward(&q, dpooled);
    }
    for (size_t i = 0; layers_trained && i < r.x.n; i++) {
        graph_backward(&r, i);
    }
}

/* ---- the state before the trained layers ----------------------------------------------------- */

static size_t step_start_bytes(const void *state, int32_t n_nodes)
{
    const packed *p = state;
    return (size_t)n_nodes * (size_t)p->ld * sizeof(REAL);
}

static void step_start(const void *state, void *memory, const dls_graph *g,
                       const dls_step_size *size, int32_t layers, void *out)
{
    run r = {.p = state, .x = *size};
    r.depth = dls_arch_layers(&r.p->net->arch, g->n_nodes);
    (void)lay_out(r.p, &r.x, r.depth, memory, &r.w);
    view_graph(&r.w.v, &r.p->net->arch, g, r.w.norm_value, r.w.norm_diag);
    load_features(g, r.p->net->feature_shift, r.p->net->feature_scale, state_of(&r, 0, 0), r.p->ld);
    for (int32_t l = 0; l < layers; l++) {
        const slot s = slot_of(&r, 0, l);
        layer_forward(&r, 0, l, state_of(&r, 0, l), &s, state_of(&r, 0, l + 1));
    }
    memcpy(out, state_of(&r, 0, layers), step_start_bytes(state, g->n_nodes));
}

/* ---- the peak ------------------------------------------------------------------------------- */

static double step_peak_flops(void)
{
    enum { K = 64, N = 2 * V, ROWS = DENSE_ROWS, REPEAT = 4000, TRIES = 9 };
    static _Thread_local _Alignas(64) REAL a[ROWS * K], b[K * N], c[ROWS * N];
    double best = 0;
    for (int t = 0; t < TRIES; t++) {
        const double from = dls_clock_s();
        for (int i = 0; i < REPEAT; i++) {
            mul_to(a, K, ROWS, K, b, N, c, N);
        }
        const double rate = 2.0 * K * N * ROWS * REPEAT / (dls_clock_s() - from);
        best = rate > best ? rate : best;
    }
    return best;
}

const dls_step_engine ENGINE_NAME = {.isa = ENGINE_ISA,
                                     .f64 = sizeof(REAL) == sizeof(double),
                                     .open = step_open,
                                     .close = step_close,
                                     .load = step_load,
                                     .gradient_bytes = step_gradient_bytes,
                                     .start_bytes = step_start_bytes,
                                     .start = step_start,
                                     .work_bytes = step_work_bytes,
                                     .run = step_run,
                                     .add = step_add,
                                     .scatter = step_scatter,
                                     .peak_flops = step_peak_flops};
