/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The CUDA backend (GCN inspectors). Built as a module of its own, with the few files of sim/base
 * that it needs inside, so that dlsim itself does not depend on CUDA libraries.
 *
 * A job is cut into chunks of one graph size that fit the memory allowed. Two slots alternate: the
 * host prepares one chunk while the device computes the other. Per chunk:
 *
 *     upload features, adjacency | normalise | prefix layers [G] | suffix layers [R] | readout |
 * MLP
 *
 * Layers and Set2Set have two forms: the fused kernels where the shape allows (H = 64, GRU, up to
 * 144 nodes in float32, 128 in bf16), and cuBLAS with one kernel a step. DLSIM_CUDA_PATH=plain
 * chooses the latter everywhere.
 */
#include "predictor/driple/backend.h"
#include "predictor/driple/cuda_fused.cuh"
#include "predictor/driple/cuda_pack.cuh"

#include <cstdlib>

#define SLOTS 2
#define DEFAULT_BYTES ((size_t)1 << 30)
#define BLOCK 256
#define MLP_BYTES_MAX 49152 /* what a kernel may use without asking */

/* Device and host memory of one chunk; capacities in pairs, nodes, edges. */
struct slot {
    unsigned char *dev, *host;
    size_t dev_bytes, host_bytes;
    cudaEvent_t done;
    double *out; /* where the answers go once done; NULL: free */
    const float *host_out;
    size_t n_out;
};

struct cuda_state {
    const dls_inspector *insp;
    bool fast, plain_only, has_event[SLOTS];
    size_t memory_bytes;
    size_t chunk_limit; /* pairs; halved when memory runs out */
    int n_sm;
    cudaStream_t stream;
    cublasHandle_t blas;
    pack_layout pack;
    float *w;
    uint2 *frag;
    slot slots[SLOTS];
    char device[64];
    char note[256];
};

static dls_status cuda_fail(dls_error *err, cudaError_t e, const char *what)
{
    const dls_status status = e == cudaErrorMemoryAllocation ? DLS_ENOMEM : DLS_EPREDICTOR;
    return dls_fail(err, status, "cuda", "%s: %s", what, cudaGetErrorString(e));
}
#define CUDA_TRY(call)                                                                             \
    do {                                                                                           \
        const cudaError_t e_ = (call);                                                             \
        if (e_ != cudaSuccess) {                                                                   \
            return cuda_fail(err, e_, #call);                                                      \
        }                                                                                          \
    } while (0)
#define BLAS_TRY(call)                                                                             \
    do {                                                                                           \
        if ((call) != CUBLAS_STATUS_SUCCESS) {                                                     \
            return dls_fail(err, DLS_EPREDICTOR, "cuda", "%s failed", #call);                      \
        }                                                                                          \
    } while (0)

/* ---- opening ------------------------------------------------------------------------------------
 */

static void slot_free(slot *s)
{
    cudaFree(s->dev);
    cudaFreeHost(s->host);
    s->dev = s->host = NULL;
    s->dev_bytes = s->host_bytes = 0;
}

static void backend_close(void *state)
{
    cuda_state *c = (cuda_state *)state;
    if (!c) {
        return;
    }
    for (int i = 0; i < SLOTS; i++) {
        slot_free(&c->slots[i]);
        if (c->has_event[i]) {
            cudaEventDestroy(c->slots[i].done);
        }
    }
    cudaFree(c->w);
    cudaFree(c->frag);
    if (c->blas) {
        cublasDestroy(c->blas);
    }
    if (c->stream) {
        cudaStreamDestroy(c->stream);
    }
    dls_free(c);
}

static dls_status upload_weights(cuda_state *c, dls_error *err)
{
    c->pack = pack_plan(c->insp);
    const size_t bytes = c->pack.total * sizeof(float);
    const size_t frag_bytes = c->pack.frag_total * sizeof(uint2);
    float *floats = (float *)dls_alloc_zero(c->pack.total, sizeof(float));
    uint2 *frags = (uint2 *)dls_alloc_zero(c->pack.frag_total, sizeof(uint2));
    dls_status status = floats && frags ? DLS_OK : dls_nomem(err, "weights", bytes + frag_bytes);
    cudaError_t e = cudaSuccess;
    if (status == DLS_OK) {
        pack_fill(c->insp, &c->pack, floats, frags);
        e = cudaMalloc((void **)&c->w, bytes);
        e = e == cudaSuccess ? cudaMalloc((void **)&c->frag, frag_bytes) : e;
        e = e == cudaSuccess ? cudaMemcpy(c->w, floats, bytes, cudaMemcpyHostToDevice) : e;
        e = e == cudaSuccess ? cudaMemcpy(c->frag, frags, frag_bytes, cudaMemcpyHostToDevice) : e;
    }
    dls_free(floats);
    dls_free(frags);
    return e == cudaSuccess ? status : cuda_fail(err, e, "uploading weights");
}

static dls_status open_device(cuda_state *c, dls_error *err)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda", "no CUDA device or no driver");
    }
    cudaDeviceProp prop;
    CUDA_TRY(cudaGetDeviceProperties(&prop, 0));
    snprintf(c->device, sizeof c->device, "%.63s", prop.name);
    c->n_sm = prop.multiProcessorCount;
    if (prop.major < 8) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda", "%s: compute capability %d.%d, 8.0 needed",
                        c->device, prop.major, prop.minor);
    }
    const size_t most = prop.sharedMemPerBlockOptin;
    const size_t s2s = fused_s2s_bytes(1024) < most ? fused_s2s_bytes(1024) : most;
    if (most < fused_f32_bytes(18)) {
        c->plain_only = true; /* the fused kernels are sized for 227 KB */
    } else {
        CUDA_TRY(cudaFuncSetAttribute((const void *)fused_layers_f32<4>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)fused_f32_bytes(4)));
        CUDA_TRY(cudaFuncSetAttribute((const void *)fused_layers_f32<8>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)fused_f32_bytes(8)));
        CUDA_TRY(cudaFuncSetAttribute((const void *)fused_layers_f32<13>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)fused_f32_bytes(13)));
        CUDA_TRY(cudaFuncSetAttribute((const void *)fused_layers_f32<18>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)fused_f32_bytes(18)));
        CUDA_TRY(cudaFuncSetAttribute((const void *)fused_layers_bf16,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      (int)fused_bf16_bytes()));
        CUDA_TRY(cudaFuncSetAttribute((const void *)fused_set2set,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s2s));
    }
    CUDA_TRY(cudaStreamCreate(&c->stream));
    BLAS_TRY(cublasCreate(&c->blas));
    BLAS_TRY(cublasSetStream(c->blas, c->stream));
    /* float32 means float32: TF32 only where the caller asked for the fast mode */
    BLAS_TRY(
        cublasSetMathMode(c->blas, c->fast ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH));
    for (int i = 0; i < SLOTS; i++) {
        CUDA_TRY(cudaEventCreateWithFlags(&c->slots[i].done, cudaEventDisableTiming));
        c->has_event[i] = true;
    }
    return upload_weights(c, err);
}

static size_t mlp_bytes(const dls_arch *a)
{
    return 2 * MLP_PAIRS * (size_t)dls_arch_pooled_width(a) * sizeof(float);
}

static dls_status backend_open(const dls_inspector *insp, const dls_driple_config *config,
                               void **state, dls_error *err)
{
    const dls_arch *a = &insp->arch;
    *state = NULL;
    if (config->precision == DLS_PRECISION_F64) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda", "float64 is computed by the CPU only");
    }
    if (a->conv != DLS_CONV_GCN || a->skip || a->n_features > a->hidden ||
        mlp_bytes(a) > MLP_BYTES_MAX) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda",
                        "the CUDA backend computes GCN inspectors without skip connections, up to "
                        "192 wide; this one is computed by the CPU");
    }
    cuda_state *c = (cuda_state *)dls_alloc_zero(1, sizeof *c);
    if (!c) {
        return dls_nomem(err, "CUDA backend", sizeof *c);
    }
    const char *path = getenv("DLSIM_CUDA_PATH");
    c->insp = insp;
    c->fast = config->precision == DLS_PRECISION_FAST;
    c->plain_only = path && strcmp(path, "plain") == 0;
    c->memory_bytes = config->memory_bytes ? config->memory_bytes : DEFAULT_BYTES;
    c->chunk_limit = (size_t)1 << 20;
    const dls_status status = open_device(c, err);
    if (status != DLS_OK) {
        backend_close(c);
        return status;
    }
    *state = c;
    return DLS_OK;
}

/* ---- a chunk ------------------------------------------------------------------------------------
 */

struct bump {
    unsigned char *at;
    size_t used;
};
template <typename T> static T *take(bump *b, size_t n)
{
    T *p = b->at ? (T *)(b->at + b->used) : NULL;
    b->used += (n * sizeof(T) + 255) / 256 * 256;
    return p;
}

/* How large a chunk is; rows and graphs are bounded by the pairs. */
struct extent {
    size_t pairs, graphs, rows, nodes, edges;
    int n;
    bool weighted, suffix;
};

/* Host arrays, uploaded as one block, so host and device have the same layout. */
struct upload {
    float *features;
    int *row_start, *col;
    float *weight;
    int *identity;                    /* [graphs] 0, 1, ... */
    int *source, *graph_of, *conv_of; /* [rows] */
    int *row_of, *setting;            /* [pairs] */
};

struct device_work {
    float *val, *root, *diag;
    float *state, *state2; /* prefix result [G][n][h], suffix result [R][n][h] */
    float *pooled, *out;
    /* plain path */
    float *x, *y, *agg, *gi, *gh;    /* [max(G, R)][n][h or 3h] */
    float *gates, *q, *cell, *score; /* Set2Set */
};

static upload lay_upload(const cuda_state *c, const extent *x, bump *b)
{
    upload u;
    u.features = take<float>(b, x->graphs * x->n * c->insp->arch.n_features);
    u.row_start = take<int>(b, x->graphs * (x->n + 1));
    u.col = take<int>(b, x->edges);
    u.weight = take<float>(b, x->weighted ? x->edges : 0);
    u.identity = take<int>(b, x->graphs);
    u.source = take<int>(b, x->rows);
    u.graph_of = take<int>(b, x->rows);
    u.conv_of = take<int>(b, x->rows);
    u.row_of = take<int>(b, x->pairs);
    u.setting = take<int>(b, x->pairs);
    return u;
}

static bool fused_layers_fit(const cuda_state *c, int n)
{
    return !c->plain_only && c->insp->arch.hidden == FUSED_H && c->insp->arch.gru &&
           n <= (c->fast ? BF16_NODES : 144);
}

static bool fused_s2s_fits(const cuda_state *c, int n)
{
    return !c->plain_only && c->insp->arch.hidden == FUSED_H && n <= 1024;
}

static device_work lay_work(const cuda_state *c, const extent *x, bump *b)
{
    const size_t h = (size_t)c->insp->arch.hidden;
    const size_t most = x->rows > x->graphs ? x->rows : x->graphs;
    device_work w;
    memset(&w, 0, sizeof w);
    w.val = take<float>(b, x->edges);
    w.root = take<float>(b, x->nodes);
    w.diag = take<float>(b, x->nodes);
    w.state = take<float>(b, x->nodes * h);
    w.state2 = take<float>(b, x->suffix ? x->rows * x->n * h : 0);
    w.pooled = take<float>(b, most * (size_t)dls_arch_pooled_width(&c->insp->arch));
    w.out = take<float>(b, x->pairs * DLS_METRICS);
    w.score = take<float>(b, most * x->n);
    if (!fused_layers_fit(c, x->n)) {
        w.x = take<float>(b, most * x->n * h);
        w.y = take<float>(b, most * x->n * h);
        w.agg = take<float>(b, most * x->n * h);
        w.gi = take<float>(b, most * x->n * 3 * h);
        w.gh = take<float>(b, most * x->n * 3 * h);
    }
    if (!fused_s2s_fits(c, x->n)) {
        w.gates = take<float>(b, most * 4 * h);
        w.q = take<float>(b, most * 2 * h);
        w.cell = take<float>(b, most * h);
    }
    return w;
}

/* Does a setting have layers of its own on graphs of n nodes? */
static bool own_layers(const cuda_state *c, int setting, int n)
{
    const int depth = dls_arch_layers(&c->insp->arch, n);
    return setting >= 0 && c->insp->settings[setting].has_conv &&
           dls_arch_prefix_layers(depth) < depth;
}

/* Pairs [first, last): how many graphs, rows, edges. */
static extent measure(const cuda_state *c, const dls_driple_job *job, size_t first, size_t last)
{
    extent x;
    memset(&x, 0, sizeof x);
    x.n = job->graphs[job->pairs[first].graph].n_nodes;
    x.pairs = last - first;
    bool base_row = false;
    for (size_t i = first; i < last; i++) {
        const dls_pair *p = &job->pairs[i];
        if (i == first || p->graph != job->pairs[i - 1].graph) {
            const dls_graph *g = &job->graphs[p->graph];
            x.graphs++;
            x.edges += (size_t)g->row_start[g->n_nodes];
            x.weighted = x.weighted || g->weight;
            base_row = false;
        }
        const bool own = own_layers(c, p->setting, x.n);
        x.suffix = x.suffix || own;
        x.rows += own || !base_row;
        base_row = base_row || !own;
    }
    x.nodes = x.graphs * (size_t)x.n;
    return x;
}

static size_t chunk_bytes(const cuda_state *c, const extent *x)
{
    bump b = {NULL, 0};
    (void)lay_upload(c, x, &b);
    (void)lay_work(c, x, &b);
    return b.used;
}

/* The end of the chunk that starts at `first`: one size, within the memory of a slot, at most
 * chunk_limit pairs, edges that an int counts. */
static size_t chunk_end(const cuda_state *c, const dls_driple_job *job, size_t first)
{
    const int n = job->graphs[job->pairs[first].graph].n_nodes;
    size_t last = first + 1;
    size_t step = 1;
    while (last < job->n_pairs) {
        size_t next = last + step < job->n_pairs ? last + step : job->n_pairs;
        if (job->graphs[job->pairs[next - 1].graph].n_nodes == n) {
            const extent x = measure(c, job, first, next);
            if (next - first <= c->chunk_limit && x.edges < (size_t)1 << 30 &&
                chunk_bytes(c, &x) <= c->memory_bytes / SLOTS) {
                last = next;
                step *= 2;
                continue;
            }
        }
        if (step == 1) {
            break;
        }
        step = 1;
    }
    return last;
}

static void fill_upload(const cuda_state *c, const dls_driple_job *job, size_t first,
                        const extent *x, const upload *u)
{
    const dls_inspector *insp = c->insp;
    const int f = insp->arch.n_features;
    const int n_convs = dls_arch_n_convs(&insp->arch);
    size_t edges = 0;
    int g = -1;
    int row = -1;
    int base_row = -1;
    for (size_t i = 0; i < x->pairs; i++) {
        const dls_pair *p = &job->pairs[first + i];
        if (i == 0 || p->graph != job->pairs[first + i - 1].graph) {
            const dls_graph *from = &job->graphs[p->graph];
            g++;
            u->identity[g] = g;
            base_row = -1;
            for (int k = 0; k < x->n * f; k++) {
                u->features[(size_t)g * x->n * f + k] =
                    (float)((from->x[k] - insp->feature_shift[k % f]) / insp->feature_scale[k % f]);
            }
            for (int k = 0; k <= x->n; k++) {
                u->row_start[(size_t)g * (x->n + 1) + k] =
                    (int)(edges + (size_t)from->row_start[k]);
            }
            const size_t m = (size_t)from->row_start[x->n];
            memcpy(u->col + edges, from->col, m * sizeof(int));
            for (size_t e = 0; x->weighted && e < m; e++) {
                u->weight[edges + e] = from->weight ? (float)from->weight[e] : 1.0f;
            }
            edges += m;
        }
        const bool own = own_layers(c, p->setting, x->n);
        if (own || base_row < 0) {
            row++;
            base_row = own ? base_row : row;
            u->source[row] = g;
            u->graph_of[row] = g;
            u->conv_of[row] = own ? n_convs + p->setting : 1;
        }
        u->row_of[i] = own ? row : base_row;
        u->setting[i] = p->setting;
    }
}

/* ---- the two paths ------------------------------------------------------------------------------
 */

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

/* ---- running chunks -----------------------------------------------------------------------------
 */

static dls_status slot_room(slot *s, size_t dev_bytes, size_t host_bytes, dls_error *err)
{
    if (s->dev_bytes < dev_bytes) {
        cudaFree(s->dev);
        s->dev = NULL;
        s->dev_bytes = 0;
        const cudaError_t e = cudaMalloc((void **)&s->dev, dev_bytes);
        if (e != cudaSuccess) {
            s->dev = NULL;
            (void)cudaGetLastError(); /* clear it */
            return cuda_fail(err, e, "device memory");
        }
        s->dev_bytes = dev_bytes;
    }
    if (s->host_bytes < host_bytes) {
        cudaFreeHost(s->host);
        s->host = NULL;
        s->host_bytes = 0;
        CUDA_TRY(cudaMallocHost((void **)&s->host, host_bytes));
        s->host_bytes = host_bytes;
    }
    return DLS_OK;
}

/* Wait for the slot's chunk, if any, and hand its answers over. */
static dls_status slot_drain(slot *s, dls_error *err)
{
    if (s->out) {
        CUDA_TRY(cudaEventSynchronize(s->done));
        for (size_t i = 0; i < s->n_out; i++) {
            s->out[i] = (double)s->host_out[i];
        }
        s->out = NULL;
    }
    return DLS_OK;
}

static dls_status run_layers(cuda_state *c, const extent *x, const device_work *w,
                             const dev_graphs *s, const upload *dev, const upload *host,
                             const float **nodes, size_t *rows, dls_error *err)
{
    const int depth = dls_arch_layers(&c->insp->arch, x->n);
    const int split = x->suffix ? dls_arch_prefix_layers(depth) : depth;
    const bool fused = fused_layers_fit(c, x->n);
    stage prefix;
    memset(&prefix, 0, sizeof prefix);
    prefix.to = split;
    prefix.rows = x->graphs;
    prefix.out = w->state;
    stage suffix = prefix;
    suffix.from = split;
    suffix.to = depth;
    suffix.rows = x->rows;
    suffix.source = dev->source;
    suffix.graph_of = dev->graph_of;
    suffix.conv_of = dev->conv_of;
    suffix.host_conv_of = host->conv_of;
    suffix.x_in = w->state;
    suffix.out = w->state2;
    if (fused) {
        DLS_TRY(fused_layers(c, x, s, dev, &prefix, err));
    } else {
        DLS_TRY(plain_layers(c, x, w, s, dev, &prefix, err));
    }
    *nodes = w->state;
    *rows = x->graphs;
    if (x->suffix) {
        if (fused) {
            DLS_TRY(fused_layers(c, x, s, dev, &suffix, err));
        } else {
            DLS_TRY(plain_layers(c, x, w, s, dev, &suffix, err));
        }
        *nodes = w->state2;
        *rows = x->rows;
    }
    return DLS_OK;
}

static dls_status run_chunk(cuda_state *c, slot *s, const dls_driple_job *job, size_t first,
                            size_t last, dls_error *err)
{
    DLS_TRY(slot_drain(s, err));
    extent x = measure(c, job, first, last);
    bump size = {NULL, 0};
    (void)lay_upload(c, &x, &size);
    const size_t up_bytes = size.used;
    (void)lay_work(c, &x, &size);
    const size_t out_bytes = x.pairs * DLS_METRICS * sizeof(float);
    DLS_TRY(slot_room(s, size.used, up_bytes + out_bytes, err));
    bump host_bump = {s->host, 0};
    bump dev_bump = {s->dev, 0};
    const upload host = lay_upload(c, &x, &host_bump);
    const upload dev = lay_upload(c, &x, &dev_bump);
    const device_work w = lay_work(c, &x, &dev_bump);
    fill_upload(c, job, first, &x, &host);
    CUDA_TRY(cudaMemcpyAsync(s->dev, s->host, up_bytes, cudaMemcpyHostToDevice, c->stream));
    const float *weight = x.weighted ? dev.weight : NULL;
    const int node_blocks = blocks_for(x.nodes);
    DLS_LAUNCH(k_degree, node_blocks, BLOCK, 0, c->stream, dev.row_start, weight, x.n,
               (int)x.graphs, w.root, w.diag);
    DLS_LAUNCH(k_normalise, node_blocks, BLOCK, 0, c->stream, dev.row_start, dev.col, weight, x.n,
               (int)x.graphs, w.root, w.val);
    const dev_graphs graphs = {dev.row_start, dev.col, w.val, w.diag};
    const float *nodes = NULL;
    size_t rows = 0;
    DLS_TRY(run_layers(c, &x, &w, &graphs, &dev, &host, &nodes, &rows, err));
    DLS_TRY(readout(c, &x, &w, &dev, nodes, rows, err));
    float *host_out = (float *)(s->host + up_bytes);
    CUDA_TRY(cudaMemcpyAsync(host_out, w.out, out_bytes, cudaMemcpyDeviceToHost, c->stream));
    CUDA_TRY(cudaEventRecord(s->done, c->stream));
    s->out = job->out + first * DLS_METRICS;
    s->host_out = host_out;
    s->n_out = x.pairs * DLS_METRICS;
    return DLS_OK;
}

static dls_status backend_forward(void *state, const dls_driple_job *job, dls_error *err)
{
    cuda_state *c = (cuda_state *)state;
    dls_status status = DLS_OK;
    int turn = 0;
    for (size_t first = 0; status == DLS_OK && first < job->n_pairs;) {
        const size_t last = chunk_end(c, job, first);
        status = run_chunk(c, &c->slots[turn], job, first, last, err);
        if (status == DLS_ENOMEM && last - first > 1) {
            /* let the other slot finish and give its memory back, then try half */
            status = slot_drain(&c->slots[!turn], err);
            slot_free(&c->slots[!turn]);
            c->chunk_limit = (last - first) / 2;
            snprintf(c->note, sizeof c->note,
                     "cuda: out of device memory, batches reduced to %zu predictions",
                     c->chunk_limit);
            continue;
        }
        first = last;
        turn = !turn;
    }
    for (int i = 0; i < SLOTS; i++) {
        dls_error late;
        const dls_status s = slot_drain(&c->slots[i], status == DLS_OK ? err : &late);
        c->slots[i].out = NULL;
        status = status == DLS_OK ? s : status;
    }
    return status;
}

static void backend_describe(const void *state, char *text, size_t size)
{
    const cuda_state *c = (const cuda_state *)state;
    snprintf(text, size, "%s, %s%s", c->device, !c->fast ? "f32" : c->plain_only ? "tf32" : "bf16",
             c->plain_only ? ", plain path" : "");
}

static void backend_notes(void *state, char *text, size_t size)
{
    cuda_state *c = (cuda_state *)state;
    snprintf(text, size, "%s", c->note);
    c->note[0] = '\0';
}

static const dls_driple_ops ops = {DLS_DRIPLE_ABI,  "cuda",           backend_open, backend_close,
                                   backend_forward, backend_describe, backend_notes};

extern "C" __attribute__((visibility("default"))) const dls_driple_ops *
dls_driple_module(uint32_t abi)
{
    return abi == DLS_DRIPLE_ABI ? &ops : NULL;
}
