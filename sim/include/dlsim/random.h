/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Drawing from a random stream: Philox4x32-10, the same numbers on every machine. A stream is a
 * plain value that belongs to one thread; it owns nothing. Placements get theirs from
 * dls_place_random (dlsim/policy.h).
 *
 *      #include <dlsim/policy.h>
 *
 *      int32_t any_node(const dls_request *r, int32_t n_nodes)
 *      {
 *          dls_rng rng = dls_place_random(r);
 *          return (int32_t)dls_rng_below(&rng, (uint64_t)n_nodes);
 *      }
 */
#ifndef DLSIM_RANDOM_H
#define DLSIM_RANDOM_H

#include "dlsim/error.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dls_rng {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t block[4]; /* the last four outputs */
    uint32_t left;     /* how many of them are unread */
} dls_rng;

DLS_API uint32_t dls_rng_u32(dls_rng *rng);
DLS_API uint64_t dls_rng_u64(dls_rng *rng);
/* Uniform in [0, 1), 53 bits. */
DLS_API double dls_rng_unit(dls_rng *rng);
/* Uniform in 0..n-1 without bias (n > 0). */
DLS_API uint64_t dls_rng_below(dls_rng *rng, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
