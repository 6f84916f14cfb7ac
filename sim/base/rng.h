/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random streams: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011), a counter-based generator. A stream is named by (seed, purpose, entity), so
 * two policies that replay the same trace see the same noise for the same job whatever the order
 * in which they ask. No state is shared between streams; a stream belongs to one thread.
 */
#ifndef DLS_BASE_RNG_H
#define DLS_BASE_RNG_H

#include "dlsim/random.h"

/* What a stream is for. Append only: a number that changes changes every result. */
typedef enum dls_rng_purpose {
    DLS_RNG_TEST = 0,
    DLS_RNG_PLACEMENT = 1,  /* entity: job index */
    DLS_RNG_ARRIVALS = 2,   /* trace generator */
    DLS_RNG_JOB = 3,        /* trace generator, entity: job index */
    DLS_RNG_ASSIGN = 4,     /* workload_assign, entity: job index */
    DLS_RNG_PERF = 5,       /* residuals of sim/world */
    DLS_RNG_PREDICTOR = 6,  /* noise of predictors */
    DLS_RNG_FAILURE = 7,    /* entity: node index */
    DLS_RNG_TRAIN = 8,      /* shuffling and dropout */
    DLS_RNG_INIT = 9,       /* initial weights */
    DLS_RNG_SWEEP = 10,     /* Latin hypercubes, entity: dimension */
    DLS_RNG_RESAMPLE = 11,  /* rearranged and resampled measurements */
    DLS_RNG_GPU = 12        /* speeds of single GPUs, entity: GPU index */
} dls_rng_purpose;

/* The block function itself: 128 random bits of (counter, key). */
void dls_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

dls_rng dls_rng_stream(uint64_t seed, dls_rng_purpose purpose, uint64_t entity);
/* Standard normal (Box and Muller's cosine); takes two of the stream's uniforms. */
double dls_rng_normal(dls_rng *rng);
/* A good 64-bit mixing function (Stafford's variant 13, as in SplitMix64). */
static inline uint64_t dls_mix64(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

#endif
