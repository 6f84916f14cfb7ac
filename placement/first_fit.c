/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * first-fit: the first node with room for the whole gang; if there is none, whatever is free from
 * the first node on.
 */
#include "dlsim/policy.h"

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    const int32_t whole = r->gpus <= most ? dls_place_first(index, r, r->gpus, most, 0) : -1;
    if (whole >= 0) {
        dls_grant_add(grant, whole, r->gpus);
        return true;
    }
    int32_t left = r->gpus;
    for (int32_t node = dls_place_first(index, r, 1, most, 0); left > 0 && node >= 0;
         node = dls_place_first(index, r, 1, most, node + 1)) {
        const int32_t room = dls_place_cpu_limit(index, r, node);
        const int32_t take = room < left ? room : left;
        dls_grant_add(grant, node, take);
        left -= take;
    }
    return left == 0;
}

const dls_placement_ops dls_placement_ops_first_fit = {
    .abi = DLS_POLICY_ABI,
    .name = "first-fit",
    .summary = "the first node with room for the gang, else the first free GPUs",
    .place = place,
};
