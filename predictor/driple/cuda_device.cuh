/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What every host part of the CUDA module needs: the device, errors, arrays laid out in one block.
 */
#ifndef DLS_CUDA_DEVICE_CUH
#define DLS_CUDA_DEVICE_CUH

#include "dlsim/error.h"
#include "predictor/driple/arch.h"
#include "predictor/driple/cuda_platform.cuh"

#include <stddef.h>

static dls_status cuda_fail(dls_error *err, cudaError_t e, const char *what)
{
    const dls_status status = e == cudaErrorMemoryAllocation ? DLS_ENOMEM : DLS_EPREDICTOR;
    return dls_fail(err, status, "cuda", "%s: %s", what, cudaGetErrorString(e));
}
#define CUDA_TRY(call)                                                                             \
    do {                                                                                           \
        const cudaError_t e_ = (call);                                                             \
        if (e_ != cudaSuccess) {                                                                   \
            return cuda_fail(err, e_, #call);                                                      \
        }                                                                                          \
    } while (0)
#define BLAS_TRY(call)                                                                             \
    do {                                                                                           \
        if ((call) != CUBLAS_STATUS_SUCCESS) {                                                     \
            return dls_fail(err, DLS_EPREDICTOR, "cuda", "%s failed", #call);                      \
        }                                                                                          \
    } while (0)

/* The device that everything runs on, the first. EPREDICTOR: none, or one older than the kernels.
 */
static dls_status cuda_find_device(cudaDeviceProp *prop, dls_error *err)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) != cudaSuccess || n == 0) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda", "no CUDA device or no driver");
    }
    CUDA_TRY(cudaGetDeviceProperties(prop, 0));
    if (prop->major < 8) {
        return dls_fail(err, DLS_EPREDICTOR, "cuda", "%.63s: compute capability %d.%d, 8.0 needed",
                        prop->name, prop->major, prop->minor);
    }
    return DLS_OK;
}

/* What of a network is the CPU's: the device has what the shipped ones have. NULL: nothing. */
static const char *cuda_lacks(const dls_arch *a)
{
    return a->conv != DLS_CONV_GCN       ? dls_conv_names[a->conv]
           : a->pool != DLS_POOL_SET2SET ? dls_pool_names[a->pool]
           : !a->gru                     ? "gru=0"
           : !a->shared                  ? "shared=0"
           : a->skip                     ? "skip=1"
                                         : NULL;
}

/* Arrays one behind the other; without memory only the size is found. */
struct bump {
    unsigned char *at;
    size_t used;
};
template <typename T> static T *take(bump *b, size_t n)
{
    T *p = b->at ? (T *)(b->at + b->used) : NULL;
    b->used += (n * sizeof(T) + 255) / 256 * 256;
    return p;
}

#endif
