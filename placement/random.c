/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * random: every GPU of the gang on a node drawn for itself: a uniform place in the cluster, then
 * the next node with room. The stream belongs to (seed, job, attempt), so two schedulers that place
 * the same job in the same cluster draw the same.
 */
#include "dlsim/policy.h"

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    const int32_t n = dls_place_nodes(index);
    dls_rng rng = dls_place_random(r);
    for (int32_t left = r->gpus; left > 0; left--) {
        const int32_t start = (int32_t)dls_rng_below(&rng, (uint64_t)n);
        int32_t node = dls_place_first(index, r, 1, most, start);
        bool wrapped = false;
        for (;;) {
            if (node < 0) {
                if (wrapped) {
                    return false;
                }
                wrapped = true;
                node = dls_place_first(index, r, 1, most, 0);
                continue;
            }
            const int32_t taken = dls_place_free(index, node) - dls_grant_left(grant, index, node);
            if (dls_place_cpu_limit(index, r, node) > taken) {
                break;
            }
            node = dls_place_first(index, r, 1, most, node + 1);
        }
        dls_grant_add(grant, node, 1);
    }
    return true;
}

const dls_placement_ops dls_placement_ops_random = {
    .abi = DLS_POLICY_ABI,
    .name = "random",
    .summary = "every GPU on a node drawn at random",
    .place = place,
};
