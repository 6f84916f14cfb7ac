/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A network in training: every parameter in one vector of doubles, and where in it each linear map
 * of the network lies. Engines pack what they compute with from the vector and scatter gradients
 * back by the same maps, so optimisers and files know nothing of an engine's layout.
 *
 *     base:      conv_0 conv_1 gru pool mlp                      all trained
 *     transfer:  conv_0 conv_1 gru pool (the base's, frozen)     conv_2 and mlp of the setting trained
 */
#ifndef DLS_TRAINING_TRAINEE_H
#define DLS_TRAINING_TRAINEE_H

#include "base/own.h"
#include "predictor/driple/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is trained: all of a network, or a setting's copy of it. The published fine-tuning is
 * DLS_TUNE_CONV_MLP; the others are the combinations of its design study. */
typedef enum dls_tune {
    DLS_TUNE_BASE,     /* everything, the repeated layers shared: from scratch, or further */
    DLS_TUNE_CONV_MLP, /* later half of the repeated layers (its own copy) and MLP */
    DLS_TUNE_MLP,      /* the MLP alone, as the published code does */
    DLS_TUNE_CONV_GRU, /* later half and GRU */
    DLS_TUNE_ALL,      /* everything, the later half being its own copy */
    DLS_TUNE_COUNT
} dls_tune;
/* "base", "conv+mlp", "mlp", "conv+gru", "all"; NULL-ended. */
extern const char *const dls_tune_names[DLS_TUNE_COUNT + 1];
/* The frozen layers, GRU and readout are the base's as they are, so the result can be kept as a
 * setting beside others; otherwise it is an inspector of its own. */
bool dls_tune_is_setting(dls_tune tune);

#define DLS_NOWHERE SIZE_MAX

/* y[chunk][unit] = sum over i of w[i][chunk][unit] x[i] + b[chunk][unit]; chunks are gates. Element
 * (i, chunk c, unit u) is value[w + i in_step + (chunk[c] width + u) out_step], plus the same of w2
 * where two published matrices act on one input; its gradient belongs to both. */
typedef struct dls_map {
    int32_t k, width, chunks; /* k 0: a vector of parameters, in b */
    size_t w, in_step, out_step;
    size_t w2, out_step2; /* in_step as for w */
    size_t b, b2;
    uint8_t chunk[4];
    bool trained;
} dls_map;

typedef struct dls_param {
    dls_tensor_spec spec;
    size_t at; /* first element in the vector */
    bool trained;
} dls_param;

typedef struct dls_trainee {
    dls_arch arch;
    dls_tune tune;
    double *feature_shift, *feature_scale; /* [n_features] owned */
    dls_param *param;
    size_t n_params, cap_params;
    size_t n_values;
    double *value; /* [n_values] owned */
    dls_map *map;
    size_t n_maps, cap_maps;
    int32_t n_convs; /* of the base */
    bool own;        /* one more convolution, the setting's: conv_layers.2 */
    int32_t *conv;   /* [n_convs + own] first map of each, the others behind it: dls_arch_conv_map */
    int32_t gru;     /* first of two maps, input and hidden; -1 */
    int32_t lstm;    /* first of two, h and the read vector; -1 */
    int32_t attention, mlp;
    int32_t condition; /* of the MLP's first layer; -1 */
} dls_trainee;

/* The network of an inspector, ready to be tuned: parameters are copied from setting_idx (or from
 * the base where the setting has none). EINPUT: reference behaviour is not trained
 * (docs/training.md); a tuning that needs repeated layers where there are none. */
dls_status dls_trainee_create(const dls_inspector *insp, int32_t setting_idx, dls_tune tune,
                              dls_trainee **out, dls_error *err) DLS_MUST_CHECK;
void dls_trainee_destroy(dls_trainee *net); /* NULL-safe */
DLS_OWNER(dls_trainee, dls_trainee_destroy)

/* Values, rounded to float32: what was trained of the base into the inspector's base (setting
 * NULL), or the MLP and the own convolution into the setting of that name, made if missing. EINPUT
 * if a value is not finite: nothing is changed then. */
dls_status dls_trainee_store(const dls_trainee *net, dls_inspector *insp, const char *setting,
                             dls_error *err) DLS_MUST_CHECK;

/* The first layer whose convolution or GRU is trained, of n_layers; n_layers if none is. Layers
 * before it are the same in every epoch. */
int32_t dls_trainee_frozen_layers(const dls_trainee *net, int32_t n_layers);
/* Index into conv of the convolution that layer `layer` of n_layers uses. */
int32_t dls_trainee_conv_of(const dls_trainee *net, int32_t layer, int32_t n_layers);

#ifdef __cplusplus
}
#endif
#endif
