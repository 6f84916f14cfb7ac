/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GPU memory that a kind of job holds on each GPU: the operator model's estimate, which grows
 * linearly with the batch, so two batches of a model tell it for all. Whoever predicts the time, it
 * is counted as PyTorch runs the model, as in what-if questions, which measurements judge
 * (docs/measured.md); as the truth counts it only where the version of the truth is asked for. What
 * is said of a model's program goes before its name (workload/software.h).
 */
#ifndef DLS_SOURCES_GPU_MEMORY_H
#define DLS_SOURCES_GPU_MEMORY_H

#include "workload/kinds.h"

typedef struct dls_memory_line {
    dls_model_names names; /* as who trains the kinds runs them */
    dls_numeric numeric;
    double fixed_bytes, sample_bytes;
} dls_memory_line;

typedef struct dls_gpu_memory {
    dls_memory_line *line; /* one a model; owned */
    size_t n, cap;
    dls_numeric numeric;  /* where `software` says no other */
    const char *software; /* borrowed; NULL, "": nothing is said */
    unsigned runner;      /* bits of dls_graph_runner */
} dls_gpu_memory;

void dls_gpu_memory_fini(dls_gpu_memory *m);
/* Bytes; NAN for an unknown model. O(models) after the first of a model. Errors: those of
 * dls_software_of and dls_model_workload. */
dls_status dls_gpu_memory_of(dls_gpu_memory *m, const dls_kind *kind, double *bytes,
                             dls_error *err) DLS_MUST_CHECK;

#endif
