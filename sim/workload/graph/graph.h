/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The computational graph of one training step of a model: operations and the tensors between
 * them, with what a time model and the inspector need to know of each.
 *
 *      Variable --> Identity --> Conv2D --> BiasAdd --> Relu --> ...      forward
 *                                   |                     |
 *                       Conv2DBackpropFilter <-- ... <-- ReluGrad         backward
 *                                   |
 *      Variable <------------ ApplyMomentum                               update
 *
 * The inspector's input, a grouped graph with features, is dls_graph of dlsim/predictor.h;
 * this is what it is made from (grouping.h, features.h).
 *
 * Nodes and edges are dense indices in order of addition; edges run from producer to consumer.
 * Counts are per execution of the node by one worker; a node inside a loop (an unrolled recurrent
 * cell, written once) is executed `repeat` times per step. A graph belongs to one thread while it
 * is being built; a finished one may be read by many.
 */
#ifndef DLS_GRAPH_GRAPH_H
#define DLS_GRAPH_GRAPH_H

#include "base/own.h"
#include "base/strdict.h"
#include "dlsim/error.h"
#include "workload/graph/op_kind.h"

#include <stdbool.h>
#include <stdint.h>

/* XX(id, text) */
#define DLS_PHASE_MAP(XX)                                                                          \
    XX(FORWARD, "forward")                                                                         \
    XX(BACKWARD, "backward")                                                                       \
    XX(UPDATE, "update") /* the optimiser */                                                       \
    XX(OTHER, "other")   /* variables, constants, input, initialisation */

typedef enum dls_phase {
#define XX(id, text) DLS_PHASE_##id,
    DLS_PHASE_MAP(XX)
#undef XX
        DLS_PHASE_COUNT
} dls_phase;

/* How numbers are kept: XX(id, text, bytes of an activation). Weights and optimiser state stay in
 * 32 bits under mixed precision. */
#define DLS_NUMERIC_MAP(XX)                                                                        \
    XX(FP32, "fp32", 4)                                                                            \
    XX(TF32, "tf32", 4) /* stored as fp32, multiplied with 10 bits of mantissa */                  \
    XX(FP16, "fp16", 2) /* mixed: activations and gradients of activations */                      \
    XX(BF16, "bf16", 2)

typedef enum dls_numeric {
#define XX(id, text, bytes) DLS_NUMERIC_##id,
    DLS_NUMERIC_MAP(XX)
#undef XX
        DLS_NUMERIC_COUNT
} dls_numeric;

/* XX(id, text, words of state per parameter beside the weight) */
#define DLS_OPTIMISER_MAP(XX)                                                                      \
    XX(SGD, "sgd", 0)                                                                              \
    XX(MOMENTUM, "momentum", 1)                                                                    \
    XX(RMSPROP, "rmsprop", 2)                                                                      \
    XX(ADAM, "adam", 2)

typedef enum dls_optimiser {
#define XX(id, text, words) DLS_OPTIMISER_##id,
    DLS_OPTIMISER_MAP(XX)
#undef XX
        DLS_OPTIMISER_COUNT
} dls_optimiser;

const char *dls_phase_name(int phase);
const char *dls_numeric_name(int numeric);
const char *dls_optimiser_name(int optimiser);
/* false: no such name */
bool dls_numeric_find(const char *name, dls_numeric *out);
bool dls_optimiser_find(const char *name, dls_optimiser *out);
int32_t dls_numeric_bytes(dls_numeric numeric); /* of an activation */
int32_t dls_optimiser_words(dls_optimiser optimiser);

/* The work of a convolution or a matrix product; all zero for other families.
 * Matrix products: batch independent products C[m][n] = A[m][k] B[k][n].
 * Convolutions (all three kernels carry the dims of the forward one): in [batch][in_h][in_w][in_c],
 * filter [kernel_h][kernel_w][in_c / groups][out_c], out [batch][out_h][out_w][out_c]; m, n, k are
 * those of this kernel as a matrix product per group (forward: m = batch out_h out_w,
 * n = out_c / groups, k = in_c / groups kernel_h kernel_w). */
typedef struct dls_op_dims {
    int64_t batch, m, n, k;
    int32_t in_h, in_w, in_c;
    int32_t out_h, out_w, out_c;
    int32_t kernel_h, kernel_w;
    int32_t stride_h, stride_w;
    int32_t groups;
} dls_op_dims;

/* One operation. flops counts a multiply-add as 2. */
typedef struct dls_op_node {
    int32_t kind;  /* dls_op_kind */
    int32_t phase; /* dls_phase */
    int32_t
        layer; /* the layer (named scope) it belongs to: a code of dls_opgraph.layers, 0: none */
    int32_t repeat;      /* executions per training step, >= 1 */
    bool on_gpu;         /* false: input pipeline, initialisation, checkpoints */
    int64_t tensor_size; /* elements of output 0 by static shape, Driple's rule (docs/graphs.md) */
    int64_t out_bytes;   /* of all outputs */
    int64_t read_bytes, write_bytes; /* memory traffic of an unfused kernel */
    int64_t param_bytes; /* variables: size of the parameter; their updates: bytes updated */
    double flops;
    dls_op_dims dims;
    /* Filled by dls_opgraph_add_node. */
    int32_t name; /* code of dls_opgraph.names */
    int32_t op;   /* code of dls_opgraph.ops: the name of the operation */
} dls_op_node;

typedef struct dls_op_edge {
    int32_t from, to;
    bool control; /* order only, no data */
} dls_op_edge;

#define DLS_OPGRAPH_TEXT_MAX 64

/* Whose operations are written down: TensorFlow's, one by one (0), or the kernels that PyTorch
 * launches: a dropout is one, a bias belongs to its product, gradients that meet are added up two
 * by two (docs/operator.md). Bits to add: nothing is dropped and there is no loss; a compiler has
 * joined to their neighbours what goes number by number; images lie with their channels apart,
 * which matrix units do not read (of workloads) and norms of tokens copy (of graphs; in 32 bits always);
 * attention is one kernel, which keeps no scores (Dao, 2023), where nothing is added to them. */
typedef enum dls_graph_runner {
    DLS_RUN_GRAPH = 0,
    DLS_RUN_EAGER = 1,
    DLS_RUN_FORWARD = 2,
    DLS_RUN_COMPILED = 4,
    DLS_RUN_CHANNELS_FIRST = 8,
    DLS_RUN_FUSED_ATTENTION = 16
} dls_graph_runner;

typedef struct dls_opgraph_info {
    char model[DLS_OPGRAPH_TEXT_MAX];
    char dataset[DLS_OPGRAPH_TEXT_MAX];
    int32_t batch;    /* samples per worker and step; 0: unknown */
    int32_t sequence; /* tokens per sample; 0: not a sequence */
    int32_t image;    /* pixels of an edge; 0: the model's own, or no image */
    dls_numeric numeric;
    dls_optimiser optimiser;
    double shared; /* numbers that GPUs in parts of layers add up in a step; not kept in files */
    double made; /* numbers of a step's input that the training loop makes (PyTorch's); likewise */
    bool by_channel; /* images lie so, whatever is asked for; likewise */
} dls_opgraph_info;

typedef struct dls_opgraph {
    dls_opgraph_info info;
    dls_op_node *nodes; /* [n_nodes] */
    dls_op_edge *edges; /* [n_edges], in order of addition; parallel edges are allowed */
    int32_t n_nodes, n_edges;
    size_t node_cap, edge_cap;
    dls_strdict names, ops, layers;
} dls_opgraph;

/* Owned by the caller; info is copied. ENOMEM. */
dls_status dls_opgraph_create(const dls_opgraph_info *info, dls_opgraph **out,
                              dls_error *err) DLS_MUST_CHECK;
void dls_opgraph_destroy(dls_opgraph *g); /* NULL-safe */
DLS_OWNER(dls_opgraph, dls_opgraph_destroy)

/* Append a node. Names are unique (EINPUT). op: the operation's name, NULL for dls_op_name(kind).
 * node->kind, name and op of the stored copy follow from the arguments; repeat 0 counts as 1.
 * O(1) expected. */
dls_status dls_opgraph_add_node(dls_opgraph *g, const char *name, const char *op,
                                const dls_op_node *node, int32_t *idx,
                                dls_error *err) DLS_MUST_CHECK;
/* Append an edge between existing nodes (EINPUT otherwise, or on from == to). O(1) amortised. */
dls_status dls_opgraph_add_edge(dls_opgraph *g, int32_t from, int32_t to, bool control,
                                dls_error *err) DLS_MUST_CHECK;
/* Code for dls_op_node.layer. */
dls_status dls_opgraph_layer(dls_opgraph *g, const char *name, int32_t *layer,
                             dls_error *err) DLS_MUST_CHECK;
const char *dls_opgraph_name(const dls_opgraph *g, int32_t node); /* borrowed */
const char *dls_opgraph_op(const dls_opgraph *g, int32_t node);   /* borrowed */
const char *dls_opgraph_layer_name(const dls_opgraph *g, int32_t layer);

/* Nodes in an order in which producers come first, ties by index: order[n_nodes]. EINPUT names a
 * node on a cycle. Edges out of NextIteration nodes close a loop and do not count.
 * O((nodes + edges) log nodes). */
dls_status dls_opgraph_order(const dls_opgraph *g, int32_t *order, dls_error *err) DLS_MUST_CHECK;
/* Everything a reader of a file must not trust: indices, kinds, signs, cycles. EINPUT names the
 * node. */
dls_status dls_opgraph_validate(const dls_opgraph *g, dls_error *err) DLS_MUST_CHECK;

/* Sums over a training step of one worker, repeats included. */
typedef struct dls_opgraph_totals {
    int64_t n_params; /* trained parameters */
    int64_t n_param_tensors;
    int64_t activation_bytes; /* outputs of forward operations on the GPU */
    double flops[DLS_PHASE_COUNT];
    double matrix_flops[DLS_PHASE_COUNT]; /* of convolutions and matrix products: what published tables count, twice */
    double traffic_bytes[DLS_PHASE_COUNT]; /* read and written */
    int32_t n_nodes[DLS_PHASE_COUNT];
    int32_t n_family[DLS_FAMILY_COUNT];
} dls_opgraph_totals;
void dls_opgraph_sum(const dls_opgraph *g, dls_opgraph_totals *totals);

/* ---- files (docs/graphs.md) ------------------------------------------------------------------ */

/* Write under path, whole or not at all. EOUTPUT. */
dls_status dls_opgraph_save(const dls_opgraph *g, const char *path, dls_error *err) DLS_MUST_CHECK;
/* EINPUT: not such a file, a wrong checksum, or whatever dls_opgraph_validate rejects. */
dls_status dls_opgraph_load(const char *path, dls_opgraph **out, dls_error *err) DLS_MUST_CHECK;

#endif
