/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which GPUs of a node a gang gets whose NVLink domains are less than the node.
 */
#include "cluster/index.h"

uint64_t dls_by_domain(uint64_t free_mask, int32_t gpus, int32_t domain)
{
    uint64_t taken = 0;
    const int32_t domains = DLS_GPUS_PER_NODE_MAX / domain;
    while (gpus > 0) {
        uint64_t best = 0;
        int32_t most = 0;
        for (int32_t d = 0; d < domains; d++) {
            const uint64_t here = free_mask & dls_lowest(UINT64_MAX, domain) << d * domain;
            const int32_t n = dls_gpus_of(here);
            if (most < gpus ? n > most : n >= gpus && n < most) {
                best = here;
                most = n;
            }
        }
        const int32_t n = most < gpus ? most : gpus;
        taken |= dls_lowest(best, n);
        free_mask &= ~taken;
        gpus -= n;
    }
    return taken;
}
