/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random training graphs: models that nobody published, drawn from designs that everybody uses.
 * They cover the space in which an inspector is asked, where the zoo has a few points of it.
 *
 * A model is named by a seed and a number; sizes are drawn mostly evenly on a logarithmic scale:
 *
 *      plain        convolutions and pooling, with or without batch norm, dense layers behind
 *      residual     basic or bottleneck blocks
 *      dense        every layer's output beside its input
 *      separable    depthwise and pointwise convolutions, expanded or not, with squeeze and excite
 *      inception    parallel branches of different kernels
 *      mlp          dense layers
 *      recurrent    LSTM or GRU: classifier, language model, or translation with attention
 *      transformer  encoder, decoder or both; norm first or last; gated or not; tied or not
 *      recommender  tables of 3 to some ten million rows, dot products or concatenation, two MLPs
 */
#ifndef DLS_GRAPH_RANDOM_MODEL_H
#define DLS_GRAPH_RANDOM_MODEL_H

#include "base/rng.h"
#include "workload/graph/net.h"

/* XX(id, text, weight): how often a kind is drawn, of their sum */
#define DLS_RANDOM_KIND_MAP(XX)                                                                    \
    XX(PLAIN, "plain", 2)                                                                          \
    XX(RESIDUAL, "residual", 3)                                                                    \
    XX(DENSE, "dense", 2)                                                                          \
    XX(SEPARABLE, "separable", 2)                                                                  \
    XX(INCEPTION, "inception", 2)                                                                  \
    XX(MLP, "mlp", 1)                                                                              \
    XX(RECURRENT, "recurrent", 2)                                                                  \
    XX(TRANSFORMER, "transformer", 5)                                                              \
    XX(RECOMMENDER, "recommender", 3)

typedef enum dls_random_kind {
#define XX(id, text, weight) DLS_RANDOM_##id,
    DLS_RANDOM_KIND_MAP(XX)
#undef XX
        DLS_RANDOM_KINDS
} dls_random_kind;

typedef struct dls_random_model {
    dls_random_kind kind;
    uint64_t seed, number;
    int32_t batch, sequence; /* as drawn; sequence 0: not a sequence */
    dls_numeric numeric;     /* fp32 or fp16 */
    dls_optimiser optimiser;
} dls_random_model;

/* "plain", ...; NULL out of range */
const char *dls_random_kind_name(int kind);

/* The model of a seed that a graph of this name was built from; false: no such name. */
bool dls_random_model_named(uint64_t seed, const char *name, dls_random_model *out);

/* What can be chosen without changing the design. Depends on seed and number alone. */
dls_random_model dls_random_model_draw(uint64_t seed, uint64_t number);
/* Its graph, called "random-<kind>-<number>"; batch, sequence, precision and optimiser are taken
 * from m, everything else is drawn from (seed, number) again. Errors: EINPUT, ENOMEM. */
dls_status dls_random_model_build(const dls_random_model *m, dls_opgraph **out,
                                  dls_error *err) DLS_MUST_CHECK;

/* ---- for the designs ------------------------------------------------------------------------- */

/* Even in least..most. */
int32_t dls_random_between(dls_rng *rng, int32_t least, int32_t most);
/* Even in its logarithm, a multiple of step (which divides least). */
int32_t dls_random_spread(dls_rng *rng, int32_t least, int32_t most, int32_t step);
bool dls_random_chance(dls_rng *rng, double p);

typedef void dls_random_design(dls_net *net, dls_rng *rng);
dls_random_design dls_random_plain, dls_random_residual, dls_random_dense, dls_random_separable,
    dls_random_inception, dls_random_mlp, dls_random_recurrent, dls_random_transformer,
    dls_random_recommender;

#endif
