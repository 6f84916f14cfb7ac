/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A GPU as a device: products through cuBLAS, moves by a kernel, times by CUDA events. Opened at run
 * time (meter.c).
 */
#include "workload/operator/meter.h"

#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

struct device {
    cublasHandle_t blas;
    cudaEvent_t before, after;
    void *memory;
    size_t bytes;
};

int failed(const char *what, const char *why, char *err, size_t err_size)
{
    snprintf(err, err_size, "%s: %s", what, why);
    return 1;
}

#define CUDA_TRY(call)                                                                             \
    do {                                                                                           \
        const cudaError_t code_ = (call);                                                          \
        if (code_ != cudaSuccess) {                                                                \
            return failed(#call, cudaGetErrorString(code_), err, err_size);                        \
        }                                                                                          \
    } while (0)

#define BLAS_TRY(call)                                                                             \
    do {                                                                                           \
        const cublasStatus_t code_ = (call);                                                       \
        if (code_ != CUBLAS_STATUS_SUCCESS) {                                                      \
            return failed(#call, cublasGetStatusString(code_), err, err_size);                     \
        }                                                                                          \
    } while (0)

void cuda_close(void *opaque)
{
    device *d = static_cast<device *>(opaque);
    if (d) {
        cudaFree(d->memory);
        if (d->before) {
            cudaEventDestroy(d->before);
        }
        if (d->after) {
            cudaEventDestroy(d->after);
        }
        if (d->blas) {
            cublasDestroy(d->blas);
        }
        delete d;
    }
}

int set_up(device *d, char *name, size_t name_size, char *err, size_t err_size)
{
    cudaDeviceProp prop;
    CUDA_TRY(cudaSetDevice(0));
    CUDA_TRY(cudaGetDeviceProperties(&prop, 0));
    snprintf(name, name_size, "%s", prop.name);
    CUDA_TRY(cudaEventCreate(&d->before));
    CUDA_TRY(cudaEventCreate(&d->after));
    BLAS_TRY(cublasCreate(&d->blas));
    return 0;
}

int cuda_open(void **opaque, char *name, size_t name_size, char *err, size_t err_size)
{
    device *d = new (std::nothrow) device();
    if (!d) {
        return failed("device", "out of memory", err, err_size);
    }
    if (set_up(d, name, name_size, err, err_size) != 0) {
        cuda_close(d);
        return 1;
    }
    *opaque = d;
    return 0;
}

/* Memory of at least so many bytes, zeroed. */
int reserve(device *d, size_t bytes, char *err, size_t err_size)
{
    if (bytes > d->bytes) {
        cudaFree(d->memory);
        d->memory = nullptr;
        d->bytes = 0;
        CUDA_TRY(cudaMalloc(&d->memory, bytes));
        d->bytes = bytes;
    }
    CUDA_TRY(cudaMemset(d->memory, 0, bytes));
    return 0;
}

constexpr int runs_least = 3, runs_most = 1001;

/* once(err) enqueues one run and returns 0. */
template <typename F>
int median_s(device *d, F once, double budget_s, double *seconds, char *err, size_t err_size)
{
    std::vector<double> run;
    double spent_s = 0;
    for (int i = 0; i < 3; i++) { /* libraries choose and load their kernels */
        if (once() != 0) {
            return 1;
        }
    }
    CUDA_TRY(cudaDeviceSynchronize());
    while (run.size() < runs_most && (run.size() < runs_least || spent_s < budget_s)) {
        float ms = 0;
        CUDA_TRY(cudaEventRecord(d->before));
        if (once() != 0) {
            return 1;
        }
        CUDA_TRY(cudaEventRecord(d->after));
        CUDA_TRY(cudaEventSynchronize(d->after));
        CUDA_TRY(cudaEventElapsedTime(&ms, d->before, d->after));
        run.push_back(std::max(1e-9, 1e-3 * static_cast<double>(ms)));
        spent_s += run.back();
    }
    std::nth_element(run.begin(), run.begin() + run.size() / 2, run.end());
    *seconds = run[run.size() / 2];
    return 0;
}

/* Rows one behind the other are columns of the transposed product for cuBLAS. */
int cuda_product(void *opaque, int precision, int64_t count, int64_t m, int64_t n, int64_t k,
                 double budget_s, double *seconds, char *err, size_t err_size)
{
    device *d = static_cast<device *>(opaque);
    const bool half_size = precision == DLS_METER_FP16;
    const size_t element = half_size ? sizeof(__half) : sizeof(float);
    const size_t a = element * static_cast<size_t>(count * m * k),
                 b = element * static_cast<size_t>(count * k * n),
                 c = element * static_cast<size_t>(count * m * n);
    const auto aligned = [](size_t bytes) { return (bytes + 255) / 256 * 256; };
    if (m > INT32_MAX || n > INT32_MAX || k > INT32_MAX || count > INT32_MAX) {
        return failed("product", "more than 2^31 rows", err, err_size);
    }
    if (reserve(d, aligned(a) + aligned(b) + aligned(c), err, err_size) != 0) {
        return 1;
    }
    char *const at = static_cast<char *>(d->memory);
    const cudaDataType_t type = half_size ? CUDA_R_16F : CUDA_R_32F;
    const cublasComputeType_t compute =
        precision == DLS_METER_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    const float one = 1, zero = 0;
    const auto once = [&]() -> int {
        BLAS_TRY(cublasGemmStridedBatchedEx(
            d->blas, CUBLAS_OP_N, CUBLAS_OP_N, static_cast<int>(n), static_cast<int>(m),
            static_cast<int>(k), &one, at + aligned(a), type, static_cast<int>(n), k * n, at, type,
            static_cast<int>(k), m * k, &zero, at + aligned(a) + aligned(b), type,
            static_cast<int>(n), m * n, static_cast<int>(count), compute, CUBLAS_GEMM_DEFAULT));
        return 0;
    };
    return median_s(d, once, budget_s, seconds, err, err_size);
}

__global__ void copy(const float4 *from, float4 *to, size_t n)
{
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n;
         i += static_cast<size_t>(gridDim.x) * blockDim.x) {
        to[i] = from[i];
    }
}

int cuda_move(void *opaque, int64_t bytes, double budget_s, double *seconds, char *err,
              size_t err_size)
{
    device *d = static_cast<device *>(opaque);
    const size_t cells = (static_cast<size_t>(bytes) / 2 + sizeof(float4) - 1) / sizeof(float4);
    if (reserve(d, 2 * cells * sizeof(float4), err, err_size) != 0) {
        return 1;
    }
    float4 *const from = static_cast<float4 *>(d->memory);
    const unsigned blocks = static_cast<unsigned>(std::min<size_t>((cells + 255) / 256, 4096));
    const auto once = [&]() -> int {
        copy<<<blocks, 256>>>(from, from + cells, cells);
        CUDA_TRY(cudaGetLastError());
        return 0;
    };
    return median_s(d, once, budget_s, seconds, err, err_size);
}

const dls_meter_ops ops = {DLS_METER_ABI, "cuda", cuda_open, cuda_close, cuda_product, cuda_move};

} // namespace

extern "C" __attribute__((visibility("default"))) const dls_meter_ops *
dls_meter_module(unsigned abi)
{
    return abi == DLS_METER_ABI ? &ops : nullptr;
}
