/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fused kernels for H = 64: a graph's state never leaves the multiprocessor between layers, and
 * recurrent weights are loaded once per block, which then takes graph after graph.
 *
 *     shared memory   Wi, Wh, Wc | x (state), u (aggregated, then new state), y (convolution)
 *     per layer       u = S x | y = lrelu(u Wc + b) | u = GRU(x, y) | swap x, u
 *
 * Three barriers a layer. fused_layers_f32 multiplies in full float32 on the ordinary units: a
 * thread owns one hidden unit and RT nodes, 4 accumulators each, so that one 16-byte broadcast of a
 * state feeds 12 fused multiply-adds. fused_layers_bf16 uses the matrix units on bf16 operands with
 * float32 sums; the convolution's result stays in float32 registers for the GRU's blend, because
 * products and blend have the same fragment layout.
 */
#ifndef DLS_CUDA_FUSED_CUH
#define DLS_CUDA_FUSED_CUH

#include "predictor/driple/cuda_kernels.cuh"

#define FUSED_H 64
#define FUSED_THREADS 512
#define FUSED_WARPS (FUSED_THREADS / 32)
#define FUSED_GROUPS 8 /* of nodes; two warps share one, a half of the units each */
#define BF16_NODES 128
#define BF16_WORDS 36 /* words per node: 32 of pairs, 4 against bank conflicts */
#define S2S_ROWS 8
#define FUSED_CONV ((FUSED_H + 1) * FUSED_H) /* floats of one convolution */

struct fused_args {
    dev_graphs s;
    const float *features; /* [source][n][n_features] when from is 0, else */
    const float *x_in;     /* [source][n][64] */
    float *out;            /* [row][n][64] */
    const int *source;     /* [row] NULL: the row itself */
    const int *graph_of;   /* [row] NULL: the row itself */
    const int *conv_of;    /* [row] convolution of layers 1.. ; NULL: 1 */
    const float *conv;     /* [conv]: w [64][64], layer 0's zero beyond its features, then b [64] */
    const float *wi, *wh;  /* [64][192] */
    const float *bi, *bh;  /* [192] */
    const uint2 *conv_frag; /* bf16: [conv][4][8][32] */
    const uint2 *gru_frag;  /* bf16: Wi then Wh, each [4][8][3][32] */
    int n, n_features, from, to, n_rows;
};

static __device__ __forceinline__ int conv_index(const fused_args &p, int row, int layer)
{
    return layer == 0 ? 0 : p.conv_of ? p.conv_of[row] : 1;
}

/* Value of node i, unit k of the row's starting state. */
static __device__ __forceinline__ float start_value(const fused_args &p, int source, int i, int k)
{
    if (p.from > 0) {
        return p.x_in[((size_t)source * p.n + i) * FUSED_H + k];
    }
    return k < p.n_features ? p.features[((size_t)source * p.n + i) * p.n_features + k] : 0.0f;
}

/* ---- float32 -------------------------------------------------------------------------------- */

static inline size_t fused_f32_bytes(int rt)
{
    return sizeof(float) * (2 * FUSED_H * 3 * FUSED_H + FUSED_H * FUSED_H +
                            3 * (size_t)FUSED_GROUPS * rt * FUSED_H);
}

/* u[i] = diag x[i] + sum val x[col]: a warp per node, a lane per two units. */
static __device__ __forceinline__ void aggregate_f32(const fused_args &p, int g, const float *x,
                                                     float *u, int warp, int lane)
{
    for (int i = warp; i < p.n; i += FUSED_WARPS) {
        const int at = g * (p.n + 1) + i;
        const int begin = __ldg(p.s.row_start + at);
        const int end = __ldg(p.s.row_start + at + 1);
        const float d = __ldg(p.s.diag + g * p.n + i);
        float2 acc = *(const float2 *)(x + i * FUSED_H + 2 * lane);
        acc.x *= d;
        acc.y *= d;
        for (int e0 = begin; e0 < end; e0 += 32) {
            const bool mine = e0 + lane < end;
            const int c = mine ? __ldg(p.s.col + e0 + lane) : 0;
            const float v = mine ? __ldg(p.s.val + e0 + lane) : 0.0f;
            const int count = end - e0 < 32 ? end - e0 : 32;
            for (int k = 0; k < count; k++) {
                const float w = __shfl_sync(0xffffffffu, v, k);
                const int j = __shfl_sync(0xffffffffu, c, k);
                const float2 o = *(const float2 *)(x + j * FUSED_H + 2 * lane);
                acc.x += w * o.x;
                acc.y += w * o.y;
            }
        }
        *(float2 *)(u + i * FUSED_H + 2 * lane) = acc;
    }
}

/* All layers in float32. One function: its phases share shared memory and registers across barriers. */
template <int RT>
static __global__ void __launch_bounds__(FUSED_THREADS, 1) fused_layers_f32(fused_args p)
{
    DLS_SHARED(raw);
    float *wi = (float *)raw;               /* [64][192] */
    float *wh = wi + FUSED_H * 3 * FUSED_H; /* [64][192] */
    float *wc = wh + FUSED_H * 3 * FUSED_H; /* [64][64] */
    float *x = wc + FUSED_H * FUSED_H;      /* [8 RT][64] */
    float *u = x + FUSED_GROUPS * RT * FUSED_H;
    float *y = u + FUSED_GROUPS * RT * FUSED_H;
    const int tid = threadIdx.x;
    const int warp = tid / 32;
    const int lane = tid % 32;
    const int unit = (warp % 2) * 32 + lane;
    const int node0 = (warp / 2) * RT;
    for (int i = tid; i < FUSED_H * 3 * FUSED_H; i += FUSED_THREADS) {
        wi[i] = p.wi[i];
        wh[i] = p.wh[i];
    }
    const float br = p.bi[unit] + p.bh[unit];
    const float bz = p.bi[64 + unit] + p.bh[64 + unit];
    const float bnx = p.bi[128 + unit];
    const float bny = p.bh[128 + unit];
    int loaded = -1;
    float bc = 0.0f;
    for (int row = blockIdx.x; row < p.n_rows; row += gridDim.x) {
        const int source = p.source ? p.source[row] : row;
        const int g = p.graph_of ? p.graph_of[row] : row;
        __syncthreads(); /* the row before has been written out */
        for (int i = tid; i < FUSED_GROUPS * RT * FUSED_H; i += FUSED_THREADS) {
            x[i] = i / FUSED_H < p.n ? start_value(p, source, i / FUSED_H, i % FUSED_H) : 0.0f;
            u[i] = 0.0f; /* nodes beyond n: multiplied, never used, but no stray NaN */
        }
        for (int layer = p.from; layer < p.to; layer++) {
            const int conv = conv_index(p, row, layer);
            __syncthreads();
            if (conv != loaded) {
                loaded = conv;
                bc = p.conv[conv * FUSED_CONV + FUSED_H * FUSED_H + unit];
                for (int i = tid; i < FUSED_H * FUSED_H; i += FUSED_THREADS) {
                    wc[i] = p.conv[conv * FUSED_CONV + i];
                }
            }
            aggregate_f32(p, g, x, u, warp, lane);
            __syncthreads();
            float acc[RT];
#pragma unroll
            for (int i = 0; i < RT; i++) {
                acc[i] = bc;
            }
            for (int k = 0; k < FUSED_H; k += 4) {
                const float w0 = wc[(k + 0) * FUSED_H + unit];
                const float w1 = wc[(k + 1) * FUSED_H + unit];
                const float w2 = wc[(k + 2) * FUSED_H + unit];
                const float w3 = wc[(k + 3) * FUSED_H + unit];
#pragma unroll
                for (int i = 0; i < RT; i++) {
                    const float4 v = *(const float4 *)(u + (node0 + i) * FUSED_H + k);
                    acc[i] += v.x * w0;
                    acc[i] += v.y * w1;
                    acc[i] += v.z * w2;
                    acc[i] += v.w * w3;
                }
            }
#pragma unroll
            for (int i = 0; i < RT; i++) {
                y[(node0 + i) * FUSED_H + unit] = lrelu(acc[i]);
            }
            __syncthreads();
            float r[RT], z[RT], nx[RT], ny[RT];
#pragma unroll
            for (int i = 0; i < RT; i++) {
                r[i] = br;
                z[i] = bz;
                nx[i] = bnx;
                ny[i] = bny;
            }
            for (int k = 0; k < FUSED_H; k += 4) {
                float w[4][3];
#pragma unroll
                for (int q = 0; q < 4; q++) {
#pragma unroll
                    for (int gate = 0; gate < 3; gate++) {
                        w[q][gate] = wi[(k + q) * 192 + gate * 64 + unit];
                    }
                }
#pragma unroll
                for (int i = 0; i < RT; i++) {
                    const float4 v = *(const float4 *)(x + (node0 + i) * FUSED_H + k);
                    r[i] += v.x * w[0][0];
                    z[i] += v.x * w[0][1];
                    nx[i] += v.x * w[0][2];
                    r[i] += v.y * w[1][0];
                    z[i] += v.y * w[1][1];
                    nx[i] += v.y * w[1][2];
                    r[i] += v.z * w[2][0];
                    z[i] += v.z * w[2][1];
                    nx[i] += v.z * w[2][2];
                    r[i] += v.w * w[3][0];
                    z[i] += v.w * w[3][1];
                    nx[i] += v.w * w[3][2];
                }
            }
            for (int k = 0; k < FUSED_H; k += 4) {
                float w[4][3];
#pragma unroll
                for (int q = 0; q < 4; q++) {
#pragma unroll
                    for (int gate = 0; gate < 3; gate++) {
                        w[q][gate] = wh[(k + q) * 192 + gate * 64 + unit];
                    }
                }
#pragma unroll
                for (int i = 0; i < RT; i++) {
                    const float4 v = *(const float4 *)(y + (node0 + i) * FUSED_H + k);
                    r[i] += v.x * w[0][0];
                    z[i] += v.x * w[0][1];
                    ny[i] += v.x * w[0][2];
                    r[i] += v.y * w[1][0];
                    z[i] += v.y * w[1][1];
                    ny[i] += v.y * w[1][2];
                    r[i] += v.z * w[2][0];
                    z[i] += v.z * w[2][1];
                    ny[i] += v.z * w[2][2];
                    r[i] += v.w * w[3][0];
                    z[i] += v.w * w[3][1];
                    ny[i] += v.w * w[3][2];
                }
            }
#pragma unroll
            for (int i = 0; i < RT; i++) {
                const float n = tanh_exp(nx[i] + sigmoid(r[i]) * ny[i]);
                const float blend = sigmoid(z[i]);
                const int at = (node0 + i) * FUSED_H + unit;
                u[at] = n + blend * (y[at] - n);
            }
            float *swap = x;
            x = u;
            u = swap;
        }
        __syncthreads();
        for (int i = tid; i < p.n * FUSED_H; i += FUSED_THREADS) {
            p.out[(size_t)row * p.n * FUSED_H + i] = x[i];
        }
    }
}

/* ---- bf16 ----------------------------------------------------------------------------------- */

static inline size_t fused_bf16_bytes(void)
{
    return sizeof(uint2) * (4 * 8 * 32 + 2 * 4 * 8 * 3 * 32) +
           sizeof(unsigned) * 3 * (size_t)BF16_NODES * BF16_WORDS;
}

static __device__ __forceinline__ float2 bf16_pair(unsigned w)
{
    return make_float2(__uint_as_float(w << 16), __uint_as_float(w & 0xffff0000u));
}

static __device__ __forceinline__ float sigmoid_fast(float v)
{
    return 0.5f + 0.5f * dls_tanh_fast(0.5f * v);
}

/* The 16x16 operand of nodes row0.., columns 16 kt.. */
static __device__ __forceinline__ void load_a(unsigned a[4], const unsigned *buffer, int row0,
                                              int kt, int lane)
{
    const unsigned *at = buffer + (row0 + lane / 4) * BF16_WORDS + kt * 8 + lane % 4;
    a[0] = at[0];
    a[1] = at[8 * BF16_WORDS];
    a[2] = at[4];
    a[3] = at[8 * BF16_WORDS + 4];
}

static __device__ __forceinline__ void aggregate_bf16(const fused_args &p, int g, const unsigned *x,
                                                      unsigned *u, int warp, int lane)
{
    for (int i = warp; i < p.n; i += FUSED_WARPS) {
        const int at = g * (p.n + 1) + i;
        const int begin = __ldg(p.s.row_start + at);
        const int end = __ldg(p.s.row_start + at + 1);
        const float d = __ldg(p.s.diag + g * p.n + i);
        float2 acc = bf16_pair(x[i * BF16_WORDS + lane]);
        acc.x *= d;
        acc.y *= d;
        for (int e0 = begin; e0 < end; e0 += 32) {
            const bool mine = e0 + lane < end;
            const int c = mine ? __ldg(p.s.col + e0 + lane) : 0;
            const float v = mine ? __ldg(p.s.val + e0 + lane) : 0.0f;
            const int count = end - e0 < 32 ? end - e0 : 32;
            for (int k = 0; k < count; k++) {
                const float w = __shfl_sync(0xffffffffu, v, k);
                const int j = __shfl_sync(0xffffffffu, c, k);
                const float2 o = bf16_pair(x[j * BF16_WORDS + lane]);
                acc.x += w * o.x;
                acc.y += w * o.y;
            }
        }
        u[i * BF16_WORDS + lane] = dls_pack_bf16(acc.x, acc.y);
    }
}

/* All layers in bfloat16. One function: as fused_layers_f32. */
static __global__ void __launch_bounds__(FUSED_THREADS, 1) fused_layers_bf16(fused_args p)
{
    DLS_SHARED(raw);
    uint2 *fc = (uint2 *)raw;    /* [4][8][32] */
    uint2 *fi = fc + 4 * 8 * 32; /* [4][8][3][32] */
    uint2 *fh = fi + 4 * 8 * 3 * 32;
    unsigned *x = (unsigned *)(fh + 4 * 8 * 3 * 32); /* [128][36] */
    unsigned *u = x + BF16_NODES * BF16_WORDS;
    unsigned *y = u + BF16_NODES * BF16_WORDS;
    const int tid = threadIdx.x;
    const int warp = tid / 32;
    const int lane = tid % 32;
    const int block = warp % 8;        /* of 8 units */
    const int first = (warp / 8) * 64; /* of up to 4 tiles of 16 nodes */
    const int unit = block * 8 + 2 * (lane % 4);
    for (int i = tid; i < 2 * 4 * 8 * 3 * 32; i += FUSED_THREADS) {
        fi[i] = p.gru_frag[i];
    }
    for (int i = tid; i < 3 * BF16_NODES * BF16_WORDS; i += FUSED_THREADS) {
        x[i] = 0; /* all three: nodes beyond n stay zero or finite */
    }
    float br[2], bz[2], bnx[2], bny[2], bc[2];
    for (int k = 0; k < 2; k++) {
        br[k] = p.bi[unit + k] + p.bh[unit + k];
        bz[k] = p.bi[64 + unit + k] + p.bh[64 + unit + k];
        bnx[k] = p.bi[128 + unit + k];
        bny[k] = p.bh[128 + unit + k];
        bc[k] = 0.0f;
    }
    int loaded = -1;
    for (int row = blockIdx.x; row < p.n_rows; row += gridDim.x) {
        const int source = p.source ? p.source[row] : row;
        const int g = p.graph_of ? p.graph_of[row] : row;
        __syncthreads();
        for (int i = tid; i < p.n * 32; i += FUSED_THREADS) {
            x[i / 32 * BF16_WORDS + i % 32] =
                dls_pack_bf16(start_value(p, source, i / 32, 2 * (i % 32)),
                              start_value(p, source, i / 32, 2 * (i % 32) + 1));
        }
        for (int layer = p.from; layer < p.to; layer++) {
            const int conv = conv_index(p, row, layer);
            __syncthreads();
            if (conv != loaded) {
                loaded = conv;
                bc[0] = p.conv[conv * FUSED_CONV + FUSED_H * FUSED_H + unit];
                bc[1] = p.conv[conv * FUSED_CONV + FUSED_H * FUSED_H + unit + 1];
                for (int i = tid; i < 4 * 8 * 32; i += FUSED_THREADS) {
                    fc[i] = p.conv_frag[(size_t)conv * 4 * 8 * 32 + i];
                }
            }
            aggregate_bf16(p, g, x, u, warp, lane);
            __syncthreads();
            float c[4][4]; /* the convolution, then kept for the blend */
#pragma unroll
            for (int m = 0; m < 4; m++) {
                c[m][0] = c[m][2] = bc[0];
                c[m][1] = c[m][3] = bc[1];
            }
#pragma unroll
            for (int kt = 0; kt < 4; kt++) {
                const uint2 b = fc[(kt * 8 + block) * 32 + lane];
#pragma unroll
                for (int m = 0; m < 4; m++) {
                    if (first + 16 * m < p.n) {
                        unsigned a[4];
                        load_a(a, u, first + 16 * m, kt, lane);
                        dls_mma_bf16(c[m], a, b.x, b.y);
                    }
                }
            }
#pragma unroll
            for (int m = 0; m < 4; m++) {
                for (int k = 0; k < 4; k++) {
                    c[m][k] = lrelu(c[m][k]);
                }
                unsigned *at = y + (first + 16 * m + lane / 4) * BF16_WORDS + unit / 2;
                at[0] = dls_pack_bf16(c[m][0], c[m][1]);
                at[8 * BF16_WORDS] = dls_pack_bf16(c[m][2], c[m][3]);
            }
            __syncthreads();
            float r[4][4], z[4][4], nx[4][4], ny[4][4];
#pragma unroll
            for (int m = 0; m < 4; m++) {
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    r[m][k] = br[k % 2];
                    z[m][k] = bz[k % 2];
                    nx[m][k] = bnx[k % 2];
                    ny[m][k] = bny[k % 2];
                }
            }
#pragma unroll
            for (int kt = 0; kt < 4; kt++) {
                const uint2 *wi = fi + (kt * 8 + block) * 3 * 32 + lane;
                const uint2 *wh = fh + (kt * 8 + block) * 3 * 32 + lane;
                const uint2 ir = wi[0], iz = wi[32], in = wi[64];
                const uint2 hr = wh[0], hz = wh[32], hn = wh[64];
#pragma unroll
                for (int m = 0; m < 4; m++) {
                    if (first + 16 * m < p.n) {
                        unsigned a[4];
                        load_a(a, x, first + 16 * m, kt, lane);
                        dls_mma_bf16(r[m], a, ir.x, ir.y);
                        dls_mma_bf16(z[m], a, iz.x, iz.y);
                        dls_mma_bf16(nx[m], a, in.x, in.y);
                        load_a(a, y, first + 16 * m, kt, lane);
                        dls_mma_bf16(r[m], a, hr.x, hr.y);
                        dls_mma_bf16(z[m], a, hz.x, hz.y);
                        dls_mma_bf16(ny[m], a, hn.x, hn.y);
                    }
                }
            }
#pragma unroll
            for (int m = 0; m < 4; m++) {
                float h[4];
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    const float n = dls_tanh_fast(nx[m][k] + sigmoid_fast(r[m][k]) * ny[m][k]);
                    h[k] = n + sigmoid_fast(z[m][k]) * (c[m][k] - n);
                }
                const int node = first + 16 * m + lane / 4;
                unsigned *at = u + node * BF16_WORDS + unit / 2;
                at[0] = dls_pack_bf16(h[0], h[1]);
                at[8 * BF16_WORDS] = dls_pack_bf16(h[2], h[3]);
                if (layer == p.to - 1) {
                    float *out = p.out + (size_t)row * p.n * FUSED_H;
                    if (node < p.n) {
                        *(float2 *)(out + node * FUSED_H + unit) = make_float2(h[0], h[1]);
                    }
                    if (node + 8 < p.n) {
                        *(float2 *)(out + (node + 8) * FUSED_H + unit) = make_float2(h[2], h[3]);
                    }
                }
            }
            unsigned *swap = x;
            x = u;
            u = swap;
        }
    }
}

/* ---- Set2Set -------------------------------------------------------------------------------- */

static inline size_t fused_s2s_bytes(int n)
{
    return sizeof(float) *
           (128 * 256 + 128 * S2S_ROWS + 2 * S2S_ROWS * 256 + (size_t)S2S_ROWS * ((n + 3) / 4 * 4));
}

/* All steps for S2S_ROWS rows at a time: the merged weights [128][256] (131 KB) stay in shared
 * memory, cell states in registers, the nodes come through the caches. Two warps per row.
 *   A  gates: thread = one of 256 gate units and one half of the 128 inputs, 8 rows each
 *   B  cell:  thread = (row, unit)
 *   C  scores: 8 lanes per node, both warps
 *   D  softmax by each warp for itself; a warp sums 32 columns of the nodes
 * pooled [rows][128] = h, r. One function: its phases share registers across barriers. */
static __global__ void __launch_bounds__(FUSED_THREADS, 1)
    fused_set2set(const float *nodes, int n, int steps, int n_rows, const float *w,
                  const float *bias, float *pooled)
{
    DLS_SHARED(raw);
    float *weights = (float *)raw;            /* [128][256] */
    float *q = weights + 128 * 256;           /* [128][8]: h then r, a column per row */
    float *part = q + 128 * S2S_ROWS;         /* [2][8][256] */
    float *score = part + 2 * S2S_ROWS * 256; /* [8][padded n] */
    const int ne = (n + 3) / 4 * 4;
    const int tid = threadIdx.x;
    const int lane = tid % 32;
    const int row = tid / 64; /* this thread's row in B, C, D */
    const int unit = tid % 64;
    const int half = tid / 32 % 2;
    for (int i = tid; i < 128 * 256; i += FUSED_THREADS) {
        weights[i] = w[i];
    }
    const float b0 = bias[unit], b1 = bias[64 + unit], b2 = bias[128 + unit], b3 = bias[192 + unit];
    for (int base = blockIdx.x * S2S_ROWS; base < n_rows; base += gridDim.x * S2S_ROWS) {
        const bool live = base + row < n_rows;
        const float *x = nodes + (size_t)(live ? base + row : base) * n * FUSED_H;
        float cell = 0.0f;
        __syncthreads();
        for (int i = tid; i < 128 * S2S_ROWS; i += FUSED_THREADS) {
            q[i] = 0.0f;
        }
        for (int step = 0; step < steps; step++) {
            __syncthreads();
            { /* A */
                const int j = tid % 256;
                const int k0 = tid / 256 * 64;
                float acc[S2S_ROWS] = {0};
#pragma unroll 4
                for (int k = k0; k < k0 + 64; k++) {
                    const float v = weights[k * 256 + j];
                    const float4 a = *(const float4 *)(q + k * S2S_ROWS);
                    const float4 b = *(const float4 *)(q + k * S2S_ROWS + 4);
                    acc[0] += v * a.x;
                    acc[1] += v * a.y;
                    acc[2] += v * a.z;
                    acc[3] += v * a.w;
                    acc[4] += v * b.x;
                    acc[5] += v * b.y;
                    acc[6] += v * b.z;
                    acc[7] += v * b.w;
                }
#pragma unroll
                for (int i = 0; i < S2S_ROWS; i++) {
                    part[(tid / 256 * S2S_ROWS + i) * 256 + j] = acc[i];
                }
            }
            __syncthreads();
            { /* B */
                const float *lo = part + row * 256 + unit;
                const float *hi = lo + S2S_ROWS * 256;
                cell = sigmoid(lo[64] + hi[64] + b1) * cell +
                       sigmoid(lo[0] + hi[0] + b0) * tanh_exp(lo[128] + hi[128] + b2);
                q[unit * S2S_ROWS + row] = sigmoid(lo[192] + hi[192] + b3) * tanh_exp(cell);
            }
            __syncthreads();
            { /* C */
                float h[8];
#pragma unroll
                for (int k = 0; k < 8; k++) {
                    h[k] = q[(lane % 8 * 8 + k) * S2S_ROWS + row];
                }
                for (int i0 = 0; i0 < n; i0 += 8) {
                    const int i = i0 + half * 4 + lane / 8;
                    const float *v = x + (size_t)(i < n ? i : 0) * FUSED_H + lane % 8 * 8;
                    const float4 a = __ldg((const float4 *)v);
                    const float4 b = __ldg((const float4 *)(v + 4));
                    float s = a.x * h[0] + a.y * h[1] + a.z * h[2] + a.w * h[3] + b.x * h[4] +
                              b.y * h[5] + b.z * h[6] + b.w * h[7];
                    s += __shfl_xor_sync(0xffffffffu, s, 1);
                    s += __shfl_xor_sync(0xffffffffu, s, 2);
                    s += __shfl_xor_sync(0xffffffffu, s, 4);
                    if (lane % 8 == 0 && i < n) {
                        score[row * ne + i] = s;
                    }
                }
            }
            __syncthreads();
            { /* D: scores are read only; both warps of a row find the same top and sum */
                const float *mine = score + row * ne;
                float top = -INFINITY;
                for (int i = lane; i < n; i += 32) {
                    top = fmaxf(top, mine[i]);
                }
                top = warp_max(top);
                float sum = 0.0f;
                float r = 0.0f;
                const float *column = x + half * 32 + lane;
                for (int i0 = 0; i0 < n; i0 += 32) {
                    const float e = i0 + lane < n ? __expf(mine[i0 + lane] - top) : 0.0f;
                    sum += e;
                    const int count = n - i0 < 32 ? n - i0 : 32;
#pragma unroll 4
                    for (int k = 0; k < count; k++) {
                        r += __shfl_sync(0xffffffffu, e, k) *
                             __ldg(column + (size_t)(i0 + k) * FUSED_H);
                    }
                }
                q[(64 + half * 32 + lane) * S2S_ROWS + row] = r / warp_sum(sum);
            }
        }
        __syncthreads();
        if (live) {
            pooled[(size_t)(base + row) * 128 + unit] = q[unit * S2S_ROWS + row];
            pooled[(size_t)(base + row) * 128 + 64 + unit] = q[(64 + unit) * S2S_ROWS + row];
        }
    }
}

#endif
