/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * noisy: the truth times exp(sigma z), z standard normal, one draw for each (kind, GPU type, gang,
 * nodes, racks) and seed: a predictor with an error of known size, always the same for the same
 * question. All times of the profile stretch alike; amounts per burst stay.
 */
#include "base/alloc.h"
#include "base/fnv.h"
#include "base/own.h"
#include "base/rng.h"
#include "dlsim/predictor.h"
#include "predictor/sources/predictions.h"

#include <math.h>

typedef struct noisy {
    void *oracle;
    const dls_kinds *kinds;
    const dls_cluster_spec *cluster;
    uint64_t seed;
    double sigma;
} noisy;

extern const dls_prediction_source dls_prediction_source_oracle;

static void noisy_close(void *state)
{
    noisy *s = state;
    dls_prediction_source_oracle.close(s->oracle);
    dls_free(s);
}

static dls_status noisy_open(const dls_prediction_params *p, const dls_kinds *kinds, void **state,
                             dls_error *err)
{
    DLS_FREED noisy *s = NULL;
    DLS_TRY(dls_alloc_array(&s, 1, sizeof *s, "noisy predictor", err));
    *s = (noisy){.kinds = kinds, .cluster = p->cluster, .seed = p->seed, .sigma = p->sigma};
    DLS_TRY(dls_prediction_source_oracle.open(p, kinds, &s->oracle, err));
    *state = dls_take(&s);
    return DLS_OK;
}

/* Over names, so that the draw does not depend on which other kinds and GPUs a run has. */
static uint64_t hash_text(uint64_t h, const char *text)
{
    return dls_fnv_byte(dls_fnv_text(h, text), 0xff);
}

static double error_of(const noisy *s, const dls_predictions_ask *ask)
{
    const dls_kind *kind = &s->kinds->kind[ask->kind];
    uint64_t h = hash_text(DLS_FNV_START, kind->model);
    h = dls_mix64(hash_text(h, s->cluster->types[ask->shape.type].name) + (uint64_t)kind->batch);
    h = dls_mix64(h ^ ((uint64_t)ask->shape.gpus << 40 | (uint64_t)ask->shape.n_nodes << 16 |
                       (uint64_t)ask->shape.n_racks));
    dls_rng rng = dls_rng_stream(s->seed, DLS_RNG_PREDICTOR, h);
    const double radius = sqrt(-2 * log(1 - dls_rng_unit(&rng))); /* Box and Muller */
    return exp(s->sigma * radius * cos(6.283185307179586 * dls_rng_unit(&rng)));
}

static dls_status noisy_answer(void *state, const dls_predictions_ask *ask, size_t n,
                               dls_prediction *out, dls_error *err)
{
    static const int times[] = {DLS_GPU_MEM_IDLE, DLS_GPU_MEM_ACTIVE, DLS_GPU_IDLE,
                                DLS_GPU_ACTIVE,   DLS_NET_RX_IDLE,    DLS_NET_RX_ACTIVE,
                                DLS_NET_TX_IDLE,  DLS_NET_TX_ACTIVE};
    const noisy *s = state;
    DLS_TRY(dls_prediction_source_oracle.answer(s->oracle, ask, n, out, err));
    for (size_t i = 0; i < n; i++) {
        const double by = error_of(s, &ask[i]);
        out[i].iteration_s *= by;
        for (size_t k = 0; k < sizeof times / sizeof times[0]; k++) {
            out[i].metric[times[k]] *= by;
        }
    }
    return DLS_OK;
}

static dls_status noisy_knows(void *state, const dls_predictions_ask *ask, bool *known,
                              dls_error *err)
{
    return dls_prediction_source_oracle.knows(((noisy *)state)->oracle, ask, known, err);
}

const dls_prediction_source dls_prediction_source_noisy = {
    .name = "noisy",
    .summary = "the oracle times a seeded log-normal error (predictor.sigma)",
    .open = noisy_open,
    .close = noisy_close,
    .answer = noisy_answer,
    .knows = noisy_knows,
};
