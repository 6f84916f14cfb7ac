/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A site's nodes with GPUs, in its order, and the part of a configuration that says them.
 */
#ifndef DLS_SITE_NODES_H
#define DLS_SITE_NODES_H

#include "dlsim/error.h"

#include <stdint.h>
#include <stdio.h>

/* A node of a configuration has at most 10^15 bytes. */
#define DLS_SITE_MEM_MIB 953674316

/* Nodes that follow each other and are alike. */
typedef struct dls_site_group {
    char name[64], type[64]; /* of the first; type "": not named */
    int32_t count, gpus;
    int64_t cpus, mem_mib; /* of each; mem_mib 0: not accounted */
    int32_t rack, rack_size; /* of the last; 0: not known; rack_size 0: all in one */
} dls_site_group;

typedef struct dls_site_nodes {
    dls_site_group *group; /* [n] */
    size_t n, cap;
    double cpus;          /* of all nodes, those without GPUs too */
    int32_t without, odd; /* nodes without GPUs; what is no node */
    int32_t total;
    int64_t total_gpus;
    int64_t other_gpus;   /* left out, for a node's GPUs are of one type */
} dls_site_nodes;

/* Behind those that are in. node->count is 1. Errors: ENOMEM. */
dls_status dls_site_nodes_add(dls_site_nodes *all, const dls_site_group *node,
                              dls_error *err) DLS_MUST_CHECK;
/* Groups of equal racks that follow each other and are alike become one. */
void dls_site_nodes_join(dls_site_nodes *all);
/* How many racks there are. */
int32_t dls_site_nodes_racks(const dls_site_nodes *all);
void dls_site_nodes_fini(dls_site_nodes *all);
/* All of a configuration up to the scheduler: `from` made it, the trace is trace.csv. */
void dls_site_nodes_put(const dls_site_nodes *all, const char *from, FILE *cfg);

/* The value behind " key=" in a line that `scontrol show .. -o` prints, cut at a blank; "" if there is
 * none. */
void dls_site_value_of(const char *line, const char *key, char *out, size_t size);

/* folder/name, of what is written, which may be none of reads[n] (NULL: not given). Errors: EOUTPUT, EINPUT (too long). */
dls_status dls_site_path(const char *folder, const char *name, const char *const reads[], size_t n, char *out, size_t size,
                         dls_error *err) DLS_MUST_CHECK;

#endif
