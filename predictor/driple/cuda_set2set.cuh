/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The fused Set2Set for H = 64: all steps of S2S_ROWS rows at a time in one block. The LSTM's
 * merged weights stay in registers, as operands of the matrix units (3xTF32, cuda_fused.cuh), cell
 * states in registers, and the nodes in shared memory where they fit (KEPT), else they come through
 * the caches. Per step:
 *
 *     gates      a warp has 4 units, all four gates of them, for 8 rows; the rows are the columns
 *                of the product, and two lanes exchange what makes a cell
 *     attention  two warps a row, 8 lanes a node; nodes are read once: sums are scaled whenever a
 *                larger score comes
 *     r          the two warps' sums together
 */
#ifndef DLS_CUDA_SET2SET_CUH
#define DLS_CUDA_SET2SET_CUH

#include "predictor/driple/cuda_fused.cuh"

#include <cfloat>

#define S2S_ROWS 8
#define S2S_THREADS 512
#define S2S_Q 132   /* floats of a row of [h, r], 4 against bank conflicts */
#define S2S_PART 68 /* sum of nodes, of their weights, largest score */

static inline size_t set2set_bytes(int n, bool kept)
{
    return sizeof(float) * (2 * S2S_ROWS * S2S_Q + S2S_THREADS / 32 * S2S_PART +
                            (kept ? (size_t)S2S_ROWS * n * FUSED_H : 0));
}

/* Operands of w [128][256], the gates' weights of the warp's units. */
static __device__ __forceinline__ void load_lstm(const float *w, int unit, int lane,
                                                 unsigned left[16][4])
{
    const float *at = w + lane / 4 / 4 * 64 + unit;
#pragma unroll
    for (int kt = 0; kt < 16; kt++) {
        const int k = kt * 8 + lane % 4;
        left[kt][0] = __float_as_uint(at[k * 256]);
        left[kt][1] = __float_as_uint(at[k * 256 + 128]);
        left[kt][2] = __float_as_uint(at[(k + 4) * 256]);
        left[kt][3] = __float_as_uint(at[(k + 4) * 256 + 128]);
    }
}

/* The new h of this lane's unit and row; q is what the step begins with. */
static __device__ __forceinline__ float lstm_step(unsigned left[16][4], const float bias[4],
                                                  const float *q, int lane, float *cell)
{
    float acc[2][3][4] = {}; /* six short chains of products, not a long one */
    const float *at = q + lane / 4 * S2S_Q + lane % 4;
#pragma unroll
    for (int kt = 0; kt < 16; kt++) {
        for (int i = 0; i < 4; i++) {
            DLS_OPAQUE(left[kt][i]); /* split in every step: both parts of all are too many */
        }
        const f32_units::left a = f32_units::left_of(left[kt]);
        const f32_units::right b = f32_units::right_of(
            uint2{__float_as_uint(at[kt * 8]), __float_as_uint(at[kt * 8 + 4])});
        mma_tf32(acc[kt % 2][0], a.lo, b.hi[0], b.hi[1]);
        mma_tf32(acc[kt % 2][1], a.hi, b.lo[0], b.lo[1]);
        mma_tf32(acc[kt % 2][2], a.hi, b.hi[0], b.hi[1]);
    }
    float d[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        d[k] = ((acc[0][0][k] + acc[1][0][k]) + (acc[0][1][k] + acc[1][1][k])) +
               (acc[0][2][k] + acc[1][2][k]);
    }
    /* lanes below 16 have i and g of two rows, those above f and o: each keeps one row */
    const bool low = lane < 16;
    const float got0 = __shfl_xor_sync(0xffffffffu, low ? d[1] : d[0], 16);
    const float got1 = __shfl_xor_sync(0xffffffffu, low ? d[3] : d[2], 16);
    const float kept0 = low ? d[0] : d[1];
    const float kept1 = low ? d[2] : d[3];
    const float i = sigmoid((low ? kept0 : got0) + bias[0]);
    const float f = sigmoid((low ? got0 : kept0) + bias[1]);
    const float g = tanh_exp((low ? kept1 : got1) + bias[2]);
    const float o = sigmoid((low ? got1 : kept1) + bias[3]);
    *cell = f * *cell + i * g;
    return o * tanh_exp(*cell);
}

/* The warp's share of a row's nodes x [n][64] as h asks for them: to part. */
static __device__ __forceinline__ void attend(const float *x, int n, const float *h, int half,
                                              int lane, float *part)
{
    enum { AHEAD = 2 };
    const int unit = lane % 8 * 4; /* and 32 on */
    const float4 ask[2] = {*(const float4 *)(h + unit), *(const float4 *)(h + 32 + unit)};
    float top = -FLT_MAX, sum = 0.0f;
    float acc[8] = {};
    for (int i0 = half * 4 + lane / 8; i0 - lane / 8 < n; i0 += 8 * AHEAD) {
        float v[AHEAD][8], s[AHEAD];
        float most = top;
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            const int i = i0 + 8 * k;
            const float *at = x + (size_t)(i < n ? i : 0) * FUSED_H + unit;
            const float4 a = *(const float4 *)at, b = *(const float4 *)(at + 32);
            v[k][0] = a.x, v[k][1] = a.y, v[k][2] = a.z, v[k][3] = a.w;
            v[k][4] = b.x, v[k][5] = b.y, v[k][6] = b.z, v[k][7] = b.w;
            s[k] = (a.x * ask[0].x + a.y * ask[0].y + a.z * ask[0].z + a.w * ask[0].w) +
                   (b.x * ask[1].x + b.y * ask[1].y + b.z * ask[1].z + b.w * ask[1].w);
            s[k] += __shfl_xor_sync(0xffffffffu, s[k], 1);
            s[k] += __shfl_xor_sync(0xffffffffu, s[k], 2);
            s[k] += __shfl_xor_sync(0xffffffffu, s[k], 4);
            most = i < n ? fmaxf(most, s[k]) : most;
        }
        const float scale = __expf(top - most);
        top = most;
        sum *= scale;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            acc[j] *= scale;
        }
#pragma unroll
        for (int k = 0; k < AHEAD; k++) {
            const float e = i0 + 8 * k < n ? __expf(s[k] - top) : 0.0f;
            sum += e;
#pragma unroll
            for (int j = 0; j < 8; j++) {
                acc[j] += e * v[k][j];
            }
        }
    }
    float all = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 8));
    all = fmaxf(all, __shfl_xor_sync(0xffffffffu, all, 16));
    const float scale = __expf(top - all);
    sum *= scale;
    sum += __shfl_xor_sync(0xffffffffu, sum, 8);
    sum += __shfl_xor_sync(0xffffffffu, sum, 16);
#pragma unroll
    for (int j = 0; j < 8; j++) {
        acc[j] *= scale;
        acc[j] += __shfl_xor_sync(0xffffffffu, acc[j], 8);
        acc[j] += __shfl_xor_sync(0xffffffffu, acc[j], 16);
    }
    if (lane < 8) {
        *(float4 *)(part + unit) = float4{acc[0], acc[1], acc[2], acc[3]};
        *(float4 *)(part + 32 + unit) = float4{acc[4], acc[5], acc[6], acc[7]};
    }
    if (lane == 0) {
        part[64] = sum;
        part[65] = all;
    }
}

/* pooled [rows][128] = h, r after all steps. */
template <bool KEPT>
static __global__ void __launch_bounds__(S2S_THREADS, 1)
    fused_set2set(const float *nodes, int n, int steps, int n_rows, const float *w,
                  const float *bias, float *pooled)
{
    DLS_SHARED(raw);
    float *q = (float *)raw;                          /* [2][8][132]: steps alternate */
    float *part = q + 2 * S2S_ROWS * S2S_Q;           /* [16][68] */
    float *kept = part + S2S_THREADS / 32 * S2S_PART; /* [8][n][64] */
    const int tid = threadIdx.x;
    const int warp = tid / 32;
    const int lane = tid % 32;
    const int unit = warp * 4 + lane / 4 % 4;    /* this lane's cell: unit and */
    const int mine = 2 * (lane % 4) + lane / 16; /* row */
    const float b[4] = {bias[unit], bias[64 + unit], bias[128 + unit], bias[192 + unit]};
    unsigned left[16][4];
    load_lstm(w, unit, lane, left);
    for (int base = blockIdx.x * S2S_ROWS; base < n_rows; base += gridDim.x * S2S_ROWS) {
        const int rows = n_rows - base < S2S_ROWS ? n_rows - base : S2S_ROWS;
        const float *x = nodes + (size_t)base * n * FUSED_H;
        __syncthreads();
        for (int i = tid; KEPT && i < rows * n * (FUSED_H / 4); i += S2S_THREADS) {
            ((float4 *)kept)[i] = __ldg((const float4 *)x + i);
        }
        for (int i = tid; i < S2S_ROWS * S2S_Q; i += S2S_THREADS) {
            q[i] = 0.0f;
        }
        x = (KEPT ? kept : x) + (size_t)(warp / 2 < rows ? warp / 2 : 0) * n * FUSED_H;
        float cell = 0.0f;
        for (int step = 0; step < steps; step++) {
            const float *old = q + step % 2 * S2S_ROWS * S2S_Q;
            float *next = q + (step + 1) % 2 * S2S_ROWS * S2S_Q;
            __syncthreads();
            next[mine * S2S_Q + unit] = lstm_step(left, b, old, lane, &cell);
            __syncthreads();
            attend(x, n, next + warp / 2 * S2S_Q, warp % 2, lane, part + warp * S2S_PART);
            __syncthreads();
            const float *one = part + tid / 64 * 2 * S2S_PART;
            const float *two = one + S2S_PART;
            const float top = fmaxf(one[65], two[65]);
            const float e1 = __expf(one[65] - top), e2 = __expf(two[65] - top);
            next[tid / 64 * S2S_Q + 64 + tid % 64] =
                (one[tid % 64] * e1 + two[tid % 64] * e2) / (one[64] * e1 + two[64] * e2);
        }
        __syncthreads();
        const float *last = q + steps % 2 * S2S_ROWS * S2S_Q;
        for (int i = tid; i < rows * 128; i += S2S_THREADS) {
            pooled[(size_t)base * 128 + i] = last[i / 128 * S2S_Q + i % 128];
        }
    }
}

#endif
