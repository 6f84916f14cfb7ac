/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * crandom: consolidated pieces in random places. The gang is cut into whole nodes and a remainder;
 * each piece goes to a node drawn among those with room for it. What finds none is gathered GPU by GPU, from a
 * node that is drawn on.
 */
#include "placement/fit.h"

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    dls_rng rng = dls_place_random(r);
    int32_t left = r->gpus;
    while (left > 0) {
        const int32_t piece = left < most ? left : most;
        const int32_t node = dls_fit_draw(index, r, grant, piece, &rng);
        if (node < 0) {
            break;
        }
        dls_grant_add(grant, node, piece);
        left -= piece;
    }
    if (left == 0) {
        return true;
    }
    const int32_t start = dls_fit_draw(index, r, grant, 1, &rng);
    left = start < 0 ? left : dls_fit_gather(index, r, grant, left, start, dls_place_nodes(index));
    return dls_fit_gather(index, r, grant, left, 0, start) == 0;
}

const dls_placement_ops dls_placement_ops_crandom = {
    .abi = DLS_POLICY_ABI,
    .name = "crandom",
    .summary = "whole nodes and a remainder, each in a random place",
    .place = place,
};
