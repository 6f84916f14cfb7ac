/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which GPUs are free, by node, by rack and by number: what placement policies search.
 *
 * For every GPU type and every number f of free GPUs there is a bitmap of the nodes that have
 * exactly f free, and a tournament tree of the racks by how many such nodes they have:
 *
 *      type 0  f=8   nodes 1011...0001            racks      4
 *                    (bits: members, two more             3     4
 *                    levels say which words              2 3   4 1
 *                    are not zero)
 *
 * The lowest node at or after a place, and the first rack with at least so many nodes, are found in
 * a few steps for any size (16 million nodes). Taking or giving back GPUs of a node moves it between
 * two bitmaps and updates two paths of the trees.
 */
#ifndef DLS_CLUSTER_INDEX_H
#define DLS_CLUSTER_INDEX_H

#include "base/bitmap.h"
#include "base/order.h"
#include "base/own.h"
#include "base/strdict.h"
#include "cluster/cluster.h"

typedef struct dls_node {
    uint64_t free_mask;
    int64_t free_cpu_milli, free_mem_mib;
    int32_t rack;
    int16_t type;
    int8_t capacity, free;
} dls_node;

/* How many GPUs a mask names: mostly one. */
static inline int32_t dls_gpus_of(uint64_t mask)
{
    return mask & (mask - 1) ? __builtin_popcountll(mask) : mask != 0;
}

/* The lowest n bits of a mask that has as many. */
static inline uint64_t dls_lowest(uint64_t mask, int32_t n)
{
    uint64_t rest = mask;
    for (int32_t i = 0; i < n; i++) {
        rest &= rest - 1;
    }
    return mask & ~rest;
}

/* How many of its free GPUs its free CPU and memory allow the request to use. */
static inline int32_t dls_node_limit(const dls_node *p, const dls_request *r)
{
    int64_t limit = p->free;
    if (r->cpu_milli_per_gpu > 0 && p->free_cpu_milli < limit * r->cpu_milli_per_gpu) {
        limit = p->free_cpu_milli / r->cpu_milli_per_gpu;
    }
    if (r->mem_mib_per_gpu > 0 && p->free_mem_mib < limit * r->mem_mib_per_gpu) {
        limit = p->free_mem_mib / r->mem_mib_per_gpu;
    }
    return (int32_t)limit;
}

/* All of its GPUs. */
static inline uint64_t dls_node_gpus(const dls_node *node)
{
    return UINT64_MAX >> (64 - node->capacity);
}

typedef struct dls_rack {
    int32_t first, end; /* its nodes, all of one group */
    double nic_bps;     /* of each of them */
    int32_t domain_gpus; /* of each of them: GPUs of an NVLink domain; 0: all */
} dls_rack;

typedef struct dls_type_index {
    int32_t max_gpus;             /* of any node of the type */
    int64_t total_gpus, free_gpus;
    uint64_t changes;             /* how often GPUs of the type were taken or given back */
    double gpu_mem_bytes, gpu_flops; /* 0: unknown */
    uint64_t some;                /* bit f - 1: a node has f > 0 free */
    int32_t *sizes;               /* [max_gpus + 1] nodes by number of GPUs */
    dls_bitmap *nodes;            /* [max_gpus + 1] by free GPUs */
    int32_t **rack_tree;          /* [max_gpus + 1][2 * rack_leaves]: tree of maxima, root at 1 */
} dls_type_index;

/* The first thing that a policy has asked about and that does not exist; what it got was a harmless
 * answer. */
typedef struct dls_fault {
    const char *query; /* the function; NULL: nothing */
    int64_t asked, n;  /* number `asked` of n */
    const char *who;   /* policy whose callback runs, or ran; NULL: whose the checker thinks it is */
    char said[512];    /* in its own words (dls_policy_fail); "" */
} dls_fault;

#define DLS_GPU_MILLI 1000 /* of a GPU, what parts are counted in */

/* GPUs of which jobs have parts (parts.c). */
typedef struct dls_gpu_parts {
    int32_t *first;     /* [nodes + 1] number of a node's first GPU in the cluster */
    int32_t *node_of;   /* [gpus] */
    int16_t *taken;     /* [gpus] thousandths that jobs have; 0: nobody has a part of it */
    uint8_t *jobs;      /* [gpus] how many have a part */
    int64_t *bytes;     /* [gpus] of memory, that they hold */
    uint8_t *slices;    /* [gpus] MIG: memory slices in use, a bit each */
    int32_t (*owner)[8]; /* [gpus] MIG: 1 + the job whose slice begins at a memory slice; NULL: no MIG */
    dls_order order;    /* [gpus + 1] by what is left; the last member stands for what is looked for */
    dls_order_set used[DLS_TYPES_MAX]; /* of a type, those with something left */
    int64_t taken_milli; /* sum of `taken` */
    int32_t gpus;        /* how many there are with a part taken */
} dls_gpu_parts;

typedef struct dls_node_change {
    dls_node before, after;
} dls_node_change;

/* What nodes have the CPU and memory for (room.c). */
typedef struct dls_rooms {
    dls_strdict asks;         /* that were refused */
    struct dls_room_sum *sum; /* [asks.n] */
    size_t cap;
    dls_node_change *change;  /* [mask + 1] the last of n */
    uint64_t n, mask;
} dls_rooms;

/* A kind of request and how many jobs are of it. */
typedef struct dls_demand {
    dls_request request;
    int64_t jobs;
} dls_demand;

struct dls_place_index {
    int32_t n_nodes, n_racks, n_types;
    int32_t rack_leaves; /* power of two >= n_racks */
    dls_node *node;
    dls_rack *rack;
    dls_type_index type[DLS_TYPES_MAX];
    int64_t total_gpus, free_gpus;
    int32_t busy_nodes, full_nodes;
    bool accounts_cpu, accounts_mem;
    bool has_domains;  /* NVLink domains that are less than a node */
    double uplink_bps; /* of every rack, all paths together; 0: not limiting */
    int32_t paths;     /* between racks */
    dls_gpu_parts *parts; /* NULL: GPUs are given away whole */
    dls_rooms *rooms;     /* NULL: nobody was refused who asks for CPU or memory */
    const dls_demand *demand; /* [n_demand] what the trace asks for, while policies begin */
    size_t n_demand;
    dls_fault *fault;  /* `first_fault`, for queries, which cannot write to the index itself */
    dls_fault first_fault;
};

void dls_fault_note(dls_fault *fault, const char *query, int64_t asked, int64_t n);

/* Whether there is a number i of n; if not, that is noted. */
static inline bool dls_fault_check(dls_fault *fault, const char *query, int64_t i, int64_t n)
{
    if ((uint64_t)i < (uint64_t)n) {
        return true;
    }
    dls_fault_note(fault, query, i, n);
    return false;
}

dls_status dls_place_index_create(const dls_cluster_spec *spec, dls_place_index **out,
                                  dls_error *err) DLS_MUST_CHECK;
void dls_place_index_destroy(dls_place_index *index);
DLS_OWNER(dls_place_index, dls_place_index_destroy)
/* *out: an index of the same nodes, spec being theirs, in the state of `from`. O(nodes x GPUs). */
dls_status dls_place_index_copy(const dls_place_index *from, const dls_cluster_spec *spec,
                                dls_place_index **out, dls_error *err) DLS_MUST_CHECK;

/* `gpus` of the free GPUs of a node with NVLink domains of that size, so that as few are torn as can be
 * (domains.c). O(domains^2). */
uint64_t dls_by_domain(uint64_t free_mask, int32_t gpus, int32_t domain);
/* Take the `gpus` lowest free GPUs of a node (there must be so many) and the CPU and memory that go
 * with them; returns their mask. Where NVLink domains are less than the node: those of the domain with the
 * least room that suffices; if none does, all of the one with most, and so on. */
uint64_t dls_place_take(dls_place_index *index, int32_t node, int32_t gpus, int64_t cpu_milli,
                        int64_t mem_mib);
/* Take exactly these GPUs: false, and nothing done, if one of them is not free. */
bool dls_place_retake(dls_place_index *index, int32_t node, uint64_t mask, int64_t cpu_milli,
                      int64_t mem_mib);
void dls_place_give(dls_place_index *index, int32_t node, uint64_t mask, int64_t cpu_milli,
                    int64_t mem_mib);
/* A node has so many free GPUs from now on: these; and less CPU and memory. */
void dls_place_change(dls_place_index *index, int32_t node, uint64_t free_mask, int32_t free, int64_t cpu_milli,
                      int64_t mem_mib);

/* room.c: a request was refused; all that are alike have room if nodes have the CPU and memory for the gang, together.
 * That is certain only after a refusal, before they all have. O(changes since it was last asked for), at most O(nodes with
 * free GPUs). */
dls_status dls_place_refused(dls_place_index *index, const dls_request *r, dls_error *err) DLS_MUST_CHECK;
bool dls_place_has_room(const dls_place_index *index, const dls_request *r);
/* The same requests were refused: placements are asked when they would be. */
dls_status dls_rooms_copy(dls_place_index *index, const dls_place_index *from, dls_error *err) DLS_MUST_CHECK;
void dls_rooms_destroy(dls_rooms *rooms);
dls_status dls_rooms_check(const dls_place_index *index, dls_error *err) DLS_MUST_CHECK;

/* parts.c: parts of GPUs, in thousandths; index->parts must be there. */
dls_status dls_parts_create(dls_place_index *index, bool mig, dls_error *err) DLS_MUST_CHECK;
void dls_parts_destroy(dls_gpu_parts *parts);
dls_status dls_parts_copy(dls_place_index *index, const dls_place_index *from,
                          dls_error *err) DLS_MUST_CHECK;
/* What a job that asks for so many thousandths gets: slices of MIG are sevenths. */
int32_t dls_parts_size(bool mig, int64_t milli);
/* How many parts of such a size a GPU can have. */
int32_t dls_parts_of_gpu(bool mig, int32_t milli);
/* What a job has, or is to have, of a GPU. */
typedef struct dls_part {
    int32_t job, node, gpu, milli;
    int64_t bytes;              /* of the GPU's memory; 0: unknown */
    int64_t cpu_milli, mem_mib; /* of the node */
} dls_part;
/* A part of a GPU, free or with parts taken; false, and nothing done, where it does not fit or the GPU
 * or the node has not the memory or CPU. */
bool dls_parts_take(dls_place_index *index, const dls_part *part);
void dls_parts_give(dls_place_index *index, const dls_part *part);
/* The GPU (number in the cluster) of a type with parts taken that has the least left but at least
 * `milli`; the next one after `after` (-1: none); -1: there is none. O(log GPUs). */
int32_t dls_parts_tightest(const dls_place_index *index, int32_t type, int32_t milli,
                           int32_t after);
dls_status dls_parts_check(const dls_place_index *index, dls_error *err) DLS_MUST_CHECK;

struct dls_grant {
    dls_place_part *part; /* owned, reused from one request to the next */
    uint64_t *mask;       /* of each part: its GPUs; 0: any */
    size_t n, cap, mask_cap;
    int32_t *part_of; /* [nodes_cap] by node: its part, if that is one of the n and names the node */
    size_t nodes_cap;
    int64_t gpus;     /* in all */
    bool failed;      /* out of memory */
    double shift_s;   /* of its network bursts; NAN: none asked for */
};

/* For a grant that dls_grant_create has not made. */
void dls_grant_fini(dls_grant *grant);

/* Compare the index with a recount of its nodes: for tests and audits. O(nodes x GPUs). */
dls_status dls_place_index_check(const dls_place_index *index, dls_error *err) DLS_MUST_CHECK;

#endif
