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
#include <deque>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __host__
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
struct uint4 {
    unsigned x, y, z, w;
};
struct int2 {
    int x, y;
};
static inline float2 make_float2(float x, float y)
{
    return float2{x, y};
}
struct emu_dim {
    unsigned x;
};

/* ---- the machine ---------------------------------------------------------------------------- */

/* Where a coroutine or the scheduler goes on. The compiler's own jumps: no system call, as swapcontext
 * makes two. */
struct emu_place {
    void *words[5];
};

struct emu_thread {
    emu_place place;
    unsigned id;
    bool finished;
    unsigned long met; /* barriers and warp operations passed or waited at */
};

/* A stack, and where whoever runs on it waits for a block with threads to run. */
struct emu_coroutine {
    std::vector<char> stack;
    emu_place parked;
};

/* Threads that have come to a meeting; the last to come lets all go on. */
struct emu_meeting {
    unsigned arrived, finished, generation;
};

struct emu_block {
    std::vector<emu_thread> threads;
    std::deque<emu_coroutine> coroutines; /* which stay where they are when more come */
    emu_coroutine *starting;
    std::vector<unsigned char> shared;
    std::vector<emu_meeting> warps;
    emu_meeting all;
    emu_place scheduler;
    emu_thread *current;
    unsigned block_id, grid_dim, block_dim;
    unsigned started;
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

/* Nothing may be assumed of registers across a switch. */
#ifdef __clang__
#define EMU_OPAQUE __attribute__((noinline))
#else
#define EMU_OPAQUE __attribute__((noipa))
#endif

EMU_OPAQUE static void emu_jump(emu_place *to)
{
    __builtin_longjmp(to->words, 1);
}

/* Returns when somebody jumps to `here`. */
EMU_OPAQUE static void emu_switch(emu_place *here, emu_place *to)
{
    if (__builtin_setjmp(here->words) == 0) {
        emu_jump(to);
    }
}

static inline void emu_yield(void)
{
    emu_switch(&the_emu.current->place, &the_emu.scheduler);
}

static inline void emu_meet(emu_meeting *m, unsigned size)
{
    the_emu.current->met++;
    if (++m->arrived + m->finished == size) {
        m->arrived = 0;
        m->generation++;
        return;
    }
    for (const unsigned mine = m->generation; m->generation == mine;) {
        emu_yield();
    }
}

/* All threads that have not finished reach it the same number of times, else the block never ends:
 * detected. */
static inline void __syncthreads(void)
{
    emu_meet(&the_emu.all, the_emu.block_dim);
}

/* All lanes of the warp have put down words for the operation. */
static inline void emu_warp_meet(void)
{
    emu_meeting *w = &the_emu.warps[the_emu.current->id / 32];
    if (w->finished) {
        fprintf(stderr, "warp operation with a finished lane\n");
        abort();
    }
    emu_meet(w, 32);
}

static inline void emu_finish(emu_thread *t)
{
    emu_block &e = the_emu;
    emu_meeting *w = &e.warps[t->id / 32];
    t->finished = true;
    w->finished++;
    e.all.finished++;
    if (w->arrived) {
        fprintf(stderr, "a lane finished while others wait for it\n");
        abort();
    }
    if (e.all.arrived && e.all.arrived + e.all.finished == e.block_dim) {
        e.all.arrived = 0;
        e.all.generation++;
    }
}

/* A coroutine runs one thread after the other until one has to wait and keeps the stack, so that a
 * kernel without barriers costs no switches; then it waits for the next block, because to begin anew
 * takes two system calls. */
static inline void emu_entry(void)
{
    emu_block &e = the_emu;
    for (emu_coroutine *mine = e.starting;;) {
        while (e.started < e.block_dim) {
            e.current = &e.threads[e.started++];
            e.call(e.body);
            emu_finish(e.current);
        }
        emu_switch(&mine->parked, &e.scheduler);
    }
}

/* Returns when a new coroutine yields or is done. */
EMU_OPAQUE static void emu_begin(emu_coroutine *c)
{
    ucontext_t fresh;
    c->stack.resize(64 * 1024);
    getcontext(&fresh);
    fresh.uc_stack.ss_sp = c->stack.data();
    fresh.uc_stack.ss_size = c->stack.size();
    fresh.uc_link = NULL;
    makecontext(&fresh, emu_entry, 0);
    if (__builtin_setjmp(the_emu.scheduler.words) == 0) {
        setcontext(&fresh);
    }
}

/* The n-th coroutine runs what has not been started of the block, until it yields or is done. */
static inline void emu_start(unsigned n)
{
    emu_block &e = the_emu;
    if (n < e.coroutines.size()) {
        emu_switch(&e.scheduler, &e.coroutines[n].parked);
        return;
    }
    e.coroutines.emplace_back();
    e.starting = &e.coroutines.back();
    emu_begin(e.starting);
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
static inline unsigned __float_as_uint(float f)
{
    unsigned u;
    memcpy(&u, &f, sizeof u);
    return u;
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
static inline void mma_bf16(float d[4], const unsigned a[4], unsigned b0, unsigned b1)
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

/* mma.m16n8k8 of TF32: bits beyond the mantissa's tenth are not read. */
static inline void mma_tf32(float d[4], const unsigned a[4], unsigned b0, unsigned b1)
{
    const unsigned lane = the_emu.current->id % 32;
    unsigned *mine = emu_words(lane);
    memcpy(mine, a, 4 * sizeof *a);
    mine[4] = b0;
    mine[5] = b1;
    emu_warp_meet();
    const unsigned *left = emu_words(lane / 4 * 4), *right = emu_words(lane % 4 * 8);
    float sum[4] = {d[0], d[1], d[2], d[3]};
    for (unsigned k = 0; k < 8; k++, left += 16, right += 16) {
        if (k == 4) { // the same lanes' other words
            left -= 64 - 2;
            right -= 64 - 1;
        }
        const float a0 = __uint_as_float(left[0] & 0xffffe000u), a1 = __uint_as_float(left[1] & 0xffffe000u);
        const float c0 = __uint_as_float(right[4] & 0xffffe000u), c1 = __uint_as_float(right[68] & 0xffffe000u);
        sum[0] += a0 * c0;
        sum[1] += a0 * c1;
        sum[2] += a1 * c0;
        sum[3] += a1 * c1;
    }
    memcpy(d, sum, sizeof sum);
    emu_warp_meet();
}

#define DLS_SHARED(name) unsigned char *name = the_emu.shared.data()

template <typename F>
static inline void emu_launch(unsigned grid, unsigned block, size_t shared_bytes, const F &f)
{
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
    e.lane_word.assign(block * 16, 0);
    for (unsigned b = 0; b < grid; b++) {
        e.block_id = b;
        e.shared.assign(shared_bytes + 16, 0xff); /* NaN: nothing may count on zeros */
        e.threads.resize(block);
        e.warps.assign(block / 32, emu_meeting{});
        e.all = emu_meeting{};
        for (unsigned t = 0; t < block; t++) {
            e.threads[t].id = t;
            e.threads[t].finished = false;
            e.threads[t].met = 0;
        }
        e.started = 0;
        for (unsigned n = 0; e.started < block; n++) {
            emu_start(n);
        }
        for (unsigned idle = 0; e.all.finished < block;) {
            unsigned long progress = 0;
            for (emu_thread &x : e.threads) {
                if (!x.finished) {
                    const unsigned long was = x.met;
                    e.current = &x;
                    emu_switch(&e.scheduler, &x.place);
                    progress += x.met - was + x.finished;
                }
            }
            idle = progress ? 0 : idle + 1;
            if (idle > 2) {
                fprintf(stderr, "deadlock: threads wait at different barriers\n");
                abort();
            }
        }
    }
}
#define DLS_LAUNCH(kernel, grid, block, shared_bytes, stream, ...)                                 \
    ((void)(stream),                                                                               \
     emu_launch((unsigned)(grid), (unsigned)(block), (shared_bytes), [&]() { kernel(__VA_ARGS__); }))

/* ---- run time library ----------------------------------------------------------------------- */

typedef int cudaError_t;
typedef void *cudaStream_t;
typedef int cudaEvent_t;
enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum { cudaEventDisableTiming };
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
static inline cudaError_t cudaStreamSynchronize(cudaStream_t)
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

/* Whether products round their operands to TF32 (10 bits of mantissa, to nearest even). */
typedef bool *cublasHandle_t;
enum { CUBLAS_STATUS_SUCCESS = 0 };
enum {
    CUBLAS_OP_N,
    CUBLAS_OP_T,
    CUBLAS_DEFAULT_MATH,
    CUBLAS_PEDANTIC_MATH,
    CUBLAS_TF32_TENSOR_OP_MATH
};
static inline int cublasCreate(cublasHandle_t *h)
{
    *h = new bool(false);
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
static inline int cublasSetMathMode(cublasHandle_t h, int mode)
{
    *h = mode == CUBLAS_TF32_TENSOR_OP_MATH;
    return CUBLAS_STATUS_SUCCESS;
}
static inline float emu_operand(float v, bool tf32)
{
    unsigned u;
    memcpy(&u, &v, sizeof u);
    return tf32 ? __uint_as_float((u + 0xfffu + ((u >> 13) & 1u)) & ~0x1fffu) : v;
}
/* Column-major C[m][n] = A[m][k] op(B)[k][n], A as it is, alpha 1 and beta 0. */
static inline int cublasSgemm(cublasHandle_t h, int, int op_b, int m, int n, int k, const float *,
                              const float *a, int lda, const float *b, int ldb, const float *,
                              float *c, int ldc)
{
    for (int j = 0; j < n; j++) {
        float *to = c + (size_t)j * ldc;
        for (int i = 0; i < m; i++) {
            to[i] = 0;
        }
        for (int p = 0; p < k; p++) {
            const float *from = a + (size_t)p * lda;
            const float v = emu_operand(
                op_b == CUBLAS_OP_T ? b[j + (size_t)p * ldb] : b[p + (size_t)j * ldb], *h);
            for (int i = 0; i < m; i++) {
                to[i] += emu_operand(from[i], *h) * v;
            }
        }
    }
    return CUBLAS_STATUS_SUCCESS;
}

#endif
