/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The CPU engines: the same source (cpu_engine.inc.h) compiled for float32 plain, AVX2 and AVX-512
 * and for float64. An engine packs an inspector once and then computes pairs in a given workspace,
 * without allocation, so that threads can share the packed weights.
 */
#ifndef DLS_DRIPLE_CPU_ENGINE_H
#define DLS_DRIPLE_CPU_ENGINE_H

#include "predictor/driple/backend.h"

/* What a test may look at: stage is "conv", "layer" (both with the layer's index) or "pooled". data
 * is float or double as the engine computes, [rows][ld] with cols columns in use. */
typedef void (*dls_cpu_probe)(void *user, const char *stage, int32_t layer, const void *data,
                              int32_t rows, int32_t cols, int32_t ld);

typedef struct dls_cpu_work {
    void *memory; /* 64-byte aligned */
    size_t bytes;
    dls_cpu_probe probe; /* NULL: none */
    void *probe_user;
    double dense_above; /* share of nonzeros from which an adjacency is treated as dense */
} dls_cpu_work;

typedef struct dls_cpu_engine {
    const char *isa; /* "scalar", "avx2", "avx512", "amx", "emulated" */
    bool f64, bf16;  /* neither: float32 */
    dls_status (*pack)(const dls_inspector *insp, void **packed, dls_error *err);
    /* Take in the settings that the inspector got since: O(those), amortised. */
    dls_status (*extend)(void *packed, dls_error *err);
    void (*unpack)(void *packed); /* NULL-safe */
    /* Workspace for pairs [first, last) of the job, all of one number of nodes. */
    size_t (*work_bytes)(const void *packed, const dls_driple_job *job, size_t first, size_t last);
    void (*run)(const void *packed, const dls_cpu_work *work, const dls_driple_job *job,
                size_t first, size_t last);
    /* Vectorised functions, for the tests of their error bounds: y[i] = f(x[i]), n a multiple
     * of 16. */
    void (*map_sigmoid)(const double *x, double *y, size_t n);
    void (*map_tanh)(const double *x, double *y, size_t n);
    void (*map_exp)(const double *x, double *y, size_t n);
} dls_cpu_engine;

extern const dls_cpu_engine dls_cpu_f64_scalar, dls_cpu_f32_scalar, dls_cpu_bf16_emulated;
#if defined(__x86_64__)
extern const dls_cpu_engine dls_cpu_f32_avx2, dls_cpu_f32_avx512, dls_cpu_bf16_amx;
#endif

/* Share of nonzeros from which the dense product is the faster one; measured by bench_inspector. */
#define DLS_CPU_DENSE_ABOVE 0.6

/* The engine for a precision: isa by name, or NULL for the best this machine runs; fast is bf16
 * with a matrix unit, else float32. NULL: unknown name, or the machine cannot. Asks the system for
 * the matrix unit if it is wanted. */
const dls_cpu_engine *dls_cpu_engine_find(dls_precision precision, const char *isa);

#endif
