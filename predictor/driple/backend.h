/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A backend computes forward passes. One function table; the CPU's is built in, the CUDA one is a
 * module that is opened at run time (see module.c), so both see the same three structures.
 *
 * A job is a list of pairs (graph, setting). Graphs have been checked, pairs are sorted by number
 * of nodes, then graph, then setting, and none is repeated; a backend cuts the list as it likes and
 * computes what the settings of one graph share once. Outputs are the network's, before label
 * scales.
 */
#ifndef DLS_DRIPLE_BACKEND_H
#define DLS_DRIPLE_BACKEND_H

#include "predictor/driple/model.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DLS_DRIPLE_ABI 2u

typedef struct dls_pair {
    int32_t graph;
    int32_t setting; /* DLS_SETTING_BASE or an index */
} dls_pair;

typedef struct dls_driple_job {
    const dls_graph *graphs;
    const dls_pair *pairs;
    size_t n_pairs;
    double *out; /* [n_pairs][n_outputs] */
} dls_driple_job;

typedef struct dls_driple_config {
    dls_precision precision;
    int32_t threads;
    size_t memory_bytes; /* working memory to stay within where a single pair allows it */
    const char *cpu_isa;
} dls_driple_config;

typedef struct dls_driple_ops {
    uint32_t abi; /* DLS_DRIPLE_ABI */
    const char *name;
    /* insp is borrowed for the life of the state. EPREDICTOR: this backend cannot (no device, an
     * architecture it does not know); err says why. */
    dls_status (*open)(const dls_inspector *insp, const dls_driple_config *config, void **state,
                       dls_error *err);
    void (*close)(void *state); /* NULL-safe */
    /* ENOMEM: this job is too large for the device even in the smallest pieces. */
    dls_status (*forward)(void *state, const dls_driple_job *job, dls_error *err);
    /* "avx512, f32, 2 threads" */
    void (*describe)(const void *state, char *text, size_t size);
    /* Append a line about every fallback since the last call ("" if none). */
    void (*notes)(void *state, char *text, size_t size);
    /* Optional: take in settings that were added to the inspector. NULL: the state is opened again.
     */
    dls_status (*extend)(void *state, dls_error *err);
} dls_driple_ops;

extern const dls_driple_ops dls_driple_cpu;

/* What the CUDA module exports as "dls_driple_module". */
typedef const dls_driple_ops *(*dls_driple_module_fn)(uint32_t abi);

/* Open the module: path, or $DLSIM_CUDA_MODULE, or dlsim-cuda.so beside the executable, or in the
 * installation's library folder. EPREDICTOR says what was tried. *handle is for dlclose. */
dls_status dls_driple_module_open(const char *path, const dls_driple_ops **ops, void **handle,
                                  dls_error *err) DLS_MUST_CHECK;
/* Is there a CUDA driver at all? Without one the module, which brings 200 MB of libraries, need not
 * be opened to learn that there is no device. */
bool dls_driple_driver_present(void);
void dls_driple_module_close(void *handle); /* NULL-safe */

/* Enlarge *edges and *degree to those of the graph: neighbours of all nodes, the most of one. */
void dls_graph_extent(const dls_graph *g, int64_t *edges, int32_t *degree);
/* EINPUT names the node or the edge: no nodes, a wrong number of features, a feature or a weight
 * that is not finite, a weight below 0, an adjacency that is not ascending by rows. */
dls_status dls_graph_check(const dls_graph *g, int32_t n_features, const char *where,
                           dls_error *err) DLS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
