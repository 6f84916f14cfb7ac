/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * consolidated: the fewest nodes; among those the tightest; then the fewest racks. It never refuses
 * what fits.
 *
 * A gang that fits on a node gets the node with the fewest free GPUs that suffices. A larger one
 * takes the emptiest nodes, which is the fewest, and its remainder the tightest fit. Nodes of equal
 * emptiness come from the first rack that has enough of them, else from the rack with the most, so
 * gangs of whole nodes use the fewest racks; with nodes of unequal emptiness the number of racks is
 * a greedy answer. With CPU or memory accounted the same search runs over what they leave usable.
 *
 * Cost: O(nodes given x (GPUs of a node + log racks)).
 */
#include "dlsim/policy.h"

/* The remainder: the tightest node that holds all of it, in `rack` if one there is as tight. */
static int32_t tightest(const dls_place_index *index, const dls_request *r, const dls_grant *grant,
                        int32_t need, int32_t rack)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    for (int32_t f = need; f <= most; f++) {
        int32_t first = 0, end = 0;
        if (rack >= 0) {
            dls_place_rack_range(index, rack, &first, &end);
        }
        int32_t node = rack >= 0 ? dls_place_first(index, r, f, f, first) : -1;
        while (node >= 0 && node < end && dls_grant_left(grant, index, node) < need) {
            node = dls_place_first(index, r, f, f, node + 1);
        }
        if (node >= 0 && node < end) {
            return node;
        }
        node = dls_place_first(index, r, f, f, 0);
        while (node >= 0 && dls_grant_left(grant, index, node) < need) {
            node = dls_place_first(index, r, f, f, node + 1);
        }
        if (node >= 0) {
            return node;
        }
    }
    return -1;
}

/* Take up to `want` nodes with exactly f free GPUs, whole; returns how many were taken. */
static int32_t take_nodes(const dls_place_index *index, const dls_request *r, dls_grant *grant,
                          int32_t f, int32_t want, int32_t *rack)
{
    int32_t taken = 0;
    /* A rack that has enough of them; failing that rack after rack, the fullest first. */
    const int32_t enough = dls_place_first_rack(index, r->type, f, want, 0);
    int32_t most = 0;
    const int32_t start = enough >= 0 ? enough : dls_place_fullest_rack(index, r->type, f, &most);
    for (int32_t pass = 0; pass < 2 && taken < want && start >= 0; pass++) {
        int32_t first = 0, end = dls_place_nodes(index);
        if (pass == 0) {
            dls_place_rack_range(index, start, &first, &end);
        }
        for (int32_t node = dls_place_first(index, r, f, f, first);
             taken < want && node >= 0 && node < end;
             node = dls_place_first(index, r, f, f, node + 1)) {
            if (dls_grant_left(grant, index, node) == f) {
                dls_grant_add(grant, node, f);
                *rack = dls_place_rack(index, node);
                taken++;
            }
        }
    }
    return taken;
}

/* What is left when CPU or memory, and not GPUs, are short: any usable GPUs. */
static bool gather(const dls_place_index *index, const dls_request *r, dls_grant *grant,
                   int32_t left)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    for (int32_t node = dls_place_first(index, r, 1, most, 0); left > 0 && node >= 0;
         node = dls_place_first(index, r, 1, most, node + 1)) {
        const int32_t taken = dls_place_free(index, node) - dls_grant_left(grant, index, node);
        const int32_t room = dls_place_cpu_limit(index, r, node) - taken;
        const int32_t take = room < left ? room : left;
        if (take > 0) {
            dls_grant_add(grant, node, take);
            left -= take;
        }
    }
    return left == 0;
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    (void)state;
    const int32_t most = dls_place_max_gpus(index, r->type);
    int32_t left = r->gpus, rack = -1;
    const int32_t whole = left <= most ? dls_place_best(index, r, left) : -1;
    if (whole >= 0) {
        dls_grant_add(grant, whole, left);
        return true;
    }
    for (int32_t f = most; f >= 1 && left > 0; f--) {
        if (left >= f) {
            left -= f * take_nodes(index, r, grant, f, left / f, &rack);
        }
        const int32_t rest = left > 0 && left <= f ? tightest(index, r, grant, left, rack) : -1;
        if (rest >= 0) {
            dls_grant_add(grant, rest, left);
            left = 0;
        }
    }
    return left == 0 || gather(index, r, grant, left);
}

const dls_placement_ops dls_placement_ops_consolidated = {
    .abi = DLS_POLICY_ABI,
    .name = "consolidated",
    .summary = "fewest nodes, tightest fit, fewest racks; never refuses what fits",
    .place = place,
};
