/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Philox4x32-10, the stream constructor that hashes (seed, purpose, entity), and normal numbers by
 * Box and Muller.
 */
#include "base/rng.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

void dls_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c0;
        const uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

double dls_rng_normal(dls_rng *rng)
{
    const double tau = 6.28318530717958647692;
    const double u = 1 - dls_rng_unit(rng); /* in (0, 1] */
    return sqrt(-2 * log(u)) * cos(tau * dls_rng_unit(rng));
}

dls_rng dls_rng_stream(uint64_t seed, dls_rng_purpose purpose, uint64_t entity)
{
    /* The key names the stream; the entity sits in the upper half of the counter, so streams of
     * one key cannot overlap before 2^64 blocks. */
    const uint64_t key = dls_mix64(seed ^ dls_mix64((uint64_t)purpose));
    dls_rng rng;
    memset(&rng, 0, sizeof rng);
    rng.key[0] = (uint32_t)key;
    rng.key[1] = (uint32_t)(key >> 32);
    rng.counter[2] = (uint32_t)entity;
    rng.counter[3] = (uint32_t)(entity >> 32);
    return rng;
}

uint32_t dls_rng_u32(dls_rng *rng)
{
    if (rng->left == 0) {
        dls_philox4x32(rng->counter, rng->key, rng->block);
        if (++rng->counter[0] == 0) {
            ++rng->counter[1];
        }
        rng->left = 4;
    }
    return rng->block[4 - rng->left--];
}

uint64_t dls_rng_u64(dls_rng *rng)
{
    const uint64_t high = dls_rng_u32(rng);
    return high << 32 | dls_rng_u32(rng);
}

double dls_rng_unit(dls_rng *rng)
{
    return (double)(dls_rng_u64(rng) >> 11) * 0x1.0p-53;
}

uint64_t dls_rng_below(dls_rng *rng, uint64_t n)
{
    DLS_DEBUG_ASSERT(n > 0);
    const uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    uint64_t x;
    do {
        x = dls_rng_u64(rng);
    } while (x >= limit);
    return x % n;
}
