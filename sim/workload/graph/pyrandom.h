/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The random numbers of Python's random.Random(seed): MT19937 (Matsumoto and Nishimura, 1998)
 * seeded by init_by_array, integers below n by rejection on the leading bits. Only for what must
 * equal Driple's grouping draw by draw; everything else draws from base/rng.h.
 */
#ifndef DLS_GRAPH_PYRANDOM_H
#define DLS_GRAPH_PYRANDOM_H

#include <stdint.h>

#define DLS_PYRANDOM_WORDS 624

typedef struct dls_pyrandom {
    uint32_t state[DLS_PYRANDOM_WORDS];
    uint32_t next; /* words of the state already given out */
} dls_pyrandom;

void dls_pyrandom_seed(dls_pyrandom *r, uint64_t seed);
uint32_t dls_pyrandom_u32(dls_pyrandom *r);
/* Uniform in 0..n-1; n = 1 draws words, too, as Python does. 0 < n < 2^32. */
uint32_t dls_pyrandom_below(dls_pyrandom *r, uint32_t n);
/* random.shuffle */
void dls_pyrandom_shuffle(dls_pyrandom *r, int32_t *x, int32_t n);

#endif
