/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One training step on the CPU: the same source (step.inc.h) compiled for float32 plain, AVX2 and
 * AVX-512 and for float64. A step is cut into blocks of a few graphs of one size; a block runs
 * forward and backward in a workspace of its own and leaves its gradient in a buffer of its own, so
 * the result does not depend on which thread took which block.
 */
#ifndef DLS_TRAINING_ENGINE_H
#define DLS_TRAINING_ENGINE_H

#include "predictor/training/trainee.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Graphs in a block: as many as the LSTM's kernel takes rows. */
#define DLS_BLOCK_GRAPHS 6
/* A block keeps all that backward needs if that fits, else the states alone, and computes the rest
 * again; a smaller block comes before that. */
#define DLS_BLOCK_BYTES ((size_t)64 << 20)

typedef struct dls_step_sample {
    const dls_graph *graph;
    const void *start;    /* the state before the first layer that is trained (engine's `start`), or
                             NULL to begin at the features */
    const double *target; /* [rows][n_outputs] in units of the network's outputs; NULL: no loss */
    uint64_t noise;       /* names the stream of its dropout masks */
    /* What the readout's MLP is given beside the graph, [rows][arch.n_conditions] standardised: the
     * graph in so many settings, whose layers and readout are computed once. NULL: all 0. */
    const double *condition;
    size_t rows; /* 0: one */
} dls_step_sample;
static inline size_t dls_step_rows(const dls_step_sample *s)
{
    return s->rows > 0 ? s->rows : 1;
}

/* Of output k over a sample's rows, whose outputs are out[rows][n]. */
static inline double dls_step_mean_error(const dls_step_sample *s, const double *out, size_t n,
                                         size_t k)
{
    double sum = 0;
    for (size_t row = 0; row < dls_step_rows(s); row++) {
        sum += out[row * n + k] - s->target[row * n + k];
    }
    return sum / (double)dls_step_rows(s);
}

/* What a block is about, and needs its workspace for. */
typedef struct dls_step_size {
    int32_t n_nodes, degree; /* of every graph; the most neighbours */
    int64_t edges;           /* at most */
    size_t n, rows;          /* graphs, rows of all of them */
    bool backward, dropout;
    bool keep; /* what backward needs, rather than computing it again */
} dls_step_size;

typedef struct dls_step_block {
    const dls_step_sample *sample; /* [size.n] */
    dls_step_size size;
    double weight;  /* d loss / d output = weight (error + pairs (error - the sample's mean)) */
    double pairs;   /* weight of pairs of a sample's rows, 0: none */
    double dropout; /* chance that an element of a layer's output is zeroed; 0: none */
    double *out;    /* [rows of all samples][n_outputs] */
    void *gradient; /* [gradient_bytes], NULL: forward only */
} dls_step_block;

typedef struct dls_step_engine {
    const char *isa; /* "scalar", "avx2", "avx512" */
    bool f64;
    /* net is borrowed. */
    dls_status (*open)(const dls_trainee *net, void **state, dls_error *err);
    void (*close)(void *state); /* NULL-safe */
    /* Take over the values of the network. No block may be running. */
    void (*load)(void *state);
    size_t (*gradient_bytes)(const void *state);
    /* The state after the first `layers` layers of a graph, [start_bytes]. */
    size_t (*start_bytes)(const void *state, int32_t n_nodes);
    void (*start)(const void *state, void *memory, const dls_graph *g, const dls_step_size *size,
                  int32_t layers, void *out);
    /* Workspace of a block; memory is 64-byte aligned. */
    size_t (*work_bytes)(const void *state, const dls_step_size *size);
    void (*run)(const void *state, void *memory, const dls_step_block *block);
    /* into += from, both gradients. */
    void (*add)(const void *state, void *into, const void *from);
    /* into[n_values] = the gradient of every trained value; the others are 0. */
    void (*scatter)(const void *state, const void *gradient, double *into);
    /* Multiply-add throughput of the kernel that most of a step is spent in, on data that stays in
     * the first-level cache: the peak that efficiencies are stated against. FLOP/s. */
    double (*peak_flops)(void);
} dls_step_engine;

extern const dls_step_engine dls_step_f64_scalar, dls_step_f32_scalar;
#if defined(__x86_64__)
extern const dls_step_engine dls_step_f32_avx2, dls_step_f32_avx512;
#endif

/* The engine for a precision: isa by name, or NULL for the best this machine runs. NULL: unknown
 * name, or the machine cannot. */
const dls_step_engine *dls_step_engine_find(bool f64, const char *isa);

#ifdef __cplusplus
}
#endif
#endif
