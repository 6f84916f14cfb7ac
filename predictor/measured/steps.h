/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Measured training steps: the published points (workload/operator/points.h) and files of the user
 * (docs/measured.md). A bad row is kept as a complaint that says where it stands, and is not
 * judged.
 */
#ifndef DLS_MEASURED_STEPS_H
#define DLS_MEASURED_STEPS_H

#include "predictor/measured/table.h"
#include "workload/operator/pointset.h"

#define DLS_MEASURED_TEXT 64
/* A slip of units is a factor of 1,000; GPUs and batches alone make less than this. */
#define DLS_MEASURED_SLIP 200.0

typedef struct dls_measured_step {
    char source[DLS_MEASURED_TEXT]; /* who measured: a group of the tables */
    char model[DLS_MEASURED_TEXT];  /* as in a trace */
    char gpu[DLS_HW_NAME];          /* as gpus.cfg spells it */
    char host[DLS_MEASURED_TEXT];   /* framework, or a row of operator.cfg's hosts; "" unknown */
    char layout[16];                /* "nchw", "nhwc"; "" unknown */
    char parallelism[16];           /* "dp", else what the file says */
    char exchange[16];              /* "one", "allreduce", "ps-sync", "ps-async" */
    char link[DLS_HW_NAME], network[DLS_HW_NAME]; /* "" : the GPU's own, none */
    int32_t gpus, nodes, servers;
    int32_t batch;           /* per GPU */
    int32_t image, sequence; /* 0: the model's usual */
    dls_numeric numeric;
    bool forward;  /* inference or the forward pass alone */
    bool update;   /* the optimiser's step is in it */
    bool compiled; /* kernels fused by a compiler */
    bool fused_attention;
    bool pytorch;  /* its framework is PyTorch, or has it in its name */
    bool fitted;   /* constants of the operator model were fitted to it */
    double step_s; /* dls_measured_steps.memory: bytes */
    size_t line;   /* in its file; 0: a point of the program */
    size_t column; /* of the time or memory: its byte in the line */
} dls_measured_step;

typedef struct dls_measured_steps {
    dls_measured_step *row; /* [n] owned */
    size_t n, cap;
    bool busy;   /* set before reading: the time in which the GPU computes was measured, in the
                    column busy_ms; rows without are passed over */
    bool memory; /* set before reading: GPU memory is what was measured, in the column memory_mib */
    dls_complaints bad;    /* one a row that was left out */
    dls_complaints doubts; /* about files whose rows are judged */
} dls_measured_steps;

void dls_measured_steps_fini(dls_measured_steps *s); /* NULL-safe */

/* Add the published points. Errors: those of points.h. */
dls_status dls_measured_steps_points(dls_measured_steps *s, dls_error *err) DLS_MUST_CHECK;

/* Add the rows of a CSV file, gzip or not. Rows with a time that is zero, negative or no number,
 * with a GPU that hw does not know, or with sizes below 1 are complained of, and so are times that
 * are about 1,000 times longer or shorter per sample than the others of the same model in the file.
 * Errors: EINPUT (no such file, no header, a column that is needed is missing), ENOMEM. */
dls_status dls_measured_steps_read(dls_measured_steps *s, const char *path, const dls_hardware *hw,
                                   const dls_measured_defaults *defaults,
                                   dls_error *err) DLS_MUST_CHECK;
/* What PyTorch launches for the row, uncompiled. Errors: EINPUT, ENOMEM. */
dls_status dls_measured_step_work(const dls_measured_step *row, dls_workload *work,
                                  dls_error *err) DLS_MUST_CHECK;
/* Leave the rows from `first` on out that are marked (bad[0] is row 0's), each with a complaint
 * that ends in `why`. Errors: ENOMEM. */
dls_status dls_measured_steps_drop(dls_measured_steps *s, size_t first, const bool *bad,
                                   const char *path, const char *why,
                                   dls_error *err) DLS_MUST_CHECK;

#endif
