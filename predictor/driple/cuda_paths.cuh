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

/* Row-major C[m][n] = A[m][k] B[k][n]. */
static dls_status product(cuda_state *c, const float *a, const float *b, float *out, size_t m,
                          int k, int n, int lda, dls_error *err)
{
    const float one = 1.0f;
    const float zero = 0.0f;
    BLAS_TRY(cublasSgemm(c->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, (int)m, k, &one, b, n, a, lda, &zero,
                         out, n));
    return DLS_OK;
}

struct stage {
    int from, to;
    size_t rows;
    const int *source, *graph_of, *conv_of; /* NULL: identity, identity, 1 */
    const float *x_in;
    float *out;
    const int *host_conv_of;
};

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
    float *state = w->x;
    float *next = st->out;
    const int blocks = blocks_for(total);
    if (st->from == 0) {
        DLS_LAUNCH(k_expand, blocks, BLOCK, 0, c->stream, u->features, a->n_features, h, total,
                   state);
    } else {
        DLS_LAUNCH(k_copy_rows, blocks, BLOCK, 0, c->stream, st->x_in, st->source, len, total,
                   state);
    }
    for (int l = st->from; l < st->to; l++) {
        const int fixed = !a->shared || l == 0 ? l : st->conv_of ? -1 : 1;
        const int k = l == 0 ? a->n_features : h;
        DLS_LAUNCH(k_sparse, blocks, BLOCK, 0, c->stream, *s, graph_of, x->n, h, (int)st->rows,
                   state, w->agg);
        float *y = a->gru ? w->y : next;
        if (fixed >= 0) {
            DLS_TRY(product(c, w->agg, c->w + c->pack.conv_w + (size_t)fixed * h * h, y, m, k, h, h,
                            err));
        } else {
            /* one product per run of rows that have the same convolution */
            const float one = 1.0f;
            const float zero = 0.0f;
            for (size_t r = 0; r < st->rows;) {
                size_t end = r + 1;
                while (end < st->rows && st->host_conv_of[end] == st->host_conv_of[r]) {
                    end++;
                }
                const float *conv = c->w + c->pack.conv_w + (size_t)st->host_conv_of[r] * h * h;
                BLAS_TRY(cublasSgemm(c->blas, CUBLAS_OP_N, CUBLAS_OP_N, h, (int)(end - r) * x->n, h,
                                     &one, conv, h, w->agg + r * len, h, &zero, y + r * len, h));
                r = end;
            }
        }
        DLS_LAUNCH(k_bias_lrelu, blocks, BLOCK, 0, c->stream, y, c->w + c->pack.conv_b, h,
                   st->conv_of, fixed, x->n, h, (int)st->rows);
        if (a->gru) {
            DLS_TRY(product(c, state, c->w + c->pack.wi, w->gi, m, k, 3 * h, h, err));
            DLS_TRY(product(c, y, c->w + c->pack.wh, w->gh, m, h, 3 * h, h, err));
            DLS_LAUNCH(k_gru, blocks, BLOCK, 0, c->stream, w->gi, w->gh, c->w + c->pack.bi,
                       c->w + c->pack.bh, y, h, total, next);
        }
        float *swap = state;
        state = next;
        next = swap;
    }
    if (state != st->out) {
        CUDA_TRY(cudaMemcpyAsync(st->out, state, total * sizeof(float), cudaMemcpyDeviceToDevice,
                                 c->stream));
    }
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

static dls_status fused_layers(cuda_state *c, const extent *x, const dev_graphs *s, const upload *u,
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
    p.conv_w = c->w + c->pack.conv_w;
    p.conv_b = c->w + c->pack.conv_b;
    p.wi = c->w + c->pack.wi;
    p.wh = c->w + c->pack.wh;
    p.bi = c->w + c->pack.bi;
    p.bh = c->w + c->pack.bh;
    p.conv_frag = c->frag;
    p.gru_frag = c->frag + c->pack.frag_gru;
    p.n = x->n;
    p.n_features = c->insp->arch.n_features;
    p.from = st->from;
    p.to = st->to;
    p.n_rows = (int)st->rows;
    p.own_convs = !c->insp->arch.shared;
    const int grid = st->rows < (size_t)c->n_sm ? (int)st->rows : c->n_sm;
    if (c->fast) {
        DLS_LAUNCH(fused_layers_bf16, grid, FUSED_THREADS, fused_bf16_bytes(), c->stream, p);
    } else if (x->n <= FUSED_GROUPS * 4) {
        DLS_LAUNCH(fused_layers_f32<4>, grid, FUSED_THREADS, fused_f32_bytes(4), c->stream, p);
    } else if (x->n <= FUSED_GROUPS * 8) {
        DLS_LAUNCH(fused_layers_f32<8>, grid, FUSED_THREADS, fused_f32_bytes(8), c->stream, p);
    } else if (x->n <= FUSED_GROUPS * 13) {
        DLS_LAUNCH(fused_layers_f32<13>, grid, FUSED_THREADS, fused_f32_bytes(13), c->stream, p);
    } else {
        DLS_LAUNCH(fused_layers_f32<18>, grid, FUSED_THREADS, fused_f32_bytes(18), c->stream, p);
    }
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

static dls_status set2set(cuda_state *c, const extent *x, const device_work *w, const float *nodes,
                          size_t rows, dls_error *err)
{
    const int h = c->insp->arch.hidden;
    const int steps = c->insp->arch.set2set_steps ? c->insp->arch.set2set_steps : x->n;
    const float *weights = c->w + c->pack.lstm_w;
    const float *bias = c->w + c->pack.lstm_b;
    if (fused_s2s_fits(c, x->n)) {
        const size_t blocks = (rows + S2S_ROWS - 1) / S2S_ROWS;
        DLS_LAUNCH(fused_set2set, (int)(blocks < (size_t)c->n_sm ? blocks : (size_t)c->n_sm),
                   FUSED_THREADS, fused_s2s_bytes(x->n), c->stream, nodes, x->n, steps, (int)rows,
                   weights, bias, w->pooled);
        CUDA_TRY(cudaGetLastError());
        return DLS_OK;
    }
    CUDA_TRY(cudaMemsetAsync(w->q, 0, rows * 2 * h * sizeof(float), c->stream));
    CUDA_TRY(cudaMemsetAsync(w->cell, 0, rows * h * sizeof(float), c->stream));
    for (int t = 0; t < steps; t++) {
        DLS_TRY(product(c, w->q, weights, w->gates, rows, 2 * h, 4 * h, 2 * h, err));
        DLS_LAUNCH(k_lstm, blocks_for(rows * h), BLOCK, 0, c->stream, w->gates, bias, h, (int)rows,
                   w->cell, w->q);
        DLS_LAUNCH(k_attend, (int)rows, 32, 0, c->stream, nodes, x->n, h, w->q, (size_t)2 * h,
                   (const float *)NULL, w->score, w->q + h, (size_t)2 * h);
    }
    CUDA_TRY(cudaMemcpyAsync(w->pooled, w->q, rows * 2 * h * sizeof(float),
                             cudaMemcpyDeviceToDevice, c->stream));
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

static dls_status readout(cuda_state *c, const extent *x, const device_work *w, const upload *u,
                          const float *nodes, size_t rows, dls_error *err)
{
    const dls_arch *a = &c->insp->arch;
    const int h = a->hidden;
    if (a->pool == DLS_POOL_SET2SET) {
        DLS_TRY(set2set(c, x, w, nodes, rows, err));
    } else if (a->pool == DLS_POOL_ATTENTION) {
        const float *attention = c->w + c->pack.attention;
        DLS_LAUNCH(k_attend, (int)rows, 32, 0, c->stream, nodes, x->n, h, attention, (size_t)0,
                   attention + h, w->score, w->pooled, (size_t)h);
    } else {
        DLS_LAUNCH(k_pool, blocks_for(rows * h), BLOCK, 0, c->stream, nodes, x->n, h, (int)rows,
                   a->pool == DLS_POOL_MAX ? 1 : 0, w->pooled);
    }
    dev_mlp m;
    m.weights = c->w + c->pack.mlp;
    m.stride = c->pack.mlp_stride;
    m.n_layers = a->mlp_layers;
    int widest = 0;
    for (int i = 0; i <= a->mlp_layers; i++) {
        m.width[i] = i == 0 ? dls_arch_pooled_width(a) : i == a->mlp_layers ? a->n_outputs : h;
        widest = m.width[i] > widest ? m.width[i] : widest;
    }
    DLS_LAUNCH(k_mlp, (int)((x->pairs + MLP_PAIRS - 1) / MLP_PAIRS), 128, mlp_bytes(a), c->stream,
               m, w->pooled, u->row_of, u->setting, (int)x->pairs, widest, w->out);
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

#endif
