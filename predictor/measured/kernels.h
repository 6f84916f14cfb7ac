/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured kernels (docs/measured.md): files of single operations with their shapes and times, as
 * kernels that models of a GPU can be asked about and fitted to.
 */
#ifndef DLS_MEASURED_KERNELS_H
#define DLS_MEASURED_KERNELS_H

#include "predictor/measured/errors.h"
#include "predictor/measured/table.h"
#include "workload/operator/kernel_rows.h"
#include "workload/operator/model.h"

typedef struct dls_measured_kernel {
    const dls_kernel_operation *op;
    const dls_hw_gpu *gpu; /* row of the tables */
    dls_numeric numeric;
    int32_t set; /* code of `sets` */
    dls_sized_kernel work;
    double seconds;
} dls_measured_kernel;

typedef struct dls_measured_kernels {
    dls_measured_kernel *row; /* [n] owned */
    size_t n, cap;
    char set[16][64]; /* names of the sets: "train", ... */
    int32_t n_sets;
    dls_complaints bad;
    size_t n_bad;
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

/* Seconds by a model of GPUs. */
typedef double (*dls_kernel_model)(const void *user, const dls_measured_kernel *row);
double dls_measured_operator_s(const void *model, const dls_measured_kernel *row); /* dls_opmodel */
double dls_measured_roofline_s(const void *unused, const dls_measured_kernel *row);

/* Which rows: -1 and NULL are all; least_s: not those below, which the launch dominates. */
typedef struct dls_kernel_choice {
    const char *family;
    int32_t set;
    const char *gpu;
    double least_s;
} dls_kernel_choice;
/* Errors: ENOMEM. O(rows log rows). */
dls_status dls_measured_kernels_judge(const dls_measured_kernels *s,
                                      const dls_kernel_choice *choice, dls_kernel_model model,
                                      const void *user, dls_errors *out,
                                      dls_error *err) DLS_MUST_CHECK;

#endif
