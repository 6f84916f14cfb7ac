/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Seeded orders: the same for the same (seed, round), whatever was drawn before, so that a training
 * that resumes goes on as if it had not stopped.
 */
#ifndef DLS_TRAINING_SHUFFLE_H
#define DLS_TRAINING_SHUFFLE_H

#include "base/rng.h"

#include <stddef.h>

/* order[n] becomes a permutation of 0..n-1 (Fisher, Yates). */
static inline void dls_shuffle(size_t *order, size_t n, uint64_t seed, uint64_t round)
{
    dls_rng rng = dls_rng_stream(seed, DLS_RNG_TRAIN, round);
    for (size_t i = 0; i < n; i++) {
        const size_t j = (size_t)dls_rng_below(&rng, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

#endif
