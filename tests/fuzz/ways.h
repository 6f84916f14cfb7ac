/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inputs that can be read in several ways: replayed, each is read in all; while fuzzing in one,
 * which its bytes choose, so that no execution repeats what fails alike in every way.
 */
#ifndef DLS_FUZZ_WAYS_H
#define DLS_FUZZ_WAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Is the input read in this way, of n? */
static inline bool read_in_way(size_t way, size_t n, const uint8_t *data, size_t size)
{
#ifdef DLS_FUZZING
    uint64_t hash = size, word = 0;
    for (size_t i = 0; i < size; i += sizeof word) {
        memcpy(&word, data + i, size - i < sizeof word ? size - i : sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return (hash >> 32) % n == way;
#else
    (void)way, (void)n, (void)data, (void)size;
    return true;
#endif
}

#endif
