/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The two ways to compute a chunk: fused kernels, and cuBLAS with one kernel a step.
 */
#ifndef DLS_CUDA_PATHS_CUH
#define DLS_CUDA_PATHS_CUH

#include "predictor/driple/cuda_chunk.cuh"

static int blocks_for(size_t n)
{
    return (int)((n + BLOCK - 1) / BLOCK);
}

/* Row-major C[m][n] = A[m][k] B[k][n]; lda, ldc: floats from row to row of A and C. */
static dls_status product(cuda_state *c, const float *a, int lda, const float *b, float *out,
                          int ldc, size_t m, int k, int n, dls_error *err)
{
    const float one = 1.0f;
    const float zero = 0.0f;
    BLAS_TRY(cublasSgemm(c->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, (int)m, k, &one, b, n, a, lda, &zero,
                         out, ldc));
    return DLS_OK;
}

/* Layers [from, to) of some rows. */
struct stage {
    int from, to;
    size_t rows;
    const int *source, *graph_of, *conv_of; /* NULL: identity, identity, 1 */
    const float *x_in;                      /* state before; from 0 the features */
    float *out;
    const int *host_conv_of;
};

/* One layer of a stage: consecutive rows that share a convolution in one product. */
static dls_status conv_layer(cuda_state *c, const device_work *w, const dev_graphs *s, int n,
                             const int *graph_of, const stage *st, int layer, const float *x,
                             float *y, dls_error *err)
{
    const dls_arch *a = &c->insp->arch;
    const bool fixed = layer == 0 || !st->host_conv_of;
    const conv_layout *l = layer == 0 ? &c->pack.first : &c->pack.later;
    const int h = a->hidden;
    size_t end;
    for (size_t first = 0; first < st->rows; first = end) {
        end = first + 1;
        while (end < st->rows && (fixed || st->host_conv_of[end] == st->host_conv_of[first])) {
            end++;
        }
        const int conv = layer == 0 ? 0 : fixed ? 1 : st->host_conv_of[first];
        const float *weights = c->w + c->pack.conv + (size_t)conv * c->pack.conv_stride;
        const size_t m = (end - first) * n;
        float *to = y + first * n * h;
        DLS_LAUNCH(k_sparse, blocks_for(m * l->in), BLOCK, 0, c->stream, *s, graph_of + first, n,
                   l->in, (int)(end - first), x + first * n * l->in, w->aggregated);
        DLS_TRY(product(c, w->aggregated, l->in, weights + l->w, to, h, m, l->in, h, err));
        DLS_LAUNCH(k_bias_lrelu, blocks_for(m * h), BLOCK, 0, c->stream, to, weights + l->b, h,
                   m * h);
    }
    return DLS_OK;
}

static dls_status plain_layers(cuda_state *c, const extent *x, const device_work *w,
                               const dev_graphs *s, const upload *u, const stage *st,
                               dls_error *err)
{
    const dls_arch *a = &c->insp->arch;
    const int h = a->hidden;
    const size_t len = (size_t)x->n * h;
    const size_t total = st->rows * len;
    const size_t m = st->rows * x->n;
    const int *graph_of = st->graph_of ? st->graph_of : u->identity;
    /* states alternate between two buffers so that the last one lands in st->out */
    const bool odd = (st->to - st->from) % 2 == 1;
    float *next = odd ? st->out : w->x;
    float *other = odd ? w->x : st->out;
    const float *state = u->features;
    if (st->from > 0) {
        DLS_LAUNCH(k_copy_rows, blocks_for(total), BLOCK, 0, c->stream, st->x_in, st->source, len,
                   total, other);
        state = other;
    }
    for (int l = st->from; l < st->to; l++) {
        const int k = l == 0 ? a->n_features : h;
        DLS_TRY(conv_layer(c, w, s, x->n, graph_of, st, l, state, w->y, err));
        DLS_TRY(product(c, state, k, c->w + c->pack.wi, w->gi, 3 * h, m, k, 3 * h, err));
        DLS_TRY(product(c, w->y, h, c->w + c->pack.wh, w->gh, 3 * h, m, h, 3 * h, err));
        DLS_LAUNCH(k_gru, blocks_for(total), BLOCK, 0, c->stream, w->gi, w->gh, c->w + c->pack.bi,
                   c->w + c->pack.bh, w->y, h, total, next);
        float *done = next;
        state = done;
        next = other;
        other = done;
    }
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

/* ---- fused layers --------------------------------------------------------------------------- */

template <class U, int TILES> static void launch_fused(const cuda_state *c, fused_args *p)
{
    /* graphs that have room together, but first one for every block */
    const int blocks = c->n_sm * U::BLOCKS;
    const int room = fused_nodes<U>(TILES) / p->slot;
    const int share = (p->n_rows + blocks - 1) / blocks;
    p->stack = room < share ? room : share;
    const int items = (p->n_rows + p->stack - 1) / p->stack;
    DLS_LAUNCH((fused_layers<U, TILES>), items < blocks ? items : blocks, U::WARPS * 32,
               fused_bytes<U>(TILES), c->stream, *p);
}

static dls_status run_fused(cuda_state *c, const extent *x, const dev_graphs *s, const upload *u,
                            const stage *st, dls_error *err)
{
    fused_args p;
    memset(&p, 0, sizeof p);
    p.s = *s;
    p.features = u->features;
    p.x_in = st->x_in;
    p.out = st->out;
    p.source = st->source;
    p.graph_of = st->graph_of;
    p.conv_of = st->conv_of;
    p.conv = c->w + c->pack.conv;
    p.bi = c->w + c->pack.bi;
    p.bh = c->w + c->pack.bh;
    p.conv_frag = c->frag;
    p.gru_frag = c->frag + c->pack.frag_gru;
    p.n = x->n;
    p.n_features = c->insp->arch.n_features;
    p.from = st->from;
    p.to = st->to;
    p.n_rows = (int)st->rows;
    p.slot = (x->n + 15) / 16 * 16;
    if (c->fast) {
        launch_fused<bf16_units, FAST_TILES>(c, &p);
    } else if (x->n <= fused_nodes<f32_units>(F32_TILES - 1)) {
        launch_fused<f32_units, F32_TILES - 1>(c, &p);
    } else {
        launch_fused<f32_units, F32_TILES>(c, &p);
    }
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

/* ---- readout -------------------------------------------------------------------------------- */

static dls_status set2set(cuda_state *c, const extent *x, const device_work *w, const float *nodes,
                          size_t rows, dls_error *err)
{
    const int d = dls_arch_readout_width(&c->insp->arch);
    const int steps = c->insp->arch.set2set_steps ? c->insp->arch.set2set_steps : x->n;
    const float *weights = c->w + c->pack.lstm_w;
    const float *bias = c->w + c->pack.lstm_b;
    if (fused_s2s_fits(c)) {
        const size_t items = (rows + S2S_ROWS - 1) / S2S_ROWS;
        const int blocks = (int)(items < (size_t)c->n_sm ? items : (size_t)c->n_sm);
        if (set2set_bytes(x->n, true) <= c->shared_bytes) {
            DLS_LAUNCH(fused_set2set<true>, blocks, S2S_THREADS, set2set_bytes(x->n, true),
                       c->stream, nodes, x->n, steps, (int)rows, weights, bias, w->pooled);
        } else {
            DLS_LAUNCH(fused_set2set<false>, blocks, S2S_THREADS, set2set_bytes(x->n, false),
                       c->stream, nodes, x->n, steps, (int)rows, weights, bias, w->pooled);
        }
        CUDA_TRY(cudaGetLastError());
        return DLS_OK;
    }
    CUDA_TRY(cudaMemsetAsync(w->q, 0, rows * 2 * d * sizeof(float), c->stream));
    CUDA_TRY(cudaMemsetAsync(w->cell, 0, rows * d * sizeof(float), c->stream));
    for (int t = 0; t < steps; t++) {
        DLS_TRY(product(c, w->q, 2 * d, weights, w->gates, 4 * d, rows, 2 * d, 4 * d, err));
        DLS_LAUNCH(k_lstm, blocks_for(rows * d), BLOCK, 0, c->stream, w->gates, bias, d, (int)rows,
                   w->cell, w->q);
        DLS_LAUNCH(k_attend, (int)rows, 32, 0, c->stream, nodes, x->n, d, w->q, w->score);
    }
    CUDA_TRY(cudaMemcpyAsync(w->pooled, w->q, rows * 2 * d * sizeof(float),
                             cudaMemcpyDeviceToDevice, c->stream));
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

static void mlp(cuda_state *c, const extent *x, const device_work *w, const upload *u)
{
    const dls_arch *a = &c->insp->arch;
    const int d = dls_arch_readout_width(a);
    dev_mlp m;
    m.weights = c->w + c->pack.mlp;
    m.stride = c->pack.mlp_stride;
    m.n_layers = a->mlp_layers;
    int widest = 0;
    for (int i = 0; i <= a->mlp_layers; i++) {
        m.width[i] = i == 0 ? dls_arch_pooled_width(a) : i == a->mlp_layers ? a->n_outputs : d;
        widest = m.width[i] > widest ? m.width[i] : widest;
    }
    /* few pairs: each a block of its own */
    const size_t share = (x->pairs + (size_t)c->n_sm - 1) / (size_t)c->n_sm;
    const size_t most = share < MLP_PAIRS ? share : MLP_PAIRS;
    DLS_LAUNCH(k_mlp, (int)((x->pairs + most - 1) / most), 128,
               2 * most * (size_t)widest * sizeof(float), c->stream, m, w->pooled, u->row_of,
               u->setting, (int)x->pairs, (int)most, widest, w->out);
}

static dls_status readout(cuda_state *c, const extent *x, const device_work *w, const upload *u,
                          const float *nodes, size_t rows, dls_error *err)
{
    DLS_TRY(set2set(c, x, w, nodes, rows, err));
    mlp(c, x, w, u);
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

#endif
