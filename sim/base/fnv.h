/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * FNV-1a in 64 bits, for checksums and keys that outlast a run: files and drawn numbers follow from
 * it, so it must stay as it is.
 */
#ifndef DLS_BASE_FNV_H
#define DLS_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DLS_FNV_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t dls_fnv_byte(uint64_t h, unsigned char byte)
{
    return (h ^ byte) * UINT64_C(0x100000001b3);
}

/* h: DLS_FNV_START, or what came of the bytes before. */
static inline uint64_t dls_fnv(uint64_t h, const void *bytes, size_t n)
{
    for (const unsigned char *p = bytes; n > 0; n--) {
        h = dls_fnv_byte(h, *p++);
    }
    return h;
}

static inline uint64_t dls_fnv_text(uint64_t h, const char *text)
{
    return dls_fnv(h, text, strlen(text));
}

#endif
