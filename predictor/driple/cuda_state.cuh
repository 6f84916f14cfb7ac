/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the CUDA backend keeps between calls.
 */
#ifndef DLS_CUDA_STATE_CUH
#define DLS_CUDA_STATE_CUH

#include "predictor/driple/backend.h"
#include "predictor/driple/cuda_device.cuh"
#include "predictor/driple/cuda_pack.cuh"
#include "predictor/driple/cuda_set2set.cuh"

#define SLOTS 2
#define DEFAULT_BYTES ((size_t)1 << 30)
#define BLOCK 256
/* A chunk is so many predictions: whole rounds of the fused kernels, which take a graph or S2S_ROWS
 * at a time, and small enough that the host prepares the second while the device has the first. */
#define ROWS_PER_SM 32
#define MLP_BYTES_MAX 49152 /* what a kernel may use without asking */

/* Device and host memory of one chunk; capacities in pairs, nodes, edges. */
struct slot {
    unsigned char *dev, *host;
    size_t dev_bytes, host_bytes;
    cudaEvent_t done;
    double *out; /* where the answers go once done; NULL: free */
    const float *host_out;
    size_t n_out;
};

struct cuda_state {
    const dls_inspector *insp;
    bool fast, plain_only, has_event[SLOTS];
    size_t memory_bytes;
    size_t chunk_limit; /* pairs; halved when memory runs out */
    int n_sm;
    size_t shared_bytes; /* that a block can have */
    int *row_of_conv;    /* [n_settings + 2] scratch of fill_upload */
    cudaStream_t stream;
    cublasHandle_t blas;
    pack_layout pack;
    float *w;
    uint2 *frag;
    slot slots[SLOTS];
    char device[64];
    char note[256];
};

/* Shared memory of k_mlp, which takes readouts up to 192 wide. */
static size_t mlp_bytes(const dls_arch *a)
{
    return 2 * MLP_PAIRS * (size_t)dls_arch_pooled_width(a) * sizeof(float);
}

#endif
