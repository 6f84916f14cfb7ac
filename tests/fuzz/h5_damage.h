/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Damage to good HDF5 files: for fuzzers whose input is a list of edits, five bytes each: 24 bits
 * of where (modulo the length), how, what.
 */
#ifndef DLS_FUZZ_H5_DAMAGE_H
#define DLS_FUZZ_H5_DAMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Damage makes the HDF5 library ask for more memory than there is. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

typedef struct bytes {
    unsigned char *at;
    size_t n;
} bytes;

static void must(bool ok)
{
    if (!ok) {
        abort();
    }
}

static bytes slurp(const char *name)
{
    FILE *f = fopen(name, "rb");
    must(f && fseek(f, 0, SEEK_END) == 0);
    const long n = ftell(f);
    rewind(f);
    bytes out = {malloc((size_t)n), (size_t)n};
    must(out.at && fread(out.at, 1, out.n, f) == out.n);
    fclose(f);
    return out;
}

/* `good` with the edits, under path. */
static void write_damaged(const char *path, const bytes *good, const uint8_t *edits, size_t size)
{
    size_t n = good->n;
    unsigned char *damaged = malloc(n);
    must(damaged);
    memcpy(damaged, good->at, n);
    for (size_t i = 0; i + 5 <= size; i += 5) {
        const size_t where =
            (edits[i] | (size_t)edits[i + 1] << 8 | (size_t)edits[i + 2] << 16) % n;
        const uint8_t what = edits[i + 4];
        switch (edits[i + 3] % 4) {
        case 0:
            damaged[where] ^= what;
            break;
        case 1:
            damaged[where] = what;
            break;
        case 2: /* a run of one value, as a NaN or an empty name */
            memset(damaged + where, what, n - where < 8 ? n - where : 8);
            break;
        default: /* the end is missing */
            n = where + 1;
            break;
        }
    }
    /* Not the version of how a dataset lies (3, then its class): of 1 and 2 HDF5 1.10.8 divides by
     * what they say of chunks, which is not for its user to mend. */
    for (size_t i = 0; i + 1 < n; i++) {
        if (good->at[i] == 3 && good->at[i + 1] <= 2 && (damaged[i] == 1 || damaged[i] == 2)) {
            damaged[i] = 3;
        }
    }
    FILE *f = fopen(path, "wb");
    must(f && fwrite(damaged, 1, n, f) == n && fclose(f) == 0);
    free(damaged);
}

#endif
