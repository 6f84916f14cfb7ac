/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Mersenne Twister (MT19937) seeded and sampled as CPython's random.Random, for results that must
 * equal Driple's.
 */
#include "workload/graph/pyrandom.h"

#define N DLS_PYRANDOM_WORDS
#define M 397

static void init(dls_pyrandom *r, uint32_t s)
{
    r->state[0] = s;
    for (uint32_t i = 1; i < N; i++) {
        const uint32_t last = r->state[i - 1];
        r->state[i] = UINT32_C(1812433253) * (last ^ (last >> 30)) + i;
    }
    r->next = N;
}

void dls_pyrandom_seed(dls_pyrandom *r, uint64_t seed)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t len = key[1] ? 2 : 1;
    uint32_t *s = r->state;
    init(r, UINT32_C(19650218));
    uint32_t i = 1;
    for (uint32_t step = 0; step < N; step++) {
        const uint32_t j = step % len;
        s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * UINT32_C(1664525))) + key[j] + j;
        if (++i == N) {
            s[0] = s[N - 1];
            i = 1;
        }
    }
    for (uint32_t step = 0; step < N - 1; step++) {
        s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * UINT32_C(1566083941))) - i;
        if (++i == N) {
            s[0] = s[N - 1];
            i = 1;
        }
    }
    s[0] = UINT32_C(0x80000000);
}

static uint32_t twist(uint32_t high, uint32_t low, uint32_t far)
{
    const uint32_t y = (high & UINT32_C(0x80000000)) | (low & UINT32_C(0x7fffffff));
    return far ^ (y >> 1) ^ (y & 1 ? UINT32_C(0x9908b0df) : 0);
}

static void refill(dls_pyrandom *r)
{
    uint32_t *s = r->state;
    uint32_t i = 0;
    for (; i < N - M; i++) {
        s[i] = twist(s[i], s[i + 1], s[i + M]);
    }
    for (; i < N - 1; i++) {
        s[i] = twist(s[i], s[i + 1], s[i + M - N]);
    }
    s[N - 1] = twist(s[N - 1], s[0], s[M - 1]);
    r->next = 0;
}

uint32_t dls_pyrandom_u32(dls_pyrandom *r)
{
    if (r->next == N) {
        refill(r);
    }
    uint32_t y = r->state[r->next++];
    y ^= y >> 11;
    y ^= (y << 7) & UINT32_C(0x9d2c5680);
    y ^= (y << 15) & UINT32_C(0xefc60000);
    return y ^ (y >> 18);
}

uint32_t dls_pyrandom_below(dls_pyrandom *r, uint32_t n)
{
    const int shift = __builtin_clz(n);
    uint32_t value;
    do {
        value = dls_pyrandom_u32(r) >> shift;
    } while (value >= n);
    return value;
}

void dls_pyrandom_shuffle(dls_pyrandom *r, int32_t *x, int32_t n)
{
    for (int32_t i = n - 1; i >= 1; i--) {
        const uint32_t j = dls_pyrandom_below(r, (uint32_t)i + 1);
        const int32_t t = x[i];
        x[i] = x[j];
        x[j] = t;
    }
}
