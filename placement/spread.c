/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * spread: one GPU on each of as many nodes as possible, the emptiest first; when every node with
 * room has given one, a second round. Balances the load of nodes, maximises communication.
 */
#include "placement/fit.h"

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    int32_t left = r->gpus, given = 1;
    for (int32_t round = 0; left > 0 && given > 0; round++) {
        given = 0;
        for (int32_t f = most; f > round && left > 0; f--) {
            for (int32_t node = dls_fit_exactly(index, r, f, 0); left > 0 && node >= 0;
                 node = dls_fit_exactly(index, r, f, node + 1)) {
                if (dls_place_cpu_limit(index, r, node) > round) {
                    dls_grant_add(grant, node, 1);
                    given++;
                    left--;
                }
            }
        }
    }
    return left == 0;
}

const dls_placement_ops dls_placement_ops_spread = {
    .abi = DLS_POLICY_ABI,
    .name = "spread",
    .summary = "one GPU a node, the emptiest nodes first",
    .place = place,
};
