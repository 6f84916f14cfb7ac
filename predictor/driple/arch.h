/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The architecture of an inspector: which convolution, how deep, which readout; and from it the
 * names and shapes of all its tensors, which are those of the published checkpoint.
 */
#ifndef DLS_DRIPLE_ARCH_H
#define DLS_DRIPLE_ARCH_H

#include "dlsim/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum dls_conv_kind {
    DLS_CONV_GCN = 0,
    DLS_CONV_GIN,
    DLS_CONV_MPNN, /* the PNA layer: towers, aggregators, scalers */
    DLS_CONV_GAT,
    DLS_CONV_COUNT
} dls_conv_kind;

/* How many layers run on a graph of N nodes. */
typedef enum dls_depth {
    DLS_DEPTH_FIXED = 0, /* the number in n_layers */
    DLS_DEPTH_N,
    DLS_DEPTH_N_OVER_2,
    DLS_DEPTH_N_OVER_3,
    DLS_DEPTH_LOG2N,
    DLS_DEPTH_2LOG2N,
    DLS_DEPTH_3LOG2N,
    DLS_DEPTH_4LOG2N,
    DLS_DEPTH_LOG10N,
    DLS_DEPTH_3SQRTN,
    DLS_DEPTH_LOG30N, /* the logarithm of 35 to base N: the published name is a misnomer */
    DLS_DEPTH_COUNT
} dls_depth;

typedef enum dls_pool {
    DLS_POOL_SET2SET = 0,
    DLS_POOL_MEAN,
    DLS_POOL_MAX,
    DLS_POOL_ATTENTION, /* softmax over the nodes of w . x_i + b */
    DLS_POOL_COUNT
} dls_pool;

typedef enum dls_aggregator {
    DLS_AGG_SUM = 0,
    DLS_AGG_MEAN,
    DLS_AGG_MAX,
    DLS_AGG_MIN,
    DLS_AGG_IDENTITY,
    DLS_AGG_VAR,
    DLS_AGG_STD,
    DLS_AGG_NORMALISED_MEAN,
    DLS_AGG_SOFTMAX,
    DLS_AGG_SOFTMIN,
    DLS_AGG_MOMENT3,
    DLS_AGG_MOMENT4,
    DLS_AGG_MOMENT5,
    DLS_AGG_COUNT
} dls_aggregator;

typedef enum dls_scaler {
    DLS_SCALE_IDENTITY = 0,
    DLS_SCALE_AMPLIFICATION,
    DLS_SCALE_ATTENUATION,
    DLS_SCALE_LINEAR,
    DLS_SCALE_INVERSE_LINEAR,
    DLS_SCALE_COUNT
} dls_scaler;

#define DLS_CONDITIONS_MAX 64

typedef struct dls_arch {
    dls_conv_kind conv;
    int32_t n_features;
    int32_t hidden;    /* H: width of every layer */
    int32_t n_outputs; /* DLS_METRICS */
    dls_depth depth;
    int32_t n_layers; /* DLS_DEPTH_FIXED only */
    bool shared;      /* layers 1.. use one convolution; false: each its own (fixed depth) */
    bool gru;
    bool skip;      /* the readout sees all layers side by side (fixed depth) */
    bool reference; /* GAT, PNA: as the published code computes, not as it means to */
    dls_pool pool;
    int32_t set2set_steps; /* 0: as many as nodes */
    int32_t mlp_layers;
    double frozen;        /* share of the layers after the first that settings take from the base */
    int32_t n_conditions; /* numbers of a setting that the readout's MLP is given; 0: none */
    /* GIN */
    int32_t gin_layers;
    /* GAT */
    int32_t gat_heads;
    double gat_alpha; /* slope of its LeakyReLU */
    /* MPNN */
    int32_t towers;
    int32_t n_aggregators, n_scalers;
    dls_aggregator aggregators[DLS_AGG_COUNT];
    dls_scaler scalers[DLS_SCALE_COUNT];
    bool self_loop;
    double avg_d_lin, avg_d_log; /* mean degree, mean log(degree + 1) of the training graphs */
} dls_arch;

/* The published inspector: GCN, 3 features, hidden 64, floor(N/2) layers, GRU, Set2Set, MLP of 3.
 */
dls_arch dls_arch_default(void);
/* EINPUT with the field that is out of range or does not go with another. */
dls_status dls_arch_check(const dls_arch *arch, dls_error *err) DLS_MUST_CHECK;
void dls_arch_describe(const dls_arch *arch, char *text, size_t size);

/* Layers that run on n_nodes >= 1 nodes: at least one, as layer 0 always runs. */
int32_t dls_arch_layers(const dls_arch *arch, int32_t n_nodes);
/* Of these the first so many use only weights of the base; the rest may be a setting's own: 1 +
 * floor(frozen (n_layers - 1)), as layer 0 is always the base's. */
int32_t dls_arch_prefix_layers(const dls_arch *arch, int32_t n_layers);
int32_t dls_arch_n_convs(const dls_arch *arch);       /* distinct convolutions of the base */
int32_t dls_arch_readout_width(const dls_arch *arch); /* D: width of a node in the readout */
int32_t dls_arch_pooled_width(const dls_arch *arch);  /* 2 D for Set2Set, else D */

/* Names in files and options: index by the enums above, lower case. */
extern const char *const dls_conv_names[DLS_CONV_COUNT + 1];
extern const char *const dls_depth_names[DLS_DEPTH_COUNT + 1];
extern const char *const dls_pool_names[DLS_POOL_COUNT + 1];
extern const char *const dls_aggregator_names[DLS_AGG_COUNT + 1];
extern const char *const dls_scaler_names[DLS_SCALE_COUNT + 1];
/* Index of name (of length len) in a NULL-ended list, -1 if absent. */
int32_t dls_name_index(const char *const *names, const char *name, size_t len);

/* ---- tensors -------------------------------------------------------------------------------- */

#define DLS_TENSOR_NAME_MAX 96
/* [width of the MLP's first layer][n_conditions], of the base alone: added to that layer's sums. */
#define DLS_CONDITION_TENSOR "graph_read_out.condition.weight"

/* A tensor that an architecture wants. A vector has cols 0. fan says how it is initialised. */
typedef struct dls_tensor_spec {
    char name[DLS_TENSOR_NAME_MAX];
    int64_t rows, cols;
} dls_tensor_spec;

/* A linear map of a convolution, in the order in which engines have them. GCN: one; GIN: epsilon,
 * then its layers; GAT: W and a of each head; MPNN: of each tower the two halves of what forms a
 * message and what follows the aggregates, then the mixing network. */
typedef struct dls_conv_map {
    char weight[DLS_TENSOR_NAME_MAX], bias[DLS_TENSOR_NAME_MAX]; /* "": none; a vector is a bias */
    int64_t rows, cols;                                          /* of the weight; of a vector */
    bool plain;       /* stored [in][out], else as torch's [out][in] */
    int32_t first, k; /* inputs: k from here on */
} dls_conv_map;
int32_t dls_arch_conv_maps(const dls_arch *arch);
dls_conv_map dls_arch_conv_map(const dls_arch *arch, int32_t layer, int32_t i);

/* The tensor that takes the numbers of a setting. */
dls_tensor_spec dls_arch_condition_spec(const dls_arch *arch);

typedef enum dls_part {
    DLS_PART_BASE = 0,     /* everything of a base inspector */
    DLS_PART_SETTING_CONV, /* a setting's own convolution, conv_layers.2.* */
    DLS_PART_SETTING_MLP   /* a setting's own readout MLP */
} dls_part;

typedef dls_status (*dls_tensor_visit)(void *user, const dls_tensor_spec *spec, dls_error *err);
/* Call visit for every tensor of the part, in the published order; stops at the first failure. */
dls_status dls_arch_tensors(const dls_arch *arch, dls_part part, dls_tensor_visit visit, void *user,
                            dls_error *err) DLS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
