/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * crandom: consolidated pieces in random places. The gang is cut into whole nodes and a remainder;
 * each piece goes to the first node with room behind a random place. What finds no node with room
 * for the piece is gathered GPU by GPU from a random place on.
 */
#include "dlsim/policy.h"

/* A node with room for `need` more GPUs, from `start` on and around; -1: none. */
static int32_t probe(const dls_place_index *index, const dls_request *r, const dls_grant *grant,
                     int32_t need, int32_t start)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    const int32_t from[2] = {start, 0}, end[2] = {dls_place_nodes(index), start};
    for (int32_t half = 0; half < 2; half++) {
        for (int32_t node = dls_place_first(index, r, need, most, from[half]);
             node >= 0 && node < end[half];
             node = dls_place_first(index, r, need, most, node + 1)) {
            const int32_t taken = dls_place_free(index, node) - dls_grant_left(grant, index, node);
            if (dls_place_cpu_limit(index, r, node) - taken >= need) {
                return node;
            }
        }
    }
    return -1;
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const uint64_t n = (uint64_t)dls_place_nodes(index);
    const int32_t most = dls_place_max_gpus(index, r->type);
    dls_rng rng = dls_place_random(r);
    int32_t left = r->gpus;
    while (left > 0) {
        const int32_t piece = left < most ? left : most;
        const int32_t node = probe(index, r, grant, piece, (int32_t)dls_rng_below(&rng, n));
        if (node < 0) {
            break;
        }
        dls_grant_add(grant, node, piece);
        left -= piece;
    }
    const int32_t start = (int32_t)dls_rng_below(&rng, n);
    for (; left > 0; left--) {
        const int32_t node = probe(index, r, grant, 1, start);
        if (node < 0) {
            return false;
        }
        dls_grant_add(grant, node, 1);
    }
    return true;
}

const dls_placement_ops dls_placement_ops_crandom = {
    .abi = DLS_POLICY_ABI,
    .name = "crandom",
    .summary = "whole nodes and a remainder, each in a random place",
    .place = place,
};
