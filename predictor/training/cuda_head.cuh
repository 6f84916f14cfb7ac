/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * MLP and loss, and sums over rows. A graph has one answer, or one for each of its settings, whose
 * numbers enter at the first layer.
 */
#ifndef DLS_TRAINING_CUDA_HEAD_CUH
#define DLS_TRAINING_CUDA_HEAD_CUH

#include "predictor/driple/cuda_math.cuh"
#include "predictor/training/cuda_lessons.cuh"

struct head_args {
    net_places at;
    const dev_sample *sample;
    const dev_answer *answer;
    const float *w;
    const float *pooled; /* [graphs][ld] */
    float *dpooled;
    const double *target;      /* of the store, [mlp's outputs] each */
    const float *condition;    /* of the store */
    float *told;               /* [answers][conditions] the batch's */
    float *act[MLP_MAX + 1];   /* [answers][ld] behind layer i - 1; 0 is not used */
    float *delta[MLP_MAX + 1]; /* gradient before that activation */
    float *first;              /* [graphs][ld] sum of a graph's answers' delta[1] */
    int ld;
    double weight;  /* d loss / d output = weight (output - target) */
    double *square; /* [answers] sum of squared errors */
    bool backward;
};

/* The MLP of an answer; a thread per column. One function: forward and backward pass share the
 * activations in shared memory. */
static __global__ void k_head(head_args p)
{
    DLS_SHARED(raw);
    float *x = (float *)raw;
    float *y = x + p.ld;
    const dev_answer a = p.answer[blockIdx.x];
    const size_t row = (size_t)blockIdx.x * p.ld;
    const int layers = p.at.mlp_layers;
    const dense_place told = p.at.condition;
    const float *condition = p.condition + (size_t)a.at * told.k;
    for (int k = threadIdx.x; k < p.at.mlp[0].k; k += blockDim.x) {
        x[k] = p.pooled[(size_t)a.sample * p.ld + k];
    }
    for (int k = threadIdx.x; k < told.k; k += blockDim.x) {
        p.told[(size_t)blockIdx.x * told.k + k] = condition[k];
    }
    for (int l = 0; l < layers; l++) {
        const dense_place d = p.at.mlp[l];
        __syncthreads();
        for (int j = threadIdx.x; j < d.n; j += blockDim.x) {
            float v = p.w[d.b + j];
            for (int k = 0; k < d.k; k++) {
                v += x[k] * p.w[d.w + (size_t)k * d.n + j];
            }
            for (int k = 0; l == 0 && k < told.k; k++) {
                v += condition[k] * p.w[told.w + (size_t)k * d.n + j];
            }
            v = l == layers - 1 ? lrelu(v) : relu(v);
            y[j] = v;
            p.act[l + 1][row + j] = v;
        }
        float *swap = x;
        x = y;
        y = swap;
    }
    const int outputs = p.at.mlp[layers - 1].n;
    const double *target = p.target + (size_t)a.at * outputs;
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0.0;
        for (int j = 0; j < outputs; j++) {
            const double d = (double)x[j] - target[j];
            sum += d * d;
        }
        p.square[blockIdx.x] = sum;
    }
    if (!p.backward) {
        return;
    }
    for (int j = threadIdx.x; j < outputs; j += blockDim.x) {
        const float d = (float)(p.weight * ((double)x[j] - target[j]));
        y[j] = d * (x[j] > 0.0f ? 1.0f : 0.01f);
        p.delta[layers][row + j] = y[j];
    }
    for (int l = layers - 1; l > 0; l--) {
        const dense_place d = p.at.mlp[l];
        float *swap = x;
        x = y;
        y = swap;
        __syncthreads();
        for (int k = threadIdx.x; k < d.k; k += blockDim.x) {
            float v = 0.0f;
            for (int j = 0; j < d.n; j++) {
                v += x[j] * p.w[d.back + (size_t)j * d.k + k];
            }
            v *= p.act[l][row + k] > 0.0f ? 1.0f : 0.0f;
            y[k] = v;
            p.delta[l][row + k] = v;
        }
    }
}

/* The first layer's gradients of a graph's answers together, and the pooled vector's; a block per
 * graph. */
static __global__ void k_head_first(head_args p)
{
    DLS_SHARED(raw);
    float *x = (float *)raw;
    const dev_sample s = p.sample[blockIdx.x];
    const dense_place d = p.at.mlp[0];
    for (int j = threadIdx.x; j < d.n; j += blockDim.x) {
        float sum = 0.0f;
        for (int i = 0; i < s.answers; i++) {
            sum += p.delta[1][(size_t)(s.answer0 + i) * p.ld + j];
        }
        x[j] = sum;
        p.first[(size_t)blockIdx.x * p.ld + j] = sum;
    }
    __syncthreads();
    for (int k = threadIdx.x; k < d.k; k += blockDim.x) {
        float v = 0.0f;
        for (int j = 0; j < d.n; j++) {
            v += x[j] * p.w[d.back + (size_t)j * d.k + k];
        }
        p.dpooled[(size_t)blockIdx.x * p.ld + k] = v;
    }
}

/* One block: sum of the answers' mean squared errors, in one order. */
static __global__ void k_loss(const double *square, int n, int outputs, double *sum)
{
    DLS_SHARED(raw);
    double *part = (double *)raw;
    double add = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        add += square[i];
    }
    part[threadIdx.x] = add;
    for (unsigned half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            part[threadIdx.x] += part[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        *sum += part[0] / (double)outputs;
    }
}

/* ---- sums over rows ---------------------------------------------------------------------------
 */

#define SUM_ROWS 512 /* rows of a partial sum */

/* partial[block][cols] of x [rows][ld] */
static __global__ void k_column_parts(const float *x, int ld, size_t rows, int cols, float *partial)
{
    const size_t first = (size_t)blockIdx.x * SUM_ROWS;
    const size_t last = first + SUM_ROWS < rows ? first + SUM_ROWS : rows;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        float sum = 0.0f;
        for (size_t i = first; i < last; i++) {
            sum += x[i * ld + c];
        }
        partial[(size_t)blockIdx.x * cols + c] = sum;
    }
}

static __global__ void k_column_sums(const float *partial, int parts, int cols, float *out)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c < cols) {
        float sum = 0.0f;
        for (int i = 0; i < parts; i++) {
            sum += partial[(size_t)i * cols + c];
        }
        out[c] = sum;
    }
}

#endif
