/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which setting of an inspector answers for a shape of a cluster.
 *
 * First the explicit table, if there is one: entries "GPU:GPUS/NODES=SETTING" separated by ';' or
 * line ends, '*' for any, the first that matches counts. Else the setting with the least distance,
 * the first of equals:
 *
 *      GPU         0 if the name is the same (its variant of memory aside), else 2 + |log2| of the
 *                  ratio of fp32 rates
 *      workers     |log2| of the ratio
 *      nodes       |log2| of the ratio; a setting that does not say has one
 *      link        |log2| of the ratio of bandwidths, over which workers exchange: that between nodes if there are
 *                  several, else that in the node; 1 if unknown; 0 below 0.2 and for a single worker
 *      exchange    0 if the same, 1 between synchronous and asynchronous servers, else 2; 0 for a single worker
 *
 * A distance of 0 is an exact match; so is an entry of the table, because somebody decided it. An
 * inspector of all settings is asked for the shape itself where no match is exact (inspector.h).
 */
#ifndef DLS_SOURCES_SETTING_MAP_H
#define DLS_SOURCES_SETTING_MAP_H

#include "dlsim/policy.h"
#include "dlsim/predictor.h"
#include "workload/operator/hardware.h"

/* Where workers run: a shape with the names that settings are known by. */
typedef struct dls_whereabouts {
    const char *gpu; /* as in the cluster */
    double fp32_flops;
    int32_t workers, nodes;
    double link_bps;      /* over which they exchange; 0: unknown */
    const char *exchange; /* "allreduce", "ps-sync", "ps-async" */
    int32_t servers;      /* 0: not said */
} dls_whereabouts;

typedef struct dls_setting_entry {
    char gpu[DLS_HW_NAME];  /* "*": any */
    int32_t workers, nodes; /* 0: any */
    int32_t setting;
} dls_setting_entry;

typedef struct dls_setting_map {
    const dls_inspector *insp;     /* borrowed */
    double *fp32_flops, *link_bps; /* [settings] owned; 0: unknown */
    dls_setting_entry *entry;      /* owned */
    size_t n, cap;
    int32_t n_settings; /* that the inspector had when the map was made; later ones do not count */
} dls_setting_map;

/* text may be NULL. hw: names of GPUs and links. ECONFIG: an entry that cannot be read; EPREDICTOR:
 * one that names no setting of the inspector, an inspector that has and makes none. *map needs
 * dls_setting_map_fini only on success. */
dls_status dls_setting_map_init(dls_setting_map *map, const dls_inspector *insp,
                                const dls_hardware *hw, const char *text,
                                dls_error *err) DLS_MUST_CHECK;
void dls_setting_map_fini(dls_setting_map *map);
/* Index of the setting, -1: there is none; *distance as above. O(entries + settings). */
int32_t dls_setting_map_find(const dls_setting_map *map, const dls_whereabouts *where,
                             double *distance);

#endif
