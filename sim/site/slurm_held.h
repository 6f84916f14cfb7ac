/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a replay of a Slurm site leaves out of account: jobs without GPUs on nodes with GPUs, nodes
 * that jobs ran on and that are not there any more, nodes in several partitions, nodes that were
 * down. A second reading of the accounting, for its NodeList; the text is in memory.
 */
#ifndef DLS_SITE_SLURM_HELD_H
#define DLS_SITE_SLURM_HELD_H

#include "base/strdict.h"
#include "site/nodes.h"

#include <stdbool.h>

/* Jobs that something is true of. */
typedef struct dls_site_count {
    size_t n, line; /* line: of the first */
} dls_site_count;

typedef struct dls_site_held {
    dls_strdict names; /* of nodes */
    struct {
        int64_t cpus;
        int32_t gpus;
        bool used; /* by a job of the accounting */
    } * node;      /* [names.n] */
    size_t cap;
    int32_t again, down,
        overlapping; /* nodes: named twice, not in service, in several partitions */
    dls_site_count cpu_only, on_gpus, unplaced; /* jobs without GPUs; those on nodes with GPUs;
                                                   those without a list of nodes */
    dls_site_count gone;                        /* jobs on nodes that are not there */
    double cpu_only_h, all_h;                   /* of nodes with GPUs, by processors */
    bool json, unlisted;                        /* nothing read; no NodeList */
} dls_site_held;

void dls_site_held_init(dls_site_held *held);
void dls_site_held_fini(dls_site_held *held);
/* *again: it was there already. Errors: ENOMEM. */
dls_status dls_site_held_node(dls_site_held *held, const dls_site_group *node, const char *state,
                              const char *partitions, bool *again, dls_error *err) DLS_MUST_CHECK;
/* Behind all nodes. Rows that make no sense are passed over: the trace's reader counts them.
 * O(bytes + nodes of all jobs). */
dls_status dls_site_held_read(dls_site_held *held, const char *sacct,
                              dls_error *err) DLS_MUST_CHECK;
void dls_site_held_put(const dls_site_held *held, FILE *to);

#endif
