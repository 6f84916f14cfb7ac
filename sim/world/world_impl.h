/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Inside the world: what the files world*.c share.
 *
 *      shapes     (kind, GPU type, GPUs, nodes, link) -> solo times, worked out once
 *      slots      running jobs
 *      links      nodes' network links, then racks' uplinks by path, then the core: who crosses them is in
 *                 the shares; on a node's link that is every job of the node, with the GPUs that it holds
 *      levels     one set of shares a priority: a level's links have the capacity that the levels before
 *                 leave on average
 */
#ifndef DLS_WORLD_WORLD_IMPL_H
#define DLS_WORLD_WORLD_IMPL_H

#include "base/strdict.h"
#include "world/interleave.h"
#include "world/load_gauge.h"
#include "world/shares.h"
#include "world/stage_table.h"
#include "world/truth.h"
#include "world/variability.h"

#include <math.h>

typedef struct dls_shape_key {
    int32_t kind, type, gpus, n_nodes;
    int32_t line; /* index into lines, -1: one node or unlimited */
    int32_t domains; /* NVLink domains of racks that its nodes are in; 0: there are none, or one node */
    int32_t inner; /* the same of the link between NVLink domains of a node; -1: it needs none */
} dls_shape_key;

typedef struct dls_shape_entry {
    dls_shape_key key;
    dls_solo solo;
    dls_truth_note note;
    dls_curve *curve; /* owned; NULL until a job starts on a shape with a network */
} dls_shape_entry;

typedef struct dls_shapes {
    dls_shape_entry *entry; /* [n] in order of the questions; owned */
    size_t n, cap;
    dls_strdict keys; /* dls_shape_key to entry */
} dls_shapes;

/* A running job: flow of the same number in the shares. */
typedef struct dls_slot {
    int32_t job;      /* -1: free */
    int32_t shape;    /* entry */
    int32_t type;
    int32_t next_free;
    double shift_s;   /* of its bursts; NAN: any time */
    double pause;     /* of its iteration, to be kept in step with others; 0: it is not */
    int64_t pull_backs, pulled_gpus; /* its part of those of the world */
    int32_t level, path; /* dls_world_set_route */
    uint64_t born;       /* number of its start */
    int64_t rate;     /* 0: started and not yet settled */
    bool touched;     /* in the list of jobs to look at */
    bool stale_speed; /* who shares its GPUs has changed */
    bool own_links;   /* it sends, and has every link to itself (perf.contention) */
} dls_slot;

#define DLS_PULL_ONE 0x1p30

typedef struct dls_wire {
    double base;  /* bytes per second when nothing is wrong with it; 0: not limiting */
    int64_t load; /* part of the present capacity that is in use (load_gauge.h) */
    int32_t users; /* jobs that send over it */
} dls_wire;

typedef struct dls_node_gpus {
    uint64_t used, shared; /* held by one job or more; by two or more */
    int32_t type, rack;
    int32_t rails; /* links that the node has, one a GPU; 0: one for all */
    int32_t domain_gpus; /* of its NVLink domains; 0: it is one */
} dls_node_gpus;

struct dls_world {
    dls_world_params p;
    const dls_truth_ops *ops;
    void *truth;
    dls_kinds kinds;
    dls_gpu_type types[DLS_TYPES_MAX + 1];
    int32_t n_types, reference_type;
    int32_t node_size[DLS_TYPES_MAX + 1]; /* most GPUs of a node of the type */
    int32_t nodes_of[DLS_TYPES_MAX + 1][DLS_GPUS_PER_NODE_MAX + 1]; /* so many nodes of the type have k GPUs */
    double type_nic[DLS_TYPES_MAX + 1][DLS_GPUS_PER_NODE_MAX + 1]; /* what k GPUs of a node have at best of its
                                                                      link, goodput; 0: one has no limit */
    int32_t rack_size[DLS_TYPES_MAX + 1]; /* most nodes of the type in one rack */
    int32_t type_domain[DLS_TYPES_MAX + 1]; /* most GPUs of an NVLink domain in a node */
    double type_between[DLS_TYPES_MAX + 1]; /* slowest link between such domains, goodput; 0: none */
    double uplink;                        /* goodput of one path; 0: not limiting */
    double domain;                        /* the same of NVLink between the nodes of a rack; 0: none */
    int32_t n_paths;
    double *lines;                        /* distinct bandwidths, ascending; owned */
    size_t n_lines, lines_cap;
    uint32_t *fits_on;   /* [kinds] bits of types */
    double *reference_s; /* [jobs] */
    int64_t *work_us;    /* [jobs] */
    int32_t *slot_of;    /* [jobs] -1: not running */
    size_t n_jobs;
    dls_stage_table stages; /* empty: none were given */
    dls_variability variability; /* no classes: all GPUs of a type are alike */
    dls_shapes shapes;
    dls_world_notes notes;

    dls_node_gpus *node; /* [n_nodes] */
    int32_t n_nodes, n_racks;
    dls_wire *wire; /* [n_nodes + n_racks * n_paths + 1] */
    int32_t n_links;
    dls_shares shares; /* of the jobs of level 0; all are in its lists of nodes' links */
    dls_shares *lower[DLS_LINK_LEVELS]; /* [1, n_levels): of a level's jobs, owned */
    int64_t *level_load[DLS_LINK_LEVELS]; /* [links] the part of `wire.load` that is a level's; owned, NULL
                                             with one level */
    int32_t n_levels;
    dls_seat *seat; /* scratch */
    size_t seat_cap;
    dls_load_gauge nic_load, uplink_load;

    dls_slot *slot;
    size_t n_slots, slots_cap;
    int32_t free_slot;
    uint64_t starts;
    int32_t n_shifted; /* running jobs whose bursts were shifted */
    dls_drift drift;
    int64_t pull_backs, pulled_gpus; /* dls_world_pull_backs, in 1 / DLS_PULL_ONE: whole, so that sums of
                                        any order are the same */

    int32_t *touched; /* slots to look at */
    size_t n_touched, touched_cap;
    int32_t *moved; /* slots whose rate has changed */
    size_t n_moved, moved_cap;
    dls_rate_change *changed;
    size_t changed_cap;
    dls_world_cost cost;
};

/* ---- world_shapes.c ------------------------------------------------------------------------------ */

/* Index of a shape, worked out if new. Errors: those of the truth model, ENOMEM. */
dls_status dls_world_shape_of(dls_world *w, const dls_shape_key *key, int32_t *index,
                              dls_error *err) DLS_MUST_CHECK;
void dls_shapes_fini(dls_shapes *shapes);
int32_t dls_world_line_index(const dls_world *w, double bps);
/* As dls_shape_key.domains. */
int32_t dls_world_domains(const dls_world *w, int32_t n_nodes, int32_t n_racks);
/* The line, an index, that a gang of the type has at best over so many nodes and racks. */
int32_t dls_world_line(const dls_world *w, int32_t type, int32_t gpus, int32_t n_nodes, int32_t n_racks);
/* The link, an index into lines, that a gang with so many GPUs on a node needs at best beside its peers'. */
int32_t dls_world_inner(const dls_world *w, int32_t type, int32_t gpus, int32_t n_nodes);
/* What `gpus` GPUs of a node with such a link have of it; rails: links of the node, 0: one for all. */
static inline double dls_rails_bps(double nic_bps, int32_t gpus, int32_t rails)
{
    return rails > 0 ? nic_bps * gpus / rails : nic_bps;
}
/* Nodes that a gang needs at least on the type. */
int32_t dls_world_fewest_nodes(const dls_world *w, int32_t type, int32_t gpus);

/* ---- world_links.c ------------------------------------------------------------------------------- */

void dls_world_touch(dls_world *w, int32_t slot);
/* A crossing's share of the load of its link becomes used / capacity; links of lower levels have less or
 * more for that. */
void dls_world_set_load(dls_world *w, int32_t level, dls_crossing *c, double used_bps);
static inline dls_shares *dls_level_shares(dls_world *w, int32_t level)
{
    return level > 0 ? w->lower[level] : &w->shares;
}

/* ---- world_levels.c ------------------------------------------------------------------------------ */

/* Let there be levels up to this one. Errors: ENOMEM. */
dls_status dls_world_levels(dls_world *w, int32_t level, dls_error *err) DLS_MUST_CHECK;
void dls_world_levels_fini(dls_world *w);
/* *w, of one level and with slots and shapes as *from has them, gets its levels. Errors: ENOMEM. */
dls_status dls_world_levels_copy(dls_world *w, const dls_world *from, dls_error *err) DLS_MUST_CHECK;
/* Levels from this one on have of a link what those before leave. */
void dls_world_leave_lower(dls_world *w, int32_t link, int32_t level);

/* ---- rates --------------------------------------------------------------------------------------- */

/* Work seconds per second at an iteration time. */
int64_t dls_world_rate(const dls_world *w, int32_t job, double iteration_s);

#endif
