/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Radix sort, bytes from the lowest on; digits in which all keys agree cost one look.
 */
#include "dlsim/memory.h"

dls_keyed *dls_radix_sort(dls_keyed *a, dls_keyed *spare, size_t n)
{
    uint32_t count[8][256] = {{0}};
    for (size_t i = 0; i < n; i++) {
        for (int d = 0; d < 8; d++) {
            count[d][a[i].key >> (8 * d) & 0xFF]++;
        }
    }
    for (int d = 0; d < 8 && n > 0; d++) {
        if (count[d][a[0].key >> (8 * d) & 0xFF] == n) {
            continue;
        }
        uint32_t at = 0;
        for (int v = 0; v < 256; v++) {
            const uint32_t here = count[d][v];
            count[d][v] = at;
            at += here;
        }
        for (size_t i = 0; i < n; i++) {
            spare[count[d][a[i].key >> (8 * d) & 0xFF]++] = a[i];
        }
        dls_keyed *const sorted = spare;
        spare = a;
        a = sorted;
    }
    return a;
}
