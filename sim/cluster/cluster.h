/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a cluster is made of: groups of equal nodes in racks, GPU types, links, virtual clusters.
 * A spec is plain data: the configuration fills it, a simulation copies what it needs.
 */
#ifndef DLS_CLUSTER_CLUSTER_H
#define DLS_CLUSTER_CLUSTER_H

#include "dlsim/policy.h"

#include <stdbool.h>
#include <stdint.h>

#define DLS_NAME_MAX 48
#define DLS_NODES_MAX (1 << 22)
#define DLS_UPLINKS_MAX 64 /* of a rack */

/* By name, ignoring case; NULL if unknown. */
const dls_gpu_type *dls_gpu_find(const char *name);

typedef struct dls_node_group {
    char name[DLS_NAME_MAX];
    int32_t nodes;
    int32_t gpus_per_node;   /* 1..DLS_GPUS_PER_NODE_MAX */
    int32_t nodes_per_rack;  /* nodes behind one switch; 0: the whole group in one rack */
    int32_t type;            /* index in dls_cluster_spec.types */
    double cpus_per_node;    /* 0: not accounted */
    double mem_gib_per_node; /* 0: not accounted */
    double nic_bps;          /* network link of a node, bytes per second and direction */
    int32_t domain_gpus;     /* one NVLink domain: the first so many GPUs, the next, ...; 0: all of a node */
    double domain_bps;       /* between the NVLink domains of a node, bytes per second and direction */
    bool rails;              /* each GPU has a network link of its own, an equal part of nic_bps */
} dls_node_group;

/* What becomes of requests for less than a GPU. */
typedef enum dls_gpu_parts_mode {
    DLS_PARTS_WHOLE, /* they are whole GPUs */
    DLS_PARTS_ANY,   /* thousandths, as many as are asked for */
    DLS_PARTS_MIG    /* slices: 1, 2, 3, 4 or 7 sevenths, at the places that MIG has for them */
} dls_gpu_parts_mode;

typedef struct dls_vc_spec {
    char name[DLS_NAME_MAX];
    int32_t quota_gpus[DLS_TYPES_MAX]; /* by type; the sum over all VCs fits the cluster */
} dls_vc_spec;

typedef struct dls_cluster_spec {
    dls_gpu_type types[DLS_TYPES_MAX];
    int32_t n_types;
    dls_node_group *groups; /* owned */
    int32_t n_groups;
    dls_vc_spec *vcs; /* owned; jobs of other VCs share what the quotas leave */
    int32_t n_vcs;
    double rack_uplink_bps; /* switch to core; 0: not limiting */
    double core_bps;        /* between racks, all together; 0: not limiting */
    int32_t uplinks; /* equal paths between racks, each with such a link from every rack; 0: one */
    int32_t gpu_parts;      /* dls_gpu_parts_mode */
    double rack_nvlink_bps; /* the nodes of a rack are one NVLink domain: a GPU's node there to any
                               other; 0: they are not */
} dls_cluster_spec;

/* Nodes of all groups. */
static inline int64_t dls_cluster_nodes(const dls_cluster_spec *spec)
{
    int64_t nodes = 0;
    for (int32_t g = 0; g < spec->n_groups; g++) {
        nodes += spec->groups[g].nodes;
    }
    return nodes;
}

/* Equal paths between racks, at least one. */
static inline int32_t dls_cluster_uplinks(const dls_cluster_spec *spec)
{
    return spec->uplinks > 1 ? spec->uplinks : 1;
}

/* The types that a request "A|B" allows, case ignored: bits; all for "", 0 if the cluster has none
 * of them. */
uint32_t dls_cluster_types(const dls_cluster_spec *spec, const char *names);

void dls_cluster_spec_fini(dls_cluster_spec *spec);
/* Counts, ranges, names, quotas: the first thing wrong is reported. */
dls_status dls_cluster_spec_check(const dls_cluster_spec *spec, dls_error *err) DLS_MUST_CHECK;

/* Nodes for so many GPUs, the largest first, of which there are nodes_of[size] for each size up to `largest`; what is
 * beyond them all in nodes of the largest size. O(largest). */
int32_t dls_fewest_nodes(const int32_t *nodes_of, int32_t largest, int32_t gpus);

#endif
