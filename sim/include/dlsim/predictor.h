/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The inspector: what a policy may know of a training job before it runs.
 *
 * Driple (Yang, Shin, Lee, Yoo, Park, Yoo: "Prediction of the Resource Consumption of Distributed
 * Deep Learning Systems", Proc. ACM Meas. Anal. Comput. Syst. 6(2), 2022) reads a job's grouped
 * computational graph and a setting (GPU type, parameter servers and workers, topology, network)
 * and answers 12 numbers. One file of weights holds a base inspector and any number of settings
 * that were tuned from it. Questions are answered in batches: (graph, setting)[n] -> profile[n];
 * what the settings of one graph have in common is computed once.
 *
 * Thread safety: an inspector is immutable once loaded and may be shared; a predictor belongs to
 * one thread at a time (it runs threads of its own).
 *
 * The inspector that comes with dlsim is relative to what is known of a question without a network: ask it by a
 * model's name, through dlsim/steps.h.
 *
 *      #include <dlsim/predictor.h>
 *
 *      dls_status ask(const char *weights, const dls_graph *graph, dls_profile *out, dls_error *err)
 *      {
 *          const dls_query question = {.graph_idx = 0, .setting_idx = DLS_SETTING_BASE};
 *          dls_inspector *inspector;
 *          dls_predictor *predictor;
 *          DLS_TRY(dls_inspector_load(weights, &inspector, err));
 *          dls_status status = dls_predictor_create(inspector, NULL, &predictor, err);
 *          if (status == DLS_OK) {
 *              status = dls_predict(predictor, graph, 1, &question, 1, out, err);
 *              dls_predictor_destroy(predictor);
 *          }
 *          dls_inspector_destroy(inspector);
 *          return status;
 *      }
 */
#ifndef DLSIM_PREDICTOR_H
#define DLSIM_PREDICTOR_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The 12 metrics, in the column order of the published labels: for each resource the idle part,
 * the active (burst) part and the peak. Times in the unit of the labels the inspector was trained
 * on (seconds for dlsim's own), amounts likewise (fractions or bytes per second). */
#define DLS_METRICS 12
typedef enum dls_metric {
    DLS_GPU_MEM_IDLE = 0,
    DLS_GPU_MEM_ACTIVE,
    DLS_GPU_MEM_PEAK,
    DLS_GPU_IDLE,
    DLS_GPU_ACTIVE,
    DLS_GPU_PEAK,
    DLS_NET_RX_IDLE,
    DLS_NET_RX_ACTIVE,
    DLS_NET_RX_PEAK,
    DLS_NET_TX_IDLE,
    DLS_NET_TX_ACTIVE,
    DLS_NET_TX_PEAK
} dls_metric;
/* "gpu_mem_idle", ...; NULL out of range. */
DLS_API const char *dls_metric_name(int metric);

/* One workload: a grouped computational graph with a row of features per node. The adjacency is
 * given by rows: the neighbours of node i are col[row_start[i]] .. col[row_start[i + 1] - 1], each
 * row ascending and without repeats. Published graphs are symmetric, 0/1 and without self loops;
 * any finite weight >= 0, asymmetry and self loops are computed as the formulas say. Borrowed. */
typedef struct dls_graph {
    int32_t n_nodes;
    int32_t n_features;
    const double *x;          /* [n_nodes][n_features] */
    const int64_t *row_start; /* [n_nodes + 1] */
    const int32_t *col;
    const double *weight; /* per edge; NULL: all 1 */
} dls_graph;

/* A resource profile. iteration_s is the idle and the active time of the GPU together: one period
 * of the job's burst pattern. */
typedef struct dls_profile {
    double metric[DLS_METRICS];
    double iteration_s;
} dls_profile;

#define DLS_SETTING_BASE (-1)
typedef struct dls_query {
    int32_t graph_idx;
    int32_t setting_idx; /* DLS_SETTING_BASE: the base inspector itself */
} dls_query;

/* What is known of a question without a network; an inspector whose answers are relative to that
 * (dls_inspector_is_relative) needs it. */
typedef struct dls_known {
    double step_s;     /* of a step by a model, > 0 */
    double link_bytes; /* that a worker sends in a step, and receives; 0: it is alone */
} dls_known;

/* ---- inspectors ----------------------------------------------------------------------------- */

typedef struct dls_inspector dls_inspector;

typedef struct dls_setting_info {
    const char *name;     /* unique in its file */
    const char *gpu_type; /* "" if not said */
    const char *topology;
    const char *network;
    int32_t n_ps, n_workers; /* 0 if not said */
    int32_t n_nodes;         /* machines that the workers are on; 0 if not said */
} dls_setting_info;

/* Read a weights file (docs/inspector-files.md). EINPUT names the tensor that is missing, has a
 * wrong shape, is not finite or fails its checksum. */
DLS_API dls_status dls_inspector_load(const char *path, dls_inspector **out,
                                      dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_inspector_destroy(dls_inspector *insp); /* NULL-safe */
DLS_API int32_t dls_inspector_n_features(const dls_inspector *insp);
/* Do its answers need what is known of a question: the step's factor on a model's, shares of the
 * step, the link's peak over its mean. */
DLS_API bool dls_inspector_is_relative(const dls_inspector *insp);
DLS_API int32_t dls_inspector_n_settings(const dls_inspector *insp);
/* Borrowed; setting_idx in 0..n-1. */
DLS_API dls_setting_info dls_inspector_setting(const dls_inspector *insp, int32_t setting_idx);
/* Index by name; DLS_SETTING_BASE for "base"; -2 if there is none. */
DLS_API int32_t dls_inspector_find(const dls_inspector *insp, const char *name);
/* The feature spec that the training graphs' inputs were made with, as JSON (dls_dataset), so that
 * a new graph can be given the same input; "" if unknown. Borrowed. */
DLS_API const char *dls_inspector_features(const dls_inspector *insp);
/* One line: "gcn, 3 features, hidden 64, N/2 layers, gru, set2set, 14 settings". */
DLS_API void dls_inspector_describe(const dls_inspector *insp, char *text, size_t size);

/* Describe the settings of a file to an inspector that answers for any setting, but those that it has: the one
 * called name, NULL: every one. which: "paper", "clusters", "all" (both) or a file. Another inspector stays as it
 * is, and so does one without that name. hardware: folder of the tables; NULL: the usual places. Errors: ECONFIG with
 * file and line, EINPUT, ENOMEM. */
DLS_API dls_status dls_inspector_add_settings(dls_inspector *insp, const char *which, const char *hardware,
                                              const char *name, dls_error *err) DLS_MUST_CHECK;

/* ---- predictors ----------------------------------------------------------------------------- */

typedef enum dls_backend_kind {
    DLS_BACKEND_AUTO = 0,
    DLS_BACKEND_CPU,
    DLS_BACKEND_CUDA
} dls_backend_kind;

typedef enum dls_precision {
    DLS_PRECISION_F32 = 0,
    DLS_PRECISION_F64, /* CPU only: for checking */
    DLS_PRECISION_FAST /* bf16 on matrix units: CUDA's, or AMX of a CPU; elsewhere float32, and a
                          note */
} dls_precision;

typedef struct dls_predictor_options {
    dls_backend_kind backend;
    dls_precision precision;
    int32_t threads;         /* CPU; 0: one per core this process may use */
    size_t memory_bytes;     /* bound on the working memory of a batch; 0: 256 MiB */
    const char *module_path; /* the CUDA module; NULL: DLSIM_CUDA_MODULE, then the usual places */
    const char *cpu_isa;     /* "scalar", "avx2", "avx512"; with FAST "amx", too, or
                                "emulated", for tests; NULL: the best this machine has */
} dls_predictor_options;

typedef struct dls_predictor dls_predictor;

/* insp is borrowed and must outlive the predictor. opts may be NULL. With AUTO a machine without
 * GPU, driver or module gets the CPU; with CUDA that is EPREDICTOR. */
DLS_API dls_status dls_predictor_create(const dls_inspector *insp,
                                        const dls_predictor_options *opts, dls_predictor **out,
                                        dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_predictor_destroy(dls_predictor *p); /* NULL-safe */
/* Take in the settings that were added to the inspector since. After a failure the predictor can
 * only be destroyed. Errors: as of dls_predictor_create. O(new settings), amortised, on the CPU. */
DLS_API dls_status dls_predictor_extend(dls_predictor *p, dls_error *err) DLS_MUST_CHECK;
/* "cpu (avx512, f32, 2 threads)"; valid until the next call on p. */
DLS_API const char *dls_predictor_backend(const dls_predictor *p);
/* Why this backend, and every fallback so far, one line each; "" if there is nothing to say. */
DLS_API const char *dls_predictor_notes(const dls_predictor *p);

/* Answer n queries over n_graphs graphs. Graphs of any mixture of sizes; each is checked (EINPUT
 * names graph and node). A prediction that is not finite is EPREDICTOR with the graph named. Cost:
 * O(layers * (edges * H + nodes * H^2) + nodes^2 * H) per graph, the part after the shared prefix
 * once per setting. */
DLS_API dls_status dls_predict(dls_predictor *p, const dls_graph *graphs, size_t n_graphs,
                               const dls_query *queries, size_t n_queries, dls_profile *profiles,
                               dls_error *err) DLS_MUST_CHECK;
/* The same with known[n_queries], or NULL. EINPUT: an inspector of relative answers, and nothing is
 * known of a question. */
DLS_API dls_status dls_predict_known(dls_predictor *p, const dls_graph *graphs, size_t n_graphs,
                                     const dls_query *queries, const dls_known *known,
                                     size_t n_queries, dls_profile *profiles,
                                     dls_error *err) DLS_MUST_CHECK;
/* The profile of a step that takes `factor` times as long for the same bytes. */
DLS_API void dls_profile_stretch(dls_profile *profile, double factor);

/* ---- files ------------------------------------------------------------------------------------ */

/* Graphs in HDF5, as `dlsim graph group` writes them: groups that hold `adj` [B][N][N] or [N][N] and `x`
 * [B][N][F] or [N][F]. Read in slices, so that a group may hold more graphs than memory. */
typedef struct dls_graph_reader dls_graph_reader;

/* EINPUT: no such file, no group with adj and x. */
DLS_API dls_status dls_graph_reader_open(const char *path, dls_graph_reader **out,
                                         dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_graph_reader_close(dls_graph_reader *r); /* NULL-safe */
DLS_API size_t dls_graph_reader_n_groups(const dls_graph_reader *r);
/* Full name of a group ("/" for the root), borrowed. */
DLS_API const char *dls_graph_reader_group(const dls_graph_reader *r, size_t group);

typedef struct dls_group_shape {
    size_t n_graphs;
    int32_t n_nodes, n_features;
    bool single; /* stored without the first dimension */
} dls_group_shape;
/* EINPUT names the dataset whose shape is wrong or does not go with the other. */
DLS_API dls_status dls_graph_reader_shape(dls_graph_reader *r, size_t group, dls_group_shape *shape,
                                          dls_error *err) DLS_MUST_CHECK;
/* How many graphs of this shape fit in memory_bytes, at least 1. */
DLS_API size_t dls_graph_reader_fit(const dls_group_shape *shape, size_t memory_bytes);
/* Graphs first .. first + n - 1 of a group; *graphs is valid until the next read or close. */
DLS_API dls_status dls_graph_reader_read(dls_graph_reader *r, size_t group, const dls_group_shape *shape,
                                         size_t first, size_t n, const dls_graph **graphs,
                                         dls_error *err) DLS_MUST_CHECK;

/* Answers, under the same names of groups. */

typedef struct dls_output_writer dls_output_writer;

/* backend and weights go to the file as attributes. */
DLS_API dls_status dls_output_writer_create(const char *path, const char *weights, const char *backend,
                                            dls_output_writer **out, dls_error *err) DLS_MUST_CHECK;
/* A dataset <group>/output [n_graphs][12], or [n_graphs][n_settings][12] with n_settings > 0. */
DLS_API dls_status dls_output_writer_begin(dls_output_writer *w, const char *group, size_t n_graphs,
                                           size_t n_settings, const char *setting_names,
                                           dls_error *err) DLS_MUST_CHECK;
/* The next n graphs of the group: rows [n * max(1, n_settings)][12]. */
DLS_API dls_status dls_output_writer_rows(dls_output_writer *w, const double *rows, size_t n,
                                          dls_error *err) DLS_MUST_CHECK;
/* Give the file its name; on failure nothing is left under it. Destroy comes after in any case. */
DLS_API dls_status dls_output_writer_finish(dls_output_writer *w, dls_error *err) DLS_MUST_CHECK;
DLS_API void dls_output_writer_destroy(dls_output_writer *w); /* NULL-safe; unfinished: no file */

#ifdef __cplusplus
}
#endif
#endif
