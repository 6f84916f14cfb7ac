/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Small device functions of inference and training.
 */
#ifndef DLS_CUDA_MATH_CUH
#define DLS_CUDA_MATH_CUH

#include "predictor/driple/cuda_platform.cuh"

/* NaN passes through all three: a prediction that is not finite must be seen at the end. */
#define LRELU_SLOPE 0.01f
static __device__ __forceinline__ float lrelu(float v)
{
    return v >= 0.0f ? v : LRELU_SLOPE * v;
}
static __device__ __forceinline__ float relu(float v)
{
    return v < 0.0f ? 0.0f : v;
}

/* Absolute error below 2e-7 for either. Far arguments give exp = infinity and so 0 or 1. */
static __device__ __forceinline__ float sigmoid(float v)
{
    return __fdividef(1.0f, 1.0f + __expf(-v));
}
static __device__ __forceinline__ float tanh_exp(float v)
{
    return 1.0f - __fdividef(2.0f, 1.0f + __expf(2.0f * v));
}

static __device__ __forceinline__ float warp_max(float v)
{
    for (int d = 16; d; d >>= 1) {
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
    }
    return v;
}
static __device__ __forceinline__ float warp_sum(float v)
{
    for (int d = 16; d; d >>= 1) {
        v += __shfl_xor_sync(0xffffffffu, v, d);
    }
    return v;
}

#endif
