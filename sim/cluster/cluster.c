/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Checks a cluster specification (names, counts, types, quotas against GPUs) and finds GPU types by
 * name.
 */
#include "cluster/cluster.h"

#include "base/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

void dls_cluster_spec_fini(dls_cluster_spec *spec)
{
    DLS_FREE_ALL(spec->groups, spec->vcs);
    *spec = (dls_cluster_spec){0};
}

static bool amount(double value)
{
    return isfinite(value) && value >= 0;
}

static dls_status check_name(const char *kind, int32_t idx, const char *name, dls_error *err)
{
    if (!memchr(name, '\0', DLS_NAME_MAX) || *name == '\0') {
        return dls_fail(err, DLS_ECONFIG, NULL, "%s %d has no name, or one of %d bytes or more",
                        kind, idx, DLS_NAME_MAX);
    }
    return DLS_OK;
}

static dls_status check_types(const dls_cluster_spec *spec, dls_error *err)
{
    if (spec->n_types < 1) {
        return dls_fail(err, DLS_ECONFIG, NULL, "a cluster without GPUs: no group of nodes has any");
    }
    if (spec->n_types > DLS_TYPES_MAX) {
        return dls_fail(err, DLS_ECONFIG, NULL, "a cluster has 1..%d GPU types, not %d",
                        DLS_TYPES_MAX, spec->n_types);
    }
    for (int32_t i = 0; i < spec->n_types; i++) {
        const dls_gpu_type *type = &spec->types[i];
        DLS_TRY(check_name("GPU type", i, type->name, err));
        if (!amount(type->mem_gib) || !amount(type->mem_bps) || !amount(type->fp32_flops) ||
            !amount(type->tensor_flops) || !amount(type->peer_bps)) {
            return dls_fail(err, DLS_ECONFIG, NULL,
                            "GPU type '%s' has a negative or infinite figure", type->name);
        }
        for (int32_t k = 0; k < i; k++) {
            if (strcasecmp(spec->types[k].name, type->name) == 0) {
                return dls_fail(err, DLS_ECONFIG, NULL, "GPU type '%s' is there twice", type->name);
            }
        }
    }
    return DLS_OK;
}

static dls_status check_group(const dls_cluster_spec *spec, int32_t idx, dls_error *err)
{
    const dls_node_group *g = &spec->groups[idx];
    DLS_TRY(check_name("node group", idx, g->name, err));
    for (int32_t k = 0; k < idx; k++) {
        if (strcmp(spec->groups[k].name, g->name) == 0) {
            return dls_fail(err, DLS_ECONFIG, NULL, "node group '%s' is there twice", g->name);
        }
    }
    if (g->nodes < 1 || g->nodes > DLS_NODES_MAX) {
        return dls_fail(err, DLS_ECONFIG, NULL, "node group '%s' has %d nodes: expected 1..%d",
                        g->name, g->nodes, DLS_NODES_MAX);
    }
    if (g->gpus_per_node < 1 || g->gpus_per_node > DLS_GPUS_PER_NODE_MAX) {
        return dls_fail(err, DLS_ECONFIG, NULL,
                        "node group '%s' has %d GPUs per node: expected 1..%d", g->name,
                        g->gpus_per_node, DLS_GPUS_PER_NODE_MAX);
    }
    if (g->nodes_per_rack < 0) {
        return dls_fail(err, DLS_ECONFIG, NULL, "node group '%s' has %d nodes per rack", g->name,
                        g->nodes_per_rack);
    }
    if (g->type < 0 || g->type >= spec->n_types) {
        return dls_fail(err, DLS_ECONFIG, NULL, "node group '%s' has no known GPU type", g->name);
    }
    if (g->domain_gpus < 0 || (g->domain_gpus > 0 && g->gpus_per_node % g->domain_gpus != 0)) {
        return dls_fail(err, DLS_ECONFIG, NULL,
                        "node group '%s' has %d GPUs per node, which are not NVLink domains of %d", g->name,
                        g->gpus_per_node, g->domain_gpus);
    }
    if (!amount(g->domain_bps) || (g->domain_gpus > 0) != (g->domain_bps > 0)) {
        return dls_fail(err, DLS_ECONFIG, NULL,
                        "node group '%s': NVLink domains of a node need their size and a link between them",
                        g->name);
    }
    if (!amount(g->cpus_per_node) || !amount(g->mem_gib_per_node) || !amount(g->nic_bps)) {
        return dls_fail(err, DLS_ECONFIG, NULL, "node group '%s' has a negative or infinite figure",
                        g->name);
    }
    return DLS_OK;
}

static dls_status check_vcs(const dls_cluster_spec *spec, const int64_t *gpus, dls_error *err)
{
    int64_t left[DLS_TYPES_MAX];
    memcpy(left, gpus, sizeof left);
    if (spec->n_vcs < 0 || (spec->n_vcs > 0 && !spec->vcs)) {
        return dls_fail(err, DLS_ECONFIG, NULL, "the list of virtual clusters is broken");
    }
    for (int32_t i = 0; i < spec->n_vcs; i++) {
        const dls_vc_spec *vc = &spec->vcs[i];
        DLS_TRY(check_name("virtual cluster", i, vc->name, err));
        for (int32_t k = 0; k < i; k++) {
            if (strcmp(spec->vcs[k].name, vc->name) == 0) {
                return dls_fail(err, DLS_ECONFIG, NULL, "virtual cluster '%s' is there twice",
                                vc->name);
            }
        }
        for (int32_t t = 0; t < DLS_TYPES_MAX; t++) {
            const int32_t quota = vc->quota_gpus[t];
            if (quota < 0 || (quota > 0 && t >= spec->n_types)) {
                return dls_fail(err, DLS_ECONFIG, NULL,
                                "virtual cluster '%s' has a quota of %d for GPU type %d", vc->name,
                                quota, t);
            }
            left[t] -= quota;
        }
    }
    for (int32_t t = 0; t < spec->n_types; t++) {
        if (left[t] < 0) {
            return dls_fail(err, DLS_ECONFIG, NULL,
                            "the virtual clusters are promised %lld GPUs of type %s, but there are "
                            "%lld",
                            (long long)(gpus[t] - left[t]), spec->types[t].name,
                            (long long)gpus[t]);
        }
    }
    return DLS_OK;
}

dls_status dls_cluster_spec_check(const dls_cluster_spec *spec, dls_error *err)
{
    int64_t gpus[DLS_TYPES_MAX] = {0}, nodes = 0, all = 0;
    DLS_TRY(check_types(spec, err));
    if (spec->n_groups < 1 || !spec->groups) {
        return dls_fail(err, DLS_ECONFIG, NULL, "a cluster needs at least one node group");
    }
    for (int32_t i = 0; i < spec->n_groups; i++) {
        DLS_TRY(check_group(spec, i, err));
        const int64_t more = (int64_t)spec->groups[i].nodes * spec->groups[i].gpus_per_node;
        gpus[spec->groups[i].type] += more;
        all += more;
        nodes += spec->groups[i].nodes;
    }
    if (nodes > DLS_NODES_MAX || all > INT32_MAX) {
        return dls_fail(err, DLS_ECONFIG, NULL, "%lld nodes are too many: at most %d",
                        (long long)nodes, DLS_NODES_MAX);
    }
    if (!amount(spec->rack_uplink_bps)) {
        return dls_fail(err, DLS_ECONFIG, NULL, "the rack uplink is negative or infinite");
    }
    if (!amount(spec->core_bps)) {
        return dls_fail(err, DLS_ECONFIG, NULL, "the core's bandwidth is negative or infinite");
    }
    if (!amount(spec->rack_nvlink_bps)) {
        return dls_fail(err, DLS_ECONFIG, NULL, "a rack's NVLink is negative or infinite");
    }
    if (spec->uplinks < 0 || spec->uplinks > DLS_UPLINKS_MAX) {
        return dls_fail(err, DLS_ECONFIG, NULL, "a rack has %d uplinks: expected 1..%d",
                        spec->uplinks, DLS_UPLINKS_MAX);
    }
    return check_vcs(spec, gpus, err);
}

uint32_t dls_cluster_types(const dls_cluster_spec *spec, const char *names)
{
    const uint32_t all = (UINT32_C(1) << spec->n_types) - 1;
    uint32_t mask = 0;
    if (!*names) {
        return all;
    }
    for (const char *p = names; *p;) {
        const size_t len = strcspn(p, "|");
        for (int32_t t = 0; t < spec->n_types; t++) {
            if (strncasecmp(spec->types[t].name, p, len) == 0 && !spec->types[t].name[len]) {
                mask |= UINT32_C(1) << t;
            }
        }
        p += len + (p[len] == '|');
    }
    return mask;
}

int32_t dls_fewest_nodes(const int32_t *nodes_of, int32_t largest, int32_t gpus)
{
    int32_t nodes = 0;
    for (int32_t size = largest; size >= 1 && gpus > 0; size--) {
        const int32_t want = (gpus + size - 1) / size;
        const int32_t take = want < nodes_of[size] ? want : nodes_of[size];
        nodes += take;
        gpus -= take * size;
    }
    return nodes + (gpus > 0 ? (gpus + largest - 1) / largest : 0);
}
