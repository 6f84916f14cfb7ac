/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Lists the placements (nodes and racks by GPU type) that are worth predicting for a gang, and
 * measures how far apart two placements are.
 */
#include "predictor/sources/candidates.h"

#include <math.h>
#include <string.h>

void dls_candidates_init(dls_candidates *c, const dls_cluster_spec *cluster)
{
    memset(c, 0, sizeof *c);
    c->n_types = cluster->n_types;
    c->uplink_bps = cluster->rack_uplink_bps;
    c->domain_bps = cluster->rack_nvlink_bps;
    for (int32_t i = 0; i < cluster->n_groups; i++) {
        const dls_node_group *g = &cluster->groups[i];
        dls_candidate_type *t = &c->type[g->type];
        const int32_t per_rack =
            g->nodes_per_rack > 0 && g->nodes_per_rack < g->nodes ? g->nodes_per_rack : g->nodes;
        t->gpus += (int64_t)g->nodes * g->gpus_per_node;
        t->size[g->gpus_per_node] += g->nodes;
        t->nodes += g->nodes;
        t->racks += (g->nodes + per_rack - 1) / per_rack;
        t->rack_nodes = per_rack > t->rack_nodes ? per_rack : t->rack_nodes;
        const int32_t domain = g->domain_gpus > 0 ? g->domain_gpus : g->gpus_per_node;
        t->domain_gpus = domain > t->domain_gpus ? domain : t->domain_gpus;
        if (g->domain_bps > 0 && !(t->domain_bps > 0 && t->domain_bps < g->domain_bps)) {
            t->domain_bps = g->domain_bps;
        }
        if (g->nic_bps > 0 && !(t->nic_bps > 0 && t->nic_bps < g->nic_bps)) {
            t->nic_bps = g->nic_bps;
            t->rails = g->rails ? g->gpus_per_node : 0;
        }
    }
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t fewest_nodes(const dls_candidate_type *t, int32_t gpus)
{
    int32_t nodes = 0;
    for (int32_t size = DLS_GPUS_PER_NODE_MAX; size >= 1 && gpus > 0; size--) {
        const int32_t take = least(t->size[size], (gpus + size - 1) / size);
        nodes += take;
        gpus -= take * size;
    }
    return nodes;
}

static int32_t racks_for(const dls_candidate_type *t, int32_t nodes)
{
    return least(least(t->racks, nodes), (nodes + t->rack_nodes - 1) / t->rack_nodes);
}

static int32_t spreads(const dls_candidate_type *t, int32_t type, int32_t gpus,
                       dls_shape shape[DLS_SPREADS])
{
    const int32_t fewest = fewest_nodes(t, gpus), most = least(gpus, t->nodes);
    const int32_t twice = least(2 * fewest, most), wide = least(most, t->rack_nodes);
    const dls_shape all[DLS_SPREADS] = {{type, gpus, fewest, racks_for(t, fewest)},
                                        {type, gpus, twice, racks_for(t, twice)},
                                        {type, gpus, wide, 1},
                                        {type, gpus, most, least(t->racks, most)}};
    int32_t n = 0;
    for (int32_t i = 0; i < DLS_SPREADS; i++) {
        /* One rack must hold the gang, and no shape is listed twice. */
        bool skip = all[i].n_nodes < fewest;
        for (int32_t k = 0; k < n && !skip; k++) {
            skip = all[i].n_nodes == shape[k].n_nodes && all[i].n_racks == shape[k].n_racks;
        }
        if (!skip) {
            shape[n++] = all[i];
        }
    }
    return n;
}

int32_t dls_candidates_list(const dls_candidates *c, int32_t gpus, uint32_t types, int32_t most,
                            dls_shape shape[DLS_TYPES_MAX * DLS_SPREADS])
{
    dls_shape of[DLS_TYPES_MAX][DLS_SPREADS];
    int32_t n_of[DLS_TYPES_MAX], n = 0;
    for (int32_t t = 0; t < c->n_types; t++) {
        const bool allowed = types >> t & 1 && c->type[t].gpus >= gpus;
        n_of[t] = allowed ? spreads(&c->type[t], t, gpus, of[t]) : 0;
    }
    for (int32_t i = 0; i < DLS_SPREADS; i++) {
        for (int32_t t = 0; t < c->n_types; t++) {
            if (i < n_of[t] && n < most) {
                shape[n++] = of[t][i];
            }
        }
    }
    return n;
}

double dls_candidates_link_bps(const dls_candidates *c, const dls_shape *shape)
{
    const dls_candidate_type *t = &c->type[shape->type];
    if (shape->n_racks == 1 && c->domain_bps > 0) {
        return c->domain_bps;
    }
    const double nic =
        t->rails > 0 ? t->nic_bps * (shape->gpus / shape->n_nodes) / t->rails : t->nic_bps;
    return shape->n_racks > 1 && c->uplink_bps > 0 && !(nic > 0 && nic < c->uplink_bps)
               ? c->uplink_bps
               : nic;
}

double dls_candidates_inner_bps(const dls_candidates *c, const dls_shape *shape)
{
    const dls_candidate_type *t = &c->type[shape->type];
    return (shape->gpus + shape->n_nodes - 1) / shape->n_nodes > t->domain_gpus ? t->domain_bps : 0;
}

double dls_shape_distance(const dls_shape *a, const dls_shape *b)
{
    if (a->type != b->type) {
        return (double)INFINITY;
    }
    return fabs(log2((double)a->n_nodes / b->n_nodes)) +
           ((a->n_racks > 1) != (b->n_racks > 1) ? 0.5 : 0);
}
