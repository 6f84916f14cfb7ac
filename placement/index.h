/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which GPUs are free, by node, by rack and by number: what placement policies search.
 *
 * For every GPU type and every number f of free GPUs there is a bitmap of the nodes that have
 * exactly f free; for every f and every c a bitmap of the racks that have exactly c such nodes:
 *
 *      type 0  f=8   summary 0000...0001  -> words 0000..1011   nodes 0, 1 and 3 have 8 free GPUs
 *              f=7   ...
 *
 * A bitmap has two levels above its words, so the lowest member at or after a place is found in a
 * few steps for any number of nodes (4 million). Taking or giving back GPUs of a node moves it
 * between two bitmaps and its rack between four.
 */
#ifndef DLS_PLACEMENT_INDEX_H
#define DLS_PLACEMENT_INDEX_H

#include "dlsim/policy.h"
#include "model/cluster.h"

/* A set of small integers with find-next in O(levels). */
typedef struct dls_bitmap {
    uint64_t *level[4]; /* level[0]: members; level[k]: which words of level[k-1] are not zero */
    int32_t n_levels;
    int32_t count;
} dls_bitmap;

typedef struct dls_node {
    uint64_t free_mask;
    int64_t free_cpu_milli, free_mem_mib;
    int32_t rack;
    int16_t type;
    int8_t capacity, free;
} dls_node;

typedef struct dls_rack {
    int32_t first, end; /* its nodes */
    int32_t *have;      /* [max capacity + 1] nodes by number of free GPUs */
} dls_rack;

typedef struct dls_type_index {
    int32_t max_gpus;      /* of any node of the type */
    int32_t max_rack;      /* nodes of the largest rack */
    int64_t total_gpus, free_gpus;
    dls_bitmap *nodes;     /* [max_gpus + 1] by free GPUs */
    dls_bitmap **racks;    /* [max_gpus + 1][max_rack + 1] by free GPUs and number of nodes */
    uint64_t **rack_counts; /* [max_gpus + 1] bit c: some rack has exactly c such nodes */
} dls_type_index;

struct dls_place_index {
    int32_t n_nodes, n_racks, n_types;
    dls_node *node;
    dls_rack *rack;
    dls_type_index type[DLS_TYPES_MAX];
    int64_t total_gpus, free_gpus;
    int32_t busy_nodes, full_nodes;
    bool accounts_cpu, accounts_mem;
    void *memory; /* one block behind all the arrays */
};

dls_status dls_place_index_create(const dls_cluster_spec *spec, dls_place_index **out,
                                  dls_error *err) DLS_MUST_CHECK;
void dls_place_index_destroy(dls_place_index *index);

/* Take the `gpus` lowest free GPUs of a node (there must be so many) and the CPU and memory that go
 * with them; returns their mask. */
uint64_t dls_place_take(dls_place_index *index, int32_t node, int32_t gpus, int64_t cpu_milli,
                        int64_t mem_mib);
/* Take exactly these GPUs: false, and nothing done, if one of them is not free. */
bool dls_place_retake(dls_place_index *index, int32_t node, uint64_t mask, int64_t cpu_milli,
                      int64_t mem_mib);
void dls_place_give(dls_place_index *index, int32_t node, uint64_t mask, int64_t cpu_milli,
                    int64_t mem_mib);

/* One node's share of a grant. */
typedef struct dls_part {
    int32_t node, gpus;
} dls_part;

struct dls_grant {
    dls_part *part; /* owned, reused from one request to the next */
    size_t n, cap;
    int64_t gpus;   /* in all */
    bool failed;    /* out of memory */
};

/* Compare the index with a recount of its nodes: for tests and audits. O(nodes x GPUs). */
dls_status dls_place_index_check(const dls_place_index *index, dls_error *err) DLS_MUST_CHECK;

#endif
