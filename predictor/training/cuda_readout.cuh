/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Set2Set forward and backward: a block takes one graph through all its steps in one
 * launch, with the LSTM's weights and the graph's nodes in shared memory where they fit. Kept of
 * step t, in row step0 + t of a graph:
 *
 *     q [h, r] before the step, c before it; gates i, f, g, o, then their gradients; dr of the read
 *     vector after it; and in attention attend0 + t n its weights, and the scores' gradients
 *
 * The row behind the last step has q and c at the end, and gradients of 0.
 */
#ifndef DLS_TRAINING_CUDA_READOUT_CUH
#define DLS_TRAINING_CUDA_READOUT_CUH

#include "predictor/driple/cuda_math.cuh"
#include "predictor/training/cuda_lessons.cuh"

#define READOUT_THREADS 256
#define PART 64 /* threads side by side in a sum over nodes */
#define PARTS (READOUT_THREADS / PART)

struct readout_args {
    net_places at;
    const dev_sample *sample;
    const float *w;
    const float *nodes; /* [rows][h] */
    float *dnodes;
    bool keep_weights, keep_nodes; /* in shared memory */
    float *q, *cell, *gates, *dr;  /* [step rows][2 h], [h], [4 h], [h] */
    float *weight, *dscore;        /* attentions */
    float *pooled;                 /* [graphs][pooled_ld] */
    const float *dpooled;
    int pooled_ld;
};

/* ---- shared memory ----------------------------------------------------------------------------
 */

struct readout_bytes {
    size_t rest, weights, nodes;
};

/* Rows of nodes are an odd number of floats apart, so that threads that have a row each do not meet
 * in a bank. */
static __host__ __device__ __forceinline__ int node_stride(int h)
{
    return h | 1;
}

static readout_bytes readout_needs(int h, int most_nodes)
{
    readout_bytes b;
    b.rest = ((size_t)(4 + 2 + 3 + PARTS) * h + 2 * (size_t)most_nodes + 2) * sizeof(float);
    b.weights = 8 * (size_t)h * h * sizeof(float);
    b.nodes = (size_t)most_nodes * node_stride(h) * sizeof(float);
    return b;
}

struct readout_shared {
    const float *w; /* [2 h][4 h], or turned [4 h][2 h] */
    const float *nodes;
    int stride;
    float *gates, *q, *a, *b, *c; /* [4 h], [2 h], [h] each */
    float *part;                  /* [PARTS][h] */
    float *score, *score2;        /* [n] */
    float *pair;                  /* [2] */
};

/* turned: the LSTM's weights as backward wants them. */
static __device__ readout_shared share_readout(const readout_args &p, const dev_sample &s,
                                               float *at, bool turned)
{
    const int h = p.at.h;
    readout_shared m;
    m.gates = at;
    m.q = m.gates + 4 * h;
    m.a = m.q + 2 * h;
    m.b = m.a + h;
    m.c = m.b + h;
    m.part = m.c + h;
    m.score = m.part + PARTS * h;
    m.score2 = m.score + s.n;
    m.pair = m.score2 + s.n;
    float *free_at = m.pair + 2;
    m.nodes = p.nodes + (size_t)s.row0 * h;
    m.stride = h;
    if (p.keep_nodes) {
        for (int i = threadIdx.x; i < s.n * h; i += blockDim.x) {
            free_at[i / h * node_stride(h) + i % h] = m.nodes[i];
        }
        m.nodes = free_at;
        m.stride = node_stride(h);
        free_at += s.n * node_stride(h);
    }
    m.w = p.w + p.at.from_h.w;
    if (turned) {
        m.w = NULL; /* two matrices: see lstm_back */
    }
    if (p.keep_weights) {
        const float *to_h = p.w + p.at.from_h.back;
        const float *to_r = p.w + p.at.from_r.back;
        for (int i = threadIdx.x; i < 8 * h * h; i += blockDim.x) {
            const int o = i / (2 * h);
            const int k = i % (2 * h);
            free_at[i] = !turned ? m.w[i] : k < h ? to_h[o * h + k] : to_r[o * h + k - h];
        }
        m.w = free_at;
    }
    return m;
}

/* score[i] = <node i, v>, a thread per node. */
static __device__ void score_nodes(const readout_shared &m, int n, int h, const float *v,
                                   float *score)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float *x = m.nodes + (size_t)i * m.stride;
        float even = 0.0f, odd = 0.0f;
        int k = 0;
        for (; k + 2 <= h; k += 2) {
            even += x[k] * v[k];
            odd += x[k + 1] * v[k + 1];
        }
        score[i] = even + odd + (k < h ? x[k] * v[k] : 0.0f);
    }
}

/* part[g][k] = sum over nodes g, g + PARTS, ... of weight[i] node[i][k]; to be added by sum_parts.
 */
static __device__ void sum_nodes(const readout_shared &m, int n, int h, const float *weight)
{
    const int g = threadIdx.x / PART;
    for (int k = threadIdx.x % PART; k < h; k += PART) {
        float sum = 0.0f;
        for (int i = g; i < n; i += PARTS) {
            sum += weight[i] * m.nodes[(size_t)i * m.stride + k];
        }
        m.part[g * h + k] = sum;
    }
}

static __device__ __forceinline__ float sum_parts(const readout_shared &m, int h, int k)
{
    float sum = 0.0f;
    for (int g = 0; g < PARTS; g++) {
        sum += m.part[g * h + k];
    }
    return sum;
}

/* weight[n] = softmax of score[n], weight in shared and in global memory. Begins and ends with a
 * barrier. */
static __device__ void softmax_nodes(const readout_shared &m, int n, const float *score,
                                     float *weight, float *kept)
{
    __syncthreads();
    if (threadIdx.x < 32) {
        float top = -INFINITY;
        for (int i = threadIdx.x; i < n; i += 32) {
            top = fmaxf(top, score[i]);
        }
        top = warp_max(top);
        float sum = 0.0f;
        for (int i = threadIdx.x; i < n; i += 32) {
            sum += __expf(score[i] - top);
        }
        sum = warp_sum(sum);
        if (threadIdx.x == 0) {
            m.pair[0] = top;
            m.pair[1] = 1.0f / sum;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float a = __expf(score[i] - m.pair[0]) * m.pair[1];
        weight[i] = a;
        kept[i] = a;
    }
    __syncthreads();
}

/* dscore[n] = weight (d - sum of weight d), d the gradient of the weights; to kept, too. Begins and
 * ends with a barrier. */
static __device__ void softmax_back(const readout_shared &m, int n, const float *weight,
                                    const float *d, float *dscore, float *kept)
{
    __syncthreads();
    if (threadIdx.x < 32) {
        float sum = 0.0f;
        for (int i = threadIdx.x; i < n; i += 32) {
            sum += weight[i] * d[i];
        }
        sum = warp_sum(sum);
        if (threadIdx.x == 0) {
            m.pair[0] = sum;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float v = weight[i] * (d[i] - m.pair[0]);
        dscore[i] = v;
        kept[i] = v;
    }
    __syncthreads();
}

/* ---- Set2Set ----------------------------------------------------------------------------------
 */

static __global__ void __launch_bounds__(READOUT_THREADS) k_set2set_forward(readout_args p)
{
    DLS_SHARED(raw);
    const dev_sample s = p.sample[blockIdx.x];
    const int h = p.at.h;
    const readout_shared m = share_readout(p, s, (float *)raw, false);
    const float *bias = p.w + p.at.from_h.b;
    float *cell = m.c;
    for (int k = threadIdx.x; k < 2 * h; k += blockDim.x) {
        m.q[k] = 0.0f;
        p.q[(size_t)s.step0 * 2 * h + k] = 0.0f;
        if (k < h) {
            cell[k] = 0.0f;
            p.cell[(size_t)s.step0 * h + k] = 0.0f;
        }
    }
    for (int t = 0; t < s.steps; t++) {
        const size_t row = s.step0 + t;
        __syncthreads();
        for (int j = threadIdx.x; j < 4 * h; j += blockDim.x) {
            float even = bias[j], odd = 0.0f;
            for (int k = 0; k < 2 * h; k += 2) {
                even += m.q[k] * m.w[(size_t)k * 4 * h + j];
                odd += m.q[k + 1] * m.w[(size_t)(k + 1) * 4 * h + j];
            }
            const float v = even + odd;
            const float gate = j / h == 2 ? tanh_exp(v) : sigmoid(v);
            m.gates[j] = gate;
            p.gates[row * 4 * h + j] = gate;
        }
        __syncthreads();
        for (int k = threadIdx.x; k < h; k += blockDim.x) {
            const float c = m.gates[h + k] * cell[k] + m.gates[k] * m.gates[2 * h + k];
            const float v = m.gates[3 * h + k] * tanh_exp(c);
            cell[k] = c;
            m.q[k] = v;
            p.cell[(row + 1) * h + k] = c;
            p.q[(row + 1) * 2 * h + k] = v;
        }
        __syncthreads();
        score_nodes(m, s.n, h, m.q, m.score);
        softmax_nodes(m, s.n, m.score, m.score2, p.weight + s.attend0 + (size_t)t * s.n);
        sum_nodes(m, s.n, h, m.score2);
        __syncthreads();
        for (int k = threadIdx.x; k < h; k += blockDim.x) {
            const float r = sum_parts(m, h, k);
            m.q[h + k] = r;
            p.q[(row + 1) * 2 * h + h + k] = r;
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 2 * h; k += blockDim.x) {
        p.pooled[(size_t)blockIdx.x * p.pooled_ld + k] = m.q[k];
    }
}

/* The gates of a step to their gradients; dh and dc come in, dc of the step before goes out. */
static __device__ void lstm_back(const readout_args &p, const readout_shared &m, size_t row, int h,
                                 const float *dh, float *dc)
{
    for (int k = threadIdx.x; k < h; k += blockDim.x) {
        float *kept = p.gates + row * 4 * h + k;
        const float i = kept[0], f = kept[h], g = kept[2 * h], o = kept[3 * h];
        const float seen = tanh_exp(p.cell[(row + 1) * h + k]);
        const float d_out = dh[k] + sum_parts(m, h, k);
        const float d = dc[k] + d_out * o * (1.0f - seen * seen);
        const float dg[4] = {d * g * i * (1.0f - i), d * p.cell[row * h + k] * f * (1.0f - f),
                             d * i * (1.0f - g * g), d_out * seen * o * (1.0f - o)};
        for (int q = 0; q < 4; q++) {
            m.gates[q * h + k] = dg[q];
            kept[q * h] = dg[q];
        }
        dc[k] = d * f;
    }
}

/* The nodes' gradient over all steps: weights times what was read, scores times what asked. */
static __device__ void set2set_dnodes(const readout_args &p, const dev_sample &s)
{
    enum { ROWS = 8 };
    const int h = p.at.h;
    const int g = threadIdx.x / PART;
    for (int k = threadIdx.x % PART; k < h; k += PART) {
        for (int i = g * ROWS; i < s.n; i += PARTS * ROWS) {
            float sum[ROWS] = {};
            const int rows = s.n - i < ROWS ? s.n - i : ROWS;
            for (int t = 0; t < s.steps; t++) {
                const float dr = p.dr[(size_t)(s.step0 + t) * h + k];
                const float asked = p.q[(size_t)(s.step0 + t + 1) * 2 * h + k];
                const float *a = p.weight + s.attend0 + (size_t)t * s.n + i;
                const float *de = p.dscore + s.attend0 + (size_t)t * s.n + i;
                for (int j = 0; j < rows; j++) {
                    sum[j] += a[j] * dr + de[j] * asked;
                }
            }
            for (int j = 0; j < rows; j++) {
                p.dnodes[(size_t)(s.row0 + i + j) * h + k] = sum[j];
            }
        }
    }
}

static __global__ void __launch_bounds__(READOUT_THREADS) k_set2set_backward(readout_args p)
{
    DLS_SHARED(raw);
    const dev_sample s = p.sample[blockIdx.x];
    const int h = p.at.h;
    const readout_shared m = share_readout(p, s, (float *)raw, true);
    float *dh = m.a;
    float *dr = m.b;
    float *dc = m.c;
    for (int k = threadIdx.x; k < h; k += blockDim.x) {
        const float *d = p.dpooled + (size_t)blockIdx.x * p.pooled_ld;
        dh[k] = d[k];
        dr[k] = d[h + k];
        dc[k] = 0.0f;
        for (int q = 0; q < 4; q++) {
            p.gates[(size_t)(s.step0 + s.steps) * 4 * h + q * h + k] = 0.0f;
        }
    }
    for (int t = s.steps - 1; t >= 0; t--) {
        const size_t row = s.step0 + t;
        const size_t attend = s.attend0 + (size_t)t * s.n;
        __syncthreads();
        for (int k = threadIdx.x; k < h; k += blockDim.x) {
            p.dr[row * h + k] = dr[k];
        }
        score_nodes(m, s.n, h, dr, m.score);
        softmax_back(m, s.n, p.weight + attend, m.score, m.score2, p.dscore + attend);
        sum_nodes(m, s.n, h, m.score2);
        __syncthreads();
        lstm_back(p, m, row, h, dh, dc);
        __syncthreads();
        for (int k = threadIdx.x; t > 0 && k < 2 * h; k += blockDim.x) {
            const bool is_r = k >= h;
            const float *w = m.w    ? m.w + k
                             : is_r ? p.w + p.at.from_r.back + k - h
                                    : p.w + p.at.from_h.back + k;
            const int ld = m.w ? 2 * h : h;
            float sum[4] = {};
            for (int o = 0; o < 4 * h; o += 4) {
                for (int q = 0; q < 4; q++) {
                    sum[q] += m.gates[o + q] * w[(size_t)(o + q) * ld];
                }
            }
            (is_r ? dr : dh)[is_r ? k - h : k] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        }
    }
    __syncthreads();
    set2set_dnodes(p, s);
}

#endif
