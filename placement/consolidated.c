/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * consolidated: the fewest nodes; among those the tightest; then few racks, greedily (fit.c). It never
 * refuses what fits.
 */
#include "placement/fit.h"

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    return dls_fit_consolidated(index, r, grant);
}

const dls_placement_ops dls_placement_ops_consolidated = {
    .abi = DLS_POLICY_ABI,
    .name = "consolidated",
    .summary = "fewest nodes, tightest fit, fewest racks; never refuses what fits",
    .place = place,
};
