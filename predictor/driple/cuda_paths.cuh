/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The two ways to compute a chunk: fused kernels, and cuBLAS with one kernel a step.
 */
#ifndef DLS_CUDA_PATHS_CUH
#define DLS_CUDA_PATHS_CUH

#include "predictor/driple/cuda_chunk.cuh"
#include "predictor/driple/cuda_convs.cuh"

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
    const float *skip_in;
    float *skip; /* all layers side by side, if the readout sees them */
    const int *host_conv_of;
};

/* ---- one convolution of consecutive rows that share its weights ----------------------------- */

struct conv_run {
    int n;
    size_t rows;
    const dev_graphs *s;
    const int *graph_of;  /* [rows] */
    const conv_layout *l; /* into */
    const float *weights;
    const float *x;    /* [rows][n][l->in] */
    float *y;          /* [rows][n][h] */
    float *scratch[3]; /* see conv_scratch */
};

static void bias_act(cuda_state *c, float *y, const float *bias, int width, size_t rows,
                     device_act act)
{
    const size_t total = rows * width;
    DLS_LAUNCH(k_bias_act, blocks_for(total), BLOCK, 0, c->stream, y, bias, width, total, act);
}

static void aggregate(cuda_state *c, const conv_run *r, const float *epsilon)
{
    DLS_LAUNCH(k_sparse, blocks_for(r->rows * r->n * r->l->in), BLOCK, 0, c->stream, *r->s,
               r->graph_of, r->n, r->l->in, (int)r->rows, r->x, epsilon, r->scratch[0]);
}

static dls_status conv_gcn(cuda_state *c, const conv_run *r, dls_error *err)
{
    const int h = c->insp->arch.hidden;
    const size_t m = r->rows * r->n;
    aggregate(c, r, NULL);
    DLS_TRY(
        product(c, r->scratch[0], r->l->in, r->weights + r->l->w, r->y, h, m, r->l->in, h, err));
    bias_act(c, r->y, r->weights + r->l->b, h, m, DEVICE_LRELU);
    return DLS_OK;
}

static dls_status conv_gin(cuda_state *c, const conv_run *r, dls_error *err)
{
    const dls_arch *a = &c->insp->arch;
    const size_t m = r->rows * r->n;
    aggregate(c, r, r->weights + r->l->epsilon);
    int k = r->l->in;
    for (int i = 0; i < a->gin_layers; i++) {
        const bool last = i == a->gin_layers - 1;
        const int width = last ? a->hidden : r->l->mid;
        const float *w = r->weights + r->l->fc[i];
        float *to = last ? r->y : r->scratch[(i + 1) % 2];
        DLS_TRY(product(c, r->scratch[i % 2], k, w, to, width, m, k, width, err));
        bias_act(c, to, w + (size_t)k * width, width, m, DEVICE_RELU);
        k = width;
    }
    return DLS_OK;
}

static dls_status conv_gat(cuda_state *c, const conv_run *r, dls_error *err)
{
    const dls_arch *a = &c->insp->arch;
    const int h = a->hidden;
    const size_t m = r->rows * r->n;
    float *wx = r->scratch[0];
    float *src = r->scratch[1];
    float *dst = src + m * a->gat_heads;
    gat_args p;
    memset(&p, 0, sizeof p);
    p.s = *r->s;
    p.graph_of = r->graph_of;
    p.n = r->n;
    p.n_rows = (int)r->rows;
    p.heads = a->gat_heads;
    p.f = h / a->gat_heads;
    p.slope = (float)a->gat_alpha;
    p.wx = wx;
    p.src = src;
    p.dst = dst;
    p.out = r->y;
    DLS_TRY(product(c, r->x, r->l->in, r->weights + r->l->w, wx, h, m, r->l->in, h, err));
    DLS_LAUNCH(k_gat_scores, blocks_for(m * p.heads), BLOCK, 0, c->stream, wx,
               r->weights + r->l->a_src, r->weights + r->l->a_dst, p.heads, p.f, m * p.heads, src,
               dst);
    if (!a->reference) {
        DLS_LAUNCH(k_gat, blocks_for(m * h), BLOCK, 0, c->stream, p);
        return DLS_OK;
    }
    for (int head = 0; head < p.heads; head++) {
        DLS_LAUNCH(k_gat_published_scores, blocks_for(m), BLOCK, 0, c->stream, p, head,
                   r->scratch[2]);
        DLS_LAUNCH(k_gat_published_softmax, blocks_for(m), BLOCK, 0, c->stream, p.n, p.n_rows,
                   r->scratch[2]);
        DLS_LAUNCH(k_gat_published_sum, blocks_for(m * p.f), BLOCK, 0, c->stream, p, head,
                   r->scratch[2]);
    }
    return DLS_OK;
}

static dls_status conv_mpnn(cuda_state *c, const conv_run *r, dls_error *err)
{
    const dls_arch *a = &c->insp->arch;
    const conv_layout *l = r->l;
    const int h = a->hidden;
    const int out = h / a->towers;
    const int f = l->f;
    const size_t m = r->rows * r->n;
    const int step = l->in == f ? 0 : f; /* layer 0 shows every tower all columns */
    float *all = r->scratch[2];
    pna_args p;
    memset(&p, 0, sizeof p);
    p.s = *r->s;
    p.graph_of = r->graph_of;
    p.n = r->n;
    p.n_rows = (int)r->rows;
    p.f = f;
    p.n_aggregators = a->n_aggregators;
    p.n_scalers = a->n_scalers;
    for (int i = 0; i < a->n_aggregators; i++) {
        p.aggregators[i] = (unsigned char)a->aggregators[i];
    }
    for (int i = 0; i < a->n_scalers; i++) {
        p.scalers[i] = (unsigned char)a->scalers[i];
    }
    p.self_loop = a->self_loop;
    p.reference = a->reference;
    p.lin_mean = (float)a->avg_d_lin;
    p.log_mean = (float)a->avg_d_log;
    p.uv = r->scratch[0];
    p.z = r->scratch[1];
    p.x_ld = l->in;
    for (int t = 0; t < a->towers; t++) {
        p.x = r->x + t * step;
        p.bias = r->weights + l->pre_b + (size_t)t * f;
        DLS_TRY(product(c, p.x, l->in, r->weights + l->pre + (size_t)t * f * 2 * f, r->scratch[0],
                        2 * f, m, f, 2 * f, err));
        DLS_LAUNCH(k_pna, blocks_for(m * f), BLOCK, 0, c->stream, p);
        DLS_TRY(product(c, p.z, l->q, r->weights + l->post + (size_t)t * l->q * out, all + t * out,
                        h, m, l->q, out, err));
    }
    bias_act(c, all, r->weights + l->post_b, h, m, DEVICE_NONE);
    DLS_TRY(product(c, all, h, r->weights + l->w, r->y, h, m, h, h, err));
    bias_act(c, r->y, r->weights + l->b, h, m, DEVICE_LRELU);
    return DLS_OK;
}

/* One layer of a stage: a run per convolution. */
static dls_status conv_layer(cuda_state *c, const device_work *w, const dev_graphs *s, int n,
                             const int *graph_of, const stage *st, int layer, const float *x,
                             float *y, dls_error *err)
{
    const dls_arch *a = &c->insp->arch;
    const bool fixed = !a->shared || layer == 0 || !st->host_conv_of;
    conv_run r;
    memset(&r, 0, sizeof r);
    r.n = n;
    r.s = s;
    r.l = layer == 0 ? &c->pack.first : &c->pack.later;
    for (int i = 0; i < 3; i++) {
        r.scratch[i] = w->conv[i]; /* runs follow each other on one stream */
    }
    for (size_t first = 0; first < st->rows; first += r.rows) {
        size_t end = first + 1;
        while (end < st->rows && (fixed || st->host_conv_of[end] == st->host_conv_of[first])) {
            end++;
        }
        const int conv = !a->shared || layer == 0 ? layer : fixed ? 1 : st->host_conv_of[first];
        r.rows = end - first;
        r.graph_of = graph_of + first;
        r.weights = c->w + c->pack.conv + (size_t)conv * c->pack.conv_stride;
        r.x = x + first * n * r.l->in;
        r.y = y + first * n * a->hidden;
        DLS_TRY(a->conv == DLS_CONV_GIN    ? conv_gin(c, &r, err)
                : a->conv == DLS_CONV_GAT  ? conv_gat(c, &r, err)
                : a->conv == DLS_CONV_MPNN ? conv_mpnn(c, &r, err)
                                           : conv_gcn(c, &r, err));
    }
    return DLS_OK;
}

static void keep_columns(cuda_state *c, const float *from, int width, size_t m, float *skip,
                         int first)
{
    const int d = dls_arch_readout_width(&c->insp->arch);
    DLS_LAUNCH(k_columns, blocks_for(m * width), BLOCK, 0, c->stream, from, width, m * width, skip,
               d, first);
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
    if (st->skip && st->from > 0) {
        const size_t row_len = (size_t)x->n * dls_arch_readout_width(a);
        DLS_LAUNCH(k_copy_rows, blocks_for(st->rows * row_len), BLOCK, 0, c->stream, st->skip_in,
                   st->source, row_len, st->rows * row_len, st->skip);
    } else if (st->skip) {
        keep_columns(c, u->features, a->n_features, m, st->skip, 0);
    }
    for (int l = st->from; l < st->to; l++) {
        const int k = l == 0 ? a->n_features : h;
        float *y = a->gru ? w->y : next;
        DLS_TRY(conv_layer(c, w, s, x->n, graph_of, st, l, state, y, err));
        if (a->gru) {
            DLS_TRY(product(c, state, k, c->w + c->pack.wi, w->gi, 3 * h, m, k, 3 * h, err));
            DLS_TRY(product(c, y, h, c->w + c->pack.wh, w->gh, 3 * h, m, h, 3 * h, err));
            DLS_LAUNCH(k_gru, blocks_for(total), BLOCK, 0, c->stream, w->gi, w->gh,
                       c->w + c->pack.bi, c->w + c->pack.bh, y, h, total, next);
        }
        if (st->skip) {
            keep_columns(c, next, h, m, st->skip, a->n_features + l * h);
        }
        float *done = next;
        state = done;
        next = other;
        other = done;
    }
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

/* ---- fused layers --------------------------------------------------------------------------- */

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
    p.conv = c->w + c->pack.conv;
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

/* ---- readout -------------------------------------------------------------------------------- */

static dls_status set2set(cuda_state *c, const extent *x, const device_work *w, const float *nodes,
                          size_t rows, dls_error *err)
{
    const int d = dls_arch_readout_width(&c->insp->arch);
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
    CUDA_TRY(cudaMemsetAsync(w->q, 0, rows * 2 * d * sizeof(float), c->stream));
    CUDA_TRY(cudaMemsetAsync(w->cell, 0, rows * d * sizeof(float), c->stream));
    for (int t = 0; t < steps; t++) {
        DLS_TRY(product(c, w->q, 2 * d, weights, w->gates, 4 * d, rows, 2 * d, 4 * d, err));
        DLS_LAUNCH(k_lstm, blocks_for(rows * d), BLOCK, 0, c->stream, w->gates, bias, d, (int)rows,
                   w->cell, w->q);
        DLS_LAUNCH(k_attend, (int)rows, 32, 0, c->stream, nodes, x->n, d, w->q, (size_t)2 * d,
                   (const float *)NULL, w->score, w->q + d, (size_t)2 * d);
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
    if (mlp_bytes(a) <= MLP_BYTES_MAX) {
        DLS_LAUNCH(k_mlp, (int)((x->pairs + MLP_PAIRS - 1) / MLP_PAIRS), 128,
                   2 * MLP_PAIRS * (size_t)widest * sizeof(float), c->stream, m, w->pooled,
                   u->row_of, u->setting, (int)x->pairs, widest, w->out);
        return;
    }
    size_t at = 0;
    for (int i = 0; i < a->mlp_layers; i++) {
        const bool last = i == a->mlp_layers - 1;
        const int k = m.width[i];
        const int n = m.width[i + 1];
        DLS_LAUNCH(k_mlp_layer, blocks_for(x->pairs * n), BLOCK, 0, c->stream, m.weights, m.stride,
                   at, k, n, i == 0 ? w->pooled : w->mlp[(i + 1) % 2],
                   i == 0 ? u->row_of : (const int *)NULL, u->setting, x->pairs, last ? 1 : 0,
                   last ? w->out : w->mlp[i % 2]);
        at += (size_t)(k + 1) * n;
    }
}

static dls_status readout(cuda_state *c, const extent *x, const device_work *w, const upload *u,
                          const float *nodes, size_t rows, dls_error *err)
{
    const dls_arch *a = &c->insp->arch;
    const int d = dls_arch_readout_width(a);
    if (a->pool == DLS_POOL_SET2SET) {
        DLS_TRY(set2set(c, x, w, nodes, rows, err));
    } else if (a->pool == DLS_POOL_ATTENTION) {
        const float *attention = c->w + c->pack.attention;
        DLS_LAUNCH(k_attend, (int)rows, 32, 0, c->stream, nodes, x->n, d, attention, (size_t)0,
                   attention + d, w->score, w->pooled, (size_t)d);
    } else {
        DLS_LAUNCH(k_pool, blocks_for(rows * d), BLOCK, 0, c->stream, nodes, x->n, d, (int)rows,
                   a->pool == DLS_POOL_MAX ? 1 : 0, w->pooled);
    }
    mlp(c, x, w, u);
    CUDA_TRY(cudaGetLastError());
    return DLS_OK;
}

#endif
