/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The plain kernels: one step each, between cuBLAS products. They serve every width and are what
 * the fused kernels are checked against.
 *
 * A chunk holds G graphs of N nodes and R rows, a row being a graph under one setting's layers (or
 * the base's). Adjacency is by rows for the G graphs: row_start [G][N + 1] into col and val.
 */
#ifndef DLS_CUDA_KERNELS_CUH
#define DLS_CUDA_KERNELS_CUH

#include "predictor/driple/cuda_math.cuh"

struct dev_graphs {
    const int *row_start; /* [G][N + 1] */
    const int *col;
    const float *val;  /* normalised */
    const float *diag; /* [G][N] what a node keeps of itself */
};

/* root[g][i] = (1 + row sum)^-1/2; weight NULL: all 1. */
static __global__ void k_degree(const int *row_start, const float *weight, int n, int n_graphs,
                                float *root, float *diag)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n_graphs) {
        return;
    }
    const int at = i / n * (n + 1) + i % n;
    float d = 1.0f;
    for (int e = row_start[at]; e < row_start[at + 1]; e++) {
        d += weight ? weight[e] : 1.0f;
    }
    root[i] = 1.0f / sqrtf(d);
    diag[i] = root[i] * root[i];
}

static __global__ void k_normalise(const int *row_start, const int *col, const float *weight, int n,
                                   int n_graphs, const float *root, float *val)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * n_graphs) {
        return;
    }
    const int g = i / n;
    const int at = g * (n + 1) + i % n;
    for (int e = row_start[at]; e < row_start[at + 1]; e++) {
        val[e] = (weight ? weight[e] : 1.0f) * root[i] * root[g * n + col[e]];
    }
}

/* State of row r from state source[r]. */
static __global__ void k_copy_rows(const float *from, const int *source, size_t row_len,
                                   size_t total, float *to)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total) {
        to[i] = from[(size_t)source[i / row_len] * row_len + i % row_len];
    }
}

/* out = (A + diag) x for states h wide, one thread per element. */
static __global__ void k_sparse(dev_graphs s, const int *graph_of, int n, int h, int n_rows,
                                const float *x, float *out)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n_rows * n * h) {
        return;
    }
    const int unit = (int)(i % h);
    const int node = (int)(i / h % n);
    const size_t row = i / h / n;
    const int g = graph_of[row];
    const float *mine = x + row * n * h;
    float acc = s.diag[g * n + node] * mine[node * h + unit];
    const int at = g * (n + 1) + node;
    for (int e = s.row_start[at]; e < s.row_start[at + 1]; e++) {
        acc += s.val[e] * mine[s.col[e] * h + unit];
    }
    out[i] = acc;
}

/* y [..][width] = lrelu(y + bias) */
static __global__ void k_bias_lrelu(float *y, const float *bias, int width, size_t total)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < total) {
        y[i] = lrelu(y[i] + bias[i % width]);
    }
}

/* gi = x Wi, gh = y Wh, both [rows][3h] in blocks r, z, n. */
static __global__ void k_gru(const float *gi, const float *gh, const float *bi, const float *bh,
                             const float *y, int h, size_t total, float *out)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) {
        return;
    }
    const int u = (int)(i % h);
    const size_t at = i / h * 3 * h + u;
    const float r = sigmoid(gi[at] + bi[u] + gh[at] + bh[u]);
    const float z = sigmoid(gi[at + h] + bi[h + u] + gh[at + h] + bh[h + u]);
    const float n = tanh_exp(gi[at + 2 * h] + bi[2 * h + u] + r * (gh[at + 2 * h] + bh[2 * h + u]));
    out[i] = n + z * (y[i] - n);
}

/* gates [rows][4h] in blocks i, f, g, o; q [rows][2h] takes the new h in front. */
static __global__ void k_lstm(const float *gates, const float *bias, int h, int n_rows, float *c,
                              float *q)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_rows * h) {
        return;
    }
    const int u = i % h;
    const float *g = gates + (size_t)(i / h) * 4 * h + u;
    const float cell = sigmoid(g[h] + bias[h + u]) * c[i] +
                       sigmoid(g[0] + bias[u]) * tanh_exp(g[2 * h] + bias[2 * h + u]);
    c[i] = cell;
    q[(size_t)(i / h) * 2 * h + u] = sigmoid(g[3 * h] + bias[3 * h + u]) * tanh_exp(cell);
}

/* One warp per row of q [rows][2h]: weights from scores s = <x_i, q>, softmax over the nodes,
 * weighted sum of the nodes to the second half. Scores go through e [rows][n]. */
static __global__ void k_attend(const float *x, int n, int h, float *q, float *e)
{
    const size_t row = blockIdx.x;
    const int lane = threadIdx.x;
    const float *mine = x + row * n * h;
    const float *query = q + row * 2 * h;
    float *score = e + row * n;
    float top = -INFINITY;
    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int k = lane; k < h; k += 32) {
            s += mine[i * h + k] * query[k];
        }
        s = warp_sum(s);
        top = fmaxf(top, s);
        if (lane == 0) {
            score[i] = s;
        }
    }
    __syncwarp();
    float sum = 0.0f;
    for (int i = lane; i < n; i += 32) {
        score[i] = __expf(score[i] - top);
        sum += score[i];
    }
    sum = warp_sum(sum);
    __syncwarp();
    for (int k = lane; k < h; k += 32) {
        float acc = 0.0f;
        for (int i = 0; i < n; i++) {
            acc += score[i] * mine[i * h + k];
        }
        q[row * 2 * h + h + k] = acc / sum;
    }
}

/* ---- MLP ------------------------------------------------------------------------------------ */

#define MLP_LAYERS_MAX 16
#define MLP_PAIRS 16
#define MLP_AHEAD 8

struct dev_mlp {
    const float *weights; /* setting s (base 0) at s * stride: per layer w [k][n], b [n] */
    size_t stride;
    int n_layers;
    int width[MLP_LAYERS_MAX + 1];
};

/* acc[p] += K elements of a[p] times a column of w [k][n]: K weights on their way at once. */
template <int K>
static __device__ __forceinline__ void mlp_column(float acc[MLP_PAIRS], const float *a, int widest,
                                                  int count, const float *w, int n)
{
    float v[K];
#pragma unroll
    for (int q = 0; q < K; q++) {
        v[q] = __ldg(w + (size_t)q * n);
    }
#pragma unroll
    for (int p = 0; p < MLP_PAIRS; p++) {
        for (int q = 0; p < count && q < K; q++) {
            acc[p] += v[q] * a[p * widest + q];
        }
    }
}

/* A block takes up to `most` pairs, at most MLP_PAIRS; weights are read once per run of equal
 * settings. Shared: two arrays [most][widest]. */
static __global__ void k_mlp(dev_mlp m, const float *pooled, const int *row_of, const int *setting,
                             int n_pairs, int most, int widest, float *out)
{
    DLS_SHARED(raw);
    float *a = (float *)raw;
    float *b = a + most * widest;
    const int first = blockIdx.x * most;
    const int last = first + most < n_pairs ? first + most : n_pairs;
    for (int from = first; from < last;) {
        int to = from + 1;
        while (to < last && setting[to] == setting[from]) {
            to++;
        }
        const int count = to - from;
        const float *w = m.weights + (size_t)(setting[from] + 1) * m.stride;
        for (int i = threadIdx.x; i < count * m.width[0]; i += blockDim.x) {
            a[i / m.width[0] * widest + i % m.width[0]] =
                pooled[(size_t)row_of[from + i / m.width[0]] * m.width[0] + i % m.width[0]];
        }
        __syncthreads();
        for (int l = 0; l < m.n_layers; l++) {
            const int k = m.width[l];
            const int n = m.width[l + 1];
            const float *bias = w + (size_t)k * n;
            for (int j = threadIdx.x; j < n; j += blockDim.x) {
                float acc[MLP_PAIRS];
#pragma unroll
                for (int p = 0; p < MLP_PAIRS; p++) {
                    acc[p] = bias[j];
                }
                int i = 0;
                for (; i + MLP_AHEAD <= k; i += MLP_AHEAD) {
                    mlp_column<MLP_AHEAD>(acc, a + i, widest, count, w + (size_t)i * n + j, n);
                }
                for (; i < k; i++) {
                    mlp_column<1>(acc, a + i, widest, count, w + (size_t)i * n + j, n);
                }
                const bool end = l == m.n_layers - 1;
#pragma unroll
                for (int p = 0; p < MLP_PAIRS; p++) {
                    if (p < count) {
                        b[p * widest + j] = end ? lrelu(acc[p]) : relu(acc[p]);
                    }
                }
            }
            __syncthreads();
            float *swap = a;
            a = b;
            b = swap;
            w = bias + n;
        }
        const int n_out = m.width[m.n_layers];
        for (int i = threadIdx.x; i < count * n_out; i += blockDim.x) {
            out[(size_t)(from + i / n_out) * n_out + i % n_out] = a[i / n_out * widest + i % n_out];
        }
        __syncthreads();
        from = to;
    }
}

#endif
