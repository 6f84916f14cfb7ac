/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * count: GPUs are a number. Whatever is free is taken, lowest node first, CPU and memory ignored:
 * what a simulator without placement does, with an answer to "where" for the record.
 */
#include "dlsim/policy.h"

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    int32_t left = r->gpus;
    for (int32_t node = dls_place_first(index, r, 1, most, 0); left > 0 && node >= 0;
         node = dls_place_first(index, r, 1, most, node + 1)) {
        const int32_t free_gpus = dls_place_free(index, node);
        const int32_t take = free_gpus < left ? free_gpus : left;
        dls_grant_add(grant, node, take);
        left -= take;
    }
    return left == 0;
}

const dls_placement_ops dls_placement_ops_count = {
    .abi = DLS_POLICY_ABI,
    .name = "count",
    .summary = "count GPUs, ignore where they are, and CPU and memory",
    .gpus_only = true,
    .place = place,
};
