/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The original's yarn placement: all or nothing inside one switch, switches in order.
 *
 *   g <= GPUs per node   the lowest node with g GPUs, the CPUs and 5 GB (whatever g)
 *   g >  GPUs per node   floor(g / G) idle nodes in order, then the lowest other node that takes
 * the remainder; 6 CPUs and 11 + 0.1 g GB per GPU
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
    uint64_t mask;
    size_t row;  /* of the allocation table, SIZE_MAX: none */
    bool seated; /* mask and row are set */
} dls_tir_part;

typedef struct dls_tir_yarn {
    dls_tiresias_cluster k;
    int32_t n_nodes;
    dls_tiresias_node *node; /* [n_nodes] */
    int32_t *tree;         /* [2 * leaves] greatest number of free GPUs, root at 1 */
    int32_t leaves;
    int64_t free_gpus;
    int32_t busy_nodes, full_nodes;
    dls_tir_part *part;      /* a job's parts: part[first[j]] .. part[first[j] + n_parts[j] - 1] */
    size_t *first;           /* [n + 1] */
    int32_t *n_parts;        /* [n] 0: not placed */
    dls_tir_part *found;     /* what the last search found */
    int64_t *model_tenth_mb; /* [n] tensors of the job's model, in 0.1 MB */
} dls_tir_yarn;

dls_status dls_tir_yarn_init(dls_tir_yarn *y, const dls_tir *s, dls_error *err) DLS_MUST_CHECK;
void dls_tir_yarn_fini(dls_tir_yarn *y);

/* Place job j if it fits: GPUs, CPUs, memory and traffic are charged, its parts are set. A job that
 * comes out on the nodes it had before dls_tir_yarn_clear stays seated. */
bool dls_tir_yarn_place(dls_tir_yarn *y, dls_tir *s, int32_t j);
/* Give the parts that are not seated their GPUs and their rows of the allocation table. */
dls_status dls_tir_yarn_seat(dls_tir_yarn *y, dls_tir *s, int32_t j, dls_error *err) DLS_MUST_CHECK;
/* The job holds nothing any more; its rows are closed. */
void dls_tir_yarn_leave(dls_tir_yarn *y, dls_tir *s, int32_t j);
/* leave, and what the parts held is free again. */
void dls_tir_yarn_release(dls_tir_yarn *y, dls_tir *s, int32_t j);
/* Everything is free; jobs keep their parts, to be placed anew. O(nodes). */
void dls_tir_yarn_clear(dls_tir_yarn *y);

#endif
