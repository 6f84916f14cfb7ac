/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured times of operations, which stand in place of the model's formula where they exist:
 * DeletePop's operator dataset (He et al., ICA3PP 2023). An operation is what its work is: a number
 * of matrix products of one size (a convolution is one, too), or so many bytes moved. File:
 * docs/operator.md.
 */
#ifndef DLS_OPERATOR_OP_TIMES_H
#define DLS_OPERATOR_OP_TIMES_H

#include "dlsim/error.h"
#include "workload/graph/graph.h"

#include <stddef.h>
#include <stdint.h>

#define DLS_OP_TIME_NAME 48

/* count products C[m][n] = A[m][k] B[k][n], bytes 0; or all 0 and the bytes read and written. */
typedef struct dls_op_work {
    int64_t count, m, n, k;
    int64_t bytes;
} dls_op_work;

typedef struct dls_op_time {
    char gpu[DLS_OP_TIME_NAME];    /* of gpus.cfg */
    char method[DLS_OP_TIME_NAME]; /* how it was measured: "cpu", "cuda" */
    dls_numeric numeric;
    dls_op_work work;
    double seconds; /* of one run, launch included */
} dls_op_time;

typedef struct dls_op_times {
    dls_op_time *row; /* owned; ascending by (gpu, numeric, work), none twice */
    size_t n, cap;
} dls_op_times;

void dls_op_times_fini(dls_op_times *times); /* NULL-safe */
/* Adds a row or replaces the one of its key. O(log n) and the moving of the rows behind it. Errors: EINPUT (work that makes no sense, a time
 * that is not above 0), ENOMEM. */
dls_status dls_op_times_put(dls_op_times *times, const dls_op_time *row,
                            dls_error *err) DLS_MUST_CHECK;

/* The rows of one GPU (case does not count) and precision; borrowed. */
const dls_op_time *dls_op_times_of(const dls_op_times *times, const char *gpu, dls_numeric numeric,
                                   size_t *n);
/* Seconds out of such rows, 0 if the work is not among them; moves of a size between two measured ones are
 * interpolated. O(log n). */
double dls_op_time_find(const dls_op_time *row, size_t n, const dls_op_work *work);

/* operators.h5. Errors: EINPUT (a wrong checksum, shape, name or number, rows out of order),
 * EOUTPUT, ENOMEM. *times needs dls_op_times_fini only on success. */
dls_status dls_op_times_load(const char *path, dls_op_times *times, dls_error *err) DLS_MUST_CHECK;
dls_status dls_op_times_save(const dls_op_times *times, const char *path,
                             dls_error *err) DLS_MUST_CHECK;

#endif
