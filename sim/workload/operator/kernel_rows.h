/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured kernels of files (docs/operator.md has the columns): what was run, on which GPU, how
 * long it took, and whether the row fits constants or judges them.
 */
#ifndef DLS_OPERATOR_KERNEL_ROWS_H
#define DLS_OPERATOR_KERNEL_ROWS_H

#include "workload/operator/sized.h"

/* Sizes by the names of their columns. linear: X(b,m,n) W(n,k), bmm: (b,m,n)(b,n,k); n is summed
 * over. */
#define DLS_KERNEL_SIZE_MAP(XX)                                                                    \
    XX(B, b)                                                                                       \
    XX(M, m)                                                                                       \
    XX(N, n)                                                                                       \
    XX(K, k)                                                                                       \
    XX(BATCH, batch)                                                                               \
    XX(IN, channels_in)                                                                            \
    XX(OUT, channels_out)                                                                          \
    XX(KERNEL, kernel_size)                                                                        \
    XX(IMAGE, image)                                                                               \
    XX(STRIDE, stride)                                                                             \
    XX(PADDING, padding)                                                                           \
    XX(ROWS, rows)                                                                                 \
    XX(WIDTH, width)
typedef enum dls_kernel_size {
#define XX(id, key) DLS_KERNEL_##id,
    DLS_KERNEL_SIZE_MAP(XX)
#undef XX
        DLS_KERNEL_SIZES
} dls_kernel_size;

typedef struct dls_kernel_operation {
    const char *name, *family; /* in files, in tables */
    dls_sized_family sized;
    int op; /* of elements */
    int n_sizes;
    dls_kernel_size size[7]; /* in the order of their text */
} dls_kernel_operation;
const dls_kernel_operation *dls_kernel_operations(size_t *n);
const dls_kernel_operation *dls_kernel_operation_find(const char *name); /* NULL: unknown */
/* As the sized model sees it. */
dls_sized_kernel dls_kernel_operation_of(const dls_kernel_operation *o,
                                         const int64_t size[DLS_KERNEL_SIZES]);

typedef struct dls_kernel_row {
    dls_sized_kernel k;
    int32_t gpu;         /* row of the hardware */
    dls_numeric numeric; /* whose units multiply: fp32, tf32 or fp16 */
    double seconds;
    bool judge;       /* one shape in five, by a hash of its text: the same on all GPUs */
    int8_t tile_list; /* of the library's kernel, by its name; -1: not known */
    dls_tile tile;
} dls_kernel_row;

typedef struct dls_kernel_rows {
    dls_kernel_row *row; /* owned */
    size_t n, cap;
} dls_kernel_rows;

void dls_kernel_rows_fini(dls_kernel_rows *rows); /* NULL-safe */
/* Append the rows of a file, gzip or not. Errors: EINPUT with file, line and column (a time or a
 * size that is not positive, a GPU that hw lacks, an unknown operation, a convolution that is not
 * square), ENOMEM. */
dls_status dls_kernel_rows_read(dls_kernel_rows *rows, const char *path, const dls_hardware *hw,
                                dls_error *err) DLS_MUST_CHECK;

/* How the GPU of a row looks to the formula, measured alone. */
dls_sized_gpu dls_kernel_row_gpu(const dls_hw_gpu *gpu, dls_numeric numeric);

#endif
