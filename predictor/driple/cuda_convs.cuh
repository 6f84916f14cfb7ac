/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The steps of GAT and MPNN that are not matrix products. The formulas, and where the published
 * code and the mathematics differ, are those of cpu_conv.inc.h and cpu_mpnn.inc.h. All arrays are
 * dense: [rows][N] nodes, rows as in cuda_kernels.cuh.
 */
#ifndef DLS_CUDA_CONVS_CUH
#define DLS_CUDA_CONVS_CUH

#include "predictor/driple/arch.h"
#include "predictor/driple/cuda_kernels.cuh"

/* ---- GAT ------------------------------------------------------------------------------------ */

struct gat_args {
    dev_graphs s;
    const int *graph_of;
    int n, n_rows, heads, f; /* f columns per head */
    float slope;
    const float *wx;        /* [rows][n][heads f] */
    const float *src, *dst; /* [rows][n][heads] */
    float *out;             /* [rows][n][heads f] */
};

static __device__ __forceinline__ float elu(float v)
{
    return v > 0.0f ? v : expm1f(v);
}

/* Per node and head the products with the two halves of a. */
static __global__ void k_gat_scores(const float *wx, const float *a_src, const float *a_dst,
                                    int heads, int f, size_t total, float *src, float *dst)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) {
        return;
    }
    const int k0 = (int)(i % heads) * f;
    const float *x = wx + i / heads * heads * f + k0;
    float to = 0.0f;
    float from = 0.0f;
    for (int k = 0; k < f; k++) {
        from += x[k] * a_src[k0 + k];
        to += x[k] * a_dst[k0 + k];
    }
    src[i] = from;
    dst[i] = to;
}

/* As meant: a node attends to itself and its neighbours. A thread per node and column. */
static __global__ void k_gat(gat_args p)
{
    const int h = p.heads * p.f;
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)p.n_rows * p.n * h) {
        return;
    }
    const int column = (int)(i % h);
    const int head = column / p.f;
    const int node = (int)(i / h % p.n);
    const size_t row = i / h / p.n;
    const int at = p.graph_of[row] * (p.n + 1) + node;
    const float *wx = p.wx + row * p.n * h + column;
    const float *dst = p.dst + row * p.n * p.heads + head;
    const float src = p.src[(row * p.n + node) * p.heads + head];
    const float own = leaky(src + dst[node * p.heads], p.slope);
    float top = own;
    for (int e = p.s.row_start[at]; e < p.s.row_start[at + 1]; e++) {
        if (p.s.val[e] > 0.0f && p.s.col[e] != node) {
            top = fmaxf(top, leaky(src + dst[p.s.col[e] * p.heads], p.slope));
        }
    }
    float sum = expf(own - top);
    float v = sum * wx[node * h];
    for (int e = p.s.row_start[at]; e < p.s.row_start[at + 1]; e++) {
        const int j = p.s.col[e];
        if (p.s.val[e] > 0.0f && j != node) {
            const float w = expf(leaky(src + dst[j * p.heads], p.slope) - top);
            sum += w;
            v += w * wx[j * h];
        }
    }
    p.out[i] = elu(v / sum);
}

/* Published: scores of pairs taken along the wrong axis, of one head. e [rows][n][n]. */
static __global__ void k_gat_published_scores(gat_args p, int head, float *e)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)p.n_rows * p.n) {
        return;
    }
    const size_t row = i / p.n;
    const long long n = p.n;
    const float *src = p.src + row * p.n * p.heads + head;
    const float *dst = p.dst + row * p.n * p.heads + head;
    float *mine = e + i * p.n;
    for (int j = 0; j < p.n; j++) {
        mine[j] = -9e15f;
    }
    const int at = p.graph_of[row] * (p.n + 1) + (int)(i % p.n);
    for (int k = p.s.row_start[at]; k < p.s.row_start[at + 1]; k++) {
        const int j = p.s.col[k];
        if (p.s.val[k] > 0.0f) {
            const long long q = 2 * ((long long)(i % p.n) * n + j);
            const long long a = q < n * n ? q / n : (q - n * n) % n;
            const long long b = q + 1 < n * n ? (q + 1) / n : (q + 1 - n * n) % n;
            mine[j] = leaky(src[a * p.heads] + dst[b * p.heads], p.slope);
        }
    }
}

/* ... softmax over the first index, a thread per column ... */
static __global__ void k_gat_published_softmax(int n, int n_rows, float *e)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)n_rows * n) {
        return;
    }
    float *column = e + i / n * n * n + i % n;
    float top = column[0];
    for (int k = 1; k < n; k++) {
        top = fmaxf(top, column[(size_t)k * n]);
    }
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        column[(size_t)k * n] = expf(column[(size_t)k * n] - top);
        sum += column[(size_t)k * n];
    }
    for (int k = 0; k < n; k++) {
        column[(size_t)k * n] /= sum;
    }
}

/* ... and the weighted sum of all nodes. */
static __global__ void k_gat_published_sum(gat_args p, int head, const float *e)
{
    const int h = p.heads * p.f;
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)p.n_rows * p.n * p.f) {
        return;
    }
    const int column = head * p.f + (int)(i % p.f);
    const size_t node = i / p.f; /* of all rows */
    const float *wx = p.wx + node / p.n * p.n * h + column;
    float sum = 0.0f;
    for (int j = 0; j < p.n; j++) {
        sum += e[node * p.n + j] * wx[(size_t)j * h];
    }
    p.out[node * h + column] = elu(sum);
}

/* ---- MPNN ----------------------------------------------------------------------------------- */

struct pna_args {
    dev_graphs s;
    const int *graph_of;
    int n, n_rows, f;
    int n_aggregators, n_scalers;
    unsigned char aggregators[DLS_AGG_COUNT], scalers[DLS_SCALE_COUNT];
    bool self_loop, reference;
    float lin_mean, log_mean;
    const float *x;    /* [rows][n][x_ld]: f columns of the state from here */
    const float *uv;   /* [rows][n][2 f]: M_ij = u_i + v_j + bias */
    const float *bias; /* [f] */
    float *z;          /* [rows][n][f (1 + aggregators scalers)] */
    int x_ld;
};

/* The messages to node i in column k. */
struct pna_inbox {
    const int *col;
    const float *val;
    const float *v; /* v_j at j * 2 f */
    float own;      /* u_i + bias */
    float degree;   /* D_i, with the self loop */
    float loop;     /* weight of the self loop: 0 or 1 */
    int edges, count, i, f;
};

/* Message number e: its weight, 0 if there is none, and its source. The self loop adds to the edge
 * of a node to itself or, where there is none, comes last. */
static __device__ __forceinline__ float pna_weight(const pna_inbox &b, int e, int *j)
{
    *j = e < b.edges ? b.col[e] : b.i;
    const float w = e < b.edges ? b.val[e] : 0.0f;
    return *j == b.i ? w + b.loop : w;
}

static __device__ __forceinline__ float pna_message(const pna_inbox &b, int j)
{
    return b.own + b.v[(size_t)j * 2 * b.f];
}

static __device__ __forceinline__ double pna_exact(const pna_inbox &b, int j)
{
    return (double)b.own + (double)b.v[(size_t)j * 2 * b.f];
}

static __device__ pna_inbox pna_open(const pna_args &p, size_t row, int i, int k)
{
    const int g = p.graph_of[row];
    const int at = g * (p.n + 1) + i;
    pna_inbox b;
    b.col = p.s.col + p.s.row_start[at];
    b.val = p.s.val + p.s.row_start[at];
    b.edges = p.s.row_start[at + 1] - p.s.row_start[at];
    b.loop = p.self_loop ? 1.0f : 0.0f;
    b.degree = p.s.degree[g * p.n + i] + b.loop;
    b.v = p.uv + row * p.n * 2 * p.f + p.f + k;
    b.own = p.uv[(row * p.n + i) * 2 * p.f + k] + p.bias[k];
    b.i = i;
    b.f = p.f;
    bool has_loop = false;
    for (int e = 0; e < b.edges; e++) {
        has_loop = has_loop || b.col[e] == i;
    }
    b.count = b.edges + (p.self_loop && !has_loop ? 1 : 0);
    return b;
}

static __device__ float pna_extreme(const pna_inbox &b, bool largest)
{
    float best = largest ? -INFINITY : INFINITY;
    for (int e = 0; e < b.count; e++) {
        int j;
        if (pna_weight(b, e, &j) > 0.0f) {
            const float m = pna_message(b, j);
            best = (largest ? m > best : m < best) ? m : best;
        }
    }
    return best;
}

/* Published: of the messages that others formed about node i, u_j + v_i + bias. Columns ascend. */
static __device__ float pna_published_extreme(const pna_args &p, size_t row, int i, int k,
                                              bool largest)
{
    const int *row_start = p.s.row_start + p.graph_of[row] * (p.n + 1);
    float best = largest ? -INFINITY : INFINITY;
    for (int j = 0; j < p.n; j++) {
        int low = row_start[j];
        int high = row_start[j + 1];
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (p.s.col[middle] < i) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        const bool edge = low < row_start[j + 1] && p.s.col[low] == i && p.s.val[low] > 0.0f;
        if (edge || (p.self_loop && j == i)) {
            const float *uv = p.uv + row * p.n * 2 * p.f + k;
            const float m = uv[(size_t)j * 2 * p.f] + p.bias[k] + uv[(size_t)i * 2 * p.f + p.f];
            best = (largest ? m > best : m < best) ? m : best;
        }
    }
    return best;
}

/* sum M e^(sM) A / sum e^(sM) A, shifted by the largest exponent */
static __device__ float pna_soft_extreme(const pna_inbox &b, float sign)
{
    const float top = sign * pna_extreme(b, sign > 0.0f);
    float up = 0.0f;
    float down = 0.0f;
    for (int e = 0; e < b.count; e++) {
        int j;
        const float w = pna_weight(b, e, &j);
        if (w > 0.0f) {
            const float m = pna_message(b, j);
            const float v = w * expf(sign * m - top);
            up += v * m;
            down += v;
        }
    }
    return up / down;
}

/* Central moments are small differences where messages nearly agree, and the fifth root's slope at 0
 * is 2000 (1e-5 is added to the moment): in double, so that rounding is not what comes out of it. */
static __device__ double pna_central(const pna_inbox &b, int order, double mean)
{
    double c = 0.0;
    for (int e = 0; e < b.count; e++) {
        int j;
        const float w = pna_weight(b, e, &j);
        const double d = pna_exact(b, j) - mean;
        double power = d;
        for (int o = 1; o < order; o++) {
            power *= d;
        }
        c += w > 0.0f ? (double)w * power : 0.0;
    }
    return c / (double)b.degree;
}

static __device__ double pna_mean(const pna_inbox &b)
{
    double sum = 0.0;
    for (int e = 0; e < b.count; e++) {
        int j;
        const float w = pna_weight(b, e, &j);
        sum += w > 0.0f ? (double)w * pna_exact(b, j) : 0.0;
    }
    return sum / (double)b.degree;
}

/* Published: about the mean with the self loop once more. */
static __device__ float pna_moment(const pna_args &p, const pna_inbox &b, int order)
{
    const double degree = (double)b.degree;
    const double mean = pna_mean(b);
    const double centre = p.reference && p.self_loop
                              ? (mean * degree + pna_exact(b, b.i)) / (degree + 1.0)
                              : mean;
    const double c = pna_central(b, order, centre);
    const double root =
        pow(fabs(c) + 1e-5, 1.0 / order) - (p.reference ? 0.0 : pow(1e-5, 1.0 / order));
    return (float)(c > 0.0 ? root : c < 0.0 ? -root : c); /* NaN stays */
}

static __device__ float pna_variance(const pna_inbox &b)
{
    return (float)pna_central(b, 2, pna_mean(b));
}

static __device__ float pna_aggregate(const pna_args &p, const pna_inbox &b, size_t row, int k,
                                      int kind)
{
    if (kind == DLS_AGG_IDENTITY) {
        return pna_message(b, b.i);
    }
    const bool extreme = kind == DLS_AGG_MAX || kind == DLS_AGG_MIN;
    if (p.reference && extreme) {
        return pna_published_extreme(p, row, b.i, k, kind == DLS_AGG_MAX);
    }
    const float *degree = p.s.degree + p.graph_of[row] * p.n;
    int messages = 0;
    float sum = 0.0f;
    for (int e = 0; e < b.count; e++) {
        int j;
        float w = pna_weight(b, e, &j);
        if (w > 0.0f) {
            const float m = pna_message(b, j);
            w *= kind == DLS_AGG_NORMALISED_MEAN ? 1.0f / sqrtf(b.degree * (degree[j] + b.loop))
                                                 : 1.0f;
            sum += w * m;
            messages++;
        }
    }
    if (messages == 0 && !p.reference) {
        return 0.0f;
    }
    switch (kind) {
    case DLS_AGG_SUM:
    case DLS_AGG_NORMALISED_MEAN:
        return sum;
    case DLS_AGG_MEAN:
        return sum / b.degree;
    case DLS_AGG_MAX:
    case DLS_AGG_MIN:
        return pna_extreme(b, kind == DLS_AGG_MAX);
    case DLS_AGG_VAR:
        return pna_variance(b);
    case DLS_AGG_STD:
        return sqrtf(pna_variance(b) + 1e-5f);
    case DLS_AGG_SOFTMAX:
        return pna_soft_extreme(b, 1.0f);
    case DLS_AGG_SOFTMIN:
        return pna_soft_extreme(b, -1.0f);
    default:
        return pna_moment(p, b, 3 + kind - DLS_AGG_MOMENT3);
    }
}

static __device__ float pna_scale(const pna_args &p, int kind, float degree)
{
    const float log_degree = logf(degree + 1.0f);
    switch (kind) {
    case DLS_SCALE_AMPLIFICATION:
        return log_degree / p.log_mean;
    case DLS_SCALE_ATTENUATION:
        return degree == 0.0f && !p.reference ? 0.0f : p.log_mean / log_degree;
    case DLS_SCALE_LINEAR:
        return degree / p.lin_mean;
    case DLS_SCALE_INVERSE_LINEAR:
        return degree == 0.0f && !p.reference ? 0.0f : p.lin_mean / degree;
    default:
        return 1.0f;
    }
}

/* One tower: a node's own columns and its scaled aggregates side by side. A thread per node and
 * column. */
static __global__ void k_pna(pna_args p)
{
    const size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= (size_t)p.n_rows * p.n * p.f) {
        return;
    }
    const int k = (int)(at % p.f);
    const size_t node = at / p.f; /* of all rows */
    const size_t row = node / p.n;
    const int i = (int)(node % p.n);
    const pna_inbox b = pna_open(p, row, i, k);
    const float degree = p.s.degree[p.graph_of[row] * p.n + i];
    float *z = p.z + node * p.f * (1 + p.n_aggregators * p.n_scalers) + k;
    z[0] = p.x[node * p.x_ld + k];
    for (int q = 0; q < p.n_aggregators; q++) {
        const float v = pna_aggregate(p, b, row, k, p.aggregators[q]);
        for (int s = 0; s < p.n_scalers; s++) {
            z[(size_t)(1 + s * p.n_aggregators + q) * p.f] = v * pna_scale(p, p.scalers[s], degree);
        }
    }
}

#endif
