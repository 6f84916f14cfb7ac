/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A CUDA that runs on a CPU, for testing: every thread of a block is a coroutine, a barrier or a
 * warp operation gives the turn to the next. Slow and exact; it finds wrong indices, missing
 * barriers (threads run far ahead of each other between two of them) and wrong fragment layouts,
 * not performance. Only what predictor/driple/cuda_*.cu uses is here.
 */
#ifndef DLS_CUDA_EMU_H
#define DLS_CUDA_EMU_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct float2 {
    float x, y;
};
struct float4 {
    float x, y, z, w;
};
struct uint2 {
    unsigned x, y;
};
static inline float2 make_float2(float x, float y)
{
    return float2{x, y};
}
struct emu_dim {
    unsigned x;
};

/* ---- the machine ---------------------------------------------------------------------------- */

struct emu_thread {
    ucontext_t context;
    unsigned id;
    bool finished;
    unsigned barriers; /* block barriers passed or waited at */
    unsigned warp_ops; /* warp operations likewise */
};

struct emu_block {
    std::vector<emu_thread> threads;
    std::vector<char> stacks;
    std::vector<unsigned char> shared;
    ucontext_t scheduler;
    emu_thread *current;
    unsigned block_id, grid_dim, block_dim;
    /* per warp: what its lanes put down for the operation under way */
    std::vector<unsigned> lane_word; /* [warps][32][16] */
    const void *body;
    void (*call)(const void *);
};
inline emu_block the_emu;

static inline emu_dim emu_x(unsigned v)
{
    return emu_dim{v};
}
#define threadIdx emu_x(the_emu.current->id)
#define blockIdx emu_x(the_emu.block_id)
#define gridDim emu_x(the_emu.grid_dim)
#define blockDim emu_x(the_emu.block_dim)

static inline void emu_yield(void)
{
    emu_thread *t = the_emu.current;
    swapcontext(&t->context, &the_emu.scheduler);
}

static inline void emu_entry(void)
{
    the_emu.call(the_emu.body);
    the_emu.current->finished = true;
    emu_yield();
}

/* All threads of the block reach it the same number of times, else the block never ends: detected.
 */
static inline void __syncthreads(void)
{
    emu_thread *me = the_emu.current;
    me->barriers++;
    for (;;) {
        bool all = true;
        for (const emu_thread &t : the_emu.threads) {
            all = all && (t.finished || t.barriers >= me->barriers);
        }
        if (all) {
            return;
        }
        emu_yield();
    }
}

/* All lanes of the warp have put down words for their warp operation number `op`. */
static inline void emu_warp_meet(void)
{
    emu_thread *me = the_emu.current;
    me->warp_ops++;
    const unsigned first = me->id / 32 * 32;
    for (;;) {
        bool all = true;
        for (unsigned l = first; l < first + 32; l++) {
            const emu_thread &t = the_emu.threads[l];
            if (t.finished && t.warp_ops < me->warp_ops) {
                fprintf(stderr, "warp operation with a finished lane\n");
                abort();
            }
            all = all && t.warp_ops >= me->warp_ops;
        }
        if (all) {
            return;
        }
        emu_yield();
    }
}

static inline unsigned *emu_words(unsigned lane)
{
    return &the_emu.lane_word[(the_emu.current->id / 32 * 32 + lane) * 16];
}

static inline void __syncwarp(void)
{
    emu_warp_meet();
}

template <typename T> static inline T __shfl_sync(unsigned, T v, int from)
{
    unsigned lane = the_emu.current->id % 32;
    memcpy(emu_words(lane), &v, sizeof v);
    emu_warp_meet();
    T out;
    memcpy(&out, emu_words((unsigned)from % 32), sizeof out);
    emu_warp_meet(); /* all have read before the next operation writes */
    return out;
}
template <typename T> static inline T __shfl_xor_sync(unsigned mask, T v, int d)
{
    return __shfl_sync(mask, v, (int)(the_emu.current->id % 32) ^ d);
}

template <typename T> static inline T __ldg(const T *p)
{
    return *p;
}
static inline float __uint_as_float(unsigned u)
{
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}
static inline float emu_expf(float v)
{
    return expf(v);
}
#define __expf emu_expf
static inline float __fdividef(float a, float b)
{
    return a / b;
}
static inline float dls_tanh_fast(float v)
{
    return tanhf(v);
}
static inline unsigned emu_bf16(float v)
{
    unsigned u;
    memcpy(&u, &v, sizeof u);
    return (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
}
static inline unsigned dls_pack_bf16(float low, float high)
{
    return emu_bf16(low) | emu_bf16(high) << 16;
}

/* mma.m16n8k16: fragments as the PTX ISA lays them out. */
static inline void dls_mma_bf16(float d[4], const unsigned a[4], unsigned b0, unsigned b1)
{
    const unsigned lane = the_emu.current->id % 32;
    unsigned *mine = emu_words(lane);
    memcpy(mine, a, 4 * sizeof *a);
    mine[4] = b0;
    mine[5] = b1;
    emu_warp_meet();
    for (int e = 0; e < 4; e++) {
        const unsigned row = lane / 4 + (e / 2) * 8;
        const unsigned col = lane % 4 * 2 + (unsigned)e % 2;
        for (unsigned k = 0; k < 16; k++) {
            const unsigned *wa = emu_words(row % 8 * 4 + k % 8 / 2);
            const unsigned *wb = emu_words(col * 4 + k % 8 / 2);
            const unsigned va = wa[(row >= 8 ? 1 : 0) + (k >= 8 ? 2 : 0)];
            const unsigned vb = wb[4 + (k >= 8 ? 1 : 0)];
            d[e] += __uint_as_float((k % 2 ? va >> 16 : va & 0xffffu) << 16) *
                    __uint_as_float((k % 2 ? vb >> 16 : vb & 0xffffu) << 16);
        }
    }
    emu_warp_meet();
}

#define DLS_SHARED(name) unsigned char *name = the_emu.shared.data()

template <typename F>
static inline void emu_launch(unsigned grid, unsigned block, size_t shared_bytes, const F &f)
{
    const size_t stack = 64 * 1024;
    emu_block &e = the_emu;
    const unsigned padded = (block + 31) / 32 * 32;
    if (padded != block || shared_bytes > 232448) {
        fprintf(stderr, "launch: %u threads, %zu bytes of shared memory\n", block, shared_bytes);
        abort();
    }
    e.block_dim = block;
    e.grid_dim = grid;
    e.body = &f;
    e.call = [](const void *p) { (*static_cast<const F *>(p))(); };
    e.stacks.resize(stack * block);
    e.lane_word.assign(block * 16, 0);
    for (unsigned b = 0; b < grid; b++) {
        e.block_id = b;
        e.shared.assign(shared_bytes + 16, 0xff); /* NaN: nothing may count on zeros */
        e.threads.assign(block, emu_thread{});
        for (unsigned t = 0; t < block; t++) {
            emu_thread &x = e.threads[t];
            x.id = t;
            getcontext(&x.context);
            x.context.uc_stack.ss_sp = &e.stacks[stack * t];
            x.context.uc_stack.ss_size = stack;
            x.context.uc_link = &e.scheduler;
            makecontext(&x.context, emu_entry, 0);
        }
        for (unsigned left = block, idle = 0; left;) {
            const unsigned before = left;
            unsigned long progress = 0;
            for (emu_thread &x : e.threads) {
                if (!x.finished) {
                    const unsigned long was = x.barriers + x.warp_ops;
                    e.current = &x;
                    swapcontext(&e.scheduler, &x.context);
                    progress += x.barriers + x.warp_ops - was;
                    left -= x.finished;
                }
            }
            idle = progress || left != before ? 0 : idle + 1;
            if (idle > 2) {
                fprintf(stderr, "deadlock: threads wait at different barriers\n");
                abort();
            }
        }
    }
}
#define DLS_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                 \
    emu_launch((unsigned)(grid), (unsigned)(block), (shared_bytes), [&]() { kernel(__VA_ARGS__); })

/* ---- run time library ----------------------------------------------------------------------- */

typedef int cudaError_t;
typedef void *cudaStream_t;
typedef int cudaEvent_t;
enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize, cudaEventDisableTiming };
struct cudaDeviceProp {
    char name[64];
    int multiProcessorCount, major;
    int minor;
    size_t sharedMemPerBlockOptin;
};
/* Device memory that a test allows ($DLS_EMU_BYTES); what is over fails. */
static inline size_t emu_memory_allowed(void)
{
    const char *bytes = getenv("DLS_EMU_BYTES");
    return bytes ? strtoull(bytes, NULL, 10) : (size_t)1 << 40;
}
inline size_t emu_memory_left = emu_memory_allowed();

static inline const char *cudaGetErrorString(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation ? "out of memory" : "no error";
}
static inline cudaError_t cudaGetDeviceCount(int *n)
{
    *n = 1;
    return cudaSuccess;
}
static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    *p = cudaDeviceProp{"emulation", 3, 9, 0, 232448};
    return cudaSuccess;
}
static inline cudaError_t cudaFuncSetAttribute(const void *, int, int bytes)
{
    return bytes <= 232448 ? cudaSuccess : 1;
}
static inline cudaError_t cudaMalloc(void **p, size_t bytes)
{
    if (bytes > emu_memory_left) {
        return cudaErrorMemoryAllocation;
    }
    size_t *block = (size_t *)aligned_alloc(256, (bytes + 511) / 256 * 256);
    emu_memory_left -= bytes;
    block[0] = bytes;
    *p = (char *)block + 256;
    memset(*p, 0xff, bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaFree(void *p)
{
    if (p) {
        size_t *block = (size_t *)((char *)p - 256);
        emu_memory_left += block[0];
        free(block);
    }
    return cudaSuccess;
}
static inline cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    *p = malloc(bytes);
    return cudaSuccess;
}
static inline cudaError_t cudaFreeHost(void *p)
{
    free(p);
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t n, int)
{
    memcpy(to, from, n);
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, int kind,
                                          cudaStream_t)
{
    return cudaMemcpy(to, from, n, kind);
}
static inline cudaError_t cudaMemsetAsync(void *to, int v, size_t n, cudaStream_t)
{
    memset(to, v, n);
    return cudaSuccess;
}
static inline cudaError_t cudaStreamCreate(cudaStream_t *s)
{
    *s = NULL;
    return cudaSuccess;
}
static inline cudaError_t cudaStreamDestroy(cudaStream_t)
{
    return cudaSuccess;
}
static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, int)
{
    *e = 0;
    return cudaSuccess;
}
static inline cudaError_t cudaEventDestroy(cudaEvent_t)
{
    return cudaSuccess;
}
static inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t)
{
    return cudaSuccess;
}
static inline cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}
static inline cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

/* ---- cuBLAS --------------------------------------------------------------------------------- */

typedef int *cublasHandle_t;
enum { CUBLAS_STATUS_SUCCESS = 0 };
enum { CUBLAS_OP_N, CUBLAS_PEDANTIC_MATH, CUBLAS_TF32_TENSOR_OP_MATH };
static inline int cublasCreate(cublasHandle_t *h)
{
    *h = new int(0);
    return CUBLAS_STATUS_SUCCESS;
}
static inline int cublasDestroy(cublasHandle_t h)
{
    delete h;
    return CUBLAS_STATUS_SUCCESS;
}
static inline int cublasSetStream(cublasHandle_t, cudaStream_t)
{
    return CUBLAS_STATUS_SUCCESS;
}
static inline int cublasSetMathMode(cublasHandle_t, int)
{
    return CUBLAS_STATUS_SUCCESS;
}
/* Column-major C[m][n] = A[m][k] B[k][n], no transposition. */
static inline int cublasSgemm(cublasHandle_t, int, int, int m, int n, int k, const float *alpha,
                              const float *a, int lda, const float *b, int ldb, const float *beta,
                              float *c, int ldc)
{
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) {
            float sum = 0;
            for (int p = 0; p < k; p++) {
                sum += a[i + (size_t)p * lda] * b[p + (size_t)j * ldb];
            }
            float *at = &c[i + (size_t)j * ldc];
            *at = *alpha * sum + (*beta != 0 ? *beta * *at : 0);
        }
    }
    return CUBLAS_STATUS_SUCCESS;
}

#endif
