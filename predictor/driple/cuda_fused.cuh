/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fused layers for H = 64: a graph's state never leaves the multiprocessor between layers, and
 * recurrent weights are loaded once per block, which then takes graph after graph; small graphs are
 * stacked, as many as have room.
 *
 *     shared memory   Wc, Wi, Wh | x (state), u (aggregated, then new state), y (convolution)
 *     per layer       u = S x | y = lrelu(u Wc + b) | u = GRU(x, y) | swap x, u
 *
 * Three barriers a layer. Products are the matrix units': a warp owns 8 units and every 16 nodes or
 * every second 16. In float32 each operand is the sum of two TF32 numbers, and three products of
 * four are made (the fourth is below float32's last bit): ordinary units would wait for shared
 * memory, which hands a multiprocessor 32 words a clock, broadcast or not, where they multiply 128.
 * In bf16 the state is rounded after each layer; sums are float32 in both.
 */
#ifndef DLS_CUDA_FUSED_CUH
#define DLS_CUDA_FUSED_CUH

#include "predictor/driple/cuda_kernels.cuh"

#define FUSED_H 64
#define FUSED_BLOCKS 8                       /* of 8 units, a warp each */
#define FUSED_CONV ((FUSED_H + 1) * FUSED_H) /* floats of one convolution */

struct fused_args {
    dev_graphs s;
    const float *features;  /* [source][n][n_features] when from is 0, else */
    const float *x_in;      /* [source][n][64] */
    float *out;             /* [row][n][64] */
    const int *source;      /* [row] NULL: the row itself */
    const int *graph_of;    /* [row] NULL: the row itself */
    const int *conv_of;     /* [row] convolution of layers 1.. ; NULL: 1 */
    const float *conv;      /* [conv]: w [64][64], then b [64] */
    const float *bi, *bh;   /* [192] */
    const uint2 *conv_frag; /* [conv][K_TILES][8][32], layer 0's zero beyond its features */
    const uint2 *gru_frag;  /* Wi then Wh, each [K_TILES][8][3][32] */
    int n, n_features, from, to, n_rows;
    int slot;  /* nodes of a graph's place in the buffers: n and what fills the last 16 */
    int stack; /* rows that a block takes at once */
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

/* ---- precisions ------------------------------------------------------------------------------ */

/* v = hi + lo, both TF32 but for lo's last bit. */
static __device__ __forceinline__ void split_tf32(unsigned v, unsigned *hi, unsigned *lo)
{
    *hi = (v + 0x1000u) & 0xffffe000u;
    *lo = __float_as_uint(__uint_as_float(v) - __uint_as_float(*hi));
}

/* What the kernel asks of a precision: WORDS of a node in shared memory (4 against bank conflicts),
 * LANES that share one 16 bytes each, tiles of k in 64, warps, blocks a multiprocessor, tiles of
 * nodes that a warp's gates take at once; operands of the matrix units and the TERMS of a product
 * of them, which are made one after the other for several sums, so that none waits for itself; two
 * units of a node written and read. */
struct f32_units {
    enum { WORDS = 68, LANES = 16, LANE_UNITS = 4, K_TILES = 8, WARPS = 16, BLOCKS = 1, PASS = 4 };
    enum { TERMS = 3 };
    struct left {
        unsigned hi[4], lo[4];
    };
    struct right {
        unsigned hi[2], lo[2];
    };
    static __device__ __forceinline__ left left_of(const unsigned a[4])
    {
        left l;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            split_tf32(a[i], &l.hi[i], &l.lo[i]);
        }
        return l;
    }
    static __device__ __forceinline__ right right_of(uint2 b)
    {
        right r;
        split_tf32(b.x, &r.hi[0], &r.lo[0]);
        split_tf32(b.y, &r.hi[1], &r.lo[1]);
        return r;
    }
    static __device__ __forceinline__ void multiply(int term, float d[4], const left &a,
                                                    const right &b)
    {
        const unsigned *right = term == 1 ? b.lo : b.hi;
        mma_tf32(d, term == 0 ? a.lo : a.hi, right[0], right[1]);
    }
    static __device__ __forceinline__ void put(unsigned *node, int unit, float a, float b)
    {
        *(float2 *)(node + unit) = make_float2(a, b);
    }
    static __device__ __forceinline__ float2 get(const unsigned *node, int unit)
    {
        return *(const float2 *)(node + unit);
    }
    static __device__ __forceinline__ void add(float *sum, float w, uint4 v)
    {
        sum[0] += w * __uint_as_float(v.x);
        sum[1] += w * __uint_as_float(v.y);
        sum[2] += w * __uint_as_float(v.z);
        sum[3] += w * __uint_as_float(v.w);
    }
    static __device__ __forceinline__ uint4 words(const float *sum)
    {
        return uint4{__float_as_uint(sum[0]), __float_as_uint(sum[1]), __float_as_uint(sum[2]),
                     __float_as_uint(sum[3])};
    }
    static __device__ __forceinline__ float gate(float v)
    {
        return sigmoid(v);
    }
    static __device__ __forceinline__ float squash(float v)
    {
        return tanh_exp(v);
    }
};

static __device__ __forceinline__ float2 bf16_pair(unsigned w)
{
    return make_float2(__uint_as_float(w << 16), __uint_as_float(w & 0xffff0000u));
}

struct bf16_units {
    enum { WORDS = 36, LANES = 8, LANE_UNITS = 8, K_TILES = 4, WARPS = 8, BLOCKS = 2, PASS = 4 };
    enum { TERMS = 1 };
    struct left {
        unsigned a[4];
    };
    typedef uint2 right;
    static __device__ __forceinline__ left left_of(const unsigned a[4])
    {
        return left{{a[0], a[1], a[2], a[3]}};
    }
    static __device__ __forceinline__ right right_of(uint2 b)
    {
        return b;
    }
    static __device__ __forceinline__ void multiply(int, float d[4], const left &a, const right &b)
    {
        mma_bf16(d, a.a, b.x, b.y);
    }
    static __device__ __forceinline__ void put(unsigned *node, int unit, float a, float b)
    {
        node[unit / 2] = dls_pack_bf16(a, b);
    }
    static __device__ __forceinline__ float2 get(const unsigned *node, int unit)
    {
        return bf16_pair(node[unit / 2]);
    }
    static __device__ __forceinline__ void add(float *sum, float w, uint4 v)
    {
        const unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float2 pair = bf16_pair(word[i]);
            sum[2 * i] += w * pair.x;
            sum[2 * i + 1] += w * pair.y;
        }
    }
    static __device__ __forceinline__ uint4 words(const float *sum)
    {
        return uint4{dls_pack_bf16(sum[0], sum[1]), dls_pack_bf16(sum[2], sum[3]),
                     dls_pack_bf16(sum[4], sum[5]), dls_pack_bf16(sum[6], sum[7])};
    }
    static __device__ __forceinline__ float gate(float v)
    {
        return 0.5f + 0.5f * dls_tanh_fast(0.5f * v);
    }
    static __device__ __forceinline__ float squash(float v)
    {
        return dls_tanh_fast(v);
    }
};

/* ---- phases of a layer ------------------------------------------------------------------------
 */

/* Nodes that the buffers have room for: `tiles` of 16 a warp, in float32 9 tiles for two warps. */
template <class U> static __host__ __device__ constexpr int fused_nodes(int tiles)
{
    return 16 * tiles * U::WARPS / FUSED_BLOCKS < 144 ? 16 * tiles * U::WARPS / FUSED_BLOCKS : 144;
}

template <class U> static inline size_t fused_bytes(int tiles)
{
    return sizeof(uint2) * U::K_TILES * FUSED_BLOCKS * 32 * 7 +
           sizeof(unsigned) * 3 * (size_t)fused_nodes<U>(tiles) * U::WORDS;
}

/* Rows in a row from `row` on that have one convolution. */
static __device__ int same_conv(const fused_args &p, int row, int limit)
{
    int end = row + 1;
    while (end < limit && (!p.conv_of || p.conv_of[end] == p.conv_of[row])) {
        end++;
    }
    return end - row;
}

template <class U>
static __device__ void start_rows(const fused_args &p, int row, int count, unsigned *x)
{
    for (int i = threadIdx.x; i < count * p.n * 32; i += U::WARPS * 32) {
        const int node = i / 32;
        const int in = node / p.n;
        const int local = node - in * p.n;
        const int unit = 2 * (i % 32);
        const int source = p.source ? p.source[row + in] : row + in;
        U::put(x + (in * p.slot + local) * U::WORDS, unit, start_value(p, source, local, unit),
               start_value(p, source, local, unit + 1));
    }
}

/* u[i] = diag x[i] + sum val x[col]: LANES lanes a node. */
template <class U>
static __device__ __forceinline__ void aggregate(const fused_args &p, int row, int count,
                                                 const unsigned *x, unsigned *u)
{
    const int part = threadIdx.x % U::LANES * 4;
    for (int i = threadIdx.x / U::LANES; i < count * p.slot; i += U::WARPS * 32 / U::LANES) {
        const int in = count == 1 ? 0 : i / p.slot;
        const int local = i - in * p.slot;
        if (local >= p.n) {
            continue;
        }
        const int g = p.graph_of ? __ldg(p.graph_of + row + in) : row + in;
        const int at = g * (p.n + 1) + local;
        const int end = __ldg(p.s.row_start + at + 1);
        const unsigned *from = x + in * p.slot * U::WORDS + part;
        float sum[U::LANE_UNITS] = {};
        U::add(sum, __ldg(p.s.diag + g * p.n + local), *(const uint4 *)(from + local * U::WORDS));
#pragma unroll 4
        for (int e = __ldg(p.s.row_start + at); e < end; e++) {
            U::add(sum, __ldg(p.s.val + e), *(const uint4 *)(from + __ldg(p.s.col + e) * U::WORDS));
        }
        *(uint4 *)(u + i * U::WORDS + part) = U::words(sum);
    }
}

/* The 16 x 16 (bf16) or 16 x 8 (TF32) operand of nodes first.., tile kt of k. */
template <class U>
static __device__ __forceinline__ typename U::left load_left(const unsigned *buffer, int first,
                                                             int kt, int lane)
{
    const unsigned *at = buffer + (first + lane / 4) * U::WORDS + kt * 8 + lane % 4;
    const unsigned a[4] = {at[0], at[8 * U::WORDS], at[4], at[8 * U::WORDS + 4]};
    return U::left_of(a);
}

/* First node of a warp's tile m. */
template <class U> static __device__ __forceinline__ int tile_node(int m)
{
    return 16 * (m * (U::WARPS / FUSED_BLOCKS) + (int)threadIdx.x / 32 / FUSED_BLOCKS);
}

/* y = lrelu(u Wc + bias) */
template <class U, int TILES>
static __device__ __forceinline__ void convolve(const uint2 *fc, const float *bias, int nodes,
                                                const unsigned *u, unsigned *y)
{
    const int lane = threadIdx.x % 32;
    const int block = threadIdx.x / 32 % FUSED_BLOCKS;
    const int unit = block * 8 + 2 * (lane % 4);
    const float b0 = __ldg(bias + unit), b1 = __ldg(bias + unit + 1);
    float c[TILES][4];
#pragma unroll
    for (int m = 0; m < TILES; m++) {
        c[m][0] = c[m][2] = b0;
        c[m][1] = c[m][3] = b1;
    }
#pragma unroll
    for (int kt = 0; kt < U::K_TILES; kt++) {
        const typename U::right b = U::right_of(fc[(kt * FUSED_BLOCKS + block) * 32 + lane]);
        typename U::left a[TILES];
#pragma unroll
        for (int m = 0; m < TILES; m++) {
            a[m] = load_left<U>(u, tile_node<U>(m) < nodes ? tile_node<U>(m) : 0, kt, lane);
        }
#pragma unroll
        for (int term = 0; term < U::TERMS; term++) {
#pragma unroll
            for (int m = 0; m < TILES; m++) {
                if (tile_node<U>(m) < nodes) {
                    U::multiply(term, c[m], a[m], b);
                }
            }
        }
    }
#pragma unroll
    for (int m = 0; m < TILES; m++) {
        if (tile_node<U>(m) < nodes) {
            unsigned *at = y + (tile_node<U>(m) + lane / 4) * U::WORDS;
            U::put(at, unit, lrelu(c[m][0]), lrelu(c[m][1]));
            U::put(at + 8 * U::WORDS, unit, lrelu(c[m][2]), lrelu(c[m][3]));
        }
    }
}

/* The new state of two units of a node to u and, with out, to the node's place there. */
template <class U>
static __device__ __forceinline__ void blend(const fused_args &p, int row, int count, int node,
                                             int unit, float2 z, float2 n, const unsigned *y,
                                             unsigned *u, bool out)
{
    const float2 c = U::get(y + node * U::WORDS, unit);
    const float a = n.x + z.x * (c.x - n.x);
    const float b = n.y + z.y * (c.y - n.y);
    U::put(u + node * U::WORDS, unit, a, b);
    const int in = out ? node / p.slot : 0;
    const int local = node - in * p.slot;
    if (out && in < count && local < p.n) {
        *(float2 *)(p.out + ((size_t)(row + in) * p.n + local) * FUSED_H + unit) =
            make_float2(a, b);
    }
}

/* acc[gate][m] += left tiles times the three gates' weights; gate 2 goes to acc[third]. */
template <class U, int PASS>
static __device__ __forceinline__ void gates_product(float acc[4][PASS][4], int third,
                                                     const uint2 *frag, int kt, int m0, int nodes,
                                                     const unsigned *from)
{
    const int lane = threadIdx.x % 32;
    const uint2 *at = frag + (kt * FUSED_BLOCKS + threadIdx.x / 32 % FUSED_BLOCKS) * 3 * 32 + lane;
    const typename U::right r = U::right_of(at[0]);
    const typename U::right z = U::right_of(at[32]);
    const typename U::right n = U::right_of(at[64]);
#pragma unroll
    for (int i = 0; i < PASS; i++) {
        if (tile_node<U>(m0 + i) < nodes) {
            const typename U::left a = load_left<U>(from, tile_node<U>(m0 + i), kt, lane);
#pragma unroll
            for (int term = 0; term < U::TERMS; term++) {
                U::multiply(term, acc[0][i], a, r);
                U::multiply(term, acc[1][i], a, z);
                U::multiply(term, acc[third][i], a, n);
            }
        }
    }
}

/* u = GRU(x, y), PASS tiles of the warp from m0 on. */
template <class U, int PASS>
static __device__ __forceinline__ void gru_pass(const fused_args &p, int row, int count,
                                                const uint2 *fi, const uint2 *fh, const unsigned *x,
                                                const unsigned *y, unsigned *u, int m0, bool out)
{
    const int lane = threadIdx.x % 32;
    const int unit = threadIdx.x / 32 % FUSED_BLOCKS * 8 + 2 * (lane % 4);
    const int nodes = count * p.slot;
    float acc[4][PASS][4]; /* r, z, n of x, n of y */
#pragma unroll
    for (int i = 0; i < PASS; i++) {
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int at = unit + k % 2;
            acc[0][i][k] = __ldg(p.bi + at) + __ldg(p.bh + at);
            acc[1][i][k] = __ldg(p.bi + 64 + at) + __ldg(p.bh + 64 + at);
            acc[2][i][k] = __ldg(p.bi + 128 + at);
            acc[3][i][k] = __ldg(p.bh + 128 + at);
        }
    }
#pragma unroll
    for (int kt = 0; kt < U::K_TILES; kt++) {
        gates_product<U, PASS>(acc, 2, fi, kt, m0, nodes, x);
        gates_product<U, PASS>(acc, 3, fh, kt, m0, nodes, y);
    }
#pragma unroll
    for (int i = 0; i < PASS; i++) {
        float z[4], n[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            n[k] = U::squash(acc[2][i][k] + U::gate(acc[0][i][k]) * acc[3][i][k]);
            z[k] = U::gate(acc[1][i][k]);
        }
        const int node = tile_node<U>(m0 + i) + lane / 4;
        if (tile_node<U>(m0 + i) < nodes) {
            blend<U>(p, row, count, node, unit, make_float2(z[0], z[1]), make_float2(n[0], n[1]), y,
                     u, out);
            blend<U>(p, row, count, node + 8, unit, make_float2(z[2], z[3]),
                     make_float2(n[2], n[3]), y, u, out);
        }
    }
}

/* All layers of the rows. */
template <class U, int TILES>
static __global__ void __launch_bounds__(U::WARPS * 32, U::BLOCKS) fused_layers(fused_args p)
{
    enum { CONV = U::K_TILES * FUSED_BLOCKS * 32, PASS = TILES % U::PASS ? TILES : U::PASS };
    DLS_SHARED(raw);
    uint2 *fc = (uint2 *)raw;
    uint2 *fi = fc + CONV;
    uint2 *fh = fi + 3 * CONV;
    unsigned *x = (unsigned *)(fh + 3 * CONV);
    unsigned *u = x + fused_nodes<U>(TILES) * U::WORDS;
    unsigned *y = u + fused_nodes<U>(TILES) * U::WORDS;
    for (int i = threadIdx.x; i < 6 * CONV; i += U::WARPS * 32) {
        fi[i] = p.gru_frag[i];
    }
    int loaded = -1;
    int count;
    for (int base = blockIdx.x * p.stack; base < p.n_rows; base += gridDim.x * p.stack) {
        const int limit = base + p.stack < p.n_rows ? base + p.stack : p.n_rows;
        for (int row = base; row < limit; row += count) {
            count = same_conv(p, row, limit);
            __syncthreads(); /* the rows before have been read to the end */
            start_rows<U>(p, row, count, x);
            for (int layer = p.from; layer < p.to; layer++) {
                const int conv = conv_index(p, row, layer);
                __syncthreads();
                for (int i = threadIdx.x; conv != loaded && i < CONV; i += U::WARPS * 32) {
                    fc[i] = p.conv_frag[(size_t)conv * CONV + i];
                }
                loaded = conv;
                aggregate<U>(p, row, count, x, u);
                __syncthreads();
                convolve<U, TILES>(fc, p.conv + conv * FUSED_CONV + FUSED_H * FUSED_H,
                                   count * p.slot, u, y);
                __syncthreads();
#pragma unroll 1
                for (int m = 0; m < TILES && tile_node<U>(m) < count * p.slot; m += PASS) {
                    gru_pass<U, PASS>(p, row, count, fi, fh, x, y, u, m, layer == p.to - 1);
                }
                unsigned *swap = x;
                x = u;
                u = swap;
            }
        }
    }
}

#endif
