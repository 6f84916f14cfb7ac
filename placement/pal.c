/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * pal: GPUs on which jobs of its class are fast, on one node where that costs less than spreading
 * (Jain et al., "PAL: A Variability-Aware Policy for Scheduling ML Workloads in GPU Clusters", SC
 * 2024). Speeds of GPUs by class are profiled (`perf.variability`); those within `step` of each
 * other are equal.
 *
 * PM-First takes the fastest free GPUs, of equals those of nodes whose number of them is nearest to
 * the gang. Of a gang that fits on a node the slowest GPU there is weighed against the slowest of
 * PM-First x `across`, which is the first entry of PAL's matrix of locality and variability that
 * can be had. O(free GPUs log gang).
 */
#include "dlsim/memory.h"
#include "dlsim/policy.h"

#include <math.h>
#include <stdlib.h>

enum { OPT_ACROSS, OPT_STEP };

static const dls_option options[] = {
    [OPT_ACROSS] = {"across", DLS_OPT_F64, 1, 100, "1.7", "",
                    "how much longer a gang is taken to need on several nodes", NULL},
    [OPT_STEP] = {"step", DLS_OPT_F64, 0.001, 1, "0.05", "",
                  "relative difference of speed below which GPUs are equal", NULL},
    {0},
};

/* A free GPU. */
typedef struct spot {
    int32_t bin; /* of slowdowns: 0 for the fastest */
    int32_t off; /* |GPUs of this bin on the node - gang| */
    int32_t node, gpu;
} spot;

typedef struct pal {
    double across, log_step;
    spot *spot; /* [GPUs], scratch; owned */
} pal;

static dls_status make_spots(pal *p, const dls_place_index *index, dls_error *err)
{
    size_t gpus = 0;
    for (int32_t n = 0; n < dls_place_nodes(index); n++) {
        gpus += (size_t)dls_place_capacity(index, n);
    }
    p->spot = NULL;
    return dls_alloc_array(&p->spot, gpus, sizeof *p->spot, "GPUs", err);
}

static dls_status init(void *state, const dls_place_index *index, const dls_option_value *values,
                       dls_error *err)
{
    pal *p = state;
    p->across = values[OPT_ACROSS].f;
    p->log_step = log1p(values[OPT_STEP].f);
    return make_spots(p, index, err);
}

static dls_status clone(void *state, const void *from, const dls_place_index *index, dls_error *err)
{
    return make_spots(state, index, err);
}

static void fini(void *state)
{
    dls_free(((pal *)state)->spot);
}

DLS_BY(by_speed, spot, DLS_UP(bin), DLS_UP(off), DLS_UP(node), DLS_UP(gpu));

/* Free GPUs of a node, fastest first, as many as its CPU and memory allow; how many there are. */
static int32_t list_node(const pal *p, const dls_place_index *index, const dls_request *r,
                         int32_t node, spot *out)
{
    const int32_t room = dls_place_cpu_limit(index, r, node);
    double speed = 0;
    int32_t n = 0, bin = 0;
    for (uint64_t left = dls_place_free_mask(index, node); left; left &= left - 1, n++) {
        const int32_t gpu = __builtin_ctzll(left);
        const double here = dls_place_gpu_speed(index, r, node, gpu);
        if (here != speed) { /* most are alike */
            speed = here;
            bin = (int32_t)floor(log(1 / speed) / p->log_step);
        }
        int32_t at = n;
        for (; at > 0 && out[at - 1].bin > bin; at--) {
            out[at] = out[at - 1];
        }
        out[at] = (spot){bin, 0, node, gpu};
    }
    n = n < room ? n : room;
    for (int32_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && out[end].bin == out[i].bin; end++) {
        }
        for (int32_t k = i; k < end; k++) {
            out[k].off = abs(end - i - r->gpus);
        }
    }
    return n;
}

static bool place(void *state, const dls_place_index *index, const dls_request *r, dls_grant *grant)
{
    pal *p = state;
    const int32_t most = dls_place_max_gpus(index, r->type), gang = r->gpus;
    int32_t n = 0, best_bin = INT32_MAX, best_n = 0;
    bool cut = false;
    uint64_t best = 0;
    int32_t best_node = -1;
    for (int32_t node = dls_place_first(index, r, 1, most, 0); node >= 0;
         node = dls_place_first(index, r, 1, most, node + 1)) {
        spot here[DLS_GPUS_PER_NODE_MAX];
        const int32_t spots = list_node(p, index, r, node, here);
        for (int32_t i = 0; i < spots; i++) {
            if (!cut || by_speed(&here[i], &p->spot[gang - 1]) < 0) {
                p->spot[n++] = here[i];
            }
        }
        if (n >= 2 * gang + DLS_GPUS_PER_NODE_MAX) { /* only the first are asked for */
            qsort(p->spot, (size_t)n, sizeof *p->spot, by_speed);
            n = gang;
            cut = true;
        }
        if (gang == 1 || spots < gang || here[gang - 1].bin > best_bin ||
            (here[gang - 1].bin == best_bin && spots >= best_n)) {
            continue; /* of equal nodes the one with the fewest free GPUs */
        }
        best_bin = here[gang - 1].bin;
        best_n = spots;
        best_node = node;
        best = 0;
        for (int32_t i = 0; i < gang; i++) {
            best |= UINT64_C(1) << here[i].gpu;
        }
    }
    if (n < gang) {
        return false;
    }
    qsort(p->spot, (size_t)n, sizeof *p->spot, by_speed);
    if (best_node >= 0 && (best_bin - p->spot[gang - 1].bin) * p->log_step <= log(p->across)) {
        dls_grant_add_gpus(grant, best_node, best);
        return true;
    }
    for (int32_t i = 0; i < gang; i++) {
        dls_grant_add_gpus(grant, p->spot[i].node, UINT64_C(1) << p->spot[i].gpu);
    }
    return true;
}

const dls_placement_ops dls_placement_ops_pal = {
    .abi = DLS_POLICY_ABI,
    .name = "pal",
    .summary = "the GPUs that are fast for jobs of its class, on one node where that costs less",
    .options = options,
    .state_bytes = sizeof(pal),
    .init = init,
    .fini = fini,
    .clone = clone,
    .place = place,
};
