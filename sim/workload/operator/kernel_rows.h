/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured kernels of files (docs/operator.md has the columns): what was run, on which GPU, how
 * long it took, and whether the row fits constants or judges them.
 */
#ifndef DLS_OPERATOR_KERNEL_ROWS_H
#define DLS_OPERATOR_KERNEL_ROWS_H

#include "workload/operator/sized.h"

typedef struct dls_kernel_row {
    dls_sized_kernel k;
    int32_t gpu; /* row of the hardware */
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

/* How the GPU of a row looks to the formula, measured alone, in 32 bits. */
dls_sized_gpu dls_kernel_row_gpu(const dls_hw_gpu *gpu);

#endif
