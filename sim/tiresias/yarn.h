/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The original's yarn placement: all or nothing inside one switch, switches in order.
 *
 *   g <= GPUs per node   the lowest node with g GPUs, the CPUs and 5 GB (whatever g)
 *   g >  GPUs per node   floor(g / G) idle nodes in order, then the lowest other node that takes
 *                        the remainder; 6 CPUs and 11 + 0.1 g GB per GPU
 *
 * CPUs: 2 for a job of one GPU, else 6 per GPU. A node's memory is a double, charged in the
 * original's order, because rounding decides what fits. A tournament tree over the nodes finds
 * the next one with enough free GPUs in O(log nodes).
 */
#ifndef DLS_TIRESIAS_YARN_H
#define DLS_TIRESIAS_YARN_H

#include "tiresias/core.h"

typedef struct dls_tir_part {
    int32_t node, gpus, cpus;
    double mem_gb;
} dls_tir_part;

typedef struct dls_tir_yarn {
    dls_tiresias_cluster k;
    int32_t n_nodes;
    dls_tiresias_node *node; /* [n_nodes] */
    int32_t *tree;           /* [2 * leaves] greatest number of free GPUs, root at 1 */
    int32_t leaves;
    int64_t free_gpus;
    dls_tir_part *part;      /* a placed job's parts: part[first[j]] .. part[first[j + 1] - 1] */
    size_t *first;           /* [n + 1] */
    int64_t *model_tenth_mb; /* [n] tensors of the job's model, in 0.1 MB */
} dls_tir_yarn;

/* All that is in *y belongs to s. */
dls_status dls_tir_yarn_init(dls_tir_yarn *y, dls_tir *s, dls_error *err) DLS_MUST_CHECK;

/* Place job j if it fits: GPUs, CPUs, memory and traffic are charged, its parts are set. */
bool dls_tir_yarn_place(dls_tir_yarn *y, const dls_tir *s, int32_t j);
/* What a placed job holds is free again. */
void dls_tir_yarn_release(dls_tir_yarn *y, int32_t j);
/* Everything is free, no job is placed. O(nodes). */
void dls_tir_yarn_clear(dls_tir_yarn *y);

#endif
