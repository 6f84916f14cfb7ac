/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The time of one kernel from its sizes: how its output is cut into tiles, how many of them each
 * multiprocessor works off, what passes over memory meanwhile.
 *
 *      product      of all tiles and splits that the GPU's library has, the fastest:
 *          compute  (ceil(tiles splits / SMs) + fill) 2 tm tn (n / splits + depth SM rate / usual)
 *                   / (SM rate x the tile's)
 *          memory   max(operands once, reuse x operands of each wave of tiles) + result
 *                   matrix units: `even`, `odd` times as long where rows of memory fill no
 *                   vectors of 16 bytes but pairs of numbers, or not even those
 *          both     (compute^mix + memory^mix)^(1/mix), x (1 + paging h / (1 + h)),
 *                   h = (span of a wave / reach)^steep
 *      convolution  of three algorithms the fastest: the implicit product, Winograd's 2x2 in one
 *                   kernel, Winograd's 4x4 as 36 products between transforms (3x3, stride 1 alone).
 *                   Matrix units: the implicit product alone, of whole blocks of channels, its sum
 *                   in parts as a product's (1x1 of stride 1: a product). tf32, whose images lie
 *                   channel by channel: between transposes, or by vector units as they lie. At
 *                   `older`, in one part: windows of more than 3x3 of less than 256 channels, in 16
 *                   bits all of less than 64
 *      rows         layer norm and softmax: a block a row; what does not stay in the cache is read
 *                   twice
 *      elements     what it reads and writes, over the bandwidth
 *      attention    one kernel: its FLOPs and those of `beside` more keys a query, at a share of the
 *                   peak for heads of up to 64 numbers and for wider ones, there and back
 *      alone        ((floor^(1 + overlap) + (t (1 + throttle t / (t + settle)))^(1 +
 *                   overlap)))^(...)
 *
 * `throttle` is the clock that a GPU cannot hold, `settle` how long it takes to show. In a training
 * step launches overlap: no floor, and the throttle whole. Constants are kept for a GPU and a
 * family; the laboratory fits them (predictor/measured/sized_fit.h).
 */
#ifndef DLS_OPERATOR_SIZED_H
#define DLS_OPERATOR_SIZED_H

#include "workload/graph/graph.h"
#include "workload/operator/hardware.h"

#include <stdbool.h>
#include <stdint.h>

/* XX(id, key). `ragged`: sizes that fill no whole vectors (dls_sized_aligned), as random shapes; of
 * vector units. */
#define DLS_SIZED_FAMILY_MAP(XX)                                                                   \
    XX(LINEAR, linear)                                                                             \
    XX(LINEAR_RAGGED, linear_ragged)                                                               \
    XX(BMM, bmm)                                                                                   \
    XX(BMM_RAGGED, bmm_ragged)                                                                     \
    XX(CONV, conv)                                                                                 \
    XX(NORM, norm)                                                                                 \
    XX(SOFTMAX, softmax)                                                                           \
    XX(ELEMENTS, elements)                                                                         \
    XX(ATTENTION, attention)

typedef enum dls_sized_family {
#define XX(id, key) DLS_SIZED_##id,
    DLS_SIZED_FAMILY_MAP(XX)
#undef XX
        DLS_SIZED_FAMILIES
} dls_sized_family;

/* Constants of each form: XX(id, key, expected, spread of its logarithm). The expectations are the
 * priors of the fit, and what a GPU that nobody measured starts from. */
#define DLS_PRODUCT_CONSTANTS(XX)                                                                  \
    XX(FLOOR, floor_us, 40, 0.6)                                                                   \
    XX(DEPTH, depth, 12, 0.6)                                                                      \
    XX(FILL, fill, 0.1, 0.8)                                                                       \
    XX(MEMORY, memory, 0.8, 0.15)                                                                  \
    XX(MIX, mix, 2.5, 0.4)                                                                         \
    XX(THROTTLE, throttle, 0.1, 1.2)                                                               \
    XX(OVERLAP, overlap, 0.3, 0.8)                                                                 \
    XX(SETTLE, settle_ms, 5, 0.8)                                                                  \
    XX(REACH, reach_mb, 200, 1)                                                                    \
    XX(PAGING, paging, 0.3, 1.2)                                                                   \
    XX(STEEP, steep, 1.5, 0.5)                                                                     \
    XX(ALONG, along, 1, 0.7)                                                                       \
    XX(REUSE, reuse, 0.2, 0.8)                                                                     \
    XX(EVEN, even, 1.8, 0.5)                                                                       \
    XX(ODD, odd, 3, 0.7)
#define DLS_CONV_CONSTANTS(XX)                                                                     \
    XX(FLOOR, floor_us, 70, 0.4)                                                                   \
    XX(MANY, many, 1.5, 0.4)                                                                       \
    XX(IMPLICIT, implicit, 0.7, 0.3)                                                               \
    XX(FUSED, fused, 0.8, 0.3)                                                                     \
    XX(SPLIT, transformed, 0.9, 0.3)                                                               \
    XX(DEPTH_I, implicit_depth, 20, 0.7)                                                           \
    XX(DEPTH_F, fused_depth, 20, 0.7)                                                              \
    XX(DEPTH_S, transformed_depth, 20, 0.7)                                                        \
    XX(FILL_I, implicit_fill, 0.2, 0.7)                                                            \
    XX(FILL_F, fused_fill, 0.2, 0.7)                                                               \
    XX(FILL_S, transformed_fill, 0.2, 0.7)                                                         \
    XX(MEMORY, memory, 0.8, 0.2)                                                                   \
    XX(TRANSFORM, transform, 0.7, 0.3)                                                             \
    XX(PATCH, patch, 0.5, 0.5)                                                                     \
    XX(MIX, mix, 3, 0.4)                                                                           \
    XX(THROTTLE, throttle, 0.1, 1.2)                                                               \
    XX(OVERLAP, overlap, 0.3, 0.8)                                                                 \
    XX(SETTLE, settle_ms, 5, 0.8)                                                                  \
    XX(OLDER, older, 0.4, 0.4)                                                                     \
    XX(VECTOR, vector, 0.7, 0.3)
#define DLS_ROWS_CONSTANTS(XX)                                                                     \
    XX(FLOOR, floor_us, 35, 0.4)                                                                   \
    XX(MEMORY, memory, 0.8, 0.2)                                                                   \
    XX(OVERLAP, overlap, 0.3, 1)                                                                   \
    XX(CACHED, cached, 0.3, 1)                                                                     \
    XX(CACHE, cache_mb, 10, 1)                                                                     \
    XX(ROW, row_us, 0.125, 1)                                                                      \
    XX(PASS, pass_us, 0.04, 1)                                                                     \
    XX(MIX, mix, 2.5, 0.5)                                                                         \
    XX(AGAIN, again, 1, 0.4)                                                                       \
    XX(WIDE, wide, 3000, 0.7)                                                                      \
    XX(ODD, odd, 0.1, 1)                                                                           \
    XX(BLOCK, block, 0.1, 1)
/* One floor for each operation: what its dispatch costs. */
#define DLS_ELEMENTS_CONSTANTS(XX)                                                                 \
    XX(MEMORY, memory, 0.8, 0.2)                                                                   \
    XX(OVERLAP, overlap, 0.3, 1)                                                                   \
    XX(CACHED, cached, 0.3, 1)                                                                     \
    XX(CACHE, cache_mb, 10, 1)                                                                     \
    XX(ROW, row_us, 0.06, 1)                                                                       \
    XX(MIX, mix, 2.5, 0.5)                                                                         \
    XX(FLOOR, add_us, 30, 0.4)                                                                     \
    XX(FLOOR_ADDU, addu_us, 30, 0.4)                                                               \
    XX(FLOOR_MUL, mul_us, 30, 0.4)                                                                 \
    XX(FLOOR_MULU, mulu_us, 30, 0.4)                                                               \
    XX(FLOOR_DIV, div_us, 30, 0.4)                                                                 \
    XX(FLOOR_DIVU, divu_us, 30, 0.4)                                                               \
    XX(FLOOR_POW, pow_us, 30, 0.4)                                                                 \
    XX(FLOOR_POWU, powu_us, 30, 0.4)                                                               \
    XX(FLOOR_RELU, relu_us, 30, 0.4)                                                               \
    XX(FLOOR_GELU, gelu_us, 30, 0.4)                                                               \
    XX(FLOOR_TANH, tanh_us, 30, 0.4)

#define DLS_ATTENTION_CONSTANTS(XX)                                                                \
    XX(FORWARD, forward, 0.6, 0.2)                                                                 \
    XX(FORWARD_WIDE, forward_wide, 0.6, 0.2)                                                       \
    XX(BACKWARD, backward, 0.6, 0.2)                                                               \
    XX(BACKWARD_WIDE, backward_wide, 0.6, 0.2)                                                     \
    XX(BESIDE, beside, 270, 0.2)

#define XX(id, key, mean, sigma) DLS_PRODUCT_##id,
enum { DLS_PRODUCT_CONSTANTS(XX) DLS_PRODUCT_N };
#undef XX
#define XX(id, key, mean, sigma) DLS_CONV_##id,
enum { DLS_CONV_CONSTANTS(XX) DLS_CONV_N };
#undef XX
#define XX(id, key, mean, sigma) DLS_ROWS_##id,
enum { DLS_ROWS_CONSTANTS(XX) DLS_ROWS_N };
#undef XX
#define XX(id, key, mean, sigma) DLS_ELEMENTS_##id,
enum { DLS_ELEMENTS_CONSTANTS(XX) DLS_ELEMENTS_N };
#undef XX
#define XX(id, key, mean, sigma) DLS_ATTENTION_##id,
enum { DLS_ATTENTION_CONSTANTS(XX) DLS_ATTENTION_N };
#undef XX

#define DLS_SIZED_TILES 7
#define DLS_SIZED_NUMERICS 3   /* fp32, tf32, fp16 */
#define DLS_SIZED_CONSTANTS 22 /* the most that a family has, rates of tiles with them */

/* Rows by columns of a result; Winograd's fused kernel: images by rows by columns of an output. */
typedef struct dls_tile {
    int16_t z, m, n;
} dls_tile;

/* What one GPU makes of one family. Products: constants, then one fraction of the peak for each
 * tile. Convolutions: which tiles each algorithm has. */
typedef struct dls_sized_row {
    char gpu[DLS_HW_NAME];
    dls_sized_family family;
    dls_numeric numeric; /* fp32, tf32, or fp16, which stands for bf16, too */
    double c[DLS_SIZED_CONSTANTS];
    dls_tile tile[3][DLS_SIZED_TILES]; /* products use the first list */
    uint8_t n_tiles[3];
} dls_sized_row;

/* Constants of a family without the tiles' rates. */
typedef struct dls_sized_constant {
    const char *key;
    double mean, sigma;
} dls_sized_constant;
const dls_sized_constant *dls_sized_constants(dls_sized_family family, size_t *n);
const char *dls_sized_family_name(int family);
bool dls_sized_has_rates(dls_sized_family family); /* of tiles, behind the constants */
/* What a tile is expected to reach: small ones load more than they compute. */
double dls_sized_tile_rate(dls_tile tile);

/* The highest of a product's tiles, of the peak; 0: the family has none. */
double dls_sized_best_rate(const dls_sized_row *row);

/* A kernel. Numbers are counts; unused ones 0. */
typedef struct dls_sized_kernel {
    dls_sized_family family;
    int op;            /* elements: 0 add ... 10 tanh; attention: 1 back */
    double b, m, n, k; /* products: b of m x n by n x k; linear layers: b = 1; attention: b heads of
                          m queries that see n keys in the mean, k numbers each */
    bool streamed; /* both operands lie along their outputs (weight gradients): the terms of a sum
                      are rows of memory, and no wave spans more pages for a longer sum */
    double row_n, row_k; /* numbers of such rows, for vectors; 0: they fill whole ones */
    /* convolutions */
    double batch, in_c, out_c, in_h, in_w, out_h, out_w, kernel_h, kernel_w, stride;
    double groups;      /* above 1 it is none that the sized model knows */
    double rows, width; /* of the rest */
    double passes;      /* elements: tensors that are read or written */
} dls_sized_kernel;

/* Do the sizes of a product fill whole vectors, as those of real transformers do? */
bool dls_sized_aligned(double m, double n, double k);

/* Which family b products of m x n by n x k are, on these units. */
dls_sized_family dls_sized_product_family(bool batched, double m, double n, double k,
                                          dls_numeric units);

/* On matrix units a convolution whose outputs see one pixel each is a product of pixels by
 * channels, which the library of products runs: in 16 bits, whose channels lie last, a linear
 * layer, in tf32 one of batched products for each image. False: it is another, and stays so. */
bool dls_sized_as_product(dls_sized_kernel *k, dls_numeric units);

/* The GPU as a kernel sees it. */
typedef struct dls_sized_gpu {
    double flops, mem_bps, multiprocessors;
    double vector_flops; /* fp32 */
    double element_bytes;
    bool alone; /* one call between two events on an idle GPU; else one kernel of many */
} dls_sized_gpu;
/* Alone, multiplying in the units of fp32, tf32 or fp16. */
dls_sized_gpu dls_sized_gpu_of(const dls_hw_gpu *gpu, dls_numeric units);

/* One run, in seconds; positive and finite for sizes >= 1. O(tiles x splits). */
double dls_sized_s(const dls_sized_kernel *k, const dls_sized_row *row, const dls_sized_gpu *gpu);

/* Transposes of what a convolution in tf32 reads and writes; of other precisions 0. */
double dls_sized_turned_s(const dls_sized_kernel *k, const dls_sized_row *row,
                          const dls_sized_gpu *gpu);

/* ---- kernels.cfg ----------------------------------------------------------------------------- */

typedef struct dls_sized_table {
    dls_sized_row *row; /* owned */
    size_t n, cap;
} dls_sized_table;

void dls_sized_table_fini(dls_sized_table *t); /* NULL-safe */
/* The row of that GPU, family and precision, or NULL. */
dls_sized_row *dls_sized_table_find(const dls_sized_table *t, const char *gpu,
                                    dls_sized_family family, dls_numeric numeric);
/* Whose constants say what a GPU does: its own, one relative's, or those of two that it lies
 * between. */
typedef struct dls_sized_pair {
    const dls_sized_row *row, *other; /* row NULL: nobody's; other NULL: of one */
    double clock;                     /* of its own that the GPU keeps, if they are another's */
    bool lent;                        /* they are another chip's */
} dls_sized_pair;

/* Its own, else (products) the other of aligned and ragged, else the same of the first of its
 * kernels_like ("A B+C": A, else B and C) of which there are any; of matrix units of matrix_like.
 */
dls_sized_pair dls_sized_table_for(const dls_sized_table *t, const dls_hw_gpu *gpu,
                                   dls_sized_family family, dls_numeric numeric);
/* One run by a pair with a row: of two the geometric mean. */
double dls_sized_pair_s(const dls_sized_kernel *k, dls_sized_pair by, const dls_sized_gpu *gpu);
dls_status dls_sized_table_put(dls_sized_table *t, const dls_sized_row *row,
                               dls_error *err) DLS_MUST_CHECK;
/* Errors: ECONFIG with file and line; ENOMEM. *t is to be ended only on success. */
dls_status dls_sized_table_load(const char *path, dls_sized_table *t,
                                dls_error *err) DLS_MUST_CHECK;
dls_status dls_sized_table_save(const dls_sized_table *t, const char *path,
                                dls_error *err) DLS_MUST_CHECK;

#endif
