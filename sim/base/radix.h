/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A stable sort by 64-bit keys: jobs by submission, by clock, by a column of results.
 */
#ifndef DLS_BASE_RADIX_H
#define DLS_BASE_RADIX_H

#include <stddef.h>
#include <stdint.h>

typedef struct dls_keyed {
    uint64_t key;
    uint32_t value; /* what the key belongs to */
} dls_keyed;

/* Sorts a [n] by key, equal keys as they are; returns a or spare [n], where the result lies. O(n)
 * for each of the eight digits in which the keys differ. n: at most UINT32_MAX. */
dls_keyed *dls_radix_sort(dls_keyed *a, dls_keyed *spare, size_t n);

#endif
