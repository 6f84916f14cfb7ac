/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * yarn: all or nothing inside one rack, as the placement of that name in the Tiresias simulator:
 * the first rack that holds the gang. A gang of at most a node's GPUs takes the first node with
 * room; a larger one floor(g / G) idle nodes and, for the rest, the first other node with room.
 * It refuses when no rack has that: the job waits although GPUs are free.
 *
 * G is the number of GPUs of the largest node of the type.
 */
#include "dlsim/policy.h"

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const int32_t most = dls_place_max_gpus(index, r->type);
    if (r->gpus <= most) {
        const int32_t node = dls_place_first(index, r, r->gpus, most, 0);
        if (node >= 0) {
            dls_grant_add(grant, node, r->gpus);
        }
        return node >= 0;
    }
    const int32_t idle = r->gpus / most, rest = r->gpus % most;
    for (int32_t rack = dls_place_first_rack(index, r->type, most, idle, 0); rack >= 0;
         rack = dls_place_first_rack(index, r->type, most, idle, rack + 1)) {
        int32_t first, end, found = 0;
        int32_t picked[2] = {-1, -1}; /* first idle node, one past the last */
        dls_place_rack_range(index, rack, &first, &end);
        for (int32_t node = dls_place_first(index, r, most, most, first);
             found < idle && node >= 0 && node < end;
             node = dls_place_first(index, r, most, most, node + 1)) {
            picked[0] = found == 0 ? node : picked[0];
            picked[1] = node + 1;
            found++;
        }
        if (found < idle) {
            continue; /* CPU or memory */
        }
        /* The remainder wants a node before, among or behind the picked idle ones, not one of them. */
        int32_t spare = -1;
        if (rest > 0) {
            spare = dls_place_first(index, r, rest, most, first);
            while (spare >= 0 && spare < end && spare >= picked[0] && spare < picked[1] &&
                   dls_place_free(index, spare) == most) {
                spare = dls_place_first(index, r, rest, most, spare + 1);
            }
            if (spare < 0 || spare >= end) {
                continue;
            }
        }
        for (int32_t node = picked[0]; found > 0;
             node = dls_place_first(index, r, most, most, node + 1)) {
            dls_grant_add(grant, node, most);
            found--;
        }
        if (rest > 0) {
            dls_grant_add(grant, spare, rest);
        }
        return true;
    }
    return false;
}

const dls_placement_ops dls_placement_ops_yarn = {
    .abi = DLS_POLICY_ABI,
    .name = "yarn",
    .summary = "all or nothing in one rack: first fit on a node, or idle nodes and a remainder",
    .place = place,
};
