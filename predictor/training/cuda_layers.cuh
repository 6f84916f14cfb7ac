/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A layer of all graphs of a batch forward and backward, one launch each: a block takes a tile of
 * one graph's nodes through aggregation, the convolution's dense layer and the GRU in shared
 * memory. Backward leaves the gradient of what the layer aggregated; the block of the layer before
 * gathers it along the transposed graph, so that nothing is added atomically and every sum has one
 * order. Kept of a layer, by rows as cuda_lessons.cuh says:
 *
 *     in, agg, act (y), gates [n of the input, r, z, n of y]  forward
 *     dpre, gates' gradients in the place of the gates         backward
 */
#ifndef DLS_TRAINING_CUDA_LAYERS_CUH
#define DLS_TRAINING_CUDA_LAYERS_CUH

#include "predictor/driple/cuda_math.cuh"
#include "predictor/training/cuda_lessons.cuh"

#define LAYER_THREADS 256
#define COLUMNS 64                       /* threads side by side in a row */
#define GROUPS (LAYER_THREADS / COLUMNS) /* rows that a block does at once */
#define GROUP_ROWS (TILE / GROUPS)       /* rows of a thread */

/* Zeroed elements of a layer's output, drawn again where they are needed. */
struct dropout_args {
    unsigned limit; /* 0: none */
    float scale;
};

struct layer_args {
    net_places at;
    store s;
    const dev_sample *sample;
    const dev_tile *tile;
    const float *w;
    const float *start; /* [nodes of the store][h] states behind the frozen layers */
    dropout_args dropout;
    int position; /* layer `first` of a graph is at position 0 */
    int wide;     /* floats of a row in shared memory */
    float *in;    /* [active][ld] of this position */
    float *next;  /* of the next, of graphs that go on ... */
    float *nodes; /* [rows][h] of those that are done */
    float *agg;   /* [active][ld] */
    float *act;   /* [active][h] */
    float *gates; /* [active][4 h] */
    /* backward */
    const float *dnodes;             /* [rows][h] */
    const float *dagg_in, *dpart_in; /* [rows][ld], [rows][h] left by the position after */
    float *dagg, *dpart;
    float *dpre;   /* [active][h] */
    size_t own_at; /* floats to the second dpre, of a setting's own convolution; 0: one */
};

/* A draw of dls_rng_u32, the element-th of a layer's stream (Philox4x32-10, base/rng.h). */
static __device__ unsigned draw(const dev_sample &s, int layer, unsigned element)
{
    unsigned c0 = element / 4, c1 = 0, c2 = (unsigned)layer + 1, c3 = 0;
    unsigned k0 = s.key[0], k1 = s.key[1];
    for (int round = 0; round < 10; round++) {
        const unsigned long long p0 = 0xD2511F53ull * c0;
        const unsigned long long p1 = 0xCD9E8D57ull * c2;
        c0 = (unsigned)(p1 >> 32) ^ c1 ^ k0;
        c1 = (unsigned)p1;
        c2 = (unsigned)(p0 >> 32) ^ c3 ^ k1;
        c3 = (unsigned)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    const unsigned which = element % 4;
    return which == 0 ? c0 : which == 1 ? c1 : which == 2 ? c2 : c3;
}

/* What dropout multiplies element `unit` of a node's output of a layer with. */
static __device__ float mask_of(const layer_args &p, const dev_sample &s, int layer, int node,
                                int unit)
{
    const bool last = layer == s.first + s.count - 1;
    return p.dropout.limit == 0 || last                                         ? 1.0f
           : draw(s, layer, (unsigned)(node * p.at.h + unit)) < p.dropout.limit ? 0.0f
                                                                                : p.dropout.scale;
}

/* acc[g][j] += x row j, k long, times column `unit` of w [k][ld] and of its G neighbours `gate`
 * apart. x: shared, this thread's first row; its rows are GROUPS apart. */
template <int G>
static __device__ __forceinline__ void multiply(float (*acc)[GROUP_ROWS], const float *x,
                                                int stride, int k, const float *w, int ld, int gate)
{
    int i = 0;
    if ((size_t)x % 16 == 0 && stride % 4 == 0) {
        for (; i + 4 <= k; i += 4) {
            float4 v[GROUP_ROWS];
            for (int j = 0; j < GROUP_ROWS; j++) {
                v[j] = *(const float4 *)(x + j * GROUPS * stride + i);
            }
            for (int g = 0; g < G; g++) {
                const float *at = w + (size_t)i * ld + g * gate;
                const float w0 = at[0], w1 = at[ld], w2 = at[2 * ld], w3 = at[3 * ld];
                for (int j = 0; j < GROUP_ROWS; j++) {
                    acc[g][j] += v[j].x * w0;
                    acc[g][j] += v[j].y * w1;
                    acc[g][j] += v[j].z * w2;
                    acc[g][j] += v[j].w * w3;
                }
            }
        }
    }
    for (; i < k; i++) {
        for (int g = 0; g < G; g++) {
            const float v = w[(size_t)i * ld + g * gate];
            for (int j = 0; j < GROUP_ROWS; j++) {
                acc[g][j] += x[j * GROUPS * stride + i] * v;
            }
        }
    }
}

/* The states that the first position reads, or, of a graph without layers to run, the readout. */
static __global__ void k_begin(layer_args p)
{
    const dev_tile t = p.tile[blockIdx.x];
    const dev_sample s = p.sample[t.sample];
    const int ld = p.at.ld, h = p.at.h, f = p.at.features;
    for (int i = threadIdx.x; i < t.rows * ld; i += blockDim.x) {
        const int node = t.first + i / ld;
        const int k = i % ld;
        const size_t from = s.node0 + node;
        const float v = s.first == 0 ? (k < f ? p.s.features[from * f + k] : 0.0f)
                                     : (k < h ? p.start[from * h + k] : 0.0f);
        if (s.count > 0) {
            p.in[(size_t)(s.row0 + node) * ld + k] = v;
        } else if (k < h) {
            p.nodes[(size_t)(s.row0 + node) * h + k] = v;
        }
    }
}

/* What frozen layers leave is kept by graph. */
static __global__ void k_keep_start(const dev_sample *sample, const dev_tile *tile,
                                    const float *nodes, int h, float *start)
{
    const dev_tile t = tile[blockIdx.x];
    const dev_sample s = sample[t.sample];
    for (int i = threadIdx.x; i < t.rows * h; i += blockDim.x) {
        const size_t node = t.first + i / h;
        start[(s.node0 + node) * h + i % h] = nodes[(s.row0 + node) * h + i % h];
    }
}

static size_t forward_bytes(int wide)
{
    return 3 * (size_t)TILE * wide * sizeof(float);
}

/* A tile's own states to x, what it aggregates to a; zeros beyond the width and the last node. */
static __device__ void aggregate_tile(const layer_args &p, const dev_tile &t, const dev_sample &s,
                                      int width, float *x, float *a)
{
    const int ld = p.at.ld;
    for (int i = threadIdx.x; i < TILE * p.wide; i += blockDim.x) {
        const int r = i / p.wide;
        const int k = i % p.wide;
        float mine = 0.0f;
        float sum = 0.0f;
        if (r < t.rows && k < width) {
            const int node = t.first + r;
            const int at = s.node0 + node;
            const float *from = p.in + (size_t)s.row0 * ld + k;
            mine = from[(size_t)node * ld];
            sum = p.s.diag[at] * mine;
            for (int e = p.s.row_start[at]; e < p.s.row_start[at + 1]; e++) {
                sum += p.s.val[e] * from[(size_t)p.s.col[e] * ld];
            }
            p.agg[(size_t)(s.row0 + node) * ld + k] = sum;
        }
        x[i] = mine;
        a[i] = sum;
    }
}

/* A layer forward. One function: its phases share shared memory across barriers. */
static __global__ void __launch_bounds__(LAYER_THREADS) k_layer_forward(layer_args p)
{
    DLS_SHARED(raw);
    const dev_tile t = p.tile[blockIdx.x];
    const dev_sample s = p.sample[t.sample];
    const int layer = s.first + p.position;
    const dense_place d = p.at.conv[conv_of(layer, s.split)];
    const int width = layer == 0 ? p.at.features : p.at.h;
    const int h = p.at.h;
    const int wide = p.wide;
    const int group = threadIdx.x / COLUMNS;
    const size_t row0 = s.row0 + t.first;
    float *x = (float *)raw;
    float *a = x + TILE * wide;
    float *state = a + TILE * wide;
    aggregate_tile(p, t, s, width, x, a);
    __syncthreads();
    for (int c = threadIdx.x % COLUMNS; c < h; c += COLUMNS) {
        float acc[1][GROUP_ROWS];
        for (int j = 0; j < GROUP_ROWS; j++) {
            acc[0][j] = p.w[d.b + c];
        }
        multiply<1>(acc, a + group * wide, wide, d.k, p.w + d.w + c, h, 0);
        for (int j = 0; j < GROUP_ROWS; j++) {
            const int r = group + j * GROUPS;
            const float v = lrelu(acc[0][j]);
            state[r * wide + c] = v;
            if (r < t.rows) {
                p.act[(row0 + r) * h + c] = v;
            }
        }
    }
    __syncthreads();
    const bool done = p.position == s.count - 1;
    for (int c = threadIdx.x % COLUMNS; c < h; c += COLUMNS) {
        float acc[4][GROUP_ROWS];
        const float *bx = p.w + p.at.x.b + c;
        const float *by = p.w + p.at.y.b + c;
        for (int j = 0; j < GROUP_ROWS; j++) {
            acc[0][j] = bx[0];
            acc[1][j] = bx[h] + by[0];
            acc[2][j] = bx[2 * h] + by[h];
            acc[3][j] = by[2 * h];
        }
        multiply<3>(acc, x + group * wide, wide, width, p.w + p.at.x.w + c, 3 * h, h);
        multiply<3>(acc + 1, state + group * wide, wide, h, p.w + p.at.y.w + c, 3 * h, h);
        for (int j = 0; j < GROUP_ROWS; j++) {
            const int r = group + j * GROUPS;
            if (r >= t.rows) {
                continue;
            }
            const float reset = sigmoid(acc[1][j]);
            const float z = sigmoid(acc[2][j]);
            const float n = tanh_exp(acc[0][j] + reset * acc[3][j]);
            float *gates = p.gates + (row0 + r) * 4 * h + c;
            gates[0] = n;
            gates[h] = reset;
            gates[2 * h] = z;
            gates[3 * h] = acc[3][j];
            const float out =
                (n + z * (state[r * wide + c] - n)) * mask_of(p, s, layer, t.first + r, c);
            if (done) {
                p.nodes[(row0 + r) * h + c] = out;
            } else {
                p.next[(row0 + r) * p.at.ld + c] = out;
            }
        }
    }
}

/* ---- backward ---------------------------------------------------------------------------------
 */

static size_t backward_bytes(int wide, int h)
{
    return (size_t)TILE * (wide + 4 * h) * sizeof(float);
}

/* The gradient of an element of the layer's output: the readout's, or what the position after left
 * of all the nodes that the node was aggregated by, and of the GRU's input. */
static __device__ float output_gradient(const layer_args &p, const dev_sample &s, int node, int c)
{
    const size_t row = s.row0 + node;
    const int layer = s.first + p.position;
    float d;
    if (p.position == s.count - 1) {
        d = p.dnodes[row * p.at.h + c];
    } else {
        const int at = s.node0 + node;
        const float *from = p.dagg_in + (size_t)s.row0 * p.at.ld + c;
        d = p.s.diag[at] * from[(size_t)node * p.at.ld];
        for (int e = p.s.back_start[at]; e < p.s.back_start[at + 1]; e++) {
            d += p.s.back_val[e] * from[(size_t)p.s.back_col[e] * p.at.ld];
        }
        d += p.dpart_in[row * p.at.h + c];
    }
    return d * mask_of(p, s, layer, node, c);
}

/* The gates' gradients to gates and dg [TILE][4 h], what goes past the gates to dy. */
static __device__ void gates_backward(const layer_args &p, const dev_tile &t, const dev_sample &s,
                                      float *dg, float *dy)
{
    const int h = p.at.h;
    for (int i = threadIdx.x; i < TILE * h; i += blockDim.x) {
        const int r = i / h;
        const int c = i % h;
        float d = 0.0f;
        float g[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        if (r < t.rows) {
            const size_t row = s.row0 + t.first + r;
            d = output_gradient(p, s, t.first + r, c);
            float *gates = p.gates + row * 4 * h + c;
            const float n = gates[0], reset = gates[h], z = gates[2 * h], ny = gates[3 * h];
            const float y = p.act[row * h + c];
            g[0] = d * (1.0f - z) * (1.0f - n * n);
            g[1] = g[0] * ny * reset * (1.0f - reset);
            g[2] = d * (y - n) * z * (1.0f - z);
            g[3] = g[0] * reset;
            d *= z;
            for (int k = 0; k < 4; k++) {
                gates[k * h] = g[k];
            }
        }
        for (int k = 0; k < 4; k++) {
            dg[r * 4 * h + k * h + c] = g[k];
        }
        dy[r * p.wide + c] = d;
    }
}

/* A layer backward; the gradient goes on to the position before unless this is the first. One
 * function: its phases share shared memory across barriers. */
static __global__ void __launch_bounds__(LAYER_THREADS) k_layer_backward(layer_args p)
{
    DLS_SHARED(raw);
    const dev_tile t = p.tile[blockIdx.x];
    const dev_sample s = p.sample[t.sample];
    const int layer = s.first + p.position;
    const int conv = conv_of(layer, s.split);
    const dense_place q = p.at.conv[conv];
    const size_t own_at = conv == CONV_OWN ? p.own_at : 0;
    const int h = p.at.h;
    const int wide = p.wide;
    const int group = threadIdx.x / COLUMNS;
    const size_t row0 = s.row0 + t.first;
    float *dg = (float *)raw;
    float *d = dg + TILE * 4 * h;
    gates_backward(p, t, s, dg, d);
    __syncthreads();
    for (int c = threadIdx.x % COLUMNS; c < h; c += COLUMNS) {
        float acc[1][GROUP_ROWS];
        for (int j = 0; j < GROUP_ROWS; j++) {
            acc[0][j] = d[(group + j * GROUPS) * wide + c];
        }
        multiply<1>(acc, dg + group * 4 * h + h, 4 * h, 3 * h, p.w + p.at.y.back + c, h, 0);
        for (int j = 0; j < GROUP_ROWS; j++) {
            const int r = group + j * GROUPS;
            float v = 0.0f;
            if (r < t.rows) {
                const size_t at = (row0 + r) * h + c;
                v = acc[0][j] * (p.act[at] > 0.0f ? 1.0f : LRELU_SLOPE);
                p.dpre[at + own_at] = v;
                if (p.own_at) {
                    p.dpre[at + p.own_at - own_at] = 0.0f;
                }
            }
            d[r * wide + c] = v;
        }
    }
    __syncthreads();
    for (int c = threadIdx.x % COLUMNS; p.position > 0 && c < q.k; c += COLUMNS) {
        float acc[1][GROUP_ROWS] = {};
        multiply<1>(acc, d + group * wide, wide, h, p.w + q.back + c, q.k, 0);
        for (int j = 0; j < GROUP_ROWS; j++) {
            const int r = group + j * GROUPS;
            if (r < t.rows) {
                p.dagg[(row0 + r) * p.at.ld + c] = acc[0][j];
            }
        }
    }
    for (int c = threadIdx.x % COLUMNS; p.position > 0 && c < h; c += COLUMNS) {
        float acc[1][GROUP_ROWS] = {};
        multiply<1>(acc, dg + group * 4 * h, 4 * h, 3 * h, p.w + p.at.x.back + c, h, 0);
        for (int j = 0; j < GROUP_ROWS; j++) {
            const int r = group + j * GROUPS;
            if (r < t.rows) {
                p.dpart[(row0 + r) * h + c] = acc[0][j];
            }
        }
    }
}

#endif
