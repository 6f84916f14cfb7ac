/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the CUDA sources use of CUDA. Compiled by nvcc it is CUDA; with DLS_CUDA_EMU it is
 * tests/gpu/cuda_emu.h, which runs the same kernels thread by thread on a CPU, so that indexing and
 * synchronisation are tested where there is no GPU.
 */
#ifndef DLS_CUDA_PLATFORM_CUH
#define DLS_CUDA_PLATFORM_CUH

/* What the compiler has to take v for afterwards: anything. */
#define DLS_OPAQUE(v) asm volatile("" : "+r"(v))

#ifdef DLS_CUDA_EMU
#include "tests/gpu/cuda_emu.h"
#else
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#define DLS_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                 \
    kernel<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__)
#define DLS_SHARED(name) extern __shared__ __align__(16) unsigned char name[]

/* D += A B for one warp: A 16x16 and B 16x8 in bf16, D 16x8 in float32 (PTX ISA, mma.m16n8k16:
 * with g = lane / 4, t = lane % 4, A holds rows g, g+8 and column pairs 2t, 2t+8; B row pairs 2t,
 * 2t+8 of column g; D rows g, g+8 and columns 2t, 2t+1). */
static __device__ __forceinline__ void mma_bf16(float d[4], const unsigned a[4], unsigned b0,
                                                unsigned b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* The same for TF32, A 16x8 and B 8x8: A holds rows g, g+8 of columns t, t+4; B rows t, t+4 of
 * column g (mma.m16n8k8). Bits of the mantissa beyond the tenth do not count. */
static __device__ __forceinline__ void mma_tf32(float d[4], const unsigned a[4], unsigned b0,
                                                unsigned b1)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Relative error 2^-11 (PTX ISA, tanh.approx.f32): for the fast mode only. */
static __device__ __forceinline__ float dls_tanh_fast(float x)
{
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* Two floats to a word of bf16, the first in the low half. */
static __device__ __forceinline__ unsigned dls_pack_bf16(float low, float high)
{
    const __nv_bfloat162 v = __floats2bfloat162_rn(low, high);
    unsigned word;
    memcpy(&word, &v, sizeof word);
    return word;
}
#endif

#endif
