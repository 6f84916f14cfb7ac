/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Draws random models by seed and number: the kind of design, its options, and the call of the
 * design's builder.
 */
#include "workload/graph/random_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Streams of DLS_RNG_PREDICTOR, far from those of the zoo's variants: of each model one for its
 * options and one for its design, so that another batch is the same model. */
#define STREAM_OPTIONS ((uint64_t)1 << 40)
#define STREAM_DESIGN ((uint64_t)1 << 41)

static const struct {
    const char *name;
    uint64_t weight;
} kinds[DLS_RANDOM_KINDS] = {
#define XX(id, text, weight) {text, weight},
    DLS_RANDOM_KIND_MAP(XX)
#undef XX
};

typedef struct design {
    dls_random_design *build;
    int32_t batch[2], sequence[2]; /* least and most */
    bool decay;
} design;

static const design designs[DLS_RANDOM_KINDS] = {
    [DLS_RANDOM_PLAIN] = {dls_random_plain, {4, 1024}, {0, 0}, true},
    [DLS_RANDOM_RESIDUAL] = {dls_random_residual, {4, 1024}, {0, 0}, true},
    [DLS_RANDOM_DENSE] = {dls_random_dense, {4, 1024}, {0, 0}, true},
    [DLS_RANDOM_SEPARABLE] = {dls_random_separable, {4, 1024}, {0, 0}, true},
    [DLS_RANDOM_INCEPTION] = {dls_random_inception, {4, 1024}, {0, 0}, true},
    [DLS_RANDOM_MLP] = {dls_random_mlp, {16, 16384}, {0, 0}, false},
    [DLS_RANDOM_RECURRENT] = {dls_random_recurrent, {4, 1024}, {8, 256}, false},
    [DLS_RANDOM_TRANSFORMER] = {dls_random_transformer, {1, 512}, {16, 2048}, false},
    [DLS_RANDOM_RECOMMENDER] = {dls_random_recommender, {32, 65536}, {0, 0}, false},
};

#define PREFIX "random-"
#define NAME_SIZE sizeof((dls_opgraph_info){0}).model

static void name_of(const dls_random_model *m, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, PREFIX "%s-%llu", kinds[m->kind].name, (unsigned long long)m->number);
}

const char *dls_random_kind_name(int kind)
{
    return kind >= 0 && kind < DLS_RANDOM_KINDS ? kinds[kind].name : NULL;
}

int32_t dls_random_between(dls_rng *rng, int32_t least, int32_t most)
{
    return least + (int32_t)dls_rng_below(rng, (uint64_t)(most - least) + 1);
}

int32_t dls_random_spread(dls_rng *rng, int32_t least, int32_t most, int32_t step)
{
    const double value = least * pow((double)most / least, dls_rng_unit(rng));
    const int32_t n = (int32_t)(value / step) * step;
    return n < least ? least : n;
}

bool dls_random_chance(dls_rng *rng, double p)
{
    return dls_rng_unit(rng) < p;
}

static dls_random_kind draw_kind(dls_rng *rng)
{
    uint64_t all = 0;
    for (int k = 0; k < DLS_RANDOM_KINDS; k++) {
        all += kinds[k].weight;
    }
    uint64_t at = dls_rng_below(rng, all);
    int kind = 0;
    while (at >= kinds[kind].weight) {
        at -= kinds[kind++].weight;
    }
    return (dls_random_kind)kind;
}

dls_random_model dls_random_model_draw(uint64_t seed, uint64_t number)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_PREDICTOR, STREAM_OPTIONS + number);
    const dls_random_kind kind = draw_kind(&rng);
    const design *d = &designs[kind];
    dls_random_model m = {.kind = kind, .seed = seed, .number = number};
    m.batch = dls_random_spread(&rng, d->batch[0], d->batch[1], 1);
    m.numeric = dls_random_chance(&rng, 0.5) ? DLS_NUMERIC_FP16 : DLS_NUMERIC_FP32;
    m.optimiser = (dls_optimiser)dls_rng_below(&rng, DLS_OPTIMISER_COUNT);
    m.sequence = d->sequence[0] ? dls_random_spread(&rng, d->sequence[0], d->sequence[1], 1) : 0;
    return m;
}

bool dls_random_model_named(uint64_t seed, const char *name, dls_random_model *out)
{
    const char *digits = strrchr(name, '-');
    char *end = NULL;
    char expected[NAME_SIZE];
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || !digits) {
        return false;
    }
    *out = dls_random_model_draw(seed, strtoull(digits + 1, &end, 10));
    name_of(out, expected);
    return strcmp(name, expected) == 0;
}

dls_status dls_random_model_build(const dls_random_model *m, dls_opgraph **out, dls_error *err)
{
    dls_net *net;
    *out = NULL;
    dls_opgraph_info info = {.batch = m->batch,
                             .sequence = m->sequence,
                             .numeric = m->numeric,
                             .optimiser = m->optimiser};
    name_of(m, info.model);
    snprintf(info.dataset, sizeof info.dataset, "none");
    dls_rng rng = dls_rng_stream(m->seed, DLS_RNG_PREDICTOR, STREAM_DESIGN + m->number);
    DLS_TRY(dls_net_create(&info, designs[m->kind].decay, &net, err));
    designs[m->kind].build(net, &rng);
    const dls_status status = dls_net_finish(net, out, err);
    dls_net_destroy(net);
    return status;
}
