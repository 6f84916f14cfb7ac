/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * SHA-256 (FIPS 180-4), for naming input files in the results. No heap, no failure.
 */
#ifndef DLS_BASE_SHA256_H
#define DLS_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define DLS_SHA256_HEX 65 /* 64 digits and the terminator */

typedef struct dls_sha256 {
    uint32_t state[8];
    uint64_t n_bytes;
    unsigned char block[64]; /* the bytes that do not fill a block yet */
} dls_sha256;

void dls_sha256_init(dls_sha256 *sha);
/* May be called any number of times; O(n). */
void dls_sha256_update(dls_sha256 *sha, const void *data, size_t n);
/* Lower-case hexadecimal digest; sha must be initialised again before reuse. */
void dls_sha256_final(dls_sha256 *sha, char hex[DLS_SHA256_HEX]);
/* The three steps at once. */
void dls_sha256_hex(const void *data, size_t n, char hex[DLS_SHA256_HEX]);

#endif
