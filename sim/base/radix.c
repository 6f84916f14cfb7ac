/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Radix sort, bytes from the lowest on, of the bits in which keys differ.
 */
#include "dlsim/memory.h"

dls_keyed *dls_radix_sort(dls_keyed *a, dls_keyed *spare, size_t n)
{
    uint64_t differ = 0;
    for (size_t i = 0; i < n; i++) {
        differ |= a[i].key ^ a[0].key;
    }
    while (differ) {
        const int shift = __builtin_ctzll(differ);
        uint32_t count[256] = {0}, at = 0;
        for (size_t i = 0; i < n; i++) {
            count[a[i].key >> shift & 0xFF]++;
        }
        for (int v = 0; v < 256; v++) {
            const uint32_t here = count[v];
            count[v] = at;
            at += here;
        }
        for (size_t i = 0; i < n; i++) {
            spare[count[a[i].key >> shift & 0xFF]++] = a[i];
        }
        dls_keyed *const sorted = spare;
        spare = a;
        a = sorted;
        differ &= ~(UINT64_C(0xFF) << shift);
    }
    return a;
}
