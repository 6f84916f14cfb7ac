/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * random: every GPU of the gang on a node drawn for itself among those with room. The stream belongs to
 * (seed, job, attempt), so two schedulers that place the same job in the same cluster draw the same.
 */
#include "placement/fit.h"

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    dls_rng rng = dls_place_random(r);
    for (int32_t left = r->gpus; left > 0; left--) {
        const int32_t node = dls_fit_draw(index, r, grant, 1, &rng);
        if (node < 0) {
            return false;
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
