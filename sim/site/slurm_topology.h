/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Slurm's topology.conf and gres.conf: which nodes are behind one switch, and of what type GPUs are.
 */
#ifndef DLS_SITE_SLURM_TOPOLOGY_H
#define DLS_SITE_SLURM_TOPOLOGY_H

#include "base/strdict.h"
#include "site/nodes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct dls_site_place { /* a node */
    int32_t rack; /* 0: none, else the number of its switch */
    int32_t type; /* in types, -1: none is named, -2: several are */
    bool seen;    /* in the list of nodes */
} dls_site_place;

typedef struct dls_site_topology {
    dls_strdict names, types;
    dls_site_place *place; /* [names] */
    size_t cap;
    int32_t all_type; /* of nodes that are not named in gres.conf; -1 to begin with */
    int32_t racks, odd, first_odd; /* switches with nodes; lines that say nothing of either, and the first */
    const char *odd_file;
    int32_t without, again; /* listed nodes behind no switch; nodes behind two, which count for the first */
} dls_site_topology;

void dls_site_topology_fini(dls_site_topology *t);
/* Either may be NULL. Topology: topology.conf or `scontrol show topology`; lines with Nodes and without Switches are racks, so
 * are blocks. Errors: EINPUT (not to be read), ENOMEM. */
dls_status dls_site_topology_read(dls_site_topology *t, const char *topology, const char *gres,
                                  dls_error *err) DLS_MUST_CHECK;
/* The rack of a node, and its type of GPU where the list of nodes has none. */
void dls_site_topology_place(dls_site_topology *t, dls_site_group *node);
void dls_site_topology_report(const dls_site_topology *t, const dls_site_nodes *nodes, FILE *to);

#endif
