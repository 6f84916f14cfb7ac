/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * SHA-256 (FIPS 180-4): compression with rotating roles of the eight variables, or by the processor's
 * instructions where it has them; padding, hexadecimal output.
 */
#include "base/sha256.h"

#include "base/assert.h"

#include <stdbool.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>
#endif

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t round_key[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* One round. The eight variables keep their names and change their roles instead: see compress. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                           \
    do {                                                                                           \
        const uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + (g ^ (e & (f ^ g))) +   \
                            round_key[i] + w[i];                                                   \
        d += t1;                                                                                   \
        h = t1 + (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) | (c & (a | b)));             \
    } while (0)

static void compress(uint32_t state[8], const unsigned char *p)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++, p += 4) {
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    }
    for (int i = 16; i < 64; i++) {
        const uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i += 8) {
        ROUND(a, b, c, d, e, f, g, h, i);
        ROUND(h, a, b, c, d, e, f, g, i + 1);
        ROUND(g, h, a, b, c, d, e, f, i + 2);
        ROUND(f, g, h, a, b, c, d, e, i + 3);
        ROUND(e, f, g, h, a, b, c, d, i + 4);
        ROUND(d, e, f, g, h, a, b, c, i + 5);
        ROUND(c, d, e, f, g, h, a, b, i + 6);
        ROUND(b, c, d, e, f, g, h, a, i + 7);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

#ifdef __x86_64__
enum { MANY = 8 /* blocks for which it pays to ask what the processor can */ };

static bool has_instructions(void)
{
    static atomic_int known; /* 0: not asked yet, 1: no, 2: yes */
    if (known == 0) {
        unsigned a, b, c, d;
        const bool has = __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("ssse3") &&
                         __get_cpuid_count(7, 0, &a, &b, &c, &d) && b >> 29 & 1;
        known = 1 + has;
    }
    return known == 2;
}

/* The same compression of n blocks. The instructions want the state as ABEF and CDGH. */
__attribute__((target("sha,sse4.1,ssse3"))) static void
compress_by_instructions(uint32_t state[8], const unsigned char *p, size_t n)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; n > 0; n--, p += 64) {
        const __m128i abef_was = abef, cdgh_was = cdgh;
        __m128i w[4];
        for (int i = 0; i < 4; i++) {
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 16 * i)), swap);
        }
        for (int i = 0; i < 64; i += 4) {
            const __m128i wk =
                _mm_add_epi32(w[0], _mm_loadu_si128((const __m128i *)(round_key + i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
            const __m128i part = _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]),
                                               _mm_alignr_epi8(w[3], w[2], 4));
            w[0] = w[1];
            w[1] = w[2];
            w[2] = w[3];
            w[3] = _mm_sha256msg2_epu32(part, w[3]); /* of the last rounds nobody asks */
        }
        abef = _mm_add_epi32(abef, abef_was);
        cdgh = _mm_add_epi32(cdgh, cdgh_was);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#endif

static void compress_all(uint32_t state[8], const unsigned char *p, size_t n)
{
#ifdef __x86_64__
    if (n >= MANY && has_instructions()) {
        compress_by_instructions(state, p, n);
        return;
    }
#endif
    for (; n > 0; n--, p += 64) {
        compress(state, p);
    }
}

void dls_sha256_init(dls_sha256 *sha)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, start, sizeof start);
    sha->n_bytes = 0;
}

void dls_sha256_update(dls_sha256 *sha, const void *data, size_t n)
{
    DLS_DEBUG_ASSERT(data || n == 0);
    const unsigned char *p = data;
    const size_t held = (size_t)(sha->n_bytes % 64);
    sha->n_bytes += n;
    if (held) {
        const size_t take = n < 64 - held ? n : 64 - held;
        memcpy(sha->block + held, p, take);
        if (held + take < 64) {
            return;
        }
        compress(sha->state, sha->block);
        p += take;
        n -= take;
    }
    compress_all(sha->state, p, n / 64);
    if (n % 64) {
        memcpy(sha->block, p + n / 64 * 64, n % 64);
    }
}

void dls_sha256_final(dls_sha256 *sha, char hex[DLS_SHA256_HEX])
{
    static const char digit[] = "0123456789abcdef";
    const uint64_t n_bits = sha->n_bytes * 8;
    unsigned char tail[72] = {0x80};
    const size_t held = (size_t)(sha->n_bytes % 64);
    const size_t pad = held < 56 ? 56 - held : 120 - held;
    for (int i = 0; i < 8; i++) {
        tail[pad + (size_t)i] = (unsigned char)(n_bits >> (56 - 8 * i));
    }
    dls_sha256_update(sha, tail, pad + 8);
    for (int i = 0; i < 64; i++) {
        hex[i] = digit[sha->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    }
    hex[64] = '\0';
}

void dls_sha256_hex(const void *data, size_t n, char hex[DLS_SHA256_HEX])
{
    dls_sha256 sha;
    dls_sha256_init(&sha);
    dls_sha256_update(&sha, data, n);
    dls_sha256_final(&sha, hex);
}
