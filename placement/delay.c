/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * delay: wait for a good place, but not for ever (delay scheduling: Zaharia et al., EuroSys 2010).
 * For node_wait a job takes nothing but the fewest nodes that can hold its gang, until rack_wait it
 * also takes more nodes of one rack, from then on whatever `consolidated` finds. Waiting counts
 * from when the job last became pending. A gang for which no rack of the cluster is large enough
 * does not wait for one.
 */
#include "placement/fit.h"

enum { OPT_NODE_WAIT, OPT_RACK_WAIT };

static const dls_option options[] = {
    {"node_wait", DLS_OPT_TIME, 0, 1e9, "600 s", "", "wait so long for the fewest nodes", NULL},
    {"rack_wait", DLS_OPT_TIME, 0, 1e9, "1200 s", "",
     "wait so long for nodes of one rack; less than node_wait: as node_wait", NULL},
    {0},
};

typedef struct delay {
    int64_t node_wait_us, rack_wait_us;
    int64_t rack_gpus[DLS_TYPES_MAX]; /* of the largest rack of each type */
} delay;

static dls_status init(void *state, const dls_place_index *index, const dls_option_value *values,
                       dls_error *err)
{
    delay *d = state;
    d->node_wait_us = (int64_t)(values[OPT_NODE_WAIT].f * 1e6);
    d->rack_wait_us = (int64_t)(values[OPT_RACK_WAIT].f * 1e6);
    for (int32_t rack = 0; rack < dls_place_racks(index); rack++) {
        int32_t first, end;
        dls_place_rack_range(index, rack, &first, &end);
        int64_t *most = &d->rack_gpus[dls_place_type(index, first)];
        /* The nodes of a rack are equal. */
        const int64_t gpus = (int64_t)(end - first) * dls_place_capacity(index, first);
        *most = gpus > *most ? gpus : *most;
    }
    return DLS_OK;
}

static bool retry_later(const dls_request *r, int64_t at_us)
{
    if (r->retry_us && at_us < *r->retry_us) {
        *r->retry_us = at_us;
    }
    return false;
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    const delay *d = state;
    const int64_t waited_us = r->now_us - r->waiting_since_us;
    dls_shape shape;
    if (!dls_fit_consolidated(index, r, grant) || !dls_grant_shape(grant, index, &shape)) {
        return false;
    }
    /* An idle cluster gets no better: CPU or memory want more nodes. */
    if (shape.n_nodes <= dls_fit_fewest_nodes(index, r) || dls_place_busy_nodes(index) == 0) {
        return true;
    }
    if (waited_us < d->node_wait_us) {
        return retry_later(r, r->waiting_since_us + d->node_wait_us);
    }
    if (shape.n_racks == 1 || waited_us >= d->rack_wait_us || r->gpus > d->rack_gpus[r->type]) {
        return true;
    }
    const int32_t rack = dls_fit_find_rack(index, r);
    dls_grant_reset(grant);
    return rack >= 0 ? dls_fit_rack(index, r, rack, grant)
                     : retry_later(r, r->waiting_since_us + d->rack_wait_us);
}

const dls_placement_ops dls_placement_ops_delay = {
    .abi = DLS_POLICY_ABI,
    .name = "delay",
    .summary = "wait a while for the fewest nodes, then for one rack, then take what there is",
    .options = options,
    .state_bytes = sizeof(delay),
    .init = init,
    .place = place,
};
