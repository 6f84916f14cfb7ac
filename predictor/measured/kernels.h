/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured kernels (docs/measured.md): files of single operations with their shapes and times, as
 * kernels that models of a GPU can be asked about and fitted to.
 */
#ifndef DLS_MEASURED_KERNELS_H
#define DLS_MEASURED_KERNELS_H

#include "predictor/measured/errors.h"
#include "predictor/measured/table.h"
#include "workload/operator/model.h"

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
    XX(GROUPS, groups)                                                                             \
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
    dls_sized_family sized;    /* aligned, where it may be ragged */
    int op;                    /* of elements */
    int n_sizes;
    dls_kernel_size size[7]; /* in the order of their text */
} dls_kernel_operation;
const dls_kernel_operation *dls_kernel_operations(size_t *n);

typedef struct dls_measured_kernel {
    const dls_kernel_operation *op;
    const dls_hw_gpu *gpu; /* row of the tables */
    dls_numeric numeric;
    dls_numeric units; /* that multiply: fp32, tf32 or fp16 */
    int32_t set;       /* code of `sets` */
    dls_sized_kernel work;
    double seconds, backward_s; /* of convolutions: both gradients; 0: not measured */
    dls_layout layout;
    bool judge;       /* one shape in five, by a hash of its text: the same on all GPUs */
    int8_t tile_list; /* of the library's kernel, by its name; -1: not known */
    dls_tile tile;
} dls_measured_kernel;

typedef struct dls_measured_kernels {
    dls_measured_kernel *row; /* [n] owned */
    size_t n, cap;
    char set[16][64]; /* names of the sets: "train", ... */
    int32_t n_sets;
    dls_complaints bad; /* one a row that was left out */
} dls_measured_kernels;

void dls_measured_kernels_fini(dls_measured_kernels *s); /* NULL-safe */
/* Add the rows of a CSV file, gzip or not. Rows with times, sizes, GPUs or operations that cannot
 * be are complained of, and so are times below a hundredth or above 300 times what the data sheet
 * needs and 0.1 ms. hw must outlive them. Errors: EINPUT, ENOMEM. */
dls_status dls_measured_kernels_read(dls_measured_kernels *s, const char *path,
                                     const dls_hardware *hw, const dls_measured_defaults *defaults,
                                     dls_error *err) DLS_MUST_CHECK;
/* Has the file a column latency_ms? Errors: EINPUT. */
dls_status dls_measured_is_kernels(const char *path, bool *kernels, dls_error *err) DLS_MUST_CHECK;

/* As a step has it, forward, at a batch of 1. */
dls_kernel dls_measured_kernel_of(const dls_measured_kernel *row);

/* Seconds by a model of GPUs. */
typedef double (*dls_kernel_model)(const void *user, const dls_measured_kernel *row);
double dls_measured_operator_s(const void *model, const dls_measured_kernel *row); /* dls_opmodel */
double dls_measured_roofline_s(const void *unused, const dls_measured_kernel *row);
/* By a dls_sized_table alone; NAN: it says nothing of the row. */
double dls_measured_sized_s(const void *table, const dls_measured_kernel *row);

/* Which rows: -1 and NULL are all; least_s: not those below, which the launch dominates. */
typedef struct dls_kernel_choice {
    dls_sized_family family; /* of the operation */
    int32_t set;
    const dls_hw_gpu *gpu;
    double least_s;
    bool apart; /* only what is kept from fits, of `units` */
    dls_numeric units;
} dls_kernel_choice;
/* Errors: ENOMEM. O(rows log rows). */
dls_status dls_measured_kernels_judge(const dls_measured_kernels *s,
                                      const dls_kernel_choice *choice, dls_kernel_model model,
                                      const void *user, dls_errors *out,
                                      dls_error *err) DLS_MUST_CHECK;

#endif
